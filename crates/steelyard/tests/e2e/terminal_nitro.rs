//! The prompt of a program that is reached by its management port: logging in, whom to believe, sessions that end.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output, Stdio};

use libtest_mimic::Trial;

use crate::place::Place;
use crate::program::{EXECUTABLE, PASSWORD, Program};
use crate::service::wait_for;
use crate::terminal::Terminal;

pub fn trials() -> Vec<Trial> {
    trials![
        a_password_comes_from_the_environment_or_a_file_and_never_from_others,
        a_password_is_asked_for_and_not_shown,
        a_session_that_was_killed_begins_again_and_none_is_left_behind,
        certificates_are_believed_as_far_as_somebody_says,
    ]
}

const CONFIG: &str = "enable ns feature LB\nadd server s 127.0.0.9\nadd lb vserver v HTTP\n";

/// What came of the arguments with that password in the environment.
fn run(arguments: &[&str], password: Option<&str>) -> (Option<i32>, String, String) {
    let mut command = Command::new(EXECUTABLE);
    command.args(arguments).stdin(Stdio::null()).env_remove("STEELYARD_PASSWORD");
    if let Some(password) = password {
        command.env("STEELYARD_PASSWORD", password);
    }
    let Output { status, stdout, stderr } = command.output().unwrap();
    (status.code(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

fn nsroot() -> (Option<i32>, String, String) {
    (Some(0), "\tUserName: nsroot\n Done\n".to_owned(), String::new())
}

fn refused() -> (Option<i32>, String, String) {
    (Some(1), String::new(), "ERROR: Invalid username or password\n".to_owned())
}

/// Ids of the sessions that are open.
fn sessions(program: &Program) -> usize {
    let (_, answer) = program.owner("GET", "systemsession", None);
    answer["systemsession"].as_array().map_or(0, Vec::len)
}

fn a_password_comes_from_the_environment_or_a_file_and_never_from_others() {
    let place = Place::new();
    let program = Program::launch(&place, CONFIG);
    let url = program.nitro_url();
    assert_eq!(run(&["cli", "--nitro", &url, "whoami"], Some(PASSWORD)), nsroot());
    assert_eq!(run(&["cli", "--nitro", &url, "--user", "nsroot", "whoami"], Some(PASSWORD)), nsroot());
    assert_eq!(run(&["cli", "--nitro", &url, "whoami"], Some("wrong")), refused());
    assert_eq!(run(&["cli", "--nitro", &url, "--user", "nobody", "whoami"], Some(PASSWORD)), refused());
    let file = place.file("password", &format!("{PASSWORD}\nanother line\n"));
    let by_file = ["cli", "--nitro", &url, "--password-file", &file, "whoami"];
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let (code, out, error) = run(&by_file, None);
    assert_eq!((code, out.as_str()), (Some(2), ""));
    assert!(error.contains("others may read it") && error.contains("chmod 600"), "{error}");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(run(&by_file, None), nsroot());
    // A batch and explain go the same way.
    assert_eq!(run(&["cli", "--nitro", &url], Some(PASSWORD)), (Some(0), String::new(), String::new()));
    let (code, out, _) = run(&["explain", "v", "--nitro", &url, "--user", "nsroot"], Some(PASSWORD));
    assert!(code == Some(0) && out.contains('v'), "{out}");
    let explain = ["explain", "v", "--nitro", &url, "--user", "nsroot"];
    assert_eq!(run(&explain, Some("wrong")), refused());
    let (code, _, error) = run(&["cli", "--nitro", "http://127.0.0.1:1", "whoami"], Some(PASSWORD));
    assert!(code == Some(1) && error.starts_with("steelyard: http://127.0.0.1:1: "), "{error}");
    wait_for("no session is left behind", || sessions(&program) == 0);
}

fn a_password_is_asked_for_and_not_shown() {
    let place = Place::new();
    let program = Program::launch(&place, CONFIG);
    let url = program.nitro_url();
    let Some(mut terminal) = Terminal::start(&["cli", "--nitro", &url]) else { return };
    terminal.waits_for(&["Password of nsroot: "]);
    // A slip of the finger, taken back by key and by line.
    terminal.types(&format!("xy\x15{PASSWORD}z\x7f\r"));
    terminal.waits_for(&["Password of nsroot:", "> "]);
    terminal.types("whoami\r");
    terminal.waits_for(&["        UserName: nsroot", " Done", "> "]);
    terminal.types("exit\r");
    assert_eq!(terminal.end(), Ok(0));
    assert!(!terminal.transcript().contains(PASSWORD));
    let mut wrong = Terminal::start(&["cli", "--nitro", &url, "--user", "u"]).unwrap();
    wrong.waits_for(&["Password of u: "]);
    wrong.types("no\r");
    assert_eq!(wrong.end(), Ok(1));
    wrong.waits_for(&["Password of u:", "ERROR: Invalid username or password", ""]);
    let mut none = Terminal::start(&["cli", "--nitro", &url]).unwrap();
    none.waits_for(&["Password of nsroot: "]);
    none.types("half\x03");
    assert_eq!(none.end(), Ok(2), "whoever gives up has given no password");
    none.waits_for_text("steelyard: no password of nsroot");
}

fn a_session_that_was_killed_begins_again_and_none_is_left_behind() {
    let place = Place::new();
    let program = Program::launch(&place, CONFIG);
    let url = program.nitro_url();
    let variables = [("STEELYARD_PASSWORD", PASSWORD)];
    let Some(mut terminal) = Terminal::start_with(&["cli", "--nitro", &url], &variables) else { return };
    terminal.waits_for(&["> "]);
    assert_eq!(sessions(&program), 1);
    let data = program.data().to_str().unwrap().to_owned();
    let (code, _, error) = run(&["cli", "--data", &data, "kill", "system", "session", "-all"], None);
    assert_eq!((code, error.as_str()), (Some(0), ""));
    assert_eq!(sessions(&program), 0);
    terminal.types("add server t 127.0.0.8\r");
    terminal.waits_for(&["> add server t 127.0.0.8", " Done", "> "]);
    assert_eq!(sessions(&program), 1);
    terminal.types("exit\r");
    assert_eq!(terminal.end(), Ok(0));
    wait_for("the session to end with the prompt", || sessions(&program) == 0);
}

fn certificates_are_believed_as_far_as_somebody_says() {
    let place = Place::new();
    let url = format!("https://{}:9443", place.ip());
    let program = Program::launch_with(&place, CONFIG, &["--nitro", &url]);
    let own = program.data().join("nitro.crt");
    let own = own.to_str().unwrap();
    let cli = |more: &[&str]| run(&[&["cli", "--nitro", &url], more, &["whoami"]].concat(), Some(PASSWORD));
    assert_eq!(cli(&["--ca", own]), nsroot());
    assert_eq!(cli(&["--insecure"]), nsroot());
    let (code, out, error) = cli(&[]);
    assert_eq!((code, out.as_str()), (Some(2), ""), "nobody is believed unasked");
    assert!(error.contains("--ca FILE") && error.contains("--insecure"), "{error}");
    let other = Place::new();
    let stranger =
        Program::launch_with(&other, CONFIG, &["--nitro", &format!("https://{}:9443", other.ip())]);
    let strange = stranger.data().join("nitro.crt");
    let (code, out, error) = cli(&["--ca", strange.to_str().unwrap()]);
    assert_eq!((code, out.as_str()), (Some(1), ""));
    assert!(error.to_lowercase().contains("certificate"), "{error}");
    for (file, why) in [(program.config_path(), "no certificate"), ("/nowhere/ca.pem", "no such file")] {
        let (code, _, error) = cli(&["--ca", file]);
        assert!(code == Some(2) && error.contains(why), "{error}");
    }
    let explain = ["explain", "v", "--nitro", &url, "--ca", own, "--user", "nsroot"];
    assert_eq!(run(&explain, Some(PASSWORD)).0, Some(0));
}
