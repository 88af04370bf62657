//! The documents' options against the program's: none of the command reference's synopses is missing, and none of
//! NITRO's fields. Both lists were made from the documents alone.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use steelyard_core::command::{Command, Object, Verb, lex, parse};

fn lines(table: &'static str) -> impl Iterator<Item = (&'static str, Vec<&'static str>)> {
    let lines = table.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| {
        let (head, words) = line.split_once('\t').unwrap();
        (head, words.split_whitespace().collect())
    })
}

fn code(line: &str) -> u16 {
    parse(&lex::words(line).unwrap()).map_or_else(|(refusal, _)| refusal.code(), |_| 0)
}

/// 1088, 1090 and 1099 say that a command or an option is not known, or not for sure.
#[test]
fn every_option_of_the_synopses_is_known() {
    let mut options = 0;
    for (command, names) in lines(include_str!("fixtures/options.tsv")) {
        assert_ne!(code(command), 1088, "{command}");
        assert_eq!(code(&format!("{command} -noSuchOption")), 1090, "{command}");
        for name in names {
            let code = code(&format!("{command} -{name}"));
            assert!(![1088, 1090, 1099].contains(&code), "{command} -{name}: {code}");
            options += 1;
        }
    }
    assert!(options > 900, "{options}");
}

/// A field of NITRO's is an argument of one of the object's commands.
#[test]
fn every_field_of_nitro_is_known() {
    let known = |object: Object, field: &str| {
        Verb::ALL.into_iter().any(|verb| match Command::new(verb, object, &[(field, &["x"])]) {
            Ok(_) => true,
            Err(refusal) => ![1088, 1090].contains(&refusal.code()),
        })
    };
    let mut missing = Vec::new();
    for (name, fields) in lines(include_str!("fixtures/nitro_fields.tsv")) {
        let object = Object::ALL.into_iter().find(|object| object.text() == name).unwrap();
        assert!(!known(object, "nosuchfield"));
        missing.extend(
            fields.into_iter().filter(|field| !known(object, field)).map(|field| format!("{name} {field}")),
        );
    }
    missing.retain(|field| !NOT_OURS.contains(&field.as_str()));
    assert_eq!(missing, Vec::<String>::new());
}

/// What NITRO lets be written and no synopsis of these commands has: units, which are words behind a value here; other
/// names of arguments in one message; a word that says that two others follow; results that the lists count as fields; arguments of `save`, `clear`, `diff` and of
/// programs that manage several appliances; a service's number, which `CustomServerID` replaced; a
/// password of `ns rpcNode`.
const NOT_OURS: &[&str] = &[
    "lb monitor units1",
    "lb monitor units2",
    "lb monitor units3",
    "lb monitor units4",
    "lb monitor servicegroupname",
    "service monitor_name_svc",
    "serviceGroup monitor_name_svc",
    "serviceGroup dup_weight",
    "lb monitor hostname",
    "lb parameter adccookieattributewarningmsg",
    "lb parameter feature",
    "ns config all",
    "lb vserver currentactiveorder",
    "lb vserver redirurlflags",
    "HA node hasyncfailurereason",
    "HA node rpcnodepassword",
    "lb profile adccookieattributewarningmsg",
    "ssl certKey builtin",
    "ssl certKey certificatesource",
    "ssl certKey certkeydigest",
    "ssl certKey certkeystatus",
    "ssl certKey feature",
    "ssl certKey ocspstaplingcache",
    "ssl certKey sandns",
    "ssl certKey sanipadd",
    "ssl vserver quicflag",
    "ssl vserver skipcacertbundle",
    "cs action feature",
    "cs policy boundto",
    "cs vserver invoke",
    "cs vserver version",
    "ns ip operationalarpowner",
    "server Internal",
    "service Internal",
    "service builtin",
    "service feature",
    "service monuserstatusmesg",
    "serviceGroup monuserstatusmesg",
    "serviceGroup orderstr",
    "serviceGroup svcitmactsvcs",
    "serviceGroup svcitmboundsvcs",
    "serviceGroup svcitmpriority",
    "serviceGroup trofsdelay",
    "serviceGroup trofsreason",
    "ns config Async",
    "ns config changedpassword",
    "ns config config",
    "ns config config1",
    "ns config config2",
    "ns config configfile",
    "ns config force",
    "ns config id",
    "ns config ignoredevicespecific",
    "ns config level",
    "ns config outtype",
    "ns config primaryip6",
    "ns config rbaconfig",
    "ns config responsefile",
    "ns config svmcmd",
    "ns config template",
    "ns config weakpassword",
    "service serverid",
    "serviceGroup serverid",
];
