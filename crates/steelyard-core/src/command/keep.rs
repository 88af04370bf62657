//! What a file keeps beside the configuration: comments, commands that are not acted on, and refused lines.
//!
//! Owns how those that are no command any more are written and recognised again; never decides what a line is. The hard
//! question is where a comment goes: to the command after it, wherever that is printed, with every comment between.

use super::lex::Word;
use crate::config::KeptLines;
use crate::config::kept::{Class, Kept, Rank, Whole};

/// One line of a file, as far as keeping it goes.
#[derive(Debug)]
pub(super) enum Item {
    /// A comment.
    Comment(String),
    /// A command that is applied; a saved file has it there.
    Applied(Rank),
    /// A command that is kept.
    Command {
        /// As it stands, secrets masked.
        text: String,
        /// With its secrets.
        whole: Whole,
        /// Why.
        class: Class,
        /// Where a saved file has it.
        rank: Rank,
    },
    /// A line that is kept as a comment.
    Aside {
        /// As it stands, secrets masked.
        text: String,
        /// With its secrets.
        whole: Whole,
        /// Why.
        class: Class,
    },
}

/// The lines of a file that are kept.
pub(super) fn kept(items: impl Iterator<Item = Item>) -> KeptLines {
    let mut keeping = Keeping::default();
    items.for_each(|item| keeping.item(item));
    keeping.place(Rank::Last);
    keeping.kept
}

/// The name of the virtual server that a kept command adds: `add cs vserver NAME ...`.
pub(super) fn added_vserver(words: &[Word]) -> Option<&str> {
    let [verb, _, object, name, ..] = words else { return None };
    let is = |word: &Word, text: &str| word.text.eq_ignore_ascii_case(text);
    (is(verb, "add") && is(object, "vserver") && !name.option).then_some(name.text.as_str())
}

#[derive(Default)]
struct Keeping {
    kept: KeptLines,
    /// What has its place with the next command.
    pending: Vec<(String, Whole, Class)>,
    header: Header,
}

/// How far the two lines at the top have come.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum Header {
    #[default]
    Missing,
    Version,
    Complete,
}

impl Keeping {
    fn item(&mut self, item: Item) {
        if self.header == Header::Version && !matches!(&item, Item::Comment(text) if is_saved_at(text)) {
            self.header = Header::Complete;
        }
        match item {
            Item::Comment(text) => self.comment(without_returns(text)),
            Item::Aside { text, whole, class } => self.pending.push((without_returns(text), whole, class)),
            Item::Applied(rank) => self.place(rank),
            Item::Command { text, whole, class, rank } => {
                let rank = self.kept.rank_for(class, rank);
                self.place(rank);
                self.kept.push(Kept { text, whole, class, rank });
            }
        }
    }

    fn comment(&mut self, text: String) {
        let rank = Rank::Header;
        match self.header {
            Header::Missing if is_version(&text) => {
                self.header = Header::Version;
                if text != VERSION {
                    self.kept.push(Kept { text, whole: Whole::Shown, class: Class::Comment, rank });
                }
            }
            Header::Version => {
                self.header = Header::Complete;
                self.kept.push(Kept { text, whole: Whole::Shown, class: Class::Comment, rank });
            }
            _ => match aside(&text) {
                Some((class, line, Part::First)) => self.pending.push((line.to_owned(), Whole::Shown, class)),
                Some((class, line, Part::Further)) => self.further(class, line),
                None => self.pending.push((text, Whole::Shown, Class::Comment)),
            },
        }
    }

    /// One more line of what was refused or is inert; without a line before it, one of its own.
    fn further(&mut self, class: Class, line: &str) {
        match self.pending.last_mut() {
            Some((begun, Whole::Shown, same)) if *same == class => {
                begun.push('\n');
                begun.push_str(line);
            }
            _ => self.pending.push((line.to_owned(), Whole::Shown, class)),
        }
    }

    fn place(&mut self, rank: Rank) {
        for (text, whole, class) in self.pending.drain(..) {
            self.kept.push(Kept { text, whole, class, rank });
        }
    }
}

/// Line ends alone, as they are written: a carriage return before one belongs to it.
fn without_returns(text: String) -> String {
    if !text.contains('\r') {
        return text;
    }
    text.split('\n').map(|line| line.trim_end_matches('\r')).collect::<Vec<_>>().join("\n")
}

/// Writes a kept line.
pub(super) fn write(kept: &Kept, out: &mut String) {
    if kept.whole != Whole::Shown {
        return out.push_str(&format!("{SEALED}{}\n", name(kept)));
    }
    let mark = match kept.class {
        Class::Inert => INERT.to_owned(),
        Class::Refused(code) => format!("{REFUSED}{code}"),
        Class::Stored | Class::Host | Class::Comment => {
            out.push_str(&kept.text);
            return out.push('\n');
        }
    };
    for (index, line) in kept.text.split('\n').enumerate() {
        let end = if index == 0 { ':' } else { '|' };
        out.push_str(&format!("{mark}{end} {line}\n"));
    }
}

/// What a sealed line is called in both files: what can be shown of it.
pub(super) fn name(kept: &Kept) -> String {
    match kept.class {
        Class::Inert => format!("inert: {}", kept.text),
        Class::Refused(code) => format!("refused {code}: {}", kept.text),
        Class::Stored | Class::Host | Class::Comment => kept.text.clone(),
    }
}

/// The name of a sealed line, if a comment stands for one.
pub(super) fn sealed(comment: &str) -> Option<&str> {
    comment.strip_prefix(SEALED)
}

/// What can be shown of the sealed line of that name; and why it is kept, if that is not by what it says.
pub(super) fn named(name: &str) -> (Option<Class>, &str) {
    match aside(&format!("# {name}")) {
        Some((class, line, Part::First)) => (Some(class), &name[name.len() - line.len()..]),
        _ => (None, name),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    First,
    Further,
}

/// A comment that is a line which was refused or is inert.
fn aside(comment: &str) -> Option<(Class, &str, Part)> {
    let (class, rest) = match comment.strip_prefix(INERT) {
        Some(rest) => (Class::Inert, rest),
        None => {
            let rest = comment.strip_prefix(REFUSED)?;
            let (code, rest) = rest.split_at(rest.find(|c: char| !c.is_ascii_digit())?);
            (Class::Refused(code.parse().ok()?), rest)
        }
    };
    let (part, line) = match rest.strip_prefix(": ") {
        Some(line) => (Part::First, line),
        None => (Part::Further, rest.strip_prefix("| ")?),
    };
    Some((class, line, part))
}

/// The first line of a saved file: `#NS13.1 Build 37.38`.
pub(super) fn is_version(comment: &str) -> bool {
    comment.strip_prefix("#NS").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// The second line: ``# Last modified by `save config`, Sat May  7 12:22:28 2022``.
fn is_saved_at(comment: &str) -> bool {
    comment.starts_with("# Last modified")
}

/// A command from its first word on, without a prompt before it, and in one line, which is how the appliance takes it:
/// what a backslash carried on to the next line is joined. Line ends inside quotes stay.
pub(super) fn command(text: &str, words: &[Word]) -> String {
    let characters: Vec<char> = text.chars().collect();
    let between = |from: usize, to: usize| characters.get(from - 1..to - 1).unwrap_or_default();
    let mut joined = String::with_capacity(text.len());
    for (index, word) in words.iter().enumerate() {
        joined.extend(between(word.column, word.end));
        match words.get(index + 1).map(|next| between(word.end, next.column)) {
            Some(gap) if gap.contains(&'\n') => joined.push(' '),
            Some(gap) => joined.extend(gap),
            None => joined.extend(between(word.end, characters.len() + 1)),
        }
    }
    joined.truncate(joined.trim_ascii_end().len());
    joined
}

/// What a saved file begins with when it was not read from one: an appliance takes a file without it for a very old one.
pub(super) const VERSION: &str = "#NS14.1 Build 51.80";
const SEALED: &str = "# sealed in steelyard.conf: ";
const INERT: &str = "# inert";
const REFUSED: &str = "# refused ";
