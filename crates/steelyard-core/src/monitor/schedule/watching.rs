//! What is watched from now on, in the place of what was.
//!
//! The hard question is what goes on: a monitor that stays bound to a service, and a service on its way out of service
//! of which nothing is said.

use std::collections::BTreeSet;

use super::entries::Slot;
use super::entry::Entry;
use super::probing::Probing;
use super::{ProbeKey, Schedule, Target, Transition, Watched};
use crate::monitor::Spec;
use crate::monitor::health::{Health, Machine};
use crate::service::{Service, State};
use crate::sync::Arc;
use crate::time::Time;

impl Schedule {
    /// Watches exactly these targets from now on. Returns the probes that must stop and the services that changed
    /// their state by it.
    pub fn reconfigure(&mut self, targets: Vec<Target>, now: Time) -> (Vec<ProbeKey>, Vec<Transition>) {
        let before = self.entries.slots();
        self.follow(before, &targets, now)
    }

    /// The same in the place of `services` alone: whatever else is watched goes on as it does.
    pub fn reconfigure_some<'s>(
        &mut self,
        services: impl Iterator<Item = &'s Arc<Service>>,
        targets: Vec<Target>,
        now: Time,
    ) -> (Vec<ProbeKey>, Vec<Transition>) {
        let before = services.filter_map(|service| self.entries.slot_of(service)).collect();
        self.follow(before, &targets, now)
    }

    /// Watches these targets, in the place of what is in the slots of `before`.
    fn follow(
        &mut self,
        before: BTreeSet<Slot>,
        targets: &[Target],
        now: Time,
    ) -> (Vec<ProbeKey>, Vec<Transition>) {
        let (mut slots, mut stopped, mut gone) = (Vec::new(), Vec::new(), before);
        for target in targets {
            let (slot, left) = self.watch(target, now);
            gone.remove(&slot);
            slots.push(slot);
            stopped.extend(left);
        }
        for slot in gone {
            self.leaving.remove(&slot);
            stopped.extend(self.entries.remove(slot).into_iter().flat_map(|entry| entry.probes));
        }
        stopped.iter().for_each(|probing| self.forget(probing));
        let mut stopped: Vec<ProbeKey> = stopped.iter().map(|probing| probing.key).collect();
        stopped.sort_unstable();
        // Who comes UP first: whoever waits at a virtual server is not to be told that nobody is left.
        let (up, others): (Vec<&Entry>, Vec<&Entry>) =
            slots.iter().filter_map(|slot| self.entries.at(*slot)).partition(|entry| entry.state().admits());
        let changed = up.into_iter().chain(others).filter_map(|entry| entry.settle(now)).collect();
        (stopped, changed)
    }

    /// Watches one target. Returns where its entry is, and the probes that must stop.
    fn watch(&mut self, target: &Target, now: Time) -> (Slot, Vec<Probing>) {
        let before = self.entries.find(&target.service);
        let entry = Entry::new(target, whither(target.watch, before, now));
        let (is_probed, is_leaving) = (entry.is_probed(), entry.departure().is_some());
        let (slot, before) = self.entries.insert(entry);
        match is_leaving {
            true => self.leaving.insert(slot),
            false => self.leaving.remove(&slot),
        };
        let mut old = before.map(|entry| entry.probes).unwrap_or_default();
        if is_probed {
            let probes = self.adopt(target, slot, &mut old, now);
            if let Some(entry) = self.entries.at_mut(slot) {
                entry.probes = probes;
            }
        }
        (slot, old)
    }

    /// The probes of a target's enabled monitors: of `old` those that go on, which it takes out of there, and new ones that
    /// are due at once.
    fn adopt(&mut self, target: &Target, slot: Slot, old: &mut Vec<Probing>, now: Time) -> Vec<Probing> {
        // A monitor that joins a service that others hold UP must fail before it counts against it.
        let joins_up = !old.is_empty() && target.service.state() == State::Up;
        let mut probes = Vec::new();
        for (spec, weight) in target.monitors.iter().filter(|(spec, _)| spec.enabled) {
            let about = spec.about(target.service.address());
            let known = old.iter().position(|probing| probing.spec.name == spec.name);
            let probing = match known {
                Some(at) if old[at].asks_the_same(spec, about) => {
                    let mut probing = old.remove(at);
                    self.retime(&mut probing, spec, *weight, now);
                    probing
                }
                Some(at) => self.begin(slot, (spec, *weight, about), old[at].machine.clone(), now),
                None => {
                    let health = if joins_up { Health::Up } else { Health::Unknown };
                    self.begin(slot, (spec, *weight, about), Machine::new(health), now)
                }
            };
            probes.push(probing);
        }
        probes
    }

    /// Adopts new timing; what is due later than the new interval allows is brought forward.
    fn retime(&mut self, probing: &mut Probing, spec: &Arc<Spec>, weight: u32, now: Time) {
        probing.weight = weight;
        let changed = probing.spec.timing != spec.timing;
        probing.spec = Arc::clone(spec);
        if changed && probing.started.is_none() && !probing.first {
            let wait = match probing.machine.health() {
                Health::Down => spec.timing.down_time_us,
                _ => spec.timing.interval_us,
            };
            let due = probing.due.min(now.plus_us(wait));
            self.due.remove(&(probing.due, probing.key));
            probing.due = due;
            self.due.insert((due, probing.key));
        }
    }
}

/// How a service is watched from now on, and since when it has been leaving: only what is in service can leave slowly, and
/// what has been leaving goes on unless it is to leave in another way.
fn whither(asked: Watched, before: Option<&Entry>, now: Time) -> (Watched, Time) {
    let departure = match asked {
        Watched::Leaving { departure, .. } => departure,
        Watched::Off { probed } => {
            let leaving = before.and_then(|entry| Some((entry.departure()?, entry.leaving_since)));
            let goes_on = |(departure, since)| (Watched::Leaving { departure, probed }, since);
            return leaving.map_or((Watched::Disabled, now), goes_on);
        }
        _ => return (asked, now),
    };
    match before.map(|entry| (entry.watch, entry)) {
        None | Some((Watched::Disabled, _)) => (Watched::Disabled, now),
        Some((Watched::Leaving { departure: same, .. }, entry)) if same == departure => {
            (asked, entry.leaving_since)
        }
        Some(_) => (asked, now),
    }
}
