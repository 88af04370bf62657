//! Each wrong option, name, address or file: exit code and one line that says what and where.

use std::net::TcpListener;

use libtest_mimic::Trial;
use rustix::process::Signal;

use crate::client::page;
use crate::place::Place;
use crate::program::{Program, run_to_end};
use crate::service::TestService;

pub fn trials() -> Vec<Trial> {
    trials![
        wrong_words_on_the_command_line_are_code_2,
        help_and_version_are_no_errors,
        a_refused_line_ends_a_strict_run_and_leaves_the_rest_otherwise,
        a_management_port_in_use_is_code_1,
        an_address_in_use_ends_a_strict_run_and_is_tried_again_otherwise,
        explain_says_whom_it_asked,
    ]
}

/// Runs to the end: exit code, and the one line of standard error.
fn refused(arguments: &[&str]) -> (i32, String) {
    let output = run_to_end(arguments);
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(error.lines().count(), 1, "{arguments:?}: {error:?}");
    assert!(!error.contains("panicked"), "{error}");
    (output.status.code().unwrap(), error.trim_end().to_owned())
}

fn strict<'a>(path: &'a str, nitro: &'a str) -> [&'a str; 6] {
    ["run", "--config", path, "--nitro", nitro, "--strict"]
}

fn wrong_words_on_the_command_line_are_code_2() {
    let place = Place::new();
    let good: &str = &place.file("good.conf", "enable ns feature LB\n");
    let cases: &[(&[&str], &[&str])] = &[
        (&[], &["no command given", "--help"]),
        (&["serve"], &["'serve'"]),
        (&["run", "--config"], &["--config <FILE>", "value is required"]),
        (&["run", "--config", good, "--fast"], &["'--fast'"]),
        (&["run", "--config", good, "--threads", "0"], &["'0'", "--threads", "1..=1024"]),
        (&["run", "--config", good, "--threads", "many"], &["'many'", "--threads"]),
        (
            &["run", "--config", good, "--nitro", "localhost"],
            &["'localhost'", "--nitro", "give ADDRESS:PORT"],
        ),
        (&["lab", good, "--nitro", "10.1.2.3:9080"], &["10.1.2.3:9080", "loopback", "127.0.0.1:9080"]),
        (&["run", "--config", good, "--nitro", "ftp://127.0.0.1:9080"], &["only http:// and https://"]),
        (&["run", "--config", good, "--nitro-cert", "x"], &["--nitro-key"]),
        (&["run", "--config", "/nowhere/ns.conf"], &["/nowhere/ns.conf", "no such file", "give a readable"]),
        (&["run", "--config", "/"], &["/: is a directory"]),
        (&["demo", "--seconds", "0"], &["'0'", "--seconds"]),
        (&["explain"], &["<VSERVER>"]),
        (&["explain", "v", "--last", "0"], &["'0'", "--last"]),
        (&["explain", "v", "--format", "xml"], &["'xml'", "--format"]),
        (&["explain", "v", "--nitro", "127.0.0.1:9080"], &["--nitro 127.0.0.1:9080", "http://ADDRESS:PORT"]),
        (&["explain", "v", "--nitro", "https://127.0.0.1"], &["--ca FILE", "--insecure"]),
        (&["explain", "v", "--nitro", "ftp://127.0.0.1"], &["only http:// and https://", "--data DIRECTORY"]),
        (&["cli", "--user", "u", "whoami"], &["--nitro"]),
        (
            &["cli", "--nitro", "http://127.0.0.1", "--ca", "a", "--insecure", "whoami"],
            &["--ca", "--insecure"],
        ),
        (
            &["explain", "v", "--nitro", "http://127.0.0.1", "--data", "d"],
            &["'--nitro <URL>'", "'--data <DIRECTORY>'"],
        ),
        (&["explain", "v", "--nitro", "not a url"], &["not a URL"]),
    ];
    for (arguments, words) in cases {
        let (code, error) = refused(arguments);
        assert_eq!(code, 2, "{arguments:?}: {error}");
        assert!(error.starts_with("steelyard: "), "{error}");
        for word in *words {
            assert!(error.contains(word), "{arguments:?}: {word:?} is not in {error:?}");
        }
    }
}

fn help_and_version_are_no_errors() {
    for arguments in
        [&["--help"][..], &["--version"], &["run", "--help"], &["check", "--help"], &["explain", "--help"]]
    {
        let output = run_to_end(arguments);
        assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0), "{arguments:?}");
        assert!(!output.stdout.is_empty());
    }
}

fn a_refused_line_ends_a_strict_run_and_leaves_the_rest_otherwise() {
    let place = Place::new();
    let ip = place.ip();
    let text = &format!(
        "enable ns feature LB\n\
         add service s {ip} HTTP 8101\n\
         add lb vserver v HTTP {ip} 8000\n\
         bind lb vserver v s\n\
         add service t 300.1.1.1 HTTP 8101\n"
    );
    let path = place.file("refused.conf", text);
    let (code, error) = refused(&strict(&path, &place.nitro().to_string()));
    assert_eq!(code, 1);
    assert!(error.starts_with(&format!("{path}:5:")), "{error}");
    assert!(error.contains("300.1.1.1"), "{error}");

    let _s = TestService::named(place.service(1), "s");
    let mut program = Program::launch(&place, text);
    assert_eq!(page(place.vserver(0)), "s");
    program.signal(Signal::TERM);
    assert_eq!(program.exit_code(), Some(0));
    let errors = program.errors();
    assert_eq!(errors.lines().count(), 1, "{errors}");
    assert!(errors.contains(":5:") && errors.contains("300.1.1.1"), "{errors}");
}

fn a_management_port_in_use_is_code_1() {
    let place = Place::new();
    let nitro = place.nitro().to_string();
    let _holder = TcpListener::bind(place.nitro()).unwrap();
    let path = place.file("ns.conf", "enable ns feature LB\n");
    let (code, error) = refused(&["run", "--config", &path, "--nitro", &nitro]);
    assert_eq!(code, 1);
    assert!(
        error.contains(&format!("{nitro}: address already in use")) && error.contains("--nitro"),
        "{error}"
    );
}

fn an_address_in_use_ends_a_strict_run_and_is_tried_again_otherwise() {
    let place = Place::new();
    let ip = place.ip();
    let holder = TcpListener::bind(place.vserver(0)).unwrap();
    let _s = TestService::named(place.service(1), "s");
    let text = &format!(
        "enable ns feature LB\n\
         add service s {ip} HTTP 8101\n\
         add lb vserver v HTTP {ip} 8000\n\
         add lb vserver w HTTP {ip} 8001\n\
         bind lb vserver v s\n\
         bind lb vserver w s\n"
    );
    let path = place.file("in-use.conf", text);
    let (code, error) = refused(&strict(&path, &place.nitro().to_string()));
    assert_eq!(code, 1);
    assert!(error.contains(&format!("v: cannot listen on {ip}:8000: address already in use")), "{error}");

    let program = Program::launch(&place, text);
    assert_eq!(program.field("lbvserver", "v", "state"), "DOWN");
    assert_eq!(program.field("lbvserver", "w", "state"), "UP");
    assert_eq!(page(place.vserver(1)), "s");
    drop(holder);
    program.wait_for_state("lbvserver", "v", "UP");
    assert_eq!(page(place.vserver(0)), "s");
}

fn explain_says_whom_it_asked() {
    let place = Place::new();
    let (ip, nitro) = (place.ip(), place.nitro());
    let (code, error) = refused(&["explain", "v", "--nitro", &format!("http://{nitro}")]);
    assert_eq!(code, 1);
    assert!(error.contains(&format!("http://{nitro}: connection refused")), "{error}");
    let other = TestService::named(place.service(1), "another program");
    let url = format!("http://{}", other.address());
    for format in ["text", "json"] {
        let (code, error) = refused(&["explain", "v", "--format", format, "--nitro", &url]);
        assert_eq!(code, 1);
        assert!(error.contains("not the answer of this program"), "{error}");
    }
    let program =
        Program::launch(&place, &format!("enable ns feature LB\nadd lb vserver v HTTP {ip} 8000\n"));
    let (code, error) = refused(&["explain", "w w", "--nitro", &program.nitro_url()]);
    assert_eq!(code, 1);
    assert!(error.contains("No such resource [name, w w]"), "{error}");
}
