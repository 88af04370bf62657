//! What the prompt tells beside what an appliance shows: help, the manual, and the commands that no appliance has.

use std::fs;

use libtest_mimic::Trial;

use crate::client::Client;
use crate::place::Place;
use crate::program::{EXECUTABLE, PASSWORD, Program, run_to_end};
use crate::service::TestService;
use crate::terminal::Terminal;

pub fn trials() -> Vec<Trial> {
    trials![
        explain_at_the_prompt_is_the_table_that_the_program_prints,
        check_at_the_prompt_is_the_report_that_the_program_prints,
        help_and_man_tell_what_there_is,
        what_is_asked_wrongly_is_refused_in_the_appliances_words,
        whoever_has_logged_in_reads_no_file_and_sees_what_policies_allow,
    ]
}

/// Exit code, standard output and standard error.
fn output(arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = run_to_end(arguments);
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn one(data: &str, line: &str) -> (Option<i32>, String, String) {
    output(&["cli", "--data", data, line])
}

fn explain_at_the_prompt_is_the_table_that_the_program_prints() {
    let place = Place::new();
    let (a, b) = (TestService::named(place.service(1), "a"), TestService::named(place.service(2), "b"));
    let program = Program::start(&place, "LEASTCONNECTION", &[&a, &b]);
    let mut client = Client::connect(program.vserver());
    (0..5).for_each(|_| assert_eq!(client.get("/").status(), 200));
    let data = program.data().to_str().unwrap();
    for (line, last) in [("explain v -last 3", "3"), ("expl V -l 1", "1"), ("explain v", "10")] {
        let (code, table, _) = output(&["explain", "v", "--last", last, "--data", data]);
        assert_eq!(code, Some(0));
        let plain = |text: &str| text.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
        let (code, shown, error) = one(data, line);
        assert_eq!((code, error.as_str()), (Some(0), ""), "{line}");
        assert_eq!(plain(&shown), plain(&format!("{table} Done")), "{line}");
        assert!(shown.ends_with(" Done\n") && table.lines().count() > 1, "{shown}");
    }
    let (code, _, error) = one(data, "explain nobody");
    assert!(code == Some(1) && error.starts_with("ERROR: No such resource [name, nobody]"), "{error}");
}

fn check_at_the_prompt_is_the_report_that_the_program_prints() {
    let place = Place::new();
    let program = Program::launch(&place, "enable ns feature LB\n");
    let data = program.data().to_str().unwrap();
    let file = program.data().join("some.conf");
    fs::write(
        &file,
        "add server s 10.0.0.1\nadd lb vserver v NONSENSE\nadd route 10.0.0.0 255.0.0.0 10.0.0.9\n",
    )
    .unwrap();
    let file = file.to_str().unwrap();
    let (_, report, _) = output(&["check", file]);
    let (code, shown, error) = one(data, &format!("check {file}"));
    assert_eq!((code, error.as_str()), (Some(0), ""));
    assert_eq!(shown, format!("{report} Done\n"));
    assert!(report.contains("NONSENSE"), "{report}");
    assert_eq!(one(data, "show server").1, " Done\n", "nothing is carried out");
    let (code, _, error) = one(data, "check /nowhere/x.conf");
    assert!(code == Some(1) && error.starts_with("ERROR: I/O error [/nowhere/x.conf: "), "{error}");
}

fn help_and_man_tell_what_there_is() {
    let place = Place::new();
    let program = Program::launch(&place, "enable ns feature LB\n");
    let data = program.data().to_str().unwrap();
    for (line, parts) in [
        ("help", &["help COMMAND", "\n  explain ", "(Steelyard)", "\nGroups and objects:\n"][..]),
        ("help -all", &["\nadd lb vserver <name>@ <serviceType>", "\nsave ns config\n"]),
        ("help lb mon", &["ERROR"]),
        ("help explain", &["Usage: explain <vserver> [-last <last>] (Steelyard)\n"]),
        (
            "man add lb vs",
            &[
                "NAME\n        add lb vserver - ",
                "\nSYNOPSIS\n        add lb vserver <name>@ <serviceType>",
                "\nARGUMENTS\n        <name>\n                Name of the virtual server. Required.",
                "\nSEE ALSO\n        bind lb vserver, set lb vserver",
            ],
        ),
        ("man check", &["An addition of Steelyard: no appliance has it."]),
        ("man lb", &["add lb group "]),
    ] {
        let (code, shown, error) = one(data, line);
        if parts == ["ERROR"] {
            assert!(code == Some(1) && error.starts_with("ERROR: "), "{line}: {error}");
            continue;
        }
        assert_eq!((code, error.as_str()), (Some(0), ""), "{line}");
        let shown = format!("\n{shown}");
        for part in parts {
            assert!(shown.contains(part), "{line}: {part} in {shown}");
        }
    }
    let Some(terminal) = Terminal::start(&["cli", "--data", data]) else { return };
    terminal.waits_for(&["> "]);
    // Page by page, whatever the mode.
    terminal.types("man add lb vserver\r");
    terminal.waits_for_text("SYNOPSIS");
    terminal.types("q");
    terminal.waits_for(&[" Done", "> "]);
    assert!(!terminal.transcript().contains("SEE ALSO"), "{}", terminal.transcript());
    terminal.types("man expl\t | grep NAME\r");
    terminal.waits_for(&["> man explain  | grep NAME", "NAME", " Done", "> "]);
}

fn what_is_asked_wrongly_is_refused_in_the_appliances_words() {
    let place = Place::new();
    let program = Program::launch(&place, "enable ns feature LB\n");
    let data = program.data().to_str().unwrap();
    for (line, message) in [
        ("explain", "Required argument missing [vserver]"),
        ("explain v w", "No such argument [w]"),
        ("explain v -first 1", "No such argument [-first]"),
        ("explain v -last", "Required argument value missing [last]"),
        ("explain v -last 0", "Invalid argument value [last]"),
        ("explain v -last 1001", "Invalid argument value [last]"),
        ("check", "Required argument missing [file]"),
        ("check a b", "No such argument [b]"),
        ("man nonsense", "No such command"),
    ] {
        let (code, out, error) = one(data, line);
        assert_eq!((code, out.as_str()), (Some(1), ""), "{line}");
        assert!(error.starts_with(&format!("ERROR: {message}")), "{line}: {error}");
    }
}

/// The prompt of somebody who is not the owner, as SSH starts it.
fn whoever_has_logged_in_reads_no_file_and_sees_what_policies_allow() {
    let place = Place::new();
    let (a, b) = (TestService::named(place.service(1), "a"), TestService::named(place.service(2), "b"));
    let program = Program::start(&place, "LEASTCONNECTION", &[&a, &b]);
    let data = program.data().to_str().unwrap();
    for line in [
        "add system user reader pass-word-1",
        "bind system user reader read-only 1",
        "add system user nobody pass-word-2",
    ] {
        assert_eq!(one(data, line).0, Some(0), "{line}");
    }
    let file = program.data().join("some.conf");
    fs::write(&file, "add server s 10.0.0.1\n").unwrap();
    let check = format!("check {}", file.display());
    for (user, password, line, code, begins) in [
        ("nsroot", PASSWORD, check.as_str(), Some(0), ""),
        ("reader", "pass-word-1", &check, Some(1), "ERROR: Operation not permitted"),
        ("reader", "pass-word-1", "explain v", Some(0), ""),
        ("nobody", "pass-word-2", "explain v", Some(1), "ERROR: No command policy defined"),
        ("nobody", "pass-word-2", "man explain", Some(0), ""),
    ] {
        let session = program.log_in(user, password).unwrap();
        let mut command = std::process::Command::new(EXECUTABLE);
        command.args(["cli", "--data", data, line]).env("STEELYARD_SESSION", session);
        let output = command.output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), code, "{user}: {line}: {error}");
        assert!(error.starts_with(begins), "{user}: {line}: {error}");
    }
}
