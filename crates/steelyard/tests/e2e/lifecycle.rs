//! Starting, stopping and running out: what the program does as a process.

use libtest_mimic::Trial;

use crate::client::{Client, End, request};
use crate::place::Place;
use crate::program::{Program, config};
use crate::service::{Gate, TestService, wait_for};

pub fn trials() -> Vec<Trial> {
    trials![
        a_stop_lets_requests_end_and_exits_with_0,
        a_stop_closes_idle_clients,
        an_address_in_use_leaves_the_rest_served,
        a_shortage_of_descriptors_refuses_clients_and_passes,
    ]
}

fn a_stop_lets_requests_end_and_exits_with_0() {
    let place = Place::new();
    let gate = Gate::new();
    let held = gate.clone();
    let s1 = TestService::start(place.service(1), move |x| {
        held.pass();
        x.ok("whole")
    });
    let mut program = Program::start(&place, "ROUNDROBIN", &[&s1]);
    let mut client = program.client();
    client.send(request("GET", "/", "", b""));
    s1.wait_begun(1);
    program.terminate();
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
    program.terminate();
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
    let output = program.output();
    assert!(output.contains(&place.vserver(1).to_string()), "no word about the address: {output}");
}

/// Sixty-four descriptors for two hundred clients: those beyond are closed at once, the program lives, and nothing of it
/// lasts.
fn a_shortage_of_descriptors_refuses_clients_and_passes() {
    let place = Place::new();
    let s1 = TestService::plain(place.service(1));
    let program = Program::start(&place, "ROUNDROBIN", &[&s1]);
    let mut early = program.client();
    assert_eq!(early.get("/").status(), 200);
    program.limit_descriptors(64);
    let late: Vec<Client> = (0..200).filter_map(|_| Client::try_connect(program.vserver()).ok()).collect();
    wait_for("word of the shortage", || program.output().contains("no descriptor left"));
    assert_eq!(early.get("/").status(), 200, "who was there before has what it needs");
    drop(late);
    wait_for("service after the shortage", || {
        let Ok(mut client) = Client::try_connect(program.vserver()) else { return false };
        client.try_send(request("GET", "/", "", b"")).is_ok()
            && client.try_answer_to("GET").is_ok_and(|answer| answer.status() == 200)
    });
    program.wait_at_rest();
}
