//! HTTP-ECV: one request, and `-recv` must be in the first 24,576 bytes of the decoded body of its final answer, whatever the
//! status; an empty one is in any answer (`spec/methods.md` 4.2). Response time: as HTTP, last byte of the request handed
//! over to the first byte of the answer (`spec/methods.md` 4.3).
//!
//! Owns when enough of an answer is known: at a match, the bound, or the end that the body itself declares.

use std::net::SocketAddr;

use super::http_body::{Body, Progress};
use super::http_message::{Answer, AnswerHead, Request};
use super::leaving::Leaving;
use super::search::{Outcome, Search};
use super::{Finding, Probe, ProbeResult, Sense, Stage, Step};
use crate::config::expected::Expected;
use crate::sync::Arc;
use crate::time::Time;

/// What an HTTP-ECV monitor asks and expects.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BodyCheck {
    request: Request,
    expected: Arc<Expected>,
    leaving: Leaving,
}

impl BodyCheck {
    /// From the options `-send` (`GET /`), `-customHeaders` and `-recv`.
    pub fn new(send: &str, custom: &str, expected: &Arc<Expected>) -> BodyCheck {
        BodyCheck {
            request: Request::new(send, custom, "GET /"),
            expected: Arc::clone(expected),
            leaving: Leaving::default(),
        }
    }

    /// The same where an answer may say that the service is going out of service.
    pub fn leaving_by(self, leaving: Leaving) -> BodyCheck {
        BodyCheck { leaving, ..self }
    }
}

/// One HTTP-ECV probe.
pub struct HttpEcvProbe {
    check: Arc<BodyCheck>,
    sense: Sense,
    to: SocketAddr,
    sent: Option<Time>,
    head: AnswerHead,
    /// The status and the body, once the head is whole.
    body: Option<(u16, Body)>,
    search: Search,
    /// Looks for the words of `-trofsString`, as long as they may come.
    leaving: Option<Search>,
    /// What is known of `-recv`, while those may come.
    decided: Option<Outcome>,
}

impl HttpEcvProbe {
    /// A probe of `to`.
    pub fn new(check: Arc<BodyCheck>, sense: Sense, to: SocketAddr) -> HttpEcvProbe {
        let search = Search::new(&check.expected, BOUND);
        let leaving = check.leaving.search(BOUND);
        let head = AnswerHead::default();
        HttpEcvProbe { check, sense, to, sent: None, head, body: None, search, leaving, decided: None }
    }

    fn judge(&self, status: u16, outcome: Outcome) -> ProbeResult {
        ProbeResult::searched(outcome, self.sense, Finding::Body(status, outcome), self.response_us())
    }

    fn leaves(&self, finding: Finding) -> Step {
        Step::Done(ProbeResult::leaving(finding, self.response_us()))
    }

    fn response_us(&self) -> Option<u64> {
        let between = self.sent.zip(self.head.first_byte());
        between.map(|(sent, first)| first.since_us(sent).max(1))
    }

    /// What is known of an answer that ends before it is whole.
    fn cut_short(&self, otherwise: Finding) -> ProbeResult {
        match (&self.body, self.decided) {
            (Some((status, _)), Some(outcome)) => self.judge(*status, outcome),
            _ => ProbeResult::failure(otherwise),
        }
    }

    fn begin(&mut self, status: u16, head: &[u8], rest: &[u8]) -> Step {
        if self.check.leaving.is_status(status) {
            return self.leaves(Finding::Status(status));
        }
        if self.check.expected.is_anything() {
            if self.leaving.is_none() {
                return Step::Done(self.judge(status, Outcome::Found));
            }
            self.decided = Some(Outcome::Found);
        }
        match Body::behind(status, head, self.check.request.is_head()) {
            Ok(body) => {
                self.body = Some((status, body));
                self.go_on(rest)
            }
            Err(what) => Step::Done(ProbeResult::failure(Finding::Malformed(what))),
        }
    }

    fn go_on(&mut self, bytes: &[u8]) -> Step {
        let Some((status, body)) = &mut self.body else { return Step::Wait };
        let (status, mut decoded) = (*status, Vec::new());
        let progress = body.take(bytes, &mut decoded);
        match self.leaving.as_mut().and_then(|search| search.take(&decoded)) {
            Some(Outcome::Found) => return self.leaves(Finding::Body(status, Outcome::Found)),
            Some(_) => self.leaving = None,
            None => {}
        }
        if self.decided.is_none() {
            self.decided = self.search.take(&decoded);
        }
        match (self.decided, progress) {
            (Some(outcome), Progress::Open) if self.leaving.is_none() => {
                Step::Done(self.judge(status, outcome))
            }
            (_, Progress::Open) => Step::Wait,
            (Some(outcome), _) => Step::Done(self.judge(status, outcome)),
            (None, Progress::Ended) => {
                let outcome = self.search.end();
                Step::Done(self.judge(status, outcome))
            }
            (None, Progress::Malformed(what)) => Step::Done(ProbeResult::failure(Finding::Malformed(what))),
        }
    }
}

impl Probe for HttpEcvProbe {
    fn opened(&mut self, _now: Time) -> Step {
        Step::Send(self.check.request.bytes(self.to))
    }

    fn sent(&mut self, now: Time) {
        self.sent = Some(now);
    }

    fn received(&mut self, bytes: &[u8], now: Time) -> Step {
        if self.body.is_some() {
            return self.go_on(bytes);
        }
        match self.head.take(bytes, now) {
            Answer::Whole { status, bytes, length } => {
                let (head, rest) = bytes.split_at(length);
                self.begin(status, head, rest)
            }
            Answer::Partial => Step::Wait,
            Answer::Malformed(what) => Step::Done(ProbeResult::failure(Finding::Malformed(what))),
        }
    }

    fn closed(&mut self) -> ProbeResult {
        match &self.body {
            Some((status, body)) if body.ends_by_close() => {
                let status = *status;
                let outcome = self.decided.unwrap_or_else(|| self.search.end());
                self.judge(status, outcome)
            }
            _ => self.cut_short(Finding::ClosedEarly),
        }
    }

    fn timed_out(&mut self, stage: Stage) -> ProbeResult {
        self.cut_short(Finding::TimedOut(stage))
    }
}

/// Bytes of the decoded body that count.
const BOUND: usize = 24_576;

#[cfg(test)]
mod tests {
    use super::super::{Fault, Verdict};
    use super::*;

    fn probe(send: &str, recv: &str, sense: Sense) -> HttpEcvProbe {
        let expected = Arc::new(Expected::new(recv).unwrap());
        let check = Arc::new(BodyCheck::new(send, "", &expected));
        let mut probe = HttpEcvProbe::new(check, sense, "10.0.0.1:80".parse().unwrap());
        assert!(matches!(probe.opened(Time::from_us(100)), Step::Send(_)));
        probe.sent(Time::from_us(200));
        probe
    }

    /// What becomes of an answer in pieces of `cut` bytes, each 1 ms later, that closes thereafter.
    fn run(probe: &mut HttpEcvProbe, answer: &[u8], cut: usize) -> ProbeResult {
        for (i, piece) in answer.chunks(cut).enumerate() {
            match probe.received(piece, Time::from_us(1_200 + 1_000 * i as u64)) {
                Step::Done(result) => return result,
                step => assert_eq!(step, Step::Wait),
            }
        }
        probe.closed()
    }

    fn answer(fields: &str, body: &[u8]) -> Vec<u8> {
        [format!("HTTP/1.1 200 OK\r\n{fields}\r\n").as_bytes(), body].concat()
    }

    /// A status, or words anywhere in what counts of the body, also behind what is expected.
    #[test]
    fn an_answer_by_which_a_service_says_that_it_leaves_counts_before_what_is_expected() {
        let says = |recv: &str, code, words: &str, answer: &str, cut| {
            let expected = Arc::new(Expected::new(recv).unwrap());
            let check = BodyCheck::new("", "", &expected).leaving_by(Leaving::new(code, words));
            let to = "10.0.0.1:80".parse().unwrap();
            let mut probe = HttpEcvProbe::new(Arc::new(check), Sense::Direct, to);
            probe.sent(Time::from_us(200));
            run(&mut probe, answer.as_bytes(), cut)
        };
        let page = "HTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\nok closing soon";
        let open = "HTTP/1.1 200 OK\r\n\r\nok closing soon";
        for cut in [1, 7, 1_000] {
            for answer in [page, open] {
                for recv in ["ok", "", "no"] {
                    let result = says(recv, None, "closing soon", answer, cut);
                    assert_eq!((result.verdict, result.response_us), (Verdict::Leaving, Some(1_000)));
                    let result = says(recv, Some(200), "", answer, cut);
                    assert_eq!(result.verdict, Verdict::Leaving);
                    let result = says(recv, Some(503), "opening", answer, cut);
                    let expected = if recv == "no" { Verdict::Failure } else { Verdict::Success };
                    assert_eq!(result.verdict, expected, "{recv}");
                }
            }
        }
        // What is known stands if the rest does not come.
        let short = "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nok";
        assert_eq!(says("ok", None, "closing", short, 1_000).verdict, Verdict::Success);
        assert_eq!(says("no", None, "closing", short, 1_000).finding, Finding::ClosedEarly);
    }

    #[test]
    fn m04_an_empty_recv_takes_a_404_and_says_so() {
        let not_found = b"HTTP/1.1 404 Not Found\r\nContent-Length: 9\r\n\r\nnot found";
        let result = run(&mut probe("GET /nosuch", "", Sense::Direct), not_found, 7);
        assert_eq!(result.to_string(), "Success - HTTP response code 404, matched.");
        let named = run(&mut probe("GET /nosuch", "found", Sense::Direct), not_found, 7);
        assert_eq!(named.to_string(), "Success - HTTP response code 404, matched.");
        let other = run(&mut probe("GET /nosuch", "Found", Sense::Direct), not_found, 7);
        assert_eq!(other.to_string(), "Failure - HTTP response code 404, pattern not found in the body.");
    }

    /// A marker of ten bytes is within the first 24,576 up to the offset 24,566.
    #[test]
    fn m05_a_marker_counts_within_the_first_24_kib_of_the_decoded_body() {
        for (at, found) in [
            (0, true),
            (100, true),
            (24_560, true),
            (24_566, true),
            (24_567, false),
            (24_570, false),
            (24_576, false),
            (24_590, false),
        ] {
            let mut body = vec![b'.'; 24_676];
            body[at..at + 10].copy_from_slice(b"site_is_up");
            let sized = answer("Content-Length: 24676\r\n", &body);
            // The chunks end in the midst of the marker.
            let middle = at + 5;
            let chunked = answer(
                "Transfer-Encoding: chunked\r\n",
                &[
                    format!("{middle:x}\r\n").as_bytes(),
                    &body[..middle],
                    format!("\r\n{:X};last\r\n", 24_676 - middle).as_bytes(),
                    &body[middle..],
                    b"\r\n0\r\n\r\n",
                ]
                .concat(),
            );
            let to_close = answer("", &body);
            for whole in [sized, chunked, to_close] {
                for cut in [1, 1_000, 4_096, 24_570, whole.len()] {
                    let result = run(&mut probe("GET /big", "site_is_up", Sense::Direct), &whole, cut);
                    let text = match found {
                        true => "Success - HTTP response code 200, matched.",
                        false => {
                            "Failure - HTTP response code 200, pattern not found in the first 24576 bytes of the body."
                        }
                    };
                    assert_eq!(result.to_string(), text, "at {at}, pieces of {cut}");
                }
            }
        }
    }

    #[test]
    fn the_head_is_not_searched_and_interim_answers_are_passed_over() {
        let with_field = answer("X: site_is_up\r\nContent-Length: 2\r\n", b"no");
        assert_eq!(
            run(&mut probe("", "site_is_up", Sense::Direct), &with_field, 9).verdict,
            Verdict::Failure
        );
        let interim = [b"HTTP/1.1 100 Continue\r\n\r\n".as_slice(), &answer("", b"ok")].concat();
        let result = run(&mut probe("", "ok", Sense::Direct), &interim, 25);
        assert_eq!((result.verdict, result.response_us), (Verdict::Success, Some(2_000)));
    }

    #[test]
    fn response_time_ends_at_the_first_byte_of_the_answer() {
        let result = run(&mut probe("", "ok", Sense::Direct), &answer("", b"...ok"), 10);
        assert_eq!((result.verdict, result.response_us), (Verdict::Success, Some(1_000)));
    }

    #[test]
    fn an_answer_that_is_cut_or_unsound_fails_and_says_why() {
        for (whole, text) in [
            (answer("Content-Length: 9\r\n", b"abc"), "connection closed before a complete response"),
            (
                answer("Transfer-Encoding: chunked\r\n", b"3\r\nabc\r\n"),
                "connection closed before a complete response",
            ),
            (
                answer("Transfer-Encoding: chunked\r\n", b"z\r\n"),
                "invalid HTTP response: size of a chunk is not a number",
            ),
            (
                answer("Content-Length: x\r\n", b"abc"),
                "invalid HTTP response: Content-Length is not a number",
            ),
            (b"SSH-2.0\r\n".to_vec(), "invalid HTTP response: no HTTP/1 status line"),
        ] {
            for cut in [1, 100] {
                let result = run(&mut probe("", "ok", Sense::Direct), &whole, cut);
                assert_eq!(result.to_string(), format!("Failure - {text}."));
            }
        }
        let head = run(&mut probe("HEAD /", "ok", Sense::Direct), &answer("Content-Length: 2\r\n", b""), 100);
        assert_eq!(head.to_string(), "Failure - HTTP response code 200, pattern not found in the body.");
    }

    #[test]
    fn reverse_turns_only_a_whole_answer_round() {
        let verdict = |body: &[u8]| {
            run(&mut probe("", "ok", Sense::Reverse), &answer("Content-Length: 2\r\n", body), 9).verdict
        };
        assert_eq!(verdict(b"ok"), Verdict::Failure);
        assert_eq!(verdict(b"no"), Verdict::Success);
        assert_eq!(verdict(b"n"), Verdict::Failure, "cut short");
        assert_eq!(probe("", "ok", Sense::Reverse).timed_out(Stage::Response).verdict, Verdict::Failure);
        assert_eq!(probe("", "ok", Sense::Reverse).failed(Fault::Refused).verdict, Verdict::Failure);
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_in_any_cut_give_one_result(
            body in proptest::collection::vec(proptest::sample::select(b"01ok\r\n;\0\xff".to_vec()), 0..80),
            fields in proptest::sample::select(
                vec!["", "Transfer-Encoding: chunked\r\n", "Content-Length: 9\r\n", "Content-Length: 9\r\nA\r\n"],
            ),
            recv in proptest::sample::select(vec!["ok", "k\\x00", "re/o.*k$/", "re/0+k/", ""]),
            cut in 1usize..30,
        ) {
            let whole = answer(fields, &body);
            let texts = [cut, whole.len()].map(|cut| run(&mut probe("", recv, Sense::Direct), &whole, cut).to_string());
            proptest::prop_assert_eq!(&texts[0], &texts[1]);
        }
    }
}
