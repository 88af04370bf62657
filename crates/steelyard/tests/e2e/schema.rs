//! `GET /nitro/v1/schema`: what forms and descriptions of NITRO are made of.

use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::place::Place;
use crate::program::Program;

pub fn trials() -> Vec<Trial> {
    trials![
        every_resource_is_listed_and_described,
        attributes_are_as_the_documents_have_them,
        what_is_no_resource_has_no_schema,
    ]
}

/// What is under `schema` at that path.
fn schema(program: &Program, path: &str) -> Vec<Value> {
    let (head, answer) = program.owner_raw("GET", &format!("/schema{path}"), "", b"");
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{path}: {head}");
    answer["schema"].as_array().unwrap().clone()
}

fn every_resource_is_listed_and_described() {
    let place = Place::new();
    let program = Program::launch(&place, "");
    let all = schema(&program, "");
    let names: Vec<&str> = all.iter().map(|line| line["name"].as_str().unwrap()).collect();
    for name in ["lbvserver", "service", "lbmonitor", "lbvserver_service_binding", "nsconfig", "nsversion"] {
        assert!(names.contains(&name), "{names:?}");
    }
    for line in &all {
        let name = line["name"].as_str().unwrap();
        let [whole] = &schema(&program, &format!("/{name}"))[..] else { panic!("{name}") };
        for (key, value) in line.as_object().unwrap() {
            assert_eq!(&whole[key], value, "{name} {key}");
        }
        let mut seen = Vec::new();
        for attribute in whole["attributes"].as_array().unwrap() {
            let of = attribute["name"].as_str().unwrap();
            assert!(!seen.contains(&of), "{name} {of} twice");
            seen.push(of);
            if attribute.get("given_by").is_some() {
                for key in ["kind", "json", "effect", "help", "option"] {
                    assert!(attribute[key].is_string(), "{name} {of} {key}: {attribute}");
                }
            }
            let effect = attribute.get("effect").map(|effect| effect.as_str().unwrap());
            assert!(matches!(effect, None | Some("acts" | "inert" | "traffic" | "exposure")), "{attribute}");
        }
        for operation in whole["operations"].as_array().into_iter().flatten() {
            for named in ["required", "optional"] {
                for of in operation[named].as_array().unwrap() {
                    let of = of.as_str().unwrap();
                    assert!(seen.contains(&of), "{name}: {of} is not described");
                }
            }
        }
    }
}

/// Expected values are `spec/nitro.md`'s of the resource.
fn attributes_are_as_the_documents_have_them() {
    let place = Place::new();
    let program = Program::launch(&place, "");
    let attribute = |resource: &str, name: &str| {
        let whole = schema(&program, &format!("/{resource}"));
        let all = whole[0]["attributes"].as_array().unwrap();
        all.iter().find(|attribute| attribute["name"] == name).unwrap().clone()
    };
    let has = |resource: &str, name: &str, expected: Value| {
        let attribute = attribute(resource, name);
        for (key, value) in expected.as_object().unwrap() {
            assert_eq!(&attribute[key], value, "{resource} {name} {key}: {attribute}");
        }
    };
    has(
        "lbvserver",
        "timeout",
        json!({"type": "Double", "json": "number", "min": 0, "max": 1440, "default": 2}),
    );
    has("lbvserver", "sothreshold", json!({"json": "string", "kind": "number"}));
    has("lbvserver", "servicetype", json!({"kind": "word", "given_by": ["add"], "access": "rw"}));
    has("lbvserver", "curstate", json!({"access": "RO"}));
    has("lbvserver", "port", json!({"json": "number", "given_by": ["add"], "needs": ["ipv46"]}));
    has("lbvserver", "downstateflush", json!({"words": ["ENABLED", "DISABLED"], "default": "ENABLED"}));
    has("lbmonitor", "retries", json!({"min": 1, "max": 127, "default": 3, "json": "number"}));
    has(
        "lbmonitor",
        "interval",
        json!({"kind": "time", "unit": "units3", "default": 5, "default_unit": "SEC"}),
    );
    has("lbmonitor", "units3", json!({"unit_of": "interval", "words": ["SEC", "MSEC", "MIN"]}));
    has("lbmonitor", "respcode", json!({"json": "array"}));
    has("service", "clttimeout", json!({"json": "number", "max": 31_536_000}));
    has("service", "comment", json!({"kind": "text", "json": "string"}));
    let timeouts = attribute("lbvserver", "clttimeout")["default_by_type"].clone();
    let of = ["HTTP", "TCP", "DNS"].map(|protocol| timeouts[protocol].as_str().unwrap().to_owned());
    assert_eq!(of, ["180", "9000", "120"]);
    let words = attribute("lbvserver", "lbmethod")["words"].clone();
    for method in ["ROUNDROBIN", "LEASTCONNECTION", "LEASTRESPONSETIME", "LRTM"] {
        assert!(words.as_array().unwrap().contains(&json!(method)), "{words}");
    }
    let by_word = attribute("lbvserver", "lbmethod")["types_by_word"].clone();
    assert_eq!(by_word["LEASTRESPONSETIME"], json!(["HTTP", "SSL"]));
    assert!(
        by_word["LEASTREQUEST"].as_array().is_some_and(|types| !types.contains(&json!("TCP"))),
        "{by_word}"
    );
    assert!(by_word["ROUNDROBIN"].is_null(), "{by_word}");
    let line = &schema(&program, "/nsconfig")[0];
    assert_eq!(line["actions"], json!(["unset", "save", "clear", "diff"]));
    let operations = &schema(&program, "/lbvserver")[0]["operations"];
    let add = operations.as_array().unwrap().iter().find(|operation| operation["name"] == "add").unwrap();
    assert_eq!((&add["method"], &add["required"]), (&json!("POST"), &json!(["name", "servicetype"])));
}

fn what_is_no_resource_has_no_schema() {
    let place = Place::new();
    let program = Program::launch(&place, "");
    let (head, answer) = program.owner_raw("GET", "/schema/nosuch", "", b"");
    assert!(head.starts_with("HTTP/1.1 404 Not Found\r\n"), "{head}");
    assert_eq!(
        (&answer["errorcode"], &answer["message"]),
        (&json!(1232), &json!("Invalid object name [nosuch]"))
    );
    let (head, answer) = program.owner_raw("POST", "/schema/lbvserver", "", b"{}");
    assert!(head.starts_with("HTTP/1.1 405 Method Not Allowed\r\n"), "{head}");
    assert_eq!(answer["errorcode"], 1237);
}
