//! Bindings as NITRO shows them: fields, JSON types, and what is said of none.

use std::collections::BTreeSet;

use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::place::Place;
use crate::program::Program;
use crate::reference::{Field, of_config};
use crate::service::{TestService, wait_for};

pub fn trials() -> Vec<Trial> {
    trials![
        what_is_bound_is_shown_as_clients_read_it,
        every_field_of_the_reference_is_there_with_its_type,
        all_in_one_element_has_no_key_for_what_is_not_bound,
        probes_are_counted_and_told_as_the_appliance_words_them,
        none_of_something_is_the_envelope_and_nothing_is_a_404,
        sessions_can_be_cleared_though_there_are_none,
        bulkbindings_tells_those_of_all,
        filters_and_arguments_find_a_binding,
        a_metric_is_deleted_by_its_name,
        the_reference_has_second_names_for_what_is_bound,
    ]
}

/// Two services and a group on `v`, one of the services with a monitor of its own, and nothing on `bare`.
pub fn bound(place: &Place) -> Program {
    let ip = place.ip();
    Program::launch(
        place,
        &format!(
            "enable ns feature LB\nadd server web 127.0.0.1\nadd service s1 {ip} HTTP 8101\n\
             add service s2 web HTTP 8102 -healthMonitor NO\nadd serviceGroup g HTTP -maxClient 7\nadd serviceGroup empty HTTP\n\
             bind serviceGroup g {ip} 8103 -weight 3\nbind serviceGroup g web 8104 -state DISABLED -hashId 5\n\
             add lb monitor m HTTP -respCode 200 -interval 20 -resptimeout 1\nbind service s1 -monitorName m -weight 2\n\
             bind serviceGroup g -monitorName m\nadd lb monitor load LOAD\n\
             bind lb monitor load -metric cpu -metricThreshold 80 -metricWeight 4\n\
             add lb vserver v HTTP {ip} 8000\nadd lb vserver bare HTTP {ip} 8001\nbind lb vserver v s1 -weight 4\n\
             bind lb vserver v s2\nbind lb vserver v g\nadd lb group lg -persistenceType SOURCEIP\nbind lb group lg v\n"
        ),
    )
}

/// The rows of `GET path`.
pub fn rows(program: &Program, path: &str) -> Vec<Value> {
    let (status, answer) = program.owner("GET", path, None);
    assert_eq!(status, "HTTP/1.1 200 OK", "{path}: {answer}");
    let resource = path.split(['/', '?']).next().unwrap();
    answer[resource].as_array().cloned().unwrap_or_default()
}

fn assert_fields(row: &Value, expected: &Value) {
    for (field, value) in expected.as_object().unwrap() {
        assert_eq!(&row[field], value, "{field} of {row}");
    }
}

fn what_is_bound_is_shown_as_clients_read_it() {
    let place = Place::new();
    let ip = place.ip().to_string();
    let _s1 = TestService::named(place.service(1), "s1");
    let program = bound(&place);
    wait_for("s1 is UP", || rows(&program, "lbvserver_service_binding/v")[0]["curstate"] == "UP");
    for (path, nth, expected) in [
        (
            "lbvserver_service_binding/v",
            0,
            json!({"name": "v", "servicename": "s1", "weight": "4", "ipv46": ip, "port": 8101, "servicetype": "HTTP",
                "curstate": "UP", "vsvrbindsvcip": ip, "vsvrbindsvcport": 8101, "dynamicweight": "0", "stateflag": "0"}),
        ),
        ("lbvserver_service_binding/v", 1, json!({"servicename": "s2", "weight": "1", "curstate": "UP"})),
        (
            "lbvserver_servicegroup_binding/v",
            0,
            json!({"name": "v", "servicegroupname": "g", "servicename": "g", "stateflag": "0"}),
        ),
        (
            "lbvserver_servicegroupmember_binding/v",
            0,
            json!({"name": "v", "servicegroupname": "g", "ipv46": ip, "port": 8103, "weight": "3", "curstate": "DOWN"}),
        ),
        ("lbvserver_servicegroupmember_binding/v", 1, json!({"port": 8104, "curstate": "OUT OF SERVICE"})),
        (
            "service_lbmonitor_binding/s1",
            0,
            json!({"name": "s1", "monitor_name": "m", "weight": "2", "passive": false, "monstate": "ENABLED",
                "monitor_state": "UP", "monstatparam1": 200}),
        ),
        (
            "servicegroup_servicegroupmember_binding/g",
            0,
            json!({"servicegroupname": "g", "ip": ip, "servername": ip, "port": 8103, "weight": "3", "state": "ENABLED",
                "svrstate": "DOWN", "customserverid": "None", "serverid": "0", "hashid": "0"}),
        ),
        (
            "servicegroup_servicegroupmember_binding/g",
            1,
            json!({"ip": "127.0.0.1", "servername": "web", "port": 8104, "state": "DISABLED", "svrstate": "OUT OF SERVICE",
                "hashid": "5"}),
        ),
        (
            "servicegroup_lbmonitor_binding/g",
            0,
            json!({"servicegroupname": "g", "monitor_name": "m", "monstate": "ENABLED", "weight": "1"}),
        ),
        (
            "servicegroup_servicegroupentitymonbindings_binding/g",
            1,
            json!({"servicegroupname": "g", "servicegroupentname2": "g?web?8104", "monitor_name": "m", "port": 8104}),
        ),
        (
            "server_service_binding/web",
            0,
            json!({"name": "web", "servicename": "s2", "svctype": "HTTP", "svrstate": "UP", "port": 8102,
                "serviceipaddress": "127.0.0.1"}),
        ),
        (
            "server_servicegroup_binding/web",
            0,
            json!({"name": "web", "servicegroupname": "g", "svctype": "HTTP", "port": 8104, "maxclient": "7",
                "svrstate": "OUT OF SERVICE"}),
        ),
        ("lbmonbindings/M", 0, json!({"monitorname": "m", "type": "HTTP", "state": "ENABLED"})),
        (
            "lbmonbindings_service_binding/m",
            0,
            json!({"monitorname": "m", "servicename": "s1", "servicetype": "HTTP", "svrstate": "UP",
                "monsvcstate": "ENABLED", "port": 8101, "ipaddress": ip}),
        ),
        (
            "lbmonbindings_servicegroup_binding/m",
            0,
            json!({"monitorname": "m", "servicegroupname": "g", "monstate": "ENABLED", "servicetype": "HTTP"}),
        ),
        ("lbmonitor_service_binding/m", 0, json!({"servicename": "s1", "weight": "2", "state": "ENABLED"})),
        ("lbmonitor_servicegroup_binding/m", 0, json!({"servicegroupname": "g", "state": "ENABLED"})),
        (
            "lbmonitor_metric_binding/load",
            0,
            json!({"monitorname": "load", "metric": "cpu", "metricthreshold": "80", "metricweight": "4"}),
        ),
        (
            "svcbindings/s1",
            0,
            json!({"servicename": "s1", "vservername": "v", "ipaddress": ip, "port": 8101, "svrstate": "UP"}),
        ),
        (
            "servicegroupbindings/g",
            0,
            json!({"servicegroupname": "g", "vservername": "v", "ipaddress": ip, "port": 8000, "state": "ENABLED",
                "svrstate": "UP"}),
        ),
        ("lbgroup_lbvserver_binding/lg", 0, json!({"name": "lg", "vservername": "v"})),
    ] {
        let rows = rows(&program, path);
        assert_fields(rows.get(nth).unwrap_or_else(|| panic!("{path}: {rows:?}")), &expected);
    }
    // To Terraform a group without the key is gone.
    let (_, answer) = program.owner("GET", "servicegroupbindings/empty", None);
    assert_eq!(answer["servicegroupbindings"], json!([{"servicegroupname": "empty"}]));
}

fn every_field_of_the_reference_is_there_with_its_type() {
    let place = Place::new();
    let program = bound(&place);
    for (resource, parent) in PARENTS {
        let fields = of_config(resource).fields;
        let row = rows(&program, &format!("{resource}/{parent}")).swap_remove(0);
        let known: BTreeSet<&str> =
            fields.iter().map(|field| field.name).chain(BEYOND.iter().copied()).collect();
        for (field, value) in row.as_object().unwrap() {
            assert!(known.contains(field.as_str()), "{resource}: {field} is nowhere in the reference");
            assert!(!value.is_null(), "{resource}: {field}");
        }
        for Field { name: field, kind, .. } in fields {
            let value = &row[field];
            let right = match kind {
                "String" | "Double" => value.is_string(),
                "Integer" => value.is_number(),
                "Boolean" => value.is_boolean(),
                // Fields of release 14.1 alone, and lists of what nothing here has.
                _ => continue,
            };
            let left_out = NOT_SHOWN.contains(&(*resource, field));
            assert_eq!(right, !left_out, "{resource}: {field} ({kind}) is {value}");
        }
    }
}

fn all_in_one_element_has_no_key_for_what_is_not_bound() {
    let place = Place::new();
    let program = bound(&place);
    for (path, keys) in [
        (
            "lbvserver_binding/v",
            &[
                "name",
                "lbvserver_service_binding",
                "lbvserver_servicegroup_binding",
                "lbvserver_servicegroupmember_binding",
            ][..],
        ),
        ("lbvserver_binding/bare", &["name"]),
        ("service_binding/s1", &["name", "service_lbmonitor_binding"]),
        ("service_binding/s2", &["name"]),
        (
            "servicegroup_binding/g",
            &[
                "servicegroupname",
                "servicegroup_servicegroupmember_binding",
                "servicegroup_lbmonitor_binding",
                "servicegroup_servicegroupentitymonbindings_binding",
            ],
        ),
        ("servicegroup_binding/empty", &["servicegroupname"]),
        ("server_binding/web", &["name", "server_service_binding", "server_servicegroup_binding"]),
    ] {
        let rows = rows(&program, path);
        assert_eq!(rows.len(), 1, "{path}");
        let found: BTreeSet<&str> = rows[0].as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(found, keys.iter().copied().collect(), "{path}");
    }
    assert_eq!(rows(&program, "lbvserver_binding/v")[0]["lbvserver_service_binding"][1]["servicename"], "s2");
}

fn probes_are_counted_and_told_as_the_appliance_words_them() {
    let place = Place::new();
    let _s1 = TestService::named(place.service(1), "s1");
    let program = bound(&place);
    let monitor = |path: &str| rows(&program, path).swap_remove(0);
    wait_for("a success", || {
        monitor("service_lbmonitor_binding/s1")["lastresponse"]
            == "Success - HTTP response code 200 received."
    });
    let row = monitor("service_lbmonitor_binding/s1");
    assert_fields(
        &row,
        &json!({"totalfailedprobes": "0", "failedprobes": "0", "monitorcurrentfailedprobes": "0"}),
    );
    assert!(row["totalprobes"].as_str().unwrap().parse::<u64>().unwrap() >= 1, "{row}");
    let of_member = "servicegroup_servicegroupentitymonbindings_binding/g";
    // Nobody listens there.
    wait_for("a failure", || monitor(of_member)["lastresponse"] == "Failure - TCP syn sent, reset received.");
    let row = monitor(of_member);
    assert_eq!(row["monitortotalfailedprobes"], row["monitortotalprobes"]);
    // A service without a monitor of its own is probed by the default one.
    let (status, _) = program.owner("DELETE", "service_lbmonitor_binding/s1?args=monitor_name:m", None);
    assert_eq!(status, "HTTP/1.1 200 OK");
    wait_for("the default monitor", || {
        let row = monitor("service_lbmonitor_binding/s1");
        (&row["monitor_name"], &row["lastresponse"])
            == (&json!("tcp-default"), &json!("Success - TCP syn+ack received."))
    });
}

fn none_of_something_is_the_envelope_and_nothing_is_a_404() {
    let place = Place::new();
    let program = bound(&place);
    let envelope = json!({"errorcode": 0, "message": "Done", "severity": "NONE"});
    for path in [
        "lbvserver_service_binding/bare",
        "lbvserver_servicegroup_binding/bare",
        "lbvserver_servicegroupmember_binding/bare",
        "service_lbmonitor_binding/s2",
        "servicegroup_servicegroupmember_binding/empty",
        "servicegroup_lbmonitor_binding/empty",
        "lbmonitor_metric_binding/m",
        "lbpersistentsessions",
        "lbpersistentsessions?args=vserver:v",
        // Those of all are told only to who asks for them.
        "lbvserver_service_binding",
        "lbvserver_binding",
    ] {
        let (status, answer) = program.owner("GET", path, None);
        assert_eq!((status.as_str(), &answer), ("HTTP/1.1 200 OK", &envelope), "{path}");
    }
    for (resource, key) in [
        ("lbvserver_binding", "name"),
        ("lbvserver_service_binding", "name"),
        ("servicegroup_servicegroupmember_binding", "servicegroupname"),
        ("lbmonitor_metric_binding", "monitorname"),
        ("svcbindings", "servicename"),
        ("servicegroupbindings", "servicegroupname"),
    ] {
        let (status, answer) = program.owner("GET", &format!("{resource}/t3"), None);
        let message = format!("No such resource [{key}, t3]");
        assert_eq!(status, "HTTP/1.1 404 Not Found", "{resource}");
        assert_eq!(answer, json!({"errorcode": 258, "message": message, "severity": "ERROR"}));
    }
}

fn sessions_can_be_cleared_though_there_are_none() {
    let place = Place::new();
    let program = bound(&place);
    for (body, status) in [
        (json!({}), "200 OK"),
        (json!({"vserver": "v"}), "200 OK"),
        (json!({"vserver": "t3"}), "404 Not Found"),
        (json!({"nosuch": "v"}), "599 Netscaler specific error"),
    ] {
        let body = json!({"lbpersistentsessions": body});
        let (line, answer) = program.owner("POST", "lbpersistentsessions?action=clear", Some(&body));
        assert_eq!(line, format!("HTTP/1.1 {status}"), "{body}: {answer}");
    }
}

fn bulkbindings_tells_those_of_all() {
    let place = Place::new();
    let program = bound(&place);
    for (resource, count) in [
        ("lbvserver_service_binding", 2),
        ("lbvserver_servicegroup_binding", 1),
        ("servicegroup_servicegroupmember_binding", 2),
        ("lbvserver_binding", 2),
    ] {
        assert_eq!(rows(&program, &format!("{resource}?bulkbindings=yes")).len(), count, "{resource}");
    }
    let (_, answer) = program.owner("GET", "lbvserver_service_binding/v?count=yes", None);
    assert_eq!(answer["lbvserver_service_binding"], json!([{"__count": 2}]));
}

fn filters_and_arguments_find_a_binding() {
    let place = Place::new();
    let program = bound(&place);
    for query in [
        "filter=ip:127.0.0.1,port:8104,servername:web",
        "args=ip:127.0.0.1,port:8104",
        "args=servername:web,port:8104",
    ] {
        let rows = rows(&program, &format!("servicegroup_servicegroupmember_binding/g?{query}"));
        assert_eq!((rows.len(), &rows[0]["servername"]), (1, &json!("web")), "{query}");
    }
    assert!(rows(&program, "lbvserver_service_binding/v?args=servicename:nosuch").is_empty());
}

/// `spec/nitro.md`, lbmonitor_metric_binding: DELETE with `args=metric`.
fn a_metric_is_deleted_by_its_name() {
    let place = Place::new();
    let program = bound(&place);
    let fields = json!({"monitorname": "load", "metric": "memory", "metricthreshold": 70});
    program.done("PUT", "lbmonitor_metric_binding", json!({"lbmonitor_metric_binding": fields}));
    let delete = |path: &str| {
        let (status, answer) = program.owner("DELETE", path, None);
        (status.trim_start_matches("HTTP/1.1 ").to_owned(), answer["errorcode"].as_u64().unwrap())
    };
    let metrics = || {
        rows(&program, "lbmonitor_metric_binding/load")
            .iter()
            .map(|row| row["metric"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(metrics(), ["cpu", "memory"]);
    for (path, status, code) in [
        ("load", "400 Bad Request", 1095),
        ("load?args=metric:disk", "404 Not Found", 258),
        ("nosuch?args=metric:cpu", "404 Not Found", 258),
    ] {
        assert_eq!(delete(&format!("lbmonitor_metric_binding/{path}")), (status.to_owned(), code), "{path}");
    }
    assert_eq!(metrics(), ["cpu", "memory"]);
    assert_eq!(delete("lbmonitor_metric_binding/load?args=metric:CPU"), ("200 OK".to_owned(), 0));
    assert_eq!(metrics(), ["memory"]);
    assert_eq!(delete("lbmonitor_metric_binding/load?args=metric:memory"), ("200 OK".to_owned(), 0));
    assert!(metrics().is_empty() && !program.running().contains("-metric "));
}

/// `spec/nitro.md`: what only `update` of a service or a group has, and what a monitor is enabled for.
fn the_reference_has_second_names_for_what_is_bound() {
    let place = Place::new();
    let program = bound(&place);
    let field = |path: &str, field: &str| rows(&program, path)[0][field].clone();
    program.done("PUT", "service", json!({"service": {"name": "s1", "monitor_name_svc": "m", "weight": 7}}));
    assert_eq!(field("service_lbmonitor_binding/s1", "weight"), "7");
    let of_group = json!({"servicegroupname": "g", "monitor_name_svc": "m", "dup_weight": 8});
    program.done("PUT", "servicegroup", json!({"servicegroup": of_group}));
    assert_eq!(field("servicegroup_lbmonitor_binding/g", "weight"), "8");
    for (key, name, path) in [
        ("servicegroupname", "g", "servicegroup_lbmonitor_binding/g"),
        ("servicename", "s1", "service_lbmonitor_binding/s1"),
    ] {
        for (action, state) in [("disable", "DISABLED"), ("enable", "ENABLED")] {
            let monitor = json!({"lbmonitor": {"monitorname": "m", key: name}});
            program.done("POST", &format!("lbmonitor?action={action}"), monitor);
            assert_eq!(field(path, "monstate"), state, "{action} {name}");
        }
    }
    // Two names, and two values.
    let two = json!({"lbmonitor_service_binding": {"monitorname": "m", "servicename": "s1", "weight": 2, "dup_weight": 3}});
    let (status, answer) = program.owner("PUT", "lbmonitor_service_binding", Some(&two));
    assert_eq!(
        (status.as_str(), &answer["errorcode"]),
        ("HTTP/1.1 599 Netscaler specific error", &json!(278))
    );
    assert_eq!(field("service_lbmonitor_binding/s1", "weight"), "7");
}

/// Whose bindings show every field.
const PARENTS: &[(&str, &str)] = &[
    ("lbvserver_service_binding", "v"),
    ("lbvserver_servicegroup_binding", "v"),
    ("lbvserver_servicegroupmember_binding", "v"),
    ("service_lbmonitor_binding", "s1"),
    ("servicegroup_servicegroupmember_binding", "g"),
    ("servicegroup_lbmonitor_binding", "g"),
    ("servicegroup_servicegroupentitymonbindings_binding", "g"),
    ("server_service_binding", "web"),
    ("server_servicegroup_binding", "web"),
    ("lbmonbindings", "m"),
    ("lbmonbindings_service_binding", "m"),
    ("lbmonbindings_servicegroup_binding", "m"),
    ("lbmonitor_service_binding", "m"),
    ("lbmonitor_servicegroup_binding", "m"),
    ("lbmonitor_metric_binding", "load"),
    ("svcbindings", "s1"),
    ("servicegroupbindings", "g"),
    ("lbgroup_lbvserver_binding", "lg"),
];
/// What an appliance sends beside the reference's fields (`spec/nitro.md` 5).
const BEYOND: &[&str] =
    &["stateflag", "vsvrbindsvcip", "vsvrbindsvcport", "statechangetimemsec", "responsetimeus"];
/// Of the reference's fields, those that say nothing about the binding at hand.
const NOT_SHOWN: &[(&str, &str)] = &[
    // Of a group in the place of a service.
    ("lbvserver_service_binding", "servicegroupname"),
    ("lbmonitor_service_binding", "servicegroupname"),
    // A monitor of a whole group has no port.
    ("servicegroup_lbmonitor_binding", "port"),
    // Of a group that it is bound to: there may be several.
    ("lbmonbindings", "boundservicegroupsvrstate"),
    // The unit of a figure that nobody has read yet.
    ("lbmonitor_metric_binding", "metric_unit"),
    // What is empty has no key.
    ("server_servicegroup_binding", "cipheader"),
];
