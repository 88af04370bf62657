//! A reader of HTTP/1 messages that shares no code with the product: what a strict service, or a client, sees.

/// A complete message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Message {
    /// Request line or status line.
    pub start: String,
    pub fields: Vec<(String, String)>,
    /// Without its coding.
    pub body: Vec<u8>,
    /// Bytes that it took.
    pub length: usize,
}

/// What some bytes are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Seen {
    Whole(Message),
    /// They end inside a message; `true`: inside the body, so that the head is there.
    Cut(bool),
    /// No reader should take them.
    Malformed(String),
}

/// What a body without length or coding is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Unframed {
    /// Empty: a request.
    Empty,
    /// Never there: an answer to HEAD, 1xx, 204, 304 have none whatever they say.
    Absent,
    /// Up to the end, which was seen.
    UntilClose,
    /// Up to the end, which was not seen yet.
    Open,
}

impl Message {
    pub fn field(&self, name: &str) -> Vec<&str> {
        let of_name = self.fields.iter().filter(|(n, _)| n.eq_ignore_ascii_case(name));
        of_name.map(|(_, v)| v.as_str()).collect()
    }

    pub fn has(&self, name: &str) -> bool {
        !self.field(name).is_empty()
    }

    pub fn status(&self) -> u16 {
        self.start.split(' ').nth(1).and_then(|s| s.parse().ok()).unwrap_or(0)
    }

    pub fn method(&self) -> &str {
        self.start.split(' ').next().unwrap_or_default()
    }

    /// As the fixtures write it: `METHOD target[decoded body length]`, the brackets only with a body.
    pub fn view(&self) -> String {
        let mut words = self.start.split(' ');
        let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let framed = self.has("content-length") || self.has("transfer-encoding");
        if framed { format!("{method} {target}[{}]", self.body.len()) } else { format!("{method} {target}") }
    }
}

/// Reads the first message of `bytes`.
pub fn read(bytes: &[u8], unframed: Unframed) -> Seen {
    let Some(end) = find(bytes, b"\r\n\r\n") else { return Seen::Cut(false) };
    let head = &bytes[..end];
    if head.iter().enumerate().any(|(i, b)| (*b == b'\n') != (i > 0 && head[i - 1] == b'\r') && *b != b'\r')
        || head.iter().enumerate().any(|(i, b)| *b == b'\r' && head.get(i + 1).is_some_and(|n| *n != b'\n'))
        || head.contains(&0)
    {
        return Seen::Malformed("line ends or NUL in the head".into());
    }
    let head = String::from_utf8_lossy(head);
    let mut lines = head.split("\r\n");
    let start = lines.next().unwrap_or_default().to_owned();
    let mut fields = Vec::new();
    for line in lines {
        let Some((name, value)) = line.split_once(':') else {
            return Seen::Malformed(format!("no colon in {line:?}"));
        };
        if name.is_empty() || name.contains(|c: char| c.is_whitespace() || !c.is_ascii()) {
            return Seen::Malformed(format!("name {name:?}"));
        }
        fields.push((name.to_owned(), value.trim().to_owned()));
    }
    let message = Message { start, fields, body: Vec::new(), length: end + 4 };
    body(message, &bytes[end + 4..], unframed)
}

fn body(mut message: Message, rest: &[u8], unframed: Unframed) -> Seen {
    if unframed == Unframed::Absent {
        return Seen::Whole(message);
    }
    let lengths = message.field("content-length");
    let codings = message.field("transfer-encoding");
    match (&lengths[..], &codings[..]) {
        ([length], []) => {
            let Ok(length) = length.parse::<usize>() else { return Seen::Malformed("length".into()) };
            if rest.len() < length {
                return Seen::Cut(true);
            }
            message.body = rest[..length].to_vec();
            message.length += length;
            Seen::Whole(message)
        }
        ([], [coding]) if coding.eq_ignore_ascii_case("chunked") => chunked(message, rest),
        ([], []) => match unframed {
            Unframed::Empty | Unframed::Absent => Seen::Whole(message),
            Unframed::Open => Seen::Cut(true),
            Unframed::UntilClose => {
                message.body = rest.to_vec();
                message.length += rest.len();
                Seen::Whole(message)
            }
        },
        _ => Seen::Malformed("framing fields".into()),
    }
}

fn chunked(mut message: Message, rest: &[u8]) -> Seen {
    let mut at = 0;
    loop {
        let Some(end) = find(&rest[at..], b"\r\n") else { return Seen::Cut(true) };
        let line = String::from_utf8_lossy(&rest[at..at + end]).into_owned();
        let digits = line.split(';').next().unwrap_or_default().trim_end();
        let Ok(size) = u64::from_str_radix(digits, 16) else {
            return Seen::Malformed(format!("chunk size {line:?}"));
        };
        if digits.starts_with('+') || line.contains(['\n', '\r']) {
            return Seen::Malformed(format!("chunk line {line:?}"));
        }
        at += end + 2;
        if size == 0 {
            break;
        }
        let Ok(size) = usize::try_from(size) else { return Seen::Cut(true) };
        if rest.len() - at < size.saturating_add(2) {
            return Seen::Cut(true);
        }
        message.body.extend_from_slice(&rest[at..at + size]);
        if &rest[at + size..at + size + 2] != b"\r\n" {
            return Seen::Malformed("no CRLF after chunk data".into());
        }
        at += size + 2;
    }
    loop {
        let Some(end) = find(&rest[at..], b"\r\n") else { return Seen::Cut(true) };
        at += end + 2;
        if end == 0 {
            message.length += at;
            return Seen::Whole(message);
        }
    }
}

/// Reads every message of `bytes`, and what is left of them.
pub fn read_all(bytes: &[u8]) -> (Vec<Message>, Seen) {
    let (mut messages, mut at) = (Vec::new(), 0);
    loop {
        match read(&bytes[at..], Unframed::Empty) {
            Seen::Whole(message) => {
                at += message.length;
                messages.push(message);
            }
            other => return (messages, other),
        }
    }
}

fn find(bytes: &[u8], needle: &[u8]) -> Option<usize> {
    bytes.windows(needle.len()).position(|w| w == needle)
}
