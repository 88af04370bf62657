//! Who serves a client by the states of virtual servers and the room that they have (`spec/methods.md` 3.6 to 3.8,
//! rulings 7 and 8): configuration text in, decisions out.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fmt::Write as _;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use steelyard_core::command::verdict::judge;
use steelyard_core::command::{guards, print, read};
use steelyard_core::config::guard::Guards;
use steelyard_core::service::State;
use steelyard_core::snapshot::Snapshot;
use steelyard_core::time::{SECOND_US, Time};
use steelyard_core::vserver::VirtualServer;
use steelyard_core::vserver::admission::{Admission, Place};

/// A configuration whose services the test switches.
struct Site {
    snapshot: Snapshot,
    now: Time,
}

impl Site {
    /// Virtual servers `a`, `b`, ... with these options after their names, each over a service `sa`, `sb`, ... of its own
    /// that is UP; then further lines.
    fn new(vservers: &[&str], more: &str) -> Site {
        let mut text = "enable ns feature LB\n".to_owned();
        for (n, options) in vservers.iter().enumerate() {
            let (name, host) = (letter(n), n + 1);
            writeln!(text, "add service s{name} 192.0.2.{host} HTTP 80").unwrap();
            writeln!(text, "add lb vserver {name} HTTP 198.51.100.{host} 80 {options}").unwrap();
            writeln!(text, "bind lb vserver {name} s{name}").unwrap();
        }
        let mut site = Site { snapshot: Snapshot::default(), now: Time::ZERO };
        site.load(&format!("{text}{more}"));
        site.snapshot.services().for_each(|service| service.set_state(State::Up, Time::ZERO));
        site.tick(0);
        site
    }

    fn load(&mut self, text: &str) {
        let reading = read(text.as_bytes(), "ns.conf");
        assert_eq!(reading.refused, [], "{text}");
        let guards = guards(&reading.config);
        self.snapshot = self.snapshot.next(&reading.config, &guards, self.now);
    }

    fn set(&self, service: &str, state: State) {
        self.snapshot.service(service).unwrap().set_state(state, self.now);
    }

    fn vserver(&self, name: &str) -> &Arc<VirtualServer> {
        self.snapshot.vserver(name).unwrap()
    }

    fn state(&self, name: &str) -> State {
        self.vserver(name).state()
    }

    fn tick(&mut self, seconds: u64) {
        self.now = self.now.plus_us(seconds * SECOND_US);
        self.snapshot.vservers().for_each(|v| v.tick(self.now));
    }

    /// Where a client of `a` with that place is served: a virtual server, a URL, or `refused`.
    fn asks(&self, place: &mut Place) -> String {
        match self.vserver("a").admit(place, self.now) {
            Admission::Serve(by) => by.name.to_string(),
            Admission::Redirect(url) => url.to_owned(),
            Admission::Refuse => "refused".to_owned(),
        }
    }

    /// The same for a client that comes just now, and its place.
    fn comes(&self, client: u8) -> (String, Place) {
        let mut place = Place::of(IpAddr::V4(Ipv4Addr::new(203, 0, 113, client)));
        (self.asks(&mut place), place)
    }

    /// The same for a client that goes at once.
    fn visits(&self) -> String {
        self.comes(1).0
    }
}

fn letter(n: usize) -> char {
    char::from(b'a' + n as u8)
}

/// The codes of the lines that are refused.
fn codes(text: &str) -> Vec<u16> {
    read(text.as_bytes(), "ns.conf").refused.iter().map(|refused| refused.refusal.code()).collect()
}

#[test]
fn a_backup_serves_while_the_primary_is_down_and_no_longer() {
    let site = Site::new(&["", ""], "set lb vserver a -backupVServer b\n");
    let (first, mut kept) = site.comes(1);
    assert_eq!(first, "a");
    site.set("sa", State::Down);
    assert_eq!((site.asks(&mut kept), site.visits()), ("b".to_owned(), "b".to_owned()));
    site.set("sb", State::Down);
    assert_eq!((site.asks(&mut kept), site.visits()), ("refused".to_owned(), "refused".to_owned()));
    site.set("sa", State::Up);
    assert_eq!((site.asks(&mut kept), site.visits()), ("a".to_owned(), "a".to_owned()));
}

#[test]
fn a_disabled_primary_has_its_backup_too() {
    let site = Site::new(&["", ""], "set lb vserver a -backupVServer b\ndisable lb vserver a\n");
    assert_eq!((site.state("a"), site.visits()), (State::OutOfService, "b".to_owned()));
}

#[test]
fn the_first_of_a_chain_that_is_up_serves() {
    let more = "set lb vserver a -backupVServer b\nset lb vserver b -backupVServer c\n";
    let site = Site::new(&["", "", ""], more);
    site.set("sa", State::Down);
    site.set("sb", State::Down);
    let (first, mut kept) = site.comes(1);
    assert_eq!(first, "c");
    site.set("sb", State::Up);
    assert_eq!((site.asks(&mut kept), site.visits()), ("b".to_owned(), "b".to_owned()), "the nearest");
}

#[test]
fn a_chain_has_ten_backups_at_most_and_no_circle() {
    let chain = |backups: usize| {
        let mut text = "enable ns feature LB\nadd lb vserver v0 HTTP\n".to_owned();
        for n in 1..=backups {
            writeln!(text, "add lb vserver v{n} HTTP -backupVServer v{}", n - 1).unwrap();
        }
        text
    };
    assert!(codes(&chain(10)).is_empty());
    assert_eq!(codes(&chain(11)), [350]);
    assert_eq!(codes(&format!("{}set lb vserver v0 -backupVServer v3\n", chain(3))), [2144]);
    assert_eq!(codes(&format!("{}set lb vserver v0 -backupVServer V0\n", chain(0))), [2144]);
    assert_eq!(codes("enable ns feature LB\nadd lb vserver v HTTP -backupVServer w\n"), [430]);
    let lower_link = format!("{}add lb vserver w HTTP\nset lb vserver v0 -backupVServer w\n", chain(10));
    let reading = read(lower_link.as_bytes(), "ns.conf");
    let snapshot = Snapshot::default().next(&reading.config, &Guards::default(), Time::ZERO);
    assert_eq!(snapshot.vserver("v10").unwrap().by_state.backups.len(), 10, "however it came to be longer");
}

#[test]
fn a_backup_may_be_added_further_down() {
    let text = "enable ns feature LB\nadd lb vserver v HTTP -backupVServer w\nadd lb vserver w HTTP\n";
    let reading = read(text.as_bytes(), "ns.conf");
    assert_eq!(reading.refused, []);
    assert_eq!(reading.config.lb_vservers.find("v").unwrap().backup_vserver, "w");
}

/// Of one of another kind only the line is kept: it takes no clients here, and nothing of the lines is lost.
#[test]
fn a_backup_of_another_kind_is_known_and_not_used() {
    let text = "enable ns feature LB CS\nadd lb vserver v HTTP 198.51.100.1 80 -backupVServer c\n\
        add lb vserver w HTTP 198.51.100.2 80\nadd cs vserver C HTTP 198.51.100.3 80\nset lb vserver w -backupVServer c\n";
    let reading = read(text.as_bytes(), "ns.conf");
    assert_eq!(reading.refused, []);
    let snapshot = Snapshot::default().next(&reading.config, &guards(&reading.config), Time::ZERO);
    assert!(snapshot.vservers().all(|vserver| vserver.by_state.backups.is_empty()));
    let printed = print(&reading.config).ns_conf;
    let again = read(printed.as_bytes(), "ns.conf");
    assert_eq!(again.refused, [], "{printed}");
    assert_eq!(again.config, reading.config);
    let at = |text: &str| printed.find(text).unwrap_or_else(|| panic!("{text} in {printed}"));
    assert!(at("add cs vserver C") < at("set lb vserver v -backupVServer c"), "{printed}");
    let findings = judge(&reading).findings;
    let told = findings.iter().filter(|f| f.option.as_deref() == Some("backupVServer")).count();
    assert_eq!(told, 2, "check says that none takes over");
}

/// It would let in whom the guard keeps out.
#[test]
fn a_guarded_backup_is_not_used_and_a_guarded_primary_uses_none() {
    let guard = "set lb vserver b -authn401 ON -redirectURL http://b\n";
    let site = Site::new(&["", ""], &format!("set lb vserver a -backupVServer b\n{guard}"));
    site.set("sa", State::Down);
    assert_eq!(site.visits(), "refused", "neither the backup nor its redirect");
    let own = "set lb vserver a -backupVServer b -redirectURL http://a -authn401 ON\n";
    let site = Site::new(&["", ""], own);
    assert_eq!(site.visits(), "refused");
    site.set("sa", State::Down);
    assert_eq!(site.visits(), "refused");
}

#[test]
fn a_backup_wins_over_a_redirect_and_a_redirect_over_a_refusal() {
    let more = "set lb vserver a -redirectURL http://sorry.example/x -backupVServer b\n";
    let site = Site::new(&["", ""], more);
    site.set("sa", State::Down);
    assert_eq!(site.visits(), "b");
    site.set("sb", State::Down);
    assert_eq!(site.visits(), "http://sorry.example/x");
    site.set("sa", State::Up);
    assert_eq!(site.visits(), "a");
}

#[test]
fn disable_primary_on_down_keeps_the_backup_until_it_is_enabled_by_hand() {
    let more = "set lb vserver a -backupVServer b -disablePrimaryOnDown ENABLED\n";
    let mut site = Site::new(&["", ""], more);
    site.set("sa", State::Down);
    site.set("sb", State::Down);
    site.tick(1);
    site.set("sa", State::Up);
    assert_eq!(site.visits(), "a", "no backup had taken its place");
    site.set("sb", State::Up);
    site.set("sa", State::Down);
    assert_eq!(site.visits(), "b");
    site.set("sa", State::Up);
    assert_eq!((site.visits(), site.state("a")), ("b".to_owned(), State::OutOfService));
    site.vserver("a").permit_return();
    assert_eq!((site.visits(), site.state("a")), ("a".to_owned(), State::Up));
    site.tick(1);
    site.set("sa", State::Down);
    site.tick(1);
    site.set("sa", State::Up);
    assert_eq!(site.visits(), "b", "without a client the clock notices it");
}

#[test]
fn what_was_never_up_has_not_gone_down() {
    let more = "set lb vserver a -backupVServer b -disablePrimaryOnDown ENABLED\ndisable service sa\n";
    let mut site = Site::new(&["", ""], more);
    site.snapshot = Snapshot::default();
    let text = "enable ns feature LB\nadd service s 192.0.2.1 HTTP 80\nadd service t 192.0.2.2 HTTP 80\n\
        add lb vserver b HTTP\nbind lb vserver b t\n\
        add lb vserver a HTTP 198.51.100.1 80 -backupVServer b -disablePrimaryOnDown ENABLED\nbind lb vserver a s\n";
    site.load(text);
    site.set("t", State::Up);
    site.tick(1);
    assert_eq!(site.visits(), "b");
    site.set("s", State::Up);
    assert_eq!(site.visits(), "a", "its first probe came late");
}

/// `spec/methods.md` 3.8: of ten at 50 percent, six down is DOWN, five down is UP.
#[test]
fn health_threshold_takes_a_virtual_server_down_strictly_below_it() {
    let mut more = "set lb vserver a -healthThreshold 50\n".to_owned();
    for n in 2..=10 {
        writeln!(more, "add service s{n} 192.0.2.{} HTTP 80\nbind lb vserver a s{n}", n + 10).unwrap();
    }
    let site = Site::new(&[""], &more);
    (2..=6).for_each(|n| site.set(&format!("s{n}"), State::Down));
    assert_eq!((site.state("a"), site.visits()), (State::Up, "a".to_owned()));
    site.set("s7", State::Down);
    assert_eq!((site.state("a"), site.visits()), (State::Down, "refused".to_owned()));
    site.set("s2", State::OutOfService);
    site.set("s3", State::OutOfService);
    assert_eq!(site.state("a"), State::Up, "4 of 8: disabled ones are not considered");
}

#[test]
fn of_a_threshold_of_n_connections_n_stay_and_the_next_one_spills() {
    let site =
        Site::new(&["", ""], "set lb vserver a -backupVServer b -soMethod CONNECTION -soThreshold 3\n");
    let mut places: Vec<Place> = Vec::new();
    for expected in ["a", "a", "a", "b", "b"] {
        let (by, place) = site.comes(1);
        assert_eq!(by, expected);
        places.push(place);
    }
    places.remove(0);
    let (by, place) = site.comes(1);
    assert_eq!(by, "a", "one has gone");
    places.push(place);
    let all: Vec<String> = places.iter_mut().map(|place| site.asks(place)).collect();
    assert_eq!(all, ["a", "a", "b", "b", "a"], "whoever was sent somewhere stays there");
    site.set("sb", State::Down);
    assert_eq!(site.asks(&mut places[2]), "refused", "full, and no backup is UP");
    places.truncate(3);
    site.set("sb", State::Up);
    assert_eq!(site.asks(&mut places[2]), "a", "there is room by now");
}

#[test]
fn places_are_exact_over_threads() {
    let site =
        Site::new(&["", ""], "set lb vserver a -backupVServer b -soMethod CONNECTION -soThreshold 100\n");
    let here = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (site, here) = (&site, &here);
            scope.spawn(move || {
                let own: Vec<(String, Place)> = (0..100).map(|_| site.comes(thread)).collect();
                here.lock().unwrap().extend(own);
            });
        }
    });
    let stayed = |places: &[(String, Place)]| places.iter().filter(|(by, _)| by == "a").count();
    let places = here.into_inner().unwrap();
    assert_eq!((places.len(), stayed(&places)), (400, 100));
    drop(places);
    assert_eq!(site.visits(), "a", "every place was given back");
}

#[test]
fn a_client_that_came_while_the_primary_was_down_returns_if_there_is_room() {
    let site =
        Site::new(&["", ""], "set lb vserver a -backupVServer b -soMethod CONNECTION -soThreshold 1\n");
    site.set("sa", State::Down);
    let (mut one, mut other) = (site.comes(1).1, site.comes(2).1);
    site.set("sa", State::Up);
    assert_eq!([site.asks(&mut one), site.asks(&mut other)], ["a", "b"]);
    drop(one);
    assert_eq!(site.asks(&mut other), "b", "it was sent there for want of room, and stays");
}

#[test]
fn a_threshold_without_an_own_number_is_what_the_services_may_have() {
    let more = "set service sa -maxClient 2\nadd service s2 192.0.2.9 HTTP 80 -maxClient 1\nbind lb vserver a s2\n\
        set lb vserver a -backupVServer b -soMethod DYNAMICCONNECTION\n";
    let site = Site::new(&["", ""], more);
    let places: Vec<(String, Place)> = (0..4).map(|_| site.comes(1)).collect();
    assert_eq!(places.iter().map(|(by, _)| by.as_str()).collect::<Vec<_>>(), ["a", "a", "a", "b"]);
    drop(places);
    site.set("s2", State::Down);
    let places: Vec<(String, Place)> = (0..3).map(|_| site.comes(1)).collect();
    assert_eq!(places[2].0, "b", "one that is DOWN has no room");
}

#[test]
fn bandwidth_spills_above_its_threshold() {
    let mut site =
        Site::new(&["", ""], "set lb vserver a -backupVServer b -soMethod BANDWIDTH -soThreshold 1000\n");
    let carried = |bytes| {
        let counter = &site.vserver("a").live.response_bytes;
        counter.fetch_add(bytes, std::sync::atomic::Ordering::Relaxed);
    };
    carried(125_000);
    site.tick(1);
    let (by, mut stays) = site.comes(1);
    assert_eq!(by, "a", "1,000 kbit/s do not exceed it");
    let counter = &site.vserver("a").live.request_bytes;
    counter.fetch_add(126_000, std::sync::atomic::Ordering::Relaxed);
    site.tick(1);
    assert_eq!((site.asks(&mut stays), site.visits()), ("a".to_owned(), "b".to_owned()));
    site.tick(1);
    assert_eq!(site.visits(), "a");
}

/// The example of `spec/methods.md` 3.6: weights 1, 2 and 3 at 50 percent.
#[test]
fn health_spills_strictly_below_its_threshold() {
    let more = "add service s2 192.0.2.8 HTTP 80\nadd service s3 192.0.2.9 HTTP 80\nbind lb vserver a s2 -weight 2\n\
        bind lb vserver a s3 -weight 3\nset lb vserver a -backupVServer b -soMethod HEALTH -soThreshold 50\n";
    for (down, by) in [(["sa", "s3"], "b"), (["s2", "s3"], "b"), (["sa", "s2"], "a")] {
        let site = Site::new(&["", ""], more);
        down.iter().for_each(|service| site.set(service, State::Down));
        assert_eq!((site.visits().as_str(), site.state("a")), (by, State::Up), "{down:?} down");
    }
}

#[test]
fn without_a_backup_the_action_says_what_happens() {
    let full = |options: &str| {
        let more = format!("set lb vserver a -soMethod CONNECTION -soThreshold 1 {options}\n");
        let site = Site::new(&[""], &more);
        let (first, _place) = site.comes(1);
        assert_eq!(first, "a");
        site.visits()
    };
    assert_eq!(full("-soBackupAction ACCEPT"), "a");
    assert_eq!(full("-soBackupAction DROP -redirectURL http://x"), "refused");
    assert_eq!(full("-soBackupAction REDIRECT -redirectURL http://x"), "http://x");
    assert_eq!(full("-soBackupAction REDIRECT"), "refused");
    assert_eq!((full("-redirectURL http://x"), full("")), ("http://x".to_owned(), "refused".to_owned()));
}

#[test]
fn with_persistence_a_client_stays_for_its_time_where_it_was_sent() {
    let more = "set lb vserver a -backupVServer b -soMethod CONNECTION -soThreshold 1 -soPersistence ENABLED -soPersistenceTimeOut 5\n";
    let mut site = Site::new(&["", ""], more);
    let (first, place) = site.comes(1);
    let (second, spilled) = site.comes(2);
    assert_eq!((first.as_str(), second.as_str()), ("a", "b"));
    assert_eq!(site.comes(1).0, "a", "who is here stays here, over the threshold");
    drop((place, spilled));
    site.tick(299);
    assert_eq!(site.comes(2).0, "b", "although there is room");
    assert_eq!(site.comes(3).0, "a");
    site.tick(299);
    assert_eq!(site.comes(2).0, "b", "each connection counts anew");
    site.set("sb", State::Down);
    assert_eq!(site.comes(2).0, "a", "there is room here and none there");
    site.set("sb", State::Up);
    site.tick(300);
    assert_eq!(site.comes(2).0, "a");
}
