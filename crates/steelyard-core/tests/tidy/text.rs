//! How files read: their opening and length, the field's words, nothing left over, nothing of one person's machine.

use crate::repository::{Fault, File, RULES, Repository};

/// Every Rust file opens with what it owns, what it never does, the question it answers.
pub fn opening(repository: &Repository) -> Vec<Fault> {
    let opens = |f: &File| {
        f.text.lines().find(|l| !l.is_empty() && !l.starts_with("#![")).is_some_and(|l| l.starts_with("//! "))
    };
    let files = repository.rust("").filter(|f| !opens(f));
    files.map(|f| f.fault(1, "opens without `//!`: say what the file owns and never does")).collect()
}

/// A source file of more than 500 lines no longer reads at one sitting.
pub fn length(repository: &Repository) -> Vec<Fault> {
    let long = repository.rust("crates/").filter(|f| f.text.lines().count() > LINES);
    long.map(|f| f.fault(LINES + 1, format!("more than {LINES} lines: divide it by what it owns"))).collect()
}

/// No marks of unfinished work and no lines of dashes.
pub fn left_over(repository: &Repository) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (file, number, line) in lines(repository) {
        if MARKS.iter().any(|mark| words(line).any(|w| w == *mark)) {
            faults.push(file.fault(number, "a mark of unfinished work: finish it or leave it out"));
        }
        let after = line.trim_start();
        if file.path.ends_with(".rs") && RULERS.iter().any(|ruler| after.starts_with(ruler)) {
            faults.push(file.fault(number, "a banner: the order of the file says it"));
        }
    }
    faults
}

/// Names are the field's: a service is not a backend, and nothing is a helper.
pub fn names(repository: &Repository) -> Vec<Fault> {
    let mut faults = Vec::new();
    for file in repository.sources() {
        for part in file.path.split(['/', '.']) {
            if NAMES.contains(&part) || part == "common" {
                faults.push(file.fault(1, format!("a file called {part}: name it by what it owns")));
            }
        }
        for (index, line) in file.text.lines().enumerate() {
            let line = &without_data(line);
            let words = words(line).filter(|w| !CRATES.contains(w));
            for word in words.flat_map(parts) {
                let word = word.to_lowercase();
                let excused = EXCUSED.iter().any(|(path, w)| file.path.ends_with(path) && word == *w);
                if NAMES.contains(&word.trim_end_matches('s')) && !excused {
                    faults.push(file.fault(index + 1, format!("{word} is not a word of this field")));
                }
            }
            if line.to_lowercase().contains("pool member") {
                faults.push(
                    file.fault(index + 1, "pool member is not a word of this field: service or member"),
                );
            }
            if line.contains("fn get_") {
                faults.push(file.fault(index + 1, "an accessor is named by what it returns, without get_"));
            }
        }
    }
    faults
}

/// The repository speaks of the product alone: no paths of a machine, no numbers of a tracker.
pub fn elsewhere(repository: &Repository) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (file, number, line) in lines(repository) {
        for path in MACHINE {
            if line
                .match_indices(path)
                .any(|(at, _)| !line[..at].ends_with(|c: char| c.is_alphanumeric() || "._-}$".contains(c)))
            {
                faults.push(file.fault(number, format!("a path of one machine: {path}")));
            }
        }
        let prose =
            if file.path.ends_with(".md") { line } else { line.find("//").map_or("", |at| &line[at..]) };
        let lower = prose.to_lowercase();
        if numbered(prose, "#") || numbered(&lower, "issue ") {
            faults.push(file.fault(number, "a number of a tracker: say the reason instead"));
        }
    }
    faults
}

/// Does a digit follow `sign`, itself at the start of a word?
fn numbered(text: &str, sign: &str) -> bool {
    text.match_indices(sign).any(|(at, _)| {
        let starts = !text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '&');
        starts && text[at + sign.len()..].starts_with(|c: char| c.is_ascii_digit())
    })
}

/// Every line of every file that is written by hand, numbered from 1; without the files that state these rules.
fn lines(repository: &Repository) -> impl Iterator<Item = (&File, usize, &str)> {
    let ours = |f: &&File| !(f.path.starts_with(RULES) || f.path == "LICENSE" || f.path == "Cargo.lock");
    let files = repository.files.iter().filter(ours);
    files.flat_map(|f| f.text.lines().enumerate().map(move |(index, line)| (f, index + 1, line)))
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|w| !w.is_empty())
}

/// The line without literals that are one word: names of a protocol or of a test's data, not sentences to people.
fn without_data(line: &str) -> String {
    let mut pieces = line.split('"');
    let mut kept = pieces.next().unwrap_or("").to_string();
    while let Some(inside) = pieces.next() {
        kept.push_str(if inside.contains(' ') { inside } else { "" });
        kept.push(' ');
        kept.push_str(pieces.next().unwrap_or(""));
    }
    kept
}

/// `HelperOf_nodes` in its parts: Helper, Of, nodes.
fn parts(word: &str) -> Vec<&str> {
    let mut starts = vec![0];
    let mut before = '_';
    for (at, c) in word.char_indices() {
        if c == '_' || (c.is_uppercase() && before.is_lowercase()) {
            starts.push(at);
        }
        before = c;
    }
    starts.push(word.len());
    starts.windows(2).map(|w| word[w[0]..w[1]].trim_matches('_')).collect()
}

const LINES: usize = 500;
const MARKS: [&str; 4] = ["TODO", "FIXME", "XXX", "HACK"];
const RULERS: [&str; 4] = ["// --", "// ==", "// **", "////"];
const NAMES: [&str; 7] = ["backend", "upstream", "endpoint", "node", "manager", "helper", "util"];
/// Other people's crates keep their names.
const CRATES: [&str; 2] = ["hyper_util", "http_body_util"];
const MACHINE: [&str; 3] = ["/home/", "/root/", "/Users/"];

/// Files in which one of [`NAMES`] is a word of its own: a tree and a linked list have nodes, and
/// NetScaler's commands are called what they are called.
const EXCUSED: [(&str, &str); 10] = [
    ("balance/tree.rs", "node"),
    ("balance/tree.rs", "nodes"),
    ("/timer.rs", "node"),
    ("/timer.rs", "nodes"),
    ("catalogue/table.rs", "endpoint"),
    ("catalogue/table.rs", "manager"),
    ("catalogue/table.rs", "node"),
    ("config/ha_partner.rs", "node"),
    ("cli/editor.rs", "helper"),
    ("layout/ha.rs", "node"),
];

#[cfg(test)]
fn found(rule: fn(&Repository) -> Vec<Fault>, path: &str, text: &str) -> usize {
    rule(&Repository::planted(&[(path, text)])).len()
}

#[test]
fn a_planted_opening_is_found() {
    assert_eq!(found(opening, "crates/a/src/b.rs", "use std::fmt;\n//! late"), 1);
    assert_eq!(found(opening, "crates/a/tests/b.rs", "#![allow(clippy::panic)]\n\n//! Says what.\n"), 0);
}

#[test]
fn a_planted_length_is_found() {
    assert_eq!(found(length, "crates/a/src/b.rs", &"x\n".repeat(501)), 1);
    assert_eq!(found(length, "crates/a/src/b.rs", &"x\n".repeat(500)), 0);
}

#[test]
fn a_planted_left_over_is_found() {
    assert_eq!(found(left_over, "Makefile", "# TODO: more"), 1);
    assert_eq!(found(left_over, "crates/a/src/b.rs", "    // ---- public ----"), 1);
    assert_eq!(found(left_over, "crates/a/src/b.rs", "const MAX: u8 = 1; // a - b -- c"), 0);
}

#[test]
fn a_planted_name_is_found() {
    for bad in [
        "struct BackendSet;",
        "let nodes = 1;",
        "/// The upstream.",
        "fn get_name()",
        "a pool member",
        "mod io_helper;",
        "f(\"no backend left\")",
    ] {
        assert_eq!(found(names, "crates/a/src/b.rs", bad), 1, "{bad}");
    }
    assert_eq!(found(names, "crates/a/src/util.rs", ""), 1);
    assert_eq!(found(names, "crates/steelyard-core/src/balance/tree.rs", "let node = nodes[0];"), 0);
    assert_eq!(found(names, "crates/a/src/b.rs", "f(\"rpcNode\", g(\"a#Backend\"))"), 0);
    assert_eq!(found(names, "crates/a/src/b.rs", "fn utilisation() { hyper_util::targets_of() }"), 0);
}

#[test]
fn a_planted_path_or_number_is_found() {
    for bad in ["see /home/me/x", "as in #12", "fixes issue 4", "(`/root/a`)"] {
        assert_eq!(found(elsewhere, "README.md", bad), 1, "{bad}");
    }
    assert_eq!(found(elsewhere, "crates/a/src/b.rs", "f(); // see #3"), 1);
    assert_eq!(found(elsewhere, "README.md", "http://a.b/root/c &#39; C#7 issue a command"), 0);
}
