//! Messages of DNS (RFC 1035 4): the question of a probe, and what an answer says to it.
//!
//! Owns the parsing. It only ever goes forward: names behind the question are passed over, never followed, so that no loop
//! of compressed names can be met. The hard question is which messages are answers to this question at all.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A question: name, type and class as they stand in a message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Question(Vec<u8>);

/// What is asked about a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum QueryType {
    /// Its IPv4 addresses.
    A = 1,
    /// Who is responsible for the zone.
    Soa = 6,
    /// Its IPv6 addresses.
    Aaaa = 28,
}

/// What a message is to a question.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reply {
    /// No answer to it: another id, another question, or no answer at all.
    Other,
    /// Its answer cannot be read; says why.
    Malformed(&'static str),
    /// An answer.
    Answer {
        /// 0, or what went wrong.
        code: u8,
        /// It did not fit: records are missing.
        truncated: bool,
        /// The addresses in it.
        addresses: Vec<IpAddr>,
    },
}

impl Question {
    /// About a name in the form of a message.
    pub fn new(name: &[u8], query_type: QueryType) -> Question {
        Question([name, &(query_type as u16).to_be_bytes(), &IN.to_be_bytes()].concat())
    }

    /// The message that asks it.
    pub fn message(&self, id: u16) -> Vec<u8> {
        let [high, low] = id.to_be_bytes();
        // Recursion is desired, one question.
        [&[high, low, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0], self.0.as_slice()].concat()
    }

    /// What a message says to it.
    pub fn reply(&self, id: u16, message: &[u8]) -> Reply {
        let Some((header, body)) = message.split_at_checked(HEADER) else { return Reply::Other };
        let number = |at: usize| header.get(at..at + 2).map_or(0, |two| u16::from_be_bytes([two[0], two[1]]));
        let (flags, questions, answers) = (number(2), number(4), number(6));
        let code = (flags & 0xf) as u8;
        if number(0) != id || flags & (RESPONSE | OPCODE) != RESPONSE {
            return Reply::Other;
        }
        // Who cannot or will not read a question need not repeat it.
        let behind = match (questions, body.split_at_checked(self.0.len())) {
            (1, Some((question, rest))) if question.eq_ignore_ascii_case(&self.0) => rest,
            (0, _) if code != 0 => &[],
            _ => return Reply::Other,
        };
        let truncated = flags & TRUNCATED != 0;
        match addresses(behind, if code == 0 { answers } else { 0 }) {
            (addresses, false) if !truncated => {
                drop(addresses);
                Reply::Malformed("records cut short")
            }
            (addresses, _) => Reply::Answer { code, truncated, addresses },
        }
    }
}

/// The addresses in so many records, and whether all of those could be read.
fn addresses(records: &[u8], count: u16) -> (Vec<IpAddr>, bool) {
    let (mut found, mut rest) = (Vec::new(), records);
    for _ in 0..count {
        match record(rest) {
            Some((address, behind)) => {
                found.extend(address);
                rest = behind;
            }
            None => return (found, false),
        }
    }
    (found, true)
}

/// The address of the first record, if it has one, and what is behind the record.
fn record(bytes: &[u8]) -> Option<(Option<IpAddr>, &[u8])> {
    let (fixed, rest) = behind_name(bytes)?.split_at_checked(10)?;
    let length = u16::from_be_bytes([fixed[8], fixed[9]]);
    let (data, behind) = rest.split_at_checked(length.into())?;
    let kind = u16::from_be_bytes([fixed[0], fixed[1]]);
    let of_internet = fixed[2..4] == IN.to_be_bytes();
    let address = match kind {
        _ if !of_internet => None,
        1 => data.try_into().ok().map(|four: [u8; 4]| IpAddr::V4(Ipv4Addr::from(four))),
        28 => data.try_into().ok().map(|sixteen: [u8; 16]| IpAddr::V6(Ipv6Addr::from(sixteen))),
        _ => None,
    };
    Some((address, behind))
}

/// A name ends with the root or with a reference to another place, which is not looked up.
fn behind_name(mut bytes: &[u8]) -> Option<&[u8]> {
    loop {
        let (&length, rest) = bytes.split_first()?;
        bytes = match length {
            0 => return Some(rest),
            0xc0.. => return rest.get(1..),
            0x40.. => return None,
            label => rest.get(usize::from(label)..)?,
        };
    }
}

const HEADER: usize = 12;
/// The class of all records of today.
const IN: u16 = 1;
const RESPONSE: u16 = 0x8000;
const OPCODE: u16 = 0x7800;
const TRUNCATED: u16 = 0x0200;

#[cfg(test)]
mod tests {
    use super::*;

    fn question() -> Question {
        Question::new(b"\x03app\x07example\x03com\0", QueryType::A)
    }

    fn answer(flags: u16, records: &[&[u8]]) -> Vec<u8> {
        let count = u16::try_from(records.len()).unwrap().to_be_bytes();
        let mut message = question().message(7);
        message[2..4].copy_from_slice(&flags.to_be_bytes());
        message[6..8].copy_from_slice(&count);
        records.iter().for_each(|record| message.extend_from_slice(record));
        message
    }

    const A: &[u8] = b"\xc0\x0c\0\x01\0\x01\0\0\0\x3c\0\x04\xc0\0\x02\x01";
    const AAAA: &[u8] =
        b"\x01x\xc0\x10\0\x1c\0\x01\0\0\0\x3c\0\x10\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x01";

    #[test]
    fn a_question_in_bytes() {
        let expected = b"\0\x07\x01\0\0\x01\0\0\0\0\0\0\x03app\x07example\x03com\0\0\x01\0\x01";
        assert_eq!(question().message(7), expected);
        assert!(Question::new(b"\0", QueryType::Soa).message(1).ends_with(b"\0\0\x06\0\x01"));
    }

    #[test]
    fn an_answer_has_a_code_and_addresses() {
        let addresses: Vec<IpAddr> = vec!["192.0.2.1".parse().unwrap(), "2001:db8::1".parse().unwrap()];
        // An alias and an address of another class are no addresses.
        let alias = b"\xc0\x0c\0\x05\0\x01\0\0\0\x3c\0\x02\xc0\x10";
        let chaos = b"\xc0\x0c\0\x01\0\x03\0\0\0\x3c\0\x04\xc0\0\x02\x09";
        assert_eq!(
            question().reply(7, &answer(0x8180, &[alias, A, chaos, AAAA])),
            Reply::Answer { code: 0, truncated: false, addresses }
        );
        let nothing = |code| Reply::Answer { code, truncated: false, addresses: Vec::new() };
        assert_eq!(question().reply(7, &answer(0x8180, &[])), nothing(0));
        assert_eq!(question().reply(7, &answer(0x8183, &[])), nothing(3));
        assert_eq!(question().reply(7, b"\0\x07\x80\x05\0\0\0\0\0\0\0\0"), nothing(5));
    }

    #[test]
    fn m18_what_is_there_of_a_truncated_answer_counts() {
        let mut cut = answer(0x8380, &[A, A]);
        cut.truncate(cut.len() - 3);
        let addresses = vec!["192.0.2.1".parse().unwrap()];
        assert_eq!(question().reply(7, &cut), Reply::Answer { code: 0, truncated: true, addresses });
        let case = b"\0\x07\x83\x80\0\x01\0\0\0\0\0\0\x03app\x07example\x03com\0\0\x01\0\x01";
        let empty = Reply::Answer { code: 0, truncated: true, addresses: Vec::new() };
        assert_eq!(question().reply(7, case), empty);
    }

    #[test]
    fn other_messages_are_no_answer() {
        let good = answer(0x8180, &[A]);
        assert_eq!(question().reply(8, &good), Reply::Other, "id");
        assert_eq!(question().reply(7, &question().message(7)), Reply::Other, "a question");
        assert_eq!(question().reply(7, &answer(0xa800, &[])), Reply::Other, "another operation");
        let other = Question::new(b"\x03app\x07example\x03org\0", QueryType::A);
        assert_eq!(other.reply(7, &good), Reply::Other, "another name");
        let of_v6 = Question::new(b"\x03app\x07example\x03com\0", QueryType::Aaaa);
        assert_eq!(of_v6.reply(7, &good), Reply::Other, "another type");
        assert_eq!(question().reply(7, &good.to_ascii_uppercase()), question().reply(7, &good));
        for length in 0..30 {
            assert_eq!(question().reply(7, &good[..length]), Reply::Other, "{length}");
        }
    }

    #[test]
    fn records_that_cannot_be_read_end_nowhere_else() {
        let loops = b"\xc0\x21\0\x01\0\x01\0\0\0\x3c\0\x04\xc0\0\x02\x01";
        assert!(matches!(question().reply(7, &answer(0x8180, &[loops])), Reply::Answer { .. }));
        let cut = Reply::Malformed("records cut short");
        for bad in
            [b"".as_slice(), b"\xc0", b"\x40a", b"\x05ab", &A[..15], b"\0\0\x01\0\x01\0\0\0\0\xff\xff\0"]
        {
            assert_eq!(question().reply(7, &answer(0x8180, &[bad])), cut, "{bad:?}");
        }
        let mut many = answer(0x8180, &[A]);
        many[6..8].copy_from_slice(&[0xff, 0xff]);
        assert_eq!(question().reply(7, &many), cut);
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_some_reply(
            bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..200),
            answers in 0u16..40,
        ) {
            question().reply(7, &bytes);
            let mut message = answer(0x8180, &[&bytes]);
            message[6..8].copy_from_slice(&answers.to_be_bytes());
            question().reply(7, &message);
        }
    }
}
