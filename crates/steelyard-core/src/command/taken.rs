//! What a command takes, for those who build commands from NITRO's bodies and for those who describe them.

use super::form::{self, Form};
use super::{Object, Verb};
use crate::config::attribute::Row;

/// What a command takes.
pub struct Taken(Form);

/// What `verb` takes of `object`; `None` when the verb does not go with the object.
pub fn taken(verb: Verb, object: Object) -> Option<Taken> {
    form::form(verb, object).map(Taken)
}

impl Taken {
    /// Every row, in the order of the command's synopsis.
    pub fn rows(&self) -> impl Iterator<Item = &'static Row> {
        self.0.rows()
    }

    /// Must it be given?
    pub fn is_required(&self, row: &Row) -> bool {
        self.0.slots.iter().any(|slot| slot.required && slot.row == row)
    }

    /// Is it a word of its own, which `unset` gives a value, too?
    pub fn is_word(&self, row: &Row) -> bool {
        self.0.slots.iter().any(|slot| slot.row == row)
    }

    /// The row that NITRO calls `name`.
    pub fn row_of_nitro(&self, name: &str) -> Option<&'static Row> {
        self.0.row_of_nitro(name)
    }
}
