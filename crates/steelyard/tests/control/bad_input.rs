//! Each wrong option, name, address or file: exit code and one line that says what and where.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::net::TcpListener;

use crate::program::{Program, file, once, own_address, page};
use crate::services::Service;

/// Runs to the end: exit code, and the one line of standard error.
fn refused(arguments: &[&str]) -> (i32, String) {
    let output = once(arguments);
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(error.lines().count(), 1, "{arguments:?}: {error:?}");
    assert!(!error.contains("panicked"), "{error}");
    (output.status.code().unwrap(), error.trim_end().to_owned())
}

#[test]
fn wrong_words_on_the_command_line_are_code_2() {
    let good = file("words", "enable ns feature LB\n");
    let good = good.to_str().unwrap();
    let cases: &[(&[&str], &[&str])] = &[
        (&[], &["no command given", "--help"]),
        (&["serve"], &["'serve'"]),
        (&["run"], &["--config <FILE>"]),
        (&["run", "--config"], &["--config <FILE>", "value is required"]),
        (&["run", "--config", good, "--fast"], &["'--fast'"]),
        (&["run", "--config", good, "--threads", "0"], &["'0'", "--threads", "1..=1024"]),
        (&["run", "--config", good, "--threads", "many"], &["'many'", "--threads"]),
        (
            &["run", "--config", good, "--nitro", "localhost"],
            &["'localhost'", "--nitro", "invalid socket address"],
        ),
        (
            &["run", "--config", good, "--nitro", "10.1.2.3:9080"],
            &["10.1.2.3:9080", "loopback", "127.0.0.1:9080"],
        ),
        (&["run", "--config", good, "--nitro", "0.0.0.0:9080"], &["0.0.0.0:9080", "loopback"]),
        (&["run", "--config", "/nowhere/ns.conf"], &["/nowhere/ns.conf", "no such file", "give a readable"]),
        (&["run", "--config", "/"], &["/: is a directory"]),
        (&["demo", "--seconds", "0"], &["'0'", "--seconds"]),
        (&["explain"], &["<VSERVER>"]),
        (&["explain", "v", "--last", "0"], &["'0'", "--last"]),
        (&["explain", "v", "--format", "xml"], &["'xml'", "--format"]),
        (&["explain", "v", "--nitro", "127.0.0.1:9080"], &["--nitro 127.0.0.1:9080", "http://ADDRESS:PORT"]),
        (&["explain", "v", "--nitro", "https://127.0.0.1"], &["only http://"]),
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

#[test]
fn help_and_version_are_no_errors() {
    for arguments in [&["--help"][..], &["--version"], &["run", "--help"], &["explain", "--help"]] {
        let output = once(arguments);
        assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0), "{arguments:?}");
        assert!(!output.stdout.is_empty());
    }
}

#[test]
fn a_refused_line_ends_a_strict_run_and_leaves_the_rest_otherwise() {
    let ip = own_address(1);
    let text = &format!(
        "enable ns feature LB\n\
                add service s {ip} HTTP 8001\n\
                add lb vserver v HTTP {ip} 8080\n\
                bind lb vserver v s\n\
                add service t 300.1.1.1 HTTP 8001\n"
    );
    let path = file("refused", text);
    let path = path.to_str().unwrap();
    let (code, error) = refused(&["run", "--config", path, "--nitro", &format!("{ip}:9081"), "--strict"]);
    assert_eq!(code, 1);
    assert!(error.starts_with(&format!("{path}:5:")), "{error}");
    assert!(error.contains("300.1.1.1"), "{error}");

    let _s = Service::start("s", &format!("{ip}:8001"));
    let program = Program::run(ip, text, &[]);
    assert_eq!(page(&format!("{ip}:8080")), "s");
    program.signal(rustix::process::Signal::TERM);
    let (code, errors) = program.ended();
    assert_eq!(code, Some(0));
    assert_eq!(errors.lines().count(), 1, "{errors}");
    assert!(errors.contains(":5:") && errors.contains("300.1.1.1"), "{errors}");
}

#[test]
fn a_management_port_in_use_is_code_1() {
    let ip = own_address(3);
    let _holder = TcpListener::bind(format!("{ip}:9080")).unwrap();
    let path = file("management-in-use", "enable ns feature LB\n");
    let (code, error) =
        refused(&["run", "--config", path.to_str().unwrap(), "--nitro", &format!("{ip}:9080")]);
    assert_eq!(code, 1);
    assert!(
        error.contains(&format!("{ip}:9080: address already in use")) && error.contains("--nitro"),
        "{error}"
    );
}

#[test]
fn an_address_in_use_ends_a_strict_run_and_is_tried_again_otherwise() {
    let ip = own_address(5);
    let holder = TcpListener::bind(format!("{ip}:8080")).unwrap();
    let _s = Service::start("s", &format!("{ip}:8001"));
    let text = &format!(
        "enable ns feature LB\n\
                add service s {ip} HTTP 8001\n\
                add lb vserver v HTTP {ip} 8080\n\
                add lb vserver w HTTP {ip} 8081\n\
                bind lb vserver v s\n\
                bind lb vserver w s\n"
    );
    let path = file("address-in-use", text);
    let path = path.to_str().unwrap();
    let (code, error) = refused(&["run", "--config", path, "--nitro", &format!("{ip}:9081"), "--strict"]);
    assert_eq!(code, 1);
    assert!(error.contains(&format!("v: cannot listen on {ip}:8080: address already in use")), "{error}");

    let program = Program::run(ip, text, &[]);
    assert_eq!(program.stat("lbvserver", "v", "state"), "DOWN");
    assert_eq!(program.stat("lbvserver", "w", "state"), "UP");
    assert_eq!(page(&format!("{ip}:8081")), "s");
    drop(holder);
    program.wait_for_state("lbvserver", "v", "UP");
    assert_eq!(page(&format!("{ip}:8080")), "s");
}

#[test]
fn explain_says_whom_it_asked() {
    let ip = own_address(7);
    let other = own_address(8);
    let (code, error) = refused(&["explain", "v", "--nitro", &format!("http://{ip}:9080")]);
    assert_eq!(code, 1);
    assert!(error.contains(&format!("http://{ip}:9080: connection refused")), "{error}");
    let _other = Service::start("another program", &format!("{ip}:80"));
    let (code, error) = refused(&["explain", "v", "--nitro", &format!("http://{ip}")]);
    assert_eq!(code, 1);
    assert!(error.contains("not the answer of this program"), "{error}");
    let program =
        Program::run(other, &format!("enable ns feature LB\nadd lb vserver v HTTP {other} 8080\n"), &[]);
    let url = format!("http://{}", program.nitro_address());
    let (code, error) = refused(&["explain", "w w", "--nitro", &url]);
    assert_eq!(code, 1);
    assert!(error.contains("No such resource [name, w w]"), "{error}");
}
