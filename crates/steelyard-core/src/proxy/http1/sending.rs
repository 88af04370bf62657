//! A request's way to its service: the beginning of an exchange, the body, and the same once more after a loss.
//!
//! What was sent is kept, within a bound, until a byte of the answer arrives: only so can it be sent again. It is kept as
//! it is for any service: what the terms of one of them add to its head (`-cip`) is added when it is sent there.

use crate::proxy::http1::head::{self, Message};
use crate::proxy::http1::redirect;
use crate::proxy::http1::request::Request;
use crate::proxy::http1::session::{Fate, Fed, Session, Stage};
use crate::proxy::io::{ConnId, Io};
use crate::proxy::parts::{Context, Obtained, Opens, Route, count};
use crate::proxy::refusal::Refusal;
use crate::proxy::transaction::{Next, Reuse, Start};
use crate::sync::Arc;
use crate::time::Time;
use crate::vserver::admission::Admission;

impl Session {
    /// Begins the exchange of a sound request.
    pub(super) fn start(
        &mut self,
        request: Request,
        message: Message<'_>,
        cx: &mut Context<'_, impl Io>,
    ) -> Fed {
        let now = cx.io.now();
        self.exchange.begin(request);
        self.exchange.draft.begin(now);
        self.exchange.draft.request_line(message.bytes, cx.parts);
        let line_limit = cx.parts.limits.chunk_line_bytes;
        let Ok(of_body) = self.exchange.request_body.advance(message.rest(), line_limit, |_| {}) else {
            return self.refused(Refusal::BadRequest, cx);
        };
        self.stage = Stage::Exchange;
        let taken = message.head_len + of_body;
        match self.vserver.admit(&mut self.place, now) {
            Admission::Serve(by) => {
                count(&by.live.requests, 1);
                self.backup = (!Arc::ptr_eq(by, &self.vserver)).then(|| Arc::clone(by));
                if self.backup.is_some() {
                    self.vserver.count_backup_hit();
                }
            }
            Admission::Redirect(url) => {
                self.exchange.draft.received(taken);
                count(&self.vserver.live.requests, 1);
                let location = redirect::location(url, &message.bytes[..message.head_len]);
                return self.redirected(&location, now, taken, cx);
            }
            Admission::Refuse => {
                self.exchange.draft.received(taken);
                count(&self.vserver.live.requests, 1);
                return self.turned_away(Refusal::Unavailable, now, taken, cx);
            }
        }
        let vserver = self.backup.as_ref().unwrap_or(&self.vserver);
        let given = cx.parts.given(vserver, self.id, now);
        let reuse = match self.exchange.transaction.begin(request.repeat, &given) {
            Ok(Start::Send(reuse)) => reuse,
            Ok(Start::Wait) => return self.wait_with(request, message, now, cx),
            Err(refusal) => {
                self.exchange.draft.received(taken);
                return self.turned_away(refusal, now, taken, cx);
            }
        };
        let Some(server) = self.connect(reuse, now, cx) else {
            return self.wait_with(request, message, now, cx);
        };
        self.exchange.draft.received(taken);
        let bytes = if request.verbatim {
            self.exchange.head_len = message.head_len;
            &message.bytes[..taken]
        } else {
            self.exchange.head_len = message.rewritten.len();
            message.rewritten.extend_from_slice(&message.bytes[message.head_len..taken]);
            &message.rewritten[..]
        };
        self.keep_for_replay(bytes, cx);
        self.send(server, bytes, now, cx);
        Fed::Taken(taken)
    }

    /// Holds a request until a service has room, or may be connected to: its head, while the body waits among what came too early.
    fn wait_with(
        &mut self,
        request: Request,
        message: Message<'_>,
        now: Time,
        cx: &mut Context<'_, impl Io>,
    ) -> Fed {
        self.exchange.request_body = request.body;
        let head = if request.verbatim { &message.bytes[..message.head_len] } else { &message.rewritten[..] };
        self.exchange.draft.received(message.head_len);
        self.exchange.head_len = head.len();
        self.exchange.replay = cx.parts.buffer();
        self.exchange.replay.extend_from_slice(head);
        self.wait(now, cx);
        Fed::Taken(message.head_len)
    }

    fn wait(&mut self, now: Time, cx: &mut Context<'_, impl Io>) {
        self.stage = Stage::Waiting;
        self.touch(now, cx);
    }

    /// The wait may be over.
    pub fn granted(&mut self, cx: &mut Context<'_, impl Io>) -> Fate {
        self.look_at_turn(cx).unwrap_or(Fate::Lives)
    }

    /// Goes on if a wait is over; `None`: there is none, or it goes on.
    pub(super) fn look_at_turn(&mut self, cx: &mut Context<'_, impl Io>) -> Option<Fate> {
        if self.stage != Stage::Waiting {
            return None;
        }
        let now = cx.io.now();
        if let Some(claim) = &self.exchange.claim {
            if !claim.take() {
                return None;
            }
            self.exchange.claim = None;
            let server = self.route(Opens::Now).map(|route| cx.open(route, self.id, now));
            self.send_held(server, now, cx);
            return Some(self.proceed(cx));
        }
        if let Some(paced) = &self.exchange.paced {
            let idle = self.route(Opens::Now).and_then(|route| cx.take_idle(route, paced.reuse, self.id));
            idle?;
            self.exchange.wait_no_more(cx.parts);
            self.send_held(idle, now, cx);
            return Some(self.proceed(cx));
        }
        let vserver = self.backup.as_ref().unwrap_or(&self.vserver);
        let given = cx.parts.given(vserver, self.id, now);
        Some(match self.exchange.transaction.granted(&given)? {
            Ok(reuse) => {
                let server = self.connect(reuse, now, cx);
                self.send_held(server, now, cx);
                self.proceed(cx)
            }
            Err(refusal) => self.service_failed(refusal, cx),
        })
    }

    /// The time has come at which surge protection lets a connection be opened.
    pub(super) fn opens_at_last(&mut self, cx: &mut Context<'_, impl Io>) -> Fate {
        let now = cx.io.now();
        let reuse = self.exchange.paced.as_ref().map_or(Reuse::Fresh, |paced| paced.reuse);
        self.exchange.wait_no_more(cx.parts);
        let server = self.obtain(reuse, Opens::Now, now, cx);
        self.send_held(server, now, cx);
        self.proceed(cx)
    }

    /// Sends the request as far as it is held; without a connection it goes on waiting for one.
    fn send_held(&mut self, server: Option<ConnId>, now: Time, cx: &mut Context<'_, impl Io>) {
        let Some(server) = server else { return self.wait(now, cx) };
        self.stage = Stage::Exchange;
        let message = std::mem::take(&mut self.exchange.replay);
        self.send(server, &message, now, cx);
        self.exchange.replay = message;
    }

    pub(super) fn turned_away(
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

    pub(super) fn request_body(&mut self, rest: &[u8], cx: &mut Context<'_, impl Io>) -> Fed {
        let line_limit = cx.parts.limits.chunk_line_bytes;
        match self.exchange.request_body.advance(rest, line_limit, |_| {}) {
            Ok(taken) => {
                self.exchange.draft.received(taken);
                self.keep_for_replay(&rest[..taken], cx);
                if let Some(server) = self.exchange.server {
                    let now = cx.io.now();
                    self.credit(taken, now, cx);
                    self.hand_over(server, &rest[..taken], now, cx);
                }
                Fed::Taken(taken)
            }
            Err(_) => {
                count(&self.vserver.live.invalid, 1);
                let _ = self.broken_by_client(Refusal::BadRequest, cx);
                Fed::Over
            }
        }
    }

    /// Where the service that was chosen is, and on what terms.
    fn route(&self, opens: Opens) -> Option<Route<'_>> {
        let transaction = &self.exchange.transaction;
        let service = transaction.service()?;
        let from = service.source.address(&self.serving().live.source, service.address().ip());
        Some(Route { service, from, most: transaction.terms()?.max_client, opens })
    }

    /// Opens or takes a connection. Without one there is something to wait for.
    fn connect(&mut self, reuse: Reuse, now: Time, cx: &mut Context<'_, impl Io>) -> Option<ConnId> {
        let steps = self.exchange.transaction.terms().and_then(|terms| terms.surge_protection);
        self.obtain(reuse, steps.map_or(Opens::Now, Opens::InTurn), now, cx)
    }

    fn obtain(
        &mut self,
        reuse: Reuse,
        opens: Opens,
        now: Time,
        cx: &mut Context<'_, impl Io>,
    ) -> Option<ConnId> {
        match cx.obtain(self.route(opens)?, reuse, self.id, now) {
            Obtained::Connection(server) => return Some(server),
            Obtained::Wait(claim) => self.exchange.claim = Some(claim),
            Obtained::Later(paced) => self.exchange.paced = Some(paced),
        }
        None
    }

    /// Sends the beginning of a request, or all that was sent of it before.
    fn send(&mut self, server: ConnId, message: &[u8], now: Time, cx: &mut Context<'_, impl Io>) {
        self.exchange.server = Some(server);
        self.exchange.transaction.handed();
        self.exchange.body_due = self.body_due(now);
        let Some(name) = self.exchange.transaction.terms().and_then(|terms| terms.client_ip.as_deref())
        else {
            return self.hand_over(server, message, now, cx);
        };
        let (head, rest) = message.split_at(self.exchange.head_len.min(message.len()));
        let mut out = cx.parts.buffer();
        head::with_client_ip(head, name, self.peer.ip(), &mut out);
        out.extend_from_slice(rest);
        self.hand_over(server, &out, now, cx);
        cx.parts.give(&mut out);
    }

    /// The same request again, after a loss.
    pub(super) fn send_again(&mut self, next: Next, now: Time, cx: &mut Context<'_, impl Io>) -> Fate {
        match next {
            Next::Refuse(refusal) => self.service_failed(refusal, cx),
            Next::Wait => {
                self.exchange.server_paused = false;
                self.server_full = false;
                self.wait(now, cx);
                self.settle(cx)
            }
            Next::Send(reuse) => {
                self.exchange.server_paused = false;
                self.server_full = false;
                let server = self.connect(reuse, now, cx);
                self.send_held(server, now, cx);
                self.proceed(cx)
            }
        }
    }

    pub(super) fn send_to_service(&mut self, bytes: &[u8], cx: &mut Context<'_, impl Io>) -> Fed {
        if let Some(server) = self.exchange.server {
            let now = cx.io.now();
            self.hand_over(server, bytes, now, cx);
        }
        Fed::Taken(bytes.len())
    }

    pub(super) fn hand_over(
        &mut self,
        server: ConnId,
        bytes: &[u8],
        now: Time,
        cx: &mut Context<'_, impl Io>,
    ) {
        let open = cx.parts.servers.find(server).is_some_and(|s| s.open);
        let queued = cx.io.send(server, bytes);
        self.exchange.transaction.sent(bytes.len(), open, now);
        self.server_full = queued > cx.parts.limits.high_water;
        self.touch(now, cx);
    }

    pub(super) fn keep_for_replay(&mut self, bytes: &[u8], cx: &mut Context<'_, impl Io>) {
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
}
