//! Equal values are served in strict turn, idle services whatever their weights, and a place in the ring is kept.

use proptest::prelude::*;
use steelyard_core::service::State;

use crate::world::{Plan, World};

const METHODS: [&str; 6] =
    ["LEASTCONNECTION", "LEASTREQUEST", "LEASTRESPONSETIME", "LRTM", "LEASTBANDWIDTH", "LEASTPACKETS"];

fn weights() -> impl Strategy<Value = Vec<u32>> {
    prop::collection::vec(1..=100_u32, 1..40)
}

proptest! {
    #![proptest_config(super::cases(64))]

    #[test]
    fn idle_services_are_served_in_turn_whatever_their_weights(weights in weights(), method in prop::sample::select(&METHODS[..])) {
        let n = weights.len();
        let mut world = World::settled(Plan::new(method, &weights));
        let first = world.serve();
        for request in 1..3 * n {
            prop_assert_eq!(world.serve(), (first - 1 + request) % n + 1);
        }
    }

    #[test]
    fn equal_load_is_dealt_in_turn(n in 1..40_usize, weight in 1..=100_u32, method in prop::sample::select(&METHODS[..4])) {
        let mut world = World::settled(Plan::new(method, &vec![weight; n]));
        let first = world.pick();
        for request in 1..4 * n {
            prop_assert_eq!(world.pick(), (first - 1 + request) % n + 1);
        }
    }

    /// Weighted round robin by credits, to the letter: walk the ring from the cursor to the next service that has credit
    /// left; when nobody has any, everybody gets his weight (`spec/methods.md` 1.2).
    #[test]
    fn rounds_are_dealt_by_credits(weights in prop::collection::vec(1..=12_u32, 1..12)) {
        let mut world = World::new(Plan::new("ROUNDROBIN", &weights));
        let (mut credits, mut last) = (weights.clone(), weights.len() - 1);
        for _ in 0..4 * weights.iter().sum::<u32>() {
            if credits.iter().all(|credit| *credit == 0) {
                credits.clone_from(&weights);
            }
            let walk = (last + 1..weights.len()).chain(0..=last);
            last = walk.into_iter().find(|at| credits[*at] > 0).unwrap();
            credits[last] -= 1;
            prop_assert_eq!(world.serve(), last + 1);
        }
    }

    #[test]
    fn who_comes_back_has_its_old_place(n in 2..30_usize, gone in any::<prop::sample::Index>(), method in prop::sample::select(&METHODS[..])) {
        let gone = gone.index(n) + 1;
        let mut world = World::settled(Plan::new(method, &vec![1; n]));
        world.set_state(gone, State::Down);
        for _ in 0..2 * n {
            prop_assert_ne!(world.serve(), gone);
        }
        world.set_state(gone, State::Up);
        while world.picker.startup().is_some() {
            world.serve();
        }
        let first = world.serve();
        for request in 1..2 * n {
            prop_assert_eq!(world.serve(), (first - 1 + request) % n + 1);
        }
    }
}
