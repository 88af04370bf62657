//! `maxClient` as a decision sees it: a full service is no candidate, however many ask at once and by whatever method.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use steelyard_core::balance::METHODS;
use steelyard_core::balance::assigned::Assigned;
use steelyard_core::balance::log::{ALL_LOGS_BYTES, Budget};
use steelyard_core::balance::picker::{Choice, Picker};
use steelyard_core::balance::setup::{Bound, Setup};
use steelyard_core::balance::surge::MOST_WAITING;
use steelyard_core::balance::{Method, method};
use steelyard_core::service::terms::Terms;
use steelyard_core::service::waker::{Caller, Waker};
use steelyard_core::service::{Binding, Service, State, Watch};
use steelyard_core::time::Time;

/// Services on ports of their own, all UP.
fn services(count: u16) -> Vec<Arc<Service>> {
    (1..=count).map(|n| Service::new(&n.to_string(), ([127, 0, 0, 1], n).into(), State::Up)).collect()
}

/// One picker for each list of positions, all of the same services with these limits (0 for none).
fn pickers(
    method: &'static Method,
    services: &[Arc<Service>],
    limits: &[u32],
    rings: &[&[usize]],
) -> Vec<Arc<Picker>> {
    let bound = |at: &usize| {
        let max_client = Some(limits[*at]).filter(|limit| *limit > 0);
        let terms = Arc::new(Terms { max_client, ..Terms::default() });
        Bound { service: Arc::clone(&services[*at]), weight: 1, terms }
    };
    let build = |ring: &&[usize]| {
        let setup = Setup {
            method,
            services: ring.iter().map(bound).collect(),
            startup_factor: 1,
            slow_start: None,
            budget: Budget::new(ALL_LOGS_BYTES),
        };
        Picker::take_over(setup, &Arc::default(), Time::ZERO)
    };
    let pickers: Vec<_> = rings.iter().map(build).collect();
    for (at, service) in services.iter().enumerate() {
        let binding = |(ring, picker): (&&[usize], &Arc<Picker>)| -> Option<Binding> {
            Some(picker.binding(ring.iter().position(|s| *s == at)?))
        };
        service.bind(rings.iter().zip(&pickers).filter_map(binding).collect(), 0);
    }
    pickers.iter().for_each(|picker| picker.bound());
    pickers
}

#[test]
fn a_full_service_is_no_candidate_and_says_why() {
    for method in METHODS {
        let services = services(2);
        let picker = &pickers(method, &services, &[2, 0], &[&[0, 1]])[0];
        let mut open = [0, 0];
        for _ in 0..10 {
            open[picker.pick(Time::ZERO, &[]).unwrap().1] += 1;
        }
        assert_eq!(open, [2, 8], "{}", method.name);
        let rows = &picker.decisions(1)[0].services;
        assert_eq!((rows[0].eligible, rows[0].why_not), (false, Some("at maxClient")));
        picker.ended(0);
        for _ in 0..3 {
            open[picker.pick(Time::ZERO, &[]).unwrap().1] += 1;
        }
        assert_eq!(open[0], 3, "{} takes it in again, once", method.name);
        assert!(picker.is_sound());
    }
}

/// One that was full for many rounds does not take them all at once afterwards.
#[test]
fn a_service_that_was_full_has_no_rounds_to_catch_up_with() {
    let services = services(2);
    let picker = &pickers(method("ROUNDROBIN").unwrap(), &services, &[10, 0], &[&[0, 1]])[0];
    (0..10).for_each(|_| services[0].begin());
    picker.bound();
    for _ in 0..100 {
        assert_eq!(picker.pick(Time::ZERO, &[]).unwrap().1, 1);
    }
    (0..10).for_each(|_| picker.ended(0));
    let order: Vec<usize> = (0..6).map(|_| picker.pick(Time::ZERO, &[]).unwrap().1).collect();
    assert_eq!(order.iter().filter(|at| **at == 0).count(), 3, "{order:?}");
}

#[test]
fn virtual_servers_that_share_a_service_never_exceed_its_limit_together() {
    for method in [method("LEASTCONNECTION").unwrap(), method("ROUNDROBIN").unwrap()] {
        let services = services(2);
        let pickers = pickers(method, &services, &[3, 2], &[&[0, 1], &[1, 0], &[0]]);
        let most = [AtomicUsize::new(0), AtomicUsize::new(0)];
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let (pickers, services, most) = (&pickers, &services, &most);
                scope.spawn(move || {
                    let mut open = Vec::new();
                    for n in 0..4_000 {
                        let picker = &pickers[(thread + n) % 3];
                        if let Some((picker, at, _)) = picker.pick(Time::ZERO, &[]) {
                            open.push((picker, at));
                        }
                        for (service, most) in services.iter().zip(most) {
                            most.fetch_max(service.active() as usize, Ordering::Relaxed);
                        }
                        if open.len() > n % 3 {
                            let (picker, at) = open.remove(0);
                            picker.ended(at);
                        }
                    }
                    open.into_iter().for_each(|(picker, at)| picker.ended(at));
                });
            }
        });
        let most = most.map(AtomicUsize::into_inner);
        assert!(most[0] <= 3 && most[1] <= 2, "{most:?}");
        for picker in &pickers {
            assert!(picker.is_sound() && picker.pick(Time::ZERO, &[]).is_some());
        }
    }
}

/// Who was told to look.
#[derive(Default)]
struct Told(Mutex<Vec<u64>>);

impl Waker for Told {
    fn wake(&self, waiter: u64) {
        self.0.lock().unwrap().push(waiter);
    }
}

/// Each virtual server that shares a full service has its turn, however many wait at the others.
#[test]
fn those_who_wait_at_different_virtual_servers_take_turns() {
    let services = services(1);
    let pickers = pickers(method("LEASTCONNECTION").unwrap(), &services, &[1], &[&[0], &[0], &[0]]);
    let told = Arc::new(Told::default());
    let waker = Arc::clone(&told) as Arc<dyn Waker>;
    let (mut places, mut held) = (Vec::new(), None);
    for n in 0..9 {
        match pickers[n / 3].choose(Time::ZERO, &[], Caller { waker: &waker, id: n as u64 }) {
            Choice::Taken(assigned) => held = Some(assigned),
            Choice::Waits(place) => places.push((n as u64, place)),
            Choice::Crowded | Choice::Nothing => panic!("refused"),
        }
    }
    let mut order = Vec::new();
    while let Some(assigned) = held.take() {
        drop::<Assigned>(assigned);
        for waiter in std::mem::take(&mut *told.0.lock().unwrap()) {
            let at = places.iter().position(|(name, _)| *name == waiter).unwrap();
            held = places.remove(at).1.answer().expect("it was told");
            order.push(waiter);
        }
        assert!(services[0].active() <= 1);
    }
    assert_eq!(order, [3, 6, 1, 4, 7, 2, 5, 8]);
    assert_eq!(services[0].active(), 0);
}

/// 80 kbit/s are 10,000 bytes in a second. Over them a service is no candidate until the last second has no more.
#[test]
fn a_service_over_max_bandwidth_is_no_candidate() {
    let all = services(2);
    let bound = |service: &Arc<Service>, max_bandwidth_kbps| {
        let terms = Arc::new(Terms { max_bandwidth_kbps, ..Terms::default() });
        Bound { service: Arc::clone(service), weight: 1, terms }
    };
    let setup = Setup {
        method: method("ROUNDROBIN").unwrap(),
        services: vec![bound(&all[0], Some(80)), bound(&all[1], None)],
        startup_factor: 1,
        slow_start: None,
        budget: Budget::new(ALL_LOGS_BYTES),
    };
    let picker = Picker::take_over(setup, &Arc::default(), Time::ZERO);
    picker.bound();
    let ms = |ms: u64| Time::from_us(ms * 1_000);
    let takes_part = |from: u64| {
        picker.tick(ms(from));
        (0..2).any(|_| picker.pick(ms(from), &[]).unwrap().1 == 0)
    };
    let carry = |bytes| all[0].traffic.response_bytes.fetch_add(bytes, Ordering::Relaxed);
    carry(10_000);
    assert!(takes_part(100), "as much as it may");
    carry(1);
    assert!(!takes_part(200), "more than it may");
    let row = &picker.decisions(1)[0].services[0];
    assert_eq!((row.eligible, row.why_not), (false, Some("at maxBandwidth")));
    for at in (300..=1_000).step_by(100) {
        assert!(!takes_part(at), "within the second, at {at} ms");
    }
    assert!(takes_part(1_100), "the first 10,000 bytes are more than a second old");
    carry(1_000_000);
    assert!(!takes_part(1_200));
    // Requests wait where all are over it, and are served by the tick at which they are not.
    all[1].set_state(State::Down, ms(1_200));
    picker.state_changed(1, ms(1_200));
    let waker = Arc::new(Told::default()) as Arc<dyn Waker>;
    let Choice::Waits(turn) = picker.choose(ms(1_250), &[], Caller { waker: &waker, id: 0 }) else {
        panic!("it is to wait")
    };
    picker.tick(ms(2_100));
    assert!(turn.answer().is_none());
    picker.tick(ms(2_200));
    assert!(turn.answer().flatten().is_some());
}

/// Who comes beyond the bound is refused at once, and a place that is given up is free again.
#[test]
fn no_more_wait_than_may() {
    let services = services(1);
    let picker = &pickers(method("LEASTCONNECTION").unwrap(), &services, &[1], &[&[0]])[0];
    let waker = Arc::new(Told::default()) as Arc<dyn Waker>;
    let ask = || picker.choose(Time::ZERO, &[], Caller { waker: &waker, id: 0 });
    let held = ask();
    let mut places: Vec<Choice> = (0..MOST_WAITING).map(|_| ask()).collect();
    assert!(places.iter().all(|place| matches!(place, Choice::Waits(_))));
    assert_eq!(picker.waiting(), MOST_WAITING);
    assert!(matches!(ask(), Choice::Crowded));
    places.truncate(10);
    assert!(matches!(ask(), Choice::Waits(_)));
    assert_eq!(picker.waiting(), 10);
    drop((held, places));
    assert_eq!((picker.waiting(), services[0].active()), (0, 0));
}

/// Threads that take what there is and wait for what there is not, without a clock to save them: all get it.
#[test]
fn no_wake_up_is_lost() {
    let services = services(2);
    let pickers = pickers(method("LEASTCONNECTION").unwrap(), &services, &[1, 1], &[&[0, 1], &[1]]);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (pickers, services) = (&pickers, &services);
            scope.spawn(move || {
                let waker: Arc<dyn Waker> = Arc::new(Unpark(std::thread::current()));
                for n in 0..2_000 {
                    let picker = &pickers[(thread + n) % 2];
                    let choice = picker.choose(Time::ZERO, &[], Caller { waker: &waker, id: 0 });
                    let assigned = match choice {
                        Choice::Taken(assigned) => Some(assigned),
                        Choice::Waits(place) => loop {
                            if let Some(answer) = place.answer() {
                                break answer;
                            }
                            std::thread::park();
                        },
                        Choice::Crowded | Choice::Nothing => None,
                    };
                    assert!(services.iter().all(|service| service.active() <= 1));
                    drop(assigned.expect("one is UP"));
                }
            });
        }
    });
    assert!(services.iter().all(|service| service.active() == 0));
    assert!(pickers.iter().all(|picker| picker.waiting() == 0 && picker.is_sound()));
}

struct Unpark(std::thread::Thread);

impl Waker for Unpark {
    fn wake(&self, _: u64) {
        self.0.unpark();
    }
}
