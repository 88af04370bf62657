//! A running program takes a changed file: what is in both versions goes on undisturbed, what is not is opened and
//! closed, and a file that cannot be taken changes nothing.

use std::net::{IpAddr, Ipv6Addr, SocketAddr, TcpListener};

use libtest_mimic::Trial;
use rustix::process::Signal;

use crate::client::{Client, End, page, request};
use crate::place::Place;
use crate::program::{Program, config, run_to_end};
use crate::service::{Gate, TestService, Then, wait_for};

pub fn trials() -> Vec<Trial> {
    trials![
        k01_unrelated_changes_touch_no_connection,
        k05_ipv6_works_in_every_place,
        k07_an_address_is_free_once_its_virtual_server_is_removed,
        k10_rebinding_costs_no_request_after_it_and_no_counter,
        k10_members_bound_again_go_on_counting,
        k13_a_virtual_server_without_an_address_opens_nothing,
        k14_a_weight_changed_while_down_holds_after_recovery,
        k16_bad_lines_are_named_and_the_rest_is_served,
        k18_sessions_of_an_address_that_moved_go_on,
        a_file_that_cannot_be_taken_changes_nothing,
        a_burst_of_hangups_and_one_during_the_stop_do_no_harm,
    ]
}

/// Those of the case's input, and bindings of another virtual server.
fn k01_unrelated_changes_touch_no_connection() {
    undisturbed(|program, place, n| {
        let ip = place.ip();
        let base = config(place, "ROUNDROBIN", &[place.service(1)]);
        let add = format!("add service t{} 127.0.0.50 HTTP {}\n", n / 3, 10_000 + n / 3);
        let lines = match (n, n % 3) {
            (180.., _) => format!(
                "add lb vserver w HTTP {ip} 8001\nadd service t {ip} HTTP 8102 -healthMonitor NO\n\
                 bind lb vserver w t -weight {}\n",
                n - 179
            ),
            (_, 0) => add,
            (_, 1) => format!("{add}set service t{} -comment x\n", n / 3),
            _ => String::new(),
        };
        assert_ne!(program.reload(&format!("{base}{lines}")), UNCHANGED);
    });
}

/// A WebSocket, a long download, a slow upload and an idle client while `change` is called for each of 200 unrelated
/// changes, from 0.
pub fn undisturbed(change: impl Fn(&Program, &Place, usize)) {
    let place = Place::new();
    let gate = Gate::new();
    let (piece, tunnel) = (gate.clone(), Gate::new());
    let word = tunnel.clone();
    let service = TestService::start_with_heads(place.service(1), move |x| match x.request.target() {
        "/download" => {
            x.raw(format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", (CHANGES + 1) * PIECE.len()))?;
            for _ in 0..=CHANGES {
                piece.pass();
                x.raw(PIECE)?;
            }
            Ok(Then::Keep)
        }
        "/socket" => {
            x.raw("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n")?;
            for _ in 0..CHANGES {
                tunnel.pass();
                x.raw(b"word")?;
            }
            Ok(Then::Close)
        }
        _ => {
            x.read_body()?;
            let body = x.request.body.clone();
            x.answer(200, &body)
        }
    });
    let base = config(&place, "ROUNDROBIN", &[service.address()]);
    let program = Program::start_with(&place, &base);
    let mut download = program.client();
    download.send(request("GET", "/download", "", b""));
    let mut upload = program.client();
    let length = (CHANGES + 1) * PIECE.len();
    upload.send(format!("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: {length}\r\n\r\n"));
    let mut socket = program.client();
    socket.send(request("GET", "/socket", WEB_SOCKET, b""));
    assert_eq!(socket.next_message("GET").unwrap().status(), 101);
    service.wait_begun(3);
    let mut idle = program.client();
    assert_eq!(idle.get("/").status(), 200);

    for n in 0..CHANGES {
        change(&program, &place, n);
        upload.send(PIECE);
        gate.release(1);
        word.release(1);
        assert_eq!(socket.read_raw(4), b"word");
    }
    assert_eq!(idle.get("/").status(), 200);
    gate.release(1);
    upload.send(PIECE);
    assert_eq!(download.answer().body, PIECE.repeat(CHANGES + 1));
    assert_eq!(upload.answer().body, PIECE.repeat(CHANGES + 1));
    let log = service.log();
    assert_eq!(log.len(), 5);
    assert_eq!(log[3].connection, log[4].connection, "an idle connection was closed");
    let (rest, end) = socket.read_to_end();
    assert_eq!((&rest[..], end), (&b""[..], End::Fin), "the service ended it, and nobody before");
    drop(socket);
    program.wait_at_rest();
}

/// Virtual server, service and server in IPv6; text with a port has brackets, and the address one form.
fn k05_ipv6_works_in_every_place() {
    let place = Place::new();
    let (vserver, service) = (free_ipv6_port(), free_ipv6_port());
    let _s6 = TestService::named(service, "six");
    let program = Program::launch(
        &place,
        &format!(
            "enable ns feature LB\n\
             add lb vserver v6 HTTP 0:0:0:0:0:0:0:1 {}\n\
             add server srv6 2001:DB8:0::11\n\
             add service s6 ::1 HTTP {}\n\
             add service far srv6 HTTP 9001 -healthMonitor NO\n\
             bind lb vserver v6 s6\n",
            vserver.port(),
            service.port()
        ),
    );
    assert_eq!(page(vserver), "six");
    let lines = program.lines();
    let has = |text: String| assert!(lines.iter().any(|l| l.contains(&text)), "{text:?} in {lines:?}");
    has(format!("v6  [::1]:{}  ", vserver.port()));
    has(format!("s6  [::1]:{}  ", service.port()));
    assert_eq!(program.field("lbvserver", "v6", "primaryipaddress"), "::1");
    assert_eq!(program.field("service", "far", "primaryipaddress"), "2001:db8::11");
    let holder = TcpListener::bind((Ipv6Addr::LOCALHOST, 0)).unwrap();
    let taken = holder.local_addr().unwrap();
    program.reload(&format!("enable ns feature LB\nadd lb vserver v6 HTTP ::1 {}\n", taken.port()));
    wait_for("word of the address", || {
        program.errors().contains(&format!("[::1]:{}: address", taken.port()))
    });
}

/// `rm` really releases the address, and another virtual server may have it at once. That the second of two is refused
/// as long as both are there is the command language's business, and tested there.
fn k07_an_address_is_free_once_its_virtual_server_is_removed() {
    let place = Place::new();
    let s1 = TestService::plain(place.service(1));
    let v1 = config(&place, "ROUNDROBIN", &[s1.address()]);
    let program = Program::start_with(&place, &v1);
    let none: String = v1.lines().filter(|l| !l.contains("vserver")).map(|l| format!("{l}\n")).collect();
    assert_eq!(program.reload(&none).split(": ").nth(1), Some("-1 virtual server (v)"));
    wait_for("the address to be free", || TcpListener::bind(program.vserver()).is_ok());
    assert!(program.listening().iter().all(|address| *address != program.vserver()));
    let v2 = v1.replace("vserver v", "vserver v2");
    program.reload(&v2);
    assert_eq!(page(program.vserver()), s1.address().port().to_string());
    // In one step: the socket stays and has another name.
    program.reload(&v1);
    assert_eq!(page(program.vserver()), s1.address().port().to_string());
    assert_eq!(program.errors(), "");
}

/// Everything is unbound and bound again under load: 503 from the one to the other and never outside, and what the
/// services have carried and measured is still known.
fn k10_rebinding_costs_no_request_after_it_and_no_counter() {
    let place = Place::new();
    let services = [1, 2].map(|n| TestService::plain(place.service(n)));
    let bound = config(&place, "LEASTRESPONSETIME", &services.each_ref().map(TestService::address));
    let unbound: String =
        bound.lines().filter(|l| !l.starts_with("bind")).map(|l| format!("{l}\n")).collect();
    let program = Program::start_with(&place, &bound);
    let mut clients: Vec<Client> = (0..4).map(|_| program.client()).collect();
    let mut all = |expected: u16| {
        for client in &mut clients {
            assert_eq!(client.get("/").status(), expected);
        }
    };
    (0..10).for_each(|_| all(200));
    let ttfb = |name: &str| program.service(name, "avgsvrttfb");
    assert!(ttfb("s1") > 0 && ttfb("s2") > 0);
    for _ in 0..3 {
        program.reload(&unbound);
        all(503);
        program.reload(&bound);
        all(200);
    }
    program.wait_at_rest();
    for (nth, service) in services.iter().enumerate() {
        let name = format!("s{}", nth + 1);
        assert_eq!(program.service(&name, "totalrequests"), service.begun() as u64);
        assert!(ttfb(&name) > 0);
    }
    assert_eq!(program.counter("totalrequests"), 40 + 3 * 8);
}

/// The same with members of a group that are unbound from it and bound again.
fn k10_members_bound_again_go_on_counting() {
    let place = Place::new();
    let services = [1, 2].map(|n| TestService::plain(place.service(n)));
    let ip = place.ip();
    let base = format!(
        "enable ns feature LB\nadd serviceGroup g HTTP -healthMonitor NO\n\
         add lb vserver v HTTP {ip} 8000 -lbMethod LEASTRESPONSETIME\nbind lb vserver v g\n"
    );
    let bound = format!("{base}bind serviceGroup g {ip} 8101\nbind serviceGroup g {ip} 8102\n");
    let program = Program::launch(&place, &bound);
    program.wait_for_state("lbvserver", "v", "UP");
    let mut client = program.client();
    (0..10).for_each(|_| assert_eq!(client.get("/").status(), 200));
    let figures = |name: &str| {
        let page = program.manage("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n").text();
        let of_both = page.lines().filter(|line| line.starts_with(name) && line.contains("service=\"g?"));
        of_both.map(|line| line.rsplit(' ').next().unwrap().parse::<f64>().unwrap()).sum::<f64>()
    };
    program.wait_at_rest();
    assert_eq!(figures("steelyard_service_requests_total"), 10.0);
    for n in 1..=3 {
        program.reload(&base);
        assert_eq!(client.get("/").status(), 503);
        program.reload(&bound);
        program.wait_for_state("lbvserver", "v", "UP");
        assert_eq!(client.get("/").status(), 200);
        assert_eq!(figures("steelyard_service_requests_total"), f64::from(10 + n));
    }
    let asked: usize = services.iter().map(TestService::begun).sum();
    assert_eq!(asked, 13);
}

fn k13_a_virtual_server_without_an_address_opens_nothing() {
    let place = Place::new();
    let s1 = TestService::plain(place.service(1));
    let text = format!(
        "enable ns feature LB\nadd lb vserver v0 HTTP 0.0.0.0 0\nadd service s1 {} HTTP {}\nbind lb vserver v0 s1\n",
        s1.address().ip(),
        s1.address().port()
    );
    let program = Program::start_with(&place, &text);
    assert!(program.lines().iter().any(|l| l.starts_with("v0  not addressable  ") && l.ends_with("  UP")));
    assert_eq!(program.field("lbvserver", "v0", "primaryipaddress"), "0.0.0.0");
    assert_eq!(program.field("lbvserver", "v0", "primaryport"), 0);
    assert_eq!(program.listening(), [place.nitro()]);
    assert_eq!(program.field("lbvserver", "v0", "state"), "UP");
    s1.stop();
    program.wait_for_state("lbvserver", "v0", "DOWN");
}

/// The weight of a member that is DOWN is changed; when it comes back it has the new one.
fn k14_a_weight_changed_while_down_holds_after_recovery() {
    let place = Place::new();
    let ip = place.ip();
    let text = |weight: u32| {
        format!(
            "enable ns feature LB\nadd lb monitor m TCP -interval 200 MSEC -resptimeout 100 MSEC -retries 1 -downTime 200 MSEC\n\
             add service s1 {ip} HTTP 8101 -healthMonitor NO\n\
             add serviceGroup g HTTP\nbind serviceGroup g {ip} 8102 -weight {weight}\nbind serviceGroup g -monitorName m\n\
             add lb vserver v HTTP {ip} 8000 -lbMethod ROUNDROBIN\nbind lb vserver v s1\nbind lb vserver v g\n"
        )
    };
    let s1 = TestService::plain(place.service(1));
    let program = Program::launch(&place, &text(1));
    let mut client = program.client();
    assert_eq!(client.get("/").text(), "8101");
    assert_eq!(program.reload(&text(3)).split(": ").nth(1), Some("1 service group changed (g)"));
    assert_eq!(client.get("/").text(), "8101", "the member is still DOWN");
    let s2 = TestService::plain(place.service(2));
    program.wait_for_line(&format!("g?{ip}?8102 ({ip}:8102) is UP"));
    // A whole round first, as the one that comes back comes in the middle of one.
    (0..4).for_each(|_| assert_eq!(client.get("/").status(), 200));
    let (before1, before2) = (s1.begun(), s2.begun());
    (0..8).for_each(|_| assert_eq!(client.get("/").status(), 200));
    assert_eq!((s1.begun() - before1, s2.begun() - before2), (2, 6));
}

/// Each bad line is named with its place and the rest is served; `--strict` refuses the file as a whole.
fn k16_bad_lines_are_named_and_the_rest_is_served() {
    let place = Place::new();
    let ip = place.ip();
    let s = TestService::plain(place.service(1));
    let text = format!(
        "enable ns feature LB\nadd service s {ip} HTTP 8101 -healthMonitor NO\n\
         add lb vserver v1 HTTP {ip} 8080 -futureOption YES\n\
         add lb vserver v2 HTTP {ip}\n\
         add lb vserver v3 HTTP {ip} 8000\n\
         bind lb vserver v3 s\n"
    );
    let path = place.file("k16.conf", &text);
    let named = |errors: &str| {
        let lines: Vec<&str> = errors.lines().collect();
        assert_eq!(lines.len(), 2, "{errors}");
        assert!(lines[0].contains(":3:") && lines[0].contains("-futureOption"), "{errors}");
        assert!(lines[1].contains(":4:") && lines[1].contains("port"), "{errors}");
    };
    let output = run_to_end(&["run", "--config", &path, "--nitro", &place.nitro().to_string(), "--strict"]);
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(1), &b""[..]));
    named(&String::from_utf8(output.stderr).unwrap());

    let program = Program::launch(&place, &text);
    assert_eq!(page(program.vserver()), s.address().port().to_string());
    wait_for("both lines", || program.errors().lines().count() == 2);
    named(&program.errors());
    assert_eq!(program.stat("lbvserver").len(), 1);
}

/// The address of a virtual server changes with a request in progress and a client between two requests: both go on,
/// the old address takes nobody in, the new one does.
fn k18_sessions_of_an_address_that_moved_go_on() {
    let place = Place::new();
    let gate = Gate::new();
    let s1 = TestService::held(place.service(1), "whole", &gate);
    let old = config(&place, "ROUNDROBIN", &[s1.address()]);
    let program = Program::start_with(&place, &old);
    gate.release(1);
    let mut idle = program.client();
    assert_eq!(idle.get("/").text(), "whole");
    let mut busy = program.client();
    busy.send(request("GET", "/", "", b""));
    s1.wait_begun(2);
    assert_eq!(
        program.reload(&old.replace(" 8000 ", " 8001 ")).split(": ").nth(1),
        Some("1 virtual server changed (v)")
    );
    wait_for("the old address to be closed", || Client::try_connect(place.vserver(0)).is_err());
    gate.open();
    assert_eq!(busy.answer().text(), "whole");
    assert_eq!(busy.get("/").text(), "whole");
    assert_eq!(idle.get("/").text(), "whole");
    assert_eq!(page(place.vserver(1)), "whole");
    program.wait_at_rest();
}

fn a_file_that_cannot_be_taken_changes_nothing() {
    let place = Place::new();
    let s1 = TestService::plain(place.service(1));
    let good = config(&place, "ROUNDROBIN", &[s1.address()]);
    let program = Program::launch_with(&place, &good, &["--strict"]);
    let taken = TestService::plain(place.vserver(2));
    let refused = |text: Option<&str>, words: &[&str]| {
        let before = program.errors().len();
        match text {
            Some(text) => std::fs::write(program.config_path(), text).unwrap(),
            None => std::fs::remove_file(program.config_path()).unwrap(),
        }
        program.signal(Signal::HUP);
        wait_for("word of the refusal", || program.errors()[before..].contains("not reloaded"));
        let said = program.errors()[before..].to_owned();
        words.iter().for_each(|word| assert!(said.contains(word), "{word:?} in {said:?}"));
        assert_eq!(page(program.vserver()), s1.address().port().to_string());
        assert_eq!(program.stat("lbvserver").len(), 1);
        said.lines().count()
    };
    assert_eq!(refused(None, &["what runs stays as it is", "no such file"]), 1);
    let (ip, port) = (place.ip(), place.vserver(1).port());
    let with = |line: &str| format!("{good}add lb vserver w HTTP {ip} {port}\n{line}\n");
    assert_eq!(refused(Some(&with("add service t 300.1.1.1 HTTP 80")), &[":6:", "300.1.1.1", "--strict"]), 2);
    let taken = format!("add lb vserver x HTTP {ip} {}", taken.address().port());
    assert_eq!(refused(Some(&with(&taken)), &["x: cannot listen on", "address already in use"]), 1);
    assert_eq!(program.listening(), [program.vserver(), place.nitro()], "what was bound for it is given up");
    assert!(program.reload(&with("")).ends_with(": +1 virtual server (w)"));
    assert!(program.reload(&with("")).ends_with(UNCHANGED));
}

fn a_burst_of_hangups_and_one_during_the_stop_do_no_harm() {
    let place = Place::new();
    let gate = Gate::new();
    let s1 = TestService::held(place.service(1), "whole", &gate);
    let text = config(&place, "ROUNDROBIN", &[s1.address()]);
    let mut program = Program::launch(&place, &text);
    (0..50).for_each(|_| program.signal(Signal::HUP));
    program.wait_for_line(UNCHANGED);
    let mut client = program.client();
    client.send(request("GET", "/", "", b""));
    s1.wait_begun(1);
    program.signal(Signal::TERM);
    program.wait_for_line("stopping");
    program.signal(Signal::HUP);
    gate.open();
    assert_eq!(client.answer().text(), "whole");
    assert_eq!((client.expect_end(), program.exit_code()), (End::Fin, Some(0)));
}

/// A port of ::1, which has no addresses to spare.
pub fn free_ipv6_port() -> SocketAddr {
    TcpListener::bind((IpAddr::V6(Ipv6Addr::LOCALHOST), 0)).unwrap().local_addr().unwrap()
}

const CHANGES: usize = 200;
const PIECE: &[u8] = b"0123456789abcdef";
const UNCHANGED: &str = ": nothing changed";

/// What makes a request the handshake of a WebSocket.
const WEB_SOCKET: &str = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
    Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n";
