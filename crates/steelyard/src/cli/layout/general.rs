//! The layout of what no document shows, in the manner of the rest: a head line with the name, then what is configured, a line
//! each, then what is bound.
//!
//! Attributes are called as their options are, in words: `startupRRFactor` is `Startup RR Factor`.

use std::fmt::Write as _;

use steelyard_core::command::{Described, Object, Verb, described, taken};
use steelyard_core::config::attribute::{Kind, Place};

use super::{plain, text, told};
use crate::cli::show::{Fields, Found, Item};
use crate::columns;
use crate::nitro;

/// An object, by its attributes.
pub fn text_of(object: Object, item: &Item) -> String {
    let rows = described(object);
    let key = rows.iter().find(|described| described.row.place == Place::Key).map(|key| key.row);
    let mut out = match key {
        Some(key) => format!("{}\tName: {}\n", item.place(), text(&item.of, key.nitro)),
        None => String::new(),
    };
    let attributes = rows.iter().map(|described| described.row).filter(|row| Some(*row) != key);
    for row in attributes {
        let mut value = text(&item.of, row.nitro);
        if let Kind::Span { unit, .. } = row.kind {
            value = format!("{value} {}", text(&item.of, unit).to_lowercase());
        }
        if !value.trim().is_empty() {
            // Formatting into a String cannot fail.
            let _ = writeln!(out, "\t{}: {value}", words(row.cli));
        }
    }
    for (_, rows) in item.all_bound() {
        for (at, row) in rows.iter().enumerate() {
            let _ = writeln!(out, "\t{})\t{}", at + 1, bound(object, key.map_or("", |key| key.nitro), row));
        }
    }
    out
}

/// What is configured otherwise than by default, of the attributes that a layout has no line for: a line each.
pub fn others(object: Object, of: &Fields, shown: &[&str]) -> String {
    other_pairs(object, of, shown).iter().map(|(label, value)| format!("\t{label}: {value}\n")).collect()
}

/// The same, each label beside its value.
pub fn other_pairs(object: Object, of: &Fields, shown: &[&str]) -> Vec<(String, String)> {
    let is_other = |described: &&Described| {
        let row = described.row;
        row.place != Place::Key && !shown.contains(&row.nitro)
    };
    let mut out = Vec::new();
    for described in described(object).iter().filter(is_other) {
        let (row, value) = (described.row, text(of, described.row.nitro));
        let usual = described.default.as_ref().map(|default| told(&row.kind, default));
        if described.by_type.is_empty() && !is_nothing(&value) && Some(&value) != usual.as_ref() {
            out.push((words(row.cli), value));
        }
    }
    out
}

/// Every field that is told, by its name.
pub fn fields(item: &Item) -> String {
    let line = |(name, value): (&String, _)| format!("\t{name}: {}\n", plain(value));
    format!("{}{}", item.place(), item.of.iter().map(line).collect::<String>())
}

/// A line for each: what it is called, and what of address, type and state it has.
pub fn brief(resource: &str, found: &Found) -> String {
    let key = nitro::key_of(resource).unwrap_or_default();
    let row = |item: &Item| {
        let field = |names: &[&str]| {
            names.iter().map(|name| text(&item.of, name)).find(|text| !text.is_empty()).unwrap_or_default()
        };
        let address = field(&["ipv46", "ipaddress"]);
        vec![
            format!("{})", item.nth),
            field(&[key]),
            if key == "ipaddress" { String::new() } else { address },
            field(&["port"]),
            field(&["servicetype", "type"]),
            field(&["curstate", "svrstate", "servicegroupeffectivestate", "state"]),
        ]
    };
    let mut out = String::new();
    let rows = found.items.iter().map(row).collect();
    columns::align_within(found.room, rows, &[false, true, false, false, false, false], &mut out);
    out
}

/// A binding: all that it says but whose it is.
fn bound(object: Object, key: &str, row: &Fields) -> String {
    let binds = taken(Verb::Bind, object);
    let called = |field: &str| {
        let row = binds.as_ref().and_then(|binds| binds.row_of_nitro(field));
        row.map_or_else(|| field.to_owned(), |row| words(row.cli))
    };
    let fields = row.iter().filter(|(field, _)| *field != key);
    let pairs = fields.map(|(field, value)| format!("{}: {}", called(field), plain(value)));
    pairs.collect::<Vec<_>>().join("\t")
}

/// Is it what a field holds that nobody has set?
fn is_nothing(value: &str) -> bool {
    matches!(value, "" | "0" | "0.0.0.0" | "*" | "NONE" | "none" | "SERVER")
}

/// `startupRRFactor` is `Startup RR Factor`.
pub fn words(cli: &str) -> String {
    let mut out = String::with_capacity(cli.len() + 4);
    let mut previous = ' ';
    let mut letters = cli.chars().peekable();
    while let Some(letter) = letters.next() {
        let begins = letter.is_uppercase()
            && (previous.is_lowercase() || letters.peek().is_some_and(|next| next.is_lowercase()));
        if begins && previous != ' ' {
            out.push(' ');
        }
        match out.is_empty() {
            true => out.extend(letter.to_uppercase()),
            false => out.push(letter),
        }
        previous = letter;
    }
    out.replace("I Pv6", "IPv6")
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn options_are_called_in_words() {
        for (cli, expected) in [
            ("name", "Name"),
            ("persistenceType", "Persistence Type"),
            ("startupRRFactor", "Startup RR Factor"),
            ("usePortForHashLb", "Use Port For Hash Lb"),
            ("cipHeader", "Cip Header"),
            ("IPAddress", "IP Address"),
            ("IPv6Address", "IPv6 Address"),
            ("HSTS", "HSTS"),
            ("v6persistmasklen", "V6persistmasklen"),
        ] {
            assert_eq!(words(cli), expected);
        }
    }
}
