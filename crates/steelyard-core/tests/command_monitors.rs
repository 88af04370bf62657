//! Which options a monitor of which type has, and what is said where LRTM lacks one that measures.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use steelyard_core::command::{Warning, lex, parse, run_line, unmeasured};
use steelyard_core::config::Config;

fn code(config: &mut Config, line: &str) -> u16 {
    run_line(config, line).map_or_else(|(refusal, _)| refusal.code(), |_| 0)
}

/// `spec/methods.md` 4.2.
#[test]
fn options_of_monitors_by_type() {
    let mut c = Config::default();
    for (line, expected) in [
        ("add lb monitor a TCP -httpRequest \"GET /\"", 1093),
        ("add lb monitor b PING -respCode 200", 1093),
        ("add lb monitor c HTTP-ECV -send \"GET /\" -recv ok -customHeaders \"Host: x\"", 0),
        ("add lb monitor d DNS -query x.test -queryType Address", 0),
        ("add lb monitor e TCP -query x.test", 1093),
        ("add lb monitor f LDAP -baseDN dc=x -bindDN cn=x -filter x", 0),
        ("add lb monitor g HTTP -baseDN dc=x", 1093),
        ("add lb monitor h RADIUS -radNASid n -respCode 2-3", 0),
        ("add lb monitor i TCP -send x -recv y", 0),
        ("set lb monitor h RADIUS -sipURI x", 1093),
    ] {
        assert_eq!(code(&mut c, line), expected, "{line}");
    }
}

/// `spec/methods.md` 4.2: 512 bytes are sent, 128 with the byte that ends them are expected, escapes undone.
#[test]
fn ecv_strings_have_bounds_and_expressions_can_be_read() {
    let mut c = Config::default();
    let send =
        |bytes: usize| format!("add lb monitor s{bytes} TCP-ECV -send \"{}\" -recv x", r"\n".repeat(bytes));
    let recv =
        |bytes: usize| format!("add lb monitor r{bytes} TCP-ECV -send x -recv \"{}\"", r"\x00".repeat(bytes));
    for (line, expected) in [(send(512), 0), (send(513), 1106), (recv(127), 0), (recv(128), 1106)] {
        assert_eq!(code(&mut c, &line), expected, "{line}");
    }
    let long = "b".repeat(600);
    for (line, expected) in [
        (format!("add lb monitor u UDP-ECV -send {long} -recv {long}"), 0),
        (format!("add lb monitor e TCP-ECV -send x -recv \"re/{long}/\""), 0),
        ("set lb monitor e TCP-ECV -recv \"re/a(/\"".to_owned(), 1137),
        ("set lb monitor u UDP-ECV -recv \"re/[/\"".to_owned(), 1137),
        ("add lb monitor t TCP -recv \"re/a(/\"".to_owned(), 0),
        ("set lb monitor u UDP-ECV -recv \"\\x72e/a(/\"".to_owned(), 0),
        ("add lb monitor d DNS -query a..b".to_owned(), 1097),
        (r"add lb monitor d DNS -query \007".to_owned(), 0),
        (format!("add lb monitor n DNS-TCP -query {}.test", "l".repeat(64)), 1097),
    ] {
        assert_eq!(code(&mut c, &line), expected, "{line}");
    }
    let refused = run_line(&mut c, "set lb monitor e TCP-ECV -recv \"re/ok|*/\"").unwrap_err().0;
    assert_eq!(refused.argument(), Some("recv"));
    assert!(refused.advice().contains("character 7: "), "{}", refused.advice());
}

/// Carries lines out; what is said at the last one about LRTM.
fn told(config: &mut Config, lines: &str) -> Option<String> {
    let mut warnings = Vec::new();
    for line in lines.lines() {
        run_line(config, line).unwrap_or_else(|(refusal, _)| panic!("{line}: {refusal}"));
        warnings = unmeasured(config, parse(&lex::words(line).unwrap()).unwrap().commands());
    }
    assert!(warnings.iter().all(|warning| warning.code() == 1093));
    warnings.first().map(Warning::to_string)
}

fn lacks(services: &str) -> Option<String> {
    Some(format!(
        "Argument pre-requisite missing [lbMethod LRTM of v: no monitor with -LRTM ENABLED measures {services}]"
    ))
}

const SITE: &str = "add service s 10.0.0.1 HTTP 80\nadd service t 10.0.0.2 HTTP 80\nadd serviceGroup g HTTP\n\
    add lb vserver v HTTP 10.1.0.1 80 -lbMethod LRTM\nadd lb vserver w HTTP 10.1.0.1 81\n\
    add lb monitor on HTTP -LRTM ENABLED\nadd lb monitor off HTTP -LRTM DISABLED\n\
    add lb monitor unset TCP\nadd lb monitor back TCP -LRTM ENABLED -reverse YES\n\
    add lb monitor deaf TCP-ECV -LRTM ENABLED -send x\nadd lb monitor mute TCP-ECV -LRTM ENABLED -recv x\n\
    add lb monitor udp UDP-ECV -LRTM ENABLED -send x\nadd lb monitor udp2 UDP-ECV -LRTM ENABLED -recv x\n\
    add lb monitor ecv TCP-ECV -LRTM ENABLED -send x -recv y";

/// Case M38 and `spec/methods.md` 3.2: at the command that brings it about, in whatever order they come.
#[test]
fn m38_a_warning_is_given_where_lrtm_has_no_monitor_that_measures() {
    for (lines, expected) in [
        ("bind lb vserver v s", lacks("s")),
        ("bind service s -monitorName on\nbind lb vserver v s", None),
        ("bind lb vserver v s\nbind service s -monitorName off", lacks("s")),
        ("bind lb vserver v s\nbind service s -monitorName unset", lacks("s")),
        ("bind lb vserver v s\nbind service s -monitorName back", lacks("s")),
        ("bind lb vserver v s\nbind service s -monitorName deaf", lacks("s")),
        ("bind lb vserver v s\nbind service s -monitorName mute", lacks("s")),
        ("bind lb vserver v s\nbind service s -monitorName udp", lacks("s")),
        ("bind lb vserver v s\nbind service s -monitorName udp2", None),
        ("bind lb vserver v s\nbind service s -monitorName deaf\nbind service s -monitorName ecv", None),
        (
            "bind lb vserver v s\nbind service s -monitorName ecv\nset lb monitor ecv TCP-ECV -recv \"\"",
            lacks("s"),
        ),
        ("bind lb vserver v s\nbind service s -monitorName off\nbind service s -monitorName on", None),
        ("bind lb vserver v s\nbind service s -monitorName on -monState DISABLED", lacks("s")),
        ("bind lb vserver v s\nbind service s -monitorName on\ndisable lb monitor s on", lacks("s")),
        ("bind lb vserver v s\nbind service s -monitorName on\nunbind service s -monitorName on", lacks("s")),
        ("bind lb vserver v s\nbind service s -monitorName on\nset service s -healthMonitor NO", lacks("s")),
        (
            "bind lb vserver v s\nbind service s -monitorName on\nset lb monitor on HTTP -LRTM DISABLED",
            lacks("s"),
        ),
        ("bind lb vserver v s\nbind service s -monitorName off\nset lb monitor off HTTP -LRTM ENABLED", None),
        ("bind lb vserver v s\nbind service s -monitorName on\nset lb monitor off HTTP -LRTM DISABLED", None),
        ("bind lb vserver v g", lacks("g")),
        ("bind lb vserver v g\nbind serviceGroup g -monitorName on", None),
        ("bind lb vserver v g\nbind serviceGroup g -monitorName off", lacks("g")),
        ("bind lb vserver w s\nbind lb vserver w t", None),
        ("bind lb vserver w s\nset lb vserver w -lbMethod LEASTREQUEST", None),
        ("bind lb vserver v s\nset service s -comment x", None),
        ("bind lb vserver v s\nset lb vserver v -lbMethod LEASTCONNECTION", None),
    ] {
        assert_eq!(told(&mut Config::default(), &format!("{SITE}\n{lines}")), expected, "{lines}");
    }
    let mut config = Config::default();
    let bound = "bind lb vserver w t\nbind lb vserver w g\nbind lb vserver w s\nadd serviceGroup h HTTP\n\
                 bind lb vserver w h\nadd serviceGroup i HTTP\nbind lb vserver w i\nset lb vserver w -lbMethod LRTM";
    let expected = lacks("t, g, s and 2 more").map(|text| text.replace("of v", "of w"));
    assert_eq!(told(&mut config, &format!("{SITE}\n{bound}")), expected);
}

/// Case M10: a probe ends before the next one begins, and the refusal names both times.
#[test]
fn m10_a_response_timeout_is_shorter_than_the_interval() {
    let mut c = Config::default();
    for line in [
        "add lb monitor m HTTP -interval 5 -resptimeout 8",
        "add lb monitor m HTTP -interval 2 -resptimeout 2",
    ] {
        let (refusal, _) = run_line(&mut c, line).unwrap_err();
        let said = refusal.to_string();
        let times: Vec<&str> = line.split(' ').filter(|word| word.parse::<u32>().is_ok()).collect();
        assert!(times.iter().all(|time| said.contains(time)), "{line}: {said}");
        assert!(!c.lb_monitors.has("m"), "{line}");
    }
    for line in [
        "add lb monitor m2 HTTP -interval 5 -resptimeout 2 -retries 3 -downTime 30",
        "add lb monitor m3 HTTP -interval 1 min -resptimeout 900 msec",
        "add lb monitor m4 HTTP",
    ] {
        assert_eq!(code(&mut c, line), 0, "{line}");
    }
    let [m2, m4] = ["m2", "m4"].map(|name| c.lb_monitors.find(name).unwrap());
    assert_eq!((m2.interval, m2.resptimeout, m2.retries), (m4.interval, m4.resptimeout, m4.retries));
    assert_eq!(m2.down_time, m4.down_time);
}
