//! One seeded run: several engines, the monitors, clients, services and an operator in virtual time, and the invariants
//! after every step.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use steelyard_core::config::guard::Guards;
use steelyard_core::proxy::engine::Engine;
use steelyard_core::proxy::limits::Limits;
use steelyard_core::service::Service;
use steelyard_core::service::waker::Waker;
use steelyard_core::snapshot::Snapshot;
use steelyard_core::time::Time;

use crate::answers::INTERIM_MOST;
use crate::books::{Books, ClientAccount, FRESH_US, Named, Planted, ServiceAccount};
use crate::clients::Clients;
use crate::network::{Network, Notice, Owner, Side, What};
use crate::plan::Plan;
use crate::probes::Probes;
use crate::schedule::{Event, Schedule};
use crate::services::{Mood, Services};
use crate::sockets::{Shared, Socket, Sockets, look, tell};

/// Waiters that were called, with their workers.
type Calls = VecDeque<(usize, u64)>;

/// Calls the waiters of one worker.
struct Wakes {
    worker: usize,
    calls: Arc<Mutex<Calls>>,
}

impl Waker for Wakes {
    fn wake(&self, waiter: u64) {
        self.calls.lock().unwrap().push_back((self.worker, waiter));
    }
}

/// A whole balancer and its world.
pub struct Simulation {
    shared: Shared,
    engines: Vec<Engine>,
    calls: Arc<Mutex<Calls>>,
    /// When each engine's deadline is due in the schedule.
    timers: Vec<u64>,
    /// Snapshots on their way to each worker.
    mail: Vec<Vec<(Arc<Snapshot>, Plan)>>,
    snapshot: Arc<Snapshot>,
    /// Every live service that there ever was, by number.
    live: BTreeMap<usize, Arc<Service>>,
    clients: Clients,
    services: Services,
    probes: Probes,
    next_service: usize,
    gap_us: u64,
    steps: u64,
}

impl Simulation {
    pub fn new(seed: u64, planted: Planted) -> Simulation {
        let mut schedule = Schedule::new(seed);
        let plan = Plan::random(&mut schedule.random);
        let engines = 1 + schedule.random.below(3);
        let next_service = plan.services.len();
        let snapshot = Arc::new(Snapshot::default());
        let limits = limits();
        let calls = Arc::new(Mutex::default());
        let mut run = Simulation {
            engines: (0..engines)
                .map(|worker| {
                    let waker = Arc::new(Wakes { worker, calls: Arc::clone(&calls) });
                    Engine::new(limits.clone(), Arc::clone(&snapshot), waker)
                })
                .collect(),
            calls,
            timers: vec![u64::MAX; engines],
            mail: vec![Vec::new(); engines],
            shared: Shared {
                net: Network::new(schedule),
                books: Books::new(planted, engines),
                sockets: (0..engines).map(|_| BTreeMap::new()).collect(),
            },
            snapshot,
            live: BTreeMap::new(),
            clients: Clients::default(),
            services: Services::default(),
            probes: Probes::new(seed),
            next_service,
            gap_us: 5_000,
            steps: 0,
        };
        for service in 0..next_service {
            run.services.set_mood(service, Mood::Serving(2_000), &mut run.shared);
        }
        run.reconfigure(plan);
        for event in [Event::Tick, Event::Mood, Event::Operator] {
            run.shared.net.schedule.after(100_000, event);
        }
        run.shared.net.schedule.after(600_000, Event::Arrival);
        run
    }

    /// Runs so many events.
    pub fn run(&mut self, events: usize) -> u64 {
        for _ in 0..events {
            let event = self.shared.net.schedule.next(u64::MAX).expect("there is always something");
            self.event(event);
        }
        self.clients.served
    }

    fn event(&mut self, event: Event) {
        let shared = &mut self.shared;
        match event {
            Event::Wire(..)
            | Event::Room(..)
            | Event::Syn(_)
            | Event::Established(_)
            | Event::Refused(_)
            | Event::LingerEnds(..)
            | Event::Read(..) => shared.net.event(event),
            Event::Client(id) => self.clients.act(id, shared),
            Event::Leaves(id) => self.clients.leave(id, shared),
            Event::Service(flow) => self.services.write(flow, shared),
            Event::Idle(flow, exchanges) => self.services.idle(flow, exchanges, shared),
            Event::Arrival => self.arrival(),
            Event::Timer(worker) => self.timer(worker),
            Event::Tick => self.tick(),
            Event::ProbesDue => self.probes.begin_due(shared),
            Event::ProbeEnds(id) => self.probes.expire(id, &self.services, shared),
            Event::Mood => self.mood(),
            Event::Operator => self.operator(),
            Event::Mail(worker) => self.read_mail(worker),
        }
        self.check();
        while let Some(notice) = self.shared.net.notices.pop_front() {
            self.notice(notice);
            self.check();
        }
        while let Some((worker, waiter)) = self.called() {
            self.engine(worker, |engine, sockets| engine.granted(waiter, sockets));
            self.check();
        }
    }

    fn called(&self) -> Option<(usize, u64)> {
        self.calls.lock().unwrap().pop_front()
    }

    fn notice(&mut self, notice: Notice) {
        let Notice { owner, flow, what } = notice;
        let shared = &mut self.shared;
        match owner {
            Owner::Worker(worker, id) => {
                if let Some(told) = look(shared, worker, id, flow, what) {
                    self.engine(worker, |engine, sockets| tell(engine, told, id, sockets));
                }
            }
            Owner::Client(id) if what == What::Readable => self.clients.readable(id, shared),
            Owner::Service(number) if what == What::Accepted => self.services.accepted(number, flow, shared),
            Owner::Service(_) if what == What::Readable => self.services.readable(flow, shared),
            Owner::Probe(id) => self.probes.look(id, what, &self.services, shared),
            Owner::Client(_) | Owner::Service(_) => {}
        }
    }

    /// Lets an engine act, and plans its next deadline.
    fn engine<R>(&mut self, worker: usize, act: impl FnOnce(&mut Engine, &mut Sockets<'_>) -> R) -> R {
        let engine = &mut self.engines[worker];
        let result = act(engine, &mut Sockets { shared: &mut self.shared, worker });
        let due = engine.next_deadline();
        if due != Time::NEVER && due.as_us() < self.timers[worker] {
            let schedule = &mut self.shared.net.schedule;
            self.timers[worker] = due.as_us();
            let late = schedule.random.below(2_000) as u64;
            schedule.at(due.as_us().max(schedule.now) + late, Event::Timer(worker));
        }
        result
    }

    fn timer(&mut self, worker: usize) {
        self.timers[worker] = u64::MAX;
        self.engine(worker, |engine, sockets| {
            let now = Time::from_us(sockets.shared.net.schedule.now);
            engine.tick(now, sockets);
        });
    }

    fn tick(&mut self) {
        let schedule = &mut self.shared.net.schedule;
        schedule.after(100_000, Event::Tick);
        let now = Time::from_us(schedule.now);
        self.snapshot.vservers().for_each(|vserver| vserver.tick(now));
    }

    /// A client connects.
    fn arrival(&mut self) {
        let Shared { net, books, .. } = &mut self.shared;
        let wait = net.schedule.random.between(0, 2 * self.gap_us);
        net.schedule.after(wait, Event::Arrival);
        let numbers: Vec<usize> = books.plan.vservers.keys().copied().collect();
        let number = net.schedule.random.of(&numbers);
        let vserver = Named { number, identity: books.plan.vservers[&number].identity };
        let worker = net.schedule.random.below(self.engines.len());
        let nobody = books.has_nobody(vserver, worker);
        let peer = ([127, 0, 0, 9], 999).into();
        let name = format!("v{number}");
        let up_to_date = self.mail[worker].is_empty();
        let full = self.engines[worker].clients() >= CLIENTS_MOST;
        let accepted = self.engine(worker, |engine, sockets| engine.accepted(&name, peer, sockets));
        assert!(
            !up_to_date || accepted.is_some() != (nobody || full),
            "{name}: {accepted:?}, nobody {nobody}"
        );
        let Some(id) = accepted else { return };
        let client = self.clients.number();
        let flow = self.shared.net.pair(Owner::Client(client), Owner::Worker(worker, id), peer);
        let socket = Socket {
            flow,
            side: Side::Listener,
            client: Some(client),
            connecting: false,
            paused: false,
            ended: false,
            finished: false,
        };
        assert!(self.shared.sockets[worker].insert(id, socket).is_none(), "{id:?} is used twice");
        self.clients.add(client, flow, ClientAccount { vserver, worker }, &mut self.shared);
    }

    fn mood(&mut self) {
        let schedule = &mut self.shared.net.schedule;
        let service = schedule.random.below(self.next_service);
        let around = schedule.random.of(&[200, 2_000, 20_000, 200_000]);
        let mood = match schedule.random.below(10) {
            0 => Mood::Failing,
            1 => Mood::Frozen,
            2 => Mood::Dead,
            3 => Mood::Silent,
            _ => Mood::Serving(around),
        };
        let wait = schedule.random.between(50_000, 700_000);
        schedule.after(wait, Event::Mood);
        self.gap_us = schedule.random.of(&[2_000, 8_000, 30_000, 100_000]);
        self.services.set_mood(service, mood, &mut self.shared);
    }

    fn operator(&mut self) {
        let schedule = &mut self.shared.net.schedule;
        let mut plan = self.shared.books.plan.clone();
        for _ in 0..schedule.random.of(&[1, 1, 2, 5]) {
            plan.change(&mut schedule.random);
        }
        let wait = schedule.random.between(50_000, 2_000_000);
        schedule.after(wait, Event::Operator);
        self.reconfigure(plan);
    }

    /// Makes a snapshot of this plan and sends it to the workers.
    fn reconfigure(&mut self, mut plan: Plan) {
        plan.succeed(&self.shared.books.plan);
        self.shared.net.schedule.note(|| "another configuration".to_owned());
        let config = plan.config();
        let now = Time::from_us(self.shared.net.schedule.now);
        let snapshot = Arc::new(self.snapshot.next(&config, &Guards::default(), now));
        for number in plan.services.keys() {
            let service = snapshot.service(&format!("s{number}")).unwrap();
            self.live.insert(*number, Arc::clone(service));
            if *number >= self.next_service {
                self.next_service = number + 1;
                self.services.set_mood(*number, Mood::Serving(2_000), &mut self.shared);
            }
        }
        self.shared.books.plan = plan.clone();
        self.probes.reconfigure(&config, &snapshot, &mut self.shared);
        self.snapshot = Arc::clone(&snapshot);
        for worker in 0..self.engines.len() {
            self.mail[worker].push((Arc::clone(&snapshot), plan.clone()));
            let at_most = self.shared.net.schedule.random.of(&[0, 200, 50_000]);
            self.shared.net.schedule.after(at_most, Event::Mail(worker));
        }
    }

    fn read_mail(&mut self, worker: usize) {
        for (snapshot, plan) in std::mem::take(&mut self.mail[worker]) {
            self.shared.books.adopted[worker] = plan;
            self.engine(worker, |engine, sockets| engine.adopt(snapshot, sockets));
        }
    }

    /// The invariants that hold after every step.
    fn check(&mut self) {
        self.steps += 1;
        let books = &self.shared.books;
        for (number, service) in &self.live {
            let traffic = &service.traffic;
            let found = ServiceAccount {
                active: service.active(),
                connections: traffic.connections.load(Ordering::Relaxed),
                requests: service.requests(),
                samples: traffic.ttfb_count.load(Ordering::Relaxed),
            };
            let expected = books.services.get(number).copied().unwrap_or_default();
            assert_eq!(found, expected, "s{number}: counted, and what the account says");
            let is_configured = books.plan.services.contains_key(number);
            if is_configured {
                assert_eq!(
                    service.state().admits(),
                    books.health.is_up(*number),
                    "s{number} is {:?}",
                    service.state()
                );
            }
        }
        if !self.steps.is_multiple_of(4) {
            return;
        }
        for (worker, engine) in self.engines.iter().enumerate() {
            let (clients, servers): (Vec<_>, Vec<_>) =
                self.shared.sockets[worker].values().partition(|socket| socket.client.is_some());
            assert_eq!(
                (engine.clients(), engine.servers()),
                (clients.len(), servers.len()),
                "connections of w{worker}"
            );
            assert_eq!(engine.idle_servers(), books.idle(worker), "idle connections of w{worker}");
            assert!(engine.idle_servers() <= IDLE_MOST, "w{worker} keeps {}", engine.idle_servers());
        }
        for (flow, server) in &books.flows {
            assert!(
                !(server.current.is_none() && server.stray),
                "{flow} is kept although it carried stray bytes"
            );
        }
    }

    /// Nobody comes any more: everything must come to rest by itself.
    pub fn drain(&mut self) {
        let schedule = &mut self.shared.net.schedule;
        schedule.forget(|event| matches!(event, Event::Arrival | Event::Mood | Event::Operator));
        self.run_for(REST_US);
        // Services that had fallen silent see what is closed.
        for service in 0..self.next_service {
            self.services.set_mood(service, Mood::Serving(0), &mut self.shared);
        }
        self.probes.stop();
        self.run_for(REST_US);
        for (number, service) in &self.live {
            assert_eq!(service.active(), 0, "s{number} has active transactions at rest");
        }
        for (worker, engine) in self.engines.iter().enumerate() {
            let left = (engine.clients(), engine.servers(), engine.next_deadline());
            assert_eq!(left, (0, 0, Time::NEVER), "what is left of w{worker}");
        }
        for account in self.shared.books.requests.iter().filter(|account| !account.dispatches.is_empty()) {
            assert!(account.logged, "r{} was sent to a service and is not logged", account.asked.number);
        }
        assert_eq!(self.shared.net.left(), Vec::<String>::new(), "connections are left");
        for vserver in self.snapshot.vservers() {
            assert_eq!(vserver.live.connections.load(Ordering::Relaxed), 0, "{}", vserver.name);
        }
    }

    fn run_for(&mut self, us: u64) {
        let end = self.shared.net.schedule.now + us;
        while let Some(event) = self.shared.net.schedule.next(end) {
            self.event(event);
        }
    }

    /// The last events, for one who must understand a failure.
    pub fn last(&self) -> String {
        format!("step {}\n{}", self.steps, self.shared.net.schedule.last())
    }
}

/// Small bounds and short times, so that every run meets them.
fn limits() -> Limits {
    Limits {
        clients: CLIENTS_MOST,
        logged_line_bytes: 100,
        interim_answers: INTERIM_MOST as u32,
        replay_bytes: 8_000,
        held_bytes: 8_000,
        high_water: 4_000,
        idle_per_service: 2,
        idle_total: IDLE_MOST,
        idle_server_us: 2_500_000,
        fresh_us: FRESH_US,
        connect_us: 900_000,
        head_us: 2_000_000,
        ..Limits::default()
    }
}

const CLIENTS_MOST: usize = 24;
const IDLE_MOST: usize = 5;
/// Longer than every time-out after another.
const REST_US: u64 = 60_000_000;
