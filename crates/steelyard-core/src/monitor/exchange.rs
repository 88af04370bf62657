//! What TCP-ECV and UDP-ECV send, and what they expect in return.

use super::leaving::Leaving;
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
    /// By what the service says that it is going out of service; of TCP-ECV alone.
    pub leaving: Leaving,
}

impl Exchange {
    /// `send` is as it was typed.
    pub fn new(send: &str, expected: &Arc<Expected>) -> Exchange {
        Exchange { send: unescape(send), expected: Arc::clone(expected), leaving: Leaving::default() }
    }

    /// The same where an answer may say that the service is going out of service.
    pub fn leaving_by(self, leaving: Leaving) -> Exchange {
        Exchange { leaving, ..self }
    }
}
