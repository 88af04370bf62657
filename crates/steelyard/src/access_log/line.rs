//! A line of the log: one JSON object with always the same keys, `null` where there is nothing.
//!
//! Owns the keys, which the README lists, and the only use of wall time on behalf of traffic.

use std::net::SocketAddr;
use std::time::{SystemTime, UNIX_EPOCH};

use jiff::Timestamp;
use steelyard_core::time::Time;

use super::entry::Entry;

/// What the program's clock shows, as wall time. Made anew for each batch, so that it follows when the wall clock is set.
pub(super) struct WallClock {
    /// Microseconds since 1970 at the origin of the program's clock.
    origin_us: i64,
    /// The second that was spelt out last, and its text.
    second: i64,
    text: Vec<u8>,
}

impl WallClock {
    /// It is `wall` when the program's clock shows `now`.
    pub fn new(wall: SystemTime, now: Time) -> WallClock {
        let since = match wall.duration_since(UNIX_EPOCH) {
            Ok(after) => after.as_micros() as i64,
            Err(before) => -(before.duration().as_micros() as i64),
        };
        WallClock { origin_us: since - now.as_us() as i64, second: i64::MIN, text: Vec::new() }
    }

    /// RFC 3339, UTC, to the microsecond.
    fn spell(&mut self, at: Time) -> &[u8] {
        let us = self.origin_us + at.as_us() as i64;
        let second = us.div_euclid(1_000_000);
        if second != self.second {
            self.second = second;
            self.text = date(second).into_bytes();
        }
        self.text.truncate(DATE_LENGTH);
        let fraction = us.rem_euclid(1_000_000) as u32;
        let [[a, b], [c, d], [e, f]] = [10_000, 100, 1].map(|unit| pair(fraction / unit % 100));
        self.text.extend_from_slice(&[b'.', a, b, c, d, e, f, b'Z']);
        &self.text
    }
}

/// Appends the line of `entry`, with its end. By hand: each request pays for it, and what is not text of a client's needs
/// no escaping.
pub(super) fn write(entry: &Entry<'_>, wall: &mut WallClock, out: &mut Vec<u8>) {
    let [method, target, version] = words(entry.line);
    out.extend_from_slice(b"{\"time\":\"");
    out.extend_from_slice(wall.spell(entry.ended));
    out.push(b'"');
    text(out, b",\"vserver\":", Some(entry.vserver));
    text(out, b",\"backup\":", entry.backup);
    text(out, b",\"service\":", entry.service);
    text(out, b",\"reason\":", entry.reason);
    out.extend_from_slice(b",\"client\":\"");
    address(out, entry.client);
    out.push(b'"');
    text(out, b",\"method\":", method);
    text(out, b",\"target\":", target);
    text(out, b",\"version\":", version);
    number(out, b",\"status\":", entry.status.map(u64::from));
    number(out, b",\"ttfb_us\":", entry.ttfb_us);
    number(out, b",\"duration_us\":", Some(entry.duration_us));
    number(out, b",\"received_bytes\":", Some(entry.received_bytes));
    number(out, b",\"sent_bytes\":", Some(entry.sent_bytes));
    number(out, b",\"retries\":", Some(entry.retries));
    text(out, b",\"close\":", Some(entry.cause));
    out.extend_from_slice(b"}\n");
}

/// Bytes that most likely are text; what is none becomes U+FFFD. The key's length is known when this is compiled, so that it
/// is copied in a few stores.
fn text<const N: usize>(out: &mut Vec<u8>, key: &[u8; N], bytes: Option<&[u8]>) {
    out.extend_from_slice(key);
    let Some(bytes) = bytes else { return out.extend_from_slice(NULL) };
    if bytes.iter().fold(true, |plain, byte| plain & PLAIN[usize::from(*byte)]) {
        out.push(b'"');
        out.extend_from_slice(bytes);
        out.push(b'"');
    } else {
        // Writing to memory does not fail.
        let _ = serde_json::to_writer(out, &String::from_utf8_lossy(bytes));
    }
}

fn number<const N: usize>(out: &mut Vec<u8>, key: &[u8; N], value: Option<u64>) {
    out.extend_from_slice(key);
    match value {
        Some(value) => decimal(out, value),
        None => out.extend_from_slice(NULL),
    }
}

fn decimal(out: &mut Vec<u8>, mut value: u64) {
    if value < 10 {
        return out.push(b'0' + value as u8);
    }
    let mut digits = [b'0'; 20];
    let mut at = digits.len();
    while value >= 10 {
        at -= 2;
        digits[at..at + 2].copy_from_slice(&pair((value % 100) as u32));
        value /= 100;
    }
    if value > 0 {
        at -= 1;
        digits[at] = b'0' + value as u8;
    }
    out.extend_from_slice(&digits[at..]);
}

/// The two digits of a number below 100.
fn pair(value: u32) -> [u8; 2] {
    [b'0' + (value / 10) as u8, b'0' + (value % 10) as u8]
}

/// `192.0.2.1:50000`, `[2001:db8::1]:50000`.
fn address(out: &mut Vec<u8>, address: SocketAddr) {
    let SocketAddr::V4(v4) = address else { return out.extend_from_slice(address.to_string().as_bytes()) };
    for (nth, octet) in v4.ip().octets().into_iter().enumerate() {
        if nth > 0 {
            out.push(b'.');
        }
        decimal(out, octet.into());
    }
    out.push(b':');
    decimal(out, v4.port().into());
}

/// Method, target and version of a request line. One that was cut off has no version; of one that is none, all is target.
fn words(line: &[u8]) -> [Option<&[u8]>; 3] {
    if line.is_empty() {
        return [None; 3];
    }
    let mut words = line.split(|byte| *byte == b' ');
    match (words.next(), words.next(), words.next(), words.next()) {
        (Some(method), Some(target), version, None) if !method.is_empty() => {
            [Some(method), Some(target), version]
        }
        _ => [None, Some(line), None],
    }
}

/// `2026-11-30T02:09:01`.
fn date(second: i64) -> String {
    let at = Timestamp::from_second(second).unwrap_or(Timestamp::UNIX_EPOCH);
    at.strftime("%Y-%m-%dT%H:%M:%S").to_string()
}

const NULL: &[u8; 4] = b"null";
/// The bytes that stand in a JSON string as they are.
const PLAIN: [bool; 256] = {
    let mut plain = [false; 256];
    let mut byte = b' ';
    while byte <= b'~' {
        plain[byte as usize] = byte != b'"' && byte != b'\\';
        byte += 1;
    }
    plain
};
const DATE_LENGTH: usize = "2026-11-30T02:09:01".len();

#[cfg(test)]
mod tests {
    use std::str::from_utf8;

    use super::*;

    /// Days that `date -u -d @N` spells.
    #[test]
    fn seconds_are_spelt_as_rfc_3339() {
        for (second, text) in [
            (0, "1970-01-01T00:00:00"),
            (951_782_400, "2000-02-29T00:00:00"),
            (1_709_251_199, "2024-02-29T23:59:59"),
            (1_796_004_541, "2026-11-30T02:09:01"),
            (4_107_542_399, "2100-02-28T23:59:59"),
            (4_107_542_400, "2100-03-01T00:00:00"),
        ] {
            assert_eq!(date(second), text);
        }
    }

    #[test]
    fn wall_time_follows_the_program_s_clock_to_the_microsecond() {
        let wall = UNIX_EPOCH + std::time::Duration::from_micros(1_796_004_541_000_010);
        let mut clock = WallClock::new(wall, Time::from_us(500));
        assert_eq!(clock.spell(Time::from_us(500)), b"2026-11-30T02:09:01.000010Z");
        assert_eq!(clock.spell(Time::from_us(489)), b"2026-11-30T02:09:00.999999Z");
        assert_eq!(clock.spell(Time::from_us(501)), b"2026-11-30T02:09:01.000011Z");
    }

    #[test]
    fn numbers_and_addresses_are_as_the_library_writes_them() {
        for value in [0, 7, 9, 10, 99, 100, 101, 999, 1_000, 9_999, 10_000, 65_535, 1_000_000_007, u64::MAX] {
            let mut out = Vec::new();
            decimal(&mut out, value);
            assert_eq!(out, value.to_string().into_bytes());
        }
        for text in ["0.0.0.0:0", "192.0.2.1:50000", "255.255.255.255:65535", "[::1]:1", "[2001:db8::1]:80"] {
            let mut out = Vec::new();
            address(&mut out, text.parse().unwrap());
            assert_eq!(out, text.as_bytes());
        }
    }

    #[test]
    fn a_request_line_is_taken_apart_if_it_is_one() {
        let text =
            |line: &'static str| words(line.as_bytes()).map(|word| word.map(|word| from_utf8(word).unwrap()));
        assert_eq!(text("GET /a?b HTTP/1.1"), [Some("GET"), Some("/a?b"), Some("HTTP/1.1")]);
        assert_eq!(text("GET /cut-off"), [Some("GET"), Some("/cut-off"), None]);
        assert_eq!(text("GET /a b HTTP/1.1"), [None, Some("GET /a b HTTP/1.1"), None]);
        assert_eq!(text("\u{16}\u{3}"), [None, Some("\u{16}\u{3}"), None]);
        assert_eq!(text(""), [None, None, None]);
    }
}
