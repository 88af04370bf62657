//! One transaction, whatever the protocol: choose a service, account for it, decide what a failure leads to.
//!
//! Knows no protocol version and no bytes. The hard question: may this request be sent again? Never after a byte of
//! it may have been acted on, unless it is idempotent and still held whole (RFC 9110 9.2.2, RFC 9112 9.3.1).

use crate::proxy::limits::Limits;
use crate::proxy::refusal::Refusal;
use crate::service::Service;
use crate::service::terms::Terms;
use crate::service::waker::Caller;
use crate::sync::Arc;
use crate::time::Time;
use crate::vserver::VirtualServer;
use crate::vserver::select::{Assigned, Reason, Selection, Turn, Unavailable};

/// May a request be repeated after it may have been acted on?
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Repeat {
    /// Not idempotent.
    #[default]
    Never,
    /// Idempotent by its method (RFC 9110 9.2.2).
    Idempotent,
}

/// Which connection a request may use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reuse {
    /// A new one only.
    Fresh,
    /// An idle one that went idle at this time or later, else a new one.
    IdleSince(Time),
}

/// How a server-side connection failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Loss {
    /// It was never open: nothing was acted on.
    ConnectFailed,
    /// The same, and the service has no part in it: this host has no port left to connect from.
    NoLocalPort,
    /// It had been reused and ended before any byte of an answer: most likely it was closed while idle.
    Stale,
    /// It ended in the middle of an exchange.
    Broken,
}

/// How a transaction begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Start {
    /// It has a service.
    Send(Reuse),
    /// Every service is at a limit: [`Transaction::granted`] says when it has one.
    Wait,
}

impl Loss {
    /// What a client is told when nothing can be done about it.
    fn refusal(self) -> Refusal {
        match self {
            Loss::NoLocalPort => Refusal::Unavailable,
            Loss::ConnectFailed | Loss::Stale | Loss::Broken => Refusal::BadGateway,
        }
    }
}

/// What to do after a loss.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Next {
    /// Send the held request to the service now assigned.
    Send(Reuse),
    /// Hold the request until [`Transaction::granted`] says where to.
    Wait,
    /// Answer with this, or cut what was begun.
    Refuse(Refusal),
}

/// What a decision is taken on.
pub struct Given<'a> {
    pub vserver: &'a VirtualServer,
    pub limits: &'a Limits,
    pub now: Time,
    /// Who is woken when a wait is over.
    pub caller: Caller<'a>,
}

/// The state of a session's current transaction. Kept and used again, so that it allocates nothing per request.
#[derive(Default)]
pub struct Transaction {
    assigned: Option<Assigned>,
    /// Its turn in the surge queue, while it waits.
    turn: Option<Turn>,
    /// Services that failed for this request.
    tried: Vec<Arc<Service>>,
    /// Why the last of them was chosen.
    tried_for: Option<Reason>,
    repeat: Repeat,
    /// It was sent again after a stale connection.
    retried: bool,
    /// How many connections it was handed to.
    handed: u32,
    /// When the last byte of the request head was handed to an open socket.
    sent_at: Option<Time>,
    ttfb_us: Option<u64>,
    /// Payload bytes that wait for the connect.
    waiting: u64,
}

impl Transaction {
    /// Chooses a service for a new request.
    ///
    /// # Errors
    /// The refusal to answer with when no service is UP.
    pub fn begin(&mut self, repeat: Repeat, given: &Given<'_>) -> Result<Start, Refusal> {
        self.end();
        self.repeat = repeat;
        Ok(if self.select(given)? { Start::Send(self.reuse(given)) } else { Start::Wait })
    }

    /// What came of a wait; `None` while it goes on.
    ///
    /// # Errors
    /// The refusal to answer with when there is no service left to wait for.
    pub fn granted(&mut self, given: &Given<'_>) -> Option<Result<Reuse, Refusal>> {
        let answer = given.vserver.granted(self.turn.as_ref()?)?;
        self.turn = None;
        self.assigned = answer;
        Some(match (&self.assigned, &self.tried[..]) {
            (Some(_), []) => Ok(self.reuse(given)),
            (Some(_), _) => Ok(Reuse::Fresh),
            (None, []) => Err(Refusal::Unavailable),
            (None, _) => Err(Refusal::BadGateway),
        })
    }

    /// The service that has the transaction.
    pub fn service(&self) -> Option<&Arc<Service>> {
        self.assigned.as_ref().map(Assigned::service)
    }

    /// The service that had it last, if any, even if it could not be connected to.
    pub fn last_service(&self) -> Option<&Arc<Service>> {
        self.service().or_else(|| self.tried.last())
    }

    /// Why that one was chosen.
    pub fn reason(&self) -> Option<Reason> {
        self.assigned.as_ref().map(Assigned::reason).or(self.tried_for)
    }

    /// A connection has it now, open or not: to choose a service is no try yet, for it may still have to wait for one.
    pub fn handed(&mut self) {
        self.handed = self.handed.saturating_add(1);
    }

    /// How often it was tried again.
    pub fn retries(&self) -> u32 {
        self.handed.saturating_sub(1)
    }

    /// How long its service took to begin the answer, once it has.
    pub fn ttfb_us(&self) -> Option<u64> {
        self.ttfb_us
    }

    /// On what terms it is used.
    pub fn terms(&self) -> Option<&Terms> {
        self.assigned.as_ref().map(Assigned::terms)
    }

    /// For how long the service may be silent.
    pub fn server_patience_us(&self) -> u64 {
        self.terms().and_then(|terms| terms.server_timeout_us).unwrap_or(u64::MAX)
    }

    /// `bytes` of the request were handed over; `open` when the connection was up already, so that they are on
    /// their way.
    pub fn sent(&mut self, bytes: usize, open: bool, now: Time) {
        if !open {
            self.waiting += bytes as u64;
            return;
        }
        self.sent_at.get_or_insert(now);
        if let Some(assigned) = &self.assigned {
            assigned.sent(bytes as u64, now);
        }
    }

    /// The connection is up: what waited is on its way.
    pub fn connected(&mut self, now: Time) {
        let waiting = std::mem::take(&mut self.waiting) as usize;
        self.sent(waiting, true, now);
    }

    /// `bytes` of the answer arrived.
    pub fn received(&self, bytes: usize, now: Time) {
        if let Some(assigned) = &self.assigned {
            assigned.received(bytes as u64, now);
        }
    }

    /// `packets` more were carried, of a service that counts them.
    pub fn packets(&self, packets: u64, now: Time) {
        if let Some(assigned) = &self.assigned {
            assigned.packets(packets, now);
        }
    }

    /// The first byte of the final answer's head arrived (`spec/methods.md` 1.5: an interim answer is none).
    pub fn first_byte(&mut self, status: u16, now: Time) {
        if let (Some(assigned), Some(sent_at)) = (&self.assigned, self.sent_at) {
            let ttfb_us = now.since_us(sent_at);
            self.ttfb_us = Some(ttfb_us);
            assigned.first_byte(status, ttfb_us, now);
        }
    }

    /// The answer was received completely: ends the transaction.
    pub fn answered(&mut self) {
        if let Some(assigned) = &self.assigned {
            assigned.answered();
        }
        self.end();
    }

    /// Ends the transaction, answered or not.
    pub fn end(&mut self) {
        self.assigned = None;
        self.turn = None;
        self.tried.clear();
        self.tried_for = None;
        self.retried = false;
        self.handed = 0;
        self.sent_at = None;
        self.ttfb_us = None;
        self.waiting = 0;
    }

    /// What follows from a loss. `replayable`: the whole request, as far as it was sent, is still held.
    pub fn lost(&mut self, loss: Loss, replayable: bool, given: &Given<'_>) -> Next {
        self.sent_at = None;
        self.waiting = 0;
        match loss {
            Loss::Stale if replayable && self.repeat == Repeat::Idempotent && !self.retried => {
                self.retried = true;
                Next::Send(Reuse::Fresh)
            }
            Loss::ConnectFailed | Loss::NoLocalPort if replayable => self.elsewhere(loss, given),
            _ => Next::Refuse(loss.refusal()),
        }
    }

    fn elsewhere(&mut self, loss: Loss, given: &Given<'_>) -> Next {
        if let Some(assigned) = self.assigned.take() {
            self.tried_for = Some(assigned.reason());
            self.tried.push(Arc::clone(assigned.service()));
        }
        if self.tried.len() >= given.limits.connect_attempts {
            return Next::Refuse(loss.refusal());
        }
        match self.select(given) {
            // An idle connection would do as well, but a request that found one service gone waits for no second
            // surprise.
            Ok(true) => Next::Send(Reuse::Fresh),
            Ok(false) => Next::Wait,
            Err(_) => Next::Refuse(loss.refusal()),
        }
    }

    /// Which connection a new request may use.
    fn reuse(&self, given: &Given<'_>) -> Reuse {
        match self.repeat {
            Repeat::Idempotent => Reuse::IdleSince(Time::ZERO),
            Repeat::Never => {
                Reuse::IdleSince(Time::from_us(given.now.since_us(Time::from_us(given.limits.fresh_us)) + 1))
            }
        }
    }

    /// True when there is a service, false when the request waits for one.
    fn select(&mut self, given: &Given<'_>) -> Result<bool, Refusal> {
        match given.vserver.select(given.now, &self.tried, given.caller) {
            Ok(Selection::Taken(assigned)) => {
                self.assigned = Some(assigned);
                Ok(true)
            }
            Ok(Selection::Waits(turn)) => {
                self.turn = Some(turn);
                Ok(false)
            }
            Err(Unavailable::Down | Unavailable::Crowded) => Err(Refusal::Unavailable),
            Err(Unavailable::AllTried) => Err(Refusal::BadGateway),
        }
    }
}
