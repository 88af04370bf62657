//! The service side of a session: answers, the loss of connections, the end of an exchange.
//!
//! An answer is sent on as it arrives. The hard question: what if it never ends as it should? Then the client must
//! see that it is cut: 502 if nothing was sent yet, else a close that can't be taken for the end.

use crate::proxy::http1::body::Body;
use crate::proxy::http1::head::{Message, Scan, find_end};
use crate::proxy::http1::response::{self, Asked, Coding, Response};
use crate::proxy::http1::session::{Fate, Session, Stage};
use crate::proxy::io::{Close, ConnId, Gone, Io};
use crate::proxy::parts::{Context, count};
use crate::proxy::record::Cause;
use crate::proxy::refusal::Refusal;
use crate::proxy::transaction::{Loss, Next};
use crate::service::terms::Terms;
use crate::time::{MILLISECOND_US, SECOND_US, Time};

/// How a run of answer bytes ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Told {
    /// A head is not complete; so many bytes before it are done with.
    Partial(usize),
    /// More of the body must come.
    More,
    /// The answer is complete; so many bytes were its.
    Whole(usize),
    /// The answer is no answer.
    Fault,
    /// The protocol was switched; so many bytes were the head's.
    Switched(usize),
}

impl Session {
    /// Bytes from the service.
    pub fn answer(&mut self, bytes: &[u8], cx: &mut Context<'_, impl Io>) -> Fate {
        let now = cx.io.now();
        self.exchange.spliced = false;
        self.exchange.transaction.received(bytes.len(), now);
        self.touch(now, cx);
        self.sample_packets(now, cx);
        if self.stage == Stage::Tunnel {
            self.send_to_client(bytes, cx);
            return self.settle(cx);
        }
        if !self.exchange.touched {
            self.exchange.touched = true;
            cx.parts.give(&mut self.exchange.replay);
        }
        let mut held = std::mem::take(&mut self.exchange.answer);
        if held.is_empty() {
            let told = self.read_on(bytes, now, cx);
            if let Told::Partial(taken) = told {
                held = cx.parts.buffer();
                held.extend_from_slice(&bytes[taken..]);
                self.exchange.answer = held;
            }
            return self.follow(told, bytes, now, cx);
        }
        held.extend_from_slice(bytes);
        let told = self.read_on(&held, now, cx);
        if let Told::Partial(taken) = told {
            held.drain(..taken);
            self.exchange.answer = held;
            return self.settle(cx);
        }
        let fate = self.follow(told, &held, now, cx);
        cx.parts.give(&mut held);
        fate
    }

    /// A long rest of known length needs no looking at: it goes to the client through the kernel, if that is to be had.
    fn splice_rest(&mut self, cx: &mut Context<'_, impl Io>) {
        let (Body::Length(left), Some(server)) = (self.exchange.answer_body, self.exchange.server) else {
            return;
        };
        if left >= cx.parts.limits.splice_bytes && self.exchange.coding == Coding::AsItCame {
            self.exchange.spliced = cx.io.splice(server, self.id, left);
        }
    }

    /// `bytes` of such a rest have gone to the client; `queued` more wait until it takes them.
    pub fn moved(&mut self, bytes: u64, queued: usize, cx: &mut Context<'_, impl Io>) -> Fate {
        let now = cx.io.now();
        self.exchange.transaction.received(usize::try_from(bytes).unwrap_or(usize::MAX), now);
        count(&self.vserver.live.response_bytes, bytes);
        self.exchange.draft.sent(usize::try_from(bytes).unwrap_or(usize::MAX));
        self.exchange.answer_body.pass(bytes);
        let full = queued > 0;
        if full && !self.client_full {
            self.begin_slow_client(cx);
        }
        self.client_full = full;
        self.touch(now, cx);
        self.sample_packets(now, cx);
        if !self.exchange.answer_body.is_done() {
            return self.settle(cx);
        }
        self.exchange.spliced = false;
        let left_over = self.exchange.server.is_some_and(|server| cx.io.has_more(server));
        self.finish(usize::from(left_over), now, cx)
    }

    /// The connect succeeded.
    pub fn connected(&mut self, cx: &mut Context<'_, impl Io>) -> Fate {
        let now = cx.io.now();
        self.exchange.transaction.connected(now);
        self.touch(now, cx);
        Fate::Lives
    }

    /// The service's FIN.
    pub fn server_ended(&mut self, server: ConnId, cx: &mut Context<'_, impl Io>) -> Fate {
        if self.stage == Stage::Tunnel {
            self.exchange.server_ended = true;
            return self.half_closed(cx);
        }
        if self.exchange.head_sent && matches!(self.exchange.answer_body, Body::UntilClose) {
            let now = cx.io.now();
            self.exchange.answer_body = Body::Done;
            if self.exchange.coding == Coding::Chunked {
                self.send_to_client(b"0\r\n\r\n", cx);
            }
            return self.finish(0, now, cx);
        }
        let loss = self.loss(server, Gone::Reset, cx);
        self.drop_server(Close::Reset, cx);
        self.lost(loss, Cause::ServiceClosed, cx)
    }

    /// The service's connection is gone, and out of every table.
    pub fn server_gone(&mut self, loss: Loss, cx: &mut Context<'_, impl Io>) -> Fate {
        self.exchange.server = None;
        self.exchange.wait_no_more(cx.parts);
        if self.stage == Stage::Tunnel {
            self.exchange.draft.ended_by(Cause::ServiceReset);
            return self.abort(Close::Cut, cx);
        }
        self.lost(loss, Cause::ServiceReset, cx)
    }

    /// What the end of `server` means for this session.
    pub fn loss(&self, server: ConnId, why: Gone, cx: &mut Context<'_, impl Io>) -> Loss {
        let Some(server) = cx.parts.servers.find(server) else { return Loss::Broken };
        match why {
            Gone::NoLocalPort => Loss::NoLocalPort,
            _ if !server.open => Loss::ConnectFailed,
            Gone::ConnectFailed => Loss::ConnectFailed,
            Gone::Reset if server.reused && !self.exchange.touched => Loss::Stale,
            Gone::Reset => Loss::Broken,
        }
    }

    fn lost(&mut self, loss: Loss, cause: Cause, cx: &mut Context<'_, impl Io>) -> Fate {
        let now = cx.io.now();
        let replayable = self.exchange.replayable && !self.exchange.touched;
        let vserver = self.backup.as_ref().unwrap_or(&self.vserver);
        let given = cx.parts.given(vserver, self.id, now);
        let next = self.exchange.transaction.lost(loss, replayable, &given);
        if let Next::Refuse(_) = next {
            self.exchange.draft.ended_by(match loss {
                Loss::ConnectFailed => Cause::ConnectFailed,
                Loss::NoLocalPort => Cause::NoLocalPort,
                Loss::Stale | Loss::Broken => cause,
            });
        }
        self.send_again(next, now, cx)
    }

    fn read_on(&mut self, bytes: &[u8], now: Time, cx: &mut Context<'_, impl Io>) -> Told {
        if self.exchange.head_sent { self.answer_body(bytes, cx) } else { self.answer_heads(bytes, now, cx) }
    }

    /// Does what follows from having read `bytes`.
    fn follow(&mut self, told: Told, bytes: &[u8], now: Time, cx: &mut Context<'_, impl Io>) -> Fate {
        match told {
            Told::Partial(_) => self.settle(cx),
            Told::More => {
                self.splice_rest(cx);
                self.settle(cx)
            }
            Told::Whole(taken) => self.finish(bytes.len() - taken, now, cx),
            Told::Switched(taken) => self.switch(&bytes[taken..], cx),
            Told::Fault => {
                count(&self.serving().live.invalid, 1);
                self.exchange.draft.ended_by(Cause::BadAnswer);
                self.service_failed(Refusal::BadGateway, cx)
            }
        }
    }

    /// Reads heads up to that of the final answer, with what follows it.
    fn answer_heads(&mut self, bytes: &[u8], now: Time, cx: &mut Context<'_, impl Io>) -> Told {
        let mut at = 0;
        loop {
            let limit = cx.parts.limits.head_bytes;
            let head_len = match find_end(&bytes[at..], self.exchange.answer_scanned) {
                Scan::Complete(length) if length <= limit => length,
                Scan::Partial if bytes.len() - at <= limit => {
                    self.exchange.answer_scanned = bytes.len() - at;
                    return Told::Partial(at);
                }
                _ => return Told::Fault,
            };
            self.exchange.answer_scanned = 0;
            let mut out = std::mem::take(&mut cx.parts.scratch);
            let told =
                self.answer_head(Message { bytes: &bytes[at..], head_len, rewritten: &mut out }, now, cx);
            out.clear();
            cx.parts.scratch = out;
            match told {
                None => at += head_len,
                Some(Told::Whole(taken)) => return Told::Whole(at + taken),
                Some(Told::Switched(taken)) => return Told::Switched(at + taken),
                Some(told) => return told,
            }
        }
    }

    /// Reads one head. `None`: it was an interim one.
    fn answer_head(
        &mut self,
        message: Message<'_>,
        now: Time,
        cx: &mut Context<'_, impl Io>,
    ) -> Option<Told> {
        let exchange = &self.exchange;
        let asked = Asked {
            request: &exchange.request,
            keep_alive: exchange.request.keep_alive && exchange.request_body.is_done() && !self.is_leaving(),
            keep_in_any_case: exchange.transaction.terms().is_some_and(|terms| terms.client_keep_alive),
        };
        let head = &message.bytes[..message.head_len];
        let Ok(response) = response::read(head, &asked, message.rewritten) else {
            return Some(Told::Fault);
        };
        if response.status >= 200 || response.status == 101 {
            self.exchange.transaction.first_byte(response.status, now);
            self.exchange.draft.answer(response.status);
        }
        if response.status == 101 {
            self.send_to_client(message.rewritten, cx);
            return Some(Told::Switched(message.head_len));
        }
        if response.status < 200 {
            return self.interim(if response.verbatim { head } else { message.rewritten }, cx);
        }
        Some(self.final_head(response, message, cx))
    }

    fn interim(&mut self, head: &[u8], cx: &mut Context<'_, impl Io>) -> Option<Told> {
        self.exchange.interim += 1;
        if self.exchange.interim > cx.parts.limits.interim_answers {
            return Some(Told::Fault);
        }
        // RFC 9110 15.2: never to a 1.0 client.
        if !self.exchange.request.old {
            self.send_to_client(head, cx);
        }
        None
    }

    fn final_head(
        &mut self,
        response: Response,
        message: Message<'_>,
        cx: &mut Context<'_, impl Io>,
    ) -> Told {
        let exchange = &mut self.exchange;
        exchange.answer_body = response.body;
        exchange.keep_alive = response.keep_alive;
        exchange.reusable = response.reusable;
        exchange.coding = response.coding;
        exchange.server_idle_s = response.idle_s;
        let line_limit = cx.parts.limits.chunk_line_bytes;
        let (bytes, head_len, out) = (message.bytes, message.head_len, message.rewritten);
        let advanced = exchange.answer_body.advance(&bytes[head_len..], line_limit, |content| {
            response.coding.write(content, out);
        });
        // Nothing was sent on yet: a fault in the first bytes of the body still makes a 502.
        let Ok(of_body) = advanced else { return Told::Fault };
        exchange.head_sent = true;
        let taken = head_len + of_body;
        if response.verbatim {
            self.send_to_client(&bytes[..taken], cx);
        } else {
            if response.coding == Coding::AsItCame {
                out.extend_from_slice(&bytes[head_len..taken]);
            }
            self.send_to_client(out, cx);
        }
        if self.exchange.answer_body.is_done() { Told::Whole(taken) } else { Told::More }
    }

    fn answer_body(&mut self, bytes: &[u8], cx: &mut Context<'_, impl Io>) -> Told {
        let line_limit = cx.parts.limits.chunk_line_bytes;
        let coding = self.exchange.coding;
        let mut out = if coding == Coding::AsItCame { Vec::new() } else { cx.parts.buffer() };
        let advanced =
            self.exchange.answer_body.advance(bytes, line_limit, |content| coding.write(content, &mut out));
        let Ok(taken) = advanced else { return Told::Fault };
        self.send_to_client(if coding == Coding::AsItCame { &bytes[..taken] } else { &out }, cx);
        cx.parts.give(&mut out);
        if self.exchange.answer_body.is_done() { Told::Whole(taken) } else { Told::More }
    }

    /// The answer is complete; `left_over` bytes came behind it, which no request asked for.
    fn finish(&mut self, left_over: usize, now: Time, cx: &mut Context<'_, impl Io>) -> Fate {
        count(&self.serving().live.responses, 1);
        let request_whole = self.exchange.request_body.is_done();
        if let Some(server) = self.exchange.server.take() {
            self.count_packets(server, Some(now), cx);
            let terms = self.exchange.transaction.terms();
            let worn = cx.is_worn(server, terms.and_then(|terms| terms.max_requests));
            let idle_us = idle_us(terms, self.exchange.server_idle_s);
            if self.exchange.reusable && !worn && left_over == 0 && request_whole && idle_us > 0 {
                if self.exchange.server_paused {
                    cx.io.resume(server);
                }
                cx.release(server, now, idle_us);
            } else {
                cx.discard(server, if request_whole { Close::Graceful } else { Close::Reset });
            }
        }
        let stays = self.exchange.keep_alive && request_whole;
        let cause = if stays && !self.ended { Cause::KeepAlive } else { Cause::Closed };
        self.record(cause, now, cx);
        self.exchange.transaction.answered();
        if !stays {
            return self.abort(Close::Graceful, cx);
        }
        self.next_request(now, cx);
        self.proceed(cx)
    }

    /// After a 101: what the client sent early and what came behind the head go on as they are.
    fn switch(&mut self, rest: &[u8], cx: &mut Context<'_, impl Io>) -> Fate {
        self.stage = Stage::Tunnel;
        self.send_to_client(rest, cx);
        let now = cx.io.now();
        self.touch(now, cx);
        let fate = self.proceed(cx);
        if fate == Fate::Lives && self.ended { self.half_closed(cx) } else { fate }
    }

    pub(super) fn send_to_client(&mut self, bytes: &[u8], cx: &mut Context<'_, impl Io>) {
        if bytes.is_empty() {
            return;
        }
        count(&self.serving().live.response_bytes, bytes.len() as u64);
        self.exchange.draft.sent(bytes.len());
        let full = cx.io.send(self.id, bytes) > cx.parts.limits.high_water;
        if full && !self.client_full {
            self.begin_slow_client(cx);
        }
        self.client_full = full;
    }

    /// `spec/methods.md` ruling 9: a long answer's packets are counted on a tick of 100 ms.
    fn sample_packets(&mut self, now: Time, cx: &mut Context<'_, impl Io>) {
        if let Some(server) = self.exchange.server
            && now.since_us(self.exchange.packets_at) >= PACKETS_TICK_US
        {
            self.exchange.packets_at = now;
            self.count_packets(server, Some(now), cx);
        }
    }

    pub(super) fn count_packets(&self, server: ConnId, now: Option<Time>, cx: &mut Context<'_, impl Io>) {
        let transaction = &self.exchange.transaction;
        if transaction.service().is_some_and(|s| s.counts_packets()) {
            let now = now.unwrap_or_else(|| cx.io.now());
            transaction.packets(cx.packets(server), now);
        }
    }
}

/// How long the service leaves an idle connection open: `svrTimeout`, or less if it says so itself. One that is used at
/// the moment at which the service closes it costs a request, so it is left earlier (case H32).
fn idle_us(terms: Option<&Terms>, said_s: Option<u64>) -> u64 {
    let configured_us = terms.and_then(|terms| terms.server_timeout_us).unwrap_or(u64::MAX);
    let said_us = said_s.map_or(u64::MAX, |seconds| match seconds {
        0 | 1 => seconds * SECOND_US / 2,
        _ => (seconds - 1).saturating_mul(SECOND_US),
    });
    configured_us.min(said_us)
}

const PACKETS_TICK_US: u64 = 100 * MILLISECOND_US;
