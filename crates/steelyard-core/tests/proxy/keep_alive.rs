//! One connection and many requests: order, back pressure, half-closes, time-outs, reconfiguration.

use std::sync::Arc;

use steelyard_core::config::guard::Guards;
use steelyard_core::proxy::io::Close;
use steelyard_core::proxy::limits::Limits;
use steelyard_core::time::Time;

use crate::tcp::tcp_config;
use crate::world::{Act, Connects, World, config, echo, get};

#[test]
fn an_idle_connection_makes_room_for_another() {
    let mut world = World::with(3, Limits { servers: 2, ..Limits::default() });
    let client = world.client();
    for _ in 0..2 {
        world.data(client, &get("/"));
        world.serve();
        world.pass(1_000);
    }
    assert_eq!(world.engine.idle_servers(), 2);
    world.data(client, &get("/"));
    world.serve();
    let ids = world.server_ids();
    let open: Vec<bool> = ids.iter().map(|id| world.is_open(*id)).collect();
    assert_eq!(open.len() - world.engine.servers(), 1);
    assert_eq!(world.statuses(client), [200; 3]);
    assert!(
        !world.is_open(ids[0]) && world.is_open(ids[1]),
        "the one that was used least recently goes: {open:?}"
    );
    world.assert_at_rest();
}

#[test]
fn what_need_not_change_is_passed_on_as_it_came() {
    let mut world = World::new(1);
    let client = world.client();
    let request: &[u8] =
        b"POST /p HTTP/1.1\r\nhOsT:  h11.test \r\nX-Odd:\t a  b \r\ntransfer-encoding:CHUNKED\r\n\r\n\
        5 ;x=\"y\"\r\nhello\r\n0\r\nX-T: 1\r\n\r\n";
    let answer: &[u8] = b"HTTP/1.1 200 \r\nX-Odd:\t b\r\ntransfer-encoding: chunked\r\n\r\n00\r\n\r\n";
    world.data(client, request);
    world.run(Connects::Succeed, |_| Act::Answer(answer.to_vec()));
    assert_eq!(world.io.conns[&world.server_ids()[0]].out, request);
    assert_eq!(world.io.conns[&client].out, answer);
}

#[test]
fn one_request_reads_the_clock_twice() {
    let mut world = World::new(1);
    let client = world.client();
    world.data(client, &get("/warm"));
    world.serve();
    let before = world.io.now_calls;
    world.data(client, &get("/x"));
    world.serve();
    assert_eq!(world.io.now_calls - before, 2);
}

#[test]
fn idle_connections_are_used_again_last_in_first_out() {
    let mut world = World::new(1);
    let clients: Vec<_> = (0..3).map(|_| world.client()).collect();
    for client in &clients {
        world.data(*client, &get("/"));
    }
    world.serve();
    assert_eq!(world.engine.idle_servers(), 3);
    for _ in 0..10 {
        world.data(clients[0], &get("/"));
        world.serve();
    }
    assert_eq!((world.server_ids().len(), world.engine.idle_servers()), (3, 3));
    world.assert_at_rest();
}

#[test]
fn pipelined_requests_are_held_and_answered_in_order() {
    let mut world = World::with(2, Limits { held_bytes: 256, ..Limits::default() });
    let client = world.client();
    let all: Vec<u8> = (0..20).flat_map(|i| get(&format!("/{i}"))).collect();
    world.data(client, &all[..200]);
    assert!(world.io.conns[&client].paused, "what comes next must wait");
    world.data(client, &all[200..]);
    let seen = world.serve();
    assert_eq!(seen.len(), 20);
    let bodies: Vec<String> =
        world.answers(client).0.into_iter().map(|m| String::from_utf8(m.body).unwrap()).collect();
    assert_eq!(bodies, (0..20).map(|i| format!("/{i}")).collect::<Vec<_>>());
    assert!(!world.io.conns[&client].paused);
    world.assert_at_rest();
}

#[test]
fn a_client_that_ignores_the_pause_is_cut_off() {
    let mut world = World::with(1, Limits { held_bytes: 1_000, ..Limits::default() });
    let client = world.client();
    world.data(client, &get("/"));
    for _ in 0..100 {
        if world.is_open(client) {
            world.engine.data(client, &[b'x'; 500], &mut world.io);
        }
    }
    assert_eq!(world.io.conns[&client].closed, Some(Close::Reset));
    world.assert_at_rest();
}

#[test]
fn a_client_that_takes_nothing_pauses_its_service() {
    let mut world = World::new(1);
    let client = world.client();
    world.data(client, &get("/"));
    world.connects(Connects::Succeed);
    let server = world.server_ids()[0];
    world.io.stuck.insert(client);
    world.data(server, b"HTTP/1.1 200 OK\r\nContent-Length: 200000\r\n\r\n");
    for _ in 0..20 {
        world.data(server, &[b'x'; 10_000]);
    }
    assert!(world.io.conns[&server].paused);
    assert!(world.io.conns[&client].out.len() < 80_000, "the queue has a bound");
    world.io.stuck.clear();
    while !world.io.conns[&server].waiting.is_empty() || world.io.conns[&client].queued > 0 {
        world.io.conns.get_mut(&client).unwrap().queued = 0;
        world.engine.drained(client, &mut world.io);
        world.deliver();
    }
    assert_eq!(world.statuses(client), [200]);
    assert_eq!(world.engine.idle_servers(), 1);
    assert!(!world.io.conns[&server].paused, "idle connections are not paused");
    world.assert_at_rest();
}

#[test]
fn a_service_that_takes_nothing_pauses_its_client() {
    let mut world = World::new(1);
    let client = world.client();
    world.data(client, b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 500000\r\n\r\n");
    for _ in 0..50 {
        world.data(client, &[b'x'; 10_000]);
    }
    assert!(world.io.conns[&client].paused, "the connect has not succeeded yet");
    assert!(world.io.conns[&world.server_ids()[0]].out.len() < 80_000);
    let seen = world.serve();
    assert_eq!(seen[0].body.len(), 500_000);
    assert_eq!(world.statuses(client), [200]);
    world.assert_at_rest();
}

#[test]
fn a_client_that_reads_no_answers_gets_no_more() {
    let mut world = World::with(1, Limits { high_water: 1_000, ..Limits::default() });
    let client = world.client();
    world.io.stuck.insert(client);
    let all: Vec<u8> = (0..200).flat_map(|_| get("/a")).collect();
    world.data(client, &all);
    let seen = world.serve().len();
    assert!(seen < 40, "{seen} answers are queued");
    world.io.stuck.clear();
    world.io.conns.get_mut(&client).unwrap().queued = 0;
    world.engine.drained(client, &mut world.io);
    assert_eq!(seen + world.serve().len(), 200);
    world.assert_at_rest();
}

#[test]
fn an_unfinished_request_never_completes_at_the_service() {
    for (cut, statuses) in [("end", vec![400]), ("reset", vec![]), ("silence", vec![408])] {
        let mut world = World::new(1);
        let client = world.client();
        world.data(client, b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhel");
        world.connects(Connects::Succeed);
        match cut {
            "end" => world.end(client),
            "reset" => world.reset(client),
            _ => world.pass(181_000_000),
        }
        let server = &world.io.conns[&world.server_ids()[0]];
        assert_eq!(server.closed, Some(Close::Reset), "{cut}");
        assert!(server.out.ends_with(b"hel"), "{cut}");
        assert_eq!(world.statuses(client), statuses, "{cut}");
        world.assert_at_rest();
    }
}

#[test]
fn silence_between_requests_ends_silently_and_within_a_head_by_408() {
    let mut world = World::new(1);
    let (silent, slow) = (world.client(), world.client());
    world.data(slow, b"GET / HT");
    world.pass(10_100_000);
    assert_eq!(world.statuses(slow), [408]);
    world.pass(169_000_000);
    assert!(world.is_open(silent));
    world.pass(2_000_000);
    assert!(!world.is_open(silent) && world.out(silent).is_empty());
    world.assert_at_rest();
}

#[test]
fn chunks_reach_an_old_client_without_their_coding() {
    for split in [1, 7, 1_000] {
        let mut world = World::new(1);
        let client = world.client();
        world.data(client, b"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
        world.connects(Connects::Succeed);
        let server = world.server_ids()[0];
        assert!(world.io.conns[&server].out.starts_with(b"GET / HTTP/1.1\r\nHost: 127.0.0.1:80\r\n"));
        let answer = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n world\r\n0\r\nX: 1\r\n\r\n";
        for piece in answer.chunks(split) {
            world.data(server, piece);
        }
        assert_eq!(world.out(client), "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello world");
        assert_eq!(world.io.conns[&client].closed, Some(Close::Graceful));
        assert_eq!(world.engine.idle_servers(), 1);
        world.assert_at_rest();
    }
}

#[test]
fn a_removed_virtual_server_ends_its_sessions_after_their_transactions() {
    let mut world = World::new(2);
    let (busy, idle) = (world.client(), world.client());
    world.data(idle, &get("/"));
    world.serve();
    world.data(busy, &get("/"));
    world.connects(Connects::Succeed);
    let mut without = config(2);
    without.lb_vservers = [].into_iter().collect();
    let next = Arc::new(world.snapshot.next(&without, &Guards::default(), Time::from_us(world.io.now)));
    world.engine.adopt(next, &mut world.io);
    assert!(!world.is_open(idle) && world.is_open(busy));
    world.run(Connects::Succeed, |request| Act::Answer(echo(request)));
    assert_eq!(world.statuses(busy), [200]);
    assert!(world.out(busy).contains("Connection: close\r\n"));
    assert!(!world.is_open(busy));
    world.assert_at_rest();
}

/// `rm` and `add` under one name in one reload: no session goes on at the other, and no choice is sent on to it.
#[test]
fn a_name_with_another_protocol_is_another_virtual_server() {
    let mut world = World::new(1);
    let client = world.client();
    world.data(client, &get("/"));
    world.serve();
    let old = Arc::clone(world.snapshot.vserver("vs").unwrap());
    let other = tcp_config(1, "", "");
    let next = Arc::new(world.snapshot.next(&other, &Guards::default(), Time::from_us(world.io.now)));
    world.engine.adopt(Arc::clone(&next), &mut world.io);
    assert!(!world.is_open(client), "an idle session ends");
    assert!(!Arc::ptr_eq(&old.live, &next.vserver("vs").unwrap().live), "its counters begin anew");
    assert!(old.picker.pick(Time::from_us(world.io.now), &[]).is_none());
}

#[test]
fn a_removed_service_loses_its_idle_connections() {
    let mut world = World::new(2);
    let clients = [world.client(), world.client()];
    clients.iter().for_each(|c| world.data(*c, &get("/")));
    world.serve();
    assert_eq!(world.engine.idle_servers(), 2);
    let next = Arc::new(world.snapshot.next(&config(1), &Guards::default(), Time::from_us(world.io.now)));
    world.engine.adopt(Arc::clone(&next), &mut world.io);
    assert_eq!(world.engine.idle_servers(), 1);
    for _ in 0..4 {
        world.data(clients[0], &get("/"));
        assert_eq!(world.serve().len(), 1);
    }
    assert_eq!(world.engine.servers(), 1);
    world.assert_at_rest();
}

#[test]
fn a_change_of_source_address_opens_a_new_connection() {
    let mut world = World::new(1);
    let client = world.client();
    let snip = Some([10, 0, 0, 1].into());
    let request = |world: &mut World| {
        world.data(client, &get("/"));
        assert_eq!(world.serve().len(), 1);
        world.server_ids().iter().map(|id| world.io.conns[id].from).collect::<Vec<_>>()
    };
    assert_eq!(request(&mut world), [None]);
    world.services[0].source.subnet.set(snip);
    assert_eq!(request(&mut world), [None, snip]);
    assert_eq!(request(&mut world), [None, snip], "the idle connection from there is used");
    world.services[0].source.subnet.set(None);
    assert_eq!(request(&mut world), [None, snip], "and the first one again");
    world.pass(61_000_000);
    assert_eq!(world.engine.servers(), 0, "those of neither address stay for ever");
    world.assert_at_rest();
}

#[test]
fn empty_lines_before_a_request_are_skipped_however_they_are_cut() {
    for pieces in [&["\r\n", "\r", "\n"][..], &["\r", "\n\r\n"], &["\r\n\r\n\r", "\n"]] {
        let mut world = World::new(1);
        let client = world.client();
        pieces.iter().for_each(|piece| world.data(client, piece.as_bytes()));
        world.data(client, &get("/"));
        world.serve();
        assert_eq!(world.statuses(client), [200]);
        assert_eq!(world.io.conns[&world.server_ids()[0]].out, get("/"));
    }
    let mut world = World::new(1);
    let client = world.client();
    world.data(client, b"\r");
    world.data(client, b"\n\nGET / HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_eq!((world.serve().len(), world.statuses(client)), (0, vec![400]), "a bare LF is no empty line");
}

#[test]
fn an_empty_line_begins_no_request() {
    let mut world = World::new(1);
    let client = world.client();
    world.data(client, b"\r\n\r");
    world.pass(20_000_000);
    assert!(world.is_open(client), "nothing of a request has arrived");
    world.pass(200_000_000);
    assert!(!world.is_open(client) && world.out(client).is_empty());
    world.assert_at_rest();
}

#[test]
fn what_a_client_sends_before_the_switch_is_held_until_it() {
    let offer: &[u8] = b"GET /ws HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
        Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\nearly";
    let switch = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
    let mut world = World::new(1);
    let client = world.client();
    world.data(client, offer);
    world.connects(Connects::Succeed);
    let server = world.server_ids()[0];
    assert!(!world.io.conns[&server].out.ends_with(b"early"));
    world.data(server, switch);
    assert!(world.io.conns[&server].out.ends_with(b"\r\n\r\nearly"));
    assert_eq!(world.services[0].active(), 1, "a tunnel is an active transaction");
    world.pass(181_000_000);
    assert!(!world.is_open(client) && !world.is_open(server), "silent for cltTimeout");
    world.assert_at_rest();

    let mut world = World::new(1);
    let client = world.client();
    world.data(client, offer);
    world.serve();
    assert_eq!(world.statuses(client), [200], "no switch: what came early is the beginning of a request");
    world.pass(11_000_000);
    assert_eq!(world.statuses(client), [200, 408]);
    world.assert_at_rest();
}
