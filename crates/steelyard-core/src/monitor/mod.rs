//! Sans-I/O probes, one file per type, and the machines that turn their results into UP and DOWN.
//!
//! A probe says what to send and judges what comes back; it never touches a socket or a clock. Which results make a
//! service UP is `health`'s business, when to probe is `schedule`'s. Rules: `spec/methods.md` 4.

pub mod alarm;
pub mod bound;
pub mod configured;
pub mod dns;
pub mod dns_message;
pub mod exchange;
mod finding;
pub mod ftp;
mod ftp_reply;
pub mod health;
pub mod http;
mod http_body;
pub mod http_ecv;
mod http_message;
mod learnt;
pub mod leaving;
pub mod measured;
pub mod ping;
pub mod schedule;
pub mod search;
pub mod tcp;
pub mod tcp_ecv;
pub mod tcps;
pub mod tls;
pub mod udp_ecv;
pub mod user;

use std::net::{IpAddr, SocketAddr};

pub use self::finding::{Finding, ProbeResult, Verdict};
use crate::sync::Arc;
use crate::time::Time;

/// One monitor as configured, ready to probe with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Spec {
    /// Monitor name, as configured.
    pub name: Box<str>,
    /// What is asked and what counts as the right answer.
    pub kind: Kind,
    /// When to probe and how many results decide.
    pub timing: health::Timing,
    /// `-LRTM ENABLED`: successful probes give the service its response time.
    pub learns_response_time: bool,
    /// `-reverse`.
    pub sense: Sense,
    /// `-destIP`; `None` is the service's own.
    pub destination_ip: Option<IpAddr>,
    /// `-transparent`: probes go to `-destIP` by way of the service.
    pub transparent: bool,
    /// `-destPort`; `None` is the service's own.
    pub destination_port: Option<u16>,
    /// `-secure`: what the handshakes of its streams are made with.
    pub tls: Option<Arc<tls::Terms>>,
    /// The address of `-netProfile` that probes leave from.
    pub source: Option<IpAddr>,
    /// `-tos` and `-tosId`: the byte that the packets of its probes carry, the id in its upper six bits.
    pub tos: Option<u8>,
    /// `-state`: a disabled monitor is neither run nor counted.
    pub enabled: bool,
}

/// The monitor types (`spec/methods.md` 4.2).
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Kind {
    /// TCP: the connection is accepted; if the monitor is secure, the handshake succeeds.
    Tcp,
    /// PING: the host answers an echo request.
    Ping,
    /// HTTP: the status is one of those expected.
    Http(Arc<http::Check>),
    /// FTP: a log-in is accepted. FTP-EXTENDED: and a file is there.
    Ftp(Arc<ftp::LogIn>),
    /// USER: a script that a dispatcher runs says so.
    User(Arc<user::Script>),
    /// HTTP-ECV: the body has what is expected.
    HttpEcv(Arc<http_ecv::BodyCheck>),
    /// DNS and DNS-TCP: a question is answered, with an expected address if there are any.
    Dns(Arc<dns::DnsCheck>),
    /// TCP-ECV: what comes back over a connection has what is expected.
    TcpEcv(Arc<exchange::Exchange>),
    /// UDP-ECV: a datagram that comes back has it.
    UdpEcv(Arc<exchange::Exchange>),
}

impl Kind {
    /// Has what it asks a response time? If not, it is an incorrect monitor for the method LRTM (`spec/methods.md` 4.3).
    pub fn measures(&self) -> bool {
        match self {
            Kind::TcpEcv(exchange) => exchange.measures_over_tcp(),
            Kind::UdpEcv(exchange) => exchange.measures_over_udp(),
            _ => true,
        }
    }
}

/// Does a good answer mean success, or the opposite (`spec/methods.md` 4.7)?
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sense {
    /// A good answer is a success.
    Direct,
    /// A good answer is a failure.
    Reverse,
}

impl Spec {
    /// What is judged of a service that listens at `service`.
    pub fn about(&self, service: SocketAddr) -> SocketAddr {
        SocketAddr::new(
            self.destination_ip.unwrap_or(service.ip()),
            self.destination_port.unwrap_or(service.port()),
        )
    }

    /// Where a probe about `about` goes: there, or to who is asked in its place.
    pub fn destination(&self, about: SocketAddr) -> SocketAddr {
        match &self.kind {
            Kind::User(script) => script.dispatcher,
            _ => about,
        }
    }

    /// Does it ask the same in the same way? Then what is known of a service stays known.
    pub fn asks_the_same(&self, other: &Spec) -> bool {
        self.kind == other.kind
            && self.sense == other.sense
            && self.tls == other.tls
            && self.transparent == other.transparent
    }

    /// May its results become the service's response time? A reverse monitor has none (`spec/methods.md` 4.7).
    pub fn measures(&self) -> bool {
        self.learns_response_time && self.sense == Sense::Direct && self.enabled && self.kind.measures()
    }

    /// Is there something to send as soon as a connection is open, whatever the service says first?
    pub fn speaks_first(&self) -> bool {
        self.tls.is_some()
            || match &self.kind {
                Kind::Http(_) | Kind::HttpEcv(_) | Kind::Dns(_) | Kind::User(_) => true,
                Kind::TcpEcv(exchange) => !exchange.send.is_empty(),
                Kind::Tcp | Kind::Ping | Kind::Ftp(_) | Kind::UdpEcv(_) => false,
            }
    }

    /// A probe about `about` that begins at `now`. What in it must be told from other probes, such as an id, comes from `seed`.
    pub fn probe(&self, about: SocketAddr, now: Time, seed: u64) -> Box<dyn Probe> {
        match &self.kind {
            Kind::Tcp if self.tls.is_some() => Box::new(tcps::TcpsProbe::new(self.sense, now)),
            Kind::Tcp => Box::new(tcp::TcpProbe::new(self.sense, now)),
            Kind::Ping => Box::new(ping::PingProbe::new(about, self.sense, seed)),
            Kind::Http(check) => Box::new(http::HttpProbe::new(Arc::clone(check), self.sense, about)),
            Kind::Ftp(log_in) => Box::new(ftp::FtpProbe::new(Arc::clone(log_in), self.sense)),
            Kind::User(script) => {
                let timeout_us = self.timing.response_timeout_us;
                Box::new(user::UserProbe::new(Arc::clone(script), about, timeout_us, self.sense))
            }
            Kind::HttpEcv(check) => {
                Box::new(http_ecv::HttpEcvProbe::new(Arc::clone(check), self.sense, about))
            }
            Kind::Dns(check) => Box::new(dns::DnsProbe::new(Arc::clone(check), self.sense, seed)),
            Kind::TcpEcv(exchange) => {
                Box::new(tcp_ecv::TcpEcvProbe::new(Arc::clone(exchange), self.sense, now))
            }
            Kind::UdpEcv(exchange) => Box::new(udp_ecv::UdpEcvProbe::new(Arc::clone(exchange), self.sense)),
        }
    }
}

/// What a probe goes over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Channel {
    /// A TCP connection; through TLS if the monitor is secure.
    Stream,
    /// UDP: each `Step::Send` is a datagram, each `received` has one.
    Datagram,
    /// ICMP or ICMPv6, whichever the address is of: each `Step::Send` is a message, each `received` has one, of IPv4
    /// perhaps with its header. The kernel may put in another id; messages that answer somebody else arrive too.
    Echo,
}

/// One probe, from opening its channel to its verdict. Who drives it opens the channel, hands over bytes both ways,
/// and ends it at the response timeout.
pub trait Probe: Send {
    /// What it goes over to begin with.
    fn channel(&self) -> Channel {
        Channel::Stream
    }

    /// The channel is open: connected and, where the monitor is secure, the TLS handshake done.
    fn opened(&mut self, now: Time) -> Step;

    /// The channel could not be opened, or an error came back on a datagram.
    fn failed(&mut self, why: Fault) -> ProbeResult {
        why.result()
    }

    /// The last byte of what was to be sent was handed to the socket.
    fn sent(&mut self, _now: Time) {}

    /// Bytes arrived.
    fn received(&mut self, _bytes: &[u8], _now: Time) -> Step {
        Step::Wait
    }

    /// The peer closed, or reset, the connection.
    fn closed(&mut self) -> ProbeResult {
        ProbeResult::failure(Finding::ClosedEarly)
    }

    /// The response timeout has passed.
    fn timed_out(&mut self, stage: Stage) -> ProbeResult {
        ProbeResult::failure(Finding::TimedOut(stage))
    }
}

/// What a probe wants next.
#[derive(Debug, PartialEq, Eq)]
pub enum Step {
    /// Send these bytes, call `sent`, then read.
    Send(Vec<u8>),
    /// Read on.
    Wait,
    /// Leave this channel, open another and call `opened` again.
    Reopen(Channel),
    /// Finished: send these bytes, wait for no answer to them, close the channel.
    Farewell(Vec<u8>, ProbeResult),
    /// Finished: close the channel.
    Done(ProbeResult),
}

/// Why a channel could not be had, or is of no use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// RST in answer to SYN, or ICMP's "port unreachable".
    Refused,
    /// No route, or another ICMP error.
    Unreachable,
    /// TLS did not come about, or was ended by an alert.
    Handshake(tls::HandshakeFault),
    /// Our own inability; says nothing about the service.
    Local(&'static str),
}

impl Fault {
    /// What it means to a probe that has no use for it.
    fn result(self) -> ProbeResult {
        match self {
            Fault::Refused => ProbeResult::failure(Finding::Refused),
            Fault::Unreachable => ProbeResult::failure(Finding::Unreachable),
            Fault::Handshake(fault) => ProbeResult::failure(Finding::Handshake(fault)),
            Fault::Local(what) => ProbeResult::unjudged(Finding::Local(what)),
        }
    }
}

/// Where a timeout struck.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// Before the connection was open.
    Connect,
    /// During the handshake of TLS.
    Handshake,
    /// While the answer was awaited.
    Response,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Who has nothing to send must acknowledge at once, else the greeting that it waits for is late.
    #[test]
    fn who_waits_for_a_greeting_does_not_speak_first() {
        let expected = Arc::new(crate::config::expected::Expected::new("x").unwrap());
        let asks = |send| Kind::TcpEcv(Arc::new(exchange::Exchange::new(send, &expected)));
        let spec = |kind| Spec {
            name: "m".into(),
            kind,
            timing: health::Timing::default(),
            learns_response_time: false,
            sense: Sense::Direct,
            destination_ip: None,
            transparent: false,
            destination_port: None,
            tls: None,
            source: None,
            tos: None,
            enabled: true,
        };
        let http = Kind::Http(Arc::new(http::Check::new("", "", &[], None)));
        assert!([http, asks("PING")].into_iter().all(|kind| spec(kind).speaks_first()));
        assert!(![Kind::Tcp, Kind::Ping, asks("")].into_iter().any(|kind| spec(kind).speaks_first()));
    }
}
