//! `spec/methods.md` 1.1: one decision per unit of balancing, and the guard that accounts for its end.

use crate::service::Service;
use crate::sync::Arc;
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
    service: Arc<Service>,
}

impl VirtualServer {
    /// Chooses a service for one request. `tried` are the services that this request was already sent to in vain.
    ///
    /// # Errors
    /// [`Unavailable`] when no candidate is left.
    pub fn select(&self, _now: Time, tried: &[Arc<Service>]) -> Result<Assigned, Unavailable> {
        let mut up = self.services.iter().filter(|s| s.state().admits()).peekable();
        if up.peek().is_none() {
            return Err(Unavailable::Down);
        }
        let service = up.find(|s| !tried.iter().any(|t| Arc::ptr_eq(s, t))).ok_or(Unavailable::AllTried)?;
        service.begin();
        Ok(Assigned { service: Arc::clone(service) })
    }

    /// Is there a service that admits work?
    pub fn is_up(&self) -> bool {
        self.services.iter().any(|s| s.state().admits())
    }
}

impl Assigned {
    /// The service that was chosen.
    pub fn service(&self) -> &Arc<Service> {
        &self.service
    }

    /// The first byte of the final (non-1xx) response head arrived `ttfb_us` after the last byte of the request head
    /// was handed to the service's socket. Only status 200 is a sample (`spec/methods.md` 1.5).
    pub fn first_byte(&self, _status: u16, _ttfb_us: u64, _now: Time) {}

    /// Payload bytes handed to the service's socket.
    pub fn sent(&self, _bytes: u64, _now: Time) {}

    /// Payload bytes read from the service's socket.
    pub fn received(&self, _bytes: u64, _now: Time) {}

    /// Packets carried in both directions since the last call; only asked for when the service counts packets.
    pub fn packets(&self, _packets: u64, _now: Time) {}

    /// The response was received completely (the end of the transaction follows when this guard is dropped).
    pub fn answered(&self) {}
}

impl Drop for Assigned {
    fn drop(&mut self) {
        self.service.end();
    }
}
