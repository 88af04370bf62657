//! Surge protection (`spec/methods.md` 3.5, `-sp ON`): the more connections to a service are open, the longer it takes
//! until the next one may be opened.
//!
//! Times are reserved, one after the other and by whichever thread, so the rate holds over all workers and whoever asks
//! first opens first. Opens nothing and knows nobody who waits.

use crate::sync::{AtomicU64, Ordering};
use crate::time::{MILLISECOND_US, Time};

/// When the next connection to a service may be opened, and how many requests wait for that.
#[derive(Default)]
pub struct Pace {
    next_us: AtomicU64,
    waiting: AtomicU64,
}

impl Pace {
    /// Reserves a time for one more connection where `open` are open: now, or later.
    pub fn reserve(&self, open: u64, now: Time) -> Time {
        let interval_us = interval_us(open);
        if interval_us == 0 {
            return now;
        }
        let after = |next_us: u64| Some(next_us.max(now.as_us()).saturating_add(interval_us));
        let reserved = self.next_us.fetch_update(Ordering::AcqRel, Ordering::Acquire, after);
        Time::from_us(reserved.unwrap_or_else(|next_us| next_us)).max(now)
    }

    /// Requests that wait for their time, over all workers.
    pub fn waiting(&self) -> u64 {
        self.waiting.load(Ordering::Relaxed)
    }

    /// One more waits.
    pub fn joined(&self) {
        self.waiting.fetch_add(1, Ordering::Relaxed);
    }

    /// One less.
    pub fn left(&self) {
        self.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Microseconds from one new connection to the next while `open` are open; 0 below the first threshold.
fn interval_us(open: u64) -> u64 {
    let reached = NORMAL.iter().rev().find(|(connections, _)| open >= *connections);
    reached.map_or(0, |(_, interval_ms)| interval_ms * MILLISECOND_US)
}

/// Connections, and the milliseconds between new ones from there on: throttle Normal, base threshold 200.
const NORMAL: [(u64, u64); 4] = [(200, 10), (400, 20), (800, 50), (2_000, 100)];

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// How many may be opened in a second while so many are open, asked for all at once.
    fn in_a_second(open: u64) -> usize {
        let pace = Pace::default();
        let begin = Time::from_us(5_000_000);
        let times = (0..2_000).map(|_| pace.reserve(open, begin));
        times.filter(|at| at.since_us(begin) < 1_000_000).count()
    }

    #[test]
    fn the_rate_is_that_of_the_table() {
        let table = [(0, 2_000), (199, 2_000), (200, 100), (399, 100), (400, 50), (800, 20), (1_999, 20)];
        for (open, most) in table.into_iter().chain([(2_000, 10), (100_000, 10)]) {
            assert_eq!(in_a_second(open), most, "with {open} open");
        }
    }

    #[test]
    fn time_that_nobody_used_is_not_saved_up() {
        let pace = Pace::default();
        assert_eq!(pace.reserve(200, Time::from_us(0)), Time::from_us(0));
        let later = Time::from_us(60_000_000);
        assert_eq!(pace.reserve(200, later), later);
        assert_eq!(pace.reserve(200, later).since_us(later), 10_000);
        assert_eq!(pace.reserve(10, later), later, "below the threshold nobody waits");
    }
}
