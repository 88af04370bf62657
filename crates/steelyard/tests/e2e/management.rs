//! The management port: shapes, types and errors that NITRO clients rely on, and the decisions behind `explain`.

use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::client::{Client, page};
use crate::place::Place;
use crate::program::{Program, run_to_end};
use crate::service::{TestService, wait_for};

pub fn trials() -> Vec<Trial> {
    trials![
        counters_are_strings_rates_and_ports_numbers_and_they_count,
        a01_names_and_errors_are_found_under_every_encoding,
        other_verbs_foreign_pages_and_rebound_names_are_refused,
        explain_shows_every_decision_as_it_was_taken,
    ]
}

/// Three services of weights 2, 3 and 4 by ROUNDROBIN.
fn balanced(place: &Place) -> (Vec<TestService>, Program) {
    let ip = place.ip();
    let services =
        (1..=3).map(|n| TestService::named(place.service(n), &format!("Service-HTTP-{n}"))).collect();
    let mut text = "enable ns feature LB\n".to_owned();
    for n in 1..=3 {
        text += &format!("add service Service-HTTP-{n} {ip} HTTP 810{n}\n");
    }
    text += &format!("add lb vserver \"lb v1\" HTTP {ip} 8000 -lbMethod ROUNDROBIN\n");
    for n in 1..=3 {
        text += &format!("bind lb vserver \"lb v1\" Service-HTTP-{n} -weight {}\n", n + 1);
    }
    (services, Program::launch(place, &text))
}

fn counters_are_strings_rates_and_ports_numbers_and_they_count() {
    let place = Place::new();
    let ip = place.ip();
    let (_services, program) = balanced(&place);
    (0..27).for_each(|_| drop(page(place.vserver(0))));
    let (_, answer) = program.nitro("/nitro/v1/stat/lbvserver");
    let row = &answer["lbvserver"][0];
    for (field, value) in [
        ("name", json!("lb v1")),
        ("state", json!("UP")),
        ("type", json!("HTTP")),
        ("primaryipaddress", json!(ip)),
        ("primaryport", json!(8000)),
        ("actsvcs", json!("3")),
        ("inactsvcs", json!("0")),
        ("vslbhealth", json!("100")),
        ("tothits", json!("27")),
        ("totalrequests", json!("27")),
    ] {
        assert_eq!(row[field], value, "{field} of {row}");
    }
    for (field, value) in row.as_object().unwrap() {
        let number = field.ends_with("rate") || field == "primaryport";
        assert_eq!(value.is_number(), number, "{field}: {value}");
        assert_eq!(value.is_string(), !number, "{field}: {value}");
    }
    // Weights 2, 3 and 4: three whole cycles of nine.
    for (name, requests) in [("Service-HTTP-1", "6"), ("Service-HTTP-2", "9"), ("Service-HTTP-3", "12")] {
        assert_eq!(program.field("service", name, "totalrequests"), requests);
        wait_for("the last answer is counted", || {
            program.field("service", name, "totalresponses") == requests
        });
        assert_eq!(program.field("service", name, "activetransactions"), "0");
        assert_eq!(program.field("service", name, "primaryipaddress"), ip.to_string());
    }
    wait_for("a rate", || program.field("lbvserver", "lb%20v1", "requestsrate").as_u64().is_some());
}

fn a01_names_and_errors_are_found_under_every_encoding() {
    let place = Place::new();
    let (_services, program) = balanced(&place);
    for id in ["lb%20v1", "lb%2520v1", "lb%2Bv1", "LB%20V1", "lb%20v1/"] {
        let (status, answer) = program.nitro(&format!("/nitro/v1/stat/lbvserver/{id}"));
        assert_eq!(
            (status.as_str(), &answer["lbvserver"][0]["name"]),
            ("HTTP/1.1 200 OK", &json!("lb v1")),
            "{id}"
        );
    }
    for object in ["lbvserver", "service"] {
        let (status, answer) = program.nitro(&format!("/nitro/v1/stat/{object}/t3"));
        assert_eq!(status, "HTTP/1.1 404 Not Found");
        assert_eq!(
            answer,
            json!({"errorcode": 258, "message": "No such resource [name, t3]", "severity": "ERROR"})
        );
    }
}

fn other_verbs_foreign_pages_and_rebound_names_are_refused() {
    let place = Place::new();
    let program = Program::launch(&place, "enable ns feature LB\n");
    let nitro = place.nitro();
    for verb in ["POST", "PUT", "DELETE"] {
        let answer = program.manage(format!(
            "{verb} /nitro/v1/stat/service HTTP/1.1\r\nHost: {nitro}\r\n{}Content-Length: 0\r\n\r\n",
            program.keys()
        ));
        assert_eq!(answer.start, "HTTP/1.1 405 Method Not Allowed");
        assert_eq!(serde_json::from_slice::<Value>(&answer.body).unwrap()["errorcode"], 1237);
    }
    let keys = program.keys();
    for headers in [
        "Host: evil.example\r\n",
        "Host: localhost\r\nSec-Fetch-Site: cross-site\r\n",
        "Host: localhost\r\nOrigin: http://evil.example\r\n",
    ] {
        let answer = program.manage(format!("GET /nitro/v1/stat/service HTTP/1.1\r\n{keys}{headers}\r\n"));
        assert_eq!(answer.start, "HTTP/1.1 403 Forbidden", "{headers}");
    }
    let answer = program.manage("GET /nitro/v2/config/x HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert_eq!(answer.start, "HTTP/1.1 404 Not Found");
    let mut client = Client::connect(nitro);
    let long = format!("GET /{} HTTP/1.1\r\nHost: localhost\r\n\r\n", "x".repeat(100_000));
    let answer = client.try_send(long).and_then(|()| client.try_answer_to("GET"));
    assert!(!answer.is_ok_and(|answer| answer.status() == 200));
    assert_eq!(program.nitro("/nitro/v1/stat/service").0, "HTTP/1.1 200 OK");
}

fn explain_shows_every_decision_as_it_was_taken() {
    let place = Place::new();
    let (_services, program) = balanced(&place);
    let served: Vec<String> = (0..9).map(|_| page(place.vserver(0))).collect();
    let expected = [1, 2, 3, 1, 2, 3, 2, 3, 3].map(|n| format!("Service-HTTP-{n}"));
    assert_eq!(served, expected);
    let url = program.nitro_url();
    let output = run_to_end(&["explain", "lb v1", "--last", "9", "--format", "json", "--nitro", &url]);
    assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0));
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&answer["vserver"], &answer["method"]), (&json!("lb v1"), &json!("ROUNDROBIN")));
    let decisions = answer["decisions"].as_array().unwrap();
    assert_eq!(decisions.len(), 9);
    for (n, (decision, expected)) in decisions.iter().zip(&expected).enumerate() {
        assert_eq!(decision["request"], n as u64 + 1);
        assert_eq!(&decision["selected"], expected);
        let rows = decision["services"].as_array().unwrap();
        assert_eq!(rows.iter().map(|r| r["weight"].as_u64().unwrap()).collect::<Vec<_>>(), [2, 3, 4]);
        for row in rows {
            assert_eq!(
                row["key"].as_u64().unwrap(),
                row["metric"].as_u64().unwrap() / row["weight"].as_u64().unwrap()
            );
        }
        let least = rows.iter().map(|r| r["key"].as_u64().unwrap()).min().unwrap();
        let tied: Vec<&Value> = rows.iter().filter(|r| r["key"] == least).map(|r| &r["name"]).collect();
        assert_eq!(decision["tied"].as_array().unwrap().iter().collect::<Vec<_>>(), tied);
        assert!(tied.contains(&&decision["selected"]));
    }
    let output = run_to_end(&["explain", "LB V1", "--last", "2", "--nitro", &url]);
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 5, "{text}");
    assert!(lines[3].starts_with("8 ") && lines[4].starts_with("9 "), "{text}");
    assert!(lines[4].contains("Service-HTTP-3") && lines.iter().all(|l| l.len() <= 120), "{text}");
}
