//! What the picker's lock protects: the services in ring order with their values, the tree over their keys, and all
//! that a decision depends on.
//!
//! Owns every rule of choosing; never waits and never calls out. Time is an argument. A key is renewed whenever
//! something it is made of changes, so a pick is one descent of the tree.

mod eligible;
mod measured;

use std::hint::black_box;

use self::measured::Meter;
use crate::balance::bandwidth::Bandwidth;
use crate::balance::log::{Log, Pick, Reason, Rule};
use crate::balance::rates::Rate;
use crate::balance::setup::Setup;
use crate::balance::slot::Slot;
use crate::balance::slow_start::Ramps;
use crate::balance::stand_in::StandIn;
use crate::balance::startup::Startup;
use crate::balance::surge::Surge;
use crate::balance::tree::{NO, Tree};
use crate::balance::window::{SLOT_US, Window, slot_of};
use crate::balance::{Measures, Method, key, round};
use crate::service::State;
use crate::time::{SECOND_US, Time};

/// The services of one virtual server in ring order, under the picker's lock.
pub(super) struct Ring {
    method: &'static Method,
    tree: Tree,
    pub(super) leaves: Box<[Leaf]>,
    /// Each service's traffic, under the methods that measure it; empty under others.
    meters: Box<[Meter]>,
    /// `maxClient` of each service, [`UNLIMITED`] without one; empty when none has one.
    ceilings: Box<[u32]>,
    bandwidth: Bandwidth,
    /// Requests that wait until a service has room.
    pub(super) surge: Surge,
    /// Position of the last selected service; every selection moves it, tie or not.
    pub(super) last: Option<usize>,
    /// Do the keys in the tree count turns instead of the method's values?
    by_turns: bool,
    /// The round that turns are taken in.
    round: u64,
    pub(super) startup: Startup,
    factor: u32,
    /// Services that admit work, and of those the ones whose monitors have not answered yet.
    candidates: usize,
    pending: usize,
    stand_in: StandIn,
    window: Option<Window>,
    /// Picks, and of those the ones that fell on services that are not ramping.
    pub(super) rate: Rate,
    steady: Rate,
    ramps: Option<Ramps>,
    slowed: usize,
    pub(super) log: Log,
    next_tick: Time,
    /// Another ring has taken over, or the virtual server is gone.
    pub(super) retired: bool,
    /// When the last decision was taken or time last looked at; the log never goes back.
    latest: Time,
}

/// One service as the ring sees it. Two share a cache line: in a large ring memory is what a choice costs.
#[derive(Clone, Copy)]
#[repr(align(32))]
pub(super) struct Leaf {
    /// N by the method.
    pub(super) metric: u64,
    /// Turns taken, for round robin.
    pub(super) turns: u64,
    /// Known mean TTFB or monitor response time; 0 while unknown.
    time_us: u64,
    /// Its place among those without a known time.
    place: u32,
    /// 1 to 100.
    weight: u8,
    /// Why it must not be chosen: a state in the low bits, [`SLOWED`], [`TRIED`], [`FULL`], [`HEAVY`]; 0 when it may.
    pub(super) held: u8,
    pending: bool,
}

impl Ring {
    /// The ring of a new virtual server.
    pub(super) fn new(setup: &Setup, slots: &[Slot], now: Time) -> Ring {
        let method = setup.method;
        let mut ring = Ring {
            method,
            tree: Tree::new(slots.iter().map(|_| NO)),
            leaves: setup.services.iter().map(|bound| Leaf::new(bound.weight)).collect(),
            meters: Meter::all(setup),
            ceilings: ceilings(setup),
            bandwidth: Bandwidth::new(setup, now),
            surge: Surge::default(),
            last: None,
            by_turns: method.measures == Measures::Turns,
            round: 0,
            startup: Startup::of_new(setup.startup_factor, slots.len()),
            factor: setup.startup_factor,
            candidates: 0,
            pending: 0,
            stand_in: StandIn::new(),
            window: method.measures.window().then(|| Window::new(slots.len(), now)),
            rate: Rate::new(now),
            steady: Rate::new(now),
            ramps: setup.slow_start.filter(|_| method.slow_start).map(|rule| Ramps::new(rule, now)),
            slowed: 0,
            log: Log::new(setup.budget.clone()),
            next_tick: Time::from_us((slot_of(now) + 1) * SLOT_US),
            retired: false,
            latest: now,
        };
        if ring.ramps.is_some() || method.measures == Measures::Turns {
            ring.startup = Startup::over();
        }
        for leaf in &mut ring.leaves {
            leaf.held = DOWN;
        }
        ring
    }

    /// Takes over from the ring that served this virtual server until now. `from` gives the old position of each new
    /// one that was there before.
    pub(super) fn inherit(&mut self, old: &mut Ring, from: &[Option<usize>], now: Time) {
        self.round = old.round;
        let mut to = vec![None; old.leaves.len()];
        for (new, was) in from.iter().enumerate() {
            if let Some(was) = *was {
                to[was] = Some(new);
                self.inherit_service(new, old, was);
            }
        }
        // The cursor keeps pointing at the last selected service, or at its nearest predecessor that is left.
        self.last = old.last.and_then(|last| (0..=last).rev().find_map(|p| to.get(p).copied().flatten()));
        if self.method.measures == old.method.measures
            && let Some(window) = old.window.take()
        {
            self.window = Some(window.moved(self.leaves.len(), |position| to[position]));
        }
        self.startup = if self.ramps.is_some() || self.method.measures == Measures::Turns {
            Startup::over()
        } else {
            old.startup
        };
        self.rate = std::mem::replace(&mut old.rate, Rate::new(now));
        self.steady = std::mem::replace(&mut old.steady, Rate::new(now));
        self.next_tick = old.next_tick;
        self.surge = std::mem::take(&mut old.surge);
    }

    /// Takes over the service at `new` from where it was in the old ring.
    fn inherit_service(&mut self, new: usize, old: &Ring, was: usize) {
        let (leaf, before) = (&mut self.leaves[new], &old.leaves[was]);
        // A changed weight starts the round anew; otherwise the turns already taken in it count.
        leaf.turns = if leaf.weight == before.weight {
            before.turns
        } else {
            round(before.turns, before.weight.into()).saturating_mul(u64::from(leaf.weight))
        };
        if self.method.measures == old.method.measures {
            (leaf.time_us, leaf.pending) = (before.time_us, before.pending);
            if let (Some(meter), Some(before)) = (self.meters.get_mut(new), old.meters.get(was)) {
                meter.continue_from(before);
            }
        }
        self.bandwidth.continue_from(new, &old.bandwidth, was);
        if !before.admits() {
            return;
        }
        leaf.held = before.held & SLOWED;
        self.slowed += usize::from(leaf.held != 0);
        self.enter(new);
        match (&mut self.ramps, &old.ramps) {
            (Some(ramps), Some(before)) => ramps.adopt(new, before, was),
            _ => self.unslow(new),
        }
    }

    /// Lets go of everything: this ring decides no more.
    pub(super) fn retire(&mut self) {
        self.retired = true;
        self.candidates = 0;
        self.leaves = Box::new([]);
        self.meters = Box::new([]);
        self.ceilings = Box::new([]);
        self.tree = Tree::new(std::iter::empty());
        self.window = None;
        self.ramps = None;
        self.stand_in = StandIn::new();
        self.log = Log::new(self.log.budget());
    }

    /// Reads every service's state anew; for the start, after [`Ring::new`] or [`Ring::inherit`].
    pub(super) fn begin(&mut self, slots: &[Slot], now: Time) {
        for position in 0..slots.len() {
            self.update_state(position, slots, now);
        }
        self.stand_in.freeze();
        self.renew_all(slots);
    }

    /// One decision: the service to take, already counted as one more active transaction there, and why. `tried`
    /// positions are left out.
    #[inline]
    pub(super) fn pick(&mut self, slots: &[Slot], now: Time, tried: &[usize]) -> Option<(usize, Reason)> {
        // Who waited for the lock brings an older time than who had it.
        self.latest = self.latest.max(now);
        for &position in tried {
            self.hold(position, TRIED);
        }
        let selected = self.choose(slots);
        let reason = self.reason(tried);
        if let Some(position) = selected {
            self.log.pick(Pick {
                at_us: self.latest.as_us(),
                reason,
                rule: self.rule(),
                selected: position,
                last: self.last,
            });
            self.last = Some(position);
            self.account(position, slots);
        }
        for &position in tried {
            self.release(position, TRIED);
        }
        selected.map(|position| (position, reason))
    }

    /// The service with the smallest key that has room, counted as one more active transaction there.
    #[inline]
    fn choose(&mut self, slots: &[Slot]) -> Option<usize> {
        loop {
            let position = self.tree.pick(self.last.unwrap_or(usize::MAX))?;
            self.fetch(position, slots);
            let hot = &slots[position].hot;
            match self.ceilings.get(position) {
                None => hot.begin(),
                Some(most) if hot.begin_within(*most) => {}
                Some(_) => {
                    // By way of another virtual server its last place was taken just now. Whoever gives one back marks
                    // it here, so this cannot outlast the next decision.
                    self.hold(position, FULL);
                    continue;
                }
            }
            return Some(position);
        }
    }

    /// Asks memory for all that a change at `position` needs, at once: each counter that is written waits for what was
    /// asked for before it, so in a large ring one miss would follow the other.
    #[inline]
    pub(super) fn fetch(&self, position: usize, slots: &[Slot]) {
        if let Some(leaf) = self.leaves.get(position) {
            black_box((slots[position].hot.active(), leaf.metric, self.tree.key(position)));
        }
    }

    /// What a selection changes: the turn, the counts, the ramp, the value.
    #[inline]
    fn account(&mut self, position: usize, slots: &[Slot]) {
        self.rate.count();
        if self.by_turns {
            self.take_turn(position);
        }
        if self.method.measures.active() || !self.ceilings.is_empty() {
            self.renew(position, slots);
        }
        match &mut self.ramps {
            Some(ramps) if ramps.contains(position) => {
                let empty = ramps.used(position);
                self.slowed += usize::from(empty);
                if empty {
                    self.hold(position, SLOWED);
                }
            }
            Some(_) => self.steady.count(),
            None => {}
        }
    }

    fn take_turn(&mut self, position: usize) {
        self.round = self.tree.min();
        let leaf = &mut self.leaves[position];
        self.log.turns(position, leaf.turns);
        leaf.turns += 1;
        self.rekey(position);
        if self.startup.running().is_some() {
            self.startup.used();
            self.settle();
        }
    }

    fn reason(&self, tried: &[usize]) -> Reason {
        if !tried.is_empty() {
            Reason::Retry
        } else if self.startup.running().is_some() {
            Reason::StartupRoundRobin
        } else if self.is_fallback() {
            Reason::Fallback
        } else if self.slowed > 0 {
            Reason::SlowStart
        } else {
            Reason::Method
        }
    }

    fn rule(&self) -> Rule {
        if self.by_turns {
            Rule::RoundRobin
        } else if self.is_fallback() {
            Rule::LeastConnection
        } else {
            Rule::Method
        }
    }

    /// Is the method's own data missing?
    fn is_fallback(&self) -> bool {
        self.method.measures.time() && (self.pending > 0 || self.stand_in.none_known())
    }

    /// Everything that time alone changes. The caller has taken in what was marked dirty.
    pub(super) fn advance(&mut self, slots: &[Slot], now: Time) {
        if now < self.next_tick {
            return;
        }
        let second_before = (self.next_tick.as_us() - SLOT_US) / SECOND_US;
        self.next_tick = Time::from_us((slot_of(now) + 1) * SLOT_US);
        self.latest = self.latest.max(now);
        self.expire(slots, now);
        if now.as_us() / SECOND_US != second_before {
            self.rate.advance(now);
            self.steady.advance(now);
            self.freeze(slots);
        }
        self.refill(now);
        self.weigh(now);
    }

    /// Puts the kind of key into the tree that the next decision needs.
    fn settle(&mut self) {
        let by_turns =
            self.method.measures == Measures::Turns || self.startup.running().is_some() || self.pending > 0;
        if by_turns != std::mem::replace(&mut self.by_turns, by_turns) {
            for position in 0..self.leaves.len() {
                self.tree.put(position, self.key_of(position));
            }
            self.tree.rebuild();
        }
    }

    /// Recomputes the value of one service and whether it has room and, when that changed, its key.
    #[inline]
    pub(super) fn renew(&mut self, position: usize, slots: &[Slot]) {
        if self.remeasure(position, slots) | self.refit(position, slots) {
            self.rekey(position);
        }
    }

    /// Recomputes every value and every key.
    pub(super) fn renew_all(&mut self, slots: &[Slot]) {
        for position in 0..self.leaves.len() {
            self.remeasure(position, slots);
            self.refit(position, slots);
            self.tree.put(position, self.key_of(position));
        }
        self.tree.rebuild();
    }

    fn renew_many(&mut self, positions: &[usize], slots: &[Slot]) {
        let bulk = positions.len() > self.leaves.len() / BULK_SHARE;
        for &position in positions {
            let changed = self.remeasure(position, slots) | self.refit(position, slots);
            if bulk {
                self.tree.put(position, self.key_of(position));
            } else if changed {
                self.rekey(position);
            }
        }
        if bulk && !positions.is_empty() {
            self.tree.rebuild();
        }
    }

    #[inline]
    fn rekey(&mut self, position: usize) {
        let key = self.key_of(position);
        self.tree.set(position, key);
    }

    #[inline]
    fn key_of(&self, position: usize) -> u64 {
        let leaf = &self.leaves[position];
        if leaf.held != 0 {
            NO
        } else if self.by_turns {
            round(leaf.turns, leaf.weight.into())
        } else {
            key(leaf.metric, leaf.weight.into())
        }
    }

    /// How many services admit work.
    pub(super) fn candidates(&self) -> usize {
        self.candidates
    }

    /// Is every inner value what it must be? For tests: keys against the leaves, counts against the states.
    pub(super) fn is_sound(&self, slots: &[Slot]) -> bool {
        self.tree.is_sound()
            && (0..self.leaves.len()).all(|position| self.tree.key(position) == self.key_of(position))
            && self.candidates == self.leaves.iter().filter(|leaf| leaf.admits()).count()
            && self.ceilings.iter().enumerate().all(|(position, most)| {
                (self.leaves[position].held & FULL != 0) == (slots[position].hot.active() >= u64::from(*most))
            })
            && self.slowed == self.leaves.iter().filter(|leaf| leaf.held & SLOWED != 0).count()
    }
}

impl Leaf {
    fn new(weight: u32) -> Leaf {
        let weight = weight.clamp(1, 100) as u8;
        Leaf { metric: 0, turns: 0, time_us: 0, place: 0, weight, held: 0, pending: false }
    }

    fn admits(&self) -> bool {
        self.held & STATE == 0
    }
}

fn ceilings(setup: &Setup) -> Box<[u32]> {
    let limits = || setup.services.iter().map(|bound| bound.terms.max_client);
    if limits().all(|limit| limit.is_none()) {
        return Box::new([]);
    }
    limits().map(|limit| limit.unwrap_or(UNLIMITED)).collect()
}

/// Why a service is no candidate, as `explain` prints it.
pub(super) fn why_not(held: u8) -> Option<&'static str> {
    match held {
        0 => None,
        _ if held & TRIED != 0 => Some("tried for this request"),
        _ if held & STATE != 0 => Some(State::from_code(held & STATE).text()),
        _ if held & FULL != 0 => Some("at maxClient"),
        _ if held & HEAVY != 0 => Some("at maxBandwidth"),
        _ => Some("slow start"),
    }
}

/// The bits of [`Leaf::held`] that are a state which admits no work.
const STATE: u8 = 0x0f;
const DOWN: u8 = State::Down as u8;
/// Slow start's bucket is empty.
const SLOWED: u8 = 0x10;
/// This request was sent there before.
const TRIED: u8 = 0x20;
/// As many transactions are active as `maxClient` lets be.
const FULL: u8 = 0x40;
/// More than `maxBandwidth` was carried in the last second.
const HEAVY: u8 = 0x80;
/// A ceiling that nothing reaches.
const UNLIMITED: u32 = u32::MAX;
/// From this share of all keys on, rebuilding the tree is cheaper than setting keys one by one.
const BULK_SHARE: usize = 8;
