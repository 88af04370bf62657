//! What simulated clients ask for. The target names the request, and the content follows from its number, so that
//! whoever gets somebody else's bytes sees it.

use crate::random::Random;

/// A request, as its client means it.
#[derive(Clone)]
pub struct Request {
    pub number: usize,
    pub method: &'static str,
    /// HTTP/1.0.
    pub old: bool,
    /// The client wants the connection kept.
    pub keep: bool,
    pub expect: bool,
    pub head: Vec<u8>,
    /// As framed.
    pub content: Vec<u8>,
    /// Without its coding.
    pub body: Vec<u8>,
    /// May it be sent on at all?
    pub sound: bool,
}

impl Request {
    /// One of those that clients of all kinds send.
    pub fn random(random: &mut Random, number: usize, old: bool) -> Request {
        let method = random.of(&["GET", "GET", "GET", "GET", "HEAD", "POST", "POST", "PUT", "DELETE"]);
        let mut request = Request {
            number,
            method,
            old,
            keep: !old,
            expect: false,
            head: Vec::new(),
            content: Vec::new(),
            body: Vec::new(),
            sound: true,
        };
        let version = if old { "1.0" } else { "1.1" };
        let mut head = format!("{method} /r{number} HTTP/{version}\r\nHost: sim.test\r\nX-R: {number}\r\n");
        if matches!(method, "POST" | "PUT") {
            request.add_body(random, &mut head);
        }
        match random.below(12) {
            0 if old => {
                head.push_str("Connection: keep-alive\r\n");
                request.keep = true;
            }
            0 | 1 => {
                head.push_str("Connection: close\r\n");
                request.keep = false;
            }
            2 => head.push_str("Connection: X-Hop\r\nX-Hop: 1\r\nKeep-Alive: timeout=5\r\n"),
            4 => head.push_str("Client-IP: 6.6.6.6\r\n"),
            3 => head.push_str(&format!("X-Noise: {}\r\n", "n".repeat(random.below(900)))),
            _ => {}
        }
        head.push_str("\r\n");
        request.head = head.into_bytes();
        if random.one_in(40) {
            request.spoil(random);
        }
        request
    }

    fn add_body(&mut self, random: &mut Random, head: &mut String) {
        let size = random.of(&[0, 1, 20, 300, 300, 2_000, 9_000, 30_000]);
        let size = random.below(size + 1);
        self.body = content(&format!("r{};", self.number), size);
        if !self.old && random.one_in(3) {
            head.push_str("Transfer-Encoding: chunked\r\n");
            self.content = chunked(random, &self.body);
        } else {
            head.push_str(&format!("Content-Length: {size}\r\n"));
            self.content = self.body.clone();
        }
        if !self.old && size > 0 && random.one_in(4) {
            head.push_str("Expect: 100-continue\r\n");
            self.expect = true;
        }
    }

    /// Breaks it in a way that nobody may send on as a complete request.
    fn spoil(&mut self, random: &mut Random) {
        let place = self.head.len() - 2;
        let wrong: &[u8] = match random.below(4) {
            0 => b"Content-Length: 1\r\nContent-Length: 2\r\n",
            1 => b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
            2 => b"no colon here\r\n",
            _ => b"Host: another.test\r\n",
        };
        self.head.splice(place..place, wrong.iter().copied());
        self.sound = false;
        self.expect = false;
    }

    /// Is it idempotent (RFC 9110 9.2.2)?
    pub fn is_idempotent(&self) -> bool {
        self.method != "POST"
    }
}

/// `size` bytes that say whose they are.
pub fn content(whose: &str, size: usize) -> Vec<u8> {
    whose.bytes().cycle().take(size).collect()
}

/// `body` in chunks, some with an extension, some with a trailer section.
pub fn chunked(random: &mut Random, body: &[u8]) -> Vec<u8> {
    let (mut out, mut rest) = (Vec::new(), body);
    while !rest.is_empty() {
        let most = random.of(&[1, 10, 400, 5_000]);
        let size = 1 + random.below(most.min(rest.len()));
        let extension = if random.one_in(8) { ";x=y" } else { "" };
        out.extend_from_slice(format!("{size:x}{extension}\r\n").as_bytes());
        out.extend_from_slice(&rest[..size]);
        out.extend_from_slice(b"\r\n");
        rest = &rest[size..];
    }
    out.extend_from_slice(if random.one_in(6) { b"0\r\nX-Trailer: t\r\n\r\n" } else { b"0\r\n\r\n" });
    out
}

/// Method and number of a request that begins here.
pub fn start(bytes: &[u8]) -> (String, usize) {
    let line = String::from_utf8_lossy(&bytes[..bytes.len().min(80)]).into_owned();
    let mut words = line.split([' ', '\r']);
    let method = words.next().unwrap_or_default().to_owned();
    let number = words.next().and_then(|target| target.strip_prefix("/r")?.parse().ok());
    (method, number.unwrap_or(usize::MAX))
}
