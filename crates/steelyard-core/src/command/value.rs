//! Words to values and back, by the kind of the row that they stand for. One reading for the command line and NITRO.

use std::net::{IpAddr, Ipv4Addr};

use super::abbreviation::{Match, find};
use super::nearest::nearest;
use super::refusal::{Allowed, Refusal};
use super::seal;
use crate::config::attribute::{CodeRange, Host, Kind, Row, Span, Unit, Value, Words};

/// Reads as many of `words` as the row takes; the rest, if any, is for whoever asks.
///
/// # Errors
/// [`Refusal`] of the first word that the row's kind does not allow, or when there is none.
pub(super) fn read<'a, 'w>(row: &Row, words: &'a [&'w str]) -> Result<(Value, &'a [&'w str]), Refusal> {
    let argument = row.cli;
    if row.kind == Kind::Bare {
        return Ok((Value::Flag(true), words));
    }
    let (&first, rest) = words.split_first().ok_or(Refusal::ValueMissing { argument })?;
    let value = match row.kind {
        Kind::Span { .. } => return span(row, words),
        Kind::Codes => return Ok((Value::Codes(codes(argument, words)?), &[])),
        Kind::WordList(list) => return Ok((Value::WordList(word_list(argument, list, words)?), &[])),
        Kind::Name => Value::Text(name(argument, first)?),
        Kind::Names => {
            let names: Result<_, _> = words.iter().map(|word| name(argument, word)).collect();
            return Ok((Value::Names(names?), &[]));
        }
        Kind::Host => Value::Host(host(argument, first)?),
        Kind::IpOrDomain => Value::Host(ip_or_domain(argument, first)?),
        Kind::Expression { none } if first.trim_matches('"').eq_ignore_ascii_case(none) => {
            Value::Text(none.to_owned())
        }
        Kind::Expression { .. } => Value::Text(first.to_owned()),
        Kind::Texts { max } => {
            if words.iter().any(|word| word.len() > max) {
                return Err(Refusal::TooLong { argument, max });
            }
            return Ok((Value::Names(words.iter().map(|word| (*word).to_owned()).collect()), &[]));
        }
        Kind::Text { max } if first.len() > max => return Err(Refusal::TooLong { argument, max }),
        Kind::Text { .. } => Value::Text(first.to_owned()),
        Kind::FieldName => Value::Text(field_name(argument, first)?),
        Kind::Number { min, max } => Value::Number(number(argument, first, (min, max))?),
        Kind::Port { min } => Value::Number(port(argument, first, min)?),
        Kind::Word(list) => Value::Word(word(argument, list, first)?),
        Kind::Switch => Value::Flag(word(argument, SWITCH, first)? == "ENABLED"),
        Kind::YesNo => Value::Flag(word(argument, YES_NO, first)? == "YES"),
        Kind::OnOff => Value::Flag(word(argument, ON_OFF, first)? == "ON"),
        Kind::Bare => Value::Flag(true),
        Kind::Ip => Value::Ip(ip(argument, first)?),
        Kind::IpOrAny if first == "*" => Value::Ip(IpAddr::V4(Ipv4Addr::UNSPECIFIED)),
        Kind::IpOrAny => Value::Ip(ip(argument, first)?),
        Kind::PortOrAny { .. } if first == "*" => Value::Number(u32::from(u16::MAX)),
        Kind::PortOrAny { min } => Value::Number(port(argument, first, min)?),
        Kind::Ips => {
            let ips: Result<_, _> = words.iter().map(|word| ip(argument, word)).collect();
            return Ok((Value::Ips(ips?), &[]));
        }
        Kind::Numbers { min, max } => {
            let numbers: Result<_, _> = words.iter().map(|word| number(argument, word, (min, max))).collect();
            return Ok((Value::Numbers(numbers?), &[]));
        }
        Kind::Secret => return seal::read(argument, words),
    };
    Ok((value, rest))
}

/// Writes a value of that kind as the configuration file has it.
pub(super) fn write(kind: &Kind, value: &Value, out: &mut String) {
    match value {
        Value::Text(text) | Value::Host(Host::Server(text)) => write_text(text, out),
        Value::Names(names) => {
            for (index, name) in names.iter().enumerate() {
                out.push_str(if index > 0 { " " } else { "" });
                write_text(name, out);
            }
        }
        Value::Ip(ip) if *kind == Kind::IpOrAny && *ip == Ipv4Addr::UNSPECIFIED => out.push('*'),
        Value::Ip(ip) | Value::Host(Host::Ip(ip)) => out.push_str(&ip.to_string()),
        Value::Number(65_535) if matches!(kind, Kind::PortOrAny { .. }) => out.push('*'),
        Value::Number(number) => out.push_str(&number.to_string()),
        Value::Span(Span { number, unit: Unit::Sec }) => out.push_str(&number.to_string()),
        Value::Span(Span { number, unit }) => out.push_str(&format!("{number} {}", unit.text())),
        Value::Word(word) => out.push_str(word),
        Value::WordList(words) => out.push_str(&words.join(" ")),
        Value::Flag(flag) => out.push_str(match (kind, flag) {
            (Kind::Switch, true) => "ENABLED",
            (Kind::Switch, false) => "DISABLED",
            (Kind::OnOff, true) => "ON",
            (Kind::OnOff, false) => "OFF",
            (Kind::Bare, _) => "",
            (_, true) => "YES",
            (_, false) => "NO",
        }),
        Value::Codes(codes) => {
            let texts: Vec<String> = codes.iter().map(|range| code_text(*range)).collect();
            out.push_str(&texts.join(" "));
        }
        Value::Ips(ips) => out.push_str(&listed(ips)),
        Value::Numbers(numbers) => out.push_str(&listed(numbers)),
        Value::Secret(secret) => out.push_str(&secret.foreign().map(foreign).unwrap_or_default()),
        Value::Unset => {}
    }
}

fn listed<T: ToString>(items: &[T]) -> String {
    items.iter().map(T::to_string).collect::<Vec<_>>().join(" ")
}

/// A value and its flags, which are options' names and stand without quotes.
fn foreign(words: &[String]) -> String {
    let mut out = String::new();
    for (position, word) in words.iter().enumerate() {
        match position {
            0 => write_text(word, &mut out),
            _ => out.push_str(&format!(" {word}")),
        }
    }
    out
}

/// A word, in quotes where the lexer would take it for something else.
pub(super) fn write_text(text: &str, out: &mut String) {
    let q_quote = text.starts_with('q') && text[1..].starts_with(|c: char| !c.is_alphanumeric());
    let bare = |c: char| !matches!(c, '\t' | '\n' | '\r' | ' ' | '"' | '\'' | '(' | ')' | '#' | ';' | '\\');
    if !text.is_empty() && !text.starts_with('-') && !q_quote && text.chars().all(bare) {
        return out.push_str(text);
    }
    out.push('"');
    for character in text.chars() {
        match character {
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            _ => out.push(character),
        }
    }
    out.push('"');
}

fn code_text(range: CodeRange) -> String {
    if range.low == range.high { range.low.to_string() } else { format!("{}-{}", range.low, range.high) }
}

fn name(argument: &'static str, word: &str) -> Result<String, Refusal> {
    if word.len() > LONGEST_NAME {
        return Err(Refusal::TooLong { argument, max: LONGEST_NAME });
    }
    refuse_range(argument, word)?;
    if let Ok(ip) = word.parse::<IpAddr>() {
        // One spelling for an address, so that a server named by it is found however it is written.
        return Ok(ip.to_string());
    }
    let first = word.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
    let others = word.chars().all(|c| c.is_ascii_alphanumeric() || "_#. :@=-".contains(c));
    match first && others {
        true => Ok(word.to_owned()),
        false => Err(Refusal::InvalidName { argument, word: word.to_owned() }),
    }
}

/// A token (RFC 9110 5.1). What frames or routes a message is the proxy's to write, and no address is put there.
fn field_name(argument: &'static str, word: &str) -> Result<String, Refusal> {
    let is_token = word.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b));
    let reserved = RESERVED_FIELDS.iter().any(|name| name.eq_ignore_ascii_case(word));
    if word.len() > LONGEST_NAME {
        return Err(Refusal::TooLong { argument, max: LONGEST_NAME });
    }
    match is_token && !reserved {
        true => Ok(word.to_owned()),
        false => {
            let allowed =
                Allowed::Such("the name of a header field, and none that frames or routes a request");
            Err(Refusal::InvalidValue { argument, word: word.to_owned(), allowed, nearest: None })
        }
    }
}

/// `web[1-3]` stands for three names, `10.0.0.[1-3]` for three addresses.
fn refuse_range(argument: &'static str, word: &str) -> Result<(), Refusal> {
    let range = word.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map(|(range, _)| range);
    match range {
        Some(range) if range.contains('-') => Err(Refusal::RangeGiven { argument, word: word.to_owned() }),
        _ => Ok(()),
    }
}

fn host(argument: &'static str, word: &str) -> Result<Host, Refusal> {
    match word.parse() {
        Ok(ip) => Ok(Host::Ip(ip)),
        Err(_) if looks_like_ip(word) => ip(argument, word).map(Host::Ip),
        Err(_) => name(argument, word).map(Host::Server),
    }
}

fn ip_or_domain(argument: &'static str, word: &str) -> Result<Host, Refusal> {
    refuse_range(argument, word)?;
    let label = |label: &str| {
        let inside = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        (1..=63).contains(&label.len()) && label.chars().all(inside)
    };
    let domain = word.strip_suffix('.').unwrap_or(word);
    match word.parse() {
        Ok(ip) => Ok(Host::Ip(ip)),
        Err(_) if word.len() > LONGEST_DOMAIN => Err(Refusal::TooLong { argument, max: LONGEST_DOMAIN }),
        Err(_) if !looks_like_ip(word) && domain.split('.').all(label) => Ok(Host::Server(word.to_owned())),
        Err(_) => Err(Refusal::InvalidIp { argument, word: word.to_owned() }),
    }
}

/// Digits and points alone: meant as an address, not as a name.
fn looks_like_ip(word: &str) -> bool {
    word.contains('.') && word.chars().all(|c| c.is_ascii_digit() || c == '.')
}

fn ip(argument: &'static str, word: &str) -> Result<IpAddr, Refusal> {
    refuse_range(argument, word)?;
    if word == "*" {
        return Err(Refusal::NotCarried {
            argument: Some(argument),
            what: word.to_owned(),
            carried: &["0.0.0.0"],
        });
    }
    word.parse().map_err(|_| match name(argument, word) {
        Ok(_) if !looks_like_ip(word) && !word.contains([' ', ':']) => {
            Refusal::DomainGiven { argument, word: word.to_owned() }
        }
        _ => Refusal::InvalidIp { argument, word: word.to_owned() },
    })
}

fn port(argument: &'static str, word: &str, min: u16) -> Result<u32, Refusal> {
    if word == "*" {
        return Err(Refusal::NotCarried {
            argument: Some(argument),
            what: word.to_owned(),
            carried: &["a port"],
        });
    }
    number(argument, word, (u32::from(min), u32::from(u16::MAX)))
}

fn number(argument: &'static str, word: &str, (min, max): (u32, u32)) -> Result<u32, Refusal> {
    let digits = word.strip_prefix('-').unwrap_or(word);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        let allowed = Allowed::Such("a whole number");
        return Err(Refusal::InvalidValue { argument, word: word.to_owned(), allowed, nearest: None });
    }
    let below = Refusal::BelowMinimum { argument, word: word.to_owned(), min: min.to_string() };
    if digits.len() < word.len() {
        return Err(below);
    }
    match digits.parse::<u32>() {
        Ok(number) if number < min => Err(below),
        Ok(number) if number <= max => Ok(number),
        _ => Err(Refusal::AboveMaximum { argument, word: word.to_owned(), max: max.to_string() }),
    }
}

/// A number, and perhaps its unit as the next word.
fn span<'a, 'w>(row: &Row, words: &'a [&'w str]) -> Result<(Value, &'a [&'w str]), Refusal> {
    let argument = row.cli;
    let Kind::Span { max, floor_ms, .. } = row.kind else {
        return Err(Refusal::ValueMissing { argument });
    };
    let number = number(argument, words.first().copied().unwrap_or_default(), (floor_ms.min(1), max))
        .map_err(|refusal| {
            let allowed = Allowed::Such("a whole number; a unit (SEC, MSEC, MIN) is a word of its own");
            refusal.allowing(allowed)
        })?;
    let unit = match words.get(1) {
        Some(unit) => word(argument, UNITS, unit)?,
        None => Unit::Sec.text(),
    };
    let unit = Unit::ALL.into_iter().find(|known| known.text() == unit).unwrap_or(Unit::Sec);
    let span = Span { number, unit };
    if span.ms() < floor_ms {
        return Err(Refusal::BelowMinimum {
            argument,
            word: words.join(" "),
            min: format!("{floor_ms} MSEC"),
        });
    }
    match span.ms() <= max * 1_000 {
        true => Ok((Value::Span(span), words.get(2..).unwrap_or(&[]))),
        false => Err(Refusal::AboveMaximum { argument, word: words.join(" "), max: format!("{max} SEC") }),
    }
}

fn word(argument: &'static str, words: Words, given: &str) -> Result<&'static str, Refusal> {
    let all = || words.carried.iter().chain(words.not_carried).copied();
    if let Some((_, carried)) = words.aliases.iter().find(|(alias, _)| alias.eq_ignore_ascii_case(given)) {
        return Ok(carried);
    }
    match find(given, all()) {
        Match::One(found) => Ok(found),
        Match::Several(candidates) => {
            Err(Refusal::AmbiguousValue { argument, word: given.to_owned(), candidates })
        }
        Match::None => Err(Refusal::InvalidValue {
            argument,
            word: given.to_owned(),
            allowed: Allowed::Words(words.carried),
            nearest: nearest(given, all()),
        }),
    }
}

fn word_list(argument: &'static str, list: Words, words: &[&str]) -> Result<Vec<&'static str>, Refusal> {
    words.iter().map(|given| word(argument, list, given)).collect()
}

fn codes(argument: &'static str, words: &[&str]) -> Result<Vec<CodeRange>, Refusal> {
    if words.len() > MOST_CODES {
        return Err(Refusal::TooManyCodes);
    }
    words.iter().map(|word| code_range(argument, word)).collect()
}

fn code_range(argument: &'static str, word: &str) -> Result<CodeRange, Refusal> {
    let code = |digits: &str| {
        let code = number(argument, digits, (u32::from(CODES.low), u32::from(CODES.high)))?;
        Ok(u16::try_from(code).unwrap_or(CODES.high))
    };
    match word.split_once('-') {
        Some((_, "")) => {
            let allowed = Allowed::Such("a status code or a range of them");
            Err(Refusal::InvalidValue { argument, word: word.to_owned(), allowed, nearest: None })
        }
        Some((low, high)) if !low.is_empty() => {
            let range = CodeRange { low: code(low)?, high: code(high)? };
            if range.low > range.high {
                return Err(Refusal::RangeReversed { argument, word: word.to_owned() });
            }
            Ok(range)
        }
        _ => code(word).map(CodeRange::one),
    }
}

const SWITCH: Words = Words { carried: &["ENABLED", "DISABLED"], aliases: &[], not_carried: &[] };
const YES_NO: Words = Words { carried: &["YES", "NO"], aliases: &[], not_carried: &[] };
const ON_OFF: Words = Words { carried: &["ON", "OFF"], aliases: &[], not_carried: &[] };
const UNITS: Words = Words { carried: &["SEC", "MSEC", "MIN"], aliases: &[], not_carried: &[] };
/// `spec/methods.md` 5.1.
const LONGEST_NAME: usize = 127;
/// Fields of which the proxy itself decides what services are told.
const RESERVED_FIELDS: [&str; 9] = [
    "connection",
    "content-length",
    "host",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];
/// Of a name in the domain name system.
const LONGEST_DOMAIN: usize = 255;
/// Error 2130.
const MOST_CODES: usize = 16;
/// What an answer can say: a status line three digits, RADIUS one.
const CODES: CodeRange = CodeRange { low: 1, high: 999 };
