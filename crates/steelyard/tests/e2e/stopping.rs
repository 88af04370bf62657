//! SIGTERM: who waits to be let in is served, who is in may end, and there is a limit to that.

use std::time::{Duration, Instant};

use libtest_mimic::Trial;
use rustix::process::Signal;

use crate::client::{Client, End, request};
use crate::place::Place;
use crate::program::{Program, config};
use crate::service::{Gate, TestService, Then, wait_for};

pub fn trials() -> Vec<Trial> {
    trials![
        o06_a_websocket_is_closed_at_the_limit,
        who_waits_to_be_let_in_at_the_stop_is_served,
        a_program_that_was_stopped_and_goes_on_blames_no_worker,
    ]
}

/// The program is kept from accepting while two hundred clients connect; then it is told to end before it may go on.
fn who_waits_to_be_let_in_at_the_stop_is_served() {
    let place = Place::new();
    let s1 = TestService::plain(place.service(1));
    let mut program = Program::start(&place, "ROUNDROBIN", &[&s1]);
    program.signal(Signal::STOP);
    let mut clients: Vec<Client> = (0..200).map(|_| program.client()).collect();
    clients.iter_mut().for_each(|client| client.send(request("GET", "/", "", b"")));
    program.signal(Signal::TERM);
    program.signal(Signal::CONT);
    for client in &mut clients {
        assert_eq!(client.answer().status(), 200);
        assert_eq!(client.expect_end(), End::Fin, "not a reset");
    }
    assert_eq!(program.exit_code(), Some(0));
    assert_eq!(s1.begun(), 200);
}

/// A tunnel that nobody ends, and a request that is not answered: both live until the limit and no longer.
fn o06_a_websocket_is_closed_at_the_limit() {
    const LIMIT: Duration = Duration::from_secs(3);
    let place = Place::new();
    let gate = Gate::new();
    let s1 = TestService::start(place.service(1), move |x| {
        if x.request.target() == "/ws" {
            x.raw("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")?;
        }
        gate.pass();
        Ok(Then::Close)
    });
    let log = place.file("access.log", "");
    let arguments = ["--drain-seconds", "3", "--access-log", &log];
    let mut program =
        Program::launch_with(&place, &config(&place, "ROUNDROBIN", &[s1.address()]), &arguments);
    let mut tunnel = program.client();
    let offer = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: x\r\n";
    tunnel.send(request("GET", "/ws", offer, b""));
    assert_eq!(tunnel.next_message("GET").unwrap().status(), 101);
    let mut held = program.client();
    held.send(request("GET", "/held", "", b""));
    s1.wait_begun(2);
    let since = Instant::now();
    program.signal(Signal::TERM);
    program.wait_for_line("stopping: transactions in progress may end within 3 s");
    assert_eq!(tunnel.read_to_end(), (Vec::new(), End::Reset), "cut, and seen to be cut");
    assert!(since.elapsed() >= LIMIT, "{:?}", since.elapsed());
    assert_eq!(held.read_to_end(), (Vec::new(), End::Reset));
    assert_eq!(program.exit_code(), Some(0));
    let text = std::fs::read_to_string(&log).unwrap();
    let stopped = text.lines().filter(|line| line.ends_with(r#""close":"stopped"}"#)).count();
    assert_eq!(stopped, 2, "{text}");
}

/// Longer than the watchdog's patience.
fn a_program_that_was_stopped_and_goes_on_blames_no_worker() {
    let place = Place::new();
    let s1 = TestService::plain(place.service(1));
    let program = Program::start(&place, "ROUNDROBIN", &[&s1]);
    let mut client = program.client();
    assert_eq!(client.get("/").status(), 200);
    program.signal(Signal::STOP);
    client.send(request("GET", "/", "", b""));
    std::thread::sleep(Duration::from_secs(11));
    program.signal(Signal::CONT);
    assert_eq!(client.answer().status(), 200);
    wait_for("some seconds to be watched", || {
        let page = program.manage("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n").text();
        assert!(page.contains("steelyard_worker_stalls_total{worker=\"0\"} 0\n"), "{page}");
        assert!(page.contains("steelyard_worker_stalls_total{worker=\"1\"} 0\n"), "{page}");
        client.get("/");
        program.counter("totalrequests") >= 200
    });
    assert_eq!(program.errors(), "");
}
