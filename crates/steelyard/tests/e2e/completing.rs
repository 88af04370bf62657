//! Completion: over the management port for whoever may, and by keys at the prompt.

use libtest_mimic::Trial;
use serde_json::{Value, json};
use steelyard_core::command::{What, once};

use crate::place::Place;
use crate::program::{PASSWORD, Program, run_with_input};
use crate::terminal::Terminal;
use crate::users::by_password;

pub fn trials() -> Vec<Trial> {
    trials![
        what_may_stand_in_a_line_is_told_to_programs,
        names_are_told_to_those_alone_who_may_show_them,
        tab_completes_words_and_names,
        tab_lists_what_may_stand_there,
        a_question_mark_lists_what_may_stand_there_and_the_line_goes_on,
        nothing_is_offered_where_nothing_answers,
        what_is_offered_about_the_session_is_carried_out,
    ]
}

const CONFIG: &str = "enable ns feature LB\nadd server web1 127.0.0.9\nadd server web2 127.0.0.10\n\
                      add service \"my service\" web1 HTTP 8102\n";

/// What is told about a line by `POST`: status, and the answer.
fn told(program: &Program, fields: &str, body: &Value) -> (u16, Value) {
    let (nitro, body) = (program.nitro_address(), body.to_string());
    let answer = program.manage(format!(
        "POST /steelyard/v1/complete HTTP/1.1\r\nHost: {nitro}\r\n{fields}Content-Length: {}\r\n\r\n{body}",
        body.len()
    ));
    (answer.status(), serde_json::from_slice(&answer.body).unwrap())
}

fn words(answer: &Value) -> Vec<&str> {
    let candidates = answer["candidates"].as_array().unwrap();
    candidates.iter().map(|candidate| candidate["word"].as_str().unwrap()).collect()
}

fn what_may_stand_in_a_line_is_told_to_programs() {
    let place = Place::new();
    let program = Program::launch(&place, CONFIG);
    let nsroot = by_password("nsroot", PASSWORD);
    let ask = |body: Value| told(&program, &nsroot, &body);
    let (status, answer) = ask(json!({ "line": "rm service m" }));
    assert_eq!((status, answer["errorcode"].as_u64()), (200, Some(0)));
    assert_eq!((answer["start"].as_u64(), answer["more"].as_u64()), (Some(11), Some(0)));
    assert_eq!(
        answer["candidates"],
        json!([{ "word": "\"my service\"", "help": "service", "required": true }])
    );
    let (_, answer) = ask(json!({ "line": "show server web1 -all", "at": 13 }));
    assert_eq!(words(&answer), ["web1", "web2"]);
    let (_, answer) = ask(json!({ "line": "show server " }));
    assert_eq!(answer["whole"], json!(true));
    assert_eq!(answer["expected"][0]["word"], json!("<name>"));
    for (body, status, code) in [
        (json!({ "line": "foo " }), 400, 1088),
        (json!({ "line": 1 }), 400, 1234),
        (json!({ "line": "x", "at": "y" }), 400, 1234),
        (json!({ "line": "x", "at": -1 }), 400, 1234),
        (json!({}), 400, 1095),
        (json!({ "line": "x".repeat(70_000) }), 599, 296),
        (json!({ "line": "show ä", "at": 6 }), 200, 0),
        (json!({ "line": "show", "at": u64::MAX }), 200, 0),
    ] {
        let (got, answer) = ask(body.clone());
        let shown: String = body.to_string().chars().take(60).collect();
        assert_eq!((got, answer["errorcode"].as_u64()), (status, Some(code)), "{shown}");
    }
    assert_eq!(told(&program, "", &json!({ "line": "show " })).0, 401);
}

fn names_are_told_to_those_alone_who_may_show_them() {
    let place = Place::new();
    let program = Program::launch(&place, CONFIG);
    let data = program.data().to_str().unwrap().to_owned();
    let lines = "add system user reader pass-word-1\nbind system user reader read-only 1\n\
                 add system cmdPolicy one ALLOW \"^show server web2$\"\n\
                 add system user some pass-word-2\nbind system user some one 1\nadd system user none pass-word-3\n";
    let output = run_with_input(&["cli", "--data", &data], lines.as_bytes());
    assert_eq!(String::from_utf8(output.stdout).unwrap(), " Done\n".repeat(6));
    for (user, password, line, expected) in [
        ("nsroot", PASSWORD, "rm server w", &["web1", "web2"][..]),
        ("nsroot", PASSWORD, "set system user ", &["none", "nsroot", "reader", "some"]),
        ("reader", "pass-word-1", "rm server w", &["web1", "web2"]),
        ("reader", "pass-word-1", "set system user ", &[]),
        ("some", "pass-word-2", "rm server w", &["web2"]),
        ("some", "pass-word-2", "rm service ", &[]),
        ("none", "pass-word-3", "rm server w", &[]),
        ("none", "pass-word-3", "rm server", &["server"]),
    ] {
        let (status, answer) = told(&program, &by_password(user, password), &json!({ "line": line }));
        assert_eq!((status, words(&answer)), (200, expected.to_vec()), "{user}: {line}");
    }
}

fn at_the_prompt(place: &Place) -> Option<(Program, Terminal)> {
    let program = Program::launch(place, CONFIG);
    let terminal = Terminal::start(&["cli", "--data", program.data().to_str().unwrap()])?;
    terminal.waits_for(&["> "]);
    Some((program, terminal))
}

/// Drops the line: the next one begins empty.
fn drop_line(terminal: &Terminal) {
    terminal.types("\x03");
    terminal.waits_for(&["> "]);
}

fn tab_completes_words_and_names() {
    let place = Place::new();
    let Some((_program, terminal)) = at_the_prompt(&place) else { return };
    // A word that is the only one, with its blank; what several have in common; a name in its quotes.
    for (keys, line) in [
        ("sh\tserver w\t", "> show server web"),
        ("sh\tlb vs\t", "> show lb vserver"),
        (
            "add lb vserver v HTTP 10.0.0.1 80 -lbm\tlrt\t",
            "> add lb vserver v HTTP 10.0.0.1 80 -lbMethod LRTM",
        ),
        ("rm service m\t", "> rm service \"my service\""),
        ("rm service \"my s\t", "> rm service \"my service\""),
        ("enable ns feature L\t", "> enable ns feature L"),
        ("show server WEB1\t", "> show server web1"),
        ("show nonsense x\t", "> show nonsense x"),
    ] {
        terminal.types(keys);
        terminal.waits_for(&[line]);
        drop_line(&terminal);
    }
    terminal.types("sh\tserv\t");
    terminal.waits_for(&["> show serv"]);
    terminal.types("er web1\tx\x7f\r");
    terminal.waits_for(&[
        "> show server web1",
        "1)      Name:     web1      State:ENABLED",
        "        IPAddress:   127.0.0.9",
        " Done",
        "> ",
    ]);
}

fn tab_lists_what_may_stand_there() {
    let place = Place::new();
    let Some((_program, terminal)) = at_the_prompt(&place) else { return };
    terminal.types("rm server \t\t");
    terminal.waits_for(&["> rm server web", "web1  web2", "> rm server web"]);
    drop_line(&terminal);
    terminal.types("add lb monitor m HTTP -interval 5 M\t\t");
    let line = "> add lb monitor m HTTP -interval 5 M";
    terminal.waits_for(&[line, "MSEC  MIN", line]);
}

fn a_question_mark_lists_what_may_stand_there_and_the_line_goes_on() {
    let place = Place::new();
    let Some((program, terminal)) = at_the_prompt(&place) else { return };
    terminal.types("rm server web1 ?");
    terminal.waits_for(&[
        "> rm server web1",
        "  <name>  Names of what to remove.",
        "  web2    server",
        "  <cr>",
        "> rm server web1",
    ]);
    terminal.types("web2?");
    terminal.waits_for(&[
        "> rm server web1 web2",
        "  <name>  Names of what to remove.",
        "  web2    server",
        "> rm server web1 web2",
    ]);
    drop_line(&terminal);
    terminal.types("set lb mon x HTTP -interval 5 ?");
    terminal.waits_for_text("\r\n  SEC MSEC MIN\r\n  -action ");
    drop_line(&terminal);
    terminal.types("show nonsense ?");
    terminal.waits_for_text("ERROR: No such command\r\n");
    drop_line(&terminal);
    // Where the cursor is, not at the end; it stays there.
    terminal.types("show web1\x01\x1b[C\x1b[C\x1b[C\x1b[C\x1b[C?");
    terminal.waits_for_text("  server ");
    terminal.types("server \r");
    terminal.waits_for(&["        IPAddress:   127.0.0.9", " Done", "> "]);
    terminal.types("set server web1 -comment \"why? how?\"\r");
    terminal.waits_for(&["> set server web1 -comment \"why? how?\"", " Done", "> "]);
    assert!(program.running().contains("-comment \"why? how?\""), "{}", program.running());
    // What is typed ahead is not lost.
    terminal.types("show ?server web1?\rwhoami\r");
    terminal.waits_for(&["> whoami", "        UserName: owner", " Done", "> "]);
}

fn nothing_is_offered_where_nothing_answers() {
    let place = Place::new();
    let Some((program, terminal)) = at_the_prompt(&place) else { return };
    drop(program);
    terminal.types("sh\t?");
    terminal.waits_for_text("ERROR: The running program does not answer");
    terminal.waits_for(&["> sh"]);
}

/// Commands about the session are read by the prompt alone: each that is offered, with each option and each word of it.
fn what_is_offered_about_the_session_is_carried_out() {
    let place = Place::new();
    let program = Program::launch(&place, CONFIG);
    let mut lines = String::new();
    for of in once().filter(|of| of.object.starts_with("cli ")) {
        let name = of.name();
        match (of.parts, of.verb) {
            ([], _) => lines.push_str(&format!("{name}\n")),
            ([part], _) if !part.name.starts_with('-') => lines.push_str(&format!("{name} x>\n")),
            (parts, _) => {
                for part in parts {
                    match part.what {
                        What::Words(words) => {
                            // What stays off may be said to be off.
                            let words =
                                words.iter().filter(|word| **word != "ON" || !part.help.starts_with("Stays"));
                            words.for_each(|word| lines.push_str(&format!("{name} {} {word}\n", part.name)));
                        }
                        What::Nothing => lines.push_str(&format!("{name} {}\n", part.name)),
                        _ => lines.push_str(&format!("{name} {} 60\n", part.name)),
                    }
                }
            }
        }
    }
    let data = program.data().to_str().unwrap();
    let output = run_with_input(&["cli", "--data", data], lines.as_bytes());
    let out = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{lines}{out}");
    assert_eq!(out.matches(" Done\n").count(), lines.lines().count(), "{lines}{out}");
    assert!(lines.lines().count() > 15, "{lines}");
}
