//! What is in use is renamed, removed and read again: no request fails because of it, and counters go on.

use libtest_mimic::Trial;
use serde_json::json;

use crate::client::{Client, page, request};
use crate::load::Load;
use crate::place::Place;
use crate::program::{Program, config};
use crate::service::{Gate, TestService, wait_for};

pub fn trials() -> Vec<Trial> {
    trials![
        no_request_fails_because_of_a_rename_a_removal_or_a_reload,
        requests_under_way_end_when_their_service_is_removed,
        requests_under_way_end_when_their_virtual_server_is_removed,
    ]
}

/// Clients ask on a kept connection and on new ones all the while.
fn no_request_fails_because_of_a_rename_a_removal_or_a_reload() {
    let place = Place::new();
    let services = [1, 2, 3].map(|n| TestService::named(place.service(n), &format!("s{n}")));
    let file = config(&place, "ROUNDROBIN", &[place.service(1), place.service(2)]);
    let program = Program::start_with(&place, &file);
    let ip = place.ip();
    let rename = |resource: &str, name: &str, new: &str| {
        let body = json!({resource: {"name": name, "newname": new}});
        program.done("POST", &format!("{resource}?action=rename"), body);
    };
    let load = Load::on(program.vserver());
    for round in 0..10 {
        rename("lbvserver", "v", "other name");
        rename("service", "s2", "t2");
        let methods = ["LEASTCONNECTION", "LEASTRESPONSETIME"];
        let method = json!({"name": "other name", "lbmethod": methods[round % 2]});
        program.done("PUT", "lbvserver", json!({"lbvserver": method}));
        rename("service", "t2", "s2");
        rename("lbvserver", "other name", "v");
        let third =
            json!({"name": "s3", "ip": ip, "servicetype": "HTTP", "port": 8103, "healthmonitor": "NO"});
        program.done("POST", "service", json!({"service": third}));
        let binding = json!({"name": "v", "servicename": "s3"});
        program.done("PUT", "lbvserver_service_binding", json!({"lbvserver_service_binding": binding}));
        wait_for("the third to be used", || program.service("s3", "totalrequests") > 0);
        assert_eq!(program.owner("DELETE", "service/s3", None).0, "HTTP/1.1 200 OK");
        program.reload(&file);
        assert!(program.reload(&file).ends_with(": nothing changed"));
    }
    let asked = load.end();
    program.wait_at_rest();
    assert_eq!(
        program.counter("tothits"),
        asked.kept + asked.fresh,
        "what was counted before is still known"
    );
    assert_eq!(program.service("s1", "totalrequests"), services[0].begun() as u64);
    // What begins in the moment of a rename may count under the old name.
    assert!(2 * program.service("s2", "totalrequests") > services[1].begun() as u64);
    assert_eq!(program.errors(), "");
}

fn requests_under_way_end_when_their_service_is_removed() {
    let place = Place::new();
    let gate = Gate::new();
    let held = TestService::held(place.service(1), "held", &gate);
    let other = TestService::named(place.service(2), "other");
    let program = Program::start(&place, "ROUNDROBIN", &[&held, &other]);
    assert_eq!(
        program.owner("DELETE", "lbvserver_service_binding/v?args=servicename:s2", None).0,
        "HTTP/1.1 200 OK"
    );
    let mut client = program.client();
    client.send(request("GET", "/", "", b""));
    held.wait_begun(1);
    let binding = json!({"name": "v", "servicename": "s2"});
    program.done("PUT", "lbvserver_service_binding", json!({"lbvserver_service_binding": binding}));
    assert_eq!(program.owner("DELETE", "service/s1", None).0, "HTTP/1.1 200 OK");
    (0..10).for_each(|_| assert_eq!(page(program.vserver()), "other"));
    gate.open();
    assert_eq!(client.answer().text(), "held");
    assert_eq!(client.get("/").text(), "other");
    assert_eq!((held.begun(), program.counter("tothits")), (1, 12));
}

fn requests_under_way_end_when_their_virtual_server_is_removed() {
    let place = Place::new();
    let gate = Gate::new();
    let held = TestService::held(place.service(1), "held", &gate);
    let program = Program::start(&place, "ROUNDROBIN", &[&held]);
    let mut client = program.client();
    client.send(request("GET", "/", "", b""));
    held.wait_begun(1);
    assert_eq!(program.owner("DELETE", "lbvserver/v", None).0, "HTTP/1.1 200 OK");
    wait_for("the address to be closed", || Client::try_connect(program.vserver()).is_err());
    gate.open();
    assert_eq!(client.answer().text(), "held");
    program.wait_at_rest();
    assert_eq!(program.service("s1", "totalrequests"), 1);
}
