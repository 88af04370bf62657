//! Old forms, cases of configurations that come and go, groups and members.

use super::*;

/// `bind lb monitor` still works, and says that it is old (`spec/cli.md` 4).
#[test]
fn the_old_way_to_bind_a_monitor() {
    let mut c = config("add service s 10.0.0.1 HTTP 80\nadd lb monitor m TCP\n");
    let done = run_line(&mut c, "bind lb monitor m s -state DISABLED -weight 3").unwrap().unwrap();
    assert_eq!(
        done.warnings.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["Argument deprecated [serviceName]"]
    );
    is(
        &c,
        "add service s 10.0.0.1 HTTP 80\nadd lb monitor m TCP\nbind service s -monitorName m -monState DISABLED -weight 3\n",
    );
    assert_eq!(code(&mut c, "bind monitor m s"), 2133);
    assert_eq!(code(&mut c, "bind monitor tcp-default s"), 2165);
}

/// `spec/cli.md`, `add server`: an address, a domain or what stands for one. The last of them stays.
#[test]
fn a_server_is_never_without_a_host() {
    let mut c =
        config("add server a -translationIp 10.0.0.1\nadd server b 10.0.0.2 -translationIp 10.0.0.1\n");
    assert_eq!(code(&mut c, "unset server a -translationIp"), 1095);
    accept(&mut c, &["unset server b -translationIp"]);
    is(&c, "add server a -translationIp 10.0.0.1\nadd server b 10.0.0.2\n");
}

#[test]
fn a_look_changes_nothing() {
    let mut c = config(BOUND);
    let before = c.clone();
    accept(
        &mut c,
        &[
            "show server",
            "show server srv1",
            "show lb vs v1",
            "show service -all",
            "show serviceGroup g1 -includeMembers",
            "show lb monitor m1 HTTP",
            "show lb parameter",
            "show ns feature",
            "stat lb vserver v1 -detail",
            "stat service -ntimes 3 -clearstats basic",
        ],
    );
    assert_eq!(c, before);
}

/// Case K07: a second virtual server on an address is refused; once the first is gone it is not.
#[test]
fn k07_an_address_is_free_once_its_virtual_server_is_gone() {
    let mut c = config("enable ns feature LB\nadd lb vserver v1 HTTP 127.0.0.1 8080\n");
    let refusal = run_line(&mut c, "add lb vserver v2 HTTP 127.0.0.1 8080").unwrap_err().0;
    assert_eq!(refusal.code(), 273);
    assert!(refusal.to_string().starts_with("Resource already exists"), "{refusal}");
    accept(&mut c, &["rm lb vserver v1", "add lb vserver v2 HTTP 127.0.0.1 8080"]);
}

/// Case K13.
#[test]
fn k13_a_virtual_server_without_an_address() {
    let mut c = config("enable ns feature LB\n");
    accept(
        &mut c,
        &["add lb vserver v0 HTTP 0.0.0.0 0", "add lb vserver v1 HTTP 0.0.0.0 0", "rm lb vserver v0"],
    );
    assert_eq!(c.lb_vservers.find("v1").unwrap().address(), None);
}

/// Case K15: what was made and removed leaves nothing, and no step looks at all the others.
#[test]
fn k15_ten_thousand_services_come_and_go() {
    let address = |i: usize| format!("10.{}.{}.{}", i / 65_536, i / 256 % 256, i % 256);
    let mut lines =
        String::from("enable ns feature LB\nadd lb vserver v HTTP 10.255.0.1 80\nadd serviceGroup g HTTP\n");
    for i in 0..10_000 {
        lines += &format!(
            "add service s{i} {} HTTP 80\nbind lb vserver v s{i}\nbind serviceGroup g {} 81\n",
            address(i),
            address(i)
        );
    }
    let mut c = config(&lines);
    assert_eq!((c.services.len(), c.servers.len()), (10_000, 10_000));
    for i in 0..10_000 {
        accept_quickly(&mut c, &format!("rm service s{i}"));
        accept_quickly(&mut c, &format!("unbind serviceGroup g {} 81", address(i)));
    }
    is(&c, "enable ns feature LB\nadd lb vserver v HTTP 10.255.0.1 80\nadd serviceGroup g HTTP\n");
}

/// Without a copy of what there was before.
fn accept_quickly(config: &mut Config, line: &str) {
    run_line(config, line).unwrap();
}

/// Error 1325 and its text: `-AllowBoundSvcRemoval DISABLED` keeps what is bound.
#[test]
fn bound_services_may_be_kept() {
    let mut c = config(BOUND);
    accept(&mut c, &["set lb parameter -AllowBoundSvcRemoval DISABLED"]);
    assert_eq!(code(&mut c, "rm service s1"), 1325);
    assert_eq!(code(&mut c, "rm serviceGroup g1"), 1325);
    accept(&mut c, &["unbind lb vserver v2 s2", "rm service s2"]);
    accept(&mut c, &["unset lb parameter -AllowBoundSvcRemoval", "rm service s1", "rm serviceGroup g1"]);
}

/// A virtual server is in one group at most (errors 2371, 2379), and leaves it when it goes.
#[test]
fn groups_of_virtual_servers() {
    let vservers =
        "enable ns feature LB\nadd lb vserver a HTTP\nadd lb vserver b HTTP\nadd lb vserver c HTTP\n";
    let mut c = config(&format!("{vservers}add lb group g -persistenceType SOURCEIP\nadd lb group h\n"));
    accept(&mut c, &["bind lb group g a B", "bind lb group h c", "set lb group g -masterVserver a"]);
    assert_eq!(code(&mut c, "bind lb group h a"), 2371);
    assert_eq!(code(&mut c, "bind lb group g nobody"), 258);
    assert_eq!(code(&mut c, "unbind lb group g a c"), 2379);
    is(&c, &print(&c).ns_conf);
    accept(&mut c, &["rename lb vserver a front", "rename lb group g G2"]);
    let group = c.lb_groups.find("g2").unwrap();
    assert_eq!((group.vservers.join(" "), group.master_vserver.as_str()), ("front b".to_owned(), "front"));
    accept(&mut c, &["rm lb vserver front"]);
    let group = c.lb_groups.find("g2").unwrap();
    assert_eq!((group.vservers.join(" "), group.master_vserver.as_str()), ("b".to_owned(), ""));
    accept(&mut c, &["unbind lb group G2 b", "bind lb group h b", "rm lb group g2", "rm lb vserver c b"]);
    is(&c, "enable ns feature LB\nadd lb group h\n");
}

/// What others fall back to or send from stays; its new name is used there.
#[test]
fn options_that_name_something() {
    let mut c = config(
        "enable ns feature LB\nadd netProfile p -srcIP 10.0.0.9\nadd lb vserver b HTTP\n\
         add lb vserver v HTTP -backupVServer b -netProfile p\n",
    );
    assert_eq!(code(&mut c, "rm lb vserver b"), 315);
    assert_eq!(code(&mut c, "rm netProfile P"), 315);
    accept(&mut c, &["rename lb vserver b spare"]);
    assert_eq!(c.lb_vservers.find("v").unwrap().backup_vserver, "spare");
    accept(&mut c, &["unset lb vserver v -netProfile", "rm netProfile p", "rm lb vserver v spare"]);
    is(&c, "enable ns feature LB\n");
}

/// `bind lb monitor` of what belongs to the monitor itself.
#[test]
fn figures_and_certificates_of_monitors() {
    let mut c = config("add lb monitor m LOAD -metricTable t\nadd lb monitor s TCP -secure YES\n");
    accept(
        &mut c,
        &[
            "bind lb monitor m -metric cpu -metricThreshold 90 -metricWeight 3",
            "bind lb monitor s -certkeyName k",
            "bind lb monitor s -certkeyName k -CA -crlCheck Mandatory",
        ],
    );
    is(&c, &print(&c).ns_conf);
    assert_eq!(code(&mut c, "bind lb monitor m -metric CPU -metricThreshold 1"), 273);
    assert_eq!(code(&mut c, "bind lb monitor m -metric disk"), 1095);
    assert_eq!(code(&mut c, "bind lb monitor s -certkeyName k"), 273);
    assert_eq!(code(&mut c, "bind lb monitor tcp-default -certkeyName k"), 2139);
    assert_eq!(code(&mut c, "unbind lb monitor m -metric disk"), 258);
    accept(&mut c, &["unbind lb monitor m -metric cpu", "unbind lb monitor s -certkeyName k -CA"]);
    assert_eq!(c.lb_monitors.find("s").unwrap().cert_keys.len(), 1);
    accept(&mut c, &["unbind lb monitor s -certkeyName k"]);
    is(&c, "add lb monitor m LOAD -metricTable t\nadd lb monitor s TCP -secure YES\n");
}

/// `set service -IPAddress` moves that service alone.
#[test]
fn a_service_moves() {
    let mut c = config(
        "add server h 10.0.0.9\nadd service a 10.0.0.1 HTTP 80\nadd service b 10.0.0.1 HTTP 81\nadd service c h HTTP 80\n",
    );
    accept(&mut c, &["set service a -IPAddress 10.0.0.1", "set service a -IPAddress 10.0.0.2"]);
    let on = |c: &Config, service: &str| c.services.find(service).unwrap().server.clone();
    assert_eq!((on(&c, "a"), on(&c, "b")), ("10.0.0.2".to_owned(), "10.0.0.1".to_owned()));
    accept(&mut c, &["set service b -IPAddress 10.0.0.9"]);
    assert_eq!(on(&c, "b"), "h");
    assert!(!c.servers.has("10.0.0.1"), "nothing is on it any more");
    assert_eq!(code(&mut c, "set service a -IPAddress 10.0.0.9"), 2305);
}

#[test]
fn options_of_members() {
    let mut c = config(
        "add server h 10.0.0.9\nadd serviceGroup g HTTP\nbind serviceGroup g h 80 -CustomServerID 7 -hashId 3 -order 2 -state DISABLED\n",
    );
    is(&c, &print(&c).ns_conf);
    accept(
        &mut c,
        &["set serviceGroup g h 80 -weight 5 -hashId 4", "unset serviceGroup g h 80 -CustomServerID -order"],
    );
    is(
        &c,
        "add server h 10.0.0.9\nadd serviceGroup g HTTP\nbind serviceGroup g h 80 -weight 5 -hashId 4 -state DISABLED\n",
    );
    assert_eq!(code(&mut c, "set serviceGroup g -hashId 4"), 1093);
    assert_eq!(code(&mut c, "set serviceGroup g h 80"), 1094);
    assert_eq!(code(&mut c, "unset serviceGroup g -hashId"), 1093);
    assert_eq!(code(&mut c, "bind serviceGroup g -monitorName http -hashId 4"), 1093);
    assert_eq!(code(&mut c, "bind serviceGroup g h 81 -monState DISABLED"), 1093);
}

/// The rank of what is bound is kept.
#[test]
fn ranks_of_bindings() {
    let lines = "enable ns feature LB\nadd service s 10.0.0.1 HTTP 80\nadd serviceGroup g HTTP\nadd lb vserver v HTTP\n\
        bind lb vserver v s -weight 3 -order 1\nbind lb vserver v g -order 2\n";
    let c = config(lines);
    let printed = print(&c).ns_conf;
    assert!(printed.contains("bind lb vserver v s -weight 3 -order 1\nbind lb vserver v g -order 2\n"));
    is(&c, &printed);
}

/// 1091, and 1075 where it is a name that others have: nothing is bound under no name; its line could not be read back.
#[test]
fn what_is_bound_has_a_name() {
    let mut c = config(
        "enable ns feature LB CS SSL\nadd lb monitor m HTTP\nadd lb vserver v HTTP\nadd cs vserver c HTTP\n",
    );
    let before = print(&c).ns_conf;
    for (command, expected) in [
        ("bind lb monitor m -certkeyName \"\"", 1091),
        ("bind lb monitor m -metric \"\" -metricThreshold 1", 1091),
        ("bind lb vserver v -analyticsProfile \"\"", 1075),
        ("bind cs vserver c -analyticsProfile \"\"", 1075),
        ("bind cs vserver c -domainName \"\"", 1091),
    ] {
        assert_eq!(code(&mut c, command), expected, "{command}");
    }
    assert_eq!(print(&c).ns_conf, before);
}
