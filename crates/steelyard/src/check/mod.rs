//! `steelyard check`: what becomes of each line of a configuration, before anything is served.
//!
//! Owns the JSON and the exit code; `text` is for people, and what is said comes from the core. Nothing is opened,
//! probed or changed. The exit code answers the one question of a script: 0 nothing refused and nothing changed, 3 it
//! loads but traffic or exposure changes, 1 a line was refused, 2 it cannot be read.

mod text;

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::ValueEnum;
use serde::Serialize;
use steelyard_core::command::verdict::{Consequence, Judgement, Verdict, judge};

use crate::addresses;
use crate::fault::Fault;
use crate::read;

/// What to check.
#[derive(clap::Args)]
#[command(after_help = EXIT_CODES)]
pub struct CheckArgs {
    /// Configuration: a NetScaler's ns.conf, or a piece of one.
    file: PathBuf,
    /// A report for people, or JSON for programs.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
}

/// `steelyard check`.
///
/// # Errors
/// [`Fault::Unreadable`].
pub fn run(args: &CheckArgs) -> Result<ExitCode, Fault> {
    let judgement = judged(&args.file)?;
    let mut out = std::io::stdout().lock();
    let report = match args.format {
        Format::Text => {
            let colour =
                out.is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
            text::render(&args.file.display().to_string(), &judgement, colour)
        }
        Format::Json => json(&judgement),
    };
    // A reader that has enough closes the pipe; the verdict stays the same.
    let _ = out.write_all(report.as_bytes()).and_then(|()| out.flush());
    Ok(ExitCode::from(exit_code(&judgement)))
}

/// The report for people, without colours.
///
/// # Errors
/// [`Fault::Unreadable`].
pub fn report(file: &Path) -> Result<String, Fault> {
    let judgement = judged(file)?;
    Ok(text::render(&file.display().to_string(), &judgement, false))
}

fn judged(file: &Path) -> Result<Judgement, Fault> {
    let reading = read::reading(file)?;
    let mut judgement = judge(&reading);
    judgement.look_at_host(&reading, &addresses::known());
    Ok(judgement)
}

fn exit_code(judgement: &Judgement) -> u8 {
    match judgement.worst() {
        _ if judgement.count(Verdict::Refused) > 0 => 1,
        Consequence::None => 0,
        Consequence::Traffic | Consequence::Exposure => 3,
    }
}

/// The whole answer for programs.
#[derive(Serialize)]
struct Answer<'j> {
    lines: usize,
    honoured: usize,
    partial: usize,
    stored: usize,
    host: usize,
    inert: usize,
    refused: usize,
    findings: Vec<Finding<'j>>,
}

#[derive(Serialize)]
struct Finding<'j> {
    line: usize,
    column: usize,
    verdict: &'static str,
    effect: &'static str,
    command: &'j str,
    option: Option<&'j str>,
    reason: &'j str,
}

fn json(judgement: &Judgement) -> String {
    let answer = Answer {
        lines: judgement.lines.len(),
        honoured: judgement.count(Verdict::Honoured),
        partial: judgement.count(Verdict::Partial),
        stored: judgement.count(Verdict::Stored),
        host: judgement.count(Verdict::Host),
        inert: judgement.count(Verdict::Inert),
        refused: judgement.count(Verdict::Refused),
        findings: judgement
            .findings
            .iter()
            .map(|finding| Finding {
                line: finding.line,
                column: finding.column,
                verdict: finding.verdict.text(),
                effect: finding.consequence.text(),
                command: &finding.command,
                option: finding.option.as_deref(),
                reason: &finding.reason,
            })
            .collect(),
    };
    // Numbers and texts alone: this cannot fail.
    serde_json::to_string(&answer).unwrap_or_default() + "\n"
}

const EXIT_CODES: &str = "\
Exit codes: 0 nothing is refused and nothing changes; 3 it loads, but traffic or exposure changes; 1 a line is refused; \
2 the file cannot be read.

Verdicts, by the least honoured option of a line: honoured (all of it is acted on, or at a value without effect), partial \
(some of it is), stored (kept and written back, not acted on), host (addresses, routes, VLANs, access lists: the report has the \
command for the host), inert (it configures nothing), refused.";
