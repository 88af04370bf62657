//! Which options a monitor of which type has.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use steelyard_core::command::run_line;
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
