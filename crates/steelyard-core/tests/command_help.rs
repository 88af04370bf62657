//! Help, read back: each synopsis names what the command takes and nothing else, and what it gives as a choice is taken.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeSet;

use steelyard_core::command::{Object, Verb, lex, parse, usage};
use steelyard_core::config::attribute::{Kind, Place, Resource};
use steelyard_core::config::{LbMonitor, LbVserver, Server, Service, ServiceGroup};

/// A synopsis, taken apart.
#[derive(Debug, Default)]
struct Synopsis {
    /// Words, and whether each must be there.
    words: Vec<(String, bool)>,
    /// Options with what follows each.
    options: Vec<(String, String)>,
}

/// Reads `[...]` groups and bare words; a group that begins with `-` is an option.
fn read(synopsis: &str) -> Synopsis {
    let mut read = Synopsis::default();
    let mut rest = synopsis.trim();
    while !rest.is_empty() {
        let length = match rest.strip_prefix('[') {
            Some(_) => {
                let mut depth = 0;
                rest.char_indices()
                    .find_map(|(at, c)| {
                        depth += i32::from(c == '[') - i32::from(c == ']');
                        (depth == 0).then_some(at + 1)
                    })
                    .unwrap()
            }
            None => rest.find(' ').unwrap_or(rest.len()),
        };
        let (part, after) = rest.split_at(length);
        rest = after.trim_start();
        let inner = part.strip_prefix('[').and_then(|part| part.strip_suffix(']'));
        let name =
            |part: &str| part.trim_matches(['<', '>', '@', '.', ' ']).trim_end_matches(">@").to_owned();
        match inner {
            Some(option) if option.starts_with('-') => {
                let (name, value) = option.split_once(' ').unwrap_or((option, ""));
                read.options.push((name[1..].to_owned(), value.to_owned()));
            }
            Some(word) => read.words.push((name(word.split(' ').next().unwrap()), false)),
            None if part == "..." => {}
            None => read.words.push((name(part), true)),
        }
    }
    read
}

fn synopsis(verb: Verb, object: Object) -> Option<Synopsis> {
    let text = usage(verb, object)?;
    let line = text.lines().next().unwrap();
    Some(read(line.strip_prefix(&format!("Usage: {} {}", verb.text(), object.text())).unwrap()))
}

fn code(line: &str) -> u16 {
    parse(&lex::words(line).unwrap()).map_or_else(|(refusal, _)| refusal.code(), |_| 0)
}

/// What the synopsis of `add` says is what the rows say.
fn is_of<T: Resource>(object: Object) {
    let said = synopsis(Verb::Add, object).unwrap();
    let words: Vec<(String, bool)> = T::rows()
        .filter(|row| matches!(row.place, Place::Key | Place::Required | Place::Optional))
        .map(|row| (row.cli.to_owned(), row.place != Place::Optional))
        .collect();
    assert_eq!(said.words, words);
    let options: Vec<&str> = T::rows().filter(|row| row.place == Place::Option).map(|row| row.cli).collect();
    assert_eq!(said.options.iter().map(|(name, _)| name).collect::<Vec<_>>(), options);
    let text = usage(Verb::Add, object).unwrap();
    for row in T::rows() {
        assert!(text.contains(&format!("\n  {}: {}\n", row.cli, row.help)), "{}", row.cli);
        if let Kind::Word(words) = row.kind {
            let all: Vec<&str> = words.carried.iter().chain(words.not_carried).copied().collect();
            assert!(text.contains(&format!("( {} )", all.join(" | "))), "{}", row.cli);
        }
    }
}

#[test]
fn the_synopsis_is_that_of_the_rows() {
    is_of::<Server>(Object::Server);
    is_of::<Service>(Object::Service);
    is_of::<ServiceGroup>(Object::ServiceGroup);
    is_of::<LbVserver>(Object::LbVserver);
    is_of::<LbMonitor>(Object::LbMonitor);
}

/// Each option of each synopsis is an option of that command, named once; of a choice each word is taken.
#[test]
fn every_synopsis_is_true() {
    let mut commands = 0;
    for (verb, object) in Verb::ALL.into_iter().flat_map(|verb| Object::ALL.map(|object| (verb, object))) {
        let Some(said) = synopsis(verb, object) else { continue };
        let command = format!("{} {}", verb.text(), object.text());
        commands += 1;
        let mut names = BTreeSet::new();
        for (name, value) in &said.options {
            assert!(names.insert(name.to_ascii_lowercase()), "{command}: -{name} twice");
            let line = format!("{command} -{name}");
            assert!(![1088, 1090, 1099].contains(&code(&line)), "{line}");
            let choice = value.strip_prefix("( ").and_then(|value| value.split_once(" )"));
            for word in choice.iter().flat_map(|(words, _)| words.split(" | ")) {
                assert!(![1097, 1105].contains(&code(&format!("{line} {word}"))), "{line} {word}");
            }
            let taken = code(&format!("{line} NO_SUCH_WORD"));
            assert!(choice.is_none() || taken == 1097, "{line}: {taken}");
        }
    }
    assert!(commands > 60, "{commands}");
}

/// As the appliance's own help looks (`spec/cli.md` 3).
#[test]
fn help_reads_like_netscalers() {
    let text = usage(Verb::Rename, Object::Server).unwrap();
    assert_eq!(
        text,
        "Usage: rename server <name>@ <newName>@\n  name: Name of the server.\n  newName: The new name.\n"
    );
    let text = usage(Verb::Disable, Object::Service).unwrap();
    assert!(
        text.starts_with("Usage: disable service <name>@ [<delay>] [-graceFul ( YES | NO )]\n"),
        "{text}"
    );
    let text = usage(Verb::Set, Object::LbGroup).unwrap();
    let head = "Usage: set lb group <name>@ [-persistenceType <persistenceType>] [-persistenceBackup ( SOURCEIP | NONE )] \
                [-backupPersistenceTimeout <positive_integer>]";
    assert!(text.starts_with(head), "{text}");
    assert!(
        text.contains("\nwhere:\n  persistenceType = ( SOURCEIP | COOKIEINSERT | RULE | NONE )\n"),
        "{text}"
    );
    assert_eq!(usage(Verb::Add, Object::LbParameter), None);
}
