//! A command's text to words, by the rules of NetScaler's own lexer (`spec/cli.md` 2).
//!
//! Never gives a word a meaning, beyond telling an option's name from a value. The hard question is where a word ends:
//! quotes, parentheses and q-quotes each protect blanks in their own way, and whether a quote may run over the end of a
//! line only `text` can say, because that depends on what the next line is.

use super::refusal::Refusal;

/// One word of a line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Word {
    /// What it says, without the quotes that it began with.
    pub text: String,
    /// Is it an option's name?
    pub option: bool,
    /// Does it follow a closing quote without a blank between them? NetScaler ends a word at the quote.
    pub glued: bool,
    /// Column of its first character, from 1. Characters are counted from the beginning of the text, line ends too.
    pub column: usize,
    /// Column after its last character.
    pub end: usize,
}

/// Splits the text of one command into words; a comment gives none. A line end inside quotes belongs to the value, one
/// outside them is a blank.
///
/// # Errors
/// [`Refusal`] and the column of a quote or bracket without a partner.
pub fn words(line: &str) -> Result<Vec<Word>, (Refusal, usize)> {
    let mut lexer = Lexer::new(line.as_bytes(), 0, |_, _| true);
    let mut words = Vec::new();
    loop {
        while let Some(word) = lexer.word()? {
            words.push(word);
        }
        if lexer.position >= line.len() {
            return Ok(words);
        }
        lexer.position += 1;
    }
}

/// Where a line ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Inside {
    /// Inside quotes.
    Quotes,
    /// Between words, behind a backslash that stands there alone.
    Words,
}

/// Reads words up to the end of a command. `goes_on` is asked at each line end that could be inside the command,
/// whether it is: it gets the position of the `\n`.
pub(super) struct Lexer<'t, F> {
    bytes: &'t [u8],
    position: usize,
    /// A position and how many characters stand before it.
    counted: (usize, usize),
    /// The first quote that ran over a line end.
    ran_over: Option<usize>,
    /// Where what has no partner stands, once that was found.
    fault: usize,
    goes_on: F,
}

impl<'t, F: FnMut(usize, Inside) -> bool> Lexer<'t, F> {
    /// Begins at `position`; columns are counted from the beginning of `bytes`.
    pub(super) fn new(bytes: &'t [u8], position: usize, goes_on: F) -> Lexer<'t, F> {
        Lexer { bytes, position, counted: (0, 0), ran_over: None, fault: position, goes_on }
    }

    /// How far it has read: after the last word, on the line end that closes the command or behind the text.
    pub(super) fn position(&self) -> usize {
        self.position
    }

    /// Where the quote or bracket stands that [`Lexer::word`] has refused.
    pub(super) fn fault(&self) -> usize {
        self.fault
    }

    /// The next word; `None` at the end of the command.
    pub(super) fn word(&mut self) -> Result<Option<Word>, (Refusal, usize)> {
        let before = self.position;
        self.skip_blanks();
        let start = self.position;
        let column = self.column(start);
        let glued = start == before && start > 0 && matches!(self.bytes[start - 1], b'"' | b'\'');
        let text = match self.here() {
            None | Some(b'\n') => return Ok(None),
            Some(b'#') if !glued => {
                self.skip_comment();
                return Ok(None);
            }
            Some(b'-') => self.until_blank(),
            Some(quote @ (b'"' | b'\'')) => self.quoted(quote)?,
            Some(b'q') if self.q_quote_end().is_some() => self.q_quoted(),
            Some(_) => self.bare()?,
        };
        let text = String::from_utf8(text).unwrap_or_else(|error| error.to_string());
        let option = self.bytes[start] == b'-' && is_option(&text);
        let end = self.column(self.position);
        Ok(Some(Word { text, option, glued, column, end }))
    }

    fn here(&self) -> Option<u8> {
        self.bytes.get(self.position).copied()
    }

    /// Column of a position that is not before the last one asked for.
    fn column(&mut self, position: usize) -> usize {
        let (counted, characters) = self.counted;
        let between = self.bytes.get(counted..position).unwrap_or_default();
        self.counted = (position, characters + between.iter().filter(|byte| **byte & 0xc0 != 0x80).count());
        self.counted.1 + 1
    }

    /// A quote without a partner: perhaps that of an earlier line, which took one for its end that was not meant.
    fn unmatched_quote(&mut self, position: usize) -> (Refusal, usize) {
        self.counted = (0, 0);
        self.refuse(Refusal::UnmatchedQuote, self.ran_over.unwrap_or(position))
    }

    fn refuse(&mut self, refusal: Refusal, position: usize) -> (Refusal, usize) {
        self.fault = position;
        (refusal, self.column(position))
    }

    /// May the quote that begins at `start` run over the line end here?
    fn runs_over(&mut self, start: usize) -> bool {
        let runs = (self.goes_on)(self.position, Inside::Quotes);
        if runs {
            self.ran_over.get_or_insert(start);
        }
        runs
    }

    /// Blanks, and a backslash of its own at the end of a line that goes on with the next.
    fn skip_blanks(&mut self) {
        loop {
            while self.here().is_some_and(is_blank) {
                self.position += 1;
            }
            match self.continuation() {
                Some(line_end) if (self.goes_on)(line_end, Inside::Words) => self.position = line_end + 1,
                _ => return,
            }
        }
    }

    /// The line end of a line whose last word is a backslash here.
    fn continuation(&self) -> Option<usize> {
        let after_blank = self.position == 0 || is_blank(self.bytes[self.position - 1]);
        if self.here() != Some(b'\\') || !after_blank {
            return None;
        }
        let rest = &self.bytes[self.position + 1..];
        let blanks = rest.iter().take_while(|byte| is_blank(**byte)).count();
        (rest.get(blanks) == Some(&b'\n')).then_some(self.position + 1 + blanks)
    }

    fn skip_comment(&mut self) {
        let rest = &self.bytes[self.position..];
        self.position += memchr::memchr(b'\n', rest).unwrap_or(rest.len());
    }

    fn until_blank(&mut self) -> Vec<u8> {
        let rest = &self.bytes[self.position..];
        let length = rest.iter().take_while(|byte| !is_blank(**byte) && **byte != b'\n').count();
        self.position += length;
        rest[..length].to_vec()
    }

    /// A word that begins with a quote ends with it, whatever follows.
    fn quoted(&mut self, quote: u8) -> Result<Vec<u8>, (Refusal, usize)> {
        let start = self.position;
        let mut text = Vec::new();
        self.position += 1;
        while let Some(byte) = self.here() {
            match byte {
                b'\\' => text.push(self.escape()),
                b'\r' if self.bytes.get(self.position + 1) == Some(&b'\n') => {}
                b'\n' if !self.runs_over(start) => break,
                _ if byte == quote => {
                    self.position += 1;
                    return Ok(text);
                }
                _ => text.push(byte),
            }
            self.position += 1;
        }
        Err(self.unmatched_quote(start))
    }

    /// What a backslash inside quotes stands for; before any other character it is itself. Stays on its last byte.
    fn escape(&mut self) -> u8 {
        let byte = match self.bytes.get(self.position + 1) {
            Some(b't') => b'\t',
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(literal @ (b'"' | b'\'' | b'\\')) => *literal,
            _ => return b'\\',
        };
        self.position += 1;
        byte
    }

    /// Where the q-quote that may begin here closes: its first closing delimiter, if that ends the word.
    fn q_quote_end(&self) -> Option<usize> {
        let opening = *self.bytes.get(self.position + 1)?;
        let closing = match opening {
            b'{' => b'}',
            b'<' => b'>',
            b'/' | b'|' | b'~' | b'$' | b'^' | b'+' | b'=' | b'&' | b'%' | b'@' | b'`' | b'?' => opening,
            _ => return None,
        };
        let from = self.position + 2;
        let end = from + memchr::memchr2(closing, b'\n', self.bytes.get(from..)?)?;
        let last = self.bytes[end] == closing
            && self.bytes.get(end + 1).is_none_or(|next| is_blank(*next) || *next == b'\n');
        last.then_some(end)
    }

    fn q_quoted(&mut self) -> Vec<u8> {
        let end = self.q_quote_end().unwrap_or(self.position + 1);
        let text = self.bytes.get(self.position + 2..end).unwrap_or_default().to_vec();
        self.position = end + 1;
        text
    }

    /// A word as it stands: quotes inside it stay, and like parentheses protect blanks.
    fn bare(&mut self) -> Result<Vec<u8>, (Refusal, usize)> {
        let start = self.position;
        let mut open = Vec::new();
        while let Some(byte) = self.here() {
            match byte {
                b'"' | b'\'' => self.skip_quoted(byte)?,
                b'(' => open.push(self.position),
                b')' if open.pop().is_none() => {
                    return Err(self.refuse(Refusal::UnmatchedCharacter(')'), self.position));
                }
                b'\n' => break,
                _ if is_blank(byte) && open.is_empty() => break,
                _ => {}
            }
            self.position += 1;
        }
        match open.first() {
            Some(parenthesis) => Err(self.refuse(Refusal::UnmatchedCharacter('('), *parenthesis)),
            None => Ok(self.bytes[start..self.position].to_vec()),
        }
    }

    /// Moves on to the quote that closes the one here.
    fn skip_quoted(&mut self, quote: u8) -> Result<(), (Refusal, usize)> {
        let start = self.position;
        self.position += 1;
        while let Some(byte) = self.here() {
            match byte {
                b'\\' if self.bytes.get(self.position + 1).is_some_and(|next| *next != b'\n') => {
                    self.position += 1;
                }
                b'\n' if !self.runs_over(start) => break,
                _ if byte == quote => return Ok(()),
                _ => {}
            }
            self.position += 1;
        }
        Err(self.unmatched_quote(start))
    }
}

/// A carriage return is left over where lines end in `\r\n`.
pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r')
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
        assert_eq!(texts("-retries 2 # text \"and ( more"), ["-retries", "2"]);
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
    fn what_is_glued_to_a_closing_quote_is_a_word_of_its_own() {
        let glued = |line: &str| -> Vec<(String, bool)> {
            words(line).unwrap().into_iter().map(|word| (word.text, word.glued)).collect()
        };
        let word = |text: &str, glued| (text.to_owned(), glued);
        assert_eq!(glued(r#"""None"" x"#), [word("", false), word(r#"None"""#, true), word("x", false)]);
        assert_eq!(glued(r#""a"'b' x"y""#), [word("a", false), word("b", true), word(r#"x"y""#, false)]);
        assert_eq!(glued(r##""a"#b"##), [word("a", false), word("#b", true)]);
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
        assert_eq!(texts("(PATH.REGEX_MATCH(re#^/a b#)) d"), ["(PATH.REGEX_MATCH(re#^/a b#))", "d"]);
    }

    #[test]
    fn line_ends_are_blanks_outside_quotes_and_themselves_inside() {
        assert_eq!(texts("a \"b\nc\" d\ne"), ["a", "b\nc", "d", "e"]);
        assert_eq!(texts("\"b\r\nc\"\r\n'\r'"), ["b\nc", "\r"]);
        assert_eq!(texts("a \\\n  -b \\ \r\n c\\\nd \\"), ["a", "-b", "c\\", "d", "\\"]);
        assert_eq!(texts("x\"a\\\nb\" # c\nd"), ["x\"a\\\nb\"", "d"]);
    }

    #[test]
    fn what_has_no_partner_is_refused_where_it_stands() {
        assert_eq!(words(r#"add "x"#), Err((Refusal::UnmatchedQuote, 5)));
        assert_eq!(words("é a'b c"), Err((Refusal::UnmatchedQuote, 4)));
        assert_eq!(words("a f(b"), Err((Refusal::UnmatchedCharacter('('), 4)));
        assert_eq!(words("a f(b\nc)"), Err((Refusal::UnmatchedCharacter('('), 4)));
        assert_eq!(words("a b) c"), Err((Refusal::UnmatchedCharacter(')'), 4)));
    }

    #[test]
    fn columns_count_characters() {
        let places: Vec<(usize, usize)> =
            words("é \"ü\nü\" x").unwrap().into_iter().map(|word| (word.column, word.end)).collect();
        assert_eq!(places, [(1, 2), (3, 8), (9, 10)]);
    }

    #[test]
    fn options_are_told_from_negative_numbers_and_quoted_hyphens() {
        let options: Vec<bool> =
            words(r#"-weight -1 - "-x" a-b"#).unwrap().into_iter().map(|w| w.option).collect();
        assert_eq!(options, [true, false, false, false, false]);
    }
}
