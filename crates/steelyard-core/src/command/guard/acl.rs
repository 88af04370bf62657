//! Access lists: which addresses and ports a rule that denies may be about. What it says of the source is no matter, since
//! it turns somebody away in any case.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use super::may_be;
use crate::config::guard::Guard;

/// What the rules that deny are about, and the guard that they are; rules about the same are one guard.
pub(super) fn denials<'w>(lines: impl Iterator<Item = &'w [String]>) -> Vec<(Destination, Guard)> {
    let mut rules: BTreeMap<Destination, (&'static str, &'w str, usize)> = BTreeMap::new();
    for words in lines {
        let Some((kind, name, destination)) = denial(words) else { continue };
        rules.entry(destination).or_insert((kind, name, 0)).2 += 1;
    }
    let guard =
        |(kind, name, count): (_, &str, usize)| Guard::Acl { kind, name: name.to_owned(), others: count - 1 };
    rules.into_iter().map(|(destination, rule)| (destination, guard(rule))).collect()
}

/// The packets that a rule may be about, as far as a virtual server can tell.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Destination {
    ipv6: bool,
    ip: Span<IpAddr>,
    port: Span<u16>,
}

/// Values of an option.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Span<T> {
    /// Any: it is not given, or not understood.
    Any,
    /// From one to another.
    Within(T, T),
    /// All but those.
    Without(T, T),
}

impl Destination {
    /// May it concern clients that connect to `address`?
    pub(super) fn may_hit(&self, address: SocketAddr) -> bool {
        let ip = address.ip().is_unspecified() || self.ip.has(&address.ip());
        address.is_ipv6() == self.ipv6 && ip && self.port.has(&address.port())
    }
}

impl<T: PartialOrd> Span<T> {
    fn has(&self, value: &T) -> bool {
        match self {
            Span::Any => true,
            Span::Within(low, high) => low <= value && value <= high,
            Span::Without(low, high) => value < low || value > high,
        }
    }
}

/// Kind, name and destination of a rule that denies TCP.
fn denial(words: &[String]) -> Option<(&'static str, &str, Destination)> {
    let (verb, words) = words.split_first()?;
    let words = if words.first().is_some_and(|group| may_be(group, "ns")) { &words[1..] } else { words };
    let [object, name, options @ ..] = words else { return None };
    let kind = KINDS.iter().find(|kind| kind.eq_ignore_ascii_case(object))?;
    let denies = may_be(verb, "add") && options.iter().any(|word| may_be(word, "DENY"));
    let off = operand(options, "-state").is_some_and(|(_, state)| may_be(state, "DISABLED"));
    let other =
        |name, tcp: &str| operand(options, name).is_some_and(|(_, given)| !given.eq_ignore_ascii_case(tcp));
    if !denies || off || other("-protocol", "TCP") || other("-protocolNumber", "6") {
        return None;
    }
    let ip = span(operand(options, "-destIP").or_else(|| operand(options, "-destIPv6")));
    Some((
        kind,
        name,
        Destination { ipv6: kind.ends_with('6'), ip, port: span(operand(options, "-destPort")) },
    ))
}

/// The operator and the value after an option: `-destIP != 10.0.0.1`.
fn operand<'w>(options: &'w [String], name: &str) -> Option<(&'w str, &'w str)> {
    let at = options.iter().position(|word| word.eq_ignore_ascii_case(name))?;
    match options.get(at + 1..)? {
        [operator, value, ..] if ["=", "!=", "EQ", "NEQ"].contains(&operator.as_str()) => {
            Some((operator, value))
        }
        [value, ..] => Some(("=", value)),
        [] => None,
    }
}

fn span<T: std::str::FromStr + Copy>(operand: Option<(&str, &str)>) -> Span<T> {
    let Some((operator, value)) = operand else { return Span::Any };
    let (low, high) = value.split_once('-').unwrap_or((value, value));
    match (low.parse(), high.parse(), operator) {
        (Ok(low), Ok(high), "=" | "EQ") => Span::Within(low, high),
        (Ok(low), Ok(high), _) => Span::Without(low, high),
        _ => Span::Any,
    }
}

const KINDS: &[&str] = &["acl", "acl6", "simpleacl", "simpleacl6"];
