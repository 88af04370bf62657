//! Starting, stopping, `--no-listen`, and the demonstration.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::net::TcpStream;

use rustix::process::Signal;

use crate::program::{Program, file, once, own_address, page, until};
use crate::services::Service;

fn one_service(ip: &str) -> String {
    format!(
        "enable ns feature LB\n\
         add service s {ip} HTTP 8001\n\
         add lb vserver v HTTP {ip} 8080\n\
         bind lb vserver v s\n"
    )
}

#[test]
fn what_is_served_is_printed_before_the_line_ready() {
    let ip = own_address(181);
    let _s = Service::start("s", &format!("{ip}:8001"));
    let program = Program::run(ip, &one_service(ip), &[]);
    let seen = program.seen();
    assert_eq!(seen.last().unwrap(), "ready");
    let at = |text: &str| {
        seen.iter().position(|line| line == text).unwrap_or_else(|| panic!("{text:?} in {seen:?}"))
    };
    assert_eq!(
        at(&format!("  s  {ip}:8001  weight 1  UP")),
        at(&format!("v  {ip}:8080  LEASTCONNECTION  UP")) + 1
    );
    at(&format!("management: http://{ip}:9080/nitro/v1/stat/lbvserver"));
}

#[test]
fn a_signal_lets_transactions_end_and_closes_the_door() {
    let ip = own_address(183);
    let s = Service::start("s", &format!("{ip}:8001"));
    let mut program = Program::run(ip, &one_service(ip), &[]);
    s.hold();
    let waiting = std::thread::spawn(move || page(&format!("{ip}:8080")));
    until("the request is with the service", || !s.requests_with("GET").is_empty());
    program.signal(Signal::TERM);
    program.wait_for("stopping");
    until("no new connection", || TcpStream::connect(format!("{ip}:8080")).is_err());
    assert!(!program.is_over());
    s.release();
    assert_eq!(waiting.join().unwrap(), "s");
    assert_eq!(program.ended(), (Some(0), String::new()));
}

#[test]
fn a_second_signal_does_not_wait() {
    let ip = own_address(185);
    let s = Service::start("s", &format!("{ip}:8001"));
    let mut program = Program::run(ip, &one_service(ip), &[]);
    s.hold();
    std::thread::spawn(move || {
        crate::program::try_request(&format!("{ip}:8080"), "GET / HTTP/1.1\r\nHost: a\r\n")
    });
    until("the request is with the service", || !s.requests_with("GET").is_empty());
    program.signal(Signal::INT);
    program.wait_for("stopping");
    program.signal(Signal::INT);
    assert_eq!(program.ended().0, Some(0));
}

#[test]
fn features_that_the_file_does_not_enable_are_named_or_assumed() {
    let ip = own_address(187);
    let _s = Service::start("s", &format!("{ip}:8001"));
    let text = one_service(ip).replace("enable ns feature LB\n", "");
    let program = Program::run(ip, &text, &[]);
    assert!(
        program
            .seen()
            .iter()
            .any(|l| l.starts_with("v ") && l.contains("DOWN") && l.contains("enable ns feature LB"))
    );
    drop(program);
    let _program = Program::run(ip, &text, &["--assume-features"]);
    assert_eq!(page(&format!("{ip}:8080")), "s");
}

#[test]
fn no_listen_probes_once_and_opens_nothing() {
    let ip = own_address(189);
    let s = Service::start("s", &format!("{ip}:8001"));
    let text = format!(
        "{}add service t {ip} HTTP 8002\nadd lb monitor m HTTP -successRetries 3\nbind service s -monitorName m\n",
        one_service(ip)
    );
    let path = file("no-listen", &text);
    let arguments = ["run", "--config", path.to_str().unwrap(), "--no-listen"];
    let output = once(&arguments);
    assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0));
    let lines = String::from_utf8(output.stdout).unwrap();
    assert_eq!(
        lines.lines().collect::<Vec<_>>(),
        [
            &format!("s  {ip}:8001  UP  m: Success - HTTP response code 200 received."),
            &format!("t  {ip}:8002  DOWN (not bound)  tcp-default: Failure - TCP syn sent, reset received."),
        ]
    );
    assert_eq!(s.requests_with("HEAD").len(), 1);
    s.answer(500);
    let output = once(&arguments);
    assert_eq!(output.status.code(), Some(1));
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(error, "steelyard: 1 of 1 bound service is DOWN; see the list above\n");
}

#[test]
fn closed_output_does_not_end_it() {
    let ip = own_address(191);
    let _s = Service::start("s", &format!("{ip}:8001"));
    let mut program = Program::spawn(ip, &one_service(ip), &[]);
    program.close_output();
    until("it serves", || TcpStream::connect(format!("{ip}:8080")).is_ok());
    assert_eq!(page(&format!("{ip}:8080")), "s");
    assert_eq!(program.nitro("/nitro/v1/stat/service").0, "HTTP/1.1 200 OK");
}

#[test]
fn the_demonstration_balances_and_ends_by_itself() {
    let output = once(&["demo", "--seconds", "2"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]), "{text}");
    assert!(text.contains("add lb vserver Vserver-LB-1 HTTP 127.0.0.1"), "{text}");
    assert!(text.contains(" and 0 errors"), "{text}");
    for n in 1..=3 {
        assert!(text.contains(&format!("  Service-HTTP-{n}  127.0.0.1:")), "{text}");
    }
    assert!(text.contains("LEASTRESPONSETIME: N = active transactions * TTFB"), "{text}");
}
