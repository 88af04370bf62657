//! The form of each command: which rows stand as words, which as options. Derived from the rows; nothing is said twice.
//! Which verb goes with which object, and what it takes besides, is in `verbs`.

mod verbs;

use super::{Object, Verb};
use crate::config::attribute::{Change, Place, Resource, Row};

/// What a command may contain.
#[derive(Default)]
pub(super) struct Form {
    /// Words in their order; any of them may be given as an option, too.
    pub(super) slots: Vec<Slot>,
    /// Options in any order.
    pub(super) options: Vec<OptionForm>,
}

/// A word of its own.
pub(super) struct Slot {
    pub(super) row: &'static Row,
    pub(super) required: bool,
}

/// `-name value`, or `-name value second ...`.
pub(super) struct OptionForm {
    pub(super) row: &'static Row,
    /// The words that may follow the value.
    pub(super) more: Vec<&'static Row>,
}

/// The form of a command; `None` when the verb does not go with the object.
pub(super) fn form(verb: Verb, object: Object) -> Option<Form> {
    verbs::form(verb, object)
}

impl Form {
    /// Every row, words first.
    pub(super) fn rows(&self) -> impl Iterator<Item = &'static Row> {
        let options = self.options.iter().flat_map(|o| std::iter::once(o.row).chain(o.more.iter().copied()));
        self.slots.iter().map(|slot| slot.row).chain(options)
    }

    /// The words that may follow the value of an option.
    pub(super) fn more(&self, option: &Row) -> &[&'static Row] {
        self.options.iter().find(|known| known.row == option).map_or(&[][..], |known| &known.more)
    }

    /// The row that NITRO calls `name`; a host has three names there, a server two.
    pub(super) fn row_of_nitro(&self, name: &str) -> Option<&'static Row> {
        let of = |name: &str| self.rows().find(|row| row.nitro.eq_ignore_ascii_case(name));
        of(name).or_else(|| match name {
            "ip" | "ipaddress" => of("servername"),
            "domain" => of("ipaddress"),
            _ => None,
        })
    }

    /// With one more word.
    pub(super) fn slot(mut self, row: &'static Row, need: Need) -> Form {
        self.slots.push(Slot { row, required: need == Need::Required });
        self
    }

    /// With more options.
    pub(super) fn options(mut self, rows: impl IntoIterator<Item = &'static Row>) -> Form {
        for row in rows {
            match self.options.last_mut() {
                Some(last) if row.place == Place::SecondWord => last.more.push(row),
                _ => self.options.push(OptionForm { row, more: Vec::new() }),
            }
        }
        self
    }

    /// With words that may follow the value of the last option.
    fn with_last(mut self, more: impl IntoIterator<Item = &'static Row>) -> Form {
        if let Some(last) = self.options.last_mut() {
            last.more.extend(more);
        }
        self
    }

    /// Without the options that NITRO calls so.
    fn but(mut self, names: &[&str]) -> Form {
        self.options.retain(|option| !names.contains(&option.row.nitro));
        self
    }

    /// No word needs to be there.
    fn optional(mut self) -> Form {
        self.slots.iter_mut().for_each(|slot| slot.required = false);
        self
    }

    /// Each row as an option of its own, for a verb that names options without their values.
    fn each_by_itself(mut self) -> Form {
        let options = std::mem::take(&mut self.options);
        let rows = options.into_iter().flat_map(|option| std::iter::once(option.row).chain(option.more));
        self.options = rows.map(|row| OptionForm { row, more: Vec::new() }).collect();
        self
    }
}

/// Must a word be there?
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    Required,
    Optional,
}

/// Every row where its own place is.
fn add<T: Resource>() -> Form {
    T::rows().fold(Form::default(), |form, row| match row.place {
        Place::Key | Place::Required => form.slot(row, Need::Required),
        Place::Optional => form.slot(row, Need::Optional),
        Place::Option | Place::SecondWord => form.options([row]),
    })
}

/// What the object is known by, and as options all that may be changed later.
fn set<T: Resource>() -> Form {
    let later = T::rows().filter(|row| row.place != Place::Key && row.change == Change::Later);
    key::<T>().options(later)
}

/// What the object is known by, and nothing else.
fn key<T: Resource>() -> Form {
    let keys = T::rows().filter(|row| row.place == Place::Key);
    keys.fold(Form::default(), |form, row| form.slot(row, Need::Required))
}

/// The rows that NITRO calls so.
fn rows<T: Resource>(names: &[&str]) -> impl Iterator<Item = &'static Row> {
    T::rows().filter(move |row| names.contains(&row.nitro))
}
