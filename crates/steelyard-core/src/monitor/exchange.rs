//! What TCP-ECV and UDP-ECV send, and what they expect in return.

use crate::config::escape::unescape;
use crate::config::expected::Expected;
use crate::sync::Arc;

/// From the options `-send` and `-recv`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Exchange {
    /// What is sent, its escapes undone.
    pub send: Vec<u8>,
    /// What must come.
    pub expected: Arc<Expected>,
}

impl Exchange {
    /// `send` is as it was typed.
    pub fn new(send: &str, expected: &Arc<Expected>) -> Exchange {
        Exchange { send: unescape(send), expected: Arc::clone(expected) }
    }
}
