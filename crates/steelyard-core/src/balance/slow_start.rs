//! Per-service slow start (`spec/methods.md` 2.3): a service that was just bound or came UP is capped, step by step,
//! while the configured method stays in use.
//!
//! A cap is a token bucket with one second of burst, refilled on the 100 ms tick. A service whose bucket is empty is no
//! candidate until the next refill.

use std::collections::BTreeMap;

use crate::time::{SECOND_US, Time};

/// `-newServiceRequest n [PER_SECOND|PERCENT] -newServiceRequestIncrementInterval s`, n > 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SlowStart {
    /// The step n.
    pub request: u32,
    /// Its unit.
    pub unit: Unit,
    /// Seconds from one step to the next; 0: the cap stays until the administrator raises it.
    pub increment_interval_s: u32,
}

/// The unit of the step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// Requests a second.
    PerSecond,
    /// Percent of the mean load of the services that are not ramping.
    Percent,
}

/// The services that are ramping.
pub(super) struct Ramps {
    rule: SlowStart,
    by_position: BTreeMap<usize, Ramp>,
    refilled: Time,
}

#[derive(Clone, Copy)]
struct Ramp {
    since: Time,
    /// Millionths of a request.
    tokens: u64,
}

impl Ramps {
    pub(super) fn new(rule: SlowStart, now: Time) -> Ramps {
        Ramps { rule, by_position: BTreeMap::new(), refilled: now }
    }

    /// A service begins its ramp, with one request at hand.
    pub(super) fn begin(&mut self, position: usize, now: Time) {
        self.by_position.insert(position, Ramp { since: now, tokens: REQUEST });
    }

    /// A service is gone or DOWN.
    pub(super) fn end(&mut self, position: usize) {
        self.by_position.remove(&position);
    }

    /// Is this service ramping?
    pub(super) fn contains(&self, position: usize) -> bool {
        self.by_position.contains_key(&position)
    }

    /// How many are ramping.
    pub(super) fn len(&self) -> usize {
        self.by_position.len()
    }

    /// Ends all ramps; returns who was ramping.
    pub(super) fn end_all(&mut self) -> Vec<usize> {
        std::mem::take(&mut self.by_position).into_keys().collect()
    }

    /// Goes on with the ramp that `old` had at `was`, if it had one.
    pub(super) fn adopt(&mut self, position: usize, old: &Ramps, was: usize) {
        if let Some(ramp) = old.by_position.get(&was) {
            self.by_position.insert(position, *ramp);
        }
    }

    /// A ramping service was chosen; true when it must be held back until the next refill.
    pub(super) fn used(&mut self, position: usize) -> bool {
        let Some(ramp) = self.by_position.get_mut(&position) else { return false };
        ramp.tokens = ramp.tokens.saturating_sub(REQUEST);
        ramp.tokens < REQUEST
    }

    /// Refills every bucket and ends the ramps that are over. `load` is the mean rate of a service that is not ramping,
    /// in requests per 7 s. Returns who may be chosen (again), those whose ramp is over included.
    pub(super) fn refill(&mut self, now: Time, load: u64) -> Vec<usize> {
        let passed_us = now.since_us(self.refilled);
        self.refilled = self.refilled.max(now);
        let rule = self.rule;
        let mut free = Vec::new();
        self.by_position.retain(|position, ramp| {
            let step = rule.step(now.since_us(ramp.since));
            let over = rule.is_over(step, load);
            let cap = rule.cap(step, load);
            let burst = cap.max(REQUEST);
            ramp.tokens = ramp.tokens.saturating_add(scale(cap, passed_us, SECOND_US)).min(burst);
            if over || ramp.tokens >= REQUEST {
                free.push(*position);
            }
            !over
        });
        free
    }
}

impl SlowStart {
    /// Which step a ramp is in: 1 for the first.
    fn step(self, age_us: u64) -> u64 {
        match u64::from(self.increment_interval_s) {
            0 => 1,
            interval_s => age_us / (interval_s * SECOND_US) + 1,
        }
    }

    /// The cap at a step in millionths of a request per second, never more than what the others carry.
    fn cap(self, step: u64, load: u64) -> u64 {
        let load = scale(load, REQUEST, 7);
        let steps = step.saturating_mul(u64::from(self.request));
        match self.unit {
            Unit::PerSecond => steps.saturating_mul(REQUEST).min(load),
            Unit::Percent => scale(load, steps.min(100), 100),
        }
    }

    /// Does an automated ramp end, because the service may carry as much as the others?
    fn is_over(self, step: u64, load: u64) -> bool {
        let steps = step.saturating_mul(u64::from(self.request));
        self.increment_interval_s > 0
            && load > 0
            && match self.unit {
                Unit::PerSecond => steps.saturating_mul(7) >= load,
                Unit::Percent => steps >= 100,
            }
    }
}

/// `value * times / per` without overflow.
fn scale(value: u64, times: u64, per: u64) -> u64 {
    (u128::from(value) * u128::from(times) / u128::from(per)).min(u128::from(u64::MAX)) as u64
}

/// One request in a bucket's unit.
const REQUEST: u64 = 1_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    /// How many requests a hungry service gets in each second, refilled every 100 ms.
    fn grants(rule: SlowStart, load_per_s: u64, seconds: u64) -> Vec<u64> {
        let mut ramps = Ramps::new(rule, Time::ZERO);
        ramps.begin(0, Time::ZERO);
        let mut granted = Vec::new();
        for tick in 0..seconds * 10 {
            if tick % 10 == 0 {
                granted.push(0);
            }
            let free = ramps.refill(Time::from_us(tick * SECOND_US / 10), load_per_s * 7);
            if !ramps.contains(0) {
                granted.pop();
                return granted;
            }
            while free.contains(&0) {
                *granted.last_mut().unwrap() += 1;
                if ramps.used(0) {
                    break;
                }
            }
        }
        granted
    }

    #[test]
    fn per_second_steps_up_every_interval_and_ends_at_the_load_of_the_others() {
        let rule = SlowStart { request: 10, unit: Unit::PerSecond, increment_interval_s: 2 };
        let granted = grants(rule, 35, 20);
        // 10 a second for 2 s, 20 for 2 s, 30 for 2 s; the fourth step reaches 35 and ends the ramp.
        assert_eq!(granted.len(), 6, "{granted:?}");
        for (second, expected) in [10, 10, 20, 20, 30, 30].into_iter().enumerate() {
            assert!(granted[second].abs_diff(expected) <= 1, "second {second}: {granted:?}");
        }
    }

    #[test]
    fn percent_is_of_the_mean_load_of_the_others() {
        let rule = SlowStart { request: 25, unit: Unit::Percent, increment_interval_s: 1 };
        let granted = grants(rule, 40, 20);
        assert_eq!(granted.len(), 3, "{granted:?}");
        for (second, expected) in [10, 20, 30].into_iter().enumerate() {
            assert!(granted[second].abs_diff(expected) <= 1, "second {second}: {granted:?}");
        }
    }

    #[test]
    fn without_an_interval_the_cap_stays() {
        let rule = SlowStart { request: 5, unit: Unit::PerSecond, increment_interval_s: 0 };
        let granted = grants(rule, 1000, 30);
        assert_eq!(granted.len(), 30);
        assert!(granted.iter().all(|g| g.abs_diff(5) <= 1), "{granted:?}");
    }
}
