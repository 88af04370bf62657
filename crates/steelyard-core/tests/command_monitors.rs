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
