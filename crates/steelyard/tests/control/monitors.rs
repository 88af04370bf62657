//! Monitors over real sockets: what a service's answers do to its state, and what a probe looks like to it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::time::Duration;

use serde_json::Value;

use crate::program::{Program, own_address, page, try_request};
use crate::services::Service;

/// Probes ten times a second and needs one result either way.
const QUICK: &str = "-interval 100 MSEC -resptimeout 90 MSEC -retries 1 -downTime 100 MSEC";

#[test]
fn m28_m36_a_service_is_down_while_its_answers_are_wrong_and_up_again_after() {
    let ip = own_address(61);
    let (a, b) = (Service::start("a", &format!("{ip}:8001")), Service::start("b", &format!("{ip}:8002")));
    let program = Program::run(
        ip,
        &format!(
            "enable ns feature LB\n\
             add service a {ip} HTTP 8001\n\
             add service b {ip} HTTP 8002\n\
             add lb monitor m HTTP -respCode 200 202-204 {QUICK}\n\
             bind service a -monitorName m\n\
             bind service b -monitorName m\n\
             add lb vserver v HTTP {ip} 8080 -lbMethod ROUNDROBIN\n\
             bind lb vserver v a\n\
             bind lb vserver v b\n"
        ),
        &[],
    );
    for outage in [404, 503] {
        a.answer(outage);
        program.wait_for_state("service", "a", "DOWN");
        let before = a.requests_with("GET").len();
        (0..20).for_each(|_| assert_eq!(page(&format!("{ip}:8080")), "b"));
        assert_eq!(a.requests_with("GET").len(), before, "a service that is DOWN gets no request");
        a.answer(203);
        program.wait_for_state("service", "a", "UP");
    }
    a.answer(200);
    b.answer(500);
    program.wait_for_state("service", "b", "DOWN");
    assert_eq!(page(&format!("{ip}:8080")), "a");
    a.answer(500);
    program.wait_for_state("lbvserver", "v", "DOWN");
    assert_eq!(program.stat("lbvserver", "v", "vslbhealth"), "0");
}

#[test]
fn m02_m03_probes_are_whole_http_messages_with_one_host() {
    let ip = own_address(63);
    let service = Service::start("s", &format!("{ip}:8001"));
    let _program = Program::run(
        ip,
        &format!(
            "enable ns feature LB\n\
             add service plain {ip} HTTP 8001\n\
             add serviceGroup own HTTP\n\
             bind serviceGroup own {ip} 8001\n\
             add lb monitor plain HTTP\n\
             add lb monitor own HTTP -httpRequest \"GET /health\" -customHeaders \"Host: app.example\\r\\nX-Probe: yes\\r\\n\"\n\
             bind service plain -monitorName plain\n\
             bind serviceGroup own -monitorName own\n\
             add lb vserver v HTTP {ip} 8080\n\
             bind lb vserver v plain\n\
             bind lb vserver v own\n"
        ),
        &[],
    );
    let plain = service.requests_with("HEAD / ").remove(0);
    assert_eq!(plain, format!("HEAD / HTTP/1.1\r\nHost: {ip}:8001\r\nConnection: close\r\n\r\n"));
    let own = service.requests_with("GET /health ").remove(0);
    assert_eq!(own, "GET /health HTTP/1.1\r\nHost: app.example\r\nX-Probe: yes\r\nConnection: close\r\n\r\n");
}

#[test]
fn m35_no_client_sees_a_service_that_was_dead_from_the_start() {
    let ip = own_address(65);
    let _alive = Service::start("alive", &format!("{ip}:8001"));
    let mut program = Program::spawn(
        ip,
        &format!(
            "enable ns feature LB\n\
             add service dead {ip} HTTP 8002\n\
             add service alive {ip} HTTP 8001\n\
             add lb vserver v HTTP {ip} 8080 -lbMethod ROUNDROBIN\n\
             bind lb vserver v dead\n\
             bind lb vserver v alive\n"
        ),
        &[],
    );
    let mut answers = 0;
    while answers < 50 {
        // Until the address is open a connection is refused; from then on every request is answered.
        if let Ok((status, body)) = try_request(&format!("{ip}:8080"), "GET / HTTP/1.1\r\nHost: a\r\n") {
            assert_eq!((status.as_str(), body.as_str()), ("HTTP/1.1 200 Told", "alive"));
            answers += 1;
        }
    }
    assert!(
        program
            .wait_for(&format!("dead   {ip}:8002"))
            .contains("DOWN  tcp-default: Failure - TCP syn sent, reset received.")
    );
    assert_eq!(program.stat("service", "dead", "state"), "DOWN");
}

#[test]
fn m31_one_address_behind_two_names_has_two_states() {
    let ip = own_address(67);
    let _s = Service::start("s", &format!("{ip}:8001"));
    let program = Program::run(
        ip,
        &format!(
            "enable ns feature LB\n\
             add service a {ip} HTTP 8001\n\
             add serviceGroup g HTTP\n\
             bind serviceGroup g {ip} 8001\n\
             add lb monitor good HTTP -respCode 200\n\
             add lb monitor bad HTTP -respCode 418\n\
             bind service a -monitorName good\n\
             bind serviceGroup g -monitorName bad\n\
             add lb vserver va HTTP {ip} 8080\n\
             add lb vserver vg HTTP {ip} 8081\n\
             bind lb vserver va a\n\
             bind lb vserver vg g\n"
        ),
        &[],
    );
    assert_eq!(program.stat("lbvserver", "va", "state"), "UP");
    assert_eq!(program.stat("lbvserver", "vg", "state"), "DOWN");
    assert!(
        program.seen().iter().any(|l| l.contains(&format!("g?{ip}?8001")) && l.contains("response code 200"))
    );
}

#[test]
fn reverse_disabled_and_unmonitored_services_have_the_documented_states() {
    let ip = own_address(69);
    let program = Program::run(
        ip,
        &format!(
            "enable ns feature LB\n\
             add service refused {ip} HTTP 8001\n\
             add service unprobed {ip} HTTP 8002 -healthMonitor NO\n\
             add service off {ip} HTTP 8003 -state DISABLED\n\
             add service ignored {ip} HTTP 8004\n\
             add service plain {ip} HTTP 8005\n\
             add lb monitor backwards TCP -reverse YES\n\
             add lb monitor sleeping TCP -state DISABLED\n\
             bind service refused -monitorName backwards\n\
             bind service ignored -monitorName sleeping\n"
        ),
        &[],
    );
    for (service, state) in [
        ("refused", "UP"),
        ("unprobed", "UP"),
        ("off", "OUT OF SERVICE"),
        ("ignored", "UP"),
        ("plain", "DOWN"),
    ] {
        program.wait_for_state("service", service, state);
    }
}

#[test]
fn a_monitor_probes_where_dest_ip_and_dest_port_say() {
    let ip = own_address(71);
    let other = own_address(72);
    let elsewhere = Service::start("elsewhere", &format!("{other}:8009"));
    let program = Program::run(
        ip,
        &format!(
            "enable ns feature LB\n\
             add service s {ip} HTTP 8001\n\
             add lb monitor m HTTP -destIP {other} -destPort 8009\n\
             bind service s -monitorName m\n"
        ),
        &[],
    );
    assert_eq!(program.stat("service", "s", "state"), "UP");
    assert_eq!(elsewhere.requests_with(&format!("Host: {other}:8009\r\n")).len(), 1);
}

/// Service 1 answers its probes after 40 ms, 2 after 15 ms, 3 after 25 ms. The response times that decisions were
/// made with are at least those, in the same order, whatever the requests themselves take.
#[test]
fn m38_lrtm_decides_with_the_response_times_of_its_monitors() {
    let ip = own_address(73);
    let delays_ms = [40, 15, 25];
    let mut text = format!(
        "enable ns feature LB\n\
         set lb parameter -startupRRFactor 1\n\
         add lb monitor m HTTP -LRTM ENABLED\n\
         add lb vserver v HTTP {ip} 8080 -lbMethod LRTM\n"
    );
    let mut services = Vec::new();
    for (n, delay) in delays_ms.iter().enumerate() {
        let service = Service::start(&format!("s{n}"), &format!("{ip}:800{n}"));
        service.think(Duration::from_millis(*delay));
        services.push(service);
        text += &format!(
            "add service s{n} {ip} HTTP 800{n}\nbind service s{n} -monitorName m\nbind lb vserver v s{n}\n"
        );
    }
    let program = Program::run(ip, &text, &[]);
    let busy: Vec<_> = (0..60).map(|_| std::thread::spawn(move || page(&format!("{ip}:8080")))).collect();
    busy.into_iter().for_each(|thread| drop(thread.join().unwrap()));
    let (_, answer) = program.nitro("/steelyard/v1/explain/v?last=60");
    let by_method: Vec<&Value> =
        answer["decisions"].as_array().unwrap().iter().filter(|d| d["reason"] == "method").collect();
    assert!(!by_method.is_empty(), "{answer}");
    for decision in by_method {
        let rows = decision["services"].as_array().unwrap();
        let key = |row: &Value| row["key"].as_u64().unwrap();
        let least = rows.iter().map(key).min().unwrap();
        let chosen = rows.iter().find(|row| row["name"] == decision["selected"]).unwrap();
        assert_eq!(key(chosen), least, "{decision}");
        for (row, delay) in rows.iter().zip(delays_ms) {
            let metric = row["metric"].as_u64().unwrap();
            // A whole number of active transactions times a response time of at least the delay.
            assert!(metric == 0 || metric >= delay * 1_000, "{row}");
            assert_eq!(key(row), metric * 10_000, "weight 1: {row}");
        }
    }
}

#[test]
fn a_service_that_accepts_and_says_nothing_is_down_and_says_why() {
    let ip = own_address(75);
    let silent = Service::start("s", &format!("{ip}:8001"));
    silent.hold();
    let program = Program::run(
        ip,
        &format!(
            "enable ns feature LB\n\
             add service s {ip} HTTP 8001\n\
             add lb monitor m HTTP -interval 300 MSEC -resptimeout 200 MSEC -retries 1 -downTime 200 MSEC\n\
             bind service s -monitorName m\n\
             add lb vserver v HTTP {ip} 8080\n\
             bind lb vserver v s\n"
        ),
        &[],
    );
    let line = program.seen().iter().find(|l| l.starts_with("  s  ")).unwrap();
    assert!(line.ends_with("DOWN  m: Failure - time out while waiting for the response."), "{line}");
    silent.release();
    program.wait_for_state("service", "s", "UP");
}

/// 100 services, 40 descriptors: probes wait for one another, and what this host lacks takes no service down.
#[test]
fn m23_o01_too_few_descriptors_take_no_service_down() {
    let ip = own_address(77);
    let _s = Service::start("s", &format!("{ip}:8001"));
    let mut text = "enable ns feature LB\n".to_owned();
    for n in 0..100 {
        text += &format!("add serviceGroup g{n} HTTP\nbind serviceGroup g{n} {ip} 8001\n");
        text += &format!("add service s{n} {ip} HTTP {}\n", if n == 0 { 8001 } else { 9000 + n });
    }
    text += "add lb monitor m TCP -destPort 8001\n";
    for n in 1..100 {
        text += &format!("bind service s{n} -monitorName m\n");
    }
    let program = Program::limited(ip, &text, 40);
    for n in 0..100 {
        program.wait_for_state("service", &format!("s{n}"), "UP");
    }
}
