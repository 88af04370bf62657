//! What choosing costs: nanoseconds per completion and pick, with service state and decision log, as the proxy does it.
//!
//! `cargo bench -p steelyard-core`. Each figure is the best of many 1 ms windows of wall time, which filters out what
//! else the machine does; targets are for one thread.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, clippy::print_stdout)]

use std::hint::black_box;
use std::sync::{Arc, Barrier};
use std::time::Instant;

use steelyard_core::balance::log::{ALL_LOGS_BYTES, Budget};
use steelyard_core::balance::method;
use steelyard_core::balance::picker::Picker;
use steelyard_core::balance::setup::{Bound, Setup};
use steelyard_core::service::hot::Lines;
use steelyard_core::service::waker::{Caller, Waker};
use steelyard_core::service::{Service, State};
use steelyard_core::time::Time;
use steelyard_core::vserver::select::{Assigned, Selection};
use steelyard_core::vserver::{Protocol, VirtualServer};

/// What the keys are like.
#[derive(Clone, Copy, PartialEq)]
enum Keys {
    /// Weight 1, active transactions alone; half of the services are idle and tied.
    Ties,
    /// Weights 1 to 100, times to first byte of 1 ms to 1 s: hardly any two alike.
    Distinct,
    /// The same, and each completion brings a time to first byte.
    Sampled,
}

fn main() {
    println!("ns per completion and pick, best of {WINDOWS} windows of 1 ms\n");
    println!(
        "{:>9}  {:<9} {:>8} {:>7}  {:<7} {:>9}",
        "services", "keys", "1 thread", "target", "", "2 threads"
    );
    // `cargo test --benches` only asks whether it works.
    let sizes = if std::env::args().any(|a| a == "--bench") { &SIZES[..] } else { &SIZES[..2] };
    let mut missed = 0;
    for &(n, target) in sizes {
        for (keys, name) in [(Keys::Ties, "ties"), (Keys::Distinct, "distinct"), (Keys::Sampled, "sampled")] {
            let vserver = virtual_server(n, keys);
            let alone = measure(&vserver, keys, 1);
            let shared = measure(&vserver, keys, 2);
            let target = target.filter(|_| keys != Keys::Sampled);
            let verdict = target.map_or("", |target| if alone <= target { "reached" } else { "missed" });
            missed += usize::from(verdict == "missed");
            let target = target.map_or(String::new(), |target| format!("{target:.0}"));
            println!("{n:>9}  {name:<9} {alone:>8.1} {target:>7}  {verdict:<7} {shared:>9.1}");
        }
    }
    println!("\n{missed} targets missed");
}

/// A virtual server past its start-up, with services that are all UP.
fn virtual_server(n: usize, keys: Keys) -> VirtualServer {
    let address = "127.0.0.1:80".parse().unwrap();
    let (mut random, mut lines) = (Random(n as u64), Lines::default());
    let services: Vec<Bound> = (0..n)
        .map(|number| {
            let weight = if keys == Keys::Ties { 1 } else { 1 + random.below(100) as u32 };
            let service = Service::among(&mut lines, &format!("s{number}"), address, Time::ZERO);
            service.set_state(State::Up, Time::ZERO);
            Bound::new(service, weight)
        })
        .collect();
    let name = if keys == Keys::Ties { "LEASTCONNECTION" } else { "LEASTRESPONSETIME" };
    let (budget, seat) = (Budget::new(ALL_LOGS_BYTES), Arc::default());
    let setup =
        Setup { method: method(name).unwrap(), services, startup_factor: 0, slow_start: None, budget };
    let picker = Picker::take_over(setup, &seat, Time::ZERO);
    for (position, bound) in picker.services().iter().enumerate() {
        bound.service.bind(Arc::from([picker.binding(position)]), 0);
    }
    picker.bound();
    if keys != Keys::Ties {
        (0..n).for_each(|position| picker.ttfb(position, 1_000 + random.below(999_000), Time::ZERO));
    }
    while picker.startup().is_some() {
        let (_, position, _) = picker.pick(Time::ZERO, &[]).unwrap();
        picker.ended(position);
    }
    VirtualServer {
        protocol: Protocol::Http,
        name: "bench".into(),
        address: None,
        method: name,
        client_timeout_s: 180,
        enabled: true,
        closed: Box::default(),
        by_state: Default::default(),
        live: Arc::default(),
        picker,
        seat,
    }
}

/// The best window of any of the threads that work at once, in nanoseconds per operation of one thread.
fn measure(vserver: &VirtualServer, keys: Keys, threads: usize) -> f64 {
    let n = vserver.picker.services().len();
    // Half of the services busy, or each about once.
    let open = (if keys == Keys::Ties { n / 2 } else { n }).max(threads) / threads;
    let together = Barrier::new(threads);
    let run = |seed| {
        let mut load = Load::new(vserver, keys, open, seed);
        together.wait();
        load.best_window()
    };
    std::thread::scope(|scope| {
        let run = &run;
        let running: Vec<_> = (0..threads as u64).map(|seed| scope.spawn(move || run(seed))).collect();
        running.into_iter().map(|thread| thread.join().unwrap()).fold(f64::INFINITY, f64::min)
    })
}

/// One thread's transactions.
struct Load<'a> {
    vserver: &'a VirtualServer,
    keys: Keys,
    waker: Arc<dyn Waker>,
    open: Vec<Option<Assigned>>,
    random: Random,
    began: Instant,
}

impl<'a> Load<'a> {
    fn new(vserver: &'a VirtualServer, keys: Keys, open: usize, seed: u64) -> Load<'a> {
        let waker: Arc<dyn Waker> = Arc::new(Nobody);
        let open = (0..open).map(|_| select(vserver, Time::ZERO, &waker)).collect();
        Load { vserver, keys, waker, random: Random(seed + 1), open, began: Instant::now() }
    }

    fn best_window(&mut self) -> f64 {
        let mut operations = 500;
        let mut best = f64::INFINITY;
        for window in 0..WINDOWS + WARM_UP {
            let began = Instant::now();
            let now = Time::from_us(self.began.elapsed().as_micros() as u64);
            (0..operations).for_each(|_| self.complete_and_pick(now));
            let spent = began.elapsed().as_nanos() as f64;
            if window >= WARM_UP {
                best = best.min(spent / operations as f64);
            }
            // The next window is to last 1 ms.
            operations = (operations as f64 * 1e6 / spent.max(1.0)).clamp(50.0, 1e6) as usize;
        }
        best
    }

    #[inline]
    fn complete_and_pick(&mut self, now: Time) {
        let ends = self.random.below(self.open.len() as u64);
        let open = &mut self.open[ends as usize];
        if let Some(assigned) = open.take()
            && self.keys == Keys::Sampled
        {
            assigned.first_byte(200, 1_000 + self.random.below(1_000_000), now);
        }
        *open = black_box(select(self.vserver, now, &self.waker));
    }
}

/// As a worker asks; nobody ever waits here.
#[inline]
fn select(vserver: &VirtualServer, now: Time, waker: &Arc<dyn Waker>) -> Option<Assigned> {
    match vserver.select(now, &[], Caller { waker, id: 0 }) {
        Ok(Selection::Taken(assigned)) => Some(assigned),
        _ => None,
    }
}

struct Nobody;

impl Waker for Nobody {
    fn wake(&self, _: u64) {}
}

/// splitmix64.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        // Scaled instead of divided: it is part of what is measured.
        ((u128::from(mixed ^ mixed >> 31) * u128::from(end)) >> 64) as u64
    }
}

const SIZES: [(usize, Option<f64>); 7] = [
    (3, Some(90.0)),
    (16, Some(90.0)),
    (100, None),
    (1_000, Some(160.0)),
    (10_000, None),
    (100_000, Some(300.0)),
    (1_000_000, Some(1_200.0)),
];
const WINDOWS: usize = 200;
const WARM_UP: usize = 20;
