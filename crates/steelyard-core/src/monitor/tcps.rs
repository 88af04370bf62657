//! TCP with `-secure YES`: the service completes a TLS handshake (`spec/methods.md` 4.2). Response time: SYN to the end of
//! the handshake (`spec/methods.md` 4.3).

use super::{Fault, Finding, Probe, ProbeResult, Sense, Step};
use crate::time::Time;

/// One probe by handshake.
pub struct TcpsProbe {
    sense: Sense,
    began: Time,
}

impl TcpsProbe {
    /// A probe whose SYN leaves at `now`.
    pub fn new(sense: Sense, now: Time) -> TcpsProbe {
        TcpsProbe { sense, began: now }
    }
}

impl Probe for TcpsProbe {
    fn opened(&mut self, now: Time) -> Step {
        let response_us = now.since_us(self.began).max(1);
        Step::Done(ProbeResult::judged(true, self.sense, Finding::ShookHands, response_us))
    }

    /// In reverse only an RST in answer to SYN is a success, as for TCP: what fails later says that something listens.
    fn failed(&mut self, why: Fault) -> ProbeResult {
        match why {
            Fault::Refused => ProbeResult::judged(false, self.sense, Finding::Refused, 0),
            other => other.result(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tls::HandshakeFault;
    use super::super::{Stage, Verdict};
    use super::*;

    fn probe(sense: Sense) -> TcpsProbe {
        TcpsProbe::new(sense, Time::from_us(1_000))
    }

    #[test]
    fn a_handshake_is_a_success_timed_from_syn_to_its_end() {
        let Step::Done(result) = probe(Sense::Direct).opened(Time::from_us(9_500)) else { panic!("done") };
        assert_eq!((result.verdict, result.response_us), (Verdict::Success, Some(8_500)));
        assert_eq!(result.to_string(), "Success - SSL handshake completed.");
        let Step::Done(result) = probe(Sense::Direct).opened(Time::from_us(1_000)) else { panic!("done") };
        assert_eq!(result.response_us, Some(1), "no response takes no time");
    }

    #[test]
    fn every_way_to_fail_says_where() {
        let failures = [
            (Fault::Refused, "Failure - TCP syn sent, reset received."),
            (Fault::Unreachable, "Failure - destination unreachable."),
            (
                Fault::Handshake(HandshakeFault::Alert(112)),
                "Failure - TLS handshake: alert unrecognized_name.",
            ),
            (
                Fault::Handshake(HandshakeFault::Closed),
                "Failure - TLS handshake: connection closed during the handshake.",
            ),
            (
                Fault::Handshake(HandshakeFault::Reset),
                "Failure - TLS handshake: connection reset during the handshake.",
            ),
            (
                Fault::Handshake(HandshakeFault::Version),
                "Failure - TLS handshake: the server speaks neither TLS 1.2 nor TLS 1.3.",
            ),
        ];
        for (fault, text) in failures {
            let result = probe(Sense::Direct).failed(fault);
            assert_eq!((result.verdict, result.response_us), (Verdict::Failure, None));
            assert_eq!(result.to_string(), text);
        }
        let stages = [
            (Stage::Connect, "Failure - time out during TCP connection establishment stage."),
            (Stage::Handshake, "Failure - time out during SSL handshake stage."),
        ];
        for (stage, text) in stages {
            assert_eq!(probe(Sense::Direct).timed_out(stage).to_string(), text);
        }
    }

    /// As TCP in the table of `spec/methods.md` 4.7.
    #[test]
    fn in_reverse_only_a_refused_connection_is_a_success() {
        let Step::Done(done) = probe(Sense::Reverse).opened(Time::from_us(2_000)) else { panic!("done") };
        assert_eq!((done.verdict, done.response_us), (Verdict::Failure, None));
        let verdict = |fault| probe(Sense::Reverse).failed(fault).verdict;
        assert_eq!(verdict(Fault::Refused), Verdict::Success);
        for fault in [HandshakeFault::Closed, HandshakeFault::Reset, HandshakeFault::Alert(40)] {
            assert_eq!(verdict(Fault::Handshake(fault)), Verdict::Failure);
        }
        for stage in [Stage::Connect, Stage::Handshake] {
            assert_eq!(probe(Sense::Reverse).timed_out(stage).verdict, Verdict::Failure);
        }
        assert_eq!(verdict(Fault::Local("no file descriptor left")), Verdict::Unjudged);
    }
}
