//! The table of what needs and excludes what, held against what commands come to.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use steelyard_core::command::{
    Command, DEPENDENCIES, Dependency, Object, Refusal, Verb, apply, described, read, taken,
};
use steelyard_core::config::Config;
use steelyard_core::config::attribute::Kind;

type Fields = &'static [(&'static str, &'static str)];

/// The command in which the attribute stands, and what else that command cannot do without.
fn command(dependency: &Dependency) -> (Verb, Fields) {
    match (dependency.object, dependency.attribute) {
        (Object::LbVserver | Object::CsVserver, "ipv46" | "port") => {
            (Verb::Add, &[("name", "new"), ("servicetype", "HTTP")])
        }
        (Object::LbVserver, "weight") => (Verb::Set, &[("name", "v")]),
        (Object::LbVserver, _) => (Verb::Bind, &[("name", "v")]),
        (Object::Service, "weight") => (Verb::Set, &[("name", "s")]),
        (Object::Service, _) => (Verb::Bind, &[("name", "s")]),
        (Object::ServiceGroup, _) => (Verb::Bind, &[("servicegroupname", "g")]),
        (Object::LbMonitor, _) => (Verb::Bind, &[("monitorname", "m")]),
        (Object::CsVserver, _) => (Verb::Bind, &[("name", "c")]),
        (object, attribute) => panic!("{object:?} {attribute}"),
    }
}

fn word(attribute: &str) -> &'static str {
    match attribute {
        "ipv46" => "192.0.2.77",
        "port" => "8080",
        "weight" => "3",
        "priority" | "customserverid" | "hashid" => "7",
        "bindpoint" => "REQUEST",
        "gotopriorityexpression" => "END",
        "servicename" => "s",
        "servername" => "h",
        "policyname" => "p",
        "monitor_name" => "m",
        "metric" => "cpu",
        "targetlbvserver" => "v",
        "labelname" => "l",
        "labeltype" => "policylabel",
        other => panic!("{other}"),
    }
}

/// What comes of the command with those attributes.
fn refused(dependency: &Dependency, attributes: &[&str]) -> Option<u16> {
    let (verb, rest) = command(dependency);
    let mut config: Config = read(FILE.as_bytes(), "ns.conf").config;
    let words: Vec<(&str, [&str; 1])> = attributes.iter().map(|name| (*name, [word(name)])).collect();
    let rest: Vec<(&str, [&str; 1])> = rest.iter().map(|(name, word)| (*name, [*word])).collect();
    let fields: Vec<(&str, &[&str])> =
        rest.iter().chain(&words).map(|(name, words)| (*name, &words[..])).collect();
    let command = Command::new(verb, dependency.object, &fields);
    let result = command.and_then(|command| apply(&mut config, &command));
    result.err().as_ref().map(Refusal::code)
}

#[test]
fn what_needs_another_is_refused_without_it_and_taken_with_it() {
    for dependency in DEPENDENCIES.iter().filter(|dependency| !dependency.needs.is_empty()) {
        let alone = refused(dependency, &[dependency.attribute]);
        // 1091: the word that follows the value is missing.
        assert!(matches!(alone, Some(1091 | 1093 | 1095)), "{dependency:?}: {alone:?}");
        let both = [&[dependency.attribute], dependency.needs].concat();
        let with = refused(dependency, &both);
        // A weight of what is not bound has another reason.
        assert!(!matches!(with, Some(1091..=1093 | 1095)), "{dependency:?}: {with:?}");
    }
}

#[test]
fn what_excludes_another_is_refused_with_it_alone() {
    for dependency in DEPENDENCIES.iter().filter(|dependency| !dependency.excludes.is_empty()) {
        for other in dependency.excludes {
            assert_eq!(refused(dependency, &[dependency.attribute, other]), Some(1092), "{dependency:?}");
        }
    }
}

#[test]
fn every_name_is_an_attribute() {
    for dependency in DEPENDENCIES {
        let (verb, _) = command(dependency);
        let taken = taken(verb, dependency.object).unwrap();
        for name in [&[dependency.attribute], dependency.needs, dependency.excludes].concat() {
            assert!(taken.row_of_nitro(name).is_some(), "{dependency:?}: {name}");
        }
    }
}

/// Defaults by protocol: `spec/methods.md` 5.2.
#[test]
fn defaults_are_told_where_the_protocol_decides() {
    let of = |object, nitro: &str| described(object).into_iter().find(|d| d.row.nitro == nitro).unwrap();
    let timeout = of(Object::LbVserver, "clttimeout");
    assert!(timeout.default.is_none());
    for (protocol, seconds) in
        [("HTTP", 180), ("SSL", 180), ("TCP", 9000), ("UDP", 120), ("DNS", 120), ("ANY", 120)]
    {
        let told = timeout.by_type.iter().find(|(word, _)| *word == protocol).unwrap();
        assert_eq!(told.1, steelyard_core::config::attribute::Value::Number(seconds), "{protocol}");
    }
    let name = of(Object::LbVserver, "name");
    assert!(name.default.is_none() && name.by_type.is_empty());
    assert_eq!(of(Object::LbMonitor, "rtsprequest").types, ["RTSP"]);
    assert!(of(Object::LbMonitor, "interval").types.is_empty());
}

/// `spec/methods.md` 1.4, 1.5, and NITRO's errors 1462 and 1464: of each method the protocols, and `apply` goes by the same.
#[test]
fn methods_are_told_with_the_protocols_that_have_them() {
    let described = described(Object::LbVserver);
    let of = |nitro: &str| described.iter().find(|d| d.row.nitro == nitro).unwrap();
    let words = |nitro: &str| match of(nitro).row.kind {
        Kind::Word(words) => words.carried.iter().chain(words.not_carried).copied().collect::<Vec<_>>(),
        other => panic!("{other:?}"),
    };
    let told = |method: &str| {
        of("lbmethod").types_by_word.iter().find(|(word, _)| *word == method).map(|(_, types)| types)
    };
    assert_eq!(told("LEASTRESPONSETIME").unwrap(), &["HTTP", "SSL"]);
    let requests = told("LEASTREQUEST").unwrap();
    assert!(
        ["HTTP", "SSL", "DNS", "RADIUS"].iter().all(|protocol| requests.contains(protocol)),
        "{requests:?}"
    );
    assert!(
        !["TCP", "SSL_TCP", "UDP", "FTP"].iter().any(|protocol| requests.contains(protocol)),
        "{requests:?}"
    );
    assert_eq!(told("AUDITLOGHASH").unwrap(), &["SYSLOGTCP", "SYSLOGUDP"]);
    assert!(told("URLHASH").unwrap().iter().all(|protocol| !protocol.starts_with("SYSLOG")));
    assert!(
        told("LEASTCONNECTION").is_none()
            && told("LRTM").is_none()
            && of("backuplbmethod").types_by_word.is_empty()
    );
    for (method, protocol) in
        words("lbmethod").into_iter().flat_map(|m| words("servicetype").into_iter().map(move |p| (m, p)))
    {
        let mut config = Config::default();
        let fields: [(&str, &[&str]); 3] =
            [("name", &["v"]), ("servicetype", &[protocol]), ("lbmethod", &[method])];
        let command = Command::new(Verb::Add, Object::LbVserver, &fields).unwrap();
        let code = apply(&mut config, &command).err().as_ref().map(Refusal::code);
        let is_told = told(method).is_none_or(|types| types.contains(&protocol));
        assert_eq!(code.is_none(), is_told, "{method} of {protocol}: {code:?}");
    }
}

const FILE: &str = "enable ns feature LB CS\nadd server h 192.0.2.1\nadd service s h HTTP 80\nadd serviceGroup g HTTP\n\
    add lb vserver v HTTP 192.0.2.9 80\nadd lb monitor m HTTP\nadd cs vserver c HTTP 192.0.2.10 80\n";
