//! Alarms: what an operator is told of a monitor although its service keeps its state.
//!
//! Owns when one is given: once for each time that a bound is crossed (`-alertRetries`, `-resptimeoutThresh`;
//! `spec/methods.md` 4.1), however long it stays crossed.

use std::fmt;

use super::ProbeResult;
use crate::service::Service;
use crate::sync::Arc;

/// An alarm of one monitor at one service.
#[derive(Clone)]
pub struct Alarm {
    /// The service.
    pub service: Arc<Service>,
    /// The monitor's name.
    pub monitor: Box<str>,
    /// What it is about.
    pub matter: Matter,
}

/// What an alarm is about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Matter {
    /// So many probes failed, one after the other.
    Failing {
        /// How many.
        failures: u64,
        /// What the last one saw.
        last: ProbeResult,
    },
    /// An answer took longer than the bound, and those before it did not.
    Slow(Answer),
    /// An answer came within the bound, and those before it did not.
    InTime(Answer),
}

/// How an answer lies to its bound.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Answer {
    /// What it took.
    pub response_us: u64,
    /// The bound.
    pub bound_us: u64,
    /// The bound as a percentage of the response timeout.
    pub percent: u8,
}

/// As a line about the service goes on.
impl fmt::Display for Alarm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}): {}: ", self.service.name(), self.service.address(), self.monitor)?;
        match &self.matter {
            Matter::Failing { failures: 1, last } => write!(f, "1 probe failed: {last}"),
            Matter::Failing { failures, last } => {
                write!(f, "{failures} probes failed, one after the other: {last}")
            }
            Matter::Slow(answer) => write!(f, "{answer}, which is above it"),
            Matter::InTime(answer) => write!(f, "{answer}, which is not above it any more"),
        }
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Answer { response_us, bound_us, percent } = self;
        write!(
            f,
            "{percent} % of the response timeout is {}, the answer took {}",
            ms(*bound_us),
            ms(*response_us)
        )
    }
}

fn ms(us: u64) -> String {
    format!("{}.{:03} ms", us / 1_000, us % 1_000)
}
