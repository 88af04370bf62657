//! High availability: `show HA node` has this program, then the partners that are kept.

use std::fmt::Write as _;

use super::{lines_of, or, text};
use crate::cli::show::{Fields, Item};

/// The line of the configuration as a whole that says which part the program has.
pub fn part(all: &[Fields]) -> String {
    format!("\tNode: {}\n", if all.len() > 1 { "Primary" } else { "Standalone" })
}

/// One of them, numbered.
pub fn text_of(item: &Item) -> String {
    let of = &item.of;
    let own = text(of, "id") == "0";
    let mark = if own { " (ns)" } else { "" };
    let ip = or(of, "ipaddress", "0.0.0.0");
    let mut out = format!("{})\tNode ID:      {}\n\tIP:\t{ip}{mark}\n", item.nth, text(of, "id"));
    let up = if own { "UP" } else { "UNKNOWN" };
    // Formatting into a String cannot fail.
    let _ = writeln!(out, "\tNode State: {up}\n\tMaster State: {}", text(of, "state"));
    out.push_str(&lines_of(
        of,
        &[
            ("Fail-Safe Mode", "failsafe"),
            ("INC State", "inc"),
            ("Sync State", "hasync"),
            ("Propagation", "haprop"),
            ("SSL Card Status", "ssl2"),
        ],
    ));
    for (label, field, unit) in
        [("Hello Interval", "hellointerval", "msecs"), ("Dead Interval", "deadinterval", "secs")]
    {
        let value = text(of, field);
        if !value.is_empty() {
            let _ = writeln!(out, "\t{label}: {value} {unit}");
        }
    }
    out
}
