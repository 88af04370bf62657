//! The verdicts of the HTTP/1.1 conformance tables in `fixtures/http1`, by their README's rules: what must be forwarded
//! arrives whole and clean, what must be refused is answered 4xx/5xx or closed and never arrives, and where the RFC leaves
//! a choice both are right if they are done cleanly.
//!
//! Judges what was seen at the service and at the client, wherever that was: the engine's tests and those of the executable
//! share it.

use std::collections::BTreeMap;

use super::message::{Message, Seen, Unframed, read};

/// One line of a table, by the names of its columns.
pub type Row = BTreeMap<String, String>;
/// Why a row is not as it must be.
pub type Verdict = Result<(), String>;

/// The tables and how many rows each has.
pub const TABLES: [(&str, usize); 3] = [("requests", 445), ("responses", 95), ("pairs", 69)];

/// The rows of a table.
pub fn rows(table: &str) -> Vec<Row> {
    let text = match table {
        "requests" => include_str!("../fixtures/http1/requests.tsv"),
        "responses" => include_str!("../fixtures/http1/responses.tsv"),
        _ => include_str!("../fixtures/http1/pairs.tsv"),
    };
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap().split('\t').collect();
    let rows: Vec<Row> = lines
        .map(|line| names.iter().map(|n| n.to_string()).zip(line.split('\t').map(String::from)).collect())
        .collect();
    let count = TABLES.iter().find(|(name, _)| *name == table).unwrap().1;
    assert_eq!(rows.len(), count, "{table}");
    rows
}

/// What came of a request that is alone on its connection.
pub struct Outcome {
    /// What the service saw completely.
    pub seen: Vec<Message>,
    /// All that the client was sent.
    pub out: String,
}

impl Outcome {
    /// Of the first answer.
    fn status(&self) -> Option<u16> {
        self.out.strip_prefix("HTTP/1.1 ").map(|rest| rest[..3].parse().unwrap())
    }
}

/// A row of `requests`, `bytes` being what was sent.
pub fn judge_request(row: &Row, bytes: &[u8], outcome: &Outcome) -> Verdict {
    let forwarded = !outcome.seen.is_empty();
    let incomplete = row["note"].contains("never complete it at the server");
    match row["expected"].as_str() {
        "forward" if !forwarded => Err(format!("not forwarded: {:?}", outcome.out)),
        "reject" if forwarded => Err(format!("forwarded: {:?}", outcome.seen)),
        "either" if forwarded && incomplete => Err("completed at the service".into()),
        _ if forwarded => is_clean(row, bytes, outcome),
        _ => is_refused(outcome),
    }
}

fn is_refused(outcome: &Outcome) -> Verdict {
    match outcome.status() {
        None if outcome.out.is_empty() => Ok(()),
        Some(400 | 408 | 414 | 417 | 431 | 501 | 505) => Ok(()),
        _ => Err(format!("answered {:?}", outcome.out)),
    }
}

fn is_clean(row: &Row, bytes: &[u8], outcome: &Outcome) -> Verdict {
    let seen = &outcome.seen[0];
    let mut sent = bytes;
    while let Some(rest) = sent.strip_prefix(b"\r\n") {
        sent = rest;
    }
    if !seen.start.ends_with(" HTTP/1.1") || seen.field("host").len() != 1 {
        return Err(format!("version or Host: {seen:?}"));
    }
    if seen.has("content-length") && seen.has("transfer-encoding") {
        return Err(format!("framed twice: {seen:?}"));
    }
    if outcome.status() != Some(200) {
        return Err(format!("forwarded but answered {:?}", outcome.out));
    }
    let Seen::Whole(original) = read(sent, Unframed::Empty) else {
        return if row["expected"] == "forward" { Err("the fixture does not parse".into()) } else { Ok(()) };
    };
    if seen.body != original.body || seen.method() != original.method() {
        return Err(format!("sent on as {seen:?}"));
    }
    let named: Vec<&str> =
        original.field("connection").into_iter().flat_map(|v| v.split(',')).map(str::trim).collect();
    let frames = ["host", "content-length", "transfer-encoding", "upgrade"];
    for name in named.iter().filter(|n| !frames.contains(&n.to_ascii_lowercase().as_str())) {
        if seen.has(name) {
            return Err(format!("{name} is named by Connection and was sent on"));
        }
    }
    for name in ["keep-alive", "proxy-connection", "te"] {
        if seen.has(name) {
            return Err(format!("{name} was sent on"));
        }
    }
    if seen.has("connection")
        && !(seen.field("connection") == ["Upgrade"] && seen.field("upgrade") == ["websocket"])
    {
        return Err(format!("Connection was sent on: {seen:?}"));
    }
    Ok(())
}

/// How a client's connection ended, if it did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    Open,
    Fin,
    Reset,
}

/// What a client makes of what it was sent.
#[derive(Debug)]
pub enum View {
    Whole(Message),
    /// It ended inside an answer.
    Cut,
    /// Nothing is complete and the connection is open.
    Pending,
    Malformed(String),
}

/// What a client that was sent `out` sees, up to the final answer to its request.
pub fn view(out: &[u8], end: End, head_only: bool) -> View {
    let mut rest = out;
    loop {
        let first = match read(rest, Unframed::Absent) {
            Seen::Whole(head) => head,
            Seen::Malformed(why) => return View::Malformed(why),
            Seen::Cut(_) if end != End::Open => return View::Cut,
            Seen::Cut(_) => return View::Pending,
        };
        let status = first.status();
        if status == 101 {
            return View::Whole(Message { body: rest[first.length..].to_vec(), ..first });
        }
        if status < 200 {
            if first.has("content-length") || first.has("transfer-encoding") {
                return View::Malformed("an interim answer with a body".into());
            }
            rest = &rest[first.length..];
            continue;
        }
        let unframed = match end {
            _ if head_only || matches!(status, 204 | 304) => Unframed::Absent,
            End::Fin => Unframed::UntilClose,
            End::Open | End::Reset => Unframed::Open,
        };
        return match read(rest, unframed) {
            Seen::Whole(m) if m.length == rest.len() => View::Whole(m),
            Seen::Whole(m) => View::Malformed(format!("junk behind the answer: {:?}", &rest[m.length..])),
            Seen::Malformed(why) => View::Malformed(why),
            Seen::Cut(_) if end != End::Open => View::Cut,
            Seen::Cut(_) => View::Pending,
        };
    }
}

/// A row of `responses`, `sent` being what the service sent.
pub fn judge_response(row: &Row, view: View, head_only: bool, sent: &[u8]) -> Verdict {
    match (row["expected"].as_str(), view) {
        ("relay" | "either", View::Whole(m)) if m.has("x-s") => is_relayed(&m, head_only, sent),
        ("502" | "either" | "close", View::Whole(m)) if m.status() == 502 => Ok(()),
        ("504", View::Whole(m)) if m.status() == 504 => Ok(()),
        ("close" | "either", View::Cut) => Ok(()),
        (_, View::Malformed(why)) => Err(why),
        (_, view) => Err(format!("{view:?}")),
    }
}

fn is_relayed(m: &Message, head_only: bool, sent: &[u8]) -> Verdict {
    let want = expected_body(sent, head_only);
    if want.as_ref().is_some_and(|w| *w != m.body) {
        Err(format!("body {:?}", String::from_utf8_lossy(&m.body)))
    } else if m.field("content-length").len() + m.field("transfer-encoding").len() > 1 {
        Err(format!("framed twice: {m:?}"))
    } else if m.status() == 204 && m.has("content-length") || m.has("keep-alive") || m.has("proxy-connection")
    {
        Err(format!("fields that end at the proxy: {m:?}"))
    } else {
        Ok(())
    }
}

/// The body of the final answer in what a service sent, if it is a plain one.
fn expected_body(sent: &[u8], head_only: bool) -> Option<Vec<u8>> {
    let mut rest = sent;
    loop {
        let Seen::Whole(head) = read(rest, Unframed::Absent) else { return None };
        let status = head.status();
        if status == 101 {
            return Some(rest[head.length..].to_vec());
        }
        if status < 200 {
            rest = &rest[head.length..];
            continue;
        }
        if head_only || matches!(status, 204 | 304) {
            return Some(Vec::new());
        }
        return match read(rest, Unframed::UntilClose) {
            Seen::Whole(m) => Some(m.body),
            _ => None,
        };
    }
}

/// The next request on the same client connection, `GET /second`: was it answered with that, and nothing but?
pub fn judge_second(out: &[u8]) -> Verdict {
    match read(out, Unframed::Empty) {
        Seen::Whole(m) if m.body == b"/second" && m.length == out.len() => Ok(()),
        _ => Err(format!("the next request was answered {:?}", String::from_utf8_lossy(out))),
    }
}

/// A row of `pairs`: what the service saw, and how many answers of it the client got.
pub fn judge_pair(row: &Row, views: &[String], answered: usize) -> Verdict {
    let (min, max): (usize, usize) =
        (row["min_requests"].parse().unwrap(), row["max_requests"].parse().unwrap());
    if !(min..=max).contains(&views.len()) {
        return Err(format!("{} requests arrive: {views:?}", views.len()));
    }
    let listed: Vec<String> = row["server_view"]
        .split("; ")
        .filter(|entry| !entry.starts_with('('))
        .map(|entry| entry.trim_end_matches(" (optional)").replace("http://other.test", ""))
        .collect();
    if views.iter().zip(&listed).any(|(seen, listed)| seen != listed) {
        return Err(format!("{views:?} arrive, not {listed:?}"));
    }
    match answered == views.len() {
        true => Ok(()),
        false => Err(format!("{} arrive, {answered} are answered", views.len())),
    }
}

/// The bytes of a field in base64.
pub fn base64(text: &str) -> Vec<u8> {
    let value = |b: u8| match b {
        b'A'..=b'Z' => b - b'A',
        b'a'..=b'z' => b - b'a' + 26,
        b'0'..=b'9' => b - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => panic!("not base64: {b}"),
    };
    let bits: Vec<u8> = text.trim().bytes().filter(|b| *b != b'=').map(value).collect();
    bits.chunks(4)
        .flat_map(|four| {
            let word = four.iter().fold(0u32, |w, v| w << 6 | u32::from(*v)) << (6 * (4 - four.len()));
            word.to_be_bytes()[1..four.len()].to_vec()
        })
        .collect()
}
