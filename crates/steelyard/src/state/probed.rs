//! What its monitors say of a service, for those who show it.

use std::sync::Arc;

use steelyard_core::monitor::bound::Unknown;
use steelyard_core::monitor::health::Machine;
use steelyard_core::service::Service;

use super::State;

impl State {
    /// Each monitor that probes a service, with its results so far.
    pub fn machines(&self, service: &Arc<Service>) -> Vec<(Box<str>, Machine)> {
        self.prober.machines(service)
    }

    /// The monitors of a service that cannot be run, and why.
    pub fn unknown_monitors(&self, service: &Arc<Service>) -> Vec<Unknown> {
        self.prober.unknown(service)
    }
}
