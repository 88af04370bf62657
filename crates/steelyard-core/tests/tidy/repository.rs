//! The repository's text as the rules see it: files by path, and Rust source without comments and strings.
//!
//! Never judges. Answers what a path expression in source text names, `use` groups spelled out.

use std::fs;
use std::path::Path;

/// One text file.
pub struct File {
    /// From the repository's root, with `/`.
    pub path: String,
    /// Its whole text.
    pub text: String,
}

/// All text files, or a few that a self-test made up.
pub struct Repository {
    /// Sorted by path.
    pub files: Vec<File>,
}

/// A broken rule: where, and what to do.
#[derive(Debug, PartialEq, Eq)]
pub struct Fault {
    /// File, with `:line` where there is one.
    pub at: String,
    /// What is wrong.
    pub what: String,
}

impl Repository {
    /// The working copy that this test was built from.
    pub fn here() -> Repository {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut files = Vec::new();
        walk(&root, "", &mut files);
        files.sort_by(|a, b| a.path.cmp(&b.path));
        assert!(files.iter().any(|f| f.path == "Cargo.toml"), "{} is not the repository", root.display());
        Repository { files }
    }

    /// A repository of the given paths and texts.
    pub fn planted(files: &[(&str, &str)]) -> Repository {
        let file = |(path, text): &(&str, &str)| File { path: path.to_string(), text: text.to_string() };
        Repository { files: files.iter().map(file).collect() }
    }

    /// The text of one file; empty if there is none.
    pub fn text(&self, path: &str) -> &str {
        self.files.iter().find(|f| f.path == path).map_or("", |f| &f.text)
    }

    /// Rust files whose path begins with `under`.
    pub fn rust(&self, under: &str) -> impl Iterator<Item = &File> {
        self.files.iter().filter(move |f| f.path.starts_with(under) && f.path.ends_with(".rs"))
    }

    /// Rust files of both crates that are built into the product.
    pub fn sources(&self) -> impl Iterator<Item = &File> {
        self.rust("crates/").filter(|f| f.path.contains("/src/"))
    }

    /// The module of core that `file` belongs to: `balance` of `crates/steelyard-core/src/balance/tree.rs`.
    pub fn core_module(file: &File) -> Option<&str> {
        let rest = file.path.strip_prefix(CORE)?;
        Some(rest.split(['/', '.']).next().unwrap_or(rest))
    }
}

impl File {
    /// A fault of this file at a line, counted from 1.
    pub fn fault(&self, line: usize, what: impl Into<String>) -> Fault {
        Fault { at: format!("{}:{line}", self.path), what: what.into() }
    }

    /// Every path expression with its line, groups spelled out: `use a::{b, c::d}` gives `a::b` and `a::c::d`.
    pub fn paths(&self) -> Vec<(usize, String)> {
        let code = code(&self.text);
        let tokens = tokens(&code);
        let (mut found, mut at) = (Vec::new(), 0);
        while at < tokens.len() {
            if is_word(tokens[at].1) {
                at = path(&tokens, at, "", &mut found);
            } else {
                at += 1;
            }
        }
        found
    }
}

/// Reads one path (or `use` tree) that starts at `at`; returns where it ends.
fn path(tokens: &[(usize, &str)], mut at: usize, prefix: &str, found: &mut Vec<(usize, String)>) -> usize {
    let mut whole = prefix.to_string();
    let line = tokens[at].0;
    loop {
        match tokens.get(at).map(|t| t.1) {
            Some("{") if !whole.is_empty() => {
                at += 1;
                while at < tokens.len() && tokens[at].1 != "}" {
                    at = if is_word(tokens[at].1) { path(tokens, at, &whole, found) } else { at + 1 };
                }
                return at + 1;
            }
            Some(word) if is_word(word) || word == "*" => {
                if !whole.is_empty() {
                    whole.push_str("::");
                }
                whole.push_str(word);
                at += 1;
            }
            _ => break,
        }
        if tokens.get(at).map(|t| t.1) != Some("::") {
            break;
        }
        at += 1;
    }
    found.push((line, whole));
    at
}

fn is_word(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Words, `::` and single other characters, each with its line.
fn tokens(code: &str) -> Vec<(usize, &str)> {
    let (mut found, mut line, mut at) = (Vec::new(), 1, 0);
    while let Some(c) = code[at..].chars().next() {
        let length = match c {
            ':' if code[at..].starts_with("::") => 2,
            c if c.is_alphanumeric() || c == '_' => {
                code[at..].find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(code.len() - at)
            }
            c => c.len_utf8(),
        };
        if !c.is_whitespace() {
            found.push((line, &code[at..at + length]));
        }
        line += usize::from(c == '\n');
        at += length;
    }
    found
}

/// Rust source with comments, strings and character literals blanked; lines stay where they are.
pub fn code(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut kept = String::with_capacity(text.len());
    let mut at = 0;
    while at < chars.len() {
        let end = match chars[at] {
            '/' if chars.get(at + 1) == Some(&'/') => line_end(&chars, at),
            '/' if chars.get(at + 1) == Some(&'*') => block_end(&chars, at),
            '"' => string_end(&chars, at),
            'r' if !continues_word(&kept) => raw_string_end(&chars, at),
            '\'' => character_end(&chars, at),
            _ => at,
        };
        if end == at {
            kept.push(chars[at]);
            at += 1;
        } else {
            kept.extend(chars[at..end].iter().map(|&c| if c == '\n' { '\n' } else { ' ' }));
            at = end;
        }
    }
    kept
}

fn continues_word(kept: &str) -> bool {
    kept.ends_with(|c: char| (c.is_alphanumeric() && c != 'b') || c == '_')
}

fn line_end(chars: &[char], at: usize) -> usize {
    (at..chars.len()).find(|&i| chars[i] == '\n').unwrap_or(chars.len())
}

fn block_end(chars: &[char], at: usize) -> usize {
    let (mut depth, mut i) = (0, at);
    while i + 1 < chars.len() {
        match (chars[i], chars[i + 1]) {
            ('/', '*') => depth += 1,
            ('*', '/') => depth -= 1,
            _ => {
                i += 1;
                continue;
            }
        }
        i += 2;
        if depth == 0 {
            return i;
        }
    }
    chars.len()
}

fn string_end(chars: &[char], at: usize) -> usize {
    let mut i = at + 1;
    while i < chars.len() && chars[i] != '"' {
        i += if chars[i] == '\\' { 2 } else { 1 };
    }
    (i + 1).min(chars.len())
}

/// `at` itself when what starts there is no raw string.
fn raw_string_end(chars: &[char], at: usize) -> usize {
    let hashes = chars[at + 1..].iter().take_while(|&&c| c == '#').count();
    let open = at + 1 + hashes;
    if chars.get(open) != Some(&'"') {
        return at;
    }
    let closes = |i: usize| {
        chars[i] == '"' && chars[i + 1..].iter().take(hashes).filter(|&&c| c == '#').count() == hashes
    };
    (open + 1..chars.len()).find(|&i| closes(i)).map_or(chars.len(), |i| i + 1 + hashes)
}

/// `at` itself when the quote begins a lifetime.
fn character_end(chars: &[char], at: usize) -> usize {
    match (chars.get(at + 1), chars.get(at + 2)) {
        (Some('\\'), _) => (at + 3..chars.len()).find(|&i| chars[i] == '\'').map_or(chars.len(), |i| i + 1),
        (Some(_), Some('\'')) => at + 3,
        _ => at,
    }
}

fn walk(directory: &Path, prefix: &str, files: &mut Vec<File>) {
    let entries = fs::read_dir(directory).unwrap_or_else(|e| panic!("{}: {e}", directory.display()));
    for entry in entries.map(Result::unwrap) {
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if prefix.is_empty() { name.clone() } else { format!("{prefix}/{name}") };
        if NOT_OURS.contains(&path.as_str()) || NOT_OURS.contains(&name.as_str()) {
            continue;
        }
        if entry.file_type().unwrap().is_dir() {
            if !name.starts_with('.') || name == ".ci" {
                walk(&entry.path(), &path, files);
            }
        } else if let Ok(text) = fs::read_to_string(entry.path()) {
            files.push(File { path, text });
        }
    }
}

/// Where core's sources are.
pub const CORE: &str = "crates/steelyard-core/src/";
/// Where these rules are: they have to spell out what they forbid.
pub const RULES: &str = "crates/steelyard-core/tests/tidy/";
/// What holds nothing written for this repository; in a second work tree `.git` is a file.
const NOT_OURS: [&str; 6] = [".git", "target", "node_modules", "__pycache__", "steelyard-data", "bench/out"];

#[test]
fn comments_strings_and_characters_are_no_code() {
    let text = "a /* b /* c */ d */ 'x' '\\'' &'e str \"f\\\"g\" r#\"h\"i\"# br\"j\" // k\nl";
    assert_eq!(code(text).split_whitespace().collect::<Vec<_>>(), ["a", "&'e", "str", "b", "l"]);
    assert_eq!(code(text).lines().count(), 2);
}

#[test]
fn use_groups_are_spelled_out() {
    let repository =
        Repository::planted(&[("a.rs", "use a::{b, c::{self, d as e}};\nf(g::h::<i>(j), k { l: m::n });")]);
    let paths: Vec<_> = repository.files[0].paths();
    for expected in [(1, "a::b"), (1, "a::c::self"), (1, "a::c::d"), (2, "g::h"), (2, "m::n")] {
        assert!(paths.contains(&(expected.0, expected.1.to_string())), "{expected:?} not in {paths:?}");
    }
}
