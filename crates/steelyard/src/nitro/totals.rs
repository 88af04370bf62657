//! What all virtual servers and services have carried together since the program began, and what the host's counters
//! were during the last seven seconds.
//!
//! Totals never fall: what is removed is counted on until the last transaction has let go of it, and then kept as a
//! number. Exporters take a lower number for a restart.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use steelyard_core::config::difference::Difference;
use steelyard_core::config::{Config, Member, ServiceType};
use steelyard_core::service::Traffic;
use steelyard_core::snapshot::{Snapshot, member_name};
use steelyard_core::time::Time;
use steelyard_core::vserver::{Live, Protocol};

use super::rates::{SAMPLES, per_second};
use crate::kernel::Readings;

/// Bytes of both sides.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Bytes {
    /// Received from clients.
    pub from_clients: u64,
    /// Sent to clients.
    pub to_clients: u64,
    /// Received from services.
    pub from_services: u64,
    /// Sent to services.
    pub to_services: u64,
}

/// Sums over everything.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Sums {
    /// Requests of HTTP.
    pub requests: u64,
    /// Answers to them.
    pub responses: u64,
    /// Bytes of HTTP.
    pub http: Bytes,
    /// Bytes of everything.
    pub all: Bytes,
    /// Connects that were not begun for want of a local port.
    pub no_local_port: u64,
}

/// Counters of something that there is, or was and may still be counted on.
enum Counted {
    Vserver(Protocol, Arc<Live>),
    Service(Protocol, Arc<Traffic>),
}

/// The sums of what is gone, and the last samples of everything.
#[derive(Default)]
pub struct Totals {
    gone: Sums,
    leaving: Vec<Counted>,
    /// What there is, by the object that counts.
    present: BTreeMap<usize, Counted>,
    samples: VecDeque<Sample>,
}

impl Sums {
    fn add(&mut self, counted: &Counted) {
        match counted {
            Counted::Vserver(protocol, live) => {
                let bytes = Bytes {
                    from_clients: live.request_bytes.load(Relaxed),
                    to_clients: live.response_bytes.load(Relaxed),
                    ..Bytes::default()
                };
                if *protocol == Protocol::Http {
                    self.requests += live.requests.load(Relaxed);
                    self.responses += live.responses.load(Relaxed);
                }
                self.carried(*protocol, bytes);
            }
            Counted::Service(protocol, traffic) => {
                self.no_local_port += traffic.no_local_port.load(Relaxed);
                let bytes = Bytes {
                    from_services: traffic.response_bytes.load(Relaxed),
                    to_services: traffic.request_bytes.load(Relaxed),
                    ..Bytes::default()
                };
                self.carried(*protocol, bytes);
            }
        }
    }

    fn carried(&mut self, protocol: Protocol, bytes: Bytes) {
        let of_http = (protocol == Protocol::Http).then_some(&mut self.http);
        for sum in of_http.into_iter().chain([&mut self.all]) {
            sum.from_clients += bytes.from_clients;
            sum.to_clients += bytes.to_clients;
            sum.from_services += bytes.from_services;
            sum.to_services += bytes.to_services;
        }
    }
}

impl Totals {
    /// Of a configuration that is in service from the start.
    pub fn of(config: &Config, snapshot: &Snapshot) -> Totals {
        let mut totals = Totals::default();
        totals.follow(&Difference::whole(), (&Snapshot::default(), snapshot), config);
        totals
    }

    /// Another configuration is in service, with another snapshot than before: what is not in it any more is counted on
    /// among what is leaving.
    pub fn follow(
        &mut self,
        difference: &Difference,
        (before, after): (&Snapshot, &Snapshot),
        config: &Config,
    ) {
        let vservers = before.vservers_in(difference).map(|v| Arc::as_ptr(&v.live).addr());
        let services = before.services_in(difference).map(|(_, s)| Arc::as_ptr(&s.traffic).addr());
        self.leaving.extend(vservers.chain(services).filter_map(|id| self.present.remove(&id)));
        let counted: BTreeMap<usize, Counted> =
            counted(difference, config, after).map(|counted| (counted.id(), counted)).collect();
        // A member that is bound again is the one that it was.
        self.leaving.retain(|left| !counted.contains_key(&left.id()));
        self.present.extend(counted);
    }

    /// The sums of what is gone and of what is there.
    pub fn sums(&self) -> Sums {
        let mut sums = self.gone;
        self.leaving.iter().chain(self.present.values()).for_each(|counted| sums.add(counted));
        sums
    }

    /// Takes one more sample; to be called once a second. What nobody counts on any more becomes a number.
    pub fn take(&mut self, sample: Sample) {
        let all = std::mem::take(&mut self.leaving);
        let (settled, leaving): (Vec<_>, Vec<_>) = all.into_iter().partition(Counted::is_settled);
        self.leaving = leaving;
        settled.iter().for_each(|counted| self.gone.add(counted));
        self.samples.push_back(sample);
        if self.samples.len() > SAMPLES {
            self.samples.pop_front();
        }
    }

    /// From the oldest sample until now.
    pub fn until(&self, now: Sample) -> Span {
        let before = self.samples.front().cloned().unwrap_or_else(|| now.clone());
        Span { now, before }
    }
}

impl Counted {
    fn id(&self) -> usize {
        match self {
            Counted::Vserver(_, live) => Arc::as_ptr(live).addr(),
            Counted::Service(_, traffic) => Arc::as_ptr(traffic).addr(),
        }
    }

    fn is_settled(&self) -> bool {
        match self {
            Counted::Vserver(_, live) => Arc::strong_count(live) == 1,
            Counted::Service(_, traffic) => Arc::strong_count(traffic) == 1,
        }
    }
}

/// Everything that counts, of what a difference names.
fn counted<'c>(
    difference: &'c Difference,
    config: &'c Config,
    snapshot: &'c Snapshot,
) -> impl Iterator<Item = Counted> + 'c {
    let vservers = snapshot.vservers_in(difference);
    let vservers = vservers.map(|v| Counted::Vserver(v.protocol, Arc::clone(&v.live)));
    let services = difference.services(config).map(|s| (s.name.clone(), s.service_type));
    let members = difference.groups(config).flat_map(|group| {
        let name = |member: &Member| member_name(&group.name, &member.server, member.port);
        group.members.iter().map(move |member| (name(member), group.service_type))
    });
    let services = services.chain(members).filter_map(|(name, service_type)| {
        let service = snapshot.service(&name)?;
        Some(Counted::Service(protocol(service_type), Arc::clone(&service.traffic)))
    });
    vservers.chain(services)
}

fn protocol(service_type: ServiceType) -> Protocol {
    if service_type.is_http() { Protocol::Http } else { Protocol::Tcp }
}

/// Everything at one moment.
#[derive(Clone)]
pub struct Sample {
    /// The moment.
    pub at: Time,
    /// What was carried.
    pub sums: Sums,
    /// The host's counters.
    pub kernel: Readings,
    /// CPU time of each worker, in nanoseconds, together.
    pub workers_ns: u64,
}

/// Two moments, some seconds apart.
pub struct Span {
    /// The present.
    pub now: Sample,
    /// Some seconds ago.
    pub before: Sample,
}

impl Span {
    /// By how much something has grown, by the second.
    pub fn rate(&self, count: impl Fn(&Sample) -> u64) -> u64 {
        per_second(self.grown(count), self.us())
    }

    /// By how much it has grown.
    pub fn grown(&self, count: impl Fn(&Sample) -> u64) -> u64 {
        count(&self.now).saturating_sub(count(&self.before))
    }

    /// Microseconds.
    pub fn us(&self) -> u64 {
        self.now.at.since_us(self.before.at)
    }

    /// How much of another thing's growth is this one's, in percent.
    pub fn percent(part: u64, whole: u64) -> u64 {
        (part.saturating_mul(100)).checked_div(whole).unwrap_or(0).min(100)
    }
}

#[cfg(test)]
mod tests {
    use steelyard_core::command::read;
    use steelyard_core::config::departure::Departures;
    use steelyard_core::config::guard::Guards;
    use steelyard_core::config::renamed::Renamed;

    use super::*;

    const GROUP: &str = "enable ns feature LB\nadd serviceGroup g HTTP\nadd server web 192.0.2.1\n";

    fn config(more: &str) -> Config {
        read(format!("{GROUP}{more}").as_bytes(), "ns.conf").config
    }

    fn sample(sums: Sums) -> Sample {
        Sample { at: Time::ZERO, sums, kernel: Readings::default(), workers_ns: 0 }
    }

    #[test]
    fn what_goes_is_counted_on_and_what_comes_back_is_counted_once() {
        let (with, without) = (config("bind serviceGroup g web 80\n"), config(""));
        let next = |from: &Snapshot, config: &Config| from.next(config, &Guards::default(), Time::ZERO);
        let first = next(&Snapshot::default(), &with);
        let mut totals = Totals::of(&with, &first);
        let member = Arc::clone(first.service("g?web?80").unwrap());
        let carry = |bytes| member.traffic.request_bytes.fetch_add(bytes, Relaxed);
        let sent = |totals: &Totals| totals.sums().http.to_services;
        carry(5);
        assert_eq!(sent(&totals), 5);
        let second = next(&first, &without);
        let all = Difference::whole();
        totals.follow(&all, (&first, &second), &without);
        // Its last transactions go on.
        carry(2);
        totals.take(sample(totals.sums()));
        assert_eq!(sent(&totals), 7);
        let third = next(&second, &with);
        totals.follow(&all, (&second, &third), &with);
        assert_eq!(sent(&totals), 7, "a member that is bound again is the one that it was");
        totals.follow(&all, (&third, &next(&Snapshot::default(), &without)), &without);
        carry(1);
        drop((member, first, second, third));
        totals.take(sample(totals.sums()));
        assert!(totals.leaving.is_empty(), "nobody counts on it any more");
        assert_eq!(sent(&totals), 8);
    }

    /// What is counted on of every object, leaving ones included; a number stands for each object.
    fn counted_on(totals: &Totals) -> (Vec<usize>, Vec<usize>) {
        let mut leaving: Vec<usize> = totals.leaving.iter().map(Counted::id).collect();
        leaving.sort_unstable();
        (totals.present.keys().copied().collect(), leaving)
    }

    #[test]
    fn totals_by_difference_are_those_of_all() {
        let parts = [
            "add service s web HTTP 81\n",
            "add service t web TCP 82\n",
            "bind serviceGroup g web 80\n",
            "bind serviceGroup g web 83\n",
            "add serviceGroup h TCP\nbind serviceGroup h web 84\n",
            "add lb vserver v HTTP 192.0.2.9 80\n",
            "add lb vserver w TCP 192.0.2.9 90\n",
            "disable server web\n",
        ];
        let of = |chosen: usize| {
            let lines = parts.iter().enumerate().filter(|(at, _)| chosen >> at & 1 == 1);
            config(&lines.map(|(_, line)| *line).collect::<String>())
        };
        let (mut all, mut by_difference) = (Totals::default(), Totals::default());
        let (mut before, mut snapshot) =
            (of(0), Snapshot::default().next(&of(0), &Guards::default(), Time::ZERO));
        let (mut chosen, mut held) = (0, Vec::new());
        for step in 1..300usize {
            // One part comes or goes, and every third time several.
            chosen ^= if step % 3 == 0 { step * 7_919 % 256 } else { 1 << (step * 5 % 8) };
            let next = of(chosen);
            let difference = Difference::between(&before, &next, &Departures::default(), &Renamed::default());
            let after = snapshot.next_by(&difference, &next, &Guards::default(), Time::ZERO);
            all.follow(&Difference::whole(), (&snapshot, &after), &next);
            by_difference.follow(&difference, (&snapshot, &after), &next);
            assert_eq!(counted_on(&all), counted_on(&by_difference), "step {step}");
            let services =
                next.services.len() + next.service_groups.iter().map(|g| g.members.len()).sum::<usize>();
            assert_eq!(by_difference.present.len(), next.lb_vservers.len() + services);
            held.push(std::mem::replace(&mut snapshot, after));
            before = next;
        }
        assert!(!all.leaving.is_empty());
    }

    #[test]
    fn rates_are_of_the_span_and_never_below_zero() {
        let at = |seconds: u64, requests| Sample {
            at: Time::from_us(seconds * 1_000_000),
            ..sample(Sums { requests, ..Sums::default() })
        };
        let mut totals = Totals::default();
        assert_eq!(totals.until(at(0, 50)).rate(|sample| sample.sums.requests), 0);
        (0..20).for_each(|second| totals.take(at(second, second * 10)));
        assert_eq!(totals.until(at(20, 200)).rate(|sample| sample.sums.requests), 10);
        assert_eq!(totals.until(at(20, 0)).rate(|sample| sample.sums.requests), 0);
        assert_eq!((Span::percent(1, 4), Span::percent(5, 4), Span::percent(5, 0)), (25, 100, 0));
    }
}
