//! Keys of probes: one that was stopped is nobody else's, and the order of probes is that of the configuration.

use super::*;

/// Watches that alone, and takes its first probe.
fn first_of(schedule: &mut Schedule, service: &Arc<Service>, monitor: &Arc<Spec>, now: Time) -> Due {
    schedule.reconfigure(vec![target(service, &[monitor])], now);
    let due = schedule.next_due().unwrap();
    schedule.take_due(due).next().unwrap()
}

#[test]
fn the_key_of_a_stopped_probe_finds_nothing_where_another_service_has_its_slot() {
    let (gone, new, m) = (service("gone"), service("new"), monitor("m", Timing::default()));
    let mut schedule = Schedule::new(1);
    let stale = first_of(&mut schedule, &gone, &m, at(0)).key;
    assert_eq!(schedule.reconfigure(Vec::new(), at(1)).0, [stale]);
    let running = first_of(&mut schedule, &new, &m, at(1)).key;
    assert!(running.slot == stale.slot && running != stale, "{running:?}");

    let outcome = schedule.finished(stale, good(1), at(2));
    assert!(outcome.transition.is_none() && outcome.alarm.is_none());
    assert_eq!((gone.state(), new.state(), schedule.awaited()), (State::Down, State::Down, 1));
    assert_eq!(schedule.next_due(), None, "the other still runs");
    assert!(schedule.finished(running, good(1), at(3)).transition.is_some());
    assert_eq!((gone.state(), new.state()), (State::Down, State::Up));
    assert!(schedule.finished(running, bad(), at(4)).transition.is_none(), "it has ended");
    assert_eq!(schedule.monitors(&new)[0].machine.probes, 1);
}

#[test]
fn the_key_of_a_monitor_that_asks_otherwise_by_now_finds_nothing() {
    let (s, m) = (service("s"), monitor("m", Timing::default()));
    let other = Arc::new(Spec { kind: Kind::Ping, ..(*m).clone() });
    let mut schedule = Schedule::new(1);
    let stale = first_of(&mut schedule, &s, &m, at(0)).key;
    let running = first_of(&mut schedule, &s, &other, at(1)).key;
    assert!(schedule.finished(stale, good(1), at(2)).transition.is_none());
    assert_eq!((s.state(), schedule.awaited(), schedule.next_due()), (State::Down, 1, None));
    assert!(schedule.finished(running, good(1), at(3)).transition.is_some());
    assert_eq!((s.state(), schedule.monitors(&s)[0].machine.probes), (State::Up, 1));
}

#[test]
fn probes_of_one_moment_are_taken_in_the_order_of_configuration_whoever_was_there_before() {
    let m = monitor("m", Timing::default());
    let before: Vec<Arc<Service>> = (0..1_000).map(|i| service(&i.to_string())).collect();
    let mut schedule = Schedule::new(1);
    schedule.reconfigure(before.iter().map(|s| target(s, &[&m])).collect(), at(0));
    schedule.reconfigure(Vec::new(), at(0));
    let specs: Vec<Arc<Spec>> = (0..1_000).map(|i| monitor(&format!("{i:04}"), Timing::default())).collect();
    let watched = before.iter().zip(&specs).map(|(s, m)| target(s, &[m])).collect();
    schedule.reconfigure(watched, at(0));
    let started = run(&mut schedule, at(20_000), |_, _| good(1));
    let together: Vec<_> = started.windows(2).filter(|two| two[0].0 == two[1].0).collect();
    assert!(together.len() > 500, "{}", together.len());
    assert!(together.iter().all(|two| two[0].1 < two[1].1), "{together:?}");
}
