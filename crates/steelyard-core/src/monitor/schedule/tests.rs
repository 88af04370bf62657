//! The schedule in virtual time.

use proptest::prelude::*;

use super::super::bound::CannotRun;
use super::super::health::{Health, Timing};
use super::super::{Finding, Sense, Verdict};
use super::*;
use crate::config::departure::Departure;
use crate::service::ResponseTime;

mod keys;
mod options;

pub fn service(name: &str) -> Arc<Service> {
    Service::new(name, "10.0.0.1:80".parse().unwrap(), State::Down)
}

fn monitor(name: &str, timing: Timing) -> Arc<Spec> {
    Arc::new(Spec {
        name: name.into(),
        kind: Kind::Tcp,
        timing,
        learns_response_time: true,
        sense: Sense::Direct,
        destination_ip: None,
        transparent: false,
        destination_port: None,
        tos: None,
        tls: None,
        source: None,
        enabled: true,
    })
}

pub fn target(service: &Arc<Service>, monitors: &[&Arc<Spec>]) -> Target {
    Target {
        service: Arc::clone(service),
        watch: Watched::Probed,
        threshold: 0,
        most_connections: None,
        closing: Closing::Fin,
        monitors: monitors.iter().map(|m| (Arc::clone(m), 1)).collect(),
        unknown: Arc::from([]),
    }
}

fn good(us: u64) -> ProbeResult {
    ProbeResult { verdict: Verdict::Success, finding: Finding::Connected, response_us: Some(us) }
}

fn bad() -> ProbeResult {
    ProbeResult { verdict: Verdict::Failure, finding: Finding::Refused, response_us: None }
}

fn at(ms: u64) -> Time {
    Time::from_us(ms * 1_000)
}

/// Runs until `end`; every probe takes 1 ms and ends as `answer` says. Returns when each started.
fn run(
    schedule: &mut Schedule,
    end: Time,
    mut answer: impl FnMut(&Due, Time) -> ProbeResult,
) -> Vec<(Time, Box<str>)> {
    let mut started = Vec::new();
    while let Some(now) = schedule.next_due().filter(|t| *t <= end) {
        for due in schedule.take_due(now).collect::<Vec<_>>() {
            started.push((now, due.spec.name.clone()));
            let result = answer(&due, now);
            schedule.finished(due.key, result, now.plus_us(1_000));
        }
    }
    started
}

#[test]
fn m35_a_service_takes_no_work_before_its_first_success() {
    let (s, m) = (service("s"), monitor("m", Timing::default()));
    let mut schedule = Schedule::new(1);
    schedule.reconfigure(vec![target(&s, &[&m])], at(0));
    assert_eq!((s.state(), s.response_time()), (State::Down, ResponseTime::Pending));
    let due = schedule.take_due(at(0)).next().unwrap();
    assert!(schedule.take_due(at(60_000)).next().is_none(), "a probe that runs is not due again");
    let change = schedule.finished(due.key, good(700), at(1)).transition.unwrap();
    assert_eq!((change.from, change.to), (State::Down, State::Up));
    assert_eq!((s.state(), s.response_time()), (State::Up, ResponseTime::Known(700)));
}

#[test]
fn a_dead_service_is_down_after_retries_intervals_and_probed_each_down_time() {
    let (s, m) = (service("s"), monitor("m", Timing::default()));
    let mut schedule = Schedule::new(7);
    schedule.reconfigure(vec![target(&s, &[&m])], at(0));
    run(&mut schedule, at(9_999), |_, _| good(1));
    let mut failures = Vec::new();
    run(&mut schedule, at(200_000), |_, now| {
        failures.push((now, s.state()));
        bad()
    });
    let gaps: Vec<u64> = failures.windows(2).map(|w| w[1].0.since_us(w[0].0) / 1_000).collect();
    assert_eq!(gaps[..4], [5_000, 5_000, 30_001, 30_001]);
    let states: Vec<State> = failures.iter().map(|f| f.1).collect();
    assert_eq!(states[..4], [State::Up, State::Up, State::Up, State::Down]);
}

#[test]
fn m31_the_same_address_behind_two_names_has_two_states() {
    let (a, b) = (service("a"), service("b"));
    let (ma, mb) = (monitor("ma", Timing::default()), monitor("mb", Timing::default()));
    let mut schedule = Schedule::new(1);
    schedule.reconfigure(vec![target(&a, &[&ma]), target(&b, &[&mb])], at(0));
    run(&mut schedule, at(60_000), |due, _| if &*due.spec.name == "ma" { good(1) } else { bad() });
    assert_eq!((a.state(), b.state()), (State::Up, State::Down));
}

#[test]
fn first_probes_are_paced_and_later_ones_spread() {
    let m = monitor("m", Timing::default());
    let services: Vec<Arc<Service>> = (0..4_000).map(|i| service(&i.to_string())).collect();
    let mut schedule = Schedule::new(42);
    schedule.reconfigure(services.iter().map(|s| target(s, &[&m])).collect(), at(0));
    let started = run(&mut schedule, at(20_000), |_, _| good(1));
    let first = started.iter().filter(|(t, _)| *t < at(1_000)).count();
    assert!((2_000..=2_600).contains(&first), "{first} probes in the first second");
    // 4,000 monitors each 5 s are 800 a second, evenly: no second has more than half as much again.
    for second in 8..20 {
        let n = started
            .iter()
            .filter(|(t, _)| *t >= at(second * 1_000) && *t < at(second * 1_000 + 1_000))
            .count();
        assert!((400..1_200).contains(&n), "{n} probes in second {second}");
    }
}

#[test]
fn m27_reconfiguring_keeps_history_and_never_doubles_a_checker() {
    let (s, m) = (service("s"), monitor("m", Timing::default()));
    let mut schedule = Schedule::new(1);
    schedule.reconfigure(vec![target(&s, &[&m])], at(0));
    run(&mut schedule, at(6_000), |_, _| good(1));
    for _ in 0..20 {
        let (stopped, changed) = schedule.reconfigure(vec![target(&s, &[&m])], at(6_000));
        assert!(stopped.is_empty() && changed.is_empty());
    }
    assert_eq!(s.state(), State::Up);
    let started = run(&mut schedule, at(66_000), |_, _| good(1));
    assert_eq!(started.len(), 12, "one probe each 5 s for 60 s");
}

#[test]
fn a_removed_service_stops_and_one_of_the_same_name_is_new() {
    let (s, m) = (service("s"), monitor("m", Timing::default()));
    let mut schedule = Schedule::new(1);
    schedule.reconfigure(vec![target(&s, &[&m])], at(0));
    let due = schedule.take_due(at(0)).next().unwrap();
    let again = service("s");
    let (stopped, _) = schedule.reconfigure(vec![target(&again, &[&m])], at(1));
    assert_eq!(stopped, [due.key]);
    assert!(schedule.finished(due.key, good(1), at(2)).transition.is_none());
    assert_eq!((s.state(), again.state()), (State::Down, State::Down));
}

#[test]
fn a_monitor_that_joins_an_up_service_must_fail_first() {
    let (s, m) = (service("s"), monitor("m", Timing::default()));
    let joined = monitor("joined", Timing::default());
    let mut schedule = Schedule::new(1);
    schedule.reconfigure(vec![target(&s, &[&m])], at(0));
    run(&mut schedule, at(1_000), |_, _| good(1));
    schedule.reconfigure(vec![target(&s, &[&m, &joined])], at(1_000));
    assert_eq!(s.state(), State::Up);
    run(&mut schedule, at(40_000), |due, _| if &*due.spec.name == "m" { good(1) } else { bad() });
    assert_eq!(s.state(), State::Down);
    assert_eq!(schedule.monitors(&s).len(), 2);
}

#[test]
fn what_is_not_probed_is_up_or_out_of_service() {
    let (s, m) = (service("s"), monitor("m", Timing::default()));
    let mut schedule = Schedule::new(1);
    let mut off = (*m).clone();
    off.enabled = false;
    schedule.reconfigure(vec![target(&s, &[&Arc::new(off)])], at(0));
    assert_eq!((s.state(), s.response_time()), (State::Up, ResponseTime::Never));
    for (watch, state) in [(Watched::Disabled, State::OutOfService), (Watched::TakenAsUp, State::Up)] {
        let (_, changed) = schedule.reconfigure(vec![Target { watch, ..target(&s, &[&m]) }], at(1));
        assert_eq!((s.state(), changed.len(), schedule.next_due()), (state, 1, None));
    }
    schedule.reconfigure(vec![Target { watch: Watched::Disabled, ..target(&s, &[&m]) }], at(2));
    schedule.reconfigure(vec![target(&s, &[&m])], at(3));
    assert_eq!((s.state(), schedule.next_due()), (State::Down, Some(at(3))), "enabling restores probing");
}

/// A service in service with one transaction, told to leave so at 1 s.
fn leaving(departure: Departure) -> (Arc<Service>, Arc<Spec>, Schedule) {
    let (s, m) = (service("s"), monitor("m", Timing::default()));
    let mut schedule = Schedule::new(1);
    schedule.reconfigure(vec![target(&s, &[&m])], at(0));
    run(&mut schedule, at(10), |_, _| good(1));
    s.begin();
    let (_, changed) = schedule.reconfigure(vec![leaves(&s, &m, departure)], at(1_000));
    assert_eq!((s.state(), changed.len(), changed[0].departure), (State::Trofs, 1, Some(departure)));
    (s, m, schedule)
}

fn leaves(service: &Arc<Service>, monitor: &Arc<Spec>, departure: Departure) -> Target {
    Target { watch: Watched::Leaving { departure, probed: true }, ..target(service, &[monitor]) }
}

const GRACEFUL: Departure = Departure { delay_s: None, graceful: true };
const DELAYED: Departure = Departure { delay_s: Some(30), graceful: false };
const EITHER: Departure = Departure { delay_s: Some(30), graceful: true };

#[test]
fn a_service_leaves_when_its_delay_is_over_or_gracefully_with_its_last_transaction() {
    for (departure, by_end, by_time) in
        [(GRACEFUL, true, false), (DELAYED, false, true), (EITHER, true, true)]
    {
        let (s, _, mut schedule) = leaving(departure);
        schedule.tick(at(30_999));
        assert_eq!(s.state(), State::Trofs);
        let (_, changed) = schedule.tick(at(31_000));
        assert_eq!(
            (s.state() == State::OutOfService, changed.len() == 1),
            (by_time, by_time),
            "{departure:?}"
        );

        let (s, _, mut schedule) = leaving(departure);
        s.end();
        let (stopped, changed) = schedule.tick(at(1_100));
        assert_eq!((s.state() == State::OutOfService, stopped.len() == 1), (by_end, by_end), "{departure:?}");
        assert_eq!(changed.first().and_then(|t| t.departure), by_end.then_some(departure));
        assert_eq!(schedule.next_due().is_none(), by_end, "what has left is not probed");
        assert!(schedule.tick(at(1_200)).1.is_empty());
    }
}

#[test]
fn a_monitor_that_fails_while_it_leaves_is_told() {
    let (s, _, mut schedule) = leaving(DELAYED);
    run(&mut schedule, at(20_000), |_, _| bad());
    assert_eq!(s.state(), State::TrofsDown);
    run(&mut schedule, at(60_000), |_, _| good(1));
    assert_eq!(s.state(), State::Trofs);
    schedule.tick(at(60_000));
    assert_eq!(s.state(), State::OutOfService);
}

#[test]
fn another_reading_of_the_same_line_does_not_begin_anew_and_another_line_does() {
    let (s, m, mut schedule) = leaving(DELAYED);
    schedule.reconfigure(vec![leaves(&s, &m, DELAYED)], at(20_000));
    schedule.tick(at(31_000));
    assert_eq!(s.state(), State::OutOfService);
    schedule.reconfigure(vec![leaves(&s, &m, DELAYED)], at(40_000));
    assert_eq!(s.state(), State::OutOfService, "it has left");

    let (s, m, mut schedule) = leaving(DELAYED);
    schedule.reconfigure(vec![leaves(&s, &m, Departure { delay_s: Some(20), ..DELAYED })], at(20_000));
    schedule.tick(at(39_999));
    assert_eq!(s.state(), State::Trofs);
    schedule.tick(at(40_000));
    assert_eq!(s.state(), State::OutOfService);

    let (s, m, mut schedule) = leaving(GRACEFUL);
    schedule.reconfigure(vec![target(&s, &[&m])], at(2_000));
    assert_eq!(s.state(), State::Up, "enabled again");
    let (_, changed) = schedule.tick(at(90_000));
    assert_eq!((s.state(), changed.len()), (State::Up, 0));
}

#[test]
fn what_was_not_in_service_is_out_of_it_at_once() {
    let (s, m) = (service("s"), monitor("m", Timing::default()));
    let mut schedule = Schedule::new(1);
    schedule.reconfigure(vec![leaves(&s, &m, EITHER)], at(0));
    assert_eq!((s.state(), schedule.next_due()), (State::OutOfService, None));
}

#[test]
fn a_shorter_interval_takes_effect_at_once() {
    let (s, slow) = (service("s"), monitor("m", Timing { interval_us: 3_600_000_000, ..Timing::default() }));
    let mut schedule = Schedule::new(1);
    schedule.reconfigure(vec![target(&s, &[&slow])], at(0));
    run(&mut schedule, at(10), |_, _| good(1));
    schedule.reconfigure(vec![target(&s, &[&monitor("m", Timing::default())])], at(20));
    assert!(schedule.next_due().unwrap() <= at(5_020));
    assert_eq!(s.state(), State::Up);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Services come, go, flap and are reconfigured. After every step: the state that is published is the one the
    /// machines give, each monitor has at most one probe, and nothing is forgotten: each idle one is due.
    #[test]
    fn states_always_follow_the_machines(
        seed in any::<u64>(),
        events in proptest::collection::vec((0u8..5, 0usize..4, any::<bool>(), 0u64..8_000), 1..200),
    ) {
        let services: Vec<Arc<Service>> = (0..4).map(|i| service(&i.to_string())).collect();
        let specs = [monitor("a", Timing::default()), monitor("b", Timing { retries: 1, ..Timing::default() })];
        let mut bound = [true; 4];
        let mut schedule = Schedule::new(seed);
        let mut running: Vec<Due> = Vec::new();
        let mut now = Time::ZERO;
        for (event, which, pass, wait_ms) in events {
            now = now.plus_us(wait_ms * 1_000);
            match event {
                0 => {
                    bound[which] = !bound[which];
                    let targets = services.iter().zip(bound).filter(|(_, b)| *b)
                        .map(|(s, _)| target(s, &[&specs[0], &specs[1]])).collect();
                    schedule.reconfigure(targets, now);
                }
                1..=2 => running.extend(schedule.take_due(now).take(which + 1)),
                _ => if let Some(due) = running.pop() {
                    schedule.finished(due.key, if pass { good(10) } else { bad() }, now);
                },
            }
            let mut in_flight: Vec<ProbeKey> = running.iter().map(|d| d.key).collect();
            let count = in_flight.len();
            in_flight.sort_unstable();
            in_flight.dedup();
            prop_assert_eq!(in_flight.len(), count);
            for probing in schedule.probes() {
                prop_assert_eq!(probing.started.is_none(), schedule.due.contains(&(probing.due, probing.key)));
            }
            for entry in schedule.entries.iter() {
                let machines = schedule.monitors(&entry.service);
                let all_up = machines.iter().all(|m| m.machine.health() == Health::Up);
                prop_assert_eq!(machines.len(), 2);
                prop_assert_eq!(entry.service.state() == State::Up, all_up);
            }
        }
    }
}

#[test]
fn a_monitor_that_cannot_be_run_is_shown_and_does_not_count() {
    let (mut schedule, s, m) = (Schedule::new(1), service("s"), monitor("m", Timing::default()));
    let unknown = Unknown { monitor: "l".into(), weight: 100, why: CannotRun::Type("LDAP") };
    let watched = |watch| Target { watch, unknown: Arc::from([unknown.clone()]), ..target(&s, &[&m]) };
    schedule.reconfigure(vec![watched(Watched::Probed)], at(0));
    let started = run(&mut schedule, at(0), |_, _| good(1_000));
    assert_eq!((started.len(), s.state()), (1, State::Up));
    assert_eq!(schedule.unknown(&s), std::slice::from_ref(&unknown));
    schedule.reconfigure(vec![watched(Watched::TakenAsUp)], at(1));
    assert_eq!(schedule.unknown(&s), []);
}

/// In whatever order they are configured: no virtual server is DOWN between a service that goes and one that comes.
#[test]
fn who_comes_up_does_so_before_others_go() {
    for reversed in [false, true] {
        let (old, new) = (service("old"), service("new"));
        let mut schedule = Schedule::new(1);
        let watched = |service, watch| Target { watch, ..target(service, &[]) };
        schedule.reconfigure(vec![watched(&old, Watched::TakenAsUp)], at(0));
        let mut targets = vec![watched(&old, Watched::Disabled), watched(&new, Watched::TakenAsUp)];
        if reversed {
            targets.reverse();
        }
        let (_, changed) = schedule.reconfigure(targets, at(1));
        let states: Vec<_> = changed.iter().map(|t| (t.service.name(), t.to)).collect();
        assert_eq!(states, [("new", State::Up), ("old", State::OutOfService)]);
    }
}

#[test]
fn every_probe_has_a_seed_of_its_own() {
    let of = |seed| {
        let (s, a, b) = (service("s"), monitor("a", Timing::default()), monitor("b", Timing::default()));
        let mut schedule = Schedule::new(seed);
        schedule.reconfigure(vec![target(&s, &[&a, &b])], at(0));
        let mut seeds = Vec::new();
        run(&mut schedule, at(100_000), |due, _| {
            seeds.push(due.seed);
            good(1)
        });
        seeds
    };
    let (first, again, other) = (of(1), of(1), of(2));
    assert!(first.len() >= 40, "{}", first.len());
    assert_eq!(first, again);
    let all: BTreeSet<u64> = first.iter().chain(&other).copied().collect();
    assert_eq!(all.len(), first.len() + other.len());
}
