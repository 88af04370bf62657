//! The key `floor(N * 10000 / weight)` orders services exactly as the quotients N/weight do.

use std::cmp::Ordering;

use proptest::prelude::*;
use steelyard_core::balance::key;
use steelyard_core::balance::tree::NO;

/// N_a/w_a against N_b/w_b, multiplied out.
fn quotients(a: (u64, u32), b: (u64, u32)) -> Ordering {
    let cross = |n: u64, weight: u32| u128::from(n) * u128::from(weight);
    cross(a.0, b.1).cmp(&cross(b.0, a.1))
}

/// Does the key hold the whole quotient, or has it reached its largest value?
fn fits(n: u64, weight: u32) -> bool {
    u128::from(n) * 10_000 / u128::from(weight) < u128::from(NO - 1)
}

fn check(a: (u64, u32), b: (u64, u32)) {
    let (left, right) = (key(a.0, a.1), key(b.0, b.1));
    assert!(left < NO && right < NO, "{a:?} {b:?}: a service that may be chosen has a real key");
    if fits(a.0, a.1) && fits(b.0, b.1) {
        assert_eq!(left.cmp(&right), quotients(a, b), "{a:?} {b:?}");
    } else {
        let swapped = left != right && left.cmp(&right) == quotients(a, b).reverse();
        assert!(!swapped, "{a:?} {b:?}");
    }
}

/// For every pair of weights: around the places where the two quotients meet, small and large, and at the ends of u64.
#[test]
fn all_pairs_of_weights_around_every_boundary() {
    // N * 10000 leaves u64 past `wide`; the key of weight 1 reaches its largest value past `full`.
    let (wide, full) = (u64::MAX / 10_000, (NO - 1) / 10_000);
    for a in 1..=100_u32 {
        for b in 1..=100_u32 {
            let multiple = u64::from(b);
            let around = [0, 1, multiple - 1, multiple, multiple + 1, 99 * multiple + 1, 1_000_003];
            let large =
                [920_000_000_000_000 - multiple, full / 100, full - 1, full, full + 1, wide, wide + 1];
            for n_b in around.into_iter().chain(large).chain([u64::MAX / 2, u64::MAX - 1, u64::MAX]) {
                let meeting =
                    (u128::from(n_b) * u128::from(a) / u128::from(b)).min(u128::from(u64::MAX)) as u64;
                for n_a in [meeting.saturating_sub(1), meeting, meeting.saturating_add(1)] {
                    check((n_a, a), (n_b, b));
                }
            }
        }
    }
}

/// The test itself can tell: weights past 100 break the order, as the bound 1/lcm says.
#[test]
fn weights_100_and_101_would_be_out_of_order() {
    let differs = |n_a: u64, n_b: u64| key(n_a, 100).cmp(&key(n_b, 101)) != quotients((n_a, 100), (n_b, 101));
    assert!((0..20_000).any(|n| differs(n, n) || differs(n, n + n / 100) || differs(n, n + n / 100 + 1)));
}

proptest! {
    #![proptest_config(super::cases(256))]

    #[test]
    fn any_two(n_a: u64, n_b: u64, shift_a in 0..64_u32, shift_b in 0..64_u32, a in 1..=100_u32, b in 1..=100_u32) {
        check((n_a >> shift_a, a), (n_b >> shift_b, b));
    }

    #[test]
    fn grows_with_n_and_falls_with_the_weight(n: u64, shift in 0..64_u32, weight in 1..100_u32) {
        let n = n >> shift;
        prop_assert!(key(n, weight) <= key(n.saturating_add(1), weight));
        prop_assert!(key(n, weight) >= key(n, weight + 1));
    }
}
