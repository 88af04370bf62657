//! `--json`: what `show` and `stat` are made of, for programs. Steelyard's own: the appliance has no such word.
//!
//! Owns the form: the rows of NITRO's answers by the resource that they are of, and nothing else; an error as NITRO says it. On
//! a terminal, and before a filter, it has a line for each value, and else it is one line.

use serde_json::{Map, Value, json};
use steelyard_core::command::JSON;
use steelyard_core::command::lex::{Word, words};

use super::line::{Answer, Said};

/// How it is printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Print {
    /// As one line.
    Line,
    /// For people, and for filters of lines.
    Lines,
}

/// The line without the word `--json`, if it has it among those of its command.
pub fn asked(line: &str) -> Option<String> {
    let words = words(line).ok()?;
    // In quotes it is a value.
    let is_bare = |word: &&Word| word.text == WORD && word.end - word.column == WORD.len();
    let asked: Vec<&Word> = words.iter().filter(is_bare).collect();
    if asked.is_empty() {
        return None;
    }
    let is_left =
        |(at, _): &(usize, char)| asked.iter().all(|word| *at + 1 < word.column || *at + 1 >= word.end);
    Some(line.chars().enumerate().filter(is_left).map(|(_, c)| c).collect())
}

/// What the rows of several resources look like.
pub fn answer(rows: Map<String, Value>, print: Print) -> Answer {
    Answer { text: text(&Value::Object(rows), print), is_json: true, ..Answer::default() }
}

/// An error, which is an answer then.
///
/// # Errors
/// The program was not reached.
pub fn refused(said: Said, print: Print) -> Result<Answer, Said> {
    match said {
        Said::Error { code, message, advice } => {
            let mut error = json!({ "errorcode": code, "message": message, "severity": "ERROR" });
            if !advice.is_empty() {
                error["advice"] = json!(advice);
            }
            Ok(Answer { text: text(&error, print), is_json: true, failed: true, ..Answer::default() })
        }
        other => Err(other),
    }
}

fn text(value: &Value, print: Print) -> String {
    match print {
        Print::Lines => format!("{value:#}\n"),
        Print::Line => format!("{value}\n"),
    }
}

/// What asks for it.
pub const WORD: &str = JSON.0;

#[cfg(test)]
mod tests {
    use super::asked;

    #[test]
    fn the_word_is_taken_out_wherever_it_stands() {
        for (line, left) in [
            ("show lb vserver v --json", Some("show lb vserver v ")),
            ("--json show server", Some(" show server")),
            ("stat --json service s", Some("stat  service s")),
            ("show server \"ä --json\" --json", Some("show server \"ä --json\" ")),
            ("show server --jsons", None),
            ("show server json", None),
            ("add server s 192.0.2.1 -comment \"--json\"", None),
        ] {
            assert_eq!(asked(line).as_deref(), left, "{line}");
        }
    }
}
