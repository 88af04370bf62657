//! `steelyard explain`: the last decisions of a virtual server, as the documentation's own table or as JSON.
//!
//! Owns the JSON of a decision (both ends of it). How the program is asked is `door`'s business, how the table looks
//! `table`'s; what was decided and why comes from the core's decision log.

mod table;

use std::io::Write;

use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use steelyard_core::balance::decision;
use steelyard_core::vserver::VirtualServer;

use crate::door::{Door, percent_encode};
use crate::fault::Fault;
use crate::reach::Reach;

/// What to explain, and to whom.
#[derive(clap::Args)]
pub struct ExplainArgs {
    /// Virtual server whose decisions to show.
    pub vserver: String,
    /// How many of the last decisions.
    #[arg(long, value_name = "N", default_value_t = DEFAULT_LAST, value_parser = clap::value_parser!(u64).range(1..=MAX_LAST))]
    last: u64,
    /// A table for people, or JSON for programs.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Where the running program is.
    #[command(flatten)]
    pub reach: Reach,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
}

/// The last decisions of one virtual server.
#[derive(Serialize, Deserialize, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Its name.
    pub vserver: String,
    /// Its method, as `-lbMethod` spells it.
    pub method: String,
    /// Oldest first.
    pub decisions: Vec<Decision>,
}

/// One decision and everything it rested on.
#[derive(Serialize, Deserialize, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Number of the decision since the virtual server exists.
    pub request: u64,
    /// When, in microseconds since the program started.
    pub at_us: u64,
    /// method, startup round robin, slow start, persistence, fallback or retry.
    pub reason: String,
    /// The method whose values `metric` and `key` are: the virtual server's own, or ROUNDROBIN or LEASTCONNECTION
    /// where one of them stands in.
    pub rule: String,
    /// The service selected before this decision.
    pub last_selected: Option<String>,
    /// Every bound service in ring order.
    pub services: Vec<Row>,
    /// Names of the services with the least value.
    pub tied: Vec<String>,
    /// The service that got the request.
    pub selected: String,
}

/// A service as one decision saw it.
#[derive(Serialize, Deserialize, Debug, PartialEq, Eq)]
pub struct Row {
    /// Its name.
    pub name: String,
    /// Could it be chosen?
    pub eligible: bool,
    /// Why not.
    pub why_not: Option<String>,
    /// N in the method's own unit: a count, active times microseconds, bytes of 14 s, or turns taken.
    pub metric: u64,
    /// Weight of the binding.
    pub weight: u32,
    /// What was compared: floor(metric * 10000 / weight); under ROUNDROBIN the round, floor(metric / weight).
    pub key: u64,
}

/// The last decisions of a virtual server, at most `last`.
pub fn answer(vserver: &VirtualServer, last: u64) -> Answer {
    let last = usize::try_from(last.min(MAX_LAST)).unwrap_or(0);
    let decisions = vserver.decisions(last).into_iter().map(spell_out).collect();
    Answer { vserver: vserver.name.to_string(), method: vserver.method.to_owned(), decisions }
}

/// Decisions as people read them.
pub fn text(answer: &Answer) -> String {
    table::render(answer)
}

/// Positions become names, which is what people and scripts compare.
fn spell_out(decision: decision::Decision) -> Decision {
    let name = |position: usize| decision.services.get(position).map(|row| row.name.clone());
    Decision {
        request: decision.request,
        at_us: decision.at_us,
        reason: decision.reason.text().to_owned(),
        rule: decision.rule.to_owned(),
        last_selected: decision.last_selected.and_then(name),
        tied: decision.tied.iter().copied().filter_map(name).collect(),
        selected: name(decision.selected).unwrap_or_default(),
        services: decision.services.into_iter().map(Row::from).collect(),
    }
}

impl From<decision::Row> for Row {
    fn from(row: decision::Row) -> Row {
        Row {
            name: row.name,
            eligible: row.eligible,
            why_not: row.why_not.map(str::to_owned),
            metric: row.metric,
            weight: row.weight,
            key: row.key,
        }
    }
}

/// Asks the running program and prints its answer.
///
/// # Errors
/// Nothing answers at the URL, or it has no such virtual server.
pub fn run(args: &ExplainArgs) -> Result<(), Fault> {
    let login = if args.reach.is_for_user() { Some(args.reach.login()?) } else { None };
    let door = args.reach.door(login)?;
    let (answer, body) = ask(&door, &args.vserver, args.last)?;
    match args.format {
        Format::Text => print(&text(&answer)),
        Format::Json => print(&(body + "\n")),
    }
    Ok(())
}

/// The last decisions of a virtual server of the running program, and the JSON that it told them by.
///
/// # Errors
/// Nothing answers there, or it has no such virtual server.
pub fn ask(door: &Door, vserver: &str, last: u64) -> Result<(Answer, String), Fault> {
    let body = door.get(&format!("/steelyard/v1/explain/{}?last={last}", percent_encode(vserver)))?;
    let answer = serde_json::from_str(&body).map_err(|error| Fault::NoAnswer {
        url: door.to_string(),
        why: format!("not the answer of this program ({error})"),
    })?;
    Ok((answer, body))
}

/// A reader that has enough closes the pipe, which is no error.
fn print(text: &str) {
    let _ = std::io::stdout().lock().write_all(text.as_bytes());
}

/// Decisions shown when nobody says how many.
pub const DEFAULT_LAST: u64 = 10;
/// Most decisions in one answer; the log may hold fewer.
pub const MAX_LAST: u64 = 1_000;
