//! Cases of configuration by what NITRO does and shows; what a reloaded file does is `reloading`'s.

use std::fs;
use std::net::TcpListener;

use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::client::{Client, page};
use crate::place::Place;
use crate::program::{Program, config};
use crate::reloading::{free_ipv6_port, undisturbed};
use crate::service::{TestService, wait_for};

pub fn trials() -> Vec<Trial> {
    trials![
        k01_unrelated_changes_touch_no_connection,
        k03_every_value_comes_back_as_it_was,
        k05_ipv6_works_in_every_place,
        k07_an_address_that_is_taken_is_refused_and_free_at_once,
        k08_what_is_in_use_goes_by_a_rule_and_leaves_no_reference,
        k10_rebinding_costs_no_request_after_it_and_no_counter,
        k13_a_virtual_server_without_an_address_opens_nothing,
        k15_servers_of_addresses_go_with_their_services,
    ]
}

/// The first element that `GET` shows, to the program's owner.
fn shown(program: &Program, resource: &str, name: &str) -> Value {
    let (status, answer) = program.owner("GET", &format!("{resource}/{name}"), None);
    assert_eq!(status, "HTTP/1.1 200 OK", "{resource} {name}: {answer}");
    answer[resource][0].clone()
}

fn removed(program: &Program, path: &str) {
    let (status, answer) = program.owner("DELETE", path, None);
    assert_eq!(status, "HTTP/1.1 200 OK", "{path}: {answer}");
}

/// What is refused: the status' number and the code.
fn refused(program: &Program, method: &str, path: &str, body: Option<&Value>) -> (String, Value) {
    let (status, answer) = program.owner(method, path, body);
    (status.split(' ').nth(1).unwrap().to_owned(), answer["errorcode"].clone())
}

fn bind(program: &Program, vserver: &str, service: &str, weight: usize) {
    let binding = json!({"name": vserver, "servicename": service, "weight": weight});
    program.done("PUT", "lbvserver_service_binding", json!({"lbvserver_service_binding": binding}));
}

fn k01_unrelated_changes_touch_no_connection() {
    undisturbed(|program, place, n| {
        let (name, ip) = (format!("t{}", n / 3), place.ip());
        let other =
            json!({"name": "t", "ip": ip, "servicetype": "HTTP", "port": 8102, "healthmonitor": "NO"});
        match (n, n % 3) {
            (180.., _) => {
                if n == 180 {
                    let vserver = json!({"name": "w", "servicetype": "HTTP", "ipv46": ip, "port": 8001});
                    program.done("POST", "lbvserver", json!({"lbvserver": vserver}));
                    program.done("POST", "service", json!({"service": other}));
                }
                bind(program, "w", "t", n - 179);
            }
            (_, 0) => {
                let service =
                    json!({"name": name, "ip": "127.0.0.50", "servicetype": "HTTP", "port": 10_000 + n / 3});
                program.done("POST", "service", json!({"service": service}));
            }
            (_, 1) => program.done("PUT", "service", json!({"service": {"name": name, "comment": "x"}})),
            _ => removed(program, &format!("service/{name}")),
        }
    });
}

fn k03_every_value_comes_back_as_it_was() {
    let place = Place::new();
    let ip = place.ip();
    let program = Program::launch(&place, "enable ns feature LB\n");
    let monitor =
        json!({"monitorname": "m1", "type": "HTTP-ECV", "send": "GET /x?a=\"b\" HTTP/1.0", "recv": ""});
    let (two, number) = ("two words \"quoted\" and \\ backslash", "# not a comment");
    program.done("POST", "lbmonitor", json!({"lbmonitor": monitor}));
    let vserver = json!({"name": "v 1", "servicetype": "HTTP", "ipv46": ip, "port": 8000, "comment": two});
    program.done("POST", "lbvserver", json!({"lbvserver": vserver}));
    let service = json!({"name": "s#1", "ip": ip, "servicetype": "HTTP", "port": 8101, "comment": number});
    program.done("POST", "service", json!({"service": service}));
    let holds = |program: &Program| {
        assert_eq!(shown(program, "lbmonitor", "m1")["send"], "GET /x?a=\"b\" HTTP/1.0");
        assert_eq!(shown(program, "lbvserver", "v%201")["comment"], two);
        assert_eq!(shown(program, "service", "s%231")["comment"], number);
        program.running()
    };
    let before = holds(&program);
    program.done("POST", "nsconfig?action=save", json!({"nsconfig": {}}));
    let saved = fs::read_to_string(program.config_path()).unwrap();
    drop(program);
    let again = Program::launch(&place, &saved);
    assert_eq!(holds(&again), before);
    assert_eq!(again.errors(), "");
}

/// Text with a port has brackets, an address alone has none, and there is one form of it.
fn k05_ipv6_works_in_every_place() {
    let place = Place::new();
    let (vserver, service) = (free_ipv6_port(), free_ipv6_port());
    let _six = TestService::named(service, "six");
    let program = Program::launch(&place, "enable ns feature LB\n");
    let v6 = json!({"name": "v6", "servicetype": "HTTP", "ipv46": "0:0:0:0:0:0:0:1", "port": vserver.port()});
    program.done("POST", "lbvserver", json!({"lbvserver": v6}));
    program.done("POST", "server", json!({"server": {"name": "srv6", "ipaddress": "2001:DB8:0::11"}}));
    let s6 = json!({"name": "s6", "ip": "::0001", "servicetype": "HTTP", "port": service.port()});
    program.done("POST", "service", json!({"service": s6}));
    let far = json!({"name": "far", "servername": "srv6", "servicetype": "HTTP", "port": 9001});
    program.done("POST", "service", json!({"service": far}));
    bind(&program, "v6", "s6", 1);
    program.wait_for_state("lbvserver", "v6", "UP");
    assert_eq!(page(vserver), "six");
    assert_eq!(shown(&program, "lbvserver", "v6")["ipv46"], "::1");
    assert_eq!(shown(&program, "server", "srv6")["ipaddress"], "2001:db8::11");
    assert_eq!(shown(&program, "service", "s6")["ipaddress"], "::1");
    assert_eq!(shown(&program, "service", "far")["ipaddress"], "2001:db8::11");
    assert_eq!(program.field("lbvserver", "v6", "primaryipaddress"), "::1");
    assert_eq!(program.field("service", "far", "primaryipaddress"), "2001:db8::11");
    let running = program.running();
    for line in [
        format!("add lb vserver v6 HTTP ::1 {}", vserver.port()),
        "add server srv6 2001:db8::11".to_owned(),
        format!("add service s6 ::1 HTTP {}", service.port()),
    ] {
        assert!(running.lines().any(|l| l.starts_with(&line)), "{line:?} in {running}");
    }
    removed(&program, "service/s6");
    removed(&program, "lbvserver/v6");
    assert!(!program.running().contains("::1 "), "{}", program.running());
}

/// The second is refused as long as the first is there; then it is served at once, each time.
fn k07_an_address_that_is_taken_is_refused_and_free_at_once() {
    let place = Place::new();
    let _service = TestService::named(place.service(1), "s");
    let program = Program::start_at(&place, "ROUNDROBIN", &[place.service(1)]);
    let vserver = |name: &str| json!({"lbvserver": {"name": name, "servicetype": "HTTP", "ipv46": place.ip(), "port": 8000}});
    let (mut here, mut next) = ("v", "v2");
    for _ in 0..5 {
        let (status, answer) = program.owner("POST", "lbvserver", Some(&vserver(next)));
        assert_eq!((status.as_str(), &answer["errorcode"]), ("HTTP/1.1 409 Conflict", &json!(273)));
        assert!(answer["message"].as_str().unwrap().starts_with("Resource already exists"), "{answer}");
        assert_eq!(page(program.vserver()), "s");
        removed(&program, &format!("lbvserver/{here}"));
        program.done("POST", "lbvserver", vserver(next));
        bind(&program, next, "s1", 1);
        program.wait_for_state("lbvserver", next, "UP");
        assert_eq!(page(program.vserver()), "s");
        (here, next) = (next, here);
    }
    removed(&program, &format!("lbvserver/{here}"));
    wait_for("the address to be free", || TcpListener::bind(program.vserver()).is_ok());
    assert_eq!(program.errors(), "");
}

/// Virtual servers and services take their bindings with them; servers and monitors wait until nothing uses them.
fn k08_what_is_in_use_goes_by_a_rule_and_leaves_no_reference() {
    let place = Place::new();
    let ip = place.ip();
    let program = Program::launch(
        &place,
        &format!(
            "enable ns feature LB\nadd server srv1 {ip}\nadd service s1 srv1 HTTP 8101\nadd serviceGroup g1 HTTP\n\
             add lb vserver v1 HTTP {ip} 8000\nadd lb vserver v2 HTTP {ip} 8001\nbind lb vserver v1 s1\n\
             bind lb vserver v2 s1\nbind lb vserver v1 g1\nadd lb monitor m1 HTTP\nbind service s1 -monitorName m1\n\
             bind serviceGroup g1 srv1 8102\nbind serviceGroup g1 -monitorName m1\n"
        ),
    );
    let before = program.running();
    assert_eq!(refused(&program, "DELETE", "lbmonitor/m1?args=type:HTTP", None).1, 2131);
    assert_eq!(refused(&program, "DELETE", "server/srv1", None).1, 315);
    assert_eq!(program.running(), before);
    removed(&program, "service/s1");
    assert!(!program.running().contains(" s1"), "{}", program.running());
    assert_eq!(refused(&program, "DELETE", "server/srv1", None).1, 315, "a member is on it");
    removed(&program, "lbvserver/v1");
    assert!(!program.running().contains(" v1 "), "{}", program.running());
    removed(&program, "servicegroup/g1");
    removed(&program, "lbmonitor/m1?args=type:HTTP");
    removed(&program, "server/srv1");
    let running = program.running();
    assert_eq!(running.lines().skip(1).count(), 2, "the feature and v2 are left: {running}");
    program.done("POST", "nsconfig?action=save", json!({"nsconfig": {}}));
    let saved = fs::read_to_string(program.config_path()).unwrap();
    assert!(program.reload(&saved).ends_with(": nothing changed"));
    assert_eq!(program.errors(), "");
}

/// Everything is unbound and bound again between requests: 503 from the one to the other and never outside.
fn k10_rebinding_costs_no_request_after_it_and_no_counter() {
    let place = Place::new();
    let services = [1, 2].map(|n| TestService::plain(place.service(n)));
    let bound = config(&place, "LEASTRESPONSETIME", &services.each_ref().map(TestService::address));
    let program = Program::start_with(&place, &bound);
    let mut clients: Vec<Client> = (0..4).map(|_| program.client()).collect();
    let mut all = |expected: u16| {
        for client in &mut clients {
            assert_eq!(client.get("/").status(), expected);
        }
    };
    (0..10).for_each(|_| all(200));
    for _ in 0..3 {
        removed(&program, "lbvserver_service_binding/v?args=servicename:s1");
        all(200);
        removed(&program, "lbvserver_service_binding/v?args=servicename:s2");
        all(503);
        bind(&program, "v", "s1", 1);
        all(200);
        bind(&program, "v", "s2", 1);
        all(200);
    }
    program.wait_at_rest();
    for (name, service) in ["s1", "s2"].into_iter().zip(&services) {
        assert_eq!(program.service(name, "totalrequests"), service.begun() as u64);
        assert!(program.service(name, "avgsvrttfb") > 0);
    }
    assert_eq!(program.counter("totalrequests"), 40 + 3 * 16);
}

fn k13_a_virtual_server_without_an_address_opens_nothing() {
    let place = Place::new();
    let service = TestService::plain(place.service(1));
    let program = Program::launch(&place, "enable ns feature LB\n");
    let v0 = json!({"name": "v0", "servicetype": "HTTP", "ipv46": "0.0.0.0", "port": 0});
    program.done("POST", "lbvserver", json!({"lbvserver": v0}));
    let s1 = json!({"name": "s1", "ip": place.ip(), "servicetype": "HTTP", "port": 8101});
    program.done("POST", "service", json!({"service": s1}));
    bind(&program, "v0", "s1", 1);
    let element = shown(&program, "lbvserver", "v0");
    assert_eq!((&element["ipv46"], &element["port"]), (&json!("0.0.0.0"), &json!(0)));
    program.wait_for_state("lbvserver", "v0", "UP");
    assert_eq!(program.listening(), [place.nitro()]);
    service.stop();
    program.wait_for_state("lbvserver", "v0", "DOWN");
}

/// Those that a service's address made; the one that somebody added stays.
fn k15_servers_of_addresses_go_with_their_services() {
    let place = Place::new();
    let program = Program::launch(&place, "add server named 192.0.2.1\n");
    let name = |n: usize| format!("s{n}");
    let services: Vec<Value> = (0..500)
        .map(|n| {
            let ip = format!("198.51.{}.{}", n / 250, n % 250);
            json!({"name": name(n), "ip": ip, "servicetype": "HTTP", "port": 80, "healthmonitor": "NO"})
        })
        .collect();
    let keys: Vec<Value> = (0..500).map(|n| json!({"name": name(n)})).collect();
    let count = || program.owner("GET", "server?count=yes", None).1["server"][0]["__count"].clone();
    for _ in 0..2 {
        program.done("POST", "service", json!({"service": services}));
        assert_eq!(count(), 501);
        program.done("POST", "service?action=rm", json!({"service": keys}));
        assert_eq!(count(), 1);
    }
    assert!(program.running().ends_with("add server named 192.0.2.1\n"), "{}", program.running());
}
