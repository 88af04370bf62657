//! What must arrive unchanged, in order and complete, over real sockets.

use std::time::Duration;

use libtest_mimic::Trial;

use crate::client::{End, request};
use crate::hostile::input;
use crate::place::Place;
use crate::program::Program;
use crate::service::{Gate, TestService, Then};

pub fn trials() -> Vec<Trial> {
    trials![
        keep_alive_on_both_sides_uses_one_server_connection,
        a_body_with_length_arrives_whole,
        a_chunked_request_arrives_whole,
        a_chunked_answer_arrives_whole,
        an_answer_until_close_arrives_whole_and_ends,
        h22_pipelined_requests_are_answered_in_order,
        h22_a_request_sent_during_an_answer_waits_for_its_turn,
        h23_hop_by_hop_fields_stop_here,
        h25_named_fields_do_not_strip_framing,
        h06_a_long_name_is_one_name,
        h27_an_offer_of_h2c_is_ignored,
        h28_a_websocket_is_carried_both_ways,
        h33_interim_answers_are_relayed_in_order,
        h37_a_closing_service_does_not_close_the_client,
        h38_bodiless_answers_do_not_desynchronise,
        h39_a_head_answer_keeps_its_length,
        h40_trailers_never_become_header_fields,
        h41_an_http_1_0_client_may_keep_its_connection,
        h41_an_http_1_0_client_is_closed_otherwise,
        h43_the_authority_of_an_absolute_target_wins,
        h49_a_client_that_half_closes_gets_its_answer,
        expect_100_continue_is_relayed,
        a_big_download_to_a_slow_reader_is_held_back,
        a_big_upload_to_a_slow_service_is_held_back,
        many_connections_at_once_are_all_served,
    ]
}

fn keep_alive_on_both_sides_uses_one_server_connection() {
    let place = Place::new();
    let s1 = TestService::plain(place.service(1));
    let program = Program::start(&place, "ROUNDROBIN", &[&s1]);
    let mut client = program.client();
    for nth in 0..50 {
        assert_eq!(client.get(&format!("/{nth}")).status(), 200);
    }
    assert_eq!(s1.used_connections().len(), 1);
    let targets: Vec<String> = s1.log().iter().map(|e| e.request.target().to_owned()).collect();
    assert_eq!(targets, (0..50).map(|n| format!("/{n}")).collect::<Vec<_>>());
    program.wait_at_rest();
}

fn a_body_with_length_arrives_whole() {
    let place = Place::new();
    let s1 = TestService::echo(place.service(1));
    let program = Program::start(&place, "ROUNDROBIN", &[&s1]);
    let mut client = program.client();
    for size in [1, 100, 16 * 1024, 16 * 1024 + 1, 3_000_000] {
        let body = pattern(size);
        assert!(client.request("POST", "/echo", "", &body).body == body, "{size} bytes came back changed");
    }
    program.wait_at_rest();
}

fn a_chunked_request_arrives_whole() {
    let place = Place::new();
    let s1 = TestService::echo(place.service(1));
    let program = Program::start(&place, "ROUNDROBIN", &[&s1]);
    let mut client = program.client();
    client.send("POST /c HTTP/1.1\r\nHost: e2e.test\r\nTransfer-Encoding: chunked\r\n\r\n");
    let body = pattern(100_000);
    for piece in body.chunks(777) {
        client.send(format!("{:x}\r\n", piece.len()));
        client.send(piece);
        client.send("\r\n");
    }
    client.send("0\r\n\r\n");
    assert!(client.answer_to("POST").body == body);
    assert_eq!(client.get("/after").status(), 200);
    program.wait_at_rest();
}

fn a_chunked_answer_arrives_whole() {
    let place = Place::new();
    let s1 = TestService::start(place.service(1), |x| {
        x.raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")?;
        for piece in pattern(200_000).chunks(999) {
            x.raw([format!("{:X}\r\n", piece.len()).as_bytes(), piece, b"\r\n"].concat())?;
        }
        x.raw("0\r\n\r\n")?;
        Ok(Then::Keep)
    });
    let program = Program::start(&place, "ROUNDROBIN", &[&s1]);
    let mut client = program.client();
    for _ in 0..3 {
        assert!(client.get("/").body == pattern(200_000));
    }
    assert_eq!(s1.used_connections().len(), 1);
    program.wait_at_rest();
}

fn an_answer_until_close_arrives_whole_and_ends() {
    let place = Place::new();
    let s1 = TestService::start(place.service(1), |x| {
        x.raw("HTTP/1.1 200 OK\r\n\r\n")?;
        x.raw(pattern(300_000))?;
        Ok(Then::Close)
    });
    let program = Program::start(&place, "ROUNDROBIN", &[&s1]);
    let mut client = program.client();
    assert!(client.get("/").body == pattern(300_000));
    program.wait_at_rest();
}

fn h22_pipelined_requests_are_answered_in_order() {
    let place = Place::new();
    let s1 = TestService::start(place.service(1), |x| {
        let target = x.request.target().to_owned();
        x.ok(&target)
    });
    let program = Program::start(&place, "ROUNDROBIN", &[&s1]);
    let mut client = program.client();
    let batch: Vec<u8> = (0..20).flat_map(|n| request("GET", &format!("/{n}"), "", b"")).collect();
    client.send(batch);
    for n in 0..20 {
        assert_eq!(client.answer().text(), format!("/{n}"));
    }
    let log = s1.log();
    let one_at_a_time =
        log.windows(2).all(|pair| pair[0].ended_at.is_some_and(|end| end <= pair[1].began_at));
    assert!(one_at_a_time, "the service was given a request before it had answered the one before");
    program.wait_at_rest();
}

fn h22_a_request_sent_during_an_answer_waits_for_its_turn() {
    let place = Place::new();
    let gate = Gate::new();
    let held = gate.clone();
    let s1 = TestService::start(place.service(1), move |x| {
        if x.request.target() == "/first" {
            x.raw("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n01234")?;
            held.pass();
            x.raw("56789")?;
            return Ok(Then::Keep);
        }
        x.ok("second")
    });
    let program = Program::start(&place, "ROUNDROBIN", &[&s1]);
    let mut client = program.client();
    client.send(request("GET", "/first", "", b""));
    s1.wait_begun(1);
    client.send(request("GET", "/second", "", b""));
    gate.open();
    assert_eq!(client.answer().text(), "0123456789");
    assert_eq!(client.answer().text(), "second");
    program.wait_at_rest();
}

fn h23_hop_by_hop_fields_stop_here() {
    let place = Place::new();
    let s1 = TestService::plain(place.service(1));
    let program = Program::start(&place, "ROUNDROBIN", &[&s1]);
    for _ in 0..8 {
        let mut client = program.client();
        client.send(input("H23.req.bin"));
        assert_eq!(client.answer().status(), 200);
        assert_eq!(client.expect_end(), End::Fin, "the client asked for the end of its connection");
    }
    let seen = &s1.log()[0].request;
    for name in ["x-hop", "keep-alive", "proxy-connection", "te", "trailer", "upgrade"] {
        assert!(seen.all(name).is_empty(), "{name} went to the service: {seen:?}");
    }
    assert!(!seen.all("connection").iter().any(|v| v.eq_ignore_ascii_case("close")), "{seen:?}");
    assert!(s1.used_connections().len() <= 2, "each of the two workers reuses its server connection");
    program.wait_at_rest();
}

fn h25_named_fields_do_not_strip_framing() {
    let place = Place::new();
    let s1 = TestService::plain(place.service(1));
    let program = Program::start(&place, "ROUNDROBIN", &[&s1]);
    let mut client = program.client();
    client.send(input("H25.req.bin"));
    assert_eq!(client.answer_to("POST").status(), 200);
    let seen = &s1.log()[0].request;
    assert_eq!(seen.body, b"hello");
    assert_eq!(seen.field("host"), Some("a"));
    program.wait_at_rest();
}

fn h06_a_long_name_is_one_name() {
    let place = Place::new();
    let s1 = TestService::plain(place.service(1));
    let program = Program::start(&place, "ROUNDROBIN", &[&s1]);
    let mut client = program.client();
    client.send(input("H06.req.bin"));
    client.half_close();
    let (answer, _) = client.read_to_end();
    let status = String::from_utf8_lossy(&answer).split(' ').nth(1).map(str::to_owned);
    for entry in s1.log() {
        assert!(entry.request.all("content-length").len() <= 1, "{entry:?}");
        assert!(entry.request.fields.iter().any(|(name, _)| name.len() >= 270), "{entry:?}");
    }
    assert!(matches!(status.as_deref(), Some("200" | "400" | "431")), "{status:?}");
    assert!(s1.begun() <= 1, "nothing of it is a request of its own");
    program.wait_at_rest();
}

fn h27_an_offer_of_h2c_is_ignored() {
    let place = Place::new();
    let s1 = TestService::plain(place.service(1));
    let program = Program::start(&place, "ROUNDROBIN", &[&s1]);
    let mut client = program.client();
    client.send(input("H27.req.bin"));
    assert_eq!(client.answer().status(), 200);
    let log = s1.log();
    for name in ["upgrade", "http2-settings", "connection"] {
        assert_eq!(log[0].request.field(name), None);
    }
    program.wait_at_rest();
}

fn h28_a_websocket_is_carried_both_ways() {
    let place = Place::new();
    let s1 = TestService::start(place.service(1), |x| {
        x.raw("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\nfirst ")?;
        let mut frame = [0; 4];
        x.read_exact(&mut frame)?;
        x.raw(frame)?;
        Ok(Then::Close)
    });
    let program = Program::start(&place, "ROUNDROBIN", &[&s1]);
    let mut client = program.client();
    client.send(input("H28.req.bin"));
    let head = client.next_message("GET").unwrap();
    assert_eq!((head.status(), head.field("upgrade")), (101, Some("websocket")));
    assert_eq!(client.read_raw(6), b"first ");
    client.send("ping");
    let (rest, end) = client.read_to_end();
    assert_eq!((&rest[..], end), (&b"ping"[..], End::Fin));
    drop(client);
    program.wait_at_rest();
}

fn h33_interim_answers_are_relayed_in_order() {
    let place = Place::new();
    let s1 = TestService::start(place.service(1), |x| {
        x.raw(input("H33.resp.bin"))?;
        Ok(Then::Keep)
    });
    let program = Program::start(&place, "ROUNDROBIN", &[&s1]);
    let mut client = program.client();
    for _ in 0..2 {
        client.send(request("GET", "/", "", b""));
        let statuses: Vec<u16> = (0..5).map(|_| client.next_message("GET").unwrap().status()).collect();
        assert_eq!(statuses, [103, 100, 100, 102, 200]);
    }
    program.wait_at_rest();
}

fn h37_a_closing_service_does_not_close_the_client() {
    let place = Place::new();
    let s1 = TestService::start(place.service(1), |x| {
        x.raw("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok")?;
        Ok(Then::Close)
    });
    let program = Program::start(&place, "ROUNDROBIN", &[&s1]);
    let mut client = program.client();
    for _ in 0..10 {
        let answer = client.get("/");
        assert_eq!(answer.text(), "ok");
        assert!(answer.all("connection").is_empty(), "the service's own affair: {answer:?}");
    }
    assert_eq!(s1.used_connections().len(), 10);
    program.wait_at_rest();
}

fn h38_bodiless_answers_do_not_desynchronise() {
    let place = Place::new();
    let s1 = TestService::start(place.service(1), |x| {
        match x.request.target() {
            "/head" => x.raw(input("H38.head.resp.bin"))?,
            "/304" => x.raw(input("H38.r304.resp.bin"))?,
            "/204" => x.raw(input("H38.r204.resp.bin"))?,
            _ => return x.ok("after"),
        }
        Ok(Then::Keep)
    });
    let program = Program::start(&place, "ROUNDROBIN", &[&s1]);
    let mut client = program.client();
    for (method, target, status) in [("HEAD", "/head", 200), ("GET", "/304", 304), ("GET", "/204", 204)] {
        let answer = client.request(method, target, "", b"");
        assert_eq!(answer.status(), status);
        assert!(status != 204 || answer.all("content-length").is_empty(), "RFC 9110 8.6: {answer:?}");
        assert_eq!(client.get("/after").text(), "after");
    }
    program.wait_at_rest();
}

fn h39_a_head_answer_keeps_its_length() {
    let place = Place::new();
    let s1 = TestService::start(place.service(1), |x| {
        x.raw(input("H39.resp.bin"))?;
        Ok(Then::Keep)
    });
    let program = Program::start(&place, "ROUNDROBIN", &[&s1]);
    assert_eq!(program.client().request("HEAD", "/", "", b"").field("content-length"), Some("1192"));
    program.wait_at_rest();
}

fn h40_trailers_never_become_header_fields() {
    let place = Place::new();
    let s1 = TestService::start(place.service(1), |x| {
        x.raw(input("H40.resp.bin"))?;
        Ok(Then::Keep)
    });
    let program = Program::start(&place, "ROUNDROBIN", &[&s1]);
    let mut client = program.client();
    let answer = client.get("/");
    assert_eq!(answer.text(), "ok");
    assert!(answer.all("x-sum").is_empty());
    client.send(input("H40.req.bin"));
    let status = client.answer_to("POST").status();
    assert!(status == 200 || status == 400, "framing fields in trailers: {status}");
    for entry in s1.log() {
        assert!(!entry.request.all("host").contains(&"evil"));
        assert!(entry.request.trailers.iter().all(|(n, _)| !n.eq_ignore_ascii_case("content-length")));
    }
    program.wait_at_rest();
}

fn h41_an_http_1_0_client_may_keep_its_connection() {
    let place = Place::new();
    let s1 = TestService::plain(place.service(1));
    let program = Program::start(&place, "ROUNDROBIN", &[&s1]);
    let mut client = program.client();
    client.send(input("H41.req.bin"));
    let answer = client.answer();
    if answer.all("connection").iter().any(|v| v.eq_ignore_ascii_case("keep-alive")) {
        client.send(input("H41.req.bin"));
        assert_eq!(client.answer().status(), 200);
    } else {
        client.expect_end();
    }
    program.wait_at_rest();
}

fn h41_an_http_1_0_client_is_closed_otherwise() {
    let place = Place::new();
    let s1 = TestService::start(place.service(1), |x| {
        x.raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n")?;
        Ok(Then::Keep)
    });
    let program = Program::start(&place, "ROUNDROBIN", &[&s1]);
    let mut client = program.client();
    client.send(input("H41.plain.req.bin"));
    let (bytes, end) = client.read_to_end();
    assert_eq!(end, End::Fin);
    let text = String::from_utf8(bytes).unwrap();
    assert!(text.ends_with("\r\n\r\nok"), "chunks are not for HTTP/1.0: {text:?}");
    assert!(!text.to_ascii_lowercase().contains("transfer-encoding"), "{text:?}");
    program.wait_at_rest();
}

fn h43_the_authority_of_an_absolute_target_wins() {
    let place = Place::new();
    let s1 = TestService::plain(place.service(1));
    let program = Program::start(&place, "ROUNDROBIN", &[&s1]);
    let mut client = program.client();
    client.send(input("H43.req.bin"));
    assert_eq!(client.answer().status(), 200);
    let seen = &s1.log()[0].request;
    assert_eq!((seen.target(), seen.field("host")), ("/v2/x", Some("api.example")));
    program.wait_at_rest();
}

fn h49_a_client_that_half_closes_gets_its_answer() {
    let place = Place::new();
    let s1 = TestService::start(place.service(1), |x| {
        std::thread::sleep(Duration::from_millis(200));
        x.answer(200, &pattern(500_000))
    });
    let program = Program::start(&place, "ROUNDROBIN", &[&s1]);
    for fields in ["Connection: close\r\n", ""] {
        let mut client = program.client();
        client.send(request("GET", "/", fields, b""));
        client.half_close();
        assert!(client.answer().body == pattern(500_000));
        assert_eq!(client.expect_end(), End::Fin);
    }
    program.wait_at_rest();
}

fn expect_100_continue_is_relayed() {
    let place = Place::new();
    let s1 = TestService::start_with_heads(place.service(1), |x| {
        assert_eq!(x.request.field("expect"), Some("100-continue"));
        x.raw("HTTP/1.1 100 Continue\r\n\r\n")?;
        x.read_body()?;
        let body = x.request.body.clone();
        x.answer(200, &body)
    });
    let program = Program::start(&place, "ROUNDROBIN", &[&s1]);
    let mut client = program.client();
    client.send("POST / HTTP/1.1\r\nHost: e2e.test\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n");
    assert_eq!(client.next_message("POST").unwrap().status(), 100);
    client.send("hello");
    assert_eq!(client.answer_to("POST").text(), "hello");
    program.wait_at_rest();
}

/// 64 MiB to a client that reads nothing at first: the program must hold back the service, not the bytes.
fn a_big_download_to_a_slow_reader_is_held_back() {
    const SIZE: usize = 64 << 20;
    let place = Place::new();
    let s1 = TestService::start(place.service(1), |x| {
        x.raw(format!("HTTP/1.1 200 OK\r\nContent-Length: {SIZE}\r\n\r\n"))?;
        let block = pattern(1 << 20);
        (0..SIZE >> 20).try_for_each(|_| x.raw(&block))?;
        Ok(Then::Keep)
    });
    let program = Program::start(&place, "ROUNDROBIN", &[&s1]);
    let before = program.resident_kib();
    let mut client = program.client();
    client.send(request("GET", "/", "", b""));
    s1.wait_begun(1);
    // Long enough for the whole body to pass if nothing held it back.
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(s1.active(), 1, "the service could send everything although nobody reads");
    let grown = program.resident_kib().saturating_sub(before);
    assert!(grown < 16 << 10, "memory grew by {grown} KiB");
    let body = client.answer().body;
    assert_eq!(body.len(), SIZE);
    let block = pattern(1 << 20);
    assert!(body.chunks(1 << 20).all(|received| received == block));
    program.wait_at_rest();
}

/// The same the other way round.
fn a_big_upload_to_a_slow_service_is_held_back() {
    const SIZE: usize = 64 << 20;
    let place = Place::new();
    let gate = Gate::new();
    let held = gate.clone();
    let s1 = TestService::start_with_heads(place.service(1), move |x| {
        held.pass();
        x.read_body()?;
        let block = pattern(1 << 20);
        let whole = x.request.body.chunks(1 << 20).all(|received| received == block);
        let length = x.request.body.len();
        x.ok(&format!("{length} {whole}"))
    });
    let program = Program::start(&place, "ROUNDROBIN", &[&s1]);
    let before = program.resident_kib();
    let mut client = program.client();
    client.send(format!("PUT / HTTP/1.1\r\nHost: e2e.test\r\nContent-Length: {SIZE}\r\n\r\n"));
    let sent = std::sync::atomic::AtomicUsize::new(0);
    let answer = std::thread::scope(|scope| {
        scope.spawn(|| {
            s1.wait_begun(1);
            std::thread::sleep(Duration::from_millis(500));
            let so_far = sent.load(std::sync::atomic::Ordering::SeqCst);
            let grown = program.resident_kib().saturating_sub(before);
            gate.open();
            assert!(so_far < SIZE >> 20, "the client could send everything although nobody reads");
            assert!(grown < 16 << 10, "memory grew by {grown} KiB");
        });
        let block = pattern(1 << 20);
        for _ in 0..SIZE >> 20 {
            client.send(&block);
            sent.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        }
        client.answer_to("PUT")
    });
    assert_eq!(answer.text(), format!("{SIZE} true"));
    program.wait_at_rest();
}

fn many_connections_at_once_are_all_served() {
    let place = Place::new();
    let s1 = TestService::plain(place.service(1));
    let s2 = TestService::plain(place.service(2));
    let program = Program::start(&place, "LEASTCONNECTION", &[&s1, &s2]);
    let mut clients: Vec<_> = (0..500).map(|_| program.client()).collect();
    for round in 0..3 {
        clients.iter_mut().for_each(|c| c.send(request("GET", &format!("/{round}"), "", b"")));
        clients.iter_mut().for_each(|c| assert_eq!(c.answer().status(), 200));
    }
    assert_eq!(s1.begun() + s2.begun(), 1500);
    program.wait_at_rest();
}

/// Bytes in which a lost, doubled or moved piece shows.
pub fn pattern(size: usize) -> Vec<u8> {
    (0..size as u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}
