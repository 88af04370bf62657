//! What the end of a script means, as an answer.
//!
//! Owns the rule: only exit status 0 is a success, and if the first line of the output is a number, as NetScaler's own
//! scripts print it, only 0 there (`spec/methods.md` 4.8). Every other end is a failure that keeps its reason.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

/// A dispatcher's answer.
#[derive(Debug, PartialEq, Eq)]
pub struct Answer {
    /// Status of HTTP.
    pub status: u16,
    /// More-Info or Failure-Reason.
    pub text: String,
}

impl Answer {
    /// The request is not understood.
    pub fn unreadable(why: String) -> Answer {
        Answer { status: 400, text: why }
    }

    /// There is no such script, or it cannot be run.
    pub fn no_script(why: String) -> Answer {
        Answer { status: 404, text: why }
    }

    /// This host could not run it.
    pub fn no_room(why: String) -> Answer {
        Answer { status: 500, text: why }
    }

    /// The script failed.
    pub fn failed(why: String) -> Answer {
        Answer { status: 503, text: why }
    }

    /// A script ended, having printed `out` and, on standard error, `err`.
    pub fn of(end: ExitStatus, out: &[u8], err: &[u8]) -> Answer {
        let printed = Printed::read(out);
        let said = |text: String| if text.is_empty() { one_line(err) } else { text };
        let how = match (end.code(), end.signal()) {
            (Some(0), _) => match printed {
                Printed::Text(text) => return Answer { status: 200, text },
                Printed::Status { zero: true, text, .. } => return Answer { status: 200, text },
                Printed::Unfinished => {
                    return Answer { status: 502, text: "no newline after status".to_owned() };
                }
                Printed::Status { number, ref text, .. } => {
                    return Answer::failed(joined(format!("status {number}"), said(text.clone())));
                }
            },
            (Some(code), _) => format!("exit status {code}"),
            (None, Some(signal)) => format!("killed by signal {signal}"),
            (None, None) => "no exit status".to_owned(),
        };
        Answer::failed(joined(how, said(printed.text())))
    }
}

fn joined(how: String, said: String) -> String {
    let text = if said.is_empty() { how } else { format!("{how}: {said}") };
    text.chars().take(MOST_SAID).collect()
}

/// What a script printed.
enum Printed {
    /// A first line that is a number, and what follows.
    Status { number: String, zero: bool, text: String },
    /// Digits and no end of their line.
    Unfinished,
    /// Anything else.
    Text(String),
}

impl Printed {
    fn read(out: &[u8]) -> Printed {
        let end = memchr::memchr(b'\n', out);
        let first = out.get(..end.unwrap_or(out.len())).unwrap_or_default().trim_ascii();
        let digits = first.strip_prefix(b"-").unwrap_or(first);
        if digits.is_empty() || digits.len() > MOST_DIGITS || !digits.iter().all(u8::is_ascii_digit) {
            return Printed::Text(one_line(out));
        }
        let Some(end) = end else { return Printed::Unfinished };
        Printed::Status {
            number: String::from_utf8_lossy(first).into_owned(),
            zero: digits.iter().all(|&digit| digit == b'0'),
            text: one_line(out.get(end + 1..).unwrap_or_default()),
        }
    }

    fn text(self) -> String {
        match self {
            Printed::Status { text, .. } | Printed::Text(text) => text,
            Printed::Unfinished => String::new(),
        }
    }
}

/// As one line that a header field can have.
pub fn one_line(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let plain: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let words: Vec<&str> = plain.split_whitespace().collect();
    words.join(" ").chars().take(MOST_SAID).collect()
}

const MOST_SAID: usize = 256;
const MOST_DIGITS: usize = 10;

#[cfg(test)]
mod tests {
    use super::*;

    fn exited(code: i32) -> ExitStatus {
        ExitStatus::from_raw(code << 8)
    }

    fn answer(end: ExitStatus, out: &str, err: &str) -> (u16, String) {
        let Answer { status, text } = Answer::of(end, out.as_bytes(), err.as_bytes());
        (status, text)
    }

    #[test]
    fn m13_only_exit_status_0_is_a_success_and_reasons_are_kept() {
        for (end, out, err, expected) in [
            (exited(0), "", "", (200, "")),
            (exited(0), "", "a warning", (200, "")),
            (exited(0), "all\r\nwell\n", "", (200, "all well")),
            (exited(1), "", "", (503, "exit status 1")),
            (exited(255), "no route\n", "ignored", (503, "exit status 255: no route")),
            (exited(2), "", "x.pl: line 3: \u{7}boom\n", (503, "exit status 2: x.pl: line 3: boom")),
            (ExitStatus::from_raw(9), "", "", (503, "killed by signal 9")),
        ] {
            assert_eq!(answer(end, out, err), (expected.0, expected.1.to_owned()), "{out:?} {err:?}");
        }
    }

    #[test]
    fn a_number_on_the_first_line_is_a_status_and_text_may_follow() {
        for (end, out, expected) in [
            (exited(0), "0\n", (200, "")),
            (exited(0), "0\nlogged in\n", (200, "logged in")),
            (exited(0), " 00 \r\nfine", (200, "fine")),
            (exited(0), "1\nwrong password", (503, "status 1: wrong password")),
            (exited(0), "-1\n", (503, "status -1")),
            (exited(0), "200\n", (503, "status 200")),
            (exited(0), "0", (502, "no newline after status")),
            (exited(0), "17", (502, "no newline after status")),
            (exited(0), "0 fine", (200, "0 fine")),
            (exited(0), "-\n", (200, "-")),
            (exited(0), "12345678901\n", (200, "12345678901")),
            (exited(3), "0\nbut it failed", (503, "exit status 3: but it failed")),
            (exited(3), "0", (503, "exit status 3")),
        ] {
            assert_eq!(answer(end, out, ""), (expected.0, expected.1.to_owned()), "{out:?}");
        }
    }

    #[test]
    fn text_is_capped_and_always_a_header_field() {
        let long = format!("1\n{}", "é\u{0}\u{85}".repeat(2_000));
        let (status, text) = answer(exited(0), &long, "");
        assert_eq!((status, text.chars().count()), (503, 256));
        for bytes in [&long.as_bytes()[1..], b"\xff\xfe\r\n\x7f", b""] {
            assert!(hyper::header::HeaderValue::from_bytes(one_line(bytes).as_bytes()).is_ok());
        }
    }
}
