//! A client's connection and what goes on over it: one request after another, each an exchange with a service.
//!
//! Owns the client side: heads, request bodies, what a pipelining client sent too early, back pressure, time-outs.
//! The service side of the same session is in `answer`. The hard question: which bytes may go on now? Those of the
//! request in progress; all later ones are held, and the client is paused.

use crate::proxy::http1::body::Body;
use crate::proxy::http1::chunked::is_token;
use crate::proxy::http1::error::{self, After};
use crate::proxy::http1::head::{Message, Scan, find_end};
use crate::proxy::http1::request::{self, Request};
use crate::proxy::io::{Close, ConnId, Io};
use crate::proxy::parts::{Context, count};
use crate::proxy::refusal::Refusal;
use crate::proxy::transaction::{Given, Next, Repeat, Reuse, Transaction};
use crate::sync::{Arc, Ordering};
use crate::time::{SECOND_US, Time};
use crate::timer::Timer;
use crate::vserver::VirtualServer;

/// A client connection of an HTTP virtual server.
pub struct Session {
    pub(super) id: ConnId,
    pub(super) vserver: Arc<VirtualServer>,
    /// What a newer snapshot has for this session, once its transaction is over.
    successor: Successor,
    pub(super) timer: Timer,
    pub(super) stage: Stage,
    /// A head that is not complete, or what came too early.
    input: Vec<u8>,
    /// Bytes of the head in which its end has been looked for.
    scanned: usize,
    /// When the head in progress must be complete.
    head_due: Option<Time>,
    /// The client has sent its FIN.
    pub(super) ended: bool,
    paused: bool,
    /// The client does not take what it is sent: its service is paused.
    pub(super) client_full: bool,
    /// The service does not take what it is sent: the client is paused.
    pub(super) server_full: bool,
    pub(super) exchange: Exchange,
}

/// What the session waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// A request.
    Head,
    /// The rest of a request, or of its answer.
    Exchange,
    /// Nothing: both sides talk past us since a 101.
    Tunnel,
}

/// One request and its answer. Kept between requests for its buffers.
pub struct Exchange {
    pub transaction: Transaction,
    pub server: Option<ConnId>,
    pub request: Request,
    /// What is still to come of the request's body.
    pub request_body: Body,
    /// The request as it was sent, until a byte of the answer arrives.
    pub replay: Vec<u8>,
    /// `replay` has all that was sent.
    pub replayable: bool,
    /// The beginning of an answer head.
    pub answer: Vec<u8>,
    /// Bytes of it in which its end has been looked for.
    pub answer_scanned: usize,
    pub answer_body: Body,
    /// A byte of an answer has arrived.
    pub touched: bool,
    /// The head of the final answer has been sent on.
    pub head_sent: bool,
    pub interim: u32,
    /// What becomes of the connections after the answer.
    pub keep_alive: bool,
    pub reusable: bool,
    pub unchunk: bool,
    pub server_paused: bool,
    pub server_ended: bool,
    /// When packets were last counted.
    pub packets_at: Time,
}

/// What a newer snapshot has in place of a session's virtual server.
enum Successor {
    Same,
    Newer(Arc<VirtualServer>),
    Removed,
}

/// Whether a session goes on after an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub enum Fate {
    Lives,
    /// Its client connection is closed or gone, and nothing of it is left in use.
    Over,
}

/// How far some bytes went.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub(super) enum Fed {
    Taken(usize),
    Over,
}

impl Session {
    /// A session that waits for its first request.
    pub fn new(id: ConnId, vserver: Arc<VirtualServer>, timer: Timer) -> Session {
        Session {
            id,
            vserver,
            successor: Successor::Same,
            timer,
            stage: Stage::Head,
            input: Vec::new(),
            scanned: 0,
            head_due: None,
            ended: false,
            paused: false,
            client_full: false,
            server_full: false,
            exchange: Exchange::new(),
        }
    }

    /// Its client connection.
    pub fn id(&self) -> ConnId {
        self.id
    }

    /// The virtual server it belongs to.
    pub fn vserver(&self) -> &Arc<VirtualServer> {
        &self.vserver
    }

    /// What is left when the session is over: its timer.
    pub fn into_timer(self) -> Timer {
        self.timer
    }

    /// Bytes from the client.
    pub fn data(&mut self, bytes: &[u8], cx: &mut Context<'_, impl Io>) -> Fate {
        count(&self.vserver.live.request_bytes, bytes.len() as u64);
        if !self.input.is_empty() {
            if self.paused && self.input.len() > cx.parts.limits.held_bytes {
                return self.abort(Close::Reset, cx);
            }
            self.input.extend_from_slice(bytes);
            return self.proceed(cx);
        }
        match self.feed(bytes, cx) {
            Fed::Over => Fate::Over,
            Fed::Taken(all) if all == bytes.len() => self.settle(cx),
            Fed::Taken(some) => {
                self.input = cx.parts.buffer();
                self.input.extend_from_slice(&bytes[some..]);
                self.settle(cx)
            }
        }
    }

    /// The client's FIN: what it asked for completely is still answered (RFC 9112 9.6).
    pub fn ended(&mut self, cx: &mut Context<'_, impl Io>) -> Fate {
        self.ended = true;
        match self.stage {
            Stage::Tunnel => self.half_closed(cx),
            Stage::Exchange if !self.exchange.request_body.is_done() => {
                self.broken_by_client(Refusal::BadRequest, cx)
            }
            _ => self.settle(cx),
        }
    }

    /// The client is gone.
    pub fn gone(&mut self, cx: &mut Context<'_, impl Io>) -> Fate {
        self.drop_server(Close::Reset, cx);
        self.wind_up(cx)
    }

    /// The client has taken all it was sent.
    pub fn drained(&mut self, cx: &mut Context<'_, impl Io>) -> Fate {
        self.client_full = false;
        self.proceed(cx)
    }

    /// The service has taken all it was sent.
    pub fn server_drained(&mut self, cx: &mut Context<'_, impl Io>) -> Fate {
        self.server_full = false;
        self.settle(cx)
    }

    /// Its deadline has passed.
    pub fn expired(&mut self, cx: &mut Context<'_, impl Io>) -> Fate {
        match self.stage {
            Stage::Head if self.head_due.is_some() => self.refuse(Refusal::RequestTimeout, cx),
            Stage::Head => self.abort(Close::Graceful, cx),
            Stage::Tunnel => self.abort(Close::Reset, cx),
            Stage::Exchange if !self.waits_for_client() => self.service_failed(Refusal::GatewayTimeout, cx),
            Stage::Exchange if self.exchange.head_sent => self.abort(Close::Reset, cx),
            Stage::Exchange => self.broken_by_client(Refusal::RequestTimeout, cx),
        }
    }

    /// A newer snapshot has `vserver` in place of this session's, or nothing: then the session ends after its
    /// current transaction.
    pub fn adopt(&mut self, vserver: Option<&Arc<VirtualServer>>, cx: &mut Context<'_, impl Io>) -> Fate {
        self.successor = vserver.map_or(Successor::Removed, |newer| Successor::Newer(Arc::clone(newer)));
        self.succeed();
        self.settle(cx)
    }

    /// Works on held bytes as far as possible.
    pub(super) fn proceed(&mut self, cx: &mut Context<'_, impl Io>) -> Fate {
        if self.input.is_empty() {
            return self.settle(cx);
        }
        let mut held = std::mem::take(&mut self.input);
        match self.feed(&held, cx) {
            Fed::Over => {
                cx.parts.give(&mut held);
                Fate::Over
            }
            Fed::Taken(taken) => {
                held.drain(..taken);
                self.input = held;
                if self.input.is_empty() {
                    cx.parts.give(&mut self.input);
                }
                self.settle(cx)
            }
        }
    }

    /// Takes as many of `bytes` as may go on now.
    fn feed(&mut self, bytes: &[u8], cx: &mut Context<'_, impl Io>) -> Fed {
        let mut at = 0;
        while at < bytes.len() {
            let rest = &bytes[at..];
            let fed = match self.stage {
                Stage::Head if !self.client_full && !self.is_leaving() => self.head(rest, cx),
                Stage::Exchange if !self.exchange.request_body.is_done() => self.request_body(rest, cx),
                Stage::Tunnel => self.send_to_service(rest, cx),
                _ => break,
            };
            match fed {
                Fed::Taken(0) => break,
                Fed::Taken(taken) => at += taken,
                Fed::Over => return Fed::Over,
            }
        }
        Fed::Taken(at)
    }

    fn head(&mut self, rest: &[u8], cx: &mut Context<'_, impl Io>) -> Fed {
        // RFC 9112 2.2: empty lines before a request are skipped.
        if rest.starts_with(b"\r\n") {
            return Fed::Taken(2);
        }
        let limit = cx.parts.limits.head_bytes;
        match find_end(rest, self.scanned) {
            Scan::Complete(length) if length <= limit => self.request(rest, length, cx),
            Scan::BareLineFeed => self.refused(Refusal::BadRequest, cx),
            Scan::Partial if rest.len() <= limit => self.partial_head(rest, cx),
            _ => self.refused(oversize(rest, cx.parts.limits.target_bytes), cx),
        }
    }

    fn partial_head(&mut self, rest: &[u8], cx: &mut Context<'_, impl Io>) -> Fed {
        if !matches!(rest, b"\r") && !is_token(rest[0]) {
            return self.refused(Refusal::BadRequest, cx);
        }
        if self.head_due.is_none() {
            let due = cx.io.now().plus_us(cx.parts.limits.head_us);
            self.head_due = Some(due);
            cx.parts.wheel.touch(&self.timer, due);
        }
        self.scanned = rest.len();
        Fed::Taken(0)
    }

    fn request(&mut self, rest: &[u8], length: usize, cx: &mut Context<'_, impl Io>) -> Fed {
        self.scanned = 0;
        self.head_due = None;
        let mut out = std::mem::take(&mut cx.parts.scratch);
        let host = self.vserver.address;
        let fed = match request::read(&rest[..length], host, &cx.parts.limits, &mut out) {
            Ok(request) => {
                let message = Message { bytes: rest, head_len: length, rewritten: &mut out };
                self.start(request, message, cx)
            }
            Err(refusal) => self.refused(refusal, cx),
        };
        out.clear();
        cx.parts.scratch = out;
        fed
    }

    /// Begins the exchange of a sound request.
    fn start(&mut self, request: Request, message: Message<'_>, cx: &mut Context<'_, impl Io>) -> Fed {
        count(&self.vserver.live.requests, 1);
        let now = cx.io.now();
        self.exchange.begin(request);
        let line_limit = cx.parts.limits.chunk_line_bytes;
        let Ok(of_body) = self.exchange.request_body.advance(message.rest(), line_limit, |_| {}) else {
            return self.refused(Refusal::BadRequest, cx);
        };
        self.stage = Stage::Exchange;
        let taken = message.head_len + of_body;
        let given = Given { vserver: &self.vserver, limits: &cx.parts.limits, now };
        let reuse = match self.exchange.transaction.begin(request.repeat, &given) {
            Ok(reuse) => reuse,
            Err(refusal) => return self.turned_away(refusal, now, taken, cx),
        };
        let bytes = if request.verbatim {
            &message.bytes[..taken]
        } else {
            message.rewritten.extend_from_slice(&message.bytes[message.head_len..taken]);
            &message.rewritten[..]
        };
        self.keep_for_replay(bytes, cx);
        self.send(bytes, reuse, now, cx);
        Fed::Taken(taken)
    }

    fn turned_away(
        &mut self,
        refusal: Refusal,
        now: Time,
        taken: usize,
        cx: &mut Context<'_, impl Io>,
    ) -> Fed {
        match self.answer_ourselves(refusal, now, cx) {
            Fate::Lives => Fed::Taken(taken),
            Fate::Over => Fed::Over,
        }
    }

    fn request_body(&mut self, rest: &[u8], cx: &mut Context<'_, impl Io>) -> Fed {
        let line_limit = cx.parts.limits.chunk_line_bytes;
        match self.exchange.request_body.advance(rest, line_limit, |_| {}) {
            Ok(taken) => {
                self.keep_for_replay(&rest[..taken], cx);
                let _ = self.send_to_service(&rest[..taken], cx);
                Fed::Taken(taken)
            }
            Err(_) => {
                count(&self.vserver.live.invalid, 1);
                let _ = self.broken_by_client(Refusal::BadRequest, cx);
                Fed::Over
            }
        }
    }

    /// Opens or takes a connection and sends the beginning of a request, or all that was sent of it before.
    fn send(&mut self, message: &[u8], reuse: Reuse, now: Time, cx: &mut Context<'_, impl Io>) {
        let Some(service) = self.exchange.transaction.service() else { return };
        let server = cx.obtain(service, reuse, self.id, now);
        self.exchange.server = Some(server);
        self.hand_over(server, message, now, cx);
    }

    /// The same request again, after a loss.
    pub(super) fn send_again(&mut self, next: Next, now: Time, cx: &mut Context<'_, impl Io>) -> Fate {
        match next {
            Next::Refuse(refusal) => self.service_failed(refusal, cx),
            Next::Send(reuse) => {
                self.exchange.server_paused = false;
                self.server_full = false;
                let message = std::mem::take(&mut self.exchange.replay);
                self.send(&message, reuse, now, cx);
                self.exchange.replay = message;
                self.settle(cx)
            }
        }
    }

    fn send_to_service(&mut self, bytes: &[u8], cx: &mut Context<'_, impl Io>) -> Fed {
        if let Some(server) = self.exchange.server {
            let now = cx.io.now();
            self.hand_over(server, bytes, now, cx);
        }
        Fed::Taken(bytes.len())
    }

    fn hand_over(&mut self, server: ConnId, bytes: &[u8], now: Time, cx: &mut Context<'_, impl Io>) {
        let open = cx.parts.servers.find(server).is_some_and(|s| s.open);
        let queued = cx.io.send(server, bytes);
        self.exchange.transaction.sent(bytes.len(), open, now);
        self.server_full = queued > cx.parts.limits.high_water;
        self.touch(now, cx);
    }

    fn keep_for_replay(&mut self, bytes: &[u8], cx: &mut Context<'_, impl Io>) {
        let exchange = &mut self.exchange;
        if !exchange.replayable {
            return;
        }
        if exchange.replay.len() + bytes.len() > cx.parts.limits.replay_bytes {
            exchange.replayable = false;
            cx.parts.give(&mut exchange.replay);
            return;
        }
        if exchange.replay.capacity() == 0 {
            exchange.replay = cx.parts.buffer();
        }
        exchange.replay.extend_from_slice(bytes);
    }

    /// The exchange is over and the connection stays: on to the next request.
    pub(super) fn next_request(&mut self, now: Time, cx: &mut Context<'_, impl Io>) {
        self.stage = Stage::Head;
        self.exchange.rest(cx.parts);
        self.succeed();
        self.touch(now, cx);
    }

    fn succeed(&mut self) {
        if self.stage == Stage::Head
            && let Successor::Newer(_) = self.successor
            && let Successor::Newer(newer) = std::mem::replace(&mut self.successor, Successor::Same)
        {
            self.vserver = newer;
        }
    }

    pub(super) fn is_leaving(&self) -> bool {
        matches!(self.successor, Successor::Removed)
    }

    /// Is it the client that keeps the exchange from going on?
    fn waits_for_client(&self) -> bool {
        let body_missing =
            !self.exchange.request_body.is_done() && !self.server_full && !self.exchange.head_sent;
        body_missing || self.client_full
    }

    /// Something has moved: the deadline moves too.
    pub(super) fn touch(&mut self, now: Time, cx: &mut Context<'_, impl Io>) {
        let client_us = u64::from(self.vserver.client_timeout_s) * SECOND_US;
        let patience_us = match self.stage {
            Stage::Exchange if !self.waits_for_client() => cx.parts.limits.server_us,
            // `cltTimeout 0`: never.
            _ if client_us == 0 => u64::MAX,
            _ => client_us,
        };
        cx.parts.wheel.touch(&self.timer, now.plus_us(patience_us));
    }

    /// After an event: closes what has nothing left to do, pauses and resumes.
    pub(super) fn settle(&mut self, cx: &mut Context<'_, impl Io>) -> Fate {
        let idle = self.stage == Stage::Head && (!self.client_full || self.input.is_empty());
        if idle && (self.ended || self.is_leaving()) {
            return match self.head_due {
                Some(_) if !self.is_leaving() => self.refuse(Refusal::BadRequest, cx),
                _ => self.abort(Close::Graceful, cx),
            };
        }
        let pause = match self.stage {
            Stage::Head => self.client_full && !self.input.is_empty(),
            Stage::Exchange => {
                self.server_full || (self.exchange.request_body.is_done() && !self.input.is_empty())
            }
            Stage::Tunnel => self.server_full,
        };
        if pause != self.paused {
            self.paused = pause;
            if pause { cx.io.pause(self.id) } else { cx.io.resume(self.id) }
        }
        if let Some(server) = self.exchange.server
            && self.client_full != self.exchange.server_paused
        {
            self.exchange.server_paused = self.client_full;
            if self.client_full { cx.io.pause(server) } else { cx.io.resume(server) }
        }
        Fate::Lives
    }

    /// The client broke off or broke the protocol in mid-request: the service must not take it for complete.
    fn broken_by_client(&mut self, refusal: Refusal, cx: &mut Context<'_, impl Io>) -> Fate {
        if self.exchange.head_sent { self.cut(cx) } else { self.refuse(refusal, cx) }
    }

    fn refused(&mut self, refusal: Refusal, cx: &mut Context<'_, impl Io>) -> Fed {
        count(&self.vserver.live.invalid, 1);
        let _ = self.refuse(refusal, cx);
        Fed::Over
    }

    /// Answers with an error and closes, lingering so that the client can read it.
    fn refuse(&mut self, refusal: Refusal, cx: &mut Context<'_, impl Io>) -> Fate {
        self.write_error(refusal, After::Close, cx);
        self.abort(Close::Graceful, cx)
    }

    /// Answers in place of a service. The connection stays if the request was read completely.
    pub(super) fn answer_ourselves(
        &mut self,
        refusal: Refusal,
        now: Time,
        cx: &mut Context<'_, impl Io>,
    ) -> Fate {
        let whole = self.exchange.request_body.is_done();
        if !(whole && self.exchange.request.keep_alive) || self.exchange.request.old || self.is_leaving() {
            return self.refuse(refusal, cx);
        }
        self.write_error(refusal, After::KeepAlive, cx);
        self.exchange.transaction.end();
        self.next_request(now, cx);
        Fate::Lives
    }

    fn write_error(&mut self, refusal: Refusal, after: After, cx: &mut Context<'_, impl Io>) {
        let mut out = cx.parts.buffer();
        let head_only = self.stage != Stage::Head && self.exchange.request.head_only;
        error::write(refusal, after, head_only, &mut out);
        self.send_to_client(&out, cx);
        cx.parts.give(&mut out);
    }

    pub(super) fn send_to_client(&mut self, bytes: &[u8], cx: &mut Context<'_, impl Io>) {
        if bytes.is_empty() {
            return;
        }
        count(&self.vserver.live.response_bytes, bytes.len() as u64);
        self.client_full = cx.io.send(self.id, bytes) > cx.parts.limits.high_water;
    }

    /// Closes both sides. A service in mid-exchange is reset: what it has must not pass for complete.
    pub(super) fn abort(&mut self, how: Close, cx: &mut Context<'_, impl Io>) -> Fate {
        self.drop_server(Close::Reset, cx);
        cx.io.close(self.id, how);
        self.wind_up(cx)
    }

    pub(super) fn drop_server(&mut self, how: Close, cx: &mut Context<'_, impl Io>) {
        if let Some(server) = self.exchange.server.take() {
            self.count_packets(server, None, cx);
            cx.discard(server, how);
        }
    }

    fn wind_up(&mut self, cx: &mut Context<'_, impl Io>) -> Fate {
        self.exchange.transaction.end();
        self.exchange.rest(cx.parts);
        cx.parts.give(&mut self.input);
        self.vserver.live.connections.fetch_sub(1, Ordering::Relaxed);
        Fate::Over
    }
}

impl Exchange {
    fn new() -> Exchange {
        let request = Request {
            repeat: Repeat::Never,
            head_only: false,
            old: false,
            keep_alive: false,
            upgrade: false,
            body: Body::Done,
            verbatim: false,
        };
        Exchange {
            transaction: Transaction::default(),
            server: None,
            request,
            request_body: Body::Done,
            replay: Vec::new(),
            replayable: false,
            answer: Vec::new(),
            answer_scanned: 0,
            answer_body: Body::Done,
            touched: false,
            head_sent: false,
            interim: 0,
            keep_alive: false,
            reusable: false,
            unchunk: false,
            server_paused: false,
            server_ended: false,
            packets_at: Time::ZERO,
        }
    }

    fn begin(&mut self, request: Request) {
        self.request = request;
        self.request_body = request.body;
        self.replayable = true;
        self.touched = false;
        self.head_sent = false;
        self.interim = 0;
        self.server_ended = false;
    }

    /// Gives the buffers back: only an active connection has some.
    fn rest(&mut self, parts: &mut crate::proxy::parts::Parts) {
        parts.give(&mut self.replay);
        parts.give(&mut self.answer);
        self.answer_scanned = 0;
        self.server = None;
        self.server_paused = false;
    }
}

/// Is it the target or the fields that make a head too large?
fn oversize(head: &[u8], target_bytes: usize) -> Refusal {
    let line = memchr::memchr(b'\r', head).unwrap_or(head.len());
    if line > target_bytes { Refusal::TargetTooLong } else { Refusal::HeadTooLarge }
}
