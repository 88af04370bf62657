//! Cases about what a saved file must be: the same values, in an order that can be replayed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use steelyard_core::command::{print, read, run_line};
use steelyard_core::config::Config;

/// A configuration in which nothing was refused.
fn config(text: &str) -> Config {
    let reading = read(text.as_bytes(), "ns.conf");
    assert_eq!(reading.refused, [], "{text}");
    reading.config
}

/// Case K03: blanks, quotes, backslashes, number signs and nothing at all come back as they were.
#[test]
fn k03_values_survive_print_and_parse() {
    let lines = r###"add lb monitor m1 HTTP-ECV -send "GET /x?a=\"b\" HTTP/1.0" -recv ""
add lb vserver "v 1" HTTP 127.0.0.1 8080 -comment "two words \"quoted\" and \\ backslash"
add service s#1 127.0.0.11 HTTP 9001 -comment "# not a comment"
save ns config
"###;
    let first = config(lines);
    let holds = |config: &Config| {
        let monitor = config.lb_monitors.find("m1").unwrap();
        assert_eq!((monitor.send.as_str(), monitor.receive.as_str()), (r#"GET /x?a="b" HTTP/1.0"#, ""));
        let vserver = config.lb_vservers.find("v 1").unwrap();
        assert_eq!(vserver.comment, r#"two words "quoted" and \ backslash"#);
        assert_eq!(config.services.find("s#1").unwrap().comment, "# not a comment");
    };
    holds(&first);
    let again = config(&print(&first).ns_conf);
    holds(&again);
    assert_eq!(again, first);
    for value in [
        "q/a b/",
        "q{x{",
        "a'b",
        "a\"b'c",
        "\\",
        "\\\\\"",
        "tab\there",
        "-dash",
        "(a b)",
        ")(",
        ";",
        "é",
        " ",
    ] {
        let mut quoted = String::from("add server s 10.0.0.1 -comment \"");
        for character in value.chars() {
            match character {
                '"' | '\\' => quoted.extend(['\\', character]),
                '\t' => quoted.push_str("\\t"),
                _ => quoted.push(character),
            }
        }
        quoted.push('"');
        let first = config(&quoted);
        assert_eq!(first.servers.find("s").unwrap().comment, value);
        assert_eq!(config(&print(&first).ns_conf), first, "{value:?}");
    }
}

/// Case K12, its order: objects made in any order are printed in one that can be replayed, and a change that was not
/// saved is not in what was. That a save survives kill -9 is for the version that saves; this one keeps the file as it is.
#[test]
fn k12_the_printed_order_can_be_replayed() {
    let mut running = config(
        "add lb monitor m HTTP\nadd lb vserver v1 HTTP 127.0.0.1 8080\nadd serviceGroup g HTTP\n\
         bind serviceGroup g -monitorName m\nbind lb vserver v1 g\nadd service s1 127.0.0.11 HTTP 9001\n\
         bind lb vserver v1 s1 -weight 7\nadd server late 127.0.0.12\nbind serviceGroup g late 80\n",
    );
    let saved = print(&running).ns_conf;
    let mut replayed = Config::default();
    for line in saved.lines() {
        assert!(run_line(&mut replayed, line).is_ok(), "{line}");
    }
    assert_eq!(replayed, running);
    run_line(&mut running, "set lb vserver v1 -lbMethod LRTM").unwrap();
    assert_ne!(print(&running).ns_conf, saved);
    assert_eq!(config(&saved), replayed);
    assert_eq!(replayed.lb_vservers.find("v1").unwrap().lb_method.text(), "LEASTCONNECTION");
}
