//! HTTP-ECV against nginx, against services that send what a case asks for, and its strings on their way through NITRO, a saved
//! file and a probe.

use std::path::Path;
use std::time::Duration;

use libtest_mimic::Trial;
use serde_json::json;

use crate::bindings::rows;
use crate::ecv::{wait_for_response, watched};
use crate::foreign::Running;
use crate::installed::program;
use crate::place::Place;
use crate::program::{Program, run_to_end};
use crate::scripted::{Scripted, read_to, say};
use crate::service::{TestService, Then, wait_for};

pub fn trials() -> Vec<Trial> {
    trials![
        m04_an_empty_recv_takes_a_404_and_says_so,
        m05_a_marker_counts_within_the_first_24_kib_of_what_nginx_sends,
        m05_a_marker_over_two_segments_and_two_chunks_is_found,
        the_body_counts_and_is_timed_from_the_request,
        m40_strings_are_kept_and_shown_as_they_were_typed,
    ]
}

fn m04_an_empty_recv_takes_a_404_and_says_so() {
    let place = Place::new();
    let answer = |x: &mut crate::service::Exchange<'_>| x.answer(404, b"not found");
    let _services = [1, 2, 3].map(|n| TestService::start(place.service(n), answer));
    let program = watched(
        &place,
        &[
            &format!("HTTP-ECV -send \"GET /nosuch\" -recv \"\" {QUICK}"),
            &format!("HTTP -respCode 200 {QUICK}"),
            &format!("HTTP-ECV -send \"GET /nosuch\" -recv Found {QUICK}"),
        ],
    );
    wait_for_response(&program, 1, "UP", "Success - HTTP response code 404, matched.");
    wait_for_response(&program, 2, "DOWN", "Failure - HTTP response code 404 received.");
    wait_for_response(
        &program,
        3,
        "DOWN",
        "Failure - HTTP response code 404, pattern not found in the body.",
    );
}

fn m05_a_marker_counts_within_the_first_24_kib_of_what_nginx_sends() {
    let Some(mut command) = program("nginx") else { return };
    let place = Place::new();
    let at = place.service(1);
    let root = Path::new(&place.file("page", "site_is_up")).parent().unwrap().to_str().unwrap().to_owned();
    let cases =
        [(100, true), (24_560, true), (24_566, true), (24_570, false), (24_576, false), (24_590, false)];
    for (marker, _) in cases {
        let mut body = ".".repeat(24_676);
        body.replace_range(marker..marker + 10, "site_is_up");
        place.file(&format!("at{marker}"), &body);
        // What is included is sent in chunks.
        place.file(&format!("at{marker}.shtml"), &format!("<!--# include virtual=\"/at{marker}\" -->"));
    }
    let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|kind| format!("  {kind}_temp_path {root}/temp-{kind};\n"))
        .concat();
    let text = format!(
        "daemon off; master_process off; error_log stderr crit; pid {root}/nginx.pid;\n\
         events {{ worker_connections 64; }}\n\
         http {{\n{temporary}  access_log off;\n  server {{\n    listen {at};\n    root {root};\n\
         \x20   location ~ shtml {{ ssi on; ssi_types *; }}\n  }}\n}}\n"
    );
    command.args(["-p", &root, "-e", "stderr", "-c", &place.file("nginx.conf", &text)]);
    let _nginx = Running::listening(command, at);
    let probe =
        |path: &str| format!("HTTP-ECV -send \"GET /{path}\" -recv site_is_up -destPort 8101 {QUICK}");
    let paths = cases.iter().flat_map(|(marker, _)| [format!("at{marker}"), format!("at{marker}.shtml")]);
    let mut monitors: Vec<String> = paths.map(|path| probe(&path)).collect();
    monitors.push(probe("missing"));
    let monitors: Vec<&str> = monitors.iter().map(String::as_str).collect();
    let program = watched(&place, &monitors);
    for (nth, (_, found)) in cases.iter().enumerate() {
        let (state, response) = match found {
            true => ("UP", "Success - HTTP response code 200, matched."),
            false => (
                "DOWN",
                "Failure - HTTP response code 200, pattern not found in the first 24576 bytes of the body.",
            ),
        };
        wait_for_response(&program, 2 * nth + 1, state, response);
        wait_for_response(&program, 2 * nth + 2, state, response);
    }
    wait_for_response(
        &program,
        monitors.len(),
        "DOWN",
        "Failure - HTTP response code 404, pattern not found in the body.",
    );
}

fn m05_a_marker_over_two_segments_and_two_chunks_is_found() {
    let place = Place::new();
    let script = |parts: &'static [&'static [u8]]| {
        move |stream: &mut std::io::BufReader<std::net::TcpStream>| {
            read_to(stream, b"\r\n\r\n")?;
            say(stream, parts, Duration::from_millis(30))
        }
    };
    let _segments = Scripted::stream(
        place.service(1),
        script(&[b"HTTP/1.1 200 OK\r\nContent-Le", b"ngth: 12\r\n\r\n.site_", b"is_up."]),
    );
    let _chunks = Scripted::stream(
        place.service(2),
        script(&[
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\n.site_\r",
            b"\n6;x\r\nis_up.\r\n0\r\n\r\n",
        ]),
    );
    let _unsound = Scripted::stream(
        place.service(3),
        script(&[b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\nsite_is_up"]),
    );
    let _cut =
        Scripted::stream(place.service(4), script(&[b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nsite_"]));
    let _to_close = Scripted::stream(place.service(5), script(&[b"HTTP/1.0 200 OK\r\n\r\nsite_is_up"]));
    let probe = format!("HTTP-ECV -recv \"re/site_is_\\w+/\" {QUICK}");
    let program = watched(&place, &[&probe, &probe, &probe, &probe, &probe]);
    for n in [1, 2, 5] {
        wait_for_response(&program, n, "UP", "Success - HTTP response code 200, matched.");
    }
    let unsound = "Failure - invalid HTTP response: size of a chunk is not a number.";
    wait_for_response(&program, 3, "DOWN", unsound);
    wait_for_response(&program, 4, "DOWN", "Failure - connection closed before a complete response.");
}

fn the_body_counts_and_is_timed_from_the_request() {
    let place = Place::new();
    let service = TestService::start(place.service(1), |x| {
        std::thread::sleep(Duration::from_millis(60));
        x.raw("HTTP/1.1 200 OK\r\nX-Health: all_good\r\nContent-Length: 9\r\n\r\n")?;
        x.raw("ALL_GOOD.")?;
        Ok(Then::Keep)
    });
    let program = watched(
        &place,
        &[
            &format!(
                "HTTP-ECV -send \"GET /h\" -customHeaders \"Host: app.example\\r\\n\" -recv ALL_GOOD -LRTM ENABLED {QUICK}"
            ),
            &format!("HTTP-ECV -recv all_good -destPort 8101 {QUICK}"),
        ],
    );
    wait_for_response(&program, 1, "UP", "Success - HTTP response code 200, matched.");
    wait_for_response(
        &program,
        2,
        "DOWN",
        "Failure - HTTP response code 200, pattern not found in the body.",
    );
    let response_ms: u64 = rows(&program, "service/s1")[0]["responsetime"].as_str().unwrap().parse().unwrap();
    assert!(response_ms >= 60, "{response_ms}");
    let asked = service.heads_with("GET /h HTTP/1.1\r\n").remove(0);
    assert_eq!(asked, "GET /h HTTP/1.1\r\nHost: app.example\r\nConnection: close\r\n\r\n");
    assert!(!service.heads_with("GET / HTTP/1.1\r\n").is_empty(), "without -send it asks for /");
}

/// What is typed is stored, by NITRO as by a file, and its escapes are undone for the probe alone. A line end that a text box
/// added is seen in what the command line shows.
fn m40_strings_are_kept_and_shown_as_they_were_typed() {
    let place = Place::new();
    let ip = place.ip();
    let service = TestService::start(place.service(1), |x| x.answer(200, b"ok\r\n"));
    let text =
        format!("enable ns feature LB\nadd service s1 {ip} HTTP 8101\nadd service s2 {ip} HTTP 8102\n");
    let program = Program::launch(&place, &text);
    let typed = [("m1", "GET /a?b=c&d=\"e\" ", r"ok\r\n"), ("m2", "GET /b\r\n", "ok\r\n")];
    for ((monitor, send, recv), service) in typed.into_iter().zip(["s1", "s2"]) {
        let added =
            json!({"monitorname": monitor, "type": "HTTP-ECV", "send": send, "recv": recv, "destport": 8101});
        program.done("POST", "lbmonitor", json!({"lbmonitor": added}));
        let bound = json!({"name": service, "monitor_name": monitor});
        program.done("PUT", "service_lbmonitor_binding", json!({"service_lbmonitor_binding": bound}));
    }
    let is_as_typed = |program: &Program| {
        for (monitor, send, recv) in typed {
            let row = rows(program, &format!("lbmonitor/{monitor}")).swap_remove(0);
            assert_eq!((&row["send"], &row["recv"]), (&json!(send), &json!(recv)));
        }
        let data = program.data().to_str().unwrap();
        for (monitor, send) in [("m1", "GET /a?b=c&d=\"e\" "), ("m2", r"GET /b\r\n")] {
            let output = run_to_end(&["cli", "--data", data, "show", "lb", "monitor", monitor]);
            let shown = String::from_utf8(output.stdout).unwrap();
            let strings = format!("Send string......:\n       \"{send}\"\n");
            assert!(shown.contains(&strings) && shown.contains("       \"ok\\r\\n\"\n"), "{shown}");
        }
    };
    is_as_typed(&program);
    for (n, request) in [(1, "GET /a?b=c&d=\"e\" HTTP/1.1\r\n"), (2, "GET /b HTTP/1.1\r\n")] {
        wait_for_response(&program, n, "UP", "Success - HTTP response code 200, matched.");
        assert!(!service.heads_with(request).is_empty());
    }
    // The file has the same in quotes, and who reads it has it unchanged.
    program.done("POST", "nsconfig?action=save", json!({"nsconfig": {}}));
    let saved = std::fs::read_to_string(program.config_path()).unwrap();
    // `spec/cli.md` 2: quotes and backslashes have a backslash before them there, line ends are escapes.
    for strings in
        [r#" -send "GET /a?b=c&d=\"e\" " -recv "ok\\r\\n" "#, r#" -send "GET /b\r\n" -recv "ok\r\n" "#]
    {
        assert!(saved.contains(strings), "{saved}");
    }
    drop(program);
    let again = Program::launch(&place, &saved);
    is_as_typed(&again);
    wait_for("a probe of the saved monitor", || {
        service.heads_with("GET /a?b=c&d=\"e\" HTTP/1.1\r\n").len() >= 2
    });
}

/// Needs one result either way.
const QUICK: &str = "-interval 1 -resptimeout 900 MSEC -retries 1 -downTime 100 MSEC";
