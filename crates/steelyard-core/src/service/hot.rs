//! What every transaction of a service touches, apart from all that is touched seldom.
//!
//! One cache line a service, in blocks of a page, so that the lines of a large ring lie side by side: with 100,000
//! services scattered over the heap, finding the page costs more than the choice. Whoever counts holds a [`Hot`] of its
//! own and does not go by way of the service.

use super::{ResponseTime, State};
use crate::sync::{Arc, AtomicU8, AtomicU64, AtomicUsize, Ordering};

/// The hot line of one service.
#[derive(Clone)]
pub struct Hot {
    block: Arc<Block>,
    index: usize,
}

/// Hands out hot lines, block after block.
#[derive(Default)]
pub struct Lines {
    block: Option<Arc<Block>>,
    taken: usize,
}

struct Block([Line; LINES]);

#[repr(align(64))]
struct Line {
    active: AtomicU64,
    generation: AtomicU64,
    requests: AtomicU64,
    /// 0 pending, u64::MAX never, else microseconds.
    response_time_us: AtomicU64,
    packet_watchers: AtomicUsize,
    state: AtomicU8,
}

impl Lines {
    /// The next line: no transaction, no request, DOWN.
    pub fn take(&mut self) -> Hot {
        let block = self.block.get_or_insert_with(Block::new);
        if self.taken == LINES {
            (*block, self.taken) = (Block::new(), 0);
        }
        self.taken += 1;
        Hot { block: Arc::clone(block), index: self.taken - 1 }
    }
}

impl Hot {
    /// See [`super::Service::active`].
    #[inline]
    pub fn active(&self) -> u64 {
        self.line().active.load(Ordering::Relaxed)
    }

    /// One more active transaction, of a new request.
    #[inline]
    pub fn begin(&self) {
        self.line().active.fetch_add(1, Ordering::AcqRel);
        self.line().requests.fetch_add(1, Ordering::Release);
    }

    /// One more, of a new request, unless `most` are active already; true when it was counted. However many ask at once,
    /// there are never more.
    #[inline]
    pub fn begin_within(&self, most: u32) -> bool {
        let line = self.line();
        let room = |active: u64| (active < u64::from(most)).then_some(active + 1);
        let counted = line.active.fetch_update(Ordering::AcqRel, Ordering::Relaxed, room).is_ok();
        line.requests.fetch_add(u64::from(counted), Ordering::Release);
        counted
    }

    /// One active transaction less. SeqCst here and in `generation` pairs with [`super::Service::bind`]: either the
    /// ender sees the new generation, or the new watcher reads the lowered count when it computes its keys afterwards.
    #[inline]
    pub fn end(&self) {
        let before = self.line().active.fetch_sub(1, Ordering::SeqCst);
        debug_assert!(before > 0, "a transaction ended that never began");
    }

    /// Requests begun so far, if none of them is active. Whoever counts for a service does so while a transaction of it
    /// is active, so whoever asks, then reads counters, and is given the same number later, has read all there was.
    ///
    /// The number is read first: it shows that a transaction has begun only to those who then find it active or ended,
    /// and who find it ended find what it has counted.
    pub fn at_rest(&self) -> Option<u64> {
        let requests = self.line().requests.load(Ordering::Acquire);
        (self.line().active.load(Ordering::Acquire) == 0).then_some(requests)
    }

    /// Is it the line of the same service?
    pub fn is(&self, other: &Hot) -> bool {
        Arc::ptr_eq(&self.block, &other.block) && self.index == other.index
    }

    /// See [`super::Service::generation`].
    #[inline]
    pub fn generation(&self) -> u64 {
        self.line().generation.load(Ordering::SeqCst)
    }

    /// Current state.
    pub fn state(&self) -> State {
        State::from_code(self.line().state.load(Ordering::Acquire))
    }

    /// The monitors' response time.
    pub fn response_time(&self) -> ResponseTime {
        match self.line().response_time_us.load(Ordering::Acquire) {
            PENDING => ResponseTime::Pending,
            NEVER => ResponseTime::Never,
            us => ResponseTime::Known(us),
        }
    }

    /// See [`super::Service::requests`].
    pub fn requests(&self) -> u64 {
        self.line().requests.load(Ordering::Relaxed)
    }

    pub(super) fn set_requests(&self, requests: u64) {
        self.line().requests.store(requests, Ordering::Relaxed);
    }

    pub(super) fn set_generation(&self, generation: u64) {
        self.line().generation.store(generation, Ordering::SeqCst);
    }

    /// True when that is a change.
    pub(super) fn set_state(&self, state: State) -> bool {
        self.line().state.swap(state as u8, Ordering::AcqRel) != state as u8
    }

    /// True when that is a change.
    pub(super) fn set_response_time(&self, value: ResponseTime) -> bool {
        let us = match value {
            ResponseTime::Pending => PENDING,
            ResponseTime::Never => NEVER,
            ResponseTime::Known(us) => us.clamp(1, NEVER - 1),
        };
        self.line().response_time_us.swap(us, Ordering::AcqRel) != us
    }

    pub(super) fn packet_watchers(&self) -> usize {
        self.line().packet_watchers.load(Ordering::Relaxed)
    }

    pub(super) fn set_packet_watchers(&self, watchers: usize) {
        self.line().packet_watchers.store(watchers, Ordering::Relaxed);
    }

    #[inline]
    fn line(&self) -> &Line {
        &self.block.0[self.index % LINES]
    }
}

impl Block {
    fn new() -> Arc<Block> {
        Arc::new(Block(std::array::from_fn(|_| Line {
            active: AtomicU64::new(0),
            generation: AtomicU64::new(0),
            requests: AtomicU64::new(0),
            response_time_us: AtomicU64::new(NEVER),
            packet_watchers: AtomicUsize::new(0),
            state: AtomicU8::new(State::Down as u8),
        })))
    }
}

const PENDING: u64 = 0;
const NEVER: u64 = u64::MAX;
/// Lines in a block: 4 KiB. The model checker pays for each atomic.
const LINES: usize = if cfg!(loom) { 1 } else { 64 };

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_begin_than_may() {
        let hot = Lines::default().take();
        assert!(hot.begin_within(2) && hot.begin_within(2) && !hot.begin_within(2));
        assert_eq!((hot.active(), hot.requests()), (2, 2));
        hot.end();
        assert!(!hot.begin_within(1) && hot.begin_within(2), "a lowered limit holds at once");
    }

    #[test]
    fn at_rest_is_who_has_no_transaction() {
        let hot = Lines::default().take();
        assert_eq!(hot.at_rest(), Some(0));
        hot.begin();
        assert!(hot.begin_within(2));
        hot.end();
        assert_eq!(hot.at_rest(), None);
        hot.end();
        assert_eq!(hot.at_rest(), Some(2), "what was carried meanwhile shows by the number");
    }

    #[test]
    fn no_two_services_share_a_line() {
        let mut lines = Lines::default();
        let hots: Vec<Hot> = (0..3 * LINES).map(|_| lines.take()).collect();
        for (count, hot) in hots.iter().enumerate() {
            (0..count).for_each(|_| hot.begin());
        }
        assert!(hots.iter().enumerate().all(|(count, hot)| hot.active() == count as u64));
        let same = |hot: &Hot| hots.iter().filter(|other| hot.is(other)).count();
        assert!(hots.iter().all(|hot| same(hot) == 1));
    }
}
