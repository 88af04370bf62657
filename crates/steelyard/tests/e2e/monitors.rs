//! Monitors over real sockets: what a service's answers do to its state, and what a probe looks like to it.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

use libtest_mimic::Trial;
use serde_json::Value;

use crate::client::{Client, page, request};
use crate::place::Place;
use crate::program::Program;
use crate::service::{Gate, TestService, wait_for};

pub fn trials() -> Vec<Trial> {
    trials![
        m28_m36_a_service_is_down_while_its_answers_are_wrong_and_up_again_after,
        m02_m03_probes_are_whole_http_messages_with_one_host,
        m35_no_client_sees_a_service_that_was_dead_from_the_start,
        m31_one_address_behind_two_names_has_two_states,
        reverse_disabled_and_unmonitored_services_have_the_documented_states,
        a_monitor_probes_where_dest_ip_and_dest_port_say,
        m38_lrtm_decides_with_the_response_times_of_its_monitors,
        a_service_that_accepts_and_says_nothing_is_down_and_says_why,
        a_monitor_that_cannot_be_run_is_unknown_and_does_not_count,
        m23_o01_too_few_descriptors_take_no_service_down,
        a_service_that_closes_first_sees_no_reset,
    ]
}

/// Its FIN comes with the head, behind a body that no probe looks at, or only when the probe has ended.
fn a_service_that_closes_first_sees_no_reset() {
    let place = Place::new();
    let listener = TcpListener::bind(place.service(1)).unwrap();
    let (tell, told) = channel();
    std::thread::spawn(move || {
        for (nth, stream) in listener.incoming().enumerate() {
            let mut stream = stream.unwrap();
            let mut request = Vec::new();
            while !request.ends_with(b"\r\n\r\n") {
                let mut byte = [0];
                stream.read_exact(&mut byte).unwrap();
                request.push(byte[0]);
            }
            let body = [0, 30_000, 0][nth % 3];
            stream
                .write_all(format!("HTTP/1.1 200 OK\r\nContent-Length: {body}\r\n\r\n").as_bytes())
                .unwrap();
            stream.write_all(&vec![b'x'; body]).unwrap();
            if nth % 3 < 2 {
                stream.shutdown(Shutdown::Write).unwrap();
            }
            if tell.send(stream.read_to_end(&mut Vec::new()).map_err(|error| error.kind())).is_err() {
                return;
            }
        }
    });
    let ip = place.ip();
    let program = Program::launch(
        &place,
        &format!(
            "enable ns feature LB\n\
             add lb monitor m HTTP -httpRequest \"GET /\" -interval 500 MSEC -resptimeout 490 MSEC -retries 127\n\
             add service s {ip} HTTP 8101\n\
             bind service s -monitorName m\n"
        ),
    );
    let ends: Vec<_> = (0..9).map(|_| told.recv_timeout(Duration::from_secs(60)).unwrap()).collect();
    assert_eq!(ends, [Ok(0); 9]);
    assert_eq!(program.errors(), "");
}

fn m28_m36_a_service_is_down_while_its_answers_are_wrong_and_up_again_after() {
    let place = Place::new();
    let ip = place.ip();
    let statuses = [200, 200].map(|status| Arc::new(AtomicU16::new(status)));
    let a = TestService::with_status(place.service(1), "a", &statuses[0]);
    let _b = TestService::with_status(place.service(2), "b", &statuses[1]);
    let [a_answers, b_answers] = statuses.map(|status| move |code| status.store(code, Ordering::SeqCst));
    let program = Program::launch(
        &place,
        &format!(
            "enable ns feature LB\n\
             add service a {ip} HTTP 8101\n\
             add service b {ip} HTTP 8102\n\
             add lb monitor m HTTP -respCode 200 202-204 {QUICK}\n\
             bind service a -monitorName m\n\
             bind service b -monitorName m\n\
             add lb vserver v HTTP {ip} 8000 -lbMethod ROUNDROBIN\n\
             bind lb vserver v a\n\
             bind lb vserver v b\n"
        ),
    );
    for outage in [404, 503] {
        a_answers(outage);
        program.wait_for_state("service", "a", "DOWN");
        let before = a.heads_with("GET").len();
        (0..20).for_each(|_| assert_eq!(page(place.vserver(0)), "b"));
        assert_eq!(a.heads_with("GET").len(), before, "a service that is DOWN gets no request");
        a_answers(203);
        program.wait_for_state("service", "a", "UP");
    }
    a_answers(200);
    b_answers(500);
    program.wait_for_state("service", "b", "DOWN");
    assert_eq!(page(place.vserver(0)), "a");
    a_answers(500);
    program.wait_for_state("lbvserver", "v", "DOWN");
    assert_eq!(program.field("lbvserver", "v", "vslbhealth"), "0");
}

fn m02_m03_probes_are_whole_http_messages_with_one_host() {
    let place = Place::new();
    let ip = place.ip();
    let service = TestService::named(place.service(1), "s");
    let _program = Program::launch(
        &place,
        &format!(
            "enable ns feature LB\n\
             add service plain {ip} HTTP 8101\n\
             add serviceGroup own HTTP\n\
             bind serviceGroup own {ip} 8101\n\
             add lb monitor plain HTTP\n\
             add lb monitor own HTTP -httpRequest \"GET /health\" -customHeaders \"Host: app.example\\r\\nX-Probe: yes\\r\\n\"\n\
             bind service plain -monitorName plain\n\
             bind serviceGroup own -monitorName own\n\
             add lb vserver v HTTP {ip} 8000\n\
             bind lb vserver v plain\n\
             bind lb vserver v own\n"
        ),
    );
    let plain = service.heads_with("HEAD / ").remove(0);
    assert_eq!(plain, format!("HEAD / HTTP/1.1\r\nHost: {ip}:8101\r\nConnection: close\r\n\r\n"));
    let own = service.heads_with("GET /health ").remove(0);
    assert_eq!(own, "GET /health HTTP/1.1\r\nHost: app.example\r\nX-Probe: yes\r\nConnection: close\r\n\r\n");
}

fn m35_no_client_sees_a_service_that_was_dead_from_the_start() {
    let place = Place::new();
    let ip = place.ip();
    let _alive = TestService::named(place.service(1), "alive");
    let program = Program::spawn(
        &place,
        &format!(
            "enable ns feature LB\n\
             add service dead {ip} HTTP 8102\n\
             add service alive {ip} HTTP 8101\n\
             add lb vserver v HTTP {ip} 8000 -lbMethod ROUNDROBIN\n\
             bind lb vserver v dead\n\
             bind lb vserver v alive\n"
        ),
        &[],
    );
    let mut answers = 0;
    wait_for("fifty answers", || {
        // Until the address is open a connection is refused; from then on every request is answered.
        let answer = Client::try_connect(place.vserver(0)).and_then(|mut client| {
            client.try_send(request("GET", "/", "", b""))?;
            client.try_answer_to("GET")
        });
        if let Ok(answer) = answer {
            assert_eq!((answer.start.as_str(), answer.text().as_str()), ("HTTP/1.1 200 Test", "alive"));
            answers += 1;
        }
        answers == 50
    });
    assert!(
        program
            .wait_for_line(&format!("dead   {ip}:8102"))
            .contains("DOWN  tcp-default: Failure - TCP syn sent, reset received.")
    );
    assert_eq!(program.field("service", "dead", "state"), "DOWN");
}

fn m31_one_address_behind_two_names_has_two_states() {
    let place = Place::new();
    let ip = place.ip();
    let _s = TestService::named(place.service(1), "s");
    let program = Program::launch(
        &place,
        &format!(
            "enable ns feature LB\n\
             add service a {ip} HTTP 8101\n\
             add serviceGroup g HTTP\n\
             bind serviceGroup g {ip} 8101\n\
             add lb monitor good HTTP -respCode 200\n\
             add lb monitor bad HTTP -respCode 418\n\
             bind service a -monitorName good\n\
             bind serviceGroup g -monitorName bad\n\
             add lb vserver va HTTP {ip} 8000\n\
             add lb vserver vg HTTP {ip} 8001\n\
             bind lb vserver va a\n\
             bind lb vserver vg g\n"
        ),
    );
    assert_eq!(program.field("lbvserver", "va", "state"), "UP");
    assert_eq!(program.field("lbvserver", "vg", "state"), "DOWN");
    assert!(
        program
            .lines()
            .iter()
            .any(|l| l.contains(&format!("g?{ip}?8101")) && l.contains("response code 200"))
    );
}

fn reverse_disabled_and_unmonitored_services_have_the_documented_states() {
    let place = Place::new();
    let ip = place.ip();
    let program = Program::launch(
        &place,
        &format!(
            "enable ns feature LB\n\
             add service refused {ip} HTTP 8101\n\
             add service unprobed {ip} HTTP 8102 -healthMonitor NO\n\
             add service off {ip} HTTP 8103 -state DISABLED\n\
             add service ignored {ip} HTTP 8104\n\
             add service plain {ip} HTTP 8105\n\
             add lb monitor backwards TCP -reverse YES\n\
             add lb monitor sleeping TCP -state DISABLED\n\
             bind service refused -monitorName backwards\n\
             bind service ignored -monitorName sleeping\n"
        ),
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

fn a_monitor_probes_where_dest_ip_and_dest_port_say() {
    let place = Place::new();
    let ip = place.ip();
    let other_place = Place::new();
    let other = other_place.ip();
    let elsewhere = TestService::named(other_place.service(9), "elsewhere");
    let program = Program::launch(
        &place,
        &format!(
            "enable ns feature LB\n\
             add service s {ip} HTTP 8101\n\
             add lb monitor m HTTP -destIP {other} -destPort 8109\n\
             bind service s -monitorName m\n"
        ),
    );
    assert_eq!(program.field("service", "s", "state"), "UP");
    assert_eq!(elsewhere.heads_with(&format!("Host: {other}:8109\r\n")).len(), 1);
}

/// Service 1 answers its probes after 40 ms, 2 after 15 ms, 3 after 25 ms. The response times that decisions were
/// made with are at least those, in the same order, whatever the requests themselves take.
fn m38_lrtm_decides_with_the_response_times_of_its_monitors() {
    let place = Place::new();
    let ip = place.ip();
    let delays_ms = [40, 15, 25];
    let mut text = format!(
        "enable ns feature LB\n\
         set lb parameter -startupRRFactor 1\n\
         add lb monitor m HTTP -LRTM ENABLED\n\
         add lb vserver v HTTP {ip} 8000 -lbMethod LRTM\n"
    );
    let mut services = Vec::new();
    for (n, delay_ms) in (1..).zip(delays_ms) {
        services.push(TestService::slow(place.service(n), "answer", delay_ms));
        text += &format!(
            "add service s{n} {ip} HTTP 810{n}\nbind service s{n} -monitorName m\nbind lb vserver v s{n}\n"
        );
    }
    let program = Program::launch(&place, &text);
    let vserver = place.vserver(0);
    let busy: Vec<_> = (0..60).map(|_| std::thread::spawn(move || page(vserver))).collect();
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

fn a_service_that_accepts_and_says_nothing_is_down_and_says_why() {
    let place = Place::new();
    let ip = place.ip();
    let gate = Gate::new();
    let _silent = TestService::held(place.service(1), "s", &gate);
    let program = Program::launch(
        &place,
        &format!(
            "enable ns feature LB\n\
             add service s {ip} HTTP 8101\n\
             add lb monitor m HTTP -interval 600 MSEC -resptimeout 500 MSEC -retries 1 -downTime 200 MSEC\n\
             bind service s -monitorName m\n\
             add lb vserver v HTTP {ip} 8000\n\
             bind lb vserver v s\n"
        ),
    );
    let lines = program.lines();
    let line = lines.iter().find(|l| l.starts_with("  s  ")).unwrap();
    assert!(line.ends_with("DOWN  m: Failure - time out while waiting for the response."), "{line}");
    gate.open();
    program.wait_for_state("service", "s", "UP");
}

/// 100 services, 40 descriptors: probes wait for one another, and what this host lacks takes no service down.
/// `spec/methods.md` ruling 6. An LDAP monitor is kept; whoever has no other is probed by tcp-default.
fn a_monitor_that_cannot_be_run_is_unknown_and_does_not_count() {
    let place = Place::new();
    let ip = place.ip();
    let _up = TestService::named(place.service(1), "up");
    let wrong = Arc::new(AtomicU16::new(503));
    let _wrong = TestService::with_status(place.service(2), "wrong", &wrong);
    let program = Program::launch(
        &place,
        &format!(
            "enable ns feature LB\n\
             add service only {ip} HTTP 8101\n\
             add service both {ip} HTTP 8102\n\
             add service dead {ip} HTTP 8103\n\
             add lb monitor ldap LDAP\n\
             add lb monitor m HTTP {QUICK}\n\
             bind service only -monitorName ldap\n\
             bind service both -monitorName ldap\n\
             bind service both -monitorName m\n\
             bind service dead -monitorName ldap\n\
             add lb vserver v HTTP {ip} 8000\n\
             bind lb vserver v only\n\
             bind lb vserver v both\n\
             bind lb vserver v dead\n"
        ),
    );
    program.wait_for_state("service", "only", "UP");
    assert_eq!(program.field("service", "both", "state"), "DOWN");
    assert_eq!(program.field("service", "dead", "state"), "DOWN");
    let listed = |service: &str| {
        let line = program.wait_for_line(&format!("  {service} "));
        assert!(line.contains("ldap: Unknown - this version has no monitor of type LDAP."), "{line}");
        line
    };
    assert!(listed("only").contains("  UP  ") && !listed("only").contains("tcp-default"));
    assert!(listed("both").contains("m: Failure - HTTP response code 503"), "{}", listed("both"));
    assert!(listed("dead").contains("tcp-default: Failure - "), "{}", listed("dead"));
    wrong.store(200, Ordering::SeqCst);
    program.wait_for_state("service", "both", "UP");
}

fn m23_o01_too_few_descriptors_take_no_service_down() {
    let place = Place::new();
    let ip = place.ip();
    let _s = TestService::named(place.service(1), "s");
    let mut text = "enable ns feature LB\n".to_owned();
    for n in 0..100 {
        text += &format!("add serviceGroup g{n} HTTP\nbind serviceGroup g{n} {ip} 8101\n");
        text += &format!("add service s{n} {ip} HTTP {}\n", if n == 0 { 8101 } else { 9000 + n });
    }
    text += "add lb monitor m TCP -destPort 8101\n";
    for n in 1..100 {
        text += &format!("bind service s{n} -monitorName m\n");
    }
    let mut program = Program::spawn(&place, &text, &[]);
    program.limit_descriptors(40);
    program.wait_ready();
    for n in 0..100 {
        program.wait_for_state("service", &format!("s{n}"), "UP");
    }
}

/// Needs one result either way. Only a wrong answer is to take a service down here: the time-out is long.
const QUICK: &str = "-interval 1 -resptimeout 900 MSEC -retries 1 -downTime 100 MSEC";
