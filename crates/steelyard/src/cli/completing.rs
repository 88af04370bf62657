//! What may stand where the cursor is: the words that Tab offers.

use crate::door::Door;

/// A word that may stand there.
pub struct Candidate {
    /// As it is listed.
    pub shown: String,
    /// What takes the place of what is typed.
    pub text: String,
}

/// Where the word begins that is typed at the byte `at` of a line, and what may stand in its place.
pub fn candidates(_door: &Door, _line: &str, at: usize) -> (usize, Vec<Candidate>) {
    (at, Vec::new())
}
