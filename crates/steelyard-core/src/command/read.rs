//! A whole `ns.conf`: line after line, each applied or refused with its place; one bad line never costs another.

use std::fmt;

use super::refusal::{Hint, Refusal};
use super::{Command, Done, Forget, Warning, apply, lex, parse};
use crate::config::Config;
use crate::config::attribute::Effect;
use crate::config::kept::Class;

/// What a file came to.
#[derive(Debug, Default)]
pub struct Reading {
    /// The configuration that the accepted lines make.
    pub config: Config,
    /// The lines that were refused, in order.
    pub refused: Vec<Refused>,
    /// Every command of the file, in order.
    pub lines: Vec<Line>,
}

/// One command of a file.
#[derive(Debug)]
pub struct Line {
    /// Its first line, from 1.
    pub number: usize,
    /// As it stands.
    pub text: String,
    /// What came of it.
    pub outcome: Outcome,
}

/// What came of a command.
#[derive(Debug)]
pub enum Outcome {
    /// It was applied: one command, or those that its ranges stand for.
    Applied {
        /// What it says.
        commands: Vec<Command>,
        /// Command line's name of each argument, and the column where it stands.
        columns: Vec<(&'static str, usize)>,
        /// What the operator should know.
        warnings: Vec<Warning>,
    },
    /// It was kept as it stands.
    Kept {
        /// Why.
        class: Class,
        /// What not acting on it does: nothing, another traffic, or more than was meant gets in.
        effect: Effect,
    },
    /// It was refused.
    Refused {
        /// Where, from 1.
        column: usize,
        /// Why.
        refusal: Refusal,
    },
}

/// A refused line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refused {
    /// Where.
    pub place: Place,
    /// Why.
    pub refusal: Refusal,
}

/// A place in a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// Name of the file, as the operator gave it.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

/// Reads a file into a configuration that begins as NetScaler's does.
pub fn read(text: &[u8], file: &str) -> Reading {
    let mut reading = Reading::default();
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    if text.starts_with(b"\xff\xfe") || text.starts_with(b"\xfe\xff") {
        reading.refuse(file, 1, (Refusal::Utf16, 1));
        return reading;
    }
    for (index, bytes) in text.split(|byte| *byte == b'\n').enumerate() {
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        let outcome = match decode(bytes).and_then(|line| apply_line(&mut reading.config, line)) {
            Ok(None) => continue,
            Ok(Some(applied)) => applied,
            Err((refusal, column)) => {
                reading.refuse(file, index + 1, (refusal.clone(), column));
                Outcome::Refused { column, refusal }
            }
        };
        let text = String::from_utf8_lossy(bytes).into_owned();
        reading.lines.push(Line { number: index + 1, text, outcome });
    }
    reading.tell_what_comes_later();
    reading
}

/// Applies one line; `None` when it is empty or a comment.
///
/// # Errors
/// [`Refusal`] and the column that it is about. The configuration is unchanged then.
pub fn run_line(config: &mut Config, line: &str) -> Result<Option<Done>, (Refusal, usize)> {
    Ok(match apply_line(config, line)? {
        Some(Outcome::Applied { warnings, .. }) => Some(Done { warnings }),
        _ => None,
    })
}

fn apply_line(config: &mut Config, line: &str) -> Result<Option<Outcome>, (Refusal, usize)> {
    if line.len() > LONGEST_LINE {
        return Err((Refusal::LineTooLong { max: LONGEST_LINE }, 1));
    }
    let words = lex::words(line)?;
    if words.is_empty() {
        return Ok(None);
    }
    let mut parsed = parse(&words)?;
    parsed.command.seal(&Forget).map_err(|refusal| (refusal, 1))?;
    match apply(config, &parsed.command) {
        Ok(Done { warnings }) => {
            let (command, columns) = parsed.into_parts();
            Ok(Some(Outcome::Applied { commands: vec![command], columns, warnings }))
        }
        Err(refusal) => {
            let column = parsed.column_of(&refusal);
            Err((refusal, column))
        }
    }
}

/// The text of a line. A comment may hold any bytes.
fn decode(line: &[u8]) -> Result<&str, (Refusal, usize)> {
    if line.trim_ascii_start().starts_with(b"#") {
        return Ok("");
    }
    if line.len() > LONGEST_LINE {
        return Err((Refusal::LineTooLong { max: LONGEST_LINE }, 1));
    }
    std::str::from_utf8(line).map_err(|error| {
        let (good, bad) = line.split_at(error.valid_up_to());
        let column = String::from_utf8_lossy(good).chars().count() + 1;
        (Refusal::NotText { byte: bad.first().copied().unwrap_or_default() }, column)
    })
}

impl Reading {
    fn refuse(&mut self, file: &str, line: usize, (refusal, column): (Refusal, usize)) {
        self.refused.push(Refused { place: Place { file: file.to_owned(), line, column }, refusal });
    }

    /// A line that names what only a later one adds is refused, as on the appliance, but not left unexplained.
    fn tell_what_comes_later(&mut self) {
        let Config { servers, services, service_groups, lb_monitors, .. } = &self.config;
        for refused in &mut self.refused {
            let Refusal::NoSuch { argument, name, hint } = &mut refused.refusal else { continue };
            let added = match *argument {
                "serverName" => servers.has(name),
                "serviceName" => services.has(name) || service_groups.has(name),
                "serviceGroupName" => service_groups.has(name),
                "monitorName" => lb_monitors.has(name),
                _ => false,
            };
            if added {
                *hint = Hint::AddedLater;
            }
        }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.refusal)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// Longest line, in bytes. NetScaler's longest arguments are a small part of it.
const LONGEST_LINE: usize = 64 * 1024;
