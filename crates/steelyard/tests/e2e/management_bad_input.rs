//! Clients of the management port that stop halfway, never end, or talk something else: each has its own place and time,
//! and keeps nobody out.

use std::fs;

use libtest_mimic::Trial;
use serde_json::{Value, json};
use socket2::{Domain, Socket, Type};

use crate::client::{Client, End, page};
use crate::place::Place;
use crate::program::{Program, config};
use crate::service::{TestService, wait_for};

pub fn trials() -> Vec<Trial> {
    trials![
        a_client_that_stops_reading_loses_its_place_and_keeps_nobody_out,
        who_is_answered_while_sending_has_the_whole_answer,
        silent_clients_and_endless_bodies_keep_nobody_out_for_ever,
        dots_lead_nowhere,
        names_are_found_under_every_encoding_and_no_other_is,
        arguments_that_are_empty_are_not_given,
        what_is_no_http_is_refused_and_disturbs_nobody,
    ]
}

/// Descriptors that the program has open.
fn descriptors(program: &Program) -> usize {
    fs::read_dir(format!("/proc/{}/fd", program.id())).unwrap().count()
}

/// An answer of some megabytes, of which the client takes the first line.
fn a_client_that_stops_reading_loses_its_place_and_keeps_nobody_out() {
    let place = Place::new();
    let mut text = "enable ns feature LB\n".to_owned();
    (0..4_000).for_each(|n| text += &format!("add lb vserver v{n} HTTP\n"));
    let program = Program::launch(&place, &text);
    // The connection by which this test logged in may be closed a moment later than it was answered.
    wait_for("the log-in's connection to end", || program.connections_at(place.nitro()) == 0);
    let before = descriptors(&program);
    let list =
        format!("GET /nitro/v1/config/lbvserver HTTP/1.1\r\nHost: localhost\r\n{}\r\n", program.keys());
    let mut stopped: Vec<Client> = (0..3).map(|_| narrow(&place)).collect();
    for client in &mut stopped {
        client.send(&list);
        assert_eq!(client.read_raw(12), b"HTTP/1.1 200");
    }
    wait_for("a place of each, and no other", || descriptors(&program) == before + stopped.len());
    for _ in 0..10 {
        assert_eq!(program.nitro("/nitro/v1/config/nsconfig").0, "HTTP/1.1 200 OK");
        assert_eq!(program.owner("GET", "nsconfig", None).0, "HTTP/1.1 200 OK");
    }
    wait_for("their places to be free", || descriptors(&program) == before);
    for client in &mut stopped {
        let (rest, _) = client.read_to_end();
        let text = String::from_utf8_lossy(&rest);
        let length = text.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
        assert!(rest.len() < length.parse::<usize>().unwrap(), "it was not sent to its end");
    }
}

/// Nobody wants the body of a GET. A client that sends one all the same, and reads slowly, is not cut off from the answer
/// by what it has sent, and one that never ends is let go of.
fn who_is_answered_while_sending_has_the_whole_answer() {
    let place = Place::new();
    let mut text = "enable ns feature LB\n".to_owned();
    (0..500).for_each(|n| text += &format!("add lb vserver v{n} HTTP\n"));
    let program = Program::launch(&place, &text);
    wait_for("the log-in's connection to end", || program.connections_at(place.nitro()) == 0);
    let before = descriptors(&program);
    let keys = program.keys();
    let begun = format!(
        "GET /nitro/v1/config/lbvserver HTTP/1.1\r\nHost: localhost\r\n{keys}Content-Length: 99000\r\n\r\n{}",
        "{".repeat(50_000)
    );
    let mut client = narrow(&place);
    client.send(&begun);
    let (answer, _) = client.read_to_end();
    let answer = String::from_utf8(answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
    assert!(head.contains(&format!("\r\ncontent-length: {}", body.len())), "{head}: {} bytes", body.len());
    wait_for("it to be let go of, though its end is open", || descriptors(&program) == before);
}

/// A client for whom the kernel keeps little.
fn narrow(place: &Place) -> Client {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    socket.set_recv_buffer_size(4_096).unwrap();
    socket.connect(&place.nitro().into()).unwrap();
    Client::over(socket.into()).unwrap()
}

/// More clients than there are places, and none of them ever comes to its point.
fn silent_clients_and_endless_bodies_keep_nobody_out_for_ever() {
    let place = Place::new();
    let service = TestService::named(place.service(1), "s");
    let program = Program::launch(&place, &config(&place, "ROUNDROBIN", &[service.address()]));
    let before = descriptors(&program);
    let login = "POST /nitro/v1/config/login HTTP/1.1\r\nHost: localhost\r\n";
    let keys = program.keys();
    let kinds = [
        String::new(),
        "GET /nitro/v1/config/nsconfig HTTP/1.1\r\nHo".to_owned(),
        format!("{login}Content-Length: 1000\r\n\r\n{{\"login\": {{"),
        format!("{login}Transfer-Encoding: chunked\r\n\r\n9\r\n{{\"login\":\r\n"),
        format!(
            "PUT /nitro/v1/config/server HTTP/1.1\r\nHost: localhost\r\n{keys}Content-Length: 9999\r\n\r\n{{"
        ),
    ];
    let mut flood: Vec<(usize, Client)> = Vec::new();
    for nth in 0..PLACES + 20 {
        let mut client = Client::connect(place.nitro());
        client.send(&kinds[nth % kinds.len()]);
        flood.push((nth % kinds.len(), client));
    }
    wait_for("every place to be taken", || descriptors(&program) >= before + PLACES);
    assert_eq!(program.owner("GET", "nsconfig", None).0, "HTTP/1.1 200 OK");
    assert_eq!(page(program.vserver()), "s");
    assert_eq!(program.nitro("/nitro/v1/config/nsconfig").0, "HTTP/1.1 200 OK", "after those in the queue");
    for (kind, client) in &mut flood[..PLACES] {
        let (answer, end) = client.read_to_end();
        let answer = String::from_utf8_lossy(&answer);
        let refused =
            answer.starts_with("HTTP/1.1 400 Bad Request\r\n") && answer.contains("it does not end");
        let expected = if *kind < 2 { !answer.contains("HTTP/1.1 200") } else { refused };
        assert!(expected, "{:?}: {answer} {end:?}", kinds[*kind]);
    }
    drop(flood);
    wait_for("every place to be free", || descriptors(&program) <= before + 2);
}

/// `..` is a name like another, before and after it is decoded.
fn dots_lead_nowhere() {
    let place = Place::new();
    let program = Program::launch(&place, "enable ns feature LB\nadd lb vserver v HTTP\n");
    let before = program.running();
    for (path, code) in [
        ("/nitro/v1/config/lbvserver/..", 258),
        ("/nitro/v1/config/lbvserver/%2e%2e", 258),
        ("/nitro/v1/config/lbvserver/%252e%252e", 258),
        ("/nitro/v1/config/lbvserver/..%2Fservice", 258),
        ("/nitro/v1/config/lbvserver/%2e%2e%2f%2e%2e%2fetc%2fpasswd", 258),
        ("/nitro/v1/stat/lbvserver/..", 258),
        ("/nitro/v1/config/..", 1232),
        ("/nitro/v1/config/../config/lbvserver", 1232),
        ("/nitro/v1/config/..%2Fstat%2Flbvserver", 1232),
        ("/nitro/v1/config/../../../../etc/passwd", 1232),
        ("/nitro/v1/../v1/config/lbvserver", 1232),
        ("/metrics/../nitro/v1/config/nsconfig", 1232),
        ("/../nitro/v1/config/nsconfig", 1232),
        ("/etc/passwd", 1232),
    ] {
        let (status, answer) = program.nitro(path);
        assert_eq!(
            (status.as_str(), &answer["errorcode"]),
            ("HTTP/1.1 404 Not Found", &json!(code)),
            "{path}"
        );
    }
    for path in ["lbvserver/..", "lbvserver/%2e%2e", "lbvserver/v%2F..", "lbvserver/..%2Fv"] {
        let (status, answer) = program.owner("DELETE", path, None);
        let refused = [("HTTP/1.1 400 Bad Request", 1075), ("HTTP/1.1 404 Not Found", 258)]
            .map(|(status, code)| (status.to_owned(), json!(code)));
        assert!(refused.contains(&(status, answer["errorcode"].clone())), "{path}: {answer}");
    }
    assert_eq!(program.running(), before);
}

/// Encoded once or twice, as a path or as a form has it: the same name for looking, changing and removing.
fn names_are_found_under_every_encoding_and_no_other_is() {
    let place = Place::new();
    let program = Program::launch(&place, "enable ns feature LB\n");
    for (nth, id) in ["a%20b", "a%2520b", "a+b", "a%2Bb"].into_iter().enumerate() {
        program.done("POST", "lbvserver", json!({"lbvserver": {"name": "a b", "servicetype": "HTTP"}}));
        program.done("POST", "lbvserver", json!({"lbvserver": {"name": "ab", "servicetype": "HTTP"}}));
        let (_, answer) = program.owner("GET", &format!("lbvserver/{id}"), None);
        assert_eq!(answer["lbvserver"][0]["name"], "a b", "{id}");
        let (_, answer) = program.owner("GET", &format!("lbvserver?filter=name:{id}"), None);
        assert_eq!(answer["lbvserver"].as_array().map(Vec::len), Some(1), "{id}: {answer}");
        let comment = format!("by {nth}");
        program.done(
            "PUT",
            &format!("lbvserver/{id}"),
            json!({"lbvserver": {"name": "a b", "comment": comment}}),
        );
        assert!(program.running().contains(&comment), "{id}");
        assert_eq!(program.owner("DELETE", &format!("lbvserver/{id}"), None).0, "HTTP/1.1 200 OK", "{id}");
        assert_eq!(program.owner("DELETE", "lbvserver/ab", None).0, "HTTP/1.1 200 OK", "the other stayed");
    }
    for id in ["%", "%2", "%zz", "%25", "%2525", "%00", "%ff", "+", "%20"] {
        let (status, answer) = program.owner("GET", &format!("lbvserver/{id}"), None);
        assert_eq!((status.as_str(), &answer["errorcode"]), ("HTTP/1.1 404 Not Found", &json!(258)), "{id}");
    }
}

fn arguments_that_are_empty_are_not_given() {
    let place = Place::new();
    let ip = place.ip();
    let program = Program::launch(
        &place,
        &format!(
            "enable ns feature LB\nadd service s {ip} HTTP 8101\nadd lb vserver v HTTP {ip} 8000\nbind lb vserver v s\n"
        ),
    );
    let before = program.running();
    for query in [
        "",
        "args=",
        "args",
        "args=,",
        "args=name:",
        "filter=",
        "filter=name:",
        "attrs=",
        "count=",
        "=",
        "&&",
    ] {
        let (status, answer) = program.owner("GET", &format!("lbvserver?{query}"), None);
        assert_eq!(status, "HTTP/1.1 200 OK", "{query}: {answer}");
        assert_eq!(answer["lbvserver"][0]["name"], "v", "{query}: {answer}");
    }
    for (path, body) in [
        ("lbvserver", Value::Null),
        ("lbvserver/", Value::Null),
        ("lbvserver?args=", Value::Null),
        ("lbvserver?args=name:", Value::Null),
        ("lbvserver_service_binding/v", Value::Null),
        ("lbvserver_service_binding/v?args=", Value::Null),
        ("lbvserver_service_binding/v?args=servicename:", Value::Null),
        ("lbvserver_service_binding?args=name:,servicename:", Value::Null),
    ] {
        let (status, answer) = program.owner("DELETE", path, Some(&body).filter(|body| !body.is_null()));
        let expected = ("HTTP/1.1 400 Bad Request", &json!(1095));
        assert_eq!((status.as_str(), &answer["errorcode"]), expected, "{path}: {answer}");
    }
    assert_eq!(program.running(), before);
}

fn what_is_no_http_is_refused_and_disturbs_nobody() {
    let place = Place::new();
    let program = Program::launch(&place, "enable ns feature LB\n");
    let texts: [&[u8]; 14] = [
        b"\r\n\r\n\r\n",
        b"hello\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET /nitro/v1/config/nsconfig\r\n\r\n",
        b"GET /nitro/v1/config/nsconfig HTTP/9.9\r\n\r\n",
        b"GET /nitro/v1/config/nsconfig FTP/1.1\r\n\r\n",
        b"GET /a b HTTP/1.1\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03",
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"POST /nitro/v1/config/login HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        b"POST /nitro/v1/config/login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999\r\n\r\n",
        b"GET /\xff\xfe HTTP/1.1\r\n\0: \0\r\n\r\n",
        &[0; 70_000],
    ];
    for text in texts {
        let shown = String::from_utf8_lossy(&text[..text.len().min(60)]).into_owned();
        let mut client = Client::connect(place.nitro());
        // It may be shut out before it has said all.
        let _ = client.try_send(text);
        client.half_close();
        let (answer, end) = client.read_to_end();
        let answer = String::from_utf8_lossy(&answer);
        let refused = ["HTTP/1.1 4", "HTTP/1.1 5"].iter().any(|status| answer.starts_with(status));
        assert!(answer.is_empty() || refused, "{shown:?}: {answer}");
        assert!(matches!(end, End::Fin | End::Reset));
        assert_eq!(program.nitro("/nitro/v1/config/nsconfig").0, "HTTP/1.1 200 OK", "after {shown:?}");
    }
    assert_eq!(program.errors(), "");
}

/// Clients that are served at one time at one management address.
const PLACES: usize = 256;
