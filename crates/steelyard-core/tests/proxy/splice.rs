//! Long answers of known length that go to the client through the kernel: what the engine must still know of them.

use std::sync::atomic::Ordering;

use steelyard_core::proxy::io::{Close, ConnId};

use crate::world::{Act, Connects, World, get};

const SECOND: u64 = 1_000_000;
const BODY: usize = 300_000;

/// A client that waits for a body of `length`, of which the service has sent the head and a little.
fn answering(length: usize) -> (World, ConnId, ConnId) {
    let mut world = World::reading(
        "add service s1 127.0.0.1 HTTP 8001 -svrTimeout 60\nbind lb vserver vs s1\nset lb vserver vs -cltTimeout 30\n",
    );
    world.io.pipes = true;
    let client = world.client();
    world.data(client, &get("/"));
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\nabcd");
    world.run(Connects::Succeed, |_| Act::Answer(head.clone().into_bytes()));
    let server = world.server_ids()[0];
    (world, client, server)
}

fn body(from: usize, to: usize) -> Vec<u8> {
    (from..to).map(|n| b"abcdefghijklmnopqrstuvwxyz"[n % 26]).collect()
}

#[test]
fn a_long_body_arrives_whole_and_is_counted() {
    let (mut world, client, server) = answering(BODY);
    assert!(world.io.spliced.contains_key(&server));
    for at in (4..BODY).step_by(70_000) {
        world.data(server, &body(at, BODY.min(at + 70_000)));
    }
    let answer = &world.answers(client).0[0];
    assert!(answer.body == body(0, BODY), "byte for byte");
    let sent = world.io.conns[&client].out.len() as u64;
    let live = &world.snapshot.vserver("vs").unwrap().live;
    assert_eq!(live.response_bytes.load(Ordering::Relaxed), sent);
    assert_eq!(world.services[0].traffic.response_bytes.load(Ordering::Relaxed), sent);
    assert_eq!(world.engine.idle_servers(), 1, "its connection is free again");
    world.data(client, &get("/next"));
    world.serve();
    assert_eq!(world.statuses(client), [200, 200]);
    assert_eq!(world.server_ids().len(), 1);
    world.assert_at_rest();
}

#[test]
fn what_is_short_coded_or_absent_is_looked_at() {
    for head in [
        "HTTP/1.1 200 OK\r\nContent-Length: 40000\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.0 200 OK\r\n\r\n",
        "HTTP/1.1 304 No\r\nContent-Length: 400000\r\n\r\n",
    ] {
        let mut world = World::new(1);
        world.io.pipes = true;
        let client = world.client();
        world.data(client, &get("/"));
        world.run(Connects::Succeed, |_| Act::Answer(head.as_bytes().to_vec()));
        assert!(world.io.spliced.is_empty(), "{head}");
    }
}

#[test]
fn bytes_behind_a_long_body_end_the_services_connection() {
    for junk in [b"x".as_slice(), b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\ny"] {
        let (mut world, client, server) = answering(BODY);
        world.data(server, &[&body(4, BODY)[..], junk].concat());
        assert!(!world.is_open(server));
        world.data(client, &get("/next"));
        world.serve();
        let (answers, _) = world.answers(client);
        assert_eq!((answers.len(), &answers[1].body[..]), (2, &b"/next"[..]));
        world.assert_at_rest();
    }
}

#[test]
fn a_long_body_that_is_cut_is_seen_to_be_cut() {
    for how in ["end", "reset"] {
        let (mut world, client, server) = answering(BODY);
        world.data(server, &body(4, 200_000));
        if how == "end" {
            world.end(server)
        } else {
            world.reset(server)
        }
        assert!(!world.is_open(client), "{how}");
        assert!(world.io.conns[&client].out.ends_with(&body(0, 200_000)), "what came has gone on");
        assert_eq!(world.answers(client).0.len(), 0);
        world.assert_at_rest();
    }
}

#[test]
fn a_service_that_stops_in_a_long_body_is_cut_after_svr_timeout() {
    let (mut world, client, server) = answering(BODY);
    world.data(server, &body(4, 200_000));
    world.pass(60 * SECOND - 1);
    assert!(world.is_open(client));
    world.pass(SECOND);
    assert!(!world.is_open(client));
    assert_eq!(world.io.conns[&server].closed, Some(Close::Reset));
    world.assert_at_rest();
}

#[test]
fn a_client_that_takes_nothing_of_a_long_body_is_cut_after_clt_timeout() {
    let (mut world, client, server) = answering(BODY);
    world.io.stuck.insert(client);
    world.data(server, &body(4, 100_000));
    world.data(server, &body(100_000, 200_000));
    assert!(world.io.conns[&client].out.len() < 110_000, "the service feels it");
    world.pass(30 * SECOND - 1);
    assert!(world.is_open(client));
    world.pass(SECOND);
    assert!(!world.is_open(client));
    world.assert_at_rest();
}

#[test]
fn a_client_over_a_slow_line_gets_its_long_body() {
    let (mut world, client, server) = answering(BODY);
    world.io.stuck.insert(client);
    world.data(server, &body(4, BODY));
    for _ in 0..100 {
        world.pass(10 * SECOND);
        world.take(client, 3_000);
    }
    world.io.stuck.clear();
    world.take(client, usize::MAX);
    assert_eq!(world.statuses(client), [200]);
    world.assert_at_rest();
}

#[test]
fn a_client_that_leaves_a_long_body_ends_it() {
    let (mut world, client, server) = answering(BODY);
    world.data(server, &body(4, 200_000));
    world.reset(client);
    assert_eq!(world.io.conns[&server].closed, Some(Close::Reset));
    world.assert_at_rest();
}

/// As when the kernel would not carry it any further.
#[test]
fn a_long_body_goes_on_by_hand() {
    let (mut world, client, server) = answering(BODY);
    world.data(server, &body(4, 200_000));
    world.io.spliced.clear();
    world.data(server, &body(200_000, BODY));
    assert!(world.answers(client).0[0].body == body(0, BODY));
    world.assert_at_rest();
}
