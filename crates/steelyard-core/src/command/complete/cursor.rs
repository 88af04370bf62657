//! The word under the cursor, and those before it.

use crate::command::lex::{Word, is_blank, words};
use crate::command::refusal::Refusal;

/// Where a line is being typed.
pub(super) struct Cursor {
    /// The words before.
    pub(super) words: Vec<Word>,
    /// The byte where the word under the cursor begins; its quote, if it has one.
    pub(super) start: usize,
    /// What is there of it, without quotes.
    pub(super) begun: String,
    /// Is it in quotes?
    pub(super) quoted: bool,
}

/// The end of a text as a place to type; `None` inside a remark, or inside quotes or brackets of an expression, where any
/// text may stand.
pub(super) fn at(text: &str) -> Option<Cursor> {
    if text.contains('\n') {
        return None;
    }
    match words(text) {
        Ok(words) => behind(words, text),
        Err((Refusal::UnmatchedQuote, column)) => inside_quotes(text, column),
        Err(_) => None,
    }
}

/// Behind words of which the last may not be ended yet.
fn behind(mut words: Vec<Word>, text: &str) -> Option<Cursor> {
    let end = words.last().map_or(0, |last| byte(text, last.end));
    let rest = text.get(end..)?;
    if rest.trim_start().starts_with('#') {
        return None;
    }
    match words.pop_if(|_| rest.is_empty()) {
        None => Some(Cursor { words, start: text.len(), begun: String::new(), quoted: false }),
        Some(last) => {
            let start = byte(text, last.column);
            let quoted = text[start..].starts_with(['"', '\'']);
            Some(Cursor { words, start, begun: last.text, quoted })
        }
    }
}

/// Inside the quote that stands in that column.
fn inside_quotes(text: &str, column: usize) -> Option<Cursor> {
    let start = byte(text, column);
    let (before, word) = text.split_at_checked(start)?;
    if !before.bytes().next_back().is_none_or(is_blank) {
        return None;
    }
    let quote = word.chars().next()?;
    let closed = words(&format!("{word}{quote}")).ok()?;
    let [word] = &closed[..] else { return None };
    Some(Cursor { words: words(before).ok()?, start, begun: word.text.clone(), quoted: true })
}

/// The byte where a column begins.
fn byte(text: &str, column: usize) -> usize {
    text.char_indices().nth(column.saturating_sub(1)).map_or(text.len(), |(at, _)| at)
}
