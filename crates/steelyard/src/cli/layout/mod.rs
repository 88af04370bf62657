//! How the appliance lays objects out (`spec/cli.md` 5), one file for each kind of object.

pub mod appliance;
pub mod cs;
pub mod features;
pub mod general;
pub mod ha;
pub mod interface;
pub mod lb_monitor;
pub mod lb_parameter;
pub mod lb_vserver;
pub mod server;
pub mod service;
pub mod service_group;
pub mod sessions;
pub mod ssl;
pub mod whose;

use serde_json::Value;

use steelyard_core::config::attribute;

use super::show::{Fields, Found};
use crate::{columns, nitro};

/// A field as text, whatever its JSON type; empty where it is not there. Ends of lines and tabs are shown as they are typed,
/// other control characters as `?`: names and comments come from anybody, and the terminal obeys.
pub fn text(of: &Fields, field: &str) -> String {
    of.get(field).map_or_else(String::new, plain)
}

/// A value as text; the items of a list with a blank between them.
fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => harmless(text),
        Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(" "),
        other => harmless(&other.to_string()),
    }
}

/// A value of a command as NITRO tells it.
pub fn told(kind: &attribute::Kind, value: &attribute::Value) -> String {
    nitro::told(kind, value).as_ref().map_or_else(String::new, plain)
}

/// A line for each field that is told, with what the appliance calls it.
fn lines_of(of: &Fields, fields: &[(&str, &str)]) -> String {
    let line = |(label, field): &(&str, &str)| match text(of, field) {
        value if value.is_empty() => String::new(),
        value => format!("\t{label}: {value}\n"),
    };
    fields.iter().map(line).collect()
}

/// The objects as a numbered table under a head line; nothing where there are none.
fn table(found: &Found, columns: &[(&str, &str)]) -> String {
    if found.items.is_empty() {
        return String::new();
    }
    let head = columns.iter().map(|(label, _)| (*label).to_owned());
    let mut rows = vec![[String::new()].into_iter().chain(head).collect::<Vec<_>>()];
    for item in &found.items {
        let cells = columns.iter().map(|(_, field)| text(&item.of, field));
        rows.push([format!("{})", item.nth)].into_iter().chain(cells).collect());
    }
    let is_name: Vec<bool> =
        [false].into_iter().chain(columns.iter().map(|(_, field)| field.ends_with("name"))).collect();
    let mut out = String::new();
    columns::align_within(found.room, rows, &is_name, &mut out);
    out
}

/// A text without what a terminal would obey.
pub fn harmless(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\r' => shown.push_str("\\r"),
            '\n' => shown.push_str("\\n"),
            '\t' => shown.push_str("\\t"),
            c if c.is_control() => shown.push('?'),
            c => shown.push(c),
        }
    }
    shown
}

/// The same of a text of several lines, in which tabs stand between columns.
pub fn lines(text: &str) -> String {
    let line = |line: &str| line.split('\t').map(harmless).collect::<Vec<_>>().join("\t") + "\n";
    text.lines().map(line).collect()
}

/// The same, or what stands for nothing.
fn or(of: &Fields, field: &str, otherwise: &str) -> String {
    let text = text(of, field);
    if text.is_empty() { otherwise.to_owned() } else { text }
}

fn number(of: &Fields, field: &str) -> u64 {
    text(of, field).parse().unwrap_or(0)
}

/// How long ago, from ticks of 10 ms: `0 days, 00:01:02.340`.
fn since(ticks: u64) -> String {
    let (ms, seconds) = (ticks % 100 * 10, ticks / 100);
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60);
    format!("{days} days, {hours:02}:{minutes:02}:{:02}.{ms:03}", seconds % 60)
}

/// Milliseconds with two decimals.
fn milliseconds(us: u64) -> String {
    format!("{}.{:02}", us / 1_000, us % 1_000 / 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_the_appliance() {
        assert_eq!(since(0), "0 days, 00:00:00.000");
        assert_eq!(since(9_012_345), "1 days, 01:02:03.450");
        assert_eq!(milliseconds(6_272_589), "6272.58");
    }

    #[test]
    fn control_characters_reach_no_terminal() {
        let Value::Object(of) = serde_json::json!({ "name": "a\u{1b}[2Jb\n", "port": 80 }) else { panic!() };
        assert_eq!((text(&of, "name").as_str(), text(&of, "port").as_str()), ("a?[2Jb\\n", "80"));
        assert_eq!((text(&of, "no").as_str(), or(&of, "no", "None").as_str()), ("", "None"));
    }
}
