//! One line to words, by the rules of NetScaler's own lexer (`spec/cli.md` 2).
//!
//! Never gives a word a meaning, beyond telling an option's name from a value. The hard question is where a word ends:
//! quotes, parentheses and q-quotes each protect blanks in their own way.

use super::refusal::Refusal;

/// One word of a line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Word {
    /// What it says, without the quotes that it began with.
    pub text: String,
    /// Is it an option's name?
    pub option: bool,
    /// Column of its first character, from 1.
    pub column: usize,
}

/// Splits a line into words; a comment gives none.
///
/// # Errors
/// [`Refusal`] and the column of a quote or bracket without a partner.
pub fn words(line: &str) -> Result<Vec<Word>, (Refusal, usize)> {
    let mut lexer = Lexer { characters: line.chars().collect(), position: 0 };
    let mut words = Vec::new();
    while let Some(word) = lexer.word()? {
        words.push(word);
    }
    Ok(words)
}

struct Lexer {
    characters: Vec<char>,
    position: usize,
}

impl Lexer {
    fn word(&mut self) -> Result<Option<Word>, (Refusal, usize)> {
        while self.here().is_some_and(is_blank) {
            self.position += 1;
        }
        let start = self.position;
        let text = match self.here() {
            None | Some('#') => return Ok(None),
            Some('-') => self.until_blank(),
            Some(quote @ ('"' | '\'')) => self.quoted(quote)?,
            Some('q') if self.q_quote_end().is_some() => self.q_quoted(),
            Some(_) => self.bare()?,
        };
        let option = self.characters[start] == '-' && is_option(&text);
        Ok(Some(Word { text, option, column: start + 1 }))
    }

    fn here(&self) -> Option<char> {
        self.characters.get(self.position).copied()
    }

    fn until_blank(&mut self) -> String {
        let rest = &self.characters[self.position..];
        let text: String = rest.iter().take_while(|c| !is_blank(**c)).collect();
        self.position += rest.iter().take_while(|c| !is_blank(**c)).count();
        text
    }

    /// A word that begins with a quote ends with it, whatever follows.
    fn quoted(&mut self, quote: char) -> Result<String, (Refusal, usize)> {
        let start = self.position;
        let mut text = String::new();
        self.position += 1;
        while let Some(character) = self.here() {
            self.position += 1;
            match character {
                '\\' => text.push_str(&self.escape()),
                _ if character == quote => return Ok(text),
                _ => text.push(character),
            }
        }
        Err((Refusal::UnmatchedQuote, start + 1))
    }

    /// What a backslash inside quotes stands for; before any other character it is itself.
    fn escape(&mut self) -> String {
        let character = match self.here() {
            Some('t') => '\t',
            Some('n') => '\n',
            Some('r') => '\r',
            Some(literal @ ('"' | '\'' | '\\')) => literal,
            _ => return '\\'.to_string(),
        };
        self.position += 1;
        character.to_string()
    }

    /// Where the q-quote that may begin here closes: its first closing delimiter, if that ends the word.
    fn q_quote_end(&self) -> Option<usize> {
        let opening = *self.characters.get(self.position + 1)?;
        let closing = match opening {
            '{' => '}',
            '<' => '>',
            '/' | '|' | '~' | '$' | '^' | '+' | '=' | '&' | '%' | '@' | '`' | '?' => opening,
            _ => return None,
        };
        let from = self.position + 2;
        let end = from + self.characters[from..].iter().position(|c| *c == closing)?;
        self.characters.get(end + 1).is_none_or(|next| is_blank(*next)).then_some(end)
    }

    fn q_quoted(&mut self) -> String {
        let end = self.q_quote_end().unwrap_or(self.position + 1);
        let text = self.characters[self.position + 2..end].iter().collect();
        self.position = end + 1;
        text
    }

    /// A word as it stands: quotes inside it stay, and like parentheses protect blanks.
    fn bare(&mut self) -> Result<String, (Refusal, usize)> {
        let start = self.position;
        let mut open = Vec::new();
        while let Some(character) = self.here() {
            match character {
                '"' | '\'' => self.skip_quoted(character)?,
                '(' => open.push(self.position),
                ')' if open.pop().is_none() => {
                    return Err((Refusal::UnmatchedCharacter(')'), self.position + 1));
                }
                _ if is_blank(character) && open.is_empty() => break,
                _ => {}
            }
            self.position += 1;
        }
        match open.first() {
            Some(parenthesis) => Err((Refusal::UnmatchedCharacter('('), parenthesis + 1)),
            None => Ok(self.characters[start..self.position].iter().collect()),
        }
    }

    /// Moves on to the quote that closes the one here.
    fn skip_quoted(&mut self, quote: char) -> Result<(), (Refusal, usize)> {
        let start = self.position;
        self.position += 1;
        while let Some(character) = self.here() {
            match character {
                '\\' => self.position += 1,
                _ if character == quote => return Ok(()),
                _ => {}
            }
            self.position += 1;
        }
        Err((Refusal::UnmatchedQuote, start + 1))
    }
}

fn is_blank(character: char) -> bool {
    matches!(character, ' ' | '\t')
}

/// `-lbMethod` is an option's name, `-1` and `-` are values.
fn is_option(word: &str) -> bool {
    word.chars().nth(1).is_some_and(|c| c.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(line: &str) -> Vec<String> {
        words(line).unwrap().into_iter().map(|w| w.text).collect()
    }

    #[test]
    fn blanks_and_comments() {
        assert_eq!(texts("  add\tserver  s1 10.0.0.1 # the first"), ["add", "server", "s1", "10.0.0.1"]);
        assert_eq!(texts("#NS13.1 Build 88.25"), [""; 0]);
        assert_eq!(texts("a#b"), ["a#b"]);
    }

    #[test]
    fn quotes_and_escapes() {
        assert_eq!(texts(r#""a b" 'c d' "" "#), ["a b", "c d", ""]);
        assert_eq!(texts(r#""\t\n\r\"\'\\\q""#), ["\t\n\r\"'\\\\q"]);
        assert_eq!(texts(r#"'it\'s' "a"b"#), ["it's", "a", "b"]);
        assert_eq!(texts(r#"x"a b"y a\tb"#), [r#"x"a b"y"#, r"a\tb"]);
        assert_eq!(texts(r#"-a"b c"#), [r#"-a"b"#, "c"]);
    }

    #[test]
    fn q_quotes_count_only_when_they_end_the_word() {
        assert_eq!(texts(r#"q{a "b" c} q/x y/ q<z>"#), [r#"a "b" c"#, "x y", "z"]);
        assert_eq!(texts("q{abc{ q{a}b qed q"), ["q{abc{", "q{a}b", "qed", "q"]);
        assert_eq!(texts("q{}"), [""]);
    }

    #[test]
    fn parentheses_protect_blanks() {
        assert_eq!(texts("f(a, (b) c) d"), ["f(a, (b) c)", "d"]);
        assert_eq!(texts(r#"f(")" a) d"#), [r#"f(")" a)"#, "d"]);
    }

    #[test]
    fn what_has_no_partner_is_refused_where_it_stands() {
        assert_eq!(words(r#"add "x"#), Err((Refusal::UnmatchedQuote, 5)));
        assert_eq!(words("é a'b c"), Err((Refusal::UnmatchedQuote, 4)));
        assert_eq!(words("a f(b"), Err((Refusal::UnmatchedCharacter('('), 4)));
        assert_eq!(words("a b) c"), Err((Refusal::UnmatchedCharacter(')'), 4)));
    }

    #[test]
    fn options_are_told_from_negative_numbers_and_quoted_hyphens() {
        let options: Vec<bool> =
            words(r#"-weight -1 - "-x" a-b"#).unwrap().into_iter().map(|w| w.option).collect();
        assert_eq!(options, [true, false, false, false, false]);
    }
}
