//! Every row of the HTTP/1.1 conformance tables in `fixtures/http1`, each with its own verdict. Their README's rules:
//! what must be forwarded arrives whole and clean, what must be refused is answered 4xx/5xx or closed and never
//! arrives, and where the RFC leaves a choice both are right if they are done cleanly.

use crate::message::{Message, Seen, Unframed, read};
use crate::world::{Connects, World, echo, get};
use steelyard_core::proxy::io::Close;

type Row = std::collections::BTreeMap<String, String>;
type Verdict = Result<(), String>;

#[test]
fn requests() {
    judge("requests.tsv", 445, request);
}

#[test]
fn responses() {
    judge("responses.tsv", 95, response);
}

#[test]
fn pairs() {
    judge("pairs.tsv", 69, pair);
}

fn judge(file: &str, count: usize, verdict: impl Fn(&Row) -> Verdict) {
    let path = format!("{}/tests/fixtures/http1/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap().split('\t').collect();
    let rows: Vec<Row> = lines
        .map(|line| names.iter().map(|n| n.to_string()).zip(line.split('\t').map(String::from)).collect())
        .collect();
    assert_eq!(rows.len(), count);
    let failures: Vec<String> = rows
        .iter()
        .filter_map(|row| {
            let failure = verdict(row).err()?;
            Some(format!("{} ({}, {}): {failure}", row["id"], row["expected"], row["note"]))
        })
        .collect();
    assert!(failures.is_empty(), "{} of {count} rows:\n{}", failures.len(), failures.join("\n"));
}

/// What came of a request that is alone on its connection.
struct Outcome {
    seen: Vec<Message>,
    /// Of the first answer.
    status: Option<u16>,
    out: String,
}

fn send_alone(pieces: &[&[u8]]) -> Outcome {
    let mut world = World::new(1);
    let client = world.client();
    let mut seen = Vec::new();
    for piece in pieces {
        world.data(client, piece);
        seen.extend(world.serve());
    }
    // Long enough for every time-out: what can not go on must have ended.
    world.pass(700_000_000);
    seen.extend(world.serve());
    assert!(!world.is_open(client), "the connection is still open");
    world.assert_at_rest();
    let out = world.out(client);
    let status = out.strip_prefix("HTTP/1.1 ").map(|rest| rest[..3].parse().unwrap());
    Outcome { seen, status, out }
}

fn request(row: &Row) -> Verdict {
    let bytes = base64(&row["b64"]);
    let whole = send_alone(&[&bytes]);
    judge_request(row, &bytes, &whole)?;
    if bytes.len() < 2_000 {
        let pieces: Vec<&[u8]> = bytes.chunks(1).collect();
        let split = send_alone(&pieces);
        judge_request(row, &bytes, &split).map_err(|e| format!("byte by byte: {e}"))?;
        if views(&split.seen) != views(&whole.seen) {
            return Err(format!(
                "byte by byte {:?} arrive, at once {:?}",
                views(&split.seen),
                views(&whole.seen)
            ));
        }
    }
    Ok(())
}

fn judge_request(row: &Row, bytes: &[u8], outcome: &Outcome) -> Verdict {
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
    match outcome.status {
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
    if outcome.status != Some(200) {
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

fn response(row: &Row) -> Verdict {
    let request = base64(&row["request_b64"]);
    let parts: Vec<Vec<u8>> = row["parts_b64"].split(',').map(base64).collect();
    let mut world = World::new(1);
    let client = world.client();
    world.data(client, &request);
    world.connects(Connects::Succeed);
    let Some((server, _)) = world.next_request().or_else(|| {
        // An early answer: the request is not complete.
        world.server_ids().first().map(|id| (*id, dummy()))
    }) else {
        return if row["expected"] == "either" {
            Ok(())
        } else {
            Err(format!("refused: {}", world.out(client)))
        };
    };
    for part in &parts {
        world.pass(60_000);
        world.data(server, part);
    }
    let tunnel = world.out(client).contains(" 101 ");
    let after_first = world.out(client).len();
    match row["server_end"].as_str() {
        "close" => world.end(server),
        "rst" => world.reset(server),
        _ => {}
    }
    let head_only = request.starts_with(b"HEAD");
    judge_response(row, &mut world, client, head_only, &parts.concat())?;
    let mut next = Ok(());
    if world.is_open(client) && !tunnel {
        let before = world.out(client).len().max(after_first);
        world.data(client, &get("/second"));
        world.serve();
        let out = world.out(client)[before..].to_owned();
        next = match read(out.as_bytes(), Unframed::Empty) {
            Seen::Whole(m) if m.body == b"/second" && m.length == out.len() => Ok(()),
            _ => Err(format!("the next request was answered {out:?}")),
        };
    }
    world.end(client);
    world.pass(700_000_000);
    world.assert_at_rest();
    next
}

fn dummy() -> Message {
    Message { start: String::new(), fields: Vec::new(), body: Vec::new(), length: 0 }
}

fn judge_response(
    row: &Row,
    world: &mut World,
    client: steelyard_core::proxy::io::ConnId,
    head_only: bool,
    sent: &[u8],
) -> Verdict {
    let view = client_view(world, client, head_only);
    let view = match view {
        View::Pending if row["expected"] != "relay" => {
            world.pass(700_000_000);
            client_view(world, client, head_only)
        }
        other => other,
    };
    let relayed = |m: &Message| {
        let want = expected_body(sent, head_only);
        if !m.has("x-s") {
            Err(format!("not the service's answer: {m:?}"))
        } else if want.as_ref().is_some_and(|w| *w != m.body) {
            Err(format!("body {:?}", String::from_utf8_lossy(&m.body)))
        } else if m.field("content-length").len() + m.field("transfer-encoding").len() > 1 {
            Err(format!("framed twice: {m:?}"))
        } else if m.status() == 204 && m.has("content-length")
            || m.has("keep-alive")
            || m.has("proxy-connection")
        {
            Err(format!("fields that end at the proxy: {m:?}"))
        } else {
            Ok(())
        }
    };
    match (row["expected"].as_str(), view) {
        ("relay" | "either", View::Whole(m)) if m.has("x-s") => relayed(&m),
        ("502" | "either" | "close", View::Whole(m)) if m.status() == 502 => Ok(()),
        ("504", View::Whole(m)) if m.status() == 504 => Ok(()),
        ("close" | "either", View::Cut) => Ok(()),
        (_, View::Malformed(why)) => Err(why),
        (_, view) => Err(format!("{view:?}: {:?}", world.out(client))),
    }
}

/// What a client makes of what it was sent.
#[derive(Debug)]
enum View {
    Whole(Message),
    /// It ended inside an answer.
    Cut,
    /// Nothing is complete and the connection is open.
    Pending,
    Malformed(String),
}

fn client_view(world: &World, client: steelyard_core::proxy::io::ConnId, head_only: bool) -> View {
    let conn = &world.io.conns[&client];
    let mut rest = &conn.out[..];
    loop {
        let first = match read(rest, Unframed::Absent) {
            Seen::Whole(head) => head,
            Seen::Malformed(why) => return View::Malformed(why),
            Seen::Cut(_) if conn.closed.is_some() => return View::Cut,
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
        let unframed = match conn.closed {
            _ if head_only || matches!(status, 204 | 304) => Unframed::Absent,
            Some(Close::Graceful) => Unframed::UntilClose,
            _ => Unframed::Open,
        };
        return match read(rest, unframed) {
            Seen::Whole(m) if m.length == rest.len() => View::Whole(m),
            Seen::Whole(m) => View::Malformed(format!("junk behind the answer: {:?}", &rest[m.length..])),
            Seen::Malformed(why) => View::Malformed(why),
            Seen::Cut(_) if conn.closed.is_some() => View::Cut,
            Seen::Cut(_) => View::Pending,
        };
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

fn pair(row: &Row) -> Verdict {
    let segments: Vec<Vec<u8>> = row["segments_b64"].split(',').map(base64).collect();
    let mut world = World::new(1);
    let client = world.client();
    let mut seen = Vec::new();
    let mut order = Vec::new();
    for segment in &segments {
        world.data(client, segment);
        seen.extend(world.run(Connects::Succeed, |request| {
            order.push(request.view());
            crate::world::Act::Answer(echo(request))
        }));
        world.pass(80_000);
    }
    world.pass(700_000_000);
    world.assert_at_rest();
    let (min, max): (usize, usize) =
        (row["min_requests"].parse().unwrap(), row["max_requests"].parse().unwrap());
    let views = views(&seen);
    if !(min..=max).contains(&views.len()) {
        return Err(format!(
            "{} requests arrive: {views:?}; the client got {:?}",
            views.len(),
            world.out(client)
        ));
    }
    let listed: Vec<String> = row["server_view"]
        .split("; ")
        .filter(|entry| !entry.starts_with('('))
        .map(|entry| entry.trim_end_matches(" (optional)").replace("http://other.test", ""))
        .collect();
    if views.iter().zip(&listed).any(|(seen, listed)| seen != listed) {
        return Err(format!("{views:?} arrive, not {listed:?}"));
    }
    let answered = world.statuses(client).iter().filter(|s| **s == 200).count();
    if answered != views.len() {
        return Err(format!("{} arrive, {answered} are answered: {:?}", views.len(), world.out(client)));
    }
    Ok(())
}

fn views(seen: &[Message]) -> Vec<String> {
    seen.iter().map(Message::view).collect()
}

fn base64(text: &str) -> Vec<u8> {
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
