//! Lines that were given before: their numbers, and `!` for giving one again.

use std::collections::VecDeque;

use steelyard_core::command::without_secrets;

use super::line::Said;

/// The last lines, each with its number.
pub struct History {
    lines: VecDeque<String>,
    /// Number of the next one, from 1.
    next: usize,
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
    pub fn last(&self) -> Option<&str> {
        self.lines.back().map(String::as_str)
    }

    /// Takes note of a line that says something.
    pub fn add(&mut self, line: &str) {
        let line = line.trim();
        if line.is_empty() || line.len() >= super::LONGEST {
            return;
        }
        if self.lines.len() == KEPT {
            self.lines.pop_front();
        }
        self.lines.push_back(line.to_owned());
        self.next += 1;
    }

    /// The line that `!!`, `!N` or `!BEGINNING` stands for; `None` where a line is itself.
    ///
    /// # Errors
    /// There is none.
    pub fn meant_by(&self, line: &str) -> Result<Option<String>, Said> {
        let Some(which) = line.trim().strip_prefix('!').filter(|which| !which.is_empty()) else {
            return Ok(None);
        };
        let found = if which == "!" {
            self.lines.back()
        } else if let Ok(number) = which.parse::<usize>() {
            let first = self.next - self.lines.len();
            number.checked_sub(first).and_then(|at| self.lines.get(at))
        } else {
            self.lines.iter().rev().find(|known| known.starts_with(which))
        };
        match found {
            Some(line) => Ok(Some(line.clone())),
            None => Err(Said::error(format!("No such command [!{which}]"))),
        }
    }

    /// ` N command`, one a line; secrets are masked.
    pub fn text(&self) -> String {
        let first = self.next - self.lines.len();
        let shown =
            |line: &String| super::layout::harmless(&without_secrets(line).unwrap_or_else(|| line.clone()));
        self.lines.iter().enumerate().map(|(at, line)| format!(" {} {}\n", first + at, shown(line))).collect()
    }
}

/// Lines.
const KEPT: usize = 1_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn meant(history: &History, line: &str) -> Option<String> {
        history.meant_by(line).unwrap_or_else(|_| Some("ERROR".to_owned()))
    }

    #[test]
    fn lines_are_given_again_by_number_and_beginning() {
        let mut history = History::default();
        for line in ["show server", " add server s 10.0.0.1 ", "", "whoami"] {
            history.add(line);
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
        (1..=KEPT + 2).for_each(|n| history.add(&format!("show server s{n}")));
        assert_eq!(history.next(), KEPT + 3);
        assert_eq!(meant(&history, "!2").as_deref(), Some("ERROR"));
        assert_eq!(meant(&history, "!3").as_deref(), Some("show server s3"));
        assert_eq!(meant(&history, &format!("!{}", KEPT + 2)), Some(format!("show server s{}", KEPT + 2)));
    }

    #[test]
    fn a_secret_is_not_listed() {
        let mut history = History::default();
        history.add("add system user u verySecret1");
        history.add("set system user u -passwrd verySecret1");
        assert!(!history.text().contains("verySecret1"), "{}", history.text());
        assert_eq!(meant(&history, "!1").as_deref(), Some("add system user u verySecret1"));
    }
}
