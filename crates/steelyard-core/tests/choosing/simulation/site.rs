//! The balancer under test and the models of its virtual servers, kept in step; whatever is done to one is done to the
//! other, and after every step they are compared.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use steelyard_core::balance::decision::Decision;
use steelyard_core::config::departure::Departures;
use steelyard_core::config::difference::Difference;
use steelyard_core::config::guard::Guards;
use steelyard_core::config::renamed::Renamed;
use steelyard_core::service::{ResponseTime, Service, State};
use steelyard_core::snapshot::Snapshot;
use steelyard_core::time::Time;
use steelyard_core::vserver::VirtualServer;
use steelyard_core::vserver::select::Assigned;

use super::plan::{Plan, Vserver};
use crate::model::{Model, Record, Settings, Ties};
use crate::world::select;

pub struct Site {
    pub now: u64,
    pub plan: Plan,
    snapshot: Snapshot,
    /// Snapshots that some worker may still use.
    older: Vec<Snapshot>,
    /// Every service that ever was; one that is removed and added again is another.
    pub services: Vec<Arc<Service>>,
    pub records: Vec<Record>,
    begun: Vec<u64>,
    /// By name, of those that are configured.
    live: BTreeMap<String, usize>,
    models: BTreeMap<usize, Twin>,
    ties: Ties,
    steps: usize,
    pub picks: u64,
}

/// The model of a virtual server.
struct Twin {
    model: Model,
    /// Decisions not yet compared with the log.
    seen: Vec<Decision>,
    hits: u64,
}

/// A transaction that is open.
pub struct Open {
    pub assigned: Assigned,
    pub service: usize,
}

impl Site {
    pub fn new(plan: Plan, ties: Ties) -> Site {
        let mut site = Site {
            now: 0,
            plan: Plan::default(),
            snapshot: Snapshot::default(),
            older: Vec::new(),
            services: Vec::new(),
            records: Vec::new(),
            begun: Vec::new(),
            live: BTreeMap::new(),
            models: BTreeMap::new(),
            ties,
            steps: 0,
            picks: 0,
        };
        site.reconfigure(plan);
        site
    }

    /// Puts a plan into force.
    pub fn reconfigure(&mut self, plan: Plan) {
        (0..4).for_each(|number| self.compare_log(number));
        let (now, config) = (self.time(), plan.config());
        let difference = match self.snapshot.generation {
            0 => Difference::whole(),
            _ => {
                Difference::between(&self.plan.config(), &config, &Departures::default(), &Renamed::default())
            }
        };
        let next = self.snapshot.next_by(&difference, &config, &Guards::default(), now);
        let before = std::mem::replace(&mut self.snapshot, next);
        self.adopt_services(&plan);
        let old = std::mem::replace(&mut self.plan, plan);
        let gone = |number: &usize| !self.plan.vservers.iter().any(|v| v.number == *number);
        self.models.retain(|number, _| !gone(number));
        for vserver in self.plan.vservers.clone() {
            let was = old.vservers.iter().find(|v| v.number == vserver.number);
            self.adopt_vserver(&vserver, was, &before);
        }
        self.older.push(before);
        if self.older.len() > 3 {
            self.older.remove(0);
        }
        for (name, enabled) in self.plan.names() {
            let service = self.live[&name];
            match (enabled, self.records[service].state) {
                (false, _) => self.set_state(service, State::OutOfService),
                (true, State::OutOfService) => self.set_state(service, State::Down),
                _ => (),
            }
        }
    }

    /// New live objects where the plan has new names; the same where it has the old ones. A member that comes back to its
    /// group is the one that it was, a service that is removed and added again is another.
    fn adopt_services(&mut self, plan: &Plan) {
        let mut live = BTreeMap::new();
        for (name, _) in plan.names() {
            let service = self.snapshot.service(&name).unwrap();
            let left = |record: &Record| record.name == name && name.contains('?');
            let before = self.live.get(&name).copied();
            let index = match before.or_else(|| self.records.iter().rposition(left)) {
                Some(index) => index,
                None => {
                    let (state, response_time) = (State::Down, ResponseTime::Never);
                    self.records.push(Record { name: name.clone(), active: 0, state, response_time });
                    assert!(
                        !self.services.iter().any(|s| Arc::ptr_eq(s, service)),
                        "{name} is no new object"
                    );
                    self.services.push(Arc::clone(service));
                    self.begun.push(0);
                    self.records.len() - 1
                }
            };
            assert!(Arc::ptr_eq(service, &self.services[index]), "{name} is another live object");
            live.insert(name, index);
        }
        self.live = live;
    }

    fn adopt_vserver(&mut self, vserver: &Vserver, was: Option<&Vserver>, before: &Snapshot) {
        let settings = Settings {
            method: vserver.method,
            ring: self.plan.ring(vserver).iter().map(|(name, weight)| (self.live[name], *weight)).collect(),
            factor: self.plan.factor,
            slow_start: vserver.slow_start.is_some(),
        };
        let (Some(twin), Some(was)) = (self.models.get_mut(&vserver.number), was) else {
            let mut model = Model::new(settings, &self.records, self.now);
            model.ties = self.ties;
            self.models.insert(vserver.number, Twin { model, seen: Vec::new(), hits: 0 });
            return;
        };
        let [old, new] = [before, &self.snapshot].map(|s| s.vserver(&vserver.name()).unwrap());
        if Arc::ptr_eq(&old.picker, &new.picker) {
            assert_eq!(twin.model.settings, settings, "a picker was kept whose settings changed");
        } else {
            twin.model.reconfigure(settings, &self.records, self.now);
        }
        if vserver.enabled && !was.enabled {
            twin.model.trigger(steelyard_core::balance::startup::StartupReason::VserverEnabled);
        }
    }

    /// One request at a virtual server, from a worker that may be `behind` by some snapshots.
    pub fn request(&mut self, number: usize, behind: usize, tried: &[usize]) -> Option<Open> {
        let (vserver, current) = self.vserver(number, behind)?;
        let services: Vec<_> = tried.iter().map(|index| Arc::clone(&self.services[*index])).collect();
        let assigned = select(&vserver, self.time(), &services);
        if !vserver.enabled || !current {
            assert!(assigned.is_err(), "v{number} takes requests although it is disabled or gone");
            return None;
        }
        let slowed = self.slowed(&vserver, assigned.is_ok());
        let twin = self.models.get_mut(&number).unwrap();
        if twin.model.settings.slow_start && assigned.is_err() {
            // Whom slow start holds back is read from the decision, and there is none.
            twin.model.advance(&self.records, self.now);
            return None;
        }
        let expected = twin.model.choose(&self.records, self.now, tried, &slowed);
        let Some(decision) = expected else {
            assert!(assigned.is_err(), "v{number} chose where nobody could be chosen");
            return None;
        };
        let assigned = assigned.unwrap_or_else(|e| panic!("v{number}: {e:?} instead of {decision:?}"));
        let service = twin.model.settings.ring[decision.selected].0;
        assert!(
            Arc::ptr_eq(assigned.service(), &self.services[service]),
            "v{number} chose {} instead of {decision:?}",
            assigned.service().name()
        );
        twin.seen.push(decision);
        twin.hits += 1;
        self.records[service].active += 1;
        self.begun[service] += 1;
        self.picks += 1;
        Some(Open { assigned, service })
    }

    /// The virtual server as a worker sees it, and whether that is still the one that exists.
    fn vserver(&self, number: usize, behind: usize) -> Option<(Arc<VirtualServer>, bool)> {
        let snapshot = self.older.iter().rev().nth(behind.wrapping_sub(1)).unwrap_or(&self.snapshot);
        let name = format!("v{number}");
        let seen = snapshot.vserver(&name)?;
        let current = self.snapshot.vserver(&name).is_some_and(|v| Arc::ptr_eq(&v.seat, &seen.seat));
        Some((Arc::clone(seen), current))
    }

    fn slowed(&self, vserver: &VirtualServer, chose: bool) -> Vec<usize> {
        let Some(current) = self.snapshot.vserver(&vserver.name).filter(|_| chose) else { return Vec::new() };
        let number: usize = vserver.name[1..].parse().unwrap();
        if !self.models[&number].model.settings.slow_start {
            return Vec::new();
        }
        let decisions = current.decisions(1);
        let rows = decisions[0].services.iter().enumerate();
        rows.filter(|(_, row)| row.why_not == Some("slow start")).map(|(at, _)| at).collect()
    }

    pub fn first_byte(&mut self, open: &Open, status: u16, ttfb_us: u64) {
        open.assigned.first_byte(status, ttfb_us, self.time());
        if status == 200 {
            for twin in self.models.values_mut() {
                if let Some(position) = twin.model.position(open.service) {
                    twin.model.sample(&self.records, position, ttfb_us, self.now);
                }
            }
        }
    }

    pub fn carried(&mut self, open: &Open, sent: u64, received: u64) {
        let (now, packets) = (self.time(), (sent + received) / 1000 + 1);
        open.assigned.sent(sent, now);
        open.assigned.received(received, now);
        let watched = |twin: &Twin| {
            twin.model.settings.method == "LEASTPACKETS" && twin.model.position(open.service).is_some()
        };
        let counts = self.services[open.service].counts_packets();
        assert_eq!(counts, self.models.values().any(watched), "packets are counted for LEASTPACKETS alone");
        if counts {
            open.assigned.packets(packets, now);
        }
        for twin in self.models.values_mut() {
            if let Some(position) = twin.model.position(open.service) {
                twin.model.carried(position, sent + received, packets, self.now);
            }
        }
    }

    pub fn end(&mut self, open: Open) {
        self.records[open.service].active -= 1;
        drop(open.assigned);
    }

    pub fn set_state(&mut self, service: usize, state: State) {
        self.services[service].set_state(state, self.time());
        self.change(service, |record| record.state = state);
    }

    pub fn set_response_time(&mut self, service: usize, time: ResponseTime) {
        self.services[service].set_response_time(time, self.time());
        self.change(service, |record| record.response_time = time);
    }

    fn change(&mut self, service: usize, change: impl FnOnce(&mut Record)) {
        let before = self.records.clone();
        change(&mut self.records[service]);
        if before != self.records {
            for twin in self.models.values_mut() {
                twin.model.changed(&before, &self.records, service, self.now);
            }
        }
    }

    /// Services that are configured and enabled.
    pub fn enabled(&self) -> Vec<usize> {
        let names = self.plan.names();
        names.iter().filter(|(_, enabled)| *enabled).map(|(name, _)| self.live[name]).collect()
    }

    pub fn tick(&mut self) {
        for vserver in self.snapshot.vservers() {
            vserver.tick(self.time());
        }
        for twin in self.models.values_mut() {
            twin.model.advance(&self.records, self.now);
        }
    }

    /// The invariants, after every step.
    pub fn check(&mut self) {
        self.steps += 1;
        for (record, service) in self.records.iter().zip(&self.services) {
            assert_eq!(service.active(), record.active, "{}: active is what is open", record.name);
        }
        for (number, twin) in &self.models {
            let vserver = self.snapshot.vserver(&format!("v{number}")).unwrap();
            assert!(vserver.picker.is_sound(), "v{number}");
            assert_eq!(vserver.picker.startup(), twin.model.startup(), "v{number}");
            if self.steps.is_multiple_of(8) {
                let metrics = vserver.picker.metrics();
                for (at, value) in twin.model.values(&self.records) {
                    assert_eq!(metrics[at], value, "v{number}: the value of {at} before any pick needs it");
                }
            }
        }
        (0..4).filter(|number| self.seen(*number) >= 32).collect::<Vec<_>>().into_iter().for_each(|number| {
            self.compare_log(number);
        });
    }

    fn seen(&self, number: usize) -> usize {
        self.models.get(&number).map_or(0, |twin| twin.seen.len())
    }

    /// The tables that the log gives are those that the model saw.
    fn compare_log(&mut self, number: usize) {
        let Some(twin) = self.models.get_mut(&number) else { return };
        let seen = std::mem::take(&mut twin.seen);
        let logged = self.snapshot.vserver(&format!("v{number}")).unwrap().decisions(seen.len());
        assert_eq!(logged.len(), seen.len(), "v{number}");
        for (logged, seen) in logged.into_iter().zip(seen) {
            assert_eq!(comparable(logged), comparable(seen), "v{number}");
        }
    }

    /// After every transaction has ended: nothing is left open, and nothing was counted twice or not at all.
    pub fn at_rest(&self) {
        for (index, service) in self.services.iter().enumerate() {
            assert_eq!(service.active(), 0, "{}", service.name());
            assert_eq!(service.requests(), self.begun[index]);
        }
        for (number, twin) in &self.models {
            let vserver = self.snapshot.vserver(&format!("v{number}")).unwrap();
            assert_eq!(vserver.live.hits.load(Ordering::Relaxed), twin.hits);
        }
    }

    fn time(&self) -> Time {
        Time::from_us(self.now)
    }
}

/// What can't be chosen is not re-keyed by what changes for candidates alone: its value says nothing.
fn comparable(mut decision: Decision) -> Decision {
    for row in decision.services.iter_mut().filter(|row| !row.eligible) {
        (row.metric, row.key) = (0, 0);
    }
    decision
}
