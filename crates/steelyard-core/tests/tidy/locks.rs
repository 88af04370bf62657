//! The two lock files: the fuzzer, which is outside the workspace, tests core with the crates that the product is built with.

use std::collections::BTreeSet;

use crate::layers::core_dependencies;
use crate::repository::{Fault, Repository};

/// One `[[package]]` of a lock file.
#[derive(Default)]
struct Package<'l> {
    name: &'l str,
    version: &'l str,
    /// `name`, or `name version` where there are several of that name.
    dependencies: Vec<&'l str>,
}

/// What core depends on, near or far, is of the same version for the fuzzer.
pub fn agree(repository: &Repository) -> Vec<Fault> {
    let (ours, fuzzers) = (packages(repository.text(LOCK)), packages(repository.text(FUZZ_LOCK)));
    let fault = |what: String| Fault { at: FUZZ_LOCK.into(), what: format!("{what}: {REMEDY}") };
    let Some(core) = fuzzers.iter().find(|package| package.name == CORE) else {
        return vec![fault(format!("has no {CORE}"))];
    };
    let mut faults = Vec::new();
    for name in core_dependencies(repository) {
        if !core.dependencies.iter().any(|dependency| dependency.split(' ').next() == Some(name)) {
            faults.push(fault(format!("{CORE} without {name}")));
        }
    }
    let (mut reached, mut next) = (BTreeSet::new(), core.dependencies.clone());
    while let Some(dependency) = next.pop() {
        let is_it = |package: &&Package| dependency_names(dependency, package);
        for package in fuzzers.iter().filter(is_it) {
            if reached.insert((package.name, package.version)) {
                next.extend(&package.dependencies);
            }
        }
    }
    for (name, version) in reached {
        if !ours.iter().any(|package| (package.name, package.version) == (name, version)) {
            faults.push(fault(format!("{name} {version} is not that of {LOCK}")));
        }
    }
    faults
}

fn dependency_names(dependency: &str, package: &Package) -> bool {
    let mut words = dependency.split(' ');
    words.next() == Some(package.name) && words.next().is_none_or(|version| version == package.version)
}

fn packages(lock: &str) -> Vec<Package<'_>> {
    let read = |text| {
        let mut package = Package::default();
        for line in str::lines(text) {
            match line.split_once(" = ") {
                Some(("name", name)) => package.name = name.trim_matches('"'),
                Some(("version", version)) => package.version = version.trim_matches('"'),
                _ if line.starts_with(" \"") => package.dependencies.push(line.trim_matches([' ', '"', ','])),
                _ => {}
            }
        }
        package
    };
    lock.split("[[package]]\n").skip(1).map(read).collect()
}

const LOCK: &str = "Cargo.lock";
const FUZZ_LOCK: &str = "fuzz/Cargo.lock";
const CORE: &str = "steelyard-core";
const REMEDY: &str = "`cargo update --manifest-path fuzz/Cargo.toml NAME --precise VERSION`";

#[test]
fn planted_locks_that_disagree_are_found() {
    let package = |name: &str, version: &str, dependencies: &[&str]| {
        let listed: String = dependencies.iter().map(|name| format!(" \"{name}\",\n")).collect();
        format!("[[package]]\nname = \"{name}\"\nversion = \"{version}\"\ndependencies = [\n{listed}]\n\n")
    };
    let manifest = "[dependencies]\nslab.workspace = true\nregex.workspace = true\n[dev-dependencies]\nproptest = \"1\"\n";
    let core = package(CORE, "0.1.0", &["regex 2.0.0", "slab"]);
    let ours = [core, package("regex", "2.0.0", &["memchr"]), package("slab", "1.0.0", &[])].concat();
    let sound = ours.clone() + &package("memchr", "1.0.0", &[]);
    let found = |fuzzers: &str| -> Vec<String> {
        let files = [("crates/steelyard-core/Cargo.toml", manifest), (LOCK, &sound), (FUZZ_LOCK, fuzzers)];
        let faults = agree(&Repository::planted(&files)).into_iter();
        faults.map(|fault| fault.what.trim_end_matches(REMEDY).to_owned()).collect()
    };
    // What the fuzzer alone needs, and another version that it needs beside, are its own.
    let beside = package("regex", "1.0.0", &["arbitrary"]) + &package("arbitrary", "1.0.0", &[]);
    assert_eq!(found(&(sound.clone() + &beside)), Vec::<String>::new());
    let newer = ours + &package("memchr", "1.0.1", &[]);
    assert_eq!(found(&newer), ["memchr 1.0.1 is not that of Cargo.lock: "]);
    assert_eq!(found(&sound.replace(" \"slab\",\n", "")), ["steelyard-core without slab: "]);
    assert_eq!(found(""), ["has no steelyard-core: "]);
}
