//! What became of one transaction (HTTP) or one connection (TCP): what the access log says of it, and the histograms.
//!
//! Owns what a session notes while it goes on ([`Draft`]) and the words for how it ended ([`Cause`]). Never formats and
//! never waits. The hard question: what ended it? The first thing that went wrong; what followed from that is no cause.

use std::net::SocketAddr;

use crate::proxy::io::Io;
use crate::proxy::parts::{Context, Parts};
use crate::proxy::refusal::Refusal;
use crate::proxy::transaction::Transaction;
use crate::service::Service;
use crate::time::Time;
use crate::vserver::VirtualServer;
use crate::vserver::select::Reason;

/// One transaction or connection that is over. All of it is borrowed: whoever keeps it copies it.
#[derive(Clone, Copy)]
pub struct Record<'a> {
    /// The virtual server that the client was connected to.
    pub vserver: &'a VirtualServer,
    /// The backup that served in its place.
    pub backup: Option<&'a VirtualServer>,
    /// The service that had it last; `None` when none was chosen.
    pub service: Option<&'a Service>,
    /// Why that one was chosen.
    pub reason: Option<Reason>,
    /// Where the client connected from.
    pub client: SocketAddr,
    /// The request line as it came, without its end and cut off at [`crate::proxy::limits::Limits::logged_line_bytes`];
    /// empty without one (TCP).
    pub line: &'a [u8],
    /// Status of the answer that the client was sent; `None` without one.
    pub status: Option<u16>,
    /// When its first byte arrived (HTTP), or the connection (TCP).
    pub begun: Time,
    /// When it was over.
    pub ended: Time,
    /// From the last byte of the request's head, handed to the service's socket, to the first byte of its answer.
    pub ttfb_us: Option<u64>,
    /// Bytes from the client that were its own.
    pub received_bytes: u64,
    /// Bytes to the client.
    pub sent_bytes: u64,
    /// How often it was sent again, to the same service or to another.
    pub retries: u32,
    /// What ended it.
    pub cause: Cause,
}

/// What ended a transaction or a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Cause {
    /// Answered whole; the client's connection stays open.
    KeepAlive,
    /// Whole, and the client's connection was closed in good order.
    Closed,
    /// The client broke the protocol.
    BadRequest,
    /// The client ended its side before its request was whole.
    ClientClosed,
    /// The client's connection was reset.
    ClientReset,
    /// The client was silent, or took nothing, for too long.
    ClientTimeout,
    /// No service was UP.
    NoService,
    /// Every service was at a limit for too long.
    SurgeTimeout,
    /// No service could be connected to.
    ConnectFailed,
    /// This host had no port left to connect from.
    NoLocalPort,
    /// The service broke the protocol.
    BadAnswer,
    /// The service ended its side before its answer was whole.
    ServiceClosed,
    /// The service's connection was reset.
    ServiceReset,
    /// The service was silent, or took nothing, for too long.
    ServiceTimeout,
    /// Its service or its virtual server went DOWN or was disabled, and `downStateFlush` cut it.
    Flushed,
    /// The limit of a graceful stop was reached.
    Stopped,
}

impl Cause {
    /// All of them, in order.
    pub const ALL: [Cause; 16] = [
        Cause::KeepAlive,
        Cause::Closed,
        Cause::BadRequest,
        Cause::ClientClosed,
        Cause::ClientReset,
        Cause::ClientTimeout,
        Cause::NoService,
        Cause::SurgeTimeout,
        Cause::ConnectFailed,
        Cause::NoLocalPort,
        Cause::BadAnswer,
        Cause::ServiceClosed,
        Cause::ServiceReset,
        Cause::ServiceTimeout,
        Cause::Flushed,
        Cause::Stopped,
    ];

    /// As the access log has it.
    pub fn text(self) -> &'static str {
        match self {
            Cause::KeepAlive => "keep-alive",
            Cause::Closed => "closed",
            Cause::BadRequest => "bad request",
            Cause::ClientClosed => "client closed",
            Cause::ClientReset => "client reset",
            Cause::ClientTimeout => "client timeout",
            Cause::NoService => "no service",
            Cause::SurgeTimeout => "surge timeout",
            Cause::ConnectFailed => "connect failed",
            Cause::NoLocalPort => "no local port",
            Cause::BadAnswer => "bad answer",
            Cause::ServiceClosed => "service closed",
            Cause::ServiceReset => "service reset",
            Cause::ServiceTimeout => "service timeout",
            Cause::Flushed => "flushed",
            Cause::Stopped => "stopped",
        }
    }

    /// What an answer of our own tells about the end of a request, unless more is known.
    pub fn of_refusal(refusal: Refusal) -> Cause {
        match refusal {
            Refusal::RequestTimeout => Cause::ClientTimeout,
            Refusal::BadGateway => Cause::BadAnswer,
            Refusal::Unavailable => Cause::NoService,
            Refusal::GatewayTimeout => Cause::ServiceTimeout,
            _ => Cause::BadRequest,
        }
    }
}

/// What a session notes for the record of the transaction in progress. Kept and used again.
#[derive(Default)]
pub struct Draft {
    begun: Option<Time>,
    line: Vec<u8>,
    status: Option<u16>,
    received_bytes: u64,
    sent_bytes: u64,
    cause: Option<Cause>,
}

/// Whose transaction a draft is of.
pub struct Party<'a> {
    /// The virtual server that the client was connected to.
    pub vserver: &'a VirtualServer,
    /// The one that serves: itself, or a backup.
    pub serving: &'a VirtualServer,
    /// Where the client connected from.
    pub client: SocketAddr,
    /// Not ended yet: its service is still known.
    pub transaction: &'a Transaction,
}

impl Draft {
    /// A transaction begins, unless one is in progress.
    pub fn begin(&mut self, now: Time) {
        self.begun.get_or_insert(now);
    }

    /// Is one in progress?
    pub fn is_begun(&self) -> bool {
        self.begun.is_some()
    }

    /// Keeps the request line that `head` begins with, if a log wants it.
    pub fn request_line(&mut self, head: &[u8], parts: &mut Parts) {
        let limit = head.len().min(parts.limits.logged_line_bytes);
        if limit == 0 {
            return;
        }
        let end = memchr::memchr2(b'\r', b'\n', &head[..limit]).unwrap_or(limit);
        if self.line.capacity() == 0 {
            self.line = parts.buffer();
        }
        self.line.clear();
        self.line.extend_from_slice(&head[..end]);
    }

    /// The client is sent an answer of this status.
    pub fn answer(&mut self, status: u16) {
        self.status = Some(status);
    }

    /// So many bytes came from the client.
    #[inline]
    pub fn received(&mut self, bytes: usize) {
        self.received_bytes += bytes as u64;
    }

    /// So many bytes went to the client.
    #[inline]
    pub fn sent(&mut self, bytes: usize) {
        self.sent_bytes += bytes as u64;
    }

    /// Something ends it. What was said first counts.
    pub fn ended_by(&mut self, cause: Cause) {
        self.cause.get_or_insert(cause);
    }

    /// The transaction in progress, if any, is over: counts it and hands its record to the log. `otherwise` is its cause
    /// if nothing else was said.
    pub fn close<I: Io>(
        &mut self,
        party: &Party<'_>,
        otherwise: Cause,
        ended: Time,
        cx: &mut Context<'_, I>,
    ) {
        let Some(begun) = self.begun else { return };
        let Party { vserver, serving, client, transaction } = *party;
        let ttfb_us = transaction.ttfb_us();
        serving.live.account(self.status, ended.since_us(begun), ttfb_us);
        if cx.parts.limits.logged_line_bytes > 0 {
            cx.io.log(&Record {
                vserver,
                backup: (!std::ptr::eq(vserver, serving)).then_some(serving),
                service: transaction.last_service().map(|service| &**service),
                reason: transaction.reason(),
                client,
                line: &self.line,
                status: self.status,
                begun,
                ended,
                ttfb_us,
                received_bytes: self.received_bytes,
                sent_bytes: self.sent_bytes,
                retries: transaction.retries(),
                cause: self.cause.unwrap_or(otherwise),
            });
            cx.parts.give(&mut self.line);
        }
        *self = Draft::default();
    }
}
