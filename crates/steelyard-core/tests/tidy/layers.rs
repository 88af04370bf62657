//! What may depend on what: arrows between core's modules, core's dependencies, what core may reach of the world.

use crate::repository::{CORE, Fault, Repository, code};

/// Each module of core uses only modules that stand before it in the architecture.
pub fn arrows(repository: &Repository) -> Vec<Fault> {
    let mut faults = Vec::new();
    for file in repository.rust(CORE) {
        let Some(from) = Repository::core_module(file).filter(|&m| m != "lib") else { continue };
        let Some(&(_, allowed)) = ARROWS.iter().find(|(module, _)| *module == from) else {
            faults.push(file.fault(1, format!("module {from} is not in the table of arrows")));
            continue;
        };
        for (line, path) in file.paths() {
            let Some(to) = module_named(&path, depth(&file.path)) else { continue };
            let known = ARROWS.iter().any(|(module, _)| *module == to);
            if known && to != from && !EVERYWHERE.contains(&to) && !allowed.contains(&to) {
                faults.push(file.fault(line, format!("{from} must not use {to}")));
            }
        }
    }
    faults
}

/// The module of core that a path leads to; `None` if it stays inside or leads out of the crate.
fn module_named(path: &str, depth: usize) -> Option<&str> {
    let mut rest = path.split("::").peekable();
    let mut up = 0;
    if rest.peek() == Some(&"crate") {
        rest.next();
        return rest.next();
    }
    while rest.next_if_eq(&"super").is_some() {
        up += 1;
    }
    if up >= depth { rest.next() } else { None }
}

/// How many modules deep a file of core is: 1 for `time.rs` and `balance/mod.rs`.
fn depth(path: &str) -> usize {
    let inside = path.trim_start_matches(CORE).trim_end_matches("/mod.rs");
    inside.split('/').count()
}

/// Core reaches no clock, socket, thread, file, environment or randomness; atomics and locks only through `sync.rs`.
pub fn doors(repository: &Repository) -> Vec<Fault> {
    let mut faults = Vec::new();
    for file in repository.rust(CORE) {
        for (line, path) in file.paths() {
            for (door, reason) in DOORS {
                let through_sync = file.path.ends_with("/sync.rs") && reason == SYNC;
                if (path == door || path.starts_with(&format!("{door}::"))) && !through_sync {
                    faults.push(file.fault(line, format!("{path}: {reason}")));
                }
            }
            for (word, reason) in WORDS {
                if path.split("::").any(|part| part == word) {
                    faults.push(file.fault(line, format!("{path}: {reason}")));
                }
            }
        }
    }
    faults
}

/// Wall time, which anybody may set, decides nothing: it is read where it is shown, and where a seed is made.
pub fn wall_time(repository: &Repository) -> Vec<Fault> {
    let mut faults = Vec::new();
    for file in repository.rust("crates/steelyard/src/") {
        let shows = WALL_TIME.iter().any(|path| file.path.starts_with(path));
        for (line, path) in file.paths().into_iter().filter(|_| !shows) {
            if path.split("::").any(|part| matches!(part, "SystemTime" | "UNIX_EPOCH" | "jiff")) {
                faults.push(file.fault(line, format!("{path}: time is monotonic, wall time is for display")));
            }
        }
    }
    faults
}

/// A configuration is changed by commands alone.
pub fn one_place_that_changes(repository: &Repository) -> Vec<Fault> {
    let mut faults = Vec::new();
    let others = repository.sources().filter(|f| !f.path.starts_with("crates/steelyard-core/src/command/"));
    for file in others {
        for (index, line) in code(&file.text).lines().enumerate() {
            let mut taken = line.match_indices("&mut Config").map(|(at, found)| &line[at + found.len()..]);
            if taken.any(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_')) {
                faults.push(file.fault(index + 1, "a configuration is changed only by command::apply"));
            }
        }
    }
    faults
}

/// Core's dependencies are those the architecture names, and loom only for the model checker.
pub fn dependencies(repository: &Repository) -> Vec<Fault> {
    let is_allowed = |section: &str, name: &str| match section {
        "[dependencies]" => DEPENDENCIES.contains(&name),
        "[target.'cfg(loom)'.dependencies]" => name == "loom",
        other => other == "[dev-dependencies]",
    };
    let listed = listed_dependencies(repository).into_iter();
    let others = listed.filter(|(section, name, _)| !is_allowed(section, name));
    let fault = |(_, name, line)| Fault {
        at: format!("{CORE_MANIFEST}:{line}"),
        what: format!("core must not depend on {name}"),
    };
    others.map(fault).collect()
}

/// What core is built with, its tests left out.
pub fn core_dependencies(repository: &Repository) -> Vec<&str> {
    let listed = listed_dependencies(repository).into_iter();
    listed.filter(|(section, ..)| *section != "[dev-dependencies]").map(|(_, name, _)| name).collect()
}

/// Section, name and line of each dependency in core's manifest.
fn listed_dependencies(repository: &Repository) -> Vec<(&str, &str, usize)> {
    let (mut listed, mut section) = (Vec::new(), "");
    for (index, line) in repository.text(CORE_MANIFEST).lines().enumerate() {
        if line.starts_with('[') {
            section = line;
        } else if section.contains("dependencies")
            && let Some(name) =
                line.split(['.', '=', ' ']).next().filter(|n| !n.is_empty() && !n.starts_with('#'))
        {
            listed.push((section, name, index + 1));
        }
    }
    listed
}

const CORE_MANIFEST: &str = "crates/steelyard-core/Cargo.toml";

/// Where wall time may be read: the access log, the audit log and NITRO show it, `run` makes a seed of it.
const WALL_TIME: [&str; 3] =
    ["crates/steelyard/src/access_log/", "crates/steelyard/src/wall.rs", "crates/steelyard/src/run.rs"];

/// Modules that every other may use.
const EVERYWHERE: [&str; 3] = ["time", "sync", "sorted"];

/// Module, and what it may use besides itself and [`EVERYWHERE`].
const ARROWS: [(&str, &[&str]); 13] = [
    ("time", &[]),
    ("sync", &[]),
    ("sorted", &[]),
    ("timer", &[]),
    ("service", &[]),
    ("balance", &["service"]),
    ("vserver", &["service", "balance"]),
    ("config", &[]),
    ("command", &["config", "monitor"]),
    ("snapshot", &["service", "balance", "vserver", "config"]),
    ("monitor", &["service", "config"]),
    ("proxy", &["service", "vserver", "snapshot", "timer"]),
    ("expr", &["config"]),
];

const DEPENDENCIES: [&str; 8] =
    ["httparse", "memchr", "regex", "fancy-regex", "domain", "ipnet", "xxhash-rust", "slab"];

const SYNC: &str = "atomics and locks only through crate::sync";

/// Paths that are closed to core.
const DOORS: [(&str, &str); 14] = [
    ("std::sync::atomic", SYNC),
    ("std::sync::Arc", SYNC),
    ("std::sync::Mutex", SYNC),
    ("std::sync::RwLock", SYNC),
    ("std::sync::Condvar", SYNC),
    ("std::sync::mpsc", "core starts no thread"),
    ("std::thread", "core starts no thread"),
    ("std::fs", "core reads no file"),
    ("std::env", "core reads no environment"),
    ("std::process", "core starts no process"),
    ("std::time::Instant", "time is an argument"),
    ("std::time::SystemTime", "time is an argument"),
    ("std::net::TcpStream", "core opens no socket"),
    ("std::net::TcpListener", "core opens no socket"),
];

/// Names that are closed to core wherever they come from.
const WORDS: [(&str, &str); 6] = [
    ("HashMap", "no randomness in core: BTreeMap"),
    ("HashSet", "no randomness in core: BTreeSet"),
    ("RandomState", "no randomness in core: seeds are arguments"),
    ("UdpSocket", "core opens no socket"),
    ("println", "core prints nothing"),
    ("eprintln", "core prints nothing"),
];

#[test]
fn a_planted_arrow_is_found() {
    let planted = Repository::planted(&[
        ("crates/steelyard-core/src/service/mod.rs", "//! s\nuse crate::{sync, vserver::Live};"),
        ("crates/steelyard-core/src/config/lb.rs", "//! c\nfn f() { super::super::snapshot::build() }"),
        (
            "crates/steelyard-core/src/balance/tree.rs",
            "//! b\nuse crate::service::Service; use super::time::no;",
        ),
        ("crates/steelyard-core/src/novel.rs", "//! n"),
    ]);
    let found: Vec<_> = arrows(&planted).into_iter().map(|f| f.what).collect();
    let expected = [
        "service must not use vserver",
        "config must not use snapshot",
        "module novel is not in the table of arrows",
    ];
    assert_eq!(found, expected);
}

#[test]
fn a_planted_door_is_found() {
    let planted = Repository::planted(&[
        ("crates/steelyard-core/src/sync.rs", "pub use std::sync::{Mutex, atomic::AtomicU8};"),
        (
            "crates/steelyard-core/src/timer.rs",
            "use std::{sync::atomic::AtomicU8, thread};\nfn f() { std::time::Instant::now() }",
        ),
        (
            "crates/steelyard-core/src/vserver/mod.rs",
            "use std::collections::HashMap; // std::fs\n const S: &str = \"std::fs\";",
        ),
        ("crates/steelyard/src/main.rs", "use std::fs;"),
    ]);
    let found: Vec<_> = doors(&planted).into_iter().map(|f| f.at).collect();
    let at = |file: &str| format!("crates/steelyard-core/src/{file}");
    assert_eq!(found, [at("timer.rs:1"), at("timer.rs:1"), at("timer.rs:2"), at("vserver/mod.rs:1")]);
}

#[test]
fn planted_wall_time_is_found() {
    let planted = Repository::planted(&[
        ("crates/steelyard/src/access_log/line.rs", "use std::time::SystemTime;"),
        (
            "crates/steelyard/src/probe.rs",
            "use std::time::{Duration, SystemTime};\nfn f() { jiff::Timestamp::now() }",
        ),
    ]);
    let found: Vec<_> = wall_time(&planted).into_iter().map(|f| f.at).collect();
    assert_eq!(found, ["crates/steelyard/src/probe.rs:1", "crates/steelyard/src/probe.rs:2"]);
}

#[test]
fn a_planted_change_is_found() {
    let planted = Repository::planted(&[
        ("crates/steelyard-core/src/command/apply.rs", "pub fn apply(config: &mut Config) {}"),
        (
            "crates/steelyard/src/state.rs",
            "fn f(a: &mut Configured, b: &Config) {} // &mut Config\nfn g(c: &mut Config) {}",
        ),
    ]);
    let found: Vec<_> = one_place_that_changes(&planted).into_iter().map(|f| f.at).collect();
    assert_eq!(found, ["crates/steelyard/src/state.rs:2"]);
}

#[test]
fn a_planted_dependency_is_found() {
    let manifest = "[package]\nname = \"x\"\n[dependencies]\nslab.workspace = true\ntokio = \"1\"\nloom.workspace = true\n\
                    [target.'cfg(loom)'.dependencies]\nloom.workspace = true\n[dev-dependencies]\nproptest.workspace = true\n\
                    [build-dependencies]\ncc = \"1\"\n";
    let found: Vec<_> = dependencies(&Repository::planted(&[(CORE_MANIFEST, manifest)]))
        .into_iter()
        .map(|f| f.what)
        .collect();
    assert_eq!(found, ["tokio", "loom", "cc"].map(|n| format!("core must not depend on {n}")));
}
