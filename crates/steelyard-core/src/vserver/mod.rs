//! Live virtual servers: settings of one snapshot, counters that outlive it, and `select`, the common decision
//! procedure of `spec/methods.md` 1.1.

pub mod admission;
pub mod histogram;
pub mod select;
pub mod spillover;

use std::net::SocketAddr;

use crate::balance::picker::{Picker, Seat};
use crate::service::{Service, State, source};
use crate::sync::{Arc, AtomicU64, Ordering};
use crate::time::Time;
use crate::vserver::histogram::Histogram;
use crate::vserver::spillover::{Bandwidth, Sent, Spillover};

/// A virtual server as one snapshot has it.
pub struct VirtualServer {
    /// Name as configured.
    pub name: Box<str>,
    /// Where it listens; `None` when it is not addressable (0.0.0.0:0).
    pub address: Option<SocketAddr>,
    /// What clients speak to it, and services behind it.
    pub protocol: Protocol,
    /// Method name, as `-lbMethod` spells it.
    pub method: &'static str,
    /// `cltTimeout`: an idle client connection is closed after this many seconds.
    pub client_timeout_s: u32,
    /// `set lb vserver -state`.
    pub enabled: bool,
    /// Why it takes nobody in, whatever its services do; empty for one that is open. Its address is not listened on.
    pub closed: Box<[Closed]>,
    /// What follows from its state for those who come.
    pub by_state: ByState,
    /// What it has carried; the same object in every snapshot.
    pub live: Arc<Live>,
    /// The choice among the bound services, in ring order (binding order, members in member order).
    pub picker: Arc<Picker>,
    /// Where whoever still has an older snapshot finds that choice.
    pub seat: Arc<Seat>,
}

impl VirtualServer {
    /// Its own state (`spec/methods.md` 5.4, 3.8).
    pub fn state(&self) -> State {
        if !self.enabled || self.is_barred() {
            State::OutOfService
        } else if self.is_open() && self.picker.candidates() > 0 && !self.is_below_health_threshold() {
            State::Up
        } else {
            State::Down
        }
    }

    /// Does it wait to be enabled by hand, since a backup has taken its place (`disablePrimaryOnDown`)?
    #[inline]
    pub fn is_barred(&self) -> bool {
        self.by_state.waits_for_enable && self.live.comes_back.is_barred()
    }

    /// Is too small a share of its services UP?
    #[inline]
    pub fn is_below_health_threshold(&self) -> bool {
        self.by_state.health_threshold > 0 && self.picker.standing().is_below(self.by_state.health_threshold)
    }

    /// Is somebody answered at its address, whatever its own state?
    pub fn keeps_address(&self) -> bool {
        let elsewhere = !self.by_state.backups.is_empty() || self.by_state.redirect_url.is_some();
        self.is_open() && (self.enabled || elsewhere)
    }

    /// Does its redirect URL lead clients back to it? Known only where that names its address by number.
    pub fn redirects_to_itself(&self) -> bool {
        let url = self.by_state.redirect_url.as_deref().unwrap_or_default();
        let Some((scheme, rest)) = url.split_once("://") else { return false };
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let host = authority.trim_start_matches('[').trim_end_matches(']');
        let at_port_80 = || host.parse().map(|ip| SocketAddr::new(ip, 80));
        let there = authority.parse().or_else(|_| at_port_80()).ok();
        scheme.eq_ignore_ascii_case("http") && there.is_some() && there == self.address
    }

    /// It was enabled by hand: it takes clients in again if it is UP.
    pub fn permit_return(&self) {
        self.live.comes_back.permit();
    }

    /// What time alone changes. Every 100 ms from one thread.
    pub fn tick(self: &Arc<Self>, now: Time) {
        self.picker.tick(now);
        self.live.bandwidth.sample(self.live.bytes(), now);
        self.watch_state();
    }

    /// Does nothing but its services' state decide whether it takes clients in?
    pub fn is_open(&self) -> bool {
        self.closed.is_empty()
    }

    /// The bound services in ring order.
    pub fn services(&self) -> impl Iterator<Item = &Arc<Service>> {
        self.picker.services().iter().map(|bound| &bound.service)
    }
}

/// What is balanced: the unit of `spec/methods.md` 1.1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Protocol {
    /// Each HTTP request.
    Http,
    /// Each connection, whatever it carries.
    Tcp,
}

/// What becomes of clients by the state of a virtual server. Nothing, by default: who cannot be served is refused.
#[derive(Default)]
pub struct ByState {
    /// Take its place while it is DOWN or has no room: the first that is UP and has some.
    pub backups: Box<[Arc<VirtualServer>]>,
    /// Where clients are sent when it is DOWN and no backup is usable; of HTTP alone.
    pub redirect_url: Option<Box<str>>,
    /// DOWN below so many percent of weights that are UP; 0: when nothing is UP.
    pub health_threshold: u32,
    /// When it has no room for new connections although it is UP.
    pub spillover: Option<Spillover>,
    /// `disablePrimaryOnDown`: once a backup has taken its place it does not come back by itself.
    pub waits_for_enable: bool,
    /// `downStateFlush DISABLED`: what is under way may end when it goes DOWN.
    pub lets_transactions_end: bool,
}

/// Why a virtual server takes nobody in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Closed {
    /// `enable ns feature LB` is missing.
    FeatureOff,
    /// Clients speak a protocol that this version does not carry, and none other is served in its place.
    Type(&'static str),
    /// It has no single address and port: `*`, or a pattern.
    Wildcard,
    /// This, in the operator's words, decides who gets in and is not acted on.
    Guarded(Box<str>),
}

/// What a virtual server has carried since it exists. Client-side figures.
#[derive(Default)]
pub struct Live {
    /// Decisions taken.
    pub hits: AtomicU64,
    /// Requests received.
    pub requests: AtomicU64,
    /// Answers sent completely.
    pub responses: AtomicU64,
    /// Bytes received from clients.
    pub request_bytes: AtomicU64,
    /// Bytes sent to clients.
    pub response_bytes: AtomicU64,
    /// Open client connections.
    pub connections: AtomicU64,
    /// Client connections that count here, whichever virtual server they came to ([`admission::Place`]).
    pub places: AtomicU64,
    /// Connections sent on for want of room.
    pub spilled: AtomicU64,
    /// Requests and connections that a backup was given while this one was not UP.
    pub backup_hits: AtomicU64,
    /// What it carries at present.
    pub bandwidth: Bandwidth,
    sent: Sent,
    comes_back: admission::Return,
    /// Requests and answers refused because they broke the protocol.
    pub invalid: AtomicU64,
    /// Changes of its state, as they were noticed.
    pub state_changes: AtomicU64,
    /// Answers begun, by the hundreds of their status: 100 (a 101) to 500.
    pub answers: [AtomicU64; 5],
    /// From the first byte of a request, or from the start of a TCP connection, to the end of its answer.
    pub duration: Histogram,
    /// From the last byte of a request's head, handed to the service, to the first byte of the answer.
    pub ttfb: Histogram,
    /// The address of its net profile.
    pub source: source::Cell,
}

impl Live {
    /// Bytes of both directions.
    pub fn bytes(&self) -> u64 {
        self.request_bytes.load(Ordering::Relaxed) + self.response_bytes.load(Ordering::Relaxed)
    }

    /// A transaction is over, whatever came of it.
    pub fn account(&self, status: Option<u16>, duration_us: u64, ttfb_us: Option<u64>) {
        self.duration.add(duration_us);
        if let Some(us) = ttfb_us {
            self.ttfb.add(us);
        }
        let class = status.and_then(|status| usize::from(status / 100).checked_sub(1));
        if let Some(answers) = class.and_then(|class| self.answers.get(class)) {
            answers.fetch_add(1, Ordering::Relaxed);
        }
    }
}
