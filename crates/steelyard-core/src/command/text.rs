//! The bytes of an `ns.conf` to logical lines: commands with their words, comments, and what a terminal printed around
//! them.
//!
//! Owns where each line begins and ends; never knows what a command means. Every byte that is no blank and no line end
//! is in exactly one logical line. The hard question is how far a command goes whose quote does not end on its line: to
//! the line that closes it, unless a command or a comment begins before that: then the quote was forgotten, and the
//! command ends with its line. Looking ahead has an allowance for the whole file, so that no file takes more than linear time.

use std::borrow::Cow;

use super::lex::{Inside, Lexer, Word, is_blank};
use super::refusal::Refusal;

/// What belongs together in a file: mostly one line.
#[derive(PartialEq, Eq, Debug)]
pub struct LogicalLine<'f> {
    /// Number of its first line, from 1.
    pub number: usize,
    /// As it stands, without the line end that closes it.
    pub verbatim: &'f [u8],
    /// What it is.
    pub content: Content,
}

/// What a logical line is.
#[derive(PartialEq, Eq, Debug)]
pub enum Content {
    /// A comment, of any bytes.
    Comment,
    /// What a terminal showed and nobody typed: a bare prompt, ` Done`, `Warning: ...`, a rule of hyphens.
    Noise,
    /// A command: where it begins, in bytes, behind a prompt that was pasted with it; and its words. Their columns count
    /// from the beginning of the line.
    Command {
        /// In bytes.
        start: usize,
        /// At least one.
        words: Vec<Word>,
    },
    /// No command can be read from it.
    Wrong {
        /// Column of what is at fault, from 1.
        column: usize,
        /// What is.
        refusal: Refusal,
    },
}

impl LogicalLine<'_> {
    /// Its text. Bytes that are not UTF-8 are taken for Latin-1, so that nothing of it is lost.
    pub fn text(&self) -> Cow<'_, str> {
        if let Ok(text) = std::str::from_utf8(self.verbatim) {
            return Cow::Borrowed(text);
        }
        let mut text = String::with_capacity(self.verbatim.len() + 16);
        for chunk in self.verbatim.utf8_chunks() {
            text.push_str(chunk.valid());
            text.extend(chunk.invalid().iter().copied().map(char::from));
        }
        Cow::Owned(text)
    }
}

/// Line and column of a place in a logical line that begins in line `number`. Columns of words count on over line ends.
pub(super) fn place(text: &str, number: usize, column: usize) -> (usize, usize) {
    Ends::of(text).place(number, column)
}

/// Where the lines end that a logical line has: in most there is one, and nothing to hold.
#[derive(Default, Debug)]
pub(super) struct Ends(Box<[usize]>);

impl Ends {
    /// Those of a logical line.
    pub fn of(text: &str) -> Ends {
        if !text.contains('\n') {
            return Ends::default();
        }
        Ends(text.chars().enumerate().filter(|(_, c)| *c == '\n').map(|(index, _)| index + 1).collect())
    }

    /// See [`place`].
    pub fn place(&self, number: usize, column: usize) -> (usize, usize) {
        let before = self.0.partition_point(|end| *end < column);
        let begins = before.checked_sub(1).map_or(0, |last| self.0[last]);
        (number + before, column - begins)
    }
}

/// The logical lines of a file in UTF-8, with or without a byte order mark.
///
/// # Errors
/// The one [`Refusal`] of a file in UTF-16.
pub fn lines(file: &[u8]) -> Result<Lines<'_>, Refusal> {
    let text = file.strip_prefix(b"\xef\xbb\xbf").unwrap_or(file);
    let utf16 = match text {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => true,
        [0, other, ..] | [other, 0, ..] => *other != 0,
        _ => false,
    };
    match utf16 {
        true => Err(Refusal::Utf16),
        false => Ok(Lines { rest: text, number: 0, allowance: text.len() + LONGEST_COMMAND }),
    }
}

/// See [`lines`].
#[derive(Debug)]
pub struct Lines<'f> {
    rest: &'f [u8],
    /// Of the line before `rest`.
    number: usize,
    /// How many bytes may still be looked at in vain.
    allowance: usize,
}

impl<'f> Iterator for Lines<'f> {
    type Item = LogicalLine<'f>;

    fn next(&mut self) -> Option<LogicalLine<'f>> {
        loop {
            if self.rest.is_empty() {
                return None;
            }
            let (length, content) = match kind(first_line(self.rest)) {
                Kind::Blank => {
                    self.advance(line_length(self.rest));
                    continue;
                }
                Kind::Comment => (line_length(self.rest), Content::Comment),
                Kind::Noise => (line_length(self.rest), Content::Noise),
                Kind::Command { start } => self.command(start),
            };
            let verbatim = self.rest.get(..length).unwrap_or_default();
            let number = self.number + 1;
            self.advance(length);
            let verbatim = verbatim.strip_suffix(b"\r").unwrap_or(verbatim);
            return Some(LogicalLine { number, verbatim, content });
        }
    }
}

impl Lines<'_> {
    /// Leaves behind so many bytes and the line end after them.
    fn advance(&mut self, length: usize) {
        let (read, rest) = self.rest.split_at_checked(length + 1).unwrap_or((self.rest, &[]));
        self.number += memchr::memchr_iter(b'\n', read).count().max(1);
        self.rest = rest;
    }

    /// Reads the command that begins at `start`; tells how many bytes the logical line has.
    fn command(&mut self, start: usize) -> (usize, Content) {
        let own = line_length(self.rest);
        if own > LONGEST_COMMAND {
            return (
                own,
                Content::Wrong { column: 1, refusal: Refusal::LineTooLong { max: LONGEST_COMMAND } },
            );
        }
        let window = &self.rest[..self.rest.len().min(LONGEST_COMMAND.min(own + self.allowance))];
        let mut ahead = LookAhead { window, whole: window.len() == self.rest.len(), lines: 1, reached: own };
        let mut lexer = Lexer::new(window, start, |line_end, inside| ahead.goes_on(line_end, inside));
        let mut words = Vec::new();
        let (length, outcome) = loop {
            match lexer.word() {
                Ok(Some(word)) => words.push(word),
                Ok(None) => break (lexer.position(), Ok(())),
                Err(wrong) => break (lexer.fault() + line_length(&window[lexer.fault()..]), Err(wrong)),
            }
        };
        if outcome.is_err() {
            self.allowance = self.allowance.saturating_sub(ahead.reached.saturating_sub(length));
        }
        match outcome.and_then(|()| is_text(&self.rest[..length])) {
            Ok(()) => (length, Content::Command { start, words }),
            Err((refusal, column)) => (length, Content::Wrong { column, refusal }),
        }
    }
}

/// Decides at the end of a line inside quotes whether the next line can belong to the same command.
struct LookAhead<'w> {
    window: &'w [u8],
    /// Does the file end with the window?
    whole: bool,
    lines: usize,
    /// How far the last line goes that was let in, or looked at.
    reached: usize,
}

impl LookAhead<'_> {
    fn goes_on(&mut self, line_end: usize, inside: Inside) -> bool {
        let next = self.window.get(line_end + 1..).unwrap_or_default();
        let length = line_length(next);
        let complete = length < next.len() || self.whole;
        self.lines += 1;
        self.reached = line_end + 1 + length;
        self.lines <= MOST_LINES
            && complete
            && match kind(first_line(next)) {
                Kind::Blank => inside == Inside::Quotes,
                Kind::Comment | Kind::Noise => false,
                Kind::Command { start } => !begins_command(&next[start..length]),
            }
    }
}

/// What a line is by its beginning.
enum Kind {
    Blank,
    Comment,
    Noise,
    Command { start: usize },
}

fn kind(line: &[u8]) -> Kind {
    let blanks = line.iter().take_while(|byte| is_blank(**byte)).count();
    let end = line.iter().rposition(|byte| !is_blank(*byte)).map_or(blanks, |last| last + 1);
    let text = &line[blanks..end];
    let first = text.split(|byte| is_blank(*byte)).next().unwrap_or_default();
    match first {
        [] => Kind::Blank,
        [b'#', ..] => Kind::Comment,
        _ if is_output(text) || is_shell_prompt(first) => Kind::Noise,
        _ if !is_prompt(first) => Kind::Command { start: blanks },
        _ => {
            let behind = &line[blanks + first.len()..];
            match behind.iter().position(|byte| !is_blank(*byte)) {
                Some(more) if behind[more] != b'#' => Kind::Command { start: blanks + first.len() + more },
                _ => Kind::Noise,
            }
        }
    }
}

/// Lines that the appliance prints after a command, and the rules under the heads of its tables (`spec/cli.md` 1, 4, 5).
fn is_output(text: &[u8]) -> bool {
    let rule = text.iter().all(|byte| matches!(byte, b'-' | b'=' | b'*' | b'_' | b'+' | b' ' | b'\t'));
    text == b"Done"
        || rule && text.len() > 2
        || [&b"exec: "[..], b"Warning: ", b"ERROR: "].iter().any(|begins| text.starts_with(begins))
}

/// `>`, `ns>`, `user@host-1-Primary>`, `Primary|nsroot@adc1-2025/10/15-07:25>`. No command's first word ends so.
fn is_prompt(first: &[u8]) -> bool {
    let usual = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.@|/:-!".contains(byte);
    first.strip_suffix(b">").is_some_and(|rest| rest.iter().all(usual))
}

/// `root@ns#`: what follows is no command of the appliance.
fn is_shell_prompt(first: &[u8]) -> bool {
    let usual = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.@:~-".contains(byte);
    first.strip_suffix(b"#").is_some_and(|rest| rest.contains(&b'@') && rest.iter().all(usual))
}

/// Does a line begin as a command does, with a verb and what it can be about? Looks at whole words only, so that prose
/// inside a quoted page is not taken for a command.
fn begins_command(line: &[u8]) -> bool {
    let mut words = line.split(|byte| is_blank(*byte)).filter(|word| !word.is_empty());
    match (words.next().map(std::str::from_utf8), words.next().map(std::str::from_utf8)) {
        (Some(Ok(verb)), Some(Ok(object))) => super::catalogue::begins_command(verb, object),
        _ => false,
    }
}

fn is_text(bytes: &[u8]) -> Result<(), (Refusal, usize)> {
    std::str::from_utf8(bytes).map(|_| ()).map_err(|error| {
        let (good, bad) = bytes.split_at(error.valid_up_to());
        let column = String::from_utf8_lossy(good).chars().count() + 1;
        (Refusal::NotText { byte: bad.first().copied().unwrap_or_default() }, column)
    })
}

fn line_length(bytes: &[u8]) -> usize {
    memchr::memchr(b'\n', bytes).unwrap_or(bytes.len())
}

fn first_line(bytes: &[u8]) -> &[u8] {
    &bytes[..line_length(bytes)]
}

/// Longest command, in bytes. NetScaler's longest arguments are a small part of it.
pub(super) const LONGEST_COMMAND: usize = 64 * 1024;
/// A command over more lines than this has lost a quote.
const MOST_LINES: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;

    /// Number, verbatim text, and `#`, `~`, `>` with the words, or `!` with place and code.
    fn read(file: &str) -> Vec<String> {
        let described = |line: LogicalLine<'_>| {
            let what = match &line.content {
                Content::Comment => "#".to_owned(),
                Content::Noise => "~".to_owned(),
                Content::Command { words, .. } => {
                    let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
                    format!("> {}", texts.join("|"))
                }
                Content::Wrong { column, refusal } => {
                    let (number, column) = place(&line.text(), line.number, *column);
                    format!("! {number}:{column} {}", refusal.code())
                }
            };
            format!("{} {what}", line.number)
        };
        lines(file.as_bytes()).unwrap().map(described).collect()
    }

    #[test]
    fn line_ends_blanks_and_comments() {
        let file = "\u{feff}#NS13.1\r\n\r\n  add server a 10.0.0.1\t\r\n\t # b\n \t\nset ns config";
        assert_eq!(read(file), ["1 #", "3 > add|server|a|10.0.0.1", "4 #", "6 > set|ns|config"]);
        assert_eq!(read(""), [""; 0]);
        assert_eq!(read("\n\r\n"), [""; 0]);
        assert_eq!(read("\u{c}"), ["1 > \u{c}"], "a form feed is no blank");
    }

    #[test]
    fn prompts_and_output_around_commands() {
        let file = "> add server a 1.1.1.1\n Done\nPrimary|nsroot@adc1-2025/10/15-07:25> sho save | grep -i x\n\
                    user@HOST-1-Primary> rm server a\nDone\nexec: add x\nWarning: Argument deprecated\n\
                    ERROR: No such command\n---- ----\n> \n  >  # x\nroot@ns# ls\nNOTE: it\n<X> y\n~~~~ X:\n--";
        let expected = [
            "1 > add|server|a|1.1.1.1",
            "2 ~",
            "3 > sho|save|||grep|-i|x",
            "4 > rm|server|a",
            "5 ~",
            "6 ~",
            "7 ~",
            "8 ~",
            "9 ~",
            "10 ~",
            "11 ~",
            "12 ~",
            "13 > NOTE:|it",
            "14 > <X>|y",
            "15 > ~~~~|X:",
            "16 > --",
        ];
        assert_eq!(read(file), expected);
        let columns = |file: &str| match lines(file.as_bytes()).unwrap().next().unwrap().content {
            Content::Command { start, words } => (start, words[0].column, words[1].column),
            _ => panic!("{file}"),
        };
        assert_eq!(columns("  ns>  add server"), (7, 8, 12));
    }

    /// 013.conf of the corpus: the value has the line end.
    #[test]
    fn a_quote_runs_over_line_ends_until_it_closes() {
        let file =
            "add responder action a redirect \"\\\"https://\\\" +\r\n\\\"x\\\" + URL\"\r\nset ns config";
        assert_eq!(
            read(file),
            ["1 > add|responder|action|a|redirect|\"https://\" +\n\"x\" + URL", "3 > set|ns|config"]
        );
        assert_eq!(read("add x 'a\n\nb' c\n'"), ["1 > add|x|a\n\nb|c", "4 ! 4:1 1115"]);
        assert_eq!(read("x f(\"a\nb\" c) d"), ["1 > x|f(\"a\nb\" c)|d"]);
    }

    /// 059.conf and 015.conf of the corpus: the next quote belongs to a later command.
    #[test]
    fn a_quote_that_was_forgotten_costs_its_own_line_alone() {
        let file = "bind policy dataset d \"192.168.0.0/\nadd server proxy 10.1.0.10\nadd lb vserver v ANY * 80 -Listenpolicy \"x\"";
        let rest = ["2 > add|server|proxy|10.1.0.10", "3 > add|lb|vserver|v|ANY|*|80|-Listenpolicy|x"];
        assert_eq!(read(file), [&["1 ! 1:23 1115"][..], &rest].concat());
        assert_eq!(read("a \"b\n# c\" d\ne f"), ["1 ! 1:3 1115", "2 #", "3 > e|f"]);
        assert_eq!(read("a \"b\n Done\n\""), ["1 ! 1:3 1115", "2 ~", "3 ! 3:1 1115"]);
        assert_eq!(read("a \"b\nset the c\"").len(), 1, "prose is no command");
        assert_eq!(
            read("a \"b\nc\" d \"e\nadd server f"),
            ["1 ! 1:3 1115", "2 > c\" d \"e", "3 > add|server|f"]
        );
        assert_eq!(read("a \\\n-b \"c\nadd server f"), ["1 ! 2:4 1115", "3 > add|server|f"]);
        let long = format!("a \"{}\"", "b\n".repeat(MOST_LINES));
        assert_eq!(read(&long)[..2], ["1 ! 1:3 1115", "2 > b"]);
        let long = format!("a \"{}\nc\"", "b".repeat(LONGEST_COMMAND - 4));
        assert_eq!(read(&long), ["1 ! 1:3 1115", "2 ! 2:2 1115"]);
    }

    /// 075.conf of the corpus.
    #[test]
    fn a_backslash_of_its_own_goes_on_with_the_next_line() {
        let file = "add ssl certKey c \\\n    -cert \"x\" \\ \r\n    -inform PEM\nset ns config \\\n\nadd x \\\nadd server y\nz\\\nw \\";
        let expected = [
            "1 > add|ssl|certKey|c|-cert|x|-inform|PEM",
            "4 > set|ns|config|\\",
            "6 > add|x|\\",
            "7 > add|server|y",
            "8 > z\\",
            "9 > w|\\",
        ];
        assert_eq!(read(file), expected);
        assert_eq!(read("\\\n\nx"), ["1 > \\", "3 > x"]);
    }

    #[test]
    fn a_place_in_a_later_line_of_a_command() {
        let line = lines("> é \"ü\nü\" x\\\n \"y".as_bytes()).unwrap().next().unwrap();
        assert_eq!(line.verbatim, "> é \"ü\nü\" x\\".as_bytes());
        let Content::Command { words, .. } = &line.content else { panic!("{line:?}") };
        let text = line.text();
        let at = |column| place(&text, line.number, column);
        assert_eq!(at(words[0].column), (1, 3));
        assert_eq!(at(words[1].column), (1, 5));
        assert_eq!(at(words[2].column), (2, 4));
        assert_eq!(at(words[2].end), (2, 6));
    }

    #[test]
    fn what_is_no_text_is_refused_where_it_stands() {
        let file = b"# caf\xe9\nadd server \"\xc3\xa9\nb\" caf\xe9 x\nset ns config";
        let lines: Vec<LogicalLine<'_>> = lines(file).unwrap().collect();
        assert_eq!((&lines[0].content, &*lines[0].text()), (&Content::Comment, "# café"));
        let Content::Wrong { column, refusal: Refusal::NotText { byte: 0xe9 } } = lines[1].content else {
            panic!("{:?}", lines[1])
        };
        assert_eq!((place(&lines[1].text(), 2, column), lines.len()), ((3, 7), 3));
        assert_eq!(super::lines(b"\xff\xfea\0").err(), Some(Refusal::Utf16));
        assert_eq!(super::lines(b"a\0d\0d\0").err(), Some(Refusal::Utf16));
        assert_eq!(super::lines(b"\0a\0d").err(), Some(Refusal::Utf16));
    }

    /// Every line of these looks ahead as far as it may, and none is ever closed.
    #[test]
    fn no_file_takes_more_than_linear_time() {
        let count = 50_000;
        for line in ["\\\"\n", "x\"\\\"'\n", "'\"\n\\\n"] {
            let file = line.repeat(count);
            assert!(lines(file.as_bytes()).unwrap().count() > count / 100, "{line}");
        }
    }
}
