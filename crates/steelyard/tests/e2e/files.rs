//! `systemfile`: files that clients put, read and remove, and names that lead elsewhere.

use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::PathBuf;

use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::place::Place;
use crate::program::Program;

pub fn trials() -> Vec<Trial> {
    trials![
        a_file_is_put_read_listed_and_removed,
        a_body_that_is_no_file_is_refused_by_its_fault,
        paths_that_lead_elsewhere_are_refused_under_every_encoding,
        links_that_were_planted_are_not_followed,
        ten_thousand_files_are_listed_and_counted_and_no_more_is_taken,
    ]
}

/// `hello`
const HELLO: &str = "aGVsbG8=";
const SSL: &str = "filelocation:%2Fnsconfig%2Fssl";

fn empty() -> (Place, Program) {
    let place = Place::new();
    let program = Program::launch(&place, "enable ns feature LB\n");
    (place, program)
}

fn certificates(program: &Program) -> PathBuf {
    program.data().join("nsconfig/ssl")
}

fn put(program: &Program, object: &Value) -> (String, Value) {
    program.owner("POST", "systemfile", Some(&json!({"systemfile": object})))
}

fn hello(name: &str) -> Value {
    json!({"filename": name, "filecontent": HELLO, "filelocation": "/nsconfig/ssl", "fileencoding": "BASE64"})
}

/// The status code and NITRO's.
fn codes((status, answer): &(String, Value)) -> (u16, u64) {
    let status = status.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap();
    (status, answer["errorcode"].as_u64().unwrap())
}

fn a_file_is_put_read_listed_and_removed() {
    let (_place, program) = empty();
    assert_eq!(codes(&put(&program, &hello("a b.crt"))), (201, 0));
    let file = certificates(&program).join("a b.crt");
    assert_eq!(fs::read(&file).unwrap(), b"hello");
    assert_eq!(fs::metadata(&file).unwrap().mode() & 0o777, 0o600);
    assert_eq!(codes(&put(&program, &hello("a b.crt"))), (409, 273));
    for path in [
        format!("systemfile/a%20b.crt?args={SSL}"),
        format!("systemfile/a%2520b.crt?args={SSL}"),
        format!("systemfile?args=filename:a%20b.crt,{SSL}"),
    ] {
        let (status, answer) = program.owner("GET", &path, None);
        assert_eq!(status, "HTTP/1.1 200 OK", "{path}: {answer}");
        let row = &answer["systemfile"][0];
        for (field, value) in [
            ("filename", "a b.crt"),
            ("filelocation", "/nsconfig/ssl"),
            ("filecontent", HELLO),
            ("filesize", "5"),
            ("fileencoding", "BASE64"),
        ] {
            assert_eq!(row[field], value, "{field} of {row}");
        }
    }
    let (_, answer) = program.owner("GET", &format!("systemfile?args={SSL}"), None);
    let row = &answer["systemfile"][0];
    assert_eq!((&row["filename"], &row["filecontent"]), (&json!("a b.crt"), &Value::Null));
    let remove = format!("systemfile/a%20b.crt?args={SSL}");
    assert_eq!(codes(&program.owner("DELETE", &remove, None)), (200, 0));
    assert_eq!(codes(&program.owner("DELETE", &remove, None)), (404, 1155));
    assert_eq!(codes(&program.owner("GET", &remove, None)), (404, 1155));
    let (_, answer) = program.owner("GET", &format!("systemfile?args={SSL}"), None);
    assert_eq!(answer["systemfile"], Value::Null, "an empty list has no key");
    assert_eq!(
        codes(&program.owner("PUT", "systemfile", Some(&json!({"systemfile": hello("x")})))),
        (405, 1237)
    );
}

fn a_body_that_is_no_file_is_refused_by_its_fault() {
    let (_place, program) = empty();
    let with = |name: &str, value: Value| {
        let mut object = hello("x");
        object[name] = value;
        object
    };
    for (object, expected) in [
        (json!({"filecontent": HELLO}), (400, 1095)),
        (json!({"filename": "x"}), (400, 1095)),
        (with("filecontent", json!("no base64!")), (400, 1097)),
        (with("filecontent", json!(5)), (400, 1234)),
        (with("filename", json!(["x"])), (400, 1234)),
        (with("filename", Value::Null), (400, 1095)),
        (with("fileencoding", json!("HEX")), (400, 1097)),
        (with("owner", json!("root")), (599, 278)),
        (with("filename", json!("x".repeat(64))), (400, 1106)),
        (with("filecontent", json!("A".repeat(4 << 20))), (599, 283)),
    ] {
        let answer = put(&program, &object);
        assert_eq!(codes(&answer), expected, "{}", answer.1);
        assert!(!answer.1.to_string().contains(HELLO), "{}", answer.1);
    }
    let two = json!({"systemfile": [hello("x"), hello("y")]});
    assert_eq!(codes(&program.owner("POST", "systemfile", Some(&two))), (400, 1233));
    assert!(!certificates(&program).join("x").exists());
}

fn paths_that_lead_elsewhere_are_refused_under_every_encoding() {
    let (_place, program) = empty();
    let secret = program.data().join("secret");
    fs::write(&secret, "hello").unwrap();
    assert_eq!(codes(&put(&program, &hello("in"))), (201, 0));
    for name in [
        "..",
        "%2e%2e",
        "%252e%252e",
        "..%2f..%2fsecret",
        "%2e%2e%2f%2e%2e%2fsecret",
        "%252e%252e%252f%252e%252e%252fsecret",
        "%2fetc%2fpasswd",
        "..%5c..%5csecret",
        "in%00",
        "in%2500",
        "%2e",
        ".in",
        "in%0a",
        "%ff%fe",
    ] {
        for verb in ["GET", "DELETE"] {
            let answer = program.owner(verb, &format!("systemfile/{name}?args={SSL}"), None);
            let (status, code) = codes(&answer);
            assert!(
                (status, code) == (400, 1097) || (status, code) == (404, 1155),
                "{verb} {name}: {}",
                answer.1
            );
            assert!(
                !answer.1.to_string().contains("hello") && !answer.1.to_string().contains(HELLO),
                "{name}"
            );
        }
    }
    for name in ["../../secret", "/etc/passwd", "..", ".", "", "a/b", "a\u{0}b", ".key", "a\\b"] {
        assert_eq!(codes(&put(&program, &hello(name))), (400, 1097), "{name:?}");
    }
    for folder in [
        "%2F",
        "%2Fetc",
        "%2Fnsconfig",
        "%2Fnsconfig%2Fssl%2F..",
        "%2Fnsconfig%2Fssl%2F%2e%2e",
        "%252Fnsconfig%252F%252e%252e",
        "..",
        "%2Fnsconfig%2Fssl%2F..%2F..",
        "%2Fnsconfig%2Fssl%00",
    ] {
        let answer = program.owner("GET", &format!("systemfile/secret?args=filelocation:{folder}"), None);
        assert_eq!(codes(&answer), (403, 257), "{folder}: {}", answer.1);
        let answer = program.owner("GET", &format!("systemfile?args=filelocation:{folder}"), None);
        assert_eq!(codes(&answer), (403, 257), "{folder}: {}", answer.1);
    }
    assert_eq!(fs::read(&secret).unwrap(), b"hello");
    assert_eq!(fs::read_dir(certificates(&program)).unwrap().count(), 1);
}

fn links_that_were_planted_are_not_followed() {
    let (_place, program) = empty();
    assert_eq!(codes(&put(&program, &hello("in"))), (201, 0));
    let secret = program.data().join("secret");
    fs::write(&secret, "hello").unwrap();
    symlink(&secret, certificates(&program).join("link")).unwrap();
    let answer = program.owner("GET", &format!("systemfile/link?args={SSL}"), None);
    assert_eq!(codes(&answer), (599, 1156), "{}", answer.1);
    assert_eq!(codes(&put(&program, &hello("link"))), (409, 273));
    let monitors = program.data().join("nsconfig/monitors");
    symlink(program.data(), &monitors).unwrap();
    for path in [
        "systemfile/secret?args=filelocation:%2Fnsconfig%2Fmonitors",
        "systemfile?args=filelocation:%2Fnsconfig%2Fmonitors",
    ] {
        assert_eq!(codes(&program.owner("GET", path, None)), (599, 1156), "{path}");
    }
    let mut object = hello("new");
    object["filelocation"] = json!("/nsconfig/monitors");
    assert_eq!(codes(&put(&program, &object)), (599, 1156));
    assert!(!program.data().join("new").exists());
    assert_eq!(fs::read(&secret).unwrap(), b"hello");
}

fn ten_thousand_files_are_listed_and_counted_and_no_more_is_taken() {
    let (_place, program) = empty();
    assert_eq!(codes(&put(&program, &hello("in"))), (201, 0));
    (1..10_000).for_each(|nth| fs::write(certificates(&program).join(format!("f{nth:05}")), "").unwrap());
    assert_eq!(codes(&put(&program, &hello("more"))), (599, 1072));
    let (_, answer) = program.owner("GET", &format!("systemfile?args={SSL}&count=yes"), None);
    assert_eq!(answer["systemfile"][0]["__count"], 10_000);
    let (_, answer) =
        program.owner("GET", &format!("systemfile?args={SSL}&pagesize=2&pageno=5000&attrs=filename"), None);
    assert_eq!(answer["systemfile"], json!([{"filename": "f09999"}, {"filename": "in"}]));
    let remove = format!("systemfile/f00001?args={SSL}");
    assert_eq!(codes(&program.owner("DELETE", &remove, None)), (200, 0));
    assert_eq!(codes(&put(&program, &hello("more"))), (201, 0));
}
