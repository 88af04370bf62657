//! HTTP messages of probes: the request that is sent, and the head of what comes back.
//!
//! Owns the text of a probe. It is always a valid HTTP/1.1 message: exactly one Host, header lines before the blank
//! line, the body untouched, whatever the monitor's options hold.

use std::net::SocketAddr;

use crate::config::escape::unescape;
use crate::time::Time;

/// What a monitor asks by HTTP.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Request {
    line: Vec<u8>,
    /// Whole header lines without their CRLF; Host excluded.
    headers: Vec<Vec<u8>>,
    host: Option<Vec<u8>>,
    body: Vec<u8>,
}

impl Request {
    /// From a monitor's options. `request` is a method and a path, or lines and a body; `custom` is `-customHeaders`. Both
    /// may hold the escapes `\r \n \t \" \\ \xHH`. Without a request it is `otherwise`.
    pub fn new(request: &str, custom: &str, otherwise: &str) -> Request {
        let request = unescape(request);
        let (head, body) = split_body(&request);
        let mut lines = header_lines(head);
        let line = if lines.is_empty() { Vec::new() } else { lines.remove(0) };
        let line = if line.is_empty() { otherwise.as_bytes().to_vec() } else { line };
        let custom = header_lines(&unescape(custom));
        let host = [&custom, &lines].into_iter().find_map(|from| from.iter().find_map(|l| host_of(l)));
        let mut headers: Vec<Vec<u8>> = lines.into_iter().chain(custom).collect();
        headers.retain(|l| !l.is_empty() && !is_field(l, b"host"));
        Request { line: with_version(line), headers, host, body: body.to_vec() }
    }

    /// Is it a HEAD, whose answer has no body?
    pub fn is_head(&self) -> bool {
        self.line.starts_with(b"HEAD ")
    }

    /// The bytes of a probe of `to`.
    pub fn bytes(&self, to: SocketAddr) -> Vec<u8> {
        let mut out = self.line.clone();
        out.extend_from_slice(b"\r\nHost: ");
        match &self.host {
            Some(host) => out.extend_from_slice(host),
            None => out.extend_from_slice(authority(to).as_bytes()),
        }
        out.extend_from_slice(b"\r\n");
        for header in &self.headers {
            out.extend_from_slice(header);
            out.extend_from_slice(b"\r\n");
        }
        let has = |name: &[u8]| self.headers.iter().any(|h| is_field(h, name));
        if !self.body.is_empty() && !has(b"content-length") && !has(b"transfer-encoding") {
            out.extend_from_slice(format!("Content-Length: {}\r\n", self.body.len()).as_bytes());
        }
        if !has(b"connection") {
            out.extend_from_slice(b"Connection: close\r\n");
        }
        out.extend_from_slice(b"\r\n");
        out.extend_from_slice(&self.body);
        out
    }
}

/// The head of an answer while it comes in.
#[derive(Default)]
pub struct AnswerHead {
    bytes: Vec<u8>,
    first_byte: Option<Time>,
    status_line: Option<Time>,
}

/// What is known of an answer so far.
#[derive(Debug, PartialEq, Eq)]
pub enum Answer {
    /// Its head is not whole yet.
    Partial,
    /// Its head; what came behind it is left to be taken.
    Whole {
        /// Status of the final answer.
        status: u16,
        /// Its head, to the empty line.
        head: Vec<u8>,
        /// What came behind that.
        rest: Vec<u8>,
    },
    /// Not HTTP; says what is wrong.
    Malformed(&'static str),
}

impl AnswerHead {
    /// Takes bytes. Interim answers are passed over: they are not the answer (RFC 9110 15.2); 101 ends HTTP and is.
    pub fn take(&mut self, bytes: &[u8], now: Time) -> Answer {
        if bytes.is_empty() {
            return Answer::Partial;
        }
        self.first_byte.get_or_insert(now);
        self.bytes.extend_from_slice(bytes);
        loop {
            if self.status_line.is_none() && self.bytes.contains(&b'\n') {
                self.status_line = Some(now);
            }
            match parse(self.bytes.get(..MAX_HEAD).unwrap_or(&self.bytes)) {
                Head::Complete { status, length } if (100..200).contains(&status) && status != 101 => {
                    self.bytes.drain(..length);
                    self.first_byte = (!self.bytes.is_empty()).then_some(now);
                    self.status_line = None;
                    if self.bytes.is_empty() {
                        return Answer::Partial;
                    }
                }
                Head::Complete { status, length } => {
                    let rest = self.bytes.split_off(length);
                    return Answer::Whole { status, head: std::mem::take(&mut self.bytes), rest };
                }
                Head::Partial if self.bytes.len() >= MAX_HEAD => {
                    return Answer::Malformed("head longer than 16384 bytes");
                }
                Head::Partial => return Answer::Partial,
                Head::Malformed(what) => return Answer::Malformed(what),
            }
        }
    }

    /// When the first byte of the final answer arrived.
    pub fn first_byte(&self) -> Option<Time> {
        self.first_byte
    }

    /// When the end of the final answer's status line arrived.
    pub fn status_line(&self) -> Option<Time> {
        self.status_line
    }
}

enum Head {
    Complete { status: u16, length: usize },
    Partial,
    Malformed(&'static str),
}

fn parse(bytes: &[u8]) -> Head {
    if bytes.starts_with(b"\n") || bytes.starts_with(b"\r") {
        return Head::Malformed("empty line before the status line");
    }
    let Some(end) = memchr::memmem::find(bytes, b"\r\n\r\n") else {
        return match memchr::memmem::find(bytes, b"\n\n") {
            Some(_) => Head::Malformed("bare line feed in the head"),
            // A wrong beginning is told at once rather than at the timeout.
            None if !b"HTTP/1.".starts_with(&bytes[..bytes.len().min(7)]) => {
                Head::Malformed("no HTTP/1 status line")
            }
            None => Head::Partial,
        };
    };
    let head = &bytes[..end + 4];
    if memchr::memchr_iter(b'\n', head).any(|at| at == 0 || head[at - 1] != b'\r') {
        return Head::Malformed("bare line feed in the head");
    }
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut response = httparse::Response::new(&mut headers);
    match response.parse(head) {
        Ok(httparse::Status::Complete(length)) => match response.code {
            Some(status @ 100..=599) => Head::Complete { status, length },
            _ => Head::Malformed("status out of range"),
        },
        Ok(httparse::Status::Partial) => Head::Malformed("incomplete head"),
        Err(httparse::Error::TooManyHeaders) => Head::Malformed("more than 128 headers"),
        Err(httparse::Error::Version) => Head::Malformed("no HTTP/1 status line"),
        Err(httparse::Error::Status) => Head::Malformed("status is not a number"),
        Err(_) => Head::Malformed("bad header line"),
    }
}

/// As a Host field: the port only when it is not the scheme's own (RFC 9110 7.2).
fn authority(to: SocketAddr) -> String {
    match (to, to.port()) {
        (SocketAddr::V4(a), 80) => a.ip().to_string(),
        (SocketAddr::V6(a), 80) => format!("[{}]", a.ip()),
        (a, _) => a.to_string(),
    }
}

fn with_version(mut line: Vec<u8>) -> Vec<u8> {
    if memchr::memmem::find(&line, b" HTTP/").is_none() {
        line.extend_from_slice(b" HTTP/1.1");
    }
    line
}

/// Head and body: the body begins after the first empty line.
fn split_body(text: &[u8]) -> (&[u8], &[u8]) {
    let crlf = memchr::memmem::find(text, b"\r\n\r\n").map(|at| (at, at + 4));
    let lf = memchr::memmem::find(text, b"\n\n").map(|at| (at, at + 2));
    match [crlf, lf].into_iter().flatten().min() {
        Some((head, body)) => (&text[..head], &text[body..]),
        None => (text, b""),
    }
}

/// Lines without their ends, spaces at the ends and blank lines dropped, so that none ends the head early.
fn header_lines(text: &[u8]) -> Vec<Vec<u8>> {
    text.split(|&b| b == b'\n')
        .map(|line| line.trim_ascii().iter().copied().filter(|&b| b != b'\r').collect::<Vec<u8>>())
        .filter(|line| !line.is_empty())
        .collect()
}

pub fn is_field(line: &[u8], name: &[u8]) -> bool {
    line.iter().position(|&b| b == b':').is_some_and(|at| line[..at].trim_ascii().eq_ignore_ascii_case(name))
}

fn host_of(line: &[u8]) -> Option<Vec<u8>> {
    let value = is_field(line, b"host").then(|| line[b"host".len()..].trim_ascii_start())?;
    value.strip_prefix(b":").map(|v| v.trim_ascii().to_vec())
}

const MAX_HEAD: usize = 16_384;
const MAX_HEADERS: usize = 128;
