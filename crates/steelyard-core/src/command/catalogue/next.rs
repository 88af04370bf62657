//! What may stand next among the first words of a line: the same words as those that are read there.
//!
//! Never says what a command takes behind its object. The hard question is the old form without the group `ns`: it is
//! offered only where nothing else fits what was begun, since it is read only there.

use super::super::about::{self, About};
use super::super::form::form;
use super::super::lex::Word;
use super::super::once::once;
use super::super::refusal::Refusal;
use super::{NS, Reader, actions, first_words, looks, objects, own_object, rows, verbs};
use crate::command::Verb;
use crate::command::abbreviation::begins;
use crate::config::kept::Class;

/// What follows some words.
pub(in crate::command) struct Next {
    /// The words that may stand there.
    pub(in crate::command) words: Vec<About>,
    /// May the line end here?
    pub(in crate::command) may_end: bool,
}

/// What may follow `words` among the first words of a line, where `begun` is what is there of the next one; `None`
/// where they say already what the command is about.
///
/// # Errors
/// The words are not how a command begins.
pub(in crate::command) fn next(words: &[Word], begun: &str) -> Result<Option<Next>, Refusal> {
    if words.is_empty() {
        return Ok(Some(Next { words: first().collect(), may_end: false }));
    }
    let mut reader = Reader { words, used: 0, end: 1 };
    let verb = reader.verb().map_err(|(refusal, _)| refusal)?;
    if actions().any(|action| action == verb) {
        return Ok(None);
    }
    let looks = looks(verb);
    if reader.used == words.len() {
        return Ok(Some(Next { words: behind_verb(verb, begun), may_end: false }));
    }
    match reader.object(looks) {
        Ok((group, "")) if reader.used == words.len() => {
            Ok(Some(Next { words: behind_group(verb, group), may_end: true }))
        }
        Ok(_) => Ok(None),
        Err((Refusal::Incomplete { .. }, _)) => {
            let mut again = Reader { words, used: 1, end: 1 };
            let group = again.next(first_words(looks).collect()).map_err(|(refusal, _)| refusal)?;
            Ok(Some(Next { words: behind_group(verb, group), may_end: false }))
        }
        Err((refusal, _)) => Err(refusal),
    }
}

/// Verbs, and what is done once and carried out here.
pub(in crate::command) fn first() -> impl Iterator<Item = About> {
    let kept = verbs().filter(|verb| !actions().any(|action| action == *verb));
    kept.map(about::verb).chain(once().map(|once| About::of(once.verb, once.help)))
}

/// The groups of objects that some verb goes with, and objects without a group.
pub(in crate::command) fn groups() -> impl Iterator<Item = About> {
    behind_verb(Verb::Show.text(), "").into_iter()
}

/// What can be shown of a group.
pub(in crate::command) fn objects_of(group: &'static str) -> Vec<About> {
    behind_group(Verb::Show.text(), group)
}

fn behind_verb(verb: &str, begun: &str) -> Vec<About> {
    let mut found: Vec<About> = Vec::new();
    for word in first_words(looks(verb)) {
        if found.iter().any(|known| known.word == word) {
            continue;
        }
        match objects(word, looks(verb)).next() {
            None => found.extend(object(verb, "", word)),
            Some(_) if behind_group(verb, word).is_empty() => {}
            Some(_) => found.push(about::group(word)),
        }
    }
    if !begun.is_empty() && !found.iter().any(|known| begins(known.word, begun)) {
        found.extend(behind_group(verb, NS));
    }
    found
}

fn behind_group(verb: &str, group: &'static str) -> Vec<About> {
    objects(group, looks(verb)).filter_map(|name| object(verb, group, name)).collect()
}

/// An object, if the verb goes with it.
fn object(verb: &str, group: &str, name: &'static str) -> Option<About> {
    let own = Verb::ALL.into_iter().find(|own| own.text() == verb);
    if let (Some(verb), Some(object)) = (own, own_object(group, name)) {
        return form(verb, object).map(|_| About::of(name, about::object(object)));
    }
    let of_group = |word: &str| inside_of(group, word, looks(verb));
    of_group(name).map(|class| About::of(name, about::kept(class)))
}

/// As what lines about an object of the table are kept.
fn inside_of(group: &str, name: &str, looks: bool) -> Option<Class> {
    rows(looks)
        .find(|row| row.group == group && row.objects().any(|known| known == name))
        .map(|row| row.class)
}
