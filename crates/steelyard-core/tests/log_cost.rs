//! What the decision log costs: instructions per pick with it, less those without, counted by callgrind.
//!
//! Instructions, not time: the figure is the same on a busy machine. The workload runs in a process of its own, which is
//! this very executable asked for the one test that does nothing else.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../../../ci/program.rs"]
mod program;

use std::env;
use std::sync::Arc;

use program::program;
use steelyard_core::balance::log::{ALL_LOGS_BYTES, Budget};
use steelyard_core::balance::method;
use steelyard_core::balance::picker::Picker;
use steelyard_core::balance::setup::{Bound, Setup};
use steelyard_core::service::{Service, State};
use steelyard_core::time::Time;

#[test]
fn at_most_200_instructions_a_pick() {
    for services in [3, 64] {
        let (Some(with), Some(without)) = (instructions(services, ALL_LOGS_BYTES), instructions(services, 0))
        else {
            return;
        };
        let cost = with.saturating_sub(without) as f64 / PICKS as f64;
        println!("decision log: {cost:.1} instructions per pick and completion at {services} services");
        assert!(with > without, "a log that costs nothing was not written");
        assert!(cost <= 200.0, "{cost} instructions per pick at {services} services");
    }
}

/// Instructions of a whole run.
fn instructions(services: usize, log_bytes: usize) -> Option<u64> {
    let output = program("valgrind")?
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(env::current_exe().unwrap())
        .args(["--exact", "workload", "--test-threads=1"])
        .env(WORKLOAD, format!("{services} {log_bytes}"))
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    let line =
        text.lines().find(|line| line.contains("Collected")).expect("callgrind says what it collected");
    Some(line.rsplit(' ').next().unwrap().parse().expect("a count of instructions"))
}

/// The process under callgrind; by itself it has nothing to do.
#[test]
fn workload() {
    let Ok(given) = env::var(WORKLOAD) else { return };
    let (services, log_bytes) = given.split_once(' ').unwrap();
    let picker = picker(services.parse().unwrap(), log_bytes.parse().unwrap());
    let mut open = std::collections::VecDeque::new();
    for n in 0..PICKS {
        if open.len() > picker.services().len() / 2 {
            picker.ended(open.pop_front().unwrap());
        }
        open.push_back(picker.pick(Time::from_us(n * 10), &[]).unwrap().1);
    }
}

/// A virtual server past its start-up.
fn picker(services: usize, log_bytes: usize) -> Arc<Picker> {
    let address = "127.0.0.1:80".parse().unwrap();
    let service = |n: usize| Service::new(&n.to_string(), address, State::Up);
    let setup = Setup {
        method: method("LEASTCONNECTION").unwrap(),
        services: (0..services).map(|n| Bound::new(service(n), 1 + n as u32 % 3)).collect(),
        startup_factor: 1,
        slow_start: None,
        budget: Budget::new(log_bytes),
    };
    let picker = Picker::take_over(setup, &Arc::default(), Time::ZERO);
    for (position, bound) in picker.services().iter().enumerate() {
        bound.service.bind(Arc::from([picker.binding(position)]), 0);
    }
    picker.bound();
    while picker.startup().is_some() {
        let (_, position, _) = picker.pick(Time::ZERO, &[]).unwrap();
        picker.ended(position);
    }
    picker
}

const PICKS: u64 = 20_000;
/// "services bytes-of-log": set in the process that is measured.
const WORKLOAD: &str = "STEELYARD_LOG_COST";
