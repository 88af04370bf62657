//! The chunked coding (RFC 9112 7.1), checked byte by byte as it passes and never written anew.
//!
//! Anything outside the grammar is a fault: a lenient reader here and another one at the service are how requests
//! are smuggled. Fields that frame, route or authenticate have no place in a trailer (RFC 9110 6.5.1).

/// Where a chunked body is.
#[derive(Clone, Copy, Debug)]
pub struct Chunked {
    at: At,
    /// Data bytes left of the current chunk; while its size is read, the size so far.
    left: u64,
    /// Digits of the size.
    digits: u8,
    /// Bytes of the current chunk-size line, or of the trailer section.
    line: u32,
    name: [u8; NAME_BYTES],
    name_len: u8,
}

/// The body breaks the coding.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ChunkFault;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum At {
    Size,
    SizeBlank,
    ExtensionStart,
    ExtensionName,
    NameBlank,
    ValueStart,
    Token,
    Quoted,
    QuotedPair,
    ValueEnd,
    ValueBlank,
    SizeLf,
    Data,
    DataCr,
    DataLf,
    TrailerStart,
    TrailerName,
    TrailerValue,
    TrailerLf,
    EndLf,
    Done,
}

impl Chunked {
    /// At the first chunk-size line.
    pub fn new() -> Chunked {
        Chunked { at: At::Size, left: 0, digits: 0, line: 0, name: [0; NAME_BYTES], name_len: 0 }
    }

    /// Has the end been read?
    pub fn is_done(&self) -> bool {
        self.at == At::Done
    }

    /// Reads on; `data` gets each run of chunk data. Returns how many bytes belong to the body: fewer than there
    /// are only when its end is among them. A chunk-size line or the trailers may have `line_limit` bytes.
    ///
    /// # Errors
    /// [`ChunkFault`] when the bytes break the coding.
    pub fn advance(
        &mut self,
        bytes: &[u8],
        line_limit: usize,
        mut data: impl FnMut(&[u8]),
    ) -> Result<usize, ChunkFault> {
        let mut position = 0;
        while position < bytes.len() && self.at != At::Done {
            if self.at == At::Data {
                let run = (bytes.len() - position).min(usize::try_from(self.left).unwrap_or(usize::MAX));
                data(&bytes[position..position + run]);
                position += run;
                self.left -= run as u64;
                if self.left == 0 {
                    self.at = At::DataCr;
                }
                continue;
            }
            self.line += 1;
            if self.line as usize > line_limit {
                return Err(ChunkFault);
            }
            self.at = self.step(bytes[position])?;
            position += 1;
        }
        Ok(position)
    }

    fn step(&mut self, byte: u8) -> Result<At, ChunkFault> {
        Ok(match (self.at, byte) {
            (At::Size, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => return self.digit(byte),
            (At::Size, b' ' | b'\t') if self.digits > 0 => At::SizeBlank,
            (At::Size, b';') if self.digits > 0 => At::ExtensionStart,
            (At::Size, b'\r') if self.digits > 0 => At::SizeLf,
            (At::DataCr, b'\r') => At::DataLf,
            (At::DataLf, b'\n') => {
                (self.digits, self.line) = (0, 0);
                At::Size
            }
            (At::SizeLf, b'\n') if self.left > 0 => At::Data,
            (At::SizeLf, b'\n') => {
                self.line = 0;
                At::TrailerStart
            }
            (
                At::SizeBlank
                | At::ExtensionStart
                | At::ExtensionName
                | At::NameBlank
                | At::ValueStart
                | At::Token
                | At::Quoted
                | At::QuotedPair
                | At::ValueEnd
                | At::ValueBlank,
                _,
            ) => return self.extension(byte),
            _ => return self.trailer(byte),
        })
    }

    fn digit(&mut self, byte: u8) -> Result<At, ChunkFault> {
        let value = (byte as char).to_digit(16).ok_or(ChunkFault)?;
        let so_far = if self.digits == 0 { 0 } else { self.left };
        if self.digits >= SIZE_DIGITS || so_far >> 59 != 0 {
            return Err(ChunkFault);
        }
        self.digits += 1;
        self.left = so_far << 4 | u64::from(value);
        Ok(At::Size)
    }

    /// `*( BWS ";" BWS chunk-ext-name [ BWS "=" BWS chunk-ext-val ] )`
    fn extension(&mut self, byte: u8) -> Result<At, ChunkFault> {
        let blank = matches!(byte, b' ' | b'\t');
        Ok(match (self.at, byte) {
            (At::SizeBlank | At::NameBlank | At::ValueBlank | At::ExtensionStart | At::ValueStart, _)
                if blank =>
            {
                self.at
            }
            (At::SizeBlank | At::ExtensionName | At::NameBlank, b';') => At::ExtensionStart,
            (At::Token | At::ValueEnd | At::ValueBlank, b';') => At::ExtensionStart,
            (At::ExtensionStart | At::ExtensionName, _) if is_token(byte) => At::ExtensionName,
            (At::ExtensionName, _) if blank => At::NameBlank,
            (At::ExtensionName | At::NameBlank, b'=') => At::ValueStart,
            (At::ValueStart, b'"') => At::Quoted,
            (At::ValueStart | At::Token, _) if is_token(byte) => At::Token,
            (At::Token | At::ValueEnd, _) if blank => At::ValueBlank,
            (At::ExtensionName | At::Token | At::ValueEnd, b'\r') => At::SizeLf,
            (At::Quoted, b'"') => At::ValueEnd,
            (At::Quoted, b'\\') => At::QuotedPair,
            (At::Quoted | At::QuotedPair, _) if is_text(byte) => At::Quoted,
            _ => return Err(ChunkFault),
        })
    }

    fn trailer(&mut self, byte: u8) -> Result<At, ChunkFault> {
        Ok(match (self.at, byte) {
            (At::TrailerStart, b'\r') => At::EndLf,
            (At::EndLf, b'\n') => At::Done,
            (At::TrailerStart, _) if is_token(byte) => {
                self.name_len = 0;
                self.name_byte(byte);
                At::TrailerName
            }
            (At::TrailerName, b':') => {
                let name = self.name.get(..self.name_len as usize).unwrap_or_default();
                if FORBIDDEN.iter().any(|f| f.as_bytes() == name) {
                    return Err(ChunkFault);
                }
                At::TrailerValue
            }
            (At::TrailerName, _) if is_token(byte) => {
                self.name_byte(byte);
                At::TrailerName
            }
            (At::TrailerValue, b'\r') => At::TrailerLf,
            (At::TrailerValue, _) if is_text(byte) => At::TrailerValue,
            (At::TrailerLf, b'\n') => At::TrailerStart,
            _ => return Err(ChunkFault),
        })
    }

    /// Keeps the first bytes of a trailer's name: one that is longer is none of the forbidden.
    fn name_byte(&mut self, byte: u8) {
        if let Some(slot) = self.name.get_mut(self.name_len as usize) {
            *slot = byte.to_ascii_lowercase();
        }
        self.name_len = self.name_len.saturating_add(1);
    }
}

/// `tchar` of RFC 9110 5.6.2.
pub fn is_token(byte: u8) -> bool {
    TOKEN[byte as usize]
}

/// A byte of a field value or quoted string: visible, blank or obs-text.
fn is_text(byte: u8) -> bool {
    byte == b'\t' || (byte >= b' ' && byte != 0x7f)
}

const TOKEN: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = (byte as u8).is_ascii_alphanumeric();
        byte += 1;
    }
    let marks = b"!#$%&'*+-.^_`|~";
    let mut i = 0;
    while i < marks.len() {
        table[marks[i] as usize] = true;
        i += 1;
    }
    table
};

/// More digits can not be a size, and a run of zeros has no use.
const SIZE_DIGITS: u8 = 16;
const NAME_BYTES: usize = 20;
const FORBIDDEN: [&str; 14] = [
    "authorization",
    "connection",
    "content-encoding",
    "content-length",
    "content-range",
    "content-type",
    "cookie",
    "expect",
    "host",
    "keep-alive",
    "proxy-authorization",
    "te",
    "transfer-encoding",
    "upgrade",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Result<(usize, bool, Vec<u8>), ChunkFault> {
        let (mut chunked, mut data) = (Chunked::new(), Vec::new());
        let taken = chunked.advance(bytes, 64, |run| data.extend_from_slice(run))?;
        Ok((taken, chunked.is_done(), data))
    }

    #[test]
    fn what_the_grammar_allows_passes() {
        assert_eq!(read(b"5\r\nhello\r\n0\r\n\r\nGET"), Ok((15, true, b"hello".to_vec())));
        assert_eq!(read(b"5 ;a=b;c=\"d\\\"e\" ; f\r\nhello\r\n00\r\nX-T: 1\r\n\r\n").unwrap().2, b"hello");
        assert_eq!(read(b"A\r\nhello").unwrap(), (8, false, b"hello".to_vec()));
    }

    #[test]
    fn everything_else_is_a_fault() {
        for bad in [
            &b"\r\n"[..],
            b" 5\r\n",
            b"5 \r\n",
            b"0x5\r\n",
            b"+5\r\n",
            b"-1\r\n",
            b"5 0\r\n",
            b"5\n",
            b"5\r\r\n",
            b"5;\r\n",
            b"5;a \r\n",
            b"5;a=\r\n",
            b"5;a=\"\x01\"\r\n",
            b"5\r\nhelloX",
            b"5\r\nhello\n",
            b"0\r\n X: 1\r\n",
            b"0\r\nX : 1\r\n",
            b"0\r\nX\r\n",
            b"0\r\n: v\r\n",
            b"0\r\nX: a\nb",
            b"0\r\nContent-Length: 5\r\n",
            b"0\r\nTRANSFER-ENCODING: chunked\r\n",
            b"0\r\n\rX",
            b"00000000000000005\r\n",
            b"8000000000000000\r\n",
            b"ffffffffffffffff\r\n",
        ] {
            assert!(read(bad).is_err(), "{:?}", String::from_utf8_lossy(bad));
        }
    }

    #[test]
    fn lines_have_a_bound() {
        assert!(read(format!("5;{}", "a".repeat(80)).as_bytes()).is_err());
        assert!(read(format!("0\r\n{}", "X: 1\r\n".repeat(20)).as_bytes()).is_err());
        assert!(read(b"1\r\nx\r\n".repeat(50).as_slice()).is_ok());
    }
}
