//! What this program makes of each line of a file: whether it does what the line asks for, and what happens instead.
//!
//! Judges a [`Reading`] and changes nothing. Owns the verdicts and the order of the findings; the sentences stand in
//! `instead`, `stored` and `host`. The hard question is when a finding is true: an option that is not acted on changes nothing at its
//! default, beside another option without which it means nothing, or on an object that nothing uses, and says so then.

mod instead;
mod kept;
mod options;
mod secure;
mod site;
mod source;
mod stored;
mod whole;

use std::fmt;

use super::host::OnHost;
use super::read::{Line, Outcome, Reading};
use super::refusal::Refusal;
use site::Site;

/// What becomes of a line, from the most honoured to the least.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Verdict {
    /// All of it is acted on, or at a value without effect.
    Honoured,
    /// It means nothing here: a query, an action of a moment, pasted output.
    Inert,
    /// Some of it is acted on; the rest is kept and written back.
    Partial,
    /// It is about the host: an address, a route, a VLAN, an access list.
    Host,
    /// It is kept and written back, and not acted on.
    Stored,
    /// It is no valid command.
    Refused,
}

/// What not acting on something changes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Consequence {
    /// Nothing.
    None,
    /// Where requests go, or how.
    Traffic,
    /// Who gets in.
    Exposure,
}

/// One thing that is not done as a line asks for it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What becomes of it.
    pub verdict: Verdict,
    /// What that changes.
    pub consequence: Consequence,
    /// The command's first words, as the appliance writes them: `add lb vserver`.
    pub command: String,
    /// The option, without its hyphen; `None` if it is about the whole line.
    pub option: Option<String>,
    /// The option's value, where it is a word of a list: others may be secrets.
    pub value: Option<String>,
    /// What happens here instead, and what to do about it.
    pub reason: String,
    /// An option that the line has as well, has a finding of its own, and without which this one means nothing.
    pub beside: Option<&'static str>,
    /// What does the same on the host; `reason` has its commands, too.
    pub on_host: OnHost,
}

/// Every line of a file, judged.
#[derive(Debug, Default)]
pub struct Judgement {
    /// Number and verdict of each command, in order.
    pub lines: Vec<(usize, Verdict)>,
    /// By line and column.
    pub findings: Vec<Finding>,
    /// What holds for the file as a whole and is worth saying first.
    pub first: Vec<String>,
}

/// Judges every command of a file.
pub fn judge(reading: &Reading) -> Judgement {
    let site = Site::of(reading);
    let mut judgement = Judgement { first: whole::first(&site), ..Judgement::default() };
    let mut about = whole::findings(&site);
    for (index, line) in reading.lines.iter().enumerate() {
        let mut findings = of_line(&site, line);
        findings.extend(about.remove(&index).unwrap_or_default());
        findings.sort_by_key(|finding| (finding.line, finding.column));
        let verdict = findings.iter().map(|finding| finding.verdict).max().unwrap_or(Verdict::Honoured);
        judgement.lines.push((line.number, verdict));
        judgement.findings.append(&mut findings);
    }
    judgement
}

fn of_line(site: &Site, line: &Line) -> Vec<Finding> {
    match &line.outcome {
        Outcome::Applied { commands, columns, .. } => options::findings(site, line, commands, columns),
        Outcome::Kept { class, effect } => vec![kept::finding(site, line, *class, *effect)],
        Outcome::Refused { column, refusal } => vec![refused(line, *column, refusal)],
    }
}

/// What is wrong is refused by the appliance, too, so that only what this version cannot do changes anything.
fn refused(line: &Line, column: usize, refusal: &Refusal) -> Finding {
    let consequence = match refusal.code() {
        NOT_SUPPORTED => Consequence::Traffic,
        _ => Consequence::None,
    };
    let (number, column) = line.place(column);
    Finding {
        line: number,
        column,
        verdict: Verdict::Refused,
        consequence,
        command: site::head(line).text(),
        option: refusal.argument().map(str::to_owned),
        value: None,
        reason: refusal.to_string(),
        beside: None,
        on_host: OnHost::default(),
    }
}

impl Judgement {
    /// How many lines have this verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.lines.iter().filter(|(_, given)| *given == verdict).count()
    }

    /// The most that any finding changes.
    pub fn worst(&self) -> Consequence {
        self.findings.iter().map(|finding| finding.consequence).max().unwrap_or(Consequence::None)
    }
}

impl Verdict {
    /// Every verdict, in the order of the totals.
    pub const ALL: [Verdict; 6] = [
        Verdict::Honoured,
        Verdict::Partial,
        Verdict::Stored,
        Verdict::Host,
        Verdict::Inert,
        Verdict::Refused,
    ];

    /// In one word.
    pub const fn text(self) -> &'static str {
        match self {
            Verdict::Honoured => "honoured",
            Verdict::Inert => "inert",
            Verdict::Partial => "partial",
            Verdict::Host => "host",
            Verdict::Stored => "stored",
            Verdict::Refused => "refused",
        }
    }
}

impl Consequence {
    /// In one word.
    pub const fn text(self) -> &'static str {
        match self {
            Consequence::None => "none",
            Consequence::Traffic => "traffic",
            Consequence::Exposure => "exposure",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.text())
    }
}

impl fmt::Display for Consequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.text())
    }
}

/// NITRO's code for what a release does not have.
const NOT_SUPPORTED: u16 = 460;
