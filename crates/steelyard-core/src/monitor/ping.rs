//! PING: the host answers an ICMP or ICMPv6 echo request (`spec/methods.md` 4.2). Response time: request sent to reply
//! received (`spec/methods.md` 4.3).
//!
//! Owns the messages and which of those that arrive is the reply. The hard question: many monitors may ask one host at
//! one time, and some sockets bring the replies to all of them, with the IPv4 header or another id than was sent. So
//! what tells a reply is its data, which no other probe has.

use std::net::SocketAddr;

use super::{Channel, Fault, Finding, Probe, ProbeResult, Sense, Stage, Step};
use crate::time::Time;

/// One PING probe.
pub struct PingProbe {
    sense: Sense,
    is_v4: bool,
    seed: u64,
    sent: Option<Time>,
}

impl PingProbe {
    /// A probe of a host, whatever the port. Its id, its number and its data come from `seed`.
    pub fn new(to: SocketAddr, sense: Sense, seed: u64) -> PingProbe {
        PingProbe { sense, is_v4: to.is_ipv4(), seed, sent: None }
    }

    /// A socket may have the kernel put in an id and a checksum of its own.
    fn request(&self) -> Vec<u8> {
        let mut message = vec![if self.is_v4 { V4.request } else { V6.request }, 0, 0, 0];
        message.extend_from_slice(&self.id_and_number());
        message.extend((0..DATA / 8).flat_map(|_| self.seed.to_be_bytes()));
        if self.is_v4 {
            // That of ICMPv6 covers addresses, so the kernel makes it.
            let sum = checksum(&message).to_be_bytes();
            message.splice(2..4, sum);
        }
        message
    }

    fn id_and_number(&self) -> [u8; 4] {
        let [a, b, c, d, ..] = self.seed.rotate_left(23).to_be_bytes();
        [a, b, c, d]
    }

    fn is_reply(&self, bytes: &[u8]) -> bool {
        let message = if self.is_v4 { without_header(bytes) } else { bytes };
        let kind = if self.is_v4 { V4.reply } else { V6.reply };
        let Some(([first, code, _, _, _, _, number @ ..], data)) = message.split_first_chunk::<HEAD>() else {
            return false;
        };
        (*first, *code) == (kind, 0)
            && self.id_and_number().ends_with(number)
            && data.len() == DATA
            && data.chunks(8).all(|chunk| chunk == self.seed.to_be_bytes())
    }
}

impl Probe for PingProbe {
    fn channel(&self) -> Channel {
        Channel::Echo
    }

    fn opened(&mut self, _now: Time) -> Step {
        Step::Send(self.request())
    }

    fn sent(&mut self, now: Time) {
        self.sent = Some(now);
    }

    fn received(&mut self, bytes: &[u8], now: Time) -> Step {
        let Some(sent) = self.sent.filter(|_| self.is_reply(bytes)) else { return Step::Wait };
        let response_us = now.since_us(sent).max(1);
        Step::Done(ProbeResult::judged(true, self.sense, Finding::EchoReply, response_us))
    }

    /// Whoever says in place of the host that it cannot be reached: there is no reply.
    fn failed(&mut self, why: Fault) -> ProbeResult {
        match why {
            Fault::Refused | Fault::Unreachable => {
                ProbeResult::judged(false, self.sense, Finding::Unreachable, 0)
            }
            Fault::Local(_) | Fault::Handshake(_) => why.result(),
        }
    }

    /// In reverse that is what is wanted (`spec/methods.md` 4.7).
    fn timed_out(&mut self, _stage: Stage) -> ProbeResult {
        ProbeResult::judged(false, self.sense, Finding::NoEchoReply, 0)
    }
}

/// Raw sockets bring the IPv4 header too. It begins with 4; an echo reply of ICMP begins with 0.
fn without_header(packet: &[u8]) -> &[u8] {
    match packet.first() {
        Some(first) if first >> 4 == 4 => packet.get(usize::from(first & 0xf) * 4..).unwrap_or_default(),
        _ => packet,
    }
}

/// RFC 1071, over an even number of bytes.
fn checksum(message: &[u8]) -> u16 {
    let words = message.chunks_exact(2).map(|pair| u64::from(pair[0]) << 8 | u64::from(pair[1]));
    let mut sum: u64 = words.sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !u16::try_from(sum).unwrap_or_default()
}

/// The types of the two messages.
struct Types {
    request: u8,
    reply: u8,
}

/// RFC 792.
const V4: Types = Types { request: 8, reply: 0 };
/// RFC 4443.
const V6: Types = Types { request: 128, reply: 129 };
/// Type, code, checksum, id and number.
const HEAD: usize = 8;
/// As much as `ping` sends.
const DATA: usize = 56;

#[cfg(test)]
mod tests {
    use super::super::Verdict;
    use super::*;

    const SEED: u64 = 0x0123_4567_89ab_cdef;
    const HOSTS: [&str; 2] = ["10.0.0.1:80", "[fd00::1]:80"];

    fn probe(to: &str, sense: Sense, seed: u64) -> (PingProbe, Vec<u8>) {
        let mut probe = PingProbe::new(to.parse().unwrap(), sense, seed);
        let Step::Send(request) = probe.opened(Time::from_us(100)) else { panic!("a request") };
        probe.sent(Time::from_us(1_000));
        (probe, request)
    }

    /// What a host sends back: the same id, number and data (RFC 792, RFC 4443 4.2).
    fn reply(to: &str, request: &[u8]) -> Vec<u8> {
        let mut reply = request.to_vec();
        reply[0] = if to.starts_with('[') { 129 } else { 0 };
        reply
    }

    fn in_ipv4(words: u8, message: &[u8]) -> Vec<u8> {
        let mut packet = vec![0x40 | words];
        packet.resize(usize::from(words) * 4, 7);
        packet.extend_from_slice(message);
        packet
    }

    #[test]
    fn a_request_is_64_bytes_with_a_checksum_that_holds() {
        let (_, v4) = probe(HOSTS[0], Sense::Direct, SEED);
        assert_eq!((v4.len(), v4[0], v4[1]), (64, 8, 0));
        let sum: u32 = v4.chunks(2).map(|pair| u32::from(pair[0]) * 256 + u32::from(pair[1])).sum();
        assert_eq!((sum & 0xffff) + (sum >> 16), 0xffff);
        let (_, v6) = probe(HOSTS[1], Sense::Direct, SEED);
        assert_eq!((v6.len(), &v6[..4]), (64, &[128, 0, 0, 0][..]));
    }

    #[test]
    fn checksums_as_in_rfc_1071() {
        assert_eq!(checksum(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]), !0xddf2);
        assert_eq!(checksum(&[0xff, 0xff]), 0);
    }

    #[test]
    fn the_clock_runs_from_request_to_reply() {
        for to in HOSTS {
            let (mut probe, request) = probe(to, Sense::Direct, SEED);
            let step = probe.received(&reply(to, &request), Time::from_us(4_500));
            let Step::Done(result) = step else { panic!("done") };
            assert_eq!((result.verdict, result.response_us), (Verdict::Success, Some(3_500)));
            assert_eq!(result.to_string(), "Success - ICMP echo reply received.");
        }
    }

    #[test]
    fn an_id_of_the_kernel_and_an_ipv4_header_are_seen_through() {
        let (mut first, request) = probe(HOSTS[0], Sense::Direct, SEED);
        let mut other_id = reply(HOSTS[0], &request);
        other_id[4] ^= 0xff;
        assert!(matches!(first.received(&other_id, Time::from_us(2_000)), Step::Done(_)));
        for words in [5, 15] {
            let (mut probe, request) = probe(HOSTS[0], Sense::Direct, SEED);
            let packet = in_ipv4(words, &reply(HOSTS[0], &request));
            assert!(matches!(probe.received(&packet, Time::from_us(2_000)), Step::Done(_)), "{words}");
        }
    }

    /// A raw socket brings what is meant for others, and what this host itself sends over loopback.
    #[test]
    fn what_is_not_the_reply_is_passed_over() {
        for to in HOSTS {
            let (mut mine, request) = probe(to, Sense::Direct, SEED);
            let right = reply(to, &request);
            let others = reply(to, &probe(to, Sense::Direct, SEED + 1).1);
            let mut unreachable = right.clone();
            unreachable[0] = if to.starts_with('[') { 1 } else { 3 };
            let [mut coded, mut numbered, mut spoilt] = [(); 3].map(|()| right.clone());
            coded[1] = 1;
            numbered[7] ^= 1;
            spoilt[63] ^= 1;
            let longer = [&right[..], b"x"].concat();
            let not = [&request, &others, &unreachable, &coded, &numbered, &spoilt, &longer];
            for bytes in not {
                assert_eq!(mine.received(bytes, Time::from_us(2_000)), Step::Wait, "{bytes:?}");
            }
            for length in 0..64 {
                assert_eq!(mine.received(&right[..length], Time::from_us(2_000)), Step::Wait);
            }
            assert!(matches!(mine.received(&right, Time::from_us(2_000)), Step::Done(_)));
        }
    }

    #[test]
    fn reverse_follows_the_documented_table() {
        let (mut probe, request) = probe(HOSTS[0], Sense::Reverse, SEED);
        let Step::Done(replied) = probe.received(&reply(HOSTS[0], &request), Time::from_us(2_000)) else {
            panic!("done")
        };
        assert_eq!((replied.verdict, replied.response_us), (Verdict::Failure, None));
        let silent = probe.timed_out(Stage::Response);
        assert_eq!((silent.verdict, silent.response_us), (Verdict::Success, None));
        assert_eq!(probe.failed(Fault::Unreachable).verdict, Verdict::Success);
    }

    #[test]
    fn silence_is_a_failure_and_local_inability_is_no_verdict() {
        let (mut direct, _) = probe(HOSTS[0], Sense::Direct, SEED);
        let silent = direct.timed_out(Stage::Response);
        assert_eq!(silent.to_string(), "Failure - no ICMP echo reply received.");
        let unreachable = direct.failed(Fault::Unreachable);
        assert_eq!(unreachable.to_string(), "Failure - destination unreachable.");
        for sense in [Sense::Direct, Sense::Reverse] {
            let result =
                probe(HOSTS[0], sense, SEED).0.failed(Fault::Local("cannot open ICMP socket: EACCES"));
            assert_eq!(result.verdict, Verdict::Unjudged);
            let text = "Unknown - cannot probe from this host: cannot open ICMP socket: EACCES.";
            assert_eq!(result.to_string(), text);
        }
    }

    proptest::proptest! {
        #[test]
        fn only_the_reply_is_taken_for_it(
            v6 in proptest::bool::ANY,
            header in 0u8..16,
            at in 0usize..64,
            flip in 0u8..=255,
            rest in proptest::collection::vec(proptest::num::u8::ANY, 0..80),
        ) {
            let to = HOSTS[usize::from(v6)];
            let (mut probe, request) = probe(to, Sense::Direct, SEED);
            proptest::prop_assert_eq!(probe.received(&rest, Time::from_us(2_000)), Step::Wait);
            proptest::prop_assert_eq!(probe.received(&in_ipv4(header, &rest), Time::from_us(2_000)), Step::Wait);
            let mut changed = reply(to, &request);
            changed[at] ^= flip;
            // The kernel has looked at the checksum, and may have put in the id.
            let same = flip == 0 || (2..6).contains(&at);
            let done = matches!(probe.received(&changed, Time::from_us(2_000)), Step::Done(_));
            proptest::prop_assert_eq!(done, same);
        }
    }
}
