//! The words behind the object of a command to its arguments: which word belongs to which row.
//!
//! Never says what a value may be (`value` does), nor what was meant by a line that goes wrong (`mistake`). The hard
//! question is how many words an option takes: up to the next option, and of those as many as its row and the rows of
//! further words behind it want.

use std::borrow::Cow;
use std::rc::Rc;

use super::abbreviation::{Match, find};
use super::form::Form;
use super::lex::Word;
use super::matching::{Matching, is_expression};
use super::nearest::nearest;
use super::refusal::Refusal;
use super::{Builder, Command, Object, Verb, range, seal};
use crate::config::attribute::{Kind, Place, Row};

/// The rest of a line being read.
pub(super) struct Arguments<'f> {
    pub(super) form: &'f Form,
    pub(super) builder: Builder<'f>,
    columns: Vec<(&'static str, usize)>,
    /// Which of the words that each range stands for is to be read.
    pick: usize,
    /// How many words each range stands for, and the argument that was the first to say so.
    size: Option<(usize, &'static str)>,
    /// What regular expressions stand for; nothing where they are not meant.
    matching: Option<&'f Matching<'f>>,
}

/// What the arguments of a line came to.
pub(super) struct Read {
    /// The command, of which every range stands for one word.
    pub(super) command: Command,
    /// Command line's name of each argument, and the column where it stands.
    pub(super) columns: Vec<(&'static str, usize)>,
    /// How many commands the line stands for.
    pub(super) size: usize,
}

impl<'f> Arguments<'f> {
    /// Nothing given yet. Of each range, the word with the number `pick` will be read.
    pub(super) fn new(verb: Verb, object: Object, form: &'f Form, pick: usize) -> Arguments<'f> {
        let builder = Builder::new(verb, object, form);
        Arguments { form, builder, columns: Vec::new(), pick, size: None, matching: None }
    }

    /// Regular expressions stand for objects, where the verb takes them.
    pub(super) fn matching(mut self, matching: Option<&'f Matching<'f>>) -> Arguments<'f> {
        self.matching = matching.filter(|_| matches!(self.builder.command.verb, Verb::Rm | Verb::Unset));
        self.builder.matches |= self.matching.is_some();
        self
    }

    /// Reads the words behind the object. `end` is where to point when something is missing.
    pub(super) fn read(mut self, words: &[Word], end: usize) -> Result<Read, (Refusal, usize)> {
        self.take(words)?;
        let command = self.builder.finish().map_err(|refusal| (refusal, end))?;
        Ok(Read { command, columns: self.columns, size: self.size.map_or(1, |(size, _)| size) })
    }

    /// Reads words that more may follow, and tells what they give.
    pub(super) fn begun(mut self, words: &[Word]) -> Result<Builder<'f>, (Refusal, usize)> {
        self.take(words)?;
        Ok(self.builder)
    }

    fn take(&mut self, words: &[Word]) -> Result<(), (Refusal, usize)> {
        let mut rest = words;
        while let Some((word, after)) = rest.split_first() {
            if word.option {
                rest = &after[self.option(word, after)?..];
            } else {
                let before = &words[..words.len() - rest.len()];
                rest = &rest[self.word(before, rest)?..];
            }
        }
        Ok(())
    }

    /// Gives the first word to the first slot that is free, and tells how many words that took. `before` are those that
    /// stand before it.
    fn word(&mut self, before: &[Word], words: &[Word]) -> Result<usize, (Refusal, usize)> {
        let Some(slot) = self.form.slots.iter().find(|slot| !self.builder.has(slot.row)) else {
            return Err(self.surplus(&words[0], None));
        };
        let count = match slot.row.kind {
            Kind::WordList(_) | Kind::Names => words.iter().take_while(|word| !word.option).count(),
            _ => 1 + self.flags(slot.row, &words[1..]),
        };
        let given = self.give(slot.row, &words[..count], words[0].column).map(|_| count);
        given.map_err(|wrong| self.misplaced(slot.row, (before, words), wrong))
    }

    /// Gives an option its values, and tells how many words those are.
    fn option(&mut self, name: &Word, after: &[Word]) -> Result<usize, (Refusal, usize)> {
        let given = name.text.trim_start_matches('-');
        let options = || named(self.form, &self.builder);
        let all = || options().map(|row| row.cli).chain([DEVICE_NUMBER]);
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
            return Ok(count);
        };
        let count = count + self.flags(row, &after[count..]);
        let values = &after[..count];
        let taken = self.give(row, values, name.column);
        let mut rest = taken.map_err(|(refusal, column)| (refusal.of_option(), column))?;
        let more = self.form.more(row);
        for row in more {
            let [word, ..] = rest else { break };
            rest = self.give(row, rest, word.column)?;
        }
        match rest {
            [] => Ok(count),
            [word, ..] => Err(self.surplus(word, Some((row.cli, &values[..values.len() - rest.len()])))),
        }
    }

    /// How many of the words after a value belong to it, although they look like options.
    fn flags(&self, row: &Row, after: &[Word]) -> usize {
        if row.kind != Kind::Secret {
            return 0;
        }
        seal::flags(&after.iter().map(|word| word.text.as_str()).collect::<Vec<_>>())
    }

    /// Gives words to a row and returns those left over. `column` is where to point when there is none.
    fn give<'w>(
        &mut self,
        row: &'static Row,
        words: &'w [Word],
        column: usize,
    ) -> Result<&'w [Word], (Refusal, usize)> {
        let column = words.first().map_or(column, |word| word.column);
        let chosen = self.chosen(row, words).map_err(|refusal| (refusal, column))?;
        let texts: Vec<&str> = chosen.iter().map(AsRef::as_ref).collect();
        let refusal = match self.builder.give(row, &texts) {
            Ok(rest) => {
                self.columns.push((row.cli, column));
                return Ok(&words[words.len() - rest.len().min(words.len())..]);
            }
            Err(refusal) => refusal,
        };
        let at = texts.iter().position(|text| refusal.word() == Some(text));
        match at.and_then(|at| Some((at, words.get(at)?))) {
            Some(at_fault) => Err(self.mistaken(row, at_fault, refusal)),
            None => Err((refusal, column)),
        }
    }

    /// The words with each range and each expression replaced by one that it stands for; by all of them in a list.
    fn chosen<'w>(&mut self, row: &'static Row, words: &'w [Word]) -> Result<Vec<Cow<'w, str>>, Refusal> {
        let mut chosen = Vec::with_capacity(words.len());
        for (at, word) in words.iter().enumerate() {
            let list = row.kind == Kind::Names;
            if let Some(names) = self.matched(row, &word.text)? {
                match list {
                    true => chosen.extend(names.iter().map(|name| Cow::Owned(name.clone()))),
                    false => {
                        self.stands_for(row, names.len())?;
                        chosen.push(Cow::Owned(names.get(self.pick).cloned().unwrap_or_default()));
                    }
                }
                continue;
            }
            let range = match row.ranged && (at == 0 || list) && !self.builder.is_pattern(row, &word.text) {
                true => range::of(row.cli, &word.text)?,
                false => None,
            };
            match range {
                None => chosen.push(Cow::Borrowed(word.text.as_str())),
                Some(range) if list => {
                    chosen.extend((0..range.size()).map(|pick| Cow::Owned(range.word(pick))))
                }
                Some(range) => {
                    self.stands_for(row, range.size())?;
                    chosen.push(Cow::Owned(range.word(self.pick)));
                }
            }
        }
        Ok(chosen)
    }

    /// The names that a regular expression stands for; `None` of any other word.
    fn matched(&self, row: &'static Row, word: &str) -> Result<Option<Rc<[String]>>, Refusal> {
        let Some(matching) = self.matching.filter(|_| is_expression(word)) else { return Ok(None) };
        let is_key = self.form.slots.first().is_some_and(|slot| slot.row == row && row.place == Place::Key);
        match is_key {
            true => matching.names(self.builder.command.object, row, word).map(Some),
            false => Ok(None),
        }
    }

    /// Notes how many words stand in the place of one. All that stand for several stand for as many.
    fn stands_for(&mut self, row: &'static Row, count: usize) -> Result<(), Refusal> {
        let (size, other) = *self.size.get_or_insert((count, row.cli));
        match size == count {
            true => Ok(()),
            false => Err(Refusal::RangesDiffer { argument: row.cli, other, sizes: (size, count) }),
        }
    }
}

/// What may be named with a hyphen: options, given already or not, and words that are not given yet.
pub(super) fn named<'a>(
    form: &'a Form,
    builder: &'a Builder<'_>,
) -> impl Iterator<Item = &'static Row> + use<'a> {
    let free = form.slots.iter().map(|slot| slot.row).filter(|row| !builder.has(row));
    form.options.iter().map(|option| option.row).chain(free)
}

/// Written behind many lines by an appliance; means nothing outside it.
const DEVICE_NUMBER: &str = "devno";
