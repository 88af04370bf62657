//! Secrets in a configuration: unreadable here, however they came.
//!
//! Owns the rule that no plain secret stays in a configuration: a command is sealed, with a key that only the
//! executable has, before it is applied. Nothing here prints one: `Debug` shows the kind alone.

use std::fmt;

/// A password or key.
#[derive(Clone, PartialEq, Eq)]
pub enum Secret {
    /// As it was typed; only in a command, and only until that is sealed.
    Plain(String),
    /// Encrypted by an appliance, with a key that is not here: every word of it, `-encrypted` and what follows included.
    Foreign(Vec<String>),
    /// Encrypted by this program.
    Sealed(String),
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Secret::Plain(_) => "Plain(..)",
            Secret::Foreign(_) => "Foreign(..)",
            Secret::Sealed(_) => "Sealed(..)",
        })
    }
}
