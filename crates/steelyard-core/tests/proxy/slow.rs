//! Clients that are slow on purpose or not, in the body and in the answer: each is bounded, none is cut for being merely
//! far away. Slow heads are in `cases` (H45).

use steelyard_core::proxy::io::{Close, ConnId};

use crate::world::{Act, Connects, World, get};

const SECOND: u64 = 1_000_000;

fn with_timeout(seconds: u32) -> World {
    World::reading(&format!(
        "add service s1 127.0.0.1 HTTP 8001\nbind lb vserver vs s1\nset lb vserver vs -cltTimeout {seconds}\n"
    ))
}

/// Sends a body of `total` bytes by `piece` each `every_s`; after how many seconds the client's connection ended.
fn upload(world: &mut World, (total, piece): (usize, usize), every_s: u64) -> (ConnId, u64) {
    let client = world.client();
    world.data(client, format!("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: {total}\r\n\r\n").as_bytes());
    world.connects(Connects::Succeed);
    let (mut sent, mut seconds) = (0, 0);
    while sent < total && world.is_open(client) {
        world.pass(every_s * SECOND);
        seconds += every_s;
        let now = piece.min(total - sent);
        world.data(client, &vec![b'x'; now]);
        sent += now;
    }
    (client, seconds)
}

#[test]
fn a_body_that_drips_is_a_408() {
    let mut world = with_timeout(30);
    let (client, seconds) = upload(&mut world, (10_000, 1), 1);
    assert_eq!(world.statuses(client), [408]);
    // 30 s, and what its bytes are worth at 256 a second.
    assert_eq!(seconds, 31);
    let server = world.server_ids()[0];
    assert_eq!(
        world.io.conns[&server].closed,
        Some(Close::Reset),
        "half a request must not pass for a whole one"
    );
    world.assert_at_rest();
}

#[test]
fn a_body_over_a_slow_line_takes_the_time_it_takes() {
    let mut world = with_timeout(30);
    let (client, seconds) = upload(&mut world, (300_000, 1_500), 5);
    assert_eq!(seconds, 1_000);
    world.serve();
    assert_eq!(world.statuses(client), [200]);
    world.assert_at_rest();
}

#[test]
fn a_fast_beginning_buys_no_time_beyond_the_timeout() {
    let mut world = with_timeout(30);
    let client = world.client();
    world.data(client, b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 900000\r\n\r\n");
    world.connects(Connects::Succeed);
    world.data(client, &[b'x'; 800_000]);
    world.pass(29 * SECOND);
    assert!(world.is_open(client));
    world.data(client, b"x");
    world.pass(2 * SECOND);
    assert_eq!(world.statuses(client), [408]);
    world.assert_at_rest();
}

#[test]
fn a_service_that_does_not_read_is_not_the_clients_fault() {
    let mut world = with_timeout(30);
    let client = world.client();
    world.data(client, b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 300000\r\n\r\n");
    world.connects(Connects::Succeed);
    let server = world.server_ids()[0];
    world.io.stuck.insert(server);
    world.data(client, &[b'x'; 200_000]);
    assert!(world.io.conns[&client].paused);
    world.pass(100 * SECOND);
    assert!(world.is_open(client));
    world.take(server, usize::MAX);
    world.io.stuck.clear();
    world.pass(29 * SECOND);
    world.data(client, &[b'x'; 100_000]);
    world.serve();
    assert_eq!(world.statuses(client), [200]);
    world.assert_at_rest();
}

/// A client in the middle of a large answer, of which it takes nothing yet.
fn reading() -> (World, ConnId) {
    let mut world = with_timeout(30);
    let client = world.client();
    world.io.stuck.insert(client);
    world.data(client, &get("/"));
    let head = b"HTTP/1.1 200 OK\r\nContent-Length: 900000\r\n\r\n".to_vec();
    world.run(Connects::Succeed, |_| Act::Answer(head.clone()));
    let server = world.server_ids()[0];
    world.data(server, &[b'x'; 400_000]);
    assert!(world.io.conns[&server].paused);
    (world, client)
}

#[test]
fn a_client_that_takes_nothing_of_its_answer_is_cut() {
    let (mut world, client) = reading();
    world.pass(30 * SECOND - 1);
    assert!(world.is_open(client));
    world.pass(SECOND);
    assert_eq!(world.io.conns[&client].closed, Some(Close::Reset));
    world.assert_at_rest();
}

#[test]
fn a_client_that_takes_a_byte_now_and_then_is_cut() {
    let (mut world, client) = reading();
    for _ in 0..31 {
        world.pass(SECOND);
        if world.is_open(client) {
            world.take(client, 1);
        }
    }
    assert!(!world.is_open(client));
    world.assert_at_rest();
}

/// What it uploads meanwhile does not count for what it takes.
#[test]
fn a_client_that_talks_and_does_not_listen_is_cut() {
    let mut world = with_timeout(30);
    let client = world.client();
    world.io.stuck.insert(client);
    world.data(client, b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 900000\r\n\r\n");
    world.connects(Connects::Succeed);
    let server = world.server_ids()[0];
    world.data(server, b"HTTP/1.1 200 OK\r\nContent-Length: 900000\r\n\r\n");
    world.data(server, &[b'x'; 100_000]);
    for _ in 0..31 {
        world.pass(SECOND);
        world.data(client, b"x");
    }
    assert!(!world.is_open(client));
    world.assert_at_rest();
}

#[test]
fn a_client_over_a_slow_line_gets_its_answer() {
    let (mut world, client) = reading();
    for _ in 0..600 {
        world.pass(SECOND);
        world.take(client, 300);
    }
    assert!(world.is_open(client), "300 bytes a second are more than 256");
    world.io.stuck.clear();
    world.take(client, usize::MAX);
    // Silence of the service counts from now.
    world.pass(359 * SECOND);
    let server = world.server_ids()[0];
    world.data(server, &[b'x'; 500_000]);
    assert_eq!(world.statuses(client), [200]);
    world.assert_at_rest();
}

#[test]
fn without_a_timeout_a_client_may_take_for_ever() {
    let mut world = with_timeout(0);
    let (client, _) = upload(&mut world, (50, 1), 1_000);
    world.serve();
    assert_eq!(world.statuses(client), [200]);
    world.assert_at_rest();
}

#[test]
fn a_tunnel_ends_after_the_shorter_of_both_timeouts() {
    for (options, seconds) in [("-svrTimeout 20", 20), ("-svrTimeout 360", 30)] {
        let mut world = World::reading(&format!(
            "add service s1 127.0.0.1 HTTP 8001 {options}\nbind lb vserver vs s1\nset lb vserver vs -cltTimeout 30\n"
        ));
        let client = world.client();
        world.data(
            client,
            b"GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: k\r\n\r\n",
        );
        let switch = b"HTTP/1.1 101 S\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n".to_vec();
        world.run(Connects::Succeed, |_| Act::Answer(switch.clone()));
        world.pass(seconds * SECOND - 1);
        world.data(client, b"x");
        world.pass(seconds * SECOND - 1);
        assert!(world.is_open(client), "{seconds}");
        world.pass(SECOND);
        assert!(!world.is_open(client), "{seconds}");
        world.assert_at_rest();
    }
}
