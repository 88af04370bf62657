//! What the simulated operator wants, and the configuration file that says so.

use std::fmt::Write;

use steelyard_core::command;
use steelyard_core::config::Config;

use super::random::Random;

/// A configuration as the operator thinks of it.
#[derive(Clone, Default)]
pub struct Plan {
    /// Services that exist, by number, and whether they are enabled.
    pub services: Vec<(usize, bool)>,
    /// Members of the one group: number and weight.
    pub members: Vec<(usize, u32)>,
    pub vservers: Vec<Vserver>,
    pub factor: u32,
}

#[derive(Clone, PartialEq)]
pub struct Vserver {
    pub number: usize,
    pub method: &'static str,
    pub enabled: bool,
    pub slow_start: Option<&'static str>,
    pub bindings: Vec<Bound>,
}

#[derive(Clone, Copy, PartialEq)]
pub enum Bound {
    Service(usize, u32),
    Group,
}

impl Plan {
    /// A few services, some of them shared by up to four virtual servers.
    pub fn random(random: &mut Random) -> Plan {
        let mut plan = Plan { factor: random.of(&[0, 0, 1, 3]), ..Plan::default() };
        plan.services = (0..2 + random.below(9)).map(|number| (number, true)).collect();
        plan.members = (0..random.below(4)).map(|number| (number, weight(random))).collect();
        plan.vservers = (0..1 + random.below(4)).map(|number| plan.vserver(number, random)).collect();
        plan
    }

    fn vserver(&self, number: usize, random: &mut Random) -> Vserver {
        let mut vserver = Vserver {
            number,
            method: random.of(&METHODS),
            enabled: true,
            slow_start: random.one_in(5).then(|| random.of(&SLOW_STARTS)),
            bindings: Vec::new(),
        };
        let bound = if random.one_in(6) { &[] } else { &self.services[..] };
        for (service, _) in bound {
            if !random.one_in(3) {
                vserver.bindings.insert(
                    random.below(vserver.bindings.len() + 1),
                    Bound::Service(*service, weight(random)),
                );
            }
        }
        if random.one_in(3) {
            vserver.bindings.insert(random.below(vserver.bindings.len() + 1), Bound::Group);
        }
        vserver
    }

    /// One change, as an operator would make it.
    pub fn change(&mut self, random: &mut Random) {
        let which = random.below(self.vservers.len().max(1));
        match random.below(13) {
            0 => self.factor = random.of(&[0, 0, 1, 3]),
            1 => self.add_service(random),
            2 if self.services.len() > 1 => self.remove_service(random),
            3 if self.vservers.len() < 4 => {
                let free = (0..).find(|number| self.vservers.iter().all(|v| v.number != *number));
                let vserver = self.vserver(free.unwrap(), random);
                self.vservers.push(vserver);
            }
            4 if self.vservers.len() > 1 && random.one_in(3) => drop(self.vservers.remove(which)),
            5 => {
                let service = random.below(self.services.len());
                self.services[service].1 ^= true;
            }
            6 => self.change_members(random),
            _ => self.change_vserver(which, random),
        }
    }

    fn add_service(&mut self, random: &mut Random) {
        let free = (0..).find(|number| self.services.iter().all(|(n, _)| n != number)).unwrap();
        self.services.push((free, true));
        for vserver in &mut self.vservers {
            if random.one_in(2) {
                let at = random.below(vserver.bindings.len() + 1);
                vserver.bindings.insert(at, Bound::Service(free, weight(random)));
            }
        }
    }

    fn remove_service(&mut self, random: &mut Random) {
        let (gone, _) = self.services.remove(random.below(self.services.len()));
        for vserver in &mut self.vservers {
            vserver.bindings.retain(|bound| !matches!(bound, Bound::Service(number, _) if *number == gone));
        }
    }

    fn change_members(&mut self, random: &mut Random) {
        let free = (0..).find(|number| self.members.iter().all(|(n, _)| n != number)).unwrap();
        match random.below(3) {
            0 if self.members.len() < 5 => self.members.push((free, weight(random))),
            1 if !self.members.is_empty() => drop(self.members.remove(random.below(self.members.len()))),
            _ => self.members.iter_mut().for_each(|member| member.1 = weight(random)),
        }
    }

    fn change_vserver(&mut self, which: usize, random: &mut Random) {
        let services: Vec<usize> = self.services.iter().map(|(number, _)| *number).collect();
        let Some(vserver) = self.vservers.get_mut(which) else { return };
        let bound = random.below(vserver.bindings.len().max(1));
        match random.below(6) {
            0 => vserver.method = random.of(&METHODS),
            1 => vserver.enabled ^= true,
            2 => vserver.slow_start = random.one_in(2).then(|| random.of(&SLOW_STARTS)),
            3 if !vserver.bindings.is_empty() => drop(vserver.bindings.remove(bound)),
            4 => {
                let is_bound =
                    |n: &usize| vserver.bindings.iter().any(|b| matches!(b, Bound::Service(m, _) if m == n));
                if let Some(number) = services.iter().find(|number| !is_bound(number)) {
                    vserver.bindings.insert(bound, Bound::Service(*number, weight(random)));
                }
            }
            _ => {
                if let Some(Bound::Service(_, old)) = vserver.bindings.get_mut(bound) {
                    *old = weight(random);
                }
            }
        }
    }

    /// The configuration that its file makes.
    pub fn config(&self) -> Config {
        let text = self.text();
        let reading = command::read(text.as_bytes(), "simulated");
        assert!(reading.refused.is_empty(), "{:?} in\n{text}", reading.refused);
        reading.config
    }

    fn text(&self) -> String {
        let mut text = format!("enable ns feature LB\nset lb parameter -startupRRFactor {}\n", self.factor);
        for (number, enabled) in &self.services {
            let state = if *enabled { "ENABLED" } else { "DISABLED" };
            writeln!(text, "add service s{number} 10.0.0.1 HTTP {} -state {state}", 8000 + number).unwrap();
        }
        text.push_str("add serviceGroup g HTTP\n");
        for (number, weight) in &self.members {
            writeln!(text, "bind serviceGroup g 10.0.0.2 {} -weight {weight}", 8000 + number).unwrap();
        }
        for vserver in &self.vservers {
            let name = vserver.name();
            let state = if vserver.enabled { "ENABLED" } else { "DISABLED" };
            write!(text, "add lb vserver {name} HTTP 0.0.0.0 0 -lbMethod {} -state {state}", vserver.method)
                .unwrap();
            writeln!(text, " {}", vserver.slow_start.unwrap_or_default()).unwrap();
            for bound in &vserver.bindings {
                match bound {
                    Bound::Service(number, weight) => {
                        writeln!(text, "bind lb vserver {name} s{number} -weight {weight}").unwrap();
                    }
                    Bound::Group => writeln!(text, "bind lb vserver {name} g").unwrap(),
                }
            }
        }
        text
    }

    /// Names and weights in ring order.
    pub fn ring(&self, vserver: &Vserver) -> Vec<(String, u32)> {
        let expand = |bound: &Bound| match bound {
            Bound::Service(number, weight) => vec![(format!("s{number}"), *weight)],
            Bound::Group => self.members.iter().map(|(number, weight)| (member(*number), *weight)).collect(),
        };
        vserver.bindings.iter().flat_map(expand).collect()
    }

    /// The names of all services and members, and whether they are enabled.
    pub fn names(&self) -> Vec<(String, bool)> {
        let services = self.services.iter().map(|(number, enabled)| (format!("s{number}"), *enabled));
        services.chain(self.members.iter().map(|(number, _)| (member(*number), true))).collect()
    }
}

impl Vserver {
    pub fn name(&self) -> String {
        format!("v{}", self.number)
    }
}

fn member(number: usize) -> String {
    format!("g?10.0.0.2?{}", 8000 + number)
}

fn weight(random: &mut Random) -> u32 {
    match random.below(3) {
        0 => 1,
        1 => random.between(1, 4) as u32,
        _ => random.between(1, 100) as u32,
    }
}

const METHODS: [&str; 7] = [
    "ROUNDROBIN",
    "LEASTCONNECTION",
    "LEASTRESPONSETIME",
    "LRTM",
    "LEASTREQUEST",
    "LEASTBANDWIDTH",
    "LEASTPACKETS",
];
const SLOW_STARTS: [&str; 3] = [
    "-newServiceRequest 2 PER_SECOND -newServiceRequestIncrementInterval 1",
    "-newServiceRequest 20 PERCENT -newServiceRequestIncrementInterval 2",
    "-newServiceRequest 3",
];
