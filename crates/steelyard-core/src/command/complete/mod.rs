//! What may stand at a place of a line: what Tab completes and `?` lists at the prompt.
//!
//! Owns what a candidate is, how many there are and which of the line's words are understood before it. Which words those
//! are say the tables by which lines are read: `catalogue` for the first ones, `arguments` for the rest, so that nothing
//! is offered that would be refused. The hard question is the word under the cursor, which may be inside quotes that are not
//! closed yet.

mod bound;
mod cursor;
mod once;
mod slots;
mod values;

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::abbreviation::begins;
use super::catalogue::{Head, head, next, stored, title};
use super::counted::{counted_of, form_of};
use super::form::form;
use super::lex::Word;
use super::once::{CLI, FILTERS, GREP, JSON};
use super::parse::understand;
use super::refusal::Refusal;
use super::resolve::names_of;
use super::value::write_text;
use super::{Object, Verb, text};
use crate::config::Config;
use cursor::Cursor;

/// What may stand at a place of a line.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Completion {
    /// The byte of the line where the word begins whose place a candidate takes; it ends at the cursor.
    pub start: usize,
    /// Words that may stand there, in quotes where they need them.
    pub candidates: Vec<Candidate>,
    /// How many more there are.
    pub more: usize,
    /// What all of them begin with, those not listed too.
    pub common: String,
    /// What may stand there in anybody's own words: `<name>`.
    pub expected: Vec<Candidate>,
    /// Is the line up to there a whole command?
    pub is_whole: bool,
}

/// A word, and what it is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Candidate {
    /// As it is typed.
    pub word: Cow<'static, str>,
    /// One line for people; empty where there is no more to say than the word says.
    pub help: Cow<'static, str>,
    /// Is the command refused without it?
    pub required: bool,
}

/// What may stand at byte `at` of a line: words that go on with the one before `at`, if there is no blank between. Names are
/// those of objects about which `may` allows the command `show`, given in full.
///
/// # Errors
/// [`Refusal`] of the words before: nothing that follows them could help.
pub fn complete(
    line: &str,
    at: usize,
    config: &Config,
    may: &dyn Fn(&str) -> bool,
) -> Result<Completion, Refusal> {
    if line.len() > text::LONGEST_COMMAND {
        return Err(Refusal::LineTooLong { max: text::LONGEST_COMMAND });
    }
    let at = line.floor_char_boundary(at);
    let nothing = Completion { start: at, ..Completion::default() };
    let Some(Cursor { words, start, begun, quoted }) = cursor::at(&line[..at]) else { return Ok(nothing) };
    let mut search = Search {
        config,
        may,
        judged: 0,
        is_denied: false,
        is_open: begun.is_empty() && !quoted,
        begun,
        quoted,
        found: Completion { start, ..nothing },
    };
    match words.iter().rposition(|word| word.text == "|") {
        Some(pipe) if pipe > 0 => search.filters(&words[pipe + 1..]),
        _ => {
            let (json, words): (Vec<Word>, Vec<Word>) =
                words.into_iter().partition(|word| word.text == JSON.0);
            search.line(&words)?;
            if json.is_empty() && looks(&words) && !search.found.may_only_be_a_value() {
                search.word(JSON.0, JSON.1, Need::Not);
            }
        }
    }
    Ok(search.found)
}

/// Is a key that is typed behind this text a character of the line, whatever else it means? So it is inside quotes, in a
/// remark, inside the brackets of an expression, and behind a backslash.
pub fn is_inside_text(line: &str) -> bool {
    let q_quote = |begun: &str| {
        let mut characters = begun.chars();
        characters.next() == Some('q') && characters.next().is_some_and(|next| "/{<|~$^+=&%@`".contains(next))
    };
    line.ends_with('\\') || cursor::at(line).is_none_or(|at| at.quoted || q_quote(&at.begun))
}

/// Is that a `show` or `stat` of something?
fn looks(words: &[Word]) -> bool {
    let of_session = words.get(1).is_some_and(|word| word.text.eq_ignore_ascii_case(CLI));
    let verb = title(words).filter(|_| !of_session).map_or("", |title| title.verb);
    verb == Verb::Show.text() || verb == Verb::Stat.text()
}

impl Completion {
    /// Is something to be given there that is no option?
    fn may_only_be_a_value(&self) -> bool {
        self.candidates.iter().chain(&self.expected).any(|of| of.required)
    }
}

/// A completion in the making.
struct Search<'a> {
    config: &'a Config,
    may: &'a dyn Fn(&str) -> bool,
    /// How many names were judged by that.
    judged: usize,
    /// May one of them not be told?
    is_denied: bool,
    /// What is there of the word, without its quotes.
    begun: String,
    quoted: bool,
    /// Is nothing there of it?
    is_open: bool,
    found: Completion,
}

impl Search<'_> {
    /// What may follow these words.
    fn line(&mut self, words: &[Word]) -> Result<(), Refusal> {
        self.found.is_whole = self.is_open && !words.is_empty() && understand(words).is_ok();
        if self.of_the_session(words) {
            return Ok(());
        }
        if let Some(next) = next::next(words, &self.begun)? {
            next.words.iter().for_each(|about| self.word(about.word, about.help, Need::Not));
            if let [verb] = words {
                self.session_after(verb);
            }
            self.found.candidates.sort_by_cached_key(|candidate| candidate.word.to_ascii_lowercase());
            self.found.is_whole &= next.may_end;
            if next.may_end {
                self.counted(words)?;
            }
            return Ok(());
        }
        match head(words, 0).map_err(|(refusal, _)| refusal)? {
            Head::Command { verb, object, used, .. } => {
                let Some(form) = form(verb, object) else {
                    return understand(words).map(drop).map_err(|(refusal, _)| refusal);
                };
                let refused = self.arguments((verb, object), &form, &words[used..]);
                // What cannot be read of an object that nothing acts on is kept as it stands.
                if stored(words).is_none() { refused } else { Ok(()) }
            }
            Head::Kept(_) if self.once(words) => Ok(()),
            Head::Kept(_) => {
                if self.counted(words)? {
                    return Ok(());
                }
                self.own_words("arguments", "What an appliance takes there; kept as it stands.", Need::Not);
                Ok(())
            }
        }
    }

    /// What may follow in a `stat` of what nothing configures; false if it is none.
    fn counted(&mut self, words: &[Word]) -> Result<bool, Refusal> {
        let Some((object, used)) = counted_of(words) else { return Ok(false) };
        let Some(form) = form_of(object) else { return Ok(false) };
        // Which object that is stays unsaid: none that is configured is counted here.
        self.arguments((Verb::Stat, Object::NsConfig), &form, &words[used..])?;
        Ok(true)
    }

    /// What may follow a `|`.
    fn filters(&mut self, words: &[Word]) {
        match words {
            [] => FILTERS.iter().for_each(|(word, help)| self.word(word, help, Need::Not)),
            [verb, given @ ..] if verb.text.eq_ignore_ascii_case("grep") => {
                let is_given = |option: &str| given.iter().any(|word| word.text == option);
                // `-A` alone is followed by a word of its own: how many lines.
                let counts = |at: usize| given.get(at).is_some_and(|word| word.text == "-A");
                let is_pattern = |at: usize| !(given[at].option || at > 0 && counts(at - 1));
                match (0..given.len()).any(is_pattern) {
                    true => self.pipe(),
                    false if counts(given.len().wrapping_sub(1)) => {
                        self.own_words("lines", "So many.", Need::Must);
                    }
                    false => {
                        let free = GREP.iter().filter(|(option, _)| !is_given(option));
                        free.for_each(|(option, help)| self.word(option, help, Need::Not));
                        self.own_words("pattern", "A regular expression.", Need::Must);
                    }
                }
            }
            [verb] if verb.text.eq_ignore_ascii_case("more") => self.pipe(),
            _ => {}
        }
    }

    fn pipe(&mut self) {
        self.found.is_whole = self.is_open;
        self.word("|", "Leads what is printed through another filter.", Need::Not);
    }

    /// Offers a word that is known.
    fn word(&mut self, word: &'static str, help: &'static str, need: Need) {
        if begins(word, &self.begun) && !(self.quoted && word.starts_with('-')) {
            self.add(Candidate {
                word: Cow::Borrowed(word),
                help: Cow::Borrowed(help),
                required: need == Need::Must,
            });
        }
    }

    /// Offers the names of the objects of a kind that begin so, but for those given already.
    fn names(&mut self, object: Object, given: &[&str], need: Need) {
        let begun = self.begun.clone();
        for name in names_of(self.config, object, Some(&begun)) {
            if !given.iter().any(|given| given.eq_ignore_ascii_case(name)) {
                self.name(object, name, need);
            }
        }
    }

    /// Offers those of some names that begin so and are those of objects of a kind, each once.
    fn names_among(&mut self, object: Object, names: &[&str], need: Need) {
        let begun = self.begun.clone();
        let all: BTreeSet<String> = names.iter().map(|name| name.to_ascii_lowercase()).collect();
        for name in names_of(self.config, object, Some(&begun)) {
            if all.contains(&name.to_ascii_lowercase()) {
                self.name(object, name, need);
            }
        }
    }

    /// Offers a name, if it may be told.
    fn name(&mut self, object: Object, name: &str, need: Need) {
        // What cannot be typed can be completed neither, and must not reach a terminal.
        if name.chars().any(char::is_control) {
            return;
        }
        if self.judged >= MOST_JUDGED {
            // Whoever was told every one of so many is told how many there are.
            if !self.is_denied {
                shorten(&mut self.found.common, name);
                self.found.more += 1;
            }
            return;
        }
        self.judged += 1;
        if !(self.may)(&format!("show {} {name}", object.text())) {
            self.is_denied = true;
            return;
        }
        let mut word = String::new();
        write_text(name, &mut word);
        if self.quoted && !word.starts_with('"') {
            word = format!("\"{word}\"");
        }
        self.add(Candidate {
            word: Cow::Owned(word),
            help: Cow::Borrowed(object.text()),
            required: need == Need::Must,
        });
    }

    /// Says that any word may stand there.
    fn own_words(&mut self, name: &str, help: impl Into<Cow<'static, str>>, need: Need) {
        let word = Cow::Owned(format!("<{name}>"));
        let expected = Candidate { word, help: help.into(), required: need == Need::Must };
        self.found.expected.push(expected);
    }

    fn add(&mut self, candidate: Candidate) {
        let found = &mut self.found;
        match found.candidates.is_empty() {
            true => found.common = candidate.word.to_string(),
            false => shorten(&mut found.common, &candidate.word),
        }
        match found.candidates.len() < MOST {
            true if found.candidates.iter().any(|known| known.word == candidate.word) => {}
            true => found.candidates.push(candidate),
            false => found.more += 1,
        }
    }
}

/// Leaves of a text what another begins with, too.
fn shorten(common: &mut String, other: &str) {
    let same = common.chars().zip(other.chars()).take_while(|(one, other)| one == other);
    let length = same.map(|(one, _)| one.len_utf8()).sum();
    common.truncate(length);
}

/// Must a word be there?
#[derive(Clone, Copy, PartialEq, Eq)]
enum Need {
    Must,
    Not,
}

/// Most candidates of a word; more are only counted.
const MOST: usize = 500;
/// Most names of which policies are asked for one word: a policy may be costly.
const MOST_JUDGED: usize = 5_000;
