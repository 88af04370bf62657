//! A whole `ns.conf`: line after line, each applied or refused with its place; one bad line never costs another.

use std::fmt;

use super::refusal::{Hint, Refusal};
use super::{Done, apply, lex, parse};
use crate::config::Config;

/// What a file came to.
#[derive(Debug, Default)]
pub struct Reading {
    /// The configuration that the accepted lines make.
    pub config: Config,
    /// The lines that were refused, in order.
    pub refused: Vec<Refused>,
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
        let outcome = decode(bytes).and_then(|line| run_line(&mut reading.config, line));
        if let Err(refusal) = outcome {
            reading.refuse(file, index + 1, refusal);
        }
    }
    reading.tell_what_comes_later();
    reading
}

/// Applies one line; `None` when it is empty or a comment.
///
/// # Errors
/// [`Refusal`] and the column that it is about. The configuration is unchanged then.
pub fn run_line(config: &mut Config, line: &str) -> Result<Option<Done>, (Refusal, usize)> {
    if line.len() > LONGEST_LINE {
        return Err((Refusal::LineTooLong { max: LONGEST_LINE }, 1));
    }
    let words = lex::words(line)?;
    if words.is_empty() {
        return Ok(None);
    }
    let parsed = parse(&words)?;
    match apply(config, &parsed.command) {
        Ok(done) => Ok(Some(done)),
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
