//! Commands one a line: from standard input, `source FILE` and `batch -fileName FILE`.
//!
//! A refused command does not stop the rest. The hard question is input without bounds: a line is held as far as a command may
//! be long.

use std::io::BufRead;

use steelyard_core::command::abbreviation::abbreviates;
use steelyard_core::command::lex::Word;
use steelyard_core::command::{Action, Refusal};

use super::LONGEST;
use super::line::Said;
use crate::fault::reason;

/// Where lines come from.
pub struct Input<R>(R);

impl<R: BufRead> Input<R> {
    /// All that this has.
    pub fn new(from: R) -> Input<R> {
        Input(from)
    }

    /// The next line without its end; `None` behind the last. Of one that is too long so much is held as shows that, in
    /// whole characters.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn next(&mut self) -> std::io::Result<Option<Vec<u8>>> {
        let mut line = Vec::new();
        let mut any = false;
        loop {
            let piece = self.0.fill_buf()?;
            if piece.is_empty() {
                return Ok(any.then(|| held(line)));
            }
            any = true;
            let end = piece.iter().position(|byte| *byte == b'\n');
            let own = &piece[..end.unwrap_or(piece.len())];
            line.extend_from_slice(&own[..own.len().min(LONGEST.saturating_sub(line.len()))]);
            let used = end.map_or(piece.len(), |end| end + 1);
            self.0.consume(used);
            if end.is_some() {
                if line.last() == Some(&b'\r') {
                    line.pop();
                }
                return Ok(Some(held(line)));
            }
        }
    }
}

/// A line without the character that it was cut in.
fn held(mut line: Vec<u8>) -> Vec<u8> {
    match std::str::from_utf8(&line) {
        Err(wrong) if line.len() == LONGEST && wrong.error_len().is_none() => {
            line.truncate(wrong.valid_up_to())
        }
        _ => {}
    }
    line
}

/// What `source` or `batch` was given.
pub struct Order {
    /// The file of commands.
    pub from: String,
    /// The file for what they print.
    pub to: Option<String>,
    /// How often.
    pub times: u32,
}

impl Order {
    /// Of the words of an action.
    ///
    /// # Errors
    /// One is missing, unknown or wrong.
    pub fn of(action: &Action) -> Result<Order, Said> {
        let missing = || Refusal::ArgumentMissing { argument: "fileName" };
        let (mut from, mut to, mut times) = (None, None, 1);
        let mut words = action.arguments.iter();
        while let Some(word) = words.next() {
            if !word.option {
                if from.replace(word.text.clone()).is_some() {
                    return Err(unknown(word));
                }
                continue;
            }
            if action.verb != "batch" {
                return Err(unknown(word));
            }
            let option = BATCH
                .into_iter()
                .find(|option| abbreviates(&word.text, option))
                .ok_or_else(|| unknown(word))?;
            let value = words.next().ok_or(Refusal::OptionValueMissing { argument: &option[1..] })?;
            match option {
                "-fileName" => from = Some(value.text.clone()),
                "-outfile" => to = Some(value.text.clone()),
                _ => {
                    let number = value.text.parse().ok().filter(|number| *number > 0);
                    times = number.ok_or_else(|| Said::error("Invalid argument value [ntimes]"))?;
                }
            }
        }
        Ok(Order { from: from.ok_or_else(missing)?, to, times })
    }
}

fn unknown(word: &Word) -> Said {
    Refusal::UnknownArgument { word: word.text.clone(), nearest: None }.into()
}

/// What is said of a file that cannot be read or written.
pub fn unusable(path: &str, wrong: &std::io::Error) -> Said {
    match wrong.kind() {
        std::io::ErrorKind::NotFound => Said::error(format!("No such file [{path}]")),
        _ => Said::error(format!("I/O error [{path}: {}]", reason(wrong))),
    }
}

const BATCH: [&str; 3] = ["-fileName", "-outfile", "-ntimes"];
