//! The whole balancer in virtual time under one seed: engines, pickers, snapshots and monitors are the real ones; the
//! network, the clients, the services and the operator are simulated. After every step the invariants are checked.
//!
//! `SEED=n cargo test -p steelyard-core --test simulation seeds` replays a run; a failure says which.
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
#[path = "../../../steelyard/src/targets.rs"]
mod targets;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use books::Planted;
use run::Simulation;

/// Runs one seed; returns how many requests were answered.
fn run(seed: u64, events: usize, planted: Planted) -> u64 {
    let mut simulation = Simulation::new(seed, planted);
    let result = catch_unwind(AssertUnwindSafe(|| {
        let served = simulation.run(events);
        simulation.drain();
        served
    }));
    result.unwrap_or_else(|panic| {
        if planted == Planted::Nothing {
            eprintln!("the last events:\n{}", simulation.last());
        }
        eprintln!("replay: SEED={seed} cargo test -p steelyard-core --test simulation seeds");
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
    let served: u64 = (first..first + 1_000).map(|seed| run(seed, EVENTS, Planted::Nothing)).sum();
    println!("1000 seeds from {first}: {served} requests answered");
}

/// The test of the test: each of these faults is found, and by the check that is there for it.
#[test]
fn planted_faults_are_found() {
    for (planted, expected) in [
        (Planted::EndsAtHead, "what the account says"),
        (Planted::HastyHealth, "is Up"),
        (Planted::ChangedByte, "another body than the service sent"),
        (Planted::ResetAsEnd, "a cut answer passes for complete"),
        (Planted::SentTwice, "a request before it has answered"),
        (Planted::LeftOpen, "connections are left"),
    ] {
        let found = (0..20).find_map(|seed| {
            let run = catch_unwind(AssertUnwindSafe(|| run(seed, EVENTS, planted)));
            run.err().map(|panic| *panic.downcast::<String>().expect("a message"))
        });
        let found = found.unwrap_or_else(|| panic!("{planted:?} is not found"));
        assert!(found.contains(expected), "{planted:?} is found by another check: {found}");
    }
}

/// Events of one run.
const EVENTS: usize = 8_000;
