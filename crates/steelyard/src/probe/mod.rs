//! Sockets and timers for core's probes, on the control thread's runtime.
//!
//! Owns the running probes. What is asked, how an answer is judged and when to probe again is
//! [`steelyard_core::monitor`]'s business. The hard question here: a probe ends for good when its service or monitor goes.

pub mod belief;
mod channel;
mod clear;
mod credentials;
mod datagram;
mod echo;
mod lanes;
mod stream;
mod tls;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use rustix::process::{Resource, getrlimit};
use steelyard_core::monitor::alarm::Alarm;
use steelyard_core::monitor::bound::Unknown;
use steelyard_core::monitor::health::{Health, Machine};
use steelyard_core::monitor::schedule::{Due, ProbeKey, Schedule, Status, Target, Transition};
use steelyard_core::monitor::{Finding, ProbeResult, Spec};
use steelyard_core::service::{Service, State};
use steelyard_core::time::Time;
use tokio::sync::Notify;
use tokio::task::{JoinHandle, spawn_local, yield_now};
use tokio::time::{sleep_until, timeout};

use self::lanes::{Lane, Lanes};
use self::tls::Handshakes;
use crate::addresses::ways::Ways;
use crate::dispatcher::Dispatcher;
use crate::files::Folders;
use crate::worker::Clock;

/// Probes every service as configured and writes the results to it. Clones are the same prober.
#[derive(Clone)]
pub struct Prober {
    inner: Rc<Inner>,
}

struct Inner {
    schedule: RefCell<Schedule>,
    running: RefCell<BTreeMap<ProbeKey, Rc<ProbeLane>>>,
    lanes: Lanes<(Due, Slot)>,
    in_flight: Cell<usize>,
    ended: Cell<bool>,
    /// Most probes at one time.
    room: usize,
    handshakes: Handshakes,
    ways: Ways,
    clock: Clock,
    /// When the loop looks for what is due.
    wakes: Cell<Time>,
    /// Something is due earlier than that, or there is room again.
    changed: Notify,
    on_news: Box<dyn Fn(News<'_>)>,
    /// What this host was found to lack so far.
    lacking: RefCell<BTreeSet<&'static str>>,
    dispatcher: Dispatcher,
}

/// What the prober has to tell.
pub enum News<'a> {
    /// A service changed its state.
    Transition(&'a Transition),
    /// A monitor gives an alarm.
    Alarm(&'a Alarm),
    /// This host cannot probe with that monitor. It is told once for each thing that is lacking.
    Unable {
        /// Name of the first monitor that found out.
        monitor: &'a str,
        /// What is lacking.
        lacking: &'static str,
    },
}

/// How a monitor fares on one service: figures alone, so that there can be many.
pub struct Fare {
    /// The service.
    pub service: Arc<Service>,
    /// The monitor.
    pub spec: Arc<Spec>,
    /// Does it say UP?
    pub up: bool,
    /// Probes judged so far.
    pub probes: u64,
    /// Of those, failed.
    pub failed: u64,
    /// Response time of the last success, in microseconds.
    pub response_us: Option<u64>,
    /// How long its next probe may take, in microseconds.
    pub limit_us: u64,
}

impl Fare {
    fn of(service: &Arc<Service>, status: &Status<'_>) -> Fare {
        let machine = status.machine;
        Fare {
            service: Arc::clone(service),
            spec: Arc::clone(status.spec),
            up: machine.health() == Health::Up,
            probes: machine.probes,
            failed: machine.failed,
            response_us: machine.response_us,
            limit_us: machine.limit_us(&status.spec.timing),
        }
    }
}

impl Prober {
    /// Nothing is probed before `reconfigure`. `dispatcher` runs the scripts of monitors that ask it; `on_news` hears of
    /// every change of a service's state, of every alarm and of what this host lacks.
    /// Must be called on a thread that runs a tokio `LocalSet`; the probes end with it. The task ends only by a fault.
    pub fn start(
        clock: Clock,
        seed: u64,
        dispatcher: Dispatcher,
        on_news: impl Fn(News<'_>) + 'static,
    ) -> (Prober, JoinHandle<()>) {
        let inner = Rc::new(Inner {
            schedule: RefCell::new(Schedule::new(seed)),
            running: RefCell::default(),
            lanes: Lanes::new(),
            in_flight: Cell::new(0),
            ended: Cell::new(false),
            room: room(),
            handshakes: Handshakes::default(),
            ways: Ways::open(),
            clock,
            wakes: Cell::new(Time::ZERO),
            changed: Notify::new(),
            on_news: Box::new(on_news),
            lacking: RefCell::default(),
            dispatcher,
        });
        let prober = Prober { inner };
        let probing = spawn_local(prober.clone().run());
        (prober, probing)
    }

    /// What secure probes make handshakes with from now on: with the files of those folders as they are.
    pub fn handshakes(&self, folders: &Folders) -> &Handshakes {
        self.inner.handshakes.renew(folders);
        &self.inner.handshakes
    }

    /// Watches these targets in the place of `services`: probes of services that stay go on, those of removed ones are cut
    /// off.
    pub fn reconfigure<'s>(&self, services: impl Iterator<Item = &'s Arc<Service>>, targets: Vec<Target>) {
        let now = self.inner.clock.now();
        let (stopped, transitions) =
            self.inner.schedule.borrow_mut().reconfigure_some(services, targets, now);
        self.inner.dispatcher.settle(&self.inner.schedule.borrow());
        self.follow(stopped, &transitions);
        self.inner.ways.keep(|| self.inner.schedule.borrow().next_hops());
        self.inner.changed.notify_one();
    }

    /// To be called every 100 ms: services on their way out of service may have left it.
    pub fn tick(&self) {
        let (stopped, transitions) = self.inner.schedule.borrow_mut().tick(self.inner.clock.now());
        if !stopped.is_empty() {
            self.inner.dispatcher.settle(&self.inner.schedule.borrow());
        }
        let any = !stopped.is_empty();
        self.follow(stopped, &transitions);
        if any {
            self.inner.ways.keep(|| self.inner.schedule.borrow().next_hops());
        }
    }

    fn follow(&self, stopped: Vec<ProbeKey>, transitions: &[Transition]) {
        for key in stopped {
            if let Some(lane) = self.inner.running.borrow_mut().remove(&key) {
                lane.stop();
            }
        }
        transitions.iter().for_each(|t| (self.inner.on_news)(News::Transition(t)));
    }

    /// Probes no longer, for good, and removes the ways that probes went by.
    pub fn end(&self) {
        self.inner.ended.set(true);
        let running = std::mem::take(&mut *self.inner.running.borrow_mut());
        running.into_values().for_each(|lane| lane.stop());
        self.inner.ways.keep(BTreeSet::new);
    }

    /// Waits until every monitor has given a first result, or until `at_most` is over.
    pub async fn first_results(&self, at_most: Duration) {
        let all = async {
            while !self.inner.schedule.borrow().all_probed() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        // Late ones are shown as they are: DOWN until they answer.
        let _ = timeout(at_most, all).await;
    }

    /// How many monitors run, on all services together.
    pub fn monitors(&self) -> usize {
        self.inner.schedule.borrow().running()
    }

    /// How many of those have given no result yet.
    pub fn awaited(&self) -> usize {
        self.inner.schedule.borrow().awaited()
    }

    /// Each monitor that probes a service, with its results so far.
    pub fn machines(&self, service: &Arc<Service>) -> Vec<(Box<str>, Machine)> {
        let schedule = self.inner.schedule.borrow();
        let monitors = schedule.monitors(service);
        monitors.iter().map(|m| (m.spec.name.clone(), m.machine.clone())).collect()
    }

    /// How every monitor of these services fares, with the service.
    pub fn fares<'s>(&self, services: impl Iterator<Item = &'s Arc<Service>>) -> Vec<Fare> {
        let schedule = self.inner.schedule.borrow();
        let of =
            |service| schedule.monitors(service).into_iter().map(move |status| Fare::of(service, &status));
        services.flat_map(of).collect()
    }

    /// The monitors of a service that cannot be run.
    pub fn unknown(&self, service: &Arc<Service>) -> Vec<Unknown> {
        self.inner.schedule.borrow().unknown(service).to_vec()
    }

    /// What the last probes alone say of a service, however many results its monitors ask for.
    pub fn verdict(&self, service: &Arc<Service>) -> State {
        self.inner.schedule.borrow().last_results_say(service)
    }

    async fn run(self) {
        let inner = &self.inner;
        loop {
            let now = inner.clock.now();
            if inner.ended.get() {
                std::future::pending::<()>().await;
            }
            let room = inner.room.saturating_sub(inner.in_flight.get());
            let mut any = false;
            for due in inner.schedule.borrow_mut().take_due(now).take(room.min(AT_ONCE)) {
                self.begin(due);
                any = true;
            }
            if any {
                // What has arrived is read before more is sent: nobody's response time has the work for many others in it.
                yield_now().await;
                continue;
            }
            let next = inner.schedule.borrow().next_due().filter(|_| inner.in_flight.get() < inner.room);
            inner.wakes.set(next.unwrap_or(Time::NEVER));
            match next {
                Some(at) => {
                    let wait = Duration::from_micros(at.since_us(inner.clock.now()));
                    let wake = tokio::time::Instant::now() + wait;
                    tokio::select! {
                        () = sleep_until(wake) => {}
                        () = inner.changed.notified() => {}
                    }
                }
                None => inner.changed.notified().await,
            }
        }
    }

    fn begin(&self, due: Due) {
        let key = due.key;
        let lane = self.inner.lanes.give((due, Slot::take(&self.inner)), |lane| {
            spawn_local(self.clone().carry_out_all(lane));
        });
        self.inner.running.borrow_mut().insert(key, lane);
    }

    /// One probe after another, as they are given to its lane.
    async fn carry_out_all(self, lane: Rc<ProbeLane>) {
        loop {
            let (due, slot) = lane.work().await;
            lane.until_stopped(self.carry_out(&due)).await;
            drop((due, slot));
            if !self.inner.lanes.is_free(&lane) {
                return;
            }
        }
    }

    async fn carry_out(&self, due: &Due) {
        let Inner { clock, handshakes, ways, .. } = &*self.inner;
        let clock = *clock;
        let mut probe = due.spec.probe(due.about, clock.now(), due.seed);
        let (result, open) = channel::carry_out(&mut *probe, due, (handshakes, ways), clock).await;
        self.finish(due, result);
        if let Some(open) = open {
            // Few take this way: no probe has room for it before.
            Box::pin(open.hang_up()).await;
        }
    }

    fn finish(&self, due: &Due, result: ProbeResult) {
        self.inner.running.borrow_mut().remove(&due.key);
        if let Finding::Local(lacking) = result.finding
            && self.inner.lacking.borrow_mut().insert(lacking)
        {
            (self.inner.on_news)(News::Unable { monitor: &due.spec.name, lacking });
        }
        let outcome = self.inner.schedule.borrow_mut().finished(due.key, result, self.inner.clock.now());
        if let Some(alarm) = outcome.alarm {
            (self.inner.on_news)(News::Alarm(&alarm));
        }
        if let Some(transition) = outcome.transition {
            (self.inner.on_news)(News::Transition(&transition));
        }
        if self.inner.schedule.borrow().next_due().is_some_and(|next| next < self.inner.wakes.get()) {
            self.inner.changed.notify_one();
        }
    }
}

/// What carries out a probe, and counts it meanwhile.
type ProbeLane = Lane<(Due, Slot)>;

/// Counts one probe, from its start until its socket is closed, however it ends.
struct Slot(Rc<Inner>);

impl Slot {
    fn take(inner: &Rc<Inner>) -> Slot {
        inner.in_flight.set(inner.in_flight.get() + 1);
        Slot(Rc::clone(inner))
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let in_flight = self.0.in_flight.get();
        self.0.in_flight.set(in_flight - 1);
        if in_flight >= self.0.room {
            self.0.changed.notify_one();
        }
    }
}

/// A quarter of the descriptors at most: traffic needs the others.
fn room() -> usize {
    let descriptors = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    usize::try_from(descriptors / 4).unwrap_or(MAX_IN_FLIGHT).clamp(1, MAX_IN_FLIGHT)
}

/// Probes that begin before answers to others are looked for.
const AT_ONCE: usize = 8;
/// Probes with an open socket at one time; later ones wait.
const MAX_IN_FLIGHT: usize = 1_000;
