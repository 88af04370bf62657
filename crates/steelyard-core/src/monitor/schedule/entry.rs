//! A service among those that are watched, and how it leaves service.

use super::ProbeKey;
use super::target::{Closing, Target, Watched};
use crate::config::departure::Departure;
use crate::monitor::bound::Unknown;
use crate::service::Service;
use crate::sync::Arc;
use crate::time::{SECOND_US, Time};

pub(super) struct Entry {
    pub service: Arc<Service>,
    pub watch: Watched,
    /// Since when it has been leaving, while it is.
    pub leaving_since: Time,
    pub threshold: u32,
    pub most_connections: Option<u32>,
    pub closing: Closing,
    pub keys: Vec<ProbeKey>,
    pub unknown: Arc<[Unknown]>,
}

impl Entry {
    /// That of a target whose monitors have these keys.
    pub fn new(target: &Target, (watch, leaving_since): (Watched, Time), keys: Vec<ProbeKey>) -> Entry {
        Entry {
            service: Arc::clone(&target.service),
            watch,
            leaving_since,
            threshold: target.threshold,
            most_connections: target.most_connections,
            closing: target.closing,
            keys,
            unknown: Arc::clone(&target.unknown),
        }
    }

    pub fn is_probed(&self) -> bool {
        matches!(self.watch, Watched::Probed | Watched::Leaving { probed: true, .. })
    }

    pub fn departure(&self) -> Option<Departure> {
        match self.watch {
            Watched::Leaving { departure, .. } => Some(departure),
            _ => None,
        }
    }

    /// Does it have as many connections as it may have?
    pub fn is_full(&self) -> bool {
        self.most_connections.is_some_and(|most| self.service.permits.open() >= u64::from(most))
    }

    /// Is its way out of service over? With a delay and gracefully: as soon as either is.
    pub fn has_left(&self, now: Time) -> bool {
        let Some(departure) = self.departure() else { return true };
        let delay_over = |seconds: u32| now.since_us(self.leaving_since) >= u64::from(seconds) * SECOND_US;
        departure.delay_s.is_some_and(delay_over) || departure.graceful && self.service.active() == 0
    }
}

/// A live service is known by its object: a name removed and added again is another service.
pub(super) fn identity(service: &Arc<Service>) -> usize {
    Arc::as_ptr(service).addr()
}
