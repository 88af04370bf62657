//! What NITRO clients ask an appliance about itself before they do anything else.

use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::place::Place;
use crate::program::Program;

pub fn trials() -> Vec<Trial> {
    trials![
        release_hardware_licence_and_capacity_have_the_shapes_that_clients_take_apart,
        the_program_is_its_own_first_and_partners_are_kept_beside_it,
        the_program_is_set_and_unset_and_partners_are_deleted,
        a_new_name_keeps_the_place_in_a_cluster,
        interfaces_stand_under_both_spellings_with_the_kernels_counters,
        what_is_asked_beside_the_reference_has_its_answer_and_nothing_else_has,
    ]
}

fn empty() -> (Place, Program) {
    let place = Place::new();
    let program = Program::launch(&place, "enable ns feature LB\n");
    (place, program)
}

fn get(program: &Program, path: &str) -> Value {
    let (status, answer) = program.owner("GET", path, None);
    assert_eq!(status, "HTTP/1.1 200 OK", "{path}: {answer}");
    answer
}

/// `NetScaler NS(\d+\.\d+): Build (\d+\.\d+)\.nc`, by hand.
fn release(version: &str) -> Option<(f64, f64)> {
    let (release, rest) = version.strip_prefix("NetScaler NS")?.split_once(": Build ")?;
    Some((release.parse().ok()?, rest.split_once(".nc")?.0.parse().ok()?))
}

fn release_hardware_licence_and_capacity_have_the_shapes_that_clients_take_apart() {
    let (_place, program) = empty();
    let version = get(&program, "nsversion")["nsversion"]["version"].as_str().unwrap().to_owned();
    assert_eq!(release(&version), Some((14.1, 51.80)), "{version}");
    assert!(version.contains(".nc, Date: ") && version.ends_with("   (64-bit)"), "{version}");

    let hardware = &get(&program, "nshardware")["nshardware"];
    for field in ["cpufrequncy", "hostid", "manufactureday", "manufacturemonth", "manufactureyear"] {
        assert!(hardware[field].is_u64(), "{field} of {hardware}");
    }
    for field in ["hwdescription", "sysid", "host", "serialno", "encodedserialno"] {
        assert!(hardware[field].as_str().is_some_and(|text| !text.is_empty()), "{field} of {hardware}");
    }

    let licence = &get(&program, "nslicense")["nslicense"];
    assert_eq!((&licence["lb"], &licence["isplatinumlic"]), (&json!(true), &json!(true)));
    assert_eq!((&licence["isstandardlic"], &licence["modelid"]), (&json!(false), &json!("0")));
    assert_eq!(licence["licensingmode"], "Local");
    assert!(licence["daystoexpiration"].as_str().unwrap().parse::<u32>().unwrap() > 365);

    let capacity = &get(&program, "nscapacity")["nscapacity"];
    for field in ["bandwidth", "actualbandwidth", "maxbandwidth", "minbandwidth"] {
        assert!(capacity[field].as_str().unwrap().parse::<u64>().is_ok(), "{field} of {capacity}");
    }
}

fn the_program_is_its_own_first_and_partners_are_kept_beside_it() {
    let place = Place::new();
    let program = Program::launch(&place, "set ns config -IPAddress 192.0.2.1 -netmask 255.255.255.0\n");
    let rows = || get(&program, "hanode")["hanode"].as_array().unwrap().clone();
    let own = &rows()[0];
    for (field, value) in [
        ("id", "0"),
        ("ipaddress", "192.0.2.1"),
        ("state", "Primary"),
        ("hellointerval", "200"),
        ("hasync", "ENABLED"),
    ] {
        assert_eq!(own[field], value, "{field} of {own}");
    }
    assert_eq!(rows().len(), 1);
    let body = json!({"hanode": {"id": "2", "ipaddress": "192.0.2.2"}});
    assert_eq!(program.owner("POST", "hanode", Some(&body)).0, "HTTP/1.1 201 Created");
    assert_eq!((rows().len(), &rows()[1]["ipaddress"]), (2, &json!("192.0.2.2")));
    assert_eq!(get(&program, "hanode/2")["hanode"][0]["id"], "2");
    assert_eq!(program.owner("GET", "hanode/3", None).0, "HTTP/1.1 404 Not Found");
}

/// What is set is set of the appliance itself; a partner is added and deleted (`spec/nitro.md`, hanode).
fn the_program_is_set_and_unset_and_partners_are_deleted() {
    let place = Place::new();
    let program = Program::launch(&place, "add HA node 1 192.0.2.2\n");
    let change = |method: &str, path: &str, fields: Value| {
        let body = (!fields.is_null()).then(|| json!({"hanode": fields}));
        let (status, answer) = program.owner(method, path, body.as_ref());
        (status.trim_start_matches("HTTP/1.1 ").to_owned(), answer["errorcode"].as_u64().unwrap())
    };
    let done = ("200 OK".to_owned(), 0);
    let own = |field: &str| get(&program, "hanode/0")["hanode"][0][field].clone();
    let fields =
        json!({"id": 0, "hellointerval": 300, "deadinterval": "5", "failsafe": "ON", "hasync": "DISABLED"});
    assert_eq!(change("PUT", "hanode", fields), done);
    assert_eq!(change("PUT", "hanode", json!({"maxflips": 3})), done, "without a number it is the appliance");
    let shown = || ["hellointerval", "deadinterval", "failsafe", "hasync", "maxflips"].map(own);
    assert_eq!(shown(), ["300", "5", "ON", "DISABLED", "3"]);
    let before = program.running();
    for (method, path, fields, status, code) in [
        ("PUT", "hanode", json!({"id": 0, "hellointerval": 199}), "400 Bad Request", 1109),
        ("PUT", "hanode", json!({"id": 0, "hellointerval": 1001}), "400 Bad Request", 1108),
        ("PUT", "hanode", json!({"id": 1, "failsafe": "OFF"}), "400 Bad Request", 1093),
        ("PUT", "hanode", json!({"id": 9, "failsafe": "OFF"}), "404 Not Found", 258),
        ("POST", "hanode?action=unset", json!({"id": 9, "failsafe": true}), "404 Not Found", 258),
        (
            "POST",
            "hanode?action=unset",
            json!({"id": 0, "ipaddress": true}),
            "599 Netscaler specific error",
            278,
        ),
        ("DELETE", "hanode/9", Value::Null, "404 Not Found", 258),
    ] {
        assert_eq!(
            change(method, path, fields.clone()),
            (status.to_owned(), code),
            "{method} {path} {fields}"
        );
    }
    assert_eq!(program.running(), before);
    let fields = json!({"id": 0, "hellointerval": true, "failsafe": true, "hasync": true, "maxflips": true});
    assert_eq!(change("POST", "hanode?action=unset", fields), done);
    assert_eq!(shown(), ["200", "5", "OFF", "ENABLED", "0"]);
    assert_eq!(change("DELETE", "hanode/1", Value::Null), done);
    assert_eq!(change("DELETE", "hanode/1", Value::Null), ("404 Not Found".to_owned(), 258));
    assert_eq!(get(&program, "hanode")["hanode"].as_array().unwrap().len(), 1);
    assert_eq!(
        program.running().lines().filter(|line| line.contains("HA node")).collect::<Vec<_>>(),
        ["set HA node -deadInterval 5"]
    );
}

/// `hostname` alone is required: what a request does not say stays.
fn a_new_name_keeps_the_place_in_a_cluster() {
    let place = Place::new();
    let program = Program::launch(&place, "set ns hostName one -ownerNode 3\n");
    program.done("PUT", "nshostname", json!({"nshostname": {"hostname": "two"}}));
    let shown = get(&program, "nshostname")["nshostname"][0].clone();
    assert_eq!((&shown["hostname"], &shown["ownernode"]), (&json!("two"), &json!("3")), "{shown}");
}

fn interfaces_stand_under_both_spellings_with_the_kernels_counters() {
    let (_place, program) = empty();
    for path in ["Interface", "interface", "interface?filter=devicename:lo"] {
        let answer = get(&program, path);
        assert_eq!(answer["Interface"], answer["interface"], "{path}");
        let rows = answer["interface"].as_array().unwrap();
        let lo = rows.iter().find(|row| row["devicename"] == "lo").unwrap();
        for (field, value) in [("state", "ENABLED"), ("linkstate", "1"), ("intfstate", "1"), ("id", "lo")] {
            assert_eq!(lo[field], value, "{field} of {lo}");
        }
        assert!(lo["rxbytes"].as_str().unwrap().parse::<u64>().is_ok());
    }
    let count = get(&program, "interface?count=yes");
    assert!(count["Interface"][0]["__count"].as_u64().unwrap() >= 1);
    let (status, answer) = program.owner("GET", "interface/no%2F..%2Fsuch", None);
    assert_eq!((status.as_str(), &answer["errorcode"]), ("HTTP/1.1 404 Not Found", &json!(258)));
}

fn what_is_asked_beside_the_reference_has_its_answer_and_nothing_else_has() {
    let (_place, program) = empty();
    let bare = json!({"errorcode": 0, "message": "Done", "severity": "NONE"});
    assert_eq!(get(&program, "clusterinstance"), bare);
    assert_eq!(get(&program, "sslvserver_sslciphersuite_binding/tf_v1"), bare);
    assert_eq!(get(&program, "ntpsync")["ntpsync"]["state"], "DISABLED");
    assert_eq!(get(&program, "ntpstatus")["ntpstatus"]["response"], "");
    for unknown in ["clusterinstance/1", "ntpservers", "nsversions"] {
        assert_eq!(program.owner("GET", unknown, None).0, "HTTP/1.1 404 Not Found", "{unknown}");
    }
    assert_eq!(program.owner("POST", "nsversion", None).0, "HTTP/1.1 405 Method Not Allowed");
}
