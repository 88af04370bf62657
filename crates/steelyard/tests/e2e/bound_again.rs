//! Bindings as NITRO changes them: what a PUT of one that is there does, and what is said of one that cannot be.

use libtest_mimic::Trial;
use serde_json::json;

use crate::bindings::{bound, rows};
use crate::place::Place;

pub fn trials() -> Vec<Trial> {
    trials![
        a06_a_binding_put_again_stays_one_and_takes_what_is_new,
        a08_a_group_has_no_weight_at_a_virtual_server,
        a20_who_is_missing_is_named_and_what_was_made_stays,
    ]
}

/// Ansible binds by PUT in every run, and reports a change or an error where the second answer is not as the first.
fn a06_a_binding_put_again_stays_one_and_takes_what_is_new() {
    let place = Place::new();
    let ip = place.ip();
    let program = bound(&place);
    let running = || {
        let (_, answer) = program.owner("GET", "nsrunningconfig", None);
        answer["nsrunningconfig"]["response"].as_str().unwrap().to_owned()
    };
    for (resource, keys, one, other) in [
        ("lbvserver_service_binding", json!({"name": "v", "servicename": "s1"}), ("weight", "4"), "5"),
        (
            "lbvserver_servicegroup_binding",
            json!({"name": "v", "servicegroupname": "g"}),
            ("order", "1"),
            "2",
        ),
        ("service_lbmonitor_binding", json!({"name": "s1", "monitor_name": "m"}), ("weight", "2"), "3"),
        (
            "service_lbmonitor_binding",
            json!({"name": "s1", "monitor_name": "M"}),
            ("monstate", "ENABLED"),
            "DISABLED",
        ),
        ("lbmonitor_service_binding", json!({"monitorname": "m", "servicename": "s1"}), ("weight", "3"), "2"),
        (
            "servicegroup_lbmonitor_binding",
            json!({"servicegroupname": "g", "monitor_name": "m"}),
            ("weight", "1"),
            "2",
        ),
        (
            "servicegroup_servicegroupmember_binding",
            json!({"servicegroupname": "g", "ip": ip, "port": 8103}),
            ("weight", "3"),
            "4",
        ),
        (
            "servicegroup_servicegroupmember_binding",
            json!({"servicegroupname": "g", "servername": "web", "port": 8104}),
            ("hashid", "5"),
            "6",
        ),
        (
            "lbmonitor_metric_binding",
            json!({"monitorname": "load", "metric": "cpu"}),
            ("metricthreshold", "80"),
            "90",
        ),
    ] {
        let put = |value: &str| {
            let mut object = keys.clone();
            object[one.0] = json!(value);
            let (status, answer) = program.owner("PUT", resource, Some(&json!({resource: object})));
            assert_eq!(status, "HTTP/1.1 200 OK", "{resource}: {answer}");
        };
        put(one.1);
        let before = running();
        put(one.1);
        assert_eq!(running(), before, "{resource}: the same again is no change");
        put(other);
        let after = running();
        let changed = before.lines().zip(after.lines()).filter(|(before, after)| before != after).count();
        assert_eq!(
            (changed, before.lines().count()),
            (1, after.lines().count()),
            "{resource}: one line, in its place"
        );
        put(one.1);
        assert_eq!(running(), before, "{resource}");
    }
    // What a PUT does not say stays.
    let keys = json!({"lbvserver_service_binding": {"name": "v", "servicename": "S1"}});
    let before = running();
    assert_eq!(program.owner("PUT", "lbvserver_service_binding", Some(&keys)).0, "HTTP/1.1 200 OK");
    let vserver = json!({"lbgroup_lbvserver_binding": {"name": "lg", "vservername": "v"}});
    assert_eq!(program.owner("PUT", "lbgroup_lbvserver_binding", Some(&vserver)).0, "HTTP/1.1 200 OK");
    assert_eq!(running(), before);
    // To add what is there is another thing.
    let (status, answer) = program.owner("POST", "lbvserver_service_binding", Some(&keys));
    assert_eq!((status.as_str(), &answer["errorcode"]), ("HTTP/1.1 409 Conflict", &json!(273)));
}

fn a08_a_group_has_no_weight_at_a_virtual_server() {
    let place = Place::new();
    let program = bound(&place);
    let binding = json!({"name": "bare", "servicegroupname": "g", "weight": "1"});
    let body = json!({"lbvserver_servicegroup_binding": binding});
    let (status, answer) = program.owner("PUT", "lbvserver_servicegroup_binding", Some(&body));
    assert_eq!(status, "HTTP/1.1 400 Bad Request");
    let message = "Argument pre-requisite missing [weight, serviceName]";
    assert_eq!(answer, json!({"errorcode": 1093, "message": message, "severity": "ERROR"}));
    assert!(rows(&program, "lbvserver_servicegroup_binding/bare").is_empty());
}

/// A list of bindings ends at the one that cannot be; what was made before it stays, as the virtual server does.
fn a20_who_is_missing_is_named_and_what_was_made_stays() {
    let place = Place::new();
    let program = bound(&place);
    for (resource, object, message) in [
        (
            "lbvserver_service_binding",
            json!({"name": "bare", "servicename": "nosuch"}),
            "No such resource [serviceName, nosuch]",
        ),
        (
            "lbvserver_servicegroup_binding",
            json!({"name": "bare", "servicegroupname": "nosuch"}),
            "No such resource [serviceName, nosuch]",
        ),
        (
            "lbvserver_service_binding",
            json!({"name": "nov", "servicename": "s1"}),
            "No such resource [name, nov]",
        ),
        (
            "service_lbmonitor_binding",
            json!({"name": "s1", "monitor_name": "nosuch"}),
            "No such resource [monitorName, nosuch]",
        ),
    ] {
        let (status, answer) = program.owner("PUT", resource, Some(&json!({resource: object})));
        assert_eq!((status.as_str(), &answer["message"]), ("HTTP/1.1 404 Not Found", &json!(message)));
    }
    let binding = |service: &str| json!({"name": "bare", "servicename": service});
    let all = json!({"lbvserver_service_binding": [binding("s1"), binding("nosuch"), binding("s2")]});
    let (status, answer) = program.owner("PUT", "lbvserver_service_binding", Some(&all));
    assert_eq!(
        (status.as_str(), &answer["errorcode"]),
        ("HTTP/1.1 207 Multi Status", &json!(1243)),
        "{answer}"
    );
    assert!(answer.to_string().contains("nosuch"), "{answer}");
    let found = rows(&program, "lbvserver_service_binding/bare");
    assert_eq!((found.len(), &found[0]["servicename"]), (1, &json!("s1")));
}
