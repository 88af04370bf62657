//! What a refusal can say of what was meant: a name that is there, a value that would do.

/// What could have been meant by a name that nothing has.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Hint {
    /// No existing name is like it.
    Nothing,
    /// This existing name is most like it.
    Nearest(String),
    /// A later line of the same file adds it.
    AddedLater,
    /// This line of the same file would have added it, and was refused.
    AddRefused(usize),
}

/// What would have been a valid value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Allowed {
    /// One of these words.
    Words(&'static [&'static str]),
    /// Something of this kind.
    Such(&'static str),
}
