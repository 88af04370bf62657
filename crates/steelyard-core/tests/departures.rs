//! Slow ways out of service, from the lines that ask for them to the services that leave (`spec/methods.md` 3.4).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use steelyard_core::command::{Switched, read};
use steelyard_core::config::departure::Departure;

const SITE: &str = "enable ns feature LB\nadd server web 192.0.2.11\nadd service s web HTTP 80\n\
    add serviceGroup g HTTP\nbind serviceGroup g web 80\nbind serviceGroup g 192.0.2.12 80\n";

/// How `s` and the two members of `g` leave after these lines.
fn ways(lines: &str) -> [Option<Departure>; 3] {
    let reading = read(format!("{SITE}{lines}").as_bytes(), "ns.conf");
    assert_eq!(reading.refused, [], "{lines}");
    let (departures, config) = (Switched::by(&reading.lines).departures, reading.config);
    let service = config.services.find("s").unwrap();
    let group = config.service_groups.find("g").unwrap();
    let mut members = group.members.iter().map(|member| departures.of_member(group, member, &config));
    let all = [departures.of_service(service, &config), members.next().unwrap(), members.next().unwrap()];
    all.map(Option::flatten)
}

fn way(delay_s: u32, graceful: bool) -> Option<Departure> {
    Departure::asked(delay_s, graceful)
}

#[test]
fn each_object_leaves_as_its_line_says() {
    assert_eq!(ways("disable service S 30 -graceFul YES\n"), [way(30, true), None, None]);
    assert_eq!(ways("disable server web 10\n"), [way(10, false), way(10, false), None]);
    assert_eq!(ways("disable serviceGroup g -graceFul YES\n"), [None, way(0, true), way(0, true)]);
    assert_eq!(ways("disable serviceGroup g WEB 80 -delay 30\n"), [None, way(30, false), None]);
    assert_eq!(ways("disable serviceGroup g 192.0.2.12 80 -delay 30\n"), [None, None, way(30, false)]);
    assert_eq!(ways("disable serviceGroup g 192.0.2.11 80 -delay 5\n"), [None, way(5, false), None]);
}

#[test]
fn without_delay_and_grace_it_is_at_once_and_the_last_line_counts() {
    assert_eq!(ways("disable service s\n"), [None; 3]);
    assert_eq!(ways("disable service s 0 -graceFul NO\n"), [None; 3]);
    assert_eq!(ways("disable service s 30\ndisable service s\n"), [None; 3]);
    assert_eq!(
        ways("disable service s\nenable service s\ndisable service s 30\n"),
        [way(30, false), None, None]
    );
}

#[test]
fn at_once_is_not_the_same_as_nothing() {
    let said = |lines: &str| {
        let reading = read(format!("{SITE}{lines}").as_bytes(), "ns.conf");
        let departures = Switched::by(&reading.lines).departures;
        departures.of_service(reading.config.services.find("s").unwrap(), &reading.config)
    };
    assert_eq!(said("disable service s\n"), Some(None));
    assert_eq!(said("disable server web\n"), Some(None));
    assert_eq!(said("disable service s 5\n"), Some(way(5, false)));
    assert_eq!(said("set service s -comment x\n"), None);
}

#[test]
fn of_several_switches_the_soonest_counts() {
    let both = "disable service s 30\ndisable server web 10 -graceFul YES\n";
    assert_eq!(ways(both), [way(10, true), way(10, true), None]);
    assert_eq!(ways("disable service s 30\ndisable server web\n"), [None; 3], "the server at once");
    let enabled = "disable service s 30\ndisable server web 10\nenable server web\n";
    assert_eq!(ways(enabled), [way(30, false), None, None], "the server is on");
}

#[test]
fn a_line_that_enables_a_virtual_server_is_told() {
    let told = |lines: &str| {
        let text = format!("{SITE}add lb vserver V HTTP\n{lines}");
        Switched::by(&read(text.as_bytes(), "ns.conf").lines).enabled_vservers.into_iter().collect::<Vec<_>>()
    };
    assert_eq!(told("enable lb vserver V\n"), ["v"]);
    assert_eq!(told("enable lb vserver V\ndisable lb vserver v\n"), [""; 0]);
    assert_eq!(told(""), [""; 0]);
}
