//! A picker's side of the surge queue: who has to wait, and who decides for those who wait.
//!
//! The hard question: that no wake-up is lost. Whoever frees a place marks it and then looks whether anybody waits; who
//! waits says so and then looks at the marks. One of the two finds the other's word.

use super::{Decided, Picker, lock};
use crate::balance::assigned::Assigned;
use crate::balance::ring::Ring;
use crate::balance::surge::{PASSED_OVER, Stage, Turn};
use crate::service::Service;
use crate::service::waker::{Caller, Waiter};
use crate::sync::{Arc, MutexGuard, Ordering, fence};
use crate::time::Time;

/// What came of asking for a service.
pub enum Choice {
    /// This one, already counted.
    Taken(Assigned),
    /// All that could be chosen are full: the request waits for its turn.
    Waits(Turn),
    /// As many wait as may.
    Crowded,
    /// None admits work that was not tried.
    Nothing,
}

/// Somebody in the queue who has an answer: a service taken at a position, or none.
pub(super) struct Called {
    waiter: Waiter,
    position: Option<usize>,
}

impl Picker {
    /// The same for somebody who waits where every candidate is full.
    pub fn choose(self: &Arc<Self>, now: Time, tried: &[Arc<Service>], caller: Caller<'_>) -> Choice {
        match self.decide(now, tried, Some(caller)) {
            Decided::Taken(picker, position, reason) => {
                Choice::Taken(Assigned::new(picker, position, reason))
            }
            Decided::Waits(place) => match place.answer() {
                Some(Some(assigned)) => Choice::Taken(assigned),
                Some(None) => Choice::Nothing,
                None => Choice::Waits(place),
            },
            Decided::Crowded => Choice::Crowded,
            Decided::Nothing => Choice::Nothing,
        }
    }

    /// Waits in the surge queue. Whoever frees a place either sees that somebody waits, or has freed it before
    /// `serve` looks here: one of the two finds the other's word.
    pub(super) fn line_up(
        &self,
        mut ring: MutexGuard<'_, Ring>,
        tried: &[Arc<Service>],
        caller: Caller<'_>,
    ) -> Decided {
        let Some(ticket) = ring.surge.join(tried, caller) else { return Decided::Crowded };
        self.waiting.store(ring.surge.len(), Ordering::SeqCst);
        fence(Ordering::SeqCst);
        let called = self.serve(&mut ring);
        drop(ring);
        self.call(called);
        Decided::Waits(Turn::new(ticket, Arc::clone(&self.seat)))
    }

    /// Decides for those who wait, in their order, as far as there is room. The caller calls them, without the lock.
    pub(super) fn serve(&self, ring: &mut Ring) -> Vec<Called> {
        let mut called = Vec::new();
        let (mut from, mut passed) = (0, 0);
        self.drain(ring);
        while let Some(ticket) = ring.surge.first(from) {
            let mut stage = ticket.stage();
            if let Stage::Waiting = *stage {
                let tried = self.positions(&ticket.tried);
                let waits_on = ring.may_wait(&tried);
                let picked = if waits_on { ring.pick(&self.slots, Time::ZERO, &tried) } else { None };
                if waits_on && picked.is_none() {
                    passed += 1;
                    if tried.is_empty() || passed > PASSED_OVER {
                        break;
                    }
                    from = ticket.number + 1;
                    continue;
                }
                let assigned =
                    self.me.upgrade().zip(picked).map(|(me, (at, why))| Assigned::new(me, at, why));
                *stage = Stage::Answered(assigned);
                let position = picked.map(|(position, _)| position);
                called.push(Called { waiter: ticket.waiter.clone(), position });
            }
            ring.surge.remove(ticket.number);
        }
        self.waiting.store(ring.surge.len(), Ordering::SeqCst);
        called
    }

    pub(super) fn call(&self, called: Vec<Called>) {
        for Called { waiter, position } in called {
            if let Some(position) = position {
                self.tell_others(position, |watch, at| watch.active_changed(at));
            }
            waiter.wake();
        }
    }

    /// A place may have become free: whoever waits is served.
    pub(super) fn serve_waiting(&self) {
        fence(Ordering::SeqCst);
        if self.waiting.load(Ordering::SeqCst) > 0 {
            let called = self.serve(&mut lock(&self.ring));
            self.call(called);
        }
    }
}
