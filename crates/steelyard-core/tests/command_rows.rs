//! Every attribute row at the edges of what it may hold, as NITRO's words and as a command line. The ranges are
//! checked against the documents by [`ranges_are_the_documented_ones`]; the rest follows from them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "command_rows/probes.rs"]
mod probes;

use probes::probes;
use steelyard_core::command::{Command, Object, Verb, lex, parse, print, read};
use steelyard_core::config::attribute::{Attribute, Kind, Place, Resource, Row, Value};
use steelyard_core::config::secret::Secret;
use steelyard_core::config::{
    CertKeyBinding, CodeRange, CommandPolicyBinding, CsAction, CsDomain, CsPolicy, CsTarget, CsVserver,
    HaLocal, HaPartner, LbGroup, LbMonitor, LbParameter, LbProfile, LbVserver, Member, MetricBinding,
    MonitorBinding, MonitorType, NetProfile, NsConfig, NsHostName, NsIp, NsParam, NsSpParams,
    OcspResponderBinding, PolicyBinding, RouteMonitor, Server, Service, ServiceGroup, SslCertKey, SslService,
    SslServiceGroup, SslVserver, SystemCmdPolicy, SystemGroup, SystemParameter, SystemUser, UserBinding,
};

/// Stands for an option that is given without a value.
const NO_WORD: &str = "(none)";

type Fields = &'static [(&'static str, &'static str)];

#[test]
fn server() {
    every_row::<Server>(Verb::Add, Object::Server, &[("name", "s"), ("ipaddress", "10.0.0.1")]);
}

#[test]
fn service() {
    every_row::<Service>(
        Verb::Add,
        Object::Service,
        &[("name", "s"), ("servername", "h"), ("servicetype", "HTTP"), ("port", "80")],
    );
}

#[test]
fn service_group() {
    every_row::<ServiceGroup>(
        Verb::Add,
        Object::ServiceGroup,
        &[("servicegroupname", "g"), ("servicetype", "HTTP")],
    );
}

#[test]
fn member() {
    every_row::<Member>(
        Verb::Bind,
        Object::ServiceGroup,
        &[("servicegroupname", "g"), ("servername", "h"), ("port", "80")],
    );
}

#[test]
fn monitor_binding() {
    every_row::<MonitorBinding>(Verb::Bind, Object::Service, &[("name", "s"), ("monitor_name", "m")]);
}

#[test]
fn lb_vserver() {
    every_row::<LbVserver>(
        Verb::Add,
        Object::LbVserver,
        &[
            ("name", "v"),
            ("servicetype", "HTTP"),
            ("ipv46", "10.0.0.1"),
            ("port", "80"),
            ("newservicerequest", "1"),
        ],
    );
}

#[test]
fn lb_monitor() {
    every_row::<LbMonitor>(Verb::Add, Object::LbMonitor, &[("monitorname", "m"), ("type", "HTTP")]);
}

#[test]
fn policy_binding() {
    every_row::<PolicyBinding>(Verb::Bind, Object::CsVserver, &[("name", "v"), ("policyname", "p")]);
}

#[test]
fn cs_vserver() {
    every_row::<CsVserver>(
        Verb::Add,
        Object::CsVserver,
        &[
            ("name", "v"),
            ("servicetype", "HTTP"),
            ("ipv46", "10.0.0.1"),
            ("port", "80"),
            ("insertvserveripport", "VIPADDR"),
        ],
    );
    every_row::<CsTarget>(Verb::Bind, Object::CsVserver, &[("name", "v")]);
    every_row::<CsDomain>(Verb::Bind, Object::CsVserver, &[("name", "v"), ("domainname", "d")]);
}

#[test]
fn cs_policy_and_action() {
    every_row::<CsPolicy>(Verb::Add, Object::CsPolicy, &[("policyname", "p")]);
    every_row::<CsAction>(Verb::Add, Object::CsAction, &[("name", "a")]);
}

#[test]
fn metric_binding() {
    every_row::<MetricBinding>(Verb::Bind, Object::LbMonitor, &[("monitorname", "m"), ("metric", "x")]);
}

#[test]
fn lb_profile() {
    every_row::<LbProfile>(Verb::Add, Object::LbProfile, &[("lbprofilename", "p")]);
}

#[test]
fn ha_partner() {
    every_row::<HaPartner>(Verb::Add, Object::HaPartner, &[("id", "1"), ("ipaddress", "10.0.0.1")]);
    every_row::<HaLocal>(Verb::Set, Object::HaPartner, &[]);
    every_row::<RouteMonitor>(Verb::Bind, Object::HaPartner, &[("routemonitor", "10.0.0.0")]);
}

#[test]
fn ssl_cert_key() {
    every_row::<SslCertKey>(Verb::Add, Object::SslCertKey, &[("certkey", "c")]);
    every_row::<OcspResponderBinding>(
        Verb::Bind,
        Object::SslCertKey,
        &[("certkey", "c"), ("ocspresponder", "o")],
    );
}

#[test]
fn ssl_vserver() {
    every_row::<SslVserver>(Verb::Set, Object::SslVserver, &[("vservername", "v")]);
    every_row::<CertKeyBinding>(
        Verb::Bind,
        Object::SslVserver,
        &[("vservername", "v"), ("certkeyname", "c")],
    );
}

#[test]
fn ssl_service() {
    every_row::<SslService>(Verb::Set, Object::SslService, &[("servicename", "s")]);
    every_row::<SslServiceGroup>(Verb::Set, Object::SslServiceGroup, &[("servicegroupname", "g")]);
}

#[test]
fn lb_group() {
    every_row::<LbGroup>(Verb::Add, Object::LbGroup, &[("name", "g")]);
}

#[test]
fn ns_config() {
    every_row::<NsConfig>(Verb::Set, Object::NsConfig, &[]);
    every_row::<NsParam>(Verb::Set, Object::NsConfig, &[]);
}

#[test]
fn ns_param() {
    every_row::<NsParam>(Verb::Set, Object::NsParam, &[]);
}

#[test]
fn ns_sp_params() {
    every_row::<NsSpParams>(Verb::Set, Object::NsSpParams, &[]);
    assert_eq!(kind::<NsSpParams>("basethreshold"), Kind::Number { min: 0, max: 32_767 });
    let printed = |lines: &str| print(&read(lines.as_bytes(), "ns.conf").config).ns_conf;
    let set = "set ns spParams -baseThreshold 40 -throttle Aggressive\n";
    assert!(printed(set).contains(set));
    assert!(!printed(&format!("{set}unset ns spParams -baseThreshold -throttle\n")).contains("spParams"));
}

#[test]
fn ns_host_name() {
    every_row::<NsHostName>(Verb::Set, Object::NsHostName, &[("hostname", "h")]);
}

#[test]
fn ns_ip() {
    every_row::<NsIp>(Verb::Add, Object::NsIp, &[("ipaddress", "10.0.0.1"), ("netmask", "255.255.255.0")]);
}

#[test]
fn net_profile() {
    every_row::<NetProfile>(Verb::Add, Object::NetProfile, &[("name", "n")]);
}

#[test]
fn lb_parameter() {
    every_row::<LbParameter>(Verb::Set, Object::LbParameter, &[]);
}

#[test]
fn system_user() {
    every_row::<SystemUser>(Verb::Add, Object::SystemUser, &[("username", "u")]);
}

#[test]
fn system_group() {
    every_row::<SystemGroup>(Verb::Add, Object::SystemGroup, &[("groupname", "g")]);
    every_row::<CommandPolicyBinding>(
        Verb::Bind,
        Object::SystemGroup,
        &[("groupname", "g"), ("policyname", "p")],
    );
    every_row::<UserBinding>(Verb::Bind, Object::SystemGroup, &[("groupname", "g")]);
}

#[test]
fn system_cmd_policy() {
    every_row::<SystemCmdPolicy>(
        Verb::Add,
        Object::SystemCmdPolicy,
        &[("policyname", "p"), ("action", "ALLOW"), ("cmdspec", "^show.*")],
    );
}

#[test]
fn system_parameter() {
    every_row::<SystemParameter>(Verb::Set, Object::SystemParameter, &[]);
}

/// `spec/methods.md` 2.3, 4.1, 5.1, 5.2, 5.3; `spec/nitro.md` lbvserver, service, lbmonitor.
#[test]
fn ranges_are_the_documented_ones() {
    let number = |min, max| Kind::Number { min, max };
    let monitor = |nitro| kind::<LbMonitor>(nitro);
    assert_eq!(monitor("retries"), number(1, 127));
    assert_eq!(monitor("failureretries"), number(0, 32));
    assert_eq!(monitor("successretries"), number(1, 32));
    assert_eq!(monitor("interval"), Kind::Span { max: 20_940, floor_ms: 20, unit: "units3" });
    assert_eq!(monitor("resptimeout"), Kind::Span { max: 20_939, floor_ms: 10, unit: "units4" });
    assert!(matches!(monitor("downtime"), Kind::Span { max: 20_939, .. }));
    assert_eq!(kind::<LbVserver>("newservicerequestincrementinterval"), number(0, 3600));
    assert_eq!(kind::<LbVserver>("newservicerequest"), number(0, u32::MAX));
    assert_eq!(kind::<LbVserver>("clttimeout"), number(0, 31_536_000));
    assert_eq!(kind::<Member>("weight"), number(1, 100));
    assert_eq!(kind::<MonitorBinding>("weight"), number(1, 100));
    assert_eq!(kind::<Service>("port"), Kind::PortOrAny { min: 1 });
    assert_eq!(kind::<SystemUser>("maxsession"), number(1, 40));
}

/// `spec/methods.md` 2.3, 4.1, 4.2, 5.2, 5.3.
#[test]
fn defaults_are_the_documented_ones() {
    let monitor = LbMonitor::default();
    assert_eq!(
        (monitor.interval.ms(), monitor.resptimeout.ms(), monitor.down_time.ms()),
        (5_000, 2_000, 30_000)
    );
    assert_eq!((monitor.retries, monitor.failure_retries, monitor.success_retries), (3, 0, 1));
    assert_eq!((monitor.lrtm, monitor.reverse, monitor.enabled), (None, false, true));
    assert_eq!(
        (monitor.http_request.as_str(), monitor.rtsp_request.as_str(), monitor.mqtt_version),
        ("HEAD /", "OPTIONS *", 4)
    );
    let code = |kind: &str| MonitorType::of(kind).unwrap().good_codes();
    assert_eq!((code("HTTP"), code("RTSP")), (vec![CodeRange::one(200)], vec![CodeRange::one(200)]));
    assert_eq!((code("RADIUS"), code("TCP")), (vec![CodeRange::one(2)], vec![]));
    let vserver = LbVserver::default();
    assert_eq!(
        (vserver.lb_method.text(), vserver.clt_timeout_s, vserver.enabled),
        ("LEASTCONNECTION", 180, true)
    );
    assert_eq!(vserver.new_service_request, 0);
    assert_eq!(vserver.new_service_request_unit.text(), "PER_SECOND");
    assert_eq!(vserver.new_service_request_increment_interval_s, 0);
    assert!(Service::default().health_monitor && Service::default().enabled);
    assert_eq!(Member::default().weight, 1);
    assert_eq!(LbParameter::default().startup_rr_factor, 0);
}

fn kind<T: Resource>(nitro: &str) -> Kind {
    T::rows().find(|row| row.nitro == nitro).unwrap().kind
}

/// What must stand before a second word: the option that it belongs to, and the words between.
fn with_owner<T: Resource>(base: Fields, row: &Row) -> Vec<(&'static str, String)> {
    let rows: Vec<&Row> = T::rows().collect();
    let at = rows.iter().position(|other| *other == row).unwrap();
    let owner = match row.place {
        Place::SecondWord => rows[..at].iter().rposition(|other| other.place == Place::Option).unwrap(),
        _ => at,
    };
    let needed = rows[owner..at].iter().map(|row| (row.nitro, probes(&row.kind).0.swap_remove(0)));
    let given = base.iter().map(|(name, words)| (*name, (*words).to_owned()));
    given.filter(|(name, _)| rows[owner..at].iter().all(|row| row.nitro != *name)).chain(needed).collect()
}

fn every_row<T: Resource + Default>(verb: Verb, object: Object, base: Fields) {
    for attribute in T::ATTRIBUTES {
        let row = &attribute.row;
        assert!(row.help.ends_with('.') && row.help.len() > 10, "{}: help {:?}", row.cli, row.help);
        let (good, bad) = probes(&row.kind);
        assert!(!good.is_empty(), "{}", row.cli);
        assert_eq!(bad.is_empty(), row.kind == Kind::Bare, "{}", row.cli);
        let base = &with_owner::<T>(base, row)[..];
        for words in good {
            accepts::<T>(attribute, verb, object, base, &words);
        }
        for (words, code) in bad {
            let refusal = by_nitro(verb, object, base, row.nitro, &words).expect_err(&words);
            assert_eq!(refusal, code, "{} {} {words}", object.text(), row.cli);
            if row.ranged && words.contains('[') {
                continue; // In a line it stands for several words.
            }
            let refusal = by_text::<T>(verb, object, base, row.nitro, &words).expect_err(&words);
            // A word too many in a line is nobody's.
            let slot = matches!(row.place, Place::Key | Place::Required | Place::Optional);
            let code = if slot && code == 1112 { 1090 } else { code };
            assert_eq!(refusal, code, "{} {} {words} as text", object.text(), row.cli);
        }
    }
}

/// NITRO's words and the line make the same command, and its value goes into the field and comes out of it.
fn accepts<T: Resource + Default>(
    attribute: &Attribute<T>,
    verb: Verb,
    object: Object,
    base: &[(&'static str, String)],
    words: &str,
) {
    let row = &attribute.row;
    let command = by_nitro(verb, object, base, row.nitro, words)
        .unwrap_or_else(|code| panic!("{} {} {words}: {code}", object.text(), row.cli));
    assert_eq!(
        by_text::<T>(verb, object, base, row.nitro, words),
        Ok(command.clone()),
        "{} {words}",
        row.cli
    );
    let value = command.value(row.nitro).unwrap();
    if matches!(value, Value::Secret(Secret::Plain(_))) {
        return; // It is sealed before it is stored.
    }
    let mut resource = T::default();
    (attribute.store)(&mut resource, value);
    assert_eq!((attribute.value)(&resource).as_ref(), Some(value), "{} {words}", row.cli);
}

fn by_nitro(
    verb: Verb,
    object: Object,
    base: &[(&'static str, String)],
    nitro: &str,
    words: &str,
) -> Result<Command, u16> {
    let given: Vec<&str> = split(words);
    let held: Vec<(&str, Vec<&str>)> = base
        .iter()
        .filter(|(name, _)| *name != nitro)
        .map(|(name, value)| (*name, split(value)))
        .chain([(nitro, given)])
        .collect();
    let fields: Vec<(&str, &[&str])> = held.iter().map(|(name, words)| (*name, words.as_slice())).collect();
    Command::new(verb, object, &fields).map_err(|refusal| refusal.code())
}

fn by_text<T: Resource>(
    verb: Verb,
    object: Object,
    base: &[(&'static str, String)],
    nitro: &str,
    words: &str,
) -> Result<Command, u16> {
    let mut line = format!("{} {}", verb.text(), object.text());
    let mut base: Vec<(&str, &str)> = base.iter().map(|(name, words)| (*name, words.as_str())).collect();
    match base.iter_mut().find(|(name, _)| *name == nitro) {
        Some(held) => held.1 = words,
        None => base.push((nitro, words)),
    }
    for (name, words) in base {
        let row = T::rows().find(|row| row.nitro == name);
        if let Some(row) = row.filter(|row| row.place == Place::Option) {
            line.push_str(&format!(" -{}", row.cli));
        }
        for word in split(words) {
            match word.starts_with("-e") {
                true => line.push_str(&format!(" {word}")),
                false => line.push_str(&format!(" \"{word}\"")),
            }
        }
    }
    let words = lex::words(&line).unwrap();
    parse(&words).map(|parsed| parsed.commands()[0].clone()).map_err(|(refusal, _)| refusal.code())
}

/// Several words are written with `|` between them.
fn split(words: &str) -> Vec<&str> {
    match words {
        NO_WORD => Vec::new(),
        words => words.split('|').collect(),
    }
}
