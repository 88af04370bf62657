//! Request heads: what one asks for, and how it is sent on.
//!
//! Requests go to services as HTTP/1.1 on a connection that stays open. The hard question: may the bytes go on as
//! they came? They may unless a field ends here, the version is another, or the target is absolute.

use std::net::SocketAddr;

use httparse::Header;

use crate::proxy::http1::body::Body;
use crate::proxy::http1::chunked::is_token;
use crate::proxy::http1::head::{self, FIELDS_MAX, Field, Fields, Framing, FramingFault, Options};
use crate::proxy::http1::target::{self, Target};
use crate::proxy::limits::Limits;
use crate::proxy::refusal::Refusal;
use crate::proxy::transaction::Repeat;

/// What a request asks for, as far as a proxy must know.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    pub repeat: Repeat,
    /// HEAD: the answer has no body.
    pub head_only: bool,
    /// The client speaks HTTP/1.0: no interim answers, no chunks.
    pub old: bool,
    /// The client's connection may carry another request.
    pub keep_alive: bool,
    /// A WebSocket handshake, passed on as one.
    pub upgrade: bool,
    pub body: Body,
    /// The head goes on as it came; otherwise it was written anew.
    pub verbatim: bool,
}

/// Reads the head that is all of `head`. When it can't go on as it came, `out` has it written anew.
/// `host` becomes the Host of an HTTP/1.0 request without one.
///
/// # Errors
/// The refusal to answer with.
pub fn read(
    head: &[u8],
    host: Option<SocketAddr>,
    limits: &Limits,
    out: &mut Vec<u8>,
) -> Result<Request, Refusal> {
    let mut fields: Fields<'_> = [const { std::mem::MaybeUninit::uninit() }; FIELDS_MAX];
    let mut raw = httparse::Request::new(&mut []);
    match raw.parse_with_uninit_headers(head, &mut fields) {
        // httparse skips empty lines; those that may be skipped are gone already.
        Ok(httparse::Status::Complete(length)) if length == head.len() && is_token(head[0]) => {}
        Err(httparse::Error::TooManyHeaders) => return Err(Refusal::HeadTooLarge),
        Err(httparse::Error::Version) => return other_version(head, host, limits, out),
        _ => return Err(Refusal::BadRequest),
    }
    let (Some(method), Some(path), Some(minor)) = (raw.method, raw.path, raw.version) else {
        return Err(Refusal::BadRequest);
    };
    if path.len() > limits.target_bytes {
        return Err(Refusal::TargetTooLong);
    }
    if method == "CONNECT" {
        return Err(Refusal::NotImplemented);
    }
    let target = target::read(method, path).map_err(|_| Refusal::BadRequest)?;
    let found = Found::read(raw.headers)?;
    let request = found.judge(method, minor)?;
    let start = Start { method, path, target, host, head, fields: raw.headers };
    if request.verbatim && target == Target::AsIs {
        return Ok(request);
    }
    start.write(&found, &request, out);
    Ok(Request { verbatim: false, ..request })
}

/// `HTTP/1.2` to `1.9` are read as 1.1 (RFC 9110 2.5); another major version is refused as such.
fn other_version(
    head: &[u8],
    host: Option<SocketAddr>,
    limits: &Limits,
    out: &mut Vec<u8>,
) -> Result<Request, Refusal> {
    let line = memchr::memchr(b'\r', head).map_or(head, |end| &head[..end]);
    let Some(at) = line.len().checked_sub(8) else { return Err(Refusal::BadRequest) };
    match line[at..] {
        [b'H', b'T', b'T', b'P', b'/', b'1', b'.', b'2'..=b'9'] => {
            let mut as_known = head.to_vec();
            as_known[line.len() - 1] = b'1';
            let request = read(&as_known, host, limits, out)?;
            if request.verbatim {
                out.extend_from_slice(&as_known);
            }
            Ok(Request { verbatim: false, ..request })
        }
        [b'H', b'T', b'T', b'P', b'/', b'0' | b'2'..=b'9', b'.', b'0'..=b'9'] => {
            Err(Refusal::VersionNotSupported)
        }
        // The version is a known one: what stands before it is not two words.
        _ => Err(Refusal::BadRequest),
    }
}

/// What one pass over the fields found.
#[derive(Default)]
struct Found<'a> {
    hosts: u32,
    framing: Framing,
    options: Options,
    /// A WebSocket offer is complete only with its key (RFC 6455 4.2.1).
    websocket: bool,
    websocket_key: bool,
    max_forwards: Option<&'a [u8]>,
    verbatim: bool,
}

impl<'a> Found<'a> {
    fn read(fields: &[Header<'a>]) -> Result<Found<'a>, Refusal> {
        let mut found = Found { verbatim: true, ..Found::default() };
        for f in fields {
            match head::field(f.name) {
                Field::Other => {}
                Field::Host if target::is_host(f.value) => found.hosts += 1,
                Field::Host => return Err(Refusal::BadRequest),
                Field::ContentLength => found.framing.content_length(f.value),
                Field::TransferEncoding => found.framing.transfer_encoding(f.value),
                Field::Expect if f.value.eq_ignore_ascii_case(b"100-continue") => {}
                Field::Expect => return Err(Refusal::ExpectationFailed),
                Field::MaxForwards => found.max_forwards = Some(f.value),
                Field::WebSocketKey => found.websocket_key = true,
                Field::Hop | Field::KeepAlive => found.verbatim = false,
                Field::Connection => {
                    found.verbatim = false;
                    found.options.read(f.value);
                }
                Field::Upgrade => {
                    found.verbatim = false;
                    found.websocket |= f.value.eq_ignore_ascii_case(b"websocket");
                }
            }
        }
        Ok(found)
    }

    fn judge(&self, method: &str, minor: u8) -> Result<Request, Refusal> {
        let old = minor == 0;
        // RFC 9112 6.1: a coding from a 1.0 client is faulty framing.
        if self.hosts > 1 || (self.hosts == 0 && !old) || (old && self.framing.has_coding()) {
            return Err(Refusal::BadRequest);
        }
        let body = self.framing.body(Body::Done).map_err(|fault| match fault {
            FramingFault::Invalid => Refusal::BadRequest,
            FramingFault::UnknownCoding => Refusal::NotImplemented,
        })?;
        let traced = is_traced(method) && self.max_forwards.is_some();
        if traced && self.max_forwards.and_then(head::number).is_none_or(|left| left == 0) {
            return Err(Refusal::NotImplemented);
        }
        let offer = self.websocket && self.websocket_key && self.options.upgrade && !old;
        Ok(Request {
            repeat: repeat(method),
            head_only: method == "HEAD",
            old,
            keep_alive: !self.options.close && (!old || self.options.keep_alive),
            upgrade: offer && method == "GET" && body.is_done(),
            body,
            verbatim: self.verbatim && !traced && !old,
        })
    }
}

/// RFC 9110 7.6.2: the methods whose way can be limited.
fn is_traced(method: &str) -> bool {
    matches!(method, "OPTIONS" | "TRACE")
}

/// RFC 9110 9.2.2, with WebDAV's safe and idempotent methods (RFC 4918, 5323).
fn repeat(method: &str) -> Repeat {
    match method {
        "GET" | "HEAD" | "OPTIONS" | "TRACE" | "PUT" | "DELETE" | "PROPFIND" | "SEARCH" | "REPORT" => {
            Repeat::Idempotent
        }
        _ => Repeat::Never,
    }
}

struct Start<'a> {
    method: &'a str,
    path: &'a str,
    target: Target<'a>,
    host: Option<SocketAddr>,
    head: &'a [u8],
    fields: &'a [Header<'a>],
}

impl Start<'_> {
    fn write(&self, found: &Found<'_>, request: &Request, out: &mut Vec<u8>) {
        let mut put = |parts: &[&[u8]]| parts.iter().for_each(|part| out.extend_from_slice(part));
        let (method, path) = (self.method.as_bytes(), self.path.as_bytes());
        match self.target {
            Target::AsIs => put(&[method, b" ", path, b" HTTP/1.1\r\n"]),
            Target::Absolute { authority, path } => {
                let whole = self.method == "OPTIONS" && path.is_empty();
                let slash: &[u8] = if whole {
                    b"*"
                } else if path.starts_with('/') {
                    b""
                } else {
                    b"/"
                };
                put(&[
                    method,
                    b" ",
                    slash,
                    path.as_bytes(),
                    b" HTTP/1.1\r\nHost: ",
                    authority.as_bytes(),
                    b"\r\n",
                ]);
            }
        }
        if found.hosts == 0 && self.target == Target::AsIs {
            let host = self.host.map(|address| address.to_string()).unwrap_or_default();
            put(&[b"Host: ", host.as_bytes(), b"\r\n"]);
        }
        let absolute = self.target != Target::AsIs;
        let traced = is_traced(self.method);
        head::keep_lines(self.head, self.fields, found.options.named, out, |field| match field {
            Field::Connection | Field::Hop | Field::KeepAlive | Field::Upgrade => false,
            Field::Host => !absolute,
            // RFC 9110 10.1.1: an expectation of a 1.0 client is ignored.
            Field::Expect => !request.old,
            Field::MaxForwards => !traced,
            _ => true,
        });
        if traced && let Some(left) = found.max_forwards.and_then(head::number) {
            out.extend_from_slice(format!("Max-Forwards: {}\r\n", left.saturating_sub(1)).as_bytes());
        }
        if request.upgrade {
            out.extend_from_slice(b"Connection: Upgrade\r\nUpgrade: websocket\r\n");
        }
        out.extend_from_slice(b"\r\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(line: &str) -> Option<Refusal> {
        let head = format!("{line}\r\nHost: a\r\n\r\n");
        read(head.as_bytes(), None, &Limits::default(), &mut Vec::new()).err()
    }

    #[test]
    fn a_third_word_in_the_request_line_is_no_other_version() {
        assert_eq!(refusal("GET /a b HTTP/1.1"), Some(Refusal::BadRequest));
        assert_eq!(refusal("GET /a b HTTP/1.2"), Some(Refusal::BadRequest));
        assert_eq!(refusal("GET /a HTTP/2.0"), Some(Refusal::VersionNotSupported));
        assert_eq!(refusal("GET /a HTTP/1.2"), None);
    }
}
