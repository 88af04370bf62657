//! What a value may be: words of a choice, names of what is there, or anything of its kind.

use std::borrow::Cow;

use super::slots::Open;
use super::{Candidate, Need, Search, bound};
use crate::command::abbreviation::begins;
use crate::command::described::described;
use crate::command::help::{limits, what};
use crate::command::resolve::meant;
use crate::command::{Builder, Object, Verb};
use crate::config::attribute::{Kind, Place, Row, Unit, Value, Words};

impl Search<'_> {
    /// Offers what may stand for a row.
    pub(super) fn value(&mut self, command: (Verb, Object), builder: &Builder<'_>, open: Open<'_>) {
        let Open { row, given, need } = open;
        match row.kind {
            Kind::Word(words) | Kind::WordList(words) => self.choice(command, builder, words, open),
            Kind::Switch => self.words(&["ENABLED", "DISABLED"], need),
            Kind::YesNo => self.words(&["YES", "NO"], need),
            Kind::OnOff => self.words(&["ON", "OFF"], need),
            Kind::Span { .. } if !given.is_empty() => self.words(&Unit::ALL.map(Unit::text), need),
            Kind::Bare => {}
            _ => {
                if let Kind::Expression { none } = row.kind {
                    self.word(none, "No expression.", need);
                }
                if matches!(row.kind, Kind::IpOrAny | Kind::PortOrAny { .. }) {
                    self.word("*", "Any.", need);
                }
                let is_new = command.0 == Verb::Add && row.place == Place::Key;
                let kinds = if is_new { &[] } else { meant(row.cli, command.1) };
                let bound = (command.0 == Verb::Unbind).then(|| key(builder)).flatten();
                let bound = bound.and_then(|name| bound::bound(self.config, command.1, name, row.cli));
                for object in kinds {
                    match &bound {
                        Some(bound) => self.names_among(*object, bound, need),
                        None => self.names(*object, given, need),
                    }
                }
                self.free(row, need);
            }
        }
    }

    /// Offers an option.
    pub(super) fn option(&mut self, row: &'static Row, need: Need) {
        let word = format!("-{}", row.cli);
        if begins(&word, &self.begun) && !self.quoted {
            let help = Cow::Borrowed(row.help);
            self.add(Candidate { word: Cow::Owned(word), help, required: need == Need::Must });
        }
    }

    fn words(&mut self, words: &[&'static str], need: Need) {
        words.iter().for_each(|word| self.word(word, "", need));
    }

    /// The words of a choice, as far as the type that is given has them.
    fn choice(&mut self, command: (Verb, Object), builder: &Builder<'_>, words: Words, open: Open<'_>) {
        let (verb, object) = command;
        let kind = self.kind(object, builder);
        if let (true, Some(kind)) = (verb != Verb::Add && open.row.nitro == "type", kind) {
            return self.word(kind, "", open.need);
        }
        let described = described(object).into_iter().find(|described| described.row == open.row);
        let by_word = described.map(|described| described.types_by_word).unwrap_or_default();
        let has = |word: &str| {
            let of = by_word.iter().find(|(known, _)| *known == word);
            of.is_none_or(|(_, of)| kind.is_none_or(|kind| of.contains(&kind)))
        };
        let is_given = |word: &str| open.given.iter().any(|given| given.eq_ignore_ascii_case(word));
        let is_free = |word: &&&'static str| has(word) && !is_given(word);
        words.carried.iter().filter(is_free).for_each(|word| self.word(word, "", open.need));
        words.not_carried.iter().filter(is_free).for_each(|word| self.word(word, NOT_CARRIED, open.need));
        if self.found.candidates.is_empty() {
            let known = words.aliases.iter().filter(|(_, word)| has(word));
            known.for_each(|(alias, word)| self.word(alias, word, open.need));
        }
    }

    /// The type or protocol of what a command is about: as it says, or as it is configured.
    pub(super) fn kind(&self, object: Object, builder: &Builder<'_>) -> Option<&'static str> {
        let said = builder.rows().find_map(|(row, value)| match value {
            Value::Word(kind) if matches!(row.nitro, "type" | "servicetype") => Some(*kind),
            _ => None,
        });
        let name = || key(builder);
        said.or_else(|| match object {
            Object::LbVserver => Some(self.config.lb_vservers.find(name()?)?.service_type.text()),
            Object::LbMonitor => Some(self.config.lb_monitors.find(name()?)?.kind.text()),
            _ => None,
        })
    }

    /// Says what kind of word may stand there.
    fn free(&mut self, row: &'static Row, need: Need) {
        let name = match row.place {
            Place::Key | Place::Required | Place::Optional => row.cli,
            Place::Option | Place::SecondWord => what(row.kind, row),
        };
        let help = match limits(row.kind) {
            Some(limits) => Cow::Owned(format!("{} ({limits})", row.help)),
            None => Cow::Borrowed(row.help),
        };
        self.own_words(name, help, need);
    }
}

/// What the object is known by that a command is about.
fn key<'b>(builder: &'b Builder<'_>) -> Option<&'b str> {
    builder.rows().find_map(|(row, value)| match value {
        Value::Text(name) if row.place == Place::Key => Some(name.as_str()),
        _ => None,
    })
}

/// Of a word that this program does not carry yet.
const NOT_CARRIED: &str = "Not carried here yet.";
