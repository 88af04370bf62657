//! The rules around the methods: round robin, start-up, slow start, unknown times, states, retries.

use std::sync::Arc;

use steelyard_core::balance::log::Reason;
use steelyard_core::balance::slow_start::{SlowStart, Unit};
use steelyard_core::balance::startup::StartupReason;
use steelyard_core::service::{ResponseTime, State};
use steelyard_core::vserver::VirtualServer;

use crate::world::{Plan, World};

/// `spec/methods.md` 1.2.
#[test]
fn weights_2_3_4_give_1_2_3_1_2_3_2_3_3() {
    let mut world = World::new(Plan::new("ROUNDROBIN", &[2, 3, 4]));
    for round in 0..3 {
        let picks: Vec<usize> = (0..9).map(|_| world.pick()).collect();
        assert_eq!(picks, [1, 2, 3, 1, 2, 3, 2, 3, 3], "round {round}");
    }
}

/// Case S23.
#[test]
fn s23_two_services_of_weight_1_alternate() {
    let mut world = World::new(Plan::new("ROUNDROBIN", &[1, 1]));
    let picks: Vec<usize> = (0..100).map(|_| world.serve()).collect();
    assert!(picks.chunks(2).all(|pair| pair == [1, 2]), "{picks:?}");
}

/// Case S20: the weight survives DOWN and UP.
#[test]
fn s20_a_recovered_service_keeps_its_weight() {
    let mut world = World::new(Plan::new("ROUNDROBIN", &[10, 1]));
    world.set_state(1, State::Down);
    assert!((0..50).all(|_| world.serve() == 2));
    world.set_state(1, State::Up);
    let picks: Vec<usize> = (0..110).map(|_| world.serve()).collect();
    assert_eq!(picks.iter().filter(|p| **p == 1).count(), 100);
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

/// Case S09: idle services are taken in turn whatever their weights.
#[test]
fn s09_an_idle_ring_is_served_in_turn_by_every_method() {
    for method in ["LEASTCONNECTION", "LEASTREQUEST", "LEASTRESPONSETIME", "LRTM"] {
        let mut world = World::settled(Plan::new(method, &[1, 7, 100, 3, 50]));
        let first = world.serve();
        for n in 1..500 {
            assert_eq!(world.serve(), (first - 1 + n) % 5 + 1, "{method}, request {n}");
        }
    }
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

/// An idle virtual server's rate is 0: one request each.
#[test]
fn an_idle_virtual_server_restarts_with_one_request_each() {
    let mut world = World::settled(Plan::new("LEASTCONNECTION", &[1; 4]));
    world.wait_ms(20_000);
    world.set_state(2, State::Down);
    world.set_state(2, State::Up);
    assert_eq!(startup_length(&mut world), 4);
}

/// Case S25: a service that flaps every 20 s leaves the configured method in force in between.
#[test]
fn s25_a_flapping_service_does_not_hold_the_method_back_for_ever() {
    let mut world = World::settled(Plan::new("LEASTCONNECTION", &[1; 10]));
    let mut by_method = 0;
    for flap in 0..4 {
        for _ in 0..2000 {
            by_method += usize::from(world.picker.startup().is_none());
            world.serve();
            world.wait_ms(10);
        }
        world.set_state(5, if flap % 2 == 0 { State::Down } else { State::Up });
    }
    // Only DOWN -> UP triggers; 100 requests a second times 10 services are 1000 of its 2000 requests.
    assert_eq!(by_method, 7000);
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

/// Case S04: three slow answers are out of the mean after 14 s.
#[test]
fn s04_a_few_slow_answers_do_not_shut_a_service_out() {
    let mut world = World::settled(Plan::new("LEASTRESPONSETIME", &[1; 5]));
    (1..=5).for_each(|n| world.answer(n, if n == 2 { 2_000_000 } else { 50_000 }));
    let share = |world: &mut World, requests: usize| {
        let mut open = std::collections::VecDeque::new();
        let mut hits = 0;
        for _ in 0..requests {
            let chosen = world.pick();
            hits += usize::from(chosen == 2);
            open.push_back(chosen);
            world.wait_ms(5);
            if open.len() == 10 {
                let done = open.pop_front().unwrap();
                world.answer(done, 50_000);
                world.picker.ended(done - 1);
            }
        }
        hits * 100 / requests
    };
    share(&mut world, 3000);
    let later = share(&mut world, 1500);
    assert!((15..=25).contains(&later), "{later} % after the slow answers have left the window");
}

/// Cases S01 and S03: neither a failed attempt nor an answer other than 200 is a sample.
#[test]
fn s03_only_status_200_is_a_sample() {
    let World { now, services, picker, seat, .. } = World::new(Plan::new("LEASTRESPONSETIME", &[1]));
    let service = &services[0];
    let vserver = VirtualServer {
        name: "v".into(),
        address: None,
        method: picker.method().name,
        client_timeout_s: 180,
        enabled: true,
        feature_enabled: true,
        live: Arc::default(),
        picker,
        seat,
    };
    for (status, samples) in [(429, 0), (503, 0), (204, 0), (304, 0), (404, 0), (200, 1), (206, 1), (500, 1)]
    {
        let assigned = vserver.select(now, &[]).unwrap();
        assigned.first_byte(status, 5, now);
        drop(assigned);
        let count = service.traffic.ttfb_count.load(std::sync::atomic::Ordering::Relaxed);
        assert_eq!(count, samples, "after a {status}");
        assert_eq!(service.active(), 0);
    }
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

/// Case S28 and the kind of it: a retry leaves out who was tried, and the ring goes on from who was chosen.
#[test]
fn s28_a_retry_leaves_out_who_was_tried() {
    let mut world = World::settled(Plan::new("LEASTCONNECTION", &[1, 1, 1]));
    world.open(2, 5);
    world.open(3, 9);
    let tried = [Arc::clone(&world.services[0])];
    let (picker, position) = world.picker.pick(world.now, &tried).unwrap();
    assert_eq!(position, 1);
    picker.ended(position);
    let decision = &world.picker.decisions(1)[0];
    assert_eq!(decision.reason, Reason::Retry);
    assert_eq!(decision.services[0].why_not, Some("tried for this request"));
    let all: Vec<_> = world.services.clone();
    assert!(world.picker.pick(world.now, &all).is_none());
    assert_eq!(world.pick(), 1, "who was tried for another request is a candidate again");
    assert!(world.picker.is_sound());
}

/// Case S08: the exact minimum, not a sample.
#[test]
fn s08_two_services_one_busy() {
    let mut world = World::settled(Plan::new("LEASTREQUEST", &[1, 1]));
    world.open(1, 10);
    assert!((0..100).all(|_| world.serve() == 2));
}

/// Case S19: one formula, active x 10000 / weight.
#[test]
fn s19_weights_10_and_1_split_open_sessions_10_to_1() {
    let mut world = World::settled(Plan::new("LEASTCONNECTION", &[10, 1]));
    for open in 1..=44 {
        world.pick();
        let [heavy, light] = [world.services[0].active(), world.services[1].active()];
        if open >= 22 {
            assert!(heavy.abs_diff(light * 10) <= 10, "{heavy}:{light} of {open}");
        }
    }
    assert_eq!([world.services[0].active(), world.services[1].active()], [40, 4]);
}

/// Case S26: the documentation's example, plain and weighted, by requests that never end.
#[test]
fn s26_the_documented_order() {
    for (weights, expected) in [([1, 1, 1], [3, 3, 3, 1, 3, 2]), ([2, 3, 4], [3, 3, 3, 3, 3, 2])] {
        let mut world = World::settled(Plan::new("LEASTRESPONSETIME", &weights));
        for (number, active, ttfb_s) in [(1, 3, 2), (2, 7, 1), (3, 0, 2)] {
            world.open(number, active);
            world.answer(number, ttfb_s * 1_000_000);
        }
        let picks: Vec<usize> = (0..6).map(|_| world.pick()).collect();
        assert_eq!(picks, expected, "weights {weights:?}");
    }
}

/// Case S31: choosing and counting are one step.
#[test]
fn s31_a_burst_on_an_idle_ring_is_spread() {
    let world = World::settled(Plan::new("LEASTCONNECTION", &[1; 4]));
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                for _ in 0..4 {
                    world.picker.pick(world.now, &[]).unwrap();
                }
            });
        }
    });
    assert!(world.services.iter().all(|s| s.active() == 16));
}

/// Case S16: a service removed with open transactions and added again is a new object that never sees their ends.
#[test]
fn s16_a_service_that_is_removed_keeps_its_open_transactions_to_itself() {
    let mut world = World::settled(Plan::new("LEASTCONNECTION", &[1, 1]));
    let old = world.picker.clone();
    let open: Vec<usize> = (0..6).map(|_| world.pick()).collect();
    let gone = world.services.remove(0);
    world.plan.weights.remove(0);
    world.reconfigure(|_| ());
    gone.bind(Arc::from([]), 0);
    world.reconfigure(|plan| plan.weights.push(1));
    assert_eq!(world.services[1].active(), 0);
    open.iter().for_each(|chosen| old.ended(chosen - 1));
    assert!(world.services.iter().all(|s| s.active() == 0) && gone.active() == 0);
    assert!(world.picker.is_sound());
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

/// Case S05: a service bound mid-run gets no flood.
#[test]
fn s05_a_service_bound_under_load_gets_at_most_twice_its_share() {
    let mut world = World::settled(Plan::new("LEASTRESPONSETIME", &[1, 1]));
    let run = |world: &mut World, requests: usize| -> usize {
        let mut open = std::collections::VecDeque::new();
        let mut hits = 0;
        for _ in 0..requests {
            let chosen = world.pick();
            hits += usize::from(chosen == 3);
            open.push_back(chosen);
            world.wait_ms(5);
            if open.len() > 8 {
                let done = open.pop_front().unwrap();
                world.answer(done, [50_000, 30_000, 40_000][done - 1]);
                world.picker.ended(done - 1);
            }
        }
        open.into_iter().for_each(|done| world.picker.ended(done - 1));
        hits
    };
    run(&mut world, 3000);
    world.reconfigure(|plan| plan.weights.push(1));
    for second in 0..10 {
        let hits = run(&mut world, 200);
        assert!(hits <= 200 * 2 / 3, "{hits} of 200 in second {second}");
    }
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
