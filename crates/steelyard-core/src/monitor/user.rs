//! USER: a script judges the service, and a dispatcher runs it (`spec/methods.md` 4.8). Asked is the dispatcher, by an
//! HTTP POST that names the script and the service. Response time: the request handed over to the status line of the
//! answer, so the script's own time is in it.
//!
//! The request is what NetScaler's dispatchers know, to the byte. The hard question is an answer that says nothing of
//! the service: a dispatcher out of resources (500) changes nothing.

use std::fmt::Write;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use super::http_message::{Answer, AnswerHead};
use super::{Finding, Probe, ProbeResult, Sense, Step};
use crate::config::secret::Plain;
use crate::sync::Arc;
use crate::time::{SECOND_US, Time};

/// What a USER monitor has run, and by whom.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Script {
    /// `-scriptName`.
    pub name: String,
    /// `-scriptArgs`, as given.
    pub arguments: String,
    /// `-secureArgs`, which follow them.
    pub secure_arguments: Option<Plain>,
    /// `-dispatcherIP` and `-dispatcherPort`.
    pub dispatcher: SocketAddr,
}

/// Where the dispatcher is unless the monitor says otherwise.
pub const DISPATCHER: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 3013);

impl Script {
    /// The request to judge the service at `about` within that time.
    fn request(&self, about: SocketAddr, timeout_us: u64) -> Vec<u8> {
        let mut body = format!("nsumon_ip={}&nsumon_port={}", about.ip(), about.port());
        let secure = self.secure_arguments.as_ref().map_or("", Plain::text);
        if !self.arguments.is_empty() || !secure.is_empty() {
            body += "&nsumon_args=";
            body += &self.arguments;
            body += secure;
        }
        let host = match self.dispatcher.ip() {
            IpAddr::V4(ip) => ip.to_string(),
            IpAddr::V6(ip) => format!("[{ip}]"),
        };
        format!(
            "POST /{} HTTP/1.1\r\n\
             Nsmonitor-responsetimeout: {}\r\n\
             Content-Length: {}\r\n\
             Host: {host}\r\n\
             Connection: Close\r\n\r\n{body}",
            in_a_path(&self.name),
            timeout_us.div_ceil(SECOND_US).max(1),
            body.len(),
        )
        .into_bytes()
    }
}

/// A name as it stands in a request line: bytes that would end it, or mean something in it, are encoded.
fn in_a_path(name: &str) -> String {
    let mut path = String::with_capacity(name.len());
    for byte in name.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' => path.push(char::from(byte)),
            b'-' | b'.' | b'_' | b'~' | b'/' | b':' | b'@' | b'!' | b'$' | b'\'' | b'(' | b')' | b'*'
            | b'+' | b',' | b';' | b'=' | b'&' => path.push(char::from(byte)),
            byte => drop(write!(path, "%{byte:02X}")),
        }
    }
    path
}

/// One USER probe.
pub struct UserProbe {
    script: Arc<Script>,
    about: SocketAddr,
    timeout_us: u64,
    sense: Sense,
    sent: Option<Time>,
    head: AnswerHead,
}

impl UserProbe {
    /// Has that script judge the service at `about`; its dispatcher is told how long that may take.
    pub fn new(script: Arc<Script>, about: SocketAddr, timeout_us: u64, sense: Sense) -> UserProbe {
        UserProbe { script, about, timeout_us, sense, sent: None, head: AnswerHead::default() }
    }

    /// NetScaler documents no reverse of USER. What turns around is the script's own judgement; a script that was not
    /// run, or not understood, is a failure either way.
    fn judge(&self, status: u16, head: &[u8], now: Time) -> ProbeResult {
        let finding = Finding::Script { status, text: said(head) };
        let answered = self.head.status_line().unwrap_or(now);
        let response_us = answered.since_us(self.sent.unwrap_or(answered)).max(1);
        match status {
            200 => ProbeResult::judged(true, self.sense, finding, response_us),
            503 => ProbeResult::judged(false, self.sense, finding, response_us),
            500 => ProbeResult::unjudged(finding),
            _ => ProbeResult::failure(finding),
        }
    }
}

impl Probe for UserProbe {
    fn opened(&mut self, _now: Time) -> Step {
        Step::Send(self.script.request(self.about, self.timeout_us))
    }

    fn failed(&mut self, why: super::Fault) -> ProbeResult {
        match why {
            super::Fault::Refused => ProbeResult::failure(Finding::NoDispatcher(self.script.dispatcher)),
            why => why.result(),
        }
    }

    fn sent(&mut self, now: Time) {
        self.sent = Some(now);
    }

    fn received(&mut self, bytes: &[u8], now: Time) -> Step {
        match self.head.take(bytes, now) {
            Answer::Whole { status, bytes, length } => Step::Done(self.judge(status, &bytes[..length], now)),
            Answer::Partial => Step::Wait,
            Answer::Malformed(what) => Step::Done(ProbeResult::failure(Finding::Malformed(what))),
        }
    }
}

/// What the dispatcher says beside the status: one line, without what could break it, cut at [`MOST_SAID`] characters.
fn said(head: &[u8]) -> Box<str> {
    let field = |line: &[u8]| {
        let colon = memchr::memchr(b':', line)?;
        let (name, value) = (line.get(..colon)?, line.get(colon + 1..)?);
        let known = SAID_IN.iter().any(|known| name.eq_ignore_ascii_case(known));
        known.then(|| value.trim_ascii().to_vec())
    };
    let value = head.split(|&byte| byte == b'\n').find_map(field).unwrap_or_default();
    let text = String::from_utf8_lossy(&value);
    text.chars().filter(|c| !c.is_control()).take(MOST_SAID).collect::<String>().into()
}

const SAID_IN: &[&[u8]] = &[b"More-Info", b"Failure-Reason"];
const MOST_SAID: usize = 256;

#[cfg(test)]
mod tests {
    use super::super::{Fault, Stage, Verdict};
    use super::*;

    fn script(arguments: &str) -> Script {
        Script {
            name: "check.pl".to_owned(),
            arguments: arguments.to_owned(),
            secure_arguments: None,
            dispatcher: DISPATCHER,
        }
    }

    fn text(script: &Script, about: &str, timeout_us: u64) -> String {
        String::from_utf8(script.request(about.parse().unwrap(), timeout_us)).unwrap()
    }

    /// The answer comes in these parts, the first 1 ms after the request and each other 1 ms later.
    fn run(sense: Sense, parts: &[&[u8]]) -> Option<ProbeResult> {
        let about = "10.0.0.1:80".parse().unwrap();
        let mut probe = UserProbe::new(Arc::new(script("")), about, 2_000_000, sense);
        assert!(matches!(probe.opened(Time::from_us(100)), Step::Send(_)));
        probe.sent(Time::from_us(200));
        for (i, part) in parts.iter().enumerate() {
            match probe.received(part, Time::from_us(1_200 + 1_000 * i as u64)) {
                Step::Done(result) => return Some(result),
                Step::Wait => {}
                step => panic!("{step:?}"),
            }
        }
        None
    }

    fn answer(status: u16, fields: &str) -> String {
        format!("HTTP/1.1 {status} X\r\nServer: nsumond\r\nContent-Length: 0\r\n{fields}\r\n")
    }

    /// `spec/methods.md` 4.8.
    #[test]
    fn the_request_is_the_documented_one() {
        assert_eq!(
            text(&script("user=a;file=/x"), "10.102.29.5:8080", 2_000_000),
            "POST /check.pl HTTP/1.1\r\n\
             Nsmonitor-responsetimeout: 2\r\n\
             Content-Length: 65\r\n\
             Host: 127.0.0.1\r\n\
             Connection: Close\r\n\
             \r\n\
             nsumon_ip=10.102.29.5&nsumon_port=8080&nsumon_args=user=a;file=/x"
        );
    }

    #[test]
    fn arguments_are_verbatim_and_secure_ones_follow() {
        let body = |script: &Script| {
            text(script, "10.0.0.1:80", 2_000_000).split_once("\r\n\r\n").unwrap().1.to_owned()
        };
        assert_eq!(body(&script("")), "nsumon_ip=10.0.0.1&nsumon_port=80");
        assert_eq!(
            body(&script("a=%26 \\b&c=+")),
            "nsumon_ip=10.0.0.1&nsumon_port=80&nsumon_args=a=%26 \\b&c=+"
        );
        let secure =
            Script { secure_arguments: Some(Plain::new("password=p".to_owned())), ..script("user=u;") };
        assert!(body(&secure).ends_with("&nsumon_args=user=u;password=p"));
        let alone = Script { arguments: String::new(), ..secure };
        assert!(body(&alone).ends_with("&nsumon_args=password=p"));
        assert!(!format!("{alone:?}").contains("password=p"), "{alone:?}");
    }

    #[test]
    fn a_time_of_less_than_a_second_is_told_as_one() {
        for (us, told) in [(1, "1"), (999_000, "1"), (1_000_000, "1"), (1_000_001, "2"), (60_000_000, "60")] {
            let sent = text(&script(""), "10.0.0.1:80", us);
            assert!(sent.contains(&format!("\r\nNsmonitor-responsetimeout: {told}\r\n")), "{sent}");
        }
    }

    #[test]
    fn addresses_of_ipv6_are_bare_in_the_body_and_bracketed_as_host() {
        let v6 = Script { dispatcher: "[::1]:3013".parse().unwrap(), ..script("") };
        let sent = text(&v6, "[2001:db8::5]:443", 2_000_000);
        assert!(sent.contains("\r\nHost: [::1]\r\n"), "{sent}");
        assert!(sent.ends_with("nsumon_ip=2001:db8::5&nsumon_port=443"), "{sent}");
    }

    #[test]
    fn no_name_of_a_script_breaks_the_request_line() {
        for (name, path) in [
            ("a b.pl", "a%20b.pl"),
            ("x\r\nHost: y", "x%0D%0AHost:%20y"),
            ("50%?#", "50%25%3F%23"),
            ("cgi-bin/é", "cgi-bin/%C3%A9"),
        ] {
            let sent = text(&Script { name: name.to_owned(), ..script("") }, "10.0.0.1:80", 2_000_000);
            assert!(sent.starts_with(&format!("POST /{path} HTTP/1.1\r\n")), "{sent}");
        }
    }

    #[test]
    fn statuses_mean_what_is_documented_and_reasons_are_kept() {
        for (status, verdict, response_us, text) in [
            (200, Verdict::Success, Some(1_000), "Success - script succeeded: why."),
            (503, Verdict::Failure, None, "Failure - script failed: why."),
            (404, Verdict::Failure, None, "Failure - script not found or not executable: why."),
            (400, Verdict::Failure, None, "Failure - request not understood by the dispatcher: why."),
            (502, Verdict::Failure, None, "Failure - answer of the script not understood: why."),
            (500, Verdict::Unjudged, None, "Unknown - dispatcher out of resources: why."),
            (302, Verdict::Failure, None, "Failure - dispatcher answered with status 302: why."),
        ] {
            let field = if status == 200 { "more-info:why \r\n" } else { "Failure-Reason: why\r\n" };
            let result = run(Sense::Direct, &[answer(status, field).as_bytes()]).unwrap();
            assert_eq!((result.verdict, result.response_us), (verdict, response_us), "{status}");
            assert_eq!(result.to_string(), text);
        }
        let silent = run(Sense::Direct, &[answer(503, "").as_bytes()]).unwrap();
        assert_eq!(silent.to_string(), "Failure - script failed.");
    }

    #[test]
    fn a_reason_is_one_line_of_256_characters() {
        let field = format!("Failure-Reason: a\tb\u{1b}[2J{}\r\n", "é".repeat(300));
        // A tab is the only control character that a field may have; the rest makes the head malformed.
        let fine = field.replace('\u{1b}', "");
        let result = run(Sense::Direct, &[answer(503, &fine).as_bytes()]).unwrap();
        let Finding::Script { text, .. } = &result.finding else { panic!("{result:?}") };
        assert_eq!(text.chars().count(), 256);
        assert!(text.starts_with("ab[2Jéé"), "{text}");
        let broken = run(Sense::Direct, &[answer(503, &field).as_bytes()]).unwrap();
        assert_eq!(broken.finding, Finding::Malformed("bad header line"));
    }

    #[test]
    fn the_clock_stops_at_the_end_of_the_status_line() {
        let parts: &[&[u8]] = &[b"HTTP/1.1 2", b"00 OK\r\nServer: x", b"\r\n", b"\r\n"];
        let result = run(Sense::Direct, parts).unwrap();
        assert_eq!((result.verdict, result.response_us), (Verdict::Success, Some(2_000)));
        let interim: &[&[u8]] = &[b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 2", b"00 OK\r\n", b"\r\n"];
        assert_eq!(run(Sense::Direct, interim).unwrap().response_us, Some(2_000));
        let bytes = answer(200, "");
        let single: Vec<&[u8]> = bytes.as_bytes().chunks(1).collect();
        let line = bytes.find('\n').unwrap() as u64 + 1;
        assert_eq!(run(Sense::Direct, &single).unwrap().response_us, Some(line * 1_000));
    }

    #[test]
    fn reverse_turns_the_scripts_judgement_and_nothing_else() {
        let verdict = |status| {
            let result = run(Sense::Reverse, &[answer(status, "").as_bytes()]).unwrap();
            assert_eq!(result.response_us, None);
            result.verdict
        };
        assert_eq!(verdict(200), Verdict::Failure);
        assert_eq!(verdict(503), Verdict::Success);
        assert_eq!(verdict(500), Verdict::Unjudged);
        for status in [400, 404, 502] {
            assert_eq!(verdict(status), Verdict::Failure, "{status}");
        }
    }

    #[test]
    fn without_an_answer_the_probe_fails_and_says_what_it_saw() {
        let mut probe = UserProbe::new(Arc::new(script("")), DISPATCHER, 1, Sense::Direct);
        assert_eq!(probe.failed(Fault::Refused).to_string(), "Failure - no dispatcher at 127.0.0.1:3013.");
        assert_eq!(probe.failed(Fault::Local("no room")).verdict, Verdict::Unjudged);
        assert_eq!(probe.closed().finding, Finding::ClosedEarly);
        assert_eq!(probe.timed_out(Stage::Response).verdict, Verdict::Failure);
        for not_http in [&b"\0\xff binary"[..], b"http/1.1 200 OK\r\n\r\n", b"SSH-2.0\r\n"] {
            let result = run(Sense::Direct, &[not_http]).unwrap();
            assert!(matches!(result.finding, Finding::Malformed(_)), "{result:?}");
        }
        let endless: Vec<&[u8]> = std::iter::once(&b"HTTP/1.1 200 OK\r\nA: "[..])
            .chain(std::iter::repeat_n(&[b'x'; 1_000][..], 20))
            .collect();
        let result = run(Sense::Direct, &endless).unwrap();
        assert_eq!(result.finding, Finding::Malformed("head longer than 16384 bytes"));
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_in_any_cut_give_one_verdict_or_none(
            bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..300),
            prefix in 0usize..60,
            cut in 1usize..50,
        ) {
            let good = answer(503, "Failure-Reason: no\r\n");
            let mut input = good.as_bytes()[..prefix].to_vec();
            input.extend_from_slice(&bytes);
            let parts: Vec<&[u8]> = input.chunks(cut).collect();
            // What is wrong with a head may be seen in another order.
            let outcome = |result: Option<ProbeResult>| {
                let said = |finding| matches!(finding, Finding::Script { .. }).then_some(finding);
                result.map(|r| (r.verdict, said(r.finding)))
            };
            let whole = outcome(run(Sense::Direct, &[&input]));
            let pieces = outcome(run(Sense::Direct, &parts));
            proptest::prop_assert_eq!(whole, pieces);
        }

        #[test]
        fn any_options_make_one_request(name in "\\PC{0,70}", arguments in "\\PC{0,100}", secure in "\\PC{0,60}") {
            let script = Script {
                name,
                arguments: arguments.clone(),
                secure_arguments: Some(Plain::new(secure.clone())),
                dispatcher: DISPATCHER,
            };
            let sent = text(&script, "10.0.0.1:80", 2_000_000);
            let (head, body) = sent.split_once("\r\n\r\n").unwrap();
            let mut headers = [httparse::EMPTY_HEADER; 8];
            let mut request = httparse::Request::new(&mut headers);
            let head = format!("{head}\r\n\r\n");
            proptest::prop_assert!(request.parse(head.as_bytes()).unwrap().is_complete());
            proptest::prop_assert_eq!(request.headers.len(), 4);
            let length: usize = std::str::from_utf8(request.headers[1].value).unwrap().parse().unwrap();
            proptest::prop_assert_eq!(length, body.len());
            let given = format!("{arguments}{secure}");
            proptest::prop_assert!(body.ends_with(&given));
        }
    }
}
