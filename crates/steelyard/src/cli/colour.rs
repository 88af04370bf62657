//! `set cli mode -color ON`: errors, warnings and states in colour, for a terminal alone that is not told otherwise.

use std::ffi::OsStr;

/// Does the environment leave colours to the mode? `NO_COLOR` forbids them, and a dumb terminal has none.
pub fn is_allowed() -> bool {
    let is_set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    is_set("NO_COLOR").is_none() && is_set("TERM").is_none_or(|term| term != OsStr::new("dumb"))
}

/// The text with them.
pub fn coloured(text: &str) -> String {
    text.split_inclusive('\n').map(line).collect()
}

fn line(line: &str) -> String {
    for (start, colour) in [("ERROR:", RED), ("Warning:", YELLOW)] {
        if let Some(rest) = line.strip_prefix(start) {
            return format!("{colour}{start}{PLAIN}{rest}");
        }
    }
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        let before = &line[..line.len() - rest.len()];
        match state_at(before, rest) {
            Some((state, colour)) => {
                out.push_str(&format!("{colour}{state}{PLAIN}"));
                rest = &rest[state.len()..];
            }
            None => {
                out.push(c);
                rest = &rest[c.len_utf8()..];
            }
        }
    }
    out
}

/// The state that stands there: behind its label, or in a column of a table.
fn state_at(before: &str, rest: &str) -> Option<(&'static str, &'static str)> {
    let is_labelled = before.ends_with(LABEL);
    // In a list of settings the same words are values.
    let is_column = before.ends_with("  ") && !before.contains(SETTING);
    let (state, colour) = STATES.iter().find(|(state, _)| rest.starts_with(state))?;
    let ends =
        rest[state.len()..].chars().next().is_none_or(|c| !c.is_ascii_alphanumeric() && !"_-".contains(c));
    (ends && (is_labelled || is_column)).then_some((state, colour))
}

/// Longer ones before those that they begin with.
const STATES: [(&str, &str); 8] = [
    ("DOWN WHEN GOING OUT OF SERVICE", YELLOW),
    ("GOING OUT OF SERVICE", YELLOW),
    ("OUT OF SERVICE", YELLOW),
    ("OFS", YELLOW),
    ("TROFS_DOWN", YELLOW),
    ("TROFS", YELLOW),
    ("UP", GREEN),
    ("DOWN", RED),
];
const LABEL: &str = "State: ";
const SETTING: &str = "..:";
const RED: &str = "\x1b[31m";
const GREEN: &str = "\x1b[32m";
const YELLOW: &str = "\x1b[33m";
const PLAIN: &str = "\x1b[0m";

#[cfg(test)]
mod tests {
    use super::coloured;

    #[test]
    fn what_matters_is_coloured_and_nothing_else() {
        for (text, expected) in [
            (" Done\n", " Done\n"),
            ("ERROR: No\n\tERROR: x\n", "\x1b[31mERROR:\x1b[0m No\n\tERROR: x\n"),
            ("Warning: w\n Done\n", "\x1b[33mWarning:\x1b[0m w\n Done\n"),
            (
                "\tState: UP\tEffective State: DOWN \n",
                "\tState: \x1b[32mUP\x1b[0m\tEffective State: \x1b[31mDOWN\x1b[0m \n",
            ),
            ("\tState: OUT OF SERVICE\n", "\tState: \x1b[33mOUT OF SERVICE\x1b[0m\n"),
            ("State: DOWN WHEN GOING OUT OF SERVICE", "State: \x1b[33mDOWN WHEN GOING OUT OF SERVICE\x1b[0m"),
            ("State: ENABLED", "State: ENABLED"),
            ("State: UPPER PARTIAL-UP", "State: UPPER PARTIAL-UP"),
            (
                "v                  192.0.2.1    80         HTTP           UP      2/s        0\n",
                "v                  192.0.2.1    80         HTTP           \x1b[32mUP\x1b[0m      2/s        0\n",
            ),
            (
                "UP DOWN        192.0.2.1          OFS\n",
                "UP DOWN        192.0.2.1          \x1b[33mOFS\x1b[0m\n",
            ),
            (
                "  Action...........:             DOWN\tDeviation.........:            0 sec\n",
                "  Action...........:             DOWN\tDeviation.........:            0 sec\n",
            ),
        ] {
            assert_eq!(coloured(text), expected);
        }
    }
}
