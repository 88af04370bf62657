//! Where everything of a configuration is found in the lab: virtual servers on loopback, services simulated.
//!
//! Owns the choice of addresses and the services that stand in where a file binds none; opens nothing but to see whether it
//! may be opened. The hard question: a virtual server at a.b.c.d is looked for at 127.b.c.d, so what is elsewhere, because
//! another one has that address or the port may not be opened, is said with the reason.

use std::collections::BTreeSet;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use steelyard_core::command;
use steelyard_core::config::guard::Guards;
use steelyard_core::config::kept::{Class, Kept};
use steelyard_core::config::{ANY_PORT, Config, CsVserver, LbVserver, Server, ServiceType};
use steelyard_core::snapshot::placement::Placement;
use steelyard_core::snapshot::{Snapshot, member_name};
use steelyard_core::time::Time;

use super::services::Simulated;

/// What of a file is served in the lab, and where.
pub struct Site {
    /// Where everything is.
    pub placement: Placement,
    /// The services, in the order of their addresses.
    pub services: Vec<Simulated>,
    /// The virtual servers that are served.
    pub served: Vec<Served>,
    /// Those that are not.
    pub not_served: Vec<NotServed>,
}

/// A virtual server that is served.
pub struct Served {
    /// Its name.
    pub name: String,
    /// Its type.
    pub service_type: ServiceType,
    /// Its address in the file.
    pub configured: String,
    /// Its address in the lab.
    pub address: SocketAddr,
    /// Why that is not the one to be expected.
    pub moved: Option<String>,
    /// The file binds no service that could be simulated; others stand in.
    pub stand_ins: bool,
}

/// A virtual server that is not served.
pub struct NotServed {
    /// Its name, type and address.
    pub what: String,
    /// Why not.
    pub why: String,
}

impl Site {
    /// Places all that `config` has; services answer at `port`. What comes back is `config` with the services that stand in.
    pub fn plan(mut config: Config, port: u16) -> (Config, Site) {
        let mut site = Site {
            placement: Placement::default(),
            services: Vec::new(),
            served: Vec::new(),
            not_served: Vec::new(),
        };
        let mut taken = BTreeSet::new();
        for vserver in config.lb_vservers.iter() {
            site.place(vserver, &mut taken);
        }
        site.not_served.extend(config.cs_vservers.iter().map(not_switched));
        site.not_served.extend(config.kept.iter().filter_map(other_vserver));
        site.simulate(&config, port);
        for index in site.without_services(&config) {
            let served = &mut site.served[index];
            served.stand_ins = true;
            for line in stand_ins(served, index) {
                // Refused only if the file itself has such a name or address; then that is what stands there.
                let _ = command::run_line(&mut config, &line);
            }
        }
        site.simulate(&config, port);
        (config, site)
    }

    /// What answers for the service or member called `name`.
    pub fn service(&self, name: &str) -> Option<&Simulated> {
        self.services.iter().find(|service| *service.name == *name)
    }

    fn place(&mut self, vserver: &LbVserver, taken: &mut BTreeSet<SocketAddr>) {
        let configured = configured(vserver);
        let (name, service_type) = (vserver.name.clone(), vserver.service_type);
        let place = match vserver.ip {
            _ if !service_type.is_carried() => Err("its type is not carried"),
            None => Err("it has no address"),
            Some(ip) => settle(on_loopback(ip), vserver.port, taken),
        };
        match place {
            Ok((address, moved)) => {
                taken.insert(address);
                self.placement.put_vserver(&name, address);
                self.served.push(Served { name, service_type, configured, address, moved, stand_ins: false });
            }
            Err(why) => {
                let what = format!("{name}  {}  {configured}", service_type.text());
                self.not_served.push(NotServed { what, why: why.to_owned() });
            }
        }
    }

    /// Gives every service and member of a type that is carried a speed and an address of its own.
    fn simulate(&mut self, config: &Config, port: u16) {
        self.services.clear();
        for service in config.services.iter().filter(|s| s.service_type.is_carried()) {
            let at = at(config.servers.find(&service.server), &service.server, service.port);
            self.add(&service.name, service.service_type, at, port);
        }
        for group in config.service_groups.iter().filter(|g| g.service_type.is_carried()) {
            for member in &group.members {
                let name = member_name(&group.name, &member.server, member.port);
                let at = at(config.servers.find(&member.server), &member.server, member.port);
                self.add(&name, group.service_type, at, port);
            }
        }
    }

    fn add(&mut self, name: &str, service_type: ServiceType, configured: String, port: u16) {
        let index = self.services.len();
        let Some(ip) = Simulated::address(index) else { return };
        let address = SocketAddr::new(ip.into(), port);
        self.placement.put_service(name, address);
        let (name, delay) = (Arc::from(name), thinking(name));
        self.services.push(Simulated { name, service_type, configured, delay });
    }

    /// The places in `served` of those that would have no service.
    fn without_services(&self, config: &Config) -> Vec<usize> {
        let mut placement = Placement::default();
        for service in &self.services {
            if let Some(address) = self.placement.service(&service.name) {
                placement.put_service(&service.name, address);
            }
        }
        // Only looked at: nobody decides by it.
        let snapshot = Snapshot::placed(placement).next(config, &Guards::default(), Time::ZERO);
        let bare = |served: &Served| {
            snapshot.vserver(&served.name).is_some_and(|vserver| vserver.services().next().is_none())
        };
        (0..self.served.len()).filter(|index| bare(&self.served[*index])).collect()
    }
}

/// The lines for three services of a virtual server of which the file binds none that could be simulated.
fn stand_ins(served: &Served, index: usize) -> Vec<String> {
    let (vserver, service_type) = (quoted(&served.name), served.service_type.text());
    let lines = |number: u32| {
        let service = quoted(&format!("lab_{number}_of_{}", served.name));
        let server = Ipv4Addr::from(STAND_IN_ADDRESSES + (index as u32) * STAND_INS + number);
        [
            format!("add service {service} {server} {service_type} 80"),
            format!("bind lb vserver {vserver} {service}"),
        ]
    };
    (1..=STAND_INS).flat_map(lines).collect()
}

/// The address on loopback at which a.b.c.d is found: 127.b.c.d. IPv6 has one loopback address only, so its last three
/// bytes make one of IPv4.
fn on_loopback(ip: IpAddr) -> Ipv4Addr {
    let [.., b, c, d] = match ip {
        IpAddr::V4(ip) if ip.is_unspecified() => return Ipv4Addr::LOCALHOST,
        IpAddr::V6(ip) if ip.is_unspecified() => return Ipv4Addr::LOCALHOST,
        IpAddr::V4(ip) => ip.octets(),
        IpAddr::V6(ip) => {
            let [.., b, c, d] = ip.octets();
            [127, b, c, d]
        }
    };
    Ipv4Addr::new(127, b, c, d)
}

/// The port that is expected, if it is free and may be opened, else the next that is from 10000 + port on.
fn settle(
    ip: Ipv4Addr,
    port: u16,
    taken: &BTreeSet<SocketAddr>,
) -> Result<(SocketAddr, Option<String>), &'static str> {
    let at = |port| SocketAddr::from((ip, port));
    let why = match port {
        ANY_PORT => "port * is every port".to_owned(),
        _ if taken.contains(&at(port)) => format!("another virtual server is at {}", at(port)),
        _ => match TcpListener::bind(at(port)) {
            Ok(_) => return Ok((at(port), None)),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                format!("port {port} may not be opened by this user")
            }
            Err(_) => format!("port {port} is in use"),
        },
    };
    let first = if port == ANY_PORT { FURTHER } else { port.saturating_add(FURTHER) };
    let free = |port: &u16| !taken.contains(&at(*port)) && TcpListener::bind(at(*port)).is_ok();
    let found = (first..ANY_PORT).chain(FURTHER..first).take(PORTS_TRIED).find(free);
    found.map(|port| (at(port), Some(why))).ok_or("no port is free for it")
}

/// A virtual server of which only the line is kept.
fn other_vserver(kept: &Kept) -> Option<NotServed> {
    let words: Vec<&str> = kept.text.split_whitespace().collect();
    let ["add", kind, "vserver", ..] = words[..] else { return None };
    let why = match kept.class {
        Class::Refused(code) => format!("the line is refused, {code}"),
        _ => format!("{kind} virtual servers are not carried"),
    };
    let what = words[if kind == "lb" { 3 } else { 1 }..].iter().take_while(|word| !word.starts_with('-'));
    Some(NotServed { what: what.copied().collect::<Vec<_>>().join("  "), why })
}

fn not_switched(vserver: &CsVserver) -> NotServed {
    let CsVserver { name, service_type, ip, port, .. } = vserver;
    let what =
        format!("cs  vserver  {name}  {}  {}", service_type.text(), place(*ip, port.unwrap_or_default()));
    NotServed { what, why: "cs virtual servers are not carried".to_owned() }
}

fn configured(vserver: &LbVserver) -> String {
    place(vserver.ip, vserver.port)
}

fn place(ip: Option<IpAddr>, port: u16) -> String {
    let port = if port == ANY_PORT { "*".to_owned() } else { port.to_string() };
    match ip {
        Some(ip @ IpAddr::V6(_)) => format!("[{ip}]:{port}"),
        Some(ip) => format!("{ip}:{port}"),
        None => "no address".to_owned(),
    }
}

fn at(server: Option<&Server>, name: &str, port: u16) -> String {
    let host = server.and_then(Server::ip).map_or_else(|| name.to_owned(), |ip| ip.to_string());
    match port {
        ANY_PORT => format!("{host}:*"),
        _ if host.contains(':') => format!("[{host}]:{port}"),
        _ => format!("{host}:{port}"),
    }
}

/// How long a service thinks: 5 to 50 ms by its name, the same in every run.
fn thinking(name: &str) -> Duration {
    let fnv = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = name.bytes().map(|b| b.to_ascii_lowercase()).fold(0xcbf2_9ce4_8422_2325, fnv);
    Duration::from_millis(5 + (hash ^ hash >> 32) % 46)
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Added to a port that may not be opened.
const FURTHER: u16 = 10_000;
const PORTS_TRIED: usize = 1_000;
const STAND_INS: u32 = 3;
/// Where stand-ins are in the configuration, 198.18.0.0/15 (RFC 2544); in the lab they are simulated like all others.
const STAND_IN_ADDRESSES: u32 = u32::from_be_bytes([198, 18, 0, 0]);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read;
    use std::path::Path;

    fn site(text: &str) -> (Config, Site) {
        Site::plan(read::configuration(Path::new("ns.conf"), text.as_bytes(), true).config, 40_000)
    }

    #[test]
    fn each_address_has_its_place_on_loopback() {
        for (address, there) in [
            ("10.4.1.100", "127.4.1.100"),
            ("192.0.2.255", "127.0.2.255"),
            ("0.0.0.0", "127.0.0.1"),
            ("::", "127.0.0.1"),
            ("2001:db8::a01:203", "127.1.2.3"),
        ] {
            assert_eq!(on_loopback(address.parse().unwrap()).to_string(), there, "{address}");
        }
    }

    #[test]
    fn a_clash_is_resolved_and_told() {
        let (_, site) = site(
            "add lb vserver a HTTP 10.61.7.1 28080\nadd lb vserver b HTTP 172.61.7.1 28080\n\
             add lb vserver c HTTP 10.61.7.1 *\n",
        );
        let at = |n: usize| (site.served[n].address.to_string(), site.served[n].moved.as_deref());
        assert_eq!(at(0), ("127.61.7.1:28080".to_owned(), None));
        assert_eq!(
            at(1),
            ("127.61.7.1:38080".to_owned(), Some("another virtual server is at 127.61.7.1:28080"))
        );
        assert_eq!(at(2), ("127.61.7.1:10000".to_owned(), Some("port * is every port")));
    }

    #[test]
    fn what_cannot_be_served_is_named_with_its_reason() {
        let (_, site) = site(
            "add lb vserver s SSL 10.61.8.1 443\nadd lb vserver n HTTP 0.0.0.0 0\n\
             add cs vserver c HTTP 10.61.8.2 80 -cltTimeout 180\nadd lb vserver r HTTP <IP> 80\n",
        );
        let not: Vec<_> = site.not_served.iter().map(|n| (n.what.as_str(), n.why.as_str())).collect();
        assert_eq!(
            not,
            [
                ("s  SSL  10.61.8.1:443", "its type is not carried"),
                ("n  HTTP  no address", "it has no address"),
                ("cs  vserver  c  HTTP  10.61.8.2:80", "cs virtual servers are not carried"),
                ("r  HTTP  <IP>  80", "the line is refused, 1110"),
            ]
        );
    }

    #[test]
    fn services_of_every_kind_are_simulated_and_stand_ins_take_the_place_of_none() {
        let (config, site) = site(
            "add server d www.example.com\nadd service s1 10.1.1.1 HTTP 80\nadd service s2 d HTTP 80\n\
             add serviceGroup g HTTP\nbind serviceGroup g 10.1.1.2 8080\nadd service s3 10.1.1.3 HTTP *\n\
             add lb vserver v HTTP 10.61.9.1 28081\nbind lb vserver v s1\nbind lb vserver v s2\nbind lb vserver v s3\n\
             bind lb vserver v g\nadd lb vserver bare HTTP 10.61.9.2 28081\n",
        );
        let snapshot = Snapshot::placed(site.placement).next(&config, &Guards::default(), Time::ZERO);
        let names = |vserver: &str| -> Vec<String> {
            snapshot.vserver(vserver).unwrap().services().map(|s| s.name().to_owned()).collect()
        };
        assert_eq!(names("v"), ["s1", "s2", "s3", "g?10.1.1.2?8080"]);
        assert_eq!(names("bare"), ["lab_1_of_bare", "lab_2_of_bare", "lab_3_of_bare"]);
        let mut addresses: Vec<_> = snapshot.services().map(|s| s.address()).collect();
        assert!(addresses.iter().all(|a| a.ip().is_loopback() && a.port() == 40_000));
        addresses.dedup();
        assert_eq!(addresses.len(), 7, "each has its own");
    }
}
