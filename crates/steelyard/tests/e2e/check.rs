//! `steelyard check` from outside: both forms of its report, its exit codes, and files that are hardly any.

use std::process::{Command, Output, Stdio};

use libtest_mimic::Trial;
use serde_json::Value;

use crate::place::Place;
use crate::program::{EXECUTABLE, run_to_end};

pub fn trials() -> Vec<Trial> {
    trials![
        a_file_that_is_honoured_is_code_0,
        changed_traffic_is_code_3,
        a_refused_line_is_code_1,
        what_cannot_be_read_is_code_2,
        an_empty_file_is_none,
        the_report_says_first_what_matters,
        equal_findings_stand_once_in_the_report_and_each_in_the_json,
        the_json_has_every_field,
        any_bytes_get_a_report,
        a_huge_file_gets_one_too,
        a_closed_pipe_changes_no_verdict,
        no_secret_is_shown,
        nothing_in_a_file_reaches_the_terminal_raw,
    ]
}

const HONOURED: &str = "enable ns feature LB\n\
    add server web1 192.0.2.11\n\
    add service s1 web1 HTTP 8080 -comment \"the first\"\n\
    \n\
    # A comment is no command.\n\
    add lb vserver v HTTP 192.0.2.10 80 -lbMethod LEASTRESPONSETIME\n\
    bind lb vserver v s1 -weight 2\n";

/// Exit code, standard output, standard error.
fn check(path: &str, arguments: &[&str]) -> (i32, String, String) {
    let output = run_to_end(&[&["check", path], arguments].concat());
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code().expect("no signal"), text(output.stdout), text(output.stderr))
}

/// Exit code and report of a file with this text, in both forms. Nothing may be on standard error.
fn checked(place: &Place, text: &str) -> (i32, String, Value) {
    let path = place.file("ns.conf", text);
    let (code, report, errors) = check(&path, &[]);
    assert_eq!(errors, "");
    let (again, json, errors) = check(&path, &["--format", "json"]);
    assert_eq!((again, errors.as_str()), (code, ""));
    (code, report, serde_json::from_str(&json).expect("JSON"))
}

fn totals(json: &Value) -> [u64; 7] {
    ["lines", "honoured", "partial", "stored", "host", "inert", "refused"]
        .map(|name| json[name].as_u64().unwrap_or_else(|| panic!("{name} is no number")))
}

fn a_file_that_is_honoured_is_code_0() {
    let (code, report, json) = checked(&Place::new(), HONOURED);
    assert_eq!(code, 0, "{report}");
    assert_eq!(totals(&json), [5, 5, 0, 0, 0, 0, 0]);
    assert_eq!(json["findings"], Value::Array(Vec::new()));
    assert!(report.contains("5 commands") && report.contains("nothing changes"), "{report}");
}

fn changed_traffic_is_code_3() {
    let text = format!("{HONOURED}add lb monitor m SNMP\nbind service s1 -monitorName m\n");
    let (code, report, json) = checked(&Place::new(), &text);
    assert_eq!(code, 3, "{report}");
    let findings = json["findings"].as_array().expect("a list");
    let of_type = findings.iter().find(|f| f["option"] == "type").expect("the type is a finding");
    assert_eq!((&of_type["line"], &of_type["column"]), (&8.into(), &18.into()));
    assert_eq!(of_type["effect"], "traffic");
    assert!(of_type["reason"].as_str().expect("a text").contains("tcp-default"), "{of_type}");
}

fn a_refused_line_is_code_1() {
    let text =
        format!("{HONOURED}add lb monitor m SNMP\nadd service s2 300.1.1.1 HTTP 80\nfly me to the moon\n");
    let (code, report, json) = checked(&Place::new(), &text);
    assert_eq!(code, 1, "{report}");
    assert_eq!(json["refused"], 2);
    let refused: Vec<&Value> =
        json["findings"].as_array().expect("a list").iter().filter(|f| f["verdict"] == "refused").collect();
    assert_eq!(refused.len(), 2);
    assert_eq!((&refused[0]["line"], &refused[0]["column"]), (&9.into(), &16.into()));
    assert!(refused[0]["reason"].as_str().expect("a text").contains("300.1.1.1"));
    assert!(refused[1]["reason"].as_str().expect("a text").contains("1088"));
}

fn what_cannot_be_read_is_code_2() {
    let place = Place::new();
    let huge = place.file("huge.conf", "");
    std::fs::OpenOptions::new().write(true).open(&huge).unwrap().set_len((64 << 20) + 1).unwrap();
    for (path, why) in
        [("/nowhere/ns.conf", "no such file"), ("/", "is a directory"), (&huge, "larger than 64 MiB")]
    {
        for format in ["text", "json"] {
            let (code, report, errors) = check(path, &["--format", format]);
            assert_eq!((code, report.as_str()), (2, ""), "{path}");
            assert_eq!(errors.lines().count(), 1, "{errors}");
            assert!(
                errors.starts_with("steelyard: ") && errors.contains(path) && errors.contains(why),
                "{errors}"
            );
        }
    }
    for arguments in [&["check"][..], &["check", &huge, "--format", "xml"]] {
        assert_eq!(run_to_end(arguments).status.code(), Some(2));
    }
}

fn an_empty_file_is_none() {
    for text in ["", "\n\n", "# only a comment\n", "\u{feff}"] {
        let (code, report, json) = checked(&Place::new(), text);
        assert_eq!(code, 0, "{report}");
        assert_eq!(totals(&json), [0; 7], "{text:?}");
        assert!(report.contains("0 commands"), "{report}");
    }
}

/// LB not enabled, then what changes, then the table, then the findings.
fn the_report_says_first_what_matters() {
    let text = HONOURED.replace("enable ns feature LB\n", "")
        + "add lb monitor m SNMP\nbind service s1 -monitorName m\n";
    let (_, report, _) = checked(&Place::new(), &text);
    let at = |part: &str| report.find(part).unwrap_or_else(|| panic!("{part:?} is not in {report}"));
    let order =
        [at("6 commands"), at("enable ns feature LB"), at("traffic."), at("honoured "), at("Traffic:")];
    assert!(order.is_sorted(), "{report}");
    assert!(report.lines().any(|line| line.contains("honoured") && line.contains('█')), "{report}");
    assert!(!report.contains('\x1b'), "colours are for terminals alone");
}

fn equal_findings_stand_once_in_the_report_and_each_in_the_json() {
    let monitors: String = (0..2_000)
        .map(|n| format!("add lb monitor m{n} LDAP\nbind service s1 -monitorName m{n}\n"))
        .collect();
    let (_, report, json) = checked(&Place::new(), &format!("{HONOURED}{monitors}"));
    let of_type = |f: &&Value| f["option"] == "type";
    assert_eq!(json["findings"].as_array().expect("a list").iter().filter(of_type).count(), 2_000);
    assert!(report.lines().count() < 30, "{report}");
    assert!(report.contains("2000 lines 8, 10, 12, 14 and 1996 more"), "{report}");
}

fn the_json_has_every_field() {
    let (_, _, json) = checked(&Place::new(), &format!("{HONOURED}add lb monitor m SNMP\nnonsense\n"));
    let keys =
        |value: &Value| -> Vec<String> { value.as_object().expect("an object").keys().cloned().collect() };
    let mut names = ["lines", "honoured", "partial", "stored", "host", "inert", "refused", "findings"];
    names.sort_unstable();
    assert_eq!(keys(&json), names);
    let findings = json["findings"].as_array().expect("a list");
    assert!(!findings.is_empty());
    for finding in findings {
        let mut names = ["line", "column", "verdict", "effect", "command", "option", "reason"];
        names.sort_unstable();
        assert_eq!(keys(finding), names);
        let word = |name: &str| finding[name].as_str().unwrap_or_else(|| panic!("{name} of {finding}"));
        assert!(["partial", "stored", "host", "inert", "refused", "honoured"].contains(&word("verdict")));
        assert!(["none", "traffic", "exposure"].contains(&word("effect")));
        assert!(!word("command").is_empty() && !word("reason").is_empty());
        assert!(finding["option"].is_null() || finding["option"].is_string());
    }
}

fn any_bytes_get_a_report() {
    let place = Place::new();
    let mut state = 88_172_645_463_325_252_u64;
    let mut noise = Vec::new();
    for _ in 0..100_000 {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        noise.push(state as u8);
    }
    let executable = std::fs::read(EXECUTABLE).unwrap();
    for bytes in
        [&noise[..], &executable[..200_000], b"\0\0\0\0", b"\xff\xfea\0d\0", &[b'"'; 5_000], &[b'('; 70_000]]
    {
        let path = place.file("ns.conf", "");
        std::fs::write(&path, bytes).unwrap();
        for format in ["text", "json"] {
            let (code, report, errors) = check(&path, &["--format", format]);
            assert_eq!(code, 1, "{errors}");
            assert!(errors.is_empty() && !report.is_empty(), "{errors}");
        }
    }
}

fn a_huge_file_gets_one_too() {
    let mut text = String::from("enable ns feature LB\n");
    for n in 0..20_000 {
        text += &format!("add service s{n} 10.{}.{}.1 HTTP 80\n", n / 256, n % 256);
    }
    let (code, report, json) = checked(&Place::new(), &text);
    assert_eq!((code, totals(&json)[..2].to_vec()), (0, vec![20_001, 20_001]), "{report}");
}

fn a_closed_pipe_changes_no_verdict() {
    let place = Place::new();
    let monitors: String = (0..5_000).map(|n| format!("add lb monitor m{n} LDAP\n")).collect();
    let path = place.file("ns.conf", &format!("{HONOURED}{monitors}nonsense\n"));
    let mut child = Command::new(EXECUTABLE)
        .args(["check", &path, "--format", "json"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let Output { status, stderr, .. } = child.wait_with_output().unwrap();
    assert_eq!((status.code(), stderr.len()), (Some(1), 0), "{}", String::from_utf8_lossy(&stderr));
}

fn no_secret_is_shown() {
    let text = "add lb monitor m LDAP -password Pa55w0rd-1\n\
        add lb monitor n HTTP -password Pa55w0rd-2 -encrypted -encryptmethod ENCMTHD_3\n\
        set system user nsroot Pa55w0rd-3 -encrypted\n\
        set system user Pa55w0rd-4\n\
        add ssl certKey c -cert c.pem -passcrypt \"Pa55w0rd-5==\"\n\
        set ns rpcNode 10.0.0.1 -password Pa55w0rd-6 -encrypted\n\
        add snmp community Pa55w0rd-7 ALL\n\
        bind lb vserver nothing Pa55w0rd\n";
    let (_, report, json) = checked(&Place::new(), text);
    for shown in [report, json.to_string()] {
        for n in 1..=7 {
            let secret = format!("Pa55w0rd-{n}");
            assert!(!shown.contains(&secret), "{secret} in {shown}");
        }
    }
}

/// Names and words of a file may have any bytes; a terminal takes some of them for orders.
fn nothing_in_a_file_reaches_the_terminal_raw() {
    let text = "set ns hostName \"a\x1b[31mb\"\n\
        \x1b[2J nonsense\n\
        add ns acl \"x\x1b[31m\" DENY -srcIP 10.0.0.1\n\
        add vlan 3 -aliasName \"v\x07\"\n\
        add lb monitor m \x1b[31m\n\
        add \x1b[31m x\n";
    let (_, report, _) = checked(&Place::new(), text);
    assert!(report.chars().all(|c| c == '\n' || !c.is_control()), "{report:?}");
}
