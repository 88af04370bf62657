//! What each verb does to a configuration, and what it refuses: `spec/nitro.md` 5, `spec/cli.md` 7 and the texts of
//! `spec/nitro-errors.tsv`. Each case is a file, then commands with what comes of them, then what is left of the file.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod bound_again;
mod content_switching;
mod monitors;
mod more;
mod stored;
mod tls;
mod users;

use steelyard_core::command::{print, read, run_line};
use steelyard_core::config::Config;

/// A configuration in which nothing was refused.
fn config(lines: &str) -> Config {
    let reading = read(lines.as_bytes(), "ns.conf");
    assert_eq!(reading.refused, [], "{lines}");
    reading.config
}

/// The code of the refusal, and the configuration is as it was; 0 when the command was accepted.
fn code(config: &mut Config, line: &str) -> u16 {
    let before = config.clone();
    match run_line(config, line) {
        Ok(_) => 0,
        Err((refusal, _)) => {
            assert_eq!(*config, before, "{line}");
            refusal.code()
        }
    }
}

fn accept(config: &mut Config, lines: &[&str]) {
    lines.iter().for_each(|line| assert_eq!(code(config, line), 0, "{line}"));
}

/// The same as a file of those lines.
fn is(config: &Config, lines: &str) {
    assert_eq!(*config, self::config(lines), "{}", print(config).ns_conf);
}

const BOUND: &str = "\
enable ns feature LB
add server srv1 10.0.0.1
add service s1 srv1 HTTP 80
add service s2 10.0.0.2 HTTP 80
add serviceGroup g1 HTTP
add lb vserver v1 HTTP 10.1.1.1 80
add lb vserver v2 HTTP 10.1.1.2 80
bind lb vserver v1 s1
bind lb vserver v1 g1
bind lb vserver v2 s1 -weight 3
bind lb vserver v2 s2
add lb monitor m1 HTTP
bind service s1 -monitorName m1
bind serviceGroup g1 srv1 81
bind serviceGroup g1 10.0.0.3 80
bind serviceGroup g1 -monitorName m1
";

/// Case K08: a rule for each object, and no reference to what is gone.
#[test]
fn k08_what_is_in_use() {
    let mut c = config(BOUND);
    assert_eq!(code(&mut c, "rm lb monitor m1 HTTP"), 2131);
    assert_eq!(code(&mut c, "rm server srv1"), 315);
    accept(&mut c, &["rm service s1"]);
    let without_s1: String = BOUND
        .lines()
        .filter(|line| !line.contains("s1 ") && !line.ends_with("s1"))
        .map(|l| format!("{l}\n"))
        .collect();
    is(&c, &without_s1);
    assert_eq!(code(&mut c, "rm server srv1"), 315, "a member is on it");
    accept(&mut c, &["unbind serviceGroup g1 srv1 81", "rm server srv1"]);
    assert_eq!(code(&mut c, "rm lb monitor m1 HTTP"), 2131, "it is bound to the group");
    accept(&mut c, &["unbind serviceGroup g1 -monitorName m1", "rm lb monitor m1 HTTP", "rm lb vserver v1"]);
    is(
        &c,
        "enable ns feature LB\nadd service s2 10.0.0.2 HTTP 80\nadd serviceGroup g1 HTTP\n\
         add lb vserver v2 HTTP 10.1.1.2 80\nbind lb vserver v2 s2\nbind serviceGroup g1 10.0.0.3 80\n",
    );
    accept(&mut c, &["rm serviceGroup g1", "rm service s2", "rm lb vserver V2"]);
    is(&c, "enable ns feature LB\n");
}

#[test]
fn a_refusal_says_who_uses_it() {
    let mut c = config(BOUND);
    let said = |c: &mut Config, line: &str| run_line(c, line).unwrap_err().0.to_string();
    assert_eq!(
        said(&mut c, "rm server srv1"),
        "Resource in use [name, srv1]: service \"s1\" uses it; change that first (315)"
    );
    assert_eq!(
        said(&mut c, "rm lb monitor m1 HTTP"),
        "Monitor must be unbound before it can be deleted [m1]: service \"s1\" uses it; change that first (2131)"
    );
}

#[test]
fn rm_takes_all_names_or_none() {
    let mut c = config(
        "add server a 10.0.0.1\nadd server b 10.0.0.2\nadd server c 10.0.0.3\nadd service s c HTTP 80\n",
    );
    assert_eq!(code(&mut c, "rm server a b nobody"), 258);
    assert_eq!(code(&mut c, "rm server a b c"), 315);
    accept(&mut c, &["rm server A b"]);
    is(&c, "add server c 10.0.0.3\nadd service s c HTTP 80\n");
    assert_eq!(code(&mut c, "rm server"), 1095);
    let mut c =
        config("enable ns feature LB\nadd lb vserver a HTTP\nadd lb vserver b HTTP\nadd lb vserver c HTTP\n");
    accept(&mut c, &["rm lb vserver a c"]);
    is(&c, "enable ns feature LB\nadd lb vserver b HTTP\n");
}

/// `spec/methods.md` ruling 6.
#[test]
fn the_default_monitor_stays_as_it_is() {
    let mut c = config("add service s 10.0.0.1 HTTP 80\n");
    assert_eq!(code(&mut c, "rm lb monitor tcp-default TCP"), 2139);
    assert_eq!(code(&mut c, "unset lb monitor tcp-default TCP -interval"), 2139);
    assert_eq!(code(&mut c, "unbind service s -monitorName tcp-default"), 2164);
    assert_eq!(code(&mut c, "disable lb monitor s tcp-default"), 2139);
    assert_eq!(code(&mut c, "rm lb monitor http TCP"), 2155);
    assert_eq!(code(&mut c, "rm lb monitor nobody TCP"), 258);
}

/// `spec/methods.md` ruling 6: the other built-in monitors can be removed, and stay so when the file is saved.
#[test]
fn built_in_monitors_can_be_removed() {
    let mut c = config("add lb monitor m TCP\n");
    accept(&mut c, &["rm lb monitor tcp TCP", "set lb monitor http HTTP -retries 5"]);
    assert!(!c.lb_monitors.has("tcp"));
    is(&c, &print(&c).ns_conf);
    accept(&mut c, &["add lb monitor TCP HTTP", "rm lb monitor http HTTP", "add lb monitor http HTTP"]);
    is(&c, &print(&c).ns_conf);
}

/// Case K15. A service given by an address makes a server of that name (`spec/methods.md` 5.2); nobody else would ever
/// take it away.
#[test]
fn k15_a_server_made_by_an_address_goes_with_its_last_user() {
    let mut c = config(
        "add server named 10.0.0.9\nadd service s1 10.0.0.1 HTTP 80\nadd service s2 10.0.0.1 HTTP 81\n\
         add serviceGroup g HTTP\nbind serviceGroup g 10.0.0.1 82\nadd service s3 10.0.0.9 HTTP 80\n\
         add service s4 10.0.0.4 HTTP 80\nset server 10.0.0.4 -comment \"the old one\"\n",
    );
    let has = |c: &Config, name: &str| c.servers.has(name);
    accept(&mut c, &["rm service s1"]);
    assert!(has(&c, "10.0.0.1"));
    accept(&mut c, &["rm service s2"]);
    assert!(has(&c, "10.0.0.1"), "the group uses it");
    accept(&mut c, &["unbind serviceGroup g 10.0.0.1 82"]);
    assert!(!has(&c, "10.0.0.1"));
    accept(&mut c, &["rm service s3", "rm service s4"]);
    assert!(has(&c, "named"), "it was added by name");
    assert!(has(&c, "10.0.0.4"), "somebody wrote something about it");
}

#[test]
fn unbind() {
    let mut c = config(BOUND);
    assert_eq!(code(&mut c, "unbind lb vserver v1 s2"), 1303);
    assert_eq!(code(&mut c, "unbind lb vserver nobody s1"), 258);
    assert_eq!(code(&mut c, "unbind service s2 -monitorName m1"), 2170);
    assert_eq!(code(&mut c, "unbind service s2"), 1095);
    assert_eq!(code(&mut c, "unbind serviceGroup g1 srv1 99"), 258);
    assert_eq!(code(&mut c, "unbind serviceGroup g1"), 1095);
    assert_eq!(code(&mut c, "unbind serviceGroup g1 srv1 81 -monitorName m1"), 1092);
    accept(
        &mut c,
        &["unbind lb vserver v2 S1", "unbind lb vserver v1 g1", "unbind service s1 -monitorName M1"],
    );
    accept(&mut c, &["unbind monitor m1 g1", "bind lb vserver v2 s1"]);
    is(
        &c,
        "enable ns feature LB\nadd server srv1 10.0.0.1\nadd service s1 srv1 HTTP 80\nadd service s2 10.0.0.2 HTTP 80\n\
         add serviceGroup g1 HTTP\nadd lb vserver v1 HTTP 10.1.1.1 80\nadd lb vserver v2 HTTP 10.1.1.2 80\n\
         bind lb vserver v1 s1\nbind lb vserver v2 s2\nbind lb vserver v2 s1\nadd lb monitor m1 HTTP\n\
         bind serviceGroup g1 srv1 81\nbind serviceGroup g1 10.0.0.3 80\n",
    );
}

#[test]
fn a_new_name_is_used_everywhere_and_keeps_its_place() {
    let mut c = config(BOUND);
    assert_eq!(code(&mut c, "rename service s1 g1"), 273, "services and groups share their names");
    assert_eq!(code(&mut c, "rename server srv1 10.0.0.2"), 273);
    assert_eq!(code(&mut c, "rename lb vserver v1 V2"), 273);
    assert_eq!(code(&mut c, "rename service nobody x"), 258);
    assert_eq!(code(&mut c, "rename service s1"), 1095);
    assert_eq!(code(&mut c, "rename service s1 $x"), 1075);
    assert_eq!(code(&mut c, "rename lb monitor m1 x"), 1088);
    accept(
        &mut c,
        &[
            "rename server srv1 host",
            "rename service s1 first",
            "rename serviceGroup g1 group",
            "rename lb vserver v1 front",
            "rename service s2 S2",
        ],
    );
    let renamed = BOUND.replace("srv1", "host").replace("s1", "first").replace("g1", "group");
    is(&c, &renamed.replace("v1", "front").replace("s2", "S2"));
    accept(&mut c, &["set lb vserver front -weight 9 first"]);
    assert_eq!(code(&mut c, "set lb vserver v1 -comment x"), 258);
}

/// Every option that `set` changes goes back to the documented default (`spec/methods.md` 4.1, 5.2, 5.3).
#[test]
fn unset_restores_the_default() {
    let plain = "enable ns feature LB\nadd service s 10.0.0.1 HTTP 80\nadd serviceGroup g HTTP\nadd lb vserver v HTTP 10.1.1.1 80\n\
                 add lb monitor m HTTP\nbind serviceGroup g 10.0.0.1 80\n";
    let mut c = config(plain);
    accept(
        &mut c,
        &[
            "set service s -healthMonitor NO -comment x",
            "set serviceGroup g -healthMonitor NO",
            "set serviceGroup g 10.0.0.1 80 -weight 7",
            "set lb vserver v -lbMethod LRTM -cltTimeout 7 -newServiceRequest 20 PERCENT -newServiceRequestIncrementInterval 5",
            "set lb monitor m HTTP -interval 2 MIN -resptimeout 3 -LRTM ENABLED -respCode 201-299 -httpRequest \"GET /\"",
            "set lb monitor m HTTP -destIP 10.9.9.9 -destPort 81 -reverse YES",
            "set lb parameter -startupRRFactor 9",
            "set server 10.0.0.1 -comment x",
        ],
    );
    accept(
        &mut c,
        &[
            "unset service s -healthMonitor -comment",
            "unset serviceGroup g -healthMonitor",
            "unset serviceGroup g 10.0.0.1 80 -weight",
            "unset lb vserver v -lbMethod -cltTimeout -newServiceRequest -newServiceRequestUnit -newServiceRequestIncrementInterval",
            "unset lb monitor m HTTP -interval -resptimeout -LRTM -respCode -httpRequest -destIP -destPort -reverse",
            "unset lb parameter -startupRRFactor",
            "unset server 10.0.0.1 -comment",
        ],
    );
    is(&c, plain);
}

#[test]
fn unset_is_refused_where_it_means_nothing() {
    let mut c = config(
        "add server h 10.0.0.1\nadd service s h HTTP 80\nadd serviceGroup g HTTP\nadd lb monitor m TCP -interval 90 -resptimeout 80\n",
    );
    assert_eq!(code(&mut c, "unset server h -IPAddress"), 1090);
    assert_eq!(code(&mut c, "unset service s -state"), 1090);
    assert_eq!(code(&mut c, "unset service s"), 1094);
    assert_eq!(code(&mut c, "unset service s -comment x"), 1112);
    assert_eq!(code(&mut c, "unset serviceGroup g -weight"), 1093);
    assert_eq!(code(&mut c, "unset lb monitor m HTTP -interval"), 2155);
    assert_eq!(code(&mut c, "unset lb monitor m TCP -interval"), 2128, "80 seconds to answer within 5");
    assert_eq!(code(&mut c, "unset ns feature LB"), 1088);
    assert_eq!(code(&mut c, "set lb monitor m TCP -transparent YES -destPort 80"), 2129);
    accept(&mut c, &["set lb monitor m TCP -transparent YES -destIP 192.0.2.1"]);
    assert_eq!(code(&mut c, "unset lb monitor m TCP -destIP"), 2129, "it is the address of the way");
}

/// However `disable` is asked, the object ends out of service (`spec/methods.md` 3.4).
#[test]
fn disable_at_once_or_later() {
    for how in ["", " 10", " -delay 10", " -graceFul YES", " 10 -graceFul NO"] {
        let mut c = config(
            "add server h 10.0.0.1\nadd service s h HTTP 80\nadd serviceGroup g HTTP\nbind serviceGroup g h 81\n",
        );
        for object in ["server h", "service s", "serviceGroup g h 81"] {
            accept(&mut c, &[&format!("disable {object}{how}")]);
        }
        assert!(!c.servers.find("h").unwrap().enabled && !c.services.find("s").unwrap().enabled);
        let group = c.service_groups.find("g").unwrap();
        assert!(group.enabled && !group.members[0].enabled);
    }
    let mut c = config("add server h 10.0.0.1\n");
    assert_eq!(code(&mut c, "disable server h soon"), 1097);
    assert_eq!(code(&mut c, "enable server h 10"), 1090);
}

#[test]
fn bindings_of_monitors_are_switched() {
    let mut c = config(BOUND);
    accept(&mut c, &["bind service s1 -monitorName http", "disable lb monitor s1 m1"]);
    let state = |c: &Config| -> Vec<bool> {
        let service = c.services.find("s1").unwrap();
        service.monitors.iter().map(|binding| binding.enabled).collect()
    };
    assert_eq!(state(&c), [false, true]);
    accept(&mut c, &["disable monitor s1"]);
    assert_eq!(state(&c), [false, false]);
    accept(&mut c, &["enable monitor S1 HTTP", "disable lb monitor g1"]);
    assert_eq!(state(&c), [false, true]);
    assert!(!c.service_groups.find("g1").unwrap().monitors[0].enabled);
    assert_eq!(code(&mut c, "enable lb monitor s2 m1"), 2170);
    assert_eq!(code(&mut c, "enable lb monitor nobody"), 258);
}

/// Policies are kept as they are bound, in their order, and change nothing else.
#[test]
fn policies_are_bound() {
    let bound = "enable ns feature LB\nadd lb vserver v HTTP 10.1.1.1 80\nadd service s 10.0.0.1 HTTP 80\n\
        bind lb vserver v s\n\
        bind lb vserver v -policyName p -priority 100 -gotoPriorityExpression END -type REQUEST\n\
        bind lb vserver v -policyName p -priority 20 -gotoPriorityExpression NEXT -type RESPONSE -invoke policylabel l\n\
        bind lb vserver v -policyName old\nbind lb vserver v -analyticsProfile a\nbind service s -policyName q\n";
    let mut c = config(bound);
    let printed = print(&c).ns_conf;
    for line in bound.lines().filter(|line| line.starts_with("bind")) {
        assert!(printed.lines().any(|printed| printed == line), "{line} in\n{printed}");
    }
    assert_eq!(c.lb_vservers.find("v").unwrap().policies[0].priority, Some(100));
    assert_eq!(code(&mut c, "bind lb vserver v -policyName P -type REQUEST"), 273);
    assert_eq!(code(&mut c, "bind lb vserver v s -policyName p"), 1092);
    assert_eq!(code(&mut c, "bind lb vserver v"), 1095);
    assert_eq!(code(&mut c, "bind lb vserver v s -priority 3"), 1093);
    assert_eq!(code(&mut c, "bind lb vserver v -policyName r -weight 3"), 1093);
    assert_eq!(code(&mut c, "bind lb vserver v -policyName r -invoke policylabel"), 1095);
    assert_eq!(code(&mut c, "bind lb vserver v -policyName r -type BOTH"), 1097);
    assert_eq!(code(&mut c, "unbind lb vserver v -policyName r"), 258);
    assert_eq!(code(&mut c, "unbind lb vserver v -policyName old -type REQUEST"), 258);
    assert_eq!(code(&mut c, "unbind service s -policyName p"), 258);
    accept(
        &mut c,
        &[
            "unbind lb vserver v -policyName P -type RESPONSE",
            "unbind lb vserver v -policyName p -priority 100",
            "unbind lb vserver v -policyName old",
            "unbind lb vserver v -analyticsProfile a",
            "unbind service s -policyName q",
        ],
    );
    is(
        &c,
        "enable ns feature LB\nadd lb vserver v HTTP 10.1.1.1 80\nadd service s 10.0.0.1 HTTP 80\nbind lb vserver v s\n",
    );
}

/// `spec/methods.md` 5.2: the same protocol, or the same with TLS on one side.
#[test]
fn protocols_go_together() {
    let mut lines = String::from("enable ns feature LB\n");
    let types = ["HTTP", "SSL", "TCP", "SSL_TCP", "SSL_BRIDGE", "UDP", "ANY", "DNS"];
    for (i, kind) in types.iter().enumerate() {
        lines += &format!("add lb vserver v{kind} {kind}\nadd service s{kind} 10.0.0.{i} {kind} 80\n");
        lines += &format!("add serviceGroup g{kind} {kind}\n");
    }
    let mut c = config(&lines);
    let pairs = [("HTTP", "SSL"), ("SSL", "HTTP"), ("TCP", "SSL_TCP"), ("SSL_TCP", "TCP")];
    for vserver in types {
        for service in types {
            let expected = if vserver == service || pairs.contains(&(vserver, service)) { 0 } else { 1304 };
            assert_eq!(
                code(&mut c, &format!("bind lb vserver v{vserver} s{service}")),
                expected,
                "{vserver} {service}"
            );
            assert_eq!(
                code(&mut c, &format!("bind lb vserver v{vserver} g{service}")),
                expected,
                "{vserver} {service}"
            );
        }
    }
}

/// `spec/methods.md` 1.4, 1.5 and 1.8.
#[test]
fn methods_and_protocols() {
    let mut c = config("enable ns feature LB\n");
    let mut number = 0;
    let mut add = |protocol: &str, method: &str| {
        number += 1;
        code(&mut c, &format!("add lb vserver v{number} {protocol} 0.0.0.0 0 -lbMethod {method}"))
    };
    for protocol in ["HTTP", "SSL"] {
        assert_eq!((add(protocol, "LEASTREQUEST"), add(protocol, "LEASTRESPONSETIME")), (0, 0));
    }
    for protocol in ["TCP", "SSL_TCP", "SSL_BRIDGE", "UDP", "ANY"] {
        assert_eq!(
            (add(protocol, "LEASTREQUEST"), add(protocol, "LEASTRESPONSETIME")),
            (2375, 1097),
            "{protocol}"
        );
        assert_eq!((add(protocol, "LRTM"), add(protocol, "SOURCEIPHASH")), (0, 0));
    }
    assert_eq!(add("HTTP", "AUDITLOGHASH"), 1462);
    assert_eq!(add("SYSLOGUDP", "AUDITLOGHASH"), 0);
    assert_eq!((add("SYSLOGTCP", "LEASTPACKETS"), add("SYSLOGTCP", "SOURCEIPHASH")), (0, 1464));
}
