//! One monitor on one service, and the key that its probes are known by.

use std::net::SocketAddr;

use super::entries::Slot;
use crate::monitor::health::Machine;
use crate::monitor::{Channel, ProbeResult, Spec};
use crate::sync::Arc;
use crate::time::Time;

/// One monitor on one service, as long as it probes the same thing. No two of a schedule ever have the same.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct ProbeKey {
    /// A number of its own, higher than those of all before it.
    pub(super) serial: u64,
    /// Where its service's entry is, as long as that is watched; later perhaps another's.
    pub(super) slot: Slot,
}

pub(super) struct Probing {
    pub key: ProbeKey,
    /// When it is due, while none runs.
    pub due: Time,
    /// `Some` while a probe runs.
    pub started: Option<Time>,
    pub first: bool,
    pub weight: u32,
    pub spec: Arc<Spec>,
    pub about: SocketAddr,
    pub machine: Machine,
}

impl Probing {
    /// Would a probe be one more connection to the service at `service`?
    pub fn connects_to(&self, service: SocketAddr, now: Time) -> bool {
        let to = self.spec.destination(self.about);
        to == service && self.spec.probe(self.about, now, 0).channel() == Channel::Stream
    }

    /// Does that ask the same of the same?
    pub fn asks_the_same(&self, spec: &Spec, about: SocketAddr) -> bool {
        self.about == about && self.spec.asks_the_same(spec)
    }

    /// The monitor's name and its last result.
    pub fn last_response(&self) -> Option<(Box<str>, ProbeResult)> {
        self.machine.last.clone().map(|last| (self.spec.name.clone(), last))
    }
}
