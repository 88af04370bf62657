//! What is watched from now on, in the place of what was.
//!
//! The hard question is what goes on: a monitor that stays bound to a service, and a service on its way out of service
//! of which nothing is said.

use std::collections::{BTreeMap, BTreeSet};

use super::{Entry, ProbeKey, Schedule, Target, Transition, Watched, identity};
use crate::service::Service;
use crate::sync::Arc;
use crate::time::Time;

impl Schedule {
    /// Watches exactly these targets from now on. Returns the probes that must stop and the services that changed
    /// their state by it.
    pub fn reconfigure(&mut self, targets: Vec<Target>, now: Time) -> (Vec<ProbeKey>, Vec<Transition>) {
        let before = std::mem::take(&mut self.entries);
        self.follow(before, targets, now)
    }

    /// The same in the place of `services` alone: whatever else is watched goes on as it does.
    pub fn reconfigure_some<'s>(
        &mut self,
        services: impl Iterator<Item = &'s Arc<Service>>,
        targets: Vec<Target>,
        now: Time,
    ) -> (Vec<ProbeKey>, Vec<Transition>) {
        let mut ids: BTreeSet<usize> = services.map(identity).collect();
        ids.extend(targets.iter().map(|target| identity(&target.service)));
        let before = ids.into_iter().filter_map(|id| self.entries.remove_entry(&id)).collect();
        self.follow(before, targets, now)
    }

    /// Watches these targets, some of which have taken the place of what was watched before.
    fn follow(
        &mut self,
        before: BTreeMap<usize, Entry>,
        targets: Vec<Target>,
        now: Time,
    ) -> (Vec<ProbeKey>, Vec<Transition>) {
        let mut kept: BTreeSet<ProbeKey> = BTreeSet::new();
        for target in &targets {
            let id = identity(&target.service);
            let old = before.get(&id).map(|e| e.keys.clone()).unwrap_or_default();
            let (watch, leaving_since) = whither(target.watch, before.get(&id), now);
            let keys = match watch {
                Watched::Probed | Watched::Leaving { probed: true, .. } => self.adopt(target, &old, now),
                _ => Vec::new(),
            };
            kept.extend(&keys);
            self.entries.insert(id, Entry::new(target, (watch, leaving_since), keys));
        }
        let old: BTreeSet<ProbeKey> = before.values().flat_map(|entry| &entry.keys).copied().collect();
        let stopped: Vec<ProbeKey> = old.difference(&kept).copied().collect();
        for key in &stopped {
            self.forget(*key);
        }
        // Who comes UP first: whoever waits at a virtual server is not to be told that nobody is left.
        let ids: Vec<usize> = targets.iter().map(|target| identity(&target.service)).collect();
        for id in before.keys().chain(&ids) {
            match self.entries.get(id).and_then(Entry::departure) {
                Some(_) => self.leaving.insert(*id),
                None => self.leaving.remove(id),
            };
        }
        let (up, others): (Vec<usize>, Vec<usize>) = ids
            .into_iter()
            .partition(|id| self.entries.get(id).is_some_and(|entry| self.state(entry).admits()));
        let changed = up.into_iter().chain(others).filter_map(|id| self.settle(id, None, now)).collect();
        (stopped, changed)
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
