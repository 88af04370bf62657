//! Lines that were given before: their numbers, and `!` for giving one again.

use std::collections::VecDeque;

use steelyard_core::command::without_secrets;

use super::alias::bare;
use super::line::Said;

/// The last lines, each with its number.
pub struct History {
    lines: VecDeque<Line>,
    /// Number of the next one, from 1.
    next: usize,
}

/// A line that was given.
pub struct Line {
    /// As it was.
    pub text: String,
    /// With its secrets masked, if it has any.
    pub masked: Option<String>,
}

impl Line {
    /// A line, and the command that it stands for where that is another.
    pub fn of(text: &str, meant: Option<&str>) -> Line {
        let text = text.trim().to_owned();
        let masked = without_secrets(&text).or_else(|| {
            let is_secret = |command: &str| without_secrets(command).is_some();
            let mut words = text.splitn(3, char::is_whitespace);
            let (first, second) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
            let inner = words.next().map(bare).filter(|inner| is_secret(inner));
            if meant.is_some_and(is_secret) {
                Some(format!("{first} {MASK}"))
            } else {
                // What a word is to stand for.
                inner.map(|_| format!("{first} {second} ({MASK})"))
            }
        });
        Line { text, masked }
    }

    /// For the eye.
    pub fn shown(&self) -> String {
        super::layout::harmless(self.masked.as_ref().unwrap_or(&self.text))
    }
}

impl Default for History {
    fn default() -> History {
        History { lines: VecDeque::new(), next: 1 }
    }
}

impl History {
    /// Number of the next line.
    pub fn next(&self) -> usize {
        self.next
    }

    /// The last one.
    pub fn last(&self) -> Option<&Line> {
        self.lines.back()
    }

    /// Takes note of a line that says something.
    pub fn add(&mut self, line: Line) {
        if line.text.is_empty() || line.text.len() >= super::LONGEST {
            return;
        }
        if self.lines.len() == KEPT {
            self.lines.pop_front();
        }
        self.lines.push_back(line);
        self.next += 1;
    }

    /// The line that `!!`, `!N` or `!BEGINNING` stands for; `None` where a line is itself.
    ///
    /// # Errors
    /// There is none.
    pub fn meant_by(&self, line: &str) -> Result<Option<&Line>, Said> {
        let Some(which) = line.trim().strip_prefix('!').filter(|which| !which.is_empty()) else {
            return Ok(None);
        };
        let found = if which == "!" {
            self.lines.back()
        } else if let Ok(number) = which.parse::<usize>() {
            let first = self.next - self.lines.len();
            number.checked_sub(first).and_then(|at| self.lines.get(at))
        } else {
            self.lines.iter().rev().find(|known| known.text.starts_with(which))
        };
        match found {
            Some(line) => Ok(Some(line)),
            None => Err(Said::error(format!("No such command [!{which}]"))),
        }
    }

    /// ` N command`, one a line; secrets are masked.
    pub fn text(&self) -> String {
        let first = self.next - self.lines.len();
        let lines = self.lines.iter().enumerate();
        lines.map(|(at, line)| format!(" {} {}\n", first + at, line.shown())).collect()
    }
}

/// Lines.
const KEPT: usize = 1_000;
const MASK: &str = "********";

#[cfg(test)]
mod tests {
    use super::*;

    fn meant(history: &History, line: &str) -> Option<String> {
        match history.meant_by(line) {
            Ok(line) => line.map(|line| line.text.clone()),
            Err(_) => Some("ERROR".to_owned()),
        }
    }

    #[test]
    fn lines_are_given_again_by_number_and_beginning() {
        let mut history = History::default();
        for line in ["show server", " add server s 10.0.0.1 ", "", "whoami"] {
            history.add(Line::of(line, None));
        }
        assert_eq!(history.text(), " 1 show server\n 2 add server s 10.0.0.1\n 3 whoami\n");
        for (line, expected) in [
            ("!!", Some("whoami")),
            ("!1", Some("show server")),
            (" !3 ", Some("whoami")),
            ("!add", Some("add server s 10.0.0.1")),
            ("!s", Some("show server")),
            ("!0", Some("ERROR")),
            ("!4", Some("ERROR")),
            ("!rm", Some("ERROR")),
            ("!", None),
            ("show !!", None),
        ] {
            assert_eq!(meant(&history, line).as_deref(), expected, "{line}");
        }
    }

    #[test]
    fn numbers_go_on_when_old_lines_are_dropped() {
        let mut history = History::default();
        (1..=KEPT + 2).for_each(|n| history.add(Line::of(&format!("show server s{n}"), None)));
        assert_eq!(history.next(), KEPT + 3);
        assert_eq!(meant(&history, "!2").as_deref(), Some("ERROR"));
        assert_eq!(meant(&history, "!3").as_deref(), Some("show server s3"));
        assert_eq!(meant(&history, &format!("!{}", KEPT + 2)), Some(format!("show server s{}", KEPT + 2)));
    }

    #[test]
    fn a_secret_is_not_listed() {
        let mut history = History::default();
        history.add(Line::of("add system user u verySecret1", None));
        history.add(Line::of("set system user u -passwrd verySecret1", None));
        history.add(Line::of("p verySecret1", Some("set system user u -password verySecret1")));
        history.add(Line::of("alias p (set system user u -password verySecret1)", None));
        history.add(Line::of("alias s (show server)", None));
        let text = history.text();
        assert!(!text.contains("verySecret1"), "{text}");
        assert!(text.contains(" 3 p ********\n") && text.ends_with(" 5 alias s (show server)\n"), "{text}");
        assert_eq!(meant(&history, "!1").as_deref(), Some("add system user u verySecret1"));
    }
}
