//! HTTP messages of probes: the request that is sent, and the head of what comes back.
//!
//! Owns the text of a probe. It is always a valid HTTP/1.1 message: exactly one Host, header lines before the blank
//! line, the body untouched, whatever the monitor's options hold.

use std::fmt::Write;
use std::mem::MaybeUninit;
use std::net::SocketAddr;

use crate::config::escape::unescape;
use crate::time::Time;

/// What a monitor asks by HTTP: the message, made once.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Request {
    /// All of it, but for the value of Host where that is the address asked.
    text: Box<[u8]>,
    /// Where in it that address goes; `None` if the monitor names a host.
    address_at: Option<usize>,
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

        let mut text =
            [&with_version(line), &b"\r\nHost: "[..], host.as_deref().unwrap_or_default()].concat();
        let address_at = host.is_none().then_some(text.len());
        text.extend_from_slice(b"\r\n");
        write_headers(&mut text, &headers, body.len());
        text.extend_from_slice(b"\r\n");
        text.extend_from_slice(body);
        Request { text: text.into(), address_at }
    }

    /// Is it a HEAD, whose answer has no body?
    pub fn is_head(&self) -> bool {
        self.text.starts_with(b"HEAD ")
    }

    /// The bytes of a probe of `to`.
    pub fn bytes(&self, to: SocketAddr) -> Vec<u8> {
        let Some(at) = self.address_at else { return self.text.to_vec() };
        let (before, behind) = self.text.split_at(at);
        [before, authority(to).as_bytes(), behind].concat()
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
        /// Its head, to the empty line, and what came behind that.
        bytes: Vec<u8>,
        /// How many of them are the head.
        length: usize,
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
                    return Answer::Whole { status, bytes: std::mem::take(&mut self.bytes), length };
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
    let mut headers = [const { MaybeUninit::uninit() }; MAX_HEADERS];
    let mut response = httparse::Response::new(&mut []);
    let config = httparse::ParserConfig::default();
    match config.parse_response_with_uninit_headers(&mut response, head, &mut headers) {
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
    let mut text = String::with_capacity(LONGEST_AUTHORITY);
    let _ = match (to, to.port()) {
        (SocketAddr::V4(a), 80) => write!(text, "{}", a.ip()),
        (SocketAddr::V6(a), 80) => write!(text, "[{}]", a.ip()),
        (a, _) => write!(text, "{a}"),
    };
    text
}

/// The lines of a head with those that HTTP asks for beside them.
fn write_headers(text: &mut Vec<u8>, headers: &[Vec<u8>], body_length: usize) {
    for header in headers {
        text.extend_from_slice(header);
        text.extend_from_slice(b"\r\n");
    }
    let has = |name: &[u8]| headers.iter().any(|header| is_field(header, name));
    if body_length > 0 && !has(b"content-length") && !has(b"transfer-encoding") {
        text.extend_from_slice(format!("Content-Length: {body_length}\r\n").as_bytes());
    }
    if !has(b"connection") {
        text.extend_from_slice(b"Connection: close\r\n");
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

/// No address takes more, be it of IPv6 with a scope, in brackets and with a port.
const LONGEST_AUTHORITY: usize = 64;
const MAX_HEAD: usize = 16_384;
const MAX_HEADERS: usize = 128;
