//! Golden files of the command language: `tests/command/*.txt`. Each holds an `ns.conf`, then under `=== refused`
//! every refusal in order, then under `=== configuration` what was kept, as it would be saved. `UPDATE=1` rewrites
//! what stands under the two lines.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use steelyard_core::command::{Warning, print, read, run_line};
use steelyard_core::config::{Config, Features, LbBinding};

#[test]
fn golden_files() {
    let files = files();
    assert!(files.len() >= 4, "only {} golden files found", files.len());
    let update = std::env::var_os("UPDATE").is_some();
    let mut wrong = String::new();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let input = text.split("=== refused\n").next().unwrap();
        let expected = outcome(input);
        if text != expected && update {
            std::fs::write(&file, &expected).unwrap();
        } else if text != expected {
            writeln!(wrong, "{}\n{}", file.display(), first_difference(&text, &expected)).unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}\nUPDATE=1 rewrites the files");
}

/// What was printed reads back as what was kept, without a refusal.
#[test]
fn what_is_printed_reads_back() {
    for file in files() {
        let text = std::fs::read_to_string(&file).unwrap();
        let first = read(text.split("=== refused\n").next().unwrap().as_bytes(), "first");
        let printed = print(&first.config).ns_conf;
        let second = read(printed.as_bytes(), "printed");
        assert_eq!(second.refused, [], "{}:\n{printed}", file.display());
        assert_eq!(print(&second.config).ns_conf, printed);
        assert_eq!(second.config, first.config, "{}:\n{printed}", file.display());
    }
}

fn outcome(input: &str) -> String {
    let reading = read(input.as_bytes(), "ns.conf");
    let mut text = format!("{input}=== refused\n");
    for refused in &reading.refused {
        writeln!(text, "{refused}").unwrap();
    }
    text + "=== configuration\n" + &print(&reading.config).ns_conf
}

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/command");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn first_difference(is: &str, should: &str) -> String {
    let (line, (is, should)) = is
        .lines()
        .chain(std::iter::repeat("(end)"))
        .zip(should.lines().chain(std::iter::repeat("(end)")))
        .enumerate()
        .find(|(_, (is, should))| is != should)
        .unwrap();
    format!("  line {}\n  file:    {is}\n  outcome: {should}", line + 1)
}

/// Case S22: a weight out of 1..100 is refused and changes nothing; sums over many members do not overflow.
#[test]
fn s22() {
    let mut lines = String::from("enable ns feature LB\nadd lb vserver v1 HTTP 10.0.0.1 80\n");
    for index in 0..200 {
        writeln!(lines, "add service s{index} 10.1.0.{index} HTTP 80").unwrap();
    }
    let mut config = read(lines.as_bytes(), "ns.conf").config;
    let unbound = config.clone();
    for (weight, code) in [("0", 1109), ("101", 1108), ("-1", 1109), ("", 1097), ("1.5", 1097)] {
        let line = format!("bind lb vserver v1 s1 -weight \"{weight}\"");
        let (refusal, column) = run_line(&mut config, &line).unwrap_err();
        assert_eq!((refusal.code(), refusal.argument(), column), (code, Some("weight"), 31), "{weight}");
        assert_eq!(config, unbound);
    }
    run_line(&mut config, "bind lb vserver v1 s1 -weight 100").unwrap();
    let bound = config.clone();
    let (refusal, _) = run_line(&mut config, "set lb vserver v1 -weight 0 s1").unwrap_err();
    assert_eq!((refusal.code(), &config), (1109, &bound));
    for index in (0..200).filter(|index| *index != 1) {
        run_line(&mut config, &format!("bind lb vserver v1 s{index} -weight 1")).unwrap();
    }
    let vserver = config.lb_vservers.find("V1").unwrap();
    let weights: u32 = vserver
        .bindings
        .iter()
        .map(|binding| match binding {
            LbBinding::Service { weight, .. } => *weight,
            LbBinding::ServiceGroup { .. } => 0,
        })
        .sum();
    assert_eq!((vserver.bindings.len(), weights), (200, 299));
}

#[test]
fn files_as_they_come() {
    let codes = |bytes: &[u8]| -> Vec<(usize, usize, u16)> {
        let reading = read(bytes, "ns.conf");
        reading.refused.iter().map(|r| (r.place.line, r.place.column, r.refusal.code())).collect()
    };
    assert_eq!(codes(b""), []);
    assert_eq!(
        codes(b"\xef\xbb\xbf#NS13.1 Build 48.47\r\nadd server a 10.0.0.1\r\n\r\nadd server b 10.0.0.2"),
        []
    );
    assert_eq!(
        codes(b"# caf\xe9 in Latin-1\nadd server a 10.0.0.1 -comment caf\xe9\nadd server b 10.0.0.2\n"),
        [(2, 35, 278)]
    );
    assert_eq!(codes(b"\xff\xfea\0d\0d\0\n\0x\0"), [(1, 1, 278)]);
    assert_eq!(codes("add server é 10.0.0.x".as_bytes()), [(1, 12, 1075)]);
    assert_eq!(codes("add server a -comment \"é é\" 10.0.0.x".as_bytes()), [(1, 29, 1112)]);
    let long = format!("add server a 10.0.0.1 -comment {}\nadd server b 10.0.0.2\n", "x".repeat(70_000));
    assert_eq!(codes(long.as_bytes()), [(1, 1, 296)]);
    assert_eq!(read(long.as_bytes(), "ns.conf").config.servers.len(), 1);
}

/// One line that says where, what and what to do.
#[test]
fn refusals_read_well() {
    let line = |text: &str| read(text.as_bytes(), "ns.conf").refused[0].to_string();
    assert_eq!(
        line("\n\nadd lb vserver v HTTP 10.0.0.1 80 -lbMethod LEASTCONECTION"),
        "ns.conf:3:45: Invalid argument value [lbMethod]: \"LEASTCONECTION\" is not known; did you mean LEASTCONNECTION? (1097)"
    );
    assert_eq!(
        line("add lb monitor m HTTP -pasword hunter2"),
        "ns.conf:1:23: No such argument [-pasword]: \"-pasword\" is not known; did you mean -password? (1090)"
    );
    let odd = format!("add {} x", "\u{1b}[31m\\".repeat(200));
    assert!(line(&odd).len() < 800 && line(&odd).contains("\\u{1b}[31m"), "{}", line(&odd));
}

/// What the rest of the program asks of a configuration.
#[test]
fn lookups() {
    let text = "add lb vserver Web HTTP 10.0.0.1 80\nadd lb vserver cs HTTP 0.0.0.0 0\nadd service s 10.0.0.5 HTTP 80\n\
                add lb monitor m HTTP\nbind service s -monitorName m -monState DISABLED -weight 3\nadd service t 10.0.0.6 HTTP 80\n";
    let config = read(text.as_bytes(), "ns.conf").config;
    assert_eq!(config.lb_vservers.find("wEB").unwrap().address(), Some("10.0.0.1:80".parse().unwrap()));
    assert_eq!(config.lb_vservers.find("cs").unwrap().address(), None);
    assert_eq!(config.servers.find("10.0.0.5").unwrap().ip().unwrap().to_string(), "10.0.0.5");
    let bound = &config.services.find("s").unwrap().monitors[0];
    assert_eq!((bound.monitor.as_str(), bound.weight, bound.enabled), ("m", 3, false));
}

/// A virtual server without the feature is kept, and the warning says so.
#[test]
fn without_the_feature_there_is_a_warning() {
    let mut config = Config::default();
    let done = run_line(&mut config, "add lb vserver v HTTP").unwrap().unwrap();
    assert_eq!(done.warnings, [Warning::FeatureDisabled("LB")]);
    assert_eq!(done.warnings[0].to_string(), "Feature(s) not enabled [LB]");
    run_line(&mut config, "enable ns feature lb").unwrap();
    assert!(config.features.has(Features::LB));
    assert_eq!(run_line(&mut config, "add lb vserver w HTTP").unwrap().unwrap().warnings, []);
}

fn changes(before: &str, after: &str) -> String {
    let config = |text: &str| read(text.as_bytes(), "ns.conf").config;
    config(before).changes_to(&config(after)).to_string()
}

#[test]
fn what_was_added_removed_and_changed_is_told_apart() {
    let before = "add server a 10.0.0.1\nadd service s a HTTP 80\nadd lb vserver v HTTP 10.0.1.1 80\n";
    assert_eq!(changes(before, before), "nothing changed");
    assert_eq!(
        changes(
            before,
            "add server a 10.0.0.1\nadd service t a HTTP 80\nadd lb vserver v HTTP 10.0.1.2 80\n"
        ),
        "1 virtual server changed (v), +1 service (t), -1 service (s)"
    );
    let many = "add server a 10.0.0.1\nadd server b 10.0.0.2\nadd server c 10.0.0.3\nadd server d 10.0.0.4\n";
    assert_eq!(changes("", many), "+4 servers");
    assert_eq!(changes(many, ""), "-4 servers");
    assert_eq!(changes("", "enable ns feature LB"), "settings changed");
}

#[test]
fn a_binding_is_a_change_of_what_it_is_bound_to() {
    let before = "add service s 10.0.0.1 HTTP 80\nadd lb vserver v HTTP 10.0.1.1 80\n";
    assert_eq!(
        changes(before, &format!("{before}bind lb vserver v s -weight 2\n")),
        "1 virtual server changed (v)"
    );
}
