//! The line that is being typed: its keys, the lines before it, and where completion comes in.
//!
//! Owns what a key may do. Pasted text is typed text, as on the appliance: what is pasted is carried out line by line, and what
//! was typed ahead waits for its turn. The hard question is a line without an end: past what a command may have, keys change
//! nothing any more, so that neither memory nor the terminal is flooded, and the line is refused as one.

use std::io::ErrorKind;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rustyline::completion::{Candidate as Shown, Completer};
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::DefaultHistory;
use rustyline::validate::Validator;
use rustyline::{
    Anchor, Cmd, CompletionType, ConditionalEventHandler, Config, Context, Editor, Event, EventContext,
    EventHandler, Helper, KeyCode, KeyEvent, Modifiers, RepeatCount,
};

use super::LONGEST;
use super::completing::{self, Candidate};
use crate::door::Door;
use crate::fault::Fault;

/// What came of asking for a line.
pub enum Given {
    /// A line, without its end.
    Line(String),
    /// Nothing: Ctrl-C dropped it.
    Dropped,
    /// It is no text.
    NotText,
    /// There will be no more: Ctrl-D, or the terminal has gone.
    End,
}

/// The lines of a terminal.
pub struct Lines<'d> {
    editor: Editor<Completing<'d>, DefaultHistory>,
}

impl<'d> Lines<'d> {
    /// None typed yet.
    ///
    /// # Errors
    /// The terminal cannot be used.
    pub fn new(door: &'d Door) -> Result<Lines<'d>, Fault> {
        let config = Config::builder()
            .max_history_size(KEPT)
            .map(|config| config.completion_type(CompletionType::List).bracketed_paste(false).build());
        let editor = config.and_then(Editor::with_config);
        let mut editor = editor.map_err(|wrong| Fault::System {
            what: "use the terminal",
            error: std::io::Error::other(wrong),
        })?;
        editor.set_helper(Some(Completing { door }));
        for mark in [KeyCode::BracketedPasteStart, KeyCode::BracketedPasteEnd] {
            editor.bind_sequence(KeyEvent(mark, Modifiers::NONE), Cmd::Noop);
        }
        editor.bind_sequence(Event::Any, EventHandler::Conditional(Box::new(Bounds::default())));
        Ok(Lines { editor })
    }

    /// Asks for the next one.
    pub fn next(&mut self, prompt: &str) -> Given {
        match self.editor.readline(prompt) {
            Ok(line) => Given::Line(line),
            Err(ReadlineError::Interrupted) => Given::Dropped,
            Err(ReadlineError::Io(error)) if error.kind() == ErrorKind::InvalidData => Given::NotText,
            Err(_) => Given::End,
        }
    }

    /// Lets the arrow keys find it again.
    pub fn remember(&mut self, line: &str) {
        if !line.trim().is_empty() && line.len() < LONGEST {
            // Kept in memory, where nothing can fail.
            drop(self.editor.add_history_entry(line));
        }
    }
}

/// What Tab offers.
struct Completing<'d> {
    door: &'d Door,
}

impl Completer for Completing<'_> {
    type Candidate = Candidate;

    fn complete(&self, line: &str, at: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<Candidate>)> {
        Ok(completing::candidates(self.door, line, at))
    }
}

impl Hinter for Completing<'_> {
    type Hint = String;
}

impl Highlighter for Completing<'_> {}
impl Validator for Completing<'_> {}
impl Helper for Completing<'_> {}

impl Shown for Candidate {
    fn display(&self) -> &str {
        &self.shown
    }

    fn replacement(&self) -> &str {
        &self.text
    }
}

/// Keeps the line, and what is searched for, within bounds.
#[derive(Default)]
struct Bounds {
    /// So many characters since the last key that is none.
    characters: AtomicUsize,
    /// They are what is searched for.
    search: AtomicBool,
}

impl ConditionalEventHandler for Bounds {
    fn handle(&self, event: &Event, times: RepeatCount, _: bool, about: &EventContext) -> Option<Cmd> {
        let KeyEvent(key, with) = event.get(0)?;
        let (is_search, so_far) = self.count(*key, *with);
        if is_end(*key, *with) {
            return None;
        }
        if about.line().len() >= LONGEST || so_far > if is_search { LONGEST_SEARCH } else { LONGEST } {
            return Some(Cmd::Noop);
        }
        // What was cut may be as long as a line, and comes back once for each key.
        match (key, with) {
            (KeyCode::Char('Y'), with) if *with == Modifiers::CTRL && times > 1 => {
                Some(Cmd::Yank(1, Anchor::Before))
            }
            _ => None,
        }
    }
}

impl Bounds {
    /// Is this key one of a search, and the how manieth character?
    fn count(&self, key: KeyCode, with: Modifiers) -> (bool, usize) {
        let is_search = match (key, with) {
            (KeyCode::Char('R' | 'S'), Modifiers::CTRL) => {
                if !self.search.swap(true, Ordering::Relaxed) {
                    self.characters.store(0, Ordering::Relaxed);
                }
                true
            }
            (KeyCode::Char(_), Modifiers::NONE) => {
                self.characters.fetch_add(1, Ordering::Relaxed);
                self.search.load(Ordering::Relaxed)
            }
            (KeyCode::Backspace, _) if self.search.load(Ordering::Relaxed) => true,
            _ => {
                self.characters.store(0, Ordering::Relaxed);
                self.search.store(false, Ordering::Relaxed);
                false
            }
        };
        (is_search, self.characters.load(Ordering::Relaxed))
    }
}

/// Does the key give the line, or drop it?
fn is_end(key: KeyCode, with: Modifiers) -> bool {
    match key {
        KeyCode::Enter => true,
        KeyCode::Char('J' | 'M' | 'C') => with == Modifiers::CTRL,
        _ => false,
    }
}

/// What is searched for, in characters: with each one the terminal is told all of them anew.
const LONGEST_SEARCH: usize = 200;
/// Lines that the arrow keys find.
const KEPT: usize = 1_000;
