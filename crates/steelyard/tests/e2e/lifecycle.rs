//! Starting, stopping and running out: what the program does as a process, `--no-listen` and the demonstration included.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};

use libtest_mimic::Trial;
use rustix::process::{Pid, Signal, kill_process};

use crate::client::{Client, End, page, request};
use crate::place::Place;
use crate::program::{Program, config, run_to_end, start};
use crate::service::{Gate, TestService, wait_for};

pub fn trials() -> Vec<Trial> {
    trials![
        a_stop_lets_requests_end_and_exits_with_0,
        a_stop_closes_idle_clients,
        an_address_in_use_leaves_the_rest_served,
        a_shortage_of_descriptors_lets_clients_wait_and_passes,
        what_is_served_is_printed_before_the_line_ready,
        a_signal_lets_transactions_end_and_closes_the_door,
        a_second_signal_does_not_wait,
        features_that_the_file_does_not_enable_are_named_or_assumed,
        no_listen_probes_once_and_opens_nothing,
        no_listen_tells_how_far_it_is_and_an_interrupt_is_no_success,
        closed_output_does_not_end_it,
        the_demonstration_balances_and_ends_by_itself,
    ]
}

fn a_stop_lets_requests_end_and_exits_with_0() {
    let place = Place::new();
    let gate = Gate::new();
    let s1 = TestService::held(place.service(1), "whole", &gate);
    let mut program = Program::start(&place, "ROUNDROBIN", &[&s1]);
    let mut client = program.client();
    client.send(request("GET", "/", "", b""));
    s1.wait_begun(1);
    program.signal(Signal::TERM);
    wait_for("no new client to be let in", || Client::try_connect(program.vserver()).is_err());
    gate.open();
    assert_eq!(client.answer().text(), "whole");
    assert_eq!(client.expect_end(), End::Fin);
    assert_eq!(program.exit_code(), Some(0));
}

fn a_stop_closes_idle_clients() {
    let place = Place::new();
    let s1 = TestService::plain(place.service(1));
    let mut program = Program::start(&place, "ROUNDROBIN", &[&s1]);
    let mut client = program.client();
    assert_eq!(client.get("/").status(), 200);
    program.signal(Signal::TERM);
    assert_eq!(client.expect_end(), End::Fin);
    assert_eq!(program.exit_code(), Some(0));
}

fn an_address_in_use_leaves_the_rest_served() {
    let place = Place::new();
    let s1 = TestService::plain(place.service(1));
    let taken = TestService::plain(place.vserver(1));
    let mut text = config(&place, "ROUNDROBIN", &[s1.address()]);
    text.push_str(&format!(
        "add lb vserver w HTTP {} {}\nbind lb vserver w s1\n",
        place.ip(),
        place.vserver(1).port()
    ));
    let program = Program::start_with(&place, &text);
    assert_eq!(program.client().get("/").text(), s1.address().port().to_string());
    let mut other = Client::connect(place.vserver(1));
    assert_eq!(other.get("/").text(), taken.address().port().to_string(), "the one who was there first");
    let errors = program.errors();
    assert!(errors.contains(&place.vserver(1).to_string()), "no word about the address: {errors}");
}

/// Sixty-four descriptors for two hundred clients: those beyond wait, the program lives, and nothing of it lasts.
fn a_shortage_of_descriptors_lets_clients_wait_and_passes() {
    let place = Place::new();
    let s1 = TestService::plain(place.service(1));
    let program = Program::start(&place, "ROUNDROBIN", &[&s1]);
    let mut early = program.client();
    assert_eq!(early.get("/").status(), 200);
    program.limit_descriptors(64);
    let late: Vec<Client> = (0..200).filter_map(|_| Client::try_connect(program.vserver()).ok()).collect();
    wait_for("word of the shortage", || program.errors().contains("descriptors or memory are short"));
    assert_eq!(early.get("/").status(), 200, "who was there before has what it needs");
    drop(late);
    wait_for("service after the shortage", || {
        let Ok(mut client) = Client::try_connect(program.vserver()) else { return false };
        client.try_send(request("GET", "/", "", b"")).is_ok()
            && client.try_answer_to("GET").is_ok_and(|answer| answer.status() == 200)
    });
    program.wait_at_rest();
}

fn what_is_served_is_printed_before_the_line_ready() {
    let place = Place::new();
    let ip = place.ip();
    let _s = TestService::named(place.service(1), "s");
    let program = Program::launch(&place, &one_service(&place));
    let lines = program.lines();
    let at = |text: &str| {
        lines.iter().position(|line| line == text).unwrap_or_else(|| panic!("{text:?} in {lines:?}"))
    };
    assert_eq!(
        at(&format!("  s  {ip}:8101  weight 1  UP")),
        at(&format!("v  {ip}:8000  LEASTCONNECTION  UP")) + 1
    );
    let ready = at("ready");
    assert!(at(&format!("  s  {ip}:8101  weight 1  UP")) < ready);
    assert!(at(&format!("management: http://{ip}:9080/nitro/v1/stat/lbvserver")) < ready);
}

fn a_signal_lets_transactions_end_and_closes_the_door() {
    let place = Place::new();
    let gate = Gate::new();
    let s = TestService::held(place.service(1), "s", &gate);
    let mut program = Program::launch(&place, &one_service(&place));
    let vserver = place.vserver(0);
    let waiting = std::thread::spawn(move || page(vserver));
    wait_for("the request is with the service", || !s.heads_with("GET").is_empty());
    program.signal(Signal::TERM);
    program.wait_for_line("stopping");
    wait_for("no new connection", || Client::try_connect(vserver).is_err());
    assert!(program.is_running());
    gate.open();
    assert_eq!(waiting.join().unwrap(), "s");
    assert_eq!((program.exit_code(), program.errors()), (Some(0), String::new()));
}

fn a_second_signal_does_not_wait() {
    let place = Place::new();
    let s = TestService::held(place.service(1), "s", &Gate::new());
    let mut program = Program::launch(&place, &one_service(&place));
    let mut client = program.client();
    client.send(request("GET", "/", "", b""));
    wait_for("the request is with the service", || !s.heads_with("GET").is_empty());
    program.signal(Signal::INT);
    program.wait_for_line("stopping");
    program.signal(Signal::INT);
    assert_eq!(program.exit_code(), Some(0));
}

fn features_that_the_file_does_not_enable_are_named_or_assumed() {
    let place = Place::new();
    let _s = TestService::named(place.service(1), "s");
    let text = one_service(&place).replace("enable ns feature LB\n", "");
    let program = Program::launch(&place, &text);
    let is_said =
        |l: &String| l.starts_with("v ") && l.contains("DOWN") && l.contains("enable ns feature LB");
    assert!(program.lines().iter().any(is_said));
    assert_eq!(program.listening(), [place.nitro()], "nothing is opened");
    drop(program);
    let text = format!("{text}add responder policy p TRUE NOOP\nenable ns feature CS\n");
    let program = Program::launch_with(&place, &text, &["--assume-features"]);
    assert_eq!(page(place.vserver(0)), "s");
    let said = "steelyard: --assume-features, as if the file had: enable ns feature LB RESPONDER\n";
    assert_eq!(program.errors(), said);
    program.reload(&format!("enable ns feature LB\n{text}"));
    let both = format!("{said}{}", said.replace(" LB", ""));
    wait_for("word of what is assumed now", || program.errors() == both);
}

fn no_listen_probes_once_and_opens_nothing() {
    let place = Place::new();
    let ip = place.ip();
    let status = Arc::new(AtomicU16::new(200));
    let s = TestService::with_status(place.service(1), "s", &status);
    let text = format!(
        "{}add service t {ip} HTTP 8102\nadd lb monitor m HTTP -successRetries 3\nbind service s -monitorName m\n",
        one_service(&place)
    );
    let path = place.file("ns.conf", &text);
    let arguments = ["run", "--config", &path, "--no-listen"];
    let output = run_to_end(&arguments);
    assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0));
    let lines = String::from_utf8(output.stdout).unwrap();
    let rows: Vec<Vec<&str>> = lines.lines().map(columns).collect();
    assert_eq!(rows[0], ["SERVICE", "ADDRESS", "STATE", "USED BY", "MONITOR", "TIME", "LAST RESPONSE"]);
    let [s_at, t_at, v_at] = [8101, 8102, 8000].map(|port| format!("{ip}:{port}"));
    let good = "Success - HTTP response code 200 received.";
    let time = rows[1][5];
    assert_eq!(rows[1], ["s", s_at.as_str(), "UP", "v", "m", time, good]);
    assert!(time.ends_with(" ms") && time[..time.len() - 3].parse::<f64>().unwrap() > 0.0, "{time}");
    let bad = "Failure - TCP syn sent, reset received.";
    assert_eq!(rows[2], ["t", t_at.as_str(), "DOWN", "nobody", "tcp-default", "-", bad]);
    assert_eq!(rows[4], ["VIRTUAL SERVER", "ADDRESS", "STATE", "SERVICES"]);
    assert_eq!(rows[5], ["v", v_at.as_str(), "UP", "1 of 1 UP"]);
    assert_eq!(rows[7..], [["services: 1 UP, 1 DOWN"]]);
    assert_eq!(s.heads_with("HEAD").len(), 1);
    status.store(500, Ordering::SeqCst);
    let output = run_to_end(&arguments);
    assert_eq!(output.status.code(), Some(1));
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(error, "steelyard: 1 of 1 bound service is DOWN; see the list above\n");
    let lines = String::from_utf8(output.stdout).unwrap();
    assert!(lines.lines().any(|line| columns(line) == ["v", v_at.as_str(), "DOWN", "0 of 1 UP"]), "{lines}");
}

fn no_listen_tells_how_far_it_is_and_an_interrupt_is_no_success() {
    let place = Place::new();
    let silent = TcpListener::bind(place.service(1)).unwrap();
    let text = format!(
        "{}add lb monitor m HTTP -interval 200 -resptimeout 100\nbind service s -monitorName m\n",
        one_service(&place)
    );
    let path = place.file("ns.conf", &text);
    let mut child = start(&["run", "--config", &path, "--no-listen"]);
    let mut line = String::new();
    BufReader::new(child.stderr.as_mut().unwrap()).read_line(&mut line).unwrap();
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(line, "steelyard: 0 of 1 monitors have a first result\n");
    assert_eq!(output.status.code(), Some(1), "what is not known is not UP");
    let lines = String::from_utf8(output.stdout).unwrap();
    assert!(lines.contains("  no answer yet\n"), "{lines}");
    drop(silent);
}

/// The cells of a line of a table.
fn columns(line: &str) -> Vec<&str> {
    line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect()
}

fn closed_output_does_not_end_it() {
    let place = Place::new();
    let _s = TestService::named(place.service(1), "s");
    let program = Program::spawn_without_output(&place, &one_service(&place));
    wait_for("it serves", || Client::try_connect(place.vserver(0)).is_ok());
    assert_eq!(page(place.vserver(0)), "s");
    assert_eq!(program.nitro("/nitro/v1/stat/service").0, "HTTP/1.1 200 OK");
}

fn the_demonstration_balances_and_ends_by_itself() {
    let output = run_to_end(&["demo", "--seconds", "2"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]), "{text}");
    assert!(text.contains("add lb vserver Vserver-LB-1 HTTP 127.0.0.1"), "{text}");
    assert!(text.contains(" and 0 errors"), "{text}");
    for n in 1..=3 {
        assert!(text.contains(&format!("  Service-HTTP-{n}  127.0.0.1:")), "{text}");
    }
    assert!(text.contains("LEASTRESPONSETIME: N = active transactions * TTFB"), "{text}");
}

/// Service `s`, probed, behind virtual server `v`.
fn one_service(place: &Place) -> String {
    let ip = place.ip();
    format!(
        "enable ns feature LB\n\
         add service s {ip} HTTP 8101\n\
         add lb vserver v HTTP {ip} 8000\n\
         bind lb vserver v s\n"
    )
}
