//! A worker's pulse: how often its loop has turned and what it is at, for whoever watches it from outside.
//!
//! Written by the worker alone, read by any thread; costs a store for each event.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

/// One worker's pulse.
#[derive(Default)]
#[repr(align(64))]
pub struct Pulse {
    turns: AtomicU64,
    doing: AtomicU8,
    /// Its thread, as /proc knows it.
    thread: OnceLock<i32>,
}

/// What a worker is at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Doing {
    /// It waits for events.
    Waiting = 0,
    /// An event of a client's or a service's connection.
    Connection,
    /// Accepting clients.
    Listener,
    /// What the control thread told it, such as a changed configuration.
    Mailbox,
    /// A connection that only has to end.
    Lingering,
    /// Connections that have more to read.
    Ready,
    /// What is due by the clock.
    Clock,
}

impl Doing {
    /// In words, after "while".
    pub fn text(self) -> &'static str {
        match self {
            Doing::Waiting => "waiting for events",
            Doing::Connection => "handling an event of a connection",
            Doing::Listener => "accepting clients",
            Doing::Mailbox => "taking over a change",
            Doing::Lingering => "closing a connection",
            Doing::Ready => "reading connections",
            Doing::Clock => "doing what was due",
        }
    }
}

impl Pulse {
    /// The calling thread is the worker.
    pub(super) fn start(&self) {
        let _ = self.thread.set(rustix::thread::gettid().as_raw_nonzero().get());
    }

    /// It is at something else now.
    #[inline]
    pub(super) fn at(&self, doing: Doing) {
        self.doing.store(doing as u8, Ordering::Relaxed);
    }

    /// Its loop turns once more.
    #[inline]
    pub(super) fn turn(&self) {
        // One writer: no need for an atomic addition.
        self.turns.store(self.turns.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        self.at(Doing::Waiting);
    }

    /// As a test wants it.
    #[cfg(test)]
    pub fn set(&self, turns: u64, doing: Doing) {
        self.turns.store(turns, Ordering::Relaxed);
        self.at(doing);
    }

    /// How often its loop has turned.
    pub fn turns(&self) -> u64 {
        self.turns.load(Ordering::Relaxed)
    }

    /// What it is at.
    pub fn doing(&self) -> Doing {
        const ALL: [Doing; 7] = [
            Doing::Waiting,
            Doing::Connection,
            Doing::Listener,
            Doing::Mailbox,
            Doing::Lingering,
            Doing::Ready,
            Doing::Clock,
        ];
        ALL.into_iter()
            .find(|doing| *doing as u8 == self.doing.load(Ordering::Relaxed))
            .unwrap_or(Doing::Waiting)
    }

    /// CPU time that its thread has used, in nanoseconds; `None` when the system does not say.
    pub fn cpu_ns(&self) -> Option<u64> {
        let thread = self.thread.get()?;
        let text = std::fs::read_to_string(format!("/proc/self/task/{thread}/schedstat")).ok()?;
        text.split_whitespace().next()?.parse().ok()
    }
}
