//! Random histories of one virtual server: every pick equals the model's, and the decision log, rebuilt backwards, gives
//! the very tables that the model saw going forwards.

use proptest::prelude::*;
use steelyard_core::balance::decision::Decision;
use steelyard_core::balance::log::Reason;
use steelyard_core::service::{ResponseTime, State};

use crate::model::{Model, Record, Settings, Ties};
use crate::world::{Plan, World};

/// A virtual server and the model of it, kept in step.
struct Pair {
    world: World,
    model: Model,
    records: Vec<Record>,
    open: Vec<usize>,
    /// Every decision, as the model saw it.
    seen: Vec<Decision>,
    /// The log begins anew with each picker.
    logged_from: usize,
}

#[derive(Clone, Debug)]
enum Step {
    Pick,
    /// Leaves out the services at these positions.
    Retry(Vec<usize>),
    End(usize),
    Sample(usize, u64),
    Carry(usize, u64, u64),
    Wait(u64),
    State(usize, State),
    ResponseTime(usize, ResponseTime),
    Method(&'static str),
    Weight(usize, u32),
    Add(u32),
    Factor(u32),
}

impl Pair {
    fn new(method: &'static str, weights: &[u32]) -> Pair {
        let world = World::new(Plan::new(method, weights));
        let records: Vec<Record> = world.services.iter().map(record).collect();
        let model = Model::new(settings(&world.plan), &records, world.now.as_us());
        Pair { world, model, records, open: Vec::new(), seen: Vec::new(), logged_from: 0 }
    }

    fn apply(&mut self, step: Step) {
        let n = self.records.len();
        let now = self.world.now;
        match step {
            Step::Pick => self.pick(&[]),
            Step::Retry(tried) => self.pick(&tried.iter().map(|at| at % n).collect::<Vec<_>>()),
            Step::End(which) if !self.open.is_empty() => {
                let service = self.open.swap_remove(which % self.open.len());
                self.world.picker.ended(service);
                self.records[service].active -= 1;
            }
            Step::End(_) => {}
            Step::Sample(at, ttfb_us) => {
                self.world.answer(at % n + 1, ttfb_us);
                self.model.sample(&self.records, at % n, ttfb_us, now.as_us());
            }
            Step::Carry(at, bytes, packets) => {
                self.world.carry(at % n + 1, bytes, packets);
                self.model.carried(at % n, bytes, packets, now.as_us());
            }
            Step::Wait(us) => self.wait(us),
            Step::State(at, state) => {
                self.world.set_state(at % n + 1, state);
                self.change(at % n, |record| record.state = state);
            }
            Step::ResponseTime(at, time) => {
                self.world.services[at % n].set_response_time(time, now);
                self.change(at % n, |record| record.response_time = time);
            }
            Step::Method(method) => self.reconfigure(|plan| plan.method = method),
            Step::Weight(at, weight) => self.reconfigure(|plan| plan.weights[at % n] = weight),
            Step::Add(weight) => self.reconfigure(|plan| plan.weights.push(weight)),
            Step::Factor(factor) => self.reconfigure(|plan| plan.startup_factor = factor),
        }
        assert!(self.world.picker.is_sound());
        assert_eq!(self.world.picker.startup(), self.model.startup());
    }

    fn pick(&mut self, tried: &[usize]) {
        let services: Vec<_> = tried.iter().map(|at| self.world.services[*at].clone()).collect();
        let expected = self.model.choose(&self.records, self.world.now.as_us(), tried, &[]);
        let picked = self.world.picker.pick(self.world.now, &services).map(|(_, position, _)| position);
        assert_eq!(picked, expected.as_ref().map(|decision| decision.selected), "{expected:?}");
        if let Some(decision) = expected {
            self.records[decision.selected].active += 1;
            self.open.push(decision.selected);
            self.seen.push(decision);
        }
    }

    /// The tick falls on the edges of slots, as everything in the windows is told by slots.
    fn wait(&mut self, us: u64) {
        let end = self.world.now.plus_us(us);
        while let edge = self.world.now.plus_us(SLOT_US - self.world.now.as_us() % SLOT_US)
            && edge <= end
        {
            self.world.now = edge;
            self.world.picker.tick(edge);
            self.model.advance(&self.records, edge.as_us());
        }
        self.world.now = end;
    }

    fn change(&mut self, service: usize, change: impl FnOnce(&mut Record)) {
        let before = self.records.clone();
        change(&mut self.records[service]);
        if before != self.records {
            self.model.changed(&before, &self.records, service, self.world.now.as_us());
        }
    }

    fn reconfigure(&mut self, change: impl FnOnce(&mut Plan)) {
        self.compare_log();
        self.logged_from = self.seen.len();
        self.world.reconfigure(change);
        self.records.extend(self.world.services[self.records.len()..].iter().map(record));
        self.model.reconfigure(settings(&self.world.plan), &self.records, self.world.now.as_us());
    }

    /// What is still in the log is the end of what was seen, table for table.
    fn compare_log(&self) -> usize {
        let logged = self.world.picker.decisions(usize::MAX);
        let seen = &self.seen[self.logged_from..];
        assert!(logged.len() <= seen.len());
        for (logged, seen) in logged.iter().rev().zip(seen.iter().rev()) {
            assert_eq!(comparable(logged), comparable(seen));
        }
        logged.len()
    }
}

/// A service that can't be chosen is not re-keyed when the stand-in for unknown times changes: its value says nothing.
fn comparable(decision: &Decision) -> Decision {
    let mut decision = decision.clone();
    for row in decision.services.iter_mut().filter(|row| !row.eligible) {
        (row.metric, row.key) = (0, 0);
    }
    decision
}

fn record(service: &std::sync::Arc<steelyard_core::service::Service>) -> Record {
    let (state, response_time) = (service.state(), service.response_time());
    Record { name: service.name().to_owned(), active: service.active(), state, response_time }
}

fn settings(plan: &Plan) -> Settings {
    Settings {
        method: plan.method,
        ring: plan.weights.iter().copied().enumerate().collect(),
        factor: plan.startup_factor,
        slow_start: false,
    }
}

fn method() -> impl Strategy<Value = &'static str> {
    prop::sample::select(&METHODS[..])
}

fn state() -> impl Strategy<Value = State> {
    prop::sample::select(
        &[State::Up, State::Up, State::Down, State::Unknown, State::OutOfService, State::Trofs][..],
    )
}

fn response_time() -> impl Strategy<Value = ResponseTime> {
    prop_oneof![
        1 => Just(ResponseTime::Pending),
        1 => Just(ResponseTime::Never),
        4 => (1..2_000_000_u64).prop_map(ResponseTime::Known)
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let at = 0..64_usize;
    let gap = prop_oneof![6 => 0..50_000_u64, 3 => 0..2_000_000_u64, 1 => 0..20_000_000_u64];
    prop_oneof![
        60 => Just(Step::Pick),
        2 => prop::collection::vec(at.clone(), 1..4).prop_map(Step::Retry),
        40 => at.clone().prop_map(Step::End),
        20 => (at.clone(), 0..3_000_000_u64).prop_map(|(at, us)| Step::Sample(at, us)),
        20 => (at.clone(), 0..1_000_000_u64, 0..700_u64).prop_map(|(at, bytes, packets)| Step::Carry(at, bytes, packets)),
        15 => gap.prop_map(Step::Wait),
        5 => (at.clone(), state()).prop_map(|(at, state)| Step::State(at, state)),
        5 => (at.clone(), response_time()).prop_map(|(at, time)| Step::ResponseTime(at, time)),
        1 => method().prop_map(Step::Method),
        1 => (at, 1..=100_u32).prop_map(|(at, weight)| Step::Weight(at, weight)),
        1 => (1..=100_u32).prop_map(Step::Add),
        1 => (0..3_u32).prop_map(Step::Factor),
    ]
}

proptest! {
    #![proptest_config(super::cases(192))]

    #[test]
    fn every_pick_and_every_logged_table_is_the_models(
        method in method(),
        weights in prop::collection::vec(prop_oneof![Just(1_u32), 1..=4_u32, 1..=100_u32], 1..12),
        steps in prop::collection::vec(step(), 1..500),
    ) {
        let mut pair = Pair::new(method, &weights);
        for step in steps {
            pair.apply(step);
        }
        pair.compare_log();
        while let Some(service) = pair.open.pop() {
            pair.world.picker.ended(service);
        }
        prop_assert!(pair.world.services.iter().all(|service| service.active() == 0));
    }
}

/// The ring of events wraps round many times; what it still holds is exact to the oldest pick.
#[test]
fn a_log_that_has_wrapped_round_is_exact() {
    for method in METHODS {
        let mut pair = Pair::new(method, &[1, 3, 2, 1, 7]);
        for n in 0..20_000_usize {
            pair.apply(Step::Pick);
            if n % 3 > 0 || pair.open.len() > 30 {
                pair.apply(Step::End(n * 7));
            }
            if n % 5 == 0 {
                pair.apply(Step::Sample(n / 5, (n as u64 * 7919) % 100_000));
                pair.apply(Step::Carry(n / 3, (n as u64 * 104_729) % 10_000, n as u64 % 9));
            }
            if n % 50 == 0 {
                pair.apply(Step::Wait(70_000));
                pair.apply(Step::State(n / 50, if n % 100 == 0 { State::Down } else { State::Up }));
            }
        }
        let logged = pair.compare_log();
        assert!((1_000..20_000).contains(&logged), "{method}: {logged} decisions held");
    }
}

/// Start-up round robin hands over to the method within one log; both kinds of table are rebuilt.
#[test]
fn the_log_spans_startup_and_method() {
    let mut pair = Pair::new("LEASTCONNECTION", &[2, 3, 4]);
    (0..130).for_each(|_| pair.apply(Step::Pick));
    assert_eq!(pair.compare_log(), 130);
    let reasons: Vec<Reason> = pair.world.picker.decisions(130).iter().map(|d| d.reason).collect();
    assert!(reasons[..100].iter().all(|r| *r == Reason::StartupRoundRobin));
    assert!(reasons[100..].iter().all(|r| *r == Reason::Method));
}

/// The test of the test: with ties resolved by another rule, no history would pass.
#[test]
#[should_panic(expected = "left == right")]
fn another_tie_rule_is_found_out() {
    let mut pair = Pair::new("LEASTCONNECTION", &[1, 1, 1]);
    pair.model.ties = Ties::LowestIndex;
    for _ in 0..110 {
        pair.apply(Step::Pick);
        pair.apply(Step::End(0));
    }
}

const METHODS: [&str; 7] = [
    "ROUNDROBIN",
    "LEASTCONNECTION",
    "LEASTRESPONSETIME",
    "LRTM",
    "LEASTREQUEST",
    "LEASTBANDWIDTH",
    "LEASTPACKETS",
];
const SLOT_US: u64 = 100_000;
