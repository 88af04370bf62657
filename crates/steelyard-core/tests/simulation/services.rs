//! Simulated services: they read strictly, answer as `answers` has it in pieces and at their own pace, close what has
//! been idle, and change their mood: they freeze, die, come back, or don't even answer a SYN.

use std::collections::BTreeMap;

use crate::answers::{Answer, Asked, End};
use crate::message::{Message, Seen, Unframed, read};
use crate::network::{FlowId, Port, Read, Side};
use crate::plan::address;
use crate::requests::start;
use crate::schedule::Event;
use crate::sockets::{Shared, shown};

/// How a service behaves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mood {
    /// Answers after about so many microseconds.
    Serving(u64),
    /// So, and every second answer is broken, and its probes fail.
    Failing,
    /// Accepts, and does nothing.
    Frozen,
    Dead,
    /// Answers no SYN, and does nothing.
    Silent,
}

/// All of them.
#[derive(Default)]
pub struct Services {
    moods: BTreeMap<usize, Mood>,
    conns: BTreeMap<FlowId, Conn>,
    /// The statuses that probes were answered with.
    pub probed: BTreeMap<FlowId, u16>,
}

/// A connection of a service.
struct Conn {
    service: usize,
    input: Vec<u8>,
    /// The answer in progress.
    answering: Option<Answering>,
    /// The request that it answers has been read whole.
    whole: bool,
    /// How to deal with a request of which only the head is there has been decided.
    decided: bool,
    /// It was answered before it was whole, or never will be.
    done_with: bool,
    /// It says nothing more, whatever comes.
    mute: bool,
    exchanges: usize,
}

struct Answering {
    number: usize,
    written: usize,
}

impl Services {
    /// A service begins to behave differently.
    pub fn set_mood(&mut self, service: usize, mood: Mood, shared: &mut Shared) {
        let net = &mut shared.net;
        net.schedule.note(|| format!("s{service} is {mood:?}"));
        let port = match mood {
            Mood::Dead => Port::Closed,
            Mood::Silent => Port::Silent,
            _ if net.schedule.random.one_in(6) => {
                Port::Slow(net.schedule.random.of(&[30_000, 400_000, 1_200_000]))
            }
            _ => Port::Open,
        };
        net.ports.insert(address(service), (service, port));
        self.moods.insert(service, mood);
        let flows: Vec<FlowId> =
            self.conns.iter().filter(|(_, conn)| conn.service == service).map(|(flow, _)| *flow).collect();
        for flow in flows {
            if mood == Mood::Dead {
                let conn = self.conns.remove(&flow).unwrap();
                // A FIN in an answer that a FIN would complete: nobody could tell.
                let begun = conn.answering.map(|answering| &shared.books.answers[answering.number]);
                if conn.mute || begun.is_some_and(|answer| answer.open_ended) {
                    net.reset(flow, Side::Listener);
                } else {
                    net.close(flow, Side::Listener);
                }
            } else {
                net.schedule.after(0, Event::Read(flow, Side::Listener));
                net.schedule.after(1, Event::Service(flow));
            }
        }
    }

    fn mood(&self, service: usize) -> Mood {
        self.moods.get(&service).copied().unwrap_or(Mood::Serving(1_000))
    }

    fn sleeps(&self, service: usize) -> bool {
        matches!(self.mood(service), Mood::Frozen | Mood::Silent)
    }

    pub fn accepted(&mut self, service: usize, flow: FlowId, shared: &mut Shared) {
        if self.mood(service) == Mood::Dead {
            shared.net.reset(flow, Side::Listener);
            return;
        }
        let conn = Conn {
            service,
            input: Vec::new(),
            answering: None,
            whole: false,
            decided: false,
            done_with: false,
            mute: false,
            exchanges: 0,
        };
        self.conns.insert(flow, conn);
    }

    /// Something has arrived.
    pub fn readable(&mut self, flow: FlowId, shared: &mut Shared) {
        let Some(service) = self.conns.get(&flow).map(|conn| conn.service) else { return };
        if self.sleeps(service) {
            return;
        }
        let net = &mut shared.net;
        let most = net.schedule.random.of(&[100, 3_000, 100_000, 100_000]);
        match net.read(flow, Side::Listener, most) {
            Read::Nothing => {}
            Read::Data(bytes) => {
                net.schedule.note(|| format!("s{service} reads on {flow} {}", shown(&bytes)));
                if net.readable(flow, Side::Listener) > 0 || net.is_at_end(flow, Side::Listener) {
                    let wait = net.schedule.random.of(&[1, 200, 4_000]);
                    net.schedule.after(wait, Event::Read(flow, Side::Listener));
                }
                self.conns.get_mut(&flow).unwrap().input.extend_from_slice(&bytes);
                self.advance(flow, shared);
            }
            Read::End | Read::Reset => {
                self.conns.remove(&flow);
                net.close(flow, Side::Listener);
            }
        }
    }

    /// Reads on in what has arrived.
    fn advance(&mut self, flow: FlowId, shared: &mut Shared) {
        let conn = self.conns.get_mut(&flow).unwrap();
        if conn.input.is_empty() || conn.mute {
            return;
        }
        let busy = conn.answering.is_some();
        assert!(!(busy && conn.whole), "s{} has a request before it has answered the last one", conn.service);
        match read(&conn.input, Unframed::Empty) {
            Seen::Malformed(why) => {
                panic!("s{}: {why} in {:?}", conn.service, String::from_utf8_lossy(&conn.input))
            }
            Seen::Cut(false) => {}
            Seen::Cut(true) if !conn.decided => self.head(flow, shared),
            Seen::Cut(true) => {}
            Seen::Whole(message) if message.start.contains(" /probe ") => self.probed(flow, shared),
            Seen::Whole(message) => {
                conn.input.drain(..message.length);
                conn.whole = true;
                conn.decided = true;
                conn.exchanges += 1;
                self.request(flow, &message, shared);
            }
        }
    }

    /// A head is there, its content is not.
    fn head(&mut self, flow: FlowId, shared: &mut Shared) {
        let conn = self.conns.get_mut(&flow).unwrap();
        conn.decided = true;
        let (_, number) = start(&conn.input);
        let random = &mut shared.net.schedule.random;
        if random.one_in(8) {
            conn.whole = false;
            self.begin(flow, number, shared);
        } else if shared.books.requests[number].asked.expect && !random.one_in(4) {
            shared.net.write(flow, Side::Listener, b"HTTP/1.1 100 Continue\r\n\r\n");
        }
    }

    fn request(&mut self, flow: FlowId, message: &Message, shared: &mut Shared) {
        let conn = &self.conns[&flow];
        let number = shared.books.seen(message, conn.service);
        match &conn.answering {
            None if conn.done_with => {
                let conn = self.conns.get_mut(&flow).unwrap();
                (conn.done_with, conn.decided) = (false, false);
            }
            None => self.begin(flow, number, shared),
            Some(early) => assert_eq!(shared.books.answers[early.number].request, number),
        }
    }

    fn begin(&mut self, flow: FlowId, number: usize, shared: &mut Shared) {
        let conn = self.conns.get_mut(&flow).unwrap();
        let (service, mood) = (conn.service, self.moods.get(&conn.service).copied());
        let Shared { net, books, .. } = shared;
        let base = net.written(flow, Side::Listener);
        let random = &mut net.schedule.random;
        let asked = Asked { number: books.answers.len(), request: &books.requests[number].asked, service };
        let is_broken = random.one_in(if mood == Some(Mood::Failing) { 2 } else { 25 });
        let mut answer =
            if is_broken { Answer::broken(random, &asked) } else { Answer::sound(random, &asked) };
        if !is_broken && answer.end == End::Keep && answer.whole_at.is_some() && random.one_in(40) {
            answer.add_excess();
        }
        let around = match mood {
            Some(Mood::Serving(us)) => us,
            _ => 1_000,
        };
        let wait = random.between(around / 2, around * 3 / 2);
        if let Some(whole) = answer.whole_at.filter(|whole| *whole < answer.bytes.len()) {
            net.glue(flow, Side::Listener, base + whole as u64 - 1, base + answer.bytes.len() as u64);
        }
        net.schedule.note(|| {
            format!("s{service} answers r{number} on {flow} with a{} {:?}", answer.number, answer.end)
        });
        books.answering(flow, answer.number, base);
        conn.answering = Some(Answering { number: answer.number, written: 0 });
        books.answers.push(answer);
        net.schedule.after(wait, Event::Service(flow));
    }

    /// Goes on with an answer.
    pub fn write(&mut self, flow: FlowId, shared: &mut Shared) {
        let Some(conn) = self.conns.get_mut(&flow) else { return };
        let Some(answering) = &mut conn.answering else { return };
        if matches!(self.moods.get(&conn.service), Some(Mood::Frozen | Mood::Silent)) {
            return;
        }
        let Shared { net, books, .. } = shared;
        let answer = &mut books.answers[answering.number];
        let rest = &answer.bytes[answering.written..];
        let random = &mut net.schedule.random;
        let mut size =
            if random.one_in(3) && !rest.is_empty() { 1 + random.below(rest.len()) } else { rest.len() };
        // What is glued is written at once.
        let whole = answer.whole_at.unwrap_or(answer.bytes.len());
        if whole < answer.bytes.len() && answering.written + size >= whole {
            size = rest.len();
        }
        let wait = random.of(&[1, 300, 20_000, 20_000, 300_000]);
        net.write(flow, Side::Listener, &rest[..size]);
        answering.written += size;
        if answering.written < answer.bytes.len() {
            net.schedule.after(wait, Event::Service(flow));
            return;
        }
        let end = answer.end;
        conn.answering = None;
        conn.done_with = !conn.whole;
        conn.decided = conn.done_with;
        match end {
            End::Silence => conn.mute = true,
            End::Reset => {
                self.conns.remove(&flow);
                net.reset(flow, Side::Listener);
            }
            End::Close => {
                answer.finished = net.close(flow, Side::Listener);
                self.conns.remove(&flow);
            }
            End::Keep => {
                answer.finished = true;
                conn.whole = false;
                let wait = net.schedule.random.between(10_000, 4_000_000);
                net.schedule.after(wait, Event::Idle(flow, conn.exchanges));
                self.advance(flow, shared);
            }
        }
    }

    /// A connection has been idle for long enough, if nothing has come since.
    pub fn idle(&mut self, flow: FlowId, exchanges: usize, shared: &mut Shared) {
        let Some(conn) = self.conns.get(&flow) else { return };
        let unused = conn.exchanges == exchanges && conn.answering.is_none() && conn.input.is_empty();
        if unused && !self.sleeps(conn.service) {
            self.conns.remove(&flow);
            shared.net.close(flow, Side::Listener);
        }
    }

    fn probed(&mut self, flow: FlowId, shared: &mut Shared) {
        let conn = self.conns.remove(&flow).unwrap();
        let status = if self.mood(conn.service) == Mood::Failing { 503 } else { 200 };
        let text = format!("HTTP/1.1 {status} Said\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        shared.net.write(flow, Side::Listener, text.as_bytes());
        shared.net.close(flow, Side::Listener);
        self.probed.insert(flow, status);
    }
}
