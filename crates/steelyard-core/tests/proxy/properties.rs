//! Whatever arrives, in whatever pieces and order: no panic, no bound passed, nothing left behind.

use std::sync::atomic::Ordering::Relaxed;

use proptest::prelude::*;
use steelyard_core::proxy::limits::Limits;

use crate::world::{Connects, Logged, World, echo};

/// Pieces of messages, sound and not, that meet in random order.
fn fragment() -> impl Strategy<Value = Vec<u8>> {
    let words: Vec<&'static [u8]> = vec![
        b"GET / HTTP/1.1\r\n",
        b"POST /p HTTP/1.1\r\n",
        b"HEAD /h HTTP/1.0\r\n",
        b"Host: a\r\n",
        b"\r\n",
        b"\n",
        b"Content-Length: 5\r\n",
        b"Content-Length: 3\r\n",
        b"Transfer-Encoding: chunked\r\n",
        b"hello",
        b"5\r\nhello\r\n",
        b"0\r\n\r\n",
        b"Connection: close\r\n",
        b"Connection: keep-alive\r\n",
        b"Expect: 100-continue\r\n",
        b"GET /x HTTP/1.1\r\nHost: a\r\n\r\n",
        b"OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n",
        b"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: x\r\n",
        b"\x00",
        b"X: y\r\n",
        b" ",
    ];
    prop_oneof![
        9 => proptest::sample::select(words).prop_map(<[u8]>::to_vec),
        1 => proptest::collection::vec(any::<u8>(), 0..20),
    ]
}

fn answer() -> impl Strategy<Value = Vec<u8>> {
    let words: Vec<&'static [u8]> = vec![
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
        b"HTTP/1.1 204 No Content\r\n\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"5\r\nhello\r\n",
        b"0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n\r\n",
        b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
        b"HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 3\r\n\r\nabc",
        b"x",
        b"HTTP/1.1 2",
        b"\r\n",
    ];
    prop_oneof![
        9 => proptest::sample::select(words).prop_map(<[u8]>::to_vec),
        1 => proptest::collection::vec(any::<u8>(), 0..20),
    ]
}

#[derive(Clone, Debug)]
enum Event {
    Accept,
    Client(usize, Vec<u8>),
    Service(usize, Vec<u8>),
    EndClient(usize),
    EndService(usize),
    GoneClient(usize),
    GoneService(usize),
    Connect(bool),
    Stick(usize),
    Drain(usize),
    Pass(u64),
}

fn event() -> impl Strategy<Value = Event> {
    let n = any::<usize>;
    prop_oneof![
        2 => Just(Event::Accept),
        9 => (n(), proptest::collection::vec(fragment(), 1..6)).prop_map(|(i, f)| Event::Client(i, f.concat())),
        9 => (n(), answer()).prop_map(|(i, f)| Event::Service(i, f)),
        1 => n().prop_map(Event::EndClient),
        2 => n().prop_map(Event::EndService),
        1 => n().prop_map(Event::GoneClient),
        1 => n().prop_map(Event::GoneService),
        4 => any::<bool>().prop_map(Event::Connect),
        1 => n().prop_map(Event::Stick),
        2 => n().prop_map(Event::Drain),
        2 => (0..20_000_000u64).prop_map(Event::Pass),
    ]
}

fn limits() -> Limits {
    Limits {
        head_bytes: 400,
        held_bytes: 200,
        replay_bytes: 300,
        high_water: 100,
        idle_per_service: 2,
        logged_line_bytes: 30,
        splice_bytes: 3,
        ..Limits::default()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn any_order_of_events_leaves_nothing_behind(
        events in proptest::collection::vec(event(), 1..120),
        pipes in any::<bool>(),
    ) {
        let mut world = World::with(2, limits());
        world.io.pipes = pipes;
        for event in events {
            apply(&mut world, event);
        }
        world.connects(Connects::Succeed);
        world.pass(2_000_000_000);
        prop_assert_eq!(world.engine.clients(), 0);
        prop_assert_eq!(world.engine.servers(), 0);
        world.assert_at_rest();
        account_for_everything(&world)?;
    }

    #[test]
    fn any_cut_of_the_input_gives_the_same_requests_and_answers(
        fragments in proptest::collection::vec(fragment(), 1..25),
        cuts in proptest::collection::vec(1..30usize, 1..40),
    ) {
        let bytes = fragments.concat();
        let whole = exchange(&[bytes.as_slice()]);
        let mut pieces = Vec::new();
        let mut rest = &bytes[..];
        for cut in cuts.iter().cycle() {
            let (piece, more) = rest.split_at((*cut).min(rest.len()));
            pieces.push(piece);
            rest = more;
            if rest.is_empty() {
                break;
            }
        }
        prop_assert_eq!(exchange(&pieces), whole);
    }

    #[test]
    fn any_cut_of_an_answer_gives_the_client_the_same(
        answers in proptest::collection::vec(answer(), 1..8),
        cut in 1..20usize,
        old in any::<bool>(),
    ) {
        let bytes = answers.concat();
        let request: &[u8] = if old { b"GET / HTTP/1.0\r\n\r\n" } else { b"GET / HTTP/1.1\r\nHost: a\r\n\r\n" };
        let seen = |pieces: &[&[u8]], pipes: bool| {
            let mut world = World::with(1, Limits { splice_bytes: 1, ..Limits::default() });
            world.io.pipes = pipes;
            let client = world.client();
            world.data(client, request);
            world.connects(Connects::Succeed);
            let server = world.server_ids()[0];
            pieces.iter().for_each(|piece| world.data(server, piece));
            let whole = world.io.conns[&client].out.clone();
            world.end(server);
            world.pass(700_000_000);
            world.assert_at_rest();
            (whole, world.out(client), world.io.conns[&client].closed)
        };
        let pieces: Vec<&[u8]> = bytes.chunks(cut).collect();
        let (whole, split) = (seen(&[&bytes], false), seen(&pieces, false));
        prop_assert_eq!(&seen(&pieces, true), &split, "through the kernel");
        // A fault behind the head is a 502 if it comes with the head, and a cut if the head has gone out.
        let cut_later = whole.1.contains("HTTP/1.1 502") && !split.1.contains("HTTP/1.1 502");
        prop_assert!(whole == split || cut_later, "{whole:?}\n{split:?}");
    }
}

/// Every request has its record, and every byte that a client was sent is in one.
fn account_for_everything(world: &World) -> Result<(), TestCaseError> {
    let live = &world.snapshot.vserver("vs").unwrap().live;
    let records = &world.io.records;
    let sum = |figure: fn(&Logged) -> u64| records.iter().map(figure).sum::<u64>();
    prop_assert_eq!(sum(|r| r.sent_bytes), live.response_bytes.load(Relaxed));
    prop_assert!(sum(|r| r.received_bytes) <= live.request_bytes.load(Relaxed));
    prop_assert!(records.len() as u64 >= live.requests.load(Relaxed));
    prop_assert_eq!(live.duration.read().counts.iter().sum::<u64>(), records.len() as u64);
    prop_assert_eq!(live.duration.read().sum_us, sum(|r| r.duration_us));
    prop_assert_eq!(live.ttfb.read().sum_us, sum(|r| r.ttfb_us.unwrap_or(0)));
    let answered: u64 = live.answers.iter().map(|class| class.load(Relaxed)).sum();
    prop_assert_eq!(answered, sum(|r| u64::from(r.status.is_some())));
    prop_assert!(records.iter().all(|r| r.line.len() <= 90 && !r.line.contains(['\r', '\n'])));
    Ok(())
}

fn apply(world: &mut World, event: Event) {
    let of_side = |world: &World, server: bool| -> Vec<_> {
        let conns = world.io.conns.iter();
        conns
            .filter(|(_, c)| c.closed.is_none() && c.to.is_some() == server && c.open)
            .map(|(id, _)| *id)
            .collect()
    };
    let pick = |world: &World, server: bool, i: usize| {
        let ids = of_side(world, server);
        ids.get(i % ids.len().max(1)).copied()
    };
    let (server, i) = match &event {
        Event::Client(i, _) | Event::EndClient(i) | Event::GoneClient(i) | Event::Stick(i) => (false, *i),
        Event::Service(i, _) | Event::EndService(i) | Event::GoneService(i) => (true, *i),
        Event::Drain(i) => (*i % 2 == 0, *i / 2),
        Event::Accept | Event::Connect(_) | Event::Pass(_) => (false, 0),
    };
    let id = pick(world, server, i);
    match (event, id) {
        (Event::Accept, _) => {
            world.client();
        }
        (Event::Connect(true), _) => {
            world.connects(Connects::Succeed);
        }
        (Event::Connect(false), _) => {
            world.connects(Connects::Refuse(8_001));
        }
        (Event::Pass(us), _) => world.pass(us),
        (Event::Client(_, bytes) | Event::Service(_, bytes), Some(id)) => world.data(id, &bytes),
        (Event::EndClient(_) | Event::EndService(_), Some(id)) if !world.io.conns[&id].paused => {
            world.end(id);
            // A peer that has sent its FIN sends nothing more.
            if let Some(conn) = world.io.conns.get_mut(&id) {
                conn.open = false;
            }
        }
        (Event::GoneClient(_) | Event::GoneService(_), Some(id)) => world.reset(id),
        (Event::Stick(_), Some(id)) => {
            world.io.stuck.insert(id);
        }
        (Event::Drain(_), Some(id)) => {
            world.io.stuck.remove(&id);
            world.take(id, usize::MAX);
        }
        _ => {}
    }
}

/// What services see and what the client is told.
fn exchange(pieces: &[&[u8]]) -> (Vec<String>, String) {
    let mut world = World::new(1);
    let client = world.client();
    let mut seen = Vec::new();
    for piece in pieces {
        world.data(client, piece);
        seen.extend(world.run(Connects::Succeed, |request| crate::world::Act::Answer(echo(request))));
    }
    world.pass(700_000_000);
    world.assert_at_rest();
    (seen.iter().map(|m| format!("{} {:?}", m.start, m.body)).collect(), world.out(client))
}
