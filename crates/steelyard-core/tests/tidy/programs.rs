//! Tests start the product and, through one function, the programs of `ci/packages`: nothing else.

use crate::repository::{Fault, RULES, Repository};

/// No test names a program itself.
pub fn by_name(repository: &Repository) -> Vec<Fault> {
    let mut faults = Vec::new();
    for file in repository.rust("crates/").filter(|f| !f.path.starts_with(RULES)) {
        for (index, line) in file.text.lines().enumerate() {
            for (at, call) in line.match_indices("Command::new(") {
                if line[at + call.len()..].starts_with('"') {
                    faults.push(
                        file.fault(index + 1, "a program by its name: call program() of ci/program.rs"),
                    );
                }
            }
        }
    }
    faults
}

/// Each line of the list is a kind, a package with the version its kind pins, and a program, which some test uses; - for a
/// library of Python's.
pub fn list(repository: &Repository) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (index, line) in repository.text(LIST).lines().enumerate().filter(|(_, l)| !l.starts_with('#')) {
        let mut wrong =
            |what: &str| faults.push(Fault { at: format!("{LIST}:{}", index + 1), what: what.into() });
        let [kind, package, program] = line.split_whitespace().collect::<Vec<_>>()[..] else {
            wrong("a line is: kind, package, program");
            continue;
        };
        let pinned = match kind {
            "apt" => true,
            "pip" => package.contains("=="),
            "wheel" => package.contains("==") && package.contains(':') && program == "-",
            "npm" => package.trim_start_matches('@').contains('@'),
            _ => false,
        };
        if !pinned {
            wrong(
                "kind is apt (NAME), pip (NAME==VERSION), wheel (NAME==VERSION:FOLDER) or npm (NAME@VERSION)",
            );
        }
        let is_library = program == "-" && matches!(kind, "pip" | "wheel");
        if !is_library && !is_used(repository, program) {
            wrong("no test uses it");
        }
    }
    faults
}

/// Is there a test that calls `program("NAME")`, or a script beside the list that says the name?
fn is_used(repository: &Repository, program: &str) -> bool {
    let call = format!("program(\"{program}\")");
    let in_test = repository.rust("crates/").any(|f| !f.path.starts_with(RULES) && f.text.contains(&call));
    let mut scripts = repository.files.iter().filter(|f| f.path.starts_with("ci/") && f.path != LIST);
    in_test || scripts.any(|f| f.text.split_whitespace().any(|word| word == program))
}

const LIST: &str = "ci/packages";

#[test]
fn a_planted_program_is_found() {
    let text = "Command::new(env!(\"CARGO_BIN_EXE_steelyard\"));\nCommand::new(\"curl\");\n";
    assert_eq!(by_name(&Repository::planted(&[("crates/a/tests/t.rs", text)])).len(), 1);
}

#[test]
fn a_planted_package_is_found() {
    let uses = "program(\"a\"); program(\"b\"); program(\"c\");";
    let found = |text| list(&Repository::planted(&[(LIST, text), ("crates/a/tests/t.rs", uses)])).len();
    assert_eq!(found("# kinds\napt a a\npip b==1 b\nnpm @x/c@1.2.3 c\npip l==1 -\nwheel w==1:f -\n"), 0);
    let wheels = ["wheel w==1 -", "wheel w==1:f a"];
    for bad in
        ["apt a", "pip b b", "npm @x/c c", "gem a a", "apt d d", "apt l -", "pip l -"].iter().chain(&wheels)
    {
        assert_eq!(found(bad), 1, "{bad}");
    }
}

#[test]
#[should_panic(expected = "is not in ci/packages")]
fn a_program_that_is_not_listed_is_refused() {
    crate::program::program("no-such-program");
}
