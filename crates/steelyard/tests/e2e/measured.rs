//! What the methods measure, against the services' own record: active transactions at points where nothing moves, times
//! against known delays, packets against bytes. Bytes have a file of their own, `bandwidth`.

use std::time::Duration;

use libtest_mimic::Trial;

use crate::client::Client;
use crate::explain::explain;
use crate::place::Place;
use crate::program::{Program, config};
use crate::selection::{begun, hold, holding, leave_startup, weighted};
use crate::service::{Gate, TestService, wait_for};

pub fn trials() -> Vec<Trial> {
    trials![
        active_agrees_with_the_services,
        ttfb_agrees_with_the_services_delays,
        monitor_times_agree_with_the_services_delays,
        packets_are_at_least_what_the_bytes_need,
    ]
}

/// The services' own begin and end log, at points where nothing moves.
fn active_agrees_with_the_services() {
    let place = Place::new();
    let gates = [Gate::new(), Gate::new(), Gate::new()];
    let services = [1, 2, 3].map(|nth| holding(&place, nth, &gates[nth as usize - 1]));
    let program = Program::start_with(&place, &weighted(&place, "LEASTCONNECTION", &services, [5, 1, 2]));
    leave_startup(&program, 100);
    let mut held = Vec::new();
    for step in 0..40 {
        held.push(hold(&program, &services));
        if step % 3 == 2 {
            let nth = (0..3).max_by_key(|n| services[*n].active()).unwrap();
            let left = services[nth].active() - 1;
            gates[nth].release(1);
            wait_for("one end", || services[nth].active() == left);
            wait_for("the program to see it", || program.active(&format!("s{}", nth + 1)) == left as u64);
        }
        let active: Vec<u64> = services.iter().map(|s| s.active() as u64).collect();
        let counted = ["s1", "s2", "s3"].map(|name| program.active(name));
        assert_eq!(counted.to_vec(), active, "step {step}");
    }
    gates.iter().for_each(Gate::open);
    program.wait_at_rest();
    assert_eq!(begun(&services).iter().sum::<usize>(), 140);
}

/// Each service's mean is at least its delay, and the means stand in the order of the delays.
fn ttfb_agrees_with_the_services_delays() {
    let place = Place::new();
    let delays_ms = [40, 5, 20];
    let gate = Gate::new();
    let services = [1, 2, 3].map(|nth: u16| {
        let gate = gate.clone();
        TestService::start(place.service(nth), move |x| {
            if x.request.target() == "/hold" {
                gate.pass();
            }
            std::thread::sleep(Duration::from_millis(delays_ms[nth as usize - 1]));
            x.ok("answer")
        })
    });
    let program = Program::start(&place, "LEASTRESPONSETIME", &[&services[0], &services[1], &services[2]]);
    leave_startup(&program, 100);
    let held: Vec<Client> = (0..3).map(|_| hold(&program, &services)).collect();
    let times = agree(delays_ms, || {
        let times = per_active(&program, &services);
        // More samples, should these have been late ones.
        (0..10).for_each(|_| assert_eq!(program.client().get("/").status(), 200));
        times
    });
    for (nth, time) in times.into_iter().enumerate() {
        let shown = program.service(&format!("s{}", nth + 1), "avgsvrttfb");
        assert!(shown >= delays_ms[nth], "{shown} ms shown, {time} us measured");
    }
    gate.open();
    drop(held);
    program.wait_at_rest();
}

/// The same of the monitors' times, which the clients' requests have no part in.
fn monitor_times_agree_with_the_services_delays() {
    let place = Place::new();
    let delays_ms = [30, 4, 15];
    let gate = Gate::new();
    let services = [1, 2, 3].map(|nth: u16| {
        let gate = gate.clone();
        TestService::start(place.service(nth), move |x| {
            match x.request.method() {
                "HEAD" => std::thread::sleep(Duration::from_millis(delays_ms[nth as usize - 1])),
                _ if x.request.target() == "/hold" => gate.pass(),
                _ => {}
            }
            x.ok("answer")
        })
    });
    let mut text = config(&place, "LRTM", &services.each_ref().map(TestService::address));
    text = text.replace(" -healthMonitor NO", "")
        + "add lb monitor m HTTP -LRTM ENABLED -interval 1 -resptimeout 900 MSEC\n";
    text += &(1..=3).map(|nth| format!("bind service s{nth} -monitorName m\n")).collect::<String>();
    let program = Program::start_with(&place, &text);
    leave_startup(&program, 100);
    let probes = |s: &TestService| s.heads_with("HEAD / ").len();
    wait_for("every probe", || services.iter().all(|s| probes(s) >= 1));
    let held: Vec<Client> = (0..3).map(|_| hold(&program, &services)).collect();
    agree(delays_ms, || {
        let before = services.each_ref().map(probes);
        let times = per_active(&program, &services);
        wait_for("the next probes", || (0..3).all(|nth| probes(&services[nth]) > before[nth]));
        times
    });
    gate.open();
    drop(held);
    program.wait_at_rest();
}

/// A segment carries at most 65,535 bytes, so a large answer needs at least so many packets.
fn packets_are_at_least_what_the_bytes_need() {
    const SIZE: usize = 3_000_000;
    let place = Place::new();
    let services = [SIZE, 100].map(|size| {
        let nth = if size == SIZE { 1 } else { 2 };
        TestService::start(place.service(nth), move |x| x.answer(200, &vec![b'x'; size]))
    });
    let program = Program::start(&place, "LEASTPACKETS", &[&services[0], &services[1]]);
    leave_startup(&program, 100);
    program.wait_at_rest();
    std::thread::sleep(Duration::from_millis(250));
    program.client().get("/");
    let decision = explain(&program, 1).pop().unwrap();
    let answers =
        |nth: usize| services[nth].begun() as u64 - u64::from(decision.selected == format!("s{}", nth + 1));
    // Request and answer are a segment each at least; the large answer is more.
    assert!(decision.metric("s1") >= answers(0) * (1 + SIZE as u64 / 65_535), "{decision:?}");
    assert!(decision.metric("s2") >= answers(1) * 2, "{decision:?}");
    assert_eq!(decision.selected, "s2");
}

/// Measures until the times stand in the order of the delays: a busy host makes single ones longer, so that they stand in
/// another. It makes none shorter, so at every try each is at least its delay.
fn agree(delays_ms: [u64; 3], mut measure: impl FnMut() -> Vec<u64>) -> Vec<u64> {
    let mut order = [0, 1, 2];
    order.sort_by_key(|nth| delays_ms[*nth]);
    let mut times = Vec::new();
    wait_for("times in the order of the delays", || {
        times = measure();
        for (nth, (time, delay_ms)) in times.iter().zip(delays_ms).enumerate() {
            assert!(*time >= delay_ms * 1000, "s{}: {time} us", nth + 1);
        }
        order.is_sorted_by(|one, next| times[*one] < times[*next])
    });
    times
}

/// N divided by the active transactions of the service's own log, at a point where nothing moves.
fn per_active(program: &Program, services: &[TestService]) -> Vec<u64> {
    let active: Vec<u64> = services.iter().map(held).collect();
    assert!(active.iter().all(|n| *n > 0), "{active:?}");
    let mut client = program.client();
    client.get("/");
    let decision = explain(program, 1).pop().unwrap();
    decision
        .services
        .iter()
        .zip(&active)
        .map(|(row, active)| {
            assert_eq!(row.metric % active, 0, "{decision:?}");
            row.metric / active
        })
        .collect()
}

/// Clients' requests that a service has in progress, its probes left out.
fn held(service: &TestService) -> u64 {
    service.log().iter().filter(|e| e.ended_at.is_none() && e.request.method() == "GET").count() as u64
}
