//! `spec/methods.md` 1.1: one decision per unit of balancing, and the guard that accounts for its end.

use crate::balance::decision::Decision;
pub use crate::balance::log::Reason;
use crate::balance::picker::Picker;
use crate::service::terms::Terms;
use crate::service::{Service, State};
use crate::sync::{Arc, Ordering};
use crate::time::Time;
use crate::vserver::VirtualServer;

/// Why no service could be chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unavailable {
    /// No bound service admits work.
    Down,
    /// Every service that admits work was tried for this request already.
    AllTried,
}

/// One active transaction of one service: counted from here until it is dropped, on every path.
pub struct Assigned {
    picker: Arc<Picker>,
    position: usize,
    reason: Reason,
}

impl VirtualServer {
    /// Chooses a service for one request. `tried` are the services that this request was already sent to in vain.
    ///
    /// # Errors
    /// [`Unavailable`] when no candidate is left.
    pub fn select(&self, now: Time, tried: &[Arc<Service>]) -> Result<Assigned, Unavailable> {
        if !self.enabled || !self.is_open() || self.is_barred() {
            return Err(Unavailable::Down);
        }
        match self.picker.pick(now, tried) {
            Some((picker, position, reason)) => {
                self.live.hits.fetch_add(1, Ordering::Relaxed);
                Ok(Assigned { picker, position, reason })
            }
            None if tried.is_empty() => Err(Unavailable::Down),
            None => Err(Unavailable::AllTried),
        }
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

impl Assigned {
    /// The service that was chosen.
    pub fn service(&self) -> &Arc<Service> {
        self.picker.service(self.position)
    }

    /// Why it was chosen, as `explain` has it.
    pub fn reason(&self) -> Reason {
        self.reason
    }

    /// On what terms it is used.
    pub fn terms(&self) -> &Terms {
        self.picker.terms(self.position)
    }

    /// The first byte of the final (non-1xx) response head arrived `ttfb_us` after the last byte of the request head
    /// was handed to the service's socket. Only status 200 is a sample (`spec/methods.md` 1.5).
    pub fn first_byte(&self, status: u16, ttfb_us: u64, now: Time) {
        if status == 200 {
            self.picker.ttfb(self.position, ttfb_us, now);
        }
    }

    /// Payload bytes handed to the service's socket.
    pub fn sent(&self, bytes: u64, now: Time) {
        self.service().traffic.request_bytes.fetch_add(bytes, Ordering::Relaxed);
        self.picker.carried(self.position, now);
    }

    /// Payload bytes read from the service's socket.
    pub fn received(&self, bytes: u64, now: Time) {
        self.service().traffic.response_bytes.fetch_add(bytes, Ordering::Relaxed);
        self.picker.carried(self.position, now);
    }

    /// Packets carried in both directions since the last call; only asked for when the service counts packets.
    pub fn packets(&self, packets: u64, now: Time) {
        self.service().traffic.packets.fetch_add(packets, Ordering::Relaxed);
        self.picker.carried(self.position, now);
    }

    /// The response was received completely (the end of the transaction follows when this guard is dropped).
    pub fn answered(&self) {
        self.service().traffic.responses.fetch_add(1, Ordering::Relaxed);
    }
}

impl Drop for Assigned {
    fn drop(&mut self) {
        self.picker.ended(self.position);
    }
}
