//! Lines typed at a prompt, one by one: the verdict on each is the one that it gets in a file.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../../../ci/corpus.rs"]
mod files;

use files::corpus;
use steelyard_core::command::lex::words;
use steelyard_core::command::{
    Forget, Line, Meaning, Outcome, Typed, Verb, apply, help, print, read, run_line,
};
use steelyard_core::config::Config;

/// What became of a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Verdict {
    Applied,
    Kept,
    /// A query, an action, a comment.
    Nothing,
    Refused(u16),
}

/// The verdict at the prompt.
fn typed(config: &mut Config, line: &str) -> Verdict {
    let typed = match Typed::read(line, config) {
        Ok(Some(typed)) => typed,
        Ok(None) => return Verdict::Nothing,
        Err((refusal, _)) => return Verdict::Refused(refusal.code()),
    };
    let parsed = match typed.meaning() {
        Meaning::Action(_) => return Verdict::Nothing,
        Meaning::Command(parsed) if matches!(parsed.verb(), Verb::Show | Verb::Stat) => {
            return Verdict::Nothing;
        }
        Meaning::Command(parsed) => parsed,
        Meaning::Kept => {
            typed.keep(config, &Forget).unwrap();
            return Verdict::Kept;
        }
    };
    let mut draft = config.clone();
    for command in parsed.commands() {
        let mut command = command.clone();
        command.seal(&Forget).unwrap();
        match apply(&mut draft, &command) {
            Ok(_) => {}
            Err(refusal) if typed.is_kept_after(&refusal, config) => {
                typed.keep(config, &Forget).unwrap();
                return Verdict::Kept;
            }
            Err(refusal) => return Verdict::Refused(refusal.code()),
        }
    }
    *config = draft;
    Verdict::Applied
}

/// The verdict in a file.
fn in_file(line: &Line) -> Verdict {
    match &line.outcome {
        Outcome::Applied { .. } => Verdict::Applied,
        Outcome::Kept { class, .. } if class.is_live() => Verdict::Kept,
        Outcome::Kept { .. } => Verdict::Nothing,
        Outcome::Refused { refusal, .. } => Verdict::Refused(refusal.code()),
    }
}

/// Output that was pasted into a file with the prompt before it, and a command that goes on in the next line.
fn is_no_typed_line(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or_default();
    first.ends_with('>') || first == "Done" || text.contains('\n')
}

/// In a file a line may stand before the one that adds what it names; at the prompt it is typed again behind that.
#[test]
fn every_line_of_the_corpus_gets_the_verdict_that_it_gets_in_its_file() {
    for (name, bytes) in corpus().unwrap_or_default() {
        let mut config = Config::default();
        let mut early: Vec<String> = Vec::new();
        for line in read(&bytes, &name).lines {
            if is_no_typed_line(&line.text) {
                // What it adds is named by others.
                let _ = run_line(&mut config, &line.text);
                continue;
            }
            let before = config.clone();
            match (in_file(&line), typed(&mut config, &line.text)) {
                (Verdict::Applied, Verdict::Refused(258) | Verdict::Kept) => {
                    config = before;
                    early.push(line.text);
                }
                // The same line a second time: the first one was early.
                (Verdict::Refused(273), Verdict::Applied) if early.contains(&line.text) => {
                    early.retain(|text| *text != line.text);
                }
                (in_file, here) => assert_eq!(here, in_file, "{name}:{} {}", line.number, line.text),
            }
        }
        while !early.is_empty() {
            let left = early.len();
            early.retain(|text| {
                let before = config.clone();
                let applied = typed(&mut config, text) == Verdict::Applied;
                if !applied {
                    config = before;
                }
                !applied
            });
            assert!(early.len() < left, "{name}: {early:#?}");
        }
    }
}

/// A configuration into which these lines were typed.
fn of(lines: &[&str]) -> Config {
    let mut config = Config::default();
    for line in lines {
        let verdict = typed(&mut config, line);
        assert!(matches!(verdict, Verdict::Applied | Verdict::Kept), "{line}: {verdict:?}");
    }
    config
}

/// One typed line is one line of a file, whatever is in it.
#[test]
fn no_line_brings_another_into_the_file() {
    let mut config = Config::default();
    for line in [
        "add responder policy p true a\nadd server s 10.0.0.1",
        "add server s 10.0.0.1\r",
        "add rewrite policy p a \\",
    ] {
        assert_eq!(typed(&mut config, line), Verdict::Refused(1119), "{line:?}");
    }
    let long = format!("add server s 10.0.0.1 -comment {}", "x".repeat(1 << 20));
    assert_eq!(typed(&mut config, &long), Verdict::Refused(296));
    assert!(config == Config::default());
}

/// What somebody is allowed or denied does not depend on how much of a word was typed; a secret is nobody's to read.
#[test]
fn policies_and_the_audit_log_see_the_command_in_full_and_no_secret() {
    for (line, text) in [
        ("SH ru", "show ns runningConfig"),
        ("sav c", "save ns config"),
        ("cle ns co -f basic", "clear ns config -f basic"),
        ("kill system sess 3", "kill system session 3"),
        ("add resp policy p true a", "add responder policy p true a"),
        ("set service s -maxc 1", "set service s -maxClient 1"),
        ("add server s[1-2] 10.0.0.[1-2]", "add server s1 10.0.0.1\nadd server s2 10.0.0.2"),
        ("add aaa user u -password hunter2", "add aaa user u -password ********"),
        ("add system user u hunter2", "add system user u ********"),
    ] {
        let typed = Typed::read(line, &Config::default()).unwrap_or_else(|(r, _)| panic!("{line}: {r}"));
        assert_eq!(typed.unwrap().texts().join("\n"), text, "{line}");
    }
}

#[test]
fn a_kept_line_is_in_the_file_and_its_secret_is_not() {
    let config = of(&["add responder policy p true a", "add aaa user u -password hunter2"]);
    let printed = print(&config);
    assert!(printed.ns_conf.contains("add responder policy p true a\n"), "{}", printed.ns_conf);
    assert!(!printed.ns_conf.contains("hunter2"), "{}", printed.ns_conf);
    let sealed = "set lb monitor m LDAP -password 1a2b -sealed";
    assert_eq!(
        typed(&mut Config::default(), sealed),
        Verdict::Refused(1090),
        "only a file of ours has sealed secrets"
    );
}

#[test]
fn help_is_about_a_command_an_object_or_a_group() {
    let about = |line: &str| help(&words(line).unwrap()).map_err(|refusal| refusal.code());
    assert!(about("add lb vs").unwrap().starts_with("Usage: add lb vserver <name>@"));
    let group = about("lb").unwrap();
    let begins = |start: &str| group.lines().any(|line| line.starts_with(start));
    assert!(
        begins("add lb vserver <name>@") && begins("show lb monitor") && !begins("add server"),
        "{group}"
    );
    assert!(about("").unwrap().lines().any(|line| line.starts_with("add server <name>@")));
    assert_eq!(about("add nonsense"), Err(1088));
}
