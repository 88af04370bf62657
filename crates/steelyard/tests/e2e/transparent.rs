//! Transparent monitors: a far address behind two devices, of which one forwards. The host's own routes lead to it in any
//! case: only who goes by way of the device sees which one does.

use std::net::SocketAddr;
use std::process::Command;

use libtest_mimic::Trial;
use rustix::process::Signal;

use crate::installed::program;
use crate::network::{Host, Inside, Network};
use crate::place::Place;
use crate::program::Program;
use crate::service::{TestService, wait_for};

pub fn trials() -> Vec<Trial> {
    trials![
        only_a_device_that_forwards_is_up,
        a_service_behind_a_router_is_no_next_hop,
        what_a_killed_run_left_is_removed_and_nothing_of_the_host_s,
        without_permission_a_service_stays_eligible,
    ]
}

fn only_a_device_that_forwards_is_up() {
    let Some(site) = Site::new() else { return };
    let _far = site.served();
    let (host, place) = (&site.balancer, Place::new());
    host.administer("rule add fwmark 0x53590000 lookup 100 pref 50");
    host.administer("rule add from 192.0.2.0/24 lookup 100 protocol 83 pref 51");
    host.administer("-6 rule add from 2001:db8::/32 lookup 100 pref 50");
    host.administer("route add blackhole 203.0.113.0/24 table 100");
    let before = policies(host);
    let mut config = "enable ns feature LB\n".to_owned();
    for (v, far) in [("4", FAR), ("6", FAR6)] {
        for (port, kind, more) in
            [(1, "PING", ""), (2, "TCP", "-destPort 8101"), (3, "HTTP", "-destPort 8101")]
        {
            let monitor = format!("{kind}{v}");
            config +=
                &format!("add lb monitor m{monitor} {kind} -destIP {far} {more} -transparent YES {QUICK}\n");
            for (name, device) in [("on", &site.on), ("off", &site.off)] {
                let ip = if v == "4" { device.ip() } else { device.ip6() };
                config += &format!(
                    "add service {name}{monitor} {ip} TCP {port}\nbind service {name}{monitor} -monitorName m{monitor}\n"
                );
            }
        }
    }
    config += &format!(
        "add lb monitor direct PING -destIP {FAR} {QUICK}\nadd service direct {} TCP 9\n\
         bind service direct -monitorName direct\n",
        site.off.ip()
    );
    let all = |program: &Program, name: &str, state: &str| {
        for monitor in ["PING4", "TCP4", "HTTP4", "PING6", "TCP6", "HTTP6"] {
            program.wait_for_state("service", &format!("{name}{monitor}"), state);
        }
    };
    let mut program = host.make(|| Program::launch(&place, &config));
    host.enter(|| {
        program.wait_for_state("service", "direct", "UP");
        all(&program, "on", "UP");
        all(&program, "off", "DOWN");
        assert_eq!(program.errors(), "");
    });
    assert_eq!(added(host), 4, "one for each next hop");
    site.off.enter(|| forward("1"));
    site.on.enter(|| forward("0"));
    host.enter(|| {
        all(&program, "off", "UP");
        all(&program, "on", "DOWN");
    });

    // The host's administrator takes the ways away: what is marked does not go by other routes for long.
    site.off.enter(|| forward("0"));
    host.administer("link set eth0 down");
    host.enter(|| all(&program, "off", "DOWN"));
    site.plug_again();
    site.off.enter(|| forward("1"));
    wait_for("every way to be there again", || ways(host).is_ok_and(|count| count == 4));
    host.enter(|| {
        all(&program, "off", "UP");
        all(&program, "on", "DOWN");
    });

    let fewer = config
        .replace("mPING6 PING", "mPING6 PING -state DISABLED")
        .replace("mTCP6 TCP", "mTCP6 TCP -state DISABLED");
    host.enter(|| program.reload(&fewer.replace("mHTTP6 HTTP", "mHTTP6 HTTP -state DISABLED")));
    assert_eq!(added(host), 2, "IPv6 is needed no more");
    host.enter(|| program.signal(Signal::TERM));
    assert_eq!(program.exit_code(), Some(0));
    assert_eq!(policies(host), before);
    assert!(host.administer("route show table 100").contains("203.0.113.0/24"));
}

fn a_service_behind_a_router_is_no_next_hop() {
    let Some(site) = Site::new() else { return };
    let (host, place) = (&site.balancer, Place::new());
    host.administer(&format!("route add 10.88.1.2 via {}", site.on.ip()));
    let mut config = format!(
        "enable ns feature LB\nadd lb monitor m PING -destIP {FAR} -transparent YES {QUICK}\n\
         add lb monitor six PING -destIP {FAR6} -transparent YES {QUICK}\n\
         add lb monitor own PING -destIP {} -transparent YES {QUICK}\n",
        host.ip()
    );
    let on = site.on.ip();
    let host_ip = host.ip();
    for (name, port, ip, monitor) in [
        ("routed", 1, "10.88.1.2".parse().unwrap(), "m"),
        ("here", 2, host_ip, "m"),
        ("mixed", 3, on, "six"),
        ("own", 4, on, "own"),
    ] {
        config +=
            &format!("add service {name} {ip} TCP {port}\nbind service {name} -monitorName {monitor}\n");
    }
    host.enter(|| {
        let program = Program::launch(&place, &config);
        for (name, why) in [
            ("routed", "the service is not in a directly connected subnet"),
            ("here", "the service is not in a directly connected subnet"),
            ("mixed", "destIP and the address of the service are of different families"),
            ("own", "destIP is an address of this host"),
        ] {
            program.wait_for_state("service", name, "UNKNOWN");
            let said = last_response(&program, name);
            assert_eq!(said, format!("Unknown - cannot probe from this host: -transparent YES: {why}."));
        }
    });
    assert_eq!(added(host), 0);
}

fn what_a_killed_run_left_is_removed_and_nothing_of_the_host_s() {
    let Some(site) = Site::new() else { return };
    let (host, place) = (&site.balancer, Place::new());
    host.administer("rule add fwmark 0x53590000 lookup 0x53590000 pref 83");
    host.administer(&format!("route add default via {} table 0x53590000 metric 1", site.on.ip()));
    let before = policies(host);
    let config = site.one_service();
    let program = host.make(|| Program::launch(&place, &config));
    host.enter(|| program.wait_for_state("service", "s", "UP"));
    let other = Place::new();
    drop(host.make(|| Program::launch(&other, "enable ns feature LB\n")));
    assert_eq!(added(host), 1, "another program on this host leaves what a running one has");
    drop(program);
    assert_eq!(added(host), 1, "a program that is killed removes nothing");
    let again = host.make(|| Program::launch(&place, "enable ns feature LB\n"));
    assert_eq!(policies(host), before);
    drop(again);
}

fn without_permission_a_service_stays_eligible() {
    let Some(site) = Site::new() else { return };
    let (host, place) = (&site.balancer, Place::new());
    let before = policies(host);
    let config = site.one_service()
        + &format!("add service t {} TCP 9\nbind service t -monitorName m\n", site.off.ip());
    host.enter(|| {
        let Some(mut command) = program("setpriv") else { return };
        Command::args(&mut command, ["--bounding-set", "-net_admin", "--inh-caps", "-net_admin"]);
        let config = place.file("ns.conf", &config);
        let program = Program::launch_by(command, &place, &config, &place.folder("data"));
        for service in ["s", "t"] {
            program.wait_for_state("service", service, "UNKNOWN");
            let said = last_response(&program, service);
            assert!(said.contains("give CAP_NET_ADMIN"), "{said}");
        }
        let errors = program.errors();
        assert_eq!(errors.matches("CAP_NET_ADMIN").count(), 1, "{errors}");
    });
    assert_eq!(policies(host), before);
}

/// A balancer, two devices on its wire and a far host behind both, which answers past them.
struct Site {
    network: Network,
    balancer: Host,
    /// It forwards to the far host, and the balancer's routes lead by way of it.
    on: Host,
    /// It knows the way too, and does not forward.
    off: Host,
    far: Host,
}

impl Site {
    fn new() -> Option<Site> {
        let mut network = Network::new()?;
        let [balancer, on, off, far] = [(); 4].map(|()| network.host());
        for (device, wire, n) in [(&on, "wire1", 1), (&off, "wire2", 2)] {
            let ends = [2, 1].map(|k| format!("10.88.{n}.{k}/24 fd88:{n}::{k}/64"));
            far.wire(device, wire, [&ends[0], &ends[1]]);
            device.administer(&format!("route add {FAR} via 10.88.{n}.2"));
            device.administer(&format!("-6 route add {FAR6} via fd88:{n}::2"));
        }
        far.administer(&format!("address add {FAR}/32 dev lo"));
        far.administer(&format!("-6 address add {FAR6}/128 dev lo nodad"));
        [&balancer, &on, &off, &far].into_iter().for_each(|host| host.enter(accept_any_way));
        on.enter(|| forward("1"));
        off.enter(|| forward("0"));
        let site = Site { network, balancer, on, off, far };
        site.route();
        Some(site)
    }

    fn route(&self) {
        self.balancer.administer(&format!("route add {FAR} via {}", self.on.ip()));
        self.balancer.administer(&format!("-6 route add {FAR6} via {}", self.on.ip6()));
    }

    /// Gives the balancer its interface anew, after it was taken down.
    fn plug_again(&self) {
        self.network.unplug(&self.balancer);
        self.network.plug(&self.balancer);
        self.balancer.enter(accept_any_way);
        self.route();
    }

    fn served(&self) -> [Inside<'_, TestService>; 2] {
        [FAR, FAR6].map(|ip| self.far.make(|| TestService::plain(SocketAddr::new(ip.parse().unwrap(), 8101))))
    }

    fn one_service(&self) -> String {
        format!(
            "enable ns feature LB\nadd lb monitor m PING -destIP {FAR} -transparent YES {QUICK}\n\
             add service s {} TCP 9\nbind service s -monitorName m\n",
            self.on.ip()
        )
    }
}

/// Every rule of a host, and every route that this program could have added.
fn policies(host: &Host) -> Vec<String> {
    let mut all = Vec::new();
    for family in ["-4", "-6"] {
        all.push(host.administer(&format!("{family} rule show")));
        let routes = host.administer(&format!("{family} route show table all"));
        all.extend(
            routes
                .lines()
                .filter(|line| line.contains("proto 83") || line.contains("table 13983"))
                .map(str::to_owned),
        );
    }
    all
}

/// How many rules this program has added, all of them whole.
fn added(host: &Host) -> usize {
    ways(host).unwrap_or_else(|shown| panic!("not whole: {shown}"))
}

/// Rules that this program has added; what there is, unless each is whole: a way with its metric, and none without.
fn ways(host: &Host) -> Result<usize, String> {
    let mut rules = 0;
    for family in ["-4", "-6"] {
        let shown = host.administer(&format!("{family} rule show"));
        let ours =
            shown.lines().filter(|line| line.contains("fwmark 0x5359") && line.contains("proto 83")).count();
        let routes = host.administer(&format!("{family} route show table all"));
        if routes.matches("proto 83").count() != 2 * ours {
            return Err(shown + &routes);
        }
        rules += ours;
    }
    Ok(rules)
}

fn forward(yes: &str) {
    std::fs::write("/proc/sys/net/ipv4/ip_forward", yes).unwrap();
    std::fs::write("/proc/sys/net/ipv6/conf/all/forwarding", yes).unwrap();
}

/// Answers may come by another way than questions go.
fn accept_any_way() {
    for of in std::fs::read_dir("/proc/sys/net/ipv4/conf").unwrap() {
        std::fs::write(of.unwrap().path().join("rp_filter"), "0").unwrap();
    }
}

fn last_response(program: &Program, service: &str) -> String {
    let path = format!("/nitro/v1/config/service_lbmonitor_binding/{service}");
    program.nitro(&path).1["service_lbmonitor_binding"][0]["lastresponse"].as_str().unwrap().to_owned()
}

const FAR: &str = "10.88.0.1";
const FAR6: &str = "fd88::1";
const QUICK: &str = "-interval 1 -resptimeout 900 MSEC -retries 1 -downTime 100 MSEC";
