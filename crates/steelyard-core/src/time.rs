//! Monotonic time as an argument: microseconds since an origin that the caller chose.
//!
//! Owns the type and its arithmetic; never reads a clock. Spans are plain `u64` microseconds, named `*_us`.

use std::fmt;

/// A point in monotonic time, in microseconds since the caller's origin.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time(u64);

impl Time {
    /// The origin itself.
    pub const ZERO: Time = Time(0);
    /// Later than every real time: "never".
    pub const NEVER: Time = Time(u64::MAX);

    /// The time `us` microseconds after the origin.
    pub const fn from_us(us: u64) -> Time {
        Time(us)
    }

    /// Microseconds since the origin.
    pub const fn as_us(self) -> u64 {
        self.0
    }

    /// This time moved later by `us`; stops at [`Time::NEVER`].
    pub const fn plus_us(self, us: u64) -> Time {
        Time(self.0.saturating_add(us))
    }

    /// Microseconds from `earlier` to this time; 0 when `earlier` is later.
    pub const fn since_us(self, earlier: Time) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:06}s", self.0 / SECOND_US, self.0 % SECOND_US)
    }
}

/// One second in microseconds.
pub const SECOND_US: u64 = 1_000_000;
/// One millisecond in microseconds.
pub const MILLISECOND_US: u64 = 1_000;
