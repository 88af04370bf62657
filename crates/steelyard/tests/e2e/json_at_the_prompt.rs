//! `--json` behind `show` and `stat`: NITRO's rows, an error as NITRO says it, the exit code of the command.

use std::process::Output;

use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::place::Place;
use crate::program::{Program, run_to_end, run_with_input};

pub fn trials() -> Vec<Trial> {
    trials![
        the_rows_are_those_of_nitro,
        counters_are_those_of_nitro,
        it_may_stand_anywhere_and_lines_of_a_batch_have_it_or_not,
        an_error_is_json_too_and_the_exit_code_is_kept,
        a_filter_sees_a_line_for_each_value,
    ]
}

fn launched(place: &Place) -> (Program, String) {
    let ip = place.ip();
    let text = format!(
        "enable ns feature LB\nadd service s1 {ip} HTTP 8101 -healthMonitor NO\nadd serviceGroup g HTTP -healthMonitor NO\n\
         bind serviceGroup g {ip} 8102\nadd lb vserver v HTTP {ip} 8000\nbind lb vserver v s1 -weight 3\n\
         bind lb vserver v g\nadd lb vserver other TCP {ip} 8001\n"
    );
    let program = Program::launch(place, &text);
    program.wait_for_state("lbvserver", "v", "UP");
    let data = program.data().to_str().unwrap().to_owned();
    (program, data)
}

fn ask(data: &str, line: &str) -> (Option<i32>, String, String) {
    let arguments: Vec<&str> = ["cli", "--data", data].into_iter().chain(line.split(' ')).collect();
    let Output { status, stdout, stderr } = run_to_end(&arguments);
    (status.code(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

/// The one line of JSON that is printed.
fn printed(data: &str, line: &str) -> Value {
    let (code, out, errors) = ask(data, line);
    assert_eq!((code, errors.as_str(), out.lines().count()), (Some(0), "", 1), "{line}: {out}");
    serde_json::from_str(&out).unwrap()
}

/// What NITRO has of it, without what goes with the time.
fn told(program: &Program, path: &str, resource: &str) -> Value {
    let (_, answer) = program.nitro(&format!("/nitro/v1/{path}"));
    steady(answer[resource].clone())
}

fn steady(mut value: Value) -> Value {
    let rows = value.as_array_mut().into_iter().flatten();
    rows.filter_map(Value::as_object_mut).for_each(|row| {
        row.remove("tickssincelaststatechange");
    });
    value
}

fn the_rows_are_those_of_nitro() {
    let place = Place::new();
    let (program, data) = launched(&place);
    let mut one = printed(&data, "sh lb vs v --json");
    for (resource, path) in [
        ("lbvserver", "config/lbvserver/v"),
        ("lbvserver_service_binding", "config/lbvserver_service_binding/v"),
        ("lbvserver_servicegroup_binding", "config/lbvserver_servicegroup_binding/v"),
    ] {
        assert_eq!(steady(one[resource].take()), told(&program, path, resource), "{resource}");
    }
    let mut all = printed(&data, "show lb vserver --json");
    assert_eq!(all.as_object().unwrap().keys().collect::<Vec<_>>(), ["lbvserver"]);
    assert_eq!(steady(all["lbvserver"].take()), told(&program, "config/lbvserver", "lbvserver"));
    // What there is one of is no list, and where there is nothing the list is empty.
    let version = printed(&data, "show ns version --json");
    assert_eq!(version["nsversion"], told(&program, "config/nsversion", "nsversion"));
    assert_eq!(printed(&data, "show cs vserver --json")["csvserver"], json!([]));
}

fn counters_are_those_of_nitro() {
    let place = Place::new();
    let (program, data) = launched(&place);
    assert_eq!(
        printed(&data, "stat lb vserver --json")["lbvserver"],
        told(&program, "stat/lbvserver", "lbvserver")
    );
    assert_eq!(
        printed(&data, "stat lb vserver v --json")["lbvserver"],
        told(&program, "stat/lbvserver/v?statbindings=yes", "lbvserver")
    );
    assert_eq!(printed(&data, "stat ns --json")["ns"]["numcpus"], told(&program, "stat/ns", "ns")["numcpus"]);
    assert!(printed(&data, "stat protocol tcp --json")["protocoltcp"].is_object());
    let (code, out, _) = ask(&data, "stat lb vserver -ntimes 2 --json");
    assert_eq!((code, out.lines().count()), (Some(0), 2), "a line for each step");
}

fn it_may_stand_anywhere_and_lines_of_a_batch_have_it_or_not() {
    let place = Place::new();
    let (_program, data) = launched(&place);
    let last = printed(&data, "show service s1 --json");
    for line in ["--json show service s1", "show --json service s1", "show service --json s1"] {
        assert_eq!(steady(printed(&data, line)["service"].take()), steady(last["service"].clone()), "{line}");
    }
    let lines = "show server nobody --json\nset service s1 -maxClient 7\nstat service s1 --json\n";
    let Output { status, stdout, stderr } = run_with_input(&["cli", "--data", &data], lines.as_bytes());
    assert_eq!((status.code(), stderr.as_slice()), (Some(1), &b""[..]));
    let out = String::from_utf8(stdout).unwrap();
    let [error, done, counters] = out.lines().collect::<Vec<_>>()[..] else { panic!("{out}") };
    assert_eq!(serde_json::from_str::<Value>(error).unwrap()["errorcode"], 258);
    assert_eq!(done, " Done");
    assert_eq!(serde_json::from_str::<Value>(counters).unwrap()["service"][0]["maxclients"], "7");
}

fn an_error_is_json_too_and_the_exit_code_is_kept() {
    let place = Place::new();
    let (_program, data) = launched(&place);
    for (line, code, message) in [
        ("show lb vserver nosuch --json", 258, "No such resource [name, nosuch]"),
        ("stat lb vserver nosuch --json", 258, "No such resource [name, nosuch]"),
        ("show lb vserver -bogus --json", 1090, "No such argument [-bogus]"),
        ("stat ns -bogus --json", 1090, "No such argument [-bogus]"),
        ("stat lb vserver -ntimes x --json", 1097, "Invalid argument value [ntimes]"),
        ("show nosuch --json", 1088, "No such command"),
        ("stat cache --json", 460, "Feature not supported in this release [stat cache]"),
    ] {
        let (status, out, errors) = ask(&data, line);
        assert_eq!((status, errors.as_str(), out.lines().count()), (Some(1), "", 1), "{line}: {out}");
        let error: Value = serde_json::from_str(&out).unwrap();
        let expected = (json!(code), json!(message), json!("ERROR"));
        let [got_code, got_message, severity] =
            ["errorcode", "message", "severity"].map(|name| error[name].clone());
        assert_eq!((got_code, got_message, severity), expected, "{line}");
    }
    let (status, out, _) = ask(&data, "--json show lb vserver nosuch");
    assert_eq!(
        (status, serde_json::from_str::<Value>(&out).unwrap()["errorcode"].clone()),
        (Some(1), json!(258))
    );
    for of in ["help show lb vserver", "help stat ns"] {
        assert!(ask(&data, of).1.contains("--json: NITRO's rows as JSON"), "{of}");
    }
    // Of other commands it is no option.
    let (status, _, errors) = ask(&data, "add server x 192.0.2.1 --json");
    assert_eq!((status, errors.lines().next()), (Some(1), Some("ERROR: No such argument [--json]")));
}

fn a_filter_sees_a_line_for_each_value() {
    let place = Place::new();
    let (_program, data) = launched(&place);
    let (code, out, _) = ask(&data, "show lb vserver v --json | grep \"curstate\":");
    let lines: Vec<&str> = out.lines().map(str::trim).collect();
    assert!(code == Some(0) && lines.contains(&"\"curstate\": \"UP\","), "{out}");
}
