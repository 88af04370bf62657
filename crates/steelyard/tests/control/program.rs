//! One run of the executable: its output, its end, and small HTTP clients to talk to it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process, prlimit};
use serde_json::Value;

/// A program that serves; killed when dropped.
pub struct Program {
    child: Child,
    lines: Receiver<String>,
    seen: Vec<String>,
    errors: Arc<Mutex<String>>,
    nitro: String,
    file: PathBuf,
}

impl Program {
    /// Runs `configuration` with its management on `ip`:9080 and waits for the line `ready`.
    pub fn run(ip: &str, configuration: &str, arguments: &[&str]) -> Program {
        let mut program = Program::spawn(ip, configuration, arguments);
        program.wait_for("ready");
        program
    }

    /// As `run`, with at most so many descriptors from the start, or very nearly.
    pub fn limited(ip: &str, configuration: &str, descriptors: u64) -> Program {
        let mut program = Program::spawn(ip, configuration, &[]);
        let limit = Rlimit { current: Some(descriptors), maximum: Some(descriptors) };
        prlimit(Some(Pid::from_child(&program.child)), Resource::Nofile, limit).unwrap();
        program.wait_for("ready");
        program
    }

    /// As `run`, without waiting.
    pub fn spawn(ip: &str, configuration: &str, arguments: &[&str]) -> Program {
        let file = file(ip, configuration);
        let nitro = format!("{ip}:9080");
        let mut child = Command::new(EXE)
            .args(["run", "--config", file.to_str().unwrap(), "--nitro", &nitro, "--threads", "1"])
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = follow(child.stdout.take().unwrap());
        let errors = Arc::new(Mutex::new(String::new()));
        let (mut stderr, kept) = (child.stderr.take().unwrap(), Arc::clone(&errors));
        std::thread::spawn(move || {
            let mut text = String::new();
            let _ = stderr.read_to_string(&mut text);
            *kept.lock().unwrap() = text;
        });
        Program { child, lines, seen: Vec::new(), errors, nitro, file }
    }

    /// Closes the pipe that its standard output goes to.
    pub fn close_output(&mut self) {
        // The following thread ends, and its end of the pipe with it, at the next line.
        self.lines = channel().1;
    }

    /// Waits for a line of standard output that holds `text`, and returns it.
    pub fn wait_for(&mut self, text: &str) -> String {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(line) = self.seen.iter().find(|line| line.contains(text)) {
                return line.clone();
            }
            let left = deadline.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left) {
                Ok(line) => self.seen.push(line),
                Err(_) => panic!("no {text:?} in {:?}, errors {:?}", self.seen, self.errors.lock().unwrap()),
            }
        }
    }

    /// What it has printed so far.
    pub fn seen(&self) -> &[String] {
        &self.seen
    }

    /// Sends a signal.
    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Waits for its end: exit code and standard error.
    pub fn ended(mut self) -> (Option<i32>, String) {
        let code = self.child.wait().unwrap().code();
        until("standard error ends", || Arc::strong_count(&self.errors) == 1);
        let errors = self.errors.lock().unwrap().clone();
        (code, errors)
    }

    /// Has it ended?
    pub fn is_over(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// `GET path` on the management port: status line and JSON.
    pub fn nitro(&self, path: &str) -> (String, Value) {
        let (status, body) =
            request(&self.nitro, &format!("GET {path} HTTP/1.1\r\nHost: {}\r\n", self.nitro));
        (status, serde_json::from_str(&body).unwrap())
    }

    /// One field of one row of `stat`.
    pub fn stat(&self, object: &str, name: &str, field: &str) -> Value {
        let (status, answer) = self.nitro(&format!("/nitro/v1/stat/{object}/{name}"));
        assert_eq!(status, "HTTP/1.1 200 OK", "{answer}");
        answer[object][0][field].clone()
    }

    /// Waits until a service or virtual server has this state.
    pub fn wait_for_state(&self, object: &str, name: &str, state: &str) {
        until(&format!("{name} is {state}"), || self.stat(object, name, "state") == state);
    }

    /// Its management address.
    pub fn nitro_address(&self) -> &str {
        &self.nitro
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_file(&self.file);
    }
}

fn follow(stdout: ChildStdout) -> Receiver<String> {
    let (say, lines) = channel();
    let stdout = BufReader::new(stdout);
    std::thread::spawn(move || stdout.lines().map_while(Result::ok).try_for_each(|line| say.send(line)));
    lines
}

/// A loopback address that no other test has, of this run or of another one on the same machine.
pub fn own_address(number: u8) -> &'static str {
    let run = std::process::id();
    format!("127.{}.{}.{number}", 64 + run / 256 % 128, run % 256).leak()
}

/// Runs the executable to its end.
pub fn once(arguments: &[&str]) -> Output {
    Command::new(EXE).args(arguments).output().unwrap()
}

/// Writes a configuration file that no other test writes.
pub fn file(name: &str, text: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.conf"));
    std::fs::write(&path, text).unwrap();
    path
}

/// A request on a connection of its own: status line and body, or nothing but what went wrong.
pub fn try_request(address: &str, head: &str) -> std::io::Result<(String, String)> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.write_all(format!("{head}Connection: close\r\n\r\n").as_bytes())?;
    let mut text = String::new();
    stream.read_to_string(&mut text)?;
    let (head, body) = text.split_once("\r\n\r\n").ok_or(std::io::ErrorKind::UnexpectedEof)?;
    Ok((head.lines().next().unwrap_or_default().to_owned(), body.to_owned()))
}

/// As `try_request`, when nothing may go wrong.
pub fn request(address: &str, head: &str) -> (String, String) {
    try_request(address, head).unwrap()
}

/// `GET /` of a virtual server: its body.
pub fn page(address: &str) -> String {
    let (status, body) = request(address, "GET / HTTP/1.1\r\nHost: test.example\r\n");
    assert_eq!(status, "HTTP/1.1 200 Told", "{body}");
    body
}

/// Waits until something holds, and fails if it never does.
pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "never: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

const EXE: &str = env!("CARGO_BIN_EXE_steelyard");
const PATIENCE: Duration = Duration::from_secs(20);
