//! What threads do to one another while they choose, under the model checker: every order of their steps that memory
//! ordering allows, up to the bound on preemptions that each test states.
//!
//! `make test` runs it as a stage of its own. `Arc` and the `OnceLock` of a picker's other virtual servers stay the
//! standard library's. That loses nothing: their own ordering is not in question, what they hold is written before the
//! threads start, and without their ordering the checker explores more orders, not fewer.
#![cfg(loom)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::net::IpAddr;
use std::sync::Arc;

use loom::model::Builder;
use loom::sync::Mutex;
use loom::sync::atomic::{AtomicU64, Ordering};
use loom::thread;
use steelyard_core::balance::dirty::Dirty;
use steelyard_core::balance::log::{Budget, LOG_BYTES};
use steelyard_core::balance::method;
use steelyard_core::balance::picker::{Choice, Picker, Seat};
use steelyard_core::balance::setup::{Bound, Setup};
use steelyard_core::service::permits::Permits;
use steelyard_core::service::source::Cell;
use steelyard_core::service::terms::Terms;
use steelyard_core::service::waker::{Caller, Waker};
use steelyard_core::service::{Binding, Service, State};
use steelyard_core::time::Time;

/// A mark is never lost: what a thread wrote before it marked is seen when it takes the marks itself, whoever else
/// marks and takes meanwhile, at the same place or at one that shares only the word above.
#[test]
fn a_mark_is_never_lost() {
    for places in [[0, 0], [64, 64], [0, 64], [1, 2]] {
        explore(None, move || {
            let dirty = Arc::new(Dirty::new(65));
            let counts: Arc<[AtomicU64; 2]> = Arc::default();
            let keys = Arc::new(Mutex::new([0; 2]));
            let both = places[0] == places[1];
            let index = move |place: usize| usize::from(!both && place == places[1]);
            let threads = places.map(|place| {
                let (dirty, counts, keys) = (dirty.clone(), counts.clone(), keys.clone());
                thread::spawn(move || {
                    counts[index(place)].fetch_add(1, Ordering::Relaxed);
                    dirty.mark(place);
                    let mut keys = keys.lock().unwrap();
                    if dirty.any() {
                        dirty.drain(|at| keys[index(at)] = counts[index(at)].load(Ordering::Relaxed));
                    }
                    assert!(keys[index(place)] >= 1, "the own mark was missed");
                })
            });
            threads.into_iter().for_each(|thread| thread.join().unwrap());
            dirty.drain(|at| keys.lock().unwrap()[index(at)] = counts[index(at)].load(Ordering::Relaxed));
            assert_eq!(*keys.lock().unwrap(), if both { [2, 0] } else { [1, 1] });
        });
    }
}

/// Two threads, each with at most one transaction open: every pick has the thread's own completion in view, so it sees
/// at most the other's transaction.
#[test]
fn a_thread_sees_its_own_completion_at_its_next_pick() {
    explore(Some(4), || {
        let group = Groups::new("LEASTCONNECTION", &[&[0, 1]]);
        group.run([&[0, 0], &[0, 0]]);
        group.at_rest();
    });
}

/// Three services, so that ties are resolved among more than are in use.
#[test]
fn three_services() {
    explore(Some(4), || {
        let group = Groups::new("LEASTCONNECTION", &[&[0, 1, 2]]);
        group.run([&[0, 0], &[0]]);
        group.at_rest();
    });
}

/// A completion by way of one virtual server is in view of the next pick of another one that shares the service.
#[test]
fn a_completion_is_seen_by_the_next_pick_of_another_virtual_server() {
    for plan in [[&[0, 1][..], &[0][..]], [&[0, 1], &[1]], [&[1, 0], &[0, 1]]] {
        explore(Some(2), move || {
            let groups = Groups::new("LEASTCONNECTION", &[&[0], &[1, 0]]);
            groups.run(plan);
            groups.at_rest();
        });
    }
}

/// A sample that finds the lock taken waits in its cell for the next pick: none is lost, none is counted twice.
#[test]
fn a_sample_is_never_lost() {
    explore(Some(3), || {
        let groups = Groups::new("LEASTRESPONSETIME", &[&[0]]);
        let threads = [100, 300].map(|ttfb_us| {
            let picker = groups.pickers[0].clone();
            thread::spawn(move || {
                let position = picker.pick(Time::ZERO, &[]).unwrap().1;
                picker.ttfb(position, ttfb_us, Time::ZERO);
                picker.ended(position);
            })
        });
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        let picker = &groups.pickers[0];
        picker.pick(Time::ZERO, &[]).unwrap();
        assert_eq!(picker.metrics(), [200], "one active transaction times the mean of 100 and 300");
    });
}

/// Traffic reads a source address while the control thread changes it twice: it finds one that there was, never the half
/// of one.
#[test]
fn a_source_address_is_never_torn() {
    explore(None, || {
        let cell = Arc::new(Cell::default());
        let given: Vec<Option<IpAddr>> = ["2001:db8::1", "2001:db9::2"].map(|a| a.parse().ok()).into();
        let (writer, addresses) = (Arc::clone(&cell), given.clone());
        cell.set(Some([10, 0, 0, 1].into()));
        let writing = thread::spawn(move || {
            for address in addresses {
                writer.set(address);
            }
        });
        let found = cell.get().ip();
        assert!(given.contains(&found) || found == Some([10, 0, 0, 1].into()), "{found:?}");
        writing.join().unwrap();
        assert_eq!(cell.get().ip(), given[1]);
    });
}

/// A service that is at rest with as many requests as at an earlier look has counted nothing that was not read then.
#[test]
fn what_is_at_rest_has_been_read() {
    explore(Some(3), || {
        let service = Service::new("s", "10.0.0.1:80".parse().unwrap(), State::Up);
        let threads = [(); 2].map(|()| {
            let service = Arc::clone(&service);
            thread::spawn(move || {
                service.begin();
                service.traffic.responses.fetch_add(1, Ordering::Relaxed);
                service.end();
            })
        });
        let (mut still, mut seen) = (None, 0);
        let mut look = || {
            let at_rest = service.hot().at_rest();
            if at_rest.is_none() || at_rest != still {
                seen = service.traffic.responses.load(Ordering::Relaxed);
                still = at_rest;
            }
            seen
        };
        look();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(look(), 2);
    });
}

/// A place is given back by one thread while another asks for it, by the same virtual server or by one that shares the
/// service: whoever has to wait has his answer when the first is done. And no more are active than may.
#[test]
fn no_wake_up_is_lost() {
    const RINGS: [&[&[usize]]; 2] = [&[&[0]], &[&[0], &[0]]];
    for rings in RINGS {
        explore(Some(3), move || {
            let groups = Groups::limited("LEASTCONNECTION", rings, Some(1));
            let pickers = [0, rings.len() - 1].map(|at| groups.pickers[at].clone());
            let woken = Arc::new(Woken::default());
            let Choice::Taken(held) = choose(&pickers[0], &woken) else { panic!("there is room") };
            let ender = thread::spawn(move || drop(held));
            let (picker, waker, service) = (pickers[1].clone(), woken.clone(), groups.services[0].clone());
            let asker = thread::spawn(move || {
                let choice = choose(&picker, &waker);
                assert!(service.active() <= 1);
                match choice {
                    Choice::Taken(assigned) => {
                        drop(assigned);
                        None
                    }
                    Choice::Waits(place) => Some(place),
                    Choice::Crowded | Choice::Nothing => panic!("refused"),
                }
            });
            ender.join().unwrap();
            if let Some(place) = asker.join().unwrap() {
                assert_eq!(woken.0.load(Ordering::Relaxed), 1, "nobody woke it");
                assert!(place.answer().flatten().is_some(), "it was woken for nothing");
            }
            groups.at_rest();
        });
    }
}

/// Two wait; one is granted its turn while it gives up: the other is granted it instead.
#[test]
fn a_turn_that_nobody_takes_is_passed_on() {
    explore(Some(3), || {
        let groups = Groups::limited("LEASTCONNECTION", &[&[0]], Some(1));
        let (picker, woken) = (groups.pickers[0].clone(), Arc::new(Woken::default()));
        let Choice::Taken(held) = choose(&picker, &woken) else { panic!("there is room") };
        let [first, second] = [(); 2].map(|()| choose(&picker, &woken));
        let threads = [thread::spawn(move || drop(held)), thread::spawn(move || drop(first))];
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        let Choice::Waits(place) = second else { panic!("there is no room") };
        assert!(place.answer().flatten().is_some(), "the turn was lost");
        drop(place);
        groups.at_rest();
    });
}

/// A connection is closed by one thread while another claims the permit for one: it gets it, and never are more open than
/// may.
#[test]
fn no_permit_is_lost() {
    explore(None, || {
        let (permits, woken) = (Arc::new(Permits::default()), Arc::new(Woken::default()));
        assert!(permits.take(Some(1)));
        let closing = permits.clone();
        let closer = thread::spawn(move || closing.give_back());
        let (claiming, waker) = (permits.clone(), woken.clone() as Arc<dyn Waker>);
        let claimer = thread::spawn(move || claiming.claim(1, Caller { waker: &waker, id: 0 }));
        closer.join().unwrap();
        let claim = claimer.join().unwrap();
        assert_eq!(woken.0.load(Ordering::Relaxed), 1, "nobody woke it");
        assert!(claim.take(), "it was woken for nothing");
        assert_eq!((permits.open(), permits.is_wanted()), (1, false));
    });
}

/// How often anybody was woken.
#[derive(Default)]
struct Woken(AtomicU64);

impl Waker for Woken {
    fn wake(&self, _: u64) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn choose(picker: &Arc<Picker>, woken: &Arc<Woken>) -> Choice {
    let waker = Arc::clone(woken) as Arc<dyn Waker>;
    picker.choose(Time::ZERO, &[], Caller { waker: &waker, id: 0 })
}

/// Virtual servers past their start-up that share services.
struct Groups {
    services: Vec<Arc<Service>>,
    pickers: Vec<Arc<Picker>>,
    /// How many decisions each had taken before the threads began.
    before: Vec<u64>,
}

impl Groups {
    /// One virtual server for each list of services.
    fn new(name: &'static str, rings: &[&[usize]]) -> Groups {
        Groups::limited(name, rings, None)
    }

    /// The same where every service has this `maxClient`.
    fn limited(name: &'static str, rings: &[&[usize]], max_client: Option<u32>) -> Groups {
        let count = rings.iter().flat_map(|ring| ring.iter()).max().map_or(0, |last| last + 1);
        let address = "127.0.0.1:80".parse().unwrap();
        let services: Vec<_> = (0..count).map(|n| Service::new(&n.to_string(), address, State::Up)).collect();
        let pickers: Vec<Arc<Picker>> =
            rings.iter().map(|ring| picker(name, &services, ring, max_client)).collect();
        for (service, own) in services.iter().enumerate() {
            let bindings: Vec<Binding> = rings
                .iter()
                .zip(&pickers)
                .filter_map(|(ring, picker)| Some(picker.binding(ring.iter().position(|s| *s == service)?)))
                .collect();
            own.bind(bindings.into(), 0);
        }
        pickers.iter().for_each(|picker| picker.bound());
        // One request a service ends the start-up.
        for picker in &pickers {
            while picker.startup().is_some() {
                let (_, position, _) = picker.pick(Time::ZERO, &[]).unwrap();
                picker.ended(position);
            }
        }
        let before = rings.iter().map(|ring| ring.len() as u64).collect();
        Groups { services, pickers, before }
    }

    /// Two threads; each picks and ends once at each of the virtual servers it names, one after the other.
    fn run(&self, plans: [&'static [usize]; 2]) {
        let threads = plans.map(|plan| {
            let pickers = self.pickers.clone();
            thread::spawn(move || {
                for group in plan {
                    let (_, position, _) = pickers[*group].pick(Time::ZERO, &[]).unwrap();
                    pickers[*group].ended(position);
                }
            })
        });
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    }

    /// Nothing is open, every key says so, and no decision saw more than the other thread's one transaction.
    fn at_rest(&self) {
        assert!(self.services.iter().all(|service| service.active() == 0));
        for (picker, before) in self.pickers.iter().zip(&self.before) {
            assert!(picker.is_sound());
            assert!(picker.metrics().iter().all(|active| *active == 0), "a completion was missed");
            for decision in picker.decisions(usize::MAX).iter().filter(|d| d.request > *before) {
                let open: u64 = decision.services.iter().map(|row| row.metric).sum();
                assert!(open <= 1, "the own completion was missed: {decision:?}");
            }
        }
    }
}

fn picker(name: &str, services: &[Arc<Service>], ring: &[usize], max_client: Option<u32>) -> Arc<Picker> {
    let terms = Arc::new(Terms { max_client, ..Terms::default() });
    let bound = ring.iter().map(|s| Bound { service: services[*s].clone(), weight: 1, terms: terms.clone() });
    let setup = Setup {
        method: method(name).unwrap(),
        services: bound.collect(),
        startup_factor: 1,
        slow_start: None,
        budget: Budget::new(LOG_BYTES),
    };
    Picker::take_over(setup, &Arc::<Seat>::default(), Time::ZERO)
}

/// Explores `body` with at most that many preemptions; all orders when `None`.
fn explore(preemptions: Option<usize>, body: impl Fn() + Send + Sync + 'static) {
    let mut builder = Builder::new();
    builder.preemption_bound = preemptions;
    builder.max_branches = 10_000;
    builder.check(body);
}
