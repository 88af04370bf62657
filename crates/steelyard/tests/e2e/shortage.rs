//! Running out of descriptors: those who are in are served, those who are not wait, nothing spins, and it passes by itself.

use std::time::{Duration, Instant};

use libtest_mimic::Trial;

use crate::client::{Client, request};
use crate::place::Place;
use crate::program::{Program, config};
use crate::service::{TestService, wait_for};

pub fn trials() -> Vec<Trial> {
    trials![o01_more_clients_than_descriptors]
}

/// A hundred descriptors, five hundred clients.
fn o01_more_clients_than_descriptors() {
    let place = Place::new();
    let s1 = TestService::plain(place.service(1));
    let text = config(&place, "ROUNDROBIN", &[s1.address()]);
    let Some(program) = Program::launch_limited(&place, &text, 100) else { return };
    let mut early = program.client();
    assert_eq!(early.get("/").status(), 200);
    let mut late: Vec<Client> = (0..500).map(|_| program.client()).collect();
    late.iter_mut().for_each(|client| client.send(request("GET", "/", "", b"")));
    wait_for("word of the shortage", || told(&program) > 0);
    let (turns, since) = (program.turns(), Instant::now());
    for _ in 0..20 {
        assert_eq!(early.get("/").status(), 200, "who was there before has what it needs");
        assert_eq!(program.nitro("/nitro/v1/stat/service").0, "HTTP/1.1 200 OK");
        std::thread::sleep(Duration::from_millis(100));
    }
    // Two listeners that look again ten times a second, and a few events for each request: a loop that spins turns
    // hundreds of thousands of times.
    let turned = program.turns() - turns;
    assert!((turned as f64) < 1_000.0 * since.elapsed().as_secs_f64(), "{turned} turns");
    assert!(
        (told(&program) as u64) <= 2 + since.elapsed().as_secs() / 5 + 1,
        "one line an interval: {}",
        program.errors()
    );
    // Each who is served and leaves makes room for one who waits: nobody was turned away.
    for mut client in late {
        assert_eq!(client.answer().status(), 200);
    }
    wait_for("everybody to be gone", || program.counter("curclntconnections") == 1);
    let told_so_far = told(&program);
    assert_eq!(program.client().get("/").status(), 200);
    program.wait_at_rest();
    assert!(told(&program) <= told_so_far + 1, "it is over: {}", program.errors());
}

fn told(program: &Program) -> usize {
    program.errors().matches("descriptors or memory are short").count()
}
