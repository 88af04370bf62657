//! When a finding is true: small configurations, and what must be said of each line and what not.

use steelyard_core::command::read;
use steelyard_core::command::verdict::{Consequence, Finding, Judgement, Verdict, judge};

fn judged(text: &str) -> Judgement {
    judge(&read(text.as_bytes(), "ns.conf"))
}

/// Verdict and consequence of the line that begins with those words.
fn line(text: &str, begins: &str) -> (Verdict, Consequence) {
    let judgement = judged(text);
    let number = text.lines().position(|line| line.starts_with(begins)).expect("the line is there") + 1;
    let verdict = judgement.lines.iter().find(|(n, _)| *n == number).expect("it is a command").1;
    (verdict, findings(&judgement, number).map(|f| f.consequence).max().unwrap_or(Consequence::None))
}

fn findings(judgement: &Judgement, number: usize) -> impl Iterator<Item = &Finding> {
    judgement.findings.iter().filter(move |finding| finding.line == number)
}

const SITE: &str = "enable ns feature LB\n\
    add server web 192.0.2.11\n\
    add service s web HTTP 80\n\
    add lb vserver v HTTP 192.0.2.10 80\n\
    bind lb vserver v s\n";

#[test]
fn what_is_acted_on_is_honoured() {
    let text = format!(
        "{SITE}set lb vserver v -lbMethod ROUNDROBIN -comment \"the shop\"\ndisable service s\nunset lb vserver v -lbMethod\nrm lb vserver v\n"
    );
    let judgement = judged(&text);
    assert_eq!((judgement.count(Verdict::Honoured), judgement.findings), (9, Vec::new()));
}

#[test]
fn an_option_changes_something_only_away_from_its_default() {
    let add = |options: &str| format!("{SITE}add service t web HTTP 81 {options}\n");
    let of = |options: &str| line(&add(options), "add service t");
    assert_eq!(
        of(
            "-gslb NONE -maxClient 0 -maxReq 0 -cip DISABLED -usip NO -useproxyport YES -sp OFF -CKA NO -TCPB NO -CMP NO"
        ),
        (Verdict::Honoured, Consequence::None)
    );
    assert_eq!(of("-usip YES"), (Verdict::Partial, Consequence::Traffic));
    assert_eq!(of("-TCPB YES"), (Verdict::Partial, Consequence::Traffic));
    let judgement = judged(&add("-TCPB YES -usip YES -CMP YES"));
    let options: Vec<&str> = findings(&judgement, 6).filter_map(|f| f.option.as_deref()).collect();
    assert_eq!(options, ["TCPB", "usip", "CMP"]);
    let columns: Vec<usize> = findings(&judgement, 6).map(|f| f.column).collect();
    assert_eq!(
        columns,
        [
            "add service t web HTTP 81 -TCPB ".len() + 1,
            "add service t web HTTP 81 -TCPB YES -usip ".len() + 1,
            "add service t web HTTP 81 -TCPB YES -usip YES -CMP ".len() + 1
        ]
    );
}

#[test]
fn an_option_that_goes_with_another_changes_nothing_without_it() {
    let of = |options: &str| line(&format!("{SITE}set lb vserver v {options}\n"), "set lb vserver v");
    assert_eq!(of("-timeout 5"), (Verdict::Honoured, Consequence::None));
    assert_eq!(of("-persistenceType SOURCEIP -timeout 5"), (Verdict::Stored, Consequence::Traffic));
    let judgement = judged(&format!("{SITE}set lb vserver v -persistenceType SOURCEIP -timeout 5\n"));
    let beside: Vec<Option<&str>> = findings(&judgement, 6).map(|f| f.beside).collect();
    assert_eq!(beside, [None, Some("persistenceType")]);
}

#[test]
fn a_type_that_is_not_carried_is_stored_with_all_that_belongs_to_it() {
    let text = "enable ns feature LB SSL\n\
        add service t 192.0.2.11 SSL 443\n\
        add service u 192.0.2.12 SSL_TCP 25\n\
        add lb vserver w SSL 192.0.2.10 443 -persistenceType COOKIEINSERT\n\
        bind lb vserver w t\n";
    assert_eq!(line(text, "add lb vserver w"), (Verdict::Stored, Consequence::Traffic));
    assert_eq!(line(text, "bind lb vserver w"), (Verdict::Stored, Consequence::Traffic));
    assert_eq!(line(text, "add service t"), (Verdict::Stored, Consequence::Traffic));
    assert_eq!(line(text, "add service u"), (Verdict::Stored, Consequence::None), "nothing uses it");
    let judgement = judged(text);
    let of_vserver: Vec<&Finding> = findings(&judgement, 4).collect();
    assert_eq!(of_vserver.len(), 1, "what it is not served with is not told of it");
    assert!(of_vserver[0].reason.contains("SSL") && of_vserver[0].reason.contains("DOWN"));
}

/// Of a TCP service the name of the header stands for the number that its prefix begins with.
#[test]
fn a_tcp_prefix_needs_a_number() {
    let verdict = |lines: &str, object: &str| line(&format!("enable ns feature LB\n{lines}\n"), object);
    let honoured = (Verdict::Honoured, Consequence::None);
    let partial = (Verdict::Partial, Consequence::Traffic);
    let service = "add service s 192.0.2.11";
    for (options, expected) in [
        ("TCP 25 -cip ENABLED 4711", honoured),
        ("TCP 25 -cip ENABLED", partial),
        ("TCP 25 -cip ENABLED client-ip", partial),
        ("TCP 25 -cip DISABLED", honoured),
        ("HTTP 80 -cip ENABLED", honoured),
    ] {
        assert_eq!(verdict(&format!("{service} {options}"), service), expected, "{options}");
    }
    let global = "set ns param -cip DISABLED 4711\n";
    assert_eq!(verdict(&format!("{global}{service} TCP 25 -cip ENABLED"), service), honoured);
    assert_eq!(verdict("add serviceGroup g TCP -cip ENABLED", "add serviceGroup g"), partial);
}

#[test]
fn a_method_that_is_not_carried_names_the_one_that_chooses() {
    let reason = |options: &str| {
        let text = format!("{SITE}set lb vserver v {options}\n");
        assert_eq!(line(&text, "set lb vserver v").1, Consequence::Traffic);
        findings(&judged(&text), 6).next().expect("a finding").reason.clone()
    };
    assert!(reason("-lbMethod URLHASH").contains("ROUNDROBIN chooses"), "the backup method is ROUNDROBIN");
    assert!(
        reason("-lbMethod URLHASH -backupLBMethod LEASTRESPONSETIME").contains("LEASTRESPONSETIME chooses")
    );
    assert!(reason("-lbMethod URLHASH -backupLBMethod SOURCEIPHASH").contains("LEASTCONNECTION chooses"));
}

#[test]
fn a_monitor_that_is_not_run_matters_only_where_it_is_bound() {
    let text = format!("{SITE}add lb monitor m LDAP\nadd lb monitor n LDAP\nbind service s -monitorName m\n");
    assert_eq!(line(&text, "add lb monitor m"), (Verdict::Stored, Consequence::Traffic));
    assert_eq!(line(&text, "add lb monitor n"), (Verdict::Stored, Consequence::None));
    assert_eq!(line(&text, "bind service s"), (Verdict::Stored, Consequence::Traffic));
    assert_eq!(
        line(&text, "add service s"),
        (Verdict::Partial, Consequence::Traffic),
        "tcp-default probes it"
    );
    let beside = format!("{text}bind service s -monitorName tcp\n");
    assert_eq!(line(&beside, "add service s"), (Verdict::Honoured, Consequence::None), "tcp is run");
}

#[test]
fn a_secret_of_the_appliance_is_named_and_not_shown() {
    let text = format!(
        "{SITE}add lb monitor m LDAP -password 8f2a -encrypted -encryptmethod ENCMTHD_3\nbind service s -monitorName m\n"
    );
    let judgement = judged(&text);
    let secret =
        findings(&judgement, 6).find(|f| f.option.as_deref() == Some("password")).expect("a finding");
    assert!(secret.reason.contains("--secrets") && !secret.reason.contains("8f2a"), "{}", secret.reason);
}

#[test]
fn what_guards_a_virtual_server_is_exposure() {
    let text = format!("{SITE}set lb vserver v -authn401 ON\n");
    assert_eq!(line(&text, "set lb vserver v"), (Verdict::Stored, Consequence::Exposure));
    assert_eq!(line(&text, "add lb vserver v"), (Verdict::Partial, Consequence::Exposure));
    let reason = |text: &str| {
        let judgement = judged(text);
        findings(&judgement, 4).find(|f| f.consequence == Consequence::Exposure).map(|f| f.reason.clone())
    };
    assert!(reason(&text).expect("it is guarded").contains("-authn401 ON"));

    let policy = "enable ns feature RESPONDER\nadd responder policy p true DROP\nbind lb vserver v -policyName p -priority 10 -gotoPriorityExpression END -type REQUEST\n";
    let text = format!("{SITE}{policy}");
    assert_eq!(line(&text, "bind lb vserver v -policyName"), (Verdict::Stored, Consequence::Exposure));
    assert_eq!(
        line(&text, "add responder policy"),
        (Verdict::Stored, Consequence::None),
        "it is bound in a line of its own"
    );
    assert!(reason(&text).expect("it is guarded").contains("responder policy p"));

    let cache = policy.replace("responder", "cache").replace("true DROP", "-rule true -action CACHE");
    let text = format!("{SITE}{cache}");
    assert_eq!(line(&text, "bind lb vserver v -policyName"), (Verdict::Stored, Consequence::Traffic));
    assert_eq!(reason(&text), None, "a cache lets everybody in");
}

#[test]
fn an_access_list_is_exposure_if_it_denies() {
    let deny = format!("{SITE}add ns acl a DENY -srcIP = 10.0.0.1-10.0.0.9 -priority 10\napply ns acls\n");
    assert_eq!(line(&deny, "add ns acl"), (Verdict::Host, Consequence::Exposure));
    assert_eq!(line(&deny, "add lb vserver v"), (Verdict::Partial, Consequence::Exposure));
    let judgement = judged(&deny);
    let acl = findings(&judgement, 6).next().expect("a finding");
    assert!(
        acl.reason.contains("nft add rule inet filter input ip saddr 10.0.0.1-10.0.0.9 drop"),
        "{}",
        acl.reason
    );
    let elsewhere = deny.replace("-priority", "-destIP = 198.51.100.1 -priority");
    assert_ne!(line(&elsewhere, "add ns acl").1, Consequence::Exposure, "no virtual server has that address");
    let allow = deny.replace("DENY", "ALLOW");
    assert_ne!(line(&allow, "add ns acl").1, Consequence::Exposure);
}

#[test]
fn a_source_address_that_the_host_lacks_is_traffic() {
    let text = format!(
        "{SITE}add ns ip 192.0.2.7 255.255.255.0 -type SNIP\nadd ns ip 192.0.2.8 255.255.255.0\n\
        add netProfile here -srcIP 192.0.2.7\nadd netProfile away -srcIP 192.0.2.9\n"
    );
    let reading = read(text.as_bytes(), "ns.conf");
    let mut judgement = judge(&reading);
    judgement.look_at_host(&reading, &|ip| Some(ip.to_string() == "192.0.2.7"));
    let told: Vec<(&str, Verdict, Consequence, bool)> = judgement
        .findings
        .iter()
        .filter(|finding| finding.line >= 6)
        .map(|f| (f.command.as_str(), f.verdict, f.consequence, f.reason.contains("this host does not have")))
        .collect();
    let expected = [
        ("add ns ip", Verdict::Host, Consequence::None, false),
        ("add ns ip", Verdict::Host, Consequence::Traffic, true),
        ("add netProfile", Verdict::Partial, Consequence::Traffic, true),
    ];
    assert_eq!(told, expected);
    let verdicts: Vec<Verdict> = judgement.lines[5..].iter().map(|(_, verdict)| *verdict).collect();
    assert_eq!(verdicts, [Verdict::Host, Verdict::Host, Verdict::Honoured, Verdict::Partial]);
}

#[test]
fn lines_about_the_host_have_its_command() {
    let text = "add ns ip 10.0.0.5 255.255.255.0\nadd route 0.0.0.0 0.0.0.0 10.0.0.1\nset interface 0/1 -throughput 0\nset ns hostName lb1\nset ns config -IPAddress 10.0.0.9 -netmask 255.255.255.0\n";
    let judgement = judged(text);
    assert_eq!(judgement.count(Verdict::Host), 5);
    let commands: Vec<&str> =
        judgement.findings.iter().flat_map(|f| &f.on_host.commands).map(String::as_str).collect();
    let expected = [
        "ip address add 10.0.0.5/24 dev <interface>",
        "ip route add default via 10.0.0.1",
        "hostnamectl hostname lb1",
        "ip address add 10.0.0.9/24 dev <interface>",
    ];
    assert_eq!(commands, expected);
    let effects: Vec<Consequence> = judgement.findings.iter().map(|f| f.consequence).collect();
    let (traffic, none) = (Consequence::Traffic, Consequence::None);
    assert_eq!(effects, [traffic, traffic, none, none, none]);
}

#[test]
fn a_definition_changes_nothing_until_a_line_uses_it() {
    let text = "enable ns feature LB CS\n\
        add cs action a -targetLBVserver v\n\
        add cs policy p -rule true -action a\n\
        add cs vserver c HTTP 192.0.2.20 80\n\
        bind cs vserver c -policyName p -priority 10\n";
    assert_eq!(line(text, "add cs action"), (Verdict::Stored, Consequence::None));
    assert_eq!(line(text, "add cs policy"), (Verdict::Stored, Consequence::None));
    assert_eq!(line(text, "add cs vserver"), (Verdict::Stored, Consequence::Traffic));
    assert_eq!(line(text, "bind cs vserver"), (Verdict::Stored, Consequence::Traffic));
    let off = text.replace("LB CS", "LB");
    assert_eq!(
        line(&off, "bind cs vserver"),
        (Verdict::Stored, Consequence::None),
        "the feature is off there, too"
    );
    let piece = text.replace("enable ns feature LB CS\n", "");
    assert_eq!(
        line(&piece, "bind cs vserver").1,
        Consequence::Traffic,
        "a piece of a file says nothing of features"
    );
}

#[test]
fn lines_about_the_appliance_itself_change_nothing() {
    let text = "enable ns feature LB SSL\n\
        set ssl service nshttps-127.0.0.1-443 -sessReuse DISABLED\n\
        bind ssl service nshttps-127.0.0.1-443 -eccCurveName P_256\n\
        set service nshttps-127.0.0.1-443 -cip ENABLED cip-header\n\
        set system user nsroot 1a2b -encrypted\n\
        set snmp alarm CPU-USAGE -thresholdValue 95\n\
        save ns config\n\
        show ns runningConfig\n";
    let judgement = judged(text);
    assert_eq!(judgement.worst(), Consequence::None);
    assert_eq!((judgement.count(Verdict::Stored), judgement.count(Verdict::Inert)), (5, 2));
}

#[test]
fn that_load_balancing_is_off_is_said_first_and_changes_nothing() {
    let off = SITE.replace("enable ns feature LB\n", "");
    let judgement = judged(&off);
    assert!(judgement.first[0].contains("enable ns feature LB"), "{:?}", judgement.first);
    assert_eq!(judgement.worst(), Consequence::None, "the appliance does the same with that file");
    assert_eq!(judged(SITE).first, Vec::<String>::new());
    assert_eq!(judged("add server web 192.0.2.11\n").first, Vec::<String>::new(), "nothing would be served");
}

#[test]
fn a_refused_line_is_refused_there_too_or_changes_traffic() {
    let judgement = judged("add lb vserver v HTTP 300.1.1.1 80\nno such command\n");
    assert_eq!(judgement.count(Verdict::Refused), 2);
    assert_eq!(judgement.worst(), Consequence::None);
    assert_eq!(judgement.findings[0].column, "add lb vserver v HTTP ".len() + 1);
    assert_eq!(judgement.findings[1].command, "(no command)", "anything may stand there");
}

#[test]
fn a_net_profile_is_honoured_with_an_address_and_not_with_a_set_of_them() {
    let judgement = judged("add netProfile one -srcIP 10.1.1.102\nadd netProfile many -srcIP an_ipset\n");
    assert_eq!(findings(&judgement, 1).count(), 0);
    assert_eq!(findings(&judgement, 2).map(|f| f.consequence).collect::<Vec<_>>(), [Consequence::Traffic]);
}

/// Case M38: in a file the order of the lines does not matter.
#[test]
fn m38_lrtm_without_a_monitor_that_measures_is_found() {
    let site = SITE.replace("192.0.2.10 80", "192.0.2.10 80 -lbMethod LRTM");
    let measured = "add lb monitor m HTTP -LRTM ENABLED\nbind service s -monitorName m\n";
    let other = "add service t 192.0.2.12 HTTP 80\nbind lb vserver v t\n";
    let reason = |text: &str| judged(text).findings.first().map(|finding| finding.reason.clone());
    assert_eq!(line(&site, "add lb vserver v"), (Verdict::Partial, Consequence::Traffic));
    let lacks = "it chooses by LRTM, and no monitor with -LRTM ENABLED measures";
    let ecv = "for which TCP-ECV needs -send and -recv, UDP-ECV -recv";
    assert_eq!(reason(&site), Some(format!("{lacks} s, {ecv}: the fewest connections decide")));
    assert_eq!(reason(&format!("{site}{measured}")), None);
    let mixed = format!("{site}{measured}{other}");
    assert_eq!(reason(&mixed), Some(format!("{lacks} t, {ecv}: the mean of the others counts for them")));
    assert_eq!(reason(&mixed.replace("-lbMethod LRTM", "")), None);
}

#[test]
fn a_way_by_the_service_is_honoured_unless_a_script_asks() {
    let verdict = |kind: &str| {
        let monitor = format!("add lb monitor m {kind} -destIP 192.0.2.1 -transparent YES");
        line(&format!("{SITE}{monitor}\nbind service s -monitorName m\n"), "add lb monitor m")
    };
    assert_eq!(verdict("TCP"), (Verdict::Honoured, Consequence::None));
    assert_eq!(verdict("USER -scriptName a.pl"), (Verdict::Partial, Consequence::Traffic));
}

#[test]
fn a_type_of_service_is_honoured_unless_it_stands_for_an_address() {
    let verdict = |options: &str| {
        let text = format!("{SITE}add lb monitor m TCP {options}\nbind service s -monitorName m\n");
        line(&text, "add lb monitor m")
    };
    assert_eq!(verdict("-tos YES -tosId 3"), (Verdict::Honoured, Consequence::None));
    let both = "-destIP 192.0.2.1 -tos YES -tosId 3";
    assert_eq!(verdict(both), (Verdict::Partial, Consequence::Traffic));
    assert_eq!(verdict(&both.replace("YES", "NO")), (Verdict::Honoured, Consequence::None));
}
