//! Changes while it serves, by the socket of its owner: NITRO's verbs, statuses and codes, and bodies that are none.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::client::page;
use crate::load::Load;
use crate::place::Place;
use crate::program::Program;
use crate::service::{TestService, wait_for};

pub fn trials() -> Vec<Trial> {
    trials![
        what_is_added_serves_and_what_is_removed_does_not,
        a_name_with_a_space_is_one_name,
        statuses_and_codes_are_those_that_clients_know,
        bodies_that_are_none_change_nothing,
        a_body_that_is_too_large_is_refused,
        the_socket_is_its_owners_and_outlives_no_program,
        the_port_neither_shows_nor_changes_anything_to_nobody,
        no_request_fails_because_of_a_change,
        writers_at_the_same_time_lose_nothing,
    ]
}

fn socket(program: &Program) -> PathBuf {
    Path::new(program.config_path()).with_file_name("data").join("nitro.sock")
}

/// Service `s` and virtual server `v`, one step after the other.
fn build(program: &Program, place: &Place) {
    let ip = place.ip();
    program.done("POST", "nsfeature?action=enable", json!({"nsfeature": {"feature": "lb"}}));
    let service = json!({"name": "s", "ip": ip, "servicetype": "HTTP", "port": 8101, "healthmonitor": "NO"});
    program.done("POST", "service", json!({"service": service}));
    let vserver = json!({"name": "v", "servicetype": "HTTP", "ipv46": ip, "port": "8000", "comment": null});
    program.done("POST", "lbvserver", json!({"lbvserver": vserver}));
    let binding = json!({"name": "v", "servicename": "s", "weight": "2"});
    program.done("PUT", "lbvserver_service_binding/v", json!({"lbvserver_service_binding": binding}));
}

fn what_is_added_serves_and_what_is_removed_does_not() {
    let place = Place::new();
    let _s = TestService::named(place.service(1), "s");
    let program = Program::launch(&place, "");
    build(&program, &place);
    program.wait_for_state("lbvserver", "v", "UP");
    assert_eq!(page(place.vserver(0)), "s");
    program.done("POST", "service?action=disable", json!({"service": {"name": "s"}}));
    program.wait_for_state("lbvserver", "v", "DOWN");
    program.done("POST", "service?action=enable", json!({"service": {"name": "s"}}));
    program.wait_for_state("lbvserver", "v", "UP");
    program.done("POST", "lbvserver?action=rename", json!({"lbvserver": {"name": "v", "newname": "w"}}));
    assert!(program.running().contains("bind lb vserver w s -weight 2\n"), "{}", program.running());
    program.done("POST", "lbvserver?action=unset", json!({"lbvserver": {"name": "w", "clttimeout": true}}));
    let (status, _) = program.owner("DELETE", "/lbvserver_service_binding/w?args=servicename:s", None);
    assert_eq!(status, "HTTP/1.1 200 OK");
    assert!(!program.running().contains("bind lb vserver"), "{}", program.running());
    assert_eq!(program.owner("DELETE", "lbvserver/w", None).0, "HTTP/1.1 200 OK");
    assert!(program.stat("lbvserver").is_empty());
    assert_eq!(program.owner("DELETE", "service/s?args=", None).0, "HTTP/1.1 200 OK");
    assert_eq!(program.running(), "#NS14.1 Build 51.80\nenable ns feature LB\n");
}

fn a_name_with_a_space_is_one_name() {
    let place = Place::new();
    let program = Program::launch(&place, "");
    let named = |name: &str| json!({"lbvserver": {"name": name}});
    let vserver = json!({"lbvserver": {"name": "a b", "servicetype": "HTTP"}});
    program.done("POST", "lbvserver", vserver);
    program.done("POST", "lbvserver?action=disable", named("a b"));
    assert!(program.running().contains("-state DISABLED"), "{}", program.running());
    program.done("POST", "lbvserver?action=enable", named("a b"));
    assert!(!program.running().contains("-state DISABLED"), "{}", program.running());
    program.done("POST", "nsfeature?action=enable", json!({"nsfeature": {"feature": "CS SSL"}}));
    assert!(program.running().contains("enable ns feature CS SSL\n"), "{}", program.running());
    assert_eq!(program.owner("DELETE", "lbvserver/a%2520b", None).0, "HTTP/1.1 200 OK");
}

fn statuses_and_codes_are_those_that_clients_know() {
    let place = Place::new();
    let _s = TestService::named(place.service(1), "s");
    let program = Program::launch(&place, "");
    build(&program, &place);
    let before = program.running();
    let lbvserver = |fields: Value| json!({"lbvserver": fields});
    for (method, path, body, status, code, message) in [
        (
            "POST",
            "lbvserver",
            lbvserver(json!({"name": "v", "servicetype": "HTTP"})),
            "409 Conflict",
            273,
            "Resource already exists [name, v]",
        ),
        (
            "PUT",
            "lbvserver/t3",
            lbvserver(json!({"comment": "x"})),
            "404 Not Found",
            258,
            "No such resource [name, t3]",
        ),
        ("DELETE", "lbvserver/t3", Value::Null, "404 Not Found", 258, "No such resource [name, t3]"),
        (
            "POST",
            "lbvserver",
            lbvserver(json!({"name": "x"})),
            "400 Bad Request",
            1095,
            "Required argument missing [serviceType]",
        ),
        (
            "PUT",
            "lbvserver",
            lbvserver(json!({"name": "v", "nosuch": 1})),
            "599 Netscaler specific error",
            278,
            "Invalid argument [nosuch]",
        ),
        (
            "PUT",
            "lbvserver",
            lbvserver(json!({"name": "v", "lbmethod": "BEST"})),
            "400 Bad Request",
            1097,
            "Invalid argument value [lbMethod]",
        ),
        (
            "PUT",
            "lbvserver",
            lbvserver(json!({"name": "v", "timeout": 1441})),
            "400 Bad Request",
            1108,
            "Integer value exceeds maximum [timeout]",
        ),
        (
            "POST",
            "lbvserver?action=jump",
            lbvserver(json!({"name": "v"})),
            "400 Bad Request",
            1240,
            "Invalid nitro action or operation",
        ),
        ("POST", "nosuch", json!({"nosuch": {}}), "404 Not Found", 1232, "Invalid object name [nosuch]"),
        (
            "PATCH",
            "lbvserver",
            lbvserver(json!({"name": "v"})),
            "405 Method Not Allowed",
            1237,
            "Invalid method name. It should be either post, put, get, stat or delete",
        ),
        (
            "DELETE",
            "lbmonitor/http",
            Value::Null,
            "400 Bad Request",
            1095,
            "Required argument missing [type]",
        ),
        ("DELETE", "server/nosuch", Value::Null, "404 Not Found", 258, "No such resource [name, nosuch]"),
    ] {
        let body = Some(&body).filter(|body| !body.is_null());
        let (line, answer) = program.owner(method, path, body);
        let expected = json!({"errorcode": code, "message": message, "severity": "ERROR"});
        assert_eq!((line, answer), (format!("HTTP/1.1 {status}"), expected), "{method} {path}");
    }
    assert_eq!(program.running(), before, "a refused change changes nothing");
    program.done("POST", "nsfeature?action=disable", json!({"nsfeature": {"feature": ["LB"]}}));
    let other = lbvserver(json!({"name": "x", "servicetype": "HTTP"}));
    let (status, answer) = program.owner("POST", "lbvserver?warning=yes", Some(&other));
    assert_eq!(status, "HTTP/1.1 209 Netscaler specific warning");
    let warning = json!({"errorcode": 1067, "message": "Feature(s) not enabled [LB]", "severity": "WARNING"});
    assert_eq!(answer, warning);
}

/// Sends these bytes as a body; the status line.
fn sent(program: &Program, body: &[u8]) -> String {
    let mut stream = UnixStream::connect(socket(program)).unwrap();
    let length = body.len();
    write!(stream, "POST /nitro/v1/config/server HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n").unwrap();
    // The answer may come before the end of the body.
    let _ = stream.write_all(body);
    let mut answer = [0; 1024];
    let length = stream.read(&mut answer).unwrap();
    String::from_utf8_lossy(&answer[..length]).lines().next().unwrap_or_default().to_owned()
}

fn bodies_that_are_none_change_nothing() {
    let place = Place::new();
    let program = Program::launch(&place, "");
    let before = program.running();
    let deep = [vec![b'['; 100_000], vec![b']'; 100_000]].concat();
    let bodies: [&[u8]; 12] = [
        b"",
        b"{",
        b"[]",
        b"null",
        b"{\"server\": null}",
        b"{\"server\": []}",
        b"{\"server\": [1]}",
        b"{\"server\": \"x\"}",
        b"{\"server\": {\"name\": {\"a\": 1}, \"ipaddress\": \"192.0.2.1\"}}",
        b"{\"server\": {\"name\": \"\xff\", \"ipaddress\": \"192.0.2.1\"}}",
        b"{\"server\": {\"name\": \"a\\u0000b\", \"ipaddress\": \"192.0.2.1\"}}",
        &deep,
    ];
    for body in bodies {
        let shown = String::from_utf8_lossy(&body[..body.len().min(60)]).into_owned();
        assert_eq!(sent(&program, body), "HTTP/1.1 400 Bad Request", "{shown}");
    }
    assert_eq!(program.running(), before);
}

fn a_body_that_is_too_large_is_refused() {
    let place = Place::new();
    let program = Program::launch(&place, "");
    let resident = program.resident_kib();
    assert_eq!(sent(&program, &vec![b' '; 50 << 20]), "HTTP/1.1 400 Bad Request");
    assert!(program.resident_kib() < resident + (48 << 10), "it was not held whole");
    assert_eq!(
        sent(&program, b"{\"server\": {\"name\": \"a\", \"ipaddress\": \"192.0.2.1\"}}"),
        "HTTP/1.1 201 Created"
    );
}

fn the_socket_is_its_owners_and_outlives_no_program() {
    let place = Place::new();
    let mut program = Program::launch(&place, "");
    let path = socket(&program);
    let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
    assert_eq!((mode(path.parent().unwrap()), mode(&path)), (0o700, 0o600));
    let data = path.parent().unwrap().to_str().unwrap().to_owned();
    // Another program on the same directory has no socket, and leaves that of the first alone.
    let elsewhere = Place::new();
    let second = Program::launch_with(&elsewhere, "", &["--data", &data]);
    wait_for("word of the other program", || {
        second.errors().contains("another program serves there; give each its own --data")
    });
    drop(second);
    assert_eq!(program.running(), "#NS14.1 Build 51.80\n");
    program.signal(rustix::process::Signal::KILL);
    program.exit_code();
    assert!(path.exists(), "a killed program leaves it");
    let mut again = Program::launch(&place, "");
    assert_eq!(again.running(), "#NS14.1 Build 51.80\n");
    again.signal(rustix::process::Signal::TERM);
    assert_eq!(again.exit_code(), Some(0));
    assert!(!path.exists());
}

fn the_port_neither_shows_nor_changes_anything_to_nobody() {
    let place = Place::new();
    let program = Program::launch(&place, "");
    for (method, path) in [
        ("GET", "nsrunningconfig"),
        ("GET", "nosuch"),
        ("GET", "systemuser"),
        ("POST", "nsconfig?action=save"),
        ("DELETE", "server/x"),
    ] {
        let answer = program.manage(format!(
            "{method} /nitro/v1/config/{path} HTTP/1.1\r\nHost: {}\r\nContent-Length: 0\r\n\r\n",
            place.nitro()
        ));
        assert_eq!(answer.start, "HTTP/1.1 401 Unauthorized", "{method} {path}");
    }
}

/// Clients ask on kept connections and on new ones while services come and go, methods change, and other virtual servers
/// are added and removed.
fn no_request_fails_because_of_a_change() {
    let place = Place::new();
    let _services = [1, 2].map(|n| TestService::named(place.service(n), &format!("s{n}")));
    let ip = place.ip();
    let program = Program::start_with(
        &place,
        &format!(
            "enable ns feature LB\nadd service s1 {ip} HTTP 8101 -healthMonitor NO\n\
             add service s2 {ip} HTTP 8102 -healthMonitor NO\nadd lb vserver v HTTP {ip} 8000\n\
             bind lb vserver v s1\nbind lb vserver v s2\n"
        ),
    );
    let load = Load::on(program.vserver());
    for round in 0..20 {
        let binding = json!({"lbvserver_service_binding": {"name": "v", "servicename": "s2"}});
        let methods = ["ROUNDROBIN", "LEASTRESPONSETIME", "LEASTCONNECTION", "LEASTBANDWIDTH"];
        let method = json!({"lbvserver": {"name": "v", "lbmethod": methods[round % 4]}});
        program.done("PUT", "lbvserver", method);
        assert_eq!(
            program.owner("DELETE", "lbvserver_service_binding/v?args=servicename:s2", None).0,
            "HTTP/1.1 200 OK"
        );
        program.done("PUT", "lbvserver_service_binding", binding);
        let disable = json!({"service": {"name": "s2", "delay": 1, "graceful": "YES"}});
        program.done("POST", "service?action=disable", disable);
        program.done("POST", "service?action=enable", json!({"service": {"name": "s2"}}));
        let other = json!({"lbvserver": {"name": "other", "servicetype": "HTTP", "ipv46": ip, "port": 8001}});
        program.done("POST", "lbvserver", other);
        assert_eq!(program.owner("DELETE", "lbvserver/other", None).0, "HTTP/1.1 200 OK");
    }
    let asked = load.end();
    assert!(asked.kept > 0 && asked.fresh > 0);
    program.wait_at_rest();
    assert!(program.counter("tothits") >= asked.kept + asked.fresh, "counters survive changes");
}

fn writers_at_the_same_time_lose_nothing() {
    let place = Place::new();
    let program = Program::launch(&place, "");
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let program = &program;
            scope.spawn(move || {
                for n in 0..25 {
                    let server =
                        json!({"name": format!("w{writer}-{n}"), "ipaddress": format!("192.0.{writer}.{n}")});
                    program.done("POST", "server", json!({"server": server}));
                }
            });
        }
    });
    let running = program.running();
    assert_eq!(running.lines().filter(|line| line.starts_with("add server w")).count(), 200, "{running}");
}
