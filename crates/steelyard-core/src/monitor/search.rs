//! Looks for what `-recv` expects in an answer that comes in pieces.
//!
//! Owns how much of an answer is kept: of text only what a match across two pieces needs, for an expression all up to the
//! bound. The hard question is the cost of an answer of one byte at a time, which must not be looked at from its beginning
//! for each.

use memchr::memmem;

use crate::config::expected::{Expected, Sought};
use crate::sync::Arc;

/// One search.
pub struct Search {
    expected: Arc<Expected>,
    /// Bytes of the answer that count; a match lies within them.
    bound: usize,
    /// How many there were, up to the bound.
    taken: usize,
    kept: Vec<u8>,
    /// What looking has cost, in bytes.
    spent: usize,
    /// How much was kept when it was last looked at.
    looked_at: usize,
}

/// How a search ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It is there, or any answer is right.
    Found,
    /// The answer does not have it.
    Missing,
    /// It is not in the first bytes, so many as count.
    Beyond(usize),
    /// The expression took more steps than it may.
    TooCostly,
}

impl Search {
    /// Looks in the first `bound` bytes.
    pub fn new(expected: &Arc<Expected>, bound: usize) -> Search {
        Search { expected: Arc::clone(expected), bound, taken: 0, kept: Vec::new(), spent: 0, looked_at: 0 }
    }

    /// The next bytes of the answer; `None` while it is open.
    pub fn take(&mut self, bytes: &[u8]) -> Option<Outcome> {
        let counted = bytes.get(..self.bound - self.taken).unwrap_or(bytes);
        self.taken += counted.len();
        let full = self.taken == self.bound;
        let expected = Arc::clone(&self.expected);
        let found = match expected.sought() {
            Sought::Anything => (!bytes.is_empty()).then_some(Outcome::Found),
            Sought::Bytes(text) => self.look_for(text, counted),
            Sought::Match { needs_the_end, .. } => {
                self.kept.extend_from_slice(counted);
                if full || (!needs_the_end && self.is_worth_a_look()) { self.look() } else { None }
            }
        };
        found.or_else(|| full.then_some(Outcome::Beyond(self.bound)))
    }

    /// The answer has ended.
    pub fn end(&mut self) -> Outcome {
        match self.expected.sought() {
            Sought::Anything => Outcome::Found,
            Sought::Bytes(_) => Outcome::Missing,
            Sought::Match { .. } => self.look().unwrap_or(Outcome::Missing),
        }
    }

    /// Has any byte come?
    pub fn has_begun(&self) -> bool {
        self.taken > 0
    }

    fn look_for(&mut self, text: &[u8], counted: &[u8]) -> Option<Outcome> {
        self.kept.extend_from_slice(counted);
        if memmem::find(&self.kept, text).is_some() {
            return Some(Outcome::Found);
        }
        let needless = self.kept.len().saturating_sub(text.len().saturating_sub(1));
        self.kept.drain(..needless);
        None
    }

    /// At each piece, as long as that is cheap; then when there is a quarter more.
    fn is_worth_a_look(&self) -> bool {
        self.spent < CHEAP || self.kept.len() - self.looked_at >= self.looked_at / 4
    }

    fn look(&mut self) -> Option<Outcome> {
        let Sought::Match { expression, .. } = self.expected.sought() else { return None };
        self.spent += self.kept.len() + LOOK;
        self.looked_at = self.kept.len();
        match expression.is_match(self.kept.as_slice()) {
            Ok(true) => Some(Outcome::Found),
            Ok(false) => None,
            Err(_) => Some(Outcome::TooCostly),
        }
    }
}

/// Bytes that may be looked at before a piece of any size is worth no look.
const CHEAP: usize = 1 << 20;
/// What a look costs beside the bytes.
const LOOK: usize = 4_096;

#[cfg(test)]
mod tests {
    use super::*;

    fn search(recv: &str, bound: usize) -> Search {
        Search::new(&Arc::new(Expected::new(recv).unwrap()), bound)
    }

    /// What becomes of an answer in pieces of `cut` bytes that ends thereafter.
    fn outcome(recv: &str, bound: usize, answer: &[u8], cut: usize) -> Outcome {
        let mut search = search(recv, bound);
        let found = answer.chunks(cut).find_map(|piece| search.take(piece));
        assert!(search.kept.len() <= bound);
        found.unwrap_or_else(|| search.end())
    }

    #[test]
    fn m07_what_is_looked_for_may_lie_across_pieces() {
        let answer = b"STAT pid 366\r\nEND\r\n";
        for cut in 1..=answer.len() {
            assert_eq!(outcome("STAT pid", 100, answer, cut), Outcome::Found, "{cut}");
            assert_eq!(outcome(r"re/pid \d{3}\r\n/", 100, answer, cut), Outcome::Found, "{cut}");
            assert_eq!(outcome("stat pid", 100, answer, cut), Outcome::Missing, "{cut}");
            assert_eq!(outcome("", 100, answer, cut), Outcome::Found, "{cut}");
        }
    }

    #[test]
    fn a_match_lies_within_the_bound() {
        for cut in [1, 3, 10] {
            assert_eq!(outcome("789", 10, b"0123456789", cut), Outcome::Found);
            assert_eq!(outcome("789", 9, b"0123456789", cut), Outcome::Beyond(9));
            assert_eq!(outcome("re/789/", 9, b"0123456789", cut), Outcome::Beyond(9));
            assert_eq!(outcome("re/7.*/", 9, b"0123456789", cut), Outcome::Found);
        }
    }

    #[test]
    fn the_piece_that_completes_a_match_ends_the_search() {
        let mut text = search("ab", 10);
        assert_eq!([text.take(b"xa"), text.take(b"b")], [None, Some(Outcome::Found)]);
        let mut open = search("re/a+/", 10);
        assert_eq!(open.take(b"xa"), Some(Outcome::Found));
        let mut ended = search("re/a$/", 10);
        assert_eq!([ended.take(b"xa"), ended.take(b"b")], [None, None]);
        assert_eq!(ended.end(), Outcome::Missing);
    }

    #[test]
    fn text_is_found_with_no_more_kept_than_a_match_needs() {
        let mut search = search("needle", 1 << 20);
        for _ in 0..1_000 {
            assert_eq!(search.take(&[b'n'; 1_000]), None);
            assert!(search.kept.len() < "needle".len() && search.kept.capacity() < 4_096);
        }
    }

    #[test]
    fn an_expression_that_takes_too_long_says_so() {
        let mut answer = vec![b'a'; 40];
        answer.push(b'b');
        assert_eq!(outcome(r"re/^(?:(a|a)\1?)+(?=c)$/", 100, &answer, 50), Outcome::TooCostly);
    }

    #[test]
    fn one_byte_at_a_time_is_looked_at_seldom() {
        let mut search = search("re/x[0-9]+y/", 65_536);
        for _ in 0..65_535 {
            assert_eq!(search.take(b"a"), None);
        }
        assert!(search.spent < CHEAP + 40 * (65_536 + LOOK), "{}", search.spent);
        assert_eq!(search.end(), Outcome::Missing);
    }

    proptest::proptest! {
        #[test]
        fn any_cut_gives_the_outcome_of_the_whole(
            answer in proptest::collection::vec(proptest::sample::select(b"ab\0\xff".to_vec()), 0..60),
            recv in proptest::sample::select(
                vec!["", "ab", "aab", r"b\x00a", "re/a.b/", "re/^ab/", r"re/(a|b)\1b/", "re/ab$/", "re/a(?!b)/"],
            ),
            cut in 1usize..8,
            bound in 1usize..70,
        ) {
            let whole = outcome(recv, bound, &answer, answer.len().max(1));
            proptest::prop_assert_eq!(outcome(recv, bound, &answer, cut), whole);
        }
    }
}
