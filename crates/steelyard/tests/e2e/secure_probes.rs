//! Monitors through TLS: openssl and nginx as services, and servers of the test for what those won't do.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use libtest_mimic::Trial;
use serde_json::Value;

use crate::foreign::Running;
use crate::installed::program;
use crate::place::Place;
use crate::program::Program;
use crate::service::wait_for;
use crate::tcp::{listen, reset};
use crate::tls_service::{Authority, Manner, Pair, TlsService, self_signed};

pub fn trials() -> Vec<Trial> {
    trials![
        openssl_is_probed_by_handshakes,
        nginx_is_probed_by_https,
        m16_a_server_that_wants_a_name_says_so,
        a_fault_in_each_phase_is_told_from_the_others,
        secure_probes_measure_what_their_rows_say,
        ecv_probes_go_through_tls_of_openssl_and_nginx,
        secure_ecv_probes_are_timed_from_their_request_on,
        the_first_byte_of_a_secure_probe_is_of_tls,
    ]
}

/// What the one monitor of a service found last.
pub fn last(program: &Program, service: &str) -> String {
    probed(program, service)["lastresponse"].as_str().unwrap().to_owned()
}

fn probed(program: &Program, service: &str) -> Value {
    let path = format!("service_lbmonitor_binding/{service}");
    let (status, answer) = program.owner("GET", &path, None);
    assert_eq!(status, "HTTP/1.1 200 OK", "{answer}");
    answer["service_lbmonitor_binding"][0].clone()
}

fn openssl(place: &Place, nth: u16, pair: &Pair, arguments: &[&str]) -> Option<Running> {
    let mut command = program("openssl")?;
    let certificate = place.file(&format!("server{nth}.crt"), &pair.certificate);
    let key = place.file(&format!("server{nth}.key"), &pair.key);
    let at = place.service(nth);
    command.args(["s_server", "-accept", &at.to_string(), "-cert", &certificate, "-key", &key, "-www"]);
    command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null());
    Some(Running::listening(command, at))
}

/// By those versions that are in use, and by one that is not any more.
fn openssl_is_probed_by_handshakes() {
    let (place, pair) = (Place::new(), self_signed("app.example"));
    let ip = place.ip();
    let old = ["-tls1", "-cipher", "ALL:@SECLEVEL=0"];
    let arguments: [&[&str]; 3] = [&["-tls1_3"], &["-tls1_2"], &old];
    let mut servers = Vec::new();
    let mut text = format!("add lb monitor t TCP -secure YES {QUICK}\n");
    for (arguments, nth) in arguments.iter().zip(1..) {
        let Some(server) = openssl(&place, nth, &pair, arguments) else { return };
        servers.push(server);
        text += &format!("add service s{nth} {ip} SSL 810{nth}\nbind service s{nth} -monitorName t\n");
    }
    text += &format!("add service built {ip} SSL_TCP 8101\nbind service built -monitorName tcps\n");
    let program = Program::launch(&place, &text);
    for service in ["s1", "s2", "built"] {
        assert_eq!(program.field("service", service, "state"), "UP");
        assert_eq!(last(&program, service), "Success - SSL handshake completed.");
    }
    assert_eq!(program.field("service", "s3", "state"), "DOWN");
    assert_eq!(last(&program, "s3"), "Failure - TLS handshake: alert protocol_version.");
    drop(servers.swap_remove(0));
    program.wait_for_state("service", "s1", "DOWN");
    wait_for("a refused connection", || last(&program, "s1") == "Failure - TCP syn sent, reset received.");
}

fn nginx_is_probed_by_https() {
    let Some(command) = program("nginx") else { return };
    let (place, pair) = (Place::new(), Authority::new("an authority").signs("app.example", 2120));
    let (_nginx, root) = nginx(command, &place, &pair);
    let ip = place.ip();
    let program = Program::launch(
        &place,
        &format!(
            "enable ns feature LB SSL\n\
             add service page {ip} SSL 8101\n\
             add service gone {ip} HTTP 8101\n\
             add service clear {ip} SSL_TCP 8101\n\
             add lb monitor gone HTTP -secure YES -httpRequest \"GET /gone\" {QUICK}\n\
             add lb monitor clear HTTP {QUICK}\n\
             bind service page -monitorName https\n\
             bind service gone -monitorName gone\n\
             bind service clear -monitorName clear\n"
        ),
    );
    assert_eq!(program.field("service", "page", "state"), "UP");
    assert_eq!(last(&program, "page"), "Success - HTTP response code 200 received.");
    assert_eq!(program.field("service", "gone", "state"), "DOWN");
    assert_eq!(last(&program, "gone"), "Failure - HTTP response code 404 received.");
    assert_eq!(last(&program, "clear"), "Failure - HTTP response code 400 received.");
    let log = std::fs::read_to_string(format!("{root}/access.log")).unwrap();
    assert!(log.contains("\"HEAD / HTTP/1.1\" 200") && log.contains("\"GET /gone HTTP/1.1\" 404"), "{log}");
}

/// At the first place, with a page and a log of requests; its folder.
fn nginx(mut command: Command, place: &Place, pair: &Pair) -> (Running, String) {
    let at = place.service(1);
    let page = place.file("index.html", "a page of nginx\n");
    let root = Path::new(&page).parent().unwrap().to_str().unwrap();
    let (certificate, key) = (place.file("n.crt", &pair.certificate), place.file("n.key", &pair.key));
    let text = format!(
        "daemon off; master_process off; error_log stderr crit; pid {root}/nginx.pid;\n\
         events {{ worker_connections 64; }}\n\
         http {{\n  access_log {root}/access.log;\n  client_body_temp_path {root}/t;\n  proxy_temp_path {root}/t;\n\
         \x20 fastcgi_temp_path {root}/t;\n  uwsgi_temp_path {root}/t;\n  scgi_temp_path {root}/t;\n\
         \x20 server {{\n    listen {at} ssl;\n    ssl_certificate {certificate};\n    ssl_certificate_key {key};\n\
         \x20   root {root};\n  }}\n}}\n"
    );
    command.args(["-p", root, "-e", "stderr", "-c", &place.file("nginx.conf", &text)]);
    let root = root.to_owned();
    (Running::listening(command, at), root)
}

/// The built-in ones are among them: https-ecv as it is, for which any answer of HTTP will do, and tcps-ecv with strings.
fn ecv_probes_go_through_tls_of_openssl_and_nginx() {
    let Some(command) = program("nginx") else { return };
    let (place, pair) = (Place::new(), self_signed("app.example"));
    let (_nginx, root) = nginx(command, &place, &pair);
    let Some(_openssl) = openssl(&place, 2, &pair, &[]) else { return };
    let ip = place.ip();
    let ask = "-send \"GET / HTTP/1.0\\r\\n\\r\\n\"";
    let program = Program::launch(
        &place,
        &format!(
            "set lb monitor tcps-ecv TCP-ECV {ask} -recv \"Ciphers supported in s_server\" {PATIENT}\n\
             add lb monitor found TCP-ECV -secure YES {ask} -recv \"Ciphers supported in s_server\" {PATIENT}\n\
             add lb monitor missed TCP-ECV -secure YES {ask} -recv \"no such words\" {PATIENT}\n\
             add lb monitor page HTTP-ECV -secure YES -send \"GET /index.html\" -recv \"a page of nginx\" {PATIENT}\n\
             add lb monitor other HTTP-ECV -secure YES -send \"GET /index.html\" -recv \"another page\" {PATIENT}\n\
             add lb monitor clear TCP-ECV {ask} -recv \"Ciphers supported in s_server\" {PATIENT}\n\
             add service found {ip} SSL 8102\nbind service found -monitorName found\n\
             add service missed {ip} SSL_TCP 8102\nbind service missed -monitorName missed\n\
             add service t {ip} TCP 8102\nbind service t -monitorName tcps-ecv\n\
             add service clear {ip} HTTP 8102\nbind service clear -monitorName clear\n\
             add service page {ip} SSL 8101\nbind service page -monitorName page\n\
             add service other {ip} SSL_TCP 8101\nbind service other -monitorName other\n\
             add service h {ip} TCP 8101\nbind service h -monitorName https-ecv\n"
        ),
    );
    for (service, state) in [
        ("found", "UP"),
        ("missed", "DOWN"),
        ("t", "UP"),
        ("clear", "DOWN"),
        ("page", "UP"),
        ("other", "DOWN"),
        ("h", "UP"),
    ] {
        program.wait_for_state("service", service, state);
    }
    assert_eq!(last(&program, "found"), "Success - pattern found in response.");
    assert_eq!(last(&program, "missed"), "Failure - pattern not found in response.");
    assert_eq!(last(&program, "page"), "Success - HTTP response code 200, matched.");
    assert_eq!(last(&program, "other"), "Failure - HTTP response code 200, pattern not found in the body.");
    assert_eq!(last(&program, "h"), "Success - HTTP response code 200, matched.");
    let log = std::fs::read_to_string(format!("{root}/access.log")).unwrap();
    assert!(log.contains("\"GET /index.html HTTP/1.1\" 200"), "{log}");
}

fn m16_a_server_that_wants_a_name_says_so() {
    let place = Place::new();
    let ip = place.ip();
    let manner = Manner { only: Some("app.example"), ..Manner::default() };
    let server = TlsService::start(place.service(1), self_signed("app.example").server(), manner);
    let program = Program::launch(
        &place,
        &format!(
            "add service t {ip} SSL 8101\n\
             add service h {ip} SSL_TCP 8101\n\
             add lb monitor m1 TCP -secure YES\n\
             bind service t -monitorName m1\n\
             bind service h -monitorName https\n"
        ),
    );
    for service in ["t", "h"] {
        assert_eq!(program.field("service", service, "state"), "DOWN");
        assert_eq!(last(&program, service), "Failure - TLS handshake: alert unrecognized_name.");
    }
    assert!(server.names().iter().all(Option::is_none), "{:?}", server.names());
}

/// Each of these servers is asked by a handshake alone and by a request.
fn a_fault_in_each_phase_is_told_from_the_others() {
    let place = Place::new();
    let ip = place.ip();
    let hello = |mut stream: &TcpStream| assert!(stream.read(&mut [0; 4_096]).is_ok_and(|n| n > 100));
    let _reset_after_hello = listen(place.service(3), move |stream| {
        hello(&stream);
        reset(stream);
    });
    let _closed_after_hello = listen(place.service(4), move |stream| hello(&stream));
    let _clear = listen(place.service(5), |mut stream| {
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap();
        let _ = stream.read(&mut [0; 4_096]);
    });
    // It is taken and never answered.
    let silent = listen(place.service(6), |stream| stream);
    let pair = self_signed("app.example");
    let server = pair.server();
    let half = pair.server();
    let _reset_within_its_flight = listen(place.service(2), move |mut stream| {
        let mut connection = rustls::ServerConnection::new(half.clone()).unwrap();
        while !connection.wants_write() {
            connection.read_tls(&mut stream).unwrap();
            connection.process_new_packets().unwrap();
        }
        let mut flight = Vec::new();
        connection.write_tls(&mut flight).unwrap();
        stream.write_all(&flight[..50]).unwrap();
        reset(stream);
    });
    let _reset_at_once = listen(place.service(8), reset);
    let _reset_after_handshake = listen(place.service(7), move |mut stream| {
        let mut connection = rustls::ServerConnection::new(server.clone()).unwrap();
        while connection.is_handshaking() && connection.complete_io(&mut stream).is_ok() {}
        reset(stream);
    });
    let mut text = String::new();
    for (name, kind) in [("t", "TCP"), ("h", "HTTP")] {
        text += &format!("add lb monitor {name} {kind} -secure YES -interval 1 -resptimeout 500 MSEC\n");
    }
    for nth in 1..=8 {
        text += &format!("add service t{nth} {ip} SSL 810{nth}\nbind service t{nth} -monitorName t\n");
        text += &format!("add service h{nth} {ip} SSL_TCP 810{nth}\nbind service h{nth} -monitorName h\n");
    }
    let program = Program::launch(&place, &text);
    let reset_text = "Failure - TLS handshake: connection reset during the handshake.";
    let faults = [
        (1, "Failure - TCP syn sent, reset received."),
        (2, reset_text),
        (3, reset_text),
        (4, "Failure - TLS handshake: connection closed during the handshake."),
        (5, "Failure - TLS handshake: the server answered something that is not TLS."),
        (6, "Failure - time out during SSL handshake stage."),
    ];
    for (nth, fault) in faults {
        for service in [format!("t{nth}"), format!("h{nth}")] {
            assert_eq!(last(&program, &service), fault, "{service}");
            assert_eq!(program.field("service", &service, "state"), "DOWN");
        }
    }
    assert_eq!(last(&program, "h7"), "Failure - connection closed before a complete response.");
    // The reset may overtake what follows the connect.
    for service in ["t8", "h8"] {
        let found = last(&program, service);
        assert!([reset_text, faults[0].1].contains(&&*found), "{service}: {found}");
    }
    drop(silent);
}

/// `spec/methods.md` 4.3: a handshake counts for a TCP monitor and not for an HTTP one.
fn secure_probes_measure_what_their_rows_say() {
    let place = Place::new();
    let ip = place.ip();
    let (handshake_ms, answer_ms) = (40, 300);
    let server = self_signed("app.example").server();
    let manner = |handshake_ms, answer_ms| Manner {
        before_handshake: Duration::from_millis(handshake_ms),
        before_answer: Duration::from_millis(answer_ms),
        only: None,
    };
    let _slow_to_begin = TlsService::start(place.service(1), server.clone(), manner(handshake_ms, 1));
    let _slow_to_answer = TlsService::start(place.service(2), server, manner(0, answer_ms));
    let mut text = String::new();
    for nth in [1, 2] {
        text += &format!("add service t{nth} {ip} SSL 810{nth}\nbind service t{nth} -monitorName tcps\n");
        text +=
            &format!("add service h{nth} {ip} SSL_TCP 810{nth}\nbind service h{nth} -monitorName https\n");
    }
    let program = Program::launch(&place, &text);
    let measured_ms = |service: &str| -> u64 {
        let found = probed(&program, service);
        assert!(found["lastresponse"].as_str().unwrap().starts_with("Success"), "{found}");
        found["responsetime"].as_str().unwrap().parse().unwrap()
    };
    assert!(measured_ms("t1") >= handshake_ms);
    assert!(measured_ms("h2") >= answer_ms);
    assert!(measured_ms("h1") < measured_ms("h2") && measured_ms("t2") < measured_ms("h2"));
}

/// `spec/methods.md` 4.3: TCP-ECV from its send string, HTTPS-ECV from its request on. A handshake that takes long is in
/// neither; the same server makes TCPS the slowest.
fn secure_ecv_probes_are_timed_from_their_request_on() {
    let place = Place::new();
    let ip = place.ip();
    let (handshake_ms, answer_ms) = (600, 200);
    let manner = Manner {
        before_handshake: Duration::from_millis(handshake_ms),
        before_answer: Duration::from_millis(answer_ms),
        only: None,
    };
    let _server = TlsService::start(place.service(1), self_signed("app.example").server(), manner);
    let mut text = "add lb monitor tcp_ecv TCP-ECV -secure YES -LRTM ENABLED -send \"GET / HTTP/1.1\\r\\n\\r\\n\" -recv \
        \"200 OK\"\nadd lb monitor http_ecv HTTP-ECV -secure YES -LRTM ENABLED -send \"GET /\"\n"
        .to_owned();
    let services = [("tcp_ecv", "SSL"), ("http_ecv", "SSL_TCP"), ("https-ecv", "TCP"), ("tcps", "HTTP")];
    for (monitor, kind) in services {
        text += &format!(
            "add service {monitor} {ip} {kind} 8101\nbind service {monitor} -monitorName {monitor}\n"
        );
    }
    let program = Program::launch(&place, &text);
    let measured_ms = |service: &str| -> u64 {
        let found = probed(&program, service);
        assert!(found["lastresponse"].as_str().unwrap().starts_with("Success"), "{found}");
        found["responsetime"].as_str().unwrap().parse().unwrap()
    };
    let tcps_ms = measured_ms("tcps");
    assert!(tcps_ms >= handshake_ms, "{tcps_ms}");
    for service in ["tcp_ecv", "http_ecv", "https-ecv"] {
        let ms = measured_ms(service);
        assert!(ms >= answer_ms && ms < tcps_ms, "{service}: {ms} of {tcps_ms} ms");
    }
}

/// What nobody may read is not sent in clear.
fn the_first_byte_of_a_secure_probe_is_of_tls() {
    let place = Place::new();
    let ip = place.ip();
    let seen = listen(place.service(1), |mut stream| {
        let mut first = [0; 1];
        stream.read(&mut first).map(|n| first[..n].to_vec()).unwrap_or_default()
    });
    let _program = Program::launch(
        &place,
        &format!(
            "add service s {ip} SSL 8101\n\
             add lb monitor m TCP -secure YES\n\
             bind service s -monitorName m\n"
        ),
    );
    assert_eq!(seen.next(), [22], "a record of a handshake");
}

const QUICK: &str = "-interval 1 -resptimeout 900 MSEC -retries 1 -downTime 100 MSEC";
/// For a server that serves one after the other.
const PATIENT: &str = "-interval 6 -resptimeout 5 -retries 1 -downTime 100 MSEC";
