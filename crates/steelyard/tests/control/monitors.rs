//! Monitors over real sockets: what a service's answers do to its state, and what a probe looks like to it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::program::{Program, page, try_request};
use crate::services::Service;

/// Probes ten times a second and needs one result either way.
const QUICK: &str = "-interval 100 MSEC -resptimeout 90 MSEC -retries 1 -downTime 100 MSEC";

#[test]
fn m28_m36_a_service_is_down_while_its_answers_are_wrong_and_up_again_after() {
    let ip = "127.31.0.1";
    let (a, b) = (Service::start("a", "127.31.0.1:8001"), Service::start("b", "127.31.0.1:8002"));
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
        (0..20).for_each(|_| assert_eq!(page("127.31.0.1:8080"), "b"));
        assert_eq!(a.requests_with("GET").len(), before, "a service that is DOWN gets no request");
        a.answer(203);
        program.wait_for_state("service", "a", "UP");
    }
    a.answer(200);
    b.answer(500);
    program.wait_for_state("service", "b", "DOWN");
    assert_eq!(page("127.31.0.1:8080"), "a");
    a.answer(500);
    program.wait_for_state("lbvserver", "v", "DOWN");
    assert_eq!(program.stat("lbvserver", "v", "vslbhealth"), "0");
}

#[test]
fn m02_m03_probes_are_whole_http_messages_with_one_host() {
    let ip = "127.31.1.1";
    let service = Service::start("s", "127.31.1.1:8001");
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
    assert_eq!(plain, "HEAD / HTTP/1.1\r\nHost: 127.31.1.1:8001\r\nConnection: close\r\n\r\n");
    let own = service.requests_with("GET /health ").remove(0);
    assert_eq!(own, "GET /health HTTP/1.1\r\nHost: app.example\r\nX-Probe: yes\r\nConnection: close\r\n\r\n");
}

#[test]
fn m35_no_client_sees_a_service_that_was_dead_from_the_start() {
    let ip = "127.31.2.1";
    let _alive = Service::start("alive", "127.31.2.1:8001");
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
        if let Ok((status, body)) = try_request("127.31.2.1:8080", "GET / HTTP/1.1\r\nHost: a\r\n") {
            assert_eq!((status.as_str(), body.as_str()), ("HTTP/1.1 200 Told", "alive"));
            answers += 1;
        }
    }
    assert!(
        program
            .wait_for("dead   127.31.2.1:8002")
            .contains("DOWN  tcp-default: Failure - TCP syn sent, reset received.")
    );
    assert_eq!(program.stat("service", "dead", "state"), "DOWN");
}

#[test]
fn m31_one_address_behind_two_names_has_two_states() {
    let ip = "127.31.3.1";
    let _s = Service::start("s", "127.31.3.1:8001");
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
    let ip = "127.31.4.1";
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
    let ip = "127.31.5.1";
    let elsewhere = Service::start("elsewhere", "127.31.5.2:8009");
    let program = Program::run(
        ip,
        &format!(
            "enable ns feature LB\n\
             add service s {ip} HTTP 8001\n\
             add lb monitor m HTTP -destIP 127.31.5.2 -destPort 8009\n\
             bind service s -monitorName m\n"
        ),
        &[],
    );
    assert_eq!(program.stat("service", "s", "state"), "UP");
    assert_eq!(elsewhere.requests_with("Host: 127.31.5.2:8009\r\n").len(), 1);
}
