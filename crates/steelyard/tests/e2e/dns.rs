//! DNS and DNS-TCP against Knot DNS, and against services that send what a name server should not.

use std::path::Path;
use std::time::Duration;

use libtest_mimic::Trial;

use crate::bindings::rows;
use crate::ecv::{wait_for_response, watched};
use crate::foreign::Running;
use crate::installed::program;
use crate::place::Place;
use crate::scripted::{Scripted, say};

pub fn trials() -> Vec<Trial> {
    trials![
        knot_answers_by_udp_and_by_tcp,
        m18_a_truncated_answer_is_asked_for_over_tcp_or_called_truncated,
        answers_to_other_questions_are_passed_over_and_unsound_ones_fail,
    ]
}

/// Knot DNS with the zone example.test, in which `big` has more addresses than a datagram has room for.
fn knot(place: &Place) -> Option<Running> {
    let mut command = program("knotd")?;
    let at = place.service(1);
    let many: String = (1..=120).map(|n| format!("big A 192.0.2.{n}\n")).collect();
    let zone = place.file(
        "zone",
        &format!(
            "$TTL 60\n@ SOA ns h 1 60 60 60 60\n@ NS ns\nns A {}\napp A 192.0.2.1\napp AAAA 2001:db8::1\n{many}",
            at.ip()
        ),
    );
    let root = Path::new(&zone).parent().unwrap().to_str().unwrap().to_owned();
    let text = format!(
        "server:\n    rundir: {root}\n    listen: {}@{}\n    udp-workers: 1\n    tcp-workers: 1\n    background-workers: 1\n\
         database:\n    storage: {root}\n\
         log:\n  - target: stderr\n    any: error\n\
         zone:\n  - domain: example.test\n    file: {zone}\n    zonefile-sync: -1\n    journal-content: none\n",
        at.ip(),
        at.port()
    );
    command.args(["-c", &place.file("knot.conf", &text)]);
    Some(Running::listening(command, at))
}

fn knot_answers_by_udp_and_by_tcp() {
    let place = Place::new();
    let Some(_knot) = knot(&place) else { return };
    let cases = [
        ("-query app.example.test -IPAddress 192.0.2.1 -LRTM ENABLED", "UP", RIGHT),
        ("-query APP.example.test. -queryType Address -IPAddress 192.0.2.9 192.0.2.1", "UP", RIGHT),
        ("-query app.example.test -queryType AAAA -IPAddress 2001:db8::1", "UP", RIGHT),
        ("-query example.test -queryType Zone", "UP", RIGHT),
        ("-query big.example.test -IPAddress 192.0.2.120", "UP", RIGHT),
        ("-query app.example.test -IPAddress 192.0.2.9", "DOWN", OTHER),
        ("-query app.example.test -queryType AAAA -IPAddress 192.0.2.1", "DOWN", OTHER),
        ("-query none.example.test", "DOWN", "Failure - DNS response NXDOMAIN received."),
        ("-query other.test", "DOWN", "Failure - DNS response REFUSED received."),
    ];
    let mut monitors = Vec::new();
    for kind in ["DNS", "DNS-TCP"] {
        monitors.extend(cases.map(|(options, ..)| format!("{kind} {options} -destPort 8101 {QUICK}")));
    }
    let monitors: Vec<&str> = monitors.iter().map(String::as_str).collect();
    let program = watched(&place, &monitors);
    for (n, (_, state, response)) in (1..).zip(cases.iter().chain(&cases)) {
        wait_for_response(&program, n, state, response);
    }
    assert_ne!(rows(&program, "service/s1")[0]["responsetime"], "0");
}

fn m18_a_truncated_answer_is_asked_for_over_tcp_or_called_truncated() {
    let place = Place::new();
    let empty = |asked: &[u8]| vec![reply(asked, [0x83, 0x80], &[])];
    let partial = |asked: &[u8]| vec![reply(asked, [0x83, 0x80], &[[192, 0, 2, 1]])];
    let _by_udp = Scripted::datagram(place.service(1), empty);
    let _by_tcp = Scripted::stream(place.service(1), |stream| {
        let mut length = [0; 2];
        std::io::Read::read_exact(stream, &mut length)?;
        let mut asked = vec![0; u16::from_be_bytes(length).into()];
        std::io::Read::read_exact(stream, &mut asked)?;
        let whole = reply(&asked, [0x81, 0x80], &[[192, 0, 2, 2], [192, 0, 2, 1]]);
        let framed = [&u16::try_from(whole.len()).unwrap().to_be_bytes(), whole.as_slice()].concat();
        let (first, second) = framed.split_at(1);
        say(stream, &[first, second], Duration::from_millis(20))
    });
    let _no_tcp = Scripted::datagram(place.service(2), empty);
    let _enough = Scripted::datagram(place.service(3), partial);
    let monitor = format!("DNS -query app.example.com -queryType Address -IPAddress 192.0.2.1 {QUICK}");
    let program = watched(&place, &[&monitor, &monitor, &monitor]);
    wait_for_response(&program, 1, "UP", RIGHT);
    wait_for_response(&program, 2, "DOWN", "Failure - DNS response truncated, and no whole one over TCP.");
    wait_for_response(&program, 3, "UP", RIGHT);
}

fn answers_to_other_questions_are_passed_over_and_unsound_ones_fail() {
    let place = Place::new();
    let _others = Scripted::datagram(place.service(1), |asked| {
        let good = reply(asked, [0x81, 0x80], &[[192, 0, 2, 1]]);
        let (mut id, mut question) = (reply(asked, [0x81, 0x83], &[]), reply(asked, [0x81, 0x83], &[]));
        for (message, at) in [(&mut id, 1), (&mut question, 13)] {
            if let Some(byte) = message.get_mut(at) {
                *byte ^= 1;
            }
        }
        vec![b"short".to_vec(), id, question, good]
    });
    let _only_others = Scripted::datagram(place.service(2), |asked| {
        vec![asked.to_vec(), asked.iter().map(|byte| !byte).collect()]
    });
    // A record whose name refers to itself, and behind it nothing.
    let _loops = Scripted::datagram(place.service(3), |asked| {
        let mut message = reply(asked, [0x81, 0x80], &[]);
        let end = u8::try_from(message.len()).unwrap_or(u8::MAX);
        if let Some(count) = message.get_mut(7) {
            *count = 1;
        }
        message.extend_from_slice(&[0xc0, end]);
        vec![message]
    });
    let monitor = format!("DNS -query app.example.com -IPAddress 192.0.2.1 {QUICK}");
    let program = watched(&place, &[&monitor, &monitor, &monitor, &monitor]);
    wait_for_response(&program, 1, "UP", RIGHT);
    wait_for_response(&program, 2, "DOWN", "Failure - time out while waiting for the response.");
    wait_for_response(&program, 3, "DOWN", "Failure - invalid DNS response: records cut short.");
    wait_for_response(&program, 4, "DOWN", "Failure - UDP datagram sent, port unreachable received.");
}

/// An answer to the question asked, with these flags and addresses.
fn reply(asked: &[u8], flags: [u8; 2], addresses: &[[u8; 4]]) -> Vec<u8> {
    if asked.len() < 12 {
        return Vec::new();
    }
    let mut message = asked.to_vec();
    message[2..4].copy_from_slice(&flags);
    message[7] = u8::try_from(addresses.len()).unwrap();
    for address in addresses {
        message.extend_from_slice(b"\xc0\x0c\0\x01\0\x01\0\0\0\x3c\0\x04");
        message.extend_from_slice(address);
    }
    message
}

const RIGHT: &str = "Success - DNS response received.";
const OTHER: &str = "Failure - DNS response has none of the expected addresses.";
/// Needs one result either way.
const QUICK: &str = "-interval 1 -resptimeout 900 MSEC -retries 1 -downTime 100 MSEC";
