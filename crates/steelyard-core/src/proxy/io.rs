//! What an engine may ask of the world, and the names by which both sides know a connection.
//!
//! The worker implements [`Io`] on real sockets; tests implement it in virtual time. The engine allocates every
//! [`ConnId`] (client side and server side) and never sees a descriptor.

use std::net::{IpAddr, SocketAddr};

use crate::proxy::record::Record;
use crate::time::Time;

/// A connection's name: a slot in the engine's table and the generation of its use, so that a stale event of an
/// earlier connection in the same slot is recognised.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ConnId {
    /// Slot; small and dense, fit to index a table.
    pub index: u32,
    /// How many connections used this slot before.
    pub generation: u32,
}

impl ConnId {
    /// Both parts in one word, as epoll carries it.
    pub const fn to_bits(self) -> u64 {
        ((self.generation as u64) << 32) | self.index as u64
    }

    /// The inverse of [`ConnId::to_bits`].
    pub const fn from_bits(bits: u64) -> ConnId {
        ConnId { index: bits as u32, generation: (bits >> 32) as u32 }
    }
}

/// How a connection ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Close {
    /// What is queued is still sent, then FIN; bytes that still arrive are read and dropped for a short while, so
    /// that the peer is not reset before it has read the last answer.
    Graceful,
    /// What is queued is still sent, and RST follows once the peer has acknowledged all: it has what came before, and
    /// sees that something is missing.
    Cut,
    /// At once, by RST.
    Reset,
}

/// Why a connection is gone, as the worker tells the engine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Gone {
    /// The peer sent RST, or the socket failed.
    Reset,
    /// A connect did not succeed: refused, unreachable.
    ConnectFailed,
    /// A connect was not begun: from the address that it was to leave from, no port is left to that service.
    NoLocalPort,
}

/// What an engine may ask for. No call fails: what goes wrong comes back later as an event.
pub trait Io {
    /// The monotonic time now, read from the clock at this call.
    fn now(&mut self) -> Time;

    /// Opens a server-side connection called `id`; the answer is `connected`, `gone(ConnectFailed)` or
    /// `gone(NoLocalPort)`. Bytes given
    /// to `send` before that are queued. It leaves from the address `from`, or from one that the kernel chooses.
    fn connect(&mut self, id: ConnId, to: SocketAddr, from: Option<IpAddr>);

    /// The same, from the first of `from` and `spare` that has a port left.
    fn connect_from_any(
        &mut self,
        id: ConnId,
        to: SocketAddr,
        from: Option<IpAddr>,
        _spare: &mut dyn Iterator<Item = IpAddr>,
    ) {
        self.connect(id, to, from);
    }

    /// Hands bytes over. Returns how many bytes are now queued because the peer does not take them: 0 is the
    /// normal answer, more than the engine's high-water mark asks it to pause the other side. When the queue is
    /// empty again the worker calls `drained`.
    fn send(&mut self, id: ConnId, bytes: &[u8]) -> usize;

    /// No more `data` for this connection until `resume`; its peer feels TCP's own back pressure.
    fn pause(&mut self, id: ConnId);

    /// What this client sends counts to the last byte, even if it resets behind it while it is paused: it is told only when
    /// all was delivered. Without this it is told at once, as of one who asks for what it will not fetch.
    fn deliver_all(&mut self, _id: ConnId) {}

    /// Undoes `pause`. Data that waits is delivered after the current call has returned, never inside it.
    fn resume(&mut self, id: ConnId);

    /// Half-close: FIN after what is queued; reading goes on.
    fn finish(&mut self, id: ConnId);

    /// Ends the connection; `id` is free for reuse from here on and gets no further event.
    fn close(&mut self, id: ConnId, how: Close);

    /// Has the next `bytes` of `from` go to `to` behind what is queued for it, without being seen here: instead of `data`
    /// the worker calls `moved` as they go. When `from` ends before that, `ended` or `gone` come as ever, and what came of
    /// them has gone to `to`; when they can't be carried on so, the rest comes as `data`. False: there is no means for it.
    fn splice(&mut self, _from: ConnId, _to: ConnId, _bytes: u64) -> bool {
        false
    }

    /// Has something arrived that was not read: bytes, or the end?
    fn has_more(&mut self, _id: ConnId) -> bool {
        false
    }

    /// Bytes of what was sent that the peer has acknowledged so far. Asked only of connections that do not take what they
    /// are sent.
    fn acknowledged(&mut self, id: ConnId) -> u64;

    /// The address that a client has connected to; `None` when that is not known beyond its virtual server's.
    fn local(&mut self, _id: ConnId) -> Option<SocketAddr> {
        None
    }

    /// Packets in both directions so far on this connection (TCP segments by TCP_INFO).
    fn packets(&mut self, id: ConnId) -> u64;

    /// A transaction or connection is over. Asked only with [`crate::proxy::limits::Limits::logged_line_bytes`]; must not
    /// wait, and may lose it.
    fn log(&mut self, record: &Record<'_>);
}
