//! `spec/methods.md` 1.1: one decision per unit of balancing.

pub use crate::balance::assigned::Assigned;
use crate::balance::decision::Decision;
pub use crate::balance::log::Reason;
use crate::balance::picker::Choice;
pub use crate::balance::surge::Turn;
use crate::service::waker::Caller;
use crate::service::{Service, State};
use crate::sync::{Arc, Ordering};
use crate::time::Time;
use crate::vserver::VirtualServer;

/// What came of asking for a service.
pub enum Selection {
    /// This one.
    Taken(Assigned),
    /// All that could be chosen are at a limit: the caller waits in the surge queue and is woken.
    Waits(Turn),
}

/// Why no service could be chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unavailable {
    /// No bound service admits work.
    Down,
    /// Every service that admits work was tried for this request already.
    AllTried,
    /// Every service is at a limit, and as many wait as may.
    Crowded,
}

impl VirtualServer {
    /// Chooses a service for one request. `tried` are the services that this request was already sent to in vain.
    ///
    /// # Errors
    /// [`Unavailable`] when no candidate is left, now or after a wait.
    pub fn select(
        &self,
        now: Time,
        tried: &[Arc<Service>],
        caller: Caller<'_>,
    ) -> Result<Selection, Unavailable> {
        if !self.enabled || !self.is_open() || self.is_barred() {
            return Err(Unavailable::Down);
        }
        match self.picker.choose(now, tried, caller) {
            Choice::Taken(assigned) => {
                self.live.hits.fetch_add(1, Ordering::Relaxed);
                Ok(Selection::Taken(assigned))
            }
            Choice::Waits(place) => Ok(Selection::Waits(place)),
            Choice::Crowded => Err(Unavailable::Crowded),
            Choice::Nothing if tried.is_empty() => Err(Unavailable::Down),
            Choice::Nothing => Err(Unavailable::AllTried),
        }
    }

    /// What came of a wait: a service, or none, because none is left that may be waited for. `None` while it goes on.
    pub fn granted(&self, place: &Turn) -> Option<Option<Assigned>> {
        let answer = place.answer()?;
        self.live.hits.fetch_add(u64::from(answer.is_some()), Ordering::Relaxed);
        Some(answer)
    }

    /// Requests that wait in its surge queue.
    pub fn waiting(&self) -> usize {
        self.picker.waiting()
    }

    /// Does it take requests?
    #[inline]
    pub fn is_up(&self) -> bool {
        self.state() == State::Up
    }

    /// Its last decisions, newest last.
    pub fn decisions(&self, last: usize) -> Vec<Decision> {
        self.picker.decisions(last)
    }
}
