//! What options of monitors, services and `lb parameter` do to the schedule, in virtual time.

use super::super::super::alarm::{Answer, Matter};
use super::*;

/// A service with one monitor of that timing, UP since its first probe at 0.
fn watched(timing: Timing) -> (Arc<Service>, Schedule) {
    let (s, m) = (service("s"), monitor("m", timing));
    let mut schedule = Schedule::new(1);
    schedule.reconfigure(vec![target(&s, &[&m])], at(0));
    run(&mut schedule, at(0), |_, _| good(1_000));
    (s, schedule)
}

/// The next probe, which ends as `result` after a millisecond.
fn probe(schedule: &mut Schedule, result: ProbeResult) -> (Due, Outcome) {
    let now = schedule.next_due().unwrap();
    let due = schedule.take_due(now).next().unwrap();
    let outcome = schedule.finished(due.key, result, now.plus_us(1_000));
    (due, outcome)
}

fn leaving() -> ProbeResult {
    ProbeResult { verdict: Verdict::Leaving, finding: Finding::Status(503), response_us: Some(1_000) }
}

#[test]
fn an_alarm_is_given_once_for_so_many_failures_and_may_come_after_down() {
    let (s, mut schedule) = watched(Timing { alert_retries: 5, ..Timing::default() });
    let alarms = |schedule: &mut Schedule, n: u32| -> Vec<Option<Matter>> {
        (0..n).map(|_| probe(schedule, bad()).1.alarm.map(|alarm| alarm.matter)).collect()
    };
    let fifth = Some(Matter::Failing { failures: 5, last: bad() });
    assert_eq!(alarms(&mut schedule, 3), [const { None }; 3]);
    assert_eq!(s.state(), State::Down, "by three failures");
    assert_eq!(alarms(&mut schedule, 4), [None, fifth.clone(), None, None]);
    assert!(probe(&mut schedule, good(1)).1.alarm.is_none());
    assert_eq!(alarms(&mut schedule, 6)[4], fifth, "again after a success");

    let (_, mut schedule) = watched(Timing::default());
    assert_eq!(alarms(&mut schedule, 40), [const { None }; 40], "by default there is none");
    let (_, mut schedule) = watched(Timing { alert_retries: 1, ..Timing::default() });
    let alarm = probe(&mut schedule, bad()).1.alarm.unwrap();
    assert_eq!(
        alarm.to_string(),
        "s (10.0.0.1:80): m: 1 probe failed: Failure - TCP syn sent, reset received."
    );
}

#[test]
fn an_alarm_is_given_each_time_that_answers_cross_a_part_of_the_response_timeout() {
    let (_, mut schedule) = watched(Timing { slow_percent: 80, ..Timing::default() });
    let answer = |response_us| Answer { response_us, bound_us: 1_600_000, percent: 80 };
    let mut after =
        |us| probe(&mut schedule, good(us)).1.alarm.map(|alarm| (alarm.to_string(), alarm.matter));
    assert_eq!(after(1_600_000), None);
    let (line, matter) = after(1_600_001).unwrap();
    assert_eq!(matter, Matter::Slow(answer(1_600_001)));
    assert_eq!(
        line,
        "s (10.0.0.1:80): m: 80 % of the response timeout is 1600.000 ms, the answer took 1600.001 ms, \
         which is above it"
    );
    assert_eq!(after(1_900_000), None, "it was told");
    assert_eq!(after(1_600_000).unwrap().1, Matter::InTime(answer(1_600_000)));
    assert_eq!(after(1), None);
}

#[test]
fn a_probe_may_take_what_was_learnt_and_the_deviation_until_the_monitor_is_down() {
    let (s, mut schedule) = watched(Timing { deviation_us: 500_000, ..Timing::default() });
    let limits: Vec<u64> = (0..6).map(|_| probe(&mut schedule, good(1_000)).0.limit_us).collect();
    assert_eq!(limits, [2_000_000, 2_000_000, 2_000_000, 2_000_000, 501_000, 501_000]);
    let failing: Vec<u64> = (0..3).map(|_| probe(&mut schedule, bad()).0.limit_us).collect();
    assert_eq!(failing, [501_000; 3], "a failure is no answer");
    assert_eq!(s.state(), State::Down);
    let again: Vec<u64> = (0..6).map(|_| probe(&mut schedule, good(9_000)).0.limit_us).collect();
    assert_eq!(again, [2_000_000, 2_000_000, 2_000_000, 2_000_000, 2_000_000, 509_000]);
}

#[test]
fn a_service_that_says_so_goes_out_of_service_and_comes_back_by_a_normal_answer() {
    let (s, mut schedule) = watched(Timing::default());
    let change = probe(&mut schedule, leaving()).1.transition.unwrap();
    assert_eq!((change.from, change.to, s.state()), (State::Up, State::Trofs, State::Trofs));
    let (_, last) = change.cause.unwrap();
    assert_eq!(
        last.to_string(),
        "Success - HTTP response code 503 received: the service is going out of service."
    );
    assert!(probe(&mut schedule, leaving()).1.transition.is_none());
    assert_eq!(probe(&mut schedule, good(1)).1.transition.unwrap().to, State::Up);

    probe(&mut schedule, leaving());
    let states: Vec<State> = (0..3)
        .map(|_| {
            probe(&mut schedule, bad());
            s.state()
        })
        .collect();
    assert_eq!(states, [State::Trofs, State::Trofs, State::TrofsDown], "the same retries as ever");
    probe(&mut schedule, leaving());
    assert_eq!(s.state(), State::Trofs);
    probe(&mut schedule, good(1));
    assert_eq!(s.state(), State::Up);
}

/// By threshold 3 of weights 1, 3 and 1 the second alone holds the service UP (`spec/methods.md` 4.5).
#[test]
fn an_answer_that_says_so_counts_as_up() {
    let s = service("s");
    let specs = ["a", "b", "c"].map(|name| monitor(name, Timing { retries: 1, ..Timing::default() }));
    let mut schedule = Schedule::new(1);
    let mut target = target(&s, &[]);
    target.monitors = specs.iter().map(Arc::clone).zip([1, 3, 1]).collect();
    target.threshold = 3;
    schedule.reconfigure(vec![target], at(0));
    run(&mut schedule, at(1_000), |due, _| if &*due.spec.name == "b" { leaving() } else { bad() });
    assert_eq!(s.state(), State::Trofs);
    run(&mut schedule, at(60_000), |due, _| if &*due.spec.name == "b" { bad() } else { leaving() });
    assert_eq!(s.state(), State::TrofsDown, "1 and 1 are less than 3");
}

#[test]
fn a_service_at_its_max_client_is_not_probed_and_nothing_is_judged() {
    let (s, m) = (service("s"), monitor("m", Timing::default()));
    let mut schedule = Schedule::new(1);
    let limited = |most_connections| Target { most_connections, ..target(&s, &[&m]) };
    schedule.reconfigure(vec![limited(Some(2))], at(0));
    run(&mut schedule, at(0), |_, _| good(1));
    assert!(s.permits.take(Some(2)));
    assert_eq!(run(&mut schedule, at(20_000), |_, _| good(1)).len(), 4, "there is room for one more");
    assert!(s.permits.take(Some(2)));
    assert_eq!(run(&mut schedule, at(60_000), |_, _| bad()), []);
    let machine = schedule.monitors(&s)[0].machine.clone();
    assert_eq!((machine.health(), machine.probes, s.state()), (Health::Up, 5, State::Up));
    assert_eq!(
        machine.last.unwrap().to_string(),
        "Unknown - not probed while the service has as many connections as its -maxClient."
    );
    s.permits.give_back();
    assert_eq!(run(&mut schedule, at(65_000), |_, _| good(1)).len(), 1, "at the next interval");

    assert!(s.permits.take(Some(2)));
    schedule.reconfigure(vec![limited(None)], at(65_000));
    assert_eq!(run(&mut schedule, at(75_000), |_, _| good(1)).len(), 2, "monitorSkipMaxClient");
}

/// Another host's port is not the service's connection.
#[test]
fn a_service_at_its_max_client_is_probed_where_that_is_no_connection_to_it() {
    let (s, m) = (service("s"), monitor("m", Timing::default()));
    let elsewhere = Arc::new(Spec { destination_port: Some(81), ..(*m).clone() });
    let mut schedule = Schedule::new(1);
    schedule.reconfigure(vec![Target { most_connections: Some(1), ..target(&s, &[&elsewhere]) }], at(0));
    assert!(s.permits.take(Some(1)));
    assert_eq!(run(&mut schedule, at(0), |_, _| good(1)).len(), 1);
}

#[test]
fn a_probe_leaves_from_the_address_of_its_own_profile_before_that_of_the_service() {
    let (s, m) = (service("s"), monitor("m", Timing::default()));
    s.source.profile.set(Some([10, 0, 0, 7].into()));
    for (own, from) in [
        (None, [10, 0, 0, 7].into()),
        (Some([10, 0, 0, 9].into()), [10, 0, 0, 9].into()),
        (Some("2001:db8::9".parse().unwrap()), [10, 0, 0, 7].into()),
    ] {
        let m = Arc::new(Spec { source: own, ..(*m).clone() });
        let mut schedule = Schedule::new(1);
        schedule.reconfigure(vec![target(&s, &[&m])], at(0));
        assert_eq!(schedule.take_due(at(0)).next().unwrap().from, Some(from));
    }
}

#[test]
fn how_connections_end_is_told_with_each_probe() {
    let (s, m) = (service("s"), monitor("m", Timing::default()));
    let mut schedule = Schedule::new(1);
    schedule.reconfigure(vec![Target { closing: Closing::Reset, ..target(&s, &[&m]) }], at(0));
    assert_eq!(probe(&mut schedule, good(1)).0.closing, Closing::Reset);
    schedule.reconfigure(vec![target(&s, &[&m])], at(1));
    assert_eq!(probe(&mut schedule, good(1)).0.closing, Closing::Fin);
}

/// Half a minute of outage and half a minute of health, for an hour: after each change the state is the truth no later
/// than the documented number of probes takes.
#[test]
fn m36_the_state_follows_the_truth_for_an_hour() {
    let timing = Timing { down_time_us: 5_000_000, ..Timing::default() };
    let (s, mut schedule) = watched(timing);
    let truth = |now: Time| (now.as_us() / 30_000_000).is_multiple_of(2);
    let bound_us = 3 * timing.interval_us + timing.response_timeout_us;
    let mut seen = [0u32; 2];
    run(&mut schedule, at(3_600_000), |_, now| {
        let since_change = now.as_us() % 30_000_000;
        if since_change >= bound_us {
            let up = truth(now);
            assert_eq!(s.state() == State::Up, up, "at {now:?}");
            seen[usize::from(up)] += 1;
        }
        if truth(now) { good(1) } else { bad() }
    });
    assert!(seen.iter().all(|times| *times >= 100), "{seen:?}");
}

#[test]
fn two_thousand_services_that_fail_at_once_are_down_in_time_and_up_again() {
    let m = monitor("m", Timing::default());
    let services: Vec<Arc<Service>> = (0..2_000).map(|i| service(&i.to_string())).collect();
    let mut schedule = Schedule::new(3);
    schedule.reconfigure(services.iter().map(|s| target(s, &[&m])).collect(), at(0));
    let is = |state| services.iter().filter(|s| s.state() == state).count();
    run(&mut schedule, at(19_999), |_, _| good(1));
    assert_eq!(is(State::Up), 2_000);
    run(&mut schedule, at(29_999), |_, _| bad());
    assert_eq!(is(State::Up), 2_000, "two failures are not three");
    run(&mut schedule, at(35_000), |_, _| bad());
    assert_eq!(is(State::Down), 2_000);
    run(&mut schedule, at(66_000), |_, _| good(1));
    assert_eq!(is(State::Up), 2_000);
}

/// A probe runs longer than the interval: the next one is due when it has ended, not beside it.
#[test]
fn a_probe_that_takes_longer_than_the_interval_is_never_joined_by_another() {
    let timing = Timing { interval_us: 100_000, response_timeout_us: 400_000, ..Timing::default() };
    let (_, mut schedule) = watched(timing);
    let now = schedule.next_due().unwrap();
    let due = schedule.take_due(now).next().unwrap();
    for ms in [100, 200, 350] {
        assert!(schedule.take_due(now.plus_us(ms * 1_000)).next().is_none());
    }
    let ended = now.plus_us(350_000);
    schedule.finished(due.key, good(350_000), ended);
    assert_eq!(schedule.next_due(), Some(ended), "at once: it was due long ago");
}

#[test]
fn a_transparent_probe_goes_to_its_destination_by_way_of_the_service() {
    let (s, m) = (service("s"), monitor("m", Timing::default()));
    let far = Spec { destination_ip: Some([192, 0, 2, 1].into()), ..(*m).clone() };
    let transparent = Spec { transparent: true, ..far.clone() };
    assert!(!transparent.asks_the_same(&far), "what is known of one says nothing of the other");
    let mut schedule = Schedule::new(1);
    for (spec, hop) in [(far, None), (transparent, Some(s.address().ip()))] {
        schedule.reconfigure(vec![target(&s, &[&Arc::new(spec)])], at(0));
        let now = schedule.next_due().unwrap();
        let due = schedule.take_due(now).next().unwrap();
        assert_eq!((due.to, due.hop), ("192.0.2.1:80".parse().unwrap(), hop));
        assert_eq!(schedule.next_hops(), hop.into_iter().collect());
    }
    schedule.reconfigure(vec![target(&s, &[])], at(0));
    assert_eq!(schedule.next_hops(), BTreeSet::new());
}
