//! `help` and `man`: whoever asks about a command, a verb, an object or a group is told what there is, and a page leaves
//! no argument out.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeSet;

use steelyard_core::command::{Object, Page, Verb, help, lex::words, man, once, pages, usage};

fn page(command: &str) -> Page {
    man(&words(command).unwrap()).unwrap()
}

fn told(command: &str, argument: &str) -> String {
    let page = page(command);
    let named = |name: &str| name.split([' ']).next().unwrap().trim_matches(['<', '>']) == argument;
    let entry = page.arguments.iter().find(|entry| named(&entry.name));
    entry.unwrap_or_else(|| panic!("{command}: {argument} of {page:?}")).text.clone()
}

/// `spec/cli.md` 5 to 7 and the command reference: ranges, units and defaults.
#[test]
fn a_page_has_what_is_known_of_an_argument() {
    for (command, argument, parts) in [
        ("add lb monitor", "-interval", &["Default: 5.", "seconds, unless SEC, MSEC or MIN follows"][..]),
        ("add lb monitor", "-resptimeout", &["Default: 2."]),
        ("set lb monitor", "-retries", &["1 to 127", "Default: 3."]),
        ("add lb monitor", "-downTime", &["Default: 30."]),
        ("add lb monitor", "-httpRequest", &["Only of HTTP, HTTP-INLINE, HTTP2."]),
        ("add lb monitor", "type", &["Required.", "HTTP-ECV"]),
        ("add service", "-cltTimeout", &["Default: ", "180 of HTTP"]),
        ("add service", "port", &["Required.", "to 65535"]),
        ("add lb vserver", "name", &["Required.", "web[1-3]"]),
        ("add lb vserver", "-lbMethod", &["One of ROUNDROBIN", "Default: LEASTCONNECTION."]),
        ("add lb vserver", "-pq", &["Kept, shown and saved"]),
        ("bind service", "-monitorName", &["Not with policyName."]),
        ("bind lb vserver", "-priority", &["Needs policyName."]),
        (
            "show lb vserver",
            "--json",
            &["NITRO's rows as JSON, errors included. An addition of Steelyard: no appliance has it."],
        ),
        ("clear ns config", "level", &["One of basic, extended, full.", "Required."]),
    ] {
        let told = told(command, argument);
        for part in parts {
            assert!(told.contains(part), "{command} {argument}: {part:?} in {told}");
        }
    }
    assert!(!told("unset lb monitor", "-retries").contains("1 to 127"), "unset takes no value");
    assert!(!told("show lb monitor", "type").contains("Required."));
}

#[test]
fn every_command_has_a_page_and_every_argument_an_entry() {
    let pages: Vec<Page> = pages().collect();
    let names: BTreeSet<&str> = pages.iter().map(|page| page.name.as_str()).collect();
    assert_eq!(names.len(), pages.len(), "no two have one name");
    for object in Object::ALL {
        for verb in Verb::ALL {
            let Some(usage) = usage(verb, object) else { continue };
            let name = format!("{} {}", verb.text(), object.text());
            let page = pages.iter().find(|page| page.name == name).unwrap();
            let synopsis = usage.lines().next().unwrap().strip_prefix("Usage: ").unwrap();
            assert_eq!(page.synopsis, synopsis);
            assert_eq!(man(&words(&name).unwrap()).as_ref(), Some(page));
            for option in synopsis.split(" [-").skip(1) {
                let option = format!("-{}", option.split([' ', ']']).next().unwrap());
                assert!(
                    page.arguments.iter().any(|entry| entry.name.split(' ').next() == Some(&option)),
                    "{name} {option}"
                );
            }
        }
    }
    for once in once() {
        let page = pages.iter().find(|page| page.name == once.name()).unwrap();
        assert_eq!(page.arguments.len(), once.parts.len());
        assert_eq!(once.beyond, page.description.iter().any(|text| text.contains("Steelyard")));
    }
    for page in &pages {
        assert!(page.purpose.ends_with('.') && page.synopsis.starts_with(&page.name), "{page:?}");
        assert!(page.see_also.iter().all(|name| names.contains(name.as_str())), "{:?}", page.see_also);
        for entry in &page.arguments {
            assert!(entry.text.ends_with('.') && !entry.text.contains(".. "), "{}: {entry:?}", page.name);
        }
    }
}

#[test]
fn help_is_about_whatever_is_named() {
    let about = |line: &str| help(&words(line).unwrap()).map_err(|refusal| refusal.code());
    let has = |line: &str, start: &str| about(line).unwrap().lines().any(|line| line.starts_with(start));
    for (line, start) in [
        ("", "  help COMMAND "),
        ("", "  add "),
        ("", "  lb "),
        ("", "  explain "),
        ("-all", "add lb vserver <name>@ <serviceType>"),
        ("-all", "save ns config"),
        ("-all", "explain <vserver> [-last <last>] (Steelyard)"),
        ("lb", "set lb monitor"),
        ("server", "disable server"),
        ("add", "add service <name>@"),
        ("ren", "rename server"),
        ("add lb", "add lb monitor"),
        ("add lb", "add lb: Kept"),
        ("ad lb vs", "Usage: add lb vserver <name>@ <serviceType>"),
        ("ad lb vs", "where:"),
        ("clear", "Usage: clear lb persistentSessions [<vServer>]"),
        ("clear ns", "Usage: clear ns config"),
        ("show server", "  --json: NITRO's rows as JSON, errors included. (Steelyard)"),
        ("stat ns", "  --json: "),
        ("", "  show ... --json "),
        ("set cli mode", "Usage: set cli mode [-page <page>]"),
        ("set", "set cli prompt <promptString>"),
        ("check", "Usage: check <file> (Steelyard)"),
        ("appfw", "appfw: Kept"),
        ("add responder", "add responder: Kept"),
        ("add responder policy", "Usage: add responder policy ..."),
    ] {
        assert!(has(line, start), "help {line}: {start}\n{}", about(line).unwrap());
    }
    assert!(!has("add", "set ") && !has("lb", "add server") && !has("clear ns", "Usage: clear lb"));
    assert_eq!(about("add nonsense"), Err(1088));
    assert_eq!(about("nonsense"), Err(1088));
    assert_eq!(man(&words("add").unwrap()), None, "no single command");
    let wide = about("").unwrap().lines().map(|line| line.chars().count()).max().unwrap();
    assert!(wide <= 120, "{wide}");
}
