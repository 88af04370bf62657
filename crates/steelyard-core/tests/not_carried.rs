//! What becomes of words, ports and names that are kept and not acted on: nobody is served by them, nor by what they
//! stand for in another way.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use steelyard_core::command::read;
use steelyard_core::config::Config;
use steelyard_core::config::guard::Guards;
use steelyard_core::snapshot::Snapshot;
use steelyard_core::time::Time;
use steelyard_core::vserver::Protocol;

fn config(lines: &str) -> Config {
    let reading = read(format!("enable ns feature LB\n{lines}").as_bytes(), "ns.conf");
    assert_eq!(reading.refused, []);
    reading.config
}

fn snapshot(lines: &str) -> Snapshot {
    Snapshot::default().next(&config(lines), &Guards::default(), Time::ZERO)
}

/// The names of what a virtual server chooses from.
fn ring(snapshot: &Snapshot, vserver: &str) -> Vec<String> {
    let services = snapshot.vserver(vserver).unwrap().services().map(|service| service.name().to_owned());
    services.collect()
}

/// Each has its own services, and neither is ever given one of the other.
#[test]
fn tcp_and_http_are_both_carried_and_do_not_mix() {
    let snapshot = snapshot(
        "add service h 10.0.0.5 HTTP 80\nadd service t 10.0.0.5 TCP 80\nadd service s 10.0.0.5 SSL_TCP 443\n\
         add lb vserver vh HTTP 10.0.0.1 80\nadd lb vserver vt TCP 10.0.0.1 81\nbind lb vserver vh h\n\
         bind lb vserver vt t\nbind lb vserver vt s\n",
    );
    assert_eq!((ring(&snapshot, "vh"), ring(&snapshot, "vt")), (vec!["h".into()], vec!["t".into()]));
    let protocol = |name: &str| snapshot.vserver(name).unwrap().protocol;
    assert_eq!((protocol("vh"), protocol("vt")), (Protocol::Http, Protocol::Tcp));
}

#[test]
fn a_virtual_server_of_a_protocol_that_is_not_carried_has_nobody() {
    let snapshot =
        snapshot("add service s 10.0.0.5 SSL 443\nadd lb vserver v SSL 10.0.0.1 443\nbind lb vserver v s\n");
    assert_eq!(ring(&snapshot, "v"), Vec::<String>::new());
}

#[test]
fn ports_that_stand_for_any_and_servers_without_an_address_are_not_chosen() {
    let snapshot = snapshot(
        "add server named www.example.com\nadd service any 10.0.0.5 HTTP *\nadd service named named HTTP 80\n\
         add service real 10.0.0.6 HTTP 80\nadd serviceGroup g HTTP\nbind serviceGroup g 10.0.0.7 *\n\
         bind serviceGroup g 10.0.0.7 80\nadd lb vserver v HTTP 10.0.0.1 80\nbind lb vserver v any\n\
         bind lb vserver v named\nbind lb vserver v real\nbind lb vserver v g\n",
    );
    assert_eq!(ring(&snapshot, "v"), ["real", "g?10.0.0.7?80"]);
}

/// `spec/methods.md` 3.1: the backup method where the method cannot be used; LEASTCONNECTION where that is not carried
/// either, or looks at requests that the protocol has not (1.5).
#[test]
fn the_backup_method_stands_in() {
    let snapshot = snapshot(
        "add lb vserver a HTTP 10.0.0.1 80 -lbMethod URLHASH\n\
         add lb vserver b HTTP 10.0.0.2 80 -lbMethod URLHASH -backupLBMethod LEASTPACKETS\n\
         add lb vserver c HTTP 10.0.0.3 80 -lbMethod TOKEN -backupLBMethod SOURCEIPHASH\n\
         add lb vserver d HTTP 10.0.0.4 80 -backupLBMethod LEASTPACKETS\n\
         add lb vserver e TCP 10.0.0.5 80 -lbMethod URLHASH -backupLBMethod LEASTRESPONSETIME\n",
    );
    let method = |name: &str| snapshot.vserver(name).unwrap().method;
    assert_eq!(
        ["a", "b", "c", "d", "e"].map(method),
        ["ROUNDROBIN", "LEASTPACKETS", "LEASTCONNECTION", "LEASTCONNECTION", "LEASTCONNECTION"]
    );
}

/// `spec/methods.md` 5.2: HTTP 180 and 360 seconds, TCP 9000, UDP and DNS 120.
#[test]
fn time_outs_follow_the_protocol() {
    let mut lines = String::new();
    let types = [
        ("HTTP", 180, 360),
        ("SSL", 180, 360),
        ("TCP", 9000, 9000),
        ("SSL_TCP", 9000, 9000),
        ("UDP", 120, 120),
        ("DNS", 120, 120),
        ("DNS_TCP", 180, 360),
        ("ANY", 120, 120),
        ("RDP", 9000, 9000),
    ];
    for (port, (kind, ..)) in (8000..).zip(types) {
        lines += &format!(
            "add lb vserver {kind} {kind} 10.0.0.1 {port}\nadd service {kind} 10.0.0.5 {kind} {port}\n"
        );
        lines += &format!("add serviceGroup g-{kind} {kind}\n");
    }
    lines += "add lb vserver own TCP 10.0.0.1 7000 -cltTimeout 60\nset lb vserver UDP -cltTimeout 30\n\
              unset lb vserver UDP -cltTimeout\nset service TCP -svrTimeout 30\nunset service TCP -svrTimeout\n";
    let config = config(&lines);
    for (kind, client, server) in types {
        assert_eq!(config.lb_vservers.find(kind).unwrap().clt_timeout_s, client, "{kind}");
        let service = config.services.find(kind).unwrap();
        assert_eq!((service.clt_timeout_s, service.svr_timeout_s), (client, server), "{kind}");
        let group = config.service_groups.find(&format!("g-{kind}")).unwrap();
        assert_eq!((group.clt_timeout_s, group.svr_timeout_s), (client, server), "{kind}");
    }
    assert_eq!(config.lb_vservers.find("own").unwrap().clt_timeout_s, 60);
}

/// One address and port may be used once for each transport, and more often where listen policies divide what comes.
#[test]
fn addresses_are_shared_where_traffic_differs() {
    let config = config(
        "add lb vserver udp DNS 10.0.0.1 53\nadd lb vserver tcp DNS_TCP 10.0.0.1 53\n\
         add lb vserver one HTTP 10.0.0.1 80 -Listenpolicy \"CLIENT.IP.SRC.IN_SUBNET(10.0.0.0/8)\"\n\
         add lb vserver rest HTTP 10.0.0.1 80\n",
    );
    assert_eq!(config.lb_vservers.len(), 4);
    let again = read(b"add lb vserver a TCP 10.0.0.1 80\nadd lb vserver b SSL 10.0.0.1 80\n", "ns.conf");
    assert_eq!(again.refused.len(), 1);
}
