//! Choosing over real sockets: the printed tables with held-open requests, and decisions under load against a second
//! reading of the rule.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use libtest_mimic::Trial;

use crate::client::{Client, request};
use crate::explain::explain;
use crate::place::Place;
use crate::program::{Program, config};
use crate::service::{Gate, TestService, wait_for};

pub fn trials() -> Vec<Trial> {
    trials![
        the_least_request_table_with_held_requests,
        the_weighted_least_request_table_with_held_requests,
        the_same_tables_under_least_connection,
        startup_round_robin_is_left_by_traffic,
        round_robin_under_load,
        least_connection_under_load,
        least_request_under_load,
        least_response_time_under_load,
        lrtm_under_load,
        least_bandwidth_under_load,
        least_packets_under_load,
    ]
}

fn the_least_request_table_with_held_requests() {
    held_table("LEASTREQUEST", [1, 1, 1], [3, 3, 3, 1, 3, 1, 3, 1]);
}

fn the_weighted_least_request_table_with_held_requests() {
    held_table("LEASTREQUEST", [2, 3, 4], [3, 3, 3, 3, 3, 3, 1, 3]);
}

fn the_same_tables_under_least_connection() {
    held_table("LEASTCONNECTION", [1, 1, 1], [3, 3, 3, 1, 3, 1, 3, 1]);
    held_table("LEASTCONNECTION", [2, 3, 4], [3, 3, 3, 3, 3, 3, 1, 3]);
}

/// Tables T5 and T6 of `spec/methods.md` 1.11: 3, 15 and 0 requests are held open, then eight more are sent that never
/// end.
fn held_table(method: &str, weights: [u64; 3], expected: [usize; 8]) {
    let place = Place::new();
    let gates = [Gate::new(), Gate::new(), Gate::new()];
    let services = [1, 2, 3].map(|nth| holding(&place, nth, &gates[nth as usize - 1]));
    let program = Program::start_with(&place, &weighted(&place, method, &services, weights));
    leave_startup(&program, 100);
    let mut held: Vec<Client> = Vec::new();
    // The method itself levels the three; what is too much at services 1 and 3 is let go again.
    while services[1].active() < 15 {
        held.push(hold(&program, &services));
    }
    for (nth, keep) in [(0, 3), (1, 15), (2, 0)] {
        gates[nth].release(services[nth].active() - keep);
        wait_for("the documented start", || services[nth].active() == keep);
    }
    let active = || services.iter().map(TestService::active).collect::<Vec<_>>();
    assert_eq!(active(), [3, 15, 0]);
    wait_for("the program to see the ends", || {
        ["s1", "s2", "s3"].map(|name| program.active(name)) == [3, 15, 0]
    });
    for (row, expected) in expected.into_iter().enumerate() {
        let before = active();
        held.push(hold(&program, &services));
        let after = active();
        let chosen = (0..3).find(|n| after[*n] > before[*n]).unwrap() + 1;
        assert_eq!(chosen, expected, "{method} {weights:?}, request {}", row + 1);
        let decision = explain(&program, 1).pop().unwrap();
        let seen: Vec<u64> = decision.services.iter().map(|row| row.metric).collect();
        assert_eq!(seen, before.iter().map(|n| *n as u64).collect::<Vec<_>>(), "request {}", row + 1);
        let nw: Vec<u64> = (0..3).map(|n| before[n] as u64 * 10_000 / weights[n]).collect();
        assert_eq!(decision.services.iter().map(|row| row.key).collect::<Vec<_>>(), nw);
        assert_eq!((decision.reason.as_str(), decision.rule.as_str()), ("method", method));
    }
    gates.iter().for_each(Gate::open);
    program.wait_at_rest();
}

fn startup_round_robin_is_left_by_traffic() {
    let place = Place::new();
    let services = [1, 2, 3].map(|nth| TestService::plain(place.service(nth)));
    let program = Program::start_with(&place, &weighted(&place, "LEASTCONNECTION", &services, [2, 3, 4]));
    let mut client = program.client();
    for _ in 0..101 {
        assert_eq!(client.get("/").status(), 200);
    }
    let decisions = explain(&program, 101);
    assert!(decisions[..100].iter().all(|d| d.reason == "startup round robin" && d.rule == "ROUNDROBIN"));
    assert_eq!(decisions[100].reason, "method");
    // 1 2 3 1 2 3 2 3 3, eleven times, and one more.
    let round = ["s1", "s2", "s3", "s1", "s2", "s3", "s2", "s3", "s3"];
    for (nth, decision) in decisions[..100].iter().enumerate() {
        assert_eq!(decision.selected, round[nth % 9], "request {nth}");
    }
    assert_eq!(services.each_ref().map(TestService::begun).iter().sum::<usize>(), 101);
}

fn round_robin_under_load() {
    under_load("ROUNDROBIN");
}

fn least_connection_under_load() {
    under_load("LEASTCONNECTION");
}

fn least_request_under_load() {
    under_load("LEASTREQUEST");
}

fn least_response_time_under_load() {
    under_load("LEASTRESPONSETIME");
}

fn lrtm_under_load() {
    under_load("LRTM");
}

fn least_bandwidth_under_load() {
    under_load("LEASTBANDWIDTH");
}

fn least_packets_under_load() {
    under_load("LEASTPACKETS");
}

/// Twelve clients against four unequal services with weights, one of which fails fast: each recorded decision follows
/// the rule, and what `explain` says was chosen is what the services saw.
fn under_load(method: &str) {
    let place = Place::new();
    let answering = |nth: u16, delay_us: u64, status: u16, size: usize| {
        TestService::start(place.service(nth), move |x| {
            std::thread::sleep(Duration::from_micros(delay_us));
            x.answer(status, &vec![b'x'; size])
        })
    };
    let services = [
        answering(1, 1500, 200, 100),
        answering(2, 4000, 200, 9000),
        answering(3, 300, 500, 10),
        answering(4, 2500, 200, 2000),
    ];
    let mut text = config(&place, method, &services.each_ref().map(TestService::address));
    for (nth, weight) in [1, 3, 2, 7].into_iter().enumerate() {
        text += &format!("set lb vserver v -weight {weight} s{}\n", nth + 1);
    }
    if method == "LRTM" {
        text = text.replace(" -healthMonitor NO", "")
            + "add lb monitor m HTTP -LRTM ENABLED -interval 1 -resptimeout 900 MSEC -respCode 200 500\n";
        text += &(1..=4).map(|nth| format!("bind service s{nth} -monitorName m\n")).collect::<String>();
    }
    let program = Program::start_with(&place, &text);
    leave_startup(&program, 130);
    let (before, running) = (begun(&services), AtomicBool::new(true));
    std::thread::scope(|scope| {
        for _ in 0..12 {
            scope.spawn(|| {
                let mut client = program.client();
                for _ in 0..60 {
                    assert!(matches!(client.get("/").status(), 200 | 500));
                }
                running.store(false, Ordering::Relaxed);
            });
        }
        // Reading in the middle of it: a copy under the lock, no matter who picks meanwhile.
        while running.load(Ordering::Relaxed) {
            explain(&program, 50);
        }
    });
    program.wait_at_rest();
    let decisions = explain(&program, 720);
    assert!(decisions.len() >= 500, "the log holds {} decisions", decisions.len());
    if decisions.len() == 720 {
        let mut chosen = [0; 4];
        decisions.iter().for_each(|d| chosen[position(&d.selected)] += 1);
        let seen: Vec<usize> = begun(&services).iter().zip(before).map(|(now, then)| now - then).collect();
        let probes = if method == "LRTM" { seen.iter().sum::<usize>() - 720 } else { 0 };
        let difference: usize = seen.iter().zip(chosen).map(|(a, b): (&usize, usize)| a.abs_diff(b)).sum();
        assert_eq!(difference, probes, "chosen {chosen:?}, seen {seen:?}");
    }
    assert!(decisions.iter().all(|d| d.rule == method || d.reason == "fallback"));
}

/// A service that holds `/hold` until its gate lets it go, and answers everything else at once.
pub fn holding(place: &Place, nth: u16, gate: &Gate) -> TestService {
    let gate = gate.clone();
    TestService::start(place.service(nth), move |x| {
        if x.request.target() == "/hold" {
            gate.pass();
        }
        x.ok("answer")
    })
}

/// Sends a request that is held, and waits until a service has it.
pub fn hold(program: &Program, services: &[TestService]) -> Client {
    // Probes that come meanwhile are none of them.
    let arrived = || services.iter().map(|s| s.heads_with("GET /hold ").len()).sum::<usize>();
    let before = arrived();
    let mut client = program.client();
    client.send(request("GET", "/hold", "", b""));
    wait_for("the held request", || arrived() > before);
    client
}

/// Sends requests one by one until start-up round robin is over.
pub fn leave_startup(program: &Program, requests: usize) {
    let mut client = program.client();
    (0..requests).for_each(|_| assert!(matches!(client.get("/").status(), 200 | 500)));
    program.wait_at_rest();
}

pub fn begun(services: &[TestService]) -> Vec<usize> {
    services.iter().map(TestService::begun).collect()
}

pub fn weighted(place: &Place, method: &str, services: &[TestService], weights: [u64; 3]) -> String {
    let addresses: Vec<_> = services.iter().map(TestService::address).collect();
    let mut text = config(place, method, &addresses);
    for (nth, weight) in weights.into_iter().enumerate() {
        text += &format!("set lb vserver v -weight {weight} s{}\n", nth + 1);
    }
    text
}

fn position(name: &str) -> usize {
    name.trim_start_matches('s').parse::<usize>().unwrap() - 1
}
