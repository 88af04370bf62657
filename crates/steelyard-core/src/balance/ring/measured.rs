//! What the values are made of: samples and traffic taken in, their expiry, and what stands in for an unknown time.

use super::{Measures, Ring};
use crate::balance::Measured;
use crate::balance::setup::{Bound, Setup};
use crate::balance::slot::Slot;
use crate::balance::window::Sums;
use crate::service::Traffic;
use crate::sync::Arc;
use crate::time::Time;

impl Ring {
    /// Takes in what the service has measured since the last time, and renews its value.
    #[inline]
    pub(in crate::balance) fn absorb(&mut self, position: usize, slots: &[Slot]) {
        if self.retired {
            return;
        }
        match (self.method.measures, &mut self.window) {
            (Measures::Ttfb, Some(window)) => {
                if let Some(sums) = slots[position].take_ttfb() {
                    window.add(position, sums.amount, sums.samples);
                    self.update_mean(position, slots);
                }
            }
            (measures, Some(window)) => window.add(position, self.meters[position].read(measures), 1),
            _ => {}
        }
        self.renew(position, slots);
    }

    pub(super) fn expire(&mut self, slots: &[Slot], now: Time) {
        let Some(window) = &mut self.window else { return };
        let mut fell = Vec::new();
        window.advance(now, |position| fell.push(position));
        if self.method.measures == Measures::Ttfb {
            for position in fell {
                self.update_mean(position, slots);
            }
        } else {
            self.renew_many(&fell, slots);
        }
    }

    /// The mean of the samples in the window; without samples the last mean stays (`spec/methods.md` 1.5).
    fn update_mean(&mut self, position: usize, slots: &[Slot]) {
        let sums = self.window.as_ref().map_or(Sums::default(), |window| window.sums(position));
        if let Some(mean_us) = sums.amount.checked_div(u64::from(sums.samples)) {
            self.set_time(position, mean_us.max(1), slots);
        }
    }

    fn set_time(&mut self, position: usize, time_us: u64, slots: &[Slot]) {
        if self.leaves[position].time_us == time_us {
            return;
        }
        let candidate = self.leaves[position].admits();
        let nothing_known = self.stand_in.none_known();
        if candidate {
            self.leave_stand_in(position);
        }
        self.leaves[position].time_us = time_us;
        if candidate {
            self.enter_stand_in(position);
            if nothing_known {
                // From "nothing known" to a value the unit changes: the others must not wait for the tick.
                self.freeze(slots);
            }
        }
        self.renew(position, slots);
    }

    pub(super) fn freeze(&mut self, slots: &[Slot]) {
        if self.method.measures.time() && self.stand_in.freeze() {
            let unknown: Vec<usize> = self.stand_in.unknown().iter().map(|p| *p as usize).collect();
            self.renew_many(&unknown, slots);
        }
    }

    pub(super) fn enter_stand_in(&mut self, position: usize) {
        let leaf = &mut self.leaves[position];
        self.stand_in.enter(position, leaf.time_us, &mut leaf.place);
    }

    pub(super) fn leave_stand_in(&mut self, position: usize) {
        let (time_us, place) = (self.leaves[position].time_us, self.leaves[position].place);
        if let Some(moved) = self.stand_in.leave(time_us, place) {
            self.leaves[moved].place = place;
        }
    }

    #[inline]
    pub(super) fn remeasure(&mut self, position: usize, slots: &[Slot]) -> bool {
        let leaf = &self.leaves[position];
        let carried = match &self.window {
            Some(window) if self.method.measures.traffic() => window.sums(position).amount,
            _ => 0,
        };
        let time_us = if leaf.time_us > 0 { leaf.time_us } else { self.stand_in.us() };
        let active = slots[position].hot.active();
        let metric = (self.method.metric)(&Measured { active, time_us, carried });
        let before = leaf.metric;
        if metric == before {
            return false;
        }
        self.log.metric(position, before);
        self.leaves[position].metric = metric;
        true
    }
}

/// Reads what a service carries from its counters that only grow.
pub(super) struct Meter {
    traffic: Arc<Traffic>,
    /// How much of it is in the window already.
    seen: u64,
}

impl Meter {
    /// One for each service, if the method measures traffic.
    pub(super) fn all(setup: &Setup) -> Box<[Meter]> {
        let measures = setup.method.measures;
        let of = |bound: &Bound| {
            let mut meter = Meter { traffic: Arc::clone(&bound.service.traffic), seen: 0 };
            meter.read(measures);
            meter
        };
        if measures.traffic() { setup.services.iter().map(of).collect() } else { Box::new([]) }
    }

    /// What was carried since the last reading.
    fn read(&mut self, measures: Measures) -> u64 {
        let total = match measures {
            Measures::Packets => self.traffic.packets(),
            _ => self.traffic.bytes(),
        };
        total - std::mem::replace(&mut self.seen, total)
    }

    /// Goes on where the meter of an earlier ring stopped.
    pub(super) fn continue_from(&mut self, earlier: &Meter) {
        self.seen = earlier.seen;
    }
}
