//! Public faults of other balancers in choosing (class 1-selection), in virtual time, each by its id.

use std::sync::Arc;

use steelyard_core::balance::log::Reason;
use steelyard_core::service::State;
use steelyard_core::vserver::{Protocol, VirtualServer};

use crate::world::{Plan, World, select};

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
        protocol: Protocol::Http,
        method: picker.method().name,
        client_timeout_s: 180,
        enabled: true,
        closed: Box::default(),
        by_state: Default::default(),
        live: Arc::default(),
        picker,
        seat,
    };
    for (status, samples) in [(429, 0), (503, 0), (204, 0), (304, 0), (404, 0), (200, 1), (206, 1), (500, 1)]
    {
        let assigned = select(&vserver, now, &[]).unwrap();
        assigned.first_byte(status, 5, now);
        drop(assigned);
        let count = service.traffic.ttfb_count.load(std::sync::atomic::Ordering::Relaxed);
        assert_eq!(count, samples, "after a {status}");
        assert_eq!(service.active(), 0);
    }
}

/// Case S28 and the kind of it: a retry leaves out who was tried, and the ring goes on from who was chosen.
#[test]
fn s28_a_retry_leaves_out_who_was_tried() {
    let mut world = World::settled(Plan::new("LEASTCONNECTION", &[1, 1, 1]));
    world.open(2, 5);
    world.open(3, 9);
    let tried = [Arc::clone(&world.services[0])];
    let (picker, position, _) = world.picker.pick(world.now, &tried).unwrap();
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

/// Case S33: after a spike from many threads everything is as before: nothing is left active, marked or mis-keyed, and
/// the ring goes on in turn. That completions never wait is the model checker's to show.
#[test]
fn s33_a_spike_of_many_threads_leaves_nothing_behind() {
    let mut world = World::settled(Plan::new("LEASTCONNECTION", &[1; 64]));
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                let mut open = std::collections::VecDeque::new();
                for _ in 0..2000 {
                    open.push_back(world.picker.pick(world.now, &[]).expect("a candidate").1);
                    if open.len() > 8 {
                        open.pop_front().into_iter().for_each(|position| world.picker.ended(position));
                    }
                }
                open.into_iter().for_each(|position| world.picker.ended(position));
            });
        }
    });
    assert!(world.services.iter().all(|s| s.active() == 0));
    assert!(world.picker.is_sound());
    assert!(world.picker.metrics().iter().all(|n| *n == 0));
    let first = world.serve();
    assert!((1..128).all(|n| world.serve() == (first - 1 + n) % 64 + 1));
}
