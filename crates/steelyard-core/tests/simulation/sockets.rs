//! The engines' sockets: [`Io`] over the simulated network, with the semantics of the worker's own, and the account of
//! what passes them.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use steelyard_core::proxy::engine::Engine;
use steelyard_core::proxy::io::{Close, ConnId, Gone, Io};
use steelyard_core::proxy::record::Record;
use steelyard_core::time::Time;

use crate::books::{Books, Planted};
use crate::network::{FlowId, Network, Owner, Read, Side, What};
use crate::plan::number;
use crate::schedule::Event;

/// What the engines' sockets and everybody else share.
pub struct Shared {
    pub net: Network,
    pub books: Books,
    /// By worker.
    pub sockets: Vec<BTreeMap<ConnId, Socket>>,
}

/// A socket of an engine.
pub struct Socket {
    pub flow: FlowId,
    pub side: Side,
    /// The client, on the client side.
    pub client: Option<u64>,
    pub connecting: bool,
    pub paused: bool,
    /// The end of the peer's stream was delivered.
    pub ended: bool,
    pub finished: bool,
}

/// The sockets of one worker.
pub struct Sockets<'a> {
    pub shared: &'a mut Shared,
    pub worker: usize,
}

impl Sockets<'_> {
    fn live(&mut self, id: ConnId) -> &mut Socket {
        self.shared.sockets[self.worker]
            .get_mut(&id)
            .unwrap_or_else(|| panic!("{id:?} is used after its end"))
    }

    fn place(&mut self, id: ConnId) -> (FlowId, Side) {
        let socket = self.live(id);
        (socket.flow, socket.side)
    }

    fn tell(&mut self, id: ConnId, what: What) {
        let flow = self.live(id).flow;
        let owner = Owner::Worker(self.worker, id);
        self.shared.net.notices.push_back(crate::network::Notice { owner, flow, what });
    }
}

impl Io for Sockets<'_> {
    fn now(&mut self) -> Time {
        Time::from_us(self.shared.net.schedule.now)
    }

    fn connect(&mut self, id: ConnId, to: SocketAddr, _from: Option<IpAddr>) {
        let worker = self.worker;
        let Shared { net, books, sockets } = &mut *self.shared;
        let flow = net.connect(Owner::Worker(worker, id), to);
        let socket = Socket {
            flow,
            side: Side::Opener,
            client: None,
            connecting: true,
            paused: false,
            ended: false,
            finished: false,
        };
        net.schedule.note(|| format!("w{worker} connects {flow} to s{}", number(to)));
        assert!(sockets[worker].insert(id, socket).is_none(), "{id:?} is used twice");
        books.opening(flow, worker, number(to));
    }

    fn send(&mut self, id: ConnId, bytes: &[u8]) -> usize {
        let socket = self.live(id);
        assert!(!socket.finished, "bytes after a FIN");
        let (flow, side, client) = (socket.flow, socket.side, socket.client);
        let Shared { net, books, .. } = &mut *self.shared;
        let now = net.schedule.now;
        match client {
            Some(client) => books.sent_to_client(client, bytes, now),
            None => books.sent(flow, bytes, now),
        }
        net.schedule.note(|| format!("{side:?} of {flow} is sent {}", shown(bytes)));
        if client.is_none() && books.planted == Planted::SentTwice && bytes.starts_with(b"POST") {
            net.write(flow, side, bytes);
        }
        if client.is_some() && books.planted == Planted::ChangedByte && bytes.ends_with(b";") {
            net.write(flow, side, &bytes[..bytes.len() - 1]);
            return net.write(flow, side, b"!");
        }
        net.write(flow, side, bytes)
    }

    fn pause(&mut self, id: ConnId) {
        self.live(id).paused = true;
    }

    fn resume(&mut self, id: ConnId) {
        self.live(id).paused = false;
        self.tell(id, What::Readable);
    }

    fn finish(&mut self, id: ConnId) {
        self.live(id).finished = true;
        let (flow, side) = self.place(id);
        self.shared.net.shutdown(flow, side);
    }

    fn close(&mut self, id: ConnId, how: Close) {
        let socket = self.live(id);
        let (flow, side, client, ended) = (socket.flow, socket.side, socket.client, socket.ended);
        let Shared { net, books, sockets } = &mut *self.shared;
        net.schedule.note(|| format!("{side:?} of {flow} is closed, {how:?}"));
        sockets[self.worker].remove(&id);
        match client {
            Some(client) => books.client_gone(client),
            None => books.closed(flow),
        }
        let planted = books.planted;
        match how {
            Close::Reset | Close::Cut if planted == Planted::ResetAsEnd && client.is_some() => {
                let _ = net.close(flow, side);
            }
            Close::Reset => net.reset(flow, side),
            Close::Cut => net.cut(flow, side),
            Close::Graceful if client.is_none() && planted == Planted::LeftOpen => {}
            // As the worker: what was wholly sent, to a peer that has ended or a service, is closed at once.
            Close::Graceful if ended || client.is_none() => drop(net.close(flow, side)),
            Close::Graceful => net.linger(flow, side),
        }
    }

    fn has_more(&mut self, id: ConnId) -> bool {
        let (flow, side) = self.place(id);
        self.shared.net.readable(flow, side) > 0 || self.shared.net.is_at_end(flow, side)
    }

    fn acknowledged(&mut self, id: ConnId) -> u64 {
        let (flow, side) = self.place(id);
        self.shared.net.acknowledged(flow, side)
    }

    fn packets(&mut self, id: ConnId) -> u64 {
        let (flow, side) = self.place(id);
        self.shared.net.written(flow, side) / 1_460 + 1
    }

    fn log(&mut self, record: &Record<'_>) {
        self.shared.books.logged(record);
    }
}

/// What a worker does when it hears of one of its connections: what its engine is to be told.
pub enum Told {
    Connected,
    Drained,
    Data(Vec<u8>),
    Ended,
    Gone(Gone),
}

/// Looks at a connection as the worker's loop does. `None`: nothing for the engine now.
pub fn look(shared: &mut Shared, worker: usize, id: ConnId, flow: FlowId, what: What) -> Option<Told> {
    let Shared { net, sockets, books } = shared;
    let socket = sockets[worker].get_mut(&id).filter(|socket| socket.flow == flow)?;
    match what {
        What::Connected => {
            socket.connecting = false;
            books.established(flow, net.schedule.now);
            Some(Told::Connected)
        }
        What::Refused => {
            sockets[worker].remove(&id);
            books.closed(flow);
            Some(Told::Gone(Gone::ConnectFailed))
        }
        What::Drained => Some(Told::Drained),
        What::Accepted => None,
        What::Readable => read(shared, worker, id),
    }
}

fn read(shared: &mut Shared, worker: usize, id: ConnId) -> Option<Told> {
    let Shared { net, sockets, books } = shared;
    let socket = sockets[worker].get_mut(&id)?;
    let (flow, side, is_client) = (socket.flow, socket.side, socket.client.is_some());
    let moot = socket.ended || (is_client && socket.paused);
    if !(net.was_reset(flow, side) && moot) && (socket.paused || socket.connecting || socket.ended) {
        return None;
    }
    let most = net.schedule.random.of(&[1, 50, 700, READ_MOST, READ_MOST, READ_MOST]);
    let read = if moot { Read::Reset } else { net.read(flow, side, most) };
    match read {
        Read::Data(bytes) => {
            if net.readable(flow, side) > 0 || net.is_at_end(flow, side) {
                let wait = net.schedule.random.below(300) as u64;
                net.schedule.after(wait, Event::Read(flow, side));
            }
            net.schedule.note(|| format!("{side:?} of {flow} reads {}", shown(&bytes)));
            if !is_client {
                books.delivered(flow, bytes.len(), net.schedule.now);
            }
            Some(Told::Data(bytes))
        }
        Read::End => {
            socket.ended = true;
            net.schedule.note(|| format!("{side:?} of {flow} reads the end"));
            Some(Told::Ended)
        }
        Read::Reset => {
            net.schedule.note(|| format!("{side:?} of {flow} is reset"));
            let client = socket.client;
            sockets[worker].remove(&id);
            match client {
                Some(client) => books.client_gone(client),
                None => books.closed(flow),
            }
            net.reset(flow, side);
            Some(Told::Gone(Gone::Reset))
        }
        Read::Nothing => None,
    }
}

/// Tells an engine.
pub fn tell(engine: &mut Engine, told: Told, id: ConnId, sockets: &mut Sockets<'_>) {
    match told {
        Told::Connected => engine.connected(id, sockets),
        Told::Drained => engine.drained(id, sockets),
        Told::Data(bytes) => engine.data(id, &bytes, sockets),
        Told::Ended => engine.ended(id, sockets),
        Told::Gone(why) => engine.gone(id, why, sockets),
    }
}

/// The beginning of some bytes, for the list of last events.
pub fn shown(bytes: &[u8]) -> String {
    let start = String::from_utf8_lossy(&bytes[..bytes.len().min(40)]).into_owned();
    format!("{} bytes {start:?}", bytes.len())
}

/// As much as one read takes.
pub const READ_MOST: usize = 4_096;
