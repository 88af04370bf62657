//! Whatever a client asks NITRO, it is answered in NITRO's envelope, nothing ends, and what came of it can be saved.
//!
//! `SEED=` replays a run, `FUZZ_SECONDS=` says how long it takes; 60 without.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use libtest_mimic::Trial;
use serde_json::Value;

use crate::any_request::{Dice, Requests};
use crate::place::Place;
use crate::program::Program;

pub fn trials() -> Vec<Trial> {
    trials![any_request_is_answered_and_what_came_of_all_is_saved]
}

fn any_request_is_answered_and_what_came_of_all_is_saved() {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse().expect("a number"));
    let seed = number("SEED").unwrap_or_else(seed);
    println!("SEED={seed} cargo test -p steelyard --test e2e -- fuzzed::");
    let until = Instant::now() + Duration::from_secs(number("FUZZ_SECONDS").unwrap_or(60));
    let place = Place::new();
    let mut program = Program::launch(&place, "enable ns feature LB CS\nadd server h1 192.0.2.1\n");
    let requests = Requests { resources: resources(&program), ip: place.ip() };
    let mut dice = Dice::new(seed);
    let (mut asked, mut carried_out) = (0_u64, 0_u64);
    while Instant::now() < until {
        let request = requests.any(&mut dice);
        let answer = if dice.once_in(10) {
            exchange(&mut TcpStream::connect(place.nitro()).unwrap(), &request)
        } else {
            exchange(&mut UnixStream::connect(program.data().join("nitro.sock")).unwrap(), &request)
        };
        match answer.and_then(|answer| judge(&answer)) {
            Ok(done) => carried_out += u64::from(done && !request.starts_with(b"GET")),
            Err(why) => {
                let shown = String::from_utf8_lossy(&request).chars().take(4_000).collect::<String>();
                panic!("SEED={seed}, request {asked}: {why}\n{shown}");
            }
        }
        asked += 1;
        assert!(program.is_running(), "SEED={seed}, request {asked}: the program ended");
    }
    println!("{asked} requests, {carried_out} changes");
    assert!(asked > 100 && carried_out > asked / 100, "they are too far from what can be done");
    assert!(!program.errors().contains("panicked"), "SEED={seed}: {}", program.errors());
    program.done("POST", "nsconfig?action=save", serde_json::json!({"nsconfig": {}}));
    let before = program.running();
    let path = program.config_path().to_owned();
    drop(program);
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

fn exchange(stream: &mut (impl Read + Write + Timed), request: &[u8]) -> Result<Vec<u8>, String> {
    stream.limit(HANG);
    // The answer may come, and the connection close, before all of the body is sent.
    let _ = stream.write_all(request);
    let mut answer = Vec::new();
    match stream.read_to_end(&mut answer) {
        Ok(_) => Ok(answer),
        Err(error) if !answer.is_empty() && error.kind() == std::io::ErrorKind::ConnectionReset => Ok(answer),
        Err(error) => Err(format!("no answer: {error}")),
    }
}

/// Is it a status that clients know, and NITRO's envelope? Says whether it was carried out.
fn judge(answer: &[u8]) -> Result<bool, String> {
    let text = String::from_utf8(answer.to_vec()).map_err(|error| format!("no text: {error}"))?;
    let (head, body) = text.split_once("\r\n\r\n").ok_or(format!("no head: {text:?}"))?;
    let status: u16 = head.split(' ').nth(1).and_then(|word| word.parse().ok()).ok_or(format!("{head:?}"))?;
    if !(200..500).contains(&status) && ![503, 599].contains(&status) {
        return Err(format!("status {status}: {body}"));
    }
    let json: Value = serde_json::from_str(body).map_err(|error| format!("{error}: {body:?}"))?;
    let envelope = json["errorcode"].is_u64() && json["message"].is_string() && json["severity"].is_string();
    let is_done = status < 300 && json["errorcode"] == 0;
    let is_refused = json["errorcode"] != 0 && json["severity"] != "NONE";
    match envelope && (is_done || is_refused) {
        true => Ok(is_done),
        false => Err(format!("status {status}, and no envelope of that: {body}")),
    }
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

fn seed() -> u64 {
    let mut bytes = [0; 4];
    std::fs::File::open("/dev/urandom").unwrap().read_exact(&mut bytes).unwrap();
    u32::from_le_bytes(bytes).into()
}

/// How long an answer may take until it is taken for none.
const HANG: Duration = Duration::from_secs(60);
