//! HTTP/1.1 messages as tests read them: strict about what the program must produce, and independent of its parser.

use std::io::{self, BufRead, BufReader, Read};
use std::net::TcpStream;

/// A message that was received whole.
#[derive(Debug, Clone, Default)]
pub struct Message {
    /// The head as it came, up to and with the empty line.
    pub head: String,
    /// Request line or status line, without CRLF.
    pub start: String,
    /// Field lines in order, names as received.
    pub fields: Vec<(String, String)>,
    /// The decoded body.
    pub body: Vec<u8>,
    /// Trailer fields of a chunked body.
    pub trailers: Vec<(String, String)>,
}

impl Message {
    /// All values of a field, in order.
    pub fn all(&self, name: &str) -> Vec<&str> {
        self.fields.iter().filter(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, v)| v.as_str()).collect()
    }

    /// The value of a field that occurs once.
    pub fn field(&self, name: &str) -> Option<&str> {
        let all = self.all(name);
        assert!(all.len() <= 1, "{name} occurs {} times: {self:?}", all.len());
        all.first().copied()
    }

    /// Status code of a response.
    pub fn status(&self) -> u16 {
        let mut words = self.start.split(' ');
        let version = words.next().unwrap_or_default();
        assert!(version == "HTTP/1.1", "not an HTTP/1.1 response: {:?}", self.start);
        words.next().and_then(|w| w.parse().ok()).unwrap_or_else(|| panic!("no status: {:?}", self.start))
    }

    /// Method of a request.
    pub fn method(&self) -> &str {
        self.start.split(' ').next().unwrap_or_default()
    }

    /// Target of a request.
    pub fn target(&self) -> &str {
        self.start.split(' ').nth(1).unwrap_or_default()
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    fn is_chunked(&self) -> bool {
        self.all("transfer-encoding").iter().any(|v| v.eq_ignore_ascii_case("chunked"))
    }

    fn length(&self) -> Option<usize> {
        self.field("content-length").map(|v| v.parse().unwrap_or_else(|_| panic!("bad length {v:?}")))
    }
}

/// How a body is delimited when neither a length nor chunks say so.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Body {
    /// There is none, whatever the head says: answers to HEAD, 1xx, 204, 304.
    None,
    /// None without framing: requests.
    Framed,
    /// Until the connection ends without framing: responses.
    UntilEnd,
}

/// Reads a head; `None` when the stream ended before its first byte.
pub fn read_head(from: &mut BufReader<TcpStream>) -> io::Result<Option<Message>> {
    let Some(start) = read_line(from)? else { return Ok(None) };
    let mut head = format!("{start}\r\n");
    let fields = read_fields(from, &mut head)?;
    Ok(Some(Message { head, start, fields, ..Message::default() }))
}

/// Reads the body that belongs to `head` into it.
pub fn read_body(from: &mut BufReader<TcpStream>, head: &mut Message, body: Body) -> io::Result<()> {
    if body == Body::None {
        return Ok(());
    }
    if head.is_chunked() {
        assert!(head.all("content-length").is_empty(), "two framings: {head:?}");
        return read_chunks(from, head);
    }
    match head.length() {
        Some(length) => read_exactly(from, length, &mut head.body),
        None if body == Body::UntilEnd => from.read_to_end(&mut head.body).map(drop),
        None => Ok(()),
    }
}

fn read_chunks(from: &mut BufReader<TcpStream>, head: &mut Message) -> io::Result<()> {
    loop {
        let line = read_line(from)?.ok_or(io::ErrorKind::UnexpectedEof)?;
        // White space before an extension is bad, and allowed (RFC 9112 7.1.1).
        let digits = line.split(';').next().unwrap_or_default().trim_end_matches([' ', '\t']);
        let size = usize::from_str_radix(digits, 16).map_err(|_| invalid(format!("chunk size {line:?}")))?;
        if size == 0 {
            head.trailers = read_fields(from, &mut String::new())?;
            return Ok(());
        }
        read_exactly(from, size, &mut head.body)?;
        match read_line(from)?.as_deref() {
            Some("") => {}
            other => return Err(invalid(format!("no CRLF after a chunk but {other:?}"))),
        }
    }
}

/// Without believing the length: memory grows with what really comes.
fn read_exactly(from: &mut BufReader<TcpStream>, length: usize, into: &mut Vec<u8>) -> io::Result<()> {
    let read = from.take(length as u64).read_to_end(into)?;
    if read < length { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(()) }
}

/// Reads field lines to the empty one, and appends them to `text` as they are.
fn read_fields(from: &mut BufReader<TcpStream>, text: &mut String) -> io::Result<Vec<(String, String)>> {
    let mut fields = Vec::new();
    loop {
        let line = read_line(from)?.ok_or(io::ErrorKind::UnexpectedEof)?;
        text.push_str(&line);
        text.push_str("\r\n");
        if line.is_empty() {
            return Ok(fields);
        }
        let (name, value) = line.split_once(':').ok_or_else(|| invalid(format!("no colon in {line:?}")))?;
        if name.is_empty() || name.contains([' ', '\t']) {
            return Err(invalid(format!("field name {name:?}")));
        }
        fields.push((name.to_owned(), value.trim_matches([' ', '\t']).to_owned()));
    }
}

/// A line that ends in CRLF, without it; `None` at the end of the stream.
fn read_line(from: &mut BufReader<TcpStream>) -> io::Result<Option<String>> {
    let mut line = Vec::new();
    from.read_until(b'\n', &mut line)?;
    if line.is_empty() {
        return Ok(None);
    }
    match line.strip_suffix(b"\r\n") {
        Some(text) => Ok(Some(String::from_utf8_lossy(text).into_owned())),
        None if line.ends_with(b"\n") => {
            Err(invalid(format!("bare LF after {:?}", String::from_utf8_lossy(&line))))
        }
        None => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

fn invalid(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}
