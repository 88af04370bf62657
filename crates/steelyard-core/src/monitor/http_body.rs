//! The body of an answer to a probe, decoded as it comes in.
//!
//! Owns where a body ends (RFC 9112 6.3) and the chunks' framing, read strictly: what two readers could take for different
//! bodies is an error that says what is wrong. Keeps none of the body.

/// How a body goes on.
pub struct Body {
    framing: Framing,
}

enum Framing {
    /// So many bytes are left.
    Sized(u64),
    /// Chunks.
    Chunked(Chunk),
    /// The end of the connection ends it.
    ToClose,
}

/// Where the next byte of a chunked body belongs.
#[derive(Clone, Copy)]
enum Chunk {
    /// To a chunk's size, of which so many digits were read.
    Size { value: u64, digits: u32 },
    /// To an extension, of which so many bytes were read.
    Extension { value: u64, bytes: u32 },
    /// It is the line feed behind a size.
    SizeEnd(u64),
    /// To a chunk's data, of which so many bytes are left.
    Data(u64),
    /// It is the carriage return behind the data.
    DataReturn,
    /// It is the line feed behind the data.
    DataEnd,
}

/// What became of a body by some more bytes of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Progress {
    /// It goes on.
    Open,
    /// It is whole.
    Ended,
    /// It cannot be read; says why.
    Malformed(&'static str),
}

impl Body {
    /// The body behind this head. `asked_by_head`: the request was a HEAD, whose answer has none.
    ///
    /// # Errors
    /// What is wrong with the head.
    pub fn behind(status: u16, head: &[u8], asked_by_head: bool) -> Result<Body, &'static str> {
        if asked_by_head || status < 200 || status == 204 || status == 304 {
            return Ok(Body { framing: Framing::Sized(0) });
        }
        let codings = fields(head, b"transfer-encoding").last();
        let mut lengths = fields(head, b"content-length");
        let framing = match (codings, lengths.next()) {
            (Some(coding), _) if is_chunked(coding) => Framing::Chunked(Chunk::Size { value: 0, digits: 0 }),
            (Some(_), _) | (None, None) => Framing::ToClose,
            (None, Some(first)) if lengths.any(|other| other != first) => {
                return Err("two values of Content-Length");
            }
            (None, Some(first)) => Framing::Sized(number(first).ok_or("Content-Length is not a number")?),
        };
        Ok(Body { framing })
    }

    /// Appends what `bytes` hold of the body to `decoded`: no more than they are.
    pub fn take(&mut self, bytes: &[u8], decoded: &mut Vec<u8>) -> Progress {
        match &mut self.framing {
            Framing::ToClose => {
                decoded.extend_from_slice(bytes);
                Progress::Open
            }
            Framing::Sized(left) => {
                take_data(left, bytes, decoded);
                if *left == 0 { Progress::Ended } else { Progress::Open }
            }
            Framing::Chunked(chunk) => chunk.take(bytes, decoded),
        }
    }

    /// Is the end of the connection the end of it?
    pub fn ends_by_close(&self) -> bool {
        matches!(self.framing, Framing::ToClose)
    }
}

impl Chunk {
    fn take(&mut self, bytes: &[u8], decoded: &mut Vec<u8>) -> Progress {
        let mut rest = bytes;
        while let Some((&byte, behind)) = rest.split_first() {
            if let Chunk::Data(left) = self {
                rest = take_data(left, rest, decoded);
                if *left == 0 {
                    *self = Chunk::DataReturn;
                }
                continue;
            }
            *self = match self.next(byte) {
                Ok(Some(next)) => next,
                // Trailers are not the body: nobody waits for them.
                Ok(None) => return Progress::Ended,
                Err(what) => return Progress::Malformed(what),
            };
            rest = behind;
        }
        Progress::Open
    }

    /// What comes after this byte of the framing; `None`: the body has ended.
    fn next(self, byte: u8) -> Result<Option<Chunk>, &'static str> {
        let next = match (self, byte) {
            (Chunk::Size { digits: 0, .. }, b'\r' | b';' | b' ' | b'\t') => {
                return Err("chunk without a size");
            }
            (Chunk::Size { value, .. } | Chunk::Extension { value, .. }, b'\r') => Chunk::SizeEnd(value),
            (Chunk::Size { value, .. }, b';' | b' ' | b'\t') => Chunk::Extension { value, bytes: 1 },
            (Chunk::Size { value, digits }, digit) => {
                let digit = (digit as char).to_digit(16).ok_or("size of a chunk is not a number")?;
                if digits == MOST_DIGITS {
                    return Err("size of a chunk is too large");
                }
                Chunk::Size { value: value << 4 | u64::from(digit), digits: digits + 1 }
            }
            (Chunk::Extension { .. }, b'\n') => return Err("bare line feed behind the size of a chunk"),
            (Chunk::Extension { bytes: MOST_EXTENSION, .. }, _) => {
                return Err("extension of a chunk is too long");
            }
            (Chunk::Extension { value, bytes }, _) => Chunk::Extension { value, bytes: bytes + 1 },
            (Chunk::SizeEnd(0), b'\n') => return Ok(None),
            (Chunk::SizeEnd(value), b'\n') => Chunk::Data(value),
            (Chunk::DataReturn, b'\r') => Chunk::DataEnd,
            (Chunk::DataEnd, b'\n') => Chunk::Size { value: 0, digits: 0 },
            (Chunk::SizeEnd(_), _) => return Err("no line feed behind the size of a chunk"),
            (Chunk::Data(_) | Chunk::DataReturn | Chunk::DataEnd, _) => {
                return Err("chunk longer than its size");
            }
        };
        Ok(Some(next))
    }
}

/// Takes up to `left` bytes; what is behind them.
fn take_data<'b>(left: &mut u64, bytes: &'b [u8], decoded: &mut Vec<u8>) -> &'b [u8] {
    let count = usize::try_from(*left).unwrap_or(usize::MAX).min(bytes.len());
    let (data, rest) = bytes.split_at(count);
    decoded.extend_from_slice(data);
    *left -= count as u64;
    rest
}

/// Values of a field, by its name in small letters.
fn fields<'h>(head: &'h [u8], name: &'static [u8]) -> impl Iterator<Item = &'h [u8]> {
    head.split(|&byte| byte == b'\n').skip(1).filter_map(move |line| {
        let colon = line.iter().position(|&byte| byte == b':')?;
        let (field, value) = line.split_at(colon);
        field.eq_ignore_ascii_case(name).then(|| value[1..].trim_ascii())
    })
}

fn is_chunked(codings: &[u8]) -> bool {
    codings
        .rsplit(|&byte| byte == b',')
        .next()
        .is_some_and(|c| c.trim_ascii().eq_ignore_ascii_case(b"chunked"))
}

fn number(digits: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(digits).ok().filter(|text| text.bytes().all(|b| b.is_ascii_digit()))?;
    text.parse().ok()
}

/// Digits of a chunk's size.
const MOST_DIGITS: u32 = 15;
/// Bytes of a chunk's extension.
const MOST_EXTENSION: u32 = 4_096;

#[cfg(test)]
mod tests {
    use super::*;

    fn body(fields: &str) -> Result<Body, &'static str> {
        Body::behind(200, format!("HTTP/1.1 200 OK\r\n{fields}\r\n").as_bytes(), false)
    }

    /// The body of these bytes in pieces of `cut`.
    fn decoded(fields: &str, bytes: &[u8], cut: usize) -> (Vec<u8>, Progress) {
        let (mut body, mut decoded) = (body(fields).unwrap(), Vec::new());
        for piece in bytes.chunks(cut) {
            let progress = body.take(piece, &mut decoded);
            if progress != Progress::Open {
                return (decoded, progress);
            }
        }
        (decoded, Progress::Open)
    }

    const CHUNKED: &str = "Transfer-Encoding: chunked\r\n";

    #[test]
    fn each_framing_ends_where_it_says() {
        for cut in 1..30 {
            let whole = |bytes: &[u8]| (bytes.to_vec(), Progress::Ended);
            assert_eq!(decoded("content-length: 3\r\n", b"abcdef", cut), whole(b"abc"));
            let chunks = b"2\r\nab\r\n0A;x=\"y\"\r\n0123456789\r\n0\r\n\r\n";
            assert_eq!(decoded(CHUNKED, chunks, cut), whole(b"ab0123456789"));
            assert_eq!(
                decoded("Content-Length: 1\r\nTransfer-Encoding: gzip, Chunked\r\n", chunks, cut),
                whole(b"ab0123456789")
            );
            assert_eq!(decoded("", b"abc", cut), (b"abc".to_vec(), Progress::Open));
        }
    }

    #[test]
    fn what_has_no_body_has_none() {
        let head = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n";
        for (status, by_head) in [(200, true), (204, false), (304, false), (101, false)] {
            let mut body = Body::behind(status, head, by_head).unwrap();
            assert_eq!(body.take(b"", &mut Vec::new()), Progress::Ended, "{status}");
        }
    }

    #[test]
    fn unsound_framing_is_told() {
        for (bytes, what) in [
            ("\r\n", "chunk without a size"),
            ("x\r\n", "size of a chunk is not a number"),
            ("1\n", "size of a chunk is not a number"),
            ("1000000000000000\r\n", "size of a chunk is too large"),
            ("1;a\n", "bare line feed behind the size of a chunk"),
            ("1\rx", "no line feed behind the size of a chunk"),
            ("1\r\nabc", "chunk longer than its size"),
            ("1\r\na\rx", "chunk longer than its size"),
        ] {
            assert_eq!(decoded(CHUNKED, bytes.as_bytes(), 1).1, Progress::Malformed(what), "{bytes:?}");
        }
        let long = format!("1;{}", "x".repeat(5_000));
        let too_long = Progress::Malformed("extension of a chunk is too long");
        assert_eq!(decoded(CHUNKED, long.as_bytes(), 100).1, too_long);
        for fields in [
            "Content-Length: 5\r\nContent-Length: 6\r\n",
            "Content-Length: 5, 5\r\n",
            "Content-Length: -1\r\n",
        ] {
            assert!(body(fields).is_err(), "{fields}");
        }
        assert!(body("Content-Length: 5\r\nContent-Length: 5\r\n").is_ok());
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_in_any_cut_give_one_body(
            bytes in proptest::collection::vec(proptest::sample::select(b"0123af\r\n; x".to_vec()), 0..60),
            cut in 1usize..9,
            framing in proptest::sample::select(vec![CHUNKED, "Content-Length: 7\r\n", ""]),
        ) {
            let whole = decoded(framing, &bytes, bytes.len().max(1));
            proptest::prop_assert_eq!(decoded(framing, &bytes, cut), whole);
        }
    }
}
