//! What the simulated operator wants, and the configuration file that says so.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::net::SocketAddr;

use steelyard_core::command;
use steelyard_core::config::Config;

use crate::books::Named;
use crate::random::Random;

/// A configuration as the operator thinks of it.
#[derive(Clone, Default)]
pub struct Plan {
    /// By number; a number is never used for another service again.
    pub services: BTreeMap<usize, Service>,
    pub vservers: BTreeMap<usize, Vserver>,
    /// The number of the next service that is added.
    pub next_service: usize,
    next_identity: u64,
}

#[derive(Clone, Copy)]
pub struct Service {
    pub tcp: bool,
    pub enabled: bool,
    pub timeout_s: u64,
    pub watch: Watch,
    /// Most active transactions; 0 is no limit.
    pub max_client: u64,
    /// Most requests on a connection; 0 is no limit.
    pub max_requests: usize,
    pub client_ip: bool,
    pub client_keep_alive: bool,
}

/// What probes a service.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Watch {
    Tcp,
    Http,
    Both,
    /// `-healthMonitor NO`.
    Nothing,
}

#[derive(Clone)]
pub struct Vserver {
    /// Another one of the same name is another.
    pub identity: u64,
    pub tcp: bool,
    pub enabled: bool,
    pub method: &'static str,
    pub timeout_s: u64,
    /// Services and their weights in binding order.
    pub bindings: Vec<(usize, u32)>,
}

impl Plan {
    /// A few services behind one to three virtual servers.
    pub fn random(random: &mut Random) -> Plan {
        let mut plan = Plan::default();
        for _ in 0..2 + random.below(4) {
            plan.add_service(random);
        }
        for number in 0..1 + random.below(3) {
            let vserver = plan.vserver(random);
            plan.vservers.insert(number, vserver);
        }
        plan
    }

    fn vserver(&mut self, random: &mut Random) -> Vserver {
        self.next_identity += 1;
        let identity = self.next_identity;
        let tcp = random.one_in(4);
        let mut bindings = Vec::new();
        for (number, _) in self.services.iter().filter(|(_, service)| service.tcp == tcp) {
            if !random.one_in(5) {
                bindings.insert(random.below(bindings.len() + 1), (*number, 1 + random.below(5) as u32));
            }
        }
        let timeout_s = random.between(1, CLIENT_TIMEOUT_MOST_S);
        Vserver { identity, tcp, enabled: true, method: method(random, tcp), timeout_s, bindings }
    }

    /// One change, as an operator would make it.
    pub fn change(&mut self, random: &mut Random) {
        let numbers: Vec<usize> = self.services.keys().copied().collect();
        let service = random.of(&numbers);
        let names: Vec<usize> = self.vservers.keys().copied().collect();
        let vserver = random.of(&names);
        match random.below(13) {
            12 => self.services.get_mut(&service).unwrap().max_client = random.of(&LIMITS),
            0 if self.services.len() < 8 => self.add_service(random),
            1 if self.services.len() > 1 => self.remove_service(service),
            2 | 3 => self.services.get_mut(&service).unwrap().enabled ^= true,
            4 => {
                self.services.get_mut(&service).unwrap().timeout_s = random.between(1, SERVER_TIMEOUT_MOST_S)
            }
            5 if self.vservers.len() < 3 => {
                let free = (0..).find(|number| !self.vservers.contains_key(number)).unwrap();
                let added = self.vserver(random);
                self.vservers.insert(free, added);
            }
            6 if self.vservers.len() > 1 => drop(self.vservers.remove(&vserver)),
            _ => self.change_vserver(vserver, service, random),
        }
    }

    fn add_service(&mut self, random: &mut Random) {
        let number = self.next_service;
        self.next_service += 1;
        let service = Service::random(random);
        self.services.insert(number, service);
        for vserver in self.vservers.values_mut() {
            if vserver.tcp == service.tcp && random.one_in(2) {
                let at = random.below(vserver.bindings.len() + 1);
                vserver.bindings.insert(at, (number, 1 + random.below(5) as u32));
            }
        }
    }

    fn remove_service(&mut self, gone: usize) {
        self.services.remove(&gone);
        for vserver in self.vservers.values_mut() {
            vserver.bindings.retain(|(number, _)| *number != gone);
        }
    }

    fn change_vserver(&mut self, which: usize, service: usize, random: &mut Random) {
        let vserver = self.vservers.get_mut(&which).unwrap();
        if vserver.tcp != self.services[&service].tcp {
            return;
        }
        let bound = vserver.bindings.iter().position(|(number, _)| *number == service);
        match (random.below(5), bound) {
            (0, _) => vserver.method = method(random, vserver.tcp),
            (1, _) if random.one_in(2) => vserver.enabled ^= true,
            (1, _) => vserver.timeout_s = random.between(1, CLIENT_TIMEOUT_MOST_S),
            (2, Some(at)) => drop(vserver.bindings.remove(at)),
            (_, Some(at)) => vserver.bindings[at].1 = 1 + random.below(100) as u32,
            (_, None) => vserver.bindings.push((service, 1 + random.below(5) as u32)),
        }
    }

    /// A name that `before` had for the same protocol is the same virtual server: nobody saw it gone.
    pub fn succeed(&mut self, before: &Plan) {
        for (number, vserver) in &mut self.vservers {
            let same = before.vservers.get(number).filter(|old| old.tcp == vserver.tcp);
            vserver.identity = same.map_or(vserver.identity, |old| old.identity);
        }
    }

    /// Its virtual servers.
    pub fn named(&self) -> impl Iterator<Item = Named> {
        self.vservers.iter().map(|(number, vserver)| Named { number: *number, identity: vserver.identity })
    }

    /// The configuration that its file makes.
    pub fn config(&self) -> Config {
        let text = self.text();
        let reading = command::read(text.as_bytes(), "simulated");
        assert!(reading.refused.is_empty(), "{:?} in\n{text}", reading.refused);
        reading.config
    }

    fn text(&self) -> String {
        let mut text = MONITORS.to_owned();
        for (number, service) in &self.services {
            let state = if service.enabled { "ENABLED" } else { "DISABLED" };
            let probed = if service.watch == Watch::Nothing { "NO" } else { "YES" };
            let kind = if service.tcp { "TCP" } else { "HTTP" };
            let (ip, port) = (address(*number).ip(), address(*number).port());
            writeln!(
                text,
                "add service s{number} {ip} {kind} {port} -svrTimeout {} -state {state} -healthMonitor {probed} \
                 -maxClient {} -maxReq {} -cip {} -CKA {}",
                service.timeout_s,
                service.max_client,
                service.max_requests,
                if service.client_ip { "ENABLED client-ip" } else { "DISABLED" },
                if service.client_keep_alive { "YES" } else { "NO" },
            )
            .unwrap();
            for monitor in service.watch.monitors() {
                writeln!(text, "bind service s{number} -monitorName {monitor}").unwrap();
            }
        }
        for (number, vserver) in &self.vservers {
            let state = if vserver.enabled { "ENABLED" } else { "DISABLED" };
            let kind = if vserver.tcp { "TCP" } else { "HTTP" };
            let (method, timeout_s) = (vserver.method, vserver.timeout_s);
            writeln!(
                text,
                "add lb vserver v{number} {kind} 10.1.0.{number} 80 -lbMethod {method} -cltTimeout {timeout_s} \
                 -state {state}"
            )
            .unwrap();
            for (service, weight) in &vserver.bindings {
                writeln!(text, "bind lb vserver v{number} s{service} -weight {weight}").unwrap();
            }
        }
        text
    }
}

impl Service {
    fn random(random: &mut Random) -> Service {
        let tcp = random.one_in(4);
        let watch = random.of(&[Watch::Tcp, Watch::Http, Watch::Both, Watch::Http, Watch::Nothing]);
        let watch = if tcp && watch != Watch::Nothing { Watch::Tcp } else { watch };
        Service {
            tcp,
            enabled: !random.one_in(8),
            timeout_s: random.between(1, SERVER_TIMEOUT_MOST_S),
            watch,
            max_client: random.of(&LIMITS),
            max_requests: random.of(&[0, 0, 1, 3]),
            client_ip: !tcp && random.one_in(3),
            client_keep_alive: random.one_in(3),
        }
    }
}

impl Watch {
    /// The monitors that are bound.
    pub fn monitors(self) -> &'static [&'static str] {
        match self {
            Watch::Tcp => &["mt"],
            Watch::Http => &["mh"],
            Watch::Both => &["mt", "mh"],
            Watch::Nothing => &[],
        }
    }
}

/// A method that virtual servers of this kind may have: the last two are about requests.
fn method(random: &mut Random, tcp: bool) -> &'static str {
    if tcp { random.of(&METHODS[..5]) } else { random.of(&METHODS) }
}

/// Where a service listens.
pub fn address(number: usize) -> SocketAddr {
    ([10, 0, 0, 1], 8_000 + number as u16).into()
}

/// The service that listens there.
pub fn number(address: SocketAddr) -> usize {
    usize::from(address.port()) - 8_000
}

const LIMITS: [u64; 6] = [0, 0, 0, 1, 2, 6];
pub const CLIENT_TIMEOUT_MOST_S: u64 = 5;
pub const SERVER_TIMEOUT_MOST_S: u64 = 4;

/// `mt` goes by the last two probes of three, `mh` comes UP after two successes.
const MONITORS: &str = "enable ns feature LB\n\
    add lb monitor mt TCP -interval 400 MSEC -resptimeout 150 MSEC -retries 3 -failureRetries 2 \
    -successRetries 1 -downTime 1\n\
    add lb monitor mh HTTP -respCode 200 -httpRequest \"HEAD /probe\" -interval 500 MSEC \
    -resptimeout 200 MSEC -retries 2 -successRetries 2 -downTime 1 -LRTM ENABLED\n";
const METHODS: [&str; 7] = [
    "ROUNDROBIN",
    "LEASTCONNECTION",
    "LRTM",
    "LEASTBANDWIDTH",
    "LEASTPACKETS",
    "LEASTRESPONSETIME",
    "LEASTREQUEST",
];
