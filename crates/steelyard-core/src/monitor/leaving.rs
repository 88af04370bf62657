//! By which answer a service says that it is going out of service: `-trofsCode`, `-trofsString` (`spec/methods.md` 3.4).
//!
//! Such an answer is looked for before the one that is expected, and counts as a success in either sense.

use super::search::Search;
use crate::config::expected::Expected;
use crate::sync::Arc;

/// What says so; nothing does by default.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Leaving {
    code: Option<u16>,
    words: Option<Arc<Expected>>,
}

impl Leaving {
    /// From the two options; 0 and no words say nothing.
    pub fn new(code: Option<u32>, words: &str) -> Leaving {
        Leaving {
            code: code.filter(|code| *code > 0).and_then(|code| u16::try_from(code).ok()),
            words: (!words.is_empty()).then(|| Arc::new(Expected::text(words))),
        }
    }

    /// Does this status say so?
    pub fn is_status(&self, status: u16) -> bool {
        self.code == Some(status)
    }

    /// Looks for the words in the first `bound` bytes; `None` where there are none.
    pub fn search(&self, bound: usize) -> Option<Search> {
        self.words.as_ref().map(|words| Search::new(words, bound))
    }
}
