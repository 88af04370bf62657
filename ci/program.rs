//! How tests reach other programs: only those of `ci/packages`, by one function. Never installs anything (`make deps` does).
//!
//! Used by `#[path = "…/ci/program.rs"] mod program;`. What happens when a program is missing? Under CI the test fails;
//! elsewhere it is skipped, and `make test` counts it as skipped. So is a test that the host does not permit.

use std::env;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A command for a program of `ci/packages`, or `None`: the caller's test ends there and is counted as skipped.
///
/// # Panics
/// If the list does not name the program, and under CI if the program is missing.
pub fn program(name: &str) -> Option<Command> {
    assert!(is_listed(LIST, name), "{name} is not in ci/packages: `make deps` would not install it");
    let directories = env::var_os("PATH").unwrap_or_default();
    if let Some(path) = find(env::split_paths(&directories), name) {
        return Some(Command::new(path));
    }
    assert!(env::var_os("CI").is_none_or(|v| v != "true"), "{name} is missing: `make deps` installs it");
    skip(&format!("a test that needs {name}"), "`make deps` installs it");
    None
}

/// Counts the caller's test, which ends there, as skipped; says `what` it is and what to do.
///
/// # Panics
/// If it cannot be counted.
pub fn skip(what: &str, remedy: &str) {
    eprintln!("SKIPPED: {what}: {remedy}");
    if let Some(path) = env::var_os("STEELYARD_SKIPPED") {
        let file = OpenOptions::new().append(true).create(true).open(&path);
        let written = file.and_then(|mut f| writeln!(f, "skipped: {what}"));
        assert!(written.is_ok(), "{} cannot be written, so the test would count as passed", path.display());
    }
}

fn is_listed(list: &str, name: &str) -> bool {
    list.lines().filter(|l| !l.starts_with('#')).any(|l| l.split_whitespace().nth(2) == Some(name))
}

fn find(directories: impl Iterator<Item = PathBuf>, name: &str) -> Option<PathBuf> {
    directories.map(|d| d.join(name)).find(|p: &PathBuf| Path::is_file(p))
}

const LIST: &str = include_str!("packages");
