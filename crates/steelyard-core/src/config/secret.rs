//! Secrets in a configuration: unreadable here, however they came.
//!
//! Owns the rule that no plain secret stays in a configuration: a command is sealed, with a key that only the
//! executable has, before it is applied. Nothing here prints one: `Debug` shows the kind alone.

use std::fmt;

use super::attribute::Row;

/// A password or key.
#[derive(Clone, PartialEq, Eq)]
pub enum Secret {
    /// As it was typed; only in a command, and only until that is sealed.
    Plain(Plain),
    /// Encrypted by an appliance, with a key that is not here: every word of it, `-encrypted` and what follows included.
    Foreign(Vec<String>),
    /// Encrypted by this program.
    Sealed(String),
    /// Encrypted by an appliance, and given once more for this program to use.
    Supplied {
        /// As in [`Secret::Foreign`]: what goes back to the appliance.
        foreign: Vec<String>,
        /// As in [`Secret::Sealed`]: what is used here.
        sealed: String,
    },
}

impl Secret {
    /// What the appliance has of it.
    pub fn foreign(&self) -> Option<&[String]> {
        match self {
            Secret::Foreign(foreign) | Secret::Supplied { foreign, .. } => Some(foreign),
            Secret::Plain(_) | Secret::Sealed(_) => None,
        }
    }

    /// What this program can open.
    pub fn sealed(&self) -> Option<&str> {
        match self {
            Secret::Sealed(sealed) | Secret::Supplied { sealed, .. } => Some(sealed),
            Secret::Plain(_) | Secret::Foreign(_) => None,
        }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Secret::Plain(_) => "Plain(..)",
            Secret::Foreign(_) => "Foreign(..)",
            Secret::Sealed(_) => "Sealed(..)",
            Secret::Supplied { .. } => "Supplied(..)",
        })
    }
}

/// A secret that can be read. Its bytes are overwritten when it goes, as far as safe code can see to that.
#[derive(Clone, PartialEq, Eq)]
pub struct Plain(String);

impl Plain {
    /// Takes a secret over.
    pub fn new(text: String) -> Plain {
        Plain(text)
    }

    /// The secret.
    pub fn text(&self) -> &str {
        &self.0
    }
}

impl Drop for Plain {
    fn drop(&mut self) {
        let mut bytes = std::mem::take(&mut self.0).into_bytes();
        bytes.fill(0);
        std::hint::black_box(&bytes);
    }
}

impl fmt::Debug for Plain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("..")
    }
}

/// Who has the key to sealed secrets.
pub trait Unseal {
    /// What was sealed for this purpose; `None` if that cannot be opened.
    fn open(&self, sealed: &str, purpose: &str) -> Option<Plain>;

    /// Can it be opened?
    fn opens(&self, sealed: &str, purpose: &str) -> bool {
        self.open(sealed, purpose).is_some()
    }
}

/// What a secret is for, which is sealed with it: an option of a kind of object. Not of one object, which may be renamed.
pub fn purpose(object: &str, row: &Row) -> String {
    format!("{object}/{}", row.nitro)
}

/// Begins the purpose of a user's password; the user's name follows, in small letters, since no two users share a hash.
/// Nobody needs to read a password again: whoever seals for this purpose may hash it.
pub const PASSWORD_OF: &str = "system user/password/";

/// What stands where a secret was.
pub const MASK: &str = "********";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_shows_the_kind_alone() {
        let words = || vec!["hunter2".to_owned(), "-encrypted".to_owned()];
        let secrets = [
            Secret::Plain(Plain::new("hunter2".to_owned())),
            Secret::Foreign(words()),
            Secret::Sealed("hunter2".to_owned()),
            Secret::Supplied { foreign: words(), sealed: "hunter2".to_owned() },
        ];
        assert_eq!(format!("{secrets:?}"), "[Plain(..), Foreign(..), Sealed(..), Supplied(..)]");
        assert_eq!(format!("{:?}", Plain::new("hunter2".to_owned())), "..");
    }
}
