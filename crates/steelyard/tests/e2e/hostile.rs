//! Bytes that no decent client sends: each gets an error answer or a closed connection, never reaches a service as a
//! request of its own, and leaves the program serving others.

use std::path::Path;
use std::time::{Duration, Instant};

use libtest_mimic::Trial;

use crate::client::{Client, request};
use crate::place::Place;
use crate::program::Program;
use crate::service::TestService;

pub fn trials() -> Vec<Trial> {
    let mut trials = trials![
        h45_a_dripping_head_is_408_and_others_are_served,
        h21_bare_line_feeds_never_go_on,
        h46_a_head_beyond_the_limit_is_431,
        h46_a_target_beyond_the_limit_is_414,
        h48_what_follows_a_connect_is_ignored,
        garbage_is_answered_or_closed,
    ];
    trials.extend(REFUSED.map(|name| {
        Trial::test(
            format!(
                "hostile::{}_is_refused",
                name.trim_end_matches(".req.bin").to_lowercase().replace('.', "_")
            ),
            || {
                is_refused(name);
                Ok(())
            },
        )
    }));
    trials
}

/// The file called `name` of core's fixtures: the recorded bytes of public faults of other balancers.
pub fn input(name: &str) -> Vec<u8> {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../steelyard-core/tests/fixtures/cases").join(name);
    std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Inputs that must be answered 400 (or closed) and never become a complete request at the service.
const REFUSED: [&str; 27] = [
    "H01.clte.req.bin",
    "H01.tecl.req.bin",
    "H03.req.bin",
    "H04.diff.req.bin",
    "H04.list.req.bin",
    "H04.same.req.bin",
    "H08.empty.req.bin",
    "H08.hex0x.req.bin",
    "H08.minus.req.bin",
    "H08.overflow.req.bin",
    "H08.plus.req.bin",
    "H08.underscore.req.bin",
    "H10.req.bin",
    "H11.data.req.bin",
    "H11.end.req.bin",
    "H11.size.req.bin",
    "H13.host.req.bin",
    "H13.te.req.bin",
    "H14.req.bin",
    "H15.req.bin",
    "H17.list.req.bin",
    "H17.req.bin",
    "H19.req.bin",
    "H56.req.bin",
    "H56.space.req.bin",
    "H56.star.req.bin",
    "H57.req.bin",
];

fn is_refused(name: &str) {
    let place = Place::new();
    let s1 = TestService::plain(place.service(1));
    let program = Program::start(&place, "ROUNDROBIN", &[&s1]);
    let mut client = program.client();
    client.send(input(name));
    let answer = client.answer_to("POST");
    assert_eq!(answer.status(), 400, "{answer:?}");
    client.expect_end();
    assert_eq!(s1.begun(), 0, "{:?}", s1.log());
    assert_eq!(program.client().get("/next").status(), 200);
    program.wait_at_rest();
}

fn h21_bare_line_feeds_never_go_on() {
    let place = Place::new();
    let s1 = TestService::plain(place.service(1));
    let program = Program::start(&place, "ROUNDROBIN", &[&s1]);
    let mut client = program.client();
    client.send(input("H21.req.bin"));
    // The service's own reader refuses a bare LF, so a 200 says that the program sent CRLF.
    let status = client.answer().status();
    assert!(status == 200 || status == 400, "{status}");
    program.wait_at_rest();
}

fn h45_a_dripping_head_is_408_and_others_are_served() {
    let place = Place::new();
    let s1 = TestService::plain(place.service(1));
    let program = Program::start(&place, "ROUNDROBIN", &[&s1]);
    let began = Instant::now();
    let mut slow: Vec<Client> = (0..100).map(|_| program.client()).collect();
    slow.iter_mut().for_each(|c| c.send("GET / HTTP/1.1\r\n"));
    let mut other = program.client();
    // A byte now and then, longer than the ten seconds that a head may take.
    while began.elapsed() < Duration::from_secs(9) {
        std::thread::sleep(Duration::from_millis(500));
        slow.iter_mut().for_each(|c| c.send("X"));
        assert_eq!(other.get("/").status(), 200);
    }
    for client in &mut slow {
        let answer = client.answer();
        assert_eq!(answer.status(), 408);
        client.expect_end();
    }
    assert!(began.elapsed() >= Duration::from_secs(10), "earlier than the limit");
    assert_eq!(other.get("/").status(), 200);
    program.wait_at_rest();
}

fn h46_a_head_beyond_the_limit_is_431() {
    let place = Place::new();
    let s1 = TestService::plain(place.service(1));
    let program = Program::start(&place, "ROUNDROBIN", &[&s1]);
    let one_field = format!("X-Long: {}\r\n", "a".repeat(65_537));
    let many_fields: String = (0..10_001).map(|n| format!("X-{n}: {n}\r\n")).collect();
    let huge = format!("X-Long: {}\r\n", "a".repeat(1 << 20));
    for fields in [one_field, many_fields, huge] {
        let mut client = program.client();
        // The program may have answered and stopped reading before all of it is sent.
        let _ = client.try_send(request("GET", "/", &fields, b""));
        assert_eq!(client.answer().status(), 431);
        client.expect_end();
    }
    assert_eq!(s1.begun(), 0);
    assert_eq!(program.client().get("/").status(), 200);
    program.wait_at_rest();
}

fn h46_a_target_beyond_the_limit_is_414() {
    let place = Place::new();
    let s1 = TestService::plain(place.service(1));
    let program = Program::start(&place, "ROUNDROBIN", &[&s1]);
    let mut client = program.client();
    client.send(request("GET", &format!("/{}", "a".repeat(65_536)), "", b""));
    assert_eq!(client.answer().status(), 414);
    client.expect_end();
    assert_eq!(s1.begun(), 0);
    program.wait_at_rest();
}

fn h48_what_follows_a_connect_is_ignored() {
    let place = Place::new();
    let s1 = TestService::plain(place.service(1));
    let program = Program::start(&place, "ROUNDROBIN", &[&s1]);
    let mut client = program.client();
    client.send(input("H48.req.bin"));
    let status = client.answer().status();
    assert!(matches!(status, 400 | 403 | 405 | 501), "{status}");
    client.expect_end();
    assert_eq!(s1.begun(), 0);
    program.wait_at_rest();
}

fn garbage_is_answered_or_closed() {
    let place = Place::new();
    let s1 = TestService::plain(place.service(1));
    let program = Program::start(&place, "ROUNDROBIN", &[&s1]);
    let tls_hello = b"\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03".to_vec();
    let h2_preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
    for bytes in [tls_hello, h2_preface, vec![0; 1000], b"\r\n\r\n\r\n\r\nhello\r\n\r\n".to_vec()] {
        let mut client = program.client();
        client.send(&bytes);
        client.half_close();
        let (answer, _) = client.read_to_end();
        let text = String::from_utf8_lossy(&answer);
        assert!(
            text.is_empty() || text.starts_with("HTTP/1.1 4") || text.starts_with("HTTP/1.1 505"),
            "{text:?}"
        );
    }
    assert_eq!(s1.begun(), 0);
    assert_eq!(program.client().get("/").status(), 200);
    program.wait_at_rest();
}
