//! What happens when: the queue of events in virtual time, the seeded generator, and the last events for a failure.

use std::collections::{BTreeMap, VecDeque};

use crate::network::{FlowId, Side};
use crate::random::Random;

/// What is due.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    /// Something on the wire reaches this side.
    Wire(FlowId, Side),
    /// This side hears that its peer has room.
    Room(FlowId, Side),
    /// A connect reaches the service.
    Syn(FlowId),
    Established(FlowId),
    Refused(FlowId),
    LingerEnds(FlowId, Side),
    /// This side looks at what it has received.
    Read(FlowId, Side),
    /// An end of a TCP connection goes on talking.
    Talk(FlowId, Side),
    /// A client does its next thing.
    Client(u64),
    /// A client is lost patience with or goes away.
    Leaves(u64),
    /// A service goes on with an answer.
    Service(FlowId),
    /// A service closes a connection that has been idle since it had read so many requests.
    Idle(FlowId, usize),
    Arrival,
    /// An engine's deadline.
    Timer(usize),
    /// The pickers' tick.
    Tick,
    ProbesDue,
    ProbeEnds(u64),
    /// Some service changes how it behaves.
    Mood,
    Operator,
    /// A worker hears that one of its waiters was called.
    Called(usize, u64),
    /// A worker is to close an idle connection to a service.
    AskedBack(usize, usize),
    /// A worker hears that services have gone DOWN.
    Flush(usize),
    /// A worker reads its mailbox.
    Mail(usize),
}

/// Whether what happens is noted: it costs more than the run itself.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Notes {
    Off,
    /// The last ones are kept.
    Kept,
    Printed,
}

/// Virtual time and everything that is to happen in it.
pub struct Schedule {
    pub now: u64,
    pub random: Random,
    queue: BTreeMap<(u64, u64), Event>,
    order: u64,
    last: VecDeque<(u64, String)>,
    notes: Notes,
}

impl Schedule {
    pub fn new(seed: u64, notes: Notes) -> Schedule {
        Schedule {
            now: 1_000_000,
            random: Random::new(seed),
            queue: BTreeMap::new(),
            order: 0,
            last: VecDeque::new(),
            notes,
        }
    }

    /// `event` in so many microseconds.
    pub fn after(&mut self, in_us: u64, event: Event) {
        self.at(self.now + in_us, event);
    }

    pub fn at(&mut self, at: u64, event: Event) {
        self.order += 1;
        self.queue.insert((at.max(self.now), self.order), event);
    }

    /// Goes on to the next event, if it is due before `end`.
    pub fn next(&mut self, end: u64) -> Option<Event> {
        let entry = self.queue.first_entry().filter(|entry| entry.key().0 <= end)?;
        let ((at, _), event) = entry.remove_entry();
        self.now = at;
        Some(event)
    }

    /// Forgets what only goes on because it always did.
    pub fn forget(&mut self, is_unwanted: impl Fn(&Event) -> bool) {
        self.queue.retain(|_, event| !is_unwanted(event));
    }

    /// Notes something for one who looks for the cause of a failure.
    pub fn note(&mut self, what: impl FnOnce() -> String) {
        if self.notes == Notes::Off {
            return;
        }
        if self.last.len() >= KEPT {
            self.last.pop_front();
        }
        let what = what();
        if self.notes == Notes::Printed {
            eprintln!("{:>12.6} {what}", self.now as f64 / 1e6);
        }
        self.last.push_back((self.now, what));
    }

    /// The last events.
    pub fn last(&self) -> String {
        let lines = self.last.iter().map(|(at, what)| format!("{:>12.6} {what}\n", *at as f64 / 1e6));
        lines.collect()
    }
}

const KEPT: usize = 80;
