//! One line by itself: applied, or kept where a file would keep it.

use super::apply::apply_all;
use super::mask::{Wording, mask};
use super::parse::{Said, understand};
use super::refusal::Refusal;
use super::resolve::Search;
use super::{Done, Forget, keep, lex, text};
use crate::config::Config;
use crate::config::kept::{Kept, Whole};

/// Applies one line, or keeps it; `None` when it is empty or a comment. A query leaves nothing to keep.
///
/// # Errors
/// [`Refusal`] and the column that it is about. The configuration is unchanged then.
pub fn run_line(config: &mut Config, line: &str) -> Result<Option<Done>, (Refusal, usize)> {
    if line.len() > text::LONGEST_COMMAND {
        return Err((Refusal::LineTooLong { max: text::LONGEST_COMMAND }, 1));
    }
    let words = lex::words(line)?;
    if words.is_empty() {
        return Ok(None);
    }
    let mut parsed = match understand(&words)? {
        Said::Command(parsed) => parsed,
        Said::Kept(entry) => {
            if let Some(name) = keep::added_vserver(&words) {
                config.kept.note_vserver(name);
            }
            if entry.class.is_live() {
                let text = keep::command(line, &words);
                let (text, whole) = match mask(&text, &lex::words(&text)?, Wording::Understood, &[]) {
                    Some(masked) => (masked.text, Whole::Missing),
                    None => (text, Whole::Shown),
                };
                config.kept.push(Kept { text, whole, class: entry.class, rank: entry.rank });
            }
            return Ok(Some(Done::default()));
        }
    };
    parsed.seal(&Forget)?;
    apply_all(config, parsed.commands()).map(Some).map_err(|mut refusal| {
        Search::default().explain(config, parsed.object(), &mut refusal);
        let column = parsed.column_of(&refusal);
        (refusal, column)
    })
}
