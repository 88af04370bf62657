//! The 14-second window alone, against the list of everything ever recorded.

use proptest::prelude::*;
use steelyard_core::balance::window::{SLOT_US, SLOTS, Sums, Window};
use steelyard_core::time::Time;

#[derive(Clone, Debug)]
enum Step {
    Wait(u64),
    Add(usize, u64),
    Move(Vec<usize>),
}

fn step() -> impl Strategy<Value = Step> {
    let gap = prop_oneof![6 => 0..SLOT_US, 3 => 0..30 * SLOT_US, 1 => 0..400 * SLOT_US];
    prop_oneof![
        5 => gap.prop_map(Step::Wait),
        8 => (0..SERVICES, 0..5_000_u64).prop_map(|(at, amount)| Step::Add(at, amount)),
        1 => Just((0..SERVICES).collect::<Vec<_>>()).prop_shuffle().prop_map(Step::Move),
    ]
}

proptest! {
    #![proptest_config(super::cases(256))]

    #[test]
    fn sums_are_those_of_the_current_slot_and_139_before(steps in prop::collection::vec(step(), 1..200)) {
        let mut now = Time::from_us(77 * SLOT_US);
        let mut window = Window::new(SERVICES, now);
        let mut all: Vec<(u64, usize, u64)> = Vec::new();
        for step in steps {
            let mut fell = [false; SERVICES];
            let before: Vec<Sums> = (0..SERVICES).map(|at| window.sums(at)).collect();
            match step {
                Step::Wait(us) => {
                    now = now.plus_us(us);
                    window.advance(now, |at| fell[at] = true);
                }
                Step::Add(at, amount) => {
                    window.add(at, amount, 1);
                    all.push((now.as_us() / SLOT_US, at, amount));
                }
                Step::Move(to) => {
                    window = window.moved(SERVICES, |at| Some(to[at]));
                    all.iter_mut().for_each(|entry| entry.1 = to[entry.1]);
                    continue;
                }
            }
            let slot = now.as_us() / SLOT_US;
            for at in 0..SERVICES {
                let held = all.iter().filter(|(when, who, _)| *who == at && when + SLOTS as u64 > slot);
                let amounts: Vec<u64> = held.map(|(_, _, amount)| *amount).collect();
                let expected = Sums { amount: amounts.iter().sum(), samples: amounts.len() as u32 };
                prop_assert_eq!(window.sums(at), expected);
                prop_assert!(fell[at] || expected.samples >= before[at].samples, "nobody was told that {} fell", at);
            }
        }
        window.advance(now.plus_us(SLOTS as u64 * SLOT_US), |_| ());
        prop_assert!((0..SERVICES).all(|at| window.sums(at) == Sums::default()), "idle for 14 s");
    }
}

const SERVICES: usize = 4;
