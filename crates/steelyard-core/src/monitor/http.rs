//! HTTP: one request, and the status of its final response must be one of those expected (`spec/methods.md` 4.2).
//!
//! Owns the text of the probe and its judgement. The probe is always a valid HTTP/1.1 message: exactly one Host,
//! header lines before the blank line, the body untouched, whatever `-httpRequest` and `-customHeaders` hold.
//! Response time: last byte of the request handed over to the status line's arrival (`spec/methods.md` 4.3).

use std::net::SocketAddr;

use super::{Finding, Probe, ProbeResult, Sense, Step};
use crate::config::CodeRange;
use crate::sync::Arc;
use crate::time::Time;

/// What an HTTP monitor asks and expects.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Check {
    line: Vec<u8>,
    /// Whole header lines without their CRLF; Host excluded.
    headers: Vec<Vec<u8>>,
    host: Option<Vec<u8>>,
    body: Vec<u8>,
    expected: Vec<CodeRange>,
}

impl Check {
    /// From the monitor's options. `request` is `-httpRequest` (`HEAD /`, or lines and a body), `custom` is
    /// `-customHeaders`; both may hold the escapes `\r \n \t \" \\ \xHH`. `expected` is `-respCode`.
    pub fn new(request: &str, custom: &str, expected: &[CodeRange]) -> Check {
        let request = unescape(request);
        let (head, body) = split_body(&request);
        let mut lines = header_lines(head);
        let line = if lines.is_empty() { Vec::new() } else { lines.remove(0) };
        let line = if line.is_empty() { b"HEAD /".to_vec() } else { line };
        let custom = header_lines(&unescape(custom));
        let host = [&custom, &lines].into_iter().find_map(|from| from.iter().find_map(|l| host_of(l)));
        let mut headers: Vec<Vec<u8>> = lines.into_iter().chain(custom).collect();
        headers.retain(|l| !l.is_empty() && !is_field(l, b"host"));
        Check { line: with_version(line), headers, host, body: body.to_vec(), expected: expected.to_vec() }
    }

    /// The bytes of a probe of `to`.
    pub fn request(&self, to: SocketAddr) -> Vec<u8> {
        let mut out = self.line.clone();
        out.extend_from_slice(b"\r\nHost: ");
        match &self.host {
            Some(host) => out.extend_from_slice(host),
            None => out.extend_from_slice(authority(to).as_bytes()),
        }
        out.extend_from_slice(b"\r\n");
        for header in &self.headers {
            out.extend_from_slice(header);
            out.extend_from_slice(b"\r\n");
        }
        let has = |name: &[u8]| self.headers.iter().any(|h| is_field(h, name));
        if !self.body.is_empty() && !has(b"content-length") && !has(b"transfer-encoding") {
            out.extend_from_slice(format!("Content-Length: {}\r\n", self.body.len()).as_bytes());
        }
        if !has(b"connection") {
            out.extend_from_slice(b"Connection: close\r\n");
        }
        out.extend_from_slice(b"\r\n");
        out.extend_from_slice(&self.body);
        out
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
    first_byte: Option<Time>,
    head: Vec<u8>,
}

impl HttpProbe {
    /// A probe of `to`.
    pub fn new(check: Arc<Check>, sense: Sense, to: SocketAddr) -> HttpProbe {
        HttpProbe { check, sense, to, sent: None, first_byte: None, head: Vec::new() }
    }

    fn judge(&self, status: u16, now: Time) -> ProbeResult {
        let answered = self.first_byte.unwrap_or(now);
        let response_us = answered.since_us(self.sent.unwrap_or(answered)).max(1);
        ProbeResult::judged(self.check.expects(status), self.sense, Finding::Status(status), response_us)
    }
}

impl Probe for HttpProbe {
    fn connected(&mut self, _now: Time) -> Step {
        Step::Send(self.check.request(self.to))
    }

    fn sent(&mut self, now: Time) {
        self.sent = Some(now);
    }

    fn received(&mut self, bytes: &[u8], now: Time) -> Step {
        if bytes.is_empty() {
            return Step::Wait;
        }
        self.first_byte.get_or_insert(now);
        let room = MAX_HEAD.saturating_sub(self.head.len());
        self.head.extend_from_slice(&bytes[..bytes.len().min(room)]);
        loop {
            match parse(&self.head) {
                // An interim response is not the answer (RFC 9110 15.2); 101 ends HTTP and is judged.
                Head::Complete { status, length } if (100..200).contains(&status) && status != 101 => {
                    self.head.drain(..length);
                    self.first_byte = (!self.head.is_empty()).then_some(now);
                    if self.head.is_empty() {
                        return Step::Wait;
                    }
                }
                Head::Complete { status, .. } => return Step::Done(self.judge(status, now)),
                Head::Partial if self.head.len() >= MAX_HEAD => {
                    return Step::Done(ProbeResult::failure(Finding::Malformed(
                        "head longer than 16384 bytes",
                    )));
                }
                Head::Partial => return Step::Wait,
                Head::Malformed(what) => {
                    return Step::Done(ProbeResult::failure(Finding::Malformed(what)));
                }
            }
        }
    }
}

enum Head {
    Complete { status: u16, length: usize },
    Partial,
    Malformed(&'static str),
}

fn parse(bytes: &[u8]) -> Head {
    if bytes.starts_with(b"\n") || bytes.starts_with(b"\r") {
        return Head::Malformed("empty line before the status line");
    }
    let Some(end) = memchr::memmem::find(bytes, b"\r\n\r\n") else {
        return match memchr::memmem::find(bytes, b"\n\n") {
            Some(_) => Head::Malformed("bare line feed in the head"),
            // A wrong beginning is told at once rather than at the timeout.
            None if !b"HTTP/1.".starts_with(&bytes[..bytes.len().min(7)]) => {
                Head::Malformed("no HTTP/1 status line")
            }
            None => Head::Partial,
        };
    };
    let head = &bytes[..end + 4];
    if memchr::memchr_iter(b'\n', head).any(|at| at == 0 || head[at - 1] != b'\r') {
        return Head::Malformed("bare line feed in the head");
    }
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut response = httparse::Response::new(&mut headers);
    match response.parse(head) {
        Ok(httparse::Status::Complete(length)) => match response.code {
            Some(status @ 100..=599) => Head::Complete { status, length },
            _ => Head::Malformed("status out of range"),
        },
        Ok(httparse::Status::Partial) => Head::Malformed("incomplete head"),
        Err(httparse::Error::TooManyHeaders) => Head::Malformed("more than 128 headers"),
        Err(httparse::Error::Version) => Head::Malformed("no HTTP/1 status line"),
        Err(httparse::Error::Status) => Head::Malformed("status is not a number"),
        Err(_) => Head::Malformed("bad header line"),
    }
}

/// As a Host field: the port only when it is not the scheme's own (RFC 9110 7.2).
fn authority(to: SocketAddr) -> String {
    match (to, to.port()) {
        (SocketAddr::V4(a), 80) => a.ip().to_string(),
        (SocketAddr::V6(a), 80) => format!("[{}]", a.ip()),
        (a, _) => a.to_string(),
    }
}

fn with_version(mut line: Vec<u8>) -> Vec<u8> {
    if memchr::memmem::find(&line, b" HTTP/").is_none() {
        line.extend_from_slice(b" HTTP/1.1");
    }
    line
}

/// Head and body: the body begins after the first empty line.
fn split_body(text: &[u8]) -> (&[u8], &[u8]) {
    let crlf = memchr::memmem::find(text, b"\r\n\r\n").map(|at| (at, at + 4));
    let lf = memchr::memmem::find(text, b"\n\n").map(|at| (at, at + 2));
    match [crlf, lf].into_iter().flatten().min() {
        Some((head, body)) => (&text[..head], &text[body..]),
        None => (text, b""),
    }
}

/// Lines without their ends, spaces at the ends and blank lines dropped, so that none ends the head early.
fn header_lines(text: &[u8]) -> Vec<Vec<u8>> {
    text.split(|&b| b == b'\n')
        .map(|line| line.trim_ascii().iter().copied().filter(|&b| b != b'\r').collect::<Vec<u8>>())
        .filter(|line| !line.is_empty())
        .collect()
}

fn is_field(line: &[u8], name: &[u8]) -> bool {
    line.iter().position(|&b| b == b':').is_some_and(|at| line[..at].trim_ascii().eq_ignore_ascii_case(name))
}

fn host_of(line: &[u8]) -> Option<Vec<u8>> {
    let value = is_field(line, b"host").then(|| line[b"host".len()..].trim_ascii_start())?;
    value.strip_prefix(b":").map(|v| v.trim_ascii().to_vec())
}

/// Undoes the escapes that a stored string keeps as typed; an unknown one stays as it is.
fn unescape(text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.as_bytes();
    while let Some((&first, rest)) = bytes.split_first() {
        let (byte, used) = match (first, rest) {
            (b'\\', [b'r', ..]) => (b'\r', 2),
            (b'\\', [b'n', ..]) => (b'\n', 2),
            (b'\\', [b't', ..]) => (b'\t', 2),
            (b'\\', [quoted @ (b'\\' | b'"' | b'\''), ..]) => (*quoted, 2),
            (b'\\', [b'x', high, low, ..]) => match (hex(*high), hex(*low)) {
                (Some(high), Some(low)) => (high << 4 | low, 4),
                _ => (first, 1),
            },
            _ => (first, 1),
        };
        out.push(byte);
        bytes = &bytes[used..];
    }
    out
}

fn hex(digit: u8) -> Option<u8> {
    (digit as char).to_digit(16).and_then(|d| u8::try_from(d).ok())
}

const MAX_HEAD: usize = 16_384;
const MAX_HEADERS: usize = 128;

#[cfg(test)]
mod tests {
    use super::super::Verdict;
    use super::*;

    fn text(check: &Check) -> String {
        String::from_utf8(check.request("10.0.0.1:80".parse().unwrap())).unwrap()
    }

    fn run(check: Check, sense: Sense, parts: &[&[u8]]) -> Result<ProbeResult, Step> {
        let mut probe = HttpProbe::new(Arc::new(check), sense, "10.0.0.1:80".parse().unwrap());
        assert!(matches!(probe.connected(Time::from_us(100)), Step::Send(_)));
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
        Check::new("HEAD /", "", &[CodeRange::one(200)])
    }

    #[test]
    fn the_default_probe() {
        assert_eq!(text(&default_check()), "HEAD / HTTP/1.1\r\nHost: 10.0.0.1\r\nConnection: close\r\n\r\n");
        let v6 = default_check().request("[::1]:8080".parse().unwrap());
        assert!(String::from_utf8(v6).unwrap().contains("\r\nHost: [::1]:8080\r\n"));
        assert_eq!(text(&Check::new("", "", &[])), text(&default_check()));
    }

    #[test]
    fn m01_added_headers_go_into_the_head_and_the_body_ends_where_it_says() {
        let check = Check::new(r"POST /e HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}", "", &[]);
        assert_eq!(
            text(&check),
            "POST /e HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}"
        );
        assert!(text(&Check::new(r"POST /e\r\n\r\n{}", "", &[])).contains("Content-Length: 2\r\n"));
    }

    #[test]
    fn m02_the_probe_ends_with_one_empty_line() {
        for request in ["HEAD /", r"HEAD / HTTP/1.1\r\n", r"HEAD / HTTP/1.1\r\nA: b\r\n\r\n"] {
            let sent = text(&Check::new(request, r"X: y\r\n\r\n", &[]));
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
            let sent = text(&Check::new(request, custom, &[]));
            let hosts: Vec<&str> =
                sent.lines().filter(|l| l.to_ascii_lowercase().starts_with("host:")).collect();
            assert_eq!(hosts, [format!("Host: {host}")], "{sent:?}");
        }
    }

    #[test]
    fn escapes_are_undone_once() {
        assert_eq!(unescape(r"a\r\n\t\\r\x41\q"), b"a\r\n\t\\rA\\q");
        assert_eq!(unescape(r"\x4"), b"\\x4");
    }

    #[test]
    fn statuses_are_lists_and_ranges() {
        let check = Check::new("HEAD /", "", &[CodeRange { low: 200, high: 204 }, CodeRange::one(302)]);
        for (status, expected) in [(199, false), (200, true), (204, true), (205, false), (302, true)] {
            assert_eq!(check.expects(status), expected, "{status}");
        }
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
            let sent = Check::new(&request, &custom, &[]).request("10.0.0.1:80".parse().unwrap());
            let head = memchr::memmem::find(&sent, b"\r\n\r\n").unwrap();
            let lines: Vec<&[u8]> = sent[..head].split(|&b| b == b'\n').collect();
            proptest::prop_assert_eq!(lines.iter().filter(|l| is_field(l, b"host")).count(), 1);
            proptest::prop_assert!(!sent[..head].windows(2).any(|w| w[1] == b'\n' && w[0] != b'\r'));
        }
    }
}
