//! Surge protection (`spec/methods.md` 3.5, `-sp ON`): the more connections to a service are open, the longer it takes
//! until the next one may be opened.
//!
//! Times are reserved, one after the other and by whichever thread, so the rate holds over all workers and whoever asks
//! first opens first. Opens nothing and knows nobody who waits.

use crate::sync::{AtomicU64, Ordering};
use crate::time::{MILLISECOND_US, Time};

/// Connections, and the milliseconds between new ones from there on.
type Table = [(u32, u32); 4];

/// How fast connections are opened, by how many are open.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Steps {
    table: &'static Table,
    /// Connections at which the first step begins; the others have moved by as many.
    base: u32,
}

/// When the next connection to a service may be opened, and how many requests wait for that.
#[derive(Default)]
pub struct Pace {
    next_us: AtomicU64,
    waiting: AtomicU64,
}

impl Steps {
    /// Throttle Aggressive.
    pub const AGGRESSIVE: Steps = Steps::of(&[(16, 10), (200, 30), (500, 50), (1_000, 500)]);
    /// Throttle Normal.
    pub const NORMAL: Steps = Steps::of(&[(200, 10), (400, 20), (800, 50), (2_000, 100)]);
    /// Throttle Relaxed.
    pub const RELAXED: Steps = Steps::of(&[(500, 10), (1_000, 10), (2_000, 10), (3_000, 10)]);

    const fn of(table: &'static Table) -> Steps {
        Steps { table, base: table[0].0 }
    }

    /// The same steps, all moved so that the first begins at `base` connections: another base threshold shifts the whole
    /// curve of its throttle.
    pub const fn beginning_at(self, base: u32) -> Steps {
        Steps { base, ..self }
    }

    /// Open connections at which the first step begins.
    pub const fn begin(self) -> u32 {
        self.base
    }

    /// Microseconds from one new connection to the next while `open` are open; 0 below the first step.
    fn interval_us(self, open: u64) -> u64 {
        let Some(over) = open.checked_sub(u64::from(self.base)) else { return 0 };
        let [(first, _), ..] = *self.table;
        let reached = self.table.iter().rev().find(|(connections, _)| over >= u64::from(connections - first));
        reached.map_or(0, |(_, interval_ms)| u64::from(*interval_ms) * MILLISECOND_US)
    }
}

impl Pace {
    /// Reserves a time for one more connection where `open` are open: now, or later.
    pub fn reserve(&self, steps: Steps, open: u64, now: Time) -> Time {
        let interval_us = steps.interval_us(open);
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

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// How many may be opened in a second while so many are open, asked for all at once.
    fn in_a_second(steps: Steps, open: u64) -> usize {
        let pace = Pace::default();
        let begin = Time::from_us(5_000_000);
        let times = (0..2_000).map(|_| pace.reserve(steps, open, begin));
        times.filter(|at| at.since_us(begin) < 1_000_000).count()
    }

    /// 2,000 ask: all of them is no limit, else a second has 1,000 ms divided by the table's.
    fn assert_rates(steps: Steps, table: &[(u64, usize)]) {
        for (open, most) in table {
            assert_eq!(in_a_second(steps, *open), *most, "with {open} open, {steps:?}");
        }
    }

    #[test]
    fn the_rate_is_that_of_the_table() {
        let normal = [(0, 2_000), (199, 2_000), (200, 100), (399, 100), (400, 50), (799, 50), (800, 20)];
        assert_rates(Steps::NORMAL, &normal);
        assert_rates(Steps::NORMAL, &[(1_999, 20), (2_000, 10), (100_000, 10)]);
        // One in 30 ms: at 0, 30 ... 990 ms, which are 34.
        let aggressive = [(15, 2_000), (16, 100), (199, 100), (200, 34), (499, 34), (500, 20), (999, 20)];
        assert_rates(Steps::AGGRESSIVE, &aggressive);
        assert_rates(Steps::AGGRESSIVE, &[(1_000, 2), (100_000, 2)]);
        assert_rates(Steps::RELAXED, &[(499, 2_000), (500, 100), (1_000, 100), (2_000, 100), (3_000, 100)]);
    }

    /// By 300 up: 16, 200, 500 and 1,000 become 316, 500, 800 and 1,300. By 200 down: 200, 400, 800 and 2,000 become 0,
    /// 200, 600 and 1,800.
    #[test]
    fn another_base_threshold_moves_all_steps() {
        let up = Steps::AGGRESSIVE.beginning_at(316);
        assert_rates(up, &[(315, 2_000), (316, 100), (499, 100), (500, 34), (799, 34), (800, 20)]);
        assert_rates(up, &[(1_299, 20), (1_300, 2)]);
        let down = Steps::NORMAL.beginning_at(0);
        assert_rates(
            down,
            &[(0, 100), (199, 100), (200, 50), (599, 50), (600, 20), (1_799, 20), (1_800, 10)],
        );
    }

    #[test]
    fn time_that_nobody_used_is_not_saved_up() {
        let pace = Pace::default();
        assert_eq!(pace.reserve(Steps::NORMAL, 200, Time::from_us(0)), Time::from_us(0));
        let later = Time::from_us(60_000_000);
        assert_eq!(pace.reserve(Steps::NORMAL, 200, later), later);
        assert_eq!(pace.reserve(Steps::NORMAL, 200, later).since_us(later), 10_000);
        assert_eq!(pace.reserve(Steps::NORMAL, 10, later), later, "below the threshold nobody waits");
    }
}
