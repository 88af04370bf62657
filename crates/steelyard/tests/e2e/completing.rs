//! Completion: over the management port for whoever may, and by keys at the prompt.

use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::place::Place;
use crate::program::{PASSWORD, Program, run_with_input};
use crate::users::by_password;

pub fn trials() -> Vec<Trial> {
    trials![what_may_stand_in_a_line_is_told_to_programs, names_are_told_to_those_alone_who_may_show_them,]
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
