//! UDP-ECV: sends `-send` in one datagram, and one with `-recv` must come back (`spec/methods.md` 4.2). Without `-recv` the
//! service is UP unless its host answers that nobody listens there (ruling 4). Response time: datagram sent to matching
//! datagram received (`spec/methods.md` 4.3).
//!
//! Owns what silence means: with `-recv` failure, without it success, for which the response timeout is only how long
//! word of a closed port is awaited.

use super::exchange::Exchange;
use super::search::{Outcome, Search};
use super::{Channel, Fault, Finding, Probe, ProbeResult, Sense, Stage, Step};
use crate::sync::Arc;
use crate::time::Time;

impl Exchange {
    /// Has a UDP-ECV probe of it an end to measure to?
    pub fn measures_over_udp(&self) -> bool {
        !self.expected.is_anything()
    }
}

/// One UDP-ECV probe.
pub struct UdpEcvProbe {
    exchange: Arc<Exchange>,
    sense: Sense,
    sent: Option<Time>,
    /// Did an answer come that is not the one that is awaited?
    answered: bool,
}

impl UdpEcvProbe {
    /// A probe that has yet to begin.
    pub fn new(exchange: Arc<Exchange>, sense: Sense) -> UdpEcvProbe {
        UdpEcvProbe { exchange, sense, sent: None, answered: false }
    }

    fn any_will_do(&self) -> bool {
        self.exchange.expected.is_anything()
    }
}

impl Probe for UdpEcvProbe {
    fn channel(&self) -> Channel {
        Channel::Datagram
    }

    /// An empty datagram is one, too: without any a closed port would say nothing.
    fn opened(&mut self, _now: Time) -> Step {
        Step::Send(self.exchange.send.clone())
    }

    fn failed(&mut self, why: Fault) -> ProbeResult {
        match why {
            Fault::Refused if self.any_will_do() => {
                ProbeResult::searched(Outcome::Missing, self.sense, Finding::PortUnreachable, None)
            }
            Fault::Refused => ProbeResult::failure(Finding::PortUnreachable),
            other => other.result(),
        }
    }

    fn sent(&mut self, now: Time) {
        self.sent = Some(now);
    }

    fn received(&mut self, bytes: &[u8], now: Time) -> Step {
        let outcome = match self.any_will_do() {
            true => Outcome::Found,
            false => {
                let mut search = Search::new(&self.exchange.expected, usize::from(u16::MAX));
                search.take(bytes).unwrap_or_else(|| search.end())
            }
        };
        if !matches!(outcome, Outcome::Found | Outcome::TooCostly) {
            self.answered = true;
            return Step::Wait;
        }
        let measured = self.sent.filter(|_| self.exchange.measures_over_udp());
        let response_us = measured.map(|sent| now.since_us(sent).max(1));
        Step::Done(ProbeResult::searched(outcome, self.sense, Finding::Searched(outcome), response_us))
    }

    fn timed_out(&mut self, stage: Stage) -> ProbeResult {
        match (self.any_will_do(), self.answered) {
            (true, _) => ProbeResult::searched(Outcome::Found, self.sense, Finding::NotUnreachable, None),
            (false, true) => {
                ProbeResult::searched(Outcome::Missing, self.sense, Finding::TimedOutWithout, None)
            }
            (false, false) => ProbeResult::failure(Finding::TimedOut(stage)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Verdict;
    use super::*;
    use crate::config::expected::Expected;

    fn probe(send: &str, recv: &str, sense: Sense) -> UdpEcvProbe {
        let expected = Arc::new(Expected::new(recv).unwrap());
        let mut probe = UdpEcvProbe::new(Arc::new(Exchange::new(send, &expected)), sense);
        assert_eq!(probe.channel(), Channel::Datagram);
        assert!(matches!(probe.opened(Time::from_us(100)), Step::Send(_)));
        probe.sent(Time::from_us(200));
        probe
    }

    #[test]
    fn a_datagram_with_what_is_expected_is_a_success_however_many_come_before() {
        let mut probe = probe("ping", "pong", Sense::Direct);
        for other in [b"po".as_slice(), b"ng", b"", b"PONG"] {
            assert_eq!(probe.received(other, Time::from_us(500)), Step::Wait, "{other:?}");
        }
        let Step::Done(result) = probe.received(b"\0pong\xff", Time::from_us(1_000)) else { panic!("done") };
        assert_eq!((result.verdict, result.response_us), (Verdict::Success, Some(800)));
    }

    #[test]
    fn at_the_time_out_it_says_whether_anything_came() {
        assert_eq!(
            probe("x", "y", Sense::Direct).timed_out(Stage::Response).to_string(),
            "Failure - time out while waiting for the response."
        );
        let mut other = probe("x", "y", Sense::Direct);
        assert_eq!(other.received(b"x", Time::from_us(300)), Step::Wait);
        assert_eq!(
            other.timed_out(Stage::Response).to_string(),
            "Failure - time out; what came is without the pattern."
        );
    }

    #[test]
    fn without_recv_it_is_up_unless_the_port_is_unreachable() {
        let silent = probe("x", "", Sense::Direct).timed_out(Stage::Response);
        assert_eq!((silent.verdict, silent.response_us), (Verdict::Success, None));
        let Step::Done(any) = probe("", "", Sense::Direct).received(b"", Time::from_us(300)) else {
            panic!("done")
        };
        assert_eq!((any.verdict, any.response_us), (Verdict::Success, None));
        let closed = probe("x", "", Sense::Direct).failed(Fault::Refused);
        assert_eq!(closed.to_string(), "Failure - UDP datagram sent, port unreachable received.");
        let local = probe("x", "", Sense::Direct).failed(Fault::Local("forbidden by this host"));
        assert_eq!(local.verdict, Verdict::Unjudged);
    }

    #[test]
    fn in_reverse_the_opposite_answer_is_a_success_and_silence_is_none() {
        let verdict = |recv: &str, bytes: Option<&[u8]>| {
            let mut probe = probe("x", recv, Sense::Reverse);
            match bytes.map(|bytes| probe.received(bytes, Time::from_us(300))) {
                Some(Step::Done(result)) => result.verdict,
                _ => probe.timed_out(Stage::Response).verdict,
            }
        };
        assert_eq!(verdict("y", Some(b"y")), Verdict::Failure);
        assert_eq!(verdict("y", Some(b"n")), Verdict::Success);
        assert_eq!(verdict("y", None), Verdict::Failure);
        assert_eq!(verdict("", None), Verdict::Failure);
        assert_eq!(probe("x", "", Sense::Reverse).failed(Fault::Refused).verdict, Verdict::Success);
        assert_eq!(probe("x", "y", Sense::Reverse).failed(Fault::Refused).verdict, Verdict::Failure);
    }

    #[test]
    fn lrtm_needs_the_receive_string_alone() {
        for (send, recv, measures) in [("a", "b", true), ("", "b", true), ("a", "", false)] {
            let expected = Arc::new(Expected::new(recv).unwrap());
            assert_eq!(Exchange::new(send, &expected).measures_over_udp(), measures, "{send:?} {recv:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_datagrams_are_judged_one_by_one(
            datagrams in proptest::collection::vec(proptest::collection::vec(proptest::num::u8::ANY, 0..9), 0..20),
        ) {
            let mut probe = probe("x", r"\x00\xff", Sense::Direct);
            let found = datagrams.iter().any(|d| matches!(probe.received(d, Time::from_us(300)), Step::Done(_)));
            let expected = datagrams.iter().any(|d| d.windows(2).any(|w| w == [0, 255]));
            proptest::prop_assert_eq!(found, expected);
        }
    }
}
