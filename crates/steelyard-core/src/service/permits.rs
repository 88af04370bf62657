//! How many connections to a service are open over all workers, idle ones included, and who waits to open one
//! (`spec/methods.md` ruling 12).
//!
//! Opens nothing. The hard question: a worker whose service is at its limit, while the idle connections to it lie with
//! other workers. It claims a permit and asks the others to close one: what is closed while anybody claims goes to the
//! first who does, never back into a pool and never to somebody who comes later.

use std::collections::BTreeMap;

use super::lock;
use super::waker::{Caller, Waiter};
use crate::sync::{Arc, AtomicU8, AtomicU64, AtomicUsize, Mutex, Ordering, fence};

/// The permits of one service. Each open connection has one.
#[derive(Default)]
pub struct Permits {
    open: AtomicU64,
    /// How many claims wait.
    waiting: AtomicUsize,
    claims: Mutex<Claims>,
}

#[derive(Default)]
struct Claims {
    by_number: BTreeMap<u64, Waiting>,
    made: u64,
}

struct Waiting {
    waiter: Waiter,
    /// `maxClient` on the claimant's terms.
    most: u32,
    state: Arc<AtomicU8>,
}

/// A wait for a permit; dropping it gives up the wait, or the permit if that was granted and not taken.
pub struct Claim {
    permits: Arc<Permits>,
    number: u64,
    state: Arc<AtomicU8>,
}

impl Permits {
    /// A permit for one connection, unless `most` are open or somebody waits.
    pub fn take(&self, most: Option<u32>) -> bool {
        match most {
            None => {
                self.open.fetch_add(1, Ordering::SeqCst);
                true
            }
            Some(most) => self.waiting.load(Ordering::SeqCst) == 0 && self.take_within(most),
        }
    }

    fn take_within(&self, most: u32) -> bool {
        let room = |open: u64| (open < u64::from(most)).then_some(open + 1);
        self.open.fetch_update(Ordering::SeqCst, Ordering::SeqCst, room).is_ok()
    }

    /// Waits for a permit behind those who wait already.
    pub fn claim(self: &Arc<Self>, most: u32, caller: Caller<'_>) -> Claim {
        let state = Arc::new(AtomicU8::new(WAITS));
        let mut claims = lock(&self.claims);
        claims.made += 1;
        let number = claims.made;
        let waiting = Waiting { waiter: caller.waiter(), most, state: Arc::clone(&state) };
        claims.by_number.insert(number, waiting);
        self.waiting.store(claims.by_number.len(), Ordering::SeqCst);
        // Whoever closes a connection either sees the claim, or has closed it before this looks.
        fence(Ordering::SeqCst);
        let granted = self.grant(&mut claims);
        drop(claims);
        granted.iter().for_each(Waiter::wake);
        Claim { permits: Arc::clone(self), number, state }
    }

    /// A connection is closed: its permit goes to the first who waits.
    pub fn give_back(&self) {
        let before = self.open.fetch_sub(1, Ordering::SeqCst);
        debug_assert!(before > 0, "a connection was closed that was never opened");
        fence(Ordering::SeqCst);
        if self.is_wanted() {
            let granted = self.grant(&mut lock(&self.claims));
            granted.iter().for_each(Waiter::wake);
        }
    }

    /// Does anybody wait? Then no connection is to lie idle.
    pub fn is_wanted(&self) -> bool {
        self.waiting.load(Ordering::SeqCst) > 0
    }

    /// Open connections.
    pub fn open(&self) -> u64 {
        self.open.load(Ordering::Relaxed)
    }

    /// Grants what there is, in the order of the claims. The caller wakes them, without the lock.
    fn grant(&self, claims: &mut Claims) -> Vec<Waiter> {
        let mut granted = Vec::new();
        while let Some((&number, first)) = claims.by_number.first_key_value() {
            if !self.take_within(first.most) {
                break;
            }
            let swapped =
                first.state.compare_exchange(WAITS, GRANTED, Ordering::AcqRel, Ordering::Acquire).is_ok();
            if swapped {
                granted.push(first.waiter.clone());
            } else {
                self.open.fetch_sub(1, Ordering::SeqCst);
            }
            claims.by_number.remove(&number);
        }
        self.waiting.store(claims.by_number.len(), Ordering::SeqCst);
        granted
    }
}

impl Claim {
    /// Takes the permit if it was granted; the claim is then spent.
    pub fn take(&self) -> bool {
        self.state.compare_exchange(GRANTED, SPENT, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        match self.state.swap(SPENT, Ordering::AcqRel) {
            WAITS => {
                let mut claims = lock(&self.permits.claims);
                claims.by_number.remove(&self.number);
                self.permits.waiting.store(claims.by_number.len(), Ordering::SeqCst);
            }
            GRANTED => self.permits.give_back(),
            _ => {}
        }
    }
}

const WAITS: u8 = 0;
const GRANTED: u8 = 1;
const SPENT: u8 = 2;

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::service::waker::Waker;

    #[derive(Default)]
    struct Woken(Mutex<Vec<u64>>);

    impl Waker for Woken {
        fn wake(&self, waiter: u64) {
            lock(&self.0).push(waiter);
        }
    }

    #[test]
    fn permits_go_to_those_who_wait_in_their_order() {
        let (permits, woken) = (Arc::new(Permits::default()), Arc::new(Woken::default()));
        let waker: Arc<dyn Waker> = woken.clone();
        let claim = |id| permits.claim(1, Caller { waker: &waker, id });
        assert!(permits.take(Some(1)) && !permits.take(Some(1)));
        let [first, second, third] = [1, 2, 3].map(claim);
        permits.give_back();
        assert!(first.take() && !second.take(), "one was closed");
        assert!(!permits.take(Some(2)), "nobody overtakes those who wait");
        drop(second);
        permits.give_back();
        assert_eq!(*lock(&woken.0), [1, 3], "who gave up was not called");
        drop(third);
        assert_eq!(
            (permits.open(), permits.is_wanted()),
            (0, false),
            "what was granted and not taken is free"
        );
        assert!(permits.take(None) && permits.take(None));
    }
}
