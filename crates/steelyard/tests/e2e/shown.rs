//! What `GET` shows of the configuration's objects: fields, JSON types and states as clients of NITRO read them, and what
//! a query leaves of an answer.

use libtest_mimic::Trial;
use serde_json::{Map, Value, json};

use crate::place::Place;
use crate::program::Program;
use crate::service::{TestService, wait_for};

pub fn trials() -> Vec<Trial> {
    trials![
        a_fresh_virtual_server_shows_what_an_appliance_shows,
        a01_a_name_is_found_however_it_is_encoded,
        a03_a_binding_of_a_name_with_blanks_is_removed,
        a04_times_of_a_monitor_come_back_in_the_unit_of_the_client,
        a09_a_server_is_found_by_its_address_too,
        a14_what_is_empty_has_no_key_and_nothing_is_null,
        a_monitor_is_found_by_its_name_and_its_type,
        states_are_told_in_the_words_of_the_reference,
        a_query_narrows_an_answer,
        a_query_that_means_nothing_is_refused,
        no_secret_is_shown,
    ]
}

/// The elements of an answer; none where its key is absent.
pub fn elements(program: &Program, path: &str) -> Vec<Value> {
    let (status, answer) = program.owner("GET", path, None);
    assert_eq!(status, "HTTP/1.1 200 OK", "{path}: {answer}");
    let resource = path.split(['/', '?']).next().unwrap();
    match &answer[resource] {
        Value::Array(elements) => elements.clone(),
        Value::Null => Vec::new(),
        one => vec![one.clone()],
    }
}

fn one(program: &Program, path: &str) -> Value {
    let mut elements = elements(program, path);
    assert_eq!(elements.len(), 1, "{path}: {elements:?}");
    elements.remove(0)
}

fn names(program: &Program, path: &str) -> Vec<String> {
    elements(program, path).iter().map(|element| element["name"].as_str().unwrap().to_owned()).collect()
}

fn added(program: &Program, resource: &str, fields: Value) {
    let (status, answer) = program.owner("POST", resource, Some(&json!({resource: fields})));
    assert_eq!(status, "HTTP/1.1 201 Created", "{resource} {fields}: {answer}");
}

fn refused(program: &Program, path: &str) -> (String, u64, String) {
    let (status, answer) = program.owner("GET", path, None);
    let message = answer["message"].as_str().unwrap().to_owned();
    (status, answer["errorcode"].as_u64().unwrap(), message)
}

/// `spec/nitro.md` 4, "lbvserver GET of a fresh vserver contains".
fn a_fresh_virtual_server_shows_what_an_appliance_shows() {
    let place = Place::new();
    let program = Program::launch(&place, "enable ns feature LB\n");
    let fresh = json!({"name": "v", "servicetype": "HTTP", "ipv46": "192.0.2.80", "port": 8000});
    added(&program, "lbvserver", fresh);
    let shown = one(&program, "lbvserver/v");
    let expected: Value = serde_json::from_str(FRESH).unwrap();
    let differs = |(name, value): &(&String, &Value)| shown[name.as_str()] != **value;
    let differing: Vec<_> = expected.as_object().unwrap().iter().filter(differs).collect();
    assert!(differing.is_empty(), "{differing:?} of {shown}");
    let date = shown["statechangetimesec"].as_str().unwrap();
    assert_eq!(date.split_ascii_whitespace().count(), 5, "{date}");
    for number in ["statechangetimeseconds", "statechangetimemsec", "tickssincelaststatechange"] {
        assert!(shown[number].as_str().unwrap().parse::<u64>().is_ok(), "{number} of {shown}");
    }
    let by_protocol = [("TCP", "9000"), ("UDP", "120"), ("DNS", "120"), ("ANY", "120")];
    for (protocol, timeout) in by_protocol {
        added(&program, "lbvserver", json!({"name": protocol, "servicetype": protocol}));
        assert_eq!(one(&program, &format!("lbvserver/{protocol}"))["clttimeout"], timeout, "{protocol}");
    }
}

const FRESH: &str = r#"{
"name": "v", "insertvserveripport": "OFF", "ipv46": "192.0.2.80", "ippattern": "0.0.0.0", "ipmask": "*",
"listenpolicy": "NONE", "ipmapping": "0.0.0.0", "port": 8000, "range": "1", "servicetype": "HTTP",
"type": "ADDRESS", "curstate": "DOWN", "effectivestate": "DOWN", "status": 0, "lbrrreason": 0,
"cachetype": "SERVER", "authentication": "OFF", "authn401": "OFF", "dynamicweight": "0", "priority": "0",
"clttimeout": "180", "somethod": "NONE", "sopersistence": "DISABLED", "sopersistencetimeout": "2",
"healththreshold": "0", "lbmethod": "LEASTCONNECTION", "backuplbmethod": "ROUNDROBIN", "dataoffset": "0",
"health": "0", "datalength": "0", "ruletype": "0", "m": "IP", "persistencetype": "NONE", "timeout": 2,
"persistmask": "255.255.255.255", "v6persistmasklen": "128", "persistencebackup": "NONE",
"cacheable": "NO", "rtspnat": "OFF", "sessionless": "DISABLED", "trofspersistence": "ENABLED",
"map": "OFF", "connfailover": "DISABLED", "redirectportrewrite": "DISABLED",
"downstateflush": "ENABLED", "disableprimaryondown": "DISABLED", "gt2gb": "DISABLED",
"consolidatedlconn": "GLOBAL", "consolidatedlconngbl": "YES", "thresholdvalue": 0, "invoke": false,
"version": 0, "totalservices": "0", "activeservices": "0", "hits": "0", "pipolicyhits": "0",
"push": "DISABLED", "pushlabel": "none", "pushmulticlients": "NO", "policysubtype": "0",
"l2conn": "OFF", "appflowlog": "ENABLED", "isgslb": false, "icmpvsrresponse": "PASSIVE",
"rhistate": "PASSIVE", "newservicerequestunit": "PER_SECOND", "vsvrbindsvcip": "192.0.2.80",
"vsvrbindsvcport": 0, "skippersistency": "None", "td": "0", "minautoscalemembers": "0",
"maxautoscalemembers": "0", "macmoderetainvlan": "DISABLED", "dns64": "DISABLED", "bypassaaaa": "NO",
"processlocal": "DISABLED", "vsvrdynconnsothreshold": "0", "retainconnectionsoncluster": "NO",
"state": "ENABLED"
}"#;

fn a01_a_name_is_found_however_it_is_encoded() {
    let place = Place::new();
    let program = Program::launch(&place, "");
    added(&program, "servicegroup", json!({"servicegroupname": "production#Backend", "servicetype": "HTTP"}));
    for encoded in ["production%2523Backend", "production%23Backend"] {
        let group = one(&program, &format!("servicegroup/{encoded}"));
        assert_eq!(group["servicegroupname"], "production#Backend", "{encoded}");
    }
    added(&program, "lbvserver", json!({"name": "lb v1", "servicetype": "HTTP"}));
    for path in
        ["lbvserver/lb%20v1", "lbvserver/lb%2520v1", "lbvserver/lb%2Bv1", "lbvserver?filter=name:lb%20v1"]
    {
        assert_eq!(one(&program, path)["name"], "lb v1", "{path}");
    }
}

fn a03_a_binding_of_a_name_with_blanks_is_removed() {
    let place = Place::new();
    let program = Program::launch(&place, "");
    added(&program, "lbvserver", json!({"name": "v1", "servicetype": "HTTP"}));
    let service = json!({"name": "a b", "ip": "192.0.2.1", "servicetype": "HTTP", "port": 80});
    added(&program, "service", service);
    for encoded in ["a%20b", "a%2520b", "a+b", "a%2Bb"] {
        let bound = json!({"lbvserver_service_binding": {"name": "v1", "servicename": "a b"}});
        assert_eq!(program.owner("PUT", "lbvserver_service_binding", Some(&bound)).0, "HTTP/1.1 200 OK");
        assert_eq!(one(&program, "lbvserver/v1")["totalservices"], "1");
        let path = format!("lbvserver_service_binding/v1?args=servicename:{encoded}");
        assert_eq!(program.owner("DELETE", &path, None).0, "HTTP/1.1 200 OK", "{encoded}");
        assert_eq!(one(&program, "lbvserver/v1")["totalservices"], "0", "{encoded}");
    }
}

fn a04_times_of_a_monitor_come_back_in_the_unit_of_the_client() {
    let place = Place::new();
    let program = Program::launch(&place, "");
    added(&program, "lbmonitor", json!({"monitorname": "m1", "type": "TCP"}));
    let printed = || {
        let (_, answer) = program.owner("GET", "nsrunningconfig", None);
        answer["nsrunningconfig"]["response"].as_str().unwrap().lines().last().unwrap().to_owned()
    };
    for (times, expected, line) in [
        (
            json!({"interval": 60, "resptimeout": 2}),
            [json!(60), json!("SEC"), json!(2), json!("SEC")],
            "-interval 60",
        ),
        (
            json!({"interval": 240, "units3": "SEC", "resptimeout": 120}),
            [json!(240), json!("SEC"), json!(120), json!("SEC")],
            "-interval 240 -resptimeout 120",
        ),
        (
            json!({"interval": 2, "units3": "MIN", "resptimeout": 1, "units4": "MIN"}),
            [json!(2), json!("MIN"), json!(1), json!("MIN")],
            "-interval 2 MIN -resptimeout 1 MIN",
        ),
        (
            json!({"interval": 2000, "units3": "MSEC", "resptimeout": 500, "units4": "MSEC"}),
            [json!(2000), json!("MSEC"), json!(500), json!("MSEC")],
            "-interval 2000 MSEC -resptimeout 500 MSEC",
        ),
    ] {
        let mut monitor = json!({"monitorname": "m1", "type": "TCP"});
        monitor.as_object_mut().unwrap().extend(times.as_object().unwrap().clone());
        let (status, answer) = program.owner("PUT", "lbmonitor", Some(&json!({"lbmonitor": monitor})));
        assert_eq!(status, "HTTP/1.1 200 OK", "{monitor}: {answer}");
        let shown = one(&program, "lbmonitor/m1");
        assert_eq!(["interval", "units3", "resptimeout", "units4"].map(|name| shown[name].clone()), expected);
        // As it is saved, so that it comes back in that unit after a restart, too.
        assert!(printed().contains(line), "{}", printed());
    }
}

fn a09_a_server_is_found_by_its_address_too() {
    let place = Place::new();
    let program = Program::launch(&place, "");
    let server = json!({"name": "10.32.158.11", "ipaddress": "10.32.158.11"});
    added(&program, "server", server.clone());
    let found = one(&program, "server/10.32.158.11?args=ipaddress:10.32.158.11");
    assert_eq!([&found["name"], &found["ipaddress"]], [&server["name"], &server["ipaddress"]]);
    assert_eq!(elements(&program, "server?args=ipaddress:10.32.158.11").len(), 1);
    assert_eq!(elements(&program, "server?args=name:10.32.158.11").len(), 1);
    let (status, answer) = program.owner("POST", "server", Some(&json!({"server": server})));
    assert_eq!(status, "HTTP/1.1 409 Conflict");
    assert_eq!(answer["errorcode"], 273);
    let elsewhere = refused(&program, "server/10.32.158.11?args=ipaddress:10.32.158.12");
    assert_eq!(elsewhere.0, "HTTP/1.1 404 Not Found");
    added(&program, "server", json!({"name": "web", "domain": "web.example.com"}));
    let by_domain = one(&program, "server/web");
    assert_eq!([&by_domain["domain"], &by_domain["ipaddress"]], ["web.example.com", "0.0.0.0"]);
}

const RESOURCES: &[&str] = &[
    "server",
    "service",
    "servicegroup",
    "lbvserver",
    "lbmonitor",
    "lbparameter",
    "lbgroup",
    "nsfeature",
    "nsmode",
    "nshostname",
    "nsconfig",
    "nsparam",
    "nsspparams",
    "nsip",
    "netprofile",
];

fn no_null(path: &str, value: &Value) {
    match value {
        Value::Null => panic!("{path} is null"),
        Value::Array(items) => {
            assert!(!items.is_empty(), "{path} is empty");
            items.iter().for_each(|item| no_null(path, item));
        }
        Value::Object(fields) => {
            fields.iter().for_each(|(name, value)| no_null(&format!("{path}.{name}"), value))
        }
        _ => {}
    }
}

fn a14_what_is_empty_has_no_key_and_nothing_is_null() {
    let place = Place::new();
    let program = Program::launch(&place, "");
    for resource in RESOURCES {
        let (status, answer) = program.owner("GET", resource, None);
        assert_eq!(status, "HTTP/1.1 200 OK", "{resource}");
        no_null(resource, &answer);
    }
    let bare = json!({"errorcode": 0, "message": "Done", "severity": "NONE"});
    for resource in
        ["server", "service", "servicegroup", "lbvserver", "lbgroup", "nshostname", "nsip", "netprofile"]
    {
        assert_eq!(program.owner("GET", resource, None).1, bare, "{resource}");
        let counted = program.owner("GET", &format!("{resource}?count=yes"), None).1;
        assert_eq!(counted[resource], json!([{"__count": 0}]), "{resource}");
    }
    // Nothing is enabled, so that there is no list of what is.
    let features = one(&program, "nsfeature");
    assert!(features.get("feature").is_none(), "{features}");
    assert_eq!(features["lb"], false);
}

fn a_monitor_is_found_by_its_name_and_its_type() {
    let place = Place::new();
    let program = Program::launch(&place, "");
    let monitor =
        json!({"monitorname": "m1", "type": "HTTP", "respcode": ["200", "204-206"], "lrtm": "ENABLED"});
    added(&program, "lbmonitor", monitor);
    let shown = one(&program, "lbmonitor/m1?args=type:HTTP");
    let quirks = json!({
        "lrtm": "ENABLED", "lrtmconf": 1, "lrtmconfstr": "ENABLED", "action": "Not applicable",
        "multimetrictable": ["local"], "respcode": ["200", "204-206"], "httprequest": "HEAD /",
        "deviation": "0", "resptimeoutthresh": "0", "trofscode": "0", "vendorid": "0", "destport": 0,
        "dispatcherport": 0, "retries": 3, "downtime": 30, "units2": "SEC", "dynamicinterval": 0,
    });
    for (name, value) in quirks.as_object().unwrap() {
        assert_eq!(&shown[name], value, "{name}");
    }
    let other = refused(&program, "lbmonitor/m1?args=type:TCP");
    assert_eq!(other, ("HTTP/1.1 404 Not Found".into(), 258, "No such resource [monitorname, m1]".into()));
    let built_in = elements(&program, "lbmonitor");
    for name in ["ping-default", "tcp-default", "ping", "tcp", "http"] {
        assert!(built_in.iter().any(|monitor| monitor["monitorname"] == name), "{name}");
    }
    let tcp = one(&program, "lbmonitor/tcp");
    assert_eq!([&tcp["lrtmconf"], &tcp["lrtmconfstr"]], [&json!(0), &json!("DISABLED")]);
    assert!(tcp.get("respcode").is_none(), "{tcp}");
}

fn states_are_told_in_the_words_of_the_reference() {
    let place = Place::new();
    let ip = place.ip();
    let up = TestService::named(place.service(1), "up");
    let program = Program::launch(
        &place,
        &format!(
            "enable ns feature LB\n\
             add service up {ip} HTTP 8101 -healthMonitor NO\nadd service down {ip} HTTP 8102\n\
             add service off {ip} HTTP 8103 -state DISABLED\n\
             add serviceGroup g HTTP\nbind serviceGroup g {ip} 8101\nbind serviceGroup g {ip} 8102\n\
             add lb vserver spare HTTP {ip} 8001\nbind lb vserver spare up\n\
             add lb vserver v HTTP {ip} 8000 -backupVServer spare\n\
             bind lb vserver v down\nbind lb vserver v off\nbind lb vserver v g\n"
        ),
    );
    program.wait_for_state("service", "up", "UP");
    let state = |path: &str, field: &str| one(&program, path)[field].as_str().unwrap().to_owned();
    wait_for("one member is UP", || state("servicegroup/g", "servicegroupeffectivestate") == "PARTIAL-UP");
    assert_eq!(state("service/up", "svrstate"), "UP");
    assert_eq!(state("service/down", "svrstate"), "DOWN");
    assert_eq!(state("service/off", "svrstate"), "OUT OF SERVICE");
    assert_eq!(state("service/off", "state"), "DISABLED");
    wait_for("v is UP", || state("lbvserver/v", "curstate") == "UP");
    let v = one(&program, "lbvserver/v");
    assert_eq!(
        [&v["totalservices"], &v["activeservices"], &v["health"]],
        ["4", "1", "33"],
        "what is disabled does not count in health"
    );
    assert!(v.get("backupvserverstatus").is_none(), "{v}");
    let since = v["statechangetimeseconds"].clone();
    drop(up);
    let disabled = json!({"servicegroup": {"servicegroupname": "g"}});
    program.owner("POST", "servicegroup?action=disable", Some(&disabled));
    wait_for("v is DOWN", || state("lbvserver/v", "curstate") == "DOWN");
    let v = one(&program, "lbvserver/v");
    assert_eq!([&v["effectivestate"], &v["backupvserverstatus"]], ["UP", "(Backup Active)"]);
    assert!(v["statechangetimeseconds"].as_str() >= since.as_str());
    assert_eq!(state("servicegroup/g", "servicegroupeffectivestate"), "OUT OF SERVICE");
    assert_eq!(state("servicegroup/g", "state"), "DISABLED");
    program.owner("POST", "lbvserver?action=disable", Some(&json!({"lbvserver": {"name": "spare"}})));
    wait_for("spare is out", || state("lbvserver/spare", "curstate") == "OUT OF SERVICE");
    assert_eq!(state("lbvserver/v", "effectivestate"), "DOWN");
    assert_eq!(state("lbvserver/spare", "effectivestate"), "DOWN");
}

fn a_query_narrows_an_answer() {
    let place = Place::new();
    let program = Program::launch(&place, "");
    for (name, method) in
        [("k8s-a", "ROUNDROBIN"), ("k8s-b", "LRTM"), ("web", "ROUNDROBIN"), ("Web2", "LRTM")]
    {
        added(
            &program,
            "lbvserver",
            json!({"name": name, "servicetype": "HTTP", "lbmethod": method, "comment": name}),
        );
    }
    for (query, expected) in [
        ("filter=name:web", &["web"] as &[&str]),
        ("filter=NAME:WEB", &["web"]),
        ("filter=name:%2f^k8s%2f&attrs=name,comment", &["k8s-a", "k8s-b"]),
        ("filter=name:/-%5Bab%5D$/", &["k8s-a", "k8s-b"]),
        ("filter=name:/^w.%2Bb$/", &["web"]),
        ("filter=name:/^k8s/,lbmethod:LRTM", &["k8s-b"]),
        ("filter=name%3Aweb%2Clbmethod%3AROUNDROBIN", &["web"]),
        ("filter=lbmethod:ROUNDROBIN,comment:nosuch", &[]),
        ("filter=port:0&pagesize=3&pageno=1", &["k8s-a", "k8s-b", "web"]),
        ("filter=port:0&pagesize=3&pageno=2", &["Web2"]),
        ("pagesize=3;pageno=2", &["Web2"]),
        ("pagesize=3&pageno=3", &[]),
        ("filter=name:&view=summary", &["k8s-a", "k8s-b", "web", "Web2"]),
        ("filter=backupvserver:nosuch", &[]),
    ] {
        assert_eq!(names(&program, &format!("lbvserver?{query}")), expected, "{query}");
    }
    let count =
        |query: &str| program.owner("GET", &format!("lbvserver?{query}"), None).1["lbvserver"].clone();
    assert_eq!(count("count=yes"), json!([{"__count": 4}]));
    assert_eq!(count("view=detail&count=yes"), json!([{"__count": 4}]));
    assert_eq!(count("count=yes&filter=lbmethod:LRTM"), json!([{"__count": 2}]));
    let fields = |element: &Value| element.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(fields(&one(&program, "lbvserver/web?attrs=lbmethod,NAME")), ["lbmethod", "name"]);
    assert_eq!(fields(&one(&program, "nsconfig?attrs=configchanged")), ["configchanged"]);
    let summary = one(&program, "lbvserver/web?view=summary");
    assert_eq!(
        Value::Object(without_times(&summary)),
        Value::Object(without_times(&one(&program, "lbvserver/web")))
    );
    assert_eq!(
        elements(&program, "lbmonitor?filter=monitorname:http,respcode:200").len(),
        1,
        "an item of a list"
    );
    assert_eq!(elements(&program, "lbmonitor?filter=monitorname:http,respcode:/^3/").len(), 0);
    // Where an argument is no field, it says how to look.
    added(&program, "service", json!({"name": "s", "ip": "192.0.2.1", "servicetype": "HTTP", "port": 80}));
    assert_eq!(names(&program, "service?args=all:true,Internal:true"), ["s"]);
    assert_eq!(names(&program, "service/s?args=name:"), ["s"]);
    assert_eq!(elements(&program, "servicegroup?args=includemembers:true").len(), 0);
}

fn without_times(element: &Value) -> Map<String, Value> {
    let mut fields = element.as_object().unwrap().clone();
    fields.retain(|name, _| name != "tickssincelaststatechange");
    fields
}

fn a_query_that_means_nothing_is_refused() {
    let place = Place::new();
    let program = Program::launch(&place, "");
    added(&program, "lbvserver", json!({"name": "web", "servicetype": "HTTP"}));
    let value = |name: &str| {
        ("HTTP/1.1 400 Bad Request".to_owned(), 1097, format!("Invalid argument value [{name}]"))
    };
    for (path, expected) in [
        ("lbvserver?pagesize=0", value("pagesize")),
        ("lbvserver?pagesize=ten", value("pagesize")),
        ("lbvserver?pagesize=1&pageno=-1", value("pageno")),
        ("lbvserver?filter=name:/(/", value("filter")),
        ("lbvserver?filter=name:/(a{1000}){1000}/", value("filter")),
        (
            "lbvserver?filter=nosuch:x",
            ("HTTP/1.1 599 Netscaler specific error".to_owned(), 278, "Invalid argument [nosuch]".to_owned()),
        ),
        (
            "lbvserver/nosuch",
            ("HTTP/1.1 404 Not Found".to_owned(), 258, "No such resource [name, nosuch]".to_owned()),
        ),
        (
            "lbvserver?args=name:nosuch",
            ("HTTP/1.1 404 Not Found".to_owned(), 258, "No such resource [name, nosuch]".to_owned()),
        ),
        ("nosuch", ("HTTP/1.1 404 Not Found".to_owned(), 1232, "Invalid object name [nosuch]".to_owned())),
    ] {
        assert_eq!(refused(&program, path), expected, "{path}");
    }
}

fn no_secret_is_shown() {
    let place = Place::new();
    let program = Program::launch(&place, "");
    let monitor = json!({"monitorname": "m", "type": "RADIUS", "username": "u", "password": "hunter2", "radkey": "hunter2"});
    added(&program, "lbmonitor", monitor);
    let shown = one(&program, "lbmonitor/m");
    assert_eq!(shown["username"], "u");
    assert!(!shown.to_string().contains("hunter2"), "{shown}");
    assert!(shown.get("password").is_none() && shown.get("radkey").is_none(), "{shown}");
}
