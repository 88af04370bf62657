//! Which monitors of a service are run, and what stands in for those that cannot be.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use steelyard_core::command::read;
use steelyard_core::config::secret::{Plain, Unseal};
use steelyard_core::config::{LbMonitor, MonitorBinding};
use steelyard_core::monitor::Step;
use steelyard_core::monitor::bound::{self, Bound, Means, Run};
use steelyard_core::monitor::configured::Specs;
use steelyard_core::monitor::schedule::{Closing, Schedule, Target, Watched};
use steelyard_core::monitor::tls::{CheckedName, Credentials, Terms, Usable};
use steelyard_core::service::{Service, State};
use steelyard_core::time::Time;

struct NoKey;

impl Unseal for NoKey {
    fn open(&self, _: &str, _: &str) -> Option<Plain> {
        None
    }
}

/// No file of a certificate is here.
struct NoFile;

impl Usable for NoFile {
    fn cannot_use(&self, credentials: &Credentials) -> Option<Box<str>> {
        (credentials.check.is_some() || credentials.shown.is_some()).then(|| "no file is here".into())
    }
}

/// A monitor that is bound as it is.
fn run(monitor: &LbMonitor) -> Run<'_> {
    Run { monitor, binding: MonitorBinding::default(), tls: None }
}

/// What runs on the first service, what is UNKNOWN, and the threshold where 50 is asked for.
fn sorted(lines: &str) -> (Vec<String>, Vec<String>, u32) {
    sorted_of("HTTP", lines)
}

fn sorted_of(service_type: &str, lines: &str) -> (Vec<String>, Vec<String>, u32) {
    let text = format!("add service s 10.0.0.1 {service_type} 80\n{lines}");
    let reading = read(text.as_bytes(), "t");
    assert!(reading.refused.is_empty(), "{:?}", reading.refused);
    let service = reading.config.services.find("s").unwrap();
    let bound = Bound::of(
        &reading.config,
        bound::Watched::service(&reading.config, service),
        &Means { key: &NoKey, handshakes: &NoFile },
    );
    let run = bound.run.iter().map(|run| format!("{} {}", run.monitor.name, run.binding.weight)).collect();
    let unknown = bound.unknown.iter().map(|u| format!("{}: {}", u.monitor, u.why)).collect();
    (run, unknown, bound.threshold(50))
}

const LDAP: &str = "l: Unknown - this version has no monitor of type LDAP.";

#[test]
fn a_monitor_that_cannot_be_run_does_not_count() {
    let lines = "add lb monitor h HTTP\nadd lb monitor l LDAP\nbind service s -monitorName h -weight 20\n\
                 bind service s -monitorName l -weight 40";
    assert_eq!(sorted(lines), (vec!["h 20".to_owned()], vec![LDAP.to_owned()], 10));
    let heavier = lines.replace("40", "60");
    assert_eq!(sorted(&heavier).2, 1, "one that is run must be UP");
}

#[test]
fn tcp_default_probes_in_place_of_monitors_that_cannot_be_run() {
    let lines = "add lb monitor l LDAP\nbind service s -monitorName l";
    assert_eq!(sorted(lines), (vec!["tcp-default 1".to_owned()], vec![LDAP.to_owned()], 0));
    let disabled =
        format!("{lines}\nadd lb monitor h HTTP\nbind service s -monitorName h -monState DISABLED");
    let run = vec!["h 1".to_owned(), "tcp-default 1".to_owned()];
    assert_eq!(sorted(&disabled).0, run, "a disabled one probes nothing");
}

/// `spec/methods.md` ruling 3: without an enabled monitor a service is UP.
#[test]
fn a_disabled_monitor_is_not_missed() {
    let lines = "add lb monitor l LDAP -state DISABLED\nbind service s -monitorName l";
    assert_eq!(sorted(lines), (vec!["l 1".to_owned()], Vec::new(), 50));
    assert_eq!(sorted(""), (vec!["tcp-default 1".to_owned()], Vec::new(), 50));
}

/// `spec/methods.md` 4.8: the connection is to the dispatcher, the address in the request is that of the service, or that
/// of `-destIP` and `-destPort`. No source address of the service's leads to the dispatcher.
#[test]
fn a_user_monitor_asks_its_dispatcher_about_the_service() {
    for (options, dispatcher, body) in [
        ("", "127.0.0.1:3013", "nsumon_ip=10.0.0.1&nsumon_port=80"),
        (
            "-scriptArgs \"a=1;b=2\"",
            "127.0.0.1:3013",
            "nsumon_ip=10.0.0.1&nsumon_port=80&nsumon_args=a=1;b=2",
        ),
        (
            "-destIP 10.9.9.9 -destPort 8443 -dispatcherIP 192.0.2.7 -dispatcherPort 8080",
            "192.0.2.7:8080",
            "nsumon_ip=10.9.9.9&nsumon_port=8443",
        ),
    ] {
        let lines = format!("add lb monitor m USER -scriptName x.pl {options}");
        let reading = read(lines.as_bytes(), "t");
        assert!(reading.refused.is_empty(), "{:?}", reading.refused);
        let monitor = reading.config.lb_monitors.find("m").unwrap();
        let service = Service::new("s", "10.0.0.1:80".parse().unwrap(), State::Down);
        service.source.profile.set("10.0.0.250".parse().ok());
        let target = Target {
            service,
            watch: Watched::Probed,
            threshold: 0,
            most_connections: None,
            closing: Closing::Fin,
            monitors: vec![(Specs::new(&reading.config, &NoKey).of(run(monitor)), 1)],
            unknown: [].into(),
        };
        let mut schedule = Schedule::new(1);
        schedule.reconfigure(vec![target], Time::ZERO);
        let due = schedule.take_due(Time::ZERO).next().unwrap();
        assert_eq!((due.to, due.from), (dispatcher.parse().unwrap(), None), "{options}");
        let mut probe = due.spec.probe(due.about, Time::ZERO, due.seed);
        let Step::Send(sent) = probe.opened(Time::ZERO) else { panic!("{options}") };
        let sent = String::from_utf8(sent).unwrap();
        assert!(sent.starts_with("POST /x.pl HTTP/1.1\r\n"), "{sent}");
        assert_eq!(sent.split_once("\r\n\r\n").unwrap().1, body);
    }
}

/// A service that moves is another question to the same dispatcher, and so is another destination.
#[test]
fn a_user_monitor_of_another_address_is_asked_anew() {
    let spec = |options: &str| {
        let lines = format!("add lb monitor m USER -scriptName x.pl {options}");
        let reading = read(lines.as_bytes(), "t");
        Specs::new(&reading.config, &NoKey).of(run(reading.config.lb_monitors.find("m").unwrap()))
    };
    let service = Service::new("s", "10.0.0.1:80".parse().unwrap(), State::Down);
    let target = |options: &str| Target {
        service: service.clone(),
        watch: Watched::Probed,
        threshold: 0,
        most_connections: None,
        closing: Closing::Fin,
        monitors: vec![(spec(options), 1)],
        unknown: [].into(),
    };
    let mut schedule = Schedule::new(1);
    schedule.reconfigure(vec![target("")], Time::ZERO);
    assert!(schedule.reconfigure(vec![target("-interval 9")], Time::ZERO).0.is_empty());
    for options in ["-destPort 81", "-destPort 81 -scriptArgs x", "-dispatcherPort 3014"] {
        let (stopped, _) = schedule.reconfigure(vec![target(options)], Time::ZERO);
        assert_eq!(stopped.len(), 1, "{options}");
    }
}

#[test]
fn m12_names_and_arguments_of_scripts_have_the_documented_limits() {
    let refused = |options: String| {
        let reading = read(format!("add lb monitor m USER {options}").as_bytes(), "t");
        reading.refused.first().map(ToString::to_string)
    };
    let (name, arguments) = ("n".repeat(63), "a".repeat(512));
    assert_eq!(refused(format!("-scriptName {name} -scriptArgs {arguments}")), None);
    for (options, argument) in
        [(format!("-scriptName {name}n"), "scriptName"), (format!("-scriptArgs {arguments}a"), "scriptArgs")]
    {
        let said = refused(options).unwrap();
        assert!(
            said.contains(&format!("exceeds maximum [{argument}]")) && said.ends_with("(1106)"),
            "{said}"
        );
    }
}

/// `spec/methods.md` 4.2.
#[test]
fn services_that_are_not_reached_by_tcp_are_pinged() {
    for (service_type, default) in [
        ("HTTP", "tcp-default 1"),
        ("TCP", "tcp-default 1"),
        ("SSL", "tcp-default 1"),
        ("FTP", "tcp-default 1"),
        ("DNS_TCP", "tcp-default 1"),
        ("UDP", "ping-default 1"),
        ("DNS", "ping-default 1"),
        ("RADIUS", "ping-default 1"),
        ("SIP_UDP", "ping-default 1"),
        ("TFTP", "ping-default 1"),
        ("ANY", "ping-default 1"),
    ] {
        let run = vec![default.to_owned()];
        assert_eq!(sorted_of(service_type, ""), (run.clone(), Vec::new(), 50), "{service_type}");
        let lines = "add lb monitor l LDAP\nbind service s -monitorName l";
        assert_eq!(sorted_of(service_type, lines), (run, vec![LDAP.to_owned()], 0), "{service_type}");
    }
}

/// At the appliance the mark stands for that address, from which the service then answers; no such answer is understood
/// here.
#[test]
fn a_mark_that_stands_for_an_address_is_not_probed_with() {
    let lines = "add lb monitor m TCP -tos YES -tosId 63\nbind service s -monitorName m";
    assert_eq!(sorted(lines), (vec!["m 1".to_owned()], Vec::new(), 50));
    let by_service = lines.replace("63", "63 -destIP 10.9.9.9");
    let why = "m: Unknown - this version does not probe with -destIP and -tos YES.".to_owned();
    assert_eq!(sorted(&by_service), (vec!["tcp-default 1".to_owned()], vec![why], 0));
    let spec = |options: &str| {
        let reading = read(format!("add lb monitor m TCP {options}").as_bytes(), "t");
        Specs::new(&reading.config, &NoKey).of(run(reading.config.lb_monitors.find("m").unwrap())).tos
    };
    assert_eq!(spec("-tos YES -tosId 63"), Some(0xfc));
    assert_eq!(spec("-tos YES -tosId 1"), Some(0x04));
    assert_eq!((spec("-tosId 1"), spec("-tos NO -tosId 1"), spec("")), (None, None, None));
}

/// What cannot be checked must not pass for checked: such a monitor does not count.
#[test]
fn a_monitor_without_the_certificates_that_it_asks_for_is_unknown() {
    let secure = "add lb monitor m TCP -secure YES\nbind service s -monitorName m -weight 60";
    assert_eq!(sorted(secure), (vec!["m 60".to_owned()], Vec::new(), 50));
    let checked = format!("{secure}\nadd ssl certKey c -cert f\nbind lb monitor m -certkeyName c -CA");
    let unknown = |why: &str| (vec!["tcp-default 1".to_owned()], vec![format!("m: Unknown - {why}.")], 0);
    assert_eq!(sorted(&checked), unknown("no file is here"));
    let revoked = format!("{checked} -crlCheck Mandatory");
    assert_eq!(sorted(&revoked), unknown("-crlCheck Mandatory of certKey c is not carried"));
    let nobody = format!("{secure}\nbind lb monitor m -certkeyName nobody -CA");
    assert_eq!(sorted(&nobody), unknown("there is no certKey nobody"));
    let in_clear = checked.replace(" -secure YES", "");
    assert_eq!(sorted(&in_clear).0, ["m 60"], "it shows and checks nothing");
}

fn terms(lines: &str) -> Terms {
    let text = format!(
        "enable ns feature SSL\nadd ssl certKey ca -cert ca.pem\nadd ssl certKey own -cert own.crt -key own.key\n\
         add service s 10.0.0.1 SSL 443\nadd lb monitor m TCP -secure YES\n{lines}"
    );
    let reading = read(text.as_bytes(), "t");
    assert!(reading.refused.is_empty(), "{:?}", reading.refused);
    let config = reading.config;
    Terms::of(&config, config.lb_monitors.find("m").unwrap(), config.tls_of_service("s")).unwrap()
}

fn named(name: &str) -> (Option<String>, bool) {
    let terms = terms(&format!("set ssl service s -SNIEnable ENABLED -commonName {name}"));
    (terms.name.map(String::from), terms.credentials.sends_name)
}

/// RFC 6066 3.
#[test]
fn m15_a_client_hello_asks_for_hosts_alone() {
    assert_eq!(terms(""), Terms::default());
    assert_eq!(named("app.example"), (Some("app.example".to_owned()), true));
    assert_eq!(named("*.example"), (None, false), "no host is called so");
    assert_eq!(terms("set ssl service s -commonName app.example"), Terms::default(), "nobody asks");
}

#[test]
fn a_certificate_is_checked_by_who_is_bound() {
    let check = |lines: &str| {
        terms(lines).credentials.check.map(|check| {
            let names: Vec<String> = check.authorities.iter().map(|file| file.name.to_string()).collect();
            (names, check.name)
        })
    };
    let ca = |name| Some((vec!["ca".to_owned()], name));
    let of_service = "bind ssl service s -certkeyName ca -CA";
    assert_eq!(check(of_service), None, "nobody asks for it");
    let auth = "set ssl service s -serverAuth ENABLED";
    assert_eq!(check(&format!("{auth}\n{of_service}")), ca(CheckedName::Any));
    let called = format!("{auth} -commonName app.example\n{of_service}");
    assert_eq!(check(&called), ca(CheckedName::AsCalled));
    let wild = format!("{auth} -commonName *.example\n{of_service}");
    assert_eq!(check(&wild), ca(CheckedName::Literal("*.example".into())));
    let of_monitor = "bind lb monitor m -certkeyName ca -CA";
    assert_eq!(check(of_monitor), ca(CheckedName::Any));
    let shown = terms("bind lb monitor m -certkeyName own").credentials.shown.unwrap();
    assert_eq!((&*shown.certificate.path, &*shown.key), ("own.crt", "own.key"));
    assert_eq!(terms("bind ssl service s -certkeyName own").credentials.shown, Some(shown));
}
