//! What a probe found, and what that means for the service. A finding's text is the monitor's "Last response".

use std::fmt;
use std::net::SocketAddr;

use super::dns::Said;
use super::ftp::Seen;
use super::search::Outcome;
use super::tls::HandshakeFault;
use super::{Sense, Stage};

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
    /// It works, and says that it is going out of service (`-trofsCode`, `-trofsString`).
    Leaving,
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
    /// The handshake of TLS was completed.
    ShookHands,
    /// The handshake of TLS failed.
    Handshake(HandshakeFault),
    /// RST came instead of SYN+ACK.
    Refused,
    /// No way to the address.
    Unreachable,
    /// An ICMP echo reply came.
    EchoReply,
    /// None came.
    NoEchoReply,
    /// An HTTP status.
    Status(u16),
    /// An HTTP status, and whether what was looked for is in the body.
    Body(u16, Outcome),
    /// What a name server's answer says.
    Dns(Said),
    /// Whether what was looked for is in the answer.
    Searched(Outcome),
    /// Response timeout; what came until then is without what was looked for.
    TimedOutWithout,
    /// ICMP says that no one listens at the port.
    PortUnreachable,
    /// A datagram was sent and nothing said that no one listens.
    NotUnreachable,
    /// Not HTTP; says what is wrong.
    Malformed(&'static str),
    /// A dispatcher's status, and what it says beside that.
    Script {
        /// HTTP's.
        status: u16,
        /// At most 256 characters on one line.
        text: Box<str>,
    },
    /// Nobody takes requests at the address of the dispatcher.
    NoDispatcher(SocketAddr),
    /// What an FTP server did.
    Ftp(Seen),
    /// Closed before a whole answer.
    ClosedEarly,
    /// Response timeout.
    TimedOut(Stage),
    /// This host could not probe; says why.
    Local(&'static str),
    /// The service has as many connections as its `maxClient`.
    AtMaxClient,
}

impl ProbeResult {
    pub(super) fn success(finding: Finding, response_us: Option<u64>) -> ProbeResult {
        ProbeResult { verdict: Verdict::Success, finding, response_us }
    }

    pub(super) fn failure(finding: Finding) -> ProbeResult {
        ProbeResult { verdict: Verdict::Failure, finding, response_us: None }
    }

    /// The probe could not be made.
    pub fn unjudged(finding: Finding) -> ProbeResult {
        ProbeResult { verdict: Verdict::Unjudged, finding, response_us: None }
    }

    /// An answer by which the service says that it is going out of service.
    pub(super) fn leaving(finding: Finding, response_us: Option<u64>) -> ProbeResult {
        ProbeResult { verdict: Verdict::Leaving, finding, response_us }
    }

    /// The result of an answer that could be judged: `good` in the direct sense.
    pub(super) fn judged(good: bool, sense: Sense, finding: Finding, response_us: u64) -> ProbeResult {
        match (good, sense) {
            (true, Sense::Direct) => ProbeResult::success(finding, Some(response_us)),
            (false, Sense::Reverse) => ProbeResult::success(finding, None),
            _ => ProbeResult::failure(finding),
        }
    }

    /// The result of an answer that was searched. `response_us` is that of a probe that measures.
    pub(super) fn searched(
        outcome: Outcome,
        sense: Sense,
        finding: Finding,
        response_us: Option<u64>,
    ) -> ProbeResult {
        match (outcome, sense) {
            (Outcome::Found, Sense::Direct) => ProbeResult::success(finding, response_us),
            (Outcome::Missing | Outcome::Beyond(_), Sense::Reverse) => ProbeResult::success(finding, None),
            _ => ProbeResult::failure(finding),
        }
    }
}

impl fmt::Display for ProbeResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.verdict {
            Verdict::Success => write!(f, "Success - {}.", self.finding),
            Verdict::Leaving => write!(f, "Success - {}: the service is going out of service.", self.finding),
            Verdict::Failure => write!(f, "Failure - {}.", self.finding),
            Verdict::Unjudged => write!(f, "Unknown - {}.", self.finding),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Finding::Connected => f.write_str("TCP syn+ack received"),
            Finding::ShookHands => f.write_str("SSL handshake completed"),
            Finding::Handshake(fault) => fault.fmt(f),
            Finding::Refused => f.write_str("TCP syn sent, reset received"),
            Finding::Unreachable => f.write_str("destination unreachable"),
            Finding::EchoReply => f.write_str("ICMP echo reply received"),
            Finding::NoEchoReply => f.write_str("no ICMP echo reply received"),
            Finding::Status(code) => write!(f, "HTTP response code {code} received"),
            Finding::Body(code, outcome) => write!(f, "HTTP response code {code}, {}", in_body(*outcome)),
            Finding::Dns(said) => said.fmt(f),
            Finding::Searched(Outcome::Found) => f.write_str("pattern found in response"),
            Finding::Searched(Outcome::Missing) => f.write_str("pattern not found in response"),
            Finding::Searched(Outcome::Beyond(bound)) => {
                write!(f, "pattern not found in the first {bound} bytes of the response")
            }
            Finding::Searched(Outcome::TooCostly) => f.write_str(TOO_COSTLY),
            Finding::TimedOutWithout => f.write_str("time out; what came is without the pattern"),
            Finding::PortUnreachable => f.write_str("UDP datagram sent, port unreachable received"),
            Finding::NotUnreachable => f.write_str("UDP datagram sent, port not reported unreachable"),
            Finding::Malformed(what) => write!(f, "invalid HTTP response: {what}"),
            Finding::Script { status, text } => {
                match status {
                    200 => f.write_str("script succeeded")?,
                    503 => f.write_str("script failed")?,
                    404 => f.write_str("script not found or not executable")?,
                    400 => f.write_str("request not understood by the dispatcher")?,
                    502 => f.write_str("answer of the script not understood")?,
                    500 => f.write_str("dispatcher out of resources")?,
                    status => write!(f, "dispatcher answered with status {status}")?,
                }
                if text.is_empty() { Ok(()) } else { write!(f, ": {text}") }
            }
            Finding::NoDispatcher(address) => write!(f, "no dispatcher at {address}"),
            Finding::Ftp(seen) => write!(f, "{seen}"),
            Finding::ClosedEarly => f.write_str("connection closed before a complete response"),
            Finding::TimedOut(Stage::Connect) => {
                f.write_str("time out during TCP connection establishment stage")
            }
            Finding::TimedOut(Stage::Handshake) => f.write_str("time out during SSL handshake stage"),
            Finding::TimedOut(Stage::Response) => f.write_str("time out while waiting for the response"),
            Finding::AtMaxClient => {
                f.write_str("not probed while the service has as many connections as its -maxClient")
            }
            Finding::Local(what) => write!(f, "cannot probe from this host: {what}"),
        }
    }
}

fn in_body(outcome: Outcome) -> String {
    match outcome {
        Outcome::Found => "matched".to_owned(),
        Outcome::Missing => "pattern not found in the body".to_owned(),
        Outcome::Beyond(bound) => format!("pattern not found in the first {bound} bytes of the body"),
        Outcome::TooCostly => TOO_COSTLY.to_owned(),
    }
}

const TOO_COSTLY: &str = "the regular expression takes too many steps on this response";
