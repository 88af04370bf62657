//! The line that is being typed: its keys, the lines before it, and where completion comes in.
//!
//! Owns what a key may do. Pasted text is typed text, as on the appliance: what is pasted is carried out line by line, and what
//! was typed ahead waits for its turn. The hard question is a line without an end: past what a command may have, keys change
//! nothing any more, so that neither memory nor the terminal is flooded, and the line is refused as one.

use std::io::{ErrorKind, Write};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

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
use super::idle::Idle;
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
    /// Nothing, for as long as a prompt may be idle.
    Idle,
    /// There will be no more: Ctrl-D, or the terminal has gone.
    End,
}

/// The lines of a terminal.
pub struct Lines<'d> {
    editor: Editor<Completing<'d>, DefaultHistory>,
    door: &'d Door,
    asked: Arc<Asked>,
    idle: Idle,
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
        let unusable = |error| Fault::System { what: "use the terminal", error };
        let mut editor = editor.map_err(|wrong| unusable(std::io::Error::other(wrong)))?;
        let idle = Idle::watched().map_err(unusable)?;
        editor.set_helper(Some(Completing { door }));
        for mark in [KeyCode::BracketedPasteStart, KeyCode::BracketedPasteEnd] {
            editor.bind_sequence(KeyEvent(mark, Modifiers::NONE), Cmd::Noop);
        }
        let asked = Arc::new(Asked::default());
        let keys = Keys { asked: Arc::clone(&asked), idle: idle.clone(), ..Keys::default() };
        editor.bind_sequence(Event::Any, EventHandler::Conditional(Box::new(keys)));
        Ok(Lines { editor, door, asked, idle })
    }

    /// Asks for the next one, for so long without a key; 0 seconds are for ever. What may stand in it is listed below as
    /// often as `?` asks, and the line then goes on.
    pub fn next(&mut self, prompt: &str, timeout_s: u32) -> Given {
        let mut begun = (String::new(), String::new());
        loop {
            self.idle.begins(timeout_s);
            let given = self.editor.readline_with_initial(prompt, (&begun.0, &begun.1));
            if self.idle.ends() {
                return Given::Idle;
            }
            let (Some(at), Ok(line)) = (self.asked.take(), &given) else { return given_by(given) };
            let text = completing::listing(self.door, line, at);
            // Of a terminal that is gone the next line tells.
            drop(std::io::stdout().write_all(text.as_bytes()));
            let (before, after) = line.split_at_checked(at).unwrap_or((line, ""));
            begun = (before.to_owned(), after.to_owned());
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

fn given_by(result: rustyline::Result<String>) -> Given {
    match result {
        Ok(line) => Given::Line(line),
        Err(ReadlineError::Interrupted) => Given::Dropped,
        Err(ReadlineError::Io(error)) if error.kind() == ErrorKind::InvalidData => Given::NotText,
        Err(_) => Given::End,
    }
}

/// Where in the line `?` was pressed, once it was.
#[derive(Default)]
struct Asked(Mutex<Option<usize>>);

impl Asked {
    fn note(&self, at: usize) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(at);
    }

    fn take(&self) -> Option<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
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

/// Sees each key: keeps the line, and what is searched for, within bounds, knows the one that asks what may stand there, and
/// keeps the prompt awake.
#[derive(Default)]
struct Keys {
    asked: Arc<Asked>,
    idle: Idle,
    /// So many characters since the last key that is none.
    characters: AtomicUsize,
    /// They are what is searched for.
    search: AtomicBool,
}

impl ConditionalEventHandler for Keys {
    fn handle(&self, event: &Event, times: RepeatCount, _: bool, about: &EventContext) -> Option<Cmd> {
        self.idle.key();
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
            // The line is taken as it is, and asked for again behind the list.
            (KeyCode::Char('?'), with) if *with == Modifiers::NONE && asks(about) => {
                self.asked.note(about.pos());
                Some(Cmd::AcceptLine)
            }
            _ => None,
        }
    }
}

impl Keys {
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

/// Does `?` ask what may stand where the cursor is? Inside quotes it is a character like any other.
fn asks(about: &EventContext) -> bool {
    about.line().get(..about.pos()).is_some_and(completing::asks)
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
