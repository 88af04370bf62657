//! `steelyard cli`: NetScaler's prompt, for the running program: on a terminal, for one command, or for a batch from standard
//! input.
//!
//! A client like any other: it asks by the owner's socket and lays the answer out as the appliance does. What a line means
//! the core says, with the abbreviations that hands know; the program carries it out. How objects look is `layout`'s
//! business, what becomes of a line `line`'s, that of many `batch`'s, and how they are typed `prompt`'s.

mod alias;
mod batch;
mod colour;
pub mod completing;
mod editor;
mod filter;
mod history;
mod idle;
mod json;
pub mod layout;
mod line;
mod mode;
mod pager;
mod progress;
mod prompt;
mod prompt_text;
mod remembered;
mod screen;
mod session;
mod show;
mod stat;
mod told;

use std::io::{IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;

use rustix::process::{ioctl_tiocsctty, setsid};
use steelyard_core::command::{lex, typed_word};

use crate::door::{DATA, Door};
use crate::fault::Fault;
use crate::reach::Reach;
use batch::Input;
use line::{Answer, Question, Said};
use session::Session;

/// What to do.
#[derive(clap::Args)]
pub struct CliArgs {
    /// Where the running program is.
    #[command(flatten)]
    pub reach: Reach,
    /// Make standard input the terminal of a session of its own: for the prompt over SSH.
    #[arg(long, hide = true)]
    own_terminal: bool,
    /// Print what a show or stat is made of as JSON: NITRO's rows by their resource; an error as NITRO says it. At the prompt
    /// and in a batch, --json behind the command does the same. The appliance has no such option.
    #[arg(long, requires = "command")]
    json: bool,
    /// A command, abbreviated as at the prompt; 'help' lists them. Without one there is the prompt on a terminal, and else
    /// standard input has one a line: blank lines and lines that begin with # are passed over, and a refused command does
    /// not stop the rest.
    #[arg(value_name = "COMMAND", trailing_var_arg = true)]
    pub command: Vec<String>,
}

/// Carries out one command, or all of standard input, and prints what the appliance would.
///
/// # Errors
/// Nothing answers at the socket, or the terminal cannot be used.
pub fn run(args: &CliArgs) -> Result<ExitCode, Fault> {
    if args.own_terminal {
        let taken = setsid().and_then(|_| ioctl_tiocsctty(std::io::stdin()));
        taken.map_err(|error| Fault::System { what: "take the terminal", error: error.into() })?;
    }
    let login = args.reach.nitro.as_ref().map(|_| args.reach.login()).transpose()?;
    let door = match (&args.reach.nitro, &args.reach.data) {
        (None, data) => Door::socket(data.as_deref().unwrap_or(Path::new(DATA))),
        _ => args.reach.door(login)?,
    };
    door.enter()?;
    let failed = |failed: bool| if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS };
    if args.command.is_empty() {
        let stdin = std::io::stdin();
        let stdout = std::io::stdout();
        if stdin.is_terminal() && stdout.is_terminal() {
            return prompt::run(&door);
        }
        let mut session = Session::new(&door);
        let outcome = session.batch(&mut Input::new(stdin.lock()), &mut stdout.lock());
        return match outcome {
            Ok(()) => Ok(failed(session.has_failed())),
            Err(Said::Fault(fault)) => Err(fault),
            Err(Said::Error { .. } | Said::Question(_)) => Ok(ExitCode::FAILURE),
        };
    }
    let mut session = Session::new(&door);
    let mut out = std::io::stdout().lock();
    let line = one_line(&args.command);
    let line = if args.json { format!("{} {line}", json::WORD) } else { line };
    match session.line(&line, &mut out) {
        Ok(answer) => {
            // A reader that has enough closes the pipe, which is no error.
            let _ = out.write_all(answer.map_or(String::new(), |answer| answer.printed()).as_bytes());
            Ok(failed(session.has_failed()))
        }
        Err(Said::Error { message, advice, .. } | Said::Question(Question { text: message, advice, .. })) => {
            let _ = std::io::stderr().lock().write_all(error(&message, &advice).as_bytes());
            Ok(ExitCode::FAILURE)
        }
        Err(Said::Fault(fault)) => Err(fault),
    }
}

/// The arguments as one line. A single one is a line.
fn one_line(arguments: &[String]) -> String {
    if let [line] = arguments {
        return line.clone();
    }
    arguments.iter().map(|one| argument(one)).collect::<Vec<_>>().join(" ")
}

/// One of several arguments, as it would be typed: what is not exactly one word at the prompt, since the shell took its quotes
/// away, is quoted again.
pub fn argument(text: &str) -> String {
    match lex::words(text) {
        Ok(words) if words.len() == 1 && !words[0].glued => text.to_owned(),
        _ => typed_word(text),
    }
}

/// The appliance's line of an error, and below it what to do.
fn error(message: &str, advice: &str) -> String {
    let message = layout::harmless(message);
    if advice.is_empty() {
        return format!("ERROR: {message}\n");
    }
    format!("ERROR: {message}\n\t{}\n", layout::harmless(advice))
}

impl Answer {
    fn printed(&self) -> String {
        if self.is_json {
            return self.text.clone();
        }
        let warnings =
            self.warnings.iter().map(|warning| format!("Warning: {}\n", layout::harmless(warning)));
        format!("{}{} Done\n", self.text, warnings.collect::<String>())
    }
}

/// More of a line than a command may have, in bytes, by a character at least.
const LONGEST: usize = 64 * 1024 + 4;

#[cfg(test)]
mod tests {
    use super::one_line;

    #[test]
    fn what_the_shell_unquoted_is_quoted_again() {
        let line =
            |arguments: &[&str]| one_line(&arguments.iter().map(|a| (*a).to_owned()).collect::<Vec<_>>());
        assert_eq!(line(&["show lb vserver | grep x"]), "show lb vserver | grep x");
        assert_eq!(line(&["show", "lb", "vserver", "|", "grep", "x"]), "show lb vserver | grep x");
        assert_eq!(
            line(&["set", "server", "s", "-comment", "two words"]),
            "set server s -comment \"two words\""
        );
        assert_eq!(
            line(&["set", "server", "s", "-comment", "\"two words\""]),
            "set server s -comment \"two words\""
        );
        assert_eq!(line(&["set", "server", "s", "-comment", ""]), "set server s -comment \"\"");
        assert_eq!(line(&["set", "server", "s", "-comment", "#1"]), "set server s -comment \"#1\"");
    }
}
