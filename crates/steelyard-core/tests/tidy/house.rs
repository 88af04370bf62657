//! Lints, unsafe code, documents, and tests that are left out.

use crate::repository::{Fault, File, RULES, Repository, code};

/// Every crate takes the workspace's lints, and those deny what must not reach the product.
pub fn lints(repository: &Repository) -> Vec<Fault> {
    let mut faults = Vec::new();
    let workspace = repository.text("Cargo.toml");
    for lint in ["unwrap_used", "expect_used", "panic", "todo", "dbg_macro"] {
        if !workspace.lines().any(|l| l == format!("{lint} = \"deny\"")) {
            faults.push(Fault {
                at: "Cargo.toml".into(),
                what: format!("[workspace.lints.clippy] does not deny {lint}"),
            });
        }
    }
    let manifests = |f: &&File| f.path.starts_with("crates/") && f.path.ends_with("/Cargo.toml");
    for file in repository.files.iter().filter(manifests) {
        if !file.text.contains("[lints]\nworkspace = true") {
            faults.push(file.fault(1, "does not take the workspace's lints"));
        }
    }
    let lib = "crates/steelyard-core/src/lib.rs";
    if !repository.text(lib).contains("#![forbid(unsafe_code)]") {
        faults.push(Fault { at: lib.into(), what: "core must forbid unsafe code".into() });
    }
    faults
}

/// Unsafe code stands in one file, each piece with its proof.
pub fn unsafe_code(repository: &Repository) -> Vec<Fault> {
    let mut faults = Vec::new();
    for file in repository.rust("crates/") {
        let lines: Vec<&str> = file.text.lines().collect();
        for (index, line) in code(&file.text).lines().enumerate() {
            if !line.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|w| w == "unsafe") {
                continue;
            }
            let proof = lines[..index]
                .iter()
                .rev()
                .map(|l| l.trim_start())
                .take_while(|l| l.starts_with("//") || l.starts_with('#'));
            if file.path != SYS {
                faults.push(file.fault(index + 1, format!("unsafe code stands only in {SYS}")));
            } else if !proof.into_iter().any(|l| l.starts_with("// SAFETY:") || l.starts_with("/// # Safety"))
            {
                faults.push(file.fault(index + 1, "unsafe code without `// SAFETY:` above it"));
            }
        }
    }
    faults
}

/// The documents say what is there: commands exist, files exist, sizes hold.
pub fn documents(repository: &Repository) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut wrong = |at: &str, what: String| faults.push(Fault { at: at.into(), what });
    for document in ["README.md", "ARCHITECTURE.md", "CHANGELOG.md"] {
        for said in quoted(repository.text(document)) {
            if !command_exists(repository, said) {
                wrong(document, format!("`{said}`: no such target in the Makefile"));
            }
            if !path_exists(repository, said) {
                wrong(document, format!("`{said}` does not exist"));
            }
        }
    }
    let readme = repository.text("README.md");
    for command in ["make run", "make test"].into_iter().filter(|c| !readme.contains(c)) {
        wrong("README.md", format!("does not name `{command}`"));
    }
    let length = repository.text("ARCHITECTURE.md").lines().count();
    if length == 0 || length > ARCHITECTURE_LINES {
        wrong("ARCHITECTURE.md", format!("{length} lines: there are 1 to {ARCHITECTURE_LINES}"));
    }
    if !repository.text("CHANGELOG.md").contains("\n## [Unreleased]\n") {
        wrong("CHANGELOG.md", "has no section [Unreleased]".into());
    }
    if !repository.text("LICENSE").contains("Apache License") {
        wrong("LICENSE", "is not the Apache License".into());
    }
    faults
}

/// What a document sets as code: spans between backticks and indented lines.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    let indented = text.lines().filter_map(|l| l.strip_prefix("    "));
    text.split('`').skip(1).step_by(2).chain(indented)
}

/// False for `make TARGET` that the Makefile does not have.
fn command_exists(repository: &Repository, said: &str) -> bool {
    let Some(target) = said.strip_prefix("make ").and_then(|rest| rest.split_whitespace().next()) else {
        return true;
    };
    repository.text("Makefile").lines().any(|l| l.starts_with(&format!("{target}:")))
}

/// False for a path of this repository that no file has; patterns and commands with arguments are not judged.
fn path_exists(repository: &Repository, said: &str) -> bool {
    let path = said.trim_end_matches('/');
    let ours = ["crates/", "ci/", "bench/"].iter().any(|p| path.starts_with(p)) && path != "bench/out";
    let exists = |f: &File| f.path == path || f.path.starts_with(&format!("{path}/"));
    !ours
        || path.contains(|c: char| c.is_whitespace() || "*{<".contains(c))
        || repository.files.iter().any(exists)
}

/// Each dependency has its reason in the architecture's table.
pub fn reasons(repository: &Repository) -> Vec<Fault> {
    let table = repository.text("ARCHITECTURE.md").lines().filter(|l| l.starts_with("| "));
    let named: Vec<&str> =
        table.filter_map(|l| l.split('|').nth(1)).flat_map(|cell| cell.split(',').map(str::trim)).collect();
    let listed =
        repository.text("Cargo.toml").lines().skip_while(|l| *l != "[workspace.dependencies]").skip(1);
    let entries =
        listed.take_while(|l| !l.starts_with('[')).filter(|l| !l.starts_with('#') && !l.contains("path = "));
    let names = entries.filter_map(|l| l.split_once(" = ")).map(|(name, _)| name);
    let fault =
        |name| Fault { at: "ARCHITECTURE.md".into(), what: format!("no reason for the dependency {name}") };
    names.filter(|n| !named.contains(n)).map(fault).collect()
}

/// Each dependency of a crate is named in its source, or for a test's in its tests.
pub fn unused(repository: &Repository) -> Vec<Fault> {
    let mut faults = Vec::new();
    for manifest in repository.files.iter().filter(|f| f.path.ends_with("/Cargo.toml")) {
        let folder = manifest.path.trim_end_matches("Cargo.toml");
        let mut section = "";
        for (index, line) in manifest.text.lines().enumerate() {
            if line.starts_with('[') {
                section = line;
            } else if section.ends_with("dependencies]")
                && let Some((name, _)) = line.split_once(['.', ' '])
            {
                let path = format!("{}::", name.replace('-', "_"));
                let mut ours = repository.rust(folder).filter(|f| !f.path.starts_with(RULES));
                if !ours.any(|f| f.text.contains(&path)) {
                    faults.push(manifest.fault(index + 1, format!("nothing uses {name}")));
                }
            }
        }
    }
    faults
}

/// Each invariant of the architecture names tests, and they exist.
pub fn invariants(repository: &Repository) -> Vec<Fault> {
    let fault = |what: String| Fault { at: "ARCHITECTURE.md".into(), what };
    let section = repository.text("ARCHITECTURE.md").lines().skip_while(|l| *l != "## Invariants").skip(1);
    let rows: Vec<&str> =
        section.take_while(|l| !l.starts_with("## ")).filter(|l| l.starts_with("| ")).skip(1).collect();
    if rows.is_empty() {
        return vec![fault("has no table of invariants".into())];
    }
    let mut faults = Vec::new();
    for row in rows {
        let tests: Vec<&str> = row.split('|').nth(2).unwrap_or("").split('`').skip(1).step_by(2).collect();
        if tests.is_empty() {
            faults.push(fault(format!("an invariant without a test: {row}")));
        }
        for test in tests {
            let function = format!("fn {test}(");
            let declared = format!("{test}: ");
            let is_there = |f: &File| f.text.contains(&function) || f.text.contains(&declared);
            if !repository.rust("crates/").any(is_there) {
                faults.push(fault(format!("there is no test `{test}`")));
            }
        }
    }
    faults
}

/// What `make test` leaves out is what `make soak` runs.
pub fn ignored_tests(repository: &Repository) -> Vec<Fault> {
    let mut faults = Vec::new();
    for file in repository.rust("crates/") {
        let source = code(&file.text);
        let lines: Vec<&str> = source.lines().collect();
        for (index, _) in lines.iter().enumerate().filter(|(_, l)| l.trim_start().starts_with("#[ignore")) {
            let name = lines[index..].iter().find_map(|l| l.trim_start().strip_prefix("fn ")).unwrap_or("");
            if !name.starts_with("soak_") {
                faults
                    .push(file.fault(index + 1, "an ignored test is called soak_*, or nothing ever runs it"));
            }
        }
    }
    faults
}

const SYS: &str = "crates/steelyard/src/worker/sys.rs";
const ARCHITECTURE_LINES: usize = 150;

#[test]
fn a_planted_lint_is_found() {
    let all = "unwrap_used = \"deny\"\nexpect_used = \"deny\"\npanic = \"deny\"\ntodo = \"warn\"\ndbg_macro = \"deny\"\n";
    let planted = Repository::planted(&[
        ("Cargo.toml", all),
        ("crates/a/Cargo.toml", "[package]\n"),
        ("crates/steelyard-core/Cargo.toml", "[lints]\nworkspace = true\n"),
        ("crates/steelyard-core/src/lib.rs", "#![forbid(unsafe_code)]"),
    ]);
    let found: Vec<_> = lints(&planted).into_iter().map(|f| f.what).collect();
    assert_eq!(found, ["[workspace.lints.clippy] does not deny todo", "does not take the workspace's lints"]);
}

#[test]
fn planted_unsafe_code_is_found() {
    let planted = Repository::planted(&[
        (SYS, "// SAFETY: it is ours.\nunsafe { f() }\n\nlet x = unsafe { g() };\n// unsafe\n"),
        ("crates/a/src/b.rs", "// SAFETY: none.\nunsafe { f() }"),
    ]);
    let found: Vec<_> = unsafe_code(&planted).into_iter().map(|f| f.at).collect();
    assert_eq!(found, [format!("{SYS}:4"), "crates/a/src/b.rs:2".to_string()]);
}

#[test]
fn a_planted_untruth_in_a_document_is_found() {
    let sound = [
        ("README.md", "`make run` and `make test`"),
        ("ARCHITECTURE.md", "`crates/a/src/b.rs`, `crates/a`\n"),
        ("CHANGELOG.md", "# C\n\n## [Unreleased]\n"),
        ("LICENSE", "Apache License"),
        ("Makefile", "run:\ntest: deps\n"),
        ("crates/a/src/b.rs", ""),
    ];
    assert_eq!(documents(&Repository::planted(&sound)), []);
    let long = "x\n".repeat(151);
    for (path, text) in [
        ("README.md", "`make run`, `make all` and `make test`"),
        ("README.md", "    make run\n    make test\n    make tea # hot\n"),
        ("ARCHITECTURE.md", "`crates/a/src/c.rs`"),
        ("ARCHITECTURE.md", &long),
        ("CHANGELOG.md", "# C"),
        ("LICENSE", ""),
        ("Makefile", "run:\n"),
    ] {
        let mut files = sound;
        files.iter_mut().filter(|f| f.0 == path).for_each(|f| f.1 = text);
        assert_eq!(documents(&Repository::planted(&files)).len(), 1, "{path}");
    }
}

#[test]
fn a_planted_dependency_without_reason_is_found() {
    let manifest = "[workspace.dependencies]\nours = { path = \"a\" }\n# tests\nslab = \"1\"\nring = \"1\"\nmio = \"1\"\n\n[profile.dev]\ndebug = 1\n";
    let planted = Repository::planted(&[
        ("Cargo.toml", manifest),
        ("ARCHITECTURE.md", "| mio, slab | tables |\nring\n"),
    ]);
    let found: Vec<_> = reasons(&planted).into_iter().map(|f| f.what).collect();
    assert_eq!(found, ["no reason for the dependency ring"]);
}

#[test]
fn a_planted_dependency_without_use_is_found() {
    let manifest = "[package]\nname = \"a\"\n\n[dependencies]\nfast-maps.workspace = true\nidle = \"1\"\n";
    let source = "use fast_maps::Map;";
    let planted = Repository::planted(&[("crates/a/Cargo.toml", manifest), ("crates/a/src/lib.rs", source)]);
    let found: Vec<_> = unused(&planted).into_iter().map(|f| f.what).collect();
    assert_eq!(found, ["nothing uses idle"]);
}

#[test]
fn a_planted_invariant_without_test_is_found() {
    let found = |text: &str| {
        let test = "#[test]\nfn it_holds() {}";
        invariants(&Repository::planted(&[("ARCHITECTURE.md", text), ("crates/a/tests/t.rs", test)])).len()
    };
    let table = "## Invariants\n\n| invariant | tests |\n|---|---|\n";
    assert_eq!(found(&format!("{table}| a | `it_holds` |\n\n## Other\n| b | c |\n")), 0);
    assert_eq!(found(&format!("{table}| a | `it_held` |\n| b | later |\n")), 2);
    assert_eq!(found("# Architecture\n"), 1);
}

#[test]
fn a_planted_ignored_test_is_found() {
    let text = "#[test]\n#[ignore]\nfn slow() {}\n#[ignore = \"long\"]\n#[test]\nfn soak_all() {}\n";
    assert_eq!(ignored_tests(&Repository::planted(&[("crates/a/tests/t.rs", text)])).len(), 1);
}
