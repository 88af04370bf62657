//! What counters were during the last seven seconds, so that `stat` can show rates.
//!
//! Owns what is kept of one object: as good as eight samples, one a second, at no cost while nothing moves. Seven
//! seconds is the step of NetScaler's own counters (`spec/methods.md` 1.7).

use std::collections::VecDeque;
use std::sync::atomic::Ordering::Relaxed;

use steelyard_core::service::hot::Hot;
use steelyard_core::service::{Service, Traffic};
use steelyard_core::time::SECOND_US;
use steelyard_core::vserver::{Live, VirtualServer};

/// Counters at one moment. A virtual server's are client-side, a service's server-side.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct Counts {
    /// Decisions (virtual server) or requests begun (service).
    pub hits: u64,
    /// Requests.
    pub requests: u64,
    /// Answers.
    pub responses: u64,
    /// Bytes of requests.
    pub request_bytes: u64,
    /// Bytes of answers.
    pub response_bytes: u64,
    /// Sum of the times to first byte of status-200 answers, in microseconds.
    pub ttfb_sum_us: u64,
    /// Number of such answers.
    pub ttfb_count: u64,
}

impl Counts {
    /// Of a virtual server.
    pub fn of_vserver(vserver: &VirtualServer) -> Counts {
        Counts::of_live(&vserver.live)
    }

    /// Of a virtual server's counters.
    pub fn of_live(live: &Live) -> Counts {
        Counts {
            hits: live.hits.load(Relaxed),
            requests: live.requests.load(Relaxed),
            responses: live.responses.load(Relaxed),
            request_bytes: live.request_bytes.load(Relaxed),
            response_bytes: live.response_bytes.load(Relaxed),
            ..Counts::default()
        }
    }

    /// Of a service.
    pub fn of_service(service: &Service) -> Counts {
        Counts::of_traffic(service.hot(), &service.traffic)
    }

    /// Of a service's counters.
    pub fn of_traffic(hot: &Hot, traffic: &Traffic) -> Counts {
        let requests = hot.requests();
        Counts {
            hits: requests,
            requests,
            responses: traffic.responses.load(Relaxed),
            request_bytes: traffic.request_bytes.load(Relaxed),
            response_bytes: traffic.response_bytes.load(Relaxed),
            ttfb_sum_us: traffic.ttfb_sum_us.load(Relaxed),
            ttfb_count: traffic.ttfb_count.load(Relaxed),
        }
    }

    /// What was added since `earlier`.
    pub fn since(&self, earlier: &Counts) -> Counts {
        Counts {
            hits: self.hits.saturating_sub(earlier.hits),
            requests: self.requests.saturating_sub(earlier.requests),
            responses: self.responses.saturating_sub(earlier.responses),
            request_bytes: self.request_bytes.saturating_sub(earlier.request_bytes),
            response_bytes: self.response_bytes.saturating_sub(earlier.response_bytes),
            ttfb_sum_us: self.ttfb_sum_us.saturating_sub(earlier.ttfb_sum_us),
            ttfb_count: self.ttfb_count.saturating_sub(earlier.ttfb_count),
        }
    }
}

/// What the counters of one object were at the last looks at everything: the first of those looks, and then those at
/// which they had changed.
#[derive(Default)]
pub struct History(VecDeque<(u64, Counts)>);

/// What was counted in a span of time.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct Recent {
    /// Counted in the span.
    pub counts: Counts,
    /// The span in microseconds; 0 before the first sample.
    pub span_us: u64,
}

impl Recent {
    /// A count as events per second, rounded.
    pub fn per_second(&self, count: u64) -> u64 {
        per_second(count, self.span_us)
    }
}

/// A count of a span as events per second, rounded.
pub fn per_second(count: u64, span_us: u64) -> u64 {
    if span_us == 0 {
        return 0;
    }
    let scaled = u128::from(count) * u128::from(SECOND_US) + u128::from(span_us / 2);
    u64::try_from(scaled / u128::from(span_us)).unwrap_or(u64::MAX)
}

impl History {
    /// The counters at a look, by its number. May be left out when they are what they were at the one before.
    pub fn note(&mut self, look: u64, counts: Counts) {
        if self.0.back().is_none_or(|(_, last)| *last != counts) {
            self.0.push_back((look, counts));
        }
        // Whatever is older than the second of two that are out of the window is of no use.
        while self.0.get(1).is_some_and(|(second, _)| *second <= oldest(look)) {
            self.0.pop_front();
        }
    }

    /// The oldest look that counts when there were `looks`, and the counters then.
    pub fn oldest(&self, looks: u64) -> Option<(u64, Counts)> {
        let oldest = oldest(looks);
        let first = self.0.front()?;
        let (look, counts) = self.0.iter().take_while(|(look, _)| *look <= oldest).last().unwrap_or(first);
        Some((oldest.max(*look), *counts))
    }
}

/// The oldest of so many looks that counts.
fn oldest(looks: u64) -> u64 {
    (looks + 1).saturating_sub(SAMPLES as u64)
}

/// One a second: the oldest is seven seconds older than the newest.
pub const SAMPLES: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_rounded_and_never_overflows() {
        let recent = Recent { counts: Counts::default(), span_us: 7 * SECOND_US };
        assert_eq!(recent.per_second(3), 0);
        assert_eq!(recent.per_second(4), 1);
        assert_eq!(recent.per_second(u64::MAX), u64::MAX / 7);
    }
}
