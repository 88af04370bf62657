//! Every file of the corpus through load and save: nothing is lost, what is printed reads back the same, an appliance
//! would accept each line, and no line stands before what it names.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../../../ci/corpus.rs"]
mod files;
#[path = "corpus/grammar.rs"]
mod grammar;
#[path = "corpus/lines.rs"]
mod lines;

use std::collections::{BTreeMap, BTreeSet};

use files::corpus;
use lines::{bag, missing, words};
use steelyard_core::command::{
    CannotSeal, File, Files, Line, Outcome, Printed, Reading, Seal, print, read_files,
};
use steelyard_core::config::kept::Class;

fn readings() -> Vec<(String, String, Reading)> {
    let files = corpus().unwrap_or_default();
    files
        .into_iter()
        .map(|(name, bytes)| {
            let ns_conf = File { text: &bytes, name: &name };
            let reading = read_files(Files { ns_conf, steelyard_conf: None, secrets: None }, &Hex);
            (name, String::from_utf8_lossy(&bytes).into_owned(), reading)
        })
        .collect()
}

/// What was saved, read again.
fn loaded(printed: &Printed) -> Reading {
    let ns_conf = File { text: printed.ns_conf.as_bytes(), name: "ns.conf" };
    let steelyard_conf = Some(File { text: printed.steelyard_conf.as_bytes(), name: "steelyard.conf" });
    read_files(Files { ns_conf, steelyard_conf, secrets: None }, &Hex)
}

/// A seal that this test can look through.
struct Hex;

impl Seal for Hex {
    fn seal(&self, plain: &str, _: &str) -> Result<String, CannotSeal> {
        Ok(hex(plain))
    }
}

fn hex(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn what_is_printed_reads_back() {
    for (name, _, first) in readings() {
        let printed = print(&first.config);
        let second = loaded(&printed);
        assert_eq!(second.refused, [], "{name}");
        let lost: Vec<_> =
            first.config.kept.iter().filter(|k| second.config.kept.iter().all(|o| o != *k)).collect();
        assert!(lost.is_empty(), "{name}: {lost:#?}");
        assert!(second.config == first.config, "{name}:\n{}", printed.ns_conf);
        assert_eq!(print(&second.config), printed, "{name}");
    }
}

/// Each line that holds anything is a comment or part of one command, and each command has one outcome. Those over several
/// lines are what `spec/nsconf-frequency.md` 4 counts.
#[test]
fn every_command_has_an_outcome() {
    let mut several = BTreeMap::new();
    for (name, file, reading) in readings() {
        let is_command = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
        let in_file = bag(file.lines().filter(is_command));
        let in_lines =
            bag(reading.lines.iter().flat_map(|line| line.text.lines()).filter(|l| !l.trim().is_empty()));
        // A line with a secret is shown without it.
        let (shown, mut masked) = (missing(&in_file, &in_lines), missing(&in_lines, &in_file));
        for line in shown {
            let found = masked.iter().position(|masked| lines::is_masked(masked, line));
            masked.remove(found.unwrap_or_else(|| panic!("{name}: {line}")));
        }
        assert_eq!(masked, [""; 0], "{name}");
        let long = reading.lines.iter().filter(|line| line.text.lines().count() > 1).count();
        if long > 0 {
            several.insert(name, long);
        }
    }
    if !several.is_empty() {
        let expected = [("013.conf".to_owned(), 4), ("075.conf".to_owned(), 6)];
        assert_eq!(several, BTreeMap::from(expected), "commands over more than one line");
    }
}

/// A comment, a kept line and a refused one stand in the printed file as they stood; of an applied one its name, its
/// addresses and its quoted words do.
#[test]
fn nothing_is_lost() {
    for (name, file, reading) in readings() {
        let saved = print(&reading.config);
        let printed = saved.ns_conf;
        let stands = bag(printed.lines());
        let comments = file.lines().filter(|line| line.trim_start().starts_with('#'));
        let lost = missing(&bag(comments), &stands);
        assert_eq!(lost, [""; 0], "{name}: comments");
        let kept: Vec<String> = reading.lines.iter().flat_map(as_kept).collect();
        for line in missing(&bag(kept.iter().map(String::as_str)), &stands) {
            let aside = line.strip_prefix("# ").and_then(|aside| aside.split_once(": "));
            let shown = aside.map_or(line, |(_, shown)| shown);
            let is_whole =
                |whole: &&str| shown.contains(lines::MASK) && lines::is_masked(shown, whole.trim());
            let whole = file.lines().find(is_whole);
            let whole = whole.unwrap_or_else(|| panic!("{name}: {line}"));
            assert!(saved.steelyard_conf.contains(&hex(whole.trim())), "{name}: {line}");
        }
        let applied = reading.lines.iter().filter(|line| matches!(line.outcome, Outcome::Applied { .. }));
        let removed =
            file.lines().any(|line| ["rm", "rename"].contains(&line.split_whitespace().next().unwrap_or("")));
        let all: Vec<String> = printed.lines().flat_map(words).map(|word| word.to_lowercase()).collect();
        for line in applied.filter(|_| !removed) {
            // A built-in monitor at what it has anyway is not written.
            let same = line.text.starts_with("set lb monitor ")
                && !all.iter().any(|word| word == &lines::telling(&line.text)[0]);
            for word in lines::telling(&line.text).into_iter().filter(|_| !same) {
                assert!(all.contains(&word.to_lowercase()), "{name}: {word} of {}", line.text);
            }
        }
    }
}

/// How a saved file has a line that was kept.
fn as_kept(line: &Line) -> Vec<String> {
    let mark = match &line.outcome {
        Outcome::Applied { .. } => return Vec::new(),
        Outcome::Kept { class: Class::Inert, .. } => "# inert".to_owned(),
        Outcome::Kept { .. } => return lines::joined(&line.text),
        Outcome::Refused { refusal, .. } => format!("# refused {}", refusal.code()),
    };
    let part = |(index, text): (usize, &str)| format!("{mark}{} {text}", if index == 0 { ':' } else { '|' });
    line.text.split('\n').enumerate().map(part).collect()
}

/// Each line that is printed anew is one that the command reference allows; the kept ones are as they came.
#[test]
fn an_appliance_would_accept_what_is_printed() {
    let grammar = grammar::Grammar::of(include_str!("fixtures/synopses.tsv"));
    let mut known = 0;
    let mut wrong = Vec::new();
    for (name, _, reading) in readings() {
        let kept: BTreeSet<&str> = reading.config.kept.iter().flat_map(|kept| kept.text.lines()).collect();
        let printed = print(&reading.config).ns_conf;
        for line in printed.lines().filter(|line| !line.starts_with('#') && !kept.contains(line)) {
            match grammar.check(line) {
                None => {
                    assert!(WITHOUT.iter().any(|head| line.starts_with(head)), "{name}: no synopsis: {line}")
                }
                Some(Ok(())) => known += 1,
                Some(Err(why)) => wrong.push(format!("{name}: {why}: {line}")),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    if corpus().is_some() {
        assert!(known > 500, "only {known} lines have a synopsis");
    }
}

/// No line has come to stand before one that adds what it names.
#[test]
fn no_line_stands_before_what_it_names() {
    for (name, file, reading) in readings() {
        let before = lines::forward(&file);
        let after = lines::forward(&print(&reading.config).ns_conf);
        let moved: Vec<_> = after.difference(&before).collect();
        assert!(moved.is_empty(), "{name}: {moved:#?}");
    }
}

/// Commands whose synopsis the reference does not have.
const WITHOUT: [&str; 9] = [
    "add netProfile ",
    "set ns param ",
    "set system parameter ",
    "add system cmdPolicy ",
    "add system user ",
    "set system user ",
    "add system group ",
    "bind system user ",
    "bind system group ",
];
