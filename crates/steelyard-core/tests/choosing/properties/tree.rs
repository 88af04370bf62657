//! The tournament tree against a plain list of keys: sound after any history, and the documented successor at every pick.

use proptest::prelude::*;
use steelyard_core::balance::tree::{NO, Tree};

/// The smallest key and, walking once round from the position after `last`, the first service that has it.
fn by_hand(keys: &[u64], last: usize) -> Option<usize> {
    let first = if last >= keys.len() { 0 } else { last + 1 };
    let mut found: Option<usize> = None;
    for position in (first..keys.len()).chain(0..first) {
        if keys[position] != NO && found.is_none_or(|best| keys[position] < keys[best]) {
            found = Some(position);
        }
    }
    found
}

/// Around every power of the fan-out, and in between.
fn len() -> impl Strategy<Value = usize> {
    prop_oneof![
        prop::sample::select(vec![1, 2, 7, 8, 9, 63, 64, 65, 511, 512, 513, 4095, 4096, 4097]),
        1..600_usize
    ]
}

/// Few values, so that ties are the rule; some services must not be chosen.
fn key() -> impl Strategy<Value = u64> {
    prop_oneof![6 => 3..6_u64, 1 => Just(NO), 1 => 0..NO, 1 => Just(NO - 1)]
}

/// One change of a history.
#[derive(Clone, Debug)]
enum Change {
    Set(usize, u64),
    Many(Vec<(usize, u64)>),
    /// Every key the same.
    Level(u64),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        20 => (any::<usize>(), key()).prop_map(|(at, key)| Change::Set(at, key)),
        2 => prop::collection::vec((any::<usize>(), key()), 0..40).prop_map(Change::Many),
        1 => key().prop_map(Change::Level),
    ]
}

fn apply(change: Change, tree: &mut Tree, keys: &mut [u64]) {
    let n = keys.len();
    match change {
        Change::Set(at, key) => {
            tree.set(at % n, key);
            keys[at % n] = key;
        }
        Change::Many(changes) => {
            for (at, key) in changes {
                tree.put(at % n, key);
                keys[at % n] = key;
            }
            tree.rebuild();
        }
        Change::Level(key) => {
            (0..n).for_each(|at| tree.set(at, key));
            keys.fill(key);
        }
    }
}

proptest! {
    #![proptest_config(super::cases(256))]

    #[test]
    fn is_sound_and_picks_as_by_hand_after_any_history(
        (mut keys, changes, lasts) in len().prop_flat_map(|n| (
            prop::collection::vec(key(), n),
            prop::collection::vec(change(), 1..60),
            prop::collection::vec(prop_oneof![4 => 0..n, 1 => n - 1..n + 3, 1 => Just(usize::MAX)], 8),
        ))
    ) {
        let mut tree = Tree::new(keys.iter().copied());
        for change in changes {
            apply(change, &mut tree, &mut keys);
            prop_assert!(tree.is_sound());
            prop_assert_eq!(tree.min(), keys.iter().copied().min().unwrap());
            for &last in &lasts {
                prop_assert_eq!(tree.pick(last), by_hand(&keys, last), "after {} of {}", last, keys.len());
            }
        }
        prop_assert!(keys.iter().enumerate().all(|(at, key)| tree.key(at) == *key));
    }
}

/// Every cursor of every size up to past the third level's edge, with two services tied far apart.
#[test]
fn two_that_are_tied_take_turns_at_every_size() {
    for n in [1, 2, 3, 7, 8, 9, 15, 16, 17, 63, 64, 65, 511, 512, 513, 600] {
        for other in [0, n / 2, n - 1] {
            let keys: Vec<u64> = (0..n).map(|at| if at == other || at == n / 3 { 5 } else { 9 }).collect();
            let tree = Tree::new(keys.iter().copied());
            for last in (0..n + 2).chain([usize::MAX]) {
                assert_eq!(tree.pick(last), by_hand(&keys, last), "{other} of {n} after {last}");
            }
        }
    }
}

#[test]
fn an_empty_ring_and_one_that_admits_nobody_give_nothing() {
    assert_eq!(Tree::new(std::iter::empty()).pick(0), None);
    let mut tree = Tree::new([NO; 70].into_iter());
    assert_eq!((tree.pick(69), tree.pick(usize::MAX)), (None, None));
    tree.set(69, NO - 1);
    assert_eq!((tree.pick(69), tree.pick(0)), (Some(69), Some(69)));
}
