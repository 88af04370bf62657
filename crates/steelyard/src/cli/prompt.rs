//! The prompt on a terminal: asks for a line, has the session carry it out, and asks again.
//!
//! Owns when it ends: by `quit` and `exit`, by Ctrl-D, when nobody types for too long, when the terminal is gone, and with
//! the session of whoever has logged in. A program that is not reached ends nothing: it may be back for the next line.

use std::io::{Stdout, Write};
use std::process::ExitCode;

use super::editor::{Given, Lines};
use super::error;
use super::line::Said;
use super::pager::Pager;
use super::remembered::Remembered;
use super::session::Session;
use crate::door::Door;
use crate::fault::Fault;
use crate::keys;

/// Carries out what is typed until it ends.
///
/// # Errors
/// The terminal cannot be used, or the session has ended.
pub fn run(door: &Door) -> Result<ExitCode, Fault> {
    let unusable = |error| Fault::System { what: "use the terminal", error };
    let terminal = Pager::new().map_err(unusable)?;
    Door::wait_as_long_as_wanted();
    keys::given_back_at_the_end().map_err(unusable)?;
    let mut session = Session::on_terminal(door, terminal);
    let mut lines = Lines::new(door)?;
    let mut out = std::io::stdout();
    // Whoever comes over the network is not whose files these are.
    let mut remembered = Remembered::nowhere();
    if door.session().is_none() {
        let (file, before, why) = Remembered::of_owner();
        remembered = file;
        before.iter().for_each(|line| lines.remember(line));
        why.iter().for_each(|why| drop(writeln!(out, "Warning: {why}")));
    }
    while !session.has_left() {
        let prompt = session.prompt();
        match lines.next(&prompt, session.mode().timeout_s) {
            Given::Line(line) => {
                let number = session.history().next();
                let result = carry_out(&line, &mut session, &mut lines, &mut out);
                if let Some(given) = session.history().last().filter(|_| session.history().next() > number) {
                    lines.remember(&given.text);
                    if given.masked.is_none() {
                        remembered.add(&given.text);
                    }
                }
                result?;
            }
            Given::Dropped => {}
            Given::NotText => tell("Invalid characters [the line is not UTF-8]", &mut out),
            Given::Idle => {
                let timeout_s = session.mode().timeout_s;
                tell(&format!("Session expired [nothing was typed for {timeout_s} s]"), &mut out);
                break;
            }
            Given::End => break,
        }
        // Of a terminal that is gone the next line tells.
        drop(out.flush());
    }
    Ok(ExitCode::SUCCESS)
}

fn carry_out(line: &str, session: &mut Session, lines: &mut Lines, out: &mut Stdout) -> Result<(), Fault> {
    let mut result = session.told(line, out);
    if let Err(Said::Question(question)) = result {
        drop(out.flush());
        result = match lines.next(&format!("{} ", question.text), session.mode().timeout_s) {
            Given::Line(answer) if answer.trim().to_ascii_lowercase().starts_with('y') => {
                session.confirmed(&question, out)
            }
            _ => Ok(()),
        };
    }
    match result {
        Err(Said::Fault(ended @ Fault::NotLoggedIn { .. })) => return Err(ended),
        Err(Said::Fault(fault)) => tell(&fault.to_string(), out),
        _ => {}
    }
    Ok(())
}

fn tell(wrong: &str, out: &mut Stdout) {
    drop(out.write_all(error(wrong, "").as_bytes()));
}
