//! Public faults of other balancers in choosing (class 1-selection), over real sockets, each by its id.

use std::time::Duration;

use libtest_mimic::Trial;

use crate::client::{Client, request};
use crate::explain::explain;
use crate::place::Place;
use crate::program::{Program, config};
use crate::selection::{begun, hold, holding, leave_startup};
use crate::service::{Gate, TestService, wait_for};

pub fn trials() -> Vec<Trial> {
    trials![
        s01_a_refused_connect_is_no_sample,
        s03_fast_refusals_attract_no_traffic,
        s04_three_slow_answers_do_not_shut_a_service_out,
        s07_a_request_counts_while_its_connect_is_under_way,
        s08_two_services_one_busy,
        s09_an_idle_ring_is_served_in_turn,
        s17_totals_follow_speed_under_least_connection,
        s28_a_retry_goes_to_another_service,
        s29_idle_services_are_taken_in_turn_whatever_their_speed,
        s31_a_burst_on_an_idle_ring_is_spread,
    ]
}

fn s01_a_refused_connect_is_no_sample() {
    let place = Place::new();
    let [s2, s3] = [2, 3].map(|nth| TestService::slow(place.service(nth), "answer", 20));
    let addresses = [place.service(1), s2.address(), s3.address()];
    let program = Program::start_at(&place, "LEASTRESPONSETIME", &addresses);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut client = program.client();
                for _ in 0..75 {
                    assert_eq!(client.get("/").status(), 200);
                }
            });
        }
    });
    assert_eq!(s2.begun() + s3.begun(), 300);
    assert_eq!(program.service("s1", "avgsvrttfb"), 0);
    program.wait_at_rest();
}

fn s03_fast_refusals_attract_no_traffic() {
    let place = Place::new();
    let s1 = TestService::start(place.service(1), |x| {
        if x.nth < 100 {
            std::thread::sleep(Duration::from_millis(30));
            return x.ok("answer");
        }
        std::thread::sleep(Duration::from_millis(1));
        x.answer(429, b"later")
    });
    let s2 = TestService::slow(place.service(2), "answer", 30);
    let program = Program::start(&place, "LEASTRESPONSETIME", &[&s1, &s2]);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut client = program.client();
                for _ in 0..150 {
                    assert!(matches!(client.get("/").status(), 200 | 429));
                }
            });
        }
    });
    // Ruling 13: no sample is taken of them, so the mean is still that of the 200s.
    assert!(program.service("s1", "avgsvrttfb") >= 30);
    explain(&program, 500);
    program.wait_at_rest();
}

fn s04_three_slow_answers_do_not_shut_a_service_out() {
    let place = Place::new();
    let services = [1, 2, 3, 4, 5].map(|nth: u16| {
        TestService::start(place.service(nth), move |x| {
            let slow = nth == 2 && x.nth < 3;
            std::thread::sleep(Duration::from_millis(if slow { 1000 } else { 10 }));
            x.ok("answer")
        })
    });
    let program = Program::start(&place, "LEASTRESPONSETIME", &services.each_ref());
    let run = |each: usize| {
        std::thread::scope(|scope| {
            for _ in 0..10 {
                scope.spawn(|| {
                    let mut client = program.client();
                    (0..each).for_each(|_| assert_eq!(client.get("/").status(), 200));
                });
            }
        });
    };
    run(50);
    // Two windows of the appliance's 7 s: then the slow answers are out of the mean.
    std::thread::sleep(Duration::from_millis(14_200));
    run(50);
    let before = begun(&services);
    run(50);
    let share = (services[1].begun() - before[1]) * 100 / 500;
    assert!(share >= 12, "{share} %");
    program.wait_at_rest();
}

/// The service does not accept: its listen queue is full, so connects to it hang.
fn s07_a_request_counts_while_its_connect_is_under_way() {
    let place = Place::new();
    let address = place.service(1);
    let deaf = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    deaf.bind(&address.into()).unwrap();
    deaf.listen(0).unwrap();
    let filler: Vec<_> = (0..8)
        .map_while(|_| std::net::TcpStream::connect_timeout(&address, Duration::from_millis(200)).ok())
        .collect();
    let gate = Gate::new();
    let (s2, s3) = (holding(&place, 2, &gate), holding(&place, 3, &gate));
    // Start-up round robin would spread them anyhow: it takes the first three.
    let text = config(&place, "LEASTREQUEST", &[address, s2.address(), s3.address()]);
    let program = Program::start_with(&place, &format!("{text}set lb parameter -startupRRFactor 1\n"));
    let mut clients: Vec<Client> = (0..30).map(|_| program.client()).collect();
    clients.iter_mut().for_each(|client| client.send(request("GET", "/hold", "", b"")));
    wait_for("thirty assigned", || ["s1", "s2", "s3"].iter().map(|s| program.active(s)).sum::<u64>() == 30);
    assert_eq!(["s1", "s2", "s3"].map(|name| program.active(name)), [10, 10, 10]);
    gate.open();
    drop((clients, filler));
    program.wait_at_rest();
}

fn s08_two_services_one_busy() {
    let place = Place::new();
    let gates = [Gate::new(), Gate::new()];
    let services = [holding(&place, 1, &gates[0]), holding(&place, 2, &gates[1])];
    let program = Program::start(&place, "LEASTREQUEST", &services.each_ref());
    leave_startup(&program, 100);
    let held: Vec<Client> = (0..20).map(|_| hold(&program, &services)).collect();
    assert_eq!(services.each_ref().map(TestService::active), [10, 10]);
    gates[1].open();
    wait_for("the program to see ten ends", || program.active("s2") == 0);
    let before = begun(&services);
    let mut client = program.client();
    (0..100).for_each(|_| assert_eq!(client.get("/").status(), 200));
    assert_eq!(begun(&services), [before[0], before[1] + 100]);
    gates[0].open();
    drop(held);
    program.wait_at_rest();
}

fn s09_an_idle_ring_is_served_in_turn() {
    for method in ["LEASTCONNECTION", "LEASTREQUEST", "LEASTRESPONSETIME", "LRTM", "ROUNDROBIN"] {
        let place = Place::new();
        let services = [1, 2, 3, 4, 5].map(|nth| TestService::plain(place.service(nth)));
        let program = Program::start(&place, method, &services.each_ref());
        let mut client = program.client();
        for _ in 0..500 {
            assert_eq!(client.get("/").status(), 200);
        }
        program.wait_at_rest();
        let counts = begun(&services);
        assert!(counts.iter().all(|n| n.abs_diff(100) <= 1), "{method}: {counts:?}");
    }
}

fn s17_totals_follow_speed_under_least_connection() {
    let place = Place::new();
    let services = [(1, 10), (2, 40)].map(|(nth, ms)| TestService::slow(place.service(nth), "answer", ms));
    let program = Program::start(&place, "LEASTCONNECTION", &services.each_ref());
    leave_startup(&program, 100);
    let before = begun(&services);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let mut client = program.client();
                (0..60).for_each(|_| assert_eq!(client.get("/").status(), 200));
            });
        }
    });
    let counts: Vec<usize> = begun(&services).iter().zip(before).map(|(now, then)| now - then).collect();
    // Equal concurrency, so about 4 to 1; a busy machine stretches the short delay more than the long one.
    assert!(counts[0] > counts[1] * 2 && counts[0] < counts[1] * 6, "{counts:?}");
    program.wait_at_rest();
}

fn s28_a_retry_goes_to_another_service() {
    let place = Place::new();
    let s2 = TestService::plain(place.service(2));
    let program = Program::start_at(&place, "LEASTREQUEST", &[place.service(1), s2.address()]);
    let mut client = program.client();
    for _ in 0..200 {
        assert_eq!(client.get("/").status(), 200);
    }
    assert_eq!(s2.begun(), 200);
    let decisions = explain(&program, 400);
    let retries: Vec<_> = decisions.iter().filter(|d| d.reason == "retry").collect();
    assert!(retries.len() >= 50);
    assert!(retries.iter().all(|d| d.selected == "s2" && !d.row("s1").eligible));
    program.wait_at_rest();
}

/// The documents' own rule: idle services are taken in turn, the faster one has no advantage.
fn s29_idle_services_are_taken_in_turn_whatever_their_speed() {
    let place = Place::new();
    let services = [(1, 12), (2, 1)].map(|(nth, ms)| TestService::slow(place.service(nth), "answer", ms));
    let program = Program::start(&place, "LEASTRESPONSETIME", &services.each_ref());
    let mut client = program.client();
    (0..150).for_each(|_| assert_eq!(client.get("/").status(), 200));
    assert_eq!(begun(&services), [75, 75]);
    assert!(explain(&program, 40).iter().all(|d| d.tied == ["s1", "s2"]));
}

fn s31_a_burst_on_an_idle_ring_is_spread() {
    let place = Place::new();
    let gate = Gate::new();
    let services = [1, 2, 3, 4].map(|nth| holding(&place, nth, &gate));
    let program = Program::start(&place, "LEASTCONNECTION", &services.each_ref());
    leave_startup(&program, 100);
    let mut clients: Vec<Client> = (0..64).map(|_| program.client()).collect();
    let barrier = std::sync::Barrier::new(64);
    std::thread::scope(|scope| {
        for client in &mut clients {
            scope.spawn(|| {
                barrier.wait();
                client.send(request("GET", "/hold", "", b""));
            });
        }
    });
    wait_for("all 64", || services.iter().map(TestService::active).sum::<usize>() == 64);
    assert_eq!(services.each_ref().map(TestService::active), [16; 4]);
    gate.open();
    drop(clients);
    program.wait_at_rest();
}
