//! Lines and words as this test sees them, which knows nothing of the program's reader.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

/// Lines and how often each stands; blanks around them do not count.
pub fn bag<'a>(lines: impl Iterator<Item = &'a str>) -> BTreeMap<&'a str, usize> {
    let mut bag = BTreeMap::new();
    lines.for_each(|line| *bag.entry(line.trim()).or_default() += 1);
    bag
}

/// What stands more often in the first than in the second.
pub fn missing<'a>(first: &BTreeMap<&'a str, usize>, second: &BTreeMap<&str, usize>) -> Vec<&'a str> {
    let fewer = |(line, count): &(&&str, &usize)| second.get(**line).is_none_or(|other| other < *count);
    first.iter().filter(fewer).map(|(line, _)| *line).collect()
}

/// Words between blanks, quoted ones without their quotes and escapes.
pub fn words(line: &str) -> Vec<String> {
    tokens(line).into_iter().map(|(word, _)| word).collect()
}

/// Words, and whether each was quoted.
fn tokens(line: &str) -> Vec<(String, bool)> {
    let mut words = Vec::new();
    let mut rest = line.trim();
    while let Some(first) = rest.chars().next() {
        if first == '"' || first == '\'' {
            let (word, after) = quoted(&rest[1..], first);
            words.push((word, true));
            rest = after.trim_start();
        } else {
            let end = rest.find([' ', '\t', '\n']).unwrap_or(rest.len());
            words.push((rest[..end].to_owned(), false));
            rest = rest[end..].trim_start();
        }
    }
    words
}

fn quoted(text: &str, quote: char) -> (String, &str) {
    let mut word = String::new();
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '\\' => match characters.next() {
                Some((_, 'n')) => word.push('\n'),
                Some((_, 'r')) => word.push('\r'),
                Some((_, 't')) => word.push('\t'),
                Some((_, other)) => {
                    if !['"', '\'', '\\'].contains(&other) {
                        word.push('\\');
                    }
                    word.push(other);
                }
                None => word.push('\\'),
            },
            _ if character == quote => return (word, &text[at + 1..]),
            _ => word.push(character),
        }
    }
    (word, "")
}

/// Is the first the second with its secrets hidden?
pub fn is_masked(masked: &str, line: &str) -> bool {
    let (masked, line) = (words(masked), words(line));
    masked.len() == line.len() && masked.iter().zip(&line).all(|(shown, word)| shown == MASK || shown == word)
}

/// A command without a prompt before it and without backslashes at the ends of its lines, line by line.
pub fn joined(text: &str) -> Vec<String> {
    let command = match text.split_once("> ") {
        Some((prompt, command)) if !prompt.trim().contains(' ') => command,
        _ => text,
    };
    let mut whole = String::new();
    for line in command.lines() {
        match line.trim_end().strip_suffix(" \\") {
            Some(begun) if !begun.trim().is_empty() => {
                whole.push_str(if whole.is_empty() { begun.trim_end() } else { begun.trim() });
                whole.push(' ');
            }
            _ if whole.ends_with(' ') => whole.push_str(line.trim()),
            _ => {
                whole.push_str(line);
                whole.push('\n');
            }
        }
    }
    whole.lines().map(|line| line.trim().to_owned()).collect()
}

/// The words of a command that it would be pointless to lose: its object's name, addresses, and quoted words.
pub fn telling(line: &str) -> Vec<String> {
    let words = tokens(line);
    let Some((_, _, head)) = head(&words) else { return Vec::new() };
    let name = words.get(head).filter(|(word, _)| !word.starts_with('-') && !is_range(word));
    let others = words.iter().skip(head + 1).filter(|(word, quoted)| {
        !is_range(word)
            && !word.is_empty()
            && word != DEFAULT_REQUEST
            && (*quoted || word.parse::<IpAddr>().is_ok_and(|ip| !ip.is_unspecified()))
    });
    let canonical = |word: &String| word.parse::<IpAddr>().map_or(word.clone(), |ip| ip.to_string());
    name.into_iter().chain(others).map(|(word, _)| canonical(word)).collect()
}

fn is_range(word: &str) -> bool {
    word.contains('[') && word.contains(']')
}

/// Verb, object, and how many words they are.
fn head(words: &[(String, bool)]) -> Option<(String, String, usize)> {
    let word = |index: usize| words.get(index).map(|(word, _)| word.to_lowercase());
    let (verb, first) = (word(0)?, word(1)?);
    Some(match GROUPS.contains(&first.as_str()) {
        true => (verb, format!("{first} {}", word(2)?), 3),
        false => (verb, first, 2),
    })
}

/// Who names what before it is added, as verb, object, name and the name that is named.
pub fn forward(text: &str) -> BTreeSet<(String, String, String, String)> {
    let lines: Vec<Vec<(String, bool)>> =
        text.lines().filter(|line| !line.trim_start().starts_with('#')).map(tokens).collect();
    let mut added: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (index, words) in lines.iter().enumerate() {
        match head(words) {
            Some((verb, object, used))
                if verb == "add" && !["server", "ssl cipher"].contains(&object.as_str()) =>
            {
                let name = words.get(used).map(|(name, _)| name.to_lowercase()).unwrap_or_default();
                added.entry(name).or_default().push(index);
            }
            _ => {}
        }
    }
    let mut forward = BTreeSet::new();
    for (index, words) in lines.iter().enumerate() {
        // What a set or a map of strings holds is data, whatever it is called like.
        let named = head(words).filter(|(_, object, _)| !object.starts_with("policy "));
        let Some((verb, object, used)) = named else { continue };
        let name = words.get(used).map(|(name, _)| name.to_lowercase()).unwrap_or_default();
        for (word, _) in words.iter().skip(used) {
            let word = word.to_lowercase();
            if word.len() > 3
                && word.starts_with(|c: char| c.is_alphanumeric())
                && word != "default"
                && word.parse::<IpAddr>().is_err()
                && added.get(&word).is_some_and(|at| at.iter().all(|at| *at > index))
            {
                forward.insert((verb.clone(), object.clone(), name.clone(), word));
            }
        }
    }
    forward
}

/// What stands for a secret.
pub const MASK: &str = "********";
/// Where it is given, it need not be written.
const DEFAULT_REQUEST: &str = "HEAD /";
/// First words of commands whose object has two.
const GROUPS: [&str; 41] = [
    "aaa",
    "analytics",
    "appflow",
    "appfw",
    "appqoe",
    "audit",
    "authentication",
    "authorization",
    "autoscale",
    "bot",
    "cache",
    "cloud",
    "cluster",
    "cmp",
    "cr",
    "cs",
    "db",
    "dns",
    "feo",
    "filter",
    "gslb",
    "ha",
    "ica",
    "ipsec",
    "lb",
    "lsn",
    "ns",
    "ntp",
    "policy",
    "responder",
    "rewrite",
    "snmp",
    "spillover",
    "ssl",
    "stream",
    "system",
    "tm",
    "transform",
    "tunnel",
    "videooptimization",
    "vpn",
];
