//! The rule read a second time, from the documents alone and by brute force: no tree, no wheel, no running sums.
//!
//! Owns what one virtual server would have to remember to decide by hand: the samples and amounts of 14 s one by one,
//! the time of every pick, rounds and turns. What services are doing comes from the test's own records, never from the
//! code under test. Slow start's caps are not modelled: whom they hold back is told to it.

use steelyard_core::balance::decision::{Decision, Row};
use steelyard_core::balance::log::Reason;
use steelyard_core::balance::startup::StartupReason;
use steelyard_core::service::{ResponseTime, State};

/// What a test knows about a service, from what it did to it.
#[derive(Clone, PartialEq, Debug)]
pub struct Record {
    pub name: String,
    pub active: u64,
    pub state: State,
    pub response_time: ResponseTime,
}

/// How a virtual server is configured.
#[derive(Clone, PartialEq, Debug)]
pub struct Settings {
    pub method: &'static str,
    /// Index of each service's [`Record`], and its weight.
    pub ring: Vec<(usize, u32)>,
    pub factor: u32,
    /// Is per-service slow start configured?
    pub slow_start: bool,
}

/// One virtual server.
#[derive(Clone)]
pub struct Model {
    pub settings: Settings,
    pub entries: Vec<Entry>,
    /// Which of the tied is taken; a test of the tests plants a wrong one.
    pub ties: Ties,
    last: Option<usize>,
    round: u64,
    startup: Startup,
    /// The second in which each pick fell.
    picks: Vec<u64>,
    second: u64,
    frozen_us: u64,
}

/// A bound service.
#[derive(Clone, Default)]
pub struct Entry {
    /// The round it is in, and how many turns it has taken in it.
    round: u64,
    used: u32,
    slowed: bool,
    samples: Vec<(u64, u64)>,
    mean_us: Option<u64>,
    carried: Vec<(u64, u64)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Ties {
    /// As documented: the first one met after the last selected.
    RingOrder,
    /// Wrong: the first one bound.
    LowestIndex,
}

#[derive(Clone, Copy)]
struct Startup {
    left: u64,
    reason: StartupReason,
    new: bool,
}

impl Model {
    /// A new virtual server at `now_us`.
    pub fn new(settings: Settings, records: &[Record], now_us: u64) -> Model {
        let bound = settings.ring.len() as u64;
        let left = if settings.factor > 0 { u64::from(settings.factor) * bound } else { 100 };
        let mut model = Model {
            entries: vec![Entry::default(); settings.ring.len()],
            ties: Ties::RingOrder,
            last: None,
            round: 0,
            startup: Startup { left, reason: StartupReason::ServiceBound, new: true },
            picks: Vec::new(),
            second: now_us / SECOND_US,
            frozen_us: 1,
            settings,
        };
        model.end_startup_where_it_has_no_place();
        model.freeze(records);
        model
    }

    /// What time alone changes.
    pub fn advance(&mut self, records: &[Record], now_us: u64) {
        let slot = now_us / SLOT_US;
        for entry in &mut self.entries {
            let before = entry.samples.len();
            entry.samples.retain(|(at, _)| at + SLOTS > slot);
            if entry.samples.len() < before && !entry.samples.is_empty() {
                entry.mean_us = Some(entry.mean());
            }
            entry.carried.retain(|(at, _)| at + SLOTS > slot);
        }
        if now_us / SECOND_US != self.second {
            self.second = now_us / SECOND_US;
            self.freeze(records);
        }
    }

    /// The decision for one request, or `None` when there is no candidate. The caller counts the transaction.
    pub fn choose(
        &mut self,
        records: &[Record],
        now_us: u64,
        tried: &[usize],
        slowed: &[usize],
    ) -> Option<Decision> {
        self.advance(records, now_us);
        self.let_go(slowed);
        let tried_here: Vec<usize> =
            self.settings.ring.iter().map(|(s, _)| *s).filter(|s| tried.contains(s)).collect();
        let (by_turns, fallback) = (self.by_turns(records), self.is_fallback(records));
        let rows: Vec<Row> =
            (0..self.entries.len()).map(|at| self.row(records, at, by_turns, &tried_here)).collect();
        let eligible: Vec<usize> = (0..rows.len()).filter(|at| rows[*at].eligible).collect();
        let least = eligible.iter().copied().min_by(|a, b| compare(&rows[*a], &rows[*b], by_turns))?;
        let is_least = |at: &usize| compare(&rows[*at], &rows[least], by_turns).is_eq();
        let tied: Vec<usize> = eligible.into_iter().filter(is_least).collect();
        let selected = self.resolve(&tied);
        let decision = Decision {
            request: self.picks.len() as u64 + 1,
            at_us: now_us,
            reason: if !tried_here.is_empty() {
                Reason::Retry
            } else if self.startup.left > 0 {
                Reason::StartupRoundRobin
            } else if fallback {
                Reason::Fallback
            } else if !slowed.is_empty() {
                Reason::SlowStart
            } else {
                Reason::Method
            },
            rule: match (by_turns, fallback) {
                (true, _) => "ROUNDROBIN",
                (false, true) => "LEASTCONNECTION",
                (false, false) => self.settings.method,
            },
            last_selected: self.last,
            services: rows,
            tied,
            selected,
        };
        self.take(selected, by_turns, now_us);
        Some(decision)
    }

    /// A status-200 answer of the service at `position`.
    pub fn sample(&mut self, records: &[Record], position: usize, ttfb_us: u64, now_us: u64) {
        if self.settings.method != "LEASTRESPONSETIME" {
            return;
        }
        self.advance(records, now_us);
        let none_known = self.none_known(records);
        let entry = &mut self.entries[position];
        entry.samples.push((now_us / SLOT_US, ttfb_us.max(1)));
        entry.mean_us = Some(entry.mean());
        if none_known && !self.none_known(records) {
            self.freeze(records);
        }
    }

    /// The service at `position` carried something.
    pub fn carried(&mut self, position: usize, bytes: u64, packets: u64, now_us: u64) {
        let amount = match self.settings.method {
            "LEASTBANDWIDTH" => bytes,
            "LEASTPACKETS" => packets,
            _ => return,
        };
        self.entries[position].carried.push((now_us / SLOT_US, amount));
    }

    /// The record of `service` changed from what it is in `before`.
    pub fn changed(&mut self, before: &[Record], records: &[Record], service: usize, now_us: u64) {
        let Some(position) = self.position(service) else { return };
        self.advance(before, now_us);
        let none_known = self.none_known(before);
        if records[service].state.admits() && !before[service].state.admits() {
            let entry = &mut self.entries[position];
            (entry.round, entry.used) = (self.round, 0);
            self.trigger(StartupReason::ServiceUp);
        }
        if none_known && !self.none_known(records) {
            self.freeze(records);
        }
    }

    /// The virtual server goes on with other settings.
    pub fn reconfigure(&mut self, settings: Settings, records: &[Record], now_us: u64) {
        self.advance(records, now_us);
        let before = self.clone();
        let old = &before.settings;
        let same_method = old.method == settings.method;
        let mut reasons = Vec::new();
        if old.factor != settings.factor {
            reasons.push(StartupReason::FactorChanged);
        }
        if settings.ring.iter().any(|(service, _)| before.position(*service).is_none()) {
            reasons.push(StartupReason::ServiceBound);
        }
        if !same_method {
            reasons.push(StartupReason::MethodChanged);
        }
        let carry_over = |(service, weight): &(usize, u32)| {
            let fresh = Entry { round: before.round, ..Entry::default() };
            let Some(was) = before.position(*service) else { return fresh };
            let mut entry = before.entries[was].clone();
            if old.ring[was].1 != *weight {
                entry.used = 0;
            }
            if same_method {
                entry
            } else {
                Entry { round: entry.round, used: entry.used, slowed: entry.slowed, ..Entry::default() }
            }
        };
        self.entries = settings.ring.iter().map(carry_over).collect();
        self.settings = settings;
        let left = |was: usize| self.position(old.ring[was].0);
        self.last = before.last.and_then(|last| (0..=last).rev().find_map(left));
        self.end_startup_where_it_has_no_place();
        reasons.into_iter().for_each(|reason| self.trigger(reason));
        self.freeze(records);
    }

    /// Start-up round robin begins again.
    pub fn trigger(&mut self, reason: StartupReason) {
        if self.has_no_startup() {
            return;
        }
        let bound = self.entries.len() as u64;
        let count = if self.settings.factor > 0 {
            u64::from(self.settings.factor) * bound
        } else if self.startup.new {
            100
        } else {
            let since = self.second.saturating_sub(7);
            let in_7_s = self.picks.iter().filter(|at| (since..self.second).contains(at)).count() as u64;
            (in_7_s * bound / 7).max(bound)
        };
        self.startup.left = count;
        self.startup.reason = reason;
    }

    /// Why start-up round robin runs, while it does.
    pub fn startup(&self) -> Option<StartupReason> {
        (self.startup.left > 0).then_some(self.startup.reason)
    }

    /// N of every service that admits work, by position, as it stands.
    pub fn values(&self, records: &[Record]) -> Vec<(usize, u64)> {
        let admitting = (0..self.entries.len()).filter(|at| self.admits(records, *at));
        admitting.map(|at| (at, self.value(records, at))).collect()
    }

    /// Where the service is in the ring.
    pub fn position(&self, service: usize) -> Option<usize> {
        self.settings.ring.iter().position(|(bound, _)| *bound == service)
    }

    fn row(&self, records: &[Record], at: usize, by_turns: bool, tried: &[usize]) -> Row {
        let (service, weight) = self.settings.ring[at];
        let (record, entry) = (&records[service], &self.entries[at]);
        let why_not = if tried.contains(&service) {
            Some("tried for this request")
        } else if !record.state.admits() {
            Some(record.state.text())
        } else {
            entry.slowed.then_some("slow start")
        };
        let metric = if by_turns {
            entry.round * u64::from(weight) + u64::from(entry.used)
        } else {
            self.value(records, at)
        };
        let key = if by_turns {
            entry.round
        } else {
            (u128::from(metric) * 10_000 / u128::from(weight)).min(u128::from(LARGEST_KEY)) as u64
        };
        Row { name: record.name.clone(), eligible: why_not.is_none(), why_not, metric, weight, key }
    }

    /// N, by the method's own file of the documentation.
    fn value(&self, records: &[Record], at: usize) -> u64 {
        let active = records[self.settings.ring[at].0].active;
        match self.settings.method {
            "LEASTCONNECTION" | "LEASTREQUEST" => active,
            "LEASTRESPONSETIME" | "LRTM" => active * self.time_us(records, at).unwrap_or(self.frozen_us),
            "LEASTBANDWIDTH" | "LEASTPACKETS" => {
                self.entries[at].carried.iter().map(|(_, amount)| amount).sum()
            }
            _ => 0,
        }
    }

    fn time_us(&self, records: &[Record], at: usize) -> Option<u64> {
        match (self.settings.method, records[self.settings.ring[at].0].response_time) {
            ("LEASTRESPONSETIME", _) => self.entries[at].mean_us,
            ("LRTM", ResponseTime::Known(us)) => Some(us),
            _ => None,
        }
    }

    fn admits(&self, records: &[Record], at: usize) -> bool {
        records[self.settings.ring[at].0].state.admits()
    }

    fn known(&self, records: &[Record]) -> Vec<u64> {
        let candidates = (0..self.entries.len()).filter(|at| self.admits(records, *at));
        candidates.filter_map(|at| self.time_us(records, at)).collect()
    }

    fn none_known(&self, records: &[Record]) -> bool {
        self.known(records).is_empty()
    }

    fn freeze(&mut self, records: &[Record]) {
        let known = self.known(records);
        self.frozen_us = known.iter().sum::<u64>().checked_div(known.len() as u64).unwrap_or(1).max(1);
    }

    fn is_pending(&self, records: &[Record]) -> bool {
        let pending = |at| {
            self.admits(records, at)
                && records[self.settings.ring[at].0].response_time == ResponseTime::Pending
        };
        self.settings.method == "LRTM" && (0..self.entries.len()).any(pending)
    }

    fn by_turns(&self, records: &[Record]) -> bool {
        self.settings.method == "ROUNDROBIN" || self.startup.left > 0 || self.is_pending(records)
    }

    fn is_fallback(&self, records: &[Record]) -> bool {
        let timed = ["LEASTRESPONSETIME", "LRTM"].contains(&self.settings.method);
        timed && (self.is_pending(records) || self.none_known(records))
    }

    /// Who is no longer held back takes part in the running round with all its turns.
    fn let_go(&mut self, slowed: &[usize]) {
        for (at, entry) in self.entries.iter_mut().enumerate() {
            if entry.slowed && !slowed.contains(&at) && entry.round < self.round {
                (entry.round, entry.used) = (self.round, 0);
            }
            entry.slowed = slowed.contains(&at);
        }
    }

    fn resolve(&self, tied: &[usize]) -> usize {
        let first = match (self.ties, self.last) {
            (Ties::RingOrder, Some(last)) => last + 1,
            _ => 0,
        };
        let met = (first..self.entries.len()).chain(0..first).find(|at| tied.contains(at));
        met.expect("a candidate is tied with itself")
    }

    fn take(&mut self, selected: usize, by_turns: bool, now_us: u64) {
        self.last = Some(selected);
        self.picks.push(now_us / SECOND_US);
        if by_turns {
            let entry = &mut self.entries[selected];
            self.round = entry.round;
            entry.used += 1;
            if entry.used == self.settings.ring[selected].1 {
                (entry.round, entry.used) = (entry.round + 1, 0);
            }
            self.startup.left = self.startup.left.saturating_sub(1);
            self.startup.new &= self.startup.left > 0;
        }
    }

    /// Round robin has no start-up, and slow start takes its place where the method has it.
    fn has_no_startup(&self) -> bool {
        let Settings { method, slow_start, .. } = self.settings;
        method == "ROUNDROBIN" || slow_start && method != "LEASTREQUEST"
    }

    fn end_startup_where_it_has_no_place(&mut self) {
        if self.has_no_startup() {
            (self.startup.left, self.startup.new) = (0, false);
        }
    }
}

impl Entry {
    fn mean(&self) -> u64 {
        self.samples.iter().map(|(_, ttfb_us)| ttfb_us).sum::<u64>() / self.samples.len() as u64
    }
}

/// By the quotients N/weight themselves, multiplied out; by rounds for round robin.
fn compare(a: &Row, b: &Row, by_turns: bool) -> std::cmp::Ordering {
    if by_turns {
        return a.key.cmp(&b.key);
    }
    let cross = |n: u64, weight: u32| u128::from(n) * u128::from(weight);
    cross(a.metric, b.weight).cmp(&cross(b.metric, a.weight))
}

const SECOND_US: u64 = 1_000_000;
const SLOT_US: u64 = 100_000;
const SLOTS: u64 = 140;
const LARGEST_KEY: u64 = i64::MAX as u64 - 1;
