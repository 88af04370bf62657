//! `steelyard completions`: a script by which a shell completes this program's own command line.

use std::io::Write;

use clap::ValueEnum;
use clap_complete::Shell;

use crate::NAME;

/// For which shell.
#[derive(clap::Args)]
pub struct CompletionsArgs {
    /// The shell.
    #[arg(value_enum)]
    shell: Known,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Known {
    Bash,
    Zsh,
    Fish,
}

/// Prints the script.
pub fn run(args: &CompletionsArgs, mut command: clap::Command) {
    let shell = match args.shell {
        Known::Bash => Shell::Bash,
        Known::Zsh => Shell::Zsh,
        Known::Fish => Shell::Fish,
    };
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, NAME, &mut script);
    // A reader that has enough closes the pipe, which is no error.
    let _ = std::io::stdout().lock().write_all(&script);
}
