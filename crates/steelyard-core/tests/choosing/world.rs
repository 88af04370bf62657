//! A picker with its services in virtual time, and the means to put them into a given state.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use steelyard_core::balance::log::{ALL_LOGS_BYTES, Budget};
use steelyard_core::balance::method;
use steelyard_core::balance::picker::{Picker, Seat};
use steelyard_core::balance::setup::{Bound, Setup};
use steelyard_core::balance::slow_start::SlowStart;
use steelyard_core::service::waker::{Caller, Waker};
use steelyard_core::service::{Service, State};
use steelyard_core::time::{SECOND_US, Time};
use steelyard_core::vserver::VirtualServer;
use steelyard_core::vserver::select::{Assigned, Selection, Unavailable};

/// One virtual server's choosing, with a clock of its own.
pub struct World {
    pub now: Time,
    pub services: Vec<Arc<Service>>,
    pub picker: Arc<Picker>,
    pub seat: Arc<Seat>,
    pub plan: Plan,
}

/// What the virtual server is configured to.
#[derive(Clone)]
pub struct Plan {
    pub method: &'static str,
    pub weights: Vec<u32>,
    pub startup_factor: u32,
    pub slow_start: Option<SlowStart>,
}

impl Plan {
    pub fn new(method: &'static str, weights: &[u32]) -> Plan {
        Plan { method, weights: weights.to_vec(), startup_factor: 0, slow_start: None }
    }
}

impl World {
    /// A new virtual server whose services are all UP.
    pub fn new(plan: Plan) -> World {
        let services: Vec<_> = (1..=plan.weights.len()).map(|n| service(n, State::Up)).collect();
        let (seat, now) = (Arc::default(), Time::ZERO);
        let picker = build(&plan, &services, &seat, now);
        World { now, services, picker, seat, plan }
    }

    /// The same past start-up round robin: its requests were distributed and completed.
    pub fn settled(plan: Plan) -> World {
        let mut world = World::new(plan);
        world.settle();
        world
    }

    /// Leaves start-up round robin behind.
    pub fn settle(&mut self) {
        while self.picker.startup().is_some() {
            self.serve();
        }
    }

    /// Puts a changed plan into force.
    pub fn reconfigure(&mut self, change: impl FnOnce(&mut Plan)) {
        change(&mut self.plan);
        while self.services.len() < self.plan.weights.len() {
            self.services.push(service(self.services.len() + 1, State::Up));
        }
        let bound = &self.services[..self.plan.weights.len()];
        self.picker = build(&self.plan, bound, &self.seat, self.now);
    }

    /// Chooses, and leaves the transaction open. Services count from 1, as in the documents.
    pub fn pick(&mut self) -> usize {
        self.picker.pick(self.now, &[]).expect("a candidate").1 + 1
    }

    /// Chooses, and completes the transaction at once.
    pub fn serve(&mut self) -> usize {
        let chosen = self.pick();
        self.picker.ended(chosen - 1);
        chosen
    }

    /// Opens transactions at a service as another virtual server would.
    pub fn open(&mut self, chosen: usize, count: usize) {
        (0..count).for_each(|_| self.services[chosen - 1].begin());
        self.picker.bound();
    }

    /// A status-200 answer with this time to first byte.
    pub fn answer(&mut self, chosen: usize, ttfb_us: u64) {
        self.picker.ttfb(chosen - 1, ttfb_us, self.now);
    }

    /// Bytes to the service and packets both ways.
    pub fn carry(&mut self, chosen: usize, bytes: u64, packets: u64) {
        let traffic = &self.services[chosen - 1].traffic;
        traffic.request_bytes.fetch_add(bytes, Ordering::Relaxed);
        traffic.packets.fetch_add(packets, Ordering::Relaxed);
        self.picker.carried(chosen - 1, self.now);
    }

    /// Lets time pass, with the 100 ms tick.
    pub fn wait_ms(&mut self, ms: u64) {
        self.wait_until(self.now.plus_us(ms * 1000));
    }

    /// The same up to `end`.
    pub fn wait_until(&mut self, end: Time) {
        while self.now.plus_us(SECOND_US / 10) <= end {
            self.now = self.now.plus_us(SECOND_US / 10);
            self.picker.tick(self.now);
        }
        self.now = end;
    }

    pub fn set_state(&mut self, chosen: usize, state: State) {
        self.services[chosen - 1].set_state(state, self.now);
    }
}

/// A decision of a virtual server for somebody who does not wait: [`Unavailable::Crowded`] where he would have to.
pub fn select(vserver: &VirtualServer, now: Time, tried: &[Arc<Service>]) -> Result<Assigned, Unavailable> {
    let waker = Arc::new(Nobody) as Arc<dyn Waker>;
    match vserver.select(now, tried, Caller { waker: &waker, id: 0 })? {
        Selection::Taken(assigned) => Ok(assigned),
        Selection::Waits(_) => Err(Unavailable::Crowded),
    }
}

struct Nobody;

impl Waker for Nobody {
    fn wake(&self, _: u64) {}
}

fn service(number: usize, state: State) -> Arc<Service> {
    let address = format!("127.0.0.{number}:80").parse().unwrap();
    Service::new(&format!("Service-HTTP-{number}"), address, state)
}

fn build(plan: &Plan, services: &[Arc<Service>], seat: &Arc<Seat>, now: Time) -> Arc<Picker> {
    let bound = services.iter().zip(&plan.weights);
    let setup = Setup {
        method: method(plan.method).expect("a method"),
        services: bound.map(|(s, w)| Bound::new(Arc::clone(s), *w)).collect(),
        startup_factor: plan.startup_factor,
        slow_start: plan.slow_start,
        budget: Budget::new(ALL_LOGS_BYTES),
    };
    let picker = Picker::take_over(setup, seat, now);
    for (position, service) in services.iter().enumerate() {
        service.bind(Arc::from([picker.binding(position)]), usize::from(plan.method == "LEASTPACKETS"));
    }
    picker.bound();
    picker
}
