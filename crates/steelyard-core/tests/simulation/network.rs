//! The simulated network: TCP as its two ends feel it. Bytes arrive in order, late and in pieces; what the reader has
//! not taken holds the writer back; a FIN comes behind what was written, an RST at once, and whoever writes to an end
//! that is closed gets one.
//!
//! Knows nothing of HTTP nor of who is right. The hard question is the end of a connection, which is as Linux has it: an
//! end that is closed with unread bytes answers with RST, and bytes that came before an RST can still be read.

mod wire;

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;

use steelyard_core::proxy::io::ConnId;

use crate::schedule::{Event, Schedule};
use wire::unglued;

/// A connection's number; none is used twice.
pub type FlowId = u64;

/// An end of a connection.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Side {
    Opener = 0,
    Listener = 1,
}

/// Whose an end is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Owner {
    Worker(usize, ConnId),
    Client(u64),
    Service(usize),
    Probe(u64),
}

/// What an end hears.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum What {
    Accepted,
    Connected,
    Refused,
    Readable,
    /// What was queued is on its way.
    Drained,
}

/// Something that an owner must look at.
#[derive(Clone, Copy, Debug)]
pub struct Notice {
    pub owner: Owner,
    pub flow: FlowId,
    pub what: What,
}

/// What reading came to.
#[derive(PartialEq, Eq, Debug)]
pub enum Read {
    Data(Vec<u8>),
    End,
    Reset,
    Nothing,
}

/// How a service's port answers to a SYN.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Port {
    Open,
    Closed,
    /// Drops it.
    Silent,
    /// Answers after so long.
    Slow(u64),
}

/// Every connection there is.
pub struct Network {
    pub schedule: Schedule,
    pub ports: BTreeMap<SocketAddr, (usize, Port)>,
    pub notices: VecDeque<Notice>,
    flows: BTreeMap<FlowId, Flow>,
    next: FlowId,
}

struct Flow {
    to: SocketAddr,
    open: bool,
    latency_us: (u64, u64),
    ends: [End; 2],
}

/// One end, with what it has written and what has arrived at it.
struct End {
    owner: Option<Owner>,
    phase: Phase,
    unsent: VecDeque<u8>,
    fin: Fin,
    wire: VecDeque<Segment>,
    last_arrival: u64,
    window: usize,
    /// Of the window, on the wire or not yet read by the peer.
    used: usize,
    /// Bytes so far: written by its owner, sent, read by the peer.
    written: u64,
    sent: u64,
    read: u64,
    /// From where to where nothing is divided.
    glued: Vec<(u64, u64)>,
    received: VecDeque<u8>,
    fin_came: bool,
    fin_read: bool,
    reset_came: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    Open,
    /// Its owner is done with it: the rest is sent, what comes is dropped.
    Lingering,
    Closed,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fin {
    No,
    Wanted,
    /// In its place an RST.
    Cut,
    Sent,
}

enum Segment {
    Data(Vec<u8>),
    Fin,
    Reset,
}

impl Side {
    pub fn other(self) -> Side {
        if self == Side::Opener { Side::Listener } else { Side::Opener }
    }
}

impl Network {
    pub fn new(schedule: Schedule) -> Network {
        Network {
            schedule,
            ports: BTreeMap::new(),
            notices: VecDeque::new(),
            flows: BTreeMap::new(),
            next: 1,
        }
    }

    /// Opens a connection; `Connected` or `Refused` follows, or nothing.
    pub fn connect(&mut self, owner: Owner, to: SocketAddr) -> FlowId {
        let flow = self.add(Some(owner), to);
        let delay = self.delay(flow);
        self.schedule.after(delay, Event::Syn(flow));
        flow
    }

    /// A connection that is up already: a client's to a worker.
    pub fn pair(&mut self, opener: Owner, listener: Owner, to: SocketAddr) -> FlowId {
        let id = self.add(Some(opener), to);
        let flow = self.flows.get_mut(&id).unwrap();
        flow.ends[Side::Listener as usize].owner = Some(listener);
        flow.open = true;
        id
    }

    fn add(&mut self, opener: Option<Owner>, to: SocketAddr) -> FlowId {
        let id = self.next;
        self.next += 1;
        let random = &mut self.schedule.random;
        let base = random.of(&[20, 100, 100, 1_000, 20_000]);
        let mut end = |owner| End {
            owner,
            phase: Phase::Open,
            unsent: VecDeque::new(),
            fin: Fin::No,
            wire: VecDeque::new(),
            last_arrival: 0,
            window: random.of(&[700, 2_000, 8_000, 64_000, 64_000]),
            used: 0,
            written: 0,
            sent: 0,
            read: 0,
            glued: Vec::new(),
            received: VecDeque::new(),
            fin_came: false,
            fin_read: false,
            reset_came: false,
        };
        let ends = [end(opener), end(None)];
        self.flows.insert(id, Flow { to, open: false, latency_us: (base, base * 3 / 2), ends });
        id
    }

    fn delay(&mut self, flow: FlowId) -> u64 {
        let (least, most) = self.flows[&flow].latency_us;
        self.schedule.random.between(least, most)
    }

    /// Is this end still its owner's?
    pub fn is_open(&self, flow: FlowId, side: Side) -> bool {
        self.end(flow, side).is_some_and(|end| end.phase == Phase::Open)
    }

    /// The connections that there are, for one who must understand why.
    pub fn left(&self) -> Vec<String> {
        let end =
            |end: &End| format!("{:?} {:?} fin {:?} reset {}", end.owner, end.phase, end.fin, end.reset_came);
        self.flows
            .iter()
            .map(|(id, flow)| format!("{id}: {}; {}", end(&flow.ends[0]), end(&flow.ends[1])))
            .collect()
    }

    /// Bytes that `side` has written since the beginning.
    pub fn written(&self, flow: FlowId, side: Side) -> u64 {
        self.end(flow, side).map_or(0, |end| end.written)
    }

    /// Of those, the ones that have arrived at the peer.
    pub fn acknowledged(&self, flow: FlowId, side: Side) -> u64 {
        let size =
            |segment: &Segment| if let Segment::Data(bytes) = segment { bytes.len() as u64 } else { 0 };
        self.end(flow, side).map_or(0, |end| end.sent - end.wire.iter().map(size).sum::<u64>())
    }

    /// Has an RST come to this end?
    pub fn was_reset(&self, flow: FlowId, side: Side) -> bool {
        self.end(flow, side).is_none_or(|end| end.reset_came)
    }

    /// Writes; what the peer has no room for waits. How much waits.
    pub fn write(&mut self, flow: FlowId, side: Side, bytes: &[u8]) -> usize {
        let Some(end) = self.end_mut(flow, side) else { return 0 };
        if end.reset_came {
            self.tell(flow, side, What::Readable);
            return 0;
        }
        assert!(end.phase == Phase::Open && end.fin == Fin::No, "written to after its end");
        end.unsent.extend(bytes);
        end.written += bytes.len() as u64;
        self.push(flow, side);
        self.end(flow, side).map_or(0, |end| end.unsent.len())
    }

    /// These bytes of all that `side` writes arrive together.
    pub fn glue(&mut self, flow: FlowId, side: Side, from: u64, to: u64) {
        if let Some(end) = self.end_mut(flow, side) {
            end.glued.push((from, to));
        }
    }

    /// Reads up to `most` bytes of what has arrived.
    pub fn read(&mut self, flow: FlowId, side: Side, most: usize) -> Read {
        let Some(end) = self.end_mut(flow, side) else { return Read::Nothing };
        if end.received.is_empty() {
            // A FIN that came before an RST is read before it.
            if end.fin_came && !end.fin_read {
                end.fin_read = true;
                return Read::End;
            }
            return if end.reset_came { Read::Reset } else { Read::Nothing };
        }
        let available = end.received.len();
        let writer = self.end_mut(flow, side.other()).unwrap();
        let taken = unglued(&writer.glued, writer.read, most.min(available), available);
        writer.read += taken as u64;
        let bytes = self.end_mut(flow, side).unwrap().received.drain(..taken).collect();
        self.make_room(flow, side.other(), taken);
        Read::Data(bytes)
    }

    /// How many bytes can be read.
    pub fn readable(&self, flow: FlowId, side: Side) -> usize {
        self.end(flow, side).map_or(0, |end| end.received.len())
    }

    /// Is there nothing but the end to be read?
    pub fn is_at_end(&self, flow: FlowId, side: Side) -> bool {
        self.end(flow, side).is_some_and(|end| end.received.is_empty() && (end.fin_came || end.reset_came))
    }

    /// FIN behind what was written.
    pub fn shutdown(&mut self, flow: FlowId, side: Side) {
        let Some(end) = self.end_mut(flow, side) else { return };
        if end.fin == Fin::No {
            end.fin = Fin::Wanted;
        }
        self.push(flow, side);
    }

    /// As close(2): FIN behind what was written, or RST if something was not read. True: a FIN.
    pub fn close(&mut self, flow: FlowId, side: Side) -> bool {
        let Some(end) = self.end_mut(flow, side) else { return false };
        if !end.received.is_empty() {
            self.reset(flow, side);
            return false;
        }
        end.phase = Phase::Closed;
        let sends = !end.reset_came;
        self.shutdown(flow, side);
        self.reap(flow);
        sends
    }

    /// RST.
    pub fn reset(&mut self, flow: FlowId, side: Side) {
        let Some(end) = self.end_mut(flow, side) else { return };
        let heard = end.reset_came;
        end.phase = Phase::Closed;
        end.unsent.clear();
        if self.flows[&flow].open && !heard {
            self.transmit(flow, side, Segment::Reset);
        }
        self.reap(flow);
    }

    /// What was written is still sent, then FIN; what comes is dropped, for a while.
    pub fn linger(&mut self, flow: FlowId, side: Side) {
        let Some(end) = self.end_mut(flow, side) else { return };
        if end.reset_came {
            return self.reset(flow, side);
        }
        end.phase = Phase::Lingering;
        let unread = std::mem::take(&mut end.received).len();
        self.make_room(flow, side.other(), unread);
        self.shutdown(flow, side);
        self.schedule.after(LINGER_US, Event::LingerEnds(flow, side));
        self.lingered(flow, side);
    }

    /// What was written is still sent, then RST; what comes is dropped.
    pub fn cut(&mut self, flow: FlowId, side: Side) {
        let Some(end) = self.end_mut(flow, side) else { return };
        if end.reset_came || end.unsent.is_empty() {
            return self.reset(flow, side);
        }
        end.phase = Phase::Lingering;
        end.fin = Fin::Cut;
        let unread = std::mem::take(&mut end.received).len();
        self.make_room(flow, side.other(), unread);
        self.schedule.after(LINGER_US, Event::LingerEnds(flow, side));
    }

    fn tell(&mut self, flow: FlowId, side: Side, what: What) {
        let Some(end) = self.end(flow, side) else { return };
        if let (Phase::Open, Some(owner)) = (end.phase, end.owner) {
            self.notices.push_back(Notice { owner, flow, what });
        }
    }

    fn end(&self, flow: FlowId, side: Side) -> Option<&End> {
        self.flows.get(&flow).map(|flow| &flow.ends[side as usize])
    }

    fn end_mut(&mut self, flow: FlowId, side: Side) -> Option<&mut End> {
        self.flows.get_mut(&flow).map(|flow| &mut flow.ends[side as usize])
    }
}

const LINGER_US: u64 = 5_000_000;
