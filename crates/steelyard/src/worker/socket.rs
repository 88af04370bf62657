//! A worker's sockets: the table behind [`Io`], reading and writing, and what epoll's words mean.
//!
//! Never decides what is sent or when a connection ends; that is the engine's. The hard question: edge-triggered
//! readiness is reported once, so every socket remembers what was reported (`readable`, `hangup`) until it has been
//! used up, whether or not the engine wanted data in between.

use std::collections::VecDeque;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, OwnedFd};

use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::io::Errno;
use rustix::net::{RecvFlags, Shutdown};
use steelyard_core::proxy::io::{Close, ConnId, Gone, Io};
use steelyard_core::proxy::limits::Limits;
use steelyard_core::proxy::record::Record;
use steelyard_core::time::Time;

use self::pump::{Pipes, Splice};
use super::connecting::Connecting;
use super::lingering::{Ending, Left, Lingering};
use super::options::reset;
use super::sending::{send_all, send_queue};
use super::source::Source;
use super::{Clock, sys};
use crate::access_log::Sink;

/// Which side of the proxy a socket is on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Client,
    Server,
}

struct Socket {
    fd: OwnedFd,
    generation: u32,
    side: Side,
    /// What its peer sent before a reset is delivered, however long that takes.
    delivers_all: bool,
    /// The connect has not been answered yet.
    connecting: bool,
    /// The engine wants no data now.
    paused: bool,
    /// There may be something to read: data, the end, or an error.
    readable: bool,
    /// The kernel announced that nothing will follow what is readable now: read until it says so itself.
    hangup: bool,
    /// The end of the peer's stream was delivered.
    ended: bool,
    /// A send failed; what was received before is still delivered.
    broken: bool,
    /// A FIN is wanted behind the queue, or was sent.
    finishing: bool,
    /// The last read was filled, so the next one may be larger.
    bulk: bool,
    /// Is in the ready list.
    listed: bool,
    queue: VecDeque<u8>,
    /// What of it goes to another connection unseen.
    splice: Option<Box<Splice>>,
    /// The connection of which such bytes come to this one.
    fed_by: Option<ConnId>,
}

impl Socket {
    /// Does the peer have all that it was sent?
    fn is_acknowledged(&self) -> bool {
        self.queue.is_empty() && sys::unacknowledged(self.fd.as_fd()) == 0
    }
}

/// What reading a connection once came to.
pub(super) enum Read {
    /// This many bytes are in the buffer.
    Data(usize),
    /// So many bytes went on to where they are spliced to, and so many wait in the pipe because they are not taken there.
    Moved { bytes: u64, queued: usize },
    /// The peer's stream ended.
    End,
    /// The connection failed; the socket is closed.
    Failed,
    /// Nothing for the engine now.
    Nothing,
}

/// What flushing a queue came to.
#[derive(PartialEq, Eq)]
pub(super) enum Flush {
    /// The queue was not empty and is now.
    Drained,
    /// The queue was empty before, or is not empty yet.
    Nothing,
}

/// The sockets of one worker, by the engine's names.
pub(super) struct Sockets {
    clock: Clock,
    epoll: OwnedFd,
    table: Vec<Option<Socket>>,
    clients: usize,
    /// Readable, not paused, and not waiting for an event.
    ready: Vec<ConnId>,
    failed: VecDeque<(ConnId, Gone)>,
    pipes: Pipes,
    /// Connections that the engine is done with and the peer is not.
    pub lingering: Lingering,
    connecting: Connecting,
    /// Where records go, if they are wanted.
    log: Option<Sink>,
}

impl Sockets {
    pub fn new(clock: Clock, log: Option<Sink>) -> io::Result<Sockets> {
        Ok(Sockets {
            clock,
            epoll: epoll::create(CreateFlags::CLOEXEC)?,
            table: Vec::new(),
            clients: 0,
            ready: Vec::new(),
            failed: VecDeque::new(),
            pipes: Pipes::new(Limits::default().pipes),
            lingering: Lingering::default(),
            connecting: Connecting::new(clock),
            log,
        })
    }

    /// Has no more than so many answers spliced at the same time.
    pub fn limit_pipes(&mut self, most: usize) {
        self.pipes.most = most;
    }

    /// The worker's epoll instance.
    pub fn epoll(&self) -> &OwnedFd {
        &self.epoll
    }

    /// What was logged is on its way.
    #[inline]
    pub fn wake_log(&mut self) {
        if let Some(log) = &mut self.log {
            log.wake();
        }
    }

    /// Open client connections.
    pub fn clients(&self) -> usize {
        self.clients
    }

    /// Takes an accepted client under the name that the engine gave it.
    pub fn adopt(&mut self, id: ConnId, fd: OwnedFd) {
        self.insert(id, fd, Side::Client);
    }

    /// Notes an event. True when the connection has just been established.
    pub fn note(&mut self, id: ConnId, flags: EventFlags) -> bool {
        let Some(socket) = self.socket(id) else { return false };
        let down = flags.intersects(EventFlags::ERR | EventFlags::HUP);
        let mut established = false;
        if socket.connecting {
            if down {
                self.failed.push_back((id, Gone::ConnectFailed));
                return false;
            }
            established = flags.contains(EventFlags::OUT);
            socket.connecting = !established;
            if established && socket.finishing && socket.queue.is_empty() {
                let _ = rustix::net::shutdown(&socket.fd, Shutdown::Write);
            }
        }
        socket.hangup |= down || flags.contains(EventFlags::RDHUP);
        socket.readable |= socket.hangup || flags.contains(EventFlags::IN);
        // A client that reset is of no interest any more, whatever it asked for before; a server's last bytes may be the
        // answer, and those of a TCP client all that counts: they wait until they are wanted.
        let unread_is_moot = socket.ended || (socket.paused && !socket.delivers_all);
        if flags.contains(EventFlags::ERR) && unread_is_moot {
            self.failed.push_back((id, Gone::Reset));
        }
        established
    }

    /// Reads once into `buffer`, unless the connection is paused or known to be drained.
    pub fn read(&mut self, id: ConnId, buffer: &mut [u8]) -> Read {
        let Some(socket) = self.socket(id) else { return Read::Nothing };
        if socket.splice.is_some() {
            return self.pump(id);
        }
        if !socket.readable || socket.paused || socket.ended || socket.connecting {
            return Read::Nothing;
        }
        let most = if socket.bulk { buffer.len() } else { buffer.len().min(READ_BYTES) };
        loop {
            match rustix::net::recv(&socket.fd, &mut buffer[..most], RecvFlags::empty()) {
                Ok((0, _)) if socket.broken => break,
                Ok((0, _)) => {
                    socket.ended = true;
                    return Read::End;
                }
                Ok((read, _)) => {
                    socket.bulk = read == most;
                    socket.readable = read == most || socket.hangup;
                    return Read::Data(read);
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) if !socket.broken => {
                    socket.readable = false;
                    return Read::Nothing;
                }
                Err(_) => break,
            }
        }
        self.remove(id);
        Read::Failed
    }

    /// Sends what is queued, as far as the peer takes it.
    pub fn flush(&mut self, id: ConnId) -> Flush {
        let Some(socket) = self.socket(id) else { return Flush::Nothing };
        if socket.queue.is_empty() || socket.connecting {
            return Flush::Nothing;
        }
        match send_queue(&socket.fd, &mut socket.queue) {
            Ok(true) => {
                if socket.finishing {
                    let _ = rustix::net::shutdown(&socket.fd, Shutdown::Write);
                }
                Flush::Drained
            }
            Ok(false) => Flush::Nothing,
            Err(_) => {
                self.break_off(id);
                Flush::Nothing
            }
        }
    }

    /// Puts a connection that has more to read on the ready list.
    pub fn list_if_readable(&mut self, id: ConnId) {
        let Some(socket) = self.socket(id) else { return };
        if socket.readable && !socket.paused && !socket.ended && !socket.connecting && !socket.listed {
            socket.listed = true;
            self.ready.push(id);
        }
    }

    /// Is anything waiting that no event will announce?
    pub fn has_ready(&self) -> bool {
        !self.ready.is_empty() || !self.failed.is_empty()
    }

    /// Moves the ready list into `batch`, which must be empty.
    pub fn take_ready(&mut self, batch: &mut Vec<ConnId>) {
        std::mem::swap(&mut self.ready, batch);
        for id in &*batch {
            if let Some(socket) = self.socket(*id) {
                socket.listed = false;
            }
        }
    }

    /// The next connection that failed, its socket closed.
    pub fn next_failed(&mut self) -> Option<(ConnId, Gone)> {
        let (id, why) = self.failed.pop_front()?;
        self.remove(id);
        Some((id, why))
    }

    fn insert(&mut self, id: ConnId, fd: OwnedFd, side: Side) {
        let data = EventData::new_u64(Source::Connection(id).to_bits());
        let connecting = side == Side::Server;
        if epoll::add(&self.epoll, &fd, data, INTEREST).is_err() {
            self.failed.push_back((id, if connecting { Gone::ConnectFailed } else { Gone::Reset }));
            return;
        }
        let index = id.index as usize;
        if self.table.len() <= index {
            self.table.resize_with(index + 1, || None);
        }
        debug_assert!(self.table[index].is_none(), "{id:?} is in use");
        self.clients += usize::from(side == Side::Client);
        self.table[index] = Some(Socket {
            fd,
            generation: id.generation,
            side,
            delivers_all: side == Side::Server,
            connecting,
            paused: false,
            readable: false,
            hangup: false,
            ended: false,
            broken: false,
            finishing: false,
            bulk: false,
            listed: false,
            queue: VecDeque::new(),
            splice: None,
            fed_by: None,
        });
    }

    #[inline]
    fn socket(&mut self, id: ConnId) -> Option<&mut Socket> {
        self.table.get_mut(id.index as usize)?.as_mut().filter(|s| s.generation == id.generation)
    }

    fn remove(&mut self, id: ConnId) -> Option<Socket> {
        self.socket(id)?;
        let mut socket = self.table[id.index as usize].take()?;
        self.clients -= usize::from(socket.side == Side::Client);
        if socket.splice.is_some() || socket.fed_by.is_some() {
            self.end_splices(socket.splice.take(), socket.fed_by);
        }
        Some(socket)
    }

    /// A send failed. What the peer sent before it went may be an answer, so it is read first.
    fn break_off(&mut self, id: ConnId) {
        let Some(socket) = self.socket(id) else { return };
        socket.broken = true;
        socket.queue = VecDeque::new();
        if socket.ended || !socket.delivers_all {
            self.failed.push_back((id, Gone::Reset));
        } else {
            socket.readable = true;
            socket.hangup = true;
            self.list_if_readable(id);
        }
    }
}

impl Io for Sockets {
    fn now(&mut self) -> Time {
        self.clock.now()
    }

    fn connect(&mut self, id: ConnId, to: SocketAddr, from: Option<IpAddr>) {
        self.connect_from_any(id, to, from, &mut std::iter::empty());
    }

    fn connect_from_any(
        &mut self,
        id: ConnId,
        to: SocketAddr,
        from: Option<IpAddr>,
        spare: &mut dyn Iterator<Item = IpAddr>,
    ) {
        match self.connecting.begin(to, from, spare) {
            Ok(fd) => self.insert(id, fd, Side::Server),
            Err(why) => self.failed.push_back((id, why)),
        }
    }

    fn send(&mut self, id: ConnId, bytes: &[u8]) -> usize {
        let Some(socket) = self.socket(id) else { return 0 };
        if socket.broken {
            return 0;
        }
        if socket.connecting || !socket.queue.is_empty() {
            socket.queue.extend(bytes);
            return socket.queue.len();
        }
        match send_all(&socket.fd, bytes) {
            Ok(sent) => {
                socket.queue.extend(&bytes[sent..]);
                socket.queue.len()
            }
            Err(_) => {
                self.break_off(id);
                0
            }
        }
    }

    fn pause(&mut self, id: ConnId) {
        if let Some(socket) = self.socket(id) {
            socket.paused = true;
        }
    }

    fn deliver_all(&mut self, id: ConnId) {
        if let Some(socket) = self.socket(id) {
            socket.delivers_all = true;
        }
    }

    fn resume(&mut self, id: ConnId) {
        if let Some(socket) = self.socket(id) {
            socket.paused = false;
            // It was held back, so what it brings is likely to be queued: little at a time.
            socket.bulk = false;
            self.list_if_readable(id);
        }
    }

    fn finish(&mut self, id: ConnId) {
        let Some(socket) = self.socket(id) else { return };
        if !socket.finishing {
            socket.finishing = true;
            if socket.queue.is_empty() && !socket.connecting {
                let _ = rustix::net::shutdown(&socket.fd, Shutdown::Write);
            }
        }
    }

    fn close(&mut self, id: ConnId, how: Close) {
        if !self.failed.is_empty() {
            self.failed.retain(|(failed, _)| *failed != id);
        }
        let Some(socket) = self.remove(id) else { return };
        let peer_done = socket.ended || socket.side == Side::Server;
        match how {
            Close::Reset => reset(socket.fd),
            Close::Cut if socket.broken || socket.is_acknowledged() => reset(socket.fd),
            Close::Graceful if socket.broken || (socket.queue.is_empty() && peer_done) => drop(socket.fd),
            Close::Graceful | Close::Cut => {
                let ending = if how == Close::Cut { Ending::Reset } else { Ending::Fin };
                let now = self.clock.now();
                self.lingering.add(&self.epoll, Left { fd: socket.fd, queue: socket.queue, ending }, now);
            }
        }
    }

    fn splice(&mut self, from: ConnId, to: ConnId, bytes: u64) -> bool {
        self.begin_splice(from, to, bytes)
    }

    fn has_more(&mut self, id: ConnId) -> bool {
        let Some(socket) = self.socket(id) else { return false };
        let peeked = rustix::net::recv(&socket.fd, &mut [0; 1], RecvFlags::PEEK | RecvFlags::DONTWAIT);
        let nothing = matches!(peeked, Err(Errno::AGAIN));
        socket.readable &= !nothing;
        !nothing
    }

    fn acknowledged(&mut self, id: ConnId) -> u64 {
        self.socket(id).map_or(0, |socket| sys::tcp_acknowledged(socket.fd.as_fd()))
    }

    fn local(&mut self, id: ConnId) -> Option<SocketAddr> {
        let address = SocketAddr::try_from(rustix::net::getsockname(&self.socket(id)?.fd).ok()?).ok()?;
        Some(SocketAddr::new(address.ip().to_canonical(), address.port()))
    }

    fn packets(&mut self, id: ConnId) -> u64 {
        self.socket(id).map_or(0, |socket| sys::tcp_segments(socket.fd.as_fd()))
    }

    fn log(&mut self, record: &Record<'_>) {
        if let Some(log) = &mut self.log {
            log.put(record);
        }
    }
}

/// Registered once, never changed while the engine knows the connection.
const INTEREST: EventFlags =
    EventFlags::IN.union(EventFlags::OUT).union(EventFlags::RDHUP).union(EventFlags::ET);

/// One read of a connection that is not known to bring more. Larger ones were measured slower for small messages, as
/// the bytes no longer stay in the nearest cache; [`BULK_READ_BYTES`] saves a quarter of the CPU of large bodies.
const READ_BYTES: usize = 16 << 10;
/// A read that follows one that was filled; how large a buffer for [`Sockets::read`] is.
pub(super) const BULK_READ_BYTES: usize = 128 << 10;

mod pump;
#[cfg(test)]
mod tests;
