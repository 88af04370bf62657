//! `set cli mode -color ON`: errors, warnings and states in colour, for a terminal alone.

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
    while let Some(at) = rest.find(STATE) {
        let (before, state) = rest.split_at(at + STATE.len());
        out.push_str(before);
        let end = state.find(|c: char| !c.is_ascii_uppercase()).unwrap_or(state.len());
        let (word, after) = state.split_at(end);
        match word {
            "UP" => out.push_str(&format!("{GREEN}{word}{PLAIN}")),
            "DOWN" | "OUT" => out.push_str(&format!("{RED}{word}{PLAIN}")),
            _ => out.push_str(word),
        }
        rest = after;
    }
    out + rest
}

const STATE: &str = "State: ";
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
            ("State: ENABLED", "State: ENABLED"),
        ] {
            assert_eq!(coloured(text), expected);
        }
    }
}
