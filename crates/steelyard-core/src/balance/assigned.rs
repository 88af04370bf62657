//! The guard of a transaction: its service has one more active transaction until it is dropped, on whatever path.

use crate::balance::log::Reason;
use crate::balance::picker::Picker;
use crate::service::Service;
use crate::service::terms::Terms;
use crate::sync::{Arc, Ordering};
use crate::time::Time;

/// One active transaction of one service: counted from here until it is dropped, on every path.
pub struct Assigned {
    picker: Arc<Picker>,
    position: usize,
    reason: Reason,
}

impl Assigned {
    /// Of what `picker` has counted at `position`, for that reason.
    pub(super) fn new(picker: Arc<Picker>, position: usize, reason: Reason) -> Assigned {
        Assigned { picker, position, reason }
    }

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
