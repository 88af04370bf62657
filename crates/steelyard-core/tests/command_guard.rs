//! What keeps clients out and is not acted on: found wherever it stands, and nothing else is taken for it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use steelyard_core::command::{guards, read};
use steelyard_core::config::Config;
use steelyard_core::config::attribute::{Effect, Resource};
use steelyard_core::config::kept::{Class, Kept, Rank, Whole};
use steelyard_core::config::{LbMonitor, LbParameter, Member, MonitorBinding, Server};

/// Virtual servers `v1`, `v2`, `v3` at 10.0.0.1:80, 10.0.0.2:8080 and [2001:db8::3]:80; `s` is bound to `v1`, group `g` to
/// `v2`.
const VSERVERS: &str = "enable ns feature LB\n\
    add service s 10.1.0.1 HTTP 80\nadd serviceGroup g HTTP\n\
    add lb vserver v1 HTTP 10.0.0.1 80\nadd lb vserver v2 HTTP 10.0.0.2 8080\nadd lb vserver v3 HTTP 2001:db8::3 80\n\
    bind lb vserver v1 s\nbind lb vserver v2 g\n";

fn config(kept: &[(Class, &str)]) -> Config {
    let reading = read(VSERVERS.as_bytes(), "ns.conf");
    assert!(reading.refused.is_empty());
    let mut config = reading.config;
    for (class, text) in kept {
        config.kept.push(Kept {
            text: (*text).to_owned(),
            whole: Whole::Shown,
            class: *class,
            rank: Rank::Last,
        });
    }
    config
}

/// The guards of `v1`, `v2` and `v3`, as an operator reads them.
fn guarded(kept: &[(Class, &str)]) -> [Vec<String>; 3] {
    let guards = guards(&config(kept));
    ["v1", "V2", "v3"].map(|name| guards.of(name).iter().map(ToString::to_string).collect())
}

fn stored(lines: &[&str]) -> [Vec<String>; 3] {
    guarded(&lines.iter().map(|line| (Class::Stored, *line)).collect::<Vec<_>>())
}

/// The line after `add` lines guards these of the three, with these words.
fn check(lines: &[&str], vservers: &[usize], words: &str) {
    let found = stored(lines);
    for (index, guards) in found.iter().enumerate() {
        let expected: &[&str] = if vservers.contains(&(index + 1)) { &[words] } else { &[] };
        assert_eq!(guards, expected, "v{} with {lines:?}", index + 1);
    }
}

#[test]
fn a_policy_guards_what_it_is_bound_to() {
    for kind in ["responder", "rewrite", "appfw", "authorization", "authentication", "filter", "bot"] {
        let add = format!("add {kind} policy P TRUE DROP");
        let words = format!("{kind} policy p");
        check(&[&add, "bind lb vserver v1 -policyName p -priority 10 -type REQUEST"], &[1], &words);
        check(&[&add, "bind lb vserver v[2-3] -priority 10 -policyName p"], &[2, 3], &words);
        check(&["bind vserver V2 -policyName p", &add], &[2], &words);
        check(&[&add], &[], "");
        let globally = format!("{kind} policy p, bound globally");
        check(&[&add, &format!("bind {kind} global p 10 END -type REQ_DEFAULT")], &[1, 2, 3], &globally);
        check(&[&add, &format!("bind {kind} global -policyName p -priority 10")], &[1, 2, 3], &globally);
        check(&[&add, "bind service s -policyName p"], &[1], &format!("{words} of s"));
        check(&[&add, "bind serviceGroup g -policyName p"], &[2], &format!("{words} of g"));
    }
    check(
        &["add authentication ldapPolicy p ns_true a", "bind lb vs v3 -pol p"],
        &[3],
        "authentication policy p",
    );
    check(&["bi lb vs v1 -po p"], &[1], "policy p, which no line adds");
    check(
        &["bind lb vserver v1 -policyName NOPOLICY-RESPONDER -invoke policylabel l"],
        &[1],
        "policy NOPOLICY-RESPONDER, which no line adds",
    );
    check(&["bind strange global p 1"], &[1, 2, 3], "strange policy p, bound globally");
}

#[test]
fn a_policy_of_traffic_guards_nothing() {
    for kind in ["cache", "cmp", "appflow", "spillover", "transform", "tm", "feo"] {
        let add = format!("add {kind} policy p TRUE x");
        check(&[&add, "bind lb vserver v1 -policyName p"], &[], "");
        check(&[&add, &format!("bind {kind} global p -priority 1")], &[], "");
    }
    check(&["bind lb vserver v1 -policyName ns_adv_cmp_content_type"], &[], "");
    check(&["bind vpn global -policyName SETVPNPARAMS_ADV_POL -priority 65534"], &[], "");
    check(
        &["bind tunnel global ns_tunnel_nocmp", "bind system global p", "bind cache global NOPOLICY"],
        &[],
        "",
    );
    // One name for two policies: what is bound may be the one that decides.
    let both =
        ["add cmp policy p TRUE x", "add responder policy p TRUE DROP", "bind lb vserver v1 -policyName p"];
    check(&both, &[1], "responder policy p");
}

#[test]
fn access_lists_guard_the_addresses_they_may_be_about() {
    let acl = |rest: &str| format!("add ns acl a DENY {rest}");
    let hits = |rest: &str, vservers: &[usize]| check(&[&acl(rest)], vservers, "ns acl a");
    hits("-srcIP = 10.9.0.0-10.9.255.255", &[1, 2]);
    hits("-srcIP 10.9.0.1 -destIP = 10.0.0.2", &[2]);
    hits("-destIP 10.0.0.2-10.0.0.9", &[2]);
    hits("-destIP != 10.0.0.2", &[1]);
    hits("-destIP 10.7.0.0-10.7.255.255", &[]);
    hits("-destPort 80", &[1]);
    hits("-destPort = 8000-8999", &[2]);
    hits("-destPort != 80 -protocol TCP", &[2]);
    hits("-destPort = 22", &[]);
    hits("-protocol UDP", &[]);
    hits("-protocol TCP -priority 10", &[1, 2]);
    hits("-state DISABLED", &[]);
    hits("-destIP 10.0.0.2 -state ENABLED", &[2]);
    hits("-destIP 10.0.0.300", &[1, 2]);
    check(&["add ns acl a ALLOW -srcIP 10.9.0.1", "add ns acl b BRIDGE"], &[], "");
    check(&["add ns acl6 a DENY -srcIPv6 = 2001:db8:9::1"], &[3], "ns acl6 a");
    check(&["add ns acl6 a DENY -destIPv6 2001:db8::9"], &[], "");
    check(&["add ns simpleacl x DENY -srcIP 10.9.0.1 -destPort 8080 -protocol TCP"], &[2], "ns simpleacl x");
    check(&["add simpleacl6 x DENY -srcIPv6 2001:db8:9::1"], &[3], "ns simpleacl6 x");
    let many: Vec<String> = (0..1_000)
        .map(|n| format!("add ns simpleacl x{n} DENY -srcIP 10.9.{}.{}", n / 250, n % 250))
        .collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    check(&many, &[1, 2], "ns simpleacl x0 and 999 like it");
}

#[test]
fn client_certificates_and_the_default_profile_guard() {
    check(&["set ssl vserver v1 -clientAuth ENABLED -clientCert Mandatory"], &[1], "client certificates");
    check(&["set ssl vserver v1 -clientAuth DISABLED"], &[], "");
    check(
        &["add ssl profile P -clientAuth ENABLED", "set ssl vserver v2 -sslProfile p"],
        &[2],
        "client certificates",
    );
    check(&["add ssl profile P -dh ENABLED", "set ssl vserver v2 -sslProfile p"], &[], "");
    check(
        &["set appfw settings -defaultProfile APPFW_BLOCK"],
        &[1, 2, 3],
        "appfw -defaultProfile APPFW_BLOCK",
    );
    check(&["set appfw settings -defaultProfile APPFW_BYPASS -undefAction APPFW_BLOCK"], &[], "");
}

/// Policies of content switching pass requests on, and turn nobody away.
#[test]
fn a_policy_of_content_switching_guards_nothing() {
    let lines = format!("{VSERVERS}add cs policy p -rule true\nbind lb vserver v1 -policyName P\n");
    let reading = read(lines.as_bytes(), "ns.conf");
    assert!(reading.refused.is_empty() && reading.config.cs_policies.has("p"));
    assert!(guards(&reading.config).of("v1").is_empty());
}

/// The same where TLS of the virtual server is more than a line.
#[test]
fn client_certificates_guard_by_tls_of_a_virtual_server() {
    let asks = |lines: &str| {
        let tls = "add lb vserver t SSL 10.0.0.4 443\nadd ssl profile p -clientAuth ENABLED\n";
        let reading = read(format!("{VSERVERS}{tls}{lines}\n").as_bytes(), "ns.conf");
        assert_eq!(reading.refused, []);
        assert_eq!(reading.config.kept.iter().count(), 1, "the profile alone is a line");
        let guards = guards(&reading.config);
        guards.of("t").iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(asks("set ssl vserver t -clientAuth ENABLED"), ["client certificates"]);
    assert_eq!(asks("set ssl vserver T -sslProfile P"), ["client certificates"]);
    assert_eq!(asks("set ssl vserver t -sslProfile q -tls1 DISABLED"), [""; 0]);
}

/// A line that was refused may have guarded: a binding of a policy, and an option that nobody knows.
#[test]
fn refused_lines_guard_too() {
    let refused = |code: u16, line: &str| guarded(&[(Class::Refused(code), line)]);
    let words = |line: &str| vec![line.to_owned()];
    assert_eq!(
        refused(1090, "set lb vserver v1 -cltTimeout 10 -newGate ON"),
        [words("-newGate, which was refused"), vec![], vec![]]
    );
    assert_eq!(refused(1097, "set lb vserver v1 -lbMethod NONSENSE").concat(), Vec::<String>::new());
    assert_eq!(
        refused(1090, "bind lb vserver v1 -policyName p -newOption 1"),
        [words("policy p, which no line adds"), vec![], vec![]]
    );
    assert_eq!(
        refused(1090, "add ns acl a DENY -newOption 1"),
        [words("ns acl a"), words("ns acl a"), vec![]]
    );
}

#[test]
fn guards_beyond_a_few_are_counted() {
    let lines: Vec<String> = (0..100).map(|n| format!("bind lb vserver v1 -policyName p{n}")).collect();
    let found = stored(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!((found[0].len(), found[0].last().map(String::as_str)), (9, Some("92 more")));
}

#[test]
fn no_words_break_it() {
    let starts = [
        "bind lb vserver",
        "bind",
        "add ns acl",
        "add",
        "set ssl vserver",
        "set lb vserver",
        "bind x global",
    ];
    let rests = [
        "",
        " v1",
        " -policyName",
        " v1 -policyName",
        " é",
        " v[",
        " v[9-",
        " v[1-é]",
        " - - -",
        " \"",
        " DENY -destIP",
        " DENY -destIP =",
    ];
    for start in starts {
        for rest in rests {
            let line = format!("{start}{rest}");
            guarded(&[(Class::Stored, &line), (Class::Refused(1090), &line)]);
        }
    }
}

/// An option that decides who gets in is one of a virtual server, service or group, where `guards` looks for it.
#[test]
fn no_other_resource_decides_who_gets_in() {
    fn exposure<R: Resource + 'static>() -> Vec<&'static str> {
        R::ATTRIBUTES.iter().filter(|a| a.row.effect == Effect::Exposure).map(|a| a.row.cli).collect()
    }
    let others = [
        exposure::<Server>(),
        exposure::<Member>(),
        exposure::<MonitorBinding>(),
        exposure::<LbMonitor>(),
        exposure::<LbParameter>(),
    ];
    assert_eq!(others.concat(), Vec::<&str>::new());
}
