//! A file whose guards are merely stored opens nothing that they guarded: neither the address nor, after a reload, an
//! established client; the reason is told at the start and by management, and `--expose` opens it all the same.

use libtest_mimic::Trial;
use steelyard_core::config::LbVserver;
use steelyard_core::config::attribute::{Effect, Kind, Resource};

use crate::client::{Client, page};
use crate::place::Place;
use crate::program::{Program, run_to_end, text};
use crate::service::{TestService, wait_for};

pub fn trials() -> Vec<Trial> {
    trials![
        each_guard_keeps_its_virtual_server_shut,
        each_option_that_decides_who_gets_in_keeps_it_shut,
        a_global_guard_keeps_everything_shut,
        an_exposed_virtual_server_is_served,
        a_guard_that_comes_by_reload_shuts_and_one_that_goes_opens,
        a_type_or_port_that_is_not_carried_is_never_served_in_clear,
        names_to_expose_must_be_virtual_servers,
    ]
}

/// Virtual server `free` at port 8000, and at 8001 `v`, which `lines` guard; both over the service `s`.
fn with(place: &Place, lines: &str) -> String {
    let ip = place.ip();
    format!(
        "enable ns feature LB RESPONDER\n\
         add service s {ip} HTTP 8101 -healthMonitor NO\n\
         add lb vserver free HTTP {ip} 8000\n\
         add lb vserver v HTTP {ip} 8001\n\
         bind lb vserver free s\n\
         bind lb vserver v s\n\
         {lines}\n"
    )
}

/// The guard must be named at the start, in the list and by management.
fn assert_shut(program: &Program, place: &Place, name: &str, words: &str) {
    let line = program.wait_for_line(&format!("{name}  {}:8001  ", place.ip()));
    assert!(line.contains("DOWN: exposure: "), "{line}");
    assert!(line.contains(words) && line.contains(&format!("--expose {name}")), "{words:?} in {line:?}");
    let element = program.field("lbvserver", name, "reason");
    assert!(element.as_str().is_some_and(|reason| reason.contains(words)), "{element}");
    assert_eq!(program.field("lbvserver", name, "state"), "DOWN");
    assert!(!program.listening().contains(&place.vserver(1)));
    assert!(Client::try_connect(place.vserver(1)).is_err());
}

fn each_guard_keeps_its_virtual_server_shut() {
    let cases = [
        (
            "add responder policy p TRUE DROP\nbind lb vserver v -policyName p -priority 1",
            "responder policy p",
        ),
        (
            "add rewrite policy p TRUE NOREWRITE\nbind lb vserver v -policyName p -priority 1",
            "rewrite policy p",
        ),
        (
            "add appfw policy p TRUE APPFW_BLOCK\nbind lb vserver v -policyName p -priority 1",
            "appfw policy p",
        ),
        (
            "add authorization policy p TRUE DENY\nbind lb vserver v -policyName p -priority 1",
            "authorization policy p",
        ),
        ("bind lb vserver v -policyName nobody -priority 1", "policy nobody, which no line adds"),
        ("add ns acl a DENY -srcIP = 10.0.0.1 -destPort = 8001 -priority 10", "ns acl a"),
        ("add ns simpleacl a DENY -srcIP 10.0.0.1 -destPort 8001 -protocol TCP", "ns simpleacl a"),
        ("set ssl vserver v -clientAuth ENABLED", "client certificates"),
    ];
    for (lines, words) in cases {
        let place = Place::new();
        let _s = TestService::named(place.service(1), "s");
        let program = Program::launch(&place, &with(&place, lines));
        assert_shut(&program, &place, "v", words);
        assert_eq!(page(place.vserver(0)), "s", "the other one is served");
        assert_eq!(program.field("lbvserver", "free", "reason"), "");
    }
}

/// Every option that the rows call so, one virtual server each, beside one that has it at its default.
fn each_option_that_decides_who_gets_in_keeps_it_shut() {
    let place = Place::new();
    let ip = place.ip();
    let _s = TestService::named(place.service(1), "s");
    let deciding: Vec<_> =
        LbVserver::ATTRIBUTES.iter().filter(|a| a.row.effect == Effect::Exposure).collect();
    assert!(deciding.len() >= 7, "{}", deciding.len());
    let mut lines = String::new();
    for (nth, attribute) in deciding.iter().enumerate() {
        let value = match attribute.row.kind {
            Kind::OnOff => "ON",
            Kind::Number { .. } => "7",
            Kind::Expression { .. } => "\"CLIENT.IP.SRC.IN_SUBNET(10.0.0.0/8)\"",
            _ => "x",
        };
        let port = 8010 + nth;
        let option = attribute.row.cli;
        lines +=
            &format!("add lb vserver o{nth} HTTP {ip} {port} -{option} {value}\nbind lb vserver o{nth} s\n");
    }
    lines += &format!(
        "add lb vserver same HTTP {ip} 8002 -Authentication OFF -authn401 OFF -Listenpolicy None -td 0\n"
    );
    let program = Program::launch(&place, &with(&place, &lines));
    assert_eq!(program.errors(), "");
    for (nth, attribute) in deciding.iter().enumerate() {
        let reason = text(&program.stat("lbvserver")[nth + 2], "reason");
        let option = format!("-{} ", attribute.row.cli);
        assert!(reason.starts_with("exposure: ") && reason.contains(&option), "{option}: {reason}");
    }
    assert_eq!(
        program.listening(),
        [place.vserver(0), place.vserver(1), place.vserver(2), place.nitro()],
        "those without"
    );
}

fn a_global_guard_keeps_everything_shut() {
    for lines in [
        "add responder policy p TRUE DROP\nbind responder global p 10 END -type REQ_DEFAULT",
        "add ns acl a DENY -srcIP = 10.0.0.1",
        "set appfw settings -defaultProfile APPFW_BLOCK",
    ] {
        let place = Place::new();
        let program = Program::launch(&place, &with(&place, lines));
        assert_eq!(program.listening(), [place.nitro()], "{lines}");
        let states = program.stat("lbvserver");
        assert!(
            states.iter().all(|v| text(v, "state") == "DOWN" && text(v, "reason").starts_with("exposure: "))
        );
    }
}

fn an_exposed_virtual_server_is_served() {
    let place = Place::new();
    let _s = TestService::named(place.service(1), "s");
    let lines = "add responder policy p TRUE DROP\nbind lb vserver v -policyName p -priority 1";
    let program = Program::launch_with(&place, &with(&place, lines), &["--expose", "V", "--expose", "free"]);
    assert_eq!(page(place.vserver(1)), "s");
    assert_eq!(
        program.errors(),
        "steelyard: exposure: V is open by --expose, without responder policy p\n\
         steelyard: --expose free: nothing guards it, so leave it out\n"
    );
    // It stays exposed whatever the file has to say later.
    program.reload(&with(&place, "add ns acl a DENY -destPort 8001"));
    assert_eq!(page(place.vserver(1)), "s");
}

/// A client that was in before must not go on past the guard.
fn a_guard_that_comes_by_reload_shuts_and_one_that_goes_opens() {
    let place = Place::new();
    let _s = TestService::named(place.service(1), "s");
    let program = Program::launch(&place, &with(&place, ""));
    let mut client = Client::connect(place.vserver(1));
    assert_eq!(client.get("/").text(), "s");
    program.reload(&with(&place, "add ns acl a DENY -destPort 8001"));
    program.wait_for_state("lbvserver", "v", "DOWN");
    assert_eq!(client.get("/").status(), 503);
    wait_for("the address to be closed", || Client::try_connect(place.vserver(1)).is_err());
    program.reload(&with(&place, ""));
    assert_eq!(page(place.vserver(1)), "s");
}

fn a_type_or_port_that_is_not_carried_is_never_served_in_clear() {
    let place = Place::new();
    let ip = place.ip();
    let _s = TestService::named(place.service(1), "s");
    let lines = format!("add lb vserver tls SSL {ip} 8002\nadd lb vserver any HTTP {ip} *\n");
    let program = Program::launch_with(&place, &with(&place, &lines), &["--expose", "tls"]);
    let line = program.wait_for_line(&format!("tls  {ip}:8002  "));
    assert!(line.ends_with("DOWN: this version does not carry SSL"), "{line}");
    let line = program.wait_for_line("any  ");
    assert!(line.ends_with("DOWN: this version serves no port *"), "{line}");
    assert_eq!(program.listening(), [place.vserver(0), place.vserver(1), place.nitro()]);
    assert_eq!(page(place.vserver(0)), "s");
}

fn names_to_expose_must_be_virtual_servers() {
    let place = Place::new();
    let path = place.file("ns.conf", &with(&place, ""));
    let output =
        run_to_end(&["run", "--config", &path, "--nitro", &place.nitro().to_string(), "--expose", "w"]);
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(error.starts_with("steelyard: --expose w: no virtual server has that name"), "{error}");
}
