//! Lines typed at a prompt, one by one: the verdict on each is the one that it gets in a file.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../../../ci/corpus.rs"]
mod files;

use files::corpus;
use steelyard_core::command::lex::words;
use steelyard_core::command::{
    Forget, Line, Meaning, Outcome, Refusal, Typed, Verb, apply, help, print, read, run_line,
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
    assert!(about("-all").unwrap().lines().any(|line| line.starts_with("add server <name>@")));
    assert_eq!(about("add nonsense"), Err(1088));
}

/// A line that is wrong; the appliance's words about it (`spec/cli.md` 3 and 4, `nitro-errors.tsv`), the column of the
/// word at fault, and what is said besides.
type Wrong = (&'static str, u16, &'static str, usize, &'static [&'static str]);

/// Types each line into a configuration with a few objects.
fn refuses(wrong: &[Wrong]) {
    let config = of(&[
        "add service s 10.0.0.9 HTTP 80",
        "add server known 10.0.0.8",
        "add serviceGroup g HTTP",
        "add lb vserver v HTTP 10.1.0.1 80",
    ]);
    let mut faults = Vec::new();
    for (line, code, message, column, said) in wrong {
        let Some((refusal, at)) = refused(&config, line) else {
            faults.push(format!("{line}: is carried out"));
            continue;
        };
        let advice = refusal.advice();
        let as_expected = (refusal.code(), refusal.message().as_str(), at) == (*code, *message, *column);
        if !as_expected || said.iter().any(|words| !advice.contains(words)) {
            faults.push(format!("{line}: {} {} {at}: {advice}", refusal.code(), refusal.message()));
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

/// Why a line is refused, and the column of the word at fault.
fn refused(config: &Config, line: &str) -> Option<(Refusal, usize)> {
    let typed = match Typed::read(line, config) {
        Ok(typed) => typed?,
        Err(refused) => return Some(refused),
    };
    let Meaning::Command(parsed) = typed.meaning() else { return None };
    let refusal = apply(&mut config.clone(), &parsed.commands()[0]).err()?;
    let column = parsed.column_of(&refusal);
    Some((refusal, column))
}

#[test]
fn a_quote_without_its_end_is_named_where_it_begins() {
    let text = "Unmatched quote";
    refuses(&[
        ("add server s 10.0.0.1 -comment \"no end", 1115, text, 32, &[]),
        ("add server s 10.0.0.1 -comment 'no end", 1115, text, 32, &[]),
        ("add server s 10.0.0.1 -comment \"escaped\\\"", 1115, text, 32, &[]),
        ("add server s 10.0.0.1 -comment \"other'", 1115, text, 32, &[]),
        ("add server s 10.0.0.1 -comment it's", 1115, text, 34, &[]),
        ("add server \"s 10.0.0.1", 1115, text, 12, &[]),
        ("\"add server s 10.0.0.1", 1115, text, 1, &[]),
        ("show lb vserver \"v", 1115, text, 17, &[]),
        ("add responder policy p \"true a", 1115, text, 24, &[]),
        ("\"", 1115, text, 1, &[]),
    ]);
    let config = of(&["add server s 10.0.0.1 -comment q{abc{"]);
    assert_eq!(config.servers.find("s").unwrap().comment, "q{abc{", "an ordinary word");
}

#[test]
fn the_beginning_of_several_words_is_refused_with_all_of_them() {
    let command = "Ambiguous command name";
    refuses(&[
        (
            "s server",
            1089,
            command,
            1,
            &["set", "show", "stat", "save", "scp", "shell", "shutdown", "source", "sync", "switch"],
        ),
        ("re server s t", 1089, command, 1, &["rename", "reboot"]),
        ("add servi x", 1089, command, 5, &["service", "serviceGroup"]),
        ("sh ser", 1089, command, 4, &["server", "service", "serviceGroup"]),
        ("show lb p", 1089, command, 9, &["parameter", "profile", "persistentSessions"]),
        (
            "add lb vserver v HTTP 10.0.0.1 80 -c 5",
            1099,
            "Ambiguous argument name [-c]",
            35,
            &["cltTimeout", "comment", "cookieName", "cacheable", "connfailover"],
        ),
        (
            "set service s -c 5",
            1099,
            "Ambiguous argument name [-c]",
            15,
            &["cacheable", "cip", "cltTimeout", "CustomServerID", "CKA", "CMP", "comment"],
        ),
        (
            "add lb vserver v HTTP 10.0.0.1 80 -lbMethod LEAST",
            1105,
            "Ambiguous argument value [lbMethod]",
            45,
            &["LEASTCONNECTION", "LEASTRESPONSETIME", "LEASTBANDWIDTH", "LEASTPACKETS", "LEASTREQUEST"],
        ),
        (
            "add lb monitor m HTTP -interval 10 M",
            1105,
            "Ambiguous argument value [interval]",
            36,
            &["MSEC", "MIN"],
        ),
        (
            "add service s 10.0.0.1 SSL_ 80",
            1105,
            "Ambiguous argument value [serviceType]",
            24,
            &["SSL_BRIDGE", "SSL_TCP"],
        ),
    ]);
    // A whole word is that word, whatever others begin with it.
    of(&["add service s 10.0.0.1 SSL 80", "add lb vserver v TCP 10.0.0.2 80", "set service s -cip DISABLED"]);
}

#[test]
fn an_unknown_word_is_refused_with_the_nearest_one() {
    let command = "No such command";
    refuses(&[
        ("fly lb vserver v", 1088, command, 1, &["\"fly\" is not known"]),
        ("bnd lb vserver v s", 1088, command, 1, &["did you mean bind?"]),
        ("shwo server", 1088, command, 1, &["did you mean show?"]),
        ("add servr s 10.0.0.1", 1088, command, 5, &["did you mean server?"]),
        ("add lb vsever v HTTP", 1088, command, 8, &["did you mean vserver?"]),
        ("show lb montor", 1088, command, 9, &["did you mean monitor?"]),
        ("enable ns fature LB", 1088, command, 11, &["did you mean feature?"]),
        ("add ns feature LB", 1088, command, 5, &["add ns feature"]),
        (
            "add server s 10.0.0.1 -commnt x",
            1090,
            "No such argument [-commnt]",
            23,
            &["did you mean -comment?"],
        ),
        (
            "add server s 10.0.0.1 -purpose x",
            1090,
            "No such argument [-purpose]",
            23,
            &["\"-purpose\" is not known"],
        ),
        ("add server s 10.0.0.1 extra", 1090, "No such argument [extra]", 23, &["\"extra\" is not known"]),
        (
            "set service s maxClient 5",
            1090,
            "No such argument [maxClient]",
            15,
            &["did you mean -maxClient?"],
        ),
        (
            "add lb vserver v HTP 10.0.0.1 80",
            1097,
            "Invalid argument value [serviceType]",
            18,
            &["did you mean HTTP?"],
        ),
    ]);
}

#[test]
fn what_stands_in_the_wrong_order_is_told_the_right_one() {
    let order = &["name serviceType IPAddress port"][..];
    refuses(&[
        ("add lb vserver v 10.0.0.1 80 HTTP", 1096, "Argument(s) out of order [10.0.0.1]", 18, order),
        ("add lb vserver v 80 10.0.0.1 HTTP", 1096, "Argument(s) out of order [80]", 18, order),
        ("add lb vserver v HTTP 80 10.0.0.1", 1096, "Argument(s) out of order [80]", 23, order),
        ("add lb vserver HTTP v 10.0.0.1 80", 1096, "Argument(s) out of order [v]", 21, order),
        (
            "add lb vserver v HTTP -cltTimeout 180 10.0.0.1 80",
            1096,
            "Argument(s) out of order [10.0.0.1]",
            39,
            order,
        ),
        (
            "add service s HTTP 10.0.0.1 80",
            1096,
            "Argument(s) out of order [10.0.0.1]",
            20,
            &["serviceType port"],
        ),
        ("add service s 10.0.0.1 80 HTTP", 1096, "Argument(s) out of order [80]", 24, &["serviceType port"]),
        ("add lb monitor HTTP web1", 1096, "Argument(s) out of order [web1]", 21, &["monitorName type"]),
        (
            "add serviceGroup f -comment HTTP web1",
            1112,
            "Argument has too many values [comment]",
            34,
            &["\"web1\" is one value too many"],
        ),
        (
            "add serviceGroup HTTP web1",
            1096,
            "Argument(s) out of order [web1]",
            23,
            &["serviceGroupName serviceType"],
        ),
    ]);
}

#[test]
fn what_is_missing_is_told_by_its_name() {
    refuses(&[
        ("add", 1128, "Incomplete command", 5, &["server", "service", "serviceGroup"]),
        ("add lb", 1128, "Incomplete command", 8, &["vserver", "monitor"]),
        ("set ns", 1128, "Incomplete command", 8, &["param"]),
        ("add server", 1095, "Required argument missing [name]", 12, &[]),
        ("add server s", 1095, "Required argument missing [IPAddress]", 14, &[]),
        ("add service s 10.0.0.1", 1095, "Required argument missing [serviceType]", 24, &[]),
        ("add service s 10.0.0.1 HTTP", 1095, "Required argument missing [port]", 29, &[]),
        ("add lb vserver w", 1095, "Required argument missing [serviceType]", 18, &[]),
        ("add lb vserver w HTTP 10.0.0.1", 1095, "Required argument missing [port]", 32, &[]),
        ("add lb monitor m", 1095, "Required argument missing [type]", 18, &[]),
        ("bind serviceGroup g s", 1095, "Required argument missing [port]", 23, &[]),
        ("rm server", 1095, "Required argument missing [name]", 11, &[]),
        ("enable ns feature", 1095, "Required argument missing [feature]", 19, &[]),
        ("add server s 10.0.0.1 -comment", 1091, "Required argument value missing [-comment]", 23, &[]),
        (
            "add lb monitor m HTTP -respCode -interval 5",
            1091,
            "Required argument value missing [-respCode]",
            23,
            &[],
        ),
        ("set lb monitor m HTTP -interval", 1091, "Required argument value missing [-interval]", 23, &[]),
        ("set server s", 1094, "Too few arguments", 14, &[]),
        ("set lb vserver v", 1094, "Too few arguments", 18, &[]),
        ("unset service s", 1094, "Too few arguments", 17, &[]),
    ]);
}

/// What operators and files write for short, and old forms without the group (`spec/cli.md` 3, `spec/nsconf-frequency.md` 1
/// and 6.7): each is judged, noted and carried out as the command in full.
#[test]
fn short_and_old_forms_are_the_command_in_full() {
    for (short, full) in [
        ("sh lb vs x", "show lb vserver x"),
        ("sh ru", "show ns runningConfig"),
        ("sh run", "show ns runningConfig"),
        ("show runningConfig", "show ns runningConfig"),
        ("sho save", "show ns savedConfig"),
        ("show savedconfig", "show ns savedConfig"),
        ("save c", "save ns config"),
        ("save config", "save ns config"),
        ("clear config -force basic", "clear ns config -force basic"),
        ("show ip", "show ns ip"),
        ("show version", "show ns version"),
        ("sh ver", "show ns version"),
        ("show feature", "show ns feature"),
        ("show hostname", "show ns hostName"),
        ("en ns feature lb", "enable ns feature LB"),
        ("enable feature LoadBalancing", "enable ns feature LB"),
        ("disable feature CS", "disable ns feature CS"),
        ("en ns mode fr", "enable ns mode FR"),
        ("enable mode FR", "enable ns mode FR"),
        ("set tcpprofile p -WS ENABLED", "set ns tcpProfile p -WS ENABLED"),
        ("add vserver v HTTP 10.0.0.1 80", "add lb vserver v HTTP 10.0.0.1 80"),
        ("add lb vs v HTTP 10.0.0.1 80 -m MAC", "add lb vserver v HTTP 10.0.0.1 80 -m MAC"),
        ("set vserver v -clt 9", "set lb vserver v -cltTimeout 9"),
        ("bind lb vs v s", "bind lb vserver v s"),
        ("unbind lb vs v s", "unbind lb vserver v s"),
        ("show vserver v", "show lb vserver v"),
        ("enable vserver v", "enable lb vserver v"),
        ("disable vserver v", "disable lb vserver v"),
        ("rm vserver v", "rm lb vserver v"),
        ("stat lb vs v", "stat lb vserver v"),
        ("add monitor m HTTP", "add lb monitor m HTTP"),
        ("set monitor m HTTP -interval 9", "set lb monitor m HTTP -interval 9"),
        ("bind monitor m s", "bind lb monitor m s"),
        ("bind lb mon m s", "bind lb monitor m s"),
        ("unbind monitor m s", "unbind lb monitor m s"),
        ("enable monitor s m", "enable lb monitor s m"),
        ("disable monitor s m", "disable lb monitor s m"),
        ("show monitor m", "show lb monitor m"),
        ("rm monitor m HTTP", "rm lb monitor m HTTP"),
        ("bind serviceg g s 80", "bind serviceGroup g s 80"),
        ("set servicegroup g -maxc 3", "set serviceGroup g -maxClient 3"),
        ("rm servicegroup g", "rm serviceGroup g"),
        (
            "add service s 10.0.0.1 http 80 -cip enabled X-Client",
            "add service s 10.0.0.1 HTTP 80 -cip ENABLED X-Client",
        ),
        ("SET SERVICE s -MAXCLIENT 1", "set service s -maxClient 1"),
    ] {
        let typed = |line: &str| match Typed::read(line, &Config::default()) {
            Ok(Some(typed)) => typed.texts().join("\n"),
            Ok(None) => "nothing".to_owned(),
            Err((refusal, _)) => refusal.to_string(),
        };
        assert_eq!((typed(short).as_str(), typed(full).as_str()), (full, full), "{short}");
    }
}
