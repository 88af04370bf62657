//! The `steelyard` executable: reads the command line and hands over to one subcommand.
//!
//! Owns the words of the command line and the exit codes: 0 fine, 1 the work failed, 2 it was asked for wrongly; `check`
//! has one more, and `completions` what its scripts are told.
//! An error is one line on standard error that says what, where and what to do.

mod access_log;
mod addresses;
mod auth;
mod certificate;
mod check;
mod cli;
mod columns;
mod completions;
mod demo;
mod dispatcher;
mod door;
mod explain;
mod expose;
mod fault;
mod files;
mod interfaces;
mod kernel;
mod keys;
mod lab;
mod listing;
mod manual;
mod metrics;
mod nitro;
mod preflight;
mod private;
mod probe;
mod reach;
mod read;
mod reload;
mod report;
mod run;
mod save;
mod seal;
mod signals;
mod simulated;
#[cfg_attr(not(feature = "ssh"), path = "ssh/absent.rs")]
mod ssh;
mod state;
mod targets;
mod upkeep;
mod wall;
mod watchdog;
mod worker;

use std::io::Write;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};

/// What the program is called.
const NAME: &str = "steelyard";

/// An open load balancer that speaks NetScaler.
#[derive(Parser)]
#[command(name = NAME, version, about, max_term_width = 100, disable_help_subcommand = true)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Serve a configuration.
    ///
    /// SIGHUP makes it read the file again: what is in both goes on undisturbed. A file that cannot be read, or with
    /// --strict a refused line, changes nothing. SIGTERM and SIGINT let requests in progress end, a second one does not.
    Run(Box<run::RunArgs>),
    /// Tell what becomes of each line of a configuration; nothing is opened or changed.
    Check(check::CheckArgs),
    /// See it work: everything on loopback, three services of unequal speed, a gentle load.
    Demo(demo::DemoArgs),
    /// Run somebody's configuration unchanged on this machine: each virtual server on loopback (a.b.c.d at 127.b.c.d), each
    /// service simulated.
    Lab(lab::LabArgs),
    /// Carry out commands of the appliance's prompt in the running program: on a terminal the prompt, else one command or a
    /// batch from standard input.
    ///
    /// An error of a single command goes to standard error; those of a batch stand among the answers. The exit code is 1 if any was
    /// refused.
    Cli(cli::CliArgs),
    /// Show the last decisions of a virtual server of the running program.
    Explain(explain::ExplainArgs),
    /// Print a script by which a shell completes this command line: steelyard completions bash.
    ///
    /// Behind 'cli' it completes NetScaler's words as Tab does at the prompt. Names come from the program whose data directory
    /// the line names; the rest is offered without one, too. No password is asked for or sent.
    Completions(completions::CompletionsArgs),
    /// Print a page of the manual for man(1), or write them all.
    ///
    /// 'steelyard man | man -l -' shows the first; steelyard-commands has every command of the prompt.
    Man(manual::ManArgs),
}

fn main() -> ExitCode {
    let command = match CommandLine::try_parse() {
        Ok(line) => line.command,
        Err(error) => return usage(&error),
    };
    let result = match command {
        Command::Run(args) => run::run(&args).map(|()| ExitCode::SUCCESS),
        Command::Check(args) => check::run(&args),
        Command::Demo(args) => demo::run(&args).map(|()| ExitCode::SUCCESS),
        Command::Lab(args) => lab::run(&args).map(|()| ExitCode::SUCCESS),
        Command::Cli(args) => cli::run(&args),
        Command::Explain(args) => explain::run(&args).map(|()| ExitCode::SUCCESS),
        Command::Completions(args) => Ok(completions::run(&args, CommandLine::command())),
        Command::Man(args) => manual::run(&args, CommandLine::command()).map(|()| ExitCode::SUCCESS),
    };
    match result {
        Ok(code) => code,
        Err(fault) => {
            // Nobody may be there to read it, which changes nothing.
            let _ = writeln!(std::io::stderr().lock(), "{}", fault.line());
            ExitCode::from(fault.exit_code())
        }
    }
}

/// Help and version go to standard output; anything else is one line, although clap would write several.
fn usage(error: &clap::Error) -> ExitCode {
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        // A reader that has enough closes the pipe, which is no error.
        let _ = write!(std::io::stdout().lock(), "{error}");
        return ExitCode::SUCCESS;
    }
    let text = match error.kind() {
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand => {
            "no command given".to_owned()
        }
        _ => first_paragraph(&error.to_string()),
    };
    let _ = writeln!(std::io::stderr().lock(), "steelyard: {text}; see 'steelyard --help'");
    ExitCode::from(2)
}

fn first_paragraph(text: &str) -> String {
    let lines = text.lines().map(str::trim).take_while(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join(" ").trim_start_matches("error: ").to_owned()
}
