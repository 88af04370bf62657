//! What `-recv` says must be in an answer: text, or a regular expression in the form `re/…/`.
//!
//! Owns the reading of it. Text counts byte for byte, its escapes undone. The hard question is an expression while an answer
//! still comes in: what `$`, `\b` or a look ahead says of the end of half an answer may be wrong of the whole.

use fancy_regex::{BytesMode, Error, Regex, RegexBuilder};

use super::escape::unescape;

/// What must be in an answer.
#[derive(Clone, Debug)]
pub struct Expected {
    typed: Box<str>,
    sought: Sought,
}

/// What is looked for.
#[derive(Clone, Debug)]
pub enum Sought {
    /// Nothing: any answer is right.
    Anything,
    /// These bytes.
    Bytes(Box<[u8]>),
    /// What an expression matches.
    Match {
        /// The expression. It takes any bytes; its classes are those of ASCII.
        expression: Regex,
        /// May it match half an answer and not the whole?
        needs_the_end: bool,
    },
}

impl Expected {
    /// Reads `-recv`. Text that is to begin with `re/` and to end with `/` is written `\x72e/…/`.
    ///
    /// # Errors
    /// Why an expression cannot be read, for people, and at which character that shows.
    pub fn new(typed: &str) -> Result<Expected, String> {
        let expression = typed.strip_prefix("re/").and_then(|rest| rest.strip_suffix('/'));
        let sought = match expression {
            Some(text) => {
                Sought::Match { expression: read(text)?, needs_the_end: looks_at_what_follows(text) }
            }
            None if typed.is_empty() => Sought::Anything,
            None => return Ok(Expected::text(typed)),
        };
        Ok(Expected { typed: typed.into(), sought })
    }

    /// What was typed as text, whatever its form.
    pub fn text(typed: &str) -> Expected {
        Expected { typed: typed.into(), sought: Sought::Bytes(unescape(typed).into()) }
    }

    /// What is looked for.
    pub fn sought(&self) -> &Sought {
        &self.sought
    }

    /// Is any answer right?
    pub fn is_anything(&self) -> bool {
        matches!(self.sought, Sought::Anything)
    }
}

impl PartialEq for Expected {
    fn eq(&self, other: &Expected) -> bool {
        self.typed == other.typed
    }
}

impl Eq for Expected {}

fn read(text: &str) -> Result<Regex, String> {
    let mut builder = RegexBuilder::new(text);
    builder
        .bytes_mode(BytesMode::Ascii)
        .backtrack_limit(STEPS)
        .delegate_size_limit(ROOM)
        .delegate_dfa_size_limit(ROOM)
        .max_prog_size(PROGRAM);
    builder.build().map_err(|error| match error {
        Error::ParseError(at, why) => {
            let before = text.get(..at).unwrap_or(text).chars().count();
            format!("character {}: {why}", "re/".len() + before + 1)
        }
        other => other.to_string(),
    })
}

/// In doubt it does: then it is judged once the answer has ended.
fn looks_at_what_follows(text: &str) -> bool {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
        match rest {
            [b'\\', escaped, ..] if !is_plain(*escaped) => return true,
            [b'\\', ..] => at += 1,
            [b'$', ..] | [b'*' | b'+' | b'?' | b'}', b'+', ..] => return true,
            [b'(', b'?', group @ ..] if !is_plain_group(group) => return true,
            _ => {}
        }
        at += 1;
    }
    false
}

/// Does this character stand for itself or a class of characters behind a backslash?
fn is_plain(escaped: u8) -> bool {
    b"dDwWsShHrntfvaxAe0123456789".contains(&escaped)
        || (escaped.is_ascii_punctuation() && !b"<>`'".contains(&escaped))
}

/// Does `(?…` only group, name or set flags?
fn is_plain_group(rest: &[u8]) -> bool {
    let flags = rest.iter().take_while(|byte| b"imsx-".contains(byte)).count();
    match rest.get(flags..) {
        Some([b':' | b')', ..]) => true,
        Some([b'P', b'<', ..]) => flags == 0,
        Some([b'<', first, ..]) => flags == 0 && first.is_ascii_alphabetic(),
        _ => false,
    }
}

/// Steps back that one look at an answer may take.
const STEPS: usize = 100_000;
/// Bytes of a compiled part of an expression, and of its cache.
const ROOM: usize = 1 << 20;
/// Instructions of an expression.
const PROGRAM: usize = 1 << 16;

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(typed: &str) -> Option<Vec<u8>> {
        match Expected::new(typed).unwrap().sought {
            Sought::Bytes(bytes) => Some(bytes.to_vec()),
            _ => None,
        }
    }

    fn expression(typed: &str) -> Regex {
        match Expected::new(typed).unwrap().sought {
            Sought::Match { expression, .. } => expression,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn only_the_whole_form_is_an_expression() {
        assert!(Expected::new("").unwrap().is_anything());
        for (typed, text) in [
            ("OK", "OK"),
            ("re/", "re/"),
            ("re/a", "re/a"),
            ("/a/", "/a/"),
            (" re/a/", " re/a/"),
            ("RE/a/", "RE/a/"),
            (r"\x72e/a/", "re/a/"),
            (r"a\r\n", "a\r\n"),
        ] {
            assert_eq!(bytes(typed).as_deref(), Some(text.as_bytes()), "{typed}");
        }
        assert!(expression("re/a+/").is_match(b"xaay".as_slice()).unwrap());
    }

    #[test]
    fn an_expression_takes_any_bytes_and_case_matters() {
        assert!(expression(r"re/\xff.\x00/").is_match(b"a\xff\xfe\0".as_slice()).unwrap());
        assert!(!expression("re/ok/").is_match(b"OK".as_slice()).unwrap());
        assert!(expression("re/(?i)ok/").is_match(b"OK".as_slice()).unwrap());
        assert!(expression(r"re/a\/b/").is_match(b"a/b".as_slice()).unwrap());
        assert!(expression("re/ä/").is_match("x ä".as_bytes()).unwrap());
    }

    #[test]
    fn what_cannot_be_read_says_where() {
        for (typed, at) in [("re/a(b/", "character "), ("re/*/", "character 4"), (r"re/ä[/", "character ")] {
            let why = Expected::new(typed).unwrap_err();
            assert!(why.contains(at), "{typed}: {why}");
        }
        assert!(Expected::new("re/(a{1000}){1000}/").is_err(), "too large");
    }

    #[test]
    fn what_follows_is_looked_at_by_these() {
        let needs = |typed: &str| match Expected::new(typed).unwrap().sought {
            Sought::Match { needs_the_end, .. } => needs_the_end,
            other => panic!("{other:?}"),
        };
        for typed in
            ["re/a$/", r"re/a\b/", r"re/a\z/", "re/a(?=b)/", "re/a(?!b)/", "re/(?>ab?)c/", "re/a++b/"]
        {
            assert!(needs(typed), "{typed}");
        }
        for typed in [r"re/^a\$/", "re/(?i)a(?:b|c)*/", r"re/\d+\.\d/", r"re/(?P<x>a)\1/", "re/a+?b/"] {
            assert!(!needs(typed), "{typed}");
        }
    }
}
