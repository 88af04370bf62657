//! Help about a command, from the rows: the synopsis as the command line's own `help` prints it, then what each argument
//! is.
//!
//! Says nothing that a row does not say. A synopsis reads: a bare word stands for itself, `[...]` may be left out, `|` and
//! parentheses are a choice, `...` means more of the same.

use std::fmt::Write as _;

use super::counted::{OF_THE_APPLIANCE, form_of};
use super::form::{Form, form};
use super::once::{JSON, Once, Part, What};
use super::{Object, Verb};
use crate::config::attribute::{Kind, Row, Words};

/// `Usage: add server <name>@ ...`, then under `where:` the words of every choice that is too long for the synopsis, then a
/// sentence for each argument; `None` when the verb does not go with the object.
pub fn usage(verb: Verb, object: Object) -> Option<String> {
    Some(described(verb, object.text(), &form(verb, object)?))
}

/// The same of a `stat` of what nothing configures.
pub(super) fn usage_of_counted(object: &str) -> Option<String> {
    let known = OF_THE_APPLIANCE.iter().find(|known| known.eq_ignore_ascii_case(object))?;
    Some(described(Verb::Stat, known, &form_of(known)?))
}

fn described(verb: Verb, object: &str, form: &Form) -> String {
    let mut text = format!("Usage: {}\n", synopsis(verb, object, form));
    choices(form, &mut text);
    for row in form.rows() {
        let _ = writeln!(text, "  {}: {}", row.cli, row.help);
    }
    if matches!(verb, Verb::Show | Verb::Stat) {
        let _ = writeln!(text, "  {}: {}{BEYOND}", JSON.0, JSON.1);
    }
    text
}

/// A command with all that it may take.
pub(super) fn synopsis(verb: Verb, object: &str, form: &Form) -> String {
    let mut text = format!("{} {object}", verb.text());
    for slot in &form.slots {
        let word = format!("<{}>{}{}", slot.row.cli, range(slot.row), several(slot.row));
        text.push_str(&if slot.required { format!(" {word}") } else { format!(" [{word}]") });
    }
    for option in &form.options {
        let mut word = format!("-{}", option.row.cli);
        if verb != Verb::Unset {
            word.push_str(&value_of(option.row));
            option.more.iter().for_each(|row| write_more(row, &mut word));
        }
        let _ = write!(text, " [{word}]");
    }
    text
}

/// The same of a command that configures nothing.
pub(super) fn usage_of_once(once: &Once) -> String {
    let mark = if once.beyond { BEYOND } else { "" };
    let mut text = format!("Usage: {}{mark}\n{}\n", synopsis_of_once(once), once.help);
    for of in once.parts {
        if let What::Words(words) = of.what {
            let _ = writeln!(text, "where:\n  {} = ( {} )", of.name, words.join(" | "));
        }
    }
    for of in once.parts {
        let _ = writeln!(text, "  {}: {}", of.name.trim_start_matches('-'), of.help);
    }
    text
}

/// A command that configures nothing with all that it may take.
pub(super) fn synopsis_of_once(once: &Once) -> String {
    let mut text = once.name();
    for of in once.parts {
        let word = part(of);
        text.push_str(&if of.required { format!(" {word}") } else { format!(" [{word}]") });
    }
    text
}

/// What such a command takes, as it is written.
pub(super) fn part(of: &Part) -> String {
    let value = format!("<{}>", of.name.trim_start_matches('-'));
    match of.what {
        What::Nothing => of.name.to_owned(),
        _ if of.name.starts_with('-') => format!("{} {value}", of.name),
        _ => value,
    }
}

fn write_more(row: &Row, out: &mut String) {
    let _ = write!(out, " [<{}>]", row.cli);
}

/// What follows an option's name.
pub(super) fn value_of(row: &Row) -> String {
    match row.kind {
        Kind::Bare => String::new(),
        Kind::Switch => " ( ENABLED | DISABLED )".to_owned(),
        Kind::YesNo => " ( YES | NO )".to_owned(),
        Kind::OnOff => " ( ON | OFF )".to_owned(),
        Kind::Word(words) if is_short(words) => format!(" ( {} )", all(words).join(" | ")),
        kind => format!(" <{}>{}{}", what(kind, row), range(row), several(row)),
    }
}

/// What kind of value stands there, in the words of the command reference.
pub(super) fn what(kind: Kind, row: &Row) -> &'static str {
    match kind {
        Kind::Number { .. } => "positive_integer",
        Kind::Numbers { .. } => "positive_integer",
        Kind::Span { .. } => "integer [SEC|MSEC|MIN]",
        Kind::Ip => "ip_addr|ipv6_addr",
        Kind::IpOrAny => "ip_addr|ipv6_addr|*",
        Kind::IpOrDomain => "ip_addr|ipv6_addr|domain",
        Kind::Ips => "ip_addr|ipv6_addr",
        Kind::Port { .. } => "port",
        Kind::PortOrAny { .. } => "port|*",
        Kind::Codes => "int[-int]",
        Kind::Expression { .. } => "expression",
        Kind::Secret => "secret",
        Kind::Word(_) | Kind::WordList(_) => row.cli,
        Kind::Name
        | Kind::Names
        | Kind::Host
        | Kind::Text { .. }
        | Kind::Texts { .. }
        | Kind::FieldName
        | Kind::Switch
        | Kind::YesNo
        | Kind::OnOff
        | Kind::Bare => "string",
    }
}

/// Between what a value of that kind must lie.
pub(super) fn limits(kind: Kind) -> Option<String> {
    match kind {
        Kind::Number { min, max: u32::MAX } => Some(format!("{min} or more")),
        Kind::Number { min, max } | Kind::Numbers { min, max } => Some(format!("{min} to {max}")),
        Kind::Port { min } | Kind::PortOrAny { min } => Some(format!("{min} to {}", u16::MAX)),
        Kind::Span { max, floor_ms: 0, .. } => Some(format!("0 to {max} SEC")),
        Kind::Span { max, floor_ms, .. } => Some(format!("{floor_ms} MSEC to {max} SEC")),
        Kind::Text { max } => Some(format!("at most {max} bytes")),
        Kind::Texts { max } => Some(format!("at most {max} bytes each")),
        _ => None,
    }
}

/// NetScaler writes `@` where a range may stand for several.
fn range(row: &Row) -> &'static str {
    if row.ranged { "@" } else { "" }
}

fn several(row: &Row) -> &'static str {
    match row.kind {
        Kind::WordList(_)
        | Kind::Names
        | Kind::Texts { .. }
        | Kind::Ips
        | Kind::Numbers { .. }
        | Kind::Codes => " ...",
        _ => "",
    }
}

/// The words of the choices that the synopsis only names.
fn choices(form: &Form, text: &mut String) {
    let slots = form.slots.iter().map(|slot| slot.row);
    let more = form.options.iter().flat_map(|option| option.more.iter().copied());
    let long = form.options.iter().map(|option| option.row).filter(|row| match row.kind {
        Kind::Word(words) => !is_short(words),
        _ => true,
    });
    let mut head = "where:\n";
    for row in slots.chain(long).chain(more) {
        if let Kind::Word(words) | Kind::WordList(words) = row.kind {
            let _ = writeln!(text, "{head}  {} = ( {} )", row.cli, all(words).join(" | "));
            head = "";
        }
    }
}

fn all(words: Words) -> Vec<&'static str> {
    words.carried.iter().chain(words.not_carried).copied().collect()
}

fn is_short(words: Words) -> bool {
    words.carried.len() + words.not_carried.len() <= SHORT
}

/// Behind what no appliance has.
pub(super) const BEYOND: &str = " (Steelyard)";
/// Most words of a choice that stands in the synopsis itself.
const SHORT: usize = 3;
