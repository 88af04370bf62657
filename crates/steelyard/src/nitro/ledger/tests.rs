//! What is told of the last seconds, against a model that samples everything.

use steelyard_core::command::read;
use steelyard_core::config::Config;
use steelyard_core::config::departure::Departures;
use steelyard_core::config::difference::Difference;
use steelyard_core::config::guard::Guards;
use steelyard_core::config::renamed::Renamed;
use steelyard_core::service::State;
use steelyard_core::snapshot::Snapshot;
use steelyard_core::time::SECOND_US;

use super::*;
use crate::nitro::totals::Totals;

fn at(s: u64) -> Time {
    Time::from_us(s * SECOND_US)
}

#[test]
fn rates_span_seven_seconds_and_forget_what_is_gone() {
    let service = Service::new("s", "10.0.0.1:80".parse().unwrap(), State::Up);
    let mut ledger = Ledger::default();
    assert_eq!(ledger.of_service(&service, at(0)).per_second(5), 0);
    ledger.insert(Account::new(Counted::of_service(Protocol::Http, &service)));
    for second in 0..20 {
        ledger.look(at(second));
        (0..10).for_each(|_| service.begin());
    }
    let recent = ledger.of_service(&service, at(20));
    assert_eq!((recent.span_us, recent.counts.requests), (8 * SECOND_US, 80));
    assert_eq!(recent.per_second(recent.counts.requests), 10);
    assert!(ledger.remove(Counted::service_id(&service)).is_some());
    assert_eq!(ledger.of_service(&service, at(21)), Recent::default());
    assert_eq!((ledger.ids().len(), ledger.sums()), (0, Sums::default()));
}

/// Eight samples, one a second, of everything that there is. What is not there at a sample is forgotten.
#[derive(Default)]
struct Samples(BTreeMap<usize, VecDeque<(Time, Counts)>>);

impl Samples {
    fn take(&mut self, snapshot: &Snapshot, now: Time) {
        let vservers = snapshot.vservers().map(|v| (Arc::as_ptr(&v.live).addr(), Counts::of_vserver(v)));
        let services = snapshot.services().map(|s| (Arc::as_ptr(s).addr(), Counts::of_service(s)));
        for (key, counts) in vservers.chain(services) {
            let kept = self.0.entry(key).or_default();
            kept.push_back((now, counts));
            kept.drain(..kept.len().saturating_sub(8));
        }
        self.0.retain(|_, kept| kept.back().is_some_and(|(at, _)| *at == now));
    }

    fn recent(&self, key: usize, counts: Counts, now: Time) -> Recent {
        let (since, earlier) =
            self.0.get(&key).and_then(|kept| kept.front()).copied().unwrap_or((now, counts));
        Recent { counts: counts.since(&earlier), span_us: now.since_us(since) }
    }
}

/// A balancer that changes and carries something, and the model of what is told of it.
struct Site {
    random: u64,
    now: Time,
    chosen: u64,
    config: Config,
    snapshot: Snapshot,
    totals: Totals,
    samples: Samples,
    /// Services that have a transaction, once for each.
    active: Vec<Arc<Service>>,
    /// So that no address is that of two objects, one after the other.
    held: Vec<Snapshot>,
    /// Bytes from clients, bytes to services, connects without a port.
    carried: (u64, u64, u64),
}

impl Site {
    fn new(seed: u64) -> Site {
        Site {
            random: seed,
            now: at(1),
            chosen: 0,
            config: Config::default(),
            snapshot: Snapshot::default(),
            totals: Totals::default(),
            samples: Samples::default(),
            active: Vec::new(),
            held: Vec::new(),
            carried: (0, 0, 0),
        }
    }

    /// SplitMix64.
    fn below(&mut self, most: usize) -> usize {
        self.random = self.random.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.random ^ (self.random >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((mixed ^ (mixed >> 31)) % most.max(1) as u64).unwrap()
    }

    fn step(&mut self) {
        match self.below(16) {
            0 => self.change(),
            1..=5 => self.second(),
            6..=7 => self.begin(),
            8..=11 => self.carry(),
            12..=13 if !self.active.is_empty() => {
                let ended = self.below(self.active.len());
                self.active.swap_remove(ended).end();
            }
            _ => self.receive(),
        }
    }

    /// Something comes, goes, comes back, or has another address.
    fn change(&mut self) {
        self.chosen ^= 1 << self.below(1 + PARTS.len());
        let host = self.chosen & 1;
        let mut text =
            format!("enable ns feature LB\nadd server web 192.0.2.{host}\nadd serviceGroup g HTTP\n");
        let parts = PARTS.iter().enumerate().filter(|(part, _)| self.chosen >> (part + 1) & 1 == 1);
        text.extend(parts.map(|(_, part)| *part));
        let config = read(text.as_bytes(), "ns.conf").config;
        let difference =
            Difference::between(&self.config, &config, &Departures::default(), &Renamed::default());
        let after = self.snapshot.next_by(&difference, &config, &Guards::default(), self.now);
        self.totals.follow(&difference, (&self.snapshot, &after), &config);
        self.config = config;
        self.held.push(std::mem::replace(&mut self.snapshot, after));
    }

    fn second(&mut self) {
        self.now = self.now.plus_us(SECOND_US + self.below(1_000) as u64);
        self.samples.take(&self.snapshot, self.now);
        let sums = self.totals.look(self.now);
        assert_eq!(sums, self.totals.sums());
    }

    fn begin(&mut self) {
        let there = self.snapshot.services().len();
        let chosen = self.below(there);
        if let Some(service) = self.snapshot.services().nth(chosen) {
            service.begin();
            self.active.push(Arc::clone(service));
        }
    }

    /// A transaction carries something, in the old way if its service has another address by now.
    fn carry(&mut self) {
        let chosen = self.below(self.active.len());
        let Some(service) = self.active.get(chosen).map(Arc::clone) else { return };
        let traffic = &service.traffic;
        match self.below(5) {
            0 => traffic.add_ttfb(3),
            1 => drop(traffic.responses.fetch_add(1, Relaxed)),
            2 => drop(traffic.response_bytes.fetch_add(500, Relaxed)),
            3 => {
                traffic.request_bytes.fetch_add(70, Relaxed);
                self.carried.1 += 70;
            }
            _ => {
                traffic.no_local_port.fetch_add(1, Relaxed);
                self.carried.2 += 1;
            }
        }
    }

    fn receive(&mut self) {
        let there = self.snapshot.vservers().len();
        let chosen = self.below(there);
        let Some(vserver) = self.snapshot.vservers().nth(chosen).map(Arc::clone) else { return };
        let counters = [&vserver.live.hits, &vserver.live.requests, &vserver.live.response_bytes];
        counters[self.below(3)].fetch_add(1, Relaxed);
        vserver.live.request_bytes.fetch_add(90, Relaxed);
        self.carried.0 += 90;
    }

    fn check(&self, what: &str) {
        for vserver in self.snapshot.vservers() {
            let key = Arc::as_ptr(&vserver.live).addr();
            let expected = self.samples.recent(key, Counts::of_vserver(vserver), self.now);
            let told = self.totals.recent_of_vserver(vserver, self.now);
            assert_eq!(told, expected, "{what}: {}", vserver.name);
        }
        for service in self.snapshot.services() {
            let key = Arc::as_ptr(service).addr();
            let expected = self.samples.recent(key, Counts::of_service(service), self.now);
            let told = self.totals.recent_of_service(service, self.now);
            assert_eq!(told, expected, "{what}: {}", service.name());
        }
        let sums = self.totals.sums();
        assert_eq!((sums.all.from_clients, sums.all.to_services, sums.no_local_port), self.carried, "{what}");
    }
}

const PARTS: [&str; 6] = [
    "add service s web HTTP 81\n",
    "add service t web TCP 82\n",
    "bind serviceGroup g web 80\n",
    "bind serviceGroup g web 83\n",
    "add lb vserver v HTTP 192.0.2.9 80\n",
    "add lb vserver w TCP 192.0.2.9 90\n",
];

#[test]
fn rates_are_those_of_eight_samples_of_everything() {
    for seed in 0..40 {
        let mut site = Site::new(seed);
        for step in 0..400 {
            site.step();
            site.check(&format!("seed {seed}, step {step}"));
        }
    }
}
