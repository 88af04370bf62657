//! A worker's loop: wait for events, let the engine act on them, look at the clock.
//!
//! Owns the order in which things happen. The hard question: fairness. A connection is read a few times in a row at
//! most, and one that still has data waits on the ready list while the others have their turn.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use rustix::buffer::spare_capacity;
use rustix::event::Timespec;
use rustix::event::epoll::{self, Event, EventData, EventFlags};
use rustix::io::Errno;
use steelyard_core::proxy::engine::Engine;
use steelyard_core::proxy::io::{ConnId, Gone, Io};
use steelyard_core::proxy::limits::Limits;
use steelyard_core::snapshot::Snapshot;
use steelyard_core::time::{MILLISECOND_US, Time};

use super::listener::{Accepted, Listeners};
use super::mailbox::{Mailbox, Message, Post};
use super::options::reset;
use super::socket::{BULK_READ_BYTES, Flush, Read, Sockets};
use super::source::Source;
use super::{Clock, Counters, Doing, Pulse};
use crate::access_log::Sink;

/// One worker, before and while its thread runs.
pub(super) struct Worker {
    engine: Engine,
    sockets: Sockets,
    listeners: Listeners,
    mailbox: Arc<Mailbox>,
    pulse: Arc<Pulse>,
    buffer: Box<[u8]>,
    /// The ready list of the current turn.
    batch: Vec<ConnId>,
    /// When sessions are looked through for what has left service, if they must be; and when they were last.
    flush_due: Time,
    flushed_at: Time,
    stop: Option<Stop>,
}

/// What a worker is made of.
pub(super) struct Equipment {
    pub limits: Limits,
    pub clock: Clock,
    pub post: Post,
    pub counters: Arc<Counters>,
    pub pulse: Arc<Pulse>,
    /// Its end of the access log, if there is one.
    pub log: Option<Sink>,
}

impl Worker {
    pub fn new(equipment: Equipment) -> io::Result<Worker> {
        let Equipment { limits, clock, post, counters, pulse, log } = equipment;
        let mut sockets = Sockets::new(clock, log)?;
        sockets.limit_pipes(limits.pipes);
        let mailbox = Arc::clone(post.own());
        let data = EventData::new_u64(Source::Mailbox.to_bits());
        epoll::add(sockets.epoll(), &mailbox, data, EventFlags::IN)?;
        Ok(Worker {
            engine: Engine::new(limits, Arc::new(Snapshot::default()), Arc::new(post)),
            sockets,
            listeners: Listeners::new(counters),
            mailbox,
            pulse,
            buffer: vec![0; BULK_READ_BYTES].into_boxed_slice(),
            batch: Vec::new(),
            flush_due: Time::NEVER,
            flushed_at: Time::ZERO,
            stop: None,
        })
    }

    /// Runs until it is told to stop. A worker that fails takes the process with it, so that whoever supervises it
    /// starts a whole one: a process that lacks a worker would leave a share of its clients unanswered.
    pub fn run_or_exit(mut self) {
        let failure = match catch_unwind(AssertUnwindSafe(|| self.run())) {
            Ok(Ok(())) => return,
            Ok(Err(error)) => format!("epoll failed: {error}"),
            Err(_) => "it panicked, see above".to_owned(),
        };
        let thread = std::thread::current();
        eprintln!("steelyard: {} ended: {failure}; exiting", thread.name().unwrap_or("a worker"));
        std::process::exit(1);
    }

    fn run(&mut self) -> io::Result<()> {
        let mut events: Vec<Event> = Vec::with_capacity(EVENTS);
        self.pulse.start();
        loop {
            events.clear();
            let timeout = self.timeout();
            self.pulse.turn();
            match epoll::wait(self.sockets.epoll(), spare_capacity(&mut events), timeout.as_ref()) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            for event in &events {
                self.event(Source::from_bits(event.data.u64()), event.flags);
            }
            self.pulse.at(Doing::Ready);
            self.serve_ready();
            self.sockets.wake_log();
            self.pulse.at(Doing::Clock);
            if self.look_at_clock() == Turn::Last {
                return Ok(());
            }
        }
    }

    fn timeout(&mut self) -> Option<Timespec> {
        if self.sockets.has_ready() {
            return Some(Timespec { tv_sec: 0, tv_nsec: 0 });
        }
        let deadline = self.next_deadline();
        if deadline == Time::NEVER {
            return None;
        }
        // Rounded up to epoll's unit, or the last millisecond would be spent spinning.
        let ms = deadline.since_us(self.sockets.now()).div_ceil(MILLISECOND_US).min(LONGEST_WAIT_MS) as i64;
        Some(Timespec { tv_sec: ms / 1000, tv_nsec: (ms % 1000) * 1_000_000 })
    }

    fn next_deadline(&self) -> Time {
        self.engine
            .next_deadline()
            .min(self.sockets.lingering.next_deadline())
            .min(self.listeners.next_deadline())
            .min(self.flush_due)
            .min(self.stop.as_ref().map_or(Time::NEVER, |stop| stop.ends_at))
    }

    fn event(&mut self, source: Source, flags: EventFlags) {
        self.pulse.at(match source {
            Source::Connection(_) => Doing::Connection,
            Source::Listener(_) => Doing::Listener,
            Source::Mailbox => Doing::Mailbox,
            Source::Lingering(_) => Doing::Lingering,
        });
        match source {
            Source::Connection(id) => self.connection_event(id, flags),
            Source::Listener(key) => self.accept(key),
            Source::Mailbox => self.read_mail(),
            Source::Lingering(id) => {
                let now = self.sockets.now();
                self.sockets.lingering.event(id, &mut self.buffer, now);
            }
        }
        self.report_failures();
    }

    fn connection_event(&mut self, id: ConnId, flags: EventFlags) {
        if self.sockets.note(id, flags) {
            self.engine.connected(id, &mut self.sockets);
        }
        if flags.contains(EventFlags::OUT) && self.sockets.flush(id) == Flush::Drained {
            self.engine.drained(id, &mut self.sockets);
        }
        if flags.contains(EventFlags::OUT)
            && let Some(from) = self.sockets.fed_by(id)
        {
            self.read(from);
        }
        self.read(id);
    }

    fn read(&mut self, id: ConnId) {
        for _ in 0..READS_PER_TURN {
            match self.sockets.read(id, &mut self.buffer) {
                Read::Data(read) => self.engine.data(id, &self.buffer[..read], &mut self.sockets),
                Read::Moved { bytes, queued } => {
                    self.engine.moved(id, bytes, queued, &mut self.sockets);
                    if queued > 0 {
                        return;
                    }
                }
                Read::End => return self.engine.ended(id, &mut self.sockets),
                Read::Failed => return self.engine.gone(id, Gone::Reset, &mut self.sockets),
                Read::Nothing => return,
            }
        }
        self.sockets.list_if_readable(id);
    }

    fn serve_ready(&mut self) {
        let mut batch = std::mem::take(&mut self.batch);
        self.sockets.take_ready(&mut batch);
        for id in batch.drain(..) {
            self.read(id);
            self.report_failures();
        }
        self.batch = batch;
    }

    fn report_failures(&mut self) {
        while let Some((id, why)) = self.sockets.next_failed() {
            self.engine.gone(id, why, &mut self.sockets);
        }
    }

    fn accept(&mut self, key: u32) {
        let Some(vserver) = self.listeners.vserver(key) else { return };
        let now = self.sockets.now();
        for _ in 0..ACCEPTS_PER_TURN {
            if self.engine.is_full() {
                return self.listeners.rest(key, self.sockets.epoll(), now);
            }
            match self.listeners.accept(key, self.sockets.epoll(), now) {
                Accepted::Client(fd, peer) => match self.engine.accepted(&vserver, peer, &mut self.sockets) {
                    Some(id) => self.sockets.adopt(id, fd),
                    None => reset(fd),
                },
                Accepted::Lost => {}
                Accepted::Nobody => return,
            }
        }
    }

    fn read_mail(&mut self) {
        let now = self.sockets.now();
        for message in self.mailbox.take() {
            match message {
                Message::Adopt { snapshot, names, opened } => {
                    // The snapshot first: a listener's first client must find its virtual server.
                    self.engine.adopt(snapshot, &mut self.sockets);
                    self.listeners.adopt(self.sockets.epoll(), opened, &names, now);
                }
                Message::Granted(waiter) => self.engine.granted(waiter, &mut self.sockets),
                Message::AskedBack(service) => self.engine.asked_back(&service, &mut self.sockets),
                Message::Flush => self.flush_due = self.flushed_at.plus_us(FLUSH_REST_US),
                Message::Stop { grace_us } => {
                    self.listeners.close_all(now);
                    self.stop = Some(Stop { ends_at: now.plus_us(grace_us), clients: Clients::Served });
                }
            }
        }
    }

    fn look_at_clock(&mut self) -> Turn {
        let now = self.sockets.now();
        if self.engine.next_deadline() <= now {
            self.engine.tick(now, &mut self.sockets);
            self.report_failures();
        }
        if self.flush_due <= now {
            (self.flush_due, self.flushed_at) = (Time::NEVER, now);
            self.engine.flush(&mut self.sockets);
            self.report_failures();
        }
        self.sockets.lingering.expire(now);
        if self.listeners.next_deadline() <= now {
            self.listeners.expire(self.sockets.epoll(), now);
        }
        self.carry_on_stopping(now)
    }

    /// First the listeners' queues are served empty, then clients are let go as their requests end.
    fn carry_on_stopping(&mut self, now: Time) -> Turn {
        let Some(stop) = &mut self.stop else { return Turn::More };
        if stop.ends_at <= now {
            self.engine.cut(&mut self.sockets);
            return Turn::Last;
        }
        if self.listeners.is_empty() && stop.clients == Clients::Served {
            stop.clients = Clients::LetGo;
            // Without its virtual server a session ends after its current transaction.
            self.engine.adopt(Arc::new(Snapshot::default()), &mut self.sockets);
            self.report_failures();
        }
        let idle =
            self.listeners.is_empty() && self.sockets.clients() == 0 && !self.sockets.lingering.is_sending();
        if idle { Turn::Last } else { Turn::More }
    }
}

/// A stop in progress.
struct Stop {
    /// Whatever is still open then is cut.
    ends_at: Time,
    clients: Clients,
}

#[derive(PartialEq, Eq)]
enum Clients {
    Served,
    LetGo,
}

#[derive(PartialEq, Eq)]
enum Turn {
    More,
    Last,
}

/// Reads of one connection before others have their turn.
const READS_PER_TURN: usize = 2;
/// Events of one wait; more were measured slower at a thousand connections.
const EVENTS: usize = 64;
/// Connections accepted from one listener before others have their turn.
const ACCEPTS_PER_TURN: usize = 64;
/// Sessions are looked through no more often than that, however many services go DOWN one after the other: at once for
/// the first, and 20 ms later for those that follow.
const FLUSH_REST_US: u64 = 20 * MILLISECOND_US;
/// The longest wait that plain epoll_wait takes, well below its limit.
const LONGEST_WAIT_MS: u64 = 3_600_000;
