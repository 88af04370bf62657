//! Content switching by NITRO: kept, shown and saved as an appliance has it.

use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::place::Place;
use crate::program::Program;

pub fn trials() -> Vec<Trial> {
    trials![content_switching_is_kept_and_shown]
}

fn content_switching_is_kept_and_shown() {
    let place = Place::new();
    let program = Program::launch(&place, "");
    let change = |method: &str, path: &str, resource: &str, fields: Value| {
        let body = (!fields.is_null()).then(|| json!({resource: fields}));
        let (status, answer) = program.owner(method, path, body.as_ref());
        let created = if method == "POST" && !path.contains('?') { "201 Created" } else { "200 OK" };
        assert_eq!(status, format!("HTTP/1.1 {created}"), "{method} {path}: {answer}");
    };
    let shown = |path: &str| {
        let (status, answer) = program.owner("GET", path, None);
        assert_eq!(status, "HTTP/1.1 200 OK", "{answer}");
        answer[path.split('/').next().unwrap()].clone()
    };
    let has = |element: &Value, fields: Value| {
        for (name, value) in fields.as_object().unwrap() {
            assert_eq!(&element[name], value, "{name} of {element}");
        }
    };
    change("POST", "lbvserver", "lbvserver", json!({"name": "web", "servicetype": "HTTP"}));
    let vserver = json!({"name": "cs", "servicetype": "HTTP", "ipv46": "192.0.2.5", "port": 80});
    change("POST", "csvserver", "csvserver", vserver);
    change("POST", "csaction", "csaction", json!({"name": "to web", "targetlbvserver": "web"}));
    let policy = json!({"policyname": "all", "rule": "HTTP.REQ.IS_VALID", "action": "to web"});
    change("POST", "cspolicy", "cspolicy", policy);
    let bound = json!({"name": "cs", "policyname": "all", "priority": 10});
    change("PUT", "csvserver_cspolicy_binding", "csvserver_cspolicy_binding", bound);
    let default = json!({"name": "cs", "lbvserver": "web"});
    change("PUT", "csvserver_lbvserver_binding", "csvserver_lbvserver_binding", default);

    // Types and states are those of the reference: a port is a number, a time-out a text, and nothing is opened.
    has(
        &shown("csvserver/cs")[0],
        json!({
            "name": "cs", "servicetype": "HTTP", "ipv46": "192.0.2.5", "port": 80, "state": "ENABLED",
            "curstate": "DOWN", "clttimeout": "180", "type": "CONTENT", "status": 0, "listenpolicy": "NONE",
        }),
    );
    has(&shown("csaction/to%20web")[0], json!({"name": "to web", "targetlbvserver": "web"}));
    has(&shown("cspolicy")[0], json!({"policyname": "all", "rule": "HTTP.REQ.IS_VALID", "action": "to web"}));
    has(
        &shown("csvserver_cspolicy_binding/cs")[0],
        json!({"name": "cs", "policyname": "all", "priority": "10", "rule": "HTTP.REQ.IS_VALID", "hits": "0"}),
    );
    has(&shown("csvserver_lbvserver_binding/cs")[0], json!({"name": "cs", "lbvserver": "web", "hits": "0"}));

    change("POST", "csvserver?action=disable", "csvserver", json!({"name": "cs"}));
    has(&shown("csvserver/cs")[0], json!({"state": "DISABLED", "curstate": "OUT OF SERVICE"}));
    change("DELETE", "csvserver_lbvserver_binding/cs?args=lbvserver:web", "", Value::Null);
    change("DELETE", "csvserver_cspolicy_binding/cs?args=policyname:all", "", Value::Null);
    assert_eq!(shown("csvserver_lbvserver_binding/cs"), Value::Null);
    assert_eq!(shown("csvserver_cspolicy_binding/cs"), Value::Null);
    for path in ["csvserver/cs", "cspolicy/all", "csaction/to%20web"] {
        change("DELETE", path, "", Value::Null);
        assert_eq!(program.owner("GET", path, None).0, "HTTP/1.1 404 Not Found", "{path}");
    }
}
