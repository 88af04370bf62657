//! HTTP: one request, and the status of its final response must be one of those expected (`spec/methods.md` 4.2).
//! Response time: last byte of the request handed over to the first byte of the answer (`spec/methods.md` 4.3).

use std::net::SocketAddr;

use super::http_message::{Answer, AnswerHead, Request};
use super::leaving::Leaving;
use super::{Finding, Probe, ProbeResult, Sense, Step};
use crate::config::CodeRange;
use crate::sync::Arc;
use crate::time::Time;

/// What an HTTP monitor asks and expects.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Check {
    request: Request,
    expected: Vec<CodeRange>,
    leaving: Leaving,
}

impl Check {
    /// From the monitor's options `-httpRequest` (`HEAD /`), `-customHeaders`, `-respCode` and `-trofsCode`.
    pub fn new(request: &str, custom: &str, expected: &[CodeRange], leaving: Option<u32>) -> Check {
        let leaving = Leaving::new(leaving, "");
        Check { request: Request::new(request, custom, "HEAD /"), expected: expected.to_vec(), leaving }
    }

    /// Is this status one of `-respCode`?
    pub fn expects(&self, status: u16) -> bool {
        self.expected.iter().any(|range| range.contains(status))
    }
}

/// One HTTP probe.
pub struct HttpProbe {
    check: Arc<Check>,
    sense: Sense,
    to: SocketAddr,
    sent: Option<Time>,
    head: AnswerHead,
}

impl HttpProbe {
    /// A probe of `to`.
    pub fn new(check: Arc<Check>, sense: Sense, to: SocketAddr) -> HttpProbe {
        HttpProbe { check, sense, to, sent: None, head: AnswerHead::default() }
    }

    fn judge(&self, status: u16, now: Time) -> ProbeResult {
        let answered = self.head.first_byte().unwrap_or(now);
        let response_us = answered.since_us(self.sent.unwrap_or(answered)).max(1);
        if self.check.leaving.is_status(status) {
            return ProbeResult::leaving(Finding::Status(status), Some(response_us));
        }
        ProbeResult::judged(self.check.expects(status), self.sense, Finding::Status(status), response_us)
    }
}

impl Probe for HttpProbe {
    fn opened(&mut self, _now: Time) -> Step {
        Step::Send(self.check.request.bytes(self.to))
    }

    fn sent(&mut self, now: Time) {
        self.sent = Some(now);
    }

    fn received(&mut self, bytes: &[u8], now: Time) -> Step {
        match self.head.take(bytes, now) {
            Answer::Whole { status, .. } => Step::Done(self.judge(status, now)),
            Answer::Partial => Step::Wait,
            Answer::Malformed(what) => Step::Done(ProbeResult::failure(Finding::Malformed(what))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Verdict;
    use super::super::http_message::is_field;
    use super::*;

    fn text(check: &Check) -> String {
        String::from_utf8(check.request.bytes("10.0.0.1:80".parse().unwrap())).unwrap()
    }

    fn run(check: Check, sense: Sense, parts: &[&[u8]]) -> Result<ProbeResult, Step> {
        let mut probe = HttpProbe::new(Arc::new(check), sense, "10.0.0.1:80".parse().unwrap());
        assert!(matches!(probe.opened(Time::from_us(100)), Step::Send(_)));
        probe.sent(Time::from_us(200));
        for (i, part) in parts.iter().enumerate() {
            match probe.received(part, Time::from_us(1_200 + 1_000 * i as u64)) {
                Step::Done(result) => return Ok(result),
                Step::Wait => {}
                step => return Err(step),
            }
        }
        Err(Step::Wait)
    }

    fn default_check() -> Check {
        Check::new("HEAD /", "", &[CodeRange::one(200)], None)
    }

    #[test]
    fn the_default_probe() {
        assert_eq!(text(&default_check()), "HEAD / HTTP/1.1\r\nHost: 10.0.0.1\r\nConnection: close\r\n\r\n");
        let v6 = default_check().request.bytes("[::1]:8080".parse().unwrap());
        assert!(String::from_utf8(v6).unwrap().contains("\r\nHost: [::1]:8080\r\n"));
        assert_eq!(text(&Check::new("", "", &[], None)), text(&default_check()));
    }

    #[test]
    fn m01_added_headers_go_into_the_head_and_the_body_ends_where_it_says() {
        let check = Check::new(r"POST /e HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}", "", &[], None);
        assert_eq!(
            text(&check),
            "POST /e HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}"
        );
        assert!(text(&Check::new(r"POST /e\r\n\r\n{}", "", &[], None)).contains("Content-Length: 2\r\n"));
    }

    #[test]
    fn m02_the_probe_ends_with_one_empty_line() {
        for request in ["HEAD /", r"HEAD / HTTP/1.1\r\n", r"HEAD / HTTP/1.1\r\nA: b\r\n\r\n"] {
            let sent = text(&Check::new(request, r"X: y\r\n\r\n", &[], None));
            assert_eq!(sent.find("\r\n\r\n"), Some(sent.len() - 4), "{sent:?}");
        }
    }

    #[test]
    fn m03_exactly_one_host_and_the_custom_one_wins() {
        let cases = [
            ("GET /health", r"Host: app.example\r\n", "app.example"),
            (r"GET / HTTP/1.1\r\nhost: b.example", r"HOST:app.example", "app.example"),
            (r"GET / HTTP/1.1\r\nHost: b.example\r\nHost: c\r\n\r\n", "", "b.example"),
            ("GET /", r"X-Host: no\r\n", "10.0.0.1"),
        ];
        for (request, custom, host) in cases {
            let sent = text(&Check::new(request, custom, &[], None));
            let hosts: Vec<&str> =
                sent.lines().filter(|l| l.to_ascii_lowercase().starts_with("host:")).collect();
            assert_eq!(hosts, [format!("Host: {host}")], "{sent:?}");
        }
    }

    #[test]
    fn statuses_are_lists_and_ranges() {
        let check = Check::new("HEAD /", "", &[CodeRange { low: 200, high: 204 }, CodeRange::one(302)], None);
        for (status, expected) in [(199, false), (200, true), (204, true), (205, false), (302, true)] {
            assert_eq!(check.expects(status), expected, "{status}");
        }
    }

    #[test]
    fn a_status_by_which_a_service_says_that_it_leaves_is_looked_at_before_what_is_expected() {
        for (expected, sense) in [(200, Sense::Direct), (503, Sense::Direct), (503, Sense::Reverse)] {
            let check = Check::new("HEAD /", "", &[CodeRange::one(expected)], Some(503));
            let result = run(check, sense, &[b"HTTP/1.1 503 Later\r\n\r\n"]).unwrap();
            assert_eq!((result.verdict, result.response_us), (Verdict::Leaving, Some(1_000)));
            let check = Check::new("HEAD /", "", &[CodeRange::one(expected)], Some(503));
            let other = run(check, sense, &[b"HTTP/1.1 404 No\r\n\r\n"]).unwrap();
            assert_ne!(other.verdict, Verdict::Leaving);
        }
        let none = Check::new("HEAD /", "", &[], Some(0));
        assert_eq!(none, Check::new("HEAD /", "", &[], None), "as NITRO shows that there is none");
    }

    #[test]
    fn response_time_is_request_sent_to_first_byte() {
        let result =
            run(default_check(), Sense::Direct, &[b"HTTP/1.1 2", b"00 OK\r\nA: b\r\n\r\nbody"]).unwrap();
        assert_eq!((result.verdict, result.response_us), (Verdict::Success, Some(1_000)));
        assert_eq!(result.to_string(), "Success - HTTP response code 200 received.");
    }

    #[test]
    fn interim_responses_are_not_the_answer() {
        let parts: &[&[u8]] =
            &[b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\n\r\n"];
        let result = run(default_check(), Sense::Direct, parts).unwrap();
        assert_eq!((result.finding, result.response_us), (Finding::Status(200), Some(2_000)));
    }

    #[test]
    fn reverse_follows_the_documented_table() {
        let good = run(default_check(), Sense::Reverse, &[b"HTTP/1.1 200 OK\r\n\r\n"]).unwrap();
        assert_eq!(good.verdict, Verdict::Failure);
        let other = run(default_check(), Sense::Reverse, &[b"HTTP/1.1 404 Not Found\r\n\r\n"]).unwrap();
        assert_eq!((other.verdict, other.response_us), (Verdict::Success, None));
        let mut probe =
            HttpProbe::new(Arc::new(default_check()), Sense::Reverse, "10.0.0.1:80".parse().unwrap());
        assert_eq!(probe.closed().verdict, Verdict::Failure);
        assert_eq!(probe.timed_out(super::super::Stage::Response).verdict, Verdict::Failure);
    }

    #[test]
    fn what_is_not_http_fails_at_once_and_says_why() {
        let long = format!("HTTP/1.1 200 OK\r\nA: {}\r\n\r\n", "x".repeat(20_000));
        let many = format!("HTTP/1.1 200 OK\r\n{}\r\n", "A: b\r\n".repeat(129));
        let cases: &[(&[u8], &str)] = &[
            (b"SSH-2.0-OpenSSH_9\r\n", "no HTTP/1 status line"),
            (b"HTTP/2.0 200 OK\r\n\r\n", "no HTTP/1 status line"),
            (b"\r\nHTTP/1.1 200 OK\r\n\r\n", "empty line before the status line"),
            (b"HTTP/1.1 200 OK\nA: b\n\n", "bare line feed in the head"),
            (b"HTTP/1.1 200 OK\nA: b\r\n\r\n", "bare line feed in the head"),
            (b"HTTP/1.1 20x OK\r\n\r\n", "status is not a number"),
            (b"HTTP/1.1 999 Odd\r\n\r\n", "status out of range"),
            (b"HTTP/1.1 200 OK\r\nA b\r\n\r\n", "bad header line"),
            (long.as_bytes(), "head longer than 16384 bytes"),
            (many.as_bytes(), "more than 128 headers"),
        ];
        for (bytes, what) in cases {
            let result = run(default_check(), Sense::Direct, &[bytes]);
            assert_eq!(
                result.unwrap().finding,
                Finding::Malformed(what),
                "{:?}",
                bytes.escape_ascii().to_string()
            );
        }
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_in_any_cut_give_one_verdict_or_none(
            bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..300),
            prefix in 0usize..24,
            cut in 1usize..50,
        ) {
            let mut input = b"HTTP/1.1 200 OK\r\nA: b\r\n\r\n"[..prefix].to_vec();
            input.extend_from_slice(&bytes);
            let parts: Vec<&[u8]> = input.chunks(cut).collect();
            let whole = run(default_check(), Sense::Direct, &[&input]).map(|r| r.verdict);
            let pieces = run(default_check(), Sense::Direct, &parts).map(|r| r.verdict);
            proptest::prop_assert_eq!(whole, pieces);
        }

        #[test]
        fn any_options_make_one_valid_request(request in "\\PC{0,60}", custom in "[ -~]{0,60}") {
            let sent = Check::new(&request, &custom, &[], None).request.bytes("10.0.0.1:80".parse().unwrap());
            let head = memchr::memmem::find(&sent, b"\r\n\r\n").unwrap();
            let lines: Vec<&[u8]> = sent[..head].split(|&b| b == b'\n').collect();
            proptest::prop_assert_eq!(lines.iter().filter(|l| is_field(l, b"host")).count(), 1);
            proptest::prop_assert!(!sent[..head].windows(2).any(|w| w[1] == b'\n' && w[0] != b'\r'));
        }
    }
}
