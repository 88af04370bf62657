//! The access log: a JSON line for each transaction, written by a thread of its own and never waited for.
//!
//! Owns a bounded ring of bytes for each worker, the thread that empties them, and the file. The hard question: what if
//! the file is not written, because the disk is full or nobody reads the pipe? Then the rings fill, and lines that find no
//! room, or cannot be written, are dropped whole and counted. Traffic waits for none of it.

mod entry;
mod line;
mod output;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{JoinHandle, Thread};
use std::time::{Duration, Instant, SystemTime};

use rtrb::{Consumer, Producer, RingBuffer};
use steelyard_core::proxy::record::Record;

use self::entry::Entry;
use self::line::WallClock;
pub use self::output::{Output, Target};
use crate::fault::reason;
use crate::worker::Clock;

/// A worker's end: where its records are put. [`Sink::wake`] must follow before the worker waits.
pub struct Sink {
    ring: Producer<u8>,
    scratch: Vec<u8>,
    /// Something was put in since the last `wake`.
    fresh: bool,
    shared: Arc<Shared>,
    writer: Thread,
}

/// The running log. Dropping it leaves it running; [`AccessLog::stop`] ends it.
pub struct AccessLog {
    shared: Arc<Shared>,
    writer: JoinHandle<()>,
}

/// How the log fares.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Standing {
    /// Lines written since the start.
    pub written: u64,
    /// Lines lost since the start.
    pub dropped: u64,
    /// Why the last attempt to write or to reopen it failed, if it did.
    pub trouble: Option<String>,
}

#[derive(Default)]
struct Shared {
    /// The writer is about to park: whoever has something wakes it.
    asleep: AtomicBool,
    /// The writer lets lines gather: whoever has half a ring of them wakes it.
    gathering: AtomicBool,
    reopen: AtomicBool,
    stop: AtomicBool,
    written: AtomicU64,
    dropped: AtomicU64,
    trouble: Mutex<Option<String>>,
}

impl AccessLog {
    /// Starts writing to `output` what `workers` sinks are given.
    ///
    /// # Errors
    /// The system grants no thread.
    pub fn start(output: Output, workers: usize, clock: Clock) -> std::io::Result<(AccessLog, Vec<Sink>)> {
        let shared = Arc::new(Shared::default());
        let (ends, rings): (Vec<_>, Vec<_>) = (0..workers).map(|_| RingBuffer::new(RING_BYTES)).unzip();
        let writer = Writer { output, rings, clock, shared: Arc::clone(&shared), out: Vec::new(), lines: 0 };
        let thread = std::thread::Builder::new().name("access-log".to_owned());
        let writer = thread.spawn(move || writer.run())?;
        let sink = |ring| Sink {
            ring,
            scratch: Vec::new(),
            fresh: false,
            shared: Arc::clone(&shared),
            writer: writer.thread().clone(),
        };
        let sinks = ends.into_iter().map(sink).collect();
        Ok((AccessLog { shared, writer }, sinks))
    }

    /// Has it opened its file again by name, as after a rotation. Until that is done the old one is written.
    pub fn reopen(&self) {
        self.shared.reopen.store(true, Ordering::Release);
        self.writer.thread().unpark();
    }

    /// How it fares.
    pub fn standing(&self) -> Standing {
        Standing {
            written: self.shared.written.load(Ordering::Relaxed),
            dropped: self.shared.dropped.load(Ordering::Relaxed),
            trouble: lock(&self.shared.trouble).clone(),
        }
    }

    /// Writes what is there and ends; waits for it, but not for ever: whoever reads may have stopped.
    pub fn stop(&self) {
        self.shared.stop.store(true, Ordering::Release);
        self.writer.thread().unpark();
        let patience = Instant::now() + STOP_PATIENCE;
        while !self.writer.is_finished() && Instant::now() < patience {
            std::thread::sleep(PAUSE);
        }
    }
}

impl Sink {
    /// Takes a record down; drops and counts it when there is no room.
    pub fn put(&mut self, record: &Record<'_>) {
        self.scratch.clear();
        entry::write(record, &mut self.scratch);
        match self.ring.push_entire_slice(&self.scratch) {
            Ok(()) => self.fresh = true,
            Err(_) => drop(self.shared.dropped.fetch_add(1, Ordering::Relaxed)),
        }
    }

    /// Wakes the writer if it sleeps and there is something to write, or if it lets lines gather and there are many.
    #[inline]
    pub fn wake(&mut self) {
        if !std::mem::take(&mut self.fresh) {
            return;
        }
        if self.ring.slots() < RING_BYTES / 2 && self.shared.gathering.swap(false, Ordering::Relaxed) {
            self.writer.unpark();
        }
        // With that of `Writer::sleep`: either it sees what was put in, or this sees that it sleeps.
        fence(Ordering::SeqCst);
        if self.shared.asleep.load(Ordering::Relaxed) && self.shared.asleep.swap(false, Ordering::Relaxed) {
            self.writer.unpark();
        }
    }
}

/// What the thread works with.
struct Writer {
    output: Output,
    rings: Vec<Consumer<u8>>,
    clock: Clock,
    shared: Arc<Shared>,
    /// Lines that are ready, and how many.
    out: Vec<u8>,
    lines: u64,
}

impl Writer {
    fn run(mut self) {
        loop {
            let stop = self.shared.stop.load(Ordering::Acquire);
            if self.shared.reopen.swap(false, Ordering::Acquire) {
                let opened = self.output.reopen();
                self.note(opened);
            }
            let worked = self.empty_rings();
            match (worked, stop) {
                // What follows within a moment is written together.
                (true, false) => self.gather(),
                (true, true) => {}
                (false, true) => return,
                (false, false) => self.sleep(),
            }
        }
    }

    fn gather(&self) {
        self.shared.gathering.store(true, Ordering::Relaxed);
        std::thread::park_timeout(PAUSE);
        self.shared.gathering.store(false, Ordering::Relaxed);
    }

    fn sleep(&self) {
        self.shared.asleep.store(true, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        if self.rings.iter().all(Consumer::is_empty) {
            std::thread::park();
        }
        self.shared.asleep.store(false, Ordering::Relaxed);
    }

    /// Writes all that is there; true when there was something.
    fn empty_rings(&mut self) -> bool {
        let mut wall = WallClock::new(SystemTime::now(), self.clock.now());
        let mut rings = std::mem::take(&mut self.rings);
        let mut worked = false;
        for ring in &mut rings {
            // Whole entries: each is put in at once.
            let Ok(chunk) = ring.read_chunk(ring.slots()) else { continue };
            let slices = chunk.as_slices();
            worked |= !slices.0.is_empty();
            entry::each(slices, |entry| self.line(entry, &mut wall));
            chunk.commit_all();
        }
        self.rings = rings;
        self.flush();
        worked
    }

    fn line(&mut self, entry: &Entry<'_>, wall: &mut WallClock) {
        line::write(entry, wall, &mut self.out);
        self.lines += 1;
        if self.out.len() >= WRITE_BYTES {
            self.flush();
        }
    }

    fn flush(&mut self) {
        if self.out.is_empty() {
            return;
        }
        let (written, result) = self.output.write(&self.out);
        self.shared.written.fetch_add(written, Ordering::Relaxed);
        self.shared.dropped.fetch_add(self.lines - written, Ordering::Relaxed);
        self.note(result);
        self.out.clear();
        self.lines = 0;
    }

    fn note(&self, result: std::io::Result<()>) {
        *lock(&self.shared.trouble) = result.err().map(|error| reason(&error));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A worker's ring. It is walked through from end to end, over and over, so that what is larger than the processor's own
/// memory costs each request more; and half of it must have room for what one turn of a worker puts in.
const RING_BYTES: usize = 512 << 10;
/// Lines handed to the system at once.
const WRITE_BYTES: usize = 64 << 10;
/// Lines wait this long for others, so that a busy log is written in large pieces.
const PAUSE: Duration = Duration::from_millis(20);
/// How long the end of the program waits for a reader.
const STOP_PATIENCE: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests;
