//! Whatever a client asks NITRO, it is answered in NITRO's envelope, nothing ends, no secret comes out, and what came of it
//! can be saved and read again.
//!
//! `SEED=` says which requests, `FUZZ_SECONDS=` for how long; without, the same ones for 60 s, so that what `make test` finds
//! is found again. `make soak` takes other ones each time, for ten minutes.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use libtest_mimic::Trial;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::any_request::{Dice, Requests, SECRET};
use crate::client::PATIENCE;
use crate::place::Place;
use crate::program::{Program, run_to_end};

pub fn trials() -> Vec<Trial> {
    trials![any_request_is_answered_and_what_came_of_all_is_saved]
}

fn any_request_is_answered_and_what_came_of_all_is_saved() {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse().expect("a number"));
    let seed = number("SEED").unwrap_or(SAME);
    println!("SEED={seed} cargo test -p steelyard --test e2e -- fuzzed::");
    let until = Instant::now() + Duration::from_secs(number("FUZZ_SECONDS").unwrap_or(60));
    let place = Place::new();
    let mut program = Program::launch(&place, "enable ns feature LB CS\nadd server h1 127.1.0.1\n");
    let requests = Requests { resources: resources(&program), ip: place.ip() };
    let mut dice = Dice::new(seed);
    let mut session = log_in(&program);
    let (mut asked, mut statuses) = (0_u64, BTreeMap::<String, u64>::new());
    while Instant::now() < until {
        asked += 1;
        let request = requests.any(&mut dice);
        let by_port = dice.once_in(4);
        let answer = if by_port {
            exchange(&mut TcpStream::connect(place.nitro()).unwrap(), &with(&session, &request))
        } else {
            let mut socket = UnixStream::connect(program.data().join("nitro.sock")).unwrap();
            exchange(&mut socket, &with("Host: x\r\n", &request))
        };
        let told = || {
            let shown = String::from_utf8_lossy(&request).chars().take(4_000).collect::<String>();
            format!("SEED={seed}, request {asked}:\n{shown}")
        };
        match answer.and_then(|answer| judge(&request, &answer)) {
            Ok(status) => {
                if by_port && status.starts_with("401") {
                    session = log_in(&program);
                }
                *statuses.entry(status).or_default() += 1;
            }
            Err(why) => panic!("{why}\n{}", told()),
        }
        assert!(program.is_running(), "the program ended\n{}", told());
        if asked.is_multiple_of(ROUND) {
            is_read_again(&program, &told());
        }
    }
    println!("{asked} requests: {statuses:?}");
    for status in MET {
        assert!(statuses.contains_key(*status), "SEED={seed}: {status} was never met: {statuses:?}");
    }
    is_read_again(&program, &format!("SEED={seed}, after {asked} requests"));
    let before = program.running();
    let path = program.config_path().to_owned();
    program.signal(Signal::TERM);
    assert_eq!(program.exit_code(), Some(0), "SEED={seed}");
    let wrote = program.lines().join("\n") + &program.errors();
    assert!(!wrote.contains("panicked") && !wrote.contains(SECRET), "SEED={seed}: {wrote}");
    let again = Program::launch(&place, &std::fs::read_to_string(path).unwrap());
    assert_eq!(again.running(), before, "SEED={seed}");
}

fn resources(program: &Program) -> Vec<Value> {
    let (_, all) = program.owner_raw("GET", "/schema", "", b"");
    let names =
        all["schema"].as_array().unwrap().iter().map(|line| line["name"].as_str().unwrap().to_owned());
    let whole =
        |name: String| program.owner_raw("GET", &format!("/schema/{name}"), "", b"").1["schema"][0].clone();
    names.map(whole).collect()
}

/// Header lines of requests by the management port: a session of nsroot's, which no request names.
fn log_in(program: &Program) -> String {
    let body = json!({"login": {"username": "nsroot", "password": program.password()}}).to_string();
    let (host, length) = (program.nitro_address(), body.len());
    let answer = program.manage(format!(
        "POST /nitro/v1/config/login HTTP/1.1\r\nHost: {host}\r\nContent-Length: {length}\r\n\r\n{body}"
    ));
    let value: Value = serde_json::from_slice(&answer.body).unwrap();
    let id = value["sessionid"].as_str().unwrap_or_else(|| panic!("nsroot is not let in: {value}"));
    format!("Host: {host}\r\nNITRO-AUTH-TOKEN: {id}\r\n")
}

/// A request with further lines at the beginning of its head.
fn with(lines: &str, request: &[u8]) -> Vec<u8> {
    let at = request.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    [&request[..at], lines.as_bytes(), &request[at..]].concat()
}

fn exchange(stream: &mut (impl Read + Write + Timed), request: &[u8]) -> Result<Vec<u8>, String> {
    stream.limit(PATIENCE);
    // The answer may come, and the connection close, before all of the body is sent.
    let _ = stream.write_all(request);
    let mut answer = Vec::new();
    match stream.read_to_end(&mut answer) {
        Ok(_) => Ok(answer),
        Err(error) if !answer.is_empty() && error.kind() == std::io::ErrorKind::ConnectionReset => Ok(answer),
        Err(error) => Err(format!("no answer: {error}")),
    }
}

/// Is it a status that clients know letter for letter, and an envelope of NITRO's that goes with it (`spec/nitro.md` 1, 4,
/// 6)? The status.
fn judge(request: &[u8], answer: &[u8]) -> Result<String, String> {
    let text = String::from_utf8(answer.to_vec()).map_err(|error| format!("no text: {error}"))?;
    let wrong = |what: &str| Err(format!("{what}: {text}"));
    let whole = text.trim_start_matches("HTTP/1.1 100 Continue\r\n\r\n");
    let Some((head, body)) = whole.split_once("\r\n\r\n") else { return wrong("no head") };
    let status = head.lines().next().unwrap_or_default().trim_start_matches("HTTP/1.1 ");
    if status.starts_with("431 ") && request.len() > LONG {
        return Ok(status.to_owned());
    }
    if !STATUSES.contains(&status) {
        return wrong("status");
    }
    if text.contains(SECRET) {
        return wrong("a secret is shown");
    }
    let done = Ok(status.to_owned());
    if request.starts_with(b"HEAD") {
        return if body.is_empty() { done } else { wrong("a body for HEAD") };
    }
    if !head.to_ascii_lowercase().contains(&format!("\r\ncontent-length: {}\r\n", body.len())) {
        return wrong("length of the body");
    }
    let asks_for = |path: &str| request.starts_with(format!("GET {path}").as_bytes());
    if status == "200 OK" && asks_for("/metrics") {
        return done;
    }
    let Ok(json) = serde_json::from_str::<Value>(body) else { return wrong("no JSON") };
    if status == "200 OK" && asks_for("/steelyard/v1/explain/") {
        return done;
    }
    let (code, severity) = (json["errorcode"].as_u64(), json["severity"].as_str());
    let is_refused = code.is_some_and(|code| code > 0);
    let fits = match &status[..3] {
        "200" | "201" => code == Some(0) && severity == Some("NONE"),
        "207" => code == Some(1243) && severity == Some("ERROR"),
        "209" => is_refused && severity == Some("WARNING"),
        _ => is_refused && severity == Some("ERROR"),
    };
    if fits && json["message"].is_string() { done } else { wrong("no envelope of that status") }
}

/// What is saved is refused nowhere, and who reads it finds nothing changed.
fn is_read_again(program: &Program, told: &str) {
    let running = program.running();
    program.done("POST", "nsconfig?action=save", json!({"nsconfig": {}}));
    let saved = std::fs::read_to_string(program.config_path()).unwrap();
    assert!(!saved.contains(SECRET), "a secret is saved as it is\n{told}\n{saved}");
    let output = run_to_end(&["check", program.config_path(), "--format", "json"]);
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("no report: {error}: {output:?}\n{told}\n{saved}"));
    assert_eq!(report["refused"], 0, "{report:#}\n{told}\n{saved}");
    let said = program.reload(&saved);
    assert!(said.ends_with(": nothing changed"), "{said}\n{told}\n{saved}");
    assert_eq!(program.running(), running, "{told}");
}

/// Streams on which a read can be given up.
trait Timed {
    fn limit(&self, after: Duration);
}

impl Timed for TcpStream {
    fn limit(&self, after: Duration) {
        self.set_read_timeout(Some(after)).unwrap();
    }
}

impl Timed for UnixStream {
    fn limit(&self, after: Duration) {
        self.set_read_timeout(Some(after)).unwrap();
    }
}

/// The seed of `make test`.
const SAME: u64 = 77_701;
/// A head may be this long, and need not be read if it is longer.
const LONG: usize = 16_384;
/// After so many requests what is configured is read again.
const ROUND: u64 = 500;
const STATUSES: &[&str] = &[
    "200 OK",
    "201 Created",
    "207 Multi Status",
    "209 Netscaler specific warning",
    "400 Bad Request",
    "401 Unauthorized",
    "403 Forbidden",
    "404 Not Found",
    "405 Method Not Allowed",
    "406 Not Acceptable",
    "409 Conflict",
    "599 Netscaler specific error",
];
/// Those that a run is too far from what can be asked without.
const MET: &[&str] = &[
    "200 OK",
    "201 Created",
    "400 Bad Request",
    "401 Unauthorized",
    "403 Forbidden",
    "404 Not Found",
    "405 Method Not Allowed",
    "409 Conflict",
    "599 Netscaler specific error",
];
