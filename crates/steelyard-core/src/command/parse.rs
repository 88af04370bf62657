//! Words of a line to a [`Command`]: which command it is, which word belongs to which row.
//!
//! Every word may be shortened to the beginning of exactly one known word. Columns stay outside the command: they are
//! kept beside it, for the message of a refusal that only `apply` can give.

use super::abbreviation::{Match, find};
use super::catalogue::{Entry, Head, head};
use super::form::{Form, OptionForm, form};
use super::lex::Word;
use super::nearest::nearest;
use super::refusal::Refusal;
use super::seal;
use super::{Builder, Command, Object, Seal, Verb};
use crate::config::attribute::{Kind, Row};
use crate::config::other::DEVICE_NUMBER;

/// A command, or those that its ranges stand for, and where the arguments stood.
#[derive(Debug)]
pub struct Parsed {
    verb: Verb,
    object: Object,
    commands: Vec<Command>,
    columns: Vec<(&'static str, usize)>,
    end: usize,
}

impl Parsed {
    /// What the line says, in order; never empty.
    pub fn commands(&self) -> &[Command] {
        &self.commands
    }

    /// What to do.
    pub fn verb(&self) -> Verb {
        self.verb
    }

    /// What to do it to.
    pub fn object(&self) -> Object {
        self.object
    }

    /// Seals every plain secret.
    ///
    /// # Errors
    /// [`Refusal::CannotSeal`] and its column.
    pub fn seal(&mut self, seal: &dyn Seal) -> Result<(), (Refusal, usize)> {
        let sealed = self.commands.iter_mut().try_for_each(|command| command.seal(seal));
        sealed.map_err(|refusal| {
            let column = self.column_of(&refusal);
            (refusal, column)
        })
    }

    /// The commands, and where each of their arguments stood.
    pub(super) fn into_parts(self) -> (Vec<Command>, Vec<(&'static str, usize)>) {
        (self.commands, self.columns)
    }

    /// Column that a refusal of `apply` is about: where its argument stands, or would have to.
    pub fn column_of(&self, refusal: &Refusal) -> usize {
        let stands = |argument| self.columns.iter().find(|(name, _)| *name == argument);
        match refusal.argument().and_then(stands) {
            Some((_, column)) => *column,
            None => self.end,
        }
    }
}

/// What a line says.
#[derive(Debug)]
pub(super) enum Said {
    /// A command of this program.
    Command(Parsed),
    /// One that is kept as it stands.
    Kept(Entry),
}

/// Makes a command of the words of a line.
///
/// # Errors
/// [`Refusal`] and the column of the word at fault. A command that is only kept is refused, too.
pub fn parse(words: &[Word]) -> Result<Parsed, (Refusal, usize)> {
    match understand(words)? {
        Said::Command(parsed) => Ok(parsed),
        Said::Kept(_) => {
            let what: Vec<&str> = words.iter().take(3).map(|word| word.text.as_str()).collect();
            Err((Refusal::NotCarried { argument: None, what: what.join(" "), carried: &[] }, 1))
        }
    }
}

/// Makes a command of the words of a line, or tells how it is kept.
///
/// # Errors
/// [`Refusal`] and the column of the word at fault.
pub(super) fn understand(words: &[Word]) -> Result<Said, (Refusal, usize)> {
    let end = words.last().map_or(1, |last| last.column + last.text.chars().count() + 1);
    let (verb, object, column, used) = match head(words, end)? {
        Head::Kept(entry) => return Ok(Said::Kept(entry)),
        Head::Command { verb, object, column, used } => (verb, object, column, used),
    };
    let form = form(verb, object).ok_or_else(|| {
        let command = format!("{} {}", verb.text(), object.text());
        (Refusal::UnknownCommand { word: command, nearest: None }, column)
    })?;
    Arguments { form: &form, builder: Builder::new(verb, object, &form), columns: Vec::new() }
        .read(&words[used..], end)
        .map(Said::Command)
}

/// The rest of a line: words and options.
struct Arguments<'f> {
    form: &'f Form,
    builder: Builder<'f>,
    columns: Vec<(&'static str, usize)>,
}

impl<'f> Arguments<'f> {
    fn read(mut self, words: &[Word], end: usize) -> Result<Parsed, (Refusal, usize)> {
        let mut rest = words;
        while let Some((word, after)) = rest.split_first() {
            if word.option {
                rest = &after[self.option(word, after)?..];
            } else {
                rest = &rest[self.word(rest)?..];
            }
        }
        let command = self.builder.finish().map_err(|refusal| (refusal, end))?;
        let (verb, object) = (command.verb(), command.object());
        Ok(Parsed { verb, object, commands: vec![command], columns: self.columns, end })
    }

    /// Gives the first word to the first slot that is free, and tells how many words that took.
    fn word(&mut self, words: &[Word]) -> Result<usize, (Refusal, usize)> {
        let Some(slot) = self.form.slots.iter().find(|slot| !self.builder.has(slot.row)) else {
            let Word { text, column, .. } = words[0].clone();
            return Err((Refusal::UnknownArgument { word: text, nearest: None }, column));
        };
        let count = match slot.row.kind {
            Kind::WordList(_) | Kind::Names => words.iter().take_while(|word| !word.option).count(),
            _ => 1 + self.flags(slot.row, &words[1..]),
        };
        self.give(slot.row, &words[..count], words[0].column)?;
        Ok(count)
    }

    /// Gives an option its values, and tells how many words those are.
    fn option(&mut self, name: &Word, after: &[Word]) -> Result<usize, (Refusal, usize)> {
        let given = name.text.trim_start_matches('-');
        let free = || self.form.slots.iter().map(|slot| slot.row).filter(|row| !self.builder.has(row));
        let options = || self.form.options.iter().map(|option| option.row).chain(free());
        let others = || self.form.others.iter().map(|(other, _)| *other);
        let all = || options().map(|row| row.cli).chain(others()).chain([DEVICE_NUMBER]);
        let found = match find(given, all()) {
            Match::One(found) => found,
            Match::Several(candidates) => {
                return Err((
                    Refusal::AmbiguousArgument { word: name.text.clone(), candidates },
                    name.column,
                ));
            }
            Match::None => {
                let nearest = nearest(given, all());
                return Err((Refusal::UnknownArgument { word: name.text.clone(), nearest }, name.column));
            }
        };
        let count = after.iter().take_while(|word| !word.option).count();
        let Some(row) = options().find(|row| row.cli == found) else {
            return self.other(found, name, &after[..count]).map(|()| count);
        };
        let count = count + self.flags(row, &after[count..]);
        let rest = self.give(row, &after[..count], name.column)?;
        let second = self.form.options.iter().find(|option| option.row == row);
        self.second(row, second, rest).map(|()| count)
    }

    /// How many of the words after a value belong to it, although they look like options.
    fn flags(&self, row: &Row, after: &[Word]) -> usize {
        if row.kind != Kind::Secret {
            return 0;
        }
        seal::flags(&after.iter().map(|word| word.text.as_str()).collect::<Vec<_>>())
    }

    /// The words after an option's value: they belong to its second row, or are too many.
    fn second(
        &mut self,
        first: &Row,
        form: Option<&OptionForm>,
        rest: &[Word],
    ) -> Result<(), (Refusal, usize)> {
        let rest = match (rest, form.and_then(|option| option.second)) {
            ([word, ..], Some(second)) => self.give(second, rest, word.column)?,
            _ => rest,
        };
        match rest {
            [] => Ok(()),
            [word, ..] => {
                Err((Refusal::TooManyValues { argument: first.cli, word: word.text.clone() }, word.column))
            }
        }
    }

    /// An option that is not carried passes at a value without effect.
    fn other(&self, found: &str, name: &Word, values: &[Word]) -> Result<(), (Refusal, usize)> {
        let neutral = match self.form.others.iter().find(|(other, _)| *other == found) {
            None => return Ok(()),
            Some((_, neutral)) => neutral,
        };
        match values {
            [value] if neutral.iter().any(|n| n.eq_ignore_ascii_case(&value.text)) => Ok(()),
            _ => {
                let mut what = format!("-{found}");
                // A value that could have been another one is worth showing; others may be secrets.
                for value in values.iter().filter(|_| !neutral.is_empty()) {
                    what.push(' ');
                    what.push_str(&value.text);
                }
                Err((Refusal::NotCarried { argument: None, what, carried: &[] }, name.column))
            }
        }
    }

    /// Gives words to a row and returns those left over. `column` is where to point when there is none.
    fn give<'w>(
        &mut self,
        row: &'static Row,
        words: &'w [Word],
        column: usize,
    ) -> Result<&'w [Word], (Refusal, usize)> {
        let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
        let column = words.first().map_or(column, |word| word.column);
        match self.builder.give(row, &texts) {
            Ok(rest) => {
                let used = texts.len() - rest.len();
                self.columns.push((row.cli, column));
                Ok(&words[used..])
            }
            Err(refusal) => {
                let at_fault = words.iter().find(|word| refusal.word() == Some(word.text.as_str()));
                Err((refusal, at_fault.map_or(column, |word| word.column)))
            }
        }
    }
}
