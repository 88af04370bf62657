//! What its monitors say of a service, for those who show it.

use std::collections::BTreeMap;
use std::sync::Arc;

use steelyard_core::monitor::bound::Unknown;
use steelyard_core::monitor::health::Machine;
use steelyard_core::service::Service;

use super::State;
use crate::probe::Fare;

impl State {
    /// Each monitor that probes a service, with its results so far.
    pub fn machines(&self, service: &Arc<Service>) -> Vec<(Box<str>, Machine)> {
        self.prober.machines(service)
    }

    /// How long probes may take now, in microseconds: of each monitor that runs, the longest of its services'.
    pub fn limits_us(&self) -> BTreeMap<Box<str>, u64> {
        let mut limits = BTreeMap::new();
        for Fare { spec, limit_us, .. } in self.prober.fares(self.snapshot().services()) {
            let longest = limits.entry(spec.name.clone()).or_insert(limit_us);
            *longest = limit_us.max(*longest);
        }
        limits
    }

    /// The monitors of a service that cannot be run, and why.
    pub fn unknown_monitors(&self, service: &Arc<Service>) -> Vec<Unknown> {
        self.prober.unknown(service)
    }
}
