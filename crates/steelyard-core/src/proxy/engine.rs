//! The engine of one worker: every client session, server-side connection, the reuse pool and the timers.
//!
//! Owns all of that and names each connection; never sees a socket or a clock. The question it answers: which
//! session does an event belong to. An event of a connection that has ended meanwhile belongs to none.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::net::SocketAddr;

use crate::proxy::io::{Close, ConnId, Gone, Io};
use crate::proxy::limits::Limits;
use crate::proxy::parts::{Context, Parts, count};
use crate::proxy::session::{Client, Fate, Session};
use crate::proxy::table::{Side, Table, side};
use crate::proxy::transaction::Loss;
use crate::service::Service;
use crate::service::waker::Waker;
use crate::snapshot::Snapshot;
use crate::sync::Arc;
use crate::time::{SECOND_US, Time};
use crate::vserver::admission::{Admission, Place};
use crate::vserver::{Live, VirtualServer};

/// All traffic of one worker. Every event comes in by one of its methods; what follows goes out through [`Io`].
pub struct Engine {
    snapshot: Arc<Snapshot>,
    clients: Table<Session>,
    parts: Parts,
}

impl Engine {
    /// An engine that decides by `snapshot`. By `waker` other threads bring about that [`Engine::granted`] is called.
    pub fn new(limits: Limits, snapshot: Arc<Snapshot>, waker: Arc<dyn Waker>) -> Engine {
        Engine { snapshot, clients: Table::new(Side::Client), parts: Parts::new(limits, waker) }
    }

    /// Takes over a new snapshot. Sessions of virtual servers that are gone end after their current transaction, idle
    /// connections to services that are gone end now.
    pub fn adopt(&mut self, snapshot: Arc<Snapshot>, io: &mut impl Io) {
        self.snapshot = snapshot;
        let current = Current::of(&self.snapshot);
        let mut over = Vec::new();
        for session in self.clients.iter_mut() {
            let newer = current.of_live(session.vserver());
            let mut cx = Context { parts: &mut self.parts, io };
            if session.adopt(newer, &mut cx) == Fate::Over {
                over.push(session.id());
            }
        }
        let is_there = |service: &Arc<Service>| {
            self.snapshot.service(service.name()).is_some_and(|found| Arc::ptr_eq(found, service))
        };
        Context { parts: &mut self.parts, io }.retain_idle(is_there);
        over.into_iter().for_each(|id| self.remove(id));
        self.flush(io);
    }

    /// Services or virtual servers have gone DOWN or were disabled: cuts what is under way there, unless it may end, and
    /// closes what is idle.
    pub fn flush(&mut self, io: &mut impl Io) {
        let current = Current::of(&self.snapshot);
        let mut over = Vec::new();
        for session in self.clients.iter_mut() {
            let Some(fallen) = session.fallen(|vserver| current.of_live(vserver)) else { continue };
            if session.flush(fallen, &mut Context { parts: &mut self.parts, io }) == Fate::Over {
                over.push(session.id());
            }
        }
        Context { parts: &mut self.parts, io }.retain_idle(|service| !service.state().is_out());
        over.into_iter().for_each(|id| self.remove(id));
    }

    /// A client has connected to the virtual server called `vserver`. `None` refuses it, by RST: the virtual server
    /// is unknown, neither it nor a backup takes the client and there is nowhere to send it, a limit is reached, or there is
    /// no service for the connection.
    pub fn accepted(&mut self, vserver: &str, peer: SocketAddr, io: &mut impl Io) -> Option<ConnId> {
        let vserver = self.snapshot.vserver(vserver)?;
        if self.clients.len() >= self.parts.limits.clients {
            return None;
        }
        let (now, mut place) = (io.now(), Place::of(peer.ip()));
        if let Admission::Refuse = vserver.admit(&mut place, now) {
            return None;
        }
        let patience_us = match vserver.client_timeout_s {
            0 => u64::MAX,
            seconds => u64::from(seconds) * SECOND_US,
        };
        let deadline = now.plus_us(patience_us);
        let wheel = &mut self.parts.wheel;
        count(&vserver.live.connections, 1);
        let peer = SocketAddr::new(peer.ip().to_canonical(), peer.port());
        let id = self.clients.insert(|id| {
            let timer = wheel.arm(id.to_bits(), deadline);
            Session::new(Client { id, peer, timer, place }, vserver)
        });
        self.with(id, io, |session, cx| session.begin(cx));
        self.clients.find(id).map(|session| session.id())
    }

    /// What the waiter of this name waits for may be there; the name is the waker's.
    pub fn granted(&mut self, waiter: u64, io: &mut impl Io) {
        self.with(ConnId::from_bits(waiter), io, |session, cx| session.granted(cx));
    }

    /// Somebody at another engine waits to connect to `service`: an idle connection to it is closed here, if there is one.
    pub fn asked_back(&mut self, service: &Arc<Service>, io: &mut impl Io) {
        Context { parts: &mut self.parts, io }.give_way(service);
    }

    /// The connect that was asked for has succeeded.
    pub fn connected(&mut self, id: ConnId, io: &mut impl Io) {
        let mut cx = Context { parts: &mut self.parts, io };
        if let Some(user) = cx.opened(id) {
            self.with(user, io, |session, cx| session.connected(cx));
        }
    }

    /// Bytes have arrived. All are taken: what must wait is held, within bounds, and the connection paused.
    pub fn data(&mut self, id: ConnId, bytes: &[u8], io: &mut impl Io) {
        match self.owner(id) {
            Owner::Client => self.with(id, io, |session, cx| session.data(bytes, cx)),
            Owner::Session(user) => self.with(user, io, |session, cx| session.answer(bytes, cx)),
            // Nobody asked for it.
            Owner::Idle => self.discard(id, Close::Reset, io),
            Owner::Nobody => {}
        }
    }

    /// `bytes` of `id` went where they are spliced to; `queued` more wait, because they are not taken there.
    pub fn moved(&mut self, id: ConnId, bytes: u64, queued: usize, io: &mut impl Io) {
        if let Owner::Session(user) = self.owner(id) {
            self.with(user, io, |session, cx| session.moved(bytes, queued, cx));
        }
    }

    /// The peer has sent its FIN.
    pub fn ended(&mut self, id: ConnId, io: &mut impl Io) {
        match self.owner(id) {
            Owner::Client => self.with(id, io, |session, cx| session.ended(cx)),
            Owner::Session(user) => self.with(user, io, |session, cx| session.server_ended(id, cx)),
            Owner::Idle => self.discard(id, Close::Graceful, io),
            Owner::Nobody => {}
        }
    }

    /// The connection is gone; its id is free.
    pub fn gone(&mut self, id: ConnId, why: Gone, io: &mut impl Io) {
        match self.owner(id) {
            Owner::Client => self.with(id, io, |session, cx| session.gone(cx)),
            Owner::Session(user) => self.with(user, io, |session, cx| {
                let loss = session.loss(id, why, cx);
                if why == Gone::NoLocalPort {
                    cx.had_no_port(id);
                }
                cx.forget(id);
                session.server_gone(loss, cx)
            }),
            Owner::Idle => {
                Context { parts: &mut self.parts, io }.forget(id);
            }
            Owner::Nobody => {}
        }
    }

    /// The send queue, which was not empty, is empty again.
    pub fn drained(&mut self, id: ConnId, io: &mut impl Io) {
        match self.owner(id) {
            Owner::Client => self.with(id, io, |session, cx| session.drained(cx)),
            Owner::Session(user) => self.with(user, io, |session, cx| session.server_drained(cx)),
            Owner::Idle | Owner::Nobody => {}
        }
    }

    /// Cuts whatever is in progress: the limit of a graceful stop is reached.
    pub fn cut(&mut self, io: &mut impl Io) {
        let clients: Vec<ConnId> = self.clients.iter_mut().map(|session| session.id()).collect();
        for id in clients {
            self.with(id, io, |session, cx| session.stopped(cx));
        }
    }

    /// When [`Engine::tick`] must be called next, at the latest.
    pub fn next_deadline(&self) -> Time {
        self.parts.wheel.next()
    }

    /// Ends what has taken too long.
    pub fn tick(&mut self, now: Time, io: &mut impl Io) {
        while let Some(key) = self.parts.wheel.pop(now) {
            let id = ConnId::from_bits(key);
            match self.owner(id) {
                Owner::Client => self.with(id, io, |session, cx| session.expired(cx)),
                Owner::Session(user) => self.with(user, io, |session, cx| {
                    cx.discard(id, Close::Reset);
                    session.server_gone(Loss::ConnectFailed, cx)
                }),
                Owner::Idle => self.discard(id, Close::Graceful, io),
                Owner::Nobody => {}
            }
        }
    }

    /// Is there no place for another client?
    pub fn is_full(&self) -> bool {
        self.clients.len() >= self.parts.limits.clients
    }

    /// Open client connections.
    pub fn clients(&self) -> usize {
        self.clients.len()
    }

    /// Open server-side connections, idle ones included.
    pub fn servers(&self) -> usize {
        self.parts.servers.len()
    }

    /// Of those, the idle ones.
    pub fn idle_servers(&self) -> usize {
        self.parts.idle_servers()
    }

    fn owner(&mut self, id: ConnId) -> Owner {
        if side(id) == Side::Client {
            return Owner::Client;
        }
        match self.parts.servers.find(id) {
            Some(server) => server.user.map_or(Owner::Idle, Owner::Session),
            None => Owner::Nobody,
        }
    }

    fn with<I: Io>(
        &mut self,
        id: ConnId,
        io: &mut I,
        act: impl FnOnce(&mut Session, &mut Context<'_, I>) -> Fate,
    ) {
        let Some(session) = self.clients.find(id) else { return };
        if act(session, &mut Context { parts: &mut self.parts, io }) == Fate::Over {
            self.remove(id);
        }
    }

    fn remove(&mut self, id: ConnId) {
        if let Some(session) = self.clients.remove(id) {
            self.parts.wheel.cancel(session.into_timer());
        }
    }

    fn discard(&mut self, id: ConnId, how: Close, io: &mut impl Io) {
        Context { parts: &mut self.parts, io }.discard(id, how);
    }
}

/// The virtual servers of a snapshot, for those who hold older ones.
struct Current<'s> {
    snapshot: &'s Snapshot,
    by_live: OnceCell<BTreeMap<*const Live, &'s Arc<VirtualServer>>>,
}

impl<'s> Current<'s> {
    fn of(snapshot: &'s Snapshot) -> Current<'s> {
        Current { snapshot, by_live: OnceCell::new() }
    }

    /// The same virtual server as it is now. It has its old name, unless somebody has renamed it.
    fn of_live(&self, older: &VirtualServer) -> Option<&'s Arc<VirtualServer>> {
        let named = self.snapshot.vserver(&older.name).filter(|v| Arc::ptr_eq(&v.live, &older.live));
        let all = || self.snapshot.vservers().map(|v| (Arc::as_ptr(&v.live), v)).collect();
        named.or_else(|| self.by_live.get_or_init(all).get(&Arc::as_ptr(&older.live)).copied())
    }
}

/// Whose an event is.
enum Owner {
    /// The client connection itself has the session.
    Client,
    /// A server-side connection that carries this session's request.
    Session(ConnId),
    /// An idle one.
    Idle,
    /// It has ended.
    Nobody,
}
