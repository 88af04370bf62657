//! What request and response heads have in common: where a head ends, which fields concern a proxy, how the
//! framing fields are read, and how a head is written anew without the fields that end here.
//!
//! A head with nothing to change is never written anew: its bytes go on as they came.

use std::mem::MaybeUninit;
use std::net::IpAddr;

use httparse::Header;

use crate::proxy::http1::body::Body;
use crate::proxy::http1::chunked::{Chunked, is_token};

/// Field lines of one head; more are refused.
pub const FIELDS_MAX: usize = 128;

/// Room for the fields of a head.
pub type Fields<'a> = [MaybeUninit<Header<'a>>; FIELDS_MAX];

/// Bytes that begin with a whole head.
pub struct Message<'a> {
    pub bytes: &'a [u8],
    /// How many of them are the head.
    pub head_len: usize,
    /// The head written anew, unless it goes on as it came.
    pub rewritten: &'a mut Vec<u8>,
}

impl Message<'_> {
    /// What follows the head.
    pub fn rest(&self) -> &[u8] {
        &self.bytes[self.head_len..]
    }
}

/// What looking for the end of a head found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scan {
    /// The head has so many bytes, its empty line included.
    Complete(usize),
    /// More must come.
    Partial,
    /// A line ends in LF without CR: refused, since others could see other lines.
    BareLineFeed,
}

/// Looks for the empty line, in time linear in what is new: `bytes[..from]` was scanned before.
pub fn find_end(bytes: &[u8], from: usize) -> Scan {
    for found in memchr::memchr_iter(b'\n', bytes.get(from..).unwrap_or_default()) {
        match bytes[..from + found] {
            [.., b'\n', b'\r'] => return Scan::Complete(from + found + 1),
            [.., b'\r'] => {}
            _ => return Scan::BareLineFeed,
        }
    }
    Scan::Partial
}

/// The fields that mean something to a proxy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Field {
    Host,
    Connection,
    ContentLength,
    TransferEncoding,
    Expect,
    MaxForwards,
    Upgrade,
    WebSocketKey,
    /// Meant for the next hop only (RFC 9110 7.6.1): Proxy-Connection, TE.
    Hop,
    /// The same, and says how long a connection may be idle.
    KeepAlive,
    Other,
}

/// Which field `name` is.
pub fn field(name: &str) -> Field {
    let is = |known: &str| name.eq_ignore_ascii_case(known);
    match name.len() {
        2 if is("te") => Field::Hop,
        4 if is("host") => Field::Host,
        6 if is("expect") => Field::Expect,
        7 if is("upgrade") => Field::Upgrade,
        10 if is("connection") => Field::Connection,
        10 if is("keep-alive") => Field::KeepAlive,
        12 if is("max-forwards") => Field::MaxForwards,
        14 if is("content-length") => Field::ContentLength,
        16 if is("proxy-connection") => Field::Hop,
        17 if is("transfer-encoding") => Field::TransferEncoding,
        17 if is("sec-websocket-key") => Field::WebSocketKey,
        _ => Field::Other,
    }
}

/// What the Connection fields of a head say.
#[derive(Clone, Copy, Default, Debug)]
pub struct Options {
    pub close: bool,
    pub keep_alive: bool,
    pub upgrade: bool,
    /// Other fields are named, which end here too.
    pub named: bool,
}

impl Options {
    /// Reads one Connection field.
    pub fn read(&mut self, value: &[u8]) {
        for option in list(value) {
            match option.len() {
                5 if option.eq_ignore_ascii_case(b"close") => self.close = true,
                7 if option.eq_ignore_ascii_case(b"upgrade") => self.upgrade = true,
                10 if option.eq_ignore_ascii_case(b"keep-alive") => self.keep_alive = true,
                _ => self.named = true,
            }
        }
    }
}

/// The members of a comma-separated list, without blanks and empty ones.
pub fn list(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|b| *b == b',').map(<[u8]>::trim_ascii).filter(|member| !member.is_empty())
}

/// Why the framing of a message can not be relied on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FramingFault {
    /// No plain number, several lengths, a length beside a coding, or a coding list that does not end in chunked.
    Invalid,
    /// Other codings before chunked.
    UnknownCoding,
}

/// The framing fields of a head, as they are found.
#[derive(Clone, Copy, Default, Debug)]
pub struct Framing {
    length: Option<u64>,
    chunked: bool,
    fault: Option<FramingFault>,
}

impl Framing {
    /// Reads a Content-Length field: digits and nothing else, once (RFC 9112 6.3).
    pub fn content_length(&mut self, value: &[u8]) {
        match number(value) {
            Some(length) if self.length.is_none() => self.length = Some(length),
            _ => self.fault = Some(FramingFault::Invalid),
        }
    }

    /// Reads a Transfer-Encoding field: `chunked` and nothing else, once.
    pub fn transfer_encoding(&mut self, value: &[u8]) {
        if value.eq_ignore_ascii_case(b"chunked") && !self.chunked {
            self.chunked = true;
            return;
        }
        let is_chunked = |coding: &[u8]| coding.eq_ignore_ascii_case(b"chunked");
        let unknown_first = !self.chunked
            && list(value).last().is_some_and(is_chunked)
            && list(value).filter(|coding| is_chunked(coding)).count() == 1
            && list(value).all(|coding| coding.iter().all(|b| is_token(*b)));
        let fault = if unknown_first { FramingFault::UnknownCoding } else { FramingFault::Invalid };
        self.fault.get_or_insert(fault);
    }

    /// The body that follows, `otherwise` when no field frames it.
    ///
    /// # Errors
    /// What is wrong with the fields.
    pub fn body(&self, otherwise: Body) -> Result<Body, FramingFault> {
        match (self.fault, self.length, self.chunked) {
            (Some(fault), ..) => Err(fault),
            (None, Some(_), true) => Err(FramingFault::Invalid),
            (None, Some(length), false) => Ok(Body::of_length(length)),
            (None, None, true) => Ok(Body::Chunked(Chunked::new())),
            (None, None, false) => Ok(otherwise),
        }
    }

    pub fn has_coding(&self) -> bool {
        self.chunked
    }

    pub fn has_length(&self) -> bool {
        self.length.is_some()
    }
}

/// An unsigned decimal number and nothing else.
pub fn number(value: &[u8]) -> Option<u64> {
    if value.is_empty() {
        return None;
    }
    value.iter().try_fold(0u64, |sum, byte| match byte {
        b'0'..=b'9' => sum.checked_mul(10)?.checked_add(u64::from(byte - b'0')),
        _ => None,
    })
}

/// Appends the field lines for which `keep` is true, whole runs of them at a time. `head` ends in its empty line,
/// which is not appended. `named` asks that fields named by Connection be left out as well, except those that frame
/// and route: dropping them at the peer's word would change what the message is.
pub fn keep_lines(
    head: &[u8],
    fields: &[Header<'_>],
    named: bool,
    out: &mut Vec<u8>,
    keep: impl Fn(Field) -> bool,
) {
    let start_of = |i: usize| match fields.get(i) {
        Some(f) => f.name.as_ptr() as usize - head.as_ptr() as usize,
        None => head.len() - 2,
    };
    let mut run = start_of(0);
    for (i, f) in fields.iter().enumerate() {
        let kind = field(f.name);
        let frames = matches!(kind, Field::Host | Field::ContentLength | Field::TransferEncoding);
        if keep(kind) && !(named && !frames && is_named(fields, f.name)) {
            continue;
        }
        out.extend_from_slice(&head[run..start_of(i)]);
        run = start_of(i + 1);
    }
    out.extend_from_slice(&head[run..head.len() - 2]);
}

/// Appends `head` with the client's address in the field `name`, its last one (`spec/methods.md` ruling 11). What the
/// client sent under that name is left out, with `_` for `-` too: services that make variables of fields (RFC 3875
/// 4.1.18) take the one for the other.
pub fn with_client_ip(head: &[u8], name: &str, client: IpAddr, out: &mut Vec<u8>) {
    let same =
        |a: u8, b: u8| a.eq_ignore_ascii_case(&b) || (matches!(a, b'-' | b'_') && matches!(b, b'-' | b'_'));
    let is_ours = |line: &[u8]| {
        line.get(name.len()) == Some(&b':') && line.iter().zip(name.as_bytes()).all(|(a, b)| same(*a, *b))
    };
    for line in head
        .strip_suffix(b"\r\n")
        .unwrap_or(head)
        .split_inclusive(|b| *b == b'\n')
        .filter(|line| !is_ours(line))
    {
        out.extend_from_slice(line);
    }
    out.extend_from_slice(format!("{name}: {client}\r\n\r\n").as_bytes());
}

fn is_named(fields: &[Header<'_>], name: &str) -> bool {
    let connections = fields.iter().filter(|f| field(f.name) == Field::Connection);
    connections.flat_map(|f| list(f.value)).any(|option| option.eq_ignore_ascii_case(name.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_found_however_the_head_is_cut() {
        let head = b"GET / HTTP/1.1\r\nHost: a\r\n\r\nrest";
        for cut in 0..head.len() {
            let before = find_end(&head[..cut], 0);
            if cut < 27 {
                assert_eq!(before, Scan::Partial);
                assert_eq!(find_end(head, cut), Scan::Complete(27));
            } else {
                assert_eq!(before, Scan::Complete(27));
            }
        }
        assert_eq!(find_end(b"GET / HTTP/1.1\nHost: a\r\n\r\n", 0), Scan::BareLineFeed);
    }

    #[test]
    fn lengths_and_codings() {
        let body = |lengths: &[&[u8]], codings: &[&[u8]]| {
            let mut framing = Framing::default();
            lengths.iter().for_each(|v| framing.content_length(v));
            codings.iter().for_each(|v| framing.transfer_encoding(v));
            framing.body(Body::UntilClose)
        };
        assert!(matches!(body(&[b"5"], &[]), Ok(Body::Length(5))));
        assert!(matches!(body(&[b"0"], &[]), Ok(Body::Done)));
        assert!(matches!(body(&[], &[b"CHUNKED"]), Ok(Body::Chunked(_))));
        assert!(matches!(body(&[], &[]), Ok(Body::UntilClose)));
        for bad in [&b""[..], b"+5", b"5,5", b"0x5", b"18446744073709551616", b"5 5"] {
            assert!(matches!(body(&[bad], &[]), Err(FramingFault::Invalid)));
        }
        assert!(body(&[b"5", b"5"], &[]).is_err());
        assert!(body(&[b"5"], &[b"chunked"]).is_err());
        assert!(matches!(body(&[], &[b"gzip, chunked"]), Err(FramingFault::UnknownCoding)));
        for bad in [&b"chunked, gzip"[..], b"chunked, chunked", b"identity", b"", b"chunked;a=b", b"xchunked"]
        {
            assert!(matches!(body(&[], &[bad]), Err(FramingFault::Invalid)), "{bad:?}");
        }
        assert!(matches!(body(&[], &[b"chunked", b"chunked"]), Err(FramingFault::Invalid)));
    }
}
