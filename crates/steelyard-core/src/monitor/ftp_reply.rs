//! Replies of FTP servers (RFC 959 4.2): three digits, and a line of text or several.
//!
//! The hard question is where a reply of several lines ends: only at a line that begins with the first line's code and
//! a space. Lines between may begin with digits, even with that code and a hyphen.

/// One reply.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reply {
    /// Its code, 100 to 599.
    pub code: u16,
    /// Its last line, made fit to be shown.
    pub text: Box<str>,
}

/// Takes bytes as they come, one reply after the other.
#[derive(Default)]
pub struct Replies {
    line: Vec<u8>,
    /// The first line's code, within a reply of several lines.
    open: Option<[u8; 3]>,
    /// Bytes of this reply so far.
    length: usize,
}

impl Replies {
    /// Takes bytes up to the end of a reply: that, with the bytes after it; `None` while it has not ended.
    pub fn take<'b>(&mut self, bytes: &'b [u8]) -> Result<Option<(Reply, &'b [u8])>, &'static str> {
        for (at, &byte) in bytes.iter().enumerate() {
            self.length += 1;
            if self.length > LONGEST_REPLY {
                return Err("a reply longer than 65536 bytes");
            }
            if byte != b'\n' {
                self.line.push(byte);
                if self.line.len() > LONGEST_LINE {
                    return Err("a line longer than 4096 bytes");
                }
            } else if let Some(reply) = self.end_of_line()? {
                return Ok(Some((reply, bytes.get(at + 1..).unwrap_or_default())));
            }
        }
        Ok(None)
    }

    fn end_of_line(&mut self) -> Result<Option<Reply>, &'static str> {
        let line = std::mem::take(&mut self.line);
        let line = line.strip_suffix(b"\r").unwrap_or(&line);
        let (code, after) =
            line.split_first_chunk::<3>().ok_or(NO_CODE).or_else(|no_code| match self.open {
                Some(_) => Ok((&[0; 3], line)),
                None => Err(no_code),
            })?;
        match (self.open, after.first()) {
            (Some(open), Some(b' ')) if open == *code => {}
            (Some(_), _) => return Ok(None),
            (None, Some(b'-')) => {
                number(*code)?;
                self.open = Some(*code);
                return Ok(None);
            }
            (None, Some(b' ') | None) => {}
            (None, _) => return Err(NO_CODE),
        }
        let reply = Reply { code: number(*code)?, text: fit(after) };
        *self = Replies::default();
        Ok(Some(reply))
    }
}

fn number(code: [u8; 3]) -> Result<u16, &'static str> {
    let is_code = code.iter().all(u8::is_ascii_digit) && (b'1'..=b'5').contains(&code[0]);
    let number = code.iter().fold(0, |number, digit| number * 10 + u16::from(digit.wrapping_sub(b'0')));
    is_code.then_some(number).ok_or(NO_CODE)
}

/// On one line and not too long, without the full stop that many servers end with.
fn fit(text: &[u8]) -> Box<str> {
    let text = String::from_utf8_lossy(text);
    let shown: String = text.trim_start().chars().filter(|c| !c.is_control()).take(MOST_SHOWN).collect();
    shown.trim().trim_end_matches('.').into()
}

const NO_CODE: &str = "a line without a reply code";
/// Longer ones are no answers that a person wrote.
const LONGEST_LINE: usize = 4_096;
const LONGEST_REPLY: usize = 65_536;
/// Characters of a reply that are kept.
const MOST_SHOWN: usize = 128;

#[cfg(test)]
mod tests {
    use super::*;

    /// The first reply in these bytes, which come in pieces of `cut`, and how many bytes it has.
    fn first(bytes: &[u8], cut: usize) -> Result<Option<(Reply, usize)>, &'static str> {
        let mut replies = Replies::default();
        let mut taken = 0;
        for piece in bytes.chunks(cut) {
            match replies.take(piece)? {
                Some((reply, rest)) => return Ok(Some((reply, taken + piece.len() - rest.len()))),
                None => taken += piece.len(),
            }
        }
        Ok(None)
    }

    fn reply(code: u16, text: &str) -> Reply {
        Reply { code, text: text.into() }
    }

    /// Case M20, and what RFC 959 4.2 shows.
    #[test]
    fn m20_a_reply_ends_at_its_own_code_and_a_space() {
        for (text, code, last) in [
            ("220 ready\r\n", 220, "ready"),
            ("220 ready.\n", 220, "ready"),
            ("220\r\n", 220, ""),
            ("220-Welcome\r\n Second line\r\n234 not the end of this reply\r\n220 ready\r\n", 220, "ready"),
            ("220-\r\n220-first\r\n220 last\r\n", 220, "last"),
            (
                "123-First line\r\nSecond line\r\n  234 A line beginning with numbers\r\n123 The last line\r\n",
                123,
                "The last line",
            ),
            ("230-\r\n\r\n23\r\n230\r\n230x\r\n 230 not yet\r\n230 in\r\n", 230, "in"),
        ] {
            for cut in [1, 2, 3, 7, 1_000] {
                let followed = format!("{text}331 next\r\n");
                let found = first(followed.as_bytes(), cut).unwrap().unwrap();
                assert_eq!(found, (reply(code, last), text.len()), "{text:?} by {cut}");
            }
        }
    }

    /// Case M22.
    #[test]
    fn m22_another_code_does_not_end_it() {
        assert_eq!(first(b"553-\r\n553- excluded\r\n150 opening\r\n", 5), Ok(None));
    }

    #[test]
    fn what_is_no_reply_says_so_and_is_bounded() {
        for text in [
            "SSH-2.0-x\r\n",
            "22\r\n",
            "\r\n",
            "220x\r\n",
            "999 no\r\n",
            "600-\r\n",
            "0a0 x\r\n",
            "HTTP/1.1 400\r\n",
        ] {
            assert_eq!(first(text.as_bytes(), 4), Err(NO_CODE), "{text:?}");
        }
        let line = vec![b'2'; 5_000];
        assert_eq!(first(&line, 100), Err("a line longer than 4096 bytes"));
        let endless = b"220-more\r\n".repeat(7_000);
        assert_eq!(first(&endless, 1_000), Err("a reply longer than 65536 bytes"));
    }

    #[test]
    fn what_is_shown_is_one_line() {
        let long = format!("220 a\x1b[2J\tb\u{e9}{}\r\n", "x".repeat(500));
        let (found, _) = first(long.as_bytes(), 9).unwrap().unwrap();
        assert!(found.text.starts_with("a[2Jb\u{e9}xx"), "{}", found.text);
        assert_eq!(found.text.chars().count(), 128);
        assert!(!first(b"220 \xff\xfe\r\n", 1).unwrap().unwrap().0.text.contains('\r'));
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_in_any_cut_are_the_same_reply(
            begin in 0usize..5,
            bytes in proptest::collection::vec(proptest::prop_oneof![
                proptest::num::u8::ANY,
                proptest::sample::select(b"012 -\r\n".to_vec()),
            ], 0..200),
            cut in 1usize..40,
        ) {
            let start: &[&[u8]] = &[b"", b"220-a\r\n", b"220 a\r\n", b"220", b"553-\r\n150 x\r\n"];
            let input = [start[begin], &bytes].concat();
            proptest::prop_assert_eq!(first(&input, cut), first(&input, usize::MAX));
        }
    }
}
