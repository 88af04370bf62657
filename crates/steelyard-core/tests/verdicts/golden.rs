//! Golden verdicts: for each real file its totals and each distinct finding with its number. `UPDATE=1` rewrites them.
//!
//! Words of the files stay out of them: what a reason quotes is left out.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use steelyard_core::command::read;
use steelyard_core::command::verdict::{Finding, Judgement, Verdict, judge};

use crate::corpus::corpus;

#[test]
fn every_real_file_has_its_golden_verdicts() {
    let Some(samples) = corpus() else { return };
    let update = std::env::var_os("UPDATE").is_some();
    let mut differing = Vec::new();
    for sample in samples {
        let text = shown(&judge(&read(&sample.bytes, "ns.conf")));
        let path = golden(&sample.name);
        if update {
            std::fs::write(&path, &text).unwrap();
        } else if std::fs::read_to_string(&path).unwrap_or_default() != text {
            differing.push(format!("--- {}\n{text}", path.display()));
        }
    }
    assert!(differing.is_empty(), "{}\nUPDATE=1 rewrites them", differing.join("\n"));
}

/// README says what becomes of the lines of all files together.
#[test]
fn the_readme_has_the_totals() {
    let Some(samples) = corpus() else { return };
    let mut totals = vec![0; 1 + Verdict::ALL.len()];
    for sample in &samples {
        let judgement = judge(&read(&sample.bytes, "ns.conf"));
        totals[0] += judgement.lines.len();
        Verdict::ALL
            .iter()
            .zip(&mut totals[1..])
            .for_each(|(verdict, total)| *total += judgement.count(*verdict));
    }
    let readme = include_str!("../../../../README.md");
    let mut lines = readme.lines().skip_while(|line| *line != HEAD);
    let stated: Vec<usize> = lines
        .nth(2)
        .expect("README has the table")
        .split('|')
        .map(|cell| cell.trim().replace(',', ""))
        .filter_map(|cell| cell.parse().ok())
        .collect();
    assert_eq!(stated, totals);
    assert!(
        readme.contains(&format!("{} real configurations", samples.len())),
        "README does not say how many"
    );
}

/// The verdicts of a file add up to its lines, and a line is as bad as its worst finding.
#[test]
fn verdicts_add_up_and_follow_from_their_findings() {
    let Some(samples) = corpus() else { return };
    for sample in samples {
        let judgement = judge(&read(&sample.bytes, "ns.conf"));
        let sum: usize = Verdict::ALL.iter().map(|verdict| judgement.count(*verdict)).sum();
        assert_eq!(sum, judgement.lines.len(), "{}", sample.name);
        let last = sample.lines().len().max(1);
        let numbers: Vec<usize> = judgement.lines.iter().map(|(number, _)| *number).collect();
        assert!(numbers.is_sorted() && numbers.iter().all(|n| (1..=last).contains(n)), "{}", sample.name);
        for (index, (number, verdict)) in judgement.lines.iter().enumerate() {
            let next = numbers.get(index + 1).copied().unwrap_or(usize::MAX);
            let worst = judgement
                .findings
                .iter()
                .filter(|f| (*number..next).contains(&f.line))
                .map(|f| f.verdict)
                .max()
                .unwrap_or(Verdict::Honoured);
            assert_eq!(*verdict, worst, "{}:{number}", sample.name);
        }
    }
}

fn golden(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/verdicts").join(format!("{name}.tsv"))
}

fn shown(judgement: &Judgement) -> String {
    let mut text = format!("lines\t{}\n", judgement.lines.len());
    for verdict in Verdict::ALL {
        writeln!(text, "{verdict}\t{}", judgement.count(verdict)).unwrap();
    }
    for first in &judgement.first {
        writeln!(text, "first\t{}", without_words(first)).unwrap();
    }
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for finding in &judgement.findings {
        *counts.entry(row(finding)).or_default() += 1;
    }
    for (row, count) in counts {
        writeln!(text, "{count}\t{row}").unwrap();
    }
    text
}

fn row(finding: &Finding) -> String {
    let reason = match finding.verdict {
        Verdict::Refused => {
            let code = finding.reason.rsplit('(').next().unwrap_or_default();
            format!("({code}")
        }
        Verdict::Host => {
            // The programs and what they do, without addresses and names.
            let commands = finding.on_host.commands.iter().map(|command| {
                command
                    .split(' ')
                    .take_while(|w| w.chars().all(|c| c.is_ascii_lowercase() || c == '-'))
                    .collect::<Vec<_>>()
                    .join(" ")
            });
            let commands: Vec<String> = commands.collect();
            if commands.is_empty() { finding.reason.clone() } else { commands.join("; ") }
        }
        _ => without_words(&finding.reason),
    };
    let option = finding.option.as_deref().unwrap_or("-");
    let value = finding.value.as_deref().unwrap_or("-");
    format!("{}\t{}\t{}\t{option}\t{value}\t{reason}", finding.verdict, finding.consequence, finding.command)
}

/// Without what stands in double quotes or in parentheses.
fn without_words(text: &str) -> String {
    let (mut shown, mut inside) = (String::new(), false);
    for character in text.chars() {
        let closes = inside && matches!(character, '"' | ')');
        if closes || !inside {
            shown.push(character);
        }
        if matches!(character, '"' | '(' | ')') {
            inside = !closes && character != ')';
        }
    }
    shown
}

const HEAD: &str = "| commands | honoured | partial | stored | host | inert | refused |";
