//! Every field of every object that NITRO shows, against the reference: its type, its default, and that what a client
//! gave comes back.

use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::place::Place;
use crate::program::Program;
use crate::reference::{Field, of_config};
use crate::shown::elements;

pub fn trials() -> Vec<Trial> {
    trials![
        every_field_is_of_the_reference_and_has_its_type,
        what_is_listed_never_changes,
        a_default_of_the_reference_is_shown,
        what_is_given_comes_back,
        lb_parameters_that_terraform_gives_come_back,
    ]
}

/// A configuration with one of everything.
const ALL: &str = "set ns config -IPAddress 192.0.2.1 -netmask 255.255.255.0 -nsvlan 5 -ifnum 1/1\n\
    enable ns feature LB CS\nenable ns mode FR L3 Edge\nset ns hostName box\n\
    set ns param -httpPort 80 8080 -cip ENABLED X-Client -timezone \"GMT+01:00-CET-Europe/Berlin\" -icaPorts 1494\n\
    add ns ip 192.0.2.2 255.255.255.0 -vServer DISABLED -hostRtGw 192.0.2.254 -vrID 3\n\
    add netProfile np -srcIP 192.0.2.2 -MBF ENABLED\n\
    add server web 192.0.2.10 -comment c\nadd server named web.example.com -domainResolveRetry 7\n\
    add service s web HTTP 80 -clearTextPort 81 -cacheType REVERSE -cip ENABLED X-Client -hashId 4 -comment c \
    -netProfile np -tcpProfileName tp -httpProfileName hp\n\
    add serviceGroup g HTTP -cip ENABLED X-Client -comment c -memberPort 80\nbind serviceGroup g web 8080\n\
    add lb monitor m HTTP -respCode 200 204-206 -customHeaders \"X: y\\r\\n\" -destIP 192.0.2.9 -LRTM ENABLED\n\
    add lb monitor r RADIUS -radKey secret -userName u -password secret -radNASip 192.0.2.9\n\
    add lb monitor d DIAMETER -originHost h -originRealm r -authApplicationId 1 2 -vendorId 5\n\
    add lb monitor n DNS -query a.example.com -queryType Address -IPAddress 192.0.2.7 192.0.2.8\n\
    bind service s -monitorName m\n\
    add lb vserver spare HTTP 0.0.0.0 0\n\
    add lb vserver v HTTP 192.0.2.20 80 -persistenceType DIAMETER -persistAVPno 1 2 -backupVServer spare \
    -soMethod CONNECTION -soThreshold 10 -redirectURL http://a.example.com/ -cookieName c -rule true -tosId 3 -m TOS \
    -tcpProbePort 81 -redirectFromPort 8080 -httpsRedirectUrl https://a.example.com/ -lbMethod TOKEN -dataLength 4\n\
    bind lb vserver v s -weight 3\nbind lb vserver v g\n\
    add lb group lg -persistenceType SOURCEIP\nbind lb group lg v\n\
    add cs action a -targetLBVserver v\nadd cs policy p -rule true -action a\nadd cs vserver c HTTP 192.0.2.30 80\n\
    add lb vserver tls SSL 192.0.2.40 443\n\
    bind cs vserver c -policyName p -priority 10\nbind cs vserver c -lbvserver v\n";

fn every_field_is_of_the_reference_and_has_its_type() {
    let place = Place::new();
    for config in [ALL, ""] {
        let program = Program::launch(&place, config);
        for (resource, _) in RESOURCES {
            let elements = elements(&program, resource);
            assert!(config.is_empty() || !elements.is_empty(), "{resource}");
            elements.iter().for_each(|element| assert_types(resource, element));
        }
    }
}

/// The list that people read.
fn what_is_listed_never_changes() {
    let place = Place::new();
    let program = Program::launch(&place, ALL);
    for section in include_str!("../../src/nitro/config/always.md").split("\n## ").skip(1) {
        let (resource, fields) = section.split_once('\n').unwrap();
        let fields: Vec<&str> = fields.split([',', '\n']).map(str::trim).filter(|f| !f.is_empty()).collect();
        let elements = elements(&program, &format!("{resource}?bulkbindings=yes"));
        assert!(!fields.is_empty() && !elements.is_empty(), "{resource}");
        for (name, value) in fields.iter().map(|field| field.split_once(' ').unwrap()) {
            elements.iter().for_each(|element| assert_eq!(text(&element[name]), value, "{resource}: {name}"));
        }
    }
}

fn assert_types(resource: &str, element: &Value) {
    let fields = of_config(resource).fields;
    for (name, value) in element.as_object().unwrap() {
        let kind = fields.iter().find(|field| field.name == name).map_or("", |field| field.kind);
        let beyond = BEYOND.iter().find(|(of, names)| of.contains(&resource) && has(names, name));
        let kind = if kind.is_empty() || beyond.is_some() {
            beyond.unwrap_or_else(|| panic!("{resource}: {name} is nowhere in the reference"));
            beyond_kind(name)
        } else {
            kind
        };
        let is_right = match kind.strip_suffix("[]") {
            Some(kind) => {
                value.as_array().is_some_and(|items| items.iter().all(|item| is(resource, name, kind, item)))
            }
            None => is(resource, name, kind, value),
        };
        assert!(is_right, "{resource}: {name} ({kind}) is {value}");
    }
}

fn is(resource: &str, name: &str, kind: &str, value: &Value) -> bool {
    match kind {
        "String" | "string" => value.is_string(),
        "Boolean" | "bool" => value.is_boolean(),
        "Integer" => value.is_u64(),
        "Double" | "int" if NUMBERS.iter().any(|(of, names)| of.contains(&resource) && has(names, name)) => {
            value.is_u64()
        }
        "Double" | "int" => value.as_str().is_some_and(|text| text.parse::<u64>().is_ok()),
        "list" | "[]int" => value.as_array().is_some_and(|items| items.iter().all(Value::is_string)),
        other => panic!("{resource}: {name} is of type {other}"),
    }
}

fn has(names: &str, name: &str) -> bool {
    names.split_ascii_whitespace().any(|n| n == name)
}

fn beyond_kind(name: &str) -> &'static str {
    let kinds = [("Boolean", FLAGS), ("Integer", "vsvrbindsvcport"), ("String", TEXTS)];
    kinds.into_iter().find(|(_, names)| has(names, name)).map_or("Double", |(kind, _)| kind)
}

/// A field as text: of a list its items.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(text).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    }
}

fn a_default_of_the_reference_is_shown() {
    let place = Place::new();
    let program = Program::launch(&place, "");
    for (resource, object) in RESOURCES {
        let element = fresh(&program, resource, object, &json!({})).unwrap();
        for field in of_config(resource).fields.iter().filter(|f| f.settable && !f.default.is_empty()) {
            if NO_DEFAULT.iter().any(|(of, names)| of == resource && has(names, field.name)) {
                continue;
            }
            let default = field.default.trim_matches('"');
            let shown = text(&element[field.name]);
            assert!(
                shown.eq_ignore_ascii_case(default),
                "{resource}: {} is {shown}, not {default}",
                field.name
            );
        }
    }
}

/// Adds an object, or sets what there is one of; how it is shown, or the refusal.
fn fresh(program: &Program, resource: &str, object: &str, more: &Value) -> Result<Value, Value> {
    let mut body: Value = serde_json::from_str(object).unwrap();
    let keys = ["name", "monitorname", "servicegroupname", "ipaddress"];
    let key = keys.iter().find_map(|key| body.get(key)).map(text);
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let path = key.map_or(resource.to_owned(), |key| format!("{resource}/{key}"));
    let is_single = path == *resource;
    if !is_single {
        let there = program.owner("GET", &path, None).1;
        program.owner("DELETE", &with_type(resource, &path, &there[resource][0]), None);
    }
    let method = if is_single { "PUT" } else { "POST" };
    if body != json!({}) {
        let (status, answer) = program.owner(method, resource, Some(&json!({resource: body})));
        if !status.contains(" 20") {
            return Err(answer);
        }
    }
    Ok(elements(program, &path).remove(0))
}

/// Of a monitor the type is part of its name, that of the one that is there.
fn with_type(resource: &str, path: &str, there: &Value) -> String {
    if resource == "lbmonitor" {
        format!("{path}?args=type:{}", text(&there["type"]))
    } else {
        path.to_owned()
    }
}

/// What clients could give for a field, and it is not its default.
fn samples(field: &Field) -> Vec<Value> {
    let words = field.values.split(", ").filter(|word| !word.eq_ignore_ascii_case(field.default));
    let lowest = field.values.split_once("..").and_then(|(low, _)| low.parse::<i64>().ok());
    let each: Vec<Value> = match (field.kind.trim_end_matches("[]"), lowest) {
        ("Boolean", _) => vec![json!(true)],
        (_, Some(low)) => vec![json!(low.max(0) + 1)],
        ("Integer" | "Double", None) => vec![json!(7)],
        _ if field.values.contains(", ") => words.map(|word| json!(word)).collect(),
        _ if ADDRESSES.iter().any(|end| field.name.ends_with(end)) => vec![json!("192.0.2.77")],
        _ => vec![json!("x1"), json!("204")],
    };
    let is_list = field.kind.ends_with("[]");
    each.into_iter().map(|one| if is_list { json!([one]) } else { one }).collect()
}

/// A request for each way in which a field could be given: its values, and the types of monitors.
fn attempts(resource: &str, field: &Field) -> Vec<Value> {
    let of_type = |value: &Value| match resource {
        "lbmonitor" if field.name == "transparent" => {
            vec![json!({"destip": "192.0.2.96", field.name: value})]
        }
        "lbmonitor" => MONITORS.iter().map(|kind| json!({"type": kind, field.name: value})).collect(),
        _ => vec![json!({field.name: value})],
    };
    samples(field).iter().flat_map(of_type).collect()
}

fn what_is_given_comes_back() {
    let place = Place::new();
    let program = Program::launch(&place, "");
    for (resource, object) in RESOURCES {
        let given: Value = serde_json::from_str(object).unwrap();
        let mut refused = Vec::new();
        for field in of_config(resource).fields.iter().filter(|f| f.settable && given.get(f.name).is_none()) {
            let all = attempts(resource, field);
            let taken =
                all.iter().find_map(|more| Some((more, fresh(&program, resource, object, more).ok()?)));
            let Some((more, element)) = taken else {
                refused.push(field.name);
                continue;
            };
            assert_types(resource, &element);
            let (value, shown) = (text(&more[field.name]), text(&element[field.name]));
            match has(SECRETS, field.name) {
                true => assert!(element.get(field.name).is_none(), "{resource}: {} is shown", field.name),
                false => assert!(
                    shown.eq_ignore_ascii_case(&value),
                    "{resource}: {} is {shown}, not {value}",
                    field.name
                ),
            }
        }
        let expected = ARGUMENTS.iter().find(|(of, _)| of == resource).map_or("", |(_, names)| names);
        assert_eq!(refused.join(" "), expected, "{resource}");
    }
}

/// The body that Terraform sends (`captures/nitro/terraform-apply.jsonl`).
fn lb_parameters_that_terraform_gives_come_back() {
    let place = Place::new();
    let program = Program::launch(&place, "");
    let given = json!({
        "httponlycookieflag": "DISABLED", "useencryptedpersistencecookie": "DISABLED", "consolidatedlconn": "YES",
        "useportforhashlb": "YES", "preferdirectroute": "YES", "startuprrfactor": 0,
        "monitorskipmaxclient": "DISABLED", "monitorconnectionclose": "FIN", "vserverspecificmac": "DISABLED",
        "allowboundsvcremoval": "ENABLED", "retainservicestate": "OFF", "dbsttl": 0, "maxpipelinenat": 0,
        "storemqttclientidandusername": "NO", "dropmqttjumbomessage": "YES", "lbhashalgorithm": "DEFAULT",
        "lbhashfingers": 256, "undefaction": "NOLBACTION", "proximityfromself": "NO",
    });
    let (status, answer) = program.owner("PUT", "lbparameter", Some(&json!({"lbparameter": given})));
    assert_eq!(status, "HTTP/1.1 200 OK", "{answer}");
    let shown = elements(&program, "lbparameter").remove(0);
    for (name, value) in given.as_object().unwrap() {
        assert_eq!(text(&shown[name]), text(value), "{name}");
    }
}

/// What is shown, and what must be given for one.
const RESOURCES: &[(&str, &str)] = &[
    ("server", r#"{"name": "a", "ipaddress": "192.0.2.99"}"#),
    ("service", r#"{"name": "b", "ip": "192.0.2.98", "servicetype": "HTTP", "port": 80}"#),
    ("servicegroup", r#"{"servicegroupname": "c", "servicetype": "HTTP"}"#),
    ("lbvserver", r#"{"name": "e", "servicetype": "HTTP"}"#),
    ("lbmonitor", r#"{"monitorname": "f", "type": "HTTP"}"#),
    ("lbparameter", "{}"),
    ("lbgroup", r#"{"name": "h"}"#),
    ("nsfeature", "{}"),
    ("nsmode", "{}"),
    ("nsparam", "{}"),
    ("nsspparams", "{}"),
    ("nsip", r#"{"ipaddress": "192.0.2.97", "netmask": "255.255.255.0"}"#),
    ("netprofile", r#"{"name": "i"}"#),
    ("nsconfig", "{}"),
];
const OF_SERVICES: &[&str] = &["service", "servicegroup", "server"];
/// Numbers in JSON although the reference says Double (`spec/nitro.md` 4), and the ports of release 14.1.
const NUMBERS: &[(&[&str], &str)] = &[
    (&["lbvserver"], "timeout backuppersistencetimeout tcpprobeport probeport"),
    (
        OF_SERVICES,
        "clttimeout svrtimeout delay numofconnections monstatcode monstatparam1 monstatparam2 monstatparam3 \
        riseapbrstatsmsgcode riseapbrstatsmsgcode2",
    ),
];
/// Fields that appliances show and the reference lacks, or has by another type (`spec/nitro.md` 4).
const BEYOND: &[(&[&str], &str)] = &[
    (
        &["lbvserver"],
        "cachetype dynamicweight priority hits pipolicyhits policysubtype vsvrbindsvcip vsvrbindsvcport",
    ),
    (&["service", "servicegroup"], "monstate passive statechangetimesec tickssincelaststatechange monweight"),
    (&["nsfeature", "nsmode"], "bot apigateway single_ip"),
];
/// Never shown.
const SECRETS: &str = "password secondarypassword radkey cookiepassphrase";
/// Ends of the names of fields that hold an address.
const ADDRESSES: &[&str] = &["mask", "ip", "address", "gw"];
/// Types of monitors, each with fields of its own.
const MONITORS: &[&str] = &[
    "HTTP",
    "TCP-ECV",
    "HTTP-INLINE",
    "DNS",
    "RADIUS",
    "RADIUS_ACCOUNTING",
    "SIP-UDP",
    "RTSP",
    "LDAP",
    "SNMP",
    "LOAD",
    "MYSQL",
    "MYSQL-ECV",
    "MSSQL-ECV",
    "ORACLE-ECV",
    "DIAMETER",
    "USER",
    "STOREFRONT",
    "NNTP",
    "FTP-EXTENDED",
];
/// What the reference calls settable and is no attribute: arguments of actions, what sets a member or a binding, the unit
/// of a time; and what needs more than itself.
const ARGUMENTS: &[(&str, &str)] = &[
    ("server", "domain domainresolvenow delay graceful Internal newname"),
    (
        "service",
        "servername serverid ipaddress weight monitor_name_svc riseapbrstatsmsgcode delay \
        graceful all Internal newname",
    ),
    (
        "servicegroup",
        "servername port weight customserverid serverid hashid monitor_name_svc dup_weight \
        riseapbrstatsmsgcode delay graceful includemembers newname",
    ),
    ("lbvserver", "ipv46 ippattern port backupvserver weight servicename redirurlflags newname"),
    (
        "lbmonitor",
        "units1 interval units3 units4 units2 hostname metric metricthreshold metricweight \
        servicename servicegroupname",
    ),
    ("lbgroup", "newname"),
    ("nsfeature", "feature"),
    ("nsmode", "mode"),
    (
        "nsconfig",
        "force level rbaconfig config1 config2 outtype template ignoredevicespecific \
        weakpassword config",
    ),
];
const FLAGS: &str = "passive bot apigateway single_ip";
const TEXTS: &str = "cachetype vsvrbindsvcip monstate statechangetimesec";
/// Defaults of arguments of an action or of a member, of what is `Not applicable`, and numbers that stand for nothing.
const NO_DEFAULT: &[(&str, &str)] = &[
    ("servicegroup", "customserverid"),
    ("lbmonitor", "action"),
    ("nsip", "hostrtgw ospfarea icmpresponse arpresponse"),
    ("nsconfig", "rbaconfig"),
];
