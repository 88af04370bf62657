//! What counters were during the last seven seconds, so that `stat` can show rates.
//!
//! Keeps eight samples, one a second, of each virtual server and service; objects that are gone are forgotten with
//! the next sample. Seven seconds is the step of NetScaler's own counters (`spec/methods.md` 1.7).

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::Ordering::Relaxed;

use steelyard_core::service::Service;
use steelyard_core::snapshot::Snapshot;
use steelyard_core::time::{SECOND_US, Time};
use steelyard_core::vserver::VirtualServer;

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
        let live = &vserver.live;
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
        let traffic = &service.traffic;
        Counts {
            hits: service.requests(),
            requests: service.requests(),
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

/// The last samples of everything.
#[derive(Default)]
pub struct Rates {
    samples: BTreeMap<usize, VecDeque<(Time, Counts)>>,
}

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

impl Rates {
    /// Takes one sample of everything in the snapshot; to be called once a second.
    pub fn sample(&mut self, snapshot: &Snapshot, now: Time) {
        let vservers = snapshot.vservers().map(|v| (vserver_key(v), Counts::of_vserver(v)));
        let services = snapshot.services().map(|s| (service_key(s), Counts::of_service(s)));
        self.take(vservers.chain(services), now);
    }

    fn take(&mut self, all: impl Iterator<Item = (usize, Counts)>, now: Time) {
        for (key, counts) in all {
            let kept = self.samples.entry(key).or_default();
            // Counters never fall: lower ones are those of a new object at an old address.
            let fell = |last: &Counts| last.requests > counts.requests || last.hits > counts.hits;
            if kept.back().is_some_and(|(_, last)| fell(last)) {
                kept.clear();
            }
            if kept.len() == SAMPLES {
                kept.pop_front();
            }
            kept.push_back((now, counts));
        }
        // What is gone has no sample of now.
        self.samples.retain(|_, kept| kept.back().is_some_and(|(at, _)| *at == now));
    }

    /// What a virtual server did in the last seven seconds or so.
    pub fn of_vserver(&self, vserver: &VirtualServer, now: Time) -> Recent {
        self.recent(vserver_key(vserver), Counts::of_vserver(vserver), now)
    }

    /// What a service did in the last seven seconds or so.
    pub fn of_service(&self, service: &Service, now: Time) -> Recent {
        self.recent(service_key(service), Counts::of_service(service), now)
    }

    fn recent(&self, key: usize, counts: Counts, now: Time) -> Recent {
        let oldest = self.samples.get(&key).and_then(|s| s.front()).copied();
        let (since, earlier) = oldest.unwrap_or((now, counts));
        Recent { counts: counts.since(&earlier), span_us: now.since_us(since) }
    }
}

fn vserver_key(vserver: &VirtualServer) -> usize {
    std::ptr::from_ref(&*vserver.live).addr()
}

fn service_key(service: &Service) -> usize {
    std::ptr::from_ref(service).addr()
}

/// One a second: the oldest is seven seconds older than the newest.
pub const SAMPLES: usize = 8;

#[cfg(test)]
mod tests {
    use steelyard_core::service::State;

    use super::*;

    fn at(s: u64) -> Time {
        Time::from_us(s * SECOND_US)
    }

    #[test]
    fn rates_span_seven_seconds_and_forget_what_is_gone() {
        let service = Service::new("s", "10.0.0.1:80".parse().unwrap(), State::Up);
        let mut rates = Rates::default();
        assert_eq!(rates.of_service(&service, at(0)).per_second(5), 0);
        for second in 0..20 {
            rates.take([(service_key(&service), Counts::of_service(&service))].into_iter(), at(second));
            (0..10).for_each(|_| service.begin());
        }
        let recent = rates.of_service(&service, at(20));
        assert_eq!((recent.span_us, recent.counts.requests), (8 * SECOND_US, 80));
        assert_eq!(recent.per_second(recent.counts.requests), 10);
        rates.sample(&Snapshot::default(), at(21));
        assert!(rates.samples.is_empty());
    }

    #[test]
    fn a_rate_is_rounded_and_never_overflows() {
        let recent = Recent { counts: Counts::default(), span_us: 7 * SECOND_US };
        assert_eq!(recent.per_second(3), 0);
        assert_eq!(recent.per_second(4), 1);
        assert_eq!(recent.per_second(u64::MAX), u64::MAX / 7);
    }
}
