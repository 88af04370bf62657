//! The engine's world in virtual time: connections that record what they are given, services that can be scripted.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use steelyard_core::config::guard::Guards;
use steelyard_core::config::{self, Config, LbBinding, LbMethod, LbVserver};
use steelyard_core::proxy::engine::Engine;
use steelyard_core::proxy::io::{Close, ConnId, Gone, Io};
use steelyard_core::proxy::limits::Limits;
use steelyard_core::proxy::record::{Cause, Record};
use steelyard_core::service::waker::Waker;
use steelyard_core::service::{Service, State};
use steelyard_core::snapshot::Snapshot;
use steelyard_core::time::Time;

use crate::message::{Message, Seen, Unframed, read, read_all};
use crate::pipes::Splice;

/// What the engine did with one connection.
#[derive(Default, Debug)]
pub struct Conn {
    /// The service's address; `None` on the client side.
    pub to: Option<SocketAddr>,
    /// The address that it was to leave from.
    pub from: Option<IpAddr>,
    pub open: bool,
    /// All bytes that it was given.
    pub out: Vec<u8>,
    pub paused: bool,
    pub finished: bool,
    pub closed: Option<Close>,
    /// Whole requests read from `out` so far, as a service does.
    pub read: usize,
    /// Bytes that the peer has sent while the connection was paused.
    pub waiting: Vec<u8>,
    /// Bytes that the peer leaves in the send queue.
    pub queued: usize,
}

/// The sockets.
#[derive(Default)]
pub struct Sockets {
    pub now: u64,
    pub conns: BTreeMap<ConnId, Conn>,
    /// Connects that were asked for and not answered.
    pub connecting: VecDeque<ConnId>,
    /// Connections whose peer takes nothing.
    pub stuck: BTreeSet<ConnId>,
    pub now_calls: usize,
    /// What clients have connected to, if that is known.
    pub local: Option<SocketAddr>,
    /// Splicing can be had.
    pub pipes: bool,
    /// What is spliced, by the connection that it comes from.
    pub spliced: BTreeMap<ConnId, Splice>,
    /// The records of what is over, if the engine was asked for them.
    pub records: Vec<Logged>,
}

/// A record, kept.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Logged {
    pub vserver: String,
    pub backup: Option<String>,
    pub service: Option<String>,
    pub reason: Option<&'static str>,
    pub client: SocketAddr,
    pub line: String,
    pub status: Option<u16>,
    pub duration_us: u64,
    pub ttfb_us: Option<u64>,
    pub received_bytes: u64,
    pub sent_bytes: u64,
    pub retries: u32,
    pub cause: Cause,
}

impl Io for Sockets {
    fn now(&mut self) -> Time {
        self.now_calls += 1;
        Time::from_us(self.now)
    }

    fn connect(&mut self, id: ConnId, to: SocketAddr, from: Option<IpAddr>) {
        assert!(
            self.conns.insert(id, Conn { to: Some(to), from, ..Conn::default() }).is_none(),
            "{id:?} used twice"
        );
        self.connecting.push_back(id);
    }

    fn send(&mut self, id: ConnId, bytes: &[u8]) -> usize {
        let stuck = self.stuck.contains(&id);
        let conn = self.live(id);
        assert!(!conn.finished, "send after finish");
        conn.out.extend_from_slice(bytes);
        if stuck || (conn.to.is_some() && !conn.open) {
            conn.queued += bytes.len();
        }
        conn.queued
    }

    fn pause(&mut self, id: ConnId) {
        self.live(id).paused = true;
    }

    fn resume(&mut self, id: ConnId) {
        self.live(id).paused = false;
    }

    fn finish(&mut self, id: ConnId) {
        self.live(id).finished = true;
    }

    fn close(&mut self, id: ConnId, how: Close) {
        self.end_splices(id);
        self.live(id).closed = Some(how);
        self.connecting.retain(|c| *c != id);
    }

    fn splice(&mut self, from: ConnId, to: ConnId, bytes: u64) -> bool {
        self.live(to);
        assert!(self.live(from).open && bytes > 0);
        if self.pipes {
            let before = self.spliced.insert(from, Splice { to, left: bytes, pipe: Vec::new() });
            assert!(before.is_none(), "{from:?} is spliced already");
        }
        self.pipes
    }

    fn has_more(&mut self, id: ConnId) -> bool {
        !self.live(id).waiting.is_empty()
    }

    fn acknowledged(&mut self, id: ConnId) -> u64 {
        let conn = self.live(id);
        (conn.out.len() - conn.queued) as u64
    }

    fn local(&mut self, id: ConnId) -> Option<SocketAddr> {
        assert_eq!(self.live(id).to, None, "asked of clients only");
        self.local
    }

    fn packets(&mut self, id: ConnId) -> u64 {
        self.live(id).out.len() as u64 / 1_460 + 1
    }

    fn log(&mut self, record: &Record<'_>) {
        self.records.push(Logged {
            vserver: record.vserver.name.to_string(),
            backup: record.backup.map(|backup| backup.name.to_string()),
            service: record.service.map(|service| service.name().to_owned()),
            reason: record.reason.map(|reason| reason.text()),
            client: record.client,
            line: String::from_utf8_lossy(record.line).into_owned(),
            status: record.status,
            duration_us: record.ended.since_us(record.begun),
            ttfb_us: record.ttfb_us,
            received_bytes: record.received_bytes,
            sent_bytes: record.sent_bytes,
            retries: record.retries,
            cause: record.cause,
        });
    }
}

impl Sockets {
    pub fn live(&mut self, id: ConnId) -> &mut Conn {
        let conn = self.conns.get_mut(&id).expect("a connection that exists");
        assert!(conn.closed.is_none(), "{id:?} is used after its end");
        conn
    }
}

/// Who is to be woken, as a worker's mailbox has it, and of which services other engines are asked for a connection.
#[derive(Default)]
pub struct Woken(Mutex<VecDeque<u64>>, pub Mutex<Vec<Arc<Service>>>);

impl Waker for Woken {
    fn wake(&self, waiter: u64) {
        self.0.lock().unwrap().push_back(waiter);
    }

    fn ask_back(&self, service: &Arc<Service>) {
        self.1.lock().unwrap().push(Arc::clone(service));
    }
}

/// An engine with one virtual server, its world and its services.
pub struct World {
    pub woken: Arc<Woken>,
    pub engine: Engine,
    pub io: Sockets,
    pub snapshot: Arc<Snapshot>,
    pub services: Vec<Arc<Service>>,
}

/// What a service does with a complete request.
pub enum Act {
    Answer(Vec<u8>),
    /// Answer, then FIN.
    AnswerAndEnd(Vec<u8>),
    Nothing,
}

/// How connects end.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Connects {
    Succeed,
    /// Those to this port are refused.
    Refuse(u16),
}

impl World {
    /// `count` services s1, s2... on ports 8001, 8002... behind the virtual server `vs`.
    pub fn new(count: u16) -> World {
        World::with(count, Limits::default())
    }

    pub fn with(count: u16, limits: Limits) -> World {
        World::of(&config(count), limits)
    }

    /// The virtual server `vs` and what `lines` of an ns.conf say.
    pub fn reading(lines: &str) -> World {
        let text = format!(
            "enable ns feature LB\nadd lb vserver vs HTTP 127.0.0.1 80 -lbMethod ROUNDROBIN\n{lines}"
        );
        let reading = steelyard_core::command::read(text.as_bytes(), "ns.conf");
        assert!(reading.refused.is_empty(), "{:?}", reading.refused);
        World::of(&reading.config, Limits::default())
    }

    /// The virtual server `vs` of `config` with its services, by name.
    pub fn of(config: &Config, limits: Limits) -> World {
        let snapshot = Arc::new(Snapshot::default().next(config, &Guards::default(), Time::ZERO));
        let services: Vec<_> = snapshot.services().map(Arc::clone).collect();
        services.iter().for_each(|s| s.set_state(State::Up, Time::ZERO));
        let woken = Arc::new(Woken::default());
        let engine = Engine::new(limits, Arc::clone(&snapshot), Arc::clone(&woken) as Arc<dyn Waker>);
        let io = Sockets { now: 1_000_000, ..Sockets::default() };
        World { woken, engine, io, snapshot, services }
    }

    /// Another engine for the same services.
    pub fn beside(&self, limits: Limits) -> World {
        let woken = Arc::new(Woken::default());
        let engine = Engine::new(limits, Arc::clone(&self.snapshot), Arc::clone(&woken) as Arc<dyn Waker>);
        let io = Sockets { now: self.io.now, ..Sockets::default() };
        World { woken, engine, io, snapshot: Arc::clone(&self.snapshot), services: self.services.clone() }
    }

    pub fn client(&mut self) -> ConnId {
        self.try_client().expect("not refused")
    }

    /// `None`: it was refused.
    pub fn try_client(&mut self) -> Option<ConnId> {
        let id = self.engine.accepted("vs", ([127, 0, 0, 9], 999).into(), &mut self.io)?;
        self.io.conns.insert(id, Conn { open: true, ..Conn::default() });
        Some(id)
    }

    /// Bytes from the peer of `id`, now or when it is resumed.
    pub fn data(&mut self, id: ConnId, bytes: &[u8]) {
        let conn = self.io.conns.get_mut(&id).unwrap();
        if conn.closed.is_some() || bytes.is_empty() {
            return;
        }
        conn.waiting.extend_from_slice(bytes);
        self.deliver();
    }

    /// Wakes who is to be woken, and delivers what waits on connections that are no longer paused.
    pub fn deliver(&mut self) {
        while self.wake() || self.deliver_data() {}
    }

    fn wake(&mut self) -> bool {
        let next = self.woken.0.lock().unwrap().pop_front();
        next.map(|waiter| self.engine.granted(waiter, &mut self.io)).is_some()
    }

    fn deliver_data(&mut self) -> bool {
        let mut any = false;
        while let Some(id) = self.io.conns.iter().find_map(|(id, conn)| {
            let due = !self.io.is_held(*id) && conn.closed.is_none() && !conn.waiting.is_empty();
            due.then_some(*id)
        }) {
            self.arrive(id);
            any = true;
        }
        any
    }

    pub fn end(&mut self, id: ConnId) {
        if self.is_open(id) {
            self.io.end_splices(id);
            self.engine.ended(id, &mut self.io);
        }
        self.deliver();
    }

    pub fn reset(&mut self, id: ConnId) {
        if self.is_open(id) {
            self.io.end_splices(id);
            self.io.conns.get_mut(&id).unwrap().closed = Some(Close::Reset);
            self.engine.gone(id, Gone::Reset, &mut self.io);
        }
        self.deliver();
    }

    pub fn is_open(&self, id: ConnId) -> bool {
        self.io.conns[&id].closed.is_none()
    }

    /// Answers connects; `true` when there was any.
    pub fn connects(&mut self, how: Connects) -> bool {
        let mut any = false;
        while let Some(id) = self.io.connecting.pop_front() {
            any = true;
            let conn = self.io.conns.get_mut(&id).unwrap();
            if how == Connects::Refuse(conn.to.unwrap().port()) {
                conn.closed = Some(Close::Reset);
                conn.out.clear();
                self.engine.gone(id, Gone::ConnectFailed, &mut self.io);
            } else {
                conn.open = true;
                let queued = std::mem::take(&mut conn.queued);
                self.engine.connected(id, &mut self.io);
                if queued > 0 && self.is_open(id) {
                    self.engine.drained(id, &mut self.io);
                }
            }
        }
        self.deliver();
        any
    }

    /// Server-side connections in order of opening.
    pub fn server_ids(&self) -> Vec<ConnId> {
        self.io.conns.iter().filter(|(_, c)| c.to.is_some()).map(|(id, _)| *id).collect()
    }

    /// The next complete request that a service has not read yet.
    pub fn next_request(&mut self) -> Option<(ConnId, Message)> {
        for (id, conn) in &mut self.io.conns {
            if conn.to.is_none() || !conn.open || conn.closed.is_some() {
                continue;
            }
            match read(&conn.out[conn.read..], Unframed::Empty) {
                Seen::Whole(message) => {
                    conn.read += message.length;
                    return Some((*id, message));
                }
                Seen::Cut(_) => {}
                Seen::Malformed(why) => {
                    panic!("a service was sent {why}: {:?}", String::from_utf8_lossy(&conn.out))
                }
            }
        }
        None
    }

    /// Runs connects and services until nothing moves. The requests that services saw completely.
    pub fn run(&mut self, connects: Connects, mut act: impl FnMut(&Message) -> Act) -> Vec<Message> {
        let mut seen = Vec::new();
        loop {
            let moved = self.connects(connects);
            let Some((id, request)) = self.next_request() else {
                if moved {
                    continue;
                }
                return seen;
            };
            match act(&request) {
                Act::Nothing => {}
                Act::Answer(bytes) => self.data(id, &bytes),
                Act::AnswerAndEnd(bytes) => {
                    self.data(id, &bytes);
                    self.end(id);
                }
            }
            seen.push(request);
        }
    }

    /// Runs services that answer everything with 200 and the request's target.
    pub fn serve(&mut self) -> Vec<Message> {
        self.run(Connects::Succeed, |request| Act::Answer(echo(request)))
    }

    /// Lets time pass in steps, with all deadlines in it.
    pub fn pass(&mut self, us: u64) {
        let end = self.io.now + us;
        while self.io.now < end {
            let next = self.engine.next_deadline().as_us().clamp(self.io.now + 1, end);
            self.io.now = next;
            self.engine.tick(Time::from_us(next), &mut self.io);
        }
        self.deliver();
    }

    /// What a client was sent.
    pub fn out(&self, id: ConnId) -> String {
        String::from_utf8_lossy(&self.io.conns[&id].out).into_owned()
    }

    /// The answers a client was sent, and what is left behind them.
    pub fn answers(&self, id: ConnId) -> (Vec<Message>, Seen) {
        read_all(&self.io.conns[&id].out)
    }

    /// The statuses of them.
    pub fn statuses(&self, id: ConnId) -> Vec<u16> {
        self.answers(id).0.iter().map(Message::status).collect()
    }

    /// Nothing is in progress: no active transaction, no session that counts.
    pub fn assert_at_rest(&self) {
        for service in &self.services {
            assert_eq!(service.active(), 0, "{} has active transactions", service.name());
        }
        let live = &self.snapshot.vserver("vs").unwrap().live;
        assert_eq!(live.connections.load(Ordering::Relaxed), self.engine.clients() as u64);
        for service in &self.services {
            let connections = service.traffic.connections.load(Ordering::Relaxed);
            assert_eq!(service.permits.open(), connections, "permits of {}", service.name());
        }
        let sum = |f: fn(&Service) -> u64| self.services.iter().map(|s| f(s)).sum::<u64>();
        let servers = sum(|s| s.traffic.connections.load(Ordering::Relaxed));
        let idle = sum(|s| s.traffic.idle_connections.load(Ordering::Relaxed));
        assert_eq!((servers, idle), (self.engine.servers() as u64, self.engine.idle_servers() as u64));
        let open = self.io.conns.values().filter(|c| c.to.is_some() && c.closed.is_none()).count();
        assert_eq!(open, self.engine.servers(), "a connection was forgotten");
    }
}

/// 200 with the request's target as body, or without one to HEAD.
pub fn echo(request: &Message) -> Vec<u8> {
    let target = request.start.split(' ').nth(1).unwrap_or_default();
    let body = if request.method() == "HEAD" { "" } else { target };
    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", target.len()).into_bytes()
}

pub fn get(target: &str) -> Vec<u8> {
    format!("GET {target} HTTP/1.1\r\nHost: h11.test\r\n\r\n").into_bytes()
}

pub fn config(count: u16) -> Config {
    let bindings =
        (1..=count).map(|i| LbBinding::Service { name: format!("s{i}"), weight: 1, order: None }).collect();
    let server = config::Server::at("host".into(), [127, 0, 0, 1].into());
    let service = |i: u16| config::Service {
        name: format!("s{i}"),
        server: "host".into(),
        port: 8_000 + i,
        ..config::Service::default()
    };
    let vserver = LbVserver {
        name: "vs".into(),
        ip: Some([127, 0, 0, 1].into()),
        port: 80,
        lb_method: LbMethod::RoundRobin,
        bindings,
        ..LbVserver::default()
    };
    Config {
        servers: [server].into_iter().collect(),
        services: (1..=count).map(service).collect(),
        lb_vservers: [vserver].into_iter().collect(),
        features: ["LB"].into_iter().collect(),
        ..Config::default()
    }
}
