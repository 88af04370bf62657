//! What a monitor says of a service, as an answer has it.

use steelyard_core::config::MonitorBinding;
use steelyard_core::monitor::Finding;
use steelyard_core::monitor::bound::Unknown;
use steelyard_core::monitor::health::{Health, Machine};

use super::View;

/// The monitors that watch a service.
pub struct Probes {
    machines: Vec<(Box<str>, Machine)>,
    unknown: Vec<Unknown>,
}

/// What one of them says.
pub struct Probed {
    /// UP, DOWN, UNKNOWN, or DISABLED where it does not watch.
    pub state: &'static str,
    /// What its last probe saw.
    pub last_response: String,
    /// Microseconds that its last success took.
    pub response_us: u64,
    /// Probes so far.
    pub probes: u64,
    /// Of those, failed.
    pub failed: u64,
    /// Failed since the last success.
    pub failed_now: u64,
    /// The status of the last answer, where it has one.
    pub status: u16,
}

impl Probes {
    /// Those of the service, or of the member `group?server?port`.
    pub fn of(view: &View<'_>, service: &str) -> Probes {
        let live = view.live(service);
        let machines = live.map(|service| view.state.machines(service)).unwrap_or_default();
        Probes {
            machines,
            unknown: live.map(|service| view.state.unknown_monitors(service)).unwrap_or_default(),
        }
    }

    /// What a bound monitor says.
    pub fn by(&self, view: &View<'_>, binding: &MonitorBinding) -> Probed {
        let named = |name: &str| name.eq_ignore_ascii_case(&binding.monitor);
        if let Some((_, machine)) = self.machines.iter().find(|(name, _)| named(name)) {
            return Probed::of(machine);
        }
        if let Some(unknown) = self.unknown.iter().find(|unknown| named(&unknown.monitor)) {
            return Probed::none("UNKNOWN", format!("Unknown - {}.", unknown.why));
        }
        let is_on = view.config.lb_monitors.find(&binding.monitor).is_some_and(|monitor| monitor.enabled);
        let state = if is_on && binding.enabled { "UNKNOWN" } else { "DISABLED" };
        Probed::none(state, NOT_PROBED.to_owned())
    }
}

impl Probed {
    /// The same time, rounded to the milliseconds that NITRO tells.
    pub fn response_ms(&self) -> u64 {
        self.response_us.saturating_add(500) / 1_000
    }

    fn of(machine: &Machine) -> Probed {
        let state = match machine.health() {
            Health::Up => "UP",
            Health::Down => "DOWN",
            Health::Unknown | Health::Unjudged => "UNKNOWN",
        };
        let last = machine.last.as_ref();
        let status = match last.map(|result| &result.finding) {
            Some(Finding::Status(status)) => *status,
            _ => 0,
        };
        Probed {
            state,
            last_response: last.map_or_else(|| NOT_PROBED.to_owned(), ToString::to_string),
            response_us: machine.response_us.unwrap_or(0),
            probes: machine.probes,
            failed: machine.failed,
            failed_now: machine.failed_now,
            status,
        }
    }

    fn none(state: &'static str, last_response: String) -> Probed {
        Probed { state, last_response, response_us: 0, probes: 0, failed: 0, failed_now: 0, status: 0 }
    }
}

const NOT_PROBED: &str = "Unknown - no probe has ended yet.";
