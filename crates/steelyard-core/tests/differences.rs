//! A change costs what it changes: what follows from a difference is the same as what is made anew from all of the
//! configuration, object by object, and whatever a change does not concern stays the object that it was.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::sync::Arc;

use proptest::collection::vec;
use proptest::prelude::*;
use steelyard_core::balance::picker::{Picker, Seat};
use steelyard_core::command::{self, Command, Guarded, Switched, guards, lex, parse, print, read, run_line};
use steelyard_core::config::Config;
use steelyard_core::config::departure::Departures;
use steelyard_core::config::difference::Difference;
use steelyard_core::config::guard::Guards;
use steelyard_core::config::renamed::Renamed;
use steelyard_core::config::secret::{Plain, Unseal};
use steelyard_core::monitor::bound::Means;
use steelyard_core::monitor::schedule::Schedule;
use steelyard_core::monitor::tls::{Credentials, Usable};
use steelyard_core::monitor::{Finding, ProbeResult, Verdict};
use steelyard_core::service::{Service, State};
use steelyard_core::snapshot::Snapshot;
use steelyard_core::time::Time;
use steelyard_core::vserver::{Live, VirtualServer};

#[path = "../../steelyard/src/targets.rs"]
mod targets;

const SITE: &str = "enable ns feature LB\nadd server h0 10.0.0.1\nadd server h1 10.0.0.2\nadd service s0 h0 HTTP 80\n\
    add service s1 h1 HTTP 80 -healthMonitor NO\nadd serviceGroup g0 HTTP -healthMonitor NO\nbind serviceGroup g0 h0 90\n\
    add lb vserver v0 HTTP 10.9.0.1 80\nadd lb vserver v1 HTTP 10.9.0.2 80 -backupVServer v0\nbind lb vserver v0 s0\n\
    bind lb vserver v0 g0\nbind lb vserver v1 s1\nadd lb monitor m0 TCP\nbind service s0 -monitorName m0\n";

/// A line made of numbers. Few names, so that lines meet.
fn line(kind: u8, [a, b, c]: [u8; 3]) -> String {
    let (s, g, v, h, m) = (a % 5, a % 2, a % 5, b % 4, b % 3);
    let state = ["ENABLED", "DISABLED"][usize::from(c % 2)];
    let yes = ["YES", "NO"][usize::from(c % 2)];
    let method = ["ROUNDROBIN", "LEASTCONNECTION", "SOURCEIPHASH"][usize::from(c % 3)];
    let way = ["", " 0", " 15", " 100 -graceFul YES", " -graceFul YES"][usize::from(c % 5)];
    match kind {
        0 => format!("add server h{h} 10.0.0.{}", h + 1),
        1 => format!("rm server h{h}"),
        2 => format!("disable server h{h}{}", if c % 5 > 3 { "" } else { way }),
        3 => format!("enable server h{h}"),
        4 => format!("set server h{h} -IPAddress 10.0.1.{}", c % 3),
        5..=7 => format!(
            "add service s{s} h{h} {} {} -state {state} -healthMonitor {yes}",
            ["HTTP", "TCP", "SSL"][usize::from(c % 3)],
            80 + c % 2
        ),
        8 => format!("rm service s{s}"),
        9 => format!("set service s{s} -maxClient {c} -comment \"n {b}\""),
        10 => format!("set service s{s} -healthMonitor {yes} -sp ON"),
        11 | 12 => format!("disable service s{s}{way}"),
        13 => format!("enable service s{s}"),
        14 => format!("rename service s{s} s{}", b % 5),
        15 => format!("add serviceGroup g{g} HTTP -healthMonitor {yes} -state {state}"),
        16 => format!("rm serviceGroup g{g}"),
        17 | 18 => format!("bind serviceGroup g{g} h{h} {} -weight {}", 90 + c % 2, 1 + c % 7),
        19 => format!("unbind serviceGroup g{g} h{h} {}", 90 + c % 2),
        20 => format!("disable serviceGroup g{g} h{h} {} -delay {}", 90 + c % 2, c % 30),
        21 => format!("enable serviceGroup g{g} h{h} {}", 90 + c % 2),
        22 => format!("rename serviceGroup g{g} g{}", b % 2),
        23 => format!("set serviceGroup g{g} -maxReq {c}"),
        24..=26 => format!(
            "add lb vserver v{v} {} 10.9.0.{} 80 -lbMethod {method} -state {state}",
            ["HTTP", "SSL", "HTTP", "SSL", "TCP"][usize::from(c % 5)],
            v + 1
        ),
        27 => format!("rm lb vserver v{v}"),
        28 | 29 => format!("set lb vserver v{v} -lbMethod {method}"),
        30 | 31 => format!("set lb vserver v{v} -backupVServer v{}", b % 5),
        32 => format!("unset lb vserver v{v} -backupVServer"),
        33 => format!("{} lb vserver v{v}", ["enable", "disable"][usize::from(c % 2)]),
        34 => format!("rename lb vserver v{v} v{}", b % 5),
        35..=38 => format!("bind lb vserver v{v} s{} -weight {}", b % 5, 1 + c % 5),
        39 => format!("bind lb vserver v{v} g{}", b % 2),
        40 => format!("unbind lb vserver v{v} s{}", b % 5),
        41 => format!("unbind lb vserver v{v} g{}", b % 2),
        42 => format!("add lb monitor m{m} {}", ["TCP", "HTTP", "PING"][usize::from(c % 3)]),
        43 => format!(
            "set lb monitor m{m} {} -interval {}",
            ["TCP", "HTTP", "PING"][usize::from(c % 3)],
            5 + c % 9
        ),
        44 => format!("rm lb monitor m{m} {}", ["TCP", "HTTP", "PING"][usize::from(c % 3)]),
        45 => format!("bind service s{s} -monitorName m{m}"),
        46 => format!("unbind service s{s} -monitorName m{m}"),
        47 => format!("bind serviceGroup g{g} -monitorName m{m}"),
        48 => format!("set lb monitor tcp-default TCP -interval {}", 5 + c % 9),
        49 => format!("set lb parameter -startupRRFactor {}", c % 4),
        50 => format!(
            "{} ns feature {}",
            ["enable", "disable"][usize::from(c % 2)],
            ["LB", "SP"][usize::from(b % 2)]
        ),
        51 => format!("{} ns mode CKA", ["enable", "disable"][usize::from(c % 2)]),
        52 => format!("set ns param -maxReq {c}"),
        53 => format!("set lb vserver v{v} -authn401 {}", ["ON", "OFF"][usize::from(c % 2)]),
        54 => format!("set ssl vserver v{v} -clientAuth {state}"),
        55 => format!("bind lb vserver v{v} -policyName p{m} -priority {}", c % 7 + 1),
        56 => format!("add responder policy p{m} true NOOP"),
        57 => format!("add ns acl a{m} DENY -destIP = 10.9.0.{}", v + 1),
        58 => format!("bind serviceGroup g{g} -policyName p{m} -priority 1"),
        59 => format!("set ssl service s{s} -SNIEnable {state} -commonName n{b}.example"),
        60 => format!("set lb monitor m{m} TCP -secure {yes}"),
        _ => format!("add cs policy p{m} -rule true"),
    }
}

const KINDS: u8 = 62;

/// A sealed secret that nobody opens.
struct NoKey;

impl Unseal for NoKey {
    fn open(&self, _sealed: &str, _purpose: &str) -> Option<Plain> {
        None
    }
}

/// Every file of a certificate is here.
struct AnyFile;

impl Usable for AnyFile {
    fn cannot_use(&self, _: &Credentials) -> Option<Box<str>> {
        None
    }
}

/// Objects in the order in which they were met. Held, so that none takes the place of another.
#[derive(Default)]
struct Met {
    services: Vec<Arc<Service>>,
    lives: Vec<Arc<Live>>,
    pickers: Vec<Arc<Picker>>,
    seats: Vec<Arc<Seat>>,
}

impl Met {
    fn service(&mut self, service: &Arc<Service>) -> usize {
        number(&mut self.services, service, Arc::ptr_eq)
    }

    /// Which live object, which picker and which seat it has.
    fn vserver(&mut self, vserver: &Arc<VirtualServer>) -> [usize; 3] {
        [
            number(&mut self.lives, &vserver.live, Arc::ptr_eq),
            number(&mut self.pickers, &vserver.picker, Arc::ptr_eq),
            number(&mut self.seats, &vserver.seat, Arc::ptr_eq),
        ]
    }
}

fn number<T: Clone>(met: &mut Vec<T>, one: &T, same: impl Fn(&T, &T) -> bool) -> usize {
    met.iter().position(|known| same(known, one)).unwrap_or_else(|| {
        met.push(one.clone());
        met.len() - 1
    })
}

/// A configuration in use.
struct Site {
    snapshot: Snapshot,
    schedule: Schedule,
    met: Met,
}

impl Site {
    fn new() -> Site {
        Site { snapshot: Snapshot::default(), schedule: Schedule::new(1), met: Met::default() }
    }

    /// Takes another configuration, then the results of all probes that are due: those of port 80 succeed.
    fn take(
        &mut self,
        (difference, config): (&Difference, &Config),
        guards: &Guards,
        switched: &Switched,
        now: Time,
    ) {
        let before = self.snapshot.renamed(&switched.renamed);
        let next = before.next_by(difference, config, guards, now);
        let means = Means { key: &NoKey, handshakes: &AnyFile };
        let targets = targets::targets(difference, config, &switched.departures, &next, &means);
        let services = before.services_in(difference).map(|(_, service)| service);
        self.schedule.reconfigure_some(services, targets, now);
        self.snapshot = next;
        let later = now.plus_us(3_600_000_000);
        for due in self.schedule.take_due(later).collect::<Vec<_>>() {
            let verdict = if due.to.port() == 80 { Verdict::Success } else { Verdict::Failure };
            let result = ProbeResult { verdict, finding: Finding::Connected, response_us: Some(1_000) };
            self.schedule.finished(due.key, result, now);
        }
        self.schedule.tick(now);
    }

    /// All that can be seen of it.
    fn told(&mut self) -> Vec<String> {
        let mut told = Vec::new();
        for vserver in self.snapshot.vservers() {
            let bound: Vec<String> = vserver
                .picker
                .services()
                .iter()
                .map(|b| format!("{} *{} {:?}", self.met.service(&b.service), b.weight, b.terms))
                .collect();
            let by_state = &vserver.by_state;
            let backups: Vec<_> = by_state.backups.iter().map(|b| (&b.name, self.met.vserver(b))).collect();
            told.push(format!(
                "{} {:?} {:?} {} {} {} {:?} {:?} {:?} {:?} {:?}",
                vserver.name,
                vserver.address,
                vserver.protocol,
                vserver.method,
                vserver.client_timeout_s,
                vserver.enabled,
                vserver.closed,
                backups,
                by_state.redirect_url,
                self.met.vserver(vserver),
                bound,
            ));
            assert!(vserver.picker.is_sound());
        }
        for service in self.snapshot.services() {
            let monitors: Vec<String> = self
                .schedule
                .monitors(service)
                .iter()
                .map(|m| format!("{} {} {:?} {:?}", m.spec.name, m.weight, m.spec.timing, m.machine.last))
                .collect();
            told.push(format!(
                "{} {} {} {:?} {:?} {:?}",
                service.name(),
                service.address(),
                self.met.service(service),
                service.state(),
                monitors,
                self.schedule.unknown(service),
            ));
        }
        told
    }
}

/// Applies some lines, those that are accepted. A refused one leaves every table the object that it was.
fn apply(config: &mut Config, lines: &[String]) -> Switched {
    let mut commands: Vec<Command> = Vec::new();
    for line in lines {
        let before = config.clone();
        if run_line(config, line).is_err() {
            let shared = before.services.is_shared_with(&config.services)
                && before.service_groups.is_shared_with(&config.service_groups)
                && before.servers.is_shared_with(&config.servers)
                && before.lb_vservers.is_shared_with(&config.lb_vservers)
                && before.lb_monitors.is_shared_with(&config.lb_monitors);
            assert!(shared && before == *config, "{line} was refused");
        } else if let Ok(words) = lex::words(line)
            && let Ok(parsed) = parse(&words)
        {
            commands.extend(parsed.commands().iter().cloned());
        }
    }
    Switched::by_commands(&commands)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_difference_leads_to_the_same_as_all(
        steps in vec((vec((0..KINDS, any::<[u8; 3]>()), 1..4), 0..12u8), 1..60),
    ) {
        let mut config = read(SITE.as_bytes(), "ns.conf").config;
        let (mut whole, mut by_difference) = (Site::new(), Site::new());
        let mut guarded = Guarded::of(&config);
        let first = guards(&config);
        for site in [&mut whole, &mut by_difference] {
            site.take((&Difference::whole(), &config), &first, &Switched::default(), Time::ZERO);
        }
        prop_assert_eq!(whole.told(), by_difference.told());
        for (number, (lines, reload)) in (1u64..).zip(&steps) {
            let lines: Vec<String> = lines.iter().map(|(kind, numbers)| line(*kind, *numbers)).collect();
            let now = Time::from_us(number * 10_000_000);
            let mut next = config.clone();
            let switched = apply(&mut next, &lines);
            if *reload == 0 {
                // As after a save and a reload: nothing is shared, and all may stand in another order.
                next = read(print(&next).ns_conf.as_bytes(), "ns.conf").config;
            }
            let difference = Difference::between(&config, &next, &switched.departures, &switched.renamed);
            guarded = guarded.after(&difference, &next);
            let anew = guards(&next);
            prop_assert_eq!(&guarded.guards, &anew, "{:?}", lines);
            whole.take((&Difference::whole(), &next), &anew, &switched, now);
            by_difference.take((&difference, &next), &anew, &switched, now);
            prop_assert_eq!(whole.told(), by_difference.told(), "{:?}", lines);
            config = next;
        }
    }
}

/// A line about something that is disabled already changes nothing but how it leaves.
#[test]
fn a_way_out_that_is_another_one_counts_and_nothing_else_ends_it() {
    let config = read(SITE.as_bytes(), "ns.conf").config;
    let mut site = Site::new();
    site.take((&Difference::whole(), &config), &Guards::default(), &Switched::default(), Time::ZERO);
    let mut config = config;
    let mut run = |lines: &[&str], second: u64| {
        let mut next = config.clone();
        let lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        let switched = apply(&mut next, &lines);
        let difference = Difference::between(&config, &next, &switched.departures, &switched.renamed);
        let now = Time::from_us(second * 1_000_000);
        site.take((&difference, &next), &Guards::default(), &switched, now);
        config = next;
        site.snapshot.service("s1").unwrap().state()
    };
    assert_eq!(run(&[], 1), State::Up);
    assert_eq!(run(&["disable service s1 100"], 2), State::Trofs);
    assert_eq!(
        run(&["set lb vserver v0 -lbMethod ROUNDROBIN", "set lb parameter -startupRRFactor 3"], 3),
        State::Trofs
    );
    assert_eq!(
        run(&["set service s1 -comment leaving"], 4),
        State::Trofs,
        "nothing is said of how it leaves"
    );
    assert_eq!(run(&["set service s0 -comment other"], 50), State::Trofs);
    assert_eq!(run(&["disable service s1 10"], 60), State::Trofs);
    assert_eq!(run(&["set service s0 -comment another"], 71), State::OutOfService, "ten seconds are over");
    assert_eq!(run(&["enable service s1", "disable service s1 100"], 72), State::OutOfService);
    assert_eq!(run(&["enable service s1"], 73), State::Up);
    assert_eq!(run(&["disable service s1 100"], 74), State::Trofs);
    assert_eq!(run(&["disable service s1"], 75), State::OutOfService, "at once");
}

/// What one change renames and removes is in neither configuration by the name that it has meanwhile.
#[test]
fn what_is_renamed_and_removed_by_one_change_is_gone() {
    for (lines, left) in [
        (&["rename lb vserver v1 v2", "rm lb vserver v2"][..], (&["v0"][..], &["g0?h0?90", "s0", "s1"][..])),
        (
            &["rename lb vserver v1 V3", "rename lb vserver V3 v2", "rm lb vserver v2"],
            (&["v0"], &["g0?h0?90", "s0", "s1"]),
        ),
        (
            &["rename lb vserver v1 v2", "rm lb vserver v2", "add lb vserver v1 HTTP 10.9.0.2 80"],
            (&["v0", "v1"], &["g0?h0?90", "s0", "s1"]),
        ),
        (&["rename service s1 s2", "rm service s2"], (&["v0", "v1"], &["g0?h0?90", "s0"])),
        (
            &["rename service s1 s3", "rename service s3 s2", "rm service s2"],
            (&["v0", "v1"], &["g0?h0?90", "s0"]),
        ),
        (
            &["rename service s1 s2", "rm service s2", "add service s1 h1 HTTP 80"],
            (&["v0", "v1"], &["g0?h0?90", "s0", "s1"]),
        ),
    ] {
        let config = read(SITE.as_bytes(), "ns.conf").config;
        let first = Snapshot::default().next(&config, &Guards::default(), Time::ZERO);
        let mut next = config.clone();
        let own: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        let switched = apply(&mut next, &own);
        let difference = Difference::between(&config, &next, &switched.departures, &switched.renamed);
        let second =
            first.renamed(&switched.renamed).next_by(&difference, &next, &Guards::default(), Time::ZERO);
        let vservers: Vec<&str> = second.vservers().map(|v| &*v.name).collect();
        let services: Vec<&str> = second.services().map(|s| s.name()).collect();
        assert_eq!((&*vservers, &*services), left, "{lines:?}");
    }
}

/// A change of one virtual server among many leaves the others alone.
#[test]
fn what_a_change_does_not_concern_is_not_looked_at() {
    let text: String = (0..50)
        .map(|n| format!("add lb vserver v{n} HTTP 10.9.0.{n} 80\nadd service s{n} 10.1.0.{n} HTTP 80\nbind lb vserver v{n} s{n}\n"))
        .collect();
    let config = read(text.as_bytes(), "ns.conf").config;
    let first = Snapshot::default().next(&config, &Guards::default(), Time::ZERO);
    let mut next = config.clone();
    let switched = apply(
        &mut next,
        &["set lb vserver v7 -comment x".to_owned(), "set service s9 -maxClient 5".to_owned()],
    );
    assert_ne!(config, next);
    let difference = Difference::between(&config, &next, &switched.departures, &switched.renamed);
    let named: Vec<&str> = difference.vservers_named().unwrap().iter().map(String::as_str).collect();
    assert_eq!(named, ["v7", "v9"], "v9 uses the service that changed");
    let second = first.next_by(&difference, &next, &Guards::default(), Time::ZERO);
    let same = |name: &str| Arc::ptr_eq(first.vserver(name).unwrap(), second.vserver(name).unwrap());
    let others: Vec<_> = (0..50).map(|n| format!("v{n}")).filter(|name| !same(name)).collect();
    assert_eq!(others, ["v7", "v9"]);
    let picker = |snapshot: &Snapshot, name: &str| Arc::clone(&snapshot.vserver(name).unwrap().picker);
    assert!(
        Arc::ptr_eq(&picker(&first, "v7"), &picker(&second, "v7")),
        "its method and services are as before"
    );
    assert!(!Arc::ptr_eq(&picker(&first, "v9"), &picker(&second, "v9")), "its service has other terms");
    command::apply(
        &mut next,
        &Command::new(
            command::Verb::Set,
            command::Object::LbVserver,
            &[("name", &["v7"]), ("comment", &["x"])],
        )
        .unwrap(),
    )
    .unwrap();
    let nothing = Difference::between(&next.clone(), &next, &Departures::default(), &Renamed::default());
    assert_eq!(nothing.vservers_named().map(|names| names.len()), Some(0));
}
