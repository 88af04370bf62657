//! How services go out of service by `disable` with a delay, or gracefully: said by lines of a file, kept by no resource.
//!
//! A service is disabled by itself, by its group or by its server; the configuration has all three as switches. This has
//! what those lines say beyond that. The hard question is a service that is disabled in several ways: it is gone as soon
//! as one of them asks for it.

use std::collections::BTreeMap;

use super::{Config, Member, Service, ServiceGroup};

/// A slow way out of service (`spec/methods.md` 3.4). Without a delay it is graceful.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Departure {
    /// Seconds after which it is over, whatever is under way.
    pub delay_s: Option<u32>,
    /// It is over with the last active transaction.
    pub graceful: bool,
}

/// How lines ask for objects to leave: slowly, or with `None` at once. A later line about the same object counts.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Departures {
    servers: BTreeMap<String, Option<Departure>>,
    services: BTreeMap<String, Option<Departure>>,
    groups: BTreeMap<String, Option<Departure>>,
    members: BTreeMap<(String, String, u16), Option<Departure>>,
}

/// What a line disables.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Disabled {
    /// A server, and with it whatever runs there.
    Server(String),
    /// A service.
    Service(String),
    /// A group with all its members.
    Group(String),
    /// The member of that group on that server, by name or address, with that port.
    Member(String, String, u16),
}

impl Departure {
    /// `delay` and `-graceFul` of a line; `None` when both ask for nothing.
    pub fn asked(delay_s: u32, graceful: bool) -> Option<Departure> {
        let delay_s = (delay_s > 0).then_some(delay_s);
        (delay_s.is_some() || graceful).then_some(Departure { delay_s, graceful })
    }

    /// Whichever of both is over first.
    fn or_sooner(self, other: Departure) -> Departure {
        let delays = [self.delay_s, other.delay_s];
        Departure { delay_s: delays.into_iter().flatten().min(), graceful: self.graceful || other.graceful }
    }
}

impl Departures {
    /// A line disables that, slowly or at once.
    pub fn note(&mut self, what: Disabled, how: Option<Departure>) {
        let lower = |name: String| name.to_ascii_lowercase();
        match what {
            Disabled::Server(name) => self.servers.insert(lower(name), how),
            Disabled::Service(name) => self.services.insert(lower(name), how),
            Disabled::Group(name) => self.groups.insert(lower(name), how),
            Disabled::Member(group, server, port) => {
                self.members.insert((lower(group), lower(server), port), how)
            }
        };
    }

    /// The servers that a line disables, in lower case.
    pub fn servers(&self) -> impl Iterator<Item = &String> {
        self.servers.keys()
    }

    /// The services that a line disables by themselves, in lower case.
    pub fn services(&self) -> impl Iterator<Item = &String> {
        self.services.keys()
    }

    /// The groups that a line disables, or members of, in lower case.
    pub fn groups(&self) -> impl Iterator<Item = &String> {
        self.groups.keys().chain(self.members.keys().map(|(group, ..)| group))
    }

    /// How a disabled service leaves, if a line says anything of it: slowly, or with `None` at once.
    pub fn of_service(&self, service: &Service, config: &Config) -> Option<Option<Departure>> {
        let own = self.services.get(&service.name.to_ascii_lowercase());
        all([(service.enabled, own), self.of_server(&service.server, config)])
    }

    /// The same of a member.
    pub fn of_member(
        &self,
        group: &ServiceGroup,
        member: &Member,
        config: &Config,
    ) -> Option<Option<Departure>> {
        let name = group.name.to_ascii_lowercase();
        let address = config.servers.find(&member.server).and_then(|server| server.ip());
        let by_name = (name.clone(), member.server.to_ascii_lowercase(), member.port);
        let by_address = address.map(|ip| (name.clone(), ip.to_string(), member.port));
        let own =
            self.members.get(&by_name).or_else(|| by_address.and_then(|address| self.members.get(&address)));
        let of_group = self.groups.get(&name);
        all([(group.enabled, of_group), (member.enabled, own), self.of_server(&member.server, config)])
    }

    fn of_server(&self, name: &str, config: &Config) -> (bool, Option<&Option<Departure>>) {
        let enabled = config.servers.find(name).is_some_and(|server| server.enabled);
        (enabled, self.servers.get(&name.to_ascii_lowercase()))
    }
}

/// Of the switches that are off, if anything is said of one: the soonest way, or `None` if one of them has no slow one.
fn all<const N: usize>(switches: [(bool, Option<&Option<Departure>>); N]) -> Option<Option<Departure>> {
    let off = || switches.iter().filter(|(on, _)| !on).map(|(_, how)| how.copied());
    let slowest = Departure { delay_s: None, graceful: false };
    let soonest = || off().try_fold(slowest, |soonest, how| Some(soonest.or_sooner(how??)));
    off().any(|how| how.is_some()).then(soonest)
}
