//! The picker: one exact shared view of a virtual server's services, and who keeps it up to date.
//!
//! Picks are serialised by a short lock. Completions never wait for it: with the lock free they renew the key
//! themselves, otherwise they mark the service dirty and the next pick renews it before it chooses
//! (`spec/selection.md` 2). A picker's services, weights and method never change: a reconfiguration builds another one
//! that takes over, and who still asks the old one is sent on.

use std::sync::OnceLock;
use std::sync::TryLockError;

use crate::balance::Method;
use crate::balance::decision::{self, Decision};
use crate::balance::dirty::Dirty;
use crate::balance::log::Budget;
use crate::balance::ring::Ring;
use crate::balance::slow_start::SlowStart;
use crate::balance::startup::StartupReason;
use crate::balance::window::Sums;
use crate::service::hot::Hot;
use crate::service::{Binding, Service, Watch};
use crate::sync::{Arc, AtomicU64, AtomicUsize, Mutex, MutexGuard, Ordering};
use crate::time::Time;

/// What a picker decides by.
pub struct Setup {
    /// The method.
    pub method: &'static Method,
    /// The bound services in ring order, with their weights (1 to 100).
    pub services: Vec<Bound>,
    /// `startupRRFactor`; 0 when unset.
    pub startup_factor: u32,
    /// Per-service slow start, when `newServiceRequest` is above 0.
    pub slow_start: Option<SlowStart>,
    /// Where the decision log's memory comes from.
    pub budget: Arc<Budget>,
}

/// A service as one virtual server has it.
#[derive(Clone)]
pub struct Bound {
    /// The service.
    pub service: Arc<Service>,
    /// Its weight there, 1 to 100.
    pub weight: u32,
}

/// One virtual server's choice among its services.
pub struct Picker {
    setup: Setup,
    slots: Box<[Slot]>,
    /// For each service the other virtual servers that it is bound to, as of the generation that its slot names.
    others: Box<[OnceLock<Box<[Binding]>>]>,
    ring: Mutex<Ring>,
    dirty: Dirty,
    candidates: AtomicUsize,
    seat: Arc<Seat>,
}

/// One bound service, readable without the lock. Two share a cache line: in a large ring memory is what a choice costs.
#[repr(align(32))]
pub(super) struct Slot {
    pub(super) hot: Hot,
    /// TTFB samples not yet in the window: their number in the upper 20 bits, their sum in microseconds below.
    ttfb: AtomicU64,
    /// The generation of the service's bindings that `others` has, times two, plus one if it has any.
    introduced: AtomicU64,
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
        let picker = Arc::new(Picker {
            dirty: Dirty::new(slots.len()),
            others: slots.iter().map(|_| OnceLock::new()).collect(),
            slots,
            ring: Mutex::new(ring),
            candidates: AtomicUsize::new(0),
            seat: Arc::clone(seat),
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
            let others: Box<[Binding]> =
                bindings.list.iter().filter(|b| !self.is(b, position)).cloned().collect();
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
    }

    /// The method it chooses by.
    pub fn method(&self) -> &'static Method {
        self.setup.method
    }

    /// Would a picker of this setup decide like this one?
    pub fn is_set_up_as(&self, setup: &Setup) -> bool {
        let own = &self.setup;
        let same = |a: &Bound, b: &Bound| Arc::ptr_eq(&a.service, &b.service) && a.weight == b.weight;
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

    /// One decision (`spec/methods.md` 1.1): the service taken, already counted as one more active transaction, and the
    /// picker that took it. `None` when no service is left that admits work and is not among `tried`.
    pub fn pick(self: &Arc<Self>, now: Time, tried: &[Arc<Service>]) -> Option<(Arc<Picker>, usize)> {
        let mut ring = lock(&self.ring);
        if ring.retired {
            drop(ring);
            let successor = self.seat.current()?;
            return if Arc::ptr_eq(&successor, self) { None } else { successor.pick(now, tried) };
        }
        self.drain(&mut ring);
        ring.advance(&self.slots, now);
        ring.log.open();
        let position = if tried.is_empty() {
            ring.pick(&self.slots, now, &[])
        } else {
            let tried: Vec<usize> = tried.iter().filter_map(|service| self.position(service)).collect();
            ring.pick(&self.slots, now, &tried)
        };
        drop(ring);
        let position = position?;
        self.tell_others(position, |watch, at| watch.active_changed(at));
        Some((Arc::clone(self), position))
    }

    /// The service at `position`.
    pub fn service(&self, position: usize) -> &Arc<Service> {
        &self.setup.services[position].service
    }

    /// A transaction of the service at `position` has ended.
    #[inline]
    pub fn ended(&self, position: usize) {
        let hot = &self.slots[position].hot;
        if self.setup.method.measures.active() {
            self.change(position, None, || hot.end());
        } else {
            hot.end();
        }
        self.tell_others(position, |watch, at| watch.active_changed(at));
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

    /// N of every service, in ring order, as the next decision would see it at once.
    pub fn metrics(&self) -> Vec<u64> {
        let mut ring = lock(&self.ring);
        self.drain(&mut ring);
        ring.leaves.iter().map(|leaf| leaf.metric).collect()
    }

    /// Do all invariants hold that tie keys, leaves and counts together? For tests.
    pub fn is_sound(&self) -> bool {
        let mut ring = lock(&self.ring);
        self.drain(&mut ring);
        ring.is_sound()
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
        if self.setup.method.measures.active() {
            self.change(position, None, || ());
        }
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
        let mut ring = lock(&self.ring);
        self.drain(&mut ring);
        ring.advance(&self.slots, now);
        if ring.update_state(position, &self.slots, now) {
            ring.trigger(StartupReason::ServiceUp);
        }
        self.publish(&ring);
    }
}

impl Slot {
    fn new(service: &Arc<Service>) -> Slot {
        Slot { hot: service.hot().clone(), ttfb: AtomicU64::new(0), introduced: AtomicU64::new(0) }
    }

    /// Adds a sample; one that would overflow the cell before the next pick or tick takes it is dropped.
    fn add_ttfb(&self, ttfb_us: u64) {
        let sample = 1 << TTFB_SUM_BITS | ttfb_us.clamp(1, MAX_TTFB_US);
        let _ = self.ttfb.fetch_update(Ordering::AcqRel, Ordering::Relaxed, |held| {
            let sum = (held & TTFB_SUM) + (sample & TTFB_SUM);
            if sum > TTFB_SUM { None } else { held.checked_add(sample) }
        });
    }

    /// Takes the samples.
    pub(super) fn take_ttfb(&self) -> Option<Sums> {
        if self.ttfb.load(Ordering::Relaxed) == 0 {
            return None;
        }
        let held = self.ttfb.swap(0, Ordering::AcqRel);
        Some(Sums { amount: held & TTFB_SUM, samples: (held >> TTFB_SUM_BITS) as u32 })
    }
}

impl Seat {
    /// The picker that decides now.
    pub fn current(&self) -> Option<Arc<Picker>> {
        lock(&self.0).clone()
    }

    /// The virtual server is gone: lets go of its picker.
    pub fn clear(&self) {
        if let Some(picker) = lock(&self.0).take() {
            lock(&picker.ring).retire();
        }
    }
}

/// Locks even if a holder panicked: the next renewal of a key repairs what it left.
#[inline]
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

const TTFB_SUM_BITS: u32 = 44;
const TTFB_SUM: u64 = (1 << TTFB_SUM_BITS) - 1;
/// Longer times to first byte count as this: about 17 minutes.
const MAX_TTFB_US: u64 = 1 << 30;
const MAX_ROWS: usize = 1_000_000;
