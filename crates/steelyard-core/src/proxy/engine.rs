//! The engine of one worker: every client session, server-side connection, the reuse pool and the timers.
//!
//! Owns all of that and names each connection; never sees a socket or a clock. The question it answers: which
//! session does an event belong to.

use std::net::SocketAddr;

use crate::proxy::io::{Close, ConnId, Gone, Io};
use crate::proxy::limits::Limits;
use crate::snapshot::Snapshot;
use crate::sync::Arc;
use crate::time::Time;

/// All traffic of one worker. Every event comes in by one of its methods; what follows goes out through [`Io`].
pub struct Engine {
    limits: Limits,
    snapshot: Arc<Snapshot>,
}

impl Engine {
    /// An engine that decides by `snapshot`.
    pub fn new(limits: Limits, snapshot: Arc<Snapshot>) -> Engine {
        Engine { limits, snapshot }
    }

    /// Takes over a new snapshot. Sessions of virtual servers that are gone end after their current transaction.
    pub fn adopt(&mut self, snapshot: Arc<Snapshot>, _io: &mut impl Io) {
        self.snapshot = snapshot;
    }

    /// A client has connected to the virtual server called `vserver`. `None` refuses it, by RST: the virtual server
    /// is unknown, disabled or DOWN, or a limit is reached.
    pub fn accepted(&mut self, vserver: &str, _peer: SocketAddr, _io: &mut impl Io) -> Option<ConnId> {
        let found = self.snapshot.vserver(vserver)?;
        (found.enabled && found.is_up() && self.limits.clients > 0)
            .then_some(ConnId { index: 0, generation: 0 })
    }

    /// The connect that was asked for has succeeded.
    pub fn connected(&mut self, _id: ConnId, _io: &mut impl Io) {}

    /// Bytes have arrived. All are taken: what must wait is held, within bounds, and the connection paused.
    pub fn data(&mut self, id: ConnId, _bytes: &[u8], io: &mut impl Io) {
        io.close(id, Close::Reset);
    }

    /// The peer has sent its FIN.
    pub fn ended(&mut self, id: ConnId, io: &mut impl Io) {
        io.close(id, Close::Graceful);
    }

    /// The connection is gone; its id is free.
    pub fn gone(&mut self, _id: ConnId, _why: Gone, _io: &mut impl Io) {}

    /// The send queue, which was not empty, is empty again.
    pub fn drained(&mut self, _id: ConnId, _io: &mut impl Io) {}

    /// When [`Engine::tick`] must be called next, at the latest.
    pub fn next_deadline(&self) -> Time {
        Time::NEVER
    }

    /// Ends what has taken too long.
    pub fn tick(&mut self, _now: Time, _io: &mut impl Io) {}
}
