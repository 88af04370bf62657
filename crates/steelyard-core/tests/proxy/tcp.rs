//! TCP: one service for each connection, bytes and ends of both directions as they come.

use std::sync::atomic::Ordering::Relaxed;

use steelyard_core::command::read;
use steelyard_core::config::Config;
use steelyard_core::proxy::io::{Close, ConnId, Gone};
use steelyard_core::proxy::limits::Limits;
use steelyard_core::proxy::record::Cause;
use steelyard_core::service::State;
use steelyard_core::time::Time;

use crate::world::{Connects, Logged, World, get};

/// Services s1, s2... and the virtual server `vs` of type TCP, with these options.
pub fn tcp_config(count: u16, of_services: &str, of_vserver: &str) -> Config {
    let mut text = format!("enable ns feature LB\nadd lb vserver vs TCP 127.0.0.1 80 {of_vserver}\n");
    for i in 1..=count {
        text +=
            &format!("add service s{i} 127.0.0.1 TCP {} {of_services}\nbind lb vserver vs s{i}\n", 8_000 + i);
    }
    let reading = read(text.as_bytes(), "ns.conf");
    assert_eq!(reading.refused, []);
    reading.config
}

/// By round robin, and idle for 9000 seconds at most.
pub fn tcp_world(count: u16, limits: Limits) -> World {
    World::of(&tcp_config(count, "", "-lbMethod ROUNDROBIN"), limits)
}

/// A client whose connection is relayed to its service.
fn relayed(world: &mut World) -> (ConnId, ConnId) {
    let client = world.client();
    world.connects(Connects::Succeed);
    (client, *world.server_ids().last().unwrap())
}

fn out(world: &World, id: ConnId) -> &[u8] {
    &world.io.conns[&id].out
}

#[test]
fn the_service_is_connected_to_at_once_and_may_speak_first() {
    let mut world = tcp_world(1, Limits::default());
    let client = world.client();
    assert_eq!(world.io.connecting.len(), 1, "before a byte has come");
    world.connects(Connects::Succeed);
    let server = world.server_ids()[0];
    world.data(server, b"220 mail\r\n");
    assert_eq!(out(&world, client), b"220 mail\r\n");
    world.data(client, b"EHLO\r\n");
    assert_eq!(out(&world, server), b"EHLO\r\n");
    assert_eq!(world.services[0].active(), 1, "one transaction for the connection");
    world.end(client);
    world.end(server);
    world.assert_at_rest();
}

#[test]
fn each_connection_is_balanced_once() {
    let mut world = tcp_world(3, Limits::default());
    for _ in 0..6 {
        let (client, server) = relayed(&mut world);
        world.data(client, b"one");
        world.data(server, b"two");
        world.data(client, b"three");
        assert_eq!(out(&world, server), b"onethree");
    }
    let requests: Vec<u64> = world.services.iter().map(|s| s.requests()).collect();
    assert_eq!(requests, [2, 2, 2]);
    assert_eq!(world.snapshot.vserver("vs").unwrap().live.hits.load(Relaxed), 6);
}

/// RFC 9293 3.6: either side may go on after the other has ended.
#[test]
fn l07_a_fin_ends_one_direction_only() {
    let mut world = tcp_world(1, Limits::default());
    let (client, server) = relayed(&mut world);
    world.data(client, b"question");
    world.end(client);
    assert!(world.io.conns[&server].finished && world.is_open(client), "the FIN is relayed");
    world.pass(8_000_000_000);
    world.data(server, b"late answer");
    assert_eq!(out(&world, client), b"late answer");
    world.end(server);
    assert_eq!(world.io.conns[&client].closed, Some(Close::Graceful));
    assert_eq!(world.io.conns[&server].closed, Some(Close::Graceful));
    world.assert_at_rest();
}

#[test]
fn l07_the_service_may_end_first() {
    let mut world = tcp_world(1, Limits::default());
    let (client, server) = relayed(&mut world);
    world.data(server, b"hello");
    world.end(server);
    assert!(world.io.conns[&client].finished && world.is_open(server));
    world.data(client, b"upload");
    assert_eq!(out(&world, server), b"upload");
    world.end(client);
    assert_eq!(world.io.conns[&server].closed, Some(Close::Graceful));
    world.assert_at_rest();
}

#[test]
fn bytes_and_fin_that_come_before_the_connect_succeeds_go_on_behind_it() {
    let mut world = tcp_world(1, Limits::default());
    let client = world.client();
    world.data(client, b"early");
    world.end(client);
    let server = world.server_ids()[0];
    assert_eq!(out(&world, server), b"", "another service may have to get them");
    world.connects(Connects::Succeed);
    assert_eq!(out(&world, server), b"early");
    assert!(world.io.conns[&server].finished);
    world.data(server, b"answer");
    assert_eq!(out(&world, client), b"answer");
    world.end(server);
    world.assert_at_rest();
}

/// RFC 9293 3.10.7, and what came before the reset still arrives.
#[test]
fn l08_a_reset_is_relayed_as_one_behind_what_came_before() {
    let mut world = tcp_world(1, Limits::default());
    let (client, server) = relayed(&mut world);
    world.data(server, b"half");
    world.io.conns.get_mut(&server).unwrap().closed = Some(Close::Reset);
    world.engine.gone(server, Gone::Reset, &mut world.io);
    assert_eq!(out(&world, client), b"half");
    assert_eq!(world.io.conns[&client].closed, Some(Close::Cut));
    let (client, server) = relayed(&mut world);
    world.data(client, b"half");
    world.reset(client);
    assert_eq!(world.io.conns[&server].closed, Some(Close::Cut));
    world.assert_at_rest();
}

/// It has been sent nothing.
#[test]
fn a_connect_in_progress_is_given_up_when_the_client_resets() {
    let mut world = tcp_world(1, Limits::default());
    let client = world.client();
    world.data(client, b"held");
    world.reset(client);
    let server = world.server_ids()[0];
    assert_eq!((world.io.conns[&server].closed, out(&world, server)), (Some(Close::Reset), &b""[..]));
    world.assert_at_rest();
}

#[test]
fn a_failed_connect_goes_to_another_service_with_what_was_held() {
    let mut world = tcp_world(2, Limits::default());
    let client = world.client();
    world.data(client, b"held");
    world.connects(Connects::Refuse(8_001));
    let server = *world.server_ids().iter().find(|id| world.is_open(**id)).unwrap();
    assert_eq!(world.io.conns[&server].to.unwrap().port(), 8_002);
    assert_eq!(out(&world, server), b"held");
    assert_eq!((world.services[0].active(), world.services[1].active()), (0, 1));
}

/// `spec/methods.md` ruling 8: by RST.
#[test]
fn a_client_that_nobody_can_serve_is_reset() {
    let mut world = tcp_world(1, Limits::default());
    let client = world.client();
    world.connects(Connects::Refuse(8_001));
    assert_eq!(world.io.conns[&client].closed, Some(Close::Reset));
    world.services[0].set_state(State::Down, Time::from_us(world.io.now));
    assert_eq!(world.try_client(), None);
    world.assert_at_rest();
}

#[test]
fn a_connect_that_takes_too_long_has_failed() {
    let mut world = tcp_world(1, Limits::default());
    let client = world.client();
    world.pass(Limits::default().connect_us + 2_000);
    assert_eq!(world.io.conns[&client].closed, Some(Close::Reset));
    world.assert_at_rest();
}

#[test]
fn what_is_held_for_a_connect_has_a_bound() {
    let mut world = tcp_world(1, Limits { held_bytes: 100, ..Limits::default() });
    let client = world.client();
    world.data(client, &[7; 99]);
    assert!(!world.io.conns[&client].paused);
    world.data(client, &[7; 1]);
    assert!(world.io.conns[&client].paused);
    world.data(client, &[8; 50]);
    world.connects(Connects::Succeed);
    let server = world.server_ids()[0];
    assert!(!world.io.conns[&client].paused);
    assert_eq!(out(&world, server), [&[7; 100][..], &[8; 50]].concat());
}

#[test]
fn who_takes_nothing_pauses_the_other() {
    let mut world = tcp_world(1, Limits { high_water: 100, ..Limits::default() });
    let (client, server) = relayed(&mut world);
    for (taker, sender) in [(client, server), (server, client)] {
        world.io.stuck.insert(taker);
        world.data(sender, &[1; 100]);
        assert!(!world.io.conns[&sender].paused);
        world.data(sender, &[1; 1]);
        assert!(world.io.conns[&sender].paused);
        world.io.stuck.remove(&taker);
        world.io.conns.get_mut(&taker).unwrap().queued = 0;
        world.engine.drained(taker, &mut world.io);
        assert!(!world.io.conns[&sender].paused);
    }
}

/// Both have ended, and one has not taken all yet: closed is only what is whole.
#[test]
fn what_was_sent_before_the_ends_is_taken_before_the_close() {
    for slow_client in [true, false] {
        let mut world = tcp_world(1, Limits { high_water: 100, ..Limits::default() });
        let (client, server) = relayed(&mut world);
        let (taker, sender) = if slow_client { (client, server) } else { (server, client) };
        world.io.stuck.insert(taker);
        world.data(sender, &[1; 50]);
        world.end(sender);
        world.end(taker);
        assert!(world.is_open(client) && world.is_open(server));
        assert!(world.io.conns[&client].finished && world.io.conns[&server].finished);
        world.io.conns.get_mut(&taker).unwrap().queued = 0;
        world.engine.drained(taker, &mut world.io);
        let ends = [client, server].map(|id| world.io.conns[&id].closed);
        assert_eq!(ends, [Some(Close::Graceful); 2]);
        world.assert_at_rest();
    }
}

/// `cltTimeout` and `svrTimeout`, whichever is shorter, from the last byte in either direction; 0 is never.
#[test]
fn silence_ends_a_connection_by_reset() {
    for (client_s, server_s, ends_after_s) in
        [(10, 9_000, Some(10)), (9_000, 10, Some(10)), (0, 10, Some(10)), (10, 0, Some(10)), (0, 0, None)]
    {
        let config = tcp_config(1, &format!("-svrTimeout {server_s}"), &format!("-cltTimeout {client_s}"));
        let mut world = World::of(&config, Limits::default());
        let (client, server) = relayed(&mut world);
        for sender in [client, server, client, server] {
            world.pass(6_000_000);
            world.data(sender, b"x");
            assert!(world.is_open(client));
        }
        world.pass(9_900_000);
        assert!(world.is_open(client));
        world.pass(200_000);
        assert_eq!(!world.is_open(client), ends_after_s.is_some(), "{client_s} {server_s}");
        if ends_after_s.is_some() {
            assert_eq!(world.io.conns[&client].closed, Some(Close::Reset));
            assert_eq!(world.io.conns[&server].closed, Some(Close::Reset));
            world.assert_at_rest();
        } else {
            world.pass(100_000_000_000);
            assert!(world.is_open(client));
        }
    }
}

#[test]
fn bytes_are_counted_on_both_sides() {
    let mut world = tcp_world(1, Limits::default());
    let (client, server) = relayed(&mut world);
    world.data(client, &[1; 30]);
    world.data(server, &[2; 500]);
    let live = std::sync::Arc::clone(&world.snapshot.vserver("vs").unwrap().live);
    assert_eq!((live.request_bytes.load(Relaxed), live.response_bytes.load(Relaxed)), (30, 500));
    let traffic = &world.services[0].traffic;
    assert_eq!((traffic.request_bytes.load(Relaxed), traffic.response_bytes.load(Relaxed)), (30, 500));
    assert_eq!((live.connections.load(Relaxed), traffic.connections.load(Relaxed)), (1, 1));
    // What only HTTP has.
    assert_eq!((live.requests.load(Relaxed), live.responses.load(Relaxed)), (0, 0));
    world.end(client);
    world.end(server);
    assert_eq!(live.connections.load(Relaxed), 0);
}

/// Bytes held for a connect that fails reached nobody.
#[test]
fn bytes_are_counted_for_the_service_that_gets_them() {
    let mut world = tcp_world(2, Limits::default());
    let client = world.client();
    world.data(client, b"held");
    world.connects(Connects::Refuse(8_001));
    let bytes = |i: usize| world.services[i].traffic.request_bytes.load(Relaxed);
    assert_eq!((bytes(0), bytes(1)), (0, 4));
}

/// `spec/methods.md` ruling 9.
#[test]
fn packets_are_counted_on_a_tick_and_at_the_end() {
    let mut world = World::of(&tcp_config(1, "", "-lbMethod LEASTPACKETS"), Limits::default());
    let (client, server) = relayed(&mut world);
    let packets = |world: &World| world.services[0].traffic.packets.load(Relaxed);
    // The world counts one packet for each 1,460 bytes that the service was sent, and one more.
    world.data(client, &[1; 1_460]);
    assert_eq!(packets(&world), 2);
    world.data(client, &[1; 1_460]);
    assert_eq!(packets(&world), 2, "within the tick");
    world.pass(100_000);
    world.data(server, b"x");
    assert_eq!(packets(&world), 3);
    world.data(client, &[1; 1_460]);
    world.end(client);
    world.end(server);
    assert_eq!(packets(&world), 4);
}

/// What a byte costs beyond its bytes: the clock is read once.
#[test]
fn the_clock_is_read_once_for_each_read() {
    let mut world = tcp_world(1, Limits::default());
    let (client, server) = relayed(&mut world);
    for id in [client, server] {
        let before = world.io.now_calls;
        world.data(id, b"x");
        assert_eq!(world.io.now_calls, before + 1);
    }
}

/// A connection is one transaction: it ends on what it began with.
#[test]
fn a_removed_virtual_server_leaves_its_connections_alone() {
    let mut world = tcp_world(1, Limits::default());
    let (client, server) = relayed(&mut world);
    world.engine.adopt(Default::default(), &mut world.io);
    world.data(client, b"still");
    assert_eq!(out(&world, server), b"still");
    assert_eq!(world.try_client(), None);
}

/// `spec/methods.md` ruling 11: on the service, on the group, or for all of TCP by `ns param -tcpCIP`; not by `-cip`
/// there, which is about requests. The bytes themselves are proved beside the code that writes them.
#[test]
fn a_tcp_service_is_told_the_client_by_a_prefix_where_that_is_configured() {
    let prefix_of = |lines: &str, options: &str| {
        let text = format!(
            "enable ns feature LB\n{lines}add lb vserver vs TCP 127.0.0.1 80\nadd serviceGroup g TCP {options}\n\
             bind serviceGroup g 127.0.0.1 8001\nbind lb vserver vs g\n"
        );
        let of_group = read(text.as_bytes(), "ns.conf").config;
        let of_service = read(
            text.replace("serviceGroup g TCP", "service s 127.0.0.1 TCP 8001")
                .replace("bind serviceGroup g 127.0.0.1 8001\n", "")
                .replace("vs g", "vs s")
                .as_bytes(),
            "ns.conf",
        )
        .config;
        let seen = [of_group, of_service].map(|config| {
            let mut world = World::of(&config, Limits::default());
            world.io.local = Some(([10, 0, 0, 1], 8080).into());
            let client = world.client();
            world.data(client, b"held");
            world.connects(Connects::Succeed);
            let server = world.server_ids()[0];
            world.data(client, b"more");
            let sent = out(&world, server).to_vec();
            assert!(sent.ends_with(b"heldmore"), "{sent:?}");
            let bytes = &world.services[0].traffic.request_bytes;
            assert_eq!(bytes.load(Relaxed), sent.len() as u64, "what the service is sent");
            sent[..sent.len() - 8].to_vec()
        });
        assert_eq!(seen[0], seen[1], "service and group");
        seen[0].clone()
    };
    assert_eq!(prefix_of("", ""), b"");
    assert_eq!(prefix_of("set ns param -cip ENABLED 5\n", ""), b"");
    let prefix = prefix_of("", "-cip ENABLED 16909060");
    assert_eq!((prefix.len(), &prefix[..13]), (52, &[1, 2, 3, 4, 0, 0, 0, 52, 0, 1, 0, 40, 0x45][..]));
    // Addresses and ports: the client of `World::client`, and what it connected to.
    assert_eq!(prefix[24..36], [127, 0, 0, 9, 10, 0, 0, 1, 3, 0xe7, 0x1f, 0x90]);
    assert_eq!(prefix_of("set ns param -tcpCIP ENABLED -cip DISABLED 16909060\n", ""), prefix);
    assert_eq!(prefix_of("set ns param -cip DISABLED 16909060\n", "-cip ENABLED"), prefix);
}

#[test]
fn a_service_that_speaks_first_has_the_prefix_before() {
    let mut world = World::of(&tcp_config(1, "-cip ENABLED 1", ""), Limits::default());
    let (client, server) = relayed(&mut world);
    assert_eq!(out(&world, server).len(), 52, "before a byte of the client's");
    world.data(server, b"220");
    assert_eq!(out(&world, client), b"220");
}

/// One record for each connection, and what ended it.
#[test]
fn each_connection_has_a_record() {
    let limits = Limits { logged_line_bytes: 100, ..Limits::default() };
    let cause = |act: &dyn Fn(&mut World)| {
        let mut world = World::of(&tcp_config(2, "-svrTimeout 100", "-lbMethod ROUNDROBIN"), limits.clone());
        act(&mut world);
        assert_eq!(world.io.records.len(), 1, "{:?}", world.io.records);
        world.io.records.remove(0)
    };
    let closed = cause(&|world| {
        let client = world.client();
        world.connects(Connects::Refuse(8_001));
        let server = *world.server_ids().last().unwrap();
        world.pass(5_000_000);
        world.data(client, b"12345");
        world.data(server, b"123");
        world.end(client);
        world.end(server);
    });
    let expected = Logged {
        vserver: "vs".into(),
        backup: None,
        service: Some("s2".into()),
        reason: Some("startup round robin"),
        client: ([127, 0, 0, 9], 999).into(),
        line: String::new(),
        status: None,
        duration_us: 5_000_000,
        ttfb_us: None,
        received_bytes: 5,
        sent_bytes: 3,
        retries: 1,
        cause: Cause::Closed,
    };
    assert_eq!(Logged { reason: expected.reason, ..closed }, expected);
    let of = |act: &dyn Fn(&mut World)| cause(act).cause;
    assert_eq!(
        of(&|world| {
            let (client, _) = relayed(world);
            world.reset(client)
        }),
        Cause::ClientReset
    );
    assert_eq!(
        of(&|world| {
            let (_, server) = relayed(world);
            world.reset(server)
        }),
        Cause::ServiceReset
    );
    assert_eq!(
        of(&|world| {
            relayed(world);
            world.pass(101_000_000)
        }),
        Cause::ServiceTimeout
    );
    let none_up = |world: &mut World| {
        let now = Time::from_us(world.io.now);
        world.services.iter().for_each(|service| service.set_state(State::Down, now));
        world.services[0].set_state(State::Up, now);
    };
    assert_eq!(
        of(&|world| {
            none_up(world);
            world.client();
            world.connects(Connects::Refuse(8_001));
        }),
        Cause::ConnectFailed
    );
}

/// Cases L10 and L12: this host's own lack is no fault of the service. Others are tried; then it is 503, or RST.
#[test]
fn l12_without_a_local_port_it_is_503_and_the_service_stays_up() {
    let no_port = |world: &mut World| {
        let id = world.io.connecting.pop_front().unwrap();
        let conn = world.io.conns.get_mut(&id).unwrap();
        conn.closed = Some(Close::Reset);
        conn.out.clear();
        world.engine.gone(id, Gone::NoLocalPort, &mut world.io);
    };
    let counts = |world: &World| -> Vec<u64> {
        world.services.iter().map(|service| service.traffic.no_local_port.load(Relaxed)).collect()
    };
    let limits = Limits { logged_line_bytes: 100, ..Limits::default() };
    let mut world = World::with(2, limits.clone());
    let client = world.client();
    world.data(client, &get("/"));
    no_port(&mut world);
    no_port(&mut world);
    assert_eq!((world.statuses(client), counts(&world)), (vec![503], vec![1, 1]));
    assert_eq!(world.io.records[0].cause, Cause::NoLocalPort);
    let mut world = tcp_world(2, limits);
    let client = world.client();
    world.data(client, b"held");
    no_port(&mut world);
    assert!(world.is_open(client), "another service may be reached");
    no_port(&mut world);
    assert_eq!((world.io.conns[&client].closed, counts(&world)), (Some(Close::Reset), vec![1, 1]));
    assert_eq!(world.io.records[0].cause, Cause::NoLocalPort);
    assert!(world.services.iter().all(|service| service.state() == State::Up));
    world.assert_at_rest();
}
