//! What all virtual servers and services have carried together since the program began, and what the host's counters
//! were during the last seven seconds.
//!
//! Totals never fall: what is removed is counted on until the last transaction has let go of it, and then kept as a
//! number. Exporters take a lower number for a restart.

use std::collections::{BTreeMap, VecDeque};
use std::ops::{AddAssign, SubAssign};

use steelyard_core::config::difference::Difference;
use steelyard_core::config::{Config, Member, ServiceType};
use steelyard_core::service::Service;
use steelyard_core::snapshot::{Snapshot, member_name};
use steelyard_core::time::Time;
use steelyard_core::vserver::{Protocol, VirtualServer};

use super::ledger::{Account, Counted, Figures, Ledger};
use super::rates::{Recent, SAMPLES, per_second};
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

/// The sums of what is gone, and the last samples of everything.
#[derive(Default)]
pub struct Totals {
    gone: Sums,
    leaving: Vec<Account>,
    present: Ledger,
    samples: VecDeque<Sample>,
}

impl Bytes {
    fn apply(&mut self, by: fn(&mut u64, u64), other: Bytes) {
        by(&mut self.from_clients, other.from_clients);
        by(&mut self.to_clients, other.to_clients);
        by(&mut self.from_services, other.from_services);
        by(&mut self.to_services, other.to_services);
    }
}

impl Sums {
    /// Of what one object has counted.
    pub fn of(counted: &Counted, figures: &Figures) -> Sums {
        let counts = &figures.counts;
        let mut sums = Sums { no_local_port: figures.no_local_port, ..Sums::default() };
        let (received, sent) = match counted {
            Counted::Vserver(..) => (&mut sums.all.from_clients, &mut sums.all.to_clients),
            Counted::Service { .. } => (&mut sums.all.to_services, &mut sums.all.from_services),
        };
        (*received, *sent) = (counts.request_bytes, counts.response_bytes);
        let (Counted::Vserver(protocol, _) | Counted::Service { protocol, .. }) = counted;
        if *protocol == Protocol::Http {
            sums.http = sums.all;
            if let Counted::Vserver(..) = counted {
                (sums.requests, sums.responses) = (counts.requests, counts.responses);
            }
        }
        sums
    }

    fn apply(&mut self, by: fn(&mut u64, u64), other: Sums) {
        by(&mut self.requests, other.requests);
        by(&mut self.responses, other.responses);
        self.http.apply(by, other.http);
        self.all.apply(by, other.all);
        by(&mut self.no_local_port, other.no_local_port);
    }
}

impl AddAssign for Sums {
    fn add_assign(&mut self, other: Sums) {
        self.apply(AddAssign::add_assign, other);
    }
}

impl SubAssign for Sums {
    fn sub_assign(&mut self, other: Sums) {
        self.apply(SubAssign::sub_assign, other);
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
        let vservers = before.vservers_in(difference).map(|v| Counted::vserver_id(v));
        let services = before.services_in(difference).map(|(_, s)| Counted::service_id(s));
        let present = vservers.chain(services).filter_map(|id| self.present.remove(id));
        let left = present.chain(std::mem::take(&mut self.leaving));
        let mut left: BTreeMap<usize, Account> = left.map(|account| (account.id(), account)).collect();
        for counted in counted(difference, config, after) {
            // A member that is bound again is the one that it was.
            let before = left.remove(&counted.id()).or_else(|| self.present.remove(counted.id()));
            self.present.insert(match before {
                Some(account) => account.renewed(counted),
                None => Account::new(counted),
            });
        }
        self.leaving = left.into_values().collect();
    }

    /// The sums of what is gone and of what is there.
    pub fn sums(&self) -> Sums {
        self.with_present(self.present.sums())
    }

    /// Looks at everything, for the rates; to be called once a second. Returns the sums.
    pub fn look(&mut self, now: Time) -> Sums {
        self.leaving.iter_mut().for_each(Account::forget);
        let present = self.present.look(now);
        self.with_present(present)
    }

    fn with_present(&self, mut sums: Sums) -> Sums {
        sums += self.gone;
        self.leaving.iter().for_each(|account| sums += account.sums());
        sums
    }

    /// What a virtual server did in the last seven seconds or so.
    pub fn recent_of_vserver(&self, vserver: &VirtualServer, now: Time) -> Recent {
        self.present.of_vserver(vserver, now)
    }

    /// What a service did in the last seven seconds or so.
    pub fn recent_of_service(&self, service: &Service, now: Time) -> Recent {
        self.present.of_service(service, now)
    }

    /// Takes one more sample; to be called once a second. What nobody counts on any more becomes a number.
    pub fn take(&mut self, sample: Sample) {
        let all = std::mem::take(&mut self.leaving);
        let (settled, leaving): (Vec<_>, Vec<_>) = all.into_iter().partition(Account::is_settled);
        self.leaving = leaving;
        settled.iter().for_each(|account| self.gone += account.sums());
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

/// Everything that counts, of what a difference names.
fn counted<'c>(
    difference: &'c Difference,
    config: &'c Config,
    snapshot: &'c Snapshot,
) -> impl Iterator<Item = Counted> + 'c {
    let vservers = snapshot.vservers_in(difference);
    let vservers = vservers.map(|v| Counted::of_vserver(v));
    let services = difference.services(config).map(|s| (s.name.clone(), s.service_type));
    let members = difference.groups(config).flat_map(|group| {
        let name = |member: &Member| member_name(&group.name, &member.server, member.port);
        group.members.iter().map(move |member| (name(member), group.service_type))
    });
    let services = services.chain(members).filter_map(|(name, service_type)| {
        Some(Counted::of_service(protocol(service_type), snapshot.service(&name)?))
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
    use std::sync::Arc;
    use std::sync::atomic::Ordering::Relaxed;

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
        let mut leaving: Vec<usize> = totals.leaving.iter().map(Account::id).collect();
        leaving.sort_unstable();
        (totals.present.ids().copied().collect(), leaving)
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
            assert_eq!(by_difference.present.ids().len(), next.lb_vservers.len() + services);
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
