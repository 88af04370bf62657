//! Which probe is due when, and what its result does to its service. The only writer of a service's state and
//! response time.
//!
//! Owns every monitor's machine, across reconfiguration: a monitor that stays bound keeps its history, one that goes
//! is forgotten. There is exactly one machine and at most one running probe per service and monitor. Opens no
//! socket: the caller takes what is due, probes, and brings the results back.

mod entry;
mod target;
mod watching;

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};

use self::entry::{Entry, identity};
pub use self::target::{Closing, Due, Outcome, Target, Transition, Watched};
use super::alarm::Alarm;
use super::bound::Unknown;
use super::health::{self, Health, Machine, in_step};
use super::user::Script;
use super::{Channel, Finding, Kind, ProbeResult, Spec};
use crate::service::{Service, State};
use crate::sync::Arc;
use crate::time::{SECOND_US, Time};

/// One monitor on one service, as long as it probes the same thing.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct ProbeKey(u64);

/// What is known of one monitor on one service.
pub struct Status<'a> {
    /// The monitor.
    pub spec: &'a Arc<Spec>,
    /// Its weight for `monThreshold`.
    pub weight: u32,
    /// Its results so far.
    pub machine: &'a Machine,
}

/// All monitors of all services.
pub struct Schedule {
    entries: BTreeMap<usize, Entry>,
    probes: BTreeMap<ProbeKey, Probing>,
    due: BTreeSet<(Time, ProbeKey)>,
    /// Those of monitors that have a script judge.
    scripted: BTreeSet<ProbeKey>,
    /// The entries on their way out of service.
    leaving: BTreeSet<usize>,
    next_key: u64,
    /// Probes that were taken so far.
    taken: u64,
    /// When the next first probe may start.
    next_first: Time,
    seed: u64,
}

struct Probing {
    service: usize,
    about: SocketAddr,
    spec: Arc<Spec>,
    weight: u32,
    machine: Machine,
    /// `Some` while a probe runs.
    started: Option<Time>,
    /// When it is due, while none runs.
    due: Time,
    first: bool,
}

impl Probing {
    /// Would a probe be one more connection to the service at `service`?
    fn connects_to(&self, service: SocketAddr, now: Time) -> bool {
        let to = self.spec.destination(self.about);
        to == service && self.spec.probe(self.about, now, 0).channel() == Channel::Stream
    }
}

impl Schedule {
    /// Nothing to probe yet. `seed` spreads the probes over their interval.
    pub fn new(seed: u64) -> Schedule {
        Schedule {
            entries: BTreeMap::new(),
            probes: BTreeMap::new(),
            due: BTreeSet::new(),
            scripted: BTreeSet::new(),
            leaving: BTreeSet::new(),
            next_key: 0,
            taken: 0,
            next_first: Time::ZERO,
            seed,
        }
    }

    /// What time and the end of transactions change: who has left is OUT OF SERVICE. Returns the probes that must stop and
    /// the services that changed their state by it.
    pub fn tick(&mut self, now: Time) -> (Vec<ProbeKey>, Vec<Transition>) {
        let (mut stopped, mut changed) = (Vec::new(), Vec::new());
        let over = |id: &usize| self.entries.get(id).is_none_or(|entry| entry.has_left(now));
        let gone: Vec<usize> = self.leaving.iter().copied().filter(over).collect();
        for id in gone {
            self.leaving.remove(&id);
            let Some(entry) = self.entries.get_mut(&id) else { continue };
            let departure = entry.departure();
            entry.watch = Watched::Disabled;
            let keys = std::mem::take(&mut entry.keys);
            keys.iter().for_each(|key| self.forget(*key));
            stopped.extend(keys);
            changed
                .extend(self.settle(id, None, now).map(|transition| Transition { departure, ..transition }));
        }
        (stopped, changed)
    }

    /// When the next probe is due.
    pub fn next_due(&self) -> Option<Time> {
        self.due.first().map(|(at, _)| *at)
    }

    /// Up to `limit` probes that are due; each runs until `finished` is told its key.
    pub fn take_due(&mut self, now: Time, limit: usize) -> Vec<Due> {
        let mut taken = Vec::new();
        while taken.len() < limit {
            let Some(&(at, key)) = self.due.first() else { break };
            if at > now {
                break;
            }
            self.due.pop_first();
            taken.extend(self.take(key, now));
        }
        taken
    }

    /// Starts a probe, or leaves it out where its service has no room for it.
    fn take(&mut self, key: ProbeKey, now: Time) -> Option<Due> {
        self.taken += 1;
        let seed = scattered(scattered(self.seed ^ key.0).wrapping_add(self.taken));
        let probing = self.probes.get_mut(&key)?;
        let entry = self.entries.get(&probing.service)?;
        let service = entry.service.address();
        if entry.is_full() && probing.connects_to(service, now) {
            probing.machine.left_out(ProbeResult::unjudged(Finding::AtMaxClient));
            probing.due = now.plus_us(probing.spec.timing.interval_us.max(1));
            self.due.insert((probing.due, key));
            return None;
        }
        probing.started = Some(now);
        let (about, spec) = (probing.about, Arc::clone(&probing.spec));
        let to = spec.destination(about);
        let own = spec.source.filter(|own| own.is_ipv4() == to.is_ipv4());
        let from = own.or_else(|| entry.service.source.of_probe(service.ip(), to.ip()));
        // Who is asked in the place of the service is not where its source addresses lead to.
        let from = from.filter(|_| to == about);
        let limit_us = probing.machine.limit_us(&spec.timing);
        let hop = spec.transparent.then_some(service.ip());
        Some(Due { key, to, about, from, hop, spec, limit_us, closing: entry.closing, seed })
    }

    /// The next hops that probes go by, whatever the host's routes say.
    pub fn next_hops(&self) -> BTreeSet<IpAddr> {
        let transparent = self.probes.values().filter(|probing| probing.spec.transparent);
        let services = transparent.filter_map(|probing| self.entries.get(&probing.service));
        services.map(|entry| entry.service.address().ip()).collect()
    }

    /// A probe has ended. Results of probes that were stopped are ignored.
    pub fn finished(&mut self, key: ProbeKey, result: ProbeResult, now: Time) -> Outcome {
        let seed = self.seed;
        let Some(probing) = self.probes.get_mut(&key) else { return Outcome::default() };
        let Some(started) = probing.started.take() else { return Outcome::default() };
        let matter = probing.machine.record(result.clone(), &probing.spec.timing);
        let mut due = probing.machine.next_due(&probing.spec.timing, started, now);
        if probing.first {
            probing.first = false;
            // The first probes of many services start together; from the second on they are spread out.
            let interval_us = probing.spec.timing.interval_us;
            let early = spread(seed ^ key.0, interval_us);
            due = in_step(Time::from_us(due.as_us().saturating_sub(early)), interval_us).max(now);
        }
        probing.due = due;
        self.due.insert((due, key));
        let (id, monitor) = (probing.service, probing.spec.name.clone());
        let service = self.entries.get(&id).map(|entry| Arc::clone(&entry.service));
        let alarm = matter.zip(service);
        let alarm = alarm.map(|(matter, service)| Alarm { service, monitor: monitor.clone(), matter });
        Outcome { transition: self.settle(id, Some((monitor, result)), now), alarm }
    }

    /// The monitors of a service, in binding order.
    pub fn monitors(&self, service: &Arc<Service>) -> Vec<Status<'_>> {
        let keys = self.entries.get(&identity(service)).map(|e| e.keys.as_slice()).unwrap_or_default();
        let of = |key| self.probes.get(key);
        keys.iter()
            .filter_map(of)
            .map(|p| Status { spec: &p.spec, weight: p.weight, machine: &p.machine })
            .collect()
    }

    /// The monitors of a service that are UNKNOWN because they cannot be run, in binding order; none while it is not
    /// probed.
    pub fn unknown(&self, service: &Arc<Service>) -> &[Unknown] {
        let entry = self.entries.get(&identity(service)).filter(|entry| entry.is_probed());
        entry.map(|entry| &*entry.unknown).unwrap_or_default()
    }

    /// The state that the last result of each monitor would give by itself.
    pub fn last_results_say(&self, service: &Arc<Service>) -> State {
        let Some(entry) = self.entries.get(&identity(service)) else { return service.state() };
        if !entry.is_probed() {
            return service.state();
        }
        self.combined(entry, Machine::last_says)
    }

    /// The monitors that run and have a script judge, once for each service.
    pub fn scripted(&self) -> impl Iterator<Item = (&Spec, &Script)> {
        self.scripted.iter().filter_map(|key| {
            let spec = &self.probes.get(key)?.spec;
            match &spec.kind {
                Kind::User(script) => Some((&**spec, &**script)),
                _ => None,
            }
        })
    }

    /// Has every monitor that runs given its first result?
    pub fn all_probed(&self) -> bool {
        self.probes.values().all(|p| p.machine.last.is_some())
    }

    /// How many monitors run, on all services together.
    pub fn running(&self) -> usize {
        self.probes.len()
    }

    /// How many of those have given no result yet.
    pub fn awaited(&self) -> usize {
        self.probes.values().filter(|p| p.machine.last.is_none()).count()
    }

    /// The keys of a target's enabled monitors: known ones go on, new ones are due at once.
    fn adopt(&mut self, target: &Target, old: &[ProbeKey], now: Time) -> Vec<ProbeKey> {
        let mut keys = Vec::new();
        for (spec, weight) in target.monitors.iter().filter(|(spec, _)| spec.enabled) {
            let about = spec.about(target.service.address());
            let known =
                old.iter().copied().find(|k| self.probes.get(k).is_some_and(|p| p.spec.name == spec.name));
            let key = match known {
                Some(key) if self.asks_the_same(key, spec, about) => {
                    self.retime(key, spec, *weight, now);
                    key
                }
                Some(key) => {
                    let history = self.probes.get(&key).map(|p| p.machine.clone());
                    self.begin(target, (spec, *weight, about), history, now)
                }
                None => {
                    // A monitor that joins a service that others hold UP must fail before it counts against it.
                    let joins_up = !old.is_empty() && target.service.state() == State::Up;
                    let health = if joins_up { Health::Up } else { Health::Unknown };
                    self.begin(target, (spec, *weight, about), Some(Machine::new(health)), now)
                }
            };
            keys.push(key);
        }
        keys
    }

    fn asks_the_same(&self, key: ProbeKey, spec: &Spec, about: SocketAddr) -> bool {
        self.probes.get(&key).is_some_and(|p| p.about == about && p.spec.asks_the_same(spec))
    }

    /// Adopts new timing; what is due later than the new interval allows is brought forward.
    fn retime(&mut self, key: ProbeKey, spec: &Arc<Spec>, weight: u32, now: Time) {
        let Some(probing) = self.probes.get_mut(&key) else { return };
        probing.weight = weight;
        let changed = probing.spec.timing != spec.timing;
        probing.spec = Arc::clone(spec);
        if changed && probing.started.is_none() && !probing.first {
            let wait = match probing.machine.health() {
                Health::Down => spec.timing.down_time_us,
                _ => spec.timing.interval_us,
            };
            let due = probing.due.min(now.plus_us(wait));
            self.due.remove(&(probing.due, key));
            probing.due = due;
            self.due.insert((due, key));
        }
    }

    fn begin(
        &mut self,
        target: &Target,
        (spec, weight, about): (&Arc<Spec>, u32, SocketAddr),
        machine: Option<Machine>,
        now: Time,
    ) -> ProbeKey {
        let key = ProbeKey(self.next_key);
        self.next_key += 1;
        let due = self.next_first.max(now);
        self.next_first = due.plus_us(SECOND_US / FIRST_PROBES_PER_SECOND);
        let probing = Probing {
            service: identity(&target.service),
            about,
            spec: Arc::clone(spec),
            weight,
            machine: machine.unwrap_or_else(|| Machine::new(Health::Unknown)),
            started: None,
            due,
            first: true,
        };
        if matches!(spec.kind, Kind::User(_)) {
            self.scripted.insert(key);
        }
        self.probes.insert(key, probing);
        self.due.insert((due, key));
        key
    }

    fn forget(&mut self, key: ProbeKey) {
        if let Some(probing) = self.probes.remove(&key) {
            self.due.remove(&(probing.due, key));
            self.scripted.remove(&key);
        }
    }

    /// The state of a service as its monitors have it now.
    fn state(&self, entry: &Entry) -> State {
        let health = || self.combined(entry, Machine::health);
        match entry.watch {
            Watched::Disabled | Watched::Off { .. } => State::OutOfService,
            Watched::TakenAsUp => State::Up,
            Watched::Probed => health(),
            Watched::Leaving { probed: true, .. } if health().is_out() => State::TrofsDown,
            Watched::Leaving { .. } => State::Trofs,
        }
    }

    /// The state that its monitors give a service, by what `says` says of each.
    fn combined(&self, entry: &Entry, says: impl Fn(&Machine) -> Health) -> State {
        let probes = || entry.keys.iter().filter_map(|key| self.probes.get(key));
        let leaves = probes().any(|p| p.machine.leaves());
        health::state(probes().map(|p| (says(&p.machine), p.weight)), entry.threshold, leaves)
    }

    /// Writes a service's state and response time as its monitors have them now.
    fn settle(&self, id: usize, cause: Option<(Box<str>, ProbeResult)>, now: Time) -> Option<Transition> {
        let entry = self.entries.get(&id)?;
        let to = self.state(entry);
        // The response time goes first, so that a service that comes UP has it already.
        let probes = entry.keys.iter().filter_map(|key| self.probes.get(key));
        let measuring = probes.filter(|p| p.spec.measures()).map(|p| &p.machine);
        entry.service.set_response_time(health::response_time(measuring), now);
        let from = entry.service.state();
        entry.service.set_state(to, now);
        (from != to).then(|| Transition {
            service: Arc::clone(&entry.service),
            from,
            to,
            cause,
            departure: entry.departure(),
        })
    }
}

/// A number below `below` that looks random.
fn spread(seed: u64, below: u64) -> u64 {
    scattered(seed) % below.max(1)
}

/// A number that looks random, another for each seed (splitmix64).
fn scattered(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Ruling 3 of `spec/methods.md`.
const FIRST_PROBES_PER_SECOND: u64 = 2_000;

#[cfg(test)]
mod tests;
