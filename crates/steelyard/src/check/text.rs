//! The report for people: what matters first, the shares of the verdicts as bars, then findings joined that say the same.
//!
//! Owns the layout. How is a file of thousands of lines read on one screen? Findings of one command, option and reason
//! stand once, with their number and first lines; commands for the host stand together, ready to be copied.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use steelyard_core::command::verdict::{Consequence, Finding, Judgement, Verdict};

/// The whole report. What a terminal would take for orders is replaced.
pub fn render(file: &str, judgement: &Judgement, colour: bool) -> String {
    let mut report = Report { out: String::new(), colour };
    report.headline(file, judgement);
    report.totals(judgement);
    let of = |chosen: fn(&Finding) -> bool| {
        judgement.findings.iter().filter(move |finding| finding.beside.is_none() && chosen(finding))
    };
    report.section(
        Style::Exposure,
        "Exposure: who gets in changes",
        of(|f| f.consequence == Consequence::Exposure),
    );
    report.section(
        Style::Refused,
        "Refused: not one word of these lines is acted on",
        of(|f| f.verdict == Verdict::Refused),
    );
    report.section(
        Style::Traffic,
        "Traffic: where requests go, or how, changes",
        of(|f| {
            f.consequence == Consequence::Traffic && ![Verdict::Host, Verdict::Refused].contains(&f.verdict)
        }),
    );
    report.host(judgement);
    report.quiet(of(|f| {
        f.consequence == Consequence::None && ![Verdict::Host, Verdict::Refused].contains(&f.verdict)
    }));
    report.out
}

/// Names of a file may have any characters.
fn clean(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

struct Report {
    out: String,
    colour: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    Plain,
    Good,
    Traffic,
    Exposure,
    Refused,
}

impl Report {
    fn headline(&mut self, file: &str, judgement: &Judgement) {
        let lines = judgement.lines.len();
        let commands = if lines == 1 { "1 command".to_owned() } else { format!("{lines} commands") };
        self.line(Style::Plain, &format!("{file}: {commands}"));
        for text in &judgement.first {
            self.line(Style::Exposure, text);
        }
        let lines_of = |consequence| {
            let mut lines: Vec<usize> =
                judgement.findings.iter().filter(|f| f.consequence == consequence).map(|f| f.line).collect();
            lines.dedup();
            lines.len()
        };
        let counts = [
            (lines_of(Consequence::Exposure), "who gets in", Style::Exposure),
            (lines_of(Consequence::Traffic), "traffic", Style::Traffic),
        ];
        for (count, what, style) in counts.into_iter().filter(|(count, _, _)| *count > 0) {
            let lines =
                if count == 1 { "1 line changes".to_owned() } else { format!("{count} lines change") };
            self.line(style, &format!("{lines} {what}."));
        }
        if judgement.worst() == Consequence::None && judgement.count(Verdict::Refused) == 0 {
            self.line(Style::Good, "Nothing is refused, and nothing changes.");
        }
    }

    /// A bar for each verdict that occurs, to the scale of all lines.
    fn totals(&mut self, judgement: &Judgement) {
        let all = judgement.lines.len();
        if all == 0 {
            return;
        }
        self.out.push('\n');
        for verdict in Verdict::ALL {
            let count = judgement.count(verdict);
            let style = match verdict {
                Verdict::Honoured => Style::Good,
                Verdict::Refused => Style::Refused,
                Verdict::Partial | Verdict::Stored => Style::Traffic,
                Verdict::Host | Verdict::Inert => Style::Plain,
            };
            let bar = self.painted(style, &bar(count, all));
            let _ = writeln!(
                self.out,
                "{}",
                format!("  {verdict:<9}{count:>6} {:>3} %  {bar}", percent(count, all)).trim_end()
            );
        }
    }

    fn section<'f>(&mut self, style: Style, title: &str, findings: impl Iterator<Item = &'f Finding>) {
        let groups = joined(findings, |f| (f.command.clone(), asked(f), f.reason.clone()));
        if groups.is_empty() {
            return;
        }
        self.out.push('\n');
        self.line(style, title);
        for ((command, asked, reason), lines) in groups {
            let (asked, reason) = (clean(&asked), clean(&reason));
            let _ = writeln!(self.out, "  {command}{asked}  ({})\n      {reason}", places(&lines));
        }
    }

    /// Commands to copy, then the lines that have none.
    fn host(&mut self, judgement: &Judgement) {
        let findings: Vec<&Finding> =
            judgement.findings.iter().filter(|f| f.verdict == Verdict::Host).collect();
        if findings.is_empty() {
            return;
        }
        self.out.push('\n');
        self.line(Style::Plain, "Host: to be done there; fill in what stands in < >");
        let first: BTreeSet<&str> = findings.iter().flat_map(|f| f.on_host.first).copied().collect();
        // Tables sort behind chains.
        for command in first.into_iter().rev() {
            let _ = writeln!(self.out, "  {command}");
        }
        let (told, silent): (Vec<&Finding>, Vec<&Finding>) =
            findings.into_iter().partition(|f| !f.on_host.commands.is_empty());
        for finding in told {
            for command in &finding.on_host.commands {
                let _ = writeln!(self.out, "  {}  # line {}", clean(command), finding.line);
            }
        }
        for ((command, reason), lines) in
            joined(silent.into_iter(), |f| (f.command.clone(), f.reason.clone()))
        {
            let _ = writeln!(self.out, "  # {command} ({}): {}", places(&lines), clean(&reason));
        }
    }

    /// What changes nothing: a line for each reason.
    fn quiet<'f>(&mut self, findings: impl Iterator<Item = &'f Finding>) {
        let groups = joined(findings, |f| f.reason.clone());
        if groups.is_empty() {
            return;
        }
        self.out.push('\n');
        self.line(Style::Plain, "Without effect: kept, and nothing changes");
        for (reason, lines) in groups {
            let _ = writeln!(self.out, "  {}: {}", places(&lines), clean(&reason));
        }
    }

    fn line(&mut self, style: Style, text: &str) {
        let painted = self.painted(style, text);
        self.out.push_str(&painted);
        self.out.push('\n');
    }

    fn painted(&self, style: Style, text: &str) -> String {
        let code = match style {
            Style::Plain => "1",
            Style::Good => "32",
            Style::Traffic => "33",
            Style::Exposure | Style::Refused => "1;31",
        };
        if self.colour && !text.is_empty() { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

/// The option and its value, as a line has them.
fn asked(finding: &Finding) -> String {
    let value = finding.value.as_ref().map_or_else(String::new, |value| format!(" {value}"));
    finding.option.as_ref().map_or_else(String::new, |option| format!(" -{option}{value}"))
}

/// The lines of the findings that have the same key; those with the most lines first.
fn joined<'f, K: Ord>(
    findings: impl Iterator<Item = &'f Finding>,
    key: impl Fn(&Finding) -> K,
) -> Vec<(K, Vec<usize>)> {
    let mut groups: BTreeMap<K, Vec<usize>> = BTreeMap::new();
    for finding in findings {
        let lines = groups.entry(key(finding)).or_default();
        if lines.last() != Some(&finding.line) {
            lines.push(finding.line);
        }
    }
    let mut groups: Vec<(K, Vec<usize>)> = groups.into_iter().collect();
    groups.sort_by_key(|(_, lines)| (std::cmp::Reverse(lines.len()), lines.first().copied()));
    groups
}

/// `line 3`, `lines 3, 5-7, 12 and 20 more`
fn places(lines: &[usize]) -> String {
    let runs: Vec<&[usize]> = lines.chunk_by(|a, b| a + 1 == *b).collect();
    let shown: Vec<String> = runs
        .iter()
        .take(PLACES)
        .map(|run| match run {
            [first, .., last] => format!("{first}-{last}"),
            run => run.iter().map(ToString::to_string).collect(),
        })
        .collect();
    let more: usize = runs.iter().skip(PLACES).map(|run| run.len()).sum();
    let word = if lines.len() == 1 { "line" } else { "lines" };
    let count = if lines.len() > 1 { format!("{} ", lines.len()) } else { String::new() };
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{count}{word} {}{rest}", shown.join(", "))
}

/// Eighths of a block: what occurs at all is seen.
fn bar(count: usize, all: usize) -> String {
    let eighths = (count * BAR * 8).div_ceil(all.max(1));
    let rest = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8];
    "█".repeat(eighths / 8) + rest
}

/// Rounded, except that neither 0 nor 100 is said of anything else.
fn percent(count: usize, all: usize) -> usize {
    let rounded = (count * 200 + all) / (all * 2);
    match count {
        0 => 0,
        _ if count == all => 100,
        _ => rounded.clamp(1, 99),
    }
}

/// Widest bar, in characters.
const BAR: usize = 40;
/// How many places of a group are named.
const PLACES: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_joined_and_cut() {
        assert_eq!(places(&[7]), "line 7");
        assert_eq!(places(&[1, 2, 3, 9]), "4 lines 1-3, 9");
        assert_eq!(places(&[1, 3, 5, 7, 9, 10, 12]), "7 lines 1, 3, 5, 7 and 3 more");
    }

    #[test]
    fn shares_are_neither_lost_nor_whole_by_rounding() {
        assert_eq!((percent(1, 1000), percent(999, 1000), percent(0, 3), percent(3, 3)), (1, 99, 0, 100));
        assert_eq!(percent(1, 3), 33);
        assert_eq!(bar(0, 10), "");
        assert_eq!(bar(1, 1000), "▏");
        assert_eq!(bar(10, 10).chars().count(), BAR);
    }
}
