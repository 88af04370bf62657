//! A service among those that are watched: what its monitors say of it together, and how it leaves service.

use super::probing::{ProbeKey, Probing};
use super::target::{Closing, Target, Transition, Watched};
use crate::config::departure::Departure;
use crate::monitor::bound::Unknown;
use crate::monitor::health::{self, Health, Machine};
use crate::service::{Service, State};
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
    /// Those of its monitors that run, in binding order.
    pub probes: Vec<Probing>,
    pub unknown: Arc<[Unknown]>,
}

impl Entry {
    /// That of a target, without a probe.
    pub fn new(target: &Target, (watch, leaving_since): (Watched, Time)) -> Entry {
        Entry {
            service: Arc::clone(&target.service),
            watch,
            leaving_since,
            threshold: target.threshold,
            most_connections: target.most_connections,
            closing: target.closing,
            probes: Vec::new(),
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

    /// The probe of that key, if it is one of its own.
    pub fn probe(&self, key: ProbeKey) -> Option<&Probing> {
        self.probes.iter().find(|probing| probing.key == key)
    }

    /// The same, to be changed.
    pub fn probe_mut(&mut self, key: ProbeKey) -> Option<&mut Probing> {
        self.probes.iter_mut().find(|probing| probing.key == key)
    }

    /// Writes the service's state and response time as its monitors have them now.
    pub fn settle(&self, now: Time) -> Option<Transition> {
        let to = self.state();
        // The response time goes first, so that a service that comes UP has it already.
        let measuring = self.probes.iter().filter(|p| p.spec.measures()).map(|p| &p.machine);
        self.service.set_response_time(health::response_time(measuring), now);
        let from = self.service.state();
        self.service.set_state(to, now);
        (from != to).then(|| Transition {
            service: Arc::clone(&self.service),
            from,
            to,
            cause: None,
            departure: self.departure(),
        })
    }

    /// The state of the service as its monitors have it now.
    pub fn state(&self) -> State {
        let health = || self.combined(Machine::health);
        match self.watch {
            Watched::Disabled | Watched::Off { .. } => State::OutOfService,
            Watched::TakenAsUp => State::Up,
            Watched::Probed => health(),
            Watched::Leaving { probed: true, .. } if health().is_out() => State::TrofsDown,
            Watched::Leaving { .. } => State::Trofs,
        }
    }

    /// The state that its monitors give the service, by what `says` says of each.
    pub fn combined(&self, says: impl Fn(&Machine) -> Health) -> State {
        health::state(self.probes.iter().map(|p| (&p.machine, p.weight)), self.threshold, says)
    }
}
