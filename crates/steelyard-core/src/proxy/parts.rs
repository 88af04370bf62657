//! What all sessions of an engine share: server-side connections, the reuse pool, timers, buffers.
//!
//! Owns the life of a server-side connection, from `connect` to its last byte, and its counters. Knows no protocol.

use std::collections::{BTreeMap, VecDeque};

use crate::proxy::io::{Close, ConnId, Io};
use crate::proxy::limits::Limits;
use crate::proxy::pool::{Idle, Pool};
use crate::proxy::table::{Side, Table};
use crate::proxy::transaction::{Given, Reuse};
use crate::service::Service;
use crate::service::pace::Steps;
use crate::service::permits::Claim;
use crate::service::source::SourceAddress;
use crate::service::waker::{Caller, Waker};
use crate::sync::{Arc, AtomicU64, Ordering};
use crate::time::Time;
use crate::timer::{Timer, Wheel};
use crate::vserver::VirtualServer;

/// Shared by the sessions of one engine.
pub struct Parts {
    pub limits: Limits,
    pub servers: Table<Server>,
    pub wheel: Wheel,
    /// Tells this engine from elsewhere.
    waker: Arc<dyn Waker>,
    /// For heads that must be written anew; empty between calls.
    pub scratch: Vec<u8>,
    pool: Pool,
    /// Sessions that surge protection has wait, by service, in their order.
    paced: BTreeMap<usize, VecDeque<ConnId>>,
    spare: Vec<Vec<u8>>,
}

/// A server-side connection.
pub struct Server {
    /// The session whose request it carries; `None` while idle.
    pub user: Option<ConnId>,
    /// Has the connect succeeded?
    pub open: bool,
    /// Has it carried an earlier request?
    pub reused: bool,
    /// How many requests it has been given, with the present one.
    pub requests: u32,
    service: Arc<Service>,
    /// The address that it was to leave from.
    from: SourceAddress,
    timer: Timer,
    packets: u64,
}

/// Where a server-side connection leads.
#[derive(Clone, Copy)]
pub struct Route<'a> {
    /// To whom.
    pub service: &'a Arc<Service>,
    /// From which address.
    pub from: SourceAddress,
    /// `maxClient`: how many connections to it may be open.
    pub most: Option<u32>,
    /// Surge protection: may a connection be opened as soon as it is wanted?
    pub opens: Opens,
}

/// When a connection may be opened.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Opens {
    /// As soon as it is wanted: there is no surge protection, or its time has come.
    Now,
    /// When surge protection lets it, by its steps.
    InTurn(Steps),
}

/// A wait for the time at which a connection may be opened, or for one that goes idle before.
pub struct Paced {
    /// That time.
    pub due: Time,
    /// What the session may use if it comes earlier.
    pub reuse: Reuse,
    service: Arc<Service>,
    user: ConnId,
}

/// A connection for a session, or the wait for one.
pub enum Obtained {
    /// This one.
    Connection(ConnId),
    /// As many are open as may: the session is woken when it may open one.
    Wait(Claim),
    /// Surge protection has it wait; see [`Parts::unpace`].
    Later(Paced),
}

/// What an event is handled with.
pub struct Context<'a, I: Io> {
    pub parts: &'a mut Parts,
    pub io: &'a mut I,
}

impl Parts {
    pub fn new(limits: Limits, waker: Arc<dyn Waker>) -> Parts {
        Parts {
            limits,
            waker,
            servers: Table::new(Side::Server),
            wheel: Wheel::default(),
            scratch: Vec::new(),
            pool: Pool::default(),
            paced: BTreeMap::new(),
            spare: Vec::new(),
        }
    }

    /// What the session `user` decides on.
    pub fn given<'a>(&'a self, vserver: &'a VirtualServer, user: ConnId, now: Time) -> Given<'a> {
        let caller = Caller { waker: &self.waker, id: user.to_bits() };
        Given { vserver, limits: &self.limits, now, caller }
    }

    fn pace(&mut self, service: &Arc<Service>, due: Time, reuse: Reuse, user: ConnId) -> Paced {
        service.pace.joined();
        // Who may use no idle connection is not called when there is one.
        if reuse != Reuse::Fresh {
            self.paced.entry(Arc::as_ptr(service).addr()).or_default().push_back(user);
        }
        Paced { due, reuse, service: Arc::clone(service), user }
    }

    /// A wait is over, however it ended.
    pub fn unpace(&mut self, paced: &Paced) {
        paced.service.pace.left();
        let key = Arc::as_ptr(&paced.service).addr();
        let Some(users) = self.paced.get_mut(&key) else { return };
        // Most leave in their order, so that one is near the front.
        if let Some(at) = users.iter().position(|user| *user == paced.user) {
            users.remove(at);
        }
        if users.is_empty() {
            self.paced.remove(&key);
        }
    }

    /// A connection has gone idle: the first who waits for one may have it.
    fn call_paced(&mut self, key: usize) {
        if let Some(user) = self.paced.get_mut(&key).and_then(VecDeque::pop_front) {
            self.waker.wake(user.to_bits());
        }
    }

    /// An empty buffer, with room if one is spare.
    pub fn buffer(&mut self) -> Vec<u8> {
        self.spare.pop().unwrap_or_default()
    }

    /// Takes a buffer back.
    pub fn give(&mut self, buffer: &mut Vec<u8>) {
        let mut buffer = std::mem::take(buffer);
        buffer.clear();
        if buffer.capacity() > 0 && buffer.capacity() <= SPARE_BYTES && self.spare.len() < SPARE_BUFFERS {
            self.spare.push(buffer);
        }
    }

    /// Idle server-side connections.
    pub fn idle_servers(&self) -> usize {
        self.pool.len()
    }
}

impl<I: Io> Context<'_, I> {
    /// A connection for the session `user`: an idle one if `reuse` and the pool allow it.
    pub fn obtain(&mut self, route: Route<'_>, reuse: Reuse, user: ConnId, now: Time) -> Obtained {
        if let Some(id) = self.take_idle(route, reuse, user) {
            return Obtained::Connection(id);
        }
        let Route { service, most, .. } = route;
        if let Opens::InTurn(steps) = route.opens {
            let due = service.pace.reserve(steps, service.permits.open(), now);
            if due > now {
                return Obtained::Later(self.parts.pace(service, due, reuse, user));
            }
        }
        match most {
            Some(most) if !service.permits.take(Some(most)) => self.claim(route, most, user, now),
            Some(_) => Obtained::Connection(self.open(route, user, now)),
            None => {
                service.permits.take(None);
                Obtained::Connection(self.open(route, user, now))
            }
        }
    }

    /// An idle connection for the session `user`, if there is one that it may use.
    pub fn take_idle(&mut self, route: Route<'_>, reuse: Reuse, user: ConnId) -> Option<ConnId> {
        let Route { service, from, .. } = route;
        if let Reuse::IdleSince(after) = reuse
            && let Some(id) = self.parts.pool.take(service, from, after)
            && let Some(server) = self.parts.servers.find(id)
        {
            server.user = Some(user);
            server.reused = true;
            server.requests = server.requests.saturating_add(1);
            self.parts.wheel.touch(&server.timer, Time::NEVER);
            service.traffic.idle_connections.fetch_sub(1, Ordering::Relaxed);
            return Some(id);
        }
        None
    }

    /// As many connections to the service are open as may. Of these one that lies idle here gives way; else those of
    /// other engines are asked for one.
    fn claim(&mut self, route: Route<'_>, most: u32, user: ConnId, now: Time) -> Obtained {
        let service = route.service;
        // One is enough, unless the limit was lowered.
        while let Some(idle) = self.parts.pool.oldest(service) {
            self.discard(idle, Close::Graceful);
            if service.permits.take(Some(most)) {
                return Obtained::Connection(self.open(route, user, now));
            }
        }
        let caller = Caller { waker: &self.parts.waker, id: user.to_bits() };
        let claim = service.permits.claim(most, caller);
        if claim.take() {
            return Obtained::Connection(self.open(route, user, now));
        }
        self.parts.waker.ask_back(service);
        Obtained::Wait(claim)
    }

    /// Somebody at another engine waits for a permit to connect to `service`: an idle connection here gives way.
    pub fn give_way(&mut self, service: &Arc<Service>) {
        while service.permits.is_wanted()
            && let Some(idle) = self.parts.pool.oldest(service)
        {
            self.discard(idle, Close::Graceful);
        }
    }

    /// Opens a connection for which there is a permit.
    pub fn open(&mut self, route: Route<'_>, user: ConnId, now: Time) -> ConnId {
        let Route { service, from, .. } = route;
        if self.parts.servers.len() >= self.parts.limits.servers
            && let Some(eldest) = self.parts.pool.eldest()
        {
            self.discard(eldest, Close::Graceful);
        }
        let Parts { servers, wheel, limits, .. } = &mut *self.parts;
        let id = servers.insert(|id| Server {
            user: Some(user),
            open: false,
            reused: false,
            requests: 1,
            service: Arc::clone(service),
            from,
            timer: wheel.arm(id.to_bits(), now.plus_us(limits.connect_us)),
            packets: 0,
        });
        service.traffic.connections.fetch_add(1, Ordering::Relaxed);
        self.io.connect_from_any(id, service.address(), from.ip(), &mut service.source.spare(from));
        id
    }

    /// The connect of `id` was not begun for want of a local port.
    pub fn had_no_port(&mut self, id: ConnId) {
        if let Some(server) = self.parts.servers.find(id) {
            count(&server.service.traffic.no_local_port, 1);
        }
    }

    /// The connect of `id` succeeded. The session that waits for it.
    pub fn opened(&mut self, id: ConnId) -> Option<ConnId> {
        let server = self.parts.servers.find(id)?;
        server.open = true;
        self.parts.wheel.touch(&server.timer, Time::NEVER);
        server.user
    }

    /// Has `id` been given as many requests as one connection may carry?
    pub fn is_worn(&mut self, id: ConnId, max_requests: Option<u32>) -> bool {
        let Some(most) = max_requests else { return false };
        self.parts.servers.find(id).is_none_or(|server| server.requests >= most)
    }

    /// `id` has carried its answer and may carry another request: keeps it for `idle_us` at most, or closes it when the
    /// pool is full.
    pub fn release(&mut self, id: ConnId, now: Time, idle_us: u64) {
        let Parts { servers, wheel, limits, pool, .. } = &mut *self.parts;
        let Some(server) = servers.find(id) else { return };
        server.user = None;
        if !server.service.permits.is_wanted()
            && pool.put(&server.service, Idle { id, from: server.from, since: now }, limits)
        {
            wheel.touch(&server.timer, now.plus_us(idle_us.min(limits.idle_server_us)));
            server.service.traffic.idle_connections.fetch_add(1, Ordering::Relaxed);
            let key = Arc::as_ptr(&server.service).addr();
            self.parts.call_paced(key);
        } else {
            self.discard(id, Close::Graceful);
        }
    }

    /// Closes `id`, idle or in use.
    pub fn discard(&mut self, id: ConnId, how: Close) {
        if self.parts.servers.find(id).is_some() {
            // Whoever gets its permit must not be faster than the close.
            self.io.close(id, how);
            self.forget(id);
        }
    }

    /// Takes `id`, which is gone, out of everything. The session that used it, if any, inside.
    pub fn forget(&mut self, id: ConnId) -> Option<Option<ConnId>> {
        let server = self.parts.servers.remove(id)?;
        if server.user.is_none() && self.parts.pool.remove(&server.service, id) {
            server.service.traffic.idle_connections.fetch_sub(1, Ordering::Relaxed);
        }
        server.service.traffic.connections.fetch_sub(1, Ordering::Relaxed);
        server.service.permits.give_back();
        self.parts.wheel.cancel(server.timer);
        Some(server.user)
    }

    /// Packets that `id` has carried since the last call.
    pub fn packets(&mut self, id: ConnId) -> u64 {
        let Some(server) = self.parts.servers.find(id) else { return 0 };
        let total = self.io.packets(id);
        total.saturating_sub(std::mem::replace(&mut server.packets, total))
    }

    /// Closes idle connections to services for which `keep` is false.
    pub fn retain_idle(&mut self, keep: impl Fn(&Arc<Service>) -> bool) {
        for id in self.parts.pool.unwanted(keep) {
            self.discard(id, Close::Graceful);
        }
    }
}

/// Adds to a counter that only informs.
pub fn count(counter: &AtomicU64, by: u64) {
    counter.fetch_add(by, Ordering::Relaxed);
}

/// Buffers kept for reuse, and the size above which one is not kept.
const SPARE_BUFFERS: usize = 256;
const SPARE_BYTES: usize = 256 * 1024;
