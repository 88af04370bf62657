//! How the appliance lays objects out (`spec/cli.md` 5), one file for each kind of object.

pub mod appliance;
pub mod lb_monitor;
pub mod lb_vserver;
pub mod server;
pub mod service;
pub mod service_group;

use serde_json::Value;

use super::show::Fields;

/// A field as text, whatever its JSON type; empty where it is not there. Ends of lines and tabs are shown as they are typed,
/// other control characters as `?`: names and comments come from anybody, and the terminal obeys.
pub fn text(of: &Fields, field: &str) -> String {
    let text = match of.get(field) {
        None | Some(Value::Null) => return String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    };
    harmless(&text)
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
