//! Start-up round robin (`spec/methods.md` 2.1, 2.2): after a change that makes measured values misleading, a number of
//! requests is distributed by weighted round robin, whatever the method.

/// Why start-up round robin began; the numbers are NITRO's `lbrrreason`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum StartupReason {
    /// The method was changed.
    MethodChanged = 2,
    /// A bound service went from DOWN to UP.
    ServiceUp = 3,
    /// A service was bound, as in every new virtual server.
    ServiceBound = 4,
    /// `startupRRFactor` was changed.
    FactorChanged = 5,
    /// The LB feature was enabled.
    FeatureEnabled = 6,
    /// The virtual server was enabled.
    VserverEnabled = 8,
}

impl StartupReason {
    /// Its number in `lbrrreason`.
    pub fn code(self) -> u8 {
        self as u8
    }

    /// The one of that number; `None` for 0, and for the reasons of what is not here.
    pub fn of_code(code: u8) -> Option<StartupReason> {
        StartupReason::ALL.into_iter().find(|reason| reason.code() == code)
    }

    /// As `show lb vserver` prints it.
    pub fn text(self) -> &'static str {
        match self {
            StartupReason::MethodChanged => "LB method is changed",
            StartupReason::ServiceUp => "Bound service's state changed to UP",
            StartupReason::ServiceBound => "A new service is bound",
            StartupReason::FactorChanged => "Startup RR factor is changed",
            StartupReason::FeatureEnabled => "LB feature is enabled",
            StartupReason::VserverEnabled => "Vserver is enabled",
        }
    }

    /// Every one.
    const ALL: [StartupReason; 6] = [
        StartupReason::MethodChanged,
        StartupReason::ServiceUp,
        StartupReason::ServiceBound,
        StartupReason::FactorChanged,
        StartupReason::FeatureEnabled,
        StartupReason::VserverEnabled,
    ];
}

/// How far a virtual server is from leaving start-up round robin.
#[derive(Clone, Copy, Debug)]
pub struct Startup {
    /// Requests still to be distributed by round robin.
    left: u64,
    reason: StartupReason,
    /// Until a new virtual server has left it for the first time, its first 100 requests count.
    new: bool,
}

impl Startup {
    /// Of a new virtual server with `bound` services: F a service, or the first 100 requests.
    pub fn of_new(factor: u32, bound: usize) -> Startup {
        let left = if factor > 0 { u64::from(factor) * bound as u64 } else { FIRST_REQUESTS };
        Startup { left, reason: StartupReason::ServiceBound, new: true }
    }

    /// Not in it, and no longer new.
    pub fn over() -> Startup {
        Startup { left: 0, reason: StartupReason::ServiceBound, new: false }
    }

    /// Restarts the count for `reason`, whatever was left: F a service; or the first requests of a new virtual server; or
    /// the request rate (`in_7_s` / 7) times the bound services, at least one request each.
    pub fn trigger(&mut self, reason: StartupReason, factor: u32, bound: usize, in_7_s: u64) {
        let bound = bound as u64;
        let count = if factor > 0 {
            u64::from(factor) * bound
        } else if self.new {
            FIRST_REQUESTS
        } else {
            let count = (u128::from(in_7_s) * u128::from(bound) / 7).min(u128::from(u64::MAX)) as u64;
            count.max(bound)
        };
        self.left = count;
        self.reason = reason;
    }

    /// Why it runs, while it does.
    pub fn running(&self) -> Option<StartupReason> {
        (self.left > 0).then_some(self.reason)
    }

    /// One request was distributed by it.
    pub fn used(&mut self) {
        self.left = self.left.saturating_sub(1);
        self.new &= self.left > 0;
    }
}

/// Requests that a new virtual server distributes by round robin when no factor is set.
pub const FIRST_REQUESTS: u64 = 100;
