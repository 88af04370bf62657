//! The decision log behind `explain`: what happened under the picker's lock, in order, in a bounded ring.
//!
//! Each event holds what it *overwrote*. Reading starts from the present values and undoes events backwards, so the
//! whole table can be rebuilt at every pick for any number of services without keyframes, and a keyframe's cost never
//! falls into a pick. Two words an event: writing is a handful of instructions.

use crate::sync::{Arc, AtomicUsize, Ordering};

/// Why a pick fell as it did, beside the rule itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Reason {
    /// The configured method chose.
    Method = 0,
    /// Weighted round robin during start-up (`spec/methods.md` 2.1).
    StartupRoundRobin = 1,
    /// The method chose while slow start held a service back (2.3).
    SlowStart = 2,
    /// The method's data is missing: round robin or least connection stands in (3.2, 3.3).
    Fallback = 4,
    /// Services that this request was sent to before were left out.
    Retry = 5,
}

impl Reason {
    /// As `explain` prints it.
    pub fn text(self) -> &'static str {
        match self {
            Reason::Method => "method",
            Reason::StartupRoundRobin => "startup round robin",
            Reason::SlowStart => "slow start",
            Reason::Fallback => "fallback",
            Reason::Retry => "retry",
        }
    }

    fn from_bits(bits: u64) -> Reason {
        match bits {
            1 => Reason::StartupRoundRobin,
            2 => Reason::SlowStart,
            4 => Reason::Fallback,
            5 => Reason::Retry,
            _ => Reason::Method,
        }
    }
}

/// The rule that the keys of a pick followed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Rule {
    /// The method's own value N.
    Method = 0,
    /// Turns taken, by rounds.
    RoundRobin = 1,
    /// N with a constant in place of an unknown response time.
    LeastConnection = 2,
}

/// One pick as the log holds it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pick {
    /// When, in microseconds of the program's monotonic time.
    pub at_us: u64,
    /// Why.
    pub reason: Reason,
    /// By which keys.
    pub rule: Rule,
    /// Where.
    pub selected: usize,
    /// The ring position from whose successor ties were resolved; `None` before the first selection.
    pub last: Option<usize>,
}

/// An event read back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    /// The metric N at a position was this before.
    Metric(usize, u64),
    /// The turns taken at a position were this before.
    Turns(usize, u64),
    /// What held the service back was this before.
    Held(usize, u8),
    /// A pick.
    Pick(Pick),
}

/// The ring of one picker. Takes its memory at the first pick, from a budget that all pickers share.
pub struct Log {
    ring: Box<[[u64; 2]]>,
    /// Events ever written; the next one goes to `written % ring.len()`.
    written: usize,
    budget: Arc<Budget>,
}

/// How much memory all decision logs together may still take.
pub struct Budget(AtomicUsize);

impl Budget {
    /// A budget of `bytes`.
    pub fn new(bytes: usize) -> Arc<Budget> {
        Arc::new(Budget(AtomicUsize::new(bytes)))
    }

    fn take(&self, bytes: usize) -> bool {
        self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, |left| left.checked_sub(bytes)).is_ok()
    }
}

impl Log {
    /// An empty log without memory of its own.
    pub fn new(budget: Arc<Budget>) -> Log {
        Log { ring: Box::new([]), written: 0, budget }
    }

    /// Takes the memory, if it has none and the budget still has it.
    pub fn open(&mut self) {
        if self.ring.is_empty() && self.budget.take(LOG_BYTES) {
            self.ring = vec![[0; 2]; EVENTS].into();
            self.written = 0;
        }
    }

    /// The budget it takes its memory from.
    pub fn budget(&self) -> Arc<Budget> {
        Arc::clone(&self.budget)
    }

    /// The metric at `position` was `old`.
    #[inline]
    pub fn metric(&mut self, position: usize, old: u64) {
        self.write(METRIC << KIND | position as u64, old);
    }

    /// The turns at `position` were `old`.
    #[inline]
    pub fn turns(&mut self, position: usize, old: u64) {
        self.write(TURNS << KIND | position as u64, old);
    }

    /// What held `position` back was `old`.
    pub fn held(&mut self, position: usize, old: u8) {
        self.write(HELD << KIND | position as u64, u64::from(old));
    }

    /// A pick; written before the changes that it brings about.
    #[inline]
    pub fn pick(&mut self, pick: Pick) {
        let last = pick.last.map_or(POSITION, |p| p as u64);
        let how = (pick.rule as u64) << RULE | (pick.reason as u64) << REASON;
        self.write(PICK << KIND | how | last << LAST | pick.selected as u64, pick.at_us);
    }

    /// Everything that is still held, newest first.
    pub fn newest_first(&self) -> Vec<Event> {
        let held = self.written.min(self.ring.len());
        (1..=held).map(|back| read(self.ring[(self.written - back) % self.ring.len()])).collect()
    }

    #[inline]
    fn write(&mut self, word: u64, value: u64) {
        // The length is a power of two or nothing; without memory `get_mut` finds nothing.
        let at = self.written & self.ring.len().wrapping_sub(1);
        if let Some(event) = self.ring.get_mut(at) {
            *event = [word, value];
            self.written += 1;
        }
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        if !self.ring.is_empty() {
            self.budget.0.fetch_add(LOG_BYTES, Ordering::AcqRel);
        }
    }
}

fn read([word, value]: [u64; 2]) -> Event {
    let position = (word & POSITION) as usize;
    match word >> KIND {
        METRIC => Event::Metric(position, value),
        TURNS => Event::Turns(position, value),
        HELD => Event::Held(position, value as u8),
        _ => {
            let last = word >> LAST & POSITION;
            let rule = match word >> RULE & 3 {
                1 => Rule::RoundRobin,
                2 => Rule::LeastConnection,
                _ => Rule::Method,
            };
            Event::Pick(Pick {
                at_us: value,
                reason: Reason::from_bits(word >> REASON & 7),
                rule,
                selected: position,
                last: (last != POSITION).then_some(last as usize),
            })
        }
    }
}

/// Memory of one log.
pub const LOG_BYTES: usize = 256 * 1024;
/// Memory of all logs together.
pub const ALL_LOGS_BYTES: usize = 64 * 1024 * 1024;
const EVENTS: usize = LOG_BYTES / size_of::<[u64; 2]>();

// A word, from the top: kind 2 bits, rule 2, reason 3, last 28, selected or position 28; one bit is unused.
const KIND: u32 = 62;
const RULE: u32 = 60;
const REASON: u32 = 57;
const LAST: u32 = 28;
const POSITION: u64 = (1 << LAST) - 1;
const METRIC: u64 = 0;
const TURNS: u64 = 1;
const HELD: u64 = 2;
const PICK: u64 = 3;
