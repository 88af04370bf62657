//! A shell's line as words, and a word as it is put into such a line.
//!
//! Carries nothing out: what only the shell could say, such as the value of a variable, is told apart. The hard question is
//! what the shell puts a word in the place of, which in bash may be the end of a word, behind a colon or inside quotes.

/// Whose line it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shell {
    /// `'it'\''s'`; a word is put as it is to stand in the line.
    Bash,
    /// The same quotes; it puts quotes itself where they are needed.
    Zsh,
    /// `'it\'s'`; it puts quotes itself where they are needed.
    Fish,
}

/// A word of a line.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Word {
    /// What it says, without its quotes.
    pub text: String,
    /// Does it say that whatever the shell knows besides?
    pub is_sure: bool,
    /// The quotes in which it ends.
    pub quote: Option<char>,
}

/// The words of a line up to the cursor; the last one, which may be empty, is the one at the cursor. `None` where that cannot
/// be told or is no word of a command: in a comment, behind the sign of a redirection.
pub fn words(line: &str, shell: Shell) -> Option<Vec<Word>> {
    let mut done = Vec::new();
    let mut word: Option<Word> = None;
    let mut rest = line.chars().peekable();
    while let Some(c) = rest.next() {
        let quote = word.as_ref().and_then(|word| word.quote);
        if quote.is_none() && matches!(c, ' ' | '\t' | '\n') {
            done.extend(word.take());
            continue;
        }
        if quote.is_none() && (OPERATORS.contains(c) || c == '#' && word.is_none()) {
            return None;
        }
        let begins = word.is_none();
        let word = word.get_or_insert(Word { is_sure: true, ..Word::default() });
        match (quote, c) {
            (None, '\\') => {
                let next = rest.next()?;
                // In fish a letter behind it stands for a character that no word here has.
                if shell == Shell::Fish && next.is_ascii_alphanumeric() {
                    return None;
                }
                word.text.extend((next != '\n').then_some(next));
            }
            (None, '"' | '\'') => word.quote = Some(c),
            (None, '$') if matches!(rest.peek(), Some('"' | '\'')) => return None,
            (None, '~') if begins => match (rest.peek(), home()) {
                (None | Some(' ' | '\t' | '/'), Some(home)) => word.text.push_str(&home),
                _ => word.unsure(c),
            },
            (Some(quote), c) if c == quote => word.quote = None,
            (Some(quote), '\\') => match rest.next_if(|next| is_escaped(*next, quote, shell)) {
                Some('\n') => {}
                escaped => word.text.push(escaped.unwrap_or(c)),
            },
            (None | Some('"'), '$' | '`') => word.unsure(c),
            (_, c) => word.text.push(c),
        }
    }
    done.push(word.unwrap_or(Word { is_sure: true, ..Word::default() }));
    Some(done)
}

impl Word {
    fn unsure(&mut self, c: char) {
        self.text.push(c);
        self.is_sure = false;
    }
}

/// A text as bash is to read it behind what stands there, which ends in these quotes; `None` if that cannot be.
pub fn quoted(text: &str, quote: Option<char>) -> Option<String> {
    // Bash would take the last character for the quote that closes.
    if quote.is_some_and(|quote| text.ends_with(quote)) {
        return None;
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match quote {
            None => {
                if c.is_ascii() && !c.is_ascii_alphanumeric() && !PLAIN.contains(c) {
                    out.push('\\');
                }
                out.push(c);
            }
            Some('\'') if c == '\'' => out.push_str("'\\''"),
            // There it means a line of the history, and a backslash before it would stay.
            Some('"') if c == '!' => return None,
            Some('"') if matches!(c, '"' | '\\' | '$' | '`') => out.extend(['\\', c]),
            Some(_) => out.push(c),
        }
    }
    Some(out)
}

/// Is a backslash before it no character of its own, inside these quotes?
fn is_escaped(next: char, quote: char, shell: Shell) -> bool {
    match (quote, shell) {
        ('\'', Shell::Fish) => matches!(next, '\'' | '\\'),
        ('"', Shell::Fish) => matches!(next, '"' | '\\' | '$' | '\n'),
        ('"', _) => matches!(next, '"' | '\\' | '$' | '`' | '\n'),
        _ => false,
    }
}

fn home() -> Option<String> {
    std::env::var("HOME").ok()
}

/// What ends a word and is one of its own.
const OPERATORS: &str = "|&;<>()`";
/// What bash takes as it stands, besides letters and digits.
const PLAIN: &str = "_-./:=@%+,^";

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(line: &str, shell: Shell) -> Option<Vec<String>> {
        Some(words(line, shell)?.into_iter().map(|word| word.text).collect())
    }

    #[test]
    fn a_line_is_read_as_the_shell_reads_it() {
        for (line, expected) in [
            ("a b", &["a", "b"][..]),
            (" a  b ", &["a", "b", ""]),
            ("", &[""]),
            ("a my\\ x", &["a", "my x"]),
            ("a \"my x\"y 'it'\\''s'", &["a", "my xy", "it's"]),
            ("a \"my x", &["a", "my x"]),
            ("a 'my \\", &["a", "my \\"]),
            ("a \"\\\"\\$\\x\"", &["a", "\"$\\x"]),
            ("a '' \"\"", &["a", "", ""]),
            ("a x#y \\#z \\|", &["a", "x#y", "#z", "|"]),
            ("a 2001:db8::1 -x=y", &["a", "2001:db8::1", "-x=y"]),
        ] {
            for shell in [Shell::Bash, Shell::Zsh] {
                assert_eq!(texts(line, shell).unwrap(), expected, "{line}");
            }
        }
        assert_eq!(texts("a 'it\\'s' 'x\\\\' 'y\\z'", Shell::Fish).unwrap(), ["a", "it's", "x\\", "y\\z"]);
    }

    #[test]
    fn what_is_no_word_of_a_command_is_told_apart() {
        for line in
            ["a > x", "a 2>x", "a | b", "a; b", "a &", "a $(b", "a `b", "a #b", "a $'b'", "a \\", "(a"]
        {
            assert_eq!(words(line, Shell::Bash), None, "{line}");
        }
        assert_eq!(words("a x\\ny", Shell::Fish), None);
    }

    #[test]
    fn what_only_the_shell_knows_is_told_apart() {
        let sure = |line: &str| words(line, Shell::Bash).unwrap().pop().unwrap().is_sure;
        for (line, expected) in [
            ("a $x", false),
            ("a \"${x}\"", false),
            ("a \"`x`\"", false),
            ("a ~root/x", false),
            ("a '$x'", true),
            ("a \\$x", true),
            ("a x~", true),
            ("a '~/x'", true),
        ] {
            assert_eq!(sure(line), expected, "{line}");
        }
    }

    /// A word that begins as `head` does and ends in these quotes is read back with what was put behind it.
    #[test]
    fn what_is_put_into_a_line_is_read_back() {
        let awkward = [
            "my service",
            "it's",
            "a\"b",
            "$x `y` \\z",
            "a#b",
            "#",
            "~",
            "x|y;z&",
            "(a) {b} [c] *?",
            "é ü",
            "<>",
            "a!b",
            "",
        ];
        for text in awkward {
            for (head, quote) in [
                ("a ", None),
                ("a '", Some('\'')),
                ("a \"", Some('"')),
                ("a x:", None),
                ("a x'y", Some('\'')),
            ] {
                let Some(put) = quoted(text, quote) else {
                    assert!(
                        quote.is_some_and(|quote| text.ends_with(quote))
                            || quote == Some('"') && text.contains('!')
                    );
                    continue;
                };
                let before = words(head, Shell::Bash).unwrap().pop().unwrap();
                assert_eq!(before.quote, quote);
                let line = format!("{head}{put}{}", quote.map(String::from).unwrap_or_default());
                let read = words(&line, Shell::Bash).unwrap_or_else(|| panic!("{line}"));
                let expected = Word { text: before.text + text, is_sure: true, quote: None };
                assert_eq!((read.len(), read.last()), (2, Some(&expected)), "{line}");
            }
        }
        assert_eq!(quoted("a!", Some('"')), None);
        assert_eq!(quoted("2001:db8::1", None).as_deref(), Some("2001:db8::1"));
    }
}
