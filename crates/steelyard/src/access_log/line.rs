//! A line of the log: one JSON object with always the same keys, `null` where there is nothing.
//!
//! Owns the keys, which the README lists, and the only use of wall time on behalf of traffic.

use std::io::Write;
use std::str::from_utf8;
use std::time::{SystemTime, UNIX_EPOCH};

use jiff::Timestamp;
use serde::Serialize;
use serde::ser::Serializer;
use steelyard_core::time::Time;

use super::entry::Entry;

/// What the program's clock shows, as wall time. Made anew for each batch, so that it follows when the wall clock is set.
pub(super) struct WallClock {
    /// Microseconds since 1970 at the origin of the program's clock.
    origin_us: i64,
    /// The second that was spelt out last, and its text.
    second: i64,
    text: String,
}

impl WallClock {
    /// It is `wall` when the program's clock shows `now`.
    pub fn new(wall: SystemTime, now: Time) -> WallClock {
        let since = match wall.duration_since(UNIX_EPOCH) {
            Ok(after) => after.as_micros() as i64,
            Err(before) => -(before.duration().as_micros() as i64),
        };
        WallClock { origin_us: since - now.as_us() as i64, second: i64::MIN, text: String::new() }
    }

    /// RFC 3339, UTC, to the microsecond.
    fn spell(&mut self, at: Time) -> &str {
        let us = self.origin_us + at.as_us() as i64;
        let second = us.div_euclid(1_000_000);
        if second != self.second {
            self.second = second;
            self.text = date(second);
        }
        self.text.truncate(DATE_LENGTH);
        let fraction = us.rem_euclid(1_000_000);
        let digits =
            [100_000, 10_000, 1_000, 100, 10, 1].map(|unit| (b'0' + (fraction / unit % 10) as u8) as char);
        self.text.push('.');
        self.text.extend(digits);
        self.text.push('Z');
        &self.text
    }
}

/// Appends the line of `entry`, with its end.
pub(super) fn write(entry: &Entry<'_>, wall: &mut WallClock, out: &mut Vec<u8>) {
    let [method, target, version] = words(entry.line);
    let line = Line {
        time: wall.spell(entry.ended),
        vserver: Text(entry.vserver),
        backup: entry.backup.map(Text),
        service: entry.service.map(Text),
        reason: entry.reason.map(Text),
        client: Address(entry.client),
        method: method.map(Text),
        target: target.map(Text),
        version: version.map(Text),
        status: entry.status,
        ttfb_us: entry.ttfb_us,
        duration_us: entry.duration_us,
        received_bytes: entry.received_bytes,
        sent_bytes: entry.sent_bytes,
        retries: entry.retries,
        close: Text(entry.cause),
    };
    // Writing to memory does not fail.
    let _ = serde_json::to_writer(&mut *out, &line);
    let _ = out.write_all(b"\n");
}

#[derive(Serialize)]
struct Line<'a> {
    time: &'a str,
    vserver: Text<'a>,
    backup: Option<Text<'a>>,
    service: Option<Text<'a>>,
    reason: Option<Text<'a>>,
    client: Address,
    method: Option<Text<'a>>,
    target: Option<Text<'a>>,
    version: Option<Text<'a>>,
    status: Option<u16>,
    ttfb_us: Option<u64>,
    duration_us: u64,
    received_bytes: u64,
    sent_bytes: u64,
    retries: u64,
    close: Text<'a>,
}

/// Bytes that most likely are text; what is none becomes U+FFFD.
struct Text<'a>(&'a [u8]);

impl Serialize for Text<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match from_utf8(self.0) {
            Ok(text) => serializer.serialize_str(text),
            Err(_) => serializer.serialize_str(&String::from_utf8_lossy(self.0)),
        }
    }
}

/// `192.0.2.1:50000`, `[2001:db8::1]:50000`.
struct Address(std::net::SocketAddr);

impl Serialize for Address {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
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

const DATE_LENGTH: usize = "2026-11-30T02:09:01".len();

#[cfg(test)]
mod tests {
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
        assert_eq!(clock.spell(Time::from_us(500)), "2026-11-30T02:09:01.000010Z");
        assert_eq!(clock.spell(Time::from_us(489)), "2026-11-30T02:09:00.999999Z");
        assert_eq!(clock.spell(Time::from_us(501)), "2026-11-30T02:09:01.000011Z");
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
