//! A strict service for conformance: it takes nothing that is not whole and sound, keeps what it took, and answers by a
//! script, byte for byte, where a row has one.
//!
//! One thread has all its connections, and reads all of them before it acts on any: whoever gets an answer from it knows
//! that everything which had arrived before is in its record.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::message::{Message, Seen, Unframed, read};

/// The running service. It ends when it is dropped.
pub struct Recorder {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

/// What the next request gets in place of an echo.
pub struct Script {
    /// With a pause before each.
    pub parts: Vec<Vec<u8>>,
    /// `keep`, `close` or `rst`.
    pub end: String,
}

#[derive(Default)]
struct Shared {
    seen: Mutex<Vec<Result<Message, String>>>,
    script: Mutex<Option<Script>>,
    stopping: AtomicBool,
}

struct Connection {
    stream: TcpStream,
    input: Vec<u8>,
    state: State,
}

#[derive(PartialEq, Eq)]
enum State {
    Open,
    /// It answered before the request was there: what still comes of that is read and dropped.
    Deaf,
    /// The peer has ended.
    Ended,
    Over,
}

impl Recorder {
    /// Listens on `address`.
    pub fn start(address: SocketAddr) -> Recorder {
        let listener = TcpListener::bind(address).unwrap_or_else(|e| panic!("recorder on {address}: {e}"));
        listener.set_nonblocking(true).unwrap();
        let shared = Arc::new(Shared::default());
        let for_thread = Arc::clone(&shared);
        let thread = Some(std::thread::spawn(move || serve(&listener, &for_thread)));
        Recorder { shared, thread }
    }

    /// Answers the next request by this script, as soon as its head is there.
    pub fn play(&self, script: Script) {
        *lock(&self.shared.script) = Some(script);
    }

    /// Takes the script back if no request came for it.
    pub fn take_back(&self) -> Option<Script> {
        lock(&self.shared.script).take()
    }

    /// What arrived since it was last asked: requests, and what was none.
    pub fn take_seen(&self) -> Vec<Result<Message, String>> {
        std::mem::take(&mut lock(&self.shared.seen))
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.shared.stopping.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn serve(listener: &TcpListener, shared: &Shared) {
    let mut connections: Vec<Connection> = Vec::new();
    while !shared.stopping.load(Ordering::SeqCst) {
        let mut fds = vec![PollFd::new(listener, PollFlags::IN)];
        fds.extend(connections.iter().map(|c| PollFd::new(&c.stream, PollFlags::IN)));
        let _ = poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 20_000_000 }));
        while let Ok((stream, _)) = listener.accept() {
            stream.set_nonblocking(true).unwrap();
            stream.set_nodelay(true).unwrap();
            connections.push(Connection { stream, input: Vec::new(), state: State::Open });
        }
        connections.iter_mut().for_each(Connection::receive);
        connections.iter_mut().for_each(|c| c.act(shared));
        connections.retain(|c| c.state != State::Over);
    }
}

impl Connection {
    fn receive(&mut self) {
        let mut buffer = [0; 65_536];
        loop {
            match self.stream.read(&mut buffer) {
                Ok(0) => {
                    self.state = State::Ended;
                    return;
                }
                Ok(read) => self.input.extend_from_slice(&buffer[..read]),
                Err(e) if e.kind() == ErrorKind::WouldBlock => return,
                Err(_) => {
                    self.state = State::Over;
                    return;
                }
            }
        }
    }

    fn act(&mut self, shared: &Shared) {
        while self.state == State::Open || self.state == State::Ended {
            match read(&self.input, Unframed::Empty) {
                Seen::Whole(request) => {
                    self.input.drain(..request.length);
                    self.answer(&request, shared);
                    if !request.start.contains(FENCE) {
                        lock(&shared.seen).push(Ok(request));
                    }
                }
                Seen::Cut(true) if self.state == State::Open => {
                    let Some(script) = lock(&shared.script).take() else { break };
                    self.state = State::Deaf;
                    self.play(&script);
                }
                Seen::Cut(_) => break,
                Seen::Malformed(why) => {
                    lock(&shared.seen).push(Err(why));
                    self.state = State::Over;
                }
            }
        }
        match self.state {
            State::Ended => self.state = State::Over,
            State::Deaf => self.input.clear(),
            State::Open | State::Over => {}
        }
    }

    fn answer(&mut self, request: &Message, shared: &Shared) {
        let script = if is_own(request) { None } else { lock(&shared.script).take() };
        match script {
            Some(script) => self.play(&script),
            None => self.send(&echo(request)),
        }
    }

    fn play(&mut self, script: &Script) {
        for part in &script.parts {
            std::thread::sleep(PAUSE);
            self.send(part);
        }
        match script.end.as_str() {
            "close" => {
                let _ = self.stream.shutdown(Shutdown::Both);
                self.state = State::Over;
            }
            "rst" => {
                let _ = socket2::SockRef::from(&self.stream).set_linger(Some(Duration::ZERO));
                self.state = State::Over;
            }
            _ => {}
        }
    }

    fn send(&mut self, bytes: &[u8]) {
        let _ = self.stream.set_nonblocking(false);
        if self.stream.write_all(bytes).is_err() {
            self.state = State::Over;
        }
        let _ = self.stream.set_nonblocking(true);
    }
}

/// 200 with the request's target as body, or without one to HEAD.
fn echo(request: &Message) -> Vec<u8> {
    let target = request.start.split(' ').nth(1).unwrap_or_default();
    let body = if request.method() == "HEAD" { "" } else { target };
    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", target.len()).into_bytes()
}

/// Is it none of a row's own?
fn is_own(request: &Message) -> bool {
    request.start.contains(FENCE) || request.start.contains("/second ")
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// The target of a request that is none of a row's and that no row has.
pub const FENCE: &str = "/fence-of-the-recorder";
const PAUSE: Duration = Duration::from_millis(60);
