//! How long things took, in fixed buckets, counted by any thread without a lock.
//!
//! Never forgets: a reader takes differences. The bounds are those that Prometheus' clients begin with, and finer ones
//! below, where answers of a local network lie.

use crate::sync::{AtomicU64, Ordering};

/// Counts of durations by size. The counts of one reading may lack what is being added meanwhile, no more.
#[derive(Default)]
pub struct Histogram {
    counts: [AtomicU64; BUCKETS],
    sum_us: AtomicU64,
}

/// One reading.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Distribution {
    /// For each of [`BOUNDS_US`], and one more for what is longer, how many lay between its predecessor and it.
    pub counts: [u64; BUCKETS],
    /// All of them together, in microseconds.
    pub sum_us: u64,
}

impl Histogram {
    /// One more, of `us` microseconds.
    #[inline]
    pub fn add(&self, us: u64) {
        let bucket = BOUNDS_US.partition_point(|bound| *bound < us);
        self.counts[bucket].fetch_add(1, Ordering::Relaxed);
        self.sum_us.fetch_add(us, Ordering::Relaxed);
    }

    /// What was added so far.
    pub fn read(&self) -> Distribution {
        Distribution {
            counts: std::array::from_fn(|bucket| self.counts[bucket].load(Ordering::Relaxed)),
            sum_us: self.sum_us.load(Ordering::Relaxed),
        }
    }
}

/// The largest duration of each bucket but the last, in microseconds.
pub const BOUNDS_US: [u64; 16] = [
    100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000,
    2_500_000, 5_000_000, 10_000_000,
];

/// Buckets of a histogram.
pub const BUCKETS: usize = BOUNDS_US.len() + 1;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_lies_in_the_first_bucket_that_is_not_below_it() {
        let histogram = Histogram::default();
        for us in [0, 100, 101, 250, 10_000_000, 10_000_001, 60_000_000] {
            histogram.add(us);
        }
        let read = histogram.read();
        assert_eq!((read.counts[0], read.counts[1], read.counts[15], read.counts[16]), (2, 2, 1, 2));
        assert_eq!((read.counts.iter().sum::<u64>(), read.sum_us), (7, 80_000_452));
    }
}
