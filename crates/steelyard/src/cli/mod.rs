//! `steelyard cli`: what NetScaler's prompt shows, of the running program.
//!
//! A client like any other: it asks by the owner's socket and lays the answer out as the appliance does. What a line means
//! the core's parser says, with the abbreviations that hands know. How the text looks is `layout`'s business.

mod layout;
mod show;

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use steelyard_core::command::lex::words;
use steelyard_core::command::{Refusal, Verb, parse};

use crate::door::{DATA, Door};
use crate::fault::Fault;

/// What to show.
#[derive(clap::Args)]
pub struct CliArgs {
    /// Data directory of the running program: its owner asks the socket nitro.sock there.
    #[arg(long, value_name = "DIRECTORY", default_value = DATA)]
    data: PathBuf,
    /// 'show service [NAME]', 'show serviceGroup [NAME]' or 'show lb monitor [NAME]', abbreviated as at the prompt.
    #[arg(required = true, value_name = "COMMAND", trailing_var_arg = true, allow_hyphen_values = true)]
    command: Vec<String>,
}

/// Carries one command out and prints what the appliance would.
///
/// # Errors
/// Nothing answers at the socket.
pub fn run(args: &CliArgs) -> Result<ExitCode, Fault> {
    let line = args.command.join(" ");
    match carry_out(&line, &Door::socket(&args.data)) {
        Ok(text) => {
            // A reader that has enough closes the pipe, which is no error.
            let _ = std::io::stdout().lock().write_all(format!("{text} Done\n").as_bytes());
            Ok(ExitCode::SUCCESS)
        }
        Err(Said::Error(message)) => {
            let _ = writeln!(std::io::stderr().lock(), "ERROR: {message}");
            Ok(ExitCode::FAILURE)
        }
        Err(Said::Fault(fault)) => Err(fault),
    }
}

/// Why there is nothing to show.
enum Said {
    /// In the appliance's words.
    Error(String),
    /// The program was not reached.
    Fault(Fault),
}

impl From<Fault> for Said {
    fn from(fault: Fault) -> Said {
        match fault {
            Fault::Answer { message, .. } => Said::Error(message),
            fault => Said::Fault(fault),
        }
    }
}

fn carry_out(line: &str, door: &Door) -> Result<String, Said> {
    let refused = |(refusal, _): (Refusal, usize)| Said::Error(refusal.message());
    let parsed = words(line).and_then(|words| parse(&words)).map_err(refused)?;
    match (parsed.verb(), parsed.commands()) {
        (Verb::Show, [command]) => show::show(command, door),
        _ => Err(Said::Error(NOT_SHOWN.to_owned())),
    }
}

/// Of what this prompt does not do.
const NOT_SHOWN: &str = "Operation not supported here [show service, show serviceGroup, show lb monitor]";
