//! Services that fail in every way a service can, and what the client must see.

use std::time::Duration;

use libtest_mimic::Trial;

use crate::client::{End, request};
use crate::hostile::input;
use crate::place::Place;
use crate::program::Program;
use crate::relaying::pattern;
use crate::service::{Gate, TestService, Then, wait_for};

pub fn trials() -> Vec<Trial> {
    trials![
        s28_a_refused_connect_goes_to_another_service,
        h29_a_stale_idle_connection_is_retried,
        h29_a_post_is_not_repeated,
        h29_a_service_that_stops_is_left_for_another,
        h31_a_500_is_relayed_unchanged,
        h35_an_early_answer_reaches_a_client_that_is_still_sending,
        h51_an_end_without_a_byte_is_502,
        h52_a_body_cut_short_is_not_completed,
        h52_a_reset_in_mid_body_is_not_completed,
        h58_a_malformed_answer_is_502,
        a_reset_before_the_answer_is_502,
        no_service_that_accepts_is_503_or_502_and_the_connection_lives,
        a_virtual_server_without_services_up_resets,
        a_connected_client_gets_503_while_no_service_is_up,
        a_client_that_goes_away_frees_its_service,
    ]
}

fn s28_a_refused_connect_goes_to_another_service() {
    let place = Place::new();
    let s2 = TestService::plain(place.service(2));
    let program = Program::start_at(&place, "ROUNDROBIN", &[place.service(1), place.service(2)]);
    let mut client = program.client();
    for nth in 0..100 {
        let answer = client.request(if nth % 2 == 0 { "GET" } else { "POST" }, "/", "", b"x");
        assert_eq!(
            answer.status(),
            200,
            "nothing was sent to the refused one, so any method may be tried again"
        );
    }
    assert_eq!(s2.begun(), 100);
    program.wait_at_rest();
}

fn h29_a_stale_idle_connection_is_retried() {
    let place = Place::new();
    let s1 = TestService::start(place.service(1), |x| {
        x.ok("1")?;
        // FIN after 0..15 ms of idling, in the middle of the client's next request now and then.
        std::thread::sleep(Duration::from_millis(x.nth as u64 % 16));
        Ok(Then::Close)
    });
    let program = Program::start(&place, "ROUNDROBIN", &[&s1]);
    let mut client = program.client();
    for nth in 0..300 {
        std::thread::sleep(Duration::from_millis(nth * 7 % 16));
        assert_eq!(client.get("/").status(), 200, "request {nth}");
    }
    program.wait_at_rest();
}

fn h29_a_post_is_not_repeated() {
    let place = Place::new();
    let s1 = TestService::start(place.service(1), |x| match x.request.method() {
        "POST" => Ok(Then::Close),
        _ => x.ok("1"),
    });
    let program = Program::start(&place, "ROUNDROBIN", &[&s1]);
    let mut client = program.client();
    assert_eq!(client.get("/").status(), 200);
    assert_eq!(client.request("POST", "/", "", b"once").status(), 502);
    let posts = s1.log().iter().filter(|e| e.request.method() == "POST").count();
    assert_eq!(posts, 1, "it may have been acted on");
    program.wait_at_rest();
}

fn h29_a_service_that_stops_is_left_for_another() {
    let place = Place::new();
    let (s1, s2) = (TestService::plain(place.service(1)), TestService::plain(place.service(2)));
    let program = Program::start(&place, "ROUNDROBIN", &[&s1, &s2]);
    let mut client = program.client();
    for _ in 0..4 {
        assert_eq!(client.get("/").status(), 200);
    }
    assert_eq!((s1.begun(), s2.begun()), (2, 2));
    s1.stop();
    for _ in 0..20 {
        assert_eq!(client.get("/").text(), s2.address().port().to_string());
    }
    program.wait_at_rest();
}

fn h31_a_500_is_relayed_unchanged() {
    let place = Place::new();
    let s1 = TestService::start(place.service(1), |x| {
        x.raw(input("H31.resp.bin"))?;
        Ok(Then::Keep)
    });
    let program = Program::start(&place, "ROUNDROBIN", &[&s1]);
    let answer = program.client().request("POST", "/", "", b"x");
    let sent = String::from_utf8(input("H31.resp.bin")).unwrap();
    assert_eq!(answer.status(), 500);
    assert_eq!(answer.text(), sent.split_once("\r\n\r\n").unwrap().1);
    assert_eq!(s1.begun(), 1);
    program.wait_at_rest();
}

fn h35_an_early_answer_reaches_a_client_that_is_still_sending() {
    const SIZE: usize = 10_324_441;
    let place = Place::new();
    let s1 = TestService::start_with_heads(place.service(1), |x| {
        x.raw("HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 9\r\n\r\ntoo large")?;
        Ok(Then::Close)
    });
    let program = Program::start(&place, "ROUNDROBIN", &[&s1]);
    for _ in 0..5 {
        let mut client = program.client();
        client.send(format!("POST / HTTP/1.1\r\nHost: e2e.test\r\nContent-Length: {SIZE}\r\n\r\n"));
        client.send(pattern(SIZE));
        let answer = client.answer_to("POST");
        assert_eq!((answer.status(), answer.text().as_str()), (400, "too large"));
        if answer.all("connection").iter().any(|v| v.eq_ignore_ascii_case("close")) {
            assert_eq!(client.expect_end(), End::Fin);
        } else {
            assert_eq!(client.get("/").status(), 400);
        }
    }
    program.wait_at_rest();
}

fn h51_an_end_without_a_byte_is_502() {
    let place = Place::new();
    let s1 = TestService::start(place.service(1), |x| match x.request.target() {
        "/good" => x.ok("1"),
        _ => Ok(Then::Close),
    });
    let program = Program::start(&place, "ROUNDROBIN", &[&s1]);
    let fresh = program.client().get("/bad");
    assert_eq!(fresh.status(), 502);
    assert!(!fresh.body.is_empty());
    let mut reused = program.client();
    assert_eq!(reused.get("/good").status(), 200);
    assert_eq!(reused.get("/bad").status(), 502);
    program.wait_at_rest();
}

fn h52_a_body_cut_short_is_not_completed() {
    let place = Place::new();
    let s1 = TestService::start(place.service(1), |x| {
        let chunked = x.request.target() == "/chunked";
        x.raw(input(if chunked { "H52.chunk.resp.bin" } else { "H52.cl.resp.bin" }))?;
        Ok(Then::Close)
    });
    let program = Program::start(&place, "ROUNDROBIN", &[&s1]);
    for target in ["/length", "/chunked"] {
        let mut client = program.client();
        client.send(request("GET", target, "", b""));
        let error = client.try_answer_to("GET").map(|a| format!("{a:?}")).expect_err("complete");
        use std::io::ErrorKind::{ConnectionReset, UnexpectedEof};
        assert!(matches!(error.kind(), UnexpectedEof | ConnectionReset), "{target}: {error}");
    }
    program.wait_at_rest();
}

fn h52_a_reset_in_mid_body_is_not_completed() {
    let place = Place::new();
    let s1 = TestService::start(place.service(1), |x| {
        x.raw("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")?;
        x.raw(pattern(50_000))?;
        Ok(Then::Reset)
    });
    let program = Program::start(&place, "ROUNDROBIN", &[&s1]);
    let mut client = program.client();
    client.send(request("GET", "/", "", b""));
    client.try_answer_to("GET").expect_err("complete");
    program.wait_at_rest();
}

fn h58_a_malformed_answer_is_502() {
    let place = Place::new();
    let s1 = TestService::start(place.service(1), |x| {
        let name = x.request.target().trim_start_matches('/').to_owned();
        x.raw(input(&name))?;
        Ok(Then::Keep)
    });
    let program = Program::start(&place, "ROUNDROBIN", &[&s1]);
    for name in ["H58.cl2.resp.bin", "H58.clte.resp.bin", "H58.status.resp.bin"] {
        let mut client = program.client();
        assert_eq!(client.get(&format!("/{name}")).status(), 502, "{name}");
        assert_eq!(client.get(&format!("/{name}")).status(), 502, "{name}");
    }
    assert_eq!(s1.used_connections().len(), 6, "a connection that broke the protocol is not used again");
    program.wait_at_rest();
}

fn a_reset_before_the_answer_is_502() {
    let place = Place::new();
    let s1 = TestService::start(place.service(1), |_| Ok(Then::Reset));
    let program = Program::start(&place, "ROUNDROBIN", &[&s1]);
    let mut client = program.client();
    assert_eq!(client.request("POST", "/", "", b"x").status(), 502);
    assert_eq!(s1.begun(), 1);
    program.wait_at_rest();
}

fn no_service_that_accepts_is_503_or_502_and_the_connection_lives() {
    let place = Place::new();
    let program = Program::start_at(&place, "ROUNDROBIN", &[place.service(1), place.service(2)]);
    let mut client = program.client();
    for _ in 0..3 {
        let status = client.get("/").status();
        assert!(status == 502 || status == 503, "{status}");
    }
    let s2 = TestService::plain(place.service(2));
    assert_eq!(client.get("/").text(), s2.address().port().to_string());
    program.wait_at_rest();
}

fn a_virtual_server_without_services_up_resets() {
    let place = Place::new();
    let config = crate::program::config(&place, "ROUNDROBIN", &[place.service(1)]);
    let program = Program::launch(&place, &format!("{config}disable service s1\n"));
    // RST at once, or after the handshake that the kernel completes by itself: never an answer.
    wait_for("the virtual server's listener", || {
        match crate::client::Client::try_connect(program.vserver()) {
            Ok(mut client) => client.read_to_end() == (Vec::new(), End::Reset),
            Err(_) => false,
        }
    });
    program.wait_at_rest();
}

fn a_connected_client_gets_503_while_no_service_is_up() {
    let place = Place::new();
    let s1 = TestService::plain(place.service(1));
    let (vserver, service) = (place.vserver(0), s1.address());
    let program = Program::start_with(
        &place,
        &format!(
            "enable ns feature LB\n\
             add lb vserver v HTTP {} {}\n\
             add service s1 {} HTTP {}\n\
             bind lb vserver v s1\n\
             add lb monitor quick TCP -interval 100 MSEC -resptimeout 50 MSEC -retries 1 -downTime 100 MSEC\n\
             bind service s1 -monitorName quick\n",
            vserver.ip(),
            vserver.port(),
            service.ip(),
            service.port()
        ),
    );
    let mut client = program.client();
    assert_eq!(client.get("/").status(), 200);
    s1.stop();
    wait_for("503", || match client.get("/").status() {
        503 => true,
        // The service is gone, and its monitor has not said so yet.
        502 => false,
        status => panic!("{status}"),
    });
    let _back = TestService::plain(service);
    wait_for("the service to be UP again", || client.get("/").status() == 200);
    program.wait_at_rest();
}

fn a_client_that_goes_away_frees_its_service() {
    let place = Place::new();
    let gate = Gate::new();
    let s1 = TestService::held(place.service(1), "late", &gate);
    let program = Program::start(&place, "ROUNDROBIN", &[&s1]);
    let clients: Vec<_> = (0..10)
        .map(|_| {
            let mut client = program.client();
            client.send(request("GET", "/", "", b""));
            client
        })
        .collect();
    s1.wait_begun(10);
    assert_eq!(program.active("s1"), 10);
    clients.into_iter().for_each(crate::client::Client::reset);
    program.wait_at_rest();
    gate.open();
}
