//! One thread per core that carries traffic: sockets in, engine decides, sockets out.
//!
//! Owns every traffic socket and the threads that serve them. Never decides anything about a request (that is
//! [`steelyard_core::proxy`]) and never touches the configuration: a change arrives as a whole [`Snapshot`] in a
//! worker's mailbox. The hard question here: how a change reaches N threads without a lock on the traffic path and
//! without a snapshot that is published before its listeners are bound.

mod connecting;
mod driver;
mod lingering;
mod listener;
mod mailbox;
mod options;
mod ports;
mod pulse;
mod sending;
mod socket;
mod source;
mod sys;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use steelyard_core::proxy::limits::Limits;
use steelyard_core::snapshot::Snapshot;
use steelyard_core::time::Time;

use crate::access_log::Sink;
use driver::{Equipment, Worker};
use mailbox::{Listen, Mailbox, Message, Post};
pub use options::leave_from;
pub use pulse::{Doing, Pulse};
pub use sys::{send_frame, watch};

/// The program's one data-plane clock: monotonic microseconds since it was started. All workers and the control
/// thread hold copies of the same one.
#[derive(Clone, Copy)]
pub struct Clock {
    origin: Instant,
}

impl Clock {
    /// A clock that reads zero now.
    pub fn start() -> Clock {
        Clock { origin: Instant::now() }
    }

    /// The time now.
    pub fn now(&self) -> Time {
        Time::from_us(self.origin.elapsed().as_micros() as u64)
    }
}

/// An address that could not be opened; everything else of the snapshot is served.
#[derive(Debug)]
pub struct BindFailure {
    /// The virtual server that wanted it.
    pub vserver: String,
    /// The address.
    pub address: SocketAddr,
    /// Why not.
    pub error: io::Error,
}

/// Listeners for a snapshot that is to come. If it is dropped, what was bound for it is given up.
pub struct Bound {
    names: BTreeMap<SocketAddr, Arc<str>>,
    /// For each worker, its listeners of addresses that were not open.
    opened: Vec<Vec<Listen>>,
    failures: Vec<BindFailure>,
}

impl Bound {
    /// The addresses that could not be bound.
    pub fn failures(&self) -> &[BindFailure] {
        &self.failures
    }
}

/// What workers count for the operator; shared with them.
#[derive(Default)]
pub struct Counters {
    /// How often a listener left those who wait in its queue for 100 ms, as descriptors, memory or places were short.
    pub rests: AtomicU64,
}

/// The running workers. Dropping it leaves them running; [`Workers::stop`] ends them.
pub struct Workers {
    threads: Vec<JoinHandle<()>>,
    mailboxes: Vec<Arc<Mailbox>>,
    counters: Arc<Counters>,
    pulses: Vec<Arc<Pulse>>,
    /// Open addresses. A lease is held by every listener of its address.
    open: BTreeMap<SocketAddr, Weak<()>>,
    /// Addresses that workers may still be serving the last queued connections of.
    closing: Vec<(SocketAddr, Weak<()>)>,
}

impl Workers {
    /// Starts `threads` workers that serve nothing yet, and raises the limit of open descriptors to what the host
    /// allows. Each takes one of `sinks` for its access log, if there are any.
    ///
    /// # Errors
    /// What the system refuses: a thread, an epoll instance, a descriptor.
    pub fn start(threads: usize, clock: Clock, sinks: Vec<Sink>) -> io::Result<Workers> {
        let threads = threads.max(1);
        let limits = limits(raise_descriptor_limit(), threads);
        let mut sinks = sinks.into_iter();
        let counters = Arc::new(Counters::default());
        let mut workers = Workers {
            threads: Vec::new(),
            mailboxes: Vec::new(),
            counters: Arc::clone(&counters),
            pulses: Vec::new(),
            open: BTreeMap::new(),
            closing: Vec::new(),
        };
        let mailboxes: io::Result<Vec<_>> = (0..threads).map(|_| Mailbox::new().map(Arc::new)).collect();
        let all: Arc<[_]> = mailboxes?.into();
        for own in 0..threads {
            let sink = sinks.next();
            let logged_line_bytes = if sink.is_some() { LOGGED_LINE_BYTES } else { 0 };
            let limits = Limits { logged_line_bytes, ..limits.clone() };
            let pulse = Arc::new(Pulse::default());
            workers.pulses.push(Arc::clone(&pulse));
            let post = Post { all: Arc::clone(&all), own };
            let counters = Arc::clone(&counters);
            let worker = Worker::new(Equipment { limits, clock, post, counters, pulse, log: sink })?;
            let name = format!("worker-{own}");
            workers.threads.push(std::thread::Builder::new().name(name).spawn(move || worker.run_or_exit())?);
        }
        workers.mailboxes = all.to_vec();
        Ok(workers)
    }

    /// Binds those of `wanted` (virtual server, address) that are not open. An address that cannot be bound is among the
    /// failures; nothing is served, and nothing closed, before `publish`.
    pub fn bind<'a>(&self, wanted: impl IntoIterator<Item = (&'a str, SocketAddr)>) -> Bound {
        let opened = self.mailboxes.iter().map(|_| Vec::new()).collect();
        let mut bound = Bound { names: BTreeMap::new(), opened, failures: Vec::new() };
        for (vserver, address) in wanted {
            let taken = bound.names.contains_key(&address);
            match if taken { Err(in_use_here()) } else { self.open(address, &mut bound.opened) } {
                Ok(()) => drop(bound.names.insert(address, Arc::from(vserver))),
                Err(error) => {
                    bound.failures.push(BindFailure { vserver: vserver.to_owned(), address, error })
                }
            }
        }
        bound
    }

    /// Gives every worker the snapshot and the listeners bound for it; they close what is gone. Returns the addresses
    /// that could not be bound; the rest is served.
    pub fn publish(&mut self, snapshot: &Arc<Snapshot>, bound: Bound) -> Vec<BindFailure> {
        let new = bound.opened.iter().flatten().map(|l| (l.address, Arc::downgrade(&l.lease)));
        self.open.extend(new);
        self.forget_closed(&bound.names);
        let names = Arc::new(bound.names);
        for (mailbox, opened) in self.mailboxes.iter().zip(bound.opened) {
            let (snapshot, names) = (Arc::clone(snapshot), Arc::clone(&names));
            mailbox.post(Message::Adopt { snapshot, names, opened });
        }
        bound.failures
    }

    /// Tells the workers what has left service; may be kept and used while there are workers.
    pub fn flusher(&self) -> Flusher {
        Flusher(self.mailboxes.clone())
    }

    /// What the workers count.
    pub fn counters(&self) -> &Arc<Counters> {
        &self.counters
    }

    /// The workers' pulses, in the order of their numbers.
    pub fn pulses(&self) -> &[Arc<Pulse>] {
        &self.pulses
    }

    /// Ends the workers: no new connection is accepted, transactions in progress may end until `grace` is over.
    /// Returns when the threads have ended.
    pub fn stop(self, grace: Duration) {
        for mailbox in &self.mailboxes {
            mailbox.post(Message::Stop { grace_us: grace.as_micros() as u64 });
        }
        for thread in self.threads {
            // A worker that panics ends the process itself, so there is no result to look at.
            drop(thread.join());
        }
    }

    fn open(&self, address: SocketAddr, opened: &mut [Vec<Listen>]) -> io::Result<()> {
        if self.open.contains_key(&address) {
            return Ok(());
        }
        let sockets = listener::bind_all(address, opened.len(), self.sharing(address, opened))?;
        let lease = Arc::new(());
        for (worker, socket) in opened.iter_mut().zip(sockets) {
            worker.push(Listen { address, socket, lease: Arc::clone(&lease) });
        }
        Ok(())
    }

    /// A listener of ours that overlaps, such as 0.0.0.0 with the same port, must not count as somebody else's.
    fn sharing(&self, address: SocketAddr, opened: &[Vec<Listen>]) -> listener::Sharing {
        let closing = self.closing.iter().map(|(held, lease)| (held, lease));
        let ours =
            self.open.iter().chain(closing).any(|(held, l)| overlap(*held, address) && l.strong_count() > 0)
                || opened.iter().flatten().any(|listen| overlap(listen.address, address));
        if ours { listener::Sharing::WithOurs } else { listener::Sharing::Exclusive }
    }

    fn forget_closed(&mut self, names: &BTreeMap<SocketAddr, Arc<str>>) {
        self.closing.retain(|(_, lease)| lease.strong_count() > 0);
        let closing = &mut self.closing;
        self.open.retain(|address, lease| {
            let stays = names.contains_key(address);
            if !stays {
                closing.push((*address, Weak::clone(lease)));
            }
            stays
        });
    }
}

/// Tells workers that services or virtual servers have left service.
pub struct Flusher(Vec<Arc<Mailbox>>);

impl Flusher {
    /// What is under way there is cut, unless it may end.
    pub fn flush(&self) {
        self.0.iter().for_each(|mailbox| mailbox.post(Message::Flush));
    }
}

fn overlap(one: SocketAddr, other: SocketAddr) -> bool {
    let any = one.ip().is_unspecified() || other.ip().is_unspecified();
    one.port() == other.port() && (one.ip() == other.ip() || any && one.is_ipv4() == other.is_ipv4())
}

fn in_use_here() -> io::Error {
    io::Error::new(io::ErrorKind::AddrInUse, "another virtual server has this address and port")
}

/// Raises the limit of open descriptors to what the host allows and returns it. One that cannot be raised is no reason
/// not to serve.
fn raise_descriptor_limit() -> u64 {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    let in_force = if setrlimit(Resource::Nofile, raised).is_ok() { limit.maximum } else { limit.current };
    in_force.unwrap_or(u64::MAX)
}

/// Every client may need a server-side connection, so clients get half of the descriptors: more would be let in only
/// to be answered 502. An eighth of all is for pipes, of two each.
fn limits(descriptors: u64, threads: usize) -> Limits {
    let share = descriptors.saturating_sub(OWN_DESCRIPTORS) / threads as u64;
    let defaults = Limits::default();
    let pipes = defaults.pipes.min((share / 16) as usize);
    let for_traffic = (share - 2 * pipes as u64) / 2;
    let clients = defaults.clients.min(for_traffic as usize).max(1);
    Limits { clients, servers: clients, pipes, ..defaults }
}

/// What the access log has of a request line, so that its own line is one that a pipe takes whole.
const LOGGED_LINE_BYTES: usize = 2_048;

/// Listeners, epoll instances, probes, the management port.
const OWN_DESCRIPTORS: u64 = 32;
