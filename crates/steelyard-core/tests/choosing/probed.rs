//! A virtual server whose services are probed in virtual time: what scripted servers answer goes through the real probes
//! and the real schedule to the picker.

use std::collections::BTreeMap;
use std::sync::Arc;

use steelyard_core::command::read;
use steelyard_core::config::departure::Departures;
use steelyard_core::config::difference::Difference;
use steelyard_core::config::guard::Guards;
use steelyard_core::config::secret::{Plain, Unseal};
use steelyard_core::monitor::bound::Means;
use steelyard_core::monitor::schedule::{Due, ProbeKey, Schedule};
use steelyard_core::monitor::tls::{Credentials, Usable};
use steelyard_core::monitor::{Channel, Fault, Kind, ProbeResult, Stage, Step};
use steelyard_core::service::{ResponseTime, Service, State};
use steelyard_core::snapshot::Snapshot;
use steelyard_core::snapshot::placement::Placement;
use steelyard_core::time::Time;

use crate::targets::targets;
use crate::world::{Plan, World};

/// The virtual server `v` of a configuration and the monitors of its services.
pub struct Probed {
    pub world: World,
    schedule: Schedule,
    snapshot: Snapshot,
    /// Probes begun of each service by each monitor.
    pub begun: BTreeMap<(String, String), u64>,
    /// Results to come, by when.
    running: BTreeMap<(Time, u64), (ProbeKey, ProbeResult)>,
}

/// A probe that a server answers.
pub struct About<'a> {
    pub service: &'a str,
    pub monitor: &'a str,
    /// Which of its probes, from 1.
    pub nth: u64,
    pub now: Time,
}

/// What a server does to a probe.
#[derive(Clone, Copy)]
pub enum Answer {
    /// The right answer comes so many microseconds after what a monitor of its type measures from.
    After(u64),
    /// RST.
    Refused,
    /// Nothing, until the time is out.
    Silent,
}

impl Probed {
    /// Of these lines; nothing is probed yet.
    pub fn new(lines: &str) -> Probed {
        let snapshot = Snapshot::placed(Placement::default());
        let vserver = Plan::new("LRTM", &[]);
        let world = World::new(vserver);
        let (begun, running) = (BTreeMap::new(), BTreeMap::new());
        let mut probed = Probed { world, schedule: Schedule::new(7), snapshot, begun, running };
        probed.configure(lines);
        probed
    }

    /// Puts these lines into the place of those before.
    pub fn configure(&mut self, lines: &str) {
        let reading = read(lines.as_bytes(), "t");
        assert!(reading.refused.is_empty(), "{:?}", reading.refused);
        let config = reading.config;
        self.snapshot = self.snapshot.next(&config, &Guards::default(), self.world.now);
        let means = Means { key: &NoKey, handshakes: &AnyFile };
        let targets = targets(&Difference::whole(), &config, &Departures::default(), &self.snapshot, &means);
        let (stopped, _) = self.schedule.reconfigure(targets, self.world.now);
        self.running.retain(|_, (key, _)| !stopped.contains(key));
        let vserver = self.snapshot.vserver("v").unwrap();
        self.world.services = vserver.services().cloned().collect();
        self.world.picker = Arc::clone(&vserver.picker);
        self.world.seat = Arc::clone(&vserver.seat);
    }

    /// Lets time pass up to `until_ms`; `server` says what becomes of each probe.
    pub fn run_until(&mut self, until_ms: u64, mut server: impl FnMut(&About<'_>) -> Answer) {
        let until = Time::from_us(until_ms * 1_000);
        loop {
            let ends = self.running.first_key_value().map(|(at, _)| *at);
            let due = self.schedule.next_due();
            let next = ends.map(|(at, _)| at).into_iter().chain(due).min();
            let Some(next) = next.filter(|at| *at <= until) else { break };
            self.world.wait_until(next);
            match ends.filter(|(at, _)| *at == next).and_then(|end| self.running.remove(&end)) {
                Some((key, result)) => drop(self.schedule.finished(key, result, next)),
                None => self.begin(&mut server),
            }
        }
        self.world.wait_until(until);
    }

    fn begin(&mut self, server: &mut impl FnMut(&About<'_>) -> Answer) {
        let now = self.world.now;
        let due = self.schedule.take_due(now).next().unwrap();
        let of = |s: &&Arc<Service>| s.address() == due.about;
        let service = self.world.services.iter().find(of).unwrap().name().to_owned();
        let nth = self.begun.entry((service.clone(), due.spec.name.to_string())).or_default();
        *nth += 1;
        let answer = server(&About { service: &service, monitor: &due.spec.name, nth: *nth, now });
        let (end, result) = conduct(&due, answer, now);
        let order = self.begun.values().sum();
        self.running.insert((end, order), (due.key, result));
    }

    /// Response time of the service called `name`, in milliseconds.
    pub fn response_ms(&self, name: &str) -> Option<u64> {
        match self.service(name).response_time() {
            ResponseTime::Known(us) => {
                assert_eq!(us % 1_000, 0);
                Some(us / 1_000)
            }
            ResponseTime::Pending | ResponseTime::Never => None,
        }
    }

    pub fn service(&self, name: &str) -> &Arc<Service> {
        self.snapshot.service(name).unwrap()
    }
}

/// Carries a probe out: when it ends, and how. What comes before the measured time takes a second.
fn conduct(due: &Due, answer: Answer, now: Time) -> (Time, ProbeResult) {
    let mut probe = due.spec.probe(due.about, now, due.seed);
    let us = match answer {
        Answer::After(us) => us,
        Answer::Refused => return (now.plus_us(1_000), probe.failed(Fault::Refused)),
        Answer::Silent => {
            let end = now.plus_us(due.limit_us);
            return (end, probe.timed_out(Stage::Connect));
        }
    };
    let opened = if due.spec.kind == Kind::Tcp { now.plus_us(us) } else { now.plus_us(1_000_000) };
    match probe.opened(opened) {
        Step::Done(result) => (opened, result),
        Step::Send(mut sent) => {
            probe.sent(opened);
            let end = opened.plus_us(us);
            let is_echo = probe.channel() == Channel::Echo;
            // An echo reply is the request with another type.
            sent[0] = 0;
            let bytes = if is_echo { sent } else { b"HTTP/1.1 200 OK\r\n\r\n".to_vec() };
            let Step::Done(result) = probe.received(&bytes, end) else { panic!("{}", due.spec.name) };
            (end, result)
        }
        step => panic!("{step:?} of {}", due.spec.name),
    }
}

/// Every file of a certificate is here.
struct AnyFile;

impl Usable for AnyFile {
    fn cannot_use(&self, _: &Credentials) -> Option<Box<str>> {
        None
    }
}

struct NoKey;

impl Unseal for NoKey {
    fn open(&self, _: &str, _: &str) -> Option<Plain> {
        None
    }
}

const SITE: &str = "enable ns feature LB\nadd lb vserver v HTTP 10.1.0.1 80 -lbMethod LRTM\n\
    add service s 10.0.0.1 HTTP 80 -monThreshold 1\nadd service t 10.0.0.2 HTTP 80\n\
    bind lb vserver v s\nbind lb vserver v t\n\
    add lb monitor a TCP -LRTM ENABLED\nadd lb monitor b HTTP -LRTM ENABLED\n\
    add lb monitor c HTTP -LRTM DISABLED\nadd lb monitor r TCP -LRTM ENABLED -reverse YES\n\
    bind service s -monitorName a\nbind service s -monitorName b -weight 50\nbind service t -monitorName c\n";

/// `spec/methods.md` 4.3: over monitors that are UP and have answered, the last success of each, without their weights.
#[test]
fn the_mean_is_of_the_last_successes_of_monitors_that_are_up() {
    let mut probed = Probed::new(SITE);
    let of = |about: &About<'_>, b| match about.monitor {
        "a" => Answer::After(10_000),
        "b" => b,
        _ => Answer::After(700_000),
    };
    assert_eq!(probed.response_ms("s"), None);
    probed.run_until(30_000, |about| of(about, Answer::After(30_000)));
    assert_eq!((probed.response_ms("s"), probed.response_ms("t")), (Some(20), None));
    // One failure gives no sample; three take it DOWN and out of the mean.
    let mut failures = 0;
    while probed.service("s").response_time() == ResponseTime::Known(20_000) {
        assert!(failures < 3, "b is DOWN");
        let before = probed.begun[&("s".to_owned(), "b".to_owned())];
        let until = probed.world.now.as_us() / 1_000 + 500;
        probed.run_until(until, |about| of(about, Answer::Refused));
        failures += probed.begun[&("s".to_owned(), "b".to_owned())] - before;
    }
    assert_eq!((failures, probed.response_ms("s")), (3, Some(10)));
    assert_eq!(probed.service("s").state(), State::Up);
    let until = probed.world.now.as_us() / 1_000 + 60_000;
    probed.run_until(until, |about| of(about, Answer::After(50_000)));
    assert_eq!(probed.response_ms("s"), Some(30));
    probed.configure(&SITE.replace("bind service s -monitorName a\n", ""));
    probed.run_until(until + 60_000, |about| of(about, Answer::After(50_000)));
    assert_eq!(probed.response_ms("s"), Some(50));
}

/// `spec/methods.md` 4.7: nothing that could be measured says that a reverse monitor succeeded.
#[test]
fn a_reverse_monitor_keeps_a_service_up_and_gives_no_time() {
    let mut probed =
        Probed::new(&SITE.replace("bind service t -monitorName c", "bind service t -monitorName r"));
    probed.run_until(30_000, |about| match about.monitor {
        "r" => Answer::Refused,
        _ => Answer::After(10_000),
    });
    let t = probed.service("t");
    assert_eq!((t.state(), t.response_time()), (State::Up, ResponseTime::Never));
    assert_eq!(probed.response_ms("s"), Some(10));
}

/// `spec/methods.md` 4.2 lets a TCP monitor without LRTM leave probes out while it sees traffic. None is left out: an
/// outage that begins behind the last answer would be found later. It is found within retries x interval + resptimeout,
/// whenever it begins.
#[test]
fn an_outage_under_steady_traffic_is_found_no_later_than_by_probes() {
    let lines = "enable ns feature LB\nadd lb vserver v HTTP 10.1.0.1 80 -lbMethod LEASTCONNECTION\n\
        add service s 10.0.0.1 HTTP 80\nadd lb monitor m TCP -LRTM DISABLED\n\
        bind service s -monitorName m\nbind lb vserver v s\n";
    for outage_ms in (60_000..65_000).step_by(100) {
        let mut probed = Probed::new(lines);
        let outage = Time::from_us(outage_ms * 1_000);
        let mut found_ms = None;
        for now_ms in (0..100_000).step_by(100) {
            probed.run_until(now_ms, |about| match about.now < outage {
                true => Answer::After(1_000),
                false => Answer::Silent,
            });
            match probed.service("s").state() {
                State::Up if now_ms < outage_ms => drop(probed.world.serve()),
                State::Up => drop(probed.world.pick()),
                _ if now_ms > outage_ms => found_ms = found_ms.or(Some(now_ms)),
                _ => {}
            }
            if now_ms == 60_000 {
                // The first two are anywhere within one interval.
                let probes = probed.begun[&("s".to_owned(), "m".to_owned())];
                assert!((13..=14).contains(&probes), "{probes}");
            }
        }
        let took_ms = found_ms.unwrap() - outage_ms;
        assert!(took_ms <= 3 * 5_000 + 2_000 + 100, "{took_ms} ms after {outage_ms} ms");
    }
}
