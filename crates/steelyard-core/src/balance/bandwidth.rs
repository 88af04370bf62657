//! `maxBandwidth` (`spec/methods.md` 3.5): which services carry more than they are to.
//!
//! What counts is the payload of both directions in the last second, looked at every 100 ms. Owns the readings of those
//! services alone that have such a limit; who may be chosen is the ring's business.

use std::collections::BTreeMap;

use crate::balance::setup::Setup;
use crate::balance::window::slot_of;
use crate::service::Traffic;
use crate::sync::Arc;
use crate::time::Time;

/// The services of a ring that have a `maxBandwidth`, by position.
pub(super) struct Bandwidth {
    meters: BTreeMap<usize, Meter>,
    slot: u64,
}

struct Meter {
    traffic: Arc<Traffic>,
    /// Bytes in a second that are still allowed.
    most: u64,
    /// The counter at the start of the present slot of 100 ms and of the ten before it, by slot modulo their number.
    readings: [u64; READINGS],
}

impl Bandwidth {
    pub(super) fn new(setup: &Setup, now: Time) -> Bandwidth {
        let limited = setup.services.iter().enumerate().filter_map(|(position, bound)| {
            let most = u64::from(bound.terms.max_bandwidth_kbps?) * BYTES_IN_KBIT;
            let traffic = Arc::clone(&bound.service.traffic);
            let readings = [traffic.bytes(); READINGS];
            Some((position, Meter { traffic, most, readings }))
        });
        Bandwidth { meters: limited.collect(), slot: slot_of(now) }
    }

    /// Goes on with what was read of the same service at `was` in an earlier ring.
    pub(super) fn continue_from(&mut self, position: usize, earlier: &Bandwidth, was: usize) {
        if let (Some(meter), Some(before)) = (self.meters.get_mut(&position), earlier.meters.get(&was)) {
            meter.readings = before.readings;
            self.slot = earlier.slot;
        }
    }

    /// Takes the readings that are due; every service that has a limit, with whether it is over it.
    pub(super) fn advance(&mut self, now: Time) -> impl Iterator<Item = (usize, bool)> {
        let slot = slot_of(now);
        let from = self.slot.max(slot.saturating_sub(READINGS as u64));
        self.slot = self.slot.max(slot);
        let newest = self.slot;
        self.meters.iter_mut().map(move |(position, meter)| {
            let bytes = meter.traffic.bytes();
            (from + 1..=newest).for_each(|due| meter.readings[at(due)] = bytes);
            let second_ago = meter.readings[at(newest + 1)];
            (*position, meter.readings[at(newest)].saturating_sub(second_ago) > meter.most)
        })
    }
}

fn at(slot: u64) -> usize {
    (slot % READINGS as u64) as usize
}

/// Slots of 100 ms: a second, and the start of the present one.
const READINGS: usize = 11;
const BYTES_IN_KBIT: u64 = 125;
