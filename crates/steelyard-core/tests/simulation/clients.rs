//! Simulated clients: one connection each, with a script of requests, sent one by one or pipelined, quickly or byte by
//! byte; some leave without a word. What they are sent is read by `judge`.

use std::collections::{BTreeMap, VecDeque};

use crate::books::{Account, ClientAccount};
use crate::judge::{Fate, take_answers};
use crate::network::{FlowId, Read, Side};
use crate::requests::Request;
use crate::schedule::Event;
use crate::sockets::{Shared, shown};

/// A client.
pub struct Client {
    pub id: u64,
    pub flow: FlowId,
    style: Style,
    /// Its requests by number.
    pub script: Vec<usize>,
    /// How many it has begun to send, and how many have their final answer.
    pub begun: usize,
    pub answered: usize,
    /// What is still to be written of the request begun last.
    outbox: VecDeque<u8>,
    /// Content that waits for 100 (Continue).
    held: Vec<u8>,
    /// Bytes of answers that are not complete.
    pub input: Vec<u8>,
    /// The connection ends behind the last answer.
    pub closing: bool,
    /// Whether and how the stream has ended.
    pub end: Option<Read>,
    /// It was itself slow or did not end what it began.
    pub dawdled: bool,
    half_closed: bool,
    wrote_at: u64,
}

/// How a client behaves.
#[derive(Clone, Copy)]
struct Style {
    /// Requests on their way at one time.
    pipelined: usize,
    slow_write: bool,
    slow_read: bool,
    /// FIN behind the last request.
    half_close: bool,
    /// Stays when it has all it wanted.
    stays: bool,
    think_us: u64,
}

/// All of them.
#[derive(Default)]
pub struct Clients {
    pub list: BTreeMap<u64, Client>,
    next: u64,
    /// Requests that were answered by a service.
    pub served: u64,
}

impl Clients {
    /// The number of the next one.
    pub fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// A client whose connection `flow` a worker has accepted.
    pub fn add(&mut self, id: u64, flow: FlowId, account: ClientAccount, shared: &mut Shared) {
        let Shared { net, books, .. } = shared;
        let now = net.schedule.now;
        let random = &mut net.schedule.random;
        let old = random.one_in(8);
        let style = Style {
            pipelined: if old { 1 } else { random.of(&[1, 1, 1, 2, 6]) },
            slow_write: random.one_in(8),
            slow_read: random.one_in(8),
            half_close: random.one_in(10),
            stays: random.one_in(6),
            think_us: random.of(&[0, 0, 1_000, 30_000, 300_000, 900_000]),
        };
        let mut script = Vec::new();
        for _ in 0..1 + random.below(6) {
            let number = books.requests.len();
            let asked = Request::random(random, number, old);
            script.push(number);
            books.requests.push(Account {
                asked,
                client: id,
                vserver: account.vserver,
                dispatches: Vec::new(),
                refused_by: Vec::new(),
                logged: false,
                seen: 0,
                answered: false,
                written: false,
            });
        }
        if random.one_in(6) {
            let at_most = random.of(&[1_000, 60_000, 1_500_000]);
            let leaves = random.between(0, at_most);
            net.schedule.after(leaves, Event::Leaves(id));
        }
        let client = Client {
            id,
            flow,
            style,
            script,
            begun: 0,
            answered: 0,
            outbox: VecDeque::new(),
            held: Vec::new(),
            input: Vec::new(),
            closing: false,
            end: None,
            dawdled: false,
            half_closed: false,
            wrote_at: now,
        };
        self.list.insert(id, client);
        net.schedule.after(10, Event::Client(id));
    }

    /// It goes away in the middle of whatever it does.
    pub fn leave(&mut self, id: u64, shared: &mut Shared) {
        let Some(client) = self.list.remove(&id) else { return };
        shared.books.own.remove(&id);
        let net = &mut shared.net;
        net.schedule.note(|| format!("client {id} leaves {}", client.flow));
        if net.schedule.random.one_in(2) {
            net.reset(client.flow, Side::Opener);
        } else {
            net.close(client.flow, Side::Opener);
        }
    }

    /// Its next thing is due.
    pub fn act(&mut self, id: u64, shared: &mut Shared) {
        let Some(client) = self.list.get_mut(&id) else { return };
        if !client.outbox.is_empty() {
            client.write(shared);
        } else if !client.held.is_empty() {
            client.outbox.extend(std::mem::take(&mut client.held));
            client.write(shared);
        } else if client.may_begin() {
            client.begin(shared);
        } else if client.answered == client.script.len() && !client.style.stays {
            self.finish(id, shared);
        }
    }

    fn finish(&mut self, id: u64, shared: &mut Shared) {
        let Some(client) = self.list.remove(&id) else { return };
        shared.books.own.remove(&id);
        shared.net.close(client.flow, Side::Opener);
    }

    /// Something has arrived.
    pub fn readable(&mut self, id: u64, shared: &mut Shared) {
        let Some(client) = self.list.get_mut(&id) else { return };
        let net = &mut shared.net;
        let most = if client.style.slow_read { net.schedule.random.of(&[1, 300, 2_000]) } else { 100_000 };
        match net.read(client.flow, Side::Opener, most) {
            Read::Nothing => return,
            Read::Data(bytes) => {
                net.schedule.note(|| format!("client {id} reads {}", shown(&bytes)));
                client.input.extend_from_slice(&bytes);
                if net.readable(client.flow, Side::Opener) > 0 || net.is_at_end(client.flow, Side::Opener) {
                    let wait = if client.style.slow_read { 3_000 } else { 10 };
                    net.schedule.after(wait, Event::Read(client.flow, Side::Opener));
                }
            }
            end => {
                net.schedule.note(|| format!("client {id} reads {end:?}"));
                client.end = Some(end);
            }
        }
        let before = client.answered;
        let fate = take_answers(client, shared);
        self.served += (client.answered - before) as u64;
        match fate {
            Fate::Over => self.finish(id, shared),
            Fate::Continue => client.go_on(shared),
            Fate::Moved => {
                let think = client.style.think_us;
                client.go_on(shared);
                shared.net.schedule.after(think, Event::Client(id));
            }
        }
    }
}

impl Client {
    fn may_begin(&self) -> bool {
        let under_way = self.begun - self.answered;
        self.begun < self.script.len()
            && under_way < self.style.pipelined
            && !self.closing
            && !self.half_closed
    }

    fn begin(&mut self, shared: &mut Shared) {
        let number = self.script[self.begun];
        let asked = &shared.books.requests[number].asked;
        self.begun += 1;
        self.outbox.extend(&asked.head);
        if asked.expect {
            self.held.clone_from(&asked.content);
        } else {
            self.outbox.extend(&asked.content);
        }
        self.write(shared);
    }

    /// Writes all or a little.
    fn write(&mut self, shared: &mut Shared) {
        let Shared { net, books, .. } = shared;
        let all = self.outbox.len();
        let size = if self.style.slow_write { all.min(1 + net.schedule.random.below(300)) } else { all };
        let bytes: Vec<u8> = self.outbox.drain(..size).collect();
        let number = self.script[self.begun - 1];
        if self.outbox.is_empty() && self.held.is_empty() {
            books.requests[number].written = true;
        }
        let now = net.schedule.now;
        self.dawdled |= self.style.slow_write;
        self.wrote_at = now;
        net.schedule.note(|| format!("client {} writes of r{number} {}", self.id, shown(&bytes)));
        net.write(self.flow, Side::Opener, &bytes);
        let wait = match (self.outbox.is_empty(), self.held.is_empty()) {
            (false, _) => net.schedule.random.of(&[100, 5_000, 5_000, 200_000]),
            (_, false) => EXPECTS_US,
            _ if self.may_begin() => 5,
            _ => return self.maybe_half_close(shared),
        };
        net.schedule.after(wait, Event::Client(self.id));
    }

    fn maybe_half_close(&mut self, shared: &mut Shared) {
        if self.style.half_close && self.begun == self.script.len() {
            self.half_closed = true;
            shared.net.shutdown(self.flow, Side::Opener);
        }
    }

    /// 100 (Continue) has come: the content may go.
    pub fn continues(&mut self, shared: &mut Shared) {
        if !self.held.is_empty() {
            shared.net.schedule.after(1, Event::Client(self.id));
        }
    }

    /// The final answer is here before the request is whole: the rest stays unsent (RFC 9112 9.3).
    pub fn stop_sending(&mut self) {
        self.outbox.clear();
        self.held.clear();
    }

    fn go_on(&mut self, shared: &mut Shared) {
        if self.answered == self.script.len() && !self.style.stays {
            shared.net.schedule.after(1, Event::Client(self.id));
        }
    }

    /// Has it sent all of the request that it sent last?
    pub fn has_sent_all(&self) -> bool {
        self.outbox.is_empty() && self.held.is_empty()
    }
}

/// How long a client waits for 100 (Continue).
const EXPECTS_US: u64 = 400_000;
