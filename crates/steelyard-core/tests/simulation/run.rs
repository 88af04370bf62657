//! One seeded run: several engines, the monitors, clients, services and an operator in virtual time, and the invariants
//! after every step.

mod calls;
mod invariants;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use steelyard_core::config::Config;
use steelyard_core::config::departure::Departures;
use steelyard_core::config::difference::Difference;
use steelyard_core::config::guard::Guards;
use steelyard_core::config::renamed::Renamed;
use steelyard_core::proxy::engine::Engine;
use steelyard_core::proxy::limits::Limits;
use steelyard_core::service::Service;
use steelyard_core::snapshot::Snapshot;
use steelyard_core::time::Time;
use steelyard_core::vserver::VirtualServer;

use self::calls::{Calls, Wakes};
use crate::answers::INTERIM_MOST;
use crate::books::{Books, ClientAccount, FRESH_US, Named, Planted};
use crate::clients::Clients;
use crate::network::{Network, Notice, Owner, Side, What};
use crate::plan::{Plan, Vserver};
use crate::probes::Probes;
use crate::schedule::{Event, Notes, Schedule};
use crate::services::{Mood, Services};
use crate::sockets::{Shared, Socket, Sockets, look, tell};
use crate::streams::Streams;
use crate::surge::{CONNECT_US, SURGE_US};

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
    /// What it was made of.
    config: Config,
    /// Its virtual servers.
    vservers: Vec<(Named, Arc<VirtualServer>)>,
    /// Every live service that there ever was, by number.
    live: BTreeMap<usize, Arc<Service>>,
    clients: Clients,
    services: Services,
    streams: Streams,
    probes: Probes,
    next_service: usize,
    gap_us: u64,
    steps: u64,
    /// Active transactions and connections of each service at the last step.
    taken: BTreeMap<usize, (u64, u64)>,
}

impl Simulation {
    pub fn new(seed: u64, planted: Planted, notes: Notes) -> Simulation {
        let mut schedule = Schedule::new(seed, notes);
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
            config: Config::default(),
            vservers: Vec::new(),
            live: BTreeMap::new(),
            clients: Clients::default(),
            services: Services::default(),
            streams: Streams::default(),
            probes: Probes::new(seed),
            next_service,
            gap_us: 5_000,
            steps: 0,
            taken: BTreeMap::new(),
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

    /// Runs so many events, and then until all is at rest. How many requests were answered.
    pub fn whole(&mut self, events: usize) -> u64 {
        for _ in 0..events {
            let event = self.shared.net.schedule.next(u64::MAX).expect("there is always something");
            self.event(event);
        }
        self.drain();
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
            Event::Talk(flow, side) => self.streams.talk(flow, side, shared),
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
            Event::Called(worker, waiter) => self.hear(worker, waiter),
            Event::AskedBack(worker, service) => {
                let service = Arc::clone(&self.live[&service]);
                self.engine(worker, None, |engine, sockets| engine.asked_back(&service, sockets));
            }
            Event::Flush(worker) => self.engine(worker, None, |engine, sockets| engine.flush(sockets)),
        }
        self.check();
        while let Some(notice) = self.shared.net.notices.pop_front() {
            self.notice(notice);
            self.check();
        }
    }

    fn notice(&mut self, notice: Notice) {
        let Notice { owner, flow, what } = notice;
        let shared = &mut self.shared;
        match owner {
            Owner::Worker(worker, id) => {
                let client = self.client_of(worker, id);
                if let Some(told) = look(&mut self.shared, worker, id, flow, what) {
                    self.engine(worker, client, |engine, sockets| tell(engine, told, id, sockets));
                }
            }
            Owner::Client(id) if what == What::Readable => {
                if !self.streams.readable(flow, Side::Opener, shared) {
                    self.clients.readable(id, shared);
                }
            }
            Owner::Service(number) if what == What::Accepted && shared.books.configured[&number].tcp => {
                self.streams.begin(flow, Side::Listener, Some(number), shared);
            }
            Owner::Service(number) if what == What::Accepted => self.services.accepted(number, flow, shared),
            Owner::Service(_) if what == What::Readable => {
                if !self.streams.readable(flow, Side::Listener, shared) {
                    self.services.readable(flow, shared);
                }
            }
            Owner::Probe(id) => self.probes.look(id, what, &self.services, shared),
            Owner::Client(_) | Owner::Service(_) => {}
        }
    }

    /// Lets an engine act, on behalf of a client if that is known, and plans its next deadline.
    fn engine<R>(
        &mut self,
        worker: usize,
        client: Option<u64>,
        act: impl FnOnce(&mut Engine, &mut Sockets<'_>) -> R,
    ) -> R {
        self.shared.books.surge.answered.clear();
        self.shared.books.surge.acting = client;
        let engine = &mut self.engines[worker];
        let result = act(engine, &mut Sockets { shared: &mut self.shared, worker });
        let asked = self.take_calls();
        self.note_joined(client, worker, &asked);
        let engine = &mut self.engines[worker];
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
        self.engine(worker, None, |engine, sockets| {
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
        let worker = net.schedule.random.below(self.engines.len());
        // It meets the virtual server that its worker knows, which may be an earlier one of that name, and speaks its protocol.
        let known = books.adopted[worker].vservers.get(&number).unwrap_or(&books.plan.vservers[&number]);
        let (vserver, tcp) = (Named { number, identity: known.identity }, known.tcp);
        let nobody = books.has_nobody(vserver, worker);
        let peer = ([127, 0, 0, 9], 999).into();
        let name = format!("v{number}");
        let up_to_date = self.mail[worker].is_empty();
        let full = self.engines[worker].clients() >= CLIENTS_MOST;
        let client = self.clients.number();
        let account = ClientAccount { vserver, tcp, worker };
        self.shared.books.clients.insert(client, account);
        let accepted =
            self.engine(worker, Some(client), |engine, sockets| engine.accepted(&name, peer, sockets));
        assert!(
            !up_to_date || accepted.is_some() != (nobody || full),
            "{name}: {accepted:?}, nobody {nobody}"
        );
        let Some(id) = accepted else { return self.shared.books.client_gone(client) };
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
        if tcp {
            self.streams.begin(flow, Side::Opener, None, &mut self.shared);
        } else {
            self.clients.add(client, flow, account, &mut self.shared);
        }
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
        if mood == Mood::Dead {
            self.streams.die(service, &mut self.shared);
        }
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
        let difference = match self.snapshot.generation {
            0 => Difference::whole(),
            _ => Difference::between(&self.config, &config, &Departures::default(), &Renamed::default()),
        };
        let now = Time::from_us(self.shared.net.schedule.now);
        let snapshot = Arc::new(self.snapshot.next_by(&difference, &config, &Guards::default(), now));
        for number in plan.services.keys() {
            let service = snapshot.service(&format!("s{number}")).unwrap();
            self.live.insert(*number, Arc::clone(service));
            if *number >= self.next_service {
                self.next_service = number + 1;
                self.services.set_mood(*number, Mood::Serving(2_000), &mut self.shared);
            }
        }
        self.shared.books.note_empty();
        self.shared.books.plan = plan.clone();
        self.shared.books.configured.extend(&plan.services);
        for (number, service) in &plan.services {
            let most = self.shared.books.loosest.entry(*number).or_insert(service.max_client);
            *most = if *most == 0 || service.max_client == 0 { 0 } else { service.max_client.max(*most) };
        }
        self.shared.books.limited |= plan.services.values().any(|service| service.max_client > 0);
        self.take_calls();
        self.probes.reconfigure(&difference, &config, (&self.snapshot, &snapshot), &mut self.shared);
        (self.snapshot, self.config) = (Arc::clone(&snapshot), config);
        let named = |(number, vserver): (&usize, &Vserver)| {
            let live = snapshot.vserver(&format!("v{number}")).unwrap();
            (Named { number: *number, identity: vserver.identity }, Arc::clone(live))
        };
        self.vservers = plan.vservers.iter().map(named).collect();
        for worker in 0..self.engines.len() {
            self.mail[worker].push((Arc::clone(&snapshot), plan.clone()));
            let at_most = self.shared.net.schedule.random.of(&[0, 200, 50_000]);
            self.shared.net.schedule.after(at_most, Event::Mail(worker));
        }
    }

    fn read_mail(&mut self, worker: usize) {
        for (snapshot, plan) in std::mem::take(&mut self.mail[worker]) {
            self.shared.books.adopted[worker] = plan;
            self.shared.books.was_empty[worker].clear();
            self.engine(worker, None, |engine, sockets| engine.adopt(snapshot, sockets));
        }
    }

    /// Lets time pass until the engines have nothing left, and a while longer; or until that should have come.
    fn rest(&mut self) {
        let most = self.shared.net.schedule.now + REST_US;
        let mut end = most;
        while let Some(event) = self.shared.net.schedule.next(end) {
            self.event(event);
            let is_empty = |engine: &Engine| engine.clients() == 0 && engine.servers() == 0;
            if end == most && self.engines.iter().all(is_empty) {
                end = most.min(self.shared.net.schedule.now + LINGERS_US);
            }
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
        connect_us: CONNECT_US,
        head_us: 2_000_000,
        surge_us: SURGE_US,
        ..Limits::default()
    }
}

const CLIENTS_MOST: usize = 24;
const IDLE_MOST: usize = 5;
/// Longer than every time-out after another.
const REST_US: u64 = 90_000_000;
/// Longer than what lingers.
const LINGERS_US: u64 = 7_000_000;
