//! Many objects in one body, the styles of older clients, actions, and what NITRO says of a change beside its code
//! (`spec/nitro.md` 1, 3, 6, 7).

use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::place::Place;
use crate::program::Program;

pub fn trials() -> Vec<Trial> {
    trials![
        at_an_error_what_came_before_is_kept,
        with_continue_all_others_are_kept,
        with_rollback_none_is_kept,
        many_are_removed_by_an_action,
        an_identical_object_is_added_again_where_that_is_asked_for,
        older_clients_send_a_form,
        content_types_do_not_matter,
        actions_are_those_that_the_resource_has,
        a_method_that_a_resource_lacks_is_answered_with_those_it_has,
        a11_a_name_that_is_taken_is_not_renamed_to,
        a19_a_warning_is_told_to_those_who_ask,
        fields_that_are_null_are_not_given,
        fields_are_of_their_types,
        an_address_and_a_server_exclude_each_other,
    ]
}

fn server(n: u8) -> Value {
    json!({"name": format!("w{n}"), "ipaddress": format!("192.0.2.{n}")})
}

fn done() -> Value {
    json!({"errorcode": 0, "message": "Done", "severity": "NONE"})
}

fn exists(n: u8) -> Value {
    let message = format!("Resource already exists [name, w{n}]");
    json!({"errorcode": 273, "message": message, "severity": "ERROR"})
}

fn partly(response: Value) -> Value {
    json!({"errorcode": 1243, "message": "Bulk operation failed", "severity": "ERROR", "response": response})
}

/// Servers w1, w2 (a second time) and w3 in one body, with that header and at that path.
fn three(program: &Program, path: &str, headers: &str, more: Option<Value>) -> (String, Value) {
    program.done("POST", "server", json!({"server": [server(2), server(9)]}));
    let mut body = json!({"server": [server(1), server(2), server(3)]});
    if let Some(more) = more {
        body["params"] = more;
    }
    let (head, answer) =
        program.owner_raw("POST", &format!("/config{path}"), headers, body.to_string().as_bytes());
    (head.lines().next().unwrap().to_owned(), answer)
}

fn has(program: &Program, n: u8) -> bool {
    program.running().contains(&format!("add server w{n} "))
}

fn at_an_error_what_came_before_is_kept() {
    for headers in ["", "X-NITRO-ONERROR: exit\r\n"] {
        let place = Place::new();
        let program = Program::launch(&place, "");
        let (status, answer) = three(&program, "/server", headers, None);
        assert_eq!(status, "HTTP/1.1 207 Multi Status");
        assert_eq!(answer, partly(json!([done(), exists(2)])));
        assert_eq!([1, 2, 3].map(|n| has(&program, n)), [true, true, false]);
    }
}

fn with_continue_all_others_are_kept() {
    for (path, headers, more) in [
        ("/server", "X-NITRO-ONERROR: continue\r\n", None),
        ("/server?onerror=CONTINUE", "", None),
        ("/server", "", Some(json!({"onerror": "continue"}))),
    ] {
        let place = Place::new();
        let program = Program::launch(&place, "");
        let (status, answer) = three(&program, path, headers, more);
        assert_eq!(status, "HTTP/1.1 207 Multi Status");
        assert_eq!(answer, partly(json!([done(), exists(2), done()])), "{path} {headers}");
        assert_eq!([1, 2, 3].map(|n| has(&program, n)), [true, true, true]);
    }
}

fn with_rollback_none_is_kept() {
    let place = Place::new();
    let program = Program::launch(&place, "");
    let (status, answer) = three(&program, "/server", "X-NITRO-ONERROR: rollback\r\n", None);
    assert_eq!((status.as_str(), &answer["errorcode"]), ("HTTP/1.1 207 Multi Status", &json!(1243)));
    let codes: Vec<&Value> = answer["response"].as_array().unwrap().iter().map(|r| &r["errorcode"]).collect();
    assert_eq!(codes, [1239, 273], "the first was taken back, the third not looked at");
    assert_eq!([1, 2, 3].map(|n| has(&program, n)), [false, true, false]);
    let other = json!({"server": [server(5)]}).to_string();
    let (head, _) =
        program.owner_raw("POST", "/config/server", "X-NITRO-ONERROR: perhaps\r\n", other.as_bytes());
    assert!(head.starts_with("HTTP/1.1 400 Bad Request"), "{head}");
    assert!(!has(&program, 5));
}

fn many_are_removed_by_an_action() {
    let place = Place::new();
    let program = Program::launch(&place, "");
    program.done("POST", "server", json!({"server": [server(1), server(2), server(3)]}));
    program.done("POST", "server?action=rm", json!({"server": [{"name": "w1"}, {"name": "w3"}]}));
    assert_eq!([1, 2, 3].map(|n| has(&program, n)), [false, true, false]);
    let keys = json!({"server": [{"name": "w1"}, {"name": "w2"}]});
    let (status, answer) = program.owner("POST", "server?action=rm&onerror=continue", Some(&keys));
    assert_eq!(status, "HTTP/1.1 207 Multi Status");
    assert_eq!((&answer["response"][0]["errorcode"], &answer["response"][1]), (&json!(258), &done()));
    assert!(!has(&program, 2));
}

fn an_identical_object_is_added_again_where_that_is_asked_for() {
    let place = Place::new();
    let program = Program::launch(&place, "enable ns feature LB\n");
    let vserver = |method: &str| {
        json!({"lbvserver":
            {"name": "go v1", "servicetype": "HTTP", "ipv46": "10.71.136.50", "port": 80, "lbmethod": method}})
    };
    let first = vserver("LEASTRESPONSETIME");
    program.done("POST", "lbvserver?idempotent=yes", first.clone());
    program.done(
        "POST",
        "service",
        json!({"service":
        {"name": "s", "ip": "192.0.2.1", "servicetype": "HTTP", "port": 80}}),
    );
    program.done(
        "PUT",
        "lbvserver_service_binding",
        json!({"lbvserver_service_binding": {"name": "go v1", "servicename": "s"}}),
    );
    let before = program.running();
    program.done("POST", "lbvserver?idempotent=yes", first.clone());
    assert_eq!(program.running(), before, "and its bindings are as they were");
    for (path, body) in [
        ("lbvserver", first.clone()),
        ("lbvserver?idempotent=yes", vserver("ROUNDROBIN")),
        ("lbvserver?idempotent=yes", json!({"lbvserver": {"name": "go v1", "servicetype": "HTTP"}})),
    ] {
        let (status, answer) = program.owner("POST", path, Some(&body));
        assert_eq!((status.as_str(), &answer["errorcode"]), ("HTTP/1.1 409 Conflict", &json!(273)), "{body}");
    }
    assert_eq!(program.running(), before);
}

fn older_clients_send_a_form() {
    let place = Place::new();
    let program = Program::launch(&place, "");
    const FORM: &str = "Content-Type: application/x-www-form-urlencoded\r\n";
    let form = |json: Value| format!("object={}", encoded(&json.to_string())).into_bytes();
    let send = |method: &str, path: &str, body: &[u8], expected: &str| {
        let (head, answer) = program.owner_raw(method, &format!("/config{path}"), FORM, body);
        let shown = String::from_utf8_lossy(body);
        assert_eq!(head.lines().next().unwrap(), expected, "{method} {path} {shown} {answer}");
    };
    let (ok, created) = ("HTTP/1.1 200 OK", "HTTP/1.1 201 Created");
    send("POST", "/", &form(json!({"params": {}, "server": server(1)})), created);
    send(
        "POST",
        "",
        &form(json!({"params": {"warning": "YES"}, "sessionid": "##1", "server": server(2)})),
        created,
    );
    let put = json!({"sessionid": "##1", "server": {"name": "w1", "comment": "a b+c&d"}}).to_string();
    send("PUT", "/", put.as_bytes(), ok);
    assert!(
        program.running().contains("add server w1 192.0.2.1 -comment \"a b+c&d\"\n"),
        "{}",
        program.running()
    );
    let disable = json!({"params": {"action": "disable"}, "server": {"name": "w1"}});
    send("POST", "/", &form(disable), ok);
    assert!(program.running().contains("add server w1 192.0.2.1 -state DISABLED"), "{}", program.running());
    let save = json!({"params": {"action": "save"}, "nsconfig": {}});
    send("POST", "/", &form(save), ok);
    assert!(std::fs::read_to_string(program.config_path()).unwrap().contains("add server w2 192.0.2.2\n"));
    // What gems of Ruby send.
    let group = json!({"servicegroup": {"servicegroupname": "g", "servicetype": "HTTP"}});
    send("POST", "/", &form(group), created);
    let bind = json!({"params": {"action": "bind"},
        "servicegroup": {"servicegroupname": "g", "servername": "w1", "port": 80}});
    send("POST", "/servicegroup", &form(bind), ok);
    assert!(program.running().contains("bind serviceGroup g w1 80\n"), "{}", program.running());
    let before = program.running();
    for (body, expected) in [
        (form(json!({"params": {}})), "HTTP/1.1 404 Not Found"),
        (form(json!({"nosuch": {}})), "HTTP/1.1 404 Not Found"),
        (b"object=%7B".to_vec(), "HTTP/1.1 400 Bad Request"),
        (b"object=%FF".to_vec(), "HTTP/1.1 400 Bad Request"),
        (b"server=w9".to_vec(), "HTTP/1.1 400 Bad Request"),
        (b"".to_vec(), "HTTP/1.1 404 Not Found"),
    ] {
        send("POST", "/", &body, expected);
    }
    assert_eq!(program.running(), before);
}

/// As forms have it.
fn encoded(text: &str) -> String {
    let byte = |b: u8| match b {
        b' ' => "+".to_owned(),
        b if b.is_ascii_alphanumeric() => (b as char).to_string(),
        b => format!("%{b:02X}"),
    };
    text.bytes().map(byte).collect()
}

/// What curl sends as a form is JSON all the same.
fn content_types_do_not_matter() {
    let place = Place::new();
    let program = Program::launch(&place, "");
    let types = [
        "",
        "Content-Type: application/json\r\n",
        "Content-Type: application/vnd.com.citrix.netscaler.server+json\r\n",
        "Content-Type: application/vnd.com.citrix.netscaler.server_list+json\r\n",
        "Content-Type: application/x-www-form-urlencoded\r\n",
        "Content-Type: text/plain; charset=latin1\r\n",
    ];
    for (n, header) in (1..).zip(types) {
        let body = format!("{}\n", json!({"server": server(n)}));
        let (head, _) = program.owner_raw("POST", "/config/server", header, body.as_bytes());
        assert!(head.starts_with("HTTP/1.1 201 Created"), "{header}: {head}");
    }
    assert_eq!(program.running().lines().filter(|line| line.starts_with("add server ")).count(), types.len());
}

fn actions_are_those_that_the_resource_has() {
    let place = Place::new();
    let program = Program::launch(
        &place,
        "enable ns feature LB\nadd service \"a b\" 192.0.2.1 HTTP 80\nadd lb vserver v HTTP 192.0.2.9 80 -cltTimeout 9 -comment x\n",
    );
    let before = program.running();
    for (path, body) in [
        ("service?action=link", json!({"service": {"name": "a b"}})),
        ("service?action=save", json!({"service": {"name": "a b"}})),
        ("lbvserver?action=jump", json!({"lbvserver": {"name": "v"}})),
        ("nsfeature?action=rename", json!({"nsfeature": {"feature": "LB"}})),
        ("lbvserver_service_binding?action=enable", json!({"lbvserver_service_binding": {"name": "v"}})),
        ("nsconfig?action=rm", json!({"nsconfig": {}})),
    ] {
        let (status, answer) = program.owner("POST", path, Some(&body));
        let expected =
            json!({"errorcode": 1240, "message": "Invalid nitro action or operation", "severity": "ERROR"});
        assert_eq!((status.as_str(), &answer), ("HTTP/1.1 400 Bad Request", &expected), "{path}");
    }
    assert_eq!(program.running(), before);
    program.done(
        "POST",
        "service?action=disable",
        json!({"service":
        {"name": "a b", "delay": "30", "graceful": "YES"}}),
    );
    program.done("POST", "service?action=ENABLE", json!({"service": {"name": "a b"}}));
    program.done(
        "POST",
        "lbvserver?action=unset",
        json!({"lbvserver":
        {"name": "v", "clttimeout": true, "comment": false}}),
    );
    assert!(program.running().contains("-cltTimeout 180 -comment x\n"), "{}", program.running());
    program.done("POST", "lbvserver?action=unset", json!({"lbvserver": {"name": "v", "comment": ""}}));
    assert!(!program.running().contains("-comment"), "{}", program.running());
}

fn a_method_that_a_resource_lacks_is_answered_with_those_it_has() {
    let place = Place::new();
    let program = Program::launch(&place, "");
    for (method, path, allowed) in [
        ("PATCH", "/service", "POST, PUT, DELETE"),
        ("PUT", "/nsfeature", "POST"),
        ("DELETE", "/nsconfig", "POST"),
        ("PATCH", "/lbvserver_service_binding", "POST, PUT, DELETE"),
        ("POST", "/nsrunningconfig", "GET"),
    ] {
        let (head, answer) = program.owner_raw(method, &format!("/config{path}"), "", b"");
        assert!(head.starts_with("HTTP/1.1 405 Method Not Allowed\r\n"), "{method} {path}: {head}");
        assert_eq!(answer["errorcode"], 1237);
        let allow = head.lines().find_map(|line| line.strip_prefix("allow: ")).unwrap();
        for known in allowed.split(", ") {
            assert!(allow.split(", ").any(|method| method == known), "{path} knows {known}: {allow}");
        }
        assert!(!allow.split(", ").any(|known| known == method), "{path} does not know {method}: {allow}");
    }
}

fn a11_a_name_that_is_taken_is_not_renamed_to() {
    let place = Place::new();
    let program = Program::launch(
        &place,
        "add server h1 192.0.2.1\nadd server h2 192.0.2.2\nadd serviceGroup g1 HTTP\nadd serviceGroup G2 HTTP\n\
         add lb vserver v1 HTTP 192.0.2.3 80\nadd lb vserver v2 HTTP 192.0.2.4 80\n\
         add service s1 192.0.2.5 HTTP 80\nadd service s2 192.0.2.6 HTTP 80\n",
    );
    let before = program.running();
    for (resource, key, one, other) in [
        ("server", "name", "h1", "h2"),
        ("service", "name", "s1", "s2"),
        ("servicegroup", "servicegroupname", "g1", "g2"),
        ("lbvserver", "name", "v1", "v2"),
    ] {
        let body = json!({resource: {key: one, "newname": other}});
        let (status, answer) = program.owner("POST", &format!("{resource}?action=rename"), Some(&body));
        let said = answer["message"].as_str().unwrap();
        assert_eq!((status.as_str(), &answer["errorcode"]), ("HTTP/1.1 409 Conflict", &json!(273)), "{said}");
        assert!(said.starts_with("Resource already exists ["), "{said}");
    }
    assert_eq!(program.running(), before);
}

fn a19_a_warning_is_told_to_those_who_ask() {
    let place = Place::new();
    let program = Program::launch(&place, "");
    let vserver = |name: &str| json!({"lbvserver": {"name": name, "servicetype": "HTTP"}}).to_string();
    let warning = json!({"errorcode": 1067, "message": "Feature(s) not enabled [LB]", "severity": "WARNING"});
    for (name, path) in [("a", "/lbvserver?warning=yes"), ("b", "/lbvserver?warning=YES")] {
        let (head, answer) =
            program.owner_raw("POST", &format!("/config{path}"), "", vserver(name).as_bytes());
        assert!(head.starts_with("HTTP/1.1 209 Netscaler specific warning\r\n"), "{head}");
        assert!(head.contains("\r\nx-nitro-warning: 1067 - Feature(s) not enabled [LB]"), "{head}");
        assert_eq!(answer, warning);
    }
    let old = json!({"params": {"warning": "yes"}, "lbvserver": {"name": "c", "servicetype": "HTTP"}});
    let (head, answer) = program.owner_raw("POST", "/config/", "", old.to_string().as_bytes());
    assert!(head.starts_with("HTTP/1.1 209 "), "{head}");
    assert_eq!(answer, warning);
    for (name, path) in [("d", "/lbvserver"), ("e", "/lbvserver?warning=no")] {
        let (head, answer) =
            program.owner_raw("POST", &format!("/config{path}"), "", vserver(name).as_bytes());
        assert!(head.starts_with("HTTP/1.1 201 Created\r\n") && !head.contains("warning"), "{head}");
        assert_eq!(answer, done());
    }
    let (head, answer) =
        program.owner_raw("POST", "/config/lbvserver?warning=yes", "", vserver("d").as_bytes());
    assert!(head.starts_with("HTTP/1.1 409 Conflict\r\n"), "an error is no warning: {head}");
    assert_eq!(answer["severity"], "ERROR");
    let made = |name: &str| program.running().contains(&format!("add lb vserver {name} HTTP"));
    assert!(["a", "b", "c", "d", "e"].into_iter().all(made), "{}", program.running());
}

fn fields_that_are_null_are_not_given() {
    let place = Place::new();
    let program = Program::launch(&place, "");
    let monitor = json!({"monitorname": "m", "type": "HTTP", "deviation": null, "interval": 1, "units3": "MIN",
        "resptimeout": 2, "units4": null, "customheaders": null, "nosuch": null});
    program.done("POST", "lbmonitor?idempotent=yes", json!({"lbmonitor": monitor}));
    let line = program.running();
    let line = line.lines().find(|line| line.starts_with("add lb monitor m ")).unwrap();
    assert!(line.contains("-interval 1 MIN") || line.contains("-interval 60"), "{line}");
    let (status, _) = program.owner("DELETE", "lbmonitor/m?args=type:HTTP,respcode:,name:", None);
    assert_eq!(status, "HTTP/1.1 200 OK");
    assert!(!program.running().contains("add lb monitor m "));
}

fn fields_are_of_their_types() {
    let place = Place::new();
    let program = Program::launch(&place, "add server s 192.0.2.1\nadd lb vserver v HTTP 192.0.2.2 80\n");
    let before = program.running();
    for (field, value) in [
        ("comment", json!({"a": 1})),
        ("comment", json!(true)),
        ("comment", json!(false)),
        ("timeout", json!(true)),
        ("timeout", json!([[1]])),
        ("sopersistence", json!(false)),
        ("name", json!({})),
        ("lbmethod", json!([null])),
    ] {
        let mut body = json!({"lbvserver": {"name": "v"}});
        body["lbvserver"][field] = value;
        let (status, answer) = program.owner("PUT", "lbvserver", Some(&body));
        let message = format!("Invalid JSON data type [{field}]");
        let expected = json!({"errorcode": 1234, "message": message, "severity": "ERROR"});
        assert_eq!((status.as_str(), answer), ("HTTP/1.1 400 Bad Request", expected), "{body}");
    }
    assert_eq!(program.running(), before);
}

fn an_address_and_a_server_exclude_each_other() {
    let place = Place::new();
    let program = Program::launch(
        &place,
        "add server s 192.0.2.1\nadd serviceGroup g HTTP\nbind serviceGroup g s 80\n",
    );
    let before = program.running();
    let service = json!({"service":
        {"name": "x", "servername": "s", "ip": "192.0.2.1", "servicetype": "HTTP", "port": 80}});
    let member = json!({"servicegroup_servicegroupmember_binding":
        {"servicegroupname": "g", "servername": "s", "ip": "192.0.2.1", "port": 81}});
    let unbind = "servicegroup_servicegroupmember_binding/g?args=servername:s,ip:192.0.2.1,port:80";
    for (method, path, body) in [
        ("POST", "service", Some(&service)),
        ("PUT", "servicegroup_servicegroupmember_binding", Some(&member)),
        ("DELETE", unbind, None),
    ] {
        let (status, answer) = program.owner(method, path, body);
        let message = "Arguments cannot both be specified [serverName, IP]";
        let expected = json!({"errorcode": 1092, "message": message, "severity": "ERROR"});
        assert_eq!((status.as_str(), answer), ("HTTP/1.1 400 Bad Request", expected), "{method} {path}");
    }
    assert_eq!(program.running(), before);
}
