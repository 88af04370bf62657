//! Every request of the conformance table over real sockets: what must be refused never reaches a service, what must be
//! forwarded does, and the program is at rest after all of them. The details of each verdict are core's tests.

use std::path::Path;

use libtest_mimic::Trial;

use crate::place::Place;
use crate::program::Program;
use crate::service::TestService;

pub fn trials() -> Vec<Trial> {
    trials![every_request_row_over_sockets]
}

fn every_request_row_over_sockets() {
    let place = Place::new();
    let s1 = TestService::plain(place.service(1));
    let program = Program::start(&place, "ROUNDROBIN", &[&s1]);
    let mut failures = Vec::new();
    for (id, bytes, expected) in rows() {
        let before = s1.begun();
        let mut client = program.client();
        // A refusal may come before everything is sent.
        let _ = client.try_send(&bytes);
        client.half_close();
        let (answer, _) = client.read_to_end();
        let (arrived, answer) = (s1.begun() - before, String::from_utf8_lossy(&answer).into_owned());
        let right = match expected.as_str() {
            "forward" => arrived >= 1 && answer.starts_with("HTTP/1.1 "),
            "reject" => arrived == 0 && !answer.starts_with("HTTP/1.1 2"),
            _ => true,
        };
        if !right {
            failures.push(format!("{id} ({expected}): {arrived} arrived, answered {answer:?}"));
        }
    }
    assert!(failures.is_empty(), "{} rows:\n{}", failures.len(), failures.join("\n"));
    assert_eq!(program.client().get("/").status(), 200);
    program.wait_at_rest();
}

/// Id, bytes and verdict of each row.
fn rows() -> Vec<(String, Vec<u8>, String)> {
    let file = "../steelyard-core/tests/fixtures/http1/requests.tsv";
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap();
    let mut lines = text.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    let names = lines.next().unwrap();
    let column = |name: &str| names.iter().position(|n| *n == name).unwrap();
    let (id, bytes, expected) = (column("id"), column("b64"), column("expected"));
    let rows: Vec<_> = lines.map(|r| (r[id].to_owned(), base64(r[bytes]), r[expected].to_owned())).collect();
    assert!(rows.len() > 400, "only {} rows", rows.len());
    rows
}

fn base64(text: &str) -> Vec<u8> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut bytes = Vec::new();
    let (mut held, mut bits) = (0u32, 0);
    for digit in text.bytes().filter(|b| *b != b'=') {
        let value = DIGITS.iter().position(|d| *d == digit).unwrap() as u32;
        (held, bits) = (held << 6 | value, bits + 6);
        if bits >= 8 {
            bits -= 8;
            bytes.push((held >> bits) as u8);
        }
    }
    bytes
}
