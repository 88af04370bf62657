//! The surge queue of one virtual server (`spec/methods.md` 3.5, ruling 12): who waits until a service has room within
//! its `maxClient`, first come first served.
//!
//! The queue itself lies under the picker's lock; a [`Ticket`] is what its waiter and the queue share. The hard question:
//! who serves it? Whoever frees a place, by any virtual server and from any thread, decides for the first in the queue
//! and leaves the answer in its ticket; the waiter is only woken to fetch it. One that is gone is passed over, and an
//! answer that nobody fetches gives its place to the next.

use std::collections::BTreeMap;

use crate::balance::assigned::Assigned;
use crate::balance::picker::Seat;
use crate::service::Service;
use crate::service::waker::{Caller, Waiter};
use crate::sync::{Arc, Mutex, MutexGuard};

/// Those who wait, by the order in which they came.
#[derive(Default)]
pub(super) struct Surge {
    waiting: BTreeMap<u64, Arc<Ticket>>,
    /// How many ever came.
    joined: u64,
}

/// What a waiter and the queue share.
pub(super) struct Ticket {
    /// Its number in the order of arrival; the same after a reconfiguration.
    pub number: u64,
    /// Services that the request must not go to: it was sent there before, in vain.
    pub tried: Box<[Arc<Service>]>,
    pub waiter: Waiter,
    stage: Mutex<Stage>,
}

/// How far a ticket is.
pub(super) enum Stage {
    /// It has no answer yet.
    Waiting,
    /// A service, or none because none is left that may be waited for.
    Answered(Option<Assigned>),
    /// Nobody is interested any more.
    Left,
}

/// A waiter's hold on its ticket; dropping it leaves the queue, and gives back what was granted and not fetched.
pub struct Turn {
    ticket: Arc<Ticket>,
    seat: Arc<Seat>,
}

impl Surge {
    /// Takes a place at the end; `None` when the queue is full.
    pub(super) fn join(&mut self, tried: &[Arc<Service>], caller: Caller<'_>) -> Option<Arc<Ticket>> {
        if self.waiting.len() >= MOST_WAITING {
            return None;
        }
        self.joined += 1;
        let ticket = Arc::new(Ticket {
            number: self.joined,
            tried: tried.into(),
            waiter: caller.waiter(),
            stage: Mutex::new(Stage::Waiting),
        });
        self.waiting.insert(ticket.number, Arc::clone(&ticket));
        Some(ticket)
    }

    /// The first whose number is `from` or more.
    pub(super) fn first(&self, from: u64) -> Option<Arc<Ticket>> {
        self.waiting.range(from..).next().map(|(_, ticket)| Arc::clone(ticket))
    }

    pub(super) fn remove(&mut self, number: u64) {
        self.waiting.remove(&number);
    }

    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}

impl Ticket {
    pub(super) fn stage(&self) -> MutexGuard<'_, Stage> {
        self.stage.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Turn {
    pub(super) fn new(ticket: Arc<Ticket>, seat: Arc<Seat>) -> Turn {
        Turn { ticket, seat }
    }

    /// What came of the wait: a service, already counted; or none, because none is left that may be waited for. `None`
    /// while it goes on.
    pub fn answer(&self) -> Option<Option<Assigned>> {
        let mut stage = self.ticket.stage();
        match std::mem::replace(&mut *stage, Stage::Left) {
            Stage::Answered(answer) => Some(answer),
            before => {
                *stage = before;
                None
            }
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        // The ticket's lock is given back before anybody else's is asked for: to give back a place takes the picker's.
        let before = std::mem::replace(&mut *self.ticket.stage(), Stage::Left);
        if let Stage::Waiting = before {
            self.seat.leave(self.ticket.number);
        }
    }
}

/// Requests that one virtual server lets wait; more are refused. As many clients as wait hold a connection here anyway,
/// so the bound is on what else a request costs while it waits.
pub const MOST_WAITING: usize = 16_384;
/// Requests that were tried elsewhere in vain and can go nowhere now, past which the first one that can is looked for.
pub(super) const PASSED_OVER: usize = 64;
