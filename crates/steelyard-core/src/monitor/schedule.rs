//! Which probe is due when, and what its result does to its service. The only writer of a service's state and
//! response time.
//!
//! Owns every monitor's machine, across reconfiguration: a monitor that stays bound keeps its history, one that goes
//! is forgotten. There is exactly one machine and at most one running probe per service and monitor. Opens no
//! socket: the caller takes what is due, probes, and brings the results back.

mod entries;
mod entry;
mod probing;
mod target;
mod watching;

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};

use self::entries::{Entries, Slot};
use self::entry::Entry;
pub use self::probing::ProbeKey;
use self::probing::Probing;
pub use self::target::{Closing, Due, Outcome, Target, Transition, Watched};
use super::alarm::Alarm;
use super::bound::Unknown;
use super::health::{Machine, in_step};
use super::user::Script;
use super::{Finding, Kind, ProbeResult, Spec};
use crate::service::{Service, State};
use crate::sync::Arc;
use crate::time::{SECOND_US, Time};

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
    entries: Entries,
    due: BTreeSet<(Time, ProbeKey)>,
    /// Those of monitors that have a script judge.
    scripted: BTreeSet<ProbeKey>,
    /// The entries on their way out of service.
    leaving: BTreeSet<Slot>,
    next_serial: u64,
    /// Probes that were taken so far.
    taken: u64,
    /// When the next first probe may start.
    next_first: Time,
    seed: u64,
}

impl Schedule {
    /// Nothing to probe yet. `seed` spreads the probes over their interval.
    pub fn new(seed: u64) -> Schedule {
        Schedule {
            entries: Entries::default(),
            due: BTreeSet::new(),
            scripted: BTreeSet::new(),
            leaving: BTreeSet::new(),
            next_serial: 0,
            taken: 0,
            next_first: Time::ZERO,
            seed,
        }
    }

    /// What time and the end of transactions change: who has left is OUT OF SERVICE. Returns the probes that must stop and
    /// the services that changed their state by it.
    pub fn tick(&mut self, now: Time) -> (Vec<ProbeKey>, Vec<Transition>) {
        let (mut stopped, mut changed) = (Vec::new(), Vec::new());
        let over = |slot: &Slot| self.entries.at(*slot).is_none_or(|entry| entry.has_left(now));
        let gone: Vec<Slot> = self.leaving.iter().copied().filter(over).collect();
        for slot in gone {
            self.leaving.remove(&slot);
            let Some(entry) = self.entries.at_mut(slot) else { continue };
            let departure = entry.departure();
            entry.watch = Watched::Disabled;
            let probes = std::mem::take(&mut entry.probes);
            changed.extend(entry.settle(now).map(|transition| Transition { departure, ..transition }));
            probes.iter().for_each(|probing| self.forget(probing));
            stopped.extend(probes.iter().map(|probing| probing.key));
        }
        (stopped, changed)
    }

    /// When the next probe is due.
    pub fn next_due(&self) -> Option<Time> {
        self.due.first().map(|(at, _)| *at)
    }

    /// The probes that are due, the earliest first. Each that is handed out runs until `finished` is told its key.
    pub fn take_due(&mut self, now: Time) -> impl Iterator<Item = Due> {
        std::iter::from_fn(move || self.take_next(now))
    }

    fn take_next(&mut self, now: Time) -> Option<Due> {
        while self.next_due().is_some_and(|at| at <= now) {
            let (_, key) = self.due.pop_first()?;
            if let Some(due) = self.take(key, now) {
                return Some(due);
            }
        }
        None
    }

    /// Starts a probe, or leaves it out where its service has no room for it.
    fn take(&mut self, key: ProbeKey, now: Time) -> Option<Due> {
        self.taken += 1;
        let seed = scattered(scattered(self.seed ^ key.serial).wrapping_add(self.taken));
        let entry = self.entries.at_mut(key.slot)?;
        let is_full = entry.is_full();
        let Entry { service, closing, probes, .. } = entry;
        let probing = probes.iter_mut().find(|probing| probing.key == key)?;
        let at = service.address();
        if is_full && probing.connects_to(at, now) {
            probing.machine.left_out(ProbeResult::unjudged(Finding::AtMaxClient));
            probing.due = now.plus_us(probing.spec.timing.interval_us.max(1));
            self.due.insert((probing.due, key));
            return None;
        }
        probing.started = Some(now);
        let (about, spec) = (probing.about, Arc::clone(&probing.spec));
        let to = spec.destination(about);
        let own = spec.source.filter(|own| own.is_ipv4() == to.is_ipv4());
        let from = own.or_else(|| service.source.of_probe(at.ip(), to.ip()));
        // Who is asked in the place of the service is not where its source addresses lead to.
        let from = from.filter(|_| to == about);
        let limit_us = probing.machine.limit_us(&spec.timing);
        let hop = spec.transparent.then_some(at.ip());
        Some(Due { key, to, about, from, hop, spec, limit_us, closing: *closing, seed })
    }

    /// The next hops that probes go by, whatever the host's routes say.
    pub fn next_hops(&self) -> BTreeSet<IpAddr> {
        let is_led = |probing: &Probing| probing.spec.transparent;
        let services = self.entries.iter().filter(|entry| entry.probes.iter().any(is_led));
        services.map(|entry| entry.service.address().ip()).collect()
    }

    /// A probe has ended. Results of probes that were stopped are ignored.
    pub fn finished(&mut self, key: ProbeKey, result: ProbeResult, now: Time) -> Outcome {
        let Some(entry) = self.entries.at_mut(key.slot) else { return Outcome::default() };
        let Some(probing) = entry.probe_mut(key) else { return Outcome::default() };
        let Some(started) = probing.started.take() else { return Outcome::default() };
        let matter = probing.machine.record(result, &probing.spec.timing);
        let mut due = probing.machine.next_due(&probing.spec.timing, started, now);
        if probing.first {
            probing.first = false;
            // The first probes of many services start together; from the second on they are spread out.
            let interval_us = probing.spec.timing.interval_us;
            let early = spread(self.seed ^ key.serial, interval_us);
            due = in_step(Time::from_us(due.as_us().saturating_sub(early)), interval_us).max(now);
        }
        probing.due = due;
        self.due.insert((due, key));
        let cause = || entry.probe(key).and_then(Probing::last_response);
        let transition = entry.settle(now).map(|transition| Transition { cause: cause(), ..transition });
        let alarm = |matter| {
            let monitor = entry.probe(key)?.spec.name.clone();
            Some(Alarm { service: Arc::clone(&entry.service), monitor, matter })
        };
        Outcome { transition, alarm: matter.and_then(alarm) }
    }

    /// The monitors of a service, in binding order.
    pub fn monitors(&self, service: &Arc<Service>) -> Vec<Status<'_>> {
        let probes = self.entries.find(service).map(|entry| entry.probes.as_slice()).unwrap_or_default();
        probes.iter().map(|p| Status { spec: &p.spec, weight: p.weight, machine: &p.machine }).collect()
    }

    /// The monitors of a service that are UNKNOWN because they cannot be run, in binding order; none while it is not
    /// probed.
    pub fn unknown(&self, service: &Arc<Service>) -> &[Unknown] {
        let entry = self.entries.find(service).filter(|entry| entry.is_probed());
        entry.map(|entry| &*entry.unknown).unwrap_or_default()
    }

    /// The state that the last result of each monitor would give by itself.
    pub fn last_results_say(&self, service: &Arc<Service>) -> State {
        let entry = self.entries.find(service).filter(|entry| entry.is_probed());
        entry.map_or_else(|| service.state(), |entry| entry.combined(Machine::last_says))
    }

    /// The monitors that run and have a script judge, once for each service.
    pub fn scripted(&self) -> impl Iterator<Item = (&Spec, &Script)> {
        self.scripted.iter().filter_map(|key| {
            let spec = &self.entries.at(key.slot)?.probe(*key)?.spec;
            match &spec.kind {
                Kind::User(script) => Some((&**spec, &**script)),
                _ => None,
            }
        })
    }

    /// Has every monitor that runs given its first result?
    pub fn all_probed(&self) -> bool {
        self.probes().all(|probing| probing.machine.last.is_some())
    }

    /// How many monitors run, on all services together.
    pub fn running(&self) -> usize {
        self.probes().count()
    }

    /// How many of those have given no result yet.
    pub fn awaited(&self) -> usize {
        self.probes().filter(|probing| probing.machine.last.is_none()).count()
    }

    fn probes(&self) -> impl Iterator<Item = &Probing> {
        self.entries.iter().flat_map(|entry| &entry.probes)
    }

    /// A probe of the service in `slot`, due as soon as first probes may start.
    fn begin(
        &mut self,
        slot: Slot,
        (spec, weight, about): (&Arc<Spec>, u32, SocketAddr),
        machine: Machine,
        now: Time,
    ) -> Probing {
        let key = ProbeKey { serial: self.next_serial, slot };
        self.next_serial += 1;
        let due = self.next_first.max(now);
        self.next_first = due.plus_us(SECOND_US / FIRST_PROBES_PER_SECOND);
        if matches!(spec.kind, Kind::User(_)) {
            self.scripted.insert(key);
        }
        self.due.insert((due, key));
        Probing { key, due, started: None, first: true, weight, spec: Arc::clone(spec), about, machine }
    }

    fn forget(&mut self, probing: &Probing) {
        self.due.remove(&(probing.due, probing.key));
        self.scripted.remove(&probing.key);
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
