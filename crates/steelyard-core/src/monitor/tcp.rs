//! TCP: the service accepts a connection. Response time: connect to SYN+ACK (`spec/methods.md` 4.2, 4.3).

use super::{Fault, Finding, Probe, ProbeResult, Sense, Step};
use crate::time::Time;

/// One TCP probe.
pub struct TcpProbe {
    sense: Sense,
    began: Time,
}

impl TcpProbe {
    /// A probe whose SYN leaves at `now`.
    pub fn new(sense: Sense, now: Time) -> TcpProbe {
        TcpProbe { sense, began: now }
    }
}

impl Probe for TcpProbe {
    fn opened(&mut self, now: Time) -> Step {
        let response_us = now.since_us(self.began).max(1);
        Step::Done(ProbeResult::judged(true, self.sense, Finding::Connected, response_us))
    }

    /// In reverse only an RST is a success: silence proves nothing (`spec/methods.md` 4.7).
    fn failed(&mut self, why: Fault) -> ProbeResult {
        match why {
            Fault::Refused => ProbeResult::judged(false, self.sense, Finding::Refused, 0),
            other => other.result(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Stage, Verdict};
    use super::*;

    fn probe(sense: Sense) -> TcpProbe {
        TcpProbe::new(sense, Time::from_us(1_000))
    }

    #[test]
    fn a_connection_is_a_success_timed_from_syn_to_syn_ack() {
        let Step::Done(result) = probe(Sense::Direct).opened(Time::from_us(4_500)) else { panic!("done") };
        assert_eq!(result.verdict, Verdict::Success);
        assert_eq!(result.response_us, Some(3_500));
        assert_eq!(result.to_string(), "Success - TCP syn+ack received.");
    }

    #[test]
    fn reverse_follows_the_documented_table() {
        let Step::Done(up) = probe(Sense::Reverse).opened(Time::from_us(2_000)) else { panic!("done") };
        assert_eq!((up.verdict, up.response_us), (Verdict::Failure, None));
        let refused = probe(Sense::Reverse).failed(Fault::Refused);
        assert_eq!((refused.verdict, refused.response_us), (Verdict::Success, None));
        assert_eq!(probe(Sense::Reverse).timed_out(Stage::Connect).verdict, Verdict::Failure);
        assert_eq!(probe(Sense::Direct).failed(Fault::Refused).verdict, Verdict::Failure);
    }

    #[test]
    fn local_inability_is_no_verdict() {
        for sense in [Sense::Direct, Sense::Reverse] {
            let result = probe(sense).failed(Fault::Local("no file descriptor left"));
            assert_eq!(result.verdict, Verdict::Unjudged);
            assert_eq!(result.to_string(), "Unknown - cannot probe from this host: no file descriptor left.");
        }
    }
}
