//! How exchanges and sessions end other than well: answers of our own, cuts, closes.
//!
//! The hard question: what may the peer take for complete? A service that has half a request is reset, a client that
//! has half an answer sees the connection end before it.

use crate::proxy::http1::body::Body;
use crate::proxy::http1::error::{self, After};
use crate::proxy::http1::redirect;
use crate::proxy::http1::response::Coding;
use crate::proxy::http1::session::{Fate, Fed, Session, Stage};
use crate::proxy::io::{Close, Io};
use crate::proxy::parts::{Context, count};
use crate::proxy::record::{Cause, Party};
use crate::proxy::refusal::Refusal;
use crate::proxy::session::Fallen;
use crate::proxy::transaction::Loss;
use crate::sync::Ordering;
use crate::time::Time;

impl Session {
    /// The client broke off or broke the protocol in mid-request: the service must not take it for complete.
    pub(super) fn broken_by_client(&mut self, refusal: Refusal, cx: &mut Context<'_, impl Io>) -> Fate {
        if self.exchange.head_sent { self.cut(cx) } else { self.refuse(refusal, cx) }
    }

    /// The request that `rest` begins with is none.
    pub(super) fn refused_head(
        &mut self,
        rest: &[u8],
        refusal: Refusal,
        cx: &mut Context<'_, impl Io>,
    ) -> Fed {
        self.exchange.draft.begin(cx.io.now());
        self.exchange.draft.request_line(rest, cx.parts);
        self.exchange.draft.received(rest.len());
        self.refused(refusal, cx)
    }

    pub(super) fn refused(&mut self, refusal: Refusal, cx: &mut Context<'_, impl Io>) -> Fed {
        count(&self.vserver.live.invalid, 1);
        let _ = self.refuse(refusal, cx);
        Fed::Over
    }

    /// Answers with an error and closes, lingering so that the client can read it.
    pub(super) fn refuse(&mut self, refusal: Refusal, cx: &mut Context<'_, impl Io>) -> Fate {
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
        if !self.may_go_on() {
            return self.refuse(refusal, cx);
        }
        self.write_error(refusal, After::KeepAlive, cx);
        self.record(Cause::KeepAlive, now, cx);
        self.exchange.transaction.end();
        self.next_request(now, cx);
        Fate::Lives
    }

    /// Sends the client elsewhere. The connection stays if the request was read completely.
    pub(super) fn redirected(
        &mut self,
        location: &str,
        now: Time,
        taken: usize,
        cx: &mut Context<'_, impl Io>,
    ) -> Fed {
        let after = if self.may_go_on() { After::KeepAlive } else { After::Close };
        self.exchange.draft.answer(redirect::STATUS);
        self.exchange.draft.ended_by(Cause::NoService);
        let mut out = cx.parts.buffer();
        redirect::write(location, after, self.exchange.request.head_only, &mut out);
        self.send_to_client(&out, cx);
        cx.parts.give(&mut out);
        if after == After::Close {
            let _ = self.abort(Close::Graceful, cx);
            return Fed::Over;
        }
        self.record(Cause::KeepAlive, now, cx);
        self.next_request(now, cx);
        Fed::Taken(taken)
    }

    /// May the connection carry another request after an answer of our own?
    fn may_go_on(&self) -> bool {
        let whole = self.exchange.request_body.is_done();
        whole && self.exchange.request.keep_alive && !self.exchange.request.old && !self.is_leaving()
    }

    pub(super) fn write_error(&mut self, refusal: Refusal, after: After, cx: &mut Context<'_, impl Io>) {
        self.exchange.draft.answer(refusal.status());
        self.exchange.draft.ended_by(Cause::of_refusal(refusal));
        let mut out = cx.parts.buffer();
        error::write(refusal, after, self.exchange.request.head_only, &mut out);
        self.send_to_client(&out, cx);
        cx.parts.give(&mut out);
    }

    /// The limit of a graceful stop is reached.
    pub fn stopped(&mut self, cx: &mut Context<'_, impl Io>) -> Fate {
        self.exchange.draft.ended_by(Cause::Stopped);
        self.abort(Close::Reset, cx)
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

    pub(super) fn wind_up(&mut self, cx: &mut Context<'_, impl Io>) -> Fate {
        if self.exchange.draft.is_begun() {
            let now = cx.io.now();
            self.record(Cause::Closed, now, cx);
        }
        self.exchange.transaction.end();
        self.exchange.rest(cx.parts);
        cx.parts.give(&mut self.input);
        self.vserver.live.connections.fetch_sub(1, Ordering::Relaxed);
        Fate::Over
    }

    /// The transaction in progress is over, and its service still known.
    pub(super) fn record(&mut self, otherwise: Cause, now: Time, cx: &mut Context<'_, impl Io>) {
        let serving = self.backup.as_ref().unwrap_or(&self.vserver);
        let exchange = &mut self.exchange;
        let party =
            Party { vserver: &self.vserver, serving, client: self.peer, transaction: &exchange.transaction };
        exchange.draft.close(&party, otherwise, now, cx);
    }

    /// The service gave no answer, or none that can be sent on whole.
    pub(super) fn service_failed(&mut self, refusal: Refusal, cx: &mut Context<'_, impl Io>) -> Fate {
        if self.exchange.head_sent {
            return self.cut(cx);
        }
        self.drop_server(Close::Reset, cx);
        let now = cx.io.now();
        match self.answer_ourselves(refusal, now, cx) {
            Fate::Lives => self.proceed(cx),
            Fate::Over => Fate::Over,
        }
    }

    /// Its service or its virtual server has left service (`downStateFlush`).
    pub fn flush(&mut self, fallen: Fallen, cx: &mut Context<'_, impl Io>) -> Fate {
        let was_sent = |server| cx.parts.servers.find(server).is_some_and(|server| server.open);
        if fallen == Fallen::Service && !self.exchange.server.is_some_and(was_sent) {
            self.drop_server(Close::Reset, cx);
            return self.server_gone(Loss::ConnectFailed, cx);
        }
        self.exchange.draft.ended_by(Cause::Flushed);
        match self.stage {
            Stage::Head => Fate::Lives,
            Stage::Waiting => self.service_failed(Refusal::Unavailable, cx),
            Stage::Exchange => self.service_failed(Refusal::BadGateway, cx),
            Stage::Tunnel => self.abort(Close::Reset, cx),
        }
    }

    /// Ends an answer that was begun, so that the client sees it is not whole: where only the close would end it,
    /// by RST.
    pub(super) fn cut(&mut self, cx: &mut Context<'_, impl Io>) -> Fate {
        let open_ended = match self.exchange.coding {
            Coding::AsItCame => matches!(self.exchange.answer_body, Body::UntilClose),
            Coding::Unchunked => true,
            Coding::Chunked => false,
        };
        self.abort(if open_ended { Close::Cut } else { Close::Graceful }, cx)
    }

    /// One side of a tunnel has ended: the other hears of it, and when both have, it is over.
    pub(super) fn half_closed(&mut self, cx: &mut Context<'_, impl Io>) -> Fate {
        if self.ended && self.exchange.server_ended {
            count(&self.serving().live.responses, 1);
            self.drop_server(Close::Graceful, cx);
            let now = cx.io.now();
            self.record(Cause::Closed, now, cx);
            self.exchange.transaction.answered();
            return self.abort(Close::Graceful, cx);
        }
        match self.exchange.server {
            Some(server) if self.ended => cx.io.finish(server),
            _ => cx.io.finish(self.id),
        }
        self.settle(cx)
    }
}
