//! Several threads at once: the log is a history that can be replayed, nobody misses what he did himself, nothing is
//! counted twice.

use std::sync::Arc;

use steelyard_core::balance::decision::Decision;
use steelyard_core::balance::log::Reason;
use steelyard_core::balance::picker::Picker;

use crate::world::{Plan, World};

/// Reads one decision by hand: keys from values, the smallest, the next of the tied.
fn replay(decision: &Decision) {
    let value = |at: usize| {
        let row = &decision.services[at];
        let by_turns = decision.rule == "ROUNDROBIN";
        let scale = if by_turns { 1 } else { 10_000 };
        let key = u128::from(row.metric) * scale / u128::from(row.weight);
        assert_eq!(u128::from(row.key), key, "{decision:?}");
        key
    };
    let n = decision.services.len();
    let least = (0..n).map(value).min().unwrap();
    let tied: Vec<usize> = (0..n).filter(|at| value(*at) == least).collect();
    assert_eq!(decision.tied, tied);
    let first = decision.last_selected.map_or(0, |last| last + 1);
    let next = (first..first + n).map(|at| at % n).find(|at| tied.contains(at));
    assert_eq!(Some(decision.selected), next, "{decision:?}");
}

/// Each thread holds some transactions and ends the oldest before each pick.
fn run(picker: &Arc<Picker>, world: &World, threads: usize, picks: usize, held: usize) {
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let mut open = std::collections::VecDeque::new();
                for _ in 0..picks {
                    if open.len() == held {
                        picker.ended(open.pop_front().unwrap());
                    }
                    open.push_back(picker.pick(world.now, &[]).unwrap().1);
                }
                open.into_iter().for_each(|position| picker.ended(position));
            });
        }
    });
}

#[test]
fn the_history_of_threads_replays_by_the_rule() {
    for (n, threads, held) in [(3, 2, 1), (3, 4, 5), (17, 3, 8), (200, 4, 40), (200, 2, 150)] {
        let weights: Vec<u32> = (0..n as u32).map(|at| if n == 17 { 1 + at * 37 % 100 } else { 1 }).collect();
        let world = World::settled(Plan::new("LEASTCONNECTION", &weights));
        let before = world.picker.decisions(1)[0].request;
        run(&world.picker, &world, threads, 3_000 / threads, held);
        let logged = world.picker.decisions(usize::MAX);
        let own: Vec<&Decision> = logged.iter().filter(|d| d.request > before).collect();
        assert_eq!(own.len(), 3_000 / threads * threads, "the whole history is in the log");
        for (decision, request) in own.iter().zip(before + 1..) {
            assert_eq!((decision.request, decision.reason), (request, Reason::Method));
            replay(decision);
        }
        assert!(own.windows(2).all(|pair| pair[1].last_selected == Some(pair[0].selected)));
        assert!(world.services.iter().all(|service| service.active() == 0));
        assert!(world.picker.is_sound() && world.picker.metrics().iter().all(|n| *n == 0));
    }
}

/// Picks minus completions is what is active, at every point of rest.
#[test]
fn active_is_picks_minus_completions() {
    let world = World::settled(Plan::new("LEASTREQUEST", &[1, 2, 3, 4, 5]));
    for round in 1..=20 {
        let kept: usize = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..3)
                .map(|thread| {
                    let world = &world;
                    scope.spawn(move || {
                        (0..200 + thread)
                            .map(|n| {
                                let position = world.picker.pick(world.now, &[]).unwrap().1;
                                if n % 4 > 0 {
                                    world.picker.ended(position);
                                }
                                usize::from(n % 4 == 0)
                            })
                            .sum::<usize>()
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        let active: Vec<u64> = world.services.iter().map(|service| service.active()).collect();
        assert_eq!(active.iter().sum::<u64>(), round * kept as u64);
        assert!(world.picker.is_sound());
        world.picker.tick(world.now);
        assert_eq!(world.picker.metrics(), active);
    }
}

/// Two services, two threads, each holding at most one transaction: with its own completion in view, a thread always
/// finds a service at 0, or both at 1 while the other thread is between its pick and its end.
#[test]
fn a_thread_sees_its_own_completion_at_its_next_pick() {
    let world = World::settled(Plan::new("LEASTCONNECTION", &[1, 1]));
    run(&world.picker, &world, 2, 2_000, 1);
    for decision in world.picker.decisions(usize::MAX) {
        if decision.reason == Reason::Method {
            let open: u64 = decision.services.iter().map(|row| row.metric).sum();
            assert!(open <= 1, "only the other thread's transaction can be open: {decision:?}");
        }
    }
}
