//! A client's connection and what goes on over it: one request after another, each an exchange with a service.
//!
//! Owns the client side: heads, request bodies, what a pipelining client sent too early, back pressure, time-outs.
//! The service side of the same session is in `answer`. The hard question: which bytes may go on now? Those of the
//! request in progress; all later ones are held, and the client is paused.

use std::net::SocketAddr;

use crate::proxy::http1::chunked::is_token;
use crate::proxy::http1::exchange::Exchange;
use crate::proxy::http1::head::{Message, Scan, find_end};
use crate::proxy::http1::request;
use crate::proxy::io::{Close, ConnId, Io};
use crate::proxy::parts::{Context, count};
use crate::proxy::record::Cause;
use crate::proxy::refusal::Refusal;
use crate::proxy::session::Client;
pub use crate::proxy::session::Fate;
use crate::proxy::transaction::{Loss, Transaction};
use crate::sync::Arc;
use crate::time::{SECOND_US, Time};
use crate::timer::Timer;
use crate::vserver::VirtualServer;
use crate::vserver::admission::Place;

/// A client connection of an HTTP virtual server.
pub struct Session {
    pub(super) id: ConnId,
    pub(super) vserver: Arc<VirtualServer>,
    /// Where the client connected from.
    pub(super) peer: SocketAddr,
    /// The backup that serves in its place; `None` when it serves itself.
    pub(super) backup: Option<Arc<VirtualServer>>,
    pub(super) place: Place,
    /// What a newer snapshot has for this session, once its transaction is over.
    successor: Successor,
    pub(super) timer: Timer,
    pub(super) stage: Stage,
    /// A head that is not complete, or what came too early.
    pub(super) input: Vec<u8>,
    /// Bytes of the head in which its end has been looked for.
    scanned: usize,
    /// When the head in progress must be complete.
    head_due: Option<Time>,
    /// The client has sent its FIN.
    pub(super) ended: bool,
    pub(super) paused: bool,
    /// The client does not take what it is sent: its service is paused.
    pub(super) client_full: bool,
    /// When it must have taken something, and how much it had taken when that began.
    client_due: Time,
    client_taken: u64,
    /// The service does not take what it is sent: the client is paused.
    pub(super) server_full: bool,
    pub(super) exchange: Exchange,
}

/// What the session waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// A request.
    Head,
    /// A service with room; the request is held.
    Waiting,
    /// The rest of a request, or of its answer.
    Exchange,
    /// Nothing: both sides talk past us since a 101.
    Tunnel,
}

/// What a newer snapshot has in place of a session's virtual server.
enum Successor {
    Same,
    Newer(Arc<VirtualServer>),
    Removed,
}

/// How far some bytes went.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub(super) enum Fed {
    Taken(usize),
    Over,
}

impl Session {
    /// A session of that client, which waits for its first request.
    pub fn new(client: Client, vserver: Arc<VirtualServer>) -> Session {
        let Client { id, peer, timer, place } = client;
        Session {
            id,
            vserver,
            peer,
            backup: None,
            place,
            successor: Successor::Same,
            timer,
            stage: Stage::Head,
            input: Vec::new(),
            scanned: 0,
            head_due: None,
            ended: false,
            paused: false,
            client_full: false,
            client_due: Time::NEVER,
            client_taken: 0,
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

    /// The virtual server that serves it: decides, and counts what it carries.
    pub fn serving(&self) -> &Arc<VirtualServer> {
        self.backup.as_ref().unwrap_or(&self.vserver)
    }

    /// The transaction in progress.
    pub fn transaction(&self) -> Option<&Transaction> {
        (self.stage != Stage::Head).then_some(&self.exchange.transaction)
    }

    /// What is left when the session is over: its timer.
    pub fn into_timer(self) -> Timer {
        self.timer
    }

    /// Bytes from the client.
    pub fn data(&mut self, bytes: &[u8], cx: &mut Context<'_, impl Io>) -> Fate {
        count(&self.serving().live.request_bytes, bytes.len() as u64);
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
        let half = self.head_due.is_some() || !self.exchange.request_body.is_done();
        if self.stage != Stage::Tunnel && half {
            self.exchange.draft.ended_by(Cause::ClientClosed);
        }
        match self.stage {
            Stage::Tunnel => self.half_closed(cx),
            Stage::Exchange | Stage::Waiting if !self.exchange.request_body.is_done() => {
                self.broken_by_client(Refusal::BadRequest, cx)
            }
            _ => self.settle(cx),
        }
    }

    /// The client is gone.
    pub fn gone(&mut self, cx: &mut Context<'_, impl Io>) -> Fate {
        self.exchange.draft.ended_by(Cause::ClientReset);
        // What came through a tunnel before the reset goes on before it.
        self.drop_server(if self.stage == Stage::Tunnel { Close::Cut } else { Close::Reset }, cx);
        self.wind_up(cx)
    }

    /// The client has taken all it was sent.
    pub fn drained(&mut self, cx: &mut Context<'_, impl Io>) -> Fate {
        self.client_full = false;
        let now = cx.io.now();
        self.touch(now, cx);
        self.proceed(cx)
    }

    /// The service has taken all it was sent.
    pub fn server_drained(&mut self, cx: &mut Context<'_, impl Io>) -> Fate {
        self.server_full = false;
        let now = cx.io.now();
        self.exchange.body_due = self.body_due(now);
        self.touch(now, cx);
        self.settle(cx)
    }

    /// Its deadline has passed.
    pub fn expired(&mut self, cx: &mut Context<'_, impl Io>) -> Fate {
        if self.client_full {
            return self.look_at_slow_client(cx);
        }
        // It may have been called just now, and its worker not have been told.
        if let Some(fate) = self.look_at_turn(cx) {
            return fate;
        }
        if self.exchange.claim.is_some() {
            return self.server_gone(Loss::ConnectFailed, cx);
        }
        if self.exchange.paced.is_some() {
            return self.opens_at_last(cx);
        }
        self.exchange.draft.ended_by(match self.stage {
            Stage::Waiting => Cause::SurgeTimeout,
            Stage::Exchange if !self.waits_for_client() => Cause::ServiceTimeout,
            _ => Cause::ClientTimeout,
        });
        match self.stage {
            Stage::Head if self.head_due.is_some() => self.refuse(Refusal::RequestTimeout, cx),
            Stage::Head => self.abort(Close::Graceful, cx),
            Stage::Tunnel => self.abort(Close::Reset, cx),
            Stage::Waiting => self.service_failed(Refusal::Unavailable, cx),
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
        let has_left = !vserver.is_some_and(|newer| newer.enabled && newer.is_open());
        if self.stage == Stage::Waiting && self.backup.is_none() && has_left {
            return self.service_failed(Refusal::Unavailable, cx);
        }
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
                Stage::Tunnel => {
                    self.exchange.draft.received(rest.len());
                    self.send_to_service(rest, cx)
                }
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
        // RFC 9112 2.2: empty lines before a request are skipped; they are no part of its head.
        match rest {
            [b'\r', b'\n', ..] => return Fed::Taken(2),
            b"\r" => return Fed::Taken(0),
            _ => {}
        }
        // Known before the head is sound: no answer to HEAD has a body, a refusal neither (RFC 9110 9.3.2).
        self.exchange.request.head_only = rest.starts_with(b"HEAD ");
        let limit = cx.parts.limits.head_bytes;
        match find_end(rest, self.scanned) {
            Scan::Complete(length) if length <= limit => self.request(rest, length, cx),
            Scan::Partial if rest.len() <= limit => self.partial_head(rest, cx),
            Scan::BareLineFeed => self.refused_head(rest, Refusal::BadRequest, cx),
            _ => self.refused_head(rest, oversize(rest, cx.parts.limits.target_bytes), cx),
        }
    }

    fn partial_head(&mut self, rest: &[u8], cx: &mut Context<'_, impl Io>) -> Fed {
        if !is_token(rest[0]) {
            return self.refused_head(rest, Refusal::BadRequest, cx);
        }
        if self.head_due.is_none() {
            let now = cx.io.now();
            self.exchange.draft.begin(now);
            let due = now.plus_us(cx.parts.limits.head_us);
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
            Err(refusal) => self.refused_head(rest, refusal, cx),
        };
        out.clear();
        cx.parts.scratch = out;
        fed
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
        self.waits_for_body() || self.client_full
    }

    fn waits_for_body(&self) -> bool {
        !self.exchange.request_body.is_done() && !self.server_full && !self.exchange.head_sent
    }

    /// When a body must be complete of which nothing more comes, at the latest.
    pub(super) fn body_due(&self, now: Time) -> Time {
        now.plus_us(self.client_patience_us())
    }

    /// `bytes` of the body have come, which moves its deadline.
    pub(super) fn credit(&mut self, bytes: usize, now: Time, cx: &Context<'_, impl Io>) {
        let us = bytes as u64 * SECOND_US / cx.parts.limits.slow_bytes_per_s.max(1);
        self.exchange.body_due = self.exchange.body_due.plus_us(us).min(self.body_due(now));
    }

    /// The client has stopped taking what it is sent.
    pub(super) fn begin_slow_client(&mut self, cx: &mut Context<'_, impl Io>) {
        self.client_taken = cx.io.acknowledged(self.id);
        self.client_due = cx.io.now().plus_us(self.client_patience_us());
        cx.parts.wheel.touch(&self.timer, self.client_due);
    }

    /// What it was sent has waited for as long as it may: has it at least taken some of it, at the least rate?
    fn look_at_slow_client(&mut self, cx: &mut Context<'_, impl Io>) -> Fate {
        let taken = cx.io.acknowledged(self.id);
        let least = self.client_patience_us() / SECOND_US * cx.parts.limits.slow_bytes_per_s;
        if taken.saturating_sub(self.client_taken) < least {
            self.exchange.draft.ended_by(Cause::ClientTimeout);
            return self.abort(Close::Reset, cx);
        }
        self.begin_slow_client(cx);
        Fate::Lives
    }

    /// `cltTimeout`; 0 is for ever.
    fn client_patience_us(&self) -> u64 {
        match self.vserver.client_timeout_s {
            0 => u64::MAX,
            seconds => u64::from(seconds) * SECOND_US,
        }
    }

    /// Something has moved: the deadline moves too.
    pub(super) fn touch(&mut self, now: Time, cx: &mut Context<'_, impl Io>) {
        let (client_us, server_us) =
            (self.client_patience_us(), self.exchange.transaction.server_patience_us());
        let due = match self.stage {
            // Only what it takes moves that.
            _ if self.client_full => self.client_due,
            Stage::Head => now.plus_us(client_us),
            Stage::Waiting if self.exchange.claim.is_some() => now.plus_us(cx.parts.limits.connect_us),
            Stage::Waiting => {
                let last = now.plus_us(client_us.min(cx.parts.limits.surge_us));
                self.exchange.paced.as_ref().map_or(last, |paced| paced.due.min(last))
            }
            Stage::Exchange if self.waits_for_body() => self.exchange.body_due,
            Stage::Exchange => now.plus_us(server_us),
            Stage::Tunnel => now.plus_us(client_us.min(server_us)),
        };
        cx.parts.wheel.touch(&self.timer, due);
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
            Stage::Waiting => !self.input.is_empty(),
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
            && let full = self.client_full
            && !self.exchange.spliced
            && full != self.exchange.server_paused
        {
            self.exchange.server_paused = full;
            if full { cx.io.pause(server) } else { cx.io.resume(server) }
        }
        Fate::Lives
    }
}

/// Is it the target or the fields that make a head too large?
fn oversize(head: &[u8], target_bytes: usize) -> Refusal {
    let line = memchr::memchr(b'\r', head).unwrap_or(head.len());
    if line > target_bytes { Refusal::TargetTooLong } else { Refusal::HeadTooLarge }
}
