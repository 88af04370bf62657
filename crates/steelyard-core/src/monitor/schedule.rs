//! Which probe is due when, and what its result does to its service. The only writer of a service's state and
//! response time.
//!
//! Owns every monitor's machine, across reconfiguration: a monitor that stays bound keeps its history, one that goes
//! is forgotten. There is exactly one machine and at most one running probe per service and monitor. Opens no
//! socket: the caller takes what is due, probes, and brings the results back.

mod watching;

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};

use super::bound::Unknown;
use super::health::{self, Health, Machine};
use super::{ProbeResult, Spec};
use crate::config::departure::Departure;
use crate::service::{Service, State};
use crate::sync::Arc;
use crate::time::{SECOND_US, Time};

/// A service and how it is to be watched.
#[derive(Clone)]
pub struct Target {
    /// The live service.
    pub service: Arc<Service>,
    /// Is it in service, and is it probed?
    pub watch: Watched,
    /// `-monThreshold`: the weights of UP monitors must reach it; 0 asks for all monitors.
    pub threshold: u32,
    /// Bound monitors with their weights.
    pub monitors: Vec<(Arc<Spec>, u32)>,
    /// Bound monitors that cannot be run.
    pub unknown: Arc<[Unknown]>,
}

/// How a service is watched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Watched {
    /// By its monitors.
    Probed,
    /// `-healthMonitor NO`: UP without a probe.
    TakenAsUp,
    /// Disabled: OUT OF SERVICE and not probed.
    Disabled,
    /// Disabled, and nothing is said of how: one that is on its way out goes on, any other is OUT OF SERVICE.
    Off {
        /// Do its monitors probe it meanwhile?
        probed: bool,
    },
    /// Disabled, and until that is over on its way out: GOING OUT OF SERVICE, still probed if `probed`. One that was not
    /// in service before is at once where it was to go.
    Leaving {
        /// What ends it.
        departure: Departure,
        /// Do its monitors probe it meanwhile?
        probed: bool,
    },
}

/// A probe that is due now.
#[derive(Debug)]
pub struct Due {
    /// To bring the result back under.
    pub key: ProbeKey,
    /// Where to connect to.
    pub to: SocketAddr,
    /// What is judged.
    pub about: SocketAddr,
    /// Which address to leave from; `None` leaves it to the kernel.
    pub from: Option<IpAddr>,
    /// What to ask.
    pub spec: Arc<Spec>,
    /// A number of its own, for whatever in it must be told from other probes (`Spec::probe`).
    pub seed: u64,
}

/// One monitor on one service, as long as it probes the same thing.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct ProbeKey(u64);

/// A service changed its state.
#[derive(Clone)]
pub struct Transition {
    /// Which.
    pub service: Arc<Service>,
    /// Its state before.
    pub from: State,
    /// Its state now.
    pub to: State,
    /// Monitor name and last response, when a probe caused it.
    pub cause: Option<(Box<str>, ProbeResult)>,
    /// How it goes or went out of service, unless that was at once.
    pub departure: Option<Departure>,
}

/// What is known of one monitor on one service.
pub struct Status<'a> {
    /// The monitor.
    pub spec: &'a Spec,
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
    /// The entries on their way out of service.
    leaving: BTreeSet<usize>,
    next_key: u64,
    /// Probes that were taken so far.
    taken: u64,
    /// When the next first probe may start.
    next_first: Time,
    seed: u64,
}

struct Entry {
    service: Arc<Service>,
    watch: Watched,
    /// Since when it has been leaving, while it is.
    leaving_since: Time,
    threshold: u32,
    keys: Vec<ProbeKey>,
    unknown: Arc<[Unknown]>,
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

impl Schedule {
    /// Nothing to probe yet. `seed` spreads the probes over their interval.
    pub fn new(seed: u64) -> Schedule {
        Schedule {
            entries: BTreeMap::new(),
            probes: BTreeMap::new(),
            due: BTreeSet::new(),
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
            if let Some(probing) = self.probes.get_mut(&key) {
                probing.started = Some(now);
                let (about, spec) = (probing.about, Arc::clone(&probing.spec));
                let to = spec.destination(about);
                // Who is asked in the place of the service is not where its source addresses lead to.
                let service = self.entries.get(&probing.service).filter(|_| to == about);
                let service = service.map(|entry| &entry.service);
                let from = service.and_then(|s| s.source.of_probe(s.address().ip(), to.ip()));
                self.taken += 1;
                let seed = scattered(scattered(self.seed ^ key.0).wrapping_add(self.taken));
                taken.push(Due { key, to, about, from, spec, seed });
            }
        }
        taken
    }

    /// A probe has ended. Results of probes that were stopped are ignored.
    pub fn finished(&mut self, key: ProbeKey, result: ProbeResult, now: Time) -> Option<Transition> {
        let seed = self.seed;
        let probing = self.probes.get_mut(&key)?;
        let started = probing.started.take()?;
        probing.machine.record(result.clone(), &probing.spec.timing);
        let mut due = probing.machine.next_due(&probing.spec.timing, started, now);
        if probing.first {
            probing.first = false;
            // The first probes of many services start together; from the second on they are spread out.
            let early = spread(seed ^ key.0, probing.spec.timing.interval_us);
            due = Time::from_us(due.as_us().saturating_sub(early)).max(now);
        }
        probing.due = due;
        self.due.insert((due, key));
        let (id, cause) = (probing.service, (probing.spec.name.clone(), result));
        self.settle(id, Some(cause), now)
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
        let probes = entry.keys.iter().filter_map(|key| self.probes.get(key));
        health::combine(probes.map(|p| (p.machine.last_says(), p.weight)), entry.threshold)
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
        self.probes.insert(key, probing);
        self.due.insert((due, key));
        key
    }

    fn forget(&mut self, key: ProbeKey) {
        if let Some(probing) = self.probes.remove(&key) {
            self.due.remove(&(probing.due, key));
        }
    }

    /// The state of a service as its monitors have it now.
    fn state(&self, entry: &Entry) -> State {
        let probes = entry.keys.iter().filter_map(|key| self.probes.get(key));
        let health = || health::combine(probes.map(|p| (p.machine.health(), p.weight)), entry.threshold);
        match entry.watch {
            Watched::Disabled | Watched::Off { .. } => State::OutOfService,
            Watched::TakenAsUp => State::Up,
            Watched::Probed => health(),
            Watched::Leaving { probed: true, .. } if health() == State::Down => State::TrofsDown,
            Watched::Leaving { .. } => State::Trofs,
        }
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

impl Entry {
    fn is_probed(&self) -> bool {
        matches!(self.watch, Watched::Probed | Watched::Leaving { probed: true, .. })
    }

    fn departure(&self) -> Option<Departure> {
        match self.watch {
            Watched::Leaving { departure, .. } => Some(departure),
            _ => None,
        }
    }

    /// Is its way out of service over? With a delay and gracefully: as soon as either is.
    fn has_left(&self, now: Time) -> bool {
        let Some(departure) = self.departure() else { return true };
        let delay_over = |seconds: u32| now.since_us(self.leaving_since) >= u64::from(seconds) * SECOND_US;
        departure.delay_s.is_some_and(delay_over) || departure.graceful && self.service.active() == 0
    }
}

/// A live service is known by its object: a name removed and added again is another service.
fn identity(service: &Arc<Service>) -> usize {
    Arc::as_ptr(service).addr()
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
