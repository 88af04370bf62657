//! What was probably meant by a word that fits nowhere: the mistakes that files from the field really have
//! (`spec/nsconf-frequency.md` 6.8), each told apart by what the word itself says.
//!
//! Only makes a refusal clearer that is certain already; never lets a line pass.

use super::arguments::Arguments;
use super::lex::Word;
use super::nearest::nearest;
use super::refusal::Refusal;
use super::value;
use crate::config::attribute::{Kind, Place, Row};

impl Arguments<'_> {
    /// The refusal of a word that nothing takes. `after` is the option before it, and the values which that took.
    pub(super) fn surplus(&self, word: &Word, after: Option<(&'static str, &[Word])>) -> (Refusal, usize) {
        let text = || word.text.clone();
        let glued_value = after.and_then(|(argument, values)| {
            values.iter().find_map(|value| Some((self.blank_missing(argument, value)?, value.column)))
        });
        if let Some(wrong) = glued_value {
            return wrong;
        }
        let refusal = match after.map(|(argument, _)| argument) {
            argument if word.glued => Refusal::Glued { argument, word: text() },
            _ if self.option_called(&word.text).is_some() => self.dash_missing(word),
            Some(_) if self.fits_a_free_slot(word) => self.out_of_order(word),
            Some(argument) => Refusal::TooManyValues { argument, word: text() },
            None => {
                let nearest = nearest(&word.text, self.options());
                Refusal::UnknownArgument { word: text(), nearest }
            }
        };
        (refusal, word.column)
    }

    /// The refusal of the word with the number `at`, from 0, of those that a row was to take.
    pub(super) fn mistaken(
        &self,
        row: &Row,
        (at, word): (usize, &Word),
        refusal: Refusal,
    ) -> (Refusal, usize) {
        let behind_a_value = at > 0 || row.place == Place::SecondWord;
        let refusal = match self.blank_missing(row.cli, word) {
            Some(clearer) => clearer,
            None if behind_a_value && self.option_called(&word.text).is_some() => self.dash_missing(word),
            None => refusal,
        };
        (refusal, word.column)
    }

    /// The refusal of a word in the place of a slot: perhaps the slot's own word is missing, or stands elsewhere, `before`
    /// or behind it.
    pub(super) fn misplaced(
        &self,
        row: &Row,
        (before, words): (&[Word], &[Word]),
        wrong: (Refusal, usize),
    ) -> (Refusal, usize) {
        let (refusal, column) = wrong;
        let alone: Vec<&Word> = words.iter().take_while(|word| !word.option).collect();
        let Some(word) = alone.first().filter(|word| word.column == column) else { return (refusal, column) };
        if !matches!(
            refusal,
            Refusal::InvalidValue { .. } | Refusal::InvalidIp { .. } | Refusal::DomainGiven { .. }
        ) {
            return (refusal, column);
        }
        let is_behind = self.fits_a_free_slot(word) && alone[1..].iter().any(|other| reads_as(row, other));
        let mut before = before.iter().take_while(|word| !word.option);
        let is_before = is_like_nothing(&refusal) && before.any(|other| is_called(row, other));
        let clearer = if self.option_called(&word.text).is_some() {
            self.dash_missing(word)
        } else if is_behind || is_before {
            self.out_of_order(word)
        } else if self.is_left_out(row, &alone) {
            Refusal::ArgumentMissing { argument: row.cli }
        } else {
            refusal
        };
        (clearer, column)
    }

    /// `ROUNDROBIN-cltTimeout`: an option without the blank before it.
    fn blank_missing(&self, argument: &'static str, word: &Word) -> Option<Refusal> {
        let hyphens = word.text.match_indices('-').filter(|(at, _)| *at > 0);
        let option = hyphens.map(|(at, _)| &word.text[at + 1..]).find_map(|rest| self.option_called(rest))?;
        Some(Refusal::BlankMissing { argument, word: word.text.clone(), option })
    }

    fn dash_missing(&self, word: &Word) -> Refusal {
        Refusal::DashMissing {
            word: word.text.clone(),
            option: self.option_called(&word.text).unwrap_or_default(),
        }
    }

    fn out_of_order(&self, word: &Word) -> Refusal {
        let order = self.form.slots.iter().map(|slot| slot.row.cli).collect();
        Refusal::OutOfOrder { word: word.text.clone(), order }
    }

    /// Are the words those of the slots behind that of `row`?
    fn is_left_out(&self, row: &Row, words: &[&Word]) -> bool {
        let behind = self.form.slots.iter().skip_while(|slot| slot.row != row).skip(1);
        let mut pairs = behind.zip(words).peekable();
        pairs.peek().is_some() && pairs.all(|(slot, word)| reads_as(slot.row, word))
    }

    fn fits_a_free_slot(&self, word: &Word) -> bool {
        self.form.slots.iter().any(|slot| !self.builder.has(slot.row) && reads_as(slot.row, word))
    }

    /// The option with that very name.
    fn option_called(&self, name: &str) -> Option<&'static str> {
        self.options().find(|option| option.eq_ignore_ascii_case(name))
    }

    fn options(&self) -> impl Iterator<Item = &'static str> {
        self.form.options.iter().map(|option| option.row.cli)
    }
}

/// Is a refused word not even like one that is known?
fn is_like_nothing(refusal: &Refusal) -> bool {
    matches!(refusal, Refusal::InvalidValue { nearest: None, .. })
}

/// Is a word, in full, one of those that a row takes? Names are free, but few objects are named after their type.
fn is_called(row: &Row, word: &Word) -> bool {
    match row.kind {
        Kind::Word(words) => {
            let mut known = words.carried.iter().chain(words.not_carried);
            known.any(|known| known.eq_ignore_ascii_case(&word.text))
        }
        _ => false,
    }
}

/// Is a word a value of a row that not any word is?
fn reads_as(row: &Row, word: &Word) -> bool {
    let telling = matches!(
        row.kind,
        Kind::Word(_)
            | Kind::Ip
            | Kind::IpOrAny
            | Kind::Port { .. }
            | Kind::PortOrAny { .. }
            | Kind::Number { .. }
    );
    telling && value::read(row, &[&word.text]).is_ok()
}
