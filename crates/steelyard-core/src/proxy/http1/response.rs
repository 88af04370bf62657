//! Response heads: how far the answer goes, what it means for both connections, and how it is sent on.

use httparse::Header;

use crate::proxy::http1::body::Body;
use crate::proxy::http1::head::{self, FIELDS_MAX, Field, Fields, Framing, Options};
use crate::proxy::http1::request::Request;

/// What the answer is for.
pub struct Asked<'a> {
    pub request: &'a Request,
    /// The client's connection can be kept, as far as the request side knows.
    pub keep_alive: bool,
    /// `CKA`: it is kept as well when only the end of the service's connection ends the answer.
    pub keep_in_any_case: bool,
}

/// How the content of an answer goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Coding {
    /// In the framing in which it came.
    AsItCame,
    /// The client does not know chunks: without that coding, up to the close.
    Unchunked,
    /// It came up to the close, and goes on in chunks, so that the client's connection can stay.
    Chunked,
}

impl Coding {
    /// Appends a run of content, if it does not go on as it came.
    pub fn write(self, content: &[u8], out: &mut Vec<u8>) {
        match self {
            Coding::AsItCame => {}
            Coding::Unchunked => out.extend_from_slice(content),
            Coding::Chunked if content.is_empty() => {}
            Coding::Chunked => {
                out.extend_from_slice(format!("{:x}\r\n", content.len()).as_bytes());
                out.extend_from_slice(content);
                out.extend_from_slice(b"\r\n");
            }
        }
    }
}

/// What an answer is, as far as a proxy must know.
#[derive(Clone, Copy, Debug)]
pub struct Response {
    pub status: u16,
    pub body: Body,
    /// The service's connection may carry another request after this answer.
    pub reusable: bool,
    /// The client's connection may carry another request after this answer.
    pub keep_alive: bool,
    pub coding: Coding,
    /// How long the service says that it keeps the connection idle (`Keep-Alive: timeout`).
    pub idle_s: Option<u64>,
    /// The head goes on as it came; otherwise it was written anew.
    pub verbatim: bool,
}

/// The answer breaks the protocol: 502, and the connection is of no further use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ResponseFault;

/// Reads the head that is all of `head`, the answer to what was asked. When the head can't go on as it came, `out` has it written anew.
///
/// # Errors
/// [`ResponseFault`] for whatever is not a sound HTTP/1 answer to this request.
pub fn read(head: &[u8], asked: &Asked<'_>, out: &mut Vec<u8>) -> Result<Response, ResponseFault> {
    let mut fields: Fields<'_> = [const { std::mem::MaybeUninit::uninit() }; FIELDS_MAX];
    let mut raw = httparse::Response::new(&mut []);
    let config = httparse::ParserConfig::default();
    match config.parse_response_with_uninit_headers(&mut raw, head, &mut fields) {
        Ok(httparse::Status::Complete(length)) if length == head.len() => {}
        Err(httparse::Error::Version) => return other_version(head, asked, out),
        Err(httparse::Error::HeaderName) => return without_blanks(head, asked, out),
        _ => return Err(ResponseFault),
    }
    let (Some(status), Some(minor)) = (raw.code, raw.version) else { return Err(ResponseFault) };
    // httparse skips empty lines, which no rule lets a client skip.
    if !(100..=599).contains(&status) || !head.starts_with(b"HTTP/1.") {
        return Err(ResponseFault);
    }
    let found = Found::read(raw.headers);
    let response = found.judge(status, minor, asked)?;
    if !response.verbatim {
        let lines = Lines { head, fields: raw.headers, found: &found, old: asked.request.old };
        lines.write(&response, out);
    }
    Ok(response)
}

/// `HTTP/1.2` to `1.9` are read as 1.1.
fn other_version(head: &[u8], asked: &Asked<'_>, out: &mut Vec<u8>) -> Result<Response, ResponseFault> {
    let [b'H', b'T', b'T', b'P', b'/', b'1', b'.', b'2'..=b'9', b' ', ..] = head else {
        return Err(ResponseFault);
    };
    let mut as_known = head.to_vec();
    as_known[7] = b'1';
    anew(&as_known, asked, out)
}

/// RFC 9112 5.1: blanks between a name and its colon are taken out of an answer before it goes on.
fn without_blanks(head: &[u8], asked: &Asked<'_>, out: &mut Vec<u8>) -> Result<Response, ResponseFault> {
    let mut clean = Vec::with_capacity(head.len());
    for (i, line) in head.split_inclusive(|b| *b == b'\n').enumerate() {
        match memchr::memchr(b':', line) {
            Some(colon) if i > 0 => {
                clean.extend_from_slice(line[..colon].trim_ascii_end());
                clean.extend_from_slice(&line[colon..]);
            }
            _ => clean.extend_from_slice(line),
        }
    }
    if clean.len() == head.len() {
        return Err(ResponseFault);
    }
    anew(&clean, asked, out)
}

/// Reads a head that was changed, which therefore can't go on as it came.
fn anew(changed: &[u8], asked: &Asked<'_>, out: &mut Vec<u8>) -> Result<Response, ResponseFault> {
    let response = read(changed, asked, out)?;
    if response.verbatim {
        out.extend_from_slice(changed);
    }
    Ok(Response { verbatim: false, ..response })
}

/// What one pass over the fields found.
#[derive(Default)]
struct Found {
    framing: Framing,
    options: Options,
    websocket: bool,
    idle_s: Option<u64>,
    verbatim: bool,
}

impl Found {
    fn read(fields: &[Header<'_>]) -> Found {
        let mut found = Found { verbatim: true, ..Found::default() };
        for f in fields {
            match head::field(f.name) {
                Field::ContentLength => found.framing.content_length(f.value),
                Field::TransferEncoding => found.framing.transfer_encoding(f.value),
                Field::Hop => found.verbatim = false,
                Field::KeepAlive => {
                    found.verbatim = false;
                    found.idle_s = idle_s(f.value).or(found.idle_s);
                }
                Field::Connection => {
                    found.verbatim = false;
                    found.options.read(f.value);
                }
                Field::Upgrade => {
                    found.verbatim = false;
                    found.websocket |= f.value.eq_ignore_ascii_case(b"websocket");
                }
                _ => {}
            }
        }
        found
    }

    fn judge(&self, status: u16, minor: u8, asked: &Asked<'_>) -> Result<Response, ResponseFault> {
        let request = asked.request;
        let framed = self.framing.body(Body::UntilClose).map_err(|_| ResponseFault)?;
        if minor == 0 && self.framing.has_coding() {
            return Err(ResponseFault);
        }
        let switching = status == 101;
        if switching && !(request.upgrade && self.websocket && self.options.upgrade && !self.is_framed()) {
            return Err(ResponseFault);
        }
        let bodiless = request.head_only || status < 200 || matches!(status, 204 | 304);
        let body = if bodiless { Body::Done } else { framed };
        let until_close = matches!(body, Body::UntilClose);
        let coding = match body {
            Body::Chunked(_) if request.old => Coding::Unchunked,
            Body::UntilClose if asked.keep_in_any_case && asked.keep_alive && !request.old => Coding::Chunked,
            _ => Coding::AsItCame,
        };
        let keep_alive = asked.keep_alive
            && match coding {
                Coding::AsItCame => !until_close,
                Coding::Unchunked => false,
                Coding::Chunked => true,
            };
        let says_more = status >= 200 && (!keep_alive || request.old);
        let bare = status < 200 || status == 204;
        Ok(Response {
            status,
            body,
            reusable: minor == 1 && !self.options.close && !until_close,
            keep_alive,
            coding,
            idle_s: self.idle_s,
            verbatim: self.verbatim
                && minor == 1
                && !says_more
                && !(bare && self.is_framed())
                && coding != Coding::Chunked,
        })
    }

    fn is_framed(&self) -> bool {
        self.framing.has_length() || self.framing.has_coding()
    }
}

/// `Keep-Alive: timeout=5, max=100` (RFC 2068 19.7.1.1, as every server writes it).
fn idle_s(value: &[u8]) -> Option<u64> {
    head::list(value).find_map(|parameter| {
        let (name, seconds) = parameter.split_at(memchr::memchr(b'=', parameter)?);
        let seconds = seconds[1..].trim_ascii();
        if name.trim_ascii().eq_ignore_ascii_case(b"timeout") { head::number(seconds) } else { None }
    })
}

/// What a head is written anew from.
struct Lines<'a> {
    head: &'a [u8],
    fields: &'a [Header<'a>],
    found: &'a Found,
    /// The client speaks HTTP/1.0.
    old: bool,
}

impl Lines<'_> {
    fn write(&self, response: &Response, out: &mut Vec<u8>) {
        let head = self.head;
        let line_end = memchr::memchr(b'\r', head).unwrap_or(head.len() - 2);
        out.extend_from_slice(b"HTTP/1.1");
        out.extend_from_slice(&head[b"HTTP/1.1".len()..line_end]);
        out.extend_from_slice(b"\r\n");
        // RFC 9110 8.6, RFC 9112 6.1: neither length nor coding in 1xx and 204.
        let bare = response.status < 200 || response.status == 204;
        head::keep_lines(head, self.fields, self.found.options.named, out, |field| match field {
            Field::Connection | Field::Hop | Field::KeepAlive | Field::Upgrade => false,
            Field::ContentLength => !bare,
            // Nor a coding for a 1.0 client, be it only to say what a GET would bring (RFC 9112 6.1).
            Field::TransferEncoding => !bare && !self.old && response.coding == Coding::AsItCame,
            _ => true,
        });
        if response.coding == Coding::Chunked {
            out.extend_from_slice(b"Transfer-Encoding: chunked\r\n");
        }
        if response.status == 101 {
            out.extend_from_slice(b"Connection: Upgrade\r\nUpgrade: websocket\r\n");
        } else if response.status >= 200 && !response.keep_alive {
            out.extend_from_slice(b"Connection: close\r\n");
        } else if response.status >= 200 && self.old {
            out.extend_from_slice(b"Connection: keep-alive\r\n");
        }
        out.extend_from_slice(b"\r\n");
    }
}
