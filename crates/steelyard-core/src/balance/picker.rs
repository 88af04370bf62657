//! The picker: one exact shared view of a virtual server's services, and who keeps it up to date.
//!
//! Picks are serialised by a short lock. Completions never wait for it: with the lock free they renew the key
//! themselves, otherwise they mark the service dirty and the next pick renews it before it chooses
//! (`spec/selection.md` 2). Only where requests wait for a service with room (`surge`) does a completion take the lock,
//! to decide for the first of them. Nobody ever holds the locks of two pickers, but at a take-over. A picker's services, weights and method never change: a reconfiguration builds another one
//! that takes over, and who still asks the old one is sent on.

mod waiting;

use std::sync::OnceLock;
use std::sync::TryLockError;

use crate::balance::Method;
use crate::balance::decision::{self, Decision};
use crate::balance::dirty::Dirty;
use crate::balance::log::Reason;
use crate::balance::ring::Ring;
use crate::balance::setup::{Bound, Setup};
use crate::balance::slot::Slot;
use crate::balance::standing::Standing;
use crate::balance::startup::StartupReason;
use crate::balance::surge::Turn;
use crate::service::terms::Terms;
use crate::service::waker::Caller;
use crate::service::{Binding, Service, Watch};
use crate::sync::{Arc, AtomicUsize, Mutex, MutexGuard, Ordering, Weak};
use crate::time::Time;

pub use self::waiting::Choice;

/// One virtual server's choice among its services.
pub struct Picker {
    setup: Setup,
    slots: Box<[Slot]>,
    /// For each service the other virtual servers that it is bound to, as of the generation that its slot names.
    others: Box<[OnceLock<Box<[Binding]>>]>,
    ring: Mutex<Ring>,
    dirty: Dirty,
    candidates: AtomicUsize,
    standing: Standing,
    /// Has any service a `maxClient`? If not, nobody looks for those who wait.
    limited: bool,
    /// How many wait in the surge queue.
    waiting: AtomicUsize,
    seat: Arc<Seat>,
    me: Weak<Picker>,
}

enum Decided {
    Taken(Arc<Picker>, usize, Reason),
    Waits(Turn),
    Crowded,
    Nothing,
}

/// Where the picker that decides for a virtual server is found, across reconfigurations.
#[derive(Default)]
pub struct Seat(Mutex<Option<Arc<Picker>>>);

impl Picker {
    /// A picker that decides for a new virtual server, or takes over from `previous`, whose place in the seat it takes.
    /// Afterwards the services must be told ([`Service::bind`]), then [`Picker::bound`] must be called.
    pub fn take_over(setup: Setup, seat: &Arc<Seat>, now: Time) -> Arc<Picker> {
        let slots: Box<[Slot]> = setup.services.iter().map(|bound| Slot::new(&bound.service)).collect();
        let ring = Ring::new(&setup, &slots, now);
        let picker = Arc::new_cyclic(|me| Picker {
            dirty: Dirty::new(slots.len()),
            others: slots.iter().map(|_| OnceLock::new()).collect(),
            slots,
            ring: Mutex::new(ring),
            candidates: AtomicUsize::new(0),
            standing: Standing::new(&setup.services),
            limited: setup.services.iter().any(|bound| bound.terms.max_client.is_some()),
            waiting: AtomicUsize::new(0),
            seat: Arc::clone(seat),
            me: me.clone(),
            setup,
        });
        let mut seated = lock(&seat.0);
        let mut ring = lock(&picker.ring);
        if let Some(previous) = seated.replace(Arc::clone(&picker)) {
            let mut old = lock(&previous.ring);
            previous.drain(&mut old);
            old.advance(&previous.slots, now);
            ring.inherit(&mut old, &picker.positions_in(&previous), now);
            for reason in picker.changes_from(&previous) {
                ring.trigger(reason);
            }
            old.retire();
        }
        ring.begin(&picker.slots, now);
        picker.publish(&ring);
        drop(ring);
        picker
    }

    /// The services have been told who watches them: renews every key, so that no completion of the time between is
    /// missed.
    pub fn bound(&self) {
        for (position, slot) in self.slots.iter().enumerate() {
            let bindings = self.service(position).bindings();
            // From the own place on and round: each gives what it frees to the next first, so that all have their turn.
            let own = bindings.list.iter().position(|b| self.is(b, position)).unwrap_or(0);
            let (before, after) = bindings.list.split_at(own);
            let others: Box<[Binding]> =
                after.iter().chain(before).filter(|b| !self.is(b, position)).cloned().collect();
            let introduced = bindings.generation << 1 | u64::from(!others.is_empty());
            // A picker is bound once.
            if others.is_empty() || self.others[position].set(others).is_ok() {
                slot.introduced.store(introduced, Ordering::Release);
            }
        }
        let mut ring = lock(&self.ring);
        if self.setup.method.measures.traffic() {
            // What was carried meanwhile was marked at the predecessor.
            (0..self.slots.len()).for_each(|position| ring.absorb(position, &self.slots));
        }
        ring.renew_all(&self.slots);
        let called = self.serve(&mut ring);
        drop(ring);
        self.call(called);
    }

    /// The method it chooses by.
    pub fn method(&self) -> &'static Method {
        self.setup.method
    }

    /// Would a picker of this setup decide like this one?
    pub fn is_set_up_as(&self, setup: &Setup) -> bool {
        let own = &self.setup;
        let same = |a: &Bound, b: &Bound| {
            Arc::ptr_eq(&a.service, &b.service) && a.weight == b.weight && a.terms == b.terms
        };
        own.method.name == setup.method.name
            && own.startup_factor == setup.startup_factor
            && own.slow_start == setup.slow_start
            && own.services.len() == setup.services.len()
            && own.services.iter().zip(&setup.services).all(|(a, b)| same(a, b))
    }

    /// The bound services in ring order, with their weights.
    pub fn services(&self) -> &[Bound] {
        &self.setup.services
    }

    /// How many services admit work.
    pub fn candidates(&self) -> usize {
        self.candidates.load(Ordering::Relaxed)
    }

    /// How much of its services can take work.
    pub fn standing(&self) -> &Standing {
        &self.standing
    }

    /// How many requests wait for a service with room.
    pub fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    /// One decision (`spec/methods.md` 1.1): the service taken, already counted as one more active transaction, the
    /// picker that took it, and why. `None` when no service is left that admits work, has room and is not among `tried`.
    pub fn pick(self: &Arc<Self>, now: Time, tried: &[Arc<Service>]) -> Option<(Arc<Picker>, usize, Reason)> {
        match self.decide(now, tried, None) {
            Decided::Taken(picker, position, reason) => Some((picker, position, reason)),
            _ => None,
        }
    }

    fn decide(self: &Arc<Self>, now: Time, tried: &[Arc<Service>], caller: Option<Caller<'_>>) -> Decided {
        let mut ring = lock(&self.ring);
        if ring.retired {
            drop(ring);
            return match self.seat.current() {
                Some(successor) if !Arc::ptr_eq(&successor, self) => successor.decide(now, tried, caller),
                _ => Decided::Nothing,
            };
        }
        self.drain(&mut ring);
        ring.advance(&self.slots, now);
        ring.log.open();
        // Nobody overtakes those who wait.
        if ring.surge.is_empty() {
            let positions = self.positions(tried);
            if let Some((position, reason)) = ring.pick(&self.slots, now, &positions) {
                drop(ring);
                self.tell_others(position, |watch, at| watch.active_changed(at));
                return Decided::Taken(Arc::clone(self), position, reason);
            }
            if !ring.may_wait(&positions) {
                return Decided::Nothing;
            }
        }
        match caller {
            Some(caller) => self.line_up(ring, tried, caller),
            None => Decided::Nothing,
        }
    }

    /// The service at `position`.
    pub fn service(&self, position: usize) -> &Arc<Service> {
        &self.setup.services[position].service
    }

    /// On what terms the service at `position` is used.
    pub fn terms(&self, position: usize) -> &Terms {
        &self.setup.services[position].terms
    }

    /// A transaction of the service at `position` has ended.
    #[inline]
    pub fn ended(&self, position: usize) {
        let hot = &self.slots[position].hot;
        if self.limited {
            return self.ended_within(position);
        }
        if self.setup.method.measures.active() {
            self.change(position, None, || hot.end());
        } else {
            hot.end();
        }
        // One that has taken over since may have given the service a limit, and somebody may wait there.
        let is_current = self.slots[position].introduced.load(Ordering::Acquire) >> 1 == hot.generation();
        self.tell_others(
            position,
            |watch, at| {
                if is_current { watch.active_changed(at) } else { watch.freed(at) }
            },
        );
    }

    /// Where services have limits: others who wait come first, in turn, then those of this virtual server.
    fn ended_within(&self, position: usize) {
        self.change(position, None, || self.slots[position].hot.end());
        self.tell_others(position, |watch, at| watch.freed(at));
        self.serve_waiting();
    }

    /// A status-200 answer's time to first byte.
    pub fn ttfb(&self, position: usize, ttfb_us: u64, now: Time) {
        self.service(position).traffic.add_ttfb(ttfb_us);
        self.ttfb_sampled(position, ttfb_us, now);
        self.tell_others(position, |watch, at| watch.ttfb_sampled(at, ttfb_us, now));
    }

    /// Bytes or packets were added to the service's counters.
    #[inline]
    pub fn carried(&self, position: usize, now: Time) {
        self.traffic_changed(position, now);
        self.tell_others(position, |watch, at| watch.traffic_changed(at, now));
    }

    /// What time alone changes, and what was marked dirty. Every 100 ms from one thread.
    pub fn tick(&self, now: Time) {
        let mut ring = lock(&self.ring);
        self.drain(&mut ring);
        ring.advance(&self.slots, now);
        let called = self.serve(&mut ring);
        drop(ring);
        self.call(called);
    }

    /// Why decisions go by start-up round robin, while they do.
    pub fn startup(&self) -> Option<StartupReason> {
        lock(&self.ring).startup.running()
    }

    /// Begins start-up round robin for `reason`.
    pub fn trigger(&self, reason: StartupReason) {
        lock(&self.ring).trigger(reason);
    }

    /// The last decisions, newest last; fewer than `last` when the log holds fewer. At most a million rows in all.
    pub fn decisions(&self, last: usize) -> Vec<Decision> {
        let last = last.min((MAX_ROWS / self.slots.len().max(1)).max(1));
        let state = decision::Present::of(&lock(&self.ring));
        state.decisions(last, self.setup.method, &self.setup.services)
    }

    /// N of every service, in ring order, as the next decision would see it at once. For tests.
    pub fn metrics(&self) -> Vec<u64> {
        let mut ring = lock(&self.ring);
        self.drain(&mut ring);
        ring.leaves.iter().map(|leaf| leaf.metric).collect()
    }

    /// Do all invariants hold that tie keys, leaves and counts together? For tests.
    pub fn is_sound(&self) -> bool {
        let mut ring = lock(&self.ring);
        self.drain(&mut ring);
        ring.is_sound(&self.slots)
    }

    /// The bindings to hand to [`Service::bind`]: this picker at `position`.
    pub fn binding(self: &Arc<Self>, position: usize) -> Binding {
        Binding { watch: Arc::clone(self) as Arc<dyn Watch>, position }
    }

    fn drain(&self, ring: &mut Ring) {
        if self.dirty.any() {
            self.dirty.drain(|position| ring.absorb(position, &self.slots));
        }
    }

    fn publish(&self, ring: &Ring) {
        self.candidates.store(ring.candidates(), Ordering::Relaxed);
    }

    /// Tells the other virtual servers of the service. Their list is read without a lock unless something was bound or
    /// unbound since this picker was built.
    #[inline]
    fn tell_others(&self, position: usize, say: impl Fn(&dyn Watch, usize)) {
        let slot = &self.slots[position];
        let introduced = slot.introduced.load(Ordering::Acquire);
        if introduced >> 1 != slot.hot.generation() {
            let bindings = self.service(position).bindings();
            let others = bindings.list.iter().filter(|b| !self.is(b, position));
            others.for_each(|b| say(&*b.watch, b.position));
        } else if introduced & 1 == 1 {
            let others = self.others[position].get().into_iter().flatten();
            others.for_each(|b| say(&*b.watch, b.position));
        }
    }

    fn is(&self, binding: &Binding, position: usize) -> bool {
        binding.position == position
            && std::ptr::addr_eq(Arc::as_ptr(&binding.watch), std::ptr::from_ref(self))
    }

    fn positions(&self, tried: &[Arc<Service>]) -> Vec<usize> {
        tried.iter().filter_map(|service| self.position(service)).collect()
    }

    fn position(&self, service: &Arc<Service>) -> Option<usize> {
        let bindings = service.bindings();
        let own =
            bindings.list.iter().map(|b| b.position).find(|at| {
                self.services().get(*at).is_some_and(|bound| Arc::ptr_eq(&bound.service, service))
            });
        own.or_else(|| self.services().iter().position(|bound| Arc::ptr_eq(&bound.service, service)))
    }

    /// For each position here, the position that the same service had there.
    fn positions_in(&self, previous: &Picker) -> Vec<Option<usize>> {
        let mut by_address: Vec<(*const Service, usize)> =
            previous.services().iter().enumerate().map(|(at, b)| (Arc::as_ptr(&b.service), at)).collect();
        by_address.sort_unstable();
        let find = |service: *const Service| {
            let at = by_address.binary_search_by_key(&service, |entry| entry.0).ok()?;
            Some(by_address[at].1)
        };
        self.services().iter().map(|bound| find(Arc::as_ptr(&bound.service))).collect()
    }

    fn changes_from(&self, previous: &Picker) -> Vec<StartupReason> {
        let mut reasons = Vec::new();
        if self.setup.startup_factor != previous.setup.startup_factor {
            reasons.push(StartupReason::FactorChanged);
        }
        if self.positions_in(previous).contains(&None) {
            reasons.push(StartupReason::ServiceBound);
        }
        if self.setup.method.name != previous.setup.method.name {
            reasons.push(StartupReason::MethodChanged);
        }
        reasons
    }

    /// Makes a change to the service, and renews its value at once if the lock is free; else leaves that to the next
    /// pick.
    #[inline]
    fn change(&self, position: usize, now: Option<Time>, change: impl FnOnce()) {
        let mut ring = match self.ring.try_lock() {
            Ok(ring) => ring,
            Err(TryLockError::Poisoned(held)) => held.into_inner(),
            Err(TryLockError::WouldBlock) => {
                change();
                return self.dirty.mark(position);
            }
        };
        if let Some(now) = now {
            ring.advance(&self.slots, now);
        }
        ring.fetch(position, &self.slots);
        change();
        ring.absorb(position, &self.slots);
    }
}

impl Watch for Picker {
    #[inline]
    fn active_changed(&self, position: usize) {
        if self.setup.method.measures.active() || self.limited {
            self.change(position, None, || ());
        }
    }

    fn freed(&self, position: usize) {
        self.active_changed(position);
        self.serve_waiting();
    }

    fn ttfb_sampled(&self, position: usize, ttfb_us: u64, now: Time) {
        if self.setup.method.measures == crate::balance::Measures::Ttfb {
            self.change(position, Some(now), || self.slots[position].add_ttfb(ttfb_us));
        }
    }

    #[inline]
    fn traffic_changed(&self, position: usize, _now: Time) {
        // Called for every read and write: the mark alone, no lock. The tick sees to it that the amount lands in its
        // own slot of the window or the next.
        if self.setup.method.measures.traffic() {
            self.dirty.mark(position);
        }
    }

    fn state_changed(&self, position: usize, now: Time) {
        self.standing.update(position, &self.setup.services[position]);
        let mut ring = lock(&self.ring);
        self.drain(&mut ring);
        ring.advance(&self.slots, now);
        if ring.update_state(position, &self.slots, now) {
            ring.trigger(StartupReason::ServiceUp);
        }
        self.publish(&ring);
        let called = self.serve(&mut ring);
        drop(ring);
        self.call(called);
    }
}

impl Seat {
    /// The picker that decides now.
    pub fn current(&self) -> Option<Arc<Picker>> {
        lock(&self.0).clone()
    }

    /// The virtual server is gone: lets go of its picker.
    pub fn clear(&self) {
        let Some(picker) = lock(&self.0).take() else { return };
        let mut ring = lock(&picker.ring);
        ring.retire();
        // No service is left to wait for.
        let called = picker.serve(&mut ring);
        drop(ring);
        picker.call(called);
    }

    /// The ticket of this number waits no more.
    pub(super) fn leave(&self, number: u64) {
        let Some(picker) = self.current() else { return };
        let mut ring = lock(&picker.ring);
        ring.surge.remove(number);
        picker.waiting.store(ring.surge.len(), Ordering::SeqCst);
    }
}

/// Locks even if a holder panicked: the next renewal of a key repairs what it left.
#[inline]
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

const MAX_ROWS: usize = 1_000_000;
