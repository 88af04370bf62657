//! Reconfiguration while threads choose: every picker that takes over goes on with exact counts, and whoever still has
//! an older snapshot is sent on. What single steps must give is the simulation's business; here it is that no order of
//! threads breaks it.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use steelyard_core::config::guard::Guards;
use steelyard_core::service::State;
use steelyard_core::snapshot::Snapshot;
use steelyard_core::time::Time;
use steelyard_core::vserver::select::Assigned;

use crate::simulation::plan::Plan;
use crate::simulation::random::Random;
use crate::world::select;

#[test]
fn counts_survive_any_change_under_load() {
    let mut chosen = 0;
    for seed in 0..12 {
        let mut random = Random::new(seed);
        let mut plan = Plan::random(&mut random);
        let published = Mutex::new(Snapshot::default().next(&plan.config(), &Guards::default(), Time::ZERO));
        let (over, picks, steps) = (AtomicBool::new(false), AtomicU64::new(0), AtomicU64::new(0));
        std::thread::scope(|scope| {
            let _over = Over(&over);
            let workers = [0, 1].map(|thread| {
                let (published, over, picks, steps) = (&published, &over, &picks, &steps);
                let mut worker = Worker { published, picks, random: Random::new(seed * 2 + thread) };
                scope.spawn(move || {
                    let mut snapshot = published.lock().unwrap().clone();
                    let mut open = Vec::new();
                    while !over.load(Ordering::Relaxed) {
                        worker.step(&mut snapshot, &mut open);
                        steps.fetch_add(1, Ordering::Relaxed);
                    }
                })
            });
            for change in 1..=150_u64 {
                let now = Time::from_us(change * 20_000);
                plan.change(&mut random);
                let before = published.lock().unwrap().clone();
                let next = before.next(&plan.config(), &Guards::default(), now);
                *published.lock().unwrap() = next.clone();
                next.vservers().for_each(|vserver| vserver.tick(now));
                for service in next.services() {
                    let state = if random.one_in(4) { State::Down } else { State::Up };
                    service.set_state(state, now);
                }
                assert!(next.vservers().all(|vserver| vserver.picker.is_sound()));
                // Each state of affairs is worked with for a while, however few processors there are.
                while steps.load(Ordering::Relaxed) < change * 20 && !workers.iter().any(|w| w.is_finished())
                {
                    std::thread::yield_now();
                }
            }
        });
        at_rest(&published.into_inner().unwrap());
        chosen += picks.into_inner();
    }
    assert!(chosen > 5_000, "only {chosen} of at least 36,000 tries found a service");
}

/// Tells the workers to end, also when the test fails.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Takes the newest snapshot now and then, chooses, completes in any order.
struct Worker<'a> {
    published: &'a Mutex<Snapshot>,
    picks: &'a AtomicU64,
    random: Random,
}

impl Worker<'_> {
    fn step(&mut self, snapshot: &mut Snapshot, open: &mut Vec<Assigned>) {
        if self.random.one_in(50) {
            *snapshot = self.published.lock().unwrap().clone();
        }
        let vservers: Vec<_> = snapshot.vservers().collect();
        let vserver = vservers[self.random.below(vservers.len())];
        let now = Time::from_us(snapshot.generation * 20_000);
        if let Ok(assigned) = select(vserver, now, &[]) {
            self.picks.fetch_add(1, Ordering::Relaxed);
            assigned.first_byte(200, self.random.between(100, 50_000), now);
            assigned.received(self.random.between(1, 9_000), now);
            open.push(assigned);
        }
        while open.len() > 20 || !open.is_empty() && self.random.one_in(2) {
            open.swap_remove(self.random.below(open.len()));
        }
    }
}

/// Nothing is open, and every key that counts transactions says so.
fn at_rest(snapshot: &Snapshot) {
    assert!(snapshot.services().all(|service| service.active() == 0));
    for vserver in snapshot.vservers() {
        let name = &vserver.name;
        assert!(vserver.picker.is_sound(), "{name}");
        let counts = !["ROUNDROBIN", "LEASTBANDWIDTH", "LEASTPACKETS"].contains(&vserver.method);
        let idle = vserver.picker.metrics().iter().all(|metric| *metric == 0);
        assert!(!counts || idle, "{name}: {} {:?}", vserver.method, vserver.picker.metrics());
    }
}
