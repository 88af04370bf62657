//! How somebody at one engine is told by another thread that what it waits for is there.
//!
//! Only tells: what there is lies where the waiter left its name.

use super::Service;
use crate::sync::Arc;

/// Tells one engine. Called from any thread, with locks of others held by nobody.
pub trait Waker: Send + Sync {
    /// What `waiter` waits for may be there: it is to look.
    fn wake(&self, waiter: u64);

    /// Somebody at this engine waits for a permit to connect to `service`: every other engine is to close an idle
    /// connection to it. Nothing where there is no other.
    fn ask_back(&self, service: &Arc<Service>) {
        let _ = service;
    }
}

/// Somebody who may have to wait.
#[derive(Clone, Copy)]
pub struct Caller<'a> {
    /// Tells its engine.
    pub waker: &'a Arc<dyn Waker>,
    /// The name that its engine knows it by.
    pub id: u64,
}

impl Caller<'_> {
    /// The same for as long as it waits.
    pub fn waiter(self) -> Waiter {
        Waiter { waker: Arc::clone(self.waker), id: self.id }
    }
}

/// A waiter by the name that its engine knows it by.
#[derive(Clone)]
pub struct Waiter {
    /// Tells that engine.
    pub waker: Arc<dyn Waker>,
    /// The name.
    pub id: u64,
}

impl Waiter {
    /// It is to look.
    pub fn wake(&self) {
        self.waker.wake(self.id);
    }
}
