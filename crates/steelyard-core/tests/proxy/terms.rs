//! What a service's options change for the requests that are sent to it, in lines of an ns.conf.

use steelyard_core::proxy::io::Close;

use crate::message::Seen;
use crate::world::{Act, Connects, World, echo, get};

/// The client of [`World::client`].
const CLIENT: &str = "127.0.0.9";

fn input(name: &str) -> Vec<u8> {
    std::fs::read(format!("{}/tests/fixtures/cases/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

fn one(options: &str) -> World {
    World::reading(&format!("add service s1 127.0.0.1 HTTP 8001 {options}\nbind lb vserver vs s1\n"))
}

#[test]
fn h54_the_clients_address_is_the_only_entry_whatever_it_sent() {
    let mut world = one("-cip ENABLED X-Forwarded-For");
    let client = world.client();
    world.data(client, &input("H54.req.bin"));
    // The same in another case, and as a gateway's variable would have the same name.
    world.data(client, b"GET / HTTP/1.1\r\nHost: a\r\nx-forwarded-FOR: 6.6.6.6\r\nX_Forwarded_For: 6.6.6.6\r\nX-Forwarded-Form: a\r\n\r\n");
    // Nothing but the length of the name in common.
    world.data(client, b"POST / HTTP/1.1\r\nHost: a\r\nX-Forwarded-Fox: 1\r\nContent-Length: 3\r\n\r\nabc");
    let seen = world.serve();
    assert_eq!(world.statuses(client), [200, 200, 200]);
    for request in &seen {
        assert_eq!(request.field("x-forwarded-for"), [CLIENT], "{request:?}");
        assert!(!request.has("x_forwarded_for"));
        assert_eq!(request.fields.last().unwrap().0, "X-Forwarded-For", "ours is the last field");
    }
    assert_eq!(seen[1].field("x-forwarded-form"), ["a"]);
    assert_eq!((seen[2].field("x-forwarded-fox"), &seen[2].body[..]), (vec!["1"], &b"abc"[..]));
}

#[test]
fn h25_connection_can_not_name_the_clients_address_away() {
    let mut world = one("-cip ENABLED X-Forwarded-For");
    let client = world.client();
    world.data(client, &input("H25.req.bin"));
    let seen = world.serve();
    assert_eq!(seen[0].field("x-forwarded-for"), [CLIENT]);
    assert_eq!((seen[0].field("content-length"), &seen[0].body[..]), (vec!["5"], &b"hello"[..]));
}

#[test]
fn h55_a_websocket_handshake_has_the_clients_address() {
    let mut world = one("-cip ENABLED X-Real-IP");
    let client = world.client();
    world.data(client, &input("H28.req.bin"));
    let seen = world.run(Connects::Succeed, |_| Act::Nothing);
    assert_eq!(seen[0].field("x-real-ip"), [CLIENT]);
    assert_eq!((seen[0].field("connection"), seen[0].field("upgrade")), (vec!["Upgrade"], vec!["websocket"]));
}

/// Each service has terms of its own: a request that moves on after a failed connect is told anew.
#[test]
fn each_service_is_told_the_address_under_its_own_name() {
    let lines = "set ns param -cip DISABLED Global-Name\n\
        add service s1 127.0.0.1 HTTP 8001 -cip ENABLED X-One\n\
        add service s2 127.0.0.1 HTTP 8002 -cip ENABLED X-Two\n\
        add service s3 127.0.0.1 HTTP 8003 -cip ENABLED\n\
        add serviceGroup g HTTP -cip ENABLED X-Group\n\
        bind serviceGroup g 127.0.0.1 8004\n\
        add service s5 127.0.0.1 HTTP 8005\n\
        bind lb vserver vs s1\nbind lb vserver vs s2\nbind lb vserver vs s3\nbind lb vserver vs g\nbind lb vserver vs s5\n";
    let names = ["x-one", "x-two", "global-name", "x-group"];
    let mut world = World::reading(lines);
    let mut told = Vec::new();
    for _ in 0..5 {
        let client = world.client();
        world.data(client, &get("/"));
        let seen = world.run(Connects::Refuse(8001), |request| Act::Answer(echo(request)));
        assert_eq!(world.statuses(client), [200]);
        let of: Vec<&str> = names.into_iter().filter(|name| seen[0].has(name)).collect();
        assert!(of.iter().all(|name| seen[0].field(name) == [CLIENT]), "{seen:?}");
        told.push(of.join(" "));
    }
    assert!(!told.contains(&"x-one".to_owned()), "no connect to it succeeds");
    for name in ["x-two", "global-name", "x-group", ""] {
        assert!(told.contains(&name.to_owned()), "{name}: {told:?}");
    }
}

#[test]
fn cip_of_all_services_and_without_any_name() {
    let lines = "set ns param -cip ENABLED\nadd service s1 127.0.0.1 HTTP 8001\nbind lb vserver vs s1\n";
    let mut world = World::reading(lines);
    let client = world.client();
    world.data(client, &get("/"));
    assert_eq!(world.serve()[0].field("client-ip"), [CLIENT]);
}

#[test]
fn a_connection_carries_no_more_requests_than_max_req() {
    let group =
        "add serviceGroup g HTTP -maxReq 2\nbind serviceGroup g 127.0.0.1 8001\nbind lb vserver vs g\n";
    let global = "set ns param -maxReq 2\nadd service s1 127.0.0.1 HTTP 8001\nbind lb vserver vs s1\n";
    for mut world in [one("-maxReq 2"), World::reading(group), World::reading(global)] {
        let client = world.client();
        for n in 0..5 {
            world.data(client, &get(&format!("/{n}")));
            world.serve();
        }
        assert_eq!(world.statuses(client), [200; 5], "the client notices nothing");
        let open: Vec<bool> = world.server_ids().iter().map(|id| world.is_open(*id)).collect();
        assert_eq!(open, [false, false, true]);
        world.assert_at_rest();
    }
}

const UNTIL_CLOSE: &[u8] = b"HTTP/1.0 200 OK\r\nX-S: 1\r\n\r\n";

#[test]
fn cka_keeps_the_client_where_only_the_close_ends_an_answer() {
    let group =
        "add serviceGroup g HTTP -CKA YES\nbind serviceGroup g 127.0.0.1 8001\nbind lb vserver vs g\n";
    let mode = "enable ns mode CKA\nadd service s1 127.0.0.1 HTTP 8001 -CKA NO\nbind lb vserver vs s1\n";
    for mut world in [one("-CKA YES"), World::reading(group), World::reading(mode)] {
        let client = world.client();
        world.data(client, &get("/1"));
        world.run(Connects::Succeed, |_| Act::Nothing);
        let server = world.server_ids()[0];
        for part in [UNTIL_CLOSE, b"hello ", b"", b"world"] {
            world.data(server, part);
        }
        world.end(server);
        world.data(client, &get("/2"));
        world.serve();
        let (answers, left) = world.answers(client);
        assert_eq!(left, Seen::Cut(false), "nothing is behind them");
        let bodies: Vec<&[u8]> = answers.iter().map(|a| &a.body[..]).collect();
        assert_eq!(bodies, [&b"hello world"[..], b"/2"]);
        assert!(!answers[0].has("connection"));
        world.assert_at_rest();
    }
}

#[test]
fn without_cka_the_close_goes_on_to_the_client() {
    let mut world = one("-CKA NO");
    let client = world.client();
    world.data(client, &get("/"));
    world.run(Connects::Succeed, |_| Act::AnswerAndEnd([UNTIL_CLOSE, b"hello"].concat()));
    assert!(world.out(client).ends_with("Connection: close\r\n\r\nhello"));
    assert_eq!(world.io.conns[&client].closed, Some(Close::Graceful));
    world.assert_at_rest();
}

#[test]
fn cka_does_not_complete_an_answer_that_is_cut() {
    let mut world = one("-CKA YES");
    let client = world.client();
    world.data(client, &get("/"));
    world.run(Connects::Succeed, |_| Act::Answer([UNTIL_CLOSE, b"hel"].concat()));
    let server = world.server_ids()[0];
    world.reset(server);
    assert!(!world.is_open(client));
    assert_eq!(world.answers(client).1, Seen::Cut(true), "{}", world.out(client));
    world.assert_at_rest();
}

#[test]
fn cka_gives_an_old_client_and_head_what_they_understand() {
    let mut world = one("-CKA YES");
    let old = world.client();
    world.data(old, b"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    world.run(Connects::Succeed, |_| Act::AnswerAndEnd([UNTIL_CLOSE, b"hello"].concat()));
    assert!(world.out(old).ends_with("Connection: close\r\n\r\nhello"), "{}", world.out(old));
    assert!(!world.is_open(old));
    let client = world.client();
    world.data(client, b"HEAD / HTTP/1.1\r\nHost: a\r\n\r\n");
    world.run(Connects::Succeed, |_| Act::AnswerAndEnd(UNTIL_CLOSE.to_vec()));
    assert!(world.is_open(client));
    assert_eq!(world.out(client), "HTTP/1.1 200 OK\r\nX-S: 1\r\n\r\n");
    world.assert_at_rest();
}

/// Idle connections are closed after 60 s by this program's own bound, after `svrTimeout` where that is shorter.
#[test]
fn svr_timeout_bounds_an_answer_and_an_idle_connection() {
    let group =
        "add serviceGroup g HTTP -svrTimeout 20\nbind serviceGroup g 127.0.0.1 8001\nbind lb vserver vs g\n";
    for (mut world, answer_s, idle_s) in
        [(one("-svrTimeout 20"), 20, 20), (World::reading(group), 20, 20), (one("-svrTimeout 90"), 90, 60)]
    {
        let client = world.client();
        world.data(client, &get("/"));
        world.serve();
        world.pass(idle_s * 1_000_000 - 1);
        assert_eq!(world.engine.idle_servers(), 1, "{idle_s}");
        world.pass(1_000_000);
        assert_eq!(world.engine.idle_servers(), 0, "{idle_s}");
        world.data(client, &get("/"));
        world.run(Connects::Succeed, |_| Act::Nothing);
        world.pass(answer_s * 1_000_000 - 1);
        assert_eq!(world.statuses(client), [200]);
        world.pass(1_000_000);
        assert_eq!(world.statuses(client), [200, 504]);
        world.assert_at_rest();
    }
}

#[test]
fn a_service_that_keeps_no_idle_connection_gets_none() {
    let mut world = World::new(1);
    let client = world.client();
    for _ in 0..2 {
        world.data(client, &get("/"));
        world.run(Connects::Succeed, |_| {
            Act::Answer(b"HTTP/1.1 200 OK\r\nKeep-Alive: timeout=0\r\nContent-Length: 0\r\n\r\n".to_vec())
        });
        assert_eq!((world.engine.servers(), world.engine.idle_servers()), (0, 0));
    }
    assert_eq!(world.statuses(client), [200, 200]);
}

/// A second earlier than the service says, so that no request meets its FIN.
#[test]
fn h32_how_long_a_service_keeps_its_connection_is_learnt_from_it() {
    for (said, idle_us) in [
        ("timeout=5", 4_000_000),
        ("timeout=5, max=100", 4_000_000),
        ("max=9,Timeout = 7", 6_000_000),
        ("timeout=1", 500_000),
        ("timeout=600", 60_000_000),
        ("timeout=x", 60_000_000),
        ("max=3", 60_000_000),
    ] {
        let mut world = World::new(1);
        let client = world.client();
        world.data(client, &get("/"));
        let answer = format!("HTTP/1.1 200 OK\r\nKeep-Alive: {said}\r\nContent-Length: 1\r\n\r\na");
        world.run(Connects::Succeed, |_| Act::Answer(answer.clone().into_bytes()));
        assert!(!world.out(client).contains("Keep-Alive"), "it is for us");
        world.pass(idle_us - 1);
        assert_eq!(world.engine.idle_servers(), 1, "{said}");
        world.pass(1_000_000);
        assert_eq!(world.engine.idle_servers(), 0, "{said}");
    }
}
