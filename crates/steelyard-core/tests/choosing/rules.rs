//! The rules around the methods: round robin, start-up, slow start, unknown times, states, retries.

use steelyard_core::balance::log::Reason;
use steelyard_core::balance::slow_start::{SlowStart, Unit};
use steelyard_core::balance::startup::StartupReason;
use steelyard_core::balance::{DEFAULT, METHODS};
use steelyard_core::config::LbMethod;
use steelyard_core::service::{ResponseTime, State};

use crate::world::{Plan, World};

/// A word of the configuration that named no method would silently be the default.
#[test]
fn every_method_can_be_configured_and_nothing_else() {
    let mut names = METHODS.map(|method| method.name);
    let mut words = LbMethod::WORDS.carried.to_vec();
    names.sort_unstable();
    words.sort_unstable();
    assert_eq!(words, names);
    assert_eq!(LbMethod::LeastConnection.text(), DEFAULT.name);
}

/// `spec/methods.md` 1.2.
#[test]
fn weights_2_3_4_give_1_2_3_1_2_3_2_3_3() {
    let mut world = World::new(Plan::new("ROUNDROBIN", &[2, 3, 4]));
    for round in 0..3 {
        let picks: Vec<usize> = (0..9).map(|_| world.pick()).collect();
        assert_eq!(picks, [1, 2, 3, 1, 2, 3, 2, 3, 3], "round {round}");
    }
}

/// "A service going DOWN drops out with its remaining credit; one coming UP enters with a full credit."
#[test]
fn a_service_that_comes_up_enters_the_running_round_with_all_its_turns() {
    let mut world = World::new(Plan::new("ROUNDROBIN", &[3, 3]));
    assert_eq!([world.serve(), world.serve()], [1, 2]);
    world.set_state(1, State::Down);
    assert_eq!(world.serve(), 2);
    world.set_state(1, State::Up);
    let rest: Vec<usize> = (0..4).map(|_| world.serve()).collect();
    assert_eq!(rest, [1, 2, 1, 1]);
}

/// `spec/methods.md` 2.2: the first 100 requests of a new virtual server.
#[test]
fn a_new_virtual_server_starts_with_100_requests_by_weighted_round_robin() {
    let mut world = World::new(Plan::new("LEASTCONNECTION", &[2, 3, 4]));
    assert_eq!(world.picker.startup(), Some(StartupReason::ServiceBound));
    let picks: Vec<usize> = (0..100).map(|_| world.pick()).collect();
    assert!(picks.chunks(9).all(|round| [1, 2, 3, 1, 2, 3, 2, 3, 3].starts_with(round)));
    assert_eq!(world.picker.startup(), None);
    let reasons = world.picker.decisions(200);
    assert_eq!(reasons.len(), 100);
    assert!(reasons.iter().all(|d| d.reason == Reason::StartupRoundRobin && d.rule == "ROUNDROBIN"));
    world.pick();
    assert_eq!(world.picker.decisions(1)[0].reason, Reason::Method);
}

/// `set lb parameter -startupRRFactor F`: F requests a service.
#[test]
fn a_factor_counts_per_service() {
    let mut world = World::new(Plan { startup_factor: 7, ..Plan::new("LEASTREQUEST", &[1, 1, 1]) });
    assert_eq!(startup_length(&mut world), 21);
}

/// 20 requests a second over 10 services are 200 (`spec/methods.md` 2.2), whichever trigger fires.
#[test]
fn an_existing_virtual_server_restarts_with_its_rate_times_its_services() {
    let mut world = World::settled(Plan::new("LEASTCONNECTION", &[1; 10]));
    let load = |world: &mut World| {
        for _ in 0..200 {
            world.serve();
            world.wait_ms(50);
        }
    };
    load(&mut world);
    world.set_state(4, State::Down);
    world.set_state(4, State::Up);
    assert_eq!(world.picker.startup(), Some(StartupReason::ServiceUp));
    assert_eq!(startup_length(&mut world), 200);

    load(&mut world);
    world.reconfigure(|plan| plan.method = "LEASTREQUEST");
    assert_eq!(world.picker.startup(), Some(StartupReason::MethodChanged));
    assert_eq!(startup_length(&mut world), 200);

    load(&mut world);
    world.reconfigure(|plan| plan.weights.push(1));
    assert_eq!(world.picker.startup(), Some(StartupReason::ServiceBound));
    assert_eq!(startup_length(&mut world), 220);

    world.reconfigure(|plan| plan.startup_factor = 2);
    assert_eq!(world.picker.startup(), Some(StartupReason::FactorChanged));
    assert_eq!(startup_length(&mut world), 22);
}

/// "A new trigger restarts the count with the new number", also a smaller one.
#[test]
fn a_new_trigger_restarts_the_count() {
    let mut world = World::new(Plan::new("LEASTCONNECTION", &[1; 3]));
    (0..60).for_each(|_| {
        world.serve();
    });
    world.set_state(1, State::Down);
    world.set_state(1, State::Up);
    assert_eq!(startup_length(&mut world), 100, "a new virtual server has its first requests again");
    for _ in 0..700 {
        world.serve();
        world.wait_ms(10);
    }
    world.wait_ms(1000);
    world.set_state(1, State::Down);
    world.set_state(1, State::Up);
    world.serve();
    world.reconfigure(|plan| plan.startup_factor = 1);
    assert_eq!(startup_length(&mut world), 3);
}

/// An idle virtual server's rate is 0: one request each.
#[test]
fn an_idle_virtual_server_restarts_with_one_request_each() {
    let mut world = World::settled(Plan::new("LEASTCONNECTION", &[1; 4]));
    world.wait_ms(20_000);
    world.set_state(2, State::Down);
    world.set_state(2, State::Up);
    assert_eq!(startup_length(&mut world), 4);
}

/// ROUNDROBIN has no start-up of its own.
#[test]
fn round_robin_never_starts_up() {
    let world = World::new(Plan::new("ROUNDROBIN", &[1, 1]));
    assert_eq!(world.picker.startup(), None);
}

/// Values are measured during start-up and valid when it ends.
#[test]
fn the_method_takes_over_with_values_measured_during_startup() {
    let mut world = World::new(Plan::new("LEASTRESPONSETIME", &[1, 1]));
    while world.picker.startup().is_some() {
        let chosen = world.pick();
        world.answer(chosen, if chosen == 1 { 10_000 } else { 50_000 });
        world.picker.ended(chosen - 1);
    }
    world.open(1, 1);
    world.open(2, 1);
    let picks: Vec<usize> = (0..5).map(|_| world.pick()).collect();
    // 10, 20, 30, 40 ms and then, at 50 against 50, the next after service 1.
    assert_eq!(picks, [1, 1, 1, 1, 2]);
}

/// `spec/methods.md` 3.3: nothing known, then a constant, hence least connection; the first sample counts at once.
#[test]
fn an_unknown_ttfb_is_the_mean_of_the_known_ones() {
    let mut world = World::settled(Plan::new("LEASTRESPONSETIME", &[1, 1, 1]));
    world.open(1, 2);
    world.open(2, 1);
    world.open(3, 3);
    assert_eq!(world.pick(), 2);
    let decision = &world.picker.decisions(1)[0];
    assert_eq!((decision.reason, decision.rule), (Reason::Fallback, "LEASTCONNECTION"));
    // Service 1 answers in 30 ms: the others stand at 2 and 3 times that.
    world.answer(1, 30_000);
    assert_eq!(world.picker.metrics(), [60_000, 60_000, 90_000]);
    // Within a second the stand-in is frozen; then it is the mean of 30 and 10 ms.
    world.answer(2, 10_000);
    assert_eq!(world.picker.metrics(), [60_000, 20_000, 90_000]);
    world.wait_ms(1000);
    assert_eq!(world.picker.metrics(), [60_000, 20_000, 60_000]);
}

/// `spec/methods.md` 1.5: the mean of 14 s; when there is no sample left, the last mean.
#[test]
fn the_last_mean_stays_when_the_samples_are_gone() {
    let mut world = World::settled(Plan::new("LEASTRESPONSETIME", &[1, 1]));
    world.open(1, 1);
    world.answer(1, 10_000);
    world.wait_ms(10_000);
    world.answer(1, 40_000);
    assert_eq!(world.picker.metrics()[0], 25_000);
    world.wait_ms(5_000);
    assert_eq!(world.picker.metrics()[0], 40_000);
    world.wait_ms(60_000);
    assert_eq!(world.picker.metrics()[0], 40_000);
}

/// `spec/methods.md` 3.2: round robin until every candidate's monitors have answered once.
#[test]
fn lrtm_waits_for_its_monitors_by_round_robin() {
    let mut world = World::settled(Plan::new("LRTM", &[1, 1, 1]));
    world.services[0].set_response_time(ResponseTime::Known(1_000), world.now);
    world.services[1].set_response_time(ResponseTime::Pending, world.now);
    world.services[2].set_response_time(ResponseTime::Known(90_000), world.now);
    let first = world.pick();
    let picks: Vec<usize> = (0..5).map(|_| world.pick()).collect();
    assert!((1..6).all(|n| picks[n - 1] == (first - 1 + n) % 3 + 1), "{first} {picks:?}");
    let decision = &world.picker.decisions(1)[0];
    assert_eq!((decision.reason, decision.rule), (Reason::Fallback, "ROUNDROBIN"));
    // Two open transactions each: 2, 20 and 180 ms.
    world.services[1].set_response_time(ResponseTime::Known(10_000), world.now);
    assert_eq!(world.pick(), 1);
    assert_eq!(world.picker.decisions(1)[0].reason, Reason::Method);
}

/// A candidate that can never have a response time counts with the mean of the others; with none at all least
/// connection stands in.
#[test]
fn lrtm_without_a_monitor_uses_the_mean_or_least_connection() {
    let mut world = World::settled(Plan::new("LRTM", &[1, 1, 1]));
    world.open(1, 3);
    world.open(2, 1);
    world.open(3, 2);
    assert_eq!(world.pick(), 2);
    assert_eq!(world.picker.decisions(1)[0].rule, "LEASTCONNECTION");
    world.services[0].set_response_time(ResponseTime::Known(10_000), world.now);
    world.services[2].set_response_time(ResponseTime::Known(40_000), world.now);
    world.wait_ms(1000);
    assert_eq!(world.picker.metrics(), [30_000, 50_000, 80_000]);
}

/// The cursor stays with the last selected service, or its nearest predecessor, when the ring changes.
#[test]
fn the_cursor_survives_a_reconfiguration() {
    let mut world = World::settled(Plan::new("LEASTCONNECTION", &[1, 1, 1]));
    while world.serve() != 2 {}
    world.reconfigure(|plan| plan.weights = vec![5, 5, 5]);
    while world.picker.startup().is_some() {
        world.serve();
    }
    let (last, next) = (world.serve(), world.serve());
    assert_eq!(next, last % 3 + 1);
    world.reconfigure(|plan| plan.weights.push(1));
    assert_eq!(world.picker.startup(), Some(StartupReason::ServiceBound));
}

/// `spec/methods.md` 2.3: while others carry load, a service that comes UP is capped; the method stays in use.
#[test]
fn slow_start_caps_a_service_that_comes_up() {
    let rule = SlowStart { request: 10, unit: Unit::PerSecond, increment_interval_s: 2 };
    let mut world = World::new(Plan { slow_start: Some(rule), ..Plan::new("LEASTCONNECTION", &[1, 1, 1]) });
    assert_eq!(world.picker.startup(), None, "the two mechanisms exclude each other");
    let run = |world: &mut World, seconds: usize| -> Vec<usize> {
        (0..seconds)
            .map(|_| {
                let mut hits = 0;
                for _ in 0..200 {
                    hits += usize::from(world.serve() == 3);
                    world.wait_ms(5);
                }
                hits
            })
            .collect()
    };
    world.serve();
    world.set_state(3, State::Down);
    assert_eq!(run(&mut world, 10).iter().sum::<usize>(), 0);
    world.set_state(3, State::Up);
    let ramp = run(&mut world, 8);
    // Ten more a second every two seconds; one request may stand at hand at the start.
    for (second, expected) in [10, 10, 20, 20, 30, 30, 40, 40].into_iter().enumerate() {
        assert!(ramp[second].abs_diff(expected) <= 2, "second {second} of {ramp:?}");
    }
    assert!(world.picker.decisions(100).iter().any(|d| d.reason == Reason::SlowStart));
    run(&mut world, 20);
    // The ramp is over: a third of 200 a second.
    assert!(run(&mut world, 1)[0].abs_diff(66) <= 2);
    assert!(world.picker.is_sound());
}

/// If all candidates are ramping, caps are ignored.
#[test]
fn slow_start_does_not_starve_a_ring_in_which_everybody_is_new() {
    let rule = SlowStart { request: 1, unit: Unit::PerSecond, increment_interval_s: 0 };
    let mut world = World::new(Plan { slow_start: Some(rule), ..Plan::new("LEASTCONNECTION", &[1, 1]) });
    world.serve();
    world.set_state(1, State::Down);
    world.set_state(1, State::Up);
    world.set_state(2, State::Down);
    assert!((0..50).all(|_| world.serve() == 1));
}

#[test]
fn without_a_candidate_there_is_no_choice() {
    let mut world = World::new(Plan::new("LEASTCONNECTION", &[1, 1]));
    world.set_state(1, State::Down);
    world.set_state(2, State::OutOfService);
    assert!(world.picker.pick(world.now, &[]).is_none());
    assert_eq!(world.picker.candidates(), 0);
    let empty = World::new(Plan::new("LEASTCONNECTION", &[]));
    assert!(empty.picker.pick(empty.now, &[]).is_none());
}

fn startup_length(world: &mut World) -> usize {
    let mut requests = 0;
    while world.picker.startup().is_some() {
        world.serve();
        requests += 1;
    }
    requests
}
