//! Sans-I/O probes, one file per type, and the machines that turn their results into UP and DOWN.
//!
//! A probe says what to send and judges what comes back; it never touches a socket or a clock. Which results make a
//! service UP is `health`'s business, when to probe is `schedule`'s. Rules: `spec/methods.md` 4.

pub mod bound;
pub mod health;
pub mod http;
pub mod schedule;
pub mod tcp;

use std::fmt;
use std::net::{IpAddr, SocketAddr};

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
    /// `-destPort`; `None` is the service's own.
    pub destination_port: Option<u16>,
    /// `-state`: a disabled monitor is neither run nor counted.
    pub enabled: bool,
}

/// The monitor types (`spec/methods.md` 4.2).
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Kind {
    /// TCP: the connection is accepted.
    Tcp,
    /// HTTP: the status is one of those expected.
    Http(Arc<http::Check>),
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
    /// Where to probe a service that listens at `service`.
    pub fn destination(&self, service: SocketAddr) -> SocketAddr {
        SocketAddr::new(
            self.destination_ip.unwrap_or(service.ip()),
            self.destination_port.unwrap_or(service.port()),
        )
    }

    /// May its results become the service's response time? A reverse monitor has none (`spec/methods.md` 4.7).
    pub fn measures(&self) -> bool {
        self.learns_response_time && self.sense == Sense::Direct && self.enabled
    }

    /// A probe of `to` that begins at `now`.
    pub fn probe(&self, to: SocketAddr, now: Time) -> Box<dyn Probe> {
        match &self.kind {
            Kind::Tcp => Box::new(tcp::TcpProbe::new(self.sense, now)),
            Kind::Http(check) => Box::new(http::HttpProbe::new(Arc::clone(check), self.sense, to)),
        }
    }
}

/// One probe over a stream connection, from connect to verdict. Who drives it opens the connection, hands over
/// bytes both ways, and ends it at the response timeout.
pub trait Probe: Send {
    /// The connection is up.
    fn connected(&mut self, now: Time) -> Step;

    /// The connection could not be had.
    fn connect_failed(&mut self, why: ConnectFault) -> ProbeResult {
        match why {
            ConnectFault::Refused => ProbeResult::failure(Finding::Refused),
            ConnectFault::Unreachable => ProbeResult::failure(Finding::Unreachable),
            ConnectFault::Local(what) => ProbeResult::unjudged(Finding::Local(what)),
        }
    }

    /// The last byte of the request was handed to the socket.
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
    /// Finished: close the connection.
    Done(ProbeResult),
}

/// Why a connection could not be had.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ConnectFault {
    /// RST in answer to SYN.
    Refused,
    /// No route, or an ICMP error.
    Unreachable,
    /// Our own inability; says nothing about the service.
    Local(&'static str),
}

/// Where a timeout struck.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// Before the connection was up.
    Connect,
    /// While the answer was awaited.
    Response,
}

/// How a probe ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProbeResult {
    /// What it means for the service.
    pub verdict: Verdict,
    /// What was seen.
    pub finding: Finding,
    /// Response time by the monitor's own protocol in microseconds (`spec/methods.md` 4.3), with a success only.
    pub response_us: Option<u64>,
}

/// What a probe says about the service.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// It works.
    Success,
    /// It does not.
    Failure,
    /// Nothing: the probe could not be made.
    Unjudged,
}

/// What a probe saw. Its text is the monitor's "Last response".
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Finding {
    /// SYN+ACK came.
    Connected,
    /// RST came instead of SYN+ACK.
    Refused,
    /// No way to the address.
    Unreachable,
    /// An HTTP status.
    Status(u16),
    /// Not HTTP; says what is wrong.
    Malformed(&'static str),
    /// Closed before a whole answer.
    ClosedEarly,
    /// Response timeout.
    TimedOut(Stage),
    /// This host could not probe; says why.
    Local(&'static str),
}

impl ProbeResult {
    fn success(finding: Finding, response_us: Option<u64>) -> ProbeResult {
        ProbeResult { verdict: Verdict::Success, finding, response_us }
    }

    fn failure(finding: Finding) -> ProbeResult {
        ProbeResult { verdict: Verdict::Failure, finding, response_us: None }
    }

    /// The probe could not be made.
    pub fn unjudged(finding: Finding) -> ProbeResult {
        ProbeResult { verdict: Verdict::Unjudged, finding, response_us: None }
    }

    /// The result of an answer that could be judged: `good` in the direct sense.
    fn judged(good: bool, sense: Sense, finding: Finding, response_us: u64) -> ProbeResult {
        match (good, sense) {
            (true, Sense::Direct) => ProbeResult::success(finding, Some(response_us)),
            (false, Sense::Reverse) => ProbeResult::success(finding, None),
            _ => ProbeResult::failure(finding),
        }
    }
}

impl fmt::Display for ProbeResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.verdict {
            Verdict::Success => write!(f, "Success - {}.", self.finding),
            Verdict::Failure => write!(f, "Failure - {}.", self.finding),
            Verdict::Unjudged => write!(f, "Unknown - {}.", self.finding),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Finding::Connected => f.write_str("TCP syn+ack received"),
            Finding::Refused => f.write_str("TCP syn sent, reset received"),
            Finding::Unreachable => f.write_str("destination unreachable"),
            Finding::Status(code) => write!(f, "HTTP response code {code} received"),
            Finding::Malformed(what) => write!(f, "invalid HTTP response: {what}"),
            Finding::ClosedEarly => f.write_str("connection closed before a complete response"),
            Finding::TimedOut(Stage::Connect) => {
                f.write_str("time out during TCP connection establishment stage")
            }
            Finding::TimedOut(Stage::Response) => f.write_str("time out while waiting for the response"),
            Finding::Local(what) => write!(f, "cannot probe from this host: {what}"),
        }
    }
}
