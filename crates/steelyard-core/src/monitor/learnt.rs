//! What a monitor with `-deviation` has learnt of its service, and how long its next probe may take by that.
//!
//! Owns the running mean of the response times (`spec/methods.md` 4.6). The hard question: when what was learnt counts no
//! longer. It is forgotten as soon as the monitor is DOWN, and until enough answers have come the response timeout holds.

use super::health::Timing;
use crate::time::MILLISECOND_US;

/// The response times of one monitor at one service.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Learnt {
    /// Answers so far, up to those of the learning stage.
    answers: u64,
    /// While it learns, the sum of their times; after that, eight times the mean.
    sum_us: u64,
}

impl Learnt {
    /// A probe was answered in time.
    pub fn answered(&mut self, response_us: u64) {
        if self.answers == LEARNING {
            let forgotten = self.sum_us / WEIGHT;
            self.sum_us = (self.sum_us - forgotten).saturating_add(response_us);
            return;
        }
        self.answers += 1;
        self.sum_us = self.sum_us.saturating_add(response_us);
        if self.answers == LEARNING {
            self.sum_us = self.sum_us.saturating_mul(WEIGHT) / LEARNING;
        }
    }

    /// Learns anew.
    pub fn forget(&mut self) {
        *self = Learnt::default();
    }

    /// The mean; `None` in the learning stage.
    pub fn mean_us(&self) -> Option<u64> {
        (self.answers == LEARNING).then_some(self.sum_us / WEIGHT)
    }

    /// How long the next probe may take.
    pub fn limit_us(&self, timing: &Timing) -> u64 {
        match self.mean_us().filter(|_| timing.deviation_us > 0) {
            None => timing.response_timeout_us,
            Some(mean_us) => {
                let longest = timing.interval_us.saturating_sub(MILLISECOND_US);
                mean_us.saturating_add(timing.deviation_us).min(longest).max(SHORTEST_US)
            }
        }
    }
}

/// Answers of the learning stage.
const LEARNING: u64 = 5;
/// After it, each answer counts for one part of so many.
const WEIGHT: u64 = 8;
/// No response timeout is shorter.
const SHORTEST_US: u64 = 10 * MILLISECOND_US;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn after(times: &[u64]) -> Learnt {
        let mut learnt = Learnt::default();
        times.iter().for_each(|us| learnt.answered(*us));
        learnt
    }

    #[test]
    fn the_response_timeout_holds_until_five_answers_are_known() {
        let timing = Timing { deviation_us: 50_000, ..Timing::default() };
        let times = [10_000, 20_000, 30_000, 40_000, 100_000];
        for learning in 0..5 {
            assert_eq!(after(&times[..learning]).limit_us(&timing), 2_000_000);
        }
        let mut learnt = after(&times);
        assert_eq!((learnt.mean_us(), learnt.limit_us(&timing)), (Some(40_000), 90_000));
        learnt.answered(120_000);
        assert_eq!(learnt.limit_us(&timing), 100_000, "an eighth of what it is more is added");
        assert_eq!(learnt.limit_us(&Timing::default()), 2_000_000, "no -deviation");
        learnt.forget();
        assert_eq!(learnt.limit_us(&timing), 2_000_000);
    }

    #[test]
    fn a_limit_is_never_below_the_shortest_timeout_nor_as_long_as_the_interval() {
        let of = |us, deviation_us| {
            after(&[us; 5]).limit_us(&Timing { interval_us: 1_000_000, deviation_us, ..Timing::default() })
        };
        assert_eq!(of(1, 1_000), 10_000);
        assert_eq!(of(900_000, 500_000), 999_000);
        assert_eq!(of(u64::MAX, u64::MAX), 999_000);
    }

    proptest! {
        /// Read literally: the mean of the first five, then for each answer an eighth of how far it lies from the mean.
        #[test]
        fn the_mean_is_the_documented_one(times in proptest::collection::vec(1u64..10_000_000, 5..200)) {
            let mut mean = times[..5].iter().sum::<u64>() as f64 / 5.0;
            for us in &times[5..] {
                mean += (*us as f64 - mean) / 8.0;
            }
            let learnt = after(&times).mean_us().unwrap() as f64;
            prop_assert!((learnt - mean).abs() <= 2.0, "{} for {}", learnt, mean);
        }
    }
}
