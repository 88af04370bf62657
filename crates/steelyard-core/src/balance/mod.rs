//! Choosing among services: the methods, the tournament tree, the picker, the decision log.
//!
//! A method is a value in a file of its own; [`METHODS`] is the one table of them. [`picker::Picker`] is the one exact
//! shared view of a virtual server's services, whatever its method.

pub mod assigned;
mod bandwidth;
pub mod decision;
pub mod dirty;
pub mod log;
pub mod picker;
pub mod rates;
pub mod ring;
pub mod setup;
mod slot;
pub mod slow_start;
mod stand_in;
pub mod standing;
pub mod startup;
pub mod surge;
pub mod tree;
pub mod window;

mod least_bandwidth;
mod least_connection;
mod least_packets;
mod least_request;
mod least_response_time;
mod lrtm;
mod round_robin;

/// Every method, in the order of the documentation.
pub const METHODS: [&Method; 7] = [
    &round_robin::METHOD,
    &least_connection::METHOD,
    &least_response_time::METHOD,
    &lrtm::METHOD,
    &least_request::METHOD,
    &least_bandwidth::METHOD,
    &least_packets::METHOD,
];

/// The method of a virtual server that names none.
pub const DEFAULT: &Method = &least_connection::METHOD;

/// The method that `-lbMethod` names, without regard to case.
pub fn method(name: &str) -> Option<&'static Method> {
    METHODS.into_iter().find(|m| m.name.eq_ignore_ascii_case(name))
}

/// A load-balancing method: its name, what it measures, and the value N it makes of that.
#[derive(Debug)]
pub struct Method {
    /// As `-lbMethod` spells it.
    pub name: &'static str,
    /// What a service's value depends on.
    pub measures: Measures,
    /// Does per-service slow start apply (`spec/methods.md` 2.3)?
    pub slow_start: bool,
    /// The value N, smaller is better. Weights are applied later, by [`key`].
    pub metric: fn(&Measured) -> u64,
    /// What N is, as a person reads it.
    pub shows: &'static str,
    /// How much of the metric makes 1 of what is shown: 1,000,000 where microseconds are shown as seconds.
    pub unit: u64,
}

/// What a method's value depends on, hence what the picker keeps for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Measures {
    /// Turns taken; no measurement.
    Turns,
    /// Active transactions.
    Active,
    /// Active transactions and the time to first byte of status-200 answers.
    Ttfb,
    /// Active transactions and the monitors' response time.
    ResponseTime,
    /// Bytes of the last 14 s.
    Bytes,
    /// Packets of the last 14 s.
    Packets,
}

impl Measures {
    /// Does the value change when a transaction begins or ends?
    pub fn active(self) -> bool {
        matches!(self, Measures::Active | Measures::Ttfb | Measures::ResponseTime)
    }

    /// Is the value measured traffic?
    pub fn traffic(self) -> bool {
        matches!(self, Measures::Bytes | Measures::Packets)
    }

    /// Is a time part of the value, so that a stand-in is needed while it is unknown?
    pub fn time(self) -> bool {
        matches!(self, Measures::Ttfb | Measures::ResponseTime)
    }

    /// Is there a 14-second window?
    pub fn window(self) -> bool {
        matches!(self, Measures::Ttfb | Measures::Bytes | Measures::Packets)
    }
}

/// What a method makes its value of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Measured {
    /// Active transactions of the service.
    pub active: u64,
    /// Mean TTFB or monitor response time in microseconds, at least 1; the stand-in while unknown.
    pub time_us: u64,
    /// Bytes or packets of the window.
    pub carried: u64,
}

/// The weighted value `floor(N * 10000 / weight)`, at most [`tree::NO`] - 1.
///
/// For weights 1 to 100 it orders services exactly as N/weight does, ties included: distinct quotients differ by at
/// least 1/9900, so after the scaling their floors differ (`spec/selection.md` 0.1).
#[inline]
pub fn key(metric: u64, weight: u32) -> u64 {
    let weight = u64::from(weight.max(1));
    match metric.checked_mul(SCALE) {
        Some(scaled) => (scaled / weight).min(tree::NO - 1),
        None => {
            let scaled = u128::from(metric) * u128::from(SCALE) / u128::from(weight);
            u64::try_from(scaled).map_or(tree::NO - 1, |key| key.min(tree::NO - 1))
        }
    }
}

/// N as the documentation prints it, in hundredths, rounded up; `unit` is the method's.
pub fn shown_hundredths(metric: u64, unit: u64) -> u128 {
    (u128::from(metric) * 100).div_ceil(u128::from(unit.max(1)))
}

/// The weighted value in the same form: 7 x 10000 / 3 is 23333.34.
pub fn shown_weighted_hundredths(metric: u64, weight: u32, unit: u64) -> u128 {
    let divisor = u128::from(weight.max(1)) * u128::from(unit.max(1));
    (u128::from(metric) * u128::from(SCALE) * 100).div_ceil(divisor)
}

/// The round that a service is in after `turns` turns: each round gives it `weight` of them (`spec/methods.md` 1.2).
#[inline]
pub fn round(turns: u64, weight: u32) -> u64 {
    (turns / u64::from(weight.max(1))).min(tree::NO - 1)
}

/// The 10000 of the documentation's `Nw = N * 10000 / weight`.
pub const SCALE: u64 = 10_000;
