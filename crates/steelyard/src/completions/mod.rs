//! `steelyard completions`: a script by which a shell completes this program's own command line, and the answer to that script
//! when it asks for NetScaler's words.
//!
//! Owns the scripts and what the exit code tells them. What the shell's line says is `quoting`'s business, what may follow in
//! it `asked`'s.

mod asked;
mod quoting;

use std::io::Write;
use std::process::ExitCode;

use clap::ValueEnum;
use clap_complete::Shell as Generator;

use crate::NAME;
use asked::{Offer, Offered};
use quoting::Shell;

/// For which shell.
#[derive(clap::Args)]
pub struct CompletionsArgs {
    /// The shell.
    #[arg(value_enum)]
    shell: Known,
    /// Print what may stand at the end of this line of the shell, in the place of the script: for the script.
    #[arg(long, hide = true, allow_hyphen_values = true)]
    line: Option<String>,
    /// The end of that line in whose place words are put.
    #[arg(long, hide = true, allow_hyphen_values = true, requires = "line")]
    word: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Known {
    Bash,
    Zsh,
    Fish,
}

impl Known {
    fn shell(self) -> Shell {
        match self {
            Known::Bash => Shell::Bash,
            Known::Zsh => Shell::Zsh,
            Known::Fish => Shell::Fish,
        }
    }
}

/// Prints the script, or what the script asks for.
pub fn run(args: &CompletionsArgs, command: clap::Command) -> ExitCode {
    let (text, code) = match &args.line {
        None => (script(args.shell, &command), 0),
        Some(line) => {
            let tail = args.word.as_deref().unwrap_or_default();
            match asked::offer(args.shell.shell(), line, tail, command) {
                Offer::Words(words) => (words.iter().map(|word| told(word, args.shell)).collect(), 0),
                Offer::Files => (String::new(), FILES),
                Offer::Own => (String::new(), OWN),
            }
        }
    };
    // A reader that has enough closes the pipe, which is no error.
    let _ = std::io::stdout().lock().write_all(text.as_bytes());
    ExitCode::from(code)
}

/// A line of the answer: bash shows words alone, the others what they are, too.
fn told(offered: &Offered, shell: Known) -> String {
    let Offered { word, help } = offered;
    if shell == Known::Bash || help.is_empty() { format!("{word}\n") } else { format!("{word}\t{help}\n") }
}

/// What completes the command line, with what asks for NetScaler's words before it.
fn script(shell: Known, command: &clap::Command) -> String {
    let (generator, asks) = match shell {
        Known::Bash => (Generator::Bash, include_str!("asks.bash")),
        Known::Zsh => (Generator::Zsh, include_str!("asks.zsh")),
        Known::Fish => (Generator::Fish, include_str!("asks.fish")),
    };
    let mut generated = Vec::new();
    clap_complete::generate(generator, &mut shown(command), NAME, &mut generated);
    let generated = String::from_utf8_lossy(&generated);
    match shell {
        Known::Bash | Known::Zsh => {
            // Zsh knows what a script is for by its first line.
            let (first, rest) = generated.split_once('\n').unwrap_or_default();
            let head = format!("_{NAME}() {{\n");
            let asking = format!("{head}    _{NAME}_words \"$@\" && return 0\n");
            match first.starts_with('#') {
                true => format!("{first}\n\n{asks}{}", rest.replacen(&head, &asking, 1)),
                false => format!("{asks}\n{}", generated.replacen(&head, &asking, 1)),
            }
        }
        Known::Fish => {
            let mut script = generated.into_owned();
            for of in asked::COMMANDS {
                let using = format!("__fish_{NAME}_using_subcommand {of}");
                script =
                    script.replace(&format!("\"{using}\""), &format!("\"{using}; and not __{NAME}_asks\""));
            }
            format!("{script}\n{asks}")
        }
    }
}

/// The command line as its help shows it: without what is hidden.
fn shown(command: &clap::Command) -> clap::Command {
    let about = command.get_about().cloned().unwrap_or_default();
    let arguments = command.get_arguments().filter(|argument| !argument.is_hide_set()).cloned();
    let of = command.get_subcommands().filter(|of| !of.is_hide_set()).map(shown);
    let version = command.get_version().map(str::to_owned);
    let plain = clap::Command::new(command.get_name().to_owned()).about(about).args(arguments);
    let plain = plain.subcommands(of).disable_help_subcommand(true);
    version.into_iter().fold(plain, clap::Command::version)
}

/// Names of files may stand there: the shell knows them.
const FILES: u8 = 3;
/// Nothing of NetScaler's stands there: the script goes by what it knows itself.
const OWN: u8 = 4;
