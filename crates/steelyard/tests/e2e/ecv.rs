//! TCP-ECV and UDP-ECV over real sockets: what is sent, and what an answer in pieces, of other words, or none does.

use std::time::Duration;

use libtest_mimic::Trial;

use crate::bindings::rows;
use crate::place::Place;
use crate::program::Program;
use crate::scripted::{Scripted, hold, read_to, say};
use crate::service::wait_for;

pub fn trials() -> Vec<Trial> {
    trials![
        m07_a_reply_in_several_segments_is_one_answer,
        tcp_ecv_listens_and_tells_why_it_fails,
        udp_ecv_needs_its_answer_among_any,
        m38_ecv_monitors_without_strings_work_and_give_no_response_time,
    ]
}

/// A program with service `sN` at each place N, watched by monitor `mN` with these type and options.
pub fn watched(place: &Place, monitors: &[&str]) -> Program {
    let ip = place.ip();
    let mut text = "enable ns feature LB\n".to_owned();
    for (n, monitor) in (1..).zip(monitors) {
        text += &format!(
            "add service s{n} {ip} HTTP {}\nadd lb monitor m{n} {monitor}\nbind service s{n} -monitorName m{n}\n",
            8100 + n
        );
    }
    Program::launch(place, &text)
}

/// Waits until the state of service `sN` and the last response of its monitor are these.
pub fn wait_for_response(program: &Program, n: usize, state: &str, response: &str) {
    let last = || rows(program, &format!("service_lbmonitor_binding/s{n}"))[0]["lastresponse"].clone();
    wait_for(&format!("s{n} {state}, {response}"), || {
        program.field("service", &format!("s{n}"), "state") == state && last() == response
    });
}

fn m07_a_reply_in_several_segments_is_one_answer() {
    let place = Place::new();
    let _stats = Scripted::stream(place.service(1), |stream| {
        read_to(stream, b"stats\r\n")?;
        say(stream, &[b"STAT", b" pid 366\r\nSTAT uptime 64808\r\nEND\r\n"], Duration::from_millis(200))?;
        // It stays open: only the match ends the probe.
        hold(stream)
    });
    let monitor = format!(r#"TCP-ECV -send "stats\r\n" -recv "STAT pid" -LRTM ENABLED {QUICK}"#);
    let expression = format!(r#"TCP-ECV -send "stats\r\n" -recv "re/pid \d+\r\n/" -destPort 8101 {QUICK}"#);
    let program = watched(&place, &[&monitor, &expression]);
    wait_for_response(&program, 1, "UP", FOUND);
    wait_for_response(&program, 2, "UP", FOUND);
    let service = &rows(&program, "service/s1")[0];
    let response_ms: u64 = service["responsetime"].as_str().unwrap().parse().unwrap();
    assert!(response_ms >= 200, "{service}");
}

fn tcp_ecv_listens_and_tells_why_it_fails() {
    let place = Place::new();
    let _banner = Scripted::stream(place.service(1), |stream| {
        say(stream, &[b"220 mail ready\r\n"], Duration::ZERO)?;
        hold(stream)
    });
    let _other = Scripted::stream(place.service(2), |stream| {
        read_to(stream, b"?")?;
        say(stream, &[b"Ok", b"oK"], Duration::from_millis(20))
    });
    let _silent = Scripted::stream(place.service(3), hold);
    let _endless = Scripted::stream(place.service(4), |stream| {
        loop {
            say(stream, &[&[b'a'; 10_000]], Duration::ZERO)?;
        }
    });
    let _hangs_up = Scripted::stream(place.service(5), |_| Ok(()));
    let _slow = Scripted::stream(place.service(6), |stream| {
        say(stream, &[b"not this"], Duration::ZERO)?;
        hold(stream)
    });
    let banner = format!("TCP-ECV -recv \"220 \" {QUICK}");
    let asks = format!("TCP-ECV -send ? -recv ok {QUICK}");
    let program = watched(&place, &[&banner, &asks, &asks, &asks, &asks, &asks, &asks]);
    for (n, state, response) in [
        (1, "UP", FOUND),
        (2, "DOWN", "Failure - pattern not found in response."),
        (3, "DOWN", "Failure - time out while waiting for the response."),
        (4, "DOWN", "Failure - pattern not found in the first 65536 bytes of the response."),
        (5, "DOWN", "Failure - connection closed before a complete response."),
        (6, "DOWN", "Failure - time out; what came is without the pattern."),
        (7, "DOWN", "Failure - TCP syn sent, reset received."),
    ] {
        wait_for_response(&program, n, state, response);
    }
}

fn udp_ecv_needs_its_answer_among_any() {
    let place = Place::new();
    let _good = Scripted::datagram(place.service(1), |said| {
        assert!(said.is_empty() || said == b"ping\0");
        vec![b"pon".to_vec(), b"g".to_vec(), b"x\0pong\xff".to_vec()]
    });
    let _other = Scripted::datagram(place.service(2), |_| vec![b"PONG".to_vec()]);
    let _silent = Scripted::datagram(place.service(3), |_| Vec::new());
    let probe = format!(r#"UDP-ECV -send "ping\x00" -recv "\x00pong\xff" {QUICK}"#);
    let program = watched(&place, &[&probe, &probe, &probe, &probe]);
    for (n, state, response) in [
        (1, "UP", FOUND),
        (2, "DOWN", "Failure - time out; what came is without the pattern."),
        (3, "DOWN", "Failure - time out while waiting for the response."),
        (4, "DOWN", "Failure - UDP datagram sent, port unreachable received."),
    ] {
        wait_for_response(&program, n, state, response);
    }
}

/// `spec/methods.md` ruling 4.
fn m38_ecv_monitors_without_strings_work_and_give_no_response_time() {
    let place = Place::new();
    let _silent = Scripted::datagram(place.service(1), |_| Vec::new());
    let _answers = Scripted::datagram(place.service(2), |said| vec![said.to_vec()]);
    let _any = Scripted::stream(place.service(4), |stream| {
        read_to(stream, b"?")?;
        say(stream, &[b"\0"], Duration::ZERO)
    });
    let silent = format!("UDP-ECV -send x -LRTM ENABLED {QUICK}");
    let tcp = format!("TCP-ECV -send ? -LRTM ENABLED {QUICK}");
    let program = watched(&place, &[&silent, "UDP-ECV -LRTM ENABLED", &silent, &tcp]);
    for (n, state, response) in [
        (1, "UP", "Success - UDP datagram sent, port not reported unreachable."),
        (2, "UP", FOUND),
        (3, "DOWN", "Failure - UDP datagram sent, port unreachable received."),
        (4, "UP", FOUND),
    ] {
        wait_for_response(&program, n, state, response);
        assert_eq!(rows(&program, &format!("service/s{n}"))[0]["responsetime"], "0");
    }
}

const FOUND: &str = "Success - pattern found in response.";
/// Needs one result either way.
const QUICK: &str = "-interval 1 -resptimeout 900 MSEC -retries 1 -downTime 100 MSEC";
