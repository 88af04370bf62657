//! Who may be chosen: states, slow start's caps, services tried before, and what a service brings when it comes.

use super::{FULL, HEAVY, Leaf, Measures, Ring, SLOWED, STATE};
use crate::balance::round;
use crate::balance::slot::Slot;
use crate::balance::startup::StartupReason;
use crate::service::ResponseTime;
use crate::time::Time;

impl Ring {
    pub(super) fn refill(&mut self, now: Time) {
        let Some(ramps) = &mut self.ramps else { return };
        let steady = self.candidates.saturating_sub(ramps.len()).max(1) as u64;
        let free = ramps.refill(now, self.steady.in_7_s() / steady);
        for position in free {
            self.unslow(position);
        }
    }

    pub(super) fn unslow(&mut self, position: usize) {
        if self.leaves[position].held & SLOWED != 0 {
            self.slowed -= 1;
            self.rejoin(position);
            self.release(position, SLOWED);
        }
    }

    /// Takes part in the running round again: those that passed meanwhile leave it nothing to catch up with.
    fn rejoin(&mut self, position: usize) {
        let Leaf { turns, weight, .. } = self.leaves[position];
        if round(turns, weight.into()) < self.round {
            self.enter_round(position);
        }
    }

    /// Looks anew whether a service has room within its `maxClient`. True when that changed: its key must follow.
    #[inline]
    pub(super) fn refit(&mut self, position: usize, slots: &[Slot]) -> bool {
        let Some(most) = self.ceilings.get(position) else { return false };
        let full = slots[position].hot.active() >= u64::from(*most);
        let held = self.leaves[position].held;
        if full == (held & FULL != 0) {
            return false;
        }
        if !full {
            self.rejoin(position);
        }
        self.set_held(position, held ^ FULL);
        true
    }

    /// Holds back who carried too much in the last second, until he has not.
    pub(super) fn weigh(&mut self, now: Time) {
        let turned: Vec<(usize, bool)> = self
            .bandwidth
            .advance(now)
            .filter(|(position, over)| {
                self.leaves.get(*position).is_some_and(|leaf| (leaf.held & HEAVY != 0) != *over)
            })
            .collect();
        for (position, over) in turned {
            if over {
                self.hold(position, HEAVY);
            } else {
                self.rejoin(position);
                self.release(position, HEAVY);
            }
        }
    }

    /// Is there a service that a request may wait for: one that admits work and is not among `tried`?
    pub(in crate::balance) fn may_wait(&self, tried: &[usize]) -> bool {
        let lost = tried.iter().filter(|position| self.leaves.get(**position).is_some_and(Leaf::admits));
        self.candidates > lost.count()
    }

    /// Reads the state and the monitors' response time of a service anew. True when it went from not admitting work to
    /// admitting it.
    pub(in crate::balance) fn update_state(&mut self, position: usize, slots: &[Slot], now: Time) -> bool {
        let Some(leaf) = self.leaves.get(position) else { return false };
        let (was, state) = (leaf.admits(), slots[position].hot.state());
        let nothing_known = self.stand_in.none_known();
        if was {
            self.leave(position);
        }
        self.read_response_time(position, slots);
        let code = if state.admits() { 0 } else { state as u8 };
        self.set_held(position, self.leaves[position].held & !STATE | code);
        if state.admits() {
            self.enter(position);
        }
        if was != state.admits() {
            self.turned(position, state.admits(), now);
        }
        self.settle();
        if nothing_known && !self.stand_in.none_known() {
            self.freeze(slots);
        }
        self.renew(position, slots);
        self.rekey(position);
        !was && state.admits()
    }

    fn read_response_time(&mut self, position: usize, slots: &[Slot]) {
        if self.method.measures == Measures::ResponseTime {
            let time = slots[position].hot.response_time();
            let leaf = &mut self.leaves[position];
            leaf.pending = time == ResponseTime::Pending;
            leaf.time_us = if let ResponseTime::Known(us) = time { us } else { 0 };
        }
    }

    /// Counts a service among the candidates.
    pub(super) fn enter(&mut self, position: usize) {
        self.candidates += 1;
        self.pending += usize::from(self.leaves[position].pending);
        if self.method.measures.time() {
            self.enter_stand_in(position);
        }
    }

    /// Counts it out again.
    fn leave(&mut self, position: usize) {
        self.candidates -= 1;
        self.pending -= usize::from(self.leaves[position].pending);
        if self.method.measures.time() {
            self.leave_stand_in(position);
        }
    }

    /// A service takes part in the running round with all its turns (`spec/methods.md` 1.2).
    fn enter_round(&mut self, position: usize) {
        let leaf = &mut self.leaves[position];
        let turns = self.round.saturating_mul(u64::from(leaf.weight));
        let before = std::mem::replace(&mut leaf.turns, turns);
        self.log.turns(position, before);
    }

    /// A service began or ceased to admit work.
    fn turned(&mut self, position: usize, admits: bool, now: Time) {
        if admits {
            self.enter_round(position);
            // Before the first request there is no load of others to be eased into.
            if let Some(ramps) = &mut self.ramps
                && self.rate.total() > 0
            {
                ramps.begin(position, now);
            }
        } else if let Some(ramps) = &mut self.ramps {
            ramps.end(position);
            self.unslow(position);
        }
        self.end_ramps_if_all();
    }

    /// When every candidate is ramping, caps are ignored (2.3): they carry all the load there is.
    fn end_ramps_if_all(&mut self) {
        if let Some(ramps) = &mut self.ramps
            && ramps.len() > 0
            && ramps.len() >= self.candidates
        {
            for position in ramps.end_all() {
                self.unslow(position);
            }
        }
    }

    /// Restarts start-up round robin, unless per-service slow start takes its place or the method is round robin.
    pub(in crate::balance) fn trigger(&mut self, reason: StartupReason) {
        if self.ramps.is_none() && self.method.measures != Measures::Turns {
            self.startup.trigger(reason, self.factor, self.leaves.len(), self.rate.in_7_s());
            self.settle();
        }
    }

    pub(super) fn hold(&mut self, position: usize, why: u8) {
        self.set_held(position, self.leaves[position].held | why);
        self.rekey(position);
    }

    pub(super) fn release(&mut self, position: usize, why: u8) {
        self.set_held(position, self.leaves[position].held & !why);
        self.rekey(position);
    }

    fn set_held(&mut self, position: usize, held: u8) {
        let before = std::mem::replace(&mut self.leaves[position].held, held);
        if before != held {
            self.log.held(position, before);
        }
    }
}
