//! The dirty bitmap: completions that found the picker's lock taken say here which keys are out of date.
//!
//! Marking never waits. The hard question is that no mark may be lost: bits are set from the leaves up and taken from
//! the top down, always by read-modify-writes, so for each word either the taker sees the mark beneath or the bit
//! stays for the next taker. A marker never stops early at a bit that is already set: whoever set it may not have
//! reached the top yet, and then the marker's own next pick would miss it.

use crate::sync::{AtomicU64, Ordering};

/// One bit for each service, with summary levels above.
pub struct Dirty {
    /// Leaf level first; the last level is one word.
    levels: Box<[Box<[AtomicU64]>]>,
}

impl Dirty {
    /// Room for `len` services, none marked.
    pub fn new(len: usize) -> Dirty {
        let mut levels = Vec::new();
        let mut width = len.div_ceil(64).max(1);
        loop {
            levels.push((0..width).map(|_| AtomicU64::new(0)).collect());
            if width == 1 {
                return Dirty { levels: levels.into() };
            }
            width = width.div_ceil(64);
        }
    }

    /// Marks `position`. What the caller wrote before is visible to whoever takes the mark.
    #[inline]
    pub fn mark(&self, position: usize) {
        let mut at = position;
        for level in &self.levels {
            level[at / 64].fetch_or(1 << (at % 64), Ordering::AcqRel);
            at /= 64;
        }
    }

    /// Is anything marked? A mark made by the calling thread is always seen.
    #[inline]
    pub fn any(&self) -> bool {
        self.levels[self.levels.len() - 1][0].load(Ordering::Acquire) != 0
    }

    /// Takes all marks and hands each position to `each`.
    pub fn drain(&self, mut each: impl FnMut(usize)) {
        self.take(self.levels.len() - 1, 0, &mut each);
    }

    fn take(&self, level: usize, word: usize, each: &mut impl FnMut(usize)) {
        let mut bits = self.levels[level][word].swap(0, Ordering::AcqRel);
        while bits != 0 {
            let at = word * 64 + bits.trailing_zeros() as usize;
            bits &= bits - 1;
            if level == 0 { each(at) } else { self.take(level - 1, at, each) }
        }
    }
}
