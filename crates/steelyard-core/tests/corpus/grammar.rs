//! A recogniser of commands, made from the synopses of the command reference. It knows nothing of the program's rows.
//!
//! In a synopsis a bare word is a word of its own, `{-opt:type}` an option that may be left out, `[…]` may be left out,
//! `(a | b)` is a choice, `+` a list. A command is accepted if its words before the first option are as many as some
//! choice has, and each option is one of the synopsis with values of its type.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use super::lines::words;

/// What the synopses say.
pub struct Grammar {
    synopses: BTreeMap<String, Synopsis>,
    /// Words of an argument of an object.
    choices: BTreeMap<(String, String), Vec<String>>,
    /// Options that later releases have.
    newer: BTreeSet<(String, String)>,
}

/// One command.
struct Synopsis {
    /// How many words may stand before the first option.
    words: BTreeSet<usize>,
    /// Values of each option, alternatives with `|` between.
    options: BTreeMap<String, Values>,
}

/// What may follow an option.
#[derive(Clone, Debug)]
struct Values {
    kind: String,
    /// May one more word follow?
    second: bool,
}

impl Grammar {
    /// From lines of kind and three columns.
    pub fn of(table: &str) -> Grammar {
        let mut grammar =
            Grammar { synopses: BTreeMap::new(), choices: BTreeMap::new(), newer: BTreeSet::new() };
        for line in table.lines().filter(|line| !line.starts_with('#')) {
            let columns: Vec<&str> = line.split('\t').collect();
            match columns[..] {
                ["synopsis", command, text] => {
                    grammar.synopses.insert(command.to_owned(), Synopsis::of(text));
                }
                ["choice", object, argument, choices] => {
                    let choices = choices.split(' ').map(str::to_owned).collect();
                    grammar.choices.insert((object.to_owned(), argument.to_owned()), choices);
                }
                ["newer", object, option] => {
                    grammar.newer.insert((object.to_owned(), option.to_owned()));
                }
                _ => panic!("{line}"),
            }
        }
        grammar
    }

    /// Is the line a command of its synopsis? `None` if there is none.
    pub fn check(&self, line: &str) -> Option<Result<(), String>> {
        let words = words(line);
        let length = (2..=3).find(|length| {
            words.get(..*length).is_some_and(|head| self.synopses.contains_key(&head.join(" ")))
        })?;
        let head = words[..length].join(" ");
        let object = words[1..length].join(" ");
        Some(self.command(&self.synopses[&head], (&words[0], &object), &words[length..]))
    }

    fn command(
        &self,
        synopsis: &Synopsis,
        (verb, object): (&str, &str),
        words: &[String],
    ) -> Result<(), String> {
        let is_option =
            |word: &String| word.starts_with('-') && word[1..].starts_with(|c: char| c.is_alphabetic());
        let first = words.iter().position(is_option).unwrap_or(words.len());
        if !synopsis.words.contains(&first) {
            return Err(format!("{first} words of {:?}", synopsis.words));
        }
        if let Some((place, choices)) = self.kind_of_word(verb, object) {
            words[..first].get(place).map_or(Ok(()), |word| known(choices, word))?;
        }
        let mut rest = &words[first..];
        while let Some((option, after)) = rest.split_first() {
            let count = after.iter().position(is_option).unwrap_or(after.len());
            let (values, others) = after.split_at(count);
            self.option(synopsis, object, &option[1..], values).map_err(|why| format!("{option}: {why}"))?;
            rest = others;
        }
        Ok(())
    }

    /// The place of the word that says a type, and its choices.
    fn kind_of_word(&self, verb: &str, object: &str) -> Option<(usize, &Vec<String>)> {
        let (place, argument) = match (verb, object) {
            ("add", "service") => (2, "serviceType"),
            ("add", "serviceGroup" | "lb vserver") => (1, "serviceType"),
            (_, "lb monitor") => (1, "type"),
            _ => return None,
        };
        Some((place, self.choices.get(&(object.to_owned(), argument.to_owned()))?))
    }

    fn option(&self, synopsis: &Synopsis, object: &str, name: &str, values: &[String]) -> Result<(), String> {
        let Some(allowed) = synopsis.options.get(name) else {
            let newer = self.newer.contains(&(object.to_owned(), name.to_owned()));
            return if newer { Ok(()) } else { Err("not in the synopsis".to_owned()) };
        };
        let most = match &allowed.kind[..] {
            "" => 0,
            kind if kind.ends_with('+') => usize::MAX,
            _ => 1 + usize::from(allowed.second),
        };
        let least = usize::from(most > 0);
        if !(least..=most).contains(&values.len()) {
            return Err(format!("{} values of {allowed:?}", values.len()));
        }
        let typed = if most == usize::MAX { values } else { &values[..least] };
        typed.iter().try_for_each(|value| self.value(object, name, allowed.kind.trim_end_matches('+'), value))
    }

    fn value(&self, object: &str, name: &str, kind: &str, value: &str) -> Result<(), String> {
        let is_number = || value.parse::<i64>().map_err(|_| format!("{value} is no number")).map(|_| ());
        match kind {
            "uint" | "int" | "integer" | "s" | "secs" | "min" | "msecs" => is_number(),
            "port" | "port|*" if value == "*" => Ok(()),
            "port" | "port|*" => is_number(),
            "int{-int}" => value
                .split('-')
                .all(|part| part.parse::<u16>().is_ok())
                .then_some(())
                .ok_or_else(|| value.to_owned()),
            "ip" | "ip4" | "mask" | "ip_addr" | "netmask" | "ip_addr|ipv6_addr" => {
                value.parse::<IpAddr>().map(|_| ()).map_err(|_| format!("{value} is no address"))
            }
            choices
                if choices.contains('|')
                    && choices.chars().all(|c| c.is_ascii_alphanumeric() || "|_".contains(c)) =>
            {
                known(&choices.split('|').map(str::to_owned).collect::<Vec<_>>(), value)
            }
            argument => {
                let argument = if argument == "enum" { name } else { argument };
                let choices = self.choices.get(&(object.to_owned(), argument.to_owned()));
                choices.map_or(Ok(()), |choices| known(choices, value))
            }
        }
    }
}

fn known(choices: &[String], value: &str) -> Result<(), String> {
    match choices.iter().any(|choice| choice == value) {
        true => Ok(()),
        false => Err(format!("{value} is none of {choices:?}")),
    }
}

impl Synopsis {
    fn of(text: &str) -> Synopsis {
        let spaced: String = text
            .chars()
            .flat_map(|c| match c {
                '[' | ']' | '(' | ')' => vec![' ', c, ' '],
                c => vec![c],
            })
            .collect();
        let tokens: Vec<&str> = spaced.split_whitespace().collect();
        let mut options = BTreeMap::new();
        let mut rest = &tokens[..];
        let words = choice(&mut rest, &mut options);
        Synopsis { words, options }
    }
}

/// Reads alternatives up to a closing bracket; tells how many words of their own they can have.
fn choice(rest: &mut &[&str], options: &mut BTreeMap<String, Values>) -> BTreeSet<usize> {
    let mut all = BTreeSet::new();
    loop {
        all.extend(sequence(rest, options));
        match rest.split_first() {
            Some((&"|", after)) => *rest = after,
            _ => return all,
        }
    }
}

fn sequence(rest: &mut &[&str], options: &mut BTreeMap<String, Values>) -> BTreeSet<usize> {
    let mut counts = BTreeSet::from([0]);
    while let Some((token, after)) = rest.split_first() {
        let more = match *token {
            "|" | "]" | ")" => break,
            "..." => {
                *rest = after;
                (0..40).collect()
            }
            "(" | "[" => {
                *rest = after;
                let mut inside = choice(rest, options);
                if *token == "[" {
                    inside.insert(0);
                }
                *rest = rest.get(1..).unwrap_or_default();
                inside
            }
            option if option.starts_with("{-") => {
                *rest = after;
                let open = option.trim_start_matches("{-");
                // `{-password }`: what stands there is a secret, with its flags.
                let inside = open.strip_suffix('}').unwrap_or(open);
                let kind = if inside == open { "secret+" } else { "" };
                let (name, kind) = inside.split_once(':').unwrap_or((inside, kind));
                *rest = rest.strip_prefix(&["}"]).unwrap_or(rest);
                options.insert(name.to_owned(), Values { kind: kind.to_owned(), second: false });
                BTreeSet::from([0])
            }
            option if option.starts_with('-') => {
                *rest = after;
                let values = values(rest);
                options.insert(option[1..].to_owned(), values);
                BTreeSet::from([0])
            }
            _ => {
                *rest = after;
                BTreeSet::from([1])
            }
        };
        counts = counts.iter().flat_map(|count| more.iter().map(move |more| count + more)).collect();
    }
    counts
}

/// What stands behind an option outside braces: a type or a choice of words, and perhaps a second word.
fn values(rest: &mut &[&str]) -> Values {
    let kind = match rest.first() {
        Some(&"(") => {
            let end = rest.iter().position(|token| *token == ")").unwrap_or(rest.len());
            let kind = rest[1..end].join("");
            *rest = rest.get(end + 1..).unwrap_or_default();
            kind
        }
        Some(word) if word.starts_with(|c: char| c.is_alphabetic()) => {
            *rest = &rest[1..];
            word.trim_end_matches('@').to_owned()
        }
        _ => return Values { kind: String::new(), second: false },
    };
    let second = match rest[..] {
        ["[", word, "]", ..] if word.starts_with(|c: char| c.is_alphabetic()) => {
            *rest = &rest[3..];
            true
        }
        [word, ..] if word.starts_with(|c: char| c.is_alphabetic()) => {
            *rest = &rest[1..];
            true
        }
        _ => false,
    };
    Values { kind, second }
}

#[test]
fn what_is_no_command_is_found() {
    let grammar = Grammar::of(include_str!("../fixtures/synopses.tsv"));
    let check = |line: &str| grammar.check(line).unwrap().is_ok();
    assert!(check("add server s 10.0.0.1 -state DISABLED"));
    assert!(check("add lb vserver \"a b\" HTTP 10.0.0.1 80 -persistenceType NONE -cltTimeout 180"));
    assert!(check("add lb monitor m HTTP -interval 2 MIN -respCode 200 201-204"));
    assert!(check("add service s s HTTP 80 -cip ENABLED X-Client-IP"));
    for wrong in [
        "add server",
        "add server s 10.0.0.1 -state MAYBE",
        "add server s 10.0.0.1 -colour red",
        "add service s s HTTP",
        "add service s s HTPT 80",
        "add lb vserver v HTTP 10.0.0.1 80 -cltTimeout soon",
        "add lb vserver v HTTP 10.0.0.1 80 -lbMethod FASTEST",
    ] {
        assert!(!check(wrong), "{wrong}");
    }
    assert!(grammar.check("add route 0.0.0.0 0.0.0.0 10.0.0.1").is_none());
}
