//! What the access log is told of each transaction: once, whatever came of it, and what ended it.

use steelyard_core::proxy::io::ConnId;
use steelyard_core::proxy::limits::Limits;
use steelyard_core::proxy::record::Cause;
use steelyard_core::service::State;
use steelyard_core::time::{SECOND_US, Time};

use crate::world::{Act, Connects, Logged, World, echo, get};

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

fn logging(services: u16) -> World {
    World::with(services, Limits { logged_line_bytes: 1_024, ..Limits::default() })
}

/// The one record that there is.
fn only(world: &mut World) -> Logged {
    assert_eq!(world.io.records.len(), 1, "{:?}", world.io.records);
    world.io.records.remove(0)
}

#[test]
fn an_answered_request_has_all_its_figures() {
    let mut world = logging(2);
    let client = world.client();
    let request = b"POST /a/b?c=d HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhel";
    world.data(client, &request[..10]);
    world.pass(3_000);
    world.data(client, &request[10..]);
    world.pass(2_000);
    world.data(client, b"lo");
    world.connects(Connects::Succeed);
    let server = world.server_ids()[0];
    world.pass(7_000);
    world.data(server, &OK[..OK.len() - 1]);
    world.pass(4_000);
    world.data(server, b"k");
    let logged = only(&mut world);
    let expected = Logged {
        vserver: "vs".into(),
        backup: None,
        service: Some("s1".into()),
        reason: Some("method"),
        client: ([127, 0, 0, 9], 999).into(),
        line: "POST /a/b?c=d HTTP/1.1".into(),
        status: Some(200),
        duration_us: 16_000,
        ttfb_us: Some(7_000),
        received_bytes: request.len() as u64 + 2,
        sent_bytes: OK.len() as u64,
        retries: 0,
        cause: Cause::KeepAlive,
    };
    assert_eq!(logged, expected);
}

#[test]
fn pipelined_requests_have_a_record_each_with_their_own_bytes() {
    let mut world = logging(1);
    let client = world.client();
    world.data(client, &[get("/1"), get("/22"), get("/333")].concat());
    world.serve();
    let seen: Vec<_> =
        world.io.records.iter().map(|r| (r.line.as_str(), r.received_bytes, r.cause)).collect();
    let of = |target: &str| get(target).len() as u64;
    assert_eq!(
        seen,
        [
            ("GET /1 HTTP/1.1", of("/1"), Cause::KeepAlive),
            ("GET /22 HTTP/1.1", of("/22"), Cause::KeepAlive),
            ("GET /333 HTTP/1.1", of("/333"), Cause::KeepAlive),
        ]
    );
}

#[test]
fn what_never_got_a_service_is_logged_too() {
    let long = format!("GET /{} HTTP/1.1\r\nHost: h\r\n\r\n", "x".repeat(20_000));
    let cases: [(&[u8], &str, u16); 4] = [
        (b"GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1", 400),
        (b"GET / HTTP/1.1\nHost: h\n\n", "GET / HTTP/1.1", 400),
        (b"\x16\x03\x01\x02", "\u{16}\u{3}\u{1}\u{2}", 400),
        (long.as_bytes(), &long[..1_024], 414),
    ];
    for (bytes, line, status) in cases {
        let mut world = logging(1);
        let client = world.client();
        world.data(client, bytes);
        let logged = only(&mut world);
        assert_eq!((logged.line.as_str(), logged.status), (line, Some(status)));
        assert_eq!((logged.service, logged.reason, logged.cause), (None, None, Cause::BadRequest));
        assert_eq!(logged.received_bytes, bytes.len() as u64);
        assert_eq!(logged.sent_bytes, world.io.conns[&client].out.len() as u64);
    }
}

#[test]
fn without_a_service_that_is_up_the_client_stays_and_the_cause_is_said() {
    let mut world = logging(1);
    let client = world.client();
    world.services[0].set_state(State::Down, Time::ZERO);
    world.data(client, &get("/"));
    let logged = only(&mut world);
    assert_eq!((logged.status, logged.service, logged.cause), (Some(503), None, Cause::NoService));
    assert!(world.is_open(client));
}

#[test]
fn a_request_that_is_tried_again_says_so_and_who_had_it_last() {
    let mut world = logging(3);
    let client = world.client();
    world.data(client, &get("/"));
    world.run(Connects::Refuse(8_001), |request| Act::Answer(echo(request)));
    let logged = only(&mut world);
    assert_eq!((logged.service.as_deref(), logged.reason, logged.retries), (Some("s2"), Some("retry"), 1));
    assert_eq!((logged.status, logged.cause), (Some(200), Cause::KeepAlive));

    let mut world = logging(1);
    let client = world.client();
    world.data(client, &get("/"));
    world.run(Connects::Refuse(8_001), |request| Act::Answer(echo(request)));
    let logged = only(&mut world);
    assert_eq!((logged.service.as_deref(), logged.reason, logged.retries), (Some("s1"), Some("method"), 0));
    assert_eq!((logged.status, logged.cause), (Some(502), Cause::ConnectFailed));
}

/// Two services of one kind, with this of the second, before an engine that logs; the first is DOWN.
fn second_alone(kind: &str, settings: &str, second: &str) -> World {
    let text = format!(
        "enable ns feature LB SP\n{settings}\nadd lb vserver vs {kind} 127.0.0.1 80 -lbMethod ROUNDROBIN\n\
         add service s1 127.0.0.1 {kind} 8001\nadd service s2 127.0.0.1 {kind} 8002 {second}\n\
         bind lb vserver vs s1\nbind lb vserver vs s2\n"
    );
    let reading = steelyard_core::command::read(text.as_bytes(), "ns.conf");
    assert_eq!(reading.refused, []);
    let world = World::of(&reading.config, Limits { logged_line_bytes: 1_024, ..Limits::default() });
    world.services[0].set_state(State::Down, Time::ZERO);
    world
}

/// A client whose first service has just refused it.
fn refused_by_the_first(world: &mut World) -> ConnId {
    let client = world.client();
    world.data(client, &get("/"));
    let to = world.io.connecting.front().and_then(|id| world.io.conns[id].to);
    assert_eq!(to.map(|to| to.port()), Some(8_001));
    world.connects(Connects::Refuse(8_001));
    client
}

/// A service that was chosen is tried when a connection has the request, not while surge protection has it wait for one.
#[test]
fn a_wait_for_a_time_to_connect_is_no_retry() {
    for kind in ["HTTP", "TCP"] {
        let mut world = second_alone(kind, "set ns spParams -baseThreshold 1 -throttle Aggressive", "-sp ON");
        for _ in 0..2 {
            let client = world.client();
            world.data(client, &get("/"));
        }
        world.connects(Connects::Succeed);
        world.services[0].set_state(State::Up, Time::from_us(world.io.now));
        let impatient = refused_by_the_first(&mut world);
        assert_eq!(world.services[1].pace.waiting(), 1, "{kind}");
        world.reset(impatient);
        let logged = only(&mut world);
        assert_eq!((logged.cause, logged.retries), (Cause::ClientReset, 0), "{kind}");

        let patient = refused_by_the_first(&mut world);
        assert_eq!(world.services[1].pace.waiting(), 1, "{kind}");
        world.pass(SECOND_US);
        assert_eq!(world.services[1].pace.waiting(), 0, "{kind}");
        world.connects(Connects::Succeed);
        world.reset(patient);
        let logged = only(&mut world);
        assert_eq!((logged.cause, logged.retries), (Cause::ClientReset, 1), "{kind}");
    }
}

/// Nor while it waits for the permit that an idle connection of another engine has.
#[test]
fn a_wait_for_a_permit_to_connect_is_no_retry() {
    let mut other = second_alone("HTTP", "", "-maxClient 1");
    let mut world = other.beside(Limits { logged_line_bytes: 1_024, ..Limits::default() });
    let first = other.client();
    other.data(first, &get("/"));
    other.serve();
    assert_eq!(other.engine.idle_servers(), 1);
    world.services[0].set_state(State::Up, Time::from_us(world.io.now));

    let impatient = refused_by_the_first(&mut world);
    assert!(world.services[1].permits.is_wanted());
    world.reset(impatient);
    let logged = only(&mut world);
    assert_eq!((logged.cause, logged.retries), (Cause::ClientReset, 0));

    let patient = refused_by_the_first(&mut world);
    assert!(world.services[1].permits.is_wanted());
    let second = std::sync::Arc::clone(&world.services[1]);
    other.engine.asked_back(&second, &mut other.io);
    world.deliver();
    world.serve();
    assert_eq!(world.statuses(patient), [200]);
    let logged = only(&mut world);
    assert_eq!((logged.service.as_deref(), logged.status, logged.retries), (Some("s2"), Some(200), 1));
}

#[test]
fn what_the_client_breaks_off_is_its_doing() {
    let half: &[u8] = b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhe";
    type Deed = fn(&mut World, ConnId);
    let cases: [(&[u8], Deed, Cause, Option<u16>); 6] = [
        (b"GET / HTT", |w, c| w.end(c), Cause::ClientClosed, Some(400)),
        (b"GET / HTT", |w, c| w.reset(c), Cause::ClientReset, None),
        (b"GET / HTT", |w, _| w.pass(11_000_000), Cause::ClientTimeout, Some(408)),
        (half, |w, c| w.end(c), Cause::ClientClosed, Some(400)),
        (half, |w, c| w.reset(c), Cause::ClientReset, None),
        (half, |w, _| w.pass(181_000_000), Cause::ClientTimeout, Some(408)),
    ];
    for (bytes, deed, cause, status) in cases {
        let mut world = logging(1);
        let client = world.client();
        world.data(client, bytes);
        world.connects(Connects::Succeed);
        deed(&mut world, client);
        let logged = only(&mut world);
        assert_eq!((logged.cause, logged.status), (cause, status), "{}", String::from_utf8_lossy(bytes));
    }
}

#[test]
fn what_the_service_breaks_off_is_its_doing() {
    let cut: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nhalf";
    type Deed = fn(&mut World, ConnId);
    let cases: [(&[u8], Deed, Cause, u16); 6] = [
        (cut, |w, s| w.end(s), Cause::ServiceClosed, 200),
        (cut, |w, s| w.reset(s), Cause::ServiceReset, 200),
        (cut, |w, _| w.pass(361_000_000), Cause::ServiceTimeout, 200),
        (b"", |w, s| w.end(s), Cause::ServiceClosed, 502),
        (b"", |w, _| w.pass(361_000_000), Cause::ServiceTimeout, 504),
        (b"HTTP/1.1 200\0OK\r\n\r\n", |_, _| (), Cause::BadAnswer, 502),
    ];
    for (bytes, deed, cause, status) in cases {
        let mut world = logging(1);
        let client = world.client();
        world.data(client, &get("/"));
        world.connects(Connects::Succeed);
        let server = world.server_ids()[0];
        world.data(server, bytes);
        deed(&mut world, server);
        let logged = only(&mut world);
        assert_eq!(
            (logged.cause, logged.status),
            (cause, Some(status)),
            "{}",
            String::from_utf8_lossy(bytes)
        );
        assert_eq!(logged.service.as_deref(), Some("s1"));
    }
}

#[test]
fn a_tunnel_is_one_record_from_its_handshake_to_its_end() {
    let mut world = logging(1);
    let client = world.client();
    let offer: &[u8] =
        b"GET /ws HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: x\r\n\r\n";
    world.data(client, offer);
    world.connects(Connects::Succeed);
    let server = world.server_ids()[0];
    world.data(
        server,
        b"HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n",
    );
    world.data(client, b"ping");
    world.data(server, b"pong!");
    assert!(world.io.records.is_empty());
    world.end(client);
    world.end(server);
    let logged = only(&mut world);
    assert_eq!((logged.status, logged.cause), (Some(101), Cause::Closed));
    assert_eq!(logged.received_bytes, offer.len() as u64 + 4);
    assert!(world.out(client).ends_with("pong!"));
    assert_eq!(logged.sent_bytes, world.io.conns[&client].out.len() as u64);
}

#[test]
fn connections_without_a_request_have_no_record_and_nothing_is_kept_without_a_log() {
    let mut world = logging(1);
    let client = world.client();
    world.end(client);
    assert!(world.io.records.is_empty());

    let mut world = World::new(1);
    let client = world.client();
    world.data(client, &get("/"));
    world.serve();
    assert!(world.io.records.is_empty());
    let live = &world.snapshot.vserver("vs").unwrap().live;
    assert_eq!(live.duration.read().counts.iter().sum::<u64>(), 1, "the histograms need no log");
}

/// The record names both; the figures are those of the one that served.
#[test]
fn what_a_backup_serves_is_counted_there_and_logged_with_both() {
    let lines = "add service s1 127.0.0.1 HTTP 8001\nadd service t 127.0.0.1 HTTP 8009\nbind lb vserver vs s1\n\
                 add lb vserver w HTTP\nbind lb vserver w t\nset lb vserver vs -backupVServer w\n";
    let mut world = World::reading(lines).beside(Limits { logged_line_bytes: 1_024, ..Limits::default() });
    world.services[0].set_state(State::Down, Time::ZERO);
    let client = world.client();
    world.data(client, &get("/"));
    world.serve();
    let logged = only(&mut world);
    assert_eq!((logged.vserver.as_str(), logged.backup.as_deref()), ("vs", Some("w")));
    assert_eq!((logged.service.as_deref(), logged.status), (Some("t"), Some(200)));
    let answered =
        |name: &str| world.snapshot.vserver(name).unwrap().live.duration.read().counts.iter().sum::<u64>();
    assert_eq!((answered("vs"), answered("w")), (0, 1));
}
