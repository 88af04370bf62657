//! Content switching: virtual servers, policies, actions, and what binds them. None of it acts; all of it is kept whole.

use super::*;

const SWITCHED: &str = "\
enable ns feature LB CS
add lb vserver v1 HTTP 10.1.1.1 80
add lb vserver v2 HTTP 0.0.0.0 0
add cs action a1 -targetLBVserver v1
add cs policy p1 -rule \"HTTP.REQ.URL.STARTSWITH(\\\"/a\\\")\" -action a1
add cs policy p2 -url /b
add cs vserver c1 HTTP 10.1.1.9 80
bind cs vserver c1 -policyName p1 -priority 10
bind cs vserver c1 -policyName p2 -targetLBVserver v2 -priority 20
bind cs vserver c1 -lbvserver v2
";

fn warnings(lines: &str, line: &str) -> Vec<String> {
    let done = run_line(&mut config(lines), line).unwrap().unwrap();
    done.warnings.iter().map(ToString::to_string).collect()
}

#[test]
fn a_file_of_it_prints_as_it_stands() {
    let c = config(SWITCHED);
    assert_eq!(c.kept, Default::default(), "nothing of it is a line alone");
    let printed = print(&c).ns_conf;
    for line in SWITCHED.lines().filter(|line| line.contains(" cs ") && !line.starts_with("add cs vserver")) {
        assert!(printed.lines().any(|other| other == line), "{line}\n{printed}");
    }
    assert!(printed.contains("\nadd cs vserver c1 HTTP 10.1.1.9 80 -cltTimeout 180\n"), "{printed}");
    is(&c, &printed);
}

/// `spec/nitro-errors.tsv`: 1067 beside what is done.
#[test]
fn what_needs_the_feature_says_so() {
    let disabled = ["Feature(s) not enabled [CS]"];
    for line in ["add cs vserver c HTTP 10.1.1.9 80", "add cs policy p -url /", "add cs action a"] {
        assert_eq!(warnings("", line), disabled, "{line}");
        assert_eq!(warnings("enable ns feature CS", line), [""; 0], "{line}");
    }
}

/// What no `add` could say cannot be come to later.
#[test]
fn an_address_has_a_port_whenever_it_is_given() {
    let mut c = config("enable ns feature CS\nadd cs vserver c HTTP\n");
    assert_eq!(code(&mut c, "add cs vserver d HTTP 10.1.1.8"), 1095);
    assert_eq!(code(&mut c, "set cs vserver c -IPAddress 10.1.1.8"), 1093);
}

/// Virtual servers of both kinds share names and addresses.
#[test]
fn names_and_addresses_are_shared_with_lb_vservers() {
    let mut c = config(SWITCHED);
    assert_eq!(code(&mut c, "add cs vserver V1 HTTP 10.1.1.7 80"), 273);
    assert_eq!(code(&mut c, "add lb vserver C1 HTTP 10.1.1.7 80"), 273);
    assert_eq!(code(&mut c, "add cs vserver c2 HTTP 10.1.1.1 80"), 273);
    assert_eq!(code(&mut c, "add lb vserver v3 HTTP 10.1.1.9 80"), 273);
    assert_eq!(code(&mut c, "set cs vserver c1 -IPAddress 10.1.1.1"), 273);
    assert_eq!(code(&mut c, "rename lb vserver v1 C1"), 273);
    assert_eq!(code(&mut c, "rename cs vserver c1 v1"), 273);
    accept(
        &mut c,
        &[
            "add cs vserver c2 UDP 10.1.1.1 80",
            "add cs vserver c3 HTTP 10.1.1.1 80 -td 1",
            "add cs vserver c4 HTTP -targetType GSLB",
            "add cs vserver c5 HTTP 0.0.0.0 0",
            "set cs vserver c1 -IPAddress 10.1.1.8",
            "add lb vserver v3 HTTP 10.1.1.9 80",
        ],
    );
    assert_eq!(code(&mut c, "add cs vserver c6 HTTP 10.1.1.6"), 1095);
    assert_eq!(code(&mut c, "add cs vserver c6 HTTP 10.1.1.6 0"), 1093);
    is(&c, &print(&c).ns_conf);
}

/// 430, 2144: as of lb virtual servers, of which a backup may be one.
#[test]
fn backups_are_of_either_kind() {
    let mut c = config(SWITCHED);
    assert_eq!(code(&mut c, "set cs vserver c1 -backupVServer v9"), 430);
    assert_eq!(code(&mut c, "set cs vserver c1 -backupVServer C1"), 2144);
    accept(
        &mut c,
        &[
            "add cs vserver c2 HTTP 10.1.1.8 80 -backupVServer v1",
            "set cs vserver c1 -backupVServer c2",
            "add lb vserver v3 HTTP 10.1.1.7 80 -backupVServer c1",
        ],
    );
    assert_eq!(code(&mut c, "set cs vserver c2 -backupVServer v3"), 2144);
    assert_eq!(code(&mut c, "rm cs vserver c2"), 315);
    is(&c, &print(&c).ns_conf);
    accept(&mut c, &["rename cs vserver c2 c9"]);
    assert_eq!(c.cs_vservers.find("c1").unwrap().backup_vserver, "c9");
    accept(&mut c, &["unset cs vserver c1 -backupVServer", "rm cs vserver c9"]);
}

/// 1371, 1372, 1409, 315: what content switching uses stays.
#[test]
fn what_it_uses_is_not_removed() {
    let mut c = config(SWITCHED);
    assert_eq!(code(&mut c, "rm lb vserver v1"), 1371);
    assert_eq!(code(&mut c, "rm lb vserver v2"), 1409);
    assert_eq!(code(&mut c, "rm cs action a1"), 1372);
    assert_eq!(code(&mut c, "rm cs policy P1"), 315);
    accept(&mut c, &["unbind cs vserver c1 -lbvserver V2"]);
    assert_eq!(code(&mut c, "rm lb vserver v2"), 1409);
    accept(
        &mut c,
        &[
            "unbind cs vserver c1 -policyName p2",
            "rm lb vserver v2",
            "rm cs vserver c1",
            "rm cs policy p1",
            "rm cs policy p2",
            "rm cs action a1",
            "rm lb vserver v1",
        ],
    );
    is(&c, "enable ns feature LB CS\n");
    assert_eq!(code(&mut c, "rm cs vserver c1"), 258);
    assert_eq!(code(&mut c, "rm cs policy p1"), 258);
    assert_eq!(code(&mut c, "rm cs action a1"), 258);
}

#[test]
fn a_new_name_is_everywhere() {
    let mut c = config(SWITCHED);
    accept(
        &mut c,
        &[
            "rename lb vserver v1 w1",
            "rename lb vserver v2 w2",
            "rename cs action a1 b1",
            "rename cs policy p1 q1",
            "rename cs policy p2 q2",
            "rename cs vserver c1 d1",
        ],
    );
    let mut renamed = SWITCHED.to_owned();
    for (old, new) in [("v1", "w1"), ("v2", "w2"), ("a1", "b1"), ("p1", "q1"), ("p2", "q2"), ("c1", "d1")] {
        renamed = renamed.replace(old, new);
    }
    is(&c, &renamed);
}

/// A policy of another kind may be bound under the new name; the same name twice could not be read back.
#[test]
fn no_policy_takes_the_name_of_one_that_is_bound_beside_it() {
    let mut c = config(SWITCHED);
    accept(
        &mut c,
        &[
            "add cs policy p3 -rule true",
            "bind cs vserver c1 -policyName p3",
            "bind cs vserver c1 -policyName rewritten",
            "bind cs vserver c1 -policyName answered -type RESPONSE",
        ],
    );
    assert_eq!(code(&mut c, "rename cs policy p3 Rewritten"), 273);
    assert_eq!(code(&mut c, "rename cs policy nobody rewritten"), 258);
    accept(&mut c, &["rename cs policy p3 answered"]);
    let text = print(&c).ns_conf;
    let bound: Vec<&str> = text.lines().filter(|line| line.contains("-policyName answered")).collect();
    assert_eq!(
        bound,
        ["bind cs vserver c1 -policyName answered", "bind cs vserver c1 -policyName answered -type RESPONSE"]
    );
}

/// 1388, 1410, 273: what may be bound.
#[test]
fn what_is_bound_leads_somewhere() {
    let mut c = config(SWITCHED);
    accept(&mut c, &["add cs policy p3 -rule true", "add cs vserver c2 HTTP 10.1.1.8 80"]);
    assert_eq!(code(&mut c, "bind cs vserver c2 -policyName p3 -targetLBVserver nobody"), 1388);
    assert_eq!(code(&mut c, "bind cs vserver c2 -policyName nobody -targetLBVserver v1"), 258);
    assert_eq!(code(&mut c, "bind cs vserver c2 -lbvserver nobody"), 1388);
    assert_eq!(code(&mut c, "bind cs vserver c2 -vServer nobody"), 258);
    assert_eq!(code(&mut c, "bind cs vserver nobody -lbvserver v1"), 258);
    assert_eq!(code(&mut c, "bind cs vserver c2"), 1095);
    assert_eq!(code(&mut c, "bind cs vserver c2 -lbvserver v1 -policyName p1"), 1092);
    assert_eq!(code(&mut c, "bind cs vserver c1 -policyName P1 -priority 30"), 273);
    assert_eq!(code(&mut c, "bind cs vserver c1 -lbvserver v2"), 273);
    assert_eq!(code(&mut c, "unbind cs vserver c1 -lbvserver v1"), 1410);
    assert_eq!(code(&mut c, "unbind cs vserver c1 -policyName p3"), 258);
    accept(
        &mut c,
        &[
            "bind cs vserver c1 -lbvserver v1",
            "bind cs vserver c2 -policyName p3 -targetLBVserver v1 -priority 1",
            "bind cs vserver c2 -policyName p1 -priority 2",
            "bind cs vserver c2 -policyName some_responder -priority 3 -gotoPriorityExpression END -type REQUEST",
            "bind cs vserver c2 -policyName NOPOLICY-REWRITE -priority 4 -type RESPONSE -invoke policylabel l",
            "bind cs vserver c2 -analyticsProfile x",
            "bind cs vserver c2 -domainName www.example.com -TTL 5",
            "set cs vserver c2 -domainName www.example.com -TTL 10 -backupIP 10.9.9.9",
        ],
    );
    assert_eq!(c.cs_vservers.find("c1").unwrap().default_target.lb_vserver, "v1");
    assert_eq!(code(&mut c, "set cs vserver c2 -domainName other -TTL 10"), 258);
    assert_eq!(code(&mut c, "set cs vserver c2 -TTL 10"), 1093);
    is(&c, &print(&c).ns_conf);
    accept(
        &mut c,
        &[
            "unbind cs vserver c2 -domainName WWW.example.com",
            "unbind cs vserver c2 -analyticsProfile x",
            "unbind cs vserver c2 -policyName NOPOLICY-REWRITE -type RESPONSE",
        ],
    );
    let vserver = c.cs_vservers.find("c2").unwrap();
    assert_eq!((vserver.policies.len(), vserver.domains.len(), vserver.analytics_profiles.len()), (3, 0, 0));
}

/// 1092, 1426: a policy has a URL or a rule, an action one target.
#[test]
fn one_thing_takes_the_place_of_another() {
    let mut c = config(SWITCHED);
    assert_eq!(code(&mut c, "add cs policy p9 -url / -rule true"), 1092);
    assert_eq!(code(&mut c, "add cs policy p9 -rule true -action nobody"), 258);
    assert_eq!(code(&mut c, "add cs action a9 -targetLBVserver v1 -targetVserver v1"), 1092);
    assert_eq!(code(&mut c, "add cs action a9 -targetLBVserver nobody"), 1388);
    assert_eq!(code(&mut c, "add cs action a9 -targetVserver nobody"), 258);
    assert_eq!(code(&mut c, "set cs action a1 -targetVserverExpr \"\\\"v\\\" + CLIENT.IP.SRC\""), 1426);
    assert_eq!(code(&mut c, "set cs action nobody -comment x"), 258);
    accept(
        &mut c,
        &[
            "set cs policy p2 -rule true",
            "set cs action a1 -targetVserver v2 -comment words",
            "disable cs vserver c1",
            "set cs vserver c1 -cltTimeout 10 -caseSensitive OFF",
        ],
    );
    let policy = c.cs_policies.find("p2").unwrap();
    assert_eq!((policy.url.as_str(), policy.rule.as_str()), ("", "true"));
    let action = c.cs_actions.find("a1").unwrap();
    assert_eq!((action.target_lb_vserver.as_str(), action.target_vserver.as_str()), ("", "v2"));
    let vserver = c.cs_vservers.find("c1").unwrap();
    assert_eq!((vserver.enabled, vserver.clt_timeout_s, vserver.case_sensitive), (false, 10, false));
    accept(
        &mut c,
        &[
            "enable cs vserver c1",
            "unset cs vserver c1 -cltTimeout -caseSensitive",
            "unset cs action a1 -comment",
        ],
    );
    assert_eq!(c.cs_vservers.find("c1").unwrap().clt_timeout_s, 180);
    assert_eq!(code(&mut c, "unset cs action a1 -targetVserver"), 1090);
}
