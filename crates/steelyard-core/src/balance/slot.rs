//! A bound service as whoever does not hold the picker's lock reads and writes it: the hot line, TTFB samples on their
//! way into the window, and whether others watch the service.

use crate::balance::window::Sums;
use crate::service::Service;
use crate::service::hot::Hot;
use crate::sync::{Arc, AtomicU64, Ordering};

/// One bound service, readable without the lock. Two share a cache line: in a large ring memory is what a choice costs.
#[repr(align(32))]
pub(super) struct Slot {
    pub(super) hot: Hot,
    /// TTFB samples not yet in the window: their number in the upper 20 bits, their sum in microseconds below.
    ttfb: AtomicU64,
    /// The generation of the service's bindings that `others` has, times two, plus one if it has any.
    pub(super) introduced: AtomicU64,
}

impl Slot {
    pub(super) fn new(service: &Arc<Service>) -> Slot {
        Slot { hot: service.hot().clone(), ttfb: AtomicU64::new(0), introduced: AtomicU64::new(0) }
    }

    /// Adds a sample; one that would overflow the cell before the next pick or tick takes it is dropped.
    pub(super) fn add_ttfb(&self, ttfb_us: u64) {
        let sample = 1 << TTFB_SUM_BITS | ttfb_us.clamp(1, MAX_TTFB_US);
        let _ = self.ttfb.fetch_update(Ordering::AcqRel, Ordering::Relaxed, |held| {
            let sum = (held & TTFB_SUM) + (sample & TTFB_SUM);
            if sum > TTFB_SUM { None } else { held.checked_add(sample) }
        });
    }

    /// Takes the samples.
    pub(super) fn take_ttfb(&self) -> Option<Sums> {
        if self.ttfb.load(Ordering::Relaxed) == 0 {
            return None;
        }
        let held = self.ttfb.swap(0, Ordering::AcqRel);
        Some(Sums { amount: held & TTFB_SUM, samples: (held >> TTFB_SUM_BITS) as u32 })
    }
}

const TTFB_SUM_BITS: u32 = 44;
const TTFB_SUM: u64 = (1 << TTFB_SUM_BITS) - 1;
/// Longer times to first byte count as this: about 17 minutes.
const MAX_TTFB_US: u64 = 1 << 30;
