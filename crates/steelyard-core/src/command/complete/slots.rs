//! What may follow among the arguments of a command: the next word that is free, options, the value of an option.
//!
//! What stands there already is read as it will be when the line is given. The hard question is where the words of an
//! option end: one that takes several goes on for as long as they come.

use super::{Need, Search};
use crate::command::abbreviation::{Match, find};
use crate::command::apply::types_of_option;
use crate::command::arguments::{Arguments, named};
use crate::command::described::DEPENDENCIES;
use crate::command::form::Form;
use crate::command::lex::Word;
use crate::command::refusal::Refusal;
use crate::command::{Builder, Object, Verb};
use crate::config::attribute::{Kind, Row};

/// What a word may be a value of.
#[derive(Clone, Copy)]
pub(super) struct Open<'w> {
    pub(super) row: &'static Row,
    /// Values of it that stand there already.
    pub(super) given: &'w [&'w str],
    pub(super) need: Need,
}

impl Search<'_> {
    /// Offers what may follow the arguments that are there.
    pub(super) fn arguments(
        &mut self,
        command: (Verb, Object),
        form: &Form,
        words: &[Word],
    ) -> Result<(), Refusal> {
        let (verb, object) = command;
        let read = |words| Arguments::new(verb, object, form, 0).begun(words).map_err(|(refusal, _)| refusal);
        let last = words.iter().rposition(|word| word.option);
        let Some(last) = last else {
            let builder = read(words)?;
            self.word_or_option(command, form, &builder, words);
            return Ok(());
        };
        let before = read(&words[..last])?;
        let option = option_called(&words[last], form, &before);
        let values: Vec<&str> = words[last + 1..].iter().map(|word| word.text.as_str()).collect();
        match option.filter(|row| row.kind != Kind::Bare && !before.is_named_alone(row)) {
            Some(row) if values.is_empty() => {
                self.value(command, &before, Open { row, given: &[], need: Need::Must });
            }
            option => {
                let builder = read(words)?;
                let open = option
                    .and_then(|row| open(form, row, &values))
                    .filter(|open| Some(open.row) == option || !builder.has(open.row));
                if let Some(open) = open {
                    self.value(command, &builder, open);
                }
                self.options(command, form, &builder);
            }
        }
        Ok(())
    }

    /// Where no option has been given yet.
    fn word_or_option(
        &mut self,
        command: (Verb, Object),
        form: &Form,
        builder: &Builder<'_>,
        words: &[Word],
    ) {
        let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
        let at = form.slots.iter().position(|slot| !builder.has(slot.row)).unwrap_or(form.slots.len());
        let before = form.slots[..at].last().filter(|slot| takes_several(slot.row));
        let slot = match (before, form.slots.get(at)) {
            (Some(slot), _) => Some((slot.row, texts.get(at - 1..).unwrap_or_default(), Need::Not)),
            (None, Some(slot)) => {
                Some((slot.row, &[][..], if slot.required { Need::Must } else { Need::Not }))
            }
            (None, None) => None,
        };
        let is_option = self.begun.starts_with('-');
        if let Some((row, given, need)) = slot {
            if !is_option {
                self.value(command, builder, Open { row, given, need });
            }
            // Words come first: they cannot follow an option.
            if need == Need::Must && !is_option {
                return;
            }
        }
        self.options(command, form, builder);
    }

    /// Offers what may be named with a hyphen and goes with what is given.
    fn options(&mut self, command: (Verb, Object), form: &Form, builder: &Builder<'_>) {
        let is_option = self.begun.starts_with('-');
        if !self.begun.is_empty() && !is_option {
            return;
        }
        let object = command.1;
        let kind = self.kind(object, builder);
        let is_free = |row: &&'static Row| !builder.has(row) && goes_with(object, kind, row, builder);
        for row in named(form, builder).filter(is_free) {
            let slot = form.slots.iter().find(|slot| slot.row == row);
            let need = if slot.is_some_and(|slot| slot.required) { Need::Must } else { Need::Not };
            // A word may be given as an option, too, which nobody does who is not looking for it.
            if slot.is_none() || need == Need::Must || is_option {
                self.option(row, need);
            }
        }
    }
}

/// The row that an option names.
fn option_called(word: &Word, form: &Form, before: &Builder<'_>) -> Option<&'static Row> {
    let given = word.text.trim_start_matches('-');
    match find(given, named(form, before).map(|row| row.cli)) {
        Match::One(found) => named(form, before).find(|row| row.cli == found),
        _ => None,
    }
}

/// What goes on behind the values of an option: more of its own, or the words behind it.
fn open<'w>(form: &Form, option: &'static Row, mut values: &'w [&'w str]) -> Option<Open<'w>> {
    for row in std::iter::once(option).chain(form.more(option).iter().copied()) {
        let most = match row.kind {
            Kind::Span { .. } => 2,
            Kind::Secret => return None,
            _ if takes_several(row) => usize::MAX,
            _ => 1,
        };
        if values.len() < most {
            return Some(Open { row, given: values, need: Need::Not });
        }
        values = values.get(most..)?;
    }
    None
}

pub(super) fn takes_several(row: &Row) -> bool {
    matches!(
        row.kind,
        Kind::WordList(_) | Kind::Names | Kind::Texts { .. } | Kind::Ips | Kind::Numbers { .. } | Kind::Codes
    )
}

/// Does nothing that is given exclude it, nor the type?
fn goes_with(object: Object, kind: Option<&str>, row: &Row, builder: &Builder<'_>) -> bool {
    let given = |nitro: &str| builder.rows().any(|(row, _)| row.nitro == nitro);
    let excluded = DEPENDENCIES.iter().filter(|known| known.object == object).any(|known| {
        let excludes = |attribute: &str| known.excludes.contains(&attribute);
        known.attribute == row.nitro && known.excludes.iter().any(|other| given(other))
            || excludes(row.nitro) && given(known.attribute)
    });
    let types = match object {
        Object::LbMonitor => types_of_option(row.nitro),
        _ => &[],
    };
    !excluded && (types.is_empty() || kind.is_none_or(|kind| types.contains(&kind)))
}
