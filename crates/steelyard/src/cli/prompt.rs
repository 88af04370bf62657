//! The prompt on a terminal: asks for a line, has the session carry it out, and asks again.
//!
//! Owns when it ends: by `quit` and `exit`, by Ctrl-D, when the terminal is gone, and with the session of whoever has logged in. A program that is not reached ends
//! nothing: it may be back for the next line.

use std::io::Write;
use std::process::ExitCode;

use super::batch::Session;
use super::editor::{Given, Lines};
use super::error;
use super::line::Said;
use crate::door::Door;
use crate::fault::Fault;

/// Carries out what is typed until it ends.
///
/// # Errors
/// The terminal cannot be used, or the session has ended.
pub fn run(door: &Door) -> Result<ExitCode, Fault> {
    let mut session = Session::new(door);
    let mut lines = Lines::new(door)?;
    let mut out = std::io::stdout();
    while !session.has_left() {
        let wrong = match lines.next(PROMPT) {
            Given::Line(line) => {
                lines.remember(&line);
                match session.told(&line, &mut out) {
                    Err(Said::Fault(ended @ Fault::NotLoggedIn { .. })) => return Err(ended),
                    Err(Said::Fault(fault)) => Some(fault.to_string()),
                    _ => None,
                }
            }
            Given::Dropped => None,
            Given::NotText => Some("Invalid characters [the line is not UTF-8]".to_owned()),
            Given::End => break,
        };
        if let Some(wrong) = wrong {
            drop(out.write_all(error(&wrong, "").as_bytes()));
        }
        // Of a terminal that is gone the next line tells.
        drop(out.flush());
    }
    Ok(ExitCode::SUCCESS)
}

const PROMPT: &str = "> ";
