//! TCP-ECV: sends `-send`, or nothing and listens, and `-recv` must be in the first 65,536 bytes that come back
//! (`spec/methods.md` 4.2); an empty one is in any answer. Response time: last byte sent to the byte that completes the
//! match (`spec/methods.md` 4.3), so there is none unless both are given.
//!
//! Words of `-trofsString` are looked for up to where that is decided: what comes later is not waited for.
//!
//! Owns when an answer without a frame is over: at a match, the bound, the end of the connection or the time-out.

use super::exchange::Exchange;
use super::search::{Outcome, Search};
use super::{Finding, Probe, ProbeResult, Sense, Stage, Step};
use crate::sync::Arc;
use crate::time::Time;

impl Exchange {
    /// Has a TCP-ECV probe of it a beginning and an end to measure between?
    pub fn measures_over_tcp(&self) -> bool {
        !self.send.is_empty() && !self.expected.is_anything()
    }
}

/// One TCP-ECV probe.
pub struct TcpEcvProbe {
    exchange: Arc<Exchange>,
    sense: Sense,
    sent: Option<Time>,
    /// When the last bytes came.
    last: Time,
    search: Search,
    leaving: Option<Search>,
}

impl TcpEcvProbe {
    /// A probe that begins at `now`.
    pub fn new(exchange: Arc<Exchange>, sense: Sense, now: Time) -> TcpEcvProbe {
        let search = Search::new(&exchange.expected, BOUND);
        let leaving = exchange.leaving.search(BOUND);
        TcpEcvProbe { exchange, sense, sent: None, last: now, search, leaving }
    }

    fn judge(&self, outcome: Outcome) -> ProbeResult {
        ProbeResult::searched(outcome, self.sense, Finding::Searched(outcome), self.response_us())
    }

    fn response_us(&self) -> Option<u64> {
        let measured = self.sent.filter(|_| self.exchange.measures_over_tcp());
        measured.map(|sent| self.last.since_us(sent).max(1))
    }
}

impl Probe for TcpEcvProbe {
    fn opened(&mut self, _now: Time) -> Step {
        match self.exchange.send.is_empty() {
            true => Step::Wait,
            false => Step::Send(self.exchange.send.clone()),
        }
    }

    fn sent(&mut self, now: Time) {
        self.sent = Some(now);
    }

    fn received(&mut self, bytes: &[u8], now: Time) -> Step {
        self.last = now;
        if self.leaving.as_mut().and_then(|search| search.take(bytes)) == Some(Outcome::Found) {
            let found = Finding::Searched(Outcome::Found);
            return Step::Done(ProbeResult::leaving(found, self.response_us()));
        }
        match self.search.take(bytes) {
            Some(outcome) => Step::Done(self.judge(outcome)),
            None => Step::Wait,
        }
    }

    fn closed(&mut self) -> ProbeResult {
        if !self.search.has_begun() {
            return ProbeResult::failure(Finding::ClosedEarly);
        }
        let outcome = self.search.end();
        self.judge(outcome)
    }

    /// What has come by then is the answer.
    fn timed_out(&mut self, stage: Stage) -> ProbeResult {
        if !self.search.has_begun() {
            return ProbeResult::failure(Finding::TimedOut(stage));
        }
        match self.search.end() {
            Outcome::Missing => {
                ProbeResult::searched(Outcome::Missing, self.sense, Finding::TimedOutWithout, None)
            }
            outcome => self.judge(outcome),
        }
    }
}

/// Bytes of an answer that count; an endless one is over then.
const BOUND: usize = 65_536;

#[cfg(test)]
mod tests {
    use super::super::leaving::Leaving;
    use super::super::{Fault, Verdict};
    use super::*;
    use crate::config::expected::Expected;

    fn probe(send: &str, recv: &str, sense: Sense) -> TcpEcvProbe {
        let expected = Arc::new(Expected::new(recv).unwrap());
        TcpEcvProbe::new(Arc::new(Exchange::new(send, &expected)), sense, Time::from_us(100))
    }

    /// Opened at 200, sent at 300; the pieces come at 1300, 2300 and so on.
    fn run(probe: &mut TcpEcvProbe, pieces: &[&[u8]]) -> Option<ProbeResult> {
        if let Step::Send(_) = probe.opened(Time::from_us(200)) {
            probe.sent(Time::from_us(300));
        }
        pieces.iter().enumerate().find_map(|(i, piece)| {
            match probe.received(piece, Time::from_us(1_300 + 1_000 * i as u64)) {
                Step::Done(result) => Some(result),
                _ => None,
            }
        })
    }

    #[test]
    fn m07_a_reply_in_several_segments_is_one_answer() {
        let mut stats = probe(r"stats\r\n", "STAT pid", Sense::Direct);
        assert_eq!(stats.opened(Time::ZERO), Step::Send(b"stats\r\n".to_vec()));
        let result = run(&mut stats, &[b"STAT", b" pi", b"d 366\r\n"]).unwrap();
        assert_eq!((result.verdict, result.response_us), (Verdict::Success, Some(3_000)));
        assert_eq!(result.to_string(), "Success - pattern found in response.");
    }

    /// In whatever pieces they come, and although what is expected is in the same piece.
    #[test]
    fn words_by_which_a_service_says_that_it_leaves_are_looked_for_first() {
        let says = |words: &str, pieces: &[&[u8]]| {
            let mut probe = probe("x", "ok", Sense::Direct);
            let exchange = (*probe.exchange).clone().leaving_by(Leaving::new(None, words));
            probe = TcpEcvProbe::new(Arc::new(exchange), Sense::Direct, Time::from_us(100));
            run(&mut probe, pieces)
        };
        let result = says("closing soon", &[b"ok, clos", b"ing soon"]).unwrap();
        assert_eq!(result.verdict, Verdict::Success, "it came after the decision");
        let result = says("closing soon", &[b"clos", b"ing soon"]).unwrap();
        assert_eq!((result.verdict, result.response_us), (Verdict::Leaving, Some(2_000)));
        assert_eq!(
            result.to_string(),
            "Success - pattern found in response: the service is going out of service."
        );
        assert_eq!(says("closing", &[b"ok closing"]).unwrap().verdict, Verdict::Leaving);
        assert_eq!(says("Closing", &[b"ok closing"]).unwrap().verdict, Verdict::Success);
        assert_eq!(says("", &[b"ok"]).unwrap().verdict, Verdict::Success);
    }

    #[test]
    fn without_send_it_listens_and_an_empty_recv_takes_any_answer() {
        let mut banner = probe("", "220 ", Sense::Direct);
        assert_eq!(banner.opened(Time::ZERO), Step::Wait);
        let result = run(&mut banner, &[b"220 ready\r\n"]).unwrap();
        assert_eq!((result.verdict, result.response_us), (Verdict::Success, None));
        let any = run(&mut probe("x", "", Sense::Direct), &[b"\0"]).unwrap();
        assert_eq!((any.verdict, any.response_us), (Verdict::Success, None));
        let silent = probe("x", "", Sense::Direct).closed();
        assert_eq!((silent.verdict, silent.finding), (Verdict::Failure, Finding::ClosedEarly));
    }

    #[test]
    fn it_ends_at_the_close_the_bound_and_the_time_out() {
        let mut closed = probe("x", "ok", Sense::Direct);
        assert_eq!(run(&mut closed, &[b"OK", b"o"]), None);
        assert_eq!(closed.closed().to_string(), "Failure - pattern not found in response.");
        let mut endless = probe("x", "ok", Sense::Direct);
        let result = run(&mut endless, &[[b'a'; 4_096].as_slice(); 16]).unwrap();
        assert_eq!(
            result.to_string(),
            "Failure - pattern not found in the first 65536 bytes of the response."
        );
        let mut late = probe("x", "ok", Sense::Direct);
        assert_eq!(run(&mut late, &[b"no"]), None);
        assert_eq!(
            late.timed_out(Stage::Response).to_string(),
            "Failure - time out; what came is without the pattern."
        );
        let silent = probe("x", "ok", Sense::Direct).timed_out(Stage::Response);
        assert_eq!(silent.finding, Finding::TimedOut(Stage::Response));
    }

    #[test]
    fn an_expression_that_looks_at_the_end_is_judged_there() {
        let mut open = probe("x", "re/^ok$/", Sense::Direct);
        assert_eq!(run(&mut open, &[b"o", b"k"]), None);
        let result = open.timed_out(Stage::Response);
        assert_eq!((result.verdict, result.response_us), (Verdict::Success, Some(2_000)));
    }

    #[test]
    fn in_reverse_another_answer_is_a_success_and_silence_is_none() {
        let mut found = probe("x", "ok", Sense::Reverse);
        assert_eq!(run(&mut found, &[b"ok"]).unwrap().verdict, Verdict::Failure);
        let mut other = probe("x", "ok", Sense::Reverse);
        assert_eq!(run(&mut other, &[b"no"]), None);
        assert_eq!((other.closed().verdict, other.closed().response_us), (Verdict::Success, None));
        assert_eq!(other.timed_out(Stage::Response).verdict, Verdict::Success);
        let mut silent = probe("x", "ok", Sense::Reverse);
        for result in [
            silent.closed(),
            silent.timed_out(Stage::Response),
            silent.timed_out(Stage::Connect),
            silent.failed(Fault::Refused),
        ] {
            assert_eq!(result.verdict, Verdict::Failure);
        }
    }

    #[test]
    fn lrtm_needs_both_strings() {
        for (send, recv, measures) in [("a", "b", true), ("", "b", false), ("a", "", false), ("", "", false)]
        {
            let expected = Arc::new(Expected::new(recv).unwrap());
            assert_eq!(Exchange::new(send, &expected).measures_over_tcp(), measures, "{send:?} {recv:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_in_any_cut_give_one_verdict(
            bytes in proptest::collection::vec(proptest::num::u8::ANY, 1..200),
            at in 0usize..200,
            cut in 1usize..50,
        ) {
            let mut answer = bytes;
            let at = at.min(answer.len());
            answer.splice(at..at, *b"\x00ok\xff");
            let verdict = |size: usize| {
                let mut probe = probe("x", r"\x00ok\xff", Sense::Direct);
                let pieces: Vec<&[u8]> = answer.chunks(size).collect();
                run(&mut probe, &pieces).unwrap_or_else(|| probe.closed()).verdict
            };
            proptest::prop_assert_eq!((verdict(cut), verdict(answer.len())), (Verdict::Success, Verdict::Success));
        }
    }
}
