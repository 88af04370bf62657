//! Public faults of other proxies (`fixtures/cases`, H...), each by its id: bytes in, what must come of them.

use steelyard_core::proxy::io::Close;

use crate::message::Message;
use crate::world::{Act, Connects, World, echo, get};

fn input(name: &str) -> Vec<u8> {
    std::fs::read(format!("{}/tests/fixtures/cases/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// What a client sees of a request that should go no further: its status, nothing else, and the end.
fn refused(bytes: &[u8]) -> u16 {
    let mut world = World::new(1);
    let client = world.client();
    world.data(client, bytes);
    assert!(world.serve().is_empty(), "it was sent on");
    world.pass(700_000_000);
    assert!(world.server_ids().iter().all(|id| !world.is_open(*id)), "a service has half of it");
    assert!(!world.is_open(client));
    world.assert_at_rest();
    let statuses = world.statuses(client);
    assert_eq!(statuses.len(), 1, "{}", world.out(client));
    assert!(world.out(client).contains("\r\nConnection: close\r\n"));
    statuses[0]
}

/// The requests that arrive, and the world after their answers.
fn forwarded(bytes: &[u8]) -> (Vec<Message>, World, steelyard_core::proxy::io::ConnId) {
    let mut world = World::new(1);
    let client = world.client();
    world.data(client, bytes);
    let seen = world.serve();
    (seen, world, client)
}

/// What a client sees when the service answers `GET /` with these bytes, then ends if `end`.
fn answered(bytes: &[u8], request: &[u8], end: bool) -> (World, steelyard_core::proxy::io::ConnId) {
    let mut world = World::new(1);
    let client = world.client();
    world.data(client, request);
    let act =
        |bytes: &[u8]| if end { Act::AnswerAndEnd(bytes.to_vec()) } else { Act::Answer(bytes.to_vec()) };
    world.run(Connects::Succeed, |_| act(bytes));
    (world, client)
}

#[test]
fn h01_length_beside_a_coding() {
    assert_eq!(refused(&input("H01.clte.req.bin")), 400);
    assert_eq!(refused(&input("H01.tecl.req.bin")), 400);
}

#[test]
fn h03_two_framings() {
    assert_eq!(refused(&input("H03.req.bin")), 400);
}

#[test]
fn h04_several_lengths() {
    for name in ["H04.diff.req.bin", "H04.same.req.bin", "H04.list.req.bin"] {
        assert_eq!(refused(&input(name)), 400, "{name}");
    }
}

#[test]
fn h06_a_long_name_is_one_name() {
    let (seen, ..) = forwarded(&input("H06.req.bin"));
    let long = seen[0].fields.iter().any(|(name, _)| name.len() >= 270);
    assert!(long && seen[0].field("content-length") != ["0"], "{seen:?}");
}

#[test]
fn h08_chunk_sizes_are_digits() {
    for form in ["hex0x", "underscore", "plus", "minus", "empty", "overflow"] {
        assert_eq!(refused(&input(&format!("H08.{form}.req.bin"))), 400, "{form}");
    }
}

#[test]
fn h10_a_blank_in_a_chunk_size() {
    assert_eq!(refused(&input("H10.req.bin")), 400);
}

#[test]
fn h11_bare_line_feeds_in_chunks() {
    for part in ["size", "data", "end"] {
        assert_eq!(refused(&input(&format!("H11.{part}.req.bin"))), 400, "{part}");
    }
}

#[test]
fn h13_h14_folded_lines() {
    for name in ["H13.te.req.bin", "H13.host.req.bin", "H14.req.bin"] {
        assert_eq!(refused(&input(name)), 400, "{name}");
    }
}

#[test]
fn h15_a_blank_before_the_colon() {
    assert_eq!(refused(&input("H15.req.bin")), 400);
    let (world, client) = answered(&input("H15.resp.bin"), &get("/"), false);
    assert_eq!(world.out(client), "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
}

#[test]
fn h17_h19_codings_and_sizes_beside_the_grammar() {
    for name in ["H17.req.bin", "H17.list.req.bin", "H19.req.bin"] {
        assert_eq!(refused(&input(name)), 400, "{name}");
    }
}

#[test]
fn h21_bare_line_feeds_in_a_head() {
    assert_eq!(refused(&input("H21.req.bin")), 400);
}

#[test]
fn h22_two_requests_at_once_get_two_answers_in_order() {
    let (seen, world, client) = forwarded(&input("H22.req.bin"));
    assert_eq!(seen.len(), 2);
    let bodies: Vec<_> = world.answers(client).0.into_iter().map(|m| m.body).collect();
    let targets: Vec<_> =
        seen.iter().map(|m| m.start.split(' ').nth(1).unwrap().as_bytes().to_vec()).collect();
    assert_eq!(bodies, targets);
}

#[test]
fn h23_hop_by_hop_fields_end_here() {
    let (seen, mut world, client) = forwarded(&input("H23.req.bin"));
    for name in ["connection", "x-hop", "keep-alive", "proxy-connection", "te"] {
        assert!(!seen[0].has(name), "{name}: {seen:?}");
    }
    assert!(!world.is_open(client), "the client asked for a close");
    assert!(world.out(client).contains("Connection: close\r\n"));
    let next = world.client();
    world.data(next, &get("/next"));
    assert_eq!(world.serve().len(), 1);
    assert_eq!(world.server_ids().len(), 1, "the service's connection was kept");
}

#[test]
fn h25_connection_can_not_name_framing_or_host() {
    let (seen, ..) = forwarded(&input("H25.req.bin"));
    assert_eq!(seen[0].field("content-length"), ["5"]);
    assert_eq!(seen[0].field("host"), ["a"]);
    assert_eq!(seen[0].body, b"hello");
}

#[test]
fn h27_unknown_upgrades_are_ignored() {
    let (seen, world, client) = forwarded(&input("H27.req.bin"));
    assert!(!seen[0].has("upgrade") && !seen[0].has("http2-settings") && !seen[0].has("connection"));
    assert_eq!(world.statuses(client), [200]);
}

#[test]
fn h28_a_websocket_is_carried() {
    let mut world = World::new(1);
    let client = world.client();
    world.data(client, &input("H28.req.bin"));
    let switch = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\nhi";
    let seen = world.run(Connects::Succeed, |_| Act::Answer(switch.to_vec()));
    assert_eq!((seen[0].field("connection"), seen[0].field("upgrade")), (vec!["Upgrade"], vec!["websocket"]));
    let out = world.out(client);
    assert!(
        out.contains("\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n") && out.ends_with("\r\n\r\nhi"),
        "{out}"
    );
    let server = world.server_ids()[0];
    world.data(client, b"\x81\x02yo");
    assert!(world.io.conns[&server].out.ends_with(b"\x81\x02yo"));
    world.end(client);
    assert!(world.io.conns[&server].finished, "the service hears of the client's end");
    world.data(server, b"bye");
    world.end(server);
    assert!(world.out(client).ends_with("hibye"));
    assert!(!world.is_open(client) && !world.is_open(server));
    world.assert_at_rest();
}

/// As of TCP: behind what came before it, on either side.
#[test]
fn a_reset_goes_through_a_websocket() {
    for by_client in [true, false] {
        let mut world = World::new(1);
        let client = world.client();
        world.data(client, &input("H28.req.bin"));
        let switch = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n";
        world.run(Connects::Succeed, |_| Act::Answer(switch.to_vec()));
        let server = world.server_ids()[0];
        let (by, other) = if by_client { (client, server) } else { (server, client) };
        world.data(by, b"\x81\x02yo");
        world.reset(by);
        assert!(world.io.conns[&other].out.ends_with(b"\x81\x02yo"));
        assert_eq!(world.io.conns[&other].closed, Some(Close::Cut));
        world.assert_at_rest();
    }
}

#[test]
fn h31_a_final_answer_is_relayed_unchanged() {
    let response = input("H31.resp.bin");
    let post = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx";
    let (world, client) = answered(&response, post, false);
    assert_eq!(world.out(client).as_bytes(), response);
}

#[test]
fn h33_interim_answers_are_relayed_in_order() {
    let response = input("H33.resp.bin");
    let (world, client) = answered(&response, &get("/"), false);
    assert_eq!(world.out(client).as_bytes(), response);
    let old = b"GET / HTTP/1.0\r\nHost: a\r\n\r\n";
    let (world, client) = answered(&response, old, false);
    assert_eq!(world.statuses(client), [200], "not to a 1.0 client");
}

/// RFC 9112 6.1: not even where the coding only says what a GET would bring.
#[test]
fn a_1_0_client_is_told_of_no_coding() {
    let response = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let (world, client) = answered(response, b"HEAD / HTTP/1.0\r\nHost: a\r\n\r\n", false);
    assert_eq!(world.out(client), "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n");
    let response = b"HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n";
    let (world, client) = answered(response, b"GET / HTTP/1.0\r\nHost: a\r\n\r\n", false);
    assert_eq!(world.out(client), "HTTP/1.1 304 Not Modified\r\nConnection: close\r\n\r\n");
}

/// RFC 9110 9.3.2: be its head sound or not.
#[test]
fn no_refusal_of_head_has_a_body() {
    for wrong in ["Host: a\r\nHost: b", "Host: a\r\nContent-Length: 1\r\nContent-Length: 2", "Host a"] {
        let mut world = World::new(1);
        let client = world.client();
        world.data(client, format!("HEAD / HTTP/1.1\r\n{wrong}\r\n\r\n").as_bytes());
        let out = world.out(client);
        assert!(out.starts_with("HTTP/1.1 400 ") && out.ends_with("\r\n\r\n"), "{wrong}: {out}");
    }
    let mut world = World::new(1);
    let client = world.client();
    world.data(client, b"HEAD / HTTP/1.1\r\nHost:");
    world.pass(20_000_000);
    let out = world.out(client);
    assert!(out.starts_with("HTTP/1.1 408 ") && out.ends_with("\r\n\r\n"), "{out}");
}

#[test]
fn h35_an_early_refusal_reaches_the_client() {
    let mut world = World::new(1);
    let client = world.client();
    world.data(client, b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10000000\r\n\r\n");
    world.connects(Connects::Succeed);
    let server = world.server_ids()[0];
    world.data(client, &[b'x'; 16_384]);
    world.data(server, b"HTTP/1.1 400 Bad Request\r\nContent-Length: 4\r\n\r\nlate");
    assert_eq!(world.statuses(client), [400]);
    assert!(world.out(client).ends_with("late"));
    // The rest of the upload is drained by the lingering close.
    assert_eq!(world.io.conns[&client].closed, Some(Close::Graceful));
    assert_eq!(world.io.conns[&server].closed, Some(Close::Reset));
    world.assert_at_rest();
}

#[test]
fn h37_the_services_close_is_not_the_clients() {
    let (mut world, client) = answered(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", &get("/"), true);
    assert!(world.is_open(client));
    world.data(client, &get("/2"));
    world.serve();
    assert_eq!(world.statuses(client), [200, 200]);
}

#[test]
fn h38_h39_answers_without_a_body() {
    let head = b"HEAD / HTTP/1.1\r\nHost: a\r\n\r\n".to_vec();
    for (name, request) in [("head", head), ("r304", get("/")), ("r204", get("/"))] {
        let response = input(&format!("H38.{name}.resp.bin"));
        let (mut world, client) = answered(&response, &request, false);
        let first = world.out(client);
        assert!(first.ends_with("\r\n\r\n"), "{name}: {first}");
        assert_eq!(first.contains("Content-Length"), name != "r204", "{name}: {first}");
        world.data(client, &get("/second"));
        world.serve();
        assert!(world.out(client)[first.len()..].ends_with("\r\n\r\n/second"), "{name}");
        world.assert_at_rest();
    }
    let response = input("H39.resp.bin");
    let (world, client) = answered(&response, b"HEAD / HTTP/1.1\r\nHost: a\r\n\r\n", false);
    assert_eq!(world.out(client).as_bytes(), response);
}

#[test]
fn h40_trailers_are_relayed_and_framing_names_in_them_refused() {
    let response = input("H40.resp.bin");
    let (world, client) = answered(&response, &get("/"), false);
    assert_eq!(world.out(client).as_bytes(), response);
    assert_eq!(refused(&input("H40.req.bin")), 400);
}

#[test]
fn h41_an_old_client_with_and_without_keep_alive() {
    let (_, world, client) = forwarded(&input("H41.req.bin"));
    assert!(world.is_open(client) && world.out(client).contains("Connection: keep-alive\r\n"));
    let (_, world, client) = forwarded(&input("H41.plain.req.bin"));
    assert!(!world.is_open(client) && world.out(client).contains("Connection: close\r\n"));
}

#[test]
fn h43_the_authority_of_an_absolute_target_wins() {
    let (seen, ..) = forwarded(&input("H43.req.bin"));
    assert_eq!(seen[0].start, "GET /v2/x HTTP/1.1");
    assert_eq!(seen[0].field("host"), ["api.example"]);
}

#[test]
fn h45_the_deadline_of_a_head_is_not_moved_by_its_bytes() {
    let mut world = World::new(1);
    let client = world.client();
    for byte in &get("/")[..20] {
        world.data(client, &[*byte]);
        world.pass(900_000);
        if !world.is_open(client) {
            break;
        }
    }
    assert_eq!(world.statuses(client), [408]);
    assert!(world.io.now < 1_000_000 + 11_000_000, "within the head's deadline");
    world.assert_at_rest();
}

#[test]
fn h46_heads_beyond_the_limits() {
    let head = |bytes: usize| {
        let mut head = format!("GET / HTTP/1.1\r\nHost: a\r\nX: {}", "b".repeat(bytes)).into_bytes();
        head.extend_from_slice(b"\r\n\r\n");
        head
    };
    let (seen, ..) = forwarded(&head(8_193));
    assert_eq!(seen.len(), 1);
    assert_eq!(refused(&head(65_537)), 431);
    assert_eq!(refused(&head(1 << 20)), 431);
    assert_eq!(refused(&head(1 << 20)[..1 << 19]), 431);
    let many = format!("GET / HTTP/1.1\r\nHost: a\r\n{}\r\n", "X: 1\r\n".repeat(10_001));
    assert_eq!(refused(many.as_bytes()), 431);
    assert_eq!(refused(&get(&format!("/{}", "a".repeat(65_536)))), 414);
    assert_eq!(refused(&get(&format!("/{}", "a".repeat(20_000)))), 414);
}

#[test]
fn h48_what_follows_a_refused_connect_is_ignored() {
    assert_eq!(refused(&input("H48.req.bin")), 501);
}

#[test]
fn h49_a_half_closed_client_gets_its_answer() {
    let mut world = World::new(1);
    let client = world.client();
    world.data(client, &get("/a"));
    world.connects(Connects::Succeed);
    world.end(client);
    assert!(world.is_open(client));
    world.serve();
    assert_eq!(world.statuses(client), [200]);
    assert_eq!(world.io.conns[&client].closed, Some(Close::Graceful));
    world.assert_at_rest();
}

#[test]
fn h51_a_silent_close_is_a_502_on_a_fresh_and_on_a_kept_client_connection() {
    let mut world = World::new(1);
    let client = world.client();
    for served in [0, 1] {
        if served == 1 {
            let other = world.client();
            world.data(other, &get("/warm"));
            world.serve();
        }
        world.data(client, &get("/x"));
        while world.connects(Connects::Succeed) || world.next_request().is_some() {
            let carriers = world.server_ids();
            carriers.into_iter().for_each(|id| world.end(id));
        }
    }
    assert_eq!(world.statuses(client), [502, 502], "{}", world.out(client));
    assert!(world.is_open(client));
    world.assert_at_rest();
}

#[test]
fn h52_a_cut_answer_is_seen_to_be_cut() {
    for name in ["H52.cl.resp.bin", "H52.chunk.resp.bin"] {
        let response = input(name);
        let (world, client) = answered(&response, &get("/"), true);
        assert_eq!(world.out(client).as_bytes(), response, "nothing is added");
        assert!(!world.is_open(client));
        world.assert_at_rest();
    }
    let mut world = World::new(1);
    let client = world.client();
    world.data(client, &get("/"));
    world.run(Connects::Succeed, |_| Act::Answer(b"HTTP/1.1 200 OK\r\n\r\nhalf".to_vec()));
    let server = world.server_ids()[0];
    world.reset(server);
    assert_eq!(world.io.conns[&client].closed, Some(Close::Cut), "a FIN would look like the end");
}

#[test]
fn h56_h57_targets_and_lines_beside_the_grammar() {
    for name in ["H56.req.bin", "H56.space.req.bin", "H56.star.req.bin", "H57.req.bin"] {
        assert_eq!(refused(&input(name)), 400, "{name}");
    }
}

#[test]
fn h58_unsound_answers_never_reach_the_client() {
    for name in ["cl2", "clte", "status"] {
        let (world, client) = answered(&input(&format!("H58.{name}.resp.bin")), &get("/"), false);
        assert_eq!(world.statuses(client), [502], "{name}");
        assert!(!world.is_open(world.server_ids()[0]), "{name}");
    }
}

#[test]
fn answers_of_our_own_keep_a_sound_connection() {
    let mut world = World::new(1);
    let client = world.client();
    world.data(client, &get("/a"));
    world.run(Connects::Succeed, |_| Act::Answer(b"nonsense\r\n\r\n".to_vec()));
    world.data(client, &get("/b"));
    world.run(Connects::Succeed, |request| Act::Answer(echo(request)));
    assert_eq!(world.statuses(client), [502, 200]);
    world.assert_at_rest();
}
