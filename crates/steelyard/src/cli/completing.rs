//! What may stand where the cursor is: the words that Tab offers, and what `?` lists.
//!
//! Owns how that looks. What may stand there the program says, which knows names; when it is not reached, nothing is offered.

use std::fmt::Write as _;

use serde::Deserialize;
use serde_json::json;
use steelyard_core::command::{self, Completion, is_inside_text};

use super::error;
use super::layout::harmless;
use crate::door::Door;

/// A word that may stand there.
pub struct Candidate {
    /// As it is listed.
    pub shown: String,
    /// What takes the place of what is typed.
    pub text: String,
}

/// Where the word begins that is typed at the byte `at` of a line, and what may stand in its place. A word that is the only
/// one is followed by a blank.
pub fn candidates(door: &Door, line: &str, at: usize) -> (usize, Vec<Candidate>) {
    let Some(told) =
        told(door, line, at).filter(|told| line.is_char_boundary(told.start) && told.start <= at)
    else {
        return (at, Vec::new());
    };
    let end = if line.get(at..).is_some_and(|rest| rest.starts_with([' ', '\t'])) { "" } else { " " };
    let words = told.candidates.iter().map(|candidate| harmless(&candidate.word));
    let mut found: Vec<Candidate> = match (&told.candidates[..], told.more) {
        ([_], 0) => words.map(|word| Candidate { text: format!("{word}{end}"), shown: word }).collect(),
        (_, 0) => words.map(|word| Candidate { text: word.clone(), shown: word }).collect(),
        // Those that are not listed begin so, too.
        _ => words.map(|word| Candidate { text: harmless(&told.common), shown: word }).collect(),
    };
    if told.more > 0 {
        found.push(Candidate { text: harmless(&told.common), shown: others(told.more) });
    }
    (told.start, found)
}

/// Does `?` behind this text ask what may stand there, or is it a character of a value?
pub fn asks(line: &str) -> bool {
    !is_inside_text(line)
}

/// What may stand at the byte `at` of a line: a line each with what it is; what must be there with a star.
pub fn listing(door: &Door, line: &str, at: usize) -> String {
    match told(door, line, at) {
        None => error(UNREACHED, ""),
        Some(told) if told.errorcode != 0 => error(&told.message, &told.advice),
        Some(told) => listed(&told),
    }
}

/// The answer of the program, or of a refusal.
#[derive(Deserialize, Default)]
#[serde(default)]
pub struct Told {
    errorcode: u64,
    message: String,
    advice: String,
    /// The byte where the word begins that a candidate takes the place of.
    pub start: usize,
    /// What all candidates begin with.
    pub common: String,
    /// Words that may stand there.
    pub candidates: Vec<Word>,
    /// How many more there are.
    pub more: usize,
    /// What may stand there in anybody's own words.
    pub expected: Vec<Word>,
    whole: bool,
}

/// A word that may stand there, as the prompt takes it.
#[derive(Deserialize, Default, Clone)]
#[serde(default)]
pub struct Word {
    /// As it is typed.
    pub word: String,
    /// One line for people.
    pub help: String,
    required: bool,
}

impl From<Completion> for Told {
    fn from(found: Completion) -> Told {
        let words = |of: Vec<command::Candidate>| of.into_iter().map(Word::from).collect();
        Told {
            start: found.start,
            common: found.common,
            candidates: words(found.candidates),
            more: found.more,
            expected: words(found.expected),
            whole: found.is_whole,
            ..Told::default()
        }
    }
}

impl From<command::Candidate> for Word {
    fn from(of: command::Candidate) -> Word {
        Word { word: of.word.into_owned(), help: of.help.into_owned(), required: of.required }
    }
}

/// What may stand at the byte `at` of a line; `None` where nothing answers, or somebody is not let in.
pub fn told(door: &Door, line: &str, at: usize) -> Option<Told> {
    let body = door.post("/steelyard/v1/complete", json!({ "line": line, "at": at }).to_string()).ok()?;
    serde_json::from_str(&body).ok()
}

fn listed(told: &Told) -> String {
    let same = |help: &str| told.candidates.iter().filter(|word| word.help == help).count();
    // Many words about which the same is said stand together below the others.
    let (many, single): (Vec<&Word>, Vec<&Word>) =
        told.candidates.iter().partition(|word| word.help.is_empty() || same(&word.help) >= MANY);
    let rows: Vec<&Word> = told.expected.iter().chain(single).collect();
    let width = rows.iter().map(|row| row.word.chars().count()).max().unwrap_or(0);
    let mut out = String::new();
    let plain = many.iter().filter(|word| word.help.is_empty());
    fill(plain.map(|word| harmless(&word.word)), "  ", &mut out);
    for row in rows {
        let star = if row.required { '*' } else { ' ' };
        let line = format!("{star} {:<width$}  {}", harmless(&row.word), harmless(&row.help));
        // Formatting into a String cannot fail.
        let _ = writeln!(out, "{}", line.trim_end());
    }
    let mut helps: Vec<&str> = Vec::new();
    for word in many.iter().filter(|word| !word.help.is_empty()) {
        if !helps.contains(&word.help.as_str()) {
            helps.push(&word.help);
        }
    }
    for help in helps {
        let _ = writeln!(out, "  {}:", harmless(help.trim_end_matches('.')));
        let words = many.iter().filter(|word| word.help == help).map(|word| harmless(&word.word));
        fill(words, "    ", &mut out);
    }
    if told.more > 0 {
        let _ = writeln!(out, "  {}", others(told.more));
    }
    if told.whole {
        out.push_str("  <cr>\n");
    }
    if out.is_empty() {
        out.push_str("  Nothing is known that may stand here.\n");
    }
    out
}

/// Words in lines of a terminal's width.
fn fill(words: impl Iterator<Item = String>, margin: &str, out: &mut String) {
    let mut line = margin.to_owned();
    for word in words {
        if line.len() > margin.len() && line.chars().count() + word.chars().count() >= WIDTH {
            out.push_str(line.trim_end());
            out.push('\n');
            line = margin.to_owned();
        }
        line.push_str(&word);
        line.push(' ');
    }
    if line.len() > margin.len() {
        out.push_str(line.trim_end());
        out.push('\n');
    }
}

fn others(more: usize) -> String {
    format!("... and {more} more")
}

const UNREACHED: &str = "The running program does not answer, which knows what may stand here";
/// So many words that are explained alike are explained once.
const MANY: usize = 3;
const WIDTH: usize = 78;

#[cfg(test)]
mod tests {
    use super::*;

    fn word(word: &str, help: &str, required: bool) -> Word {
        Word { word: word.to_owned(), help: help.to_owned(), required }
    }

    #[test]
    fn what_may_stand_there_is_told_line_by_line() {
        let told = Told {
            expected: vec![word("<name>", "Name of it.", true)],
            candidates: vec![
                word("-all", "Everything.", false),
                word("a\u{1b}[2J", "service", false),
                word("b", "service", false),
                word("c", "service", false),
                word("YES", "", true),
                word("NO", "", true),
            ],
            more: 7,
            whole: true,
            ..Told::default()
        };
        let expected = "  YES NO\n* <name>  Name of it.\n  -all    Everything.\n  service:\n    a?[2J b c\n  ... and 7 more\n  <cr>\n";
        assert_eq!(listed(&told), expected);
        assert_eq!(listed(&Told::default()), "  Nothing is known that may stand here.\n");
        let many = Told {
            candidates: (0..100).map(|n| word(&format!("word{n}"), "", false)).collect(),
            ..Told::default()
        };
        let lines = listed(&many);
        assert!(lines.lines().count() > 5 && lines.lines().all(|line| line.len() <= 78), "{lines}");
    }
}
