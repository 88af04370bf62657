//! Strings of monitors as they are stored: with the escapes that were typed.

/// Undoes the escapes that a stored string keeps as typed; an unknown one stays as it is.
pub fn unescape(text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.as_bytes();
    while let Some((&first, rest)) = bytes.split_first() {
        let (byte, used) = match (first, rest) {
            (b'\\', [b'r', ..]) => (b'\r', 2),
            (b'\\', [b'n', ..]) => (b'\n', 2),
            (b'\\', [b't', ..]) => (b'\t', 2),
            (b'\\', [quoted @ (b'\\' | b'"' | b'\''), ..]) => (*quoted, 2),
            (b'\\', [b'x', high, low, ..]) => match (hex(*high), hex(*low)) {
                (Some(high), Some(low)) => (high << 4 | low, 4),
                _ => (first, 1),
            },
            _ => (first, 1),
        };
        out.push(byte);
        bytes = &bytes[used..];
    }
    out
}

fn hex(digit: u8) -> Option<u8> {
    (digit as char).to_digit(16).and_then(|d| u8::try_from(d).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_undone_once() {
        assert_eq!(unescape(r"a\r\n\t\\r\x41\q"), b"a\r\n\t\\rA\\q");
        assert_eq!(unescape(r"\x4"), b"\\x4");
    }
}
