//! Services to probe and to send requests to: real HTTP on real sockets, each request kept as it came.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A service that answers every request with its name.
#[derive(Clone)]
pub struct Service {
    inner: Arc<Inner>,
}

struct Inner {
    name: String,
    status: AtomicU16,
    held: AtomicBool,
    delay_ms: AtomicU64,
    requests: Mutex<Vec<String>>,
}

impl Service {
    /// Listens on `address` and answers 200.
    pub fn start(name: &str, address: &str) -> Service {
        let listener = TcpListener::bind(address).unwrap();
        let inner = Arc::new(Inner {
            name: name.to_owned(),
            status: AtomicU16::new(200),
            held: AtomicBool::new(false),
            delay_ms: AtomicU64::new(0),
            requests: Mutex::default(),
        });
        let service = Service { inner };
        let serving = service.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let serving = serving.clone();
                std::thread::spawn(move || serving.converse(stream));
            }
        });
        service
    }

    /// Answers with this status from now on.
    pub fn answer(&self, status: u16) {
        self.inner.status.store(status, Ordering::SeqCst);
    }

    /// Thinks so long before each answer from now on.
    pub fn think(&self, delay: Duration) {
        self.inner.delay_ms.store(delay.as_millis() as u64, Ordering::SeqCst);
    }

    /// Keeps requests without an answer from now on.
    pub fn hold(&self) {
        self.inner.held.store(true, Ordering::SeqCst);
    }

    /// Answers what it kept, and everything from now on.
    pub fn release(&self) {
        self.inner.held.store(false, Ordering::SeqCst);
    }

    /// The heads of all requests so far that hold `text`.
    pub fn requests_with(&self, text: &str) -> Vec<String> {
        self.inner.requests.lock().unwrap().iter().filter(|r| r.contains(text)).cloned().collect()
    }

    fn converse(&self, mut stream: TcpStream) -> Option<()> {
        let mut text = Vec::new();
        loop {
            let end = loop {
                if let Some(at) = text.windows(4).position(|w| w == b"\r\n\r\n") {
                    break at + 4;
                }
                let mut part = [0; 1024];
                let n = stream.read(&mut part).ok().filter(|n| *n > 0)?;
                text.extend_from_slice(&part[..n]);
            };
            let head = String::from_utf8_lossy(&text.drain(..end).collect::<Vec<u8>>()).into_owned();
            self.inner.requests.lock().unwrap().push(head.clone());
            std::thread::sleep(Duration::from_millis(self.inner.delay_ms.load(Ordering::SeqCst)));
            while self.inner.held.load(Ordering::SeqCst) {
                std::thread::sleep(Duration::from_millis(5));
            }
            let status = self.inner.status.load(Ordering::SeqCst);
            let body = if head.starts_with("HEAD") { "" } else { &self.inner.name };
            let length = self.inner.name.len();
            let answer = format!("HTTP/1.1 {status} Told\r\nContent-Length: {length}\r\n\r\n{body}");
            stream.write_all(answer.as_bytes()).ok()?;
        }
    }
}
