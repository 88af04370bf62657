//! What command policies let users do.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use steelyard_core::command::{Command, Object, Verb, read};
use steelyard_core::config::{Permission, Permissions};

fn ask(lines: &str, user: &str, command: &str) -> Permission {
    let reading = read(lines.as_bytes(), "ns.conf");
    assert_eq!(reading.refused, [], "{lines}");
    Permissions::of(&reading.config, user).ask(command)
}

/// Tables of the built-in policies in the documentation of NetScaler 13.1.
#[test]
fn built_in_policies_have_the_documented_effect() {
    let commands = [
        "show lb vserver v",
        "stat service",
        "show ns runningConfig",
        "show ns savedconfig",
        "show system user",
        "enable service s",
        "disable server s 10",
        "enable lb vserver v",
        "set lb vserver v -lbMethod ROUNDROBIN",
        "save ns config",
        "add system user u",
        "bind system user u superuser 1",
        "set system parameter -timeout 900",
        "shell",
    ];
    let given = |policy: &str| -> String {
        let lines = format!("add system user u\nbind system user u {policy} 1\n");
        let mark = |command: &&str| match ask(&lines, "u", command) {
            Permission::Given => 'y',
            _ => '-',
        };
        commands.iter().map(mark).collect()
    };
    assert_eq!(given("read-only"), "yy------------");
    assert_eq!(given("operator"), "yy---yy-------");
    assert_eq!(given("network"), "yy---yyyyy----");
    assert_eq!(given("sysadmin"), "yyyy-yyyyy----");
    assert_eq!(given("superuser"), "yyyyyyyyyyyyyy");
}

#[test]
fn the_smallest_priority_is_asked_first_and_of_one_priority_the_users_own() {
    let lines = |own: u32, groups: u32| {
        format!(
            "add system cmdPolicy no DENY \"^rm.*\"\nadd system user u\nadd system group g\n\
             bind system group g -userName u\nbind system group g -policyName superuser {groups}\n\
             bind system user u no {own}\n"
        )
    };
    for (own, groups, expected) in
        [(1, 2, Permission::Denied), (2, 1, Permission::Given), (1, 1, Permission::Denied)]
    {
        assert_eq!(ask(&lines(own, groups), "U", "rm server s"), expected, "{own} {groups}");
        assert_eq!(ask(&lines(own, groups), "u", "add server s"), Permission::Given);
    }
}

#[test]
fn nobody_may_anything_without_a_policy_and_nsroot_everything() {
    assert_eq!(ask("add system user u\n", "u", "show lb vserver"), Permission::NoPolicy);
    assert_eq!(ask("", "nobody", "show lb vserver"), Permission::NoPolicy);
    assert_eq!(ask("", "nsroot", "rm server s"), Permission::Given);
    let denied = "add system cmdPolicy no DENY \".*\"\nbind system user nsroot no 1\n";
    assert_eq!(ask(denied, "nsroot", "rm server s"), Permission::Given);
}

/// A policy of a real file, as the file has it.
#[test]
fn case_means_nothing_and_a_question_mark_may_be_escaped() {
    let lines = "add system cmdPolicy p ALLOW (^man.*)|(^show\\s+(\\?!system)(\\?!configstatus).*)|(^stat.*)\n\
                 add system user u\nbind system user u p 100\n";
    assert_eq!(ask(lines, "u", "SHOW LB vserver"), Permission::Given);
    assert_eq!(ask(lines, "u", "show System user"), Permission::Denied);
}

#[test]
fn what_would_take_for_ever_to_match_lets_nobody_in() {
    let costly = |action: &str| {
        format!(
            "add system cmdPolicy slow {action} \"^(?=(a|a)*$)(a*)*\\1b\"\nadd system user u\n\
             bind system user u slow 1\nbind system user u superuser 2\n"
        )
    };
    let command = "a".repeat(64);
    assert_eq!(ask(&costly("DENY"), "u", &command), Permission::Denied);
    assert_eq!(ask(&costly("ALLOW"), "u", &command), Permission::Given, "by the next policy");
}

#[test]
fn superusers_have_the_policy_of_that_name_themselves_or_by_a_group() {
    let is_superuser = |lines: &str, user: &str| {
        let reading = read(lines.as_bytes(), "ns.conf");
        assert_eq!(reading.refused, [], "{lines}");
        Permissions::of(&reading.config, user).is_superuser()
    };
    assert!(is_superuser("", "NSROOT"));
    assert!(!is_superuser("", "nobody"));
    for (policy, expected) in
        [("superuser", true), ("SuperUser", true), ("network", false), ("sysadmin", false)]
    {
        let lines = format!("add system user u\nbind system user u {policy} 1\n");
        assert_eq!(is_superuser(&lines, "U"), expected, "{policy}");
    }
    let everything = "add system cmdPolicy all ALLOW .*\nadd system user u\nbind system user u all 1\n";
    assert!(!is_superuser(everything, "u"));
    let grouped = "add system user u\nadd system group g\nbind system group g -userName u\n\
                   bind system group g -policyName superuser 1\n";
    assert!(is_superuser(grouped, "u"));
}

#[test]
fn only_superusers_have_programs_run_by_monitors() {
    let lines = "add lb monitor m USER -scriptName x\nadd lb monitor h HTTP\nadd service s 10.0.0.1 HTTP 80\n\
                 add serviceGroup g HTTP\n";
    let config = read(lines.as_bytes(), "ns.conf").config;
    for (verb, object, fields, expected) in [
        (Verb::Add, Object::LbMonitor, &[("monitorname", "n"), ("type", "user")][..], true),
        (Verb::Add, Object::LbMonitor, &[("monitorname", "n"), ("type", "HTTP")], false),
        (Verb::Set, Object::LbMonitor, &[("monitorname", "M"), ("type", "USER"), ("interval", "9")], true),
        (Verb::Set, Object::LbMonitor, &[("monitorname", "h"), ("type", "HTTP"), ("interval", "9")], false),
        (Verb::Unset, Object::LbMonitor, &[("monitorname", "m"), ("type", "USER"), ("scriptargs", "")], true),
        (Verb::Bind, Object::Service, &[("name", "s"), ("monitor_name", "M")], true),
        (Verb::Bind, Object::Service, &[("name", "s"), ("monitor_name", "h")], false),
        (Verb::Bind, Object::ServiceGroup, &[("servicegroupname", "g"), ("monitor_name", "m")], true),
        (Verb::Bind, Object::LbMonitor, &[("monitorname", "m"), ("servicename", "s")], true),
        (Verb::Unbind, Object::Service, &[("name", "s"), ("monitor_name", "m")], false),
        (Verb::Rm, Object::LbMonitor, &[("monitorname", "m"), ("type", "USER")], false),
    ] {
        let words: Vec<Vec<&str>> =
            fields.iter().map(|(_, word)| [*word].into_iter().filter(|w| !w.is_empty()).collect()).collect();
        let given: Vec<(&str, &[&str])> =
            fields.iter().zip(&words).map(|((name, _), words)| (*name, words.as_slice())).collect();
        let command = Command::new(verb, object, &given).unwrap();
        assert_eq!(command.is_for_superusers(&config), expected, "{}", command.text());
    }
}
