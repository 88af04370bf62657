//! DNS and DNS-TCP: one question, and an answer to it without an error must come; if `-IPAddress` has addresses, with one of
//! them in it (`spec/methods.md` 4.2). Response time: question sent to answer received (`spec/methods.md` 4.3).
//!
//! Owns what a truncated answer means: enough if nothing is missing from it that is expected, else the question is asked
//! once more over TCP. What answers another question is passed over, and the probe waits on.

use std::fmt;
use std::net::IpAddr;

use super::dns_message::{QueryType, Question, Reply};
use super::{Channel, Fault, Finding, Probe, ProbeResult, Sense, Stage, Step};
use crate::config::dns_name::wire_name;
use crate::sync::Arc;
use crate::time::Time;

/// What a DNS monitor asks and expects.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DnsCheck {
    question: Question,
    channel: Channel,
    expected: Vec<IpAddr>,
}

impl DnsCheck {
    /// From the options `-query` (the root), `-queryType` (`Address`; `Zone` is answered by the zone's SOA record) and
    /// `-IPAddress`.
    pub fn new(query: &str, query_type: &str, expected: &[IpAddr], channel: Channel) -> DnsCheck {
        let query_type = match query_type {
            "Zone" => QueryType::Soa,
            "AAAA" => QueryType::Aaaa,
            _ => QueryType::A,
        };
        // `command::apply` lets in only names.
        let name = wire_name(query).unwrap_or_else(|| vec![0]);
        DnsCheck { question: Question::new(&name, query_type), channel, expected: expected.to_vec() }
    }
}

/// What an answer says of the service.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Said {
    /// What was expected.
    Right,
    /// An error, by its number.
    Error(u8),
    /// None of the expected addresses.
    OtherAddresses,
    /// Not all, and nothing came over TCP.
    Truncated,
    /// What cannot be read.
    Unreadable(&'static str),
}

impl fmt::Display for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Said::Right => f.write_str("DNS response received"),
            Said::Error(code) => match ERRORS.get(usize::from(*code)) {
                Some(name) => write!(f, "DNS response {name} received"),
                None => write!(f, "DNS response error {code} received"),
            },
            Said::OtherAddresses => f.write_str("DNS response has none of the expected addresses"),
            Said::Truncated => f.write_str("DNS response truncated, and no whole one over TCP"),
            Said::Unreadable(what) => write!(f, "invalid DNS response: {what}"),
        }
    }
}

/// Names of response codes (RFC 1035 4.1.1).
const ERRORS: [&str; 6] = ["NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN", "NOTIMP", "REFUSED"];

/// One DNS probe.
pub struct DnsProbe {
    check: Arc<DnsCheck>,
    sense: Sense,
    id: u16,
    channel: Channel,
    /// Did a truncated answer lead to the present channel?
    truncated: bool,
    sent: Option<Time>,
    /// What came over a stream and is not a whole message yet.
    pending: Vec<u8>,
}

impl DnsProbe {
    /// A probe with an id made of `seed`.
    pub fn new(check: Arc<DnsCheck>, sense: Sense, seed: u64) -> DnsProbe {
        let channel = check.channel;
        let id = (seed >> 16) as u16;
        DnsProbe { check, sense, id, channel, truncated: false, sent: None, pending: Vec::new() }
    }

    /// Judges one message; `None` waits on.
    fn judge(&mut self, message: &[u8], now: Time) -> Option<Step> {
        let said = match self.check.question.reply(self.id, message) {
            Reply::Other => return None,
            Reply::Malformed(what) => Said::Unreadable(what),
            Reply::Answer { code: code @ 1.., .. } => Said::Error(code),
            Reply::Answer { truncated, addresses, .. } => {
                let expected = &self.check.expected;
                let right = expected.is_empty() || addresses.iter().any(|a| expected.contains(a));
                match (right, truncated, self.channel) {
                    (true, ..) => Said::Right,
                    (false, true, Channel::Datagram) => return Some(self.over_tcp()),
                    (false, true, _) => Said::Truncated,
                    (false, false, _) => Said::OtherAddresses,
                }
            }
        };
        let response_us = now.since_us(self.sent.unwrap_or(now)).max(1);
        let finding = Finding::Dns(said);
        Some(Step::Done(match said {
            Said::Unreadable(_) | Said::Truncated => ProbeResult::failure(finding),
            _ => ProbeResult::judged(said == Said::Right, self.sense, finding, response_us),
        }))
    }

    fn over_tcp(&mut self) -> Step {
        self.truncated = true;
        self.channel = Channel::Stream;
        Step::Reopen(Channel::Stream)
    }

    /// The whole messages of what came over a stream, each behind its length.
    fn judge_pending(&mut self, now: Time) -> Step {
        let pending = std::mem::take(&mut self.pending);
        let mut rest = pending.as_slice();
        while let Some((length, behind)) = rest.split_first_chunk::<2>() {
            let Some((message, after)) = behind.split_at_checked(u16::from_be_bytes(*length).into()) else {
                break;
            };
            if let Some(step) = self.judge(message, now) {
                return step;
            }
            rest = after;
        }
        self.pending = rest.to_vec();
        Step::Wait
    }

    fn failure(&self, finding: Finding) -> ProbeResult {
        ProbeResult::failure(if self.truncated { Finding::Dns(Said::Truncated) } else { finding })
    }
}

impl Probe for DnsProbe {
    fn channel(&self) -> Channel {
        self.check.channel
    }

    fn opened(&mut self, _now: Time) -> Step {
        let message = self.check.question.message(self.id);
        Step::Send(match self.channel {
            Channel::Stream => {
                let length = u16::try_from(message.len()).unwrap_or(u16::MAX);
                [length.to_be_bytes().as_slice(), &message].concat()
            }
            _ => message,
        })
    }

    fn failed(&mut self, why: Fault) -> ProbeResult {
        match (why, self.channel) {
            (Fault::Local(_), _) => why.result(),
            (Fault::Refused, Channel::Datagram) => self.failure(Finding::PortUnreachable),
            _ => self.failure(why.result().finding),
        }
    }

    fn sent(&mut self, now: Time) {
        self.sent = Some(now);
    }

    fn received(&mut self, bytes: &[u8], now: Time) -> Step {
        if self.channel == Channel::Datagram {
            return self.judge(bytes, now).unwrap_or(Step::Wait);
        }
        self.pending.extend_from_slice(bytes);
        self.judge_pending(now)
    }

    fn closed(&mut self) -> ProbeResult {
        self.failure(Finding::ClosedEarly)
    }

    fn timed_out(&mut self, stage: Stage) -> ProbeResult {
        self.failure(Finding::TimedOut(stage))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Verdict;
    use super::*;

    const SEED: u64 = 0x1234_0000;
    const ID: [u8; 2] = [0x12, 0x34];

    fn check(expected: &[&str], channel: Channel) -> Arc<DnsCheck> {
        let expected: Vec<IpAddr> = expected.iter().map(|ip| ip.parse().unwrap()).collect();
        Arc::new(DnsCheck::new("app.example.com", "Address", &expected, channel))
    }

    fn probe(expected: &[&str], sense: Sense, channel: Channel) -> DnsProbe {
        let mut probe = DnsProbe::new(check(expected, channel), sense, SEED);
        assert!(matches!(probe.opened(Time::from_us(100)), Step::Send(_)));
        probe.sent(Time::from_us(200));
        probe
    }

    /// An answer with these flags and addresses.
    fn answer(id: [u8; 2], flags: [u8; 2], addresses: &[[u8; 4]]) -> Vec<u8> {
        let count = u8::try_from(addresses.len()).unwrap();
        let mut message = [id, flags, [0, 1], [0, count], [0, 0], [0, 0]].concat();
        message.extend_from_slice(b"\x03app\x07example\x03com\0\0\x01\0\x01");
        for address in addresses {
            message.extend_from_slice(b"\xc0\x0c\0\x01\0\x01\0\0\0\x3c\0\x04");
            message.extend_from_slice(address);
        }
        message
    }

    fn framed(message: &[u8]) -> Vec<u8> {
        [&u16::try_from(message.len()).unwrap().to_be_bytes(), message].concat()
    }

    fn done(step: Step) -> ProbeResult {
        match step {
            Step::Done(result) => result,
            other => panic!("{other:?}"),
        }
    }

    const OK: [u8; 2] = [0x81, 0x80];
    const TC: [u8; 2] = [0x83, 0x80];
    const NXDOMAIN: [u8; 2] = [0x81, 0x83];
    const ONE: [u8; 4] = [192, 0, 2, 1];
    const TWO: [u8; 4] = [192, 0, 2, 2];

    #[test]
    fn an_answer_without_an_error_is_a_success() {
        let result = done(
            probe(&[], Sense::Direct, Channel::Datagram).received(&answer(ID, OK, &[]), Time::from_us(1_000)),
        );
        assert_eq!((result.verdict, result.response_us), (Verdict::Success, Some(800)));
        assert_eq!(result.to_string(), "Success - DNS response received.");
        for (code, name) in
            [(1, "FORMERR"), (2, "SERVFAIL"), (3, "NXDOMAIN"), (4, "NOTIMP"), (5, "REFUSED"), (9, "error 9")]
        {
            let reply = answer(ID, [0x81, 0x80 | code], &[]);
            let result =
                done(probe(&[], Sense::Direct, Channel::Datagram).received(&reply, Time::from_us(1_000)));
            assert_eq!(result.to_string(), format!("Failure - DNS response {name} received."));
        }
    }

    #[test]
    fn one_of_the_expected_addresses_suffices() {
        let text = |addresses: &[[u8; 4]]| {
            let mut probe = probe(&["192.0.2.1", "2001:db8::1"], Sense::Direct, Channel::Datagram);
            done(probe.received(&answer(ID, OK, addresses), Time::from_us(1_000))).to_string()
        };
        assert_eq!(text(&[TWO, ONE]), "Success - DNS response received.");
        assert_eq!(text(&[TWO]), "Failure - DNS response has none of the expected addresses.");
        assert_eq!(text(&[]), "Failure - DNS response has none of the expected addresses.");
    }

    #[test]
    fn answers_to_other_questions_are_passed_over() {
        let mut probe = probe(&[], Sense::Direct, Channel::Datagram);
        let mut other = answer(ID, OK, &[]);
        other[14] = b'b';
        for message in [answer([0x12, 0x35], NXDOMAIN, &[]), other, b"short".to_vec(), Vec::new()] {
            assert_eq!(probe.received(&message, Time::from_us(500)), Step::Wait, "{message:?}");
        }
        assert_eq!(done(probe.received(&answer(ID, OK, &[]), Time::from_us(900))).response_us, Some(700));
    }

    #[test]
    fn m18_a_truncated_answer_is_asked_for_over_tcp() {
        let mut retried = probe(&["192.0.2.1"], Sense::Direct, Channel::Datagram);
        assert_eq!(
            retried.received(&answer(ID, TC, &[TWO]), Time::from_us(500)),
            Step::Reopen(Channel::Stream)
        );
        let Step::Send(asked) = retried.opened(Time::from_us(600)) else { panic!("asks") };
        assert_eq!(asked, framed(&check(&[], Channel::Stream).question.message(0x1234)));
        retried.sent(Time::from_us(700));
        let result = done(retried.received(&framed(&answer(ID, OK, &[TWO, ONE])), Time::from_us(1_000)));
        assert_eq!((result.verdict, result.response_us), (Verdict::Success, Some(300)));

        let enough = probe(&["192.0.2.1"], Sense::Direct, Channel::Datagram)
            .received(&answer(ID, TC, &[ONE]), Time::from_us(500));
        assert_eq!(done(enough).verdict, Verdict::Success);
        let any =
            probe(&[], Sense::Direct, Channel::Datagram).received(&answer(ID, TC, &[]), Time::from_us(500));
        assert_eq!(done(any).verdict, Verdict::Success);
    }

    #[test]
    fn m18_a_truncated_answer_without_tcp_says_truncated() {
        let text = "Failure - DNS response truncated, and no whole one over TCP.";
        let mut probe = probe(&["192.0.2.1"], Sense::Direct, Channel::Datagram);
        assert_eq!(probe.received(&answer(ID, TC, &[]), Time::from_us(500)), Step::Reopen(Channel::Stream));
        assert_eq!(probe.failed(Fault::Refused).to_string(), text);
        assert_eq!(probe.closed().to_string(), text);
        assert_eq!(probe.timed_out(Stage::Connect).to_string(), text);
        assert_eq!(probe.failed(Fault::Local("no file descriptor left")).verdict, Verdict::Unjudged);
        let again = done(probe.received(&framed(&answer(ID, TC, &[])), Time::from_us(700)));
        assert_eq!(again.to_string(), text);
    }

    #[test]
    fn over_tcp_messages_come_in_pieces_and_one_after_the_other() {
        let stream =
            [framed(b""), framed(&answer([0, 0], OK, &[])), framed(&answer(ID, OK, &[ONE]))].concat();
        for cut in 1..stream.len() {
            let mut probe = probe(&["192.0.2.1"], Sense::Direct, Channel::Stream);
            let steps: Vec<Step> =
                stream.chunks(cut).map(|piece| probe.received(piece, Time::from_us(1_000))).collect();
            let (last, before) = steps.split_last().unwrap();
            assert!(before.iter().all(|step| *step == Step::Wait), "{cut}");
            assert!(matches!(last, Step::Done(result) if result.verdict == Verdict::Success), "{cut}");
        }
    }

    #[test]
    fn silence_and_a_closed_port_fail_in_either_sense() {
        for sense in [Sense::Direct, Sense::Reverse] {
            let mut probe = probe(&[], sense, Channel::Datagram);
            assert_eq!(probe.timed_out(Stage::Response).verdict, Verdict::Failure);
            assert_eq!(
                probe.failed(Fault::Refused).to_string(),
                "Failure - UDP datagram sent, port unreachable received."
            );
        }
        // `spec/methods.md` 4.7.
        let good =
            probe(&[], Sense::Reverse, Channel::Datagram).received(&answer(ID, OK, &[]), Time::from_us(500));
        assert_eq!(done(good).verdict, Verdict::Failure);
        let bad = probe(&[], Sense::Reverse, Channel::Datagram)
            .received(&answer(ID, NXDOMAIN, &[]), Time::from_us(500));
        assert_eq!((done(bad)).response_us, None);
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_in_any_cut_give_one_verdict_and_nothing_grows(
            messages in proptest::collection::vec(proptest::collection::vec(proptest::num::u8::ANY, 0..40), 0..6),
            cut in 1usize..60,
        ) {
            let mut stream: Vec<u8> = messages.iter().flat_map(|message| framed(message)).collect();
            stream.extend(framed(&answer(ID, OK, &[ONE])));
            let verdict = |cut: usize| {
                let mut probe = probe(&["192.0.2.1"], Sense::Direct, Channel::Stream);
                stream.chunks(cut).find_map(|piece| match probe.received(piece, Time::from_us(500)) {
                    Step::Done(result) => Some(result.verdict),
                    _ => None,
                })
            };
            proptest::prop_assert_eq!(verdict(cut), Some(Verdict::Success));
            let mut endless = probe(&[], Sense::Direct, Channel::Stream);
            for _ in 0..200 {
                endless.received(&[0; 4_096], Time::from_us(500));
                proptest::prop_assert!(endless.pending.len() < 65_537 + 4_096);
            }
        }
    }
}
