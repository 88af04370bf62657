//! The whole balancer in virtual time under one seed: engines, pickers, snapshots and monitors are the real ones; the
//! network, the clients, the services and the operator are simulated. After every step the invariants are checked.
//!
//! `SEED=n cargo test -p steelyard-core --test simulation seeds` replays a run; a failure says which. `TRACE=1` prints
//! all that happens.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod answers;
mod books;
mod clients;
mod health;
mod judge;
#[path = "../proxy/message.rs"]
#[allow(dead_code)]
mod message;
mod network;
mod plan;
mod probes;
#[path = "../choosing/simulation/random.rs"]
mod random;
mod requests;
mod run;
mod schedule;
mod services;
mod sockets;
mod streams;
mod surge;
#[path = "../../../steelyard/src/targets.rs"]
mod targets;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use books::Planted;
use run::Simulation;
use schedule::Notes;

/// Runs one seed; returns how many requests were answered. One that fails is run once more to tell how it came to that.
fn run(seed: u64, events: usize, planted: Planted) -> u64 {
    let print = std::env::var_os("TRACE").is_some();
    let mut simulation = Simulation::new(seed, planted, if print { Notes::Printed } else { Notes::Off });
    let result = catch_unwind(AssertUnwindSafe(|| simulation.whole(events)));
    result.unwrap_or_else(|panic| {
        if planted == Planted::Nothing {
            let mut again = Simulation::new(seed, planted, Notes::Kept);
            drop(catch_unwind(AssertUnwindSafe(|| again.whole(events))));
            eprintln!("the last events:\n{}", again.last());
            let name = if events == EVENTS { "seeds" } else { "soak_one_seed -- --ignored" };
            eprintln!("replay: SEED={seed} cargo test -p steelyard-core --test simulation {name}");
        }
        resume_unwind(panic)
    })
}

#[test]
fn seeds() {
    let given = std::env::var("SEED").ok().map(|seed| seed.parse().expect("SEED is a number"));
    let seeds = given.map_or(0..64, |seed: u64| seed..seed + 1);
    let served: u64 = seeds.map(|seed| run(seed, EVENTS, Planted::Nothing)).sum();
    assert!(given.is_some() || served > 1_000, "only {served} requests were answered");
}

/// `make soak`: other seeds. `SEED` says where to begin.
#[test]
#[ignore = "long"]
fn soak_more_seeds() {
    let first = std::env::var("SEED").map_or(1_000, |seed| seed.parse().expect("SEED is a number"));
    let served: u64 = (first..first + 1_000).map(|seed| run(seed, MORE_EVENTS, Planted::Nothing)).sum();
    println!("1000 seeds from {first}: {served} requests answered");
}

/// Replays one seed of `soak_more_seeds`.
#[test]
#[ignore = "for one who looks for the cause of a failure"]
fn soak_one_seed() {
    let seed = std::env::var("SEED").map_or(1_000, |seed| seed.parse().expect("SEED is a number"));
    run(seed, MORE_EVENTS, Planted::Nothing);
}

/// The test of the test: each of these faults is found, and by the check that is there for it.
#[test]
fn planted_faults_are_found() {
    for (planted, expected) in [
        (Planted::EndsAtHead, &["what the account says"][..]),
        (Planted::HastyHealth, &["is Up"]),
        (Planted::ChangedByte, &["another body than the service sent"]),
        (Planted::ResetAsEnd, &["a cut answer passes for complete"]),
        (Planted::SentTwice, &["a request before it has answered", "was acted on 2 times"]),
        (Planted::LeftOpen, &["connections are left"]),
    ] {
        let found = (0..20).find_map(|seed| {
            let run = catch_unwind(AssertUnwindSafe(|| run(seed, EVENTS, planted)));
            run.err().map(|panic| *panic.downcast::<String>().expect("a message"))
        });
        let found = found.unwrap_or_else(|| panic!("{planted:?} is not found"));
        let is_meant = expected.iter().any(|check| found.contains(check));
        assert!(is_meant, "{planted:?} is found by another check: {found}");
    }
}

/// Events of one run; a long one comes to more reconfigurations.
const EVENTS: usize = 3_500;
const MORE_EVENTS: usize = 12_000;
