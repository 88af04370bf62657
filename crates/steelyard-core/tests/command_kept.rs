//! Lines that are kept: which, where a saved file has them, and that they come back.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fmt::Write as _;

use proptest::collection::vec;
use proptest::prelude::*;
use steelyard_core::command::{Command, Object, Outcome, Verb, apply, print, read, run_line};
use steelyard_core::config::Config;
use steelyard_core::config::attribute::Effect;
use steelyard_core::config::kept::Class;

fn printed(file: &str) -> String {
    print(&read(file.as_bytes(), "ns.conf").config).ns_conf
}

/// Class and effect of a line, or the code of its refusal.
fn outcome(line: &str) -> Result<(Class, Effect), u16> {
    match &read(line.as_bytes(), "ns.conf").lines[0].outcome {
        Outcome::Kept { class, effect } => Ok((*class, *effect)),
        Outcome::Refused { refusal, .. } => Err(refusal.code()),
        Outcome::Applied { .. } => panic!("applied: {line}"),
    }
}

/// What not acting on a command changes.
#[test]
fn effects() {
    use Effect::{Exposure, Inert, Traffic};
    let stored = |effect| Ok((Class::Stored, effect));
    let host = |effect| Ok((Class::Host, effect));
    for (line, expected) in [
        ("set snmp alarm CPU-USAGE -thresholdValue 95", stored(Inert)),
        ("add ntp server 10.0.0.1", stored(Inert)),
        ("add ssl certKey c -newOption c.pem", stored(Traffic)),
        ("add gslb vserver g HTTP", stored(Traffic)),
        ("add responder policy p TRUE DROP", stored(Traffic)),
        ("bind responder global p 10 END", stored(Exposure)),
        ("unbind responder global p", stored(Traffic)),
        ("bind appfw global p 10", stored(Exposure)),
        ("add authentication vserver a SSL 10.0.0.1 443", stored(Exposure)),
        ("set ssl vserver v -tls1 DISABLED", stored(Traffic)),
        ("set ssl vserver v -clientAuth ENABLED -clientCert Mandatory", stored(Exposure)),
        ("add ns acl a DENY -srcIP 10.0.0.1", host(Exposure)),
        ("add ns acl a ALLOW -srcIP 10.0.0.1", host(Inert)),
        ("add route 0.0.0.0 0.0.0.0 10.0.0.1", host(Traffic)),
        ("set interface 1/1 -throughput 0", host(Inert)),
        ("bind vlan 10 -ifnum 1/1", host(Traffic)),
        ("show ns version", Ok((Class::Inert, Inert))),
        ("show lb vserver", Ok((Class::Inert, Inert))),
        ("save ns config", Ok((Class::Inert, Inert))),
        ("reboot -warm", Ok((Class::Inert, Inert))),
        ("create ssl rsakey k.key 2048", Ok((Class::Inert, Inert))),
        ("shell nsgslbautosync", Ok((Class::Inert, Inert))),
    ] {
        assert_eq!(outcome(line), expected, "{line}");
    }
}

/// Every word may be shortened, `ns` may be left out, and what nobody knows is refused.
#[test]
fn first_words() {
    for (short, whole) in [
        ("bind ssl vs v -certkeyName c", "bind ssl vserver v -certkeyName c"),
        ("ad resp ac a", "add responder action a"),
        ("set tcpprofile p", "set ns tcpProfile p"),
        ("add acl a DENY", "add ns acl a DENY"),
        ("ADD SSL CERTKEY c", "add ssl certKey c"),
        ("sh ru", "show ns runningConfig"),
        ("sho save", "show ns savedConfig"),
        ("sh lb vs", "show lb vserver"),
        ("stat ssl", "stat ssl stats"),
        ("save c", "save ns config"),
        ("renumber acls", "renumber ns acls"),
    ] {
        assert!(outcome(short).is_ok(), "{short}: {:?}", outcome(short));
        assert_eq!(outcome(short), outcome(whole), "{short}");
    }
    for (line, code) in [
        ("add ssl frobnicate x", 1088),
        ("add dns aRec example.com 10.0.0.1", 1088),
        ("add ssl c x", 1089),
        ("add r x", 1089),
        ("add ssl", 1128),
        ("frobnicate ssl certKey x", 1088),
    ] {
        assert_eq!(outcome(line), Err(code), "{line}");
    }
}

/// Kept lines stand where an appliance has them: behind what they name, the header first, comments before their commands.
#[test]
fn places() {
    let file = "\
# everything for shop
bind ssl vserver shop -certkeyName shop
add cs action a -targetLBVserver shop
#NS13.1 Build 48.47
# Last modified by `save config`, Sat Dec 13 08:04:58 2025
# the address
add lb vserver shop SSL 10.0.0.1 443
add ssl certKey shop -cert shop.pem
save ns config
frobnicate
enable ns feature LB
# the end";
    let expected = "\
#NS13.1 Build 48.47
# Last modified by `save config`, Sat Dec 13 08:04:58 2025
# inert: save ns config
# refused 1088: frobnicate
enable ns feature LB
add ssl certKey shop -cert shop.pem
# the address
add lb vserver shop SSL 10.0.0.1 443 -persistenceType NONE -cltTimeout 180
add cs action a -targetLBVserver shop
# everything for shop
bind ssl vserver shop -certkeyName shop
# the end
";
    let plain = |text: &str| text.replace(" -persistenceType NONE -cltTimeout 180", "");
    assert_eq!(plain(&printed(file)), plain(expected));
    assert_eq!(printed(&printed(file)), printed(file));
}

#[test]
fn what_comes_after_a_removal_stays_after_it() {
    let file = "add cr policy p -rule a\nbind cr vserver c -policyName p\nunbind cr vserver c -policyName p\n\
                rm cr policy p\n# again\nadd cr policy p -rule b\nbind cr vserver c -policyName p\n";
    assert_eq!(printed(file).split_once('\n').unwrap().1, file);
}

/// Two lines of a value, and a command that a backslash carried on, which the appliance would not take.
#[test]
fn lines_of_several_lines() {
    let file = "add responder action a respondwith \"one\ntwo\"\nadd ssl certKey c \\\n  -cert \"c d\" \\\n  -key k\nadd xyz \"one\ntwo\"";
    let expected = "#NS14.1 Build 51.80\nadd ssl certKey c -cert \"c d\" -key k\n\
                    add responder action a respondwith \"one\ntwo\"\n# refused 1088: add xyz \"one\n# refused 1088| two\"\n";
    assert_eq!(printed(file), expected);
    assert_eq!(printed(expected), expected);
}

#[test]
fn one_line_from_elsewhere_is_kept_too() {
    let mut config = Config::default();
    run_line(&mut config, "  add ssl ocspResponder o -url http://o").unwrap();
    run_line(&mut config, "show ns version").unwrap();
    run_line(&mut config, "# a comment").unwrap();
    let kept: Vec<&str> = config.kept.iter().map(|kept| kept.text.as_str()).collect();
    assert_eq!(kept, ["add ssl ocspResponder o -url http://o"]);
}

/// 50,000 lines of every rank: each is put behind the others of its place at once.
#[test]
fn fifty_thousand_lines() {
    let mut file = String::new();
    for index in 0..10_000 {
        writeln!(file, "# {index}\nbind ssl vserver v{index} -certkeyName c\nadd snmp trap generic 10.0.0.1")
            .unwrap();
        writeln!(file, "add cr policy p{index}\nfrobnicate {index}\nrm cr policy p{index}").unwrap();
    }
    let reading = read(file.as_bytes(), "ns.conf");
    assert_eq!(reading.config.kept.iter().count(), 60_000);
    assert_eq!(reading.refused.len(), 10_000);
}

fn line() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "#NS13.1 Build 48.47",
        "#NS14.1 Build 51.80",
        "# Last modified by `save config`, Sat Dec 13 08:04:58 2025",
        "# words",
        "  # indented",
        "# refused 1088: frobnicate",
        "# refused 1088| more of it",
        "# inert: show lb vserver",
        "# inert| more of it",
        "#",
        "",
        "add server a 10.0.0.1",
        "add service s a HTTP 80",
        "rm service s",
        "add lb vserver v HTTP 10.1.1.1 80",
        "bind lb vserver v s",
        "enable ns feature LB",
        "add lb monitor m HTTP",
        "add ssl certKey c -cert \"a b\"",
        "add responder action a respondwith \"one\ntwo\"",
        "add cr policy p \\\n  -rule a",
        "rm cr policy p",
        "rename cr policy p q",
        "bind cr vserver c -policyName p",
        "add cs policy p \\\n  -url /a",
        "add cs policy p -url /a -newOption 1",
        "rm cs policy p",
        "rename cs policy p q",
        "add cs vserver c HTTP 10.1.1.1 81",
        "add cs vserver c HTTP 10.1.1.1 81 -newOption 1",
        "set lb vserver v -backupVServer c",
        "add lb vserver v HTTP 10.1.1.1 80 -backupVServer c",
        "rm cs vserver c",
        "bind cs vserver c -policyName p -targetLBVserver v",
        "unbind cs vserver c -policyName p",
        "unbind ssl vserver v -eccCurveName ALL",
        "unbind ssl vserver t -eccCurveName ALL",
        "bind ssl vserver t -eccCurveName P_256",
        "set ssl vserver t -clientAuth ENABLED",
        "set ssl vserver t -newOption 1",
        "bind ssl vserver t -certkeyName c -CA",
        "add lb vserver t SSL 10.1.1.1 443",
        "rm lb vserver t",
        "link ssl certKey c d",
        "unlink ssl certKey c",
        "update ssl certKey c -key k",
        "add ssl certKey d -cert d",
        "rm ssl certKey c",
        "add route 0.0.0.0 0.0.0.0 10.0.0.1",
        "> show ns version",
        " Done",
        "save ns config",
        "frobnicate \"one\ntwo\"",
        "add service s \"unfinished",
    ])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    /// Case K03: blanks, quotes, backslashes, q-quotes, brackets, an option's look: whatever a value is, it comes back.
    #[test]
    fn k03_every_value_survives(value in prop_oneof![any::<String>(), "[ \t\n\r\"'\\\\q/{}()#;a-]{0,20}"]) {
        prop_assume!(value.len() <= 255);
        let mut config = Config::default();
        let fields: [(&str, &[&str]); 3] = [("name", &["s"]), ("ipaddress", &["10.0.0.1"]), ("comment", &[&value])];
        apply(&mut config, &Command::new(Verb::Add, Object::Server, &fields).unwrap()).unwrap();
        let printed = print(&config).ns_conf;
        let again = read(printed.as_bytes(), "printed");
        prop_assert_eq!(&again.refused, &[], "{}", printed);
        prop_assert_eq!(&again.config.servers.find("s").unwrap().comment, &value, "{}", printed);
    }

    #[test]
    fn what_is_kept_comes_back(lines in vec((line(), prop::sample::select(vec!["\n", "\n", "\r\n", "\r\r\n"])), 0..40)) {
        let file: String = lines.into_iter().flat_map(|(line, end)| [line, end]).collect();
        comes_back(file.as_bytes())?;
    }

    #[test]
    fn whatever_is_read_comes_back(bytes in vec(prop_oneof![any::<u8>(), prop::sample::select(b"#\n\n\r \"\\'-".to_vec())], 0..300)) {
        comes_back(&bytes)?;
    }
}

fn comes_back(file: &[u8]) -> Result<(), TestCaseError> {
    let first = read(file, "first").config;
    let printed = print(&first);
    let second = read(printed.ns_conf.as_bytes(), "second");
    prop_assert_eq!(&second.refused, &[], "{}", printed.ns_conf);
    prop_assert_eq!(&second.config.kept, &first.kept, "{}", printed.ns_conf);
    prop_assert!(second.config == first, "{}", printed.ns_conf);
    prop_assert_eq!(print(&second.config), printed);
    Ok(())
}

/// Of an object that nothing acts on a file may say what is not understood here, or name what it has not: such a line is
/// kept as it stands, behind what it may name. What stands in the way of the appliance, too, is refused.
#[test]
fn what_cannot_be_carried_out_of_stored_objects_is_kept() {
    let whole = "\
enable ns feature CS
add lb vserver v HTTP 10.0.0.1 80 -persistenceType NONE -cltTimeout 180
add cs action a -targetLBVserver v
add cs vserver c HTTP 10.0.0.2 80 -cltTimeout 180
add cs vserver d HTTP 10.0.0.3 80 -newOption 1
set cs vserver c -newOption 1
add cs policy p -rule true -action a -newOption 1
add cs action b -targetLBVserver elsewhere
set lb vserver v -backupVServer d
bind cs vserver elsewhere -policyName p
bind cs vserver c -policyName p
";
    let reading = read(whole.as_bytes(), "ns.conf");
    assert_eq!(reading.refused, []);
    assert_eq!(printed(whole).split_once('\n').unwrap().1, whole);
    let code = |line: &str| {
        let file = format!("{whole}{line}");
        read(file.as_bytes(), "ns.conf").refused.first().map_or(0, |refused| refused.refusal.code())
    };
    assert_eq!(code("bind cs vserver c -policyName p"), 273);
    assert_eq!(code("add cs vserver v HTTP 10.0.0.4 80"), 273);
    assert_eq!(code("add cs vserver c HTTP 10.0.0.4 80"), 0, "it stands behind the other");
    assert_eq!(code("add cs vserver c HTTP 10.0.0.4 80\nrm cs vserver c"), 273);
    assert_eq!(code("add cs vserver e HTTP 10.0.0.1 80"), 273);
    assert_eq!(code("rm cs policy nobody"), 258);
    assert_eq!(code("rm lb vserver v"), 1371);
    assert_eq!(code("add cs action a2 -targetLBVserver elsewhere"), 0);
}
