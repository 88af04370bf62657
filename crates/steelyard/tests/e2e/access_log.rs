//! The access log from outside: a line for each transaction, whatever becomes of the file, and traffic that never waits.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use libtest_mimic::Trial;
use rustix::process::Signal;
use serde_json::Value;

use crate::client::request;
use crate::place::Place;
use crate::program::{Program, config, run_to_end};
use crate::service::{TestService, wait_for};

pub fn trials() -> Vec<Trial> {
    trials![
        o03_a_pipe_that_nobody_reads_costs_lines_and_no_traffic,
        o03_a_full_disk_costs_lines_and_no_traffic,
        each_transaction_leaves_a_line,
        a_moved_log_is_opened_again_by_sigusr1_and_nothing_is_lost,
        the_last_lines_are_written_before_the_end,
        a_log_that_cannot_be_opened_ends_the_start,
    ]
}

/// The whole lines of a log so far.
fn lines(path: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    whole.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"))).collect()
}

fn wait_for_lines(path: &str, count: usize) -> Vec<Value> {
    let mut found = Vec::new();
    wait_for(&format!("{count} lines"), || {
        found = lines(path);
        found.len() >= count
    });
    assert_eq!(found.len(), count, "{found:?}");
    found
}

fn logging(place: &Place, services: &[&TestService], log: &str) -> Program {
    let addresses: Vec<_> = services.iter().map(|service| service.address()).collect();
    Program::launch_with(place, &config(place, "ROUNDROBIN", &addresses), &["--access-log", log])
}

fn each_transaction_leaves_a_line() {
    let place = Place::new();
    let s1 = TestService::start(place.service(1), |x| x.answer(201, &[b'x'; 70_000]));
    let path = place.file("access.log", "");
    let program = logging(&place, &[&s1], &path);
    let mut client = program.client();
    let sent = request("POST", "/a?b=%20", "", b"hello");
    client.send(&sent);
    let answer = client.answer_to("POST");
    let line = &wait_for_lines(&path, 1)[0];
    for (key, value) in [
        ("vserver", Value::from("v")),
        ("service", Value::from("s1")),
        ("reason", Value::from("method")),
        ("client", Value::from(client.address().to_string())),
        ("method", Value::from("POST")),
        ("target", Value::from("/a?b=%20")),
        ("version", Value::from("HTTP/1.1")),
        ("status", Value::from(201)),
        ("received_bytes", Value::from(sent.len())),
        ("retries", Value::from(0)),
        ("close", Value::from("keep-alive")),
    ] {
        assert_eq!(line[key], value, "{key} of {line}");
    }
    assert!(line["sent_bytes"].as_u64().unwrap() > answer.body.len() as u64);
    assert!(line["duration_us"].as_u64().unwrap() >= line["ttfb_us"].as_u64().unwrap());
    let time = line["time"].as_str().unwrap();
    assert!(time.len() == 27 && time.ends_with('Z') && time.starts_with("20"), "{time}");
    client.send("nonsense\r\n\r\n");
    let line = &wait_for_lines(&path, 2)[1];
    assert_eq!((&line["status"], &line["close"]), (&Value::from(400), &Value::from("bad request")));
    assert_eq!((&line["service"], &line["target"]), (&Value::Null, &Value::from("nonsense")));
}

fn a_moved_log_is_opened_again_by_sigusr1_and_nothing_is_lost() {
    let place = Place::new();
    let s1 = TestService::plain(place.service(1));
    let path = place.file("access.log", "");
    let moved = format!("{path}.1");
    let program = logging(&place, &[&s1], &path);
    let mut client = program.client();
    for n in 0..10 {
        client.get(&format!("/{n}"));
    }
    std::fs::rename(&path, &moved).unwrap();
    client.get("/10");
    program.signal(Signal::USR1);
    wait_for("a new file", || PathBuf::from(&path).exists());
    client.get("/11");
    wait_for("every line", || lines(&moved).len() + lines(&path).len() == 12);
    assert_eq!(lines(&path).last().unwrap()["target"], "/11");
    let targets = |path: &str| -> Vec<String> {
        lines(path).iter().map(|line| line["target"].as_str().unwrap().to_owned()).collect()
    };
    let all = [targets(&moved), targets(&path)].concat();
    assert_eq!(all, (0..12).map(|n| format!("/{n}")).collect::<Vec<_>>());
}

fn the_last_lines_are_written_before_the_end() {
    let place = Place::new();
    let s1 = TestService::plain(place.service(1));
    let path = place.file("access.log", "");
    let mut program = logging(&place, &[&s1], &path);
    let mut client = program.client();
    for _ in 0..50 {
        client.get("/");
    }
    program.signal(Signal::TERM);
    assert_eq!(program.exit_code(), Some(0));
    assert_eq!(lines(&path).len(), 50);
}

fn a_log_that_cannot_be_opened_ends_the_start() {
    let place = Place::new();
    let file = place.file("ns.conf", "enable ns feature LB\n");
    let output = run_to_end(&["run", "--config", &file, "--access-log", "/nowhere/access.log"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        String::from_utf8(output.stderr).unwrap(),
        "steelyard: --access-log /nowhere/access.log: no such file or directory; give a file that can be written, or -\n"
    );
}

/// Requests whose lines are long, so that ring and pipe are soon full.
fn ask(program: &Program, count: usize) {
    let target = format!("/{}", "x".repeat(1_990));
    let mut clients: Vec<_> = (0..4).map(|_| program.client()).collect();
    for n in 0..count {
        assert_eq!(clients[n % 4].get(&target).status(), 200);
    }
}

/// Lines that the program says it has dropped.
fn told_dropped(program: &Program) -> usize {
    let count = |line: &str| -> Option<usize> {
        let (count, _) =
            line.strip_prefix("steelyard: ")?.split_once(" lines of the access log were dropped")?;
        count.parse().ok()
    };
    program.errors().lines().filter_map(count).sum()
}

fn o03_a_pipe_that_nobody_reads_costs_lines_and_no_traffic() {
    const REQUESTS: usize = 6_000;
    let place = Place::new();
    let s1 = TestService::plain(place.service(1));
    let text = config(&place, "ROUNDROBIN", &[s1.address()]);
    let (reader, writer) = std::io::pipe().unwrap();
    let program = Program::spawn_into(&place, &text, &["--access-log", "-"], writer);
    wait_for("it serves", || crate::client::Client::try_connect(program.vserver()).is_ok());
    wait_for("s1 UP", || program.field("service", "s1", "state") == "UP");
    ask(&program, REQUESTS);
    wait_for("word of what was dropped", || program.errors().contains("access log were dropped"));
    assert_eq!(program.nitro("/nitro/v1/stat/service").0, "HTTP/1.1 200 OK");
    let read = Arc::new(Mutex::new(Vec::new()));
    let into = Arc::clone(&read);
    std::thread::spawn(move || {
        for line in BufReader::new(reader).lines().map_while(Result::ok).filter(|line| line.starts_with('{'))
        {
            into.lock().unwrap().push(line);
        }
    });
    wait_for("each line read or told", || read.lock().unwrap().len() + told_dropped(&program) == REQUESTS);
    let read = read.lock().unwrap();
    assert!(read.iter().all(|line| serde_json::from_str::<Value>(line).is_ok()), "a line is cut");
    assert!(!read.is_empty() && read.len() < REQUESTS);
}

fn o03_a_full_disk_costs_lines_and_no_traffic() {
    let place = Place::new();
    let s1 = TestService::plain(place.service(1));
    let mut program = logging(&place, &[&s1], "/dev/full");
    ask(&program, 100);
    wait_for("word of it", || told_dropped(&program) == 100);
    assert!(program.errors().contains("lines of the access log were dropped: no space left on device"));
    ask(&program, 100);
    wait_for("word of the rest", || told_dropped(&program) == 200);
    ask(&program, 50);
    program.signal(Signal::TERM);
    assert_eq!(program.exit_code(), Some(0));
    assert_eq!(told_dropped(&program), 250, "each told once, those of the end too");
}
