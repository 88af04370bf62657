//! Every row of the HTTP/1.1 conformance tables through the engine, at once and byte by byte.

use steelyard_core::proxy::io::{Close, ConnId};

use crate::message::Message;
use crate::verdict::{
    End, Outcome, Row, Verdict, View, base64, judge_pair, judge_request, judge_response, judge_second, rows,
    view,
};
use crate::world::{Connects, World, echo, get};

#[test]
fn requests() {
    judge("requests", request);
}

#[test]
fn responses() {
    judge("responses", response);
}

#[test]
fn pairs() {
    judge("pairs", pair);
}

fn judge(table: &str, verdict: impl Fn(&Row) -> Verdict) {
    let rows = rows(table);
    let failures: Vec<String> = rows
        .iter()
        .filter_map(|row| {
            let failure = verdict(row).err()?;
            Some(format!("{} ({}, {}): {failure}", row["id"], row["expected"], row["note"]))
        })
        .collect();
    assert!(failures.is_empty(), "{} of {} rows:\n{}", failures.len(), rows.len(), failures.join("\n"));
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
    Outcome { seen, out: world.out(client) }
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

fn response(row: &Row) -> Verdict {
    let request = base64(&row["request_b64"]);
    let parts: Vec<Vec<u8>> = row["parts_b64"].split(',').map(base64).collect();
    let mut world = World::new(1);
    let client = world.client();
    world.data(client, &request);
    world.connects(Connects::Succeed);
    // An early answer: the request is not complete.
    let Some(server) = world.next_request().map(|(id, _)| id).or_else(|| world.server_ids().first().copied())
    else {
        return match row["expected"].as_str() {
            "either" => Ok(()),
            _ => Err(format!("refused: {}", world.out(client))),
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
    let mut seen = client_view(&world, client, head_only);
    if matches!(seen, View::Pending) && row["expected"] != "relay" {
        world.pass(700_000_000);
        seen = client_view(&world, client, head_only);
    }
    judge_response(row, seen, head_only, &parts.concat())
        .map_err(|e| format!("{e}: {:?}", world.out(client)))?;
    let mut next = Ok(());
    if world.is_open(client) && !tunnel {
        let before = world.out(client).len().max(after_first);
        world.data(client, &get("/second"));
        world.serve();
        next = judge_second(&world.io.conns[&client].out[before..]);
    }
    world.end(client);
    world.pass(700_000_000);
    world.assert_at_rest();
    next
}

fn client_view(world: &World, client: ConnId, head_only: bool) -> View {
    let conn = &world.io.conns[&client];
    let end = match conn.closed {
        None => End::Open,
        Some(Close::Graceful) => End::Fin,
        Some(Close::Reset | Close::Cut) => End::Reset,
    };
    view(&conn.out, end, head_only)
}

fn pair(row: &Row) -> Verdict {
    let segments: Vec<Vec<u8>> = row["segments_b64"].split(',').map(base64).collect();
    let mut world = World::new(1);
    let client = world.client();
    let mut seen = Vec::new();
    for segment in &segments {
        world.data(client, segment);
        seen.extend(world.run(Connects::Succeed, |request| crate::world::Act::Answer(echo(request))));
        world.pass(80_000);
    }
    world.pass(700_000_000);
    world.assert_at_rest();
    let answered = world.statuses(client).iter().filter(|s| **s == 200).count();
    judge_pair(row, &views(&seen), answered)
        .map_err(|e| format!("{e}; the client got {:?}", world.out(client)))
}

fn views(seen: &[Message]) -> Vec<String> {
    seen.iter().map(Message::view).collect()
}
