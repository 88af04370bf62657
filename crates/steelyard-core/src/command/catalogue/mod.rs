//! What the first words of a line say: a command of this program, or one of NetScaler's others, which is kept.
//!
//! Owns the words that commands begin with; `table` has those of the commands that are kept. The hard question is what an
//! abbreviation stands for: every word may be shortened to the beginning of exactly one of those that may stand
//! there, and the old forms without the group `ns` count only where nothing else fits.

pub(super) mod next;
mod table;

use super::abbreviation::{Match, find};
use super::lex::Word;
use super::nearest::nearest;
use super::refusal::Refusal;
use super::vocabulary::OBJECTS;
use super::{Object, Verb};
use crate::config::attribute::Effect;
use crate::config::kept::{Class, Rank};
use table::{ACTIONS, OTHER_VERBS, Row, TABLE};

/// The first words of a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Head {
    /// A verb and an object of this program.
    Command {
        /// What to do.
        verb: Verb,
        /// What to do it to.
        object: Object,
        /// Column of the object.
        column: usize,
        /// So many words say that.
        used: usize,
    },
    /// A command that is kept.
    Kept(Entry),
}

/// How a command is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Entry {
    /// As what.
    pub(super) class: Class,
    /// What not acting on it changes.
    pub(super) effect: Effect,
    /// Where a saved file has it.
    pub(super) rank: Rank,
}

impl Entry {
    /// A query, or an action that leaves nothing configured.
    pub(super) const INERT: Entry = Entry { class: Class::Inert, effect: Effect::Inert, rank: Rank::System };
}

/// Reads the first words of a line that ends at column `end`.
///
/// # Errors
/// [`Refusal`] and the column of the first word that is unknown, ambiguous or missing.
pub(super) fn head(words: &[Word], end: usize) -> Result<Head, (Refusal, usize)> {
    let mut reader = Reader { words, used: 0, end };
    let verb = reader.verb()?;
    if actions().any(|action| action == verb) {
        return Ok(Head::Kept(Entry::INERT));
    }
    let column = reader.column();
    let (group, object) = reader.object(looks(verb))?;
    let own = Verb::ALL.into_iter().find(|own| own.text() == verb);
    match (own, own_object(group, object)) {
        (Some(verb), Some(object)) => Ok(Head::Command { verb, object, column, used: reader.used }),
        _ => Ok(Head::Kept(entry(verb, group, object, words))),
    }
}

/// How a command about an object that nothing acts on is kept where it cannot be carried out.
pub(super) fn stored(words: &[Word]) -> Option<Entry> {
    let Ok(Head::Command { verb, object, .. }) = head(words, 1) else { return None };
    let (group, name) =
        object.text().split_once(' ').filter(|_| object.is_stored() && !looks(verb.text()))?;
    Some(entry(verb.text(), group, name, words))
}

/// What a command is called: each of its first words as the appliance writes it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Title {
    /// `add`
    pub(super) verb: &'static str,
    /// `ssl` of `ssl certKey`; empty if there is none.
    pub(super) group: &'static str,
    /// `certKey`; empty for what has no object.
    pub(super) object: &'static str,
    /// So many words say that.
    pub(super) used: usize,
}

/// What the command of these words is called; `None` if nothing is.
pub(super) fn title(words: &[Word]) -> Option<Title> {
    let mut reader = Reader { words, used: 0, end: 1 };
    let verb = reader.verb().ok()?;
    if actions().any(|action| action == verb) {
        return Some(Title { verb, group: "", object: "", used: reader.used });
    }
    let (group, object) = reader.object(looks(verb)).ok()?;
    Some(Title { verb, group, object, used: reader.used })
}

/// Is that how a command begins, with its verb in full? What stands inside a quote that was never closed may be one.
pub(super) fn begins_command(verb: &str, object: &str) -> bool {
    verbs().any(|known| known.eq_ignore_ascii_case(verb))
        && matches!(find(object, first_words(looks(verb))), Match::One(_))
}

/// `show` and `stat` have objects of their own.
fn looks(verb: &str) -> bool {
    verb == Verb::Show.text() || verb == Verb::Stat.text()
}

fn verbs() -> impl Iterator<Item = &'static str> {
    Verb::ALL.iter().map(|verb| verb.text()).chain(OTHER_VERBS.split_ascii_whitespace()).chain(actions())
}

fn actions() -> impl Iterator<Item = &'static str> {
    ACTIONS.split_ascii_whitespace()
}

/// Everything that can follow a verb: this program's objects, then groups, and objects without a group.
fn first_words(looks: bool) -> impl Iterator<Item = &'static str> {
    let own = OBJECTS.iter().filter(move |(_, object)| looks || !object.is_only_looked_at());
    let own = own.map(|(text, _)| text.split(' ').next().unwrap_or(text));
    own.chain(rows(looks).map(|row| row.group).filter(|group| !group.is_empty())).chain(inside("", looks))
}

/// The objects of a group that are kept.
fn inside(group: &'static str, looks: bool) -> impl Iterator<Item = &'static str> {
    rows(looks).filter(move |row| row.group == group).flat_map(Row::objects)
}

/// All the objects of a group, this program's first.
fn objects(group: &'static str, looks: bool) -> impl Iterator<Item = &'static str> {
    let own = OBJECTS.iter().filter_map(move |(text, _)| text.strip_prefix(group)?.strip_prefix(' '));
    own.chain(inside(group, looks))
}

fn rows(looks: bool) -> impl Iterator<Item = &'static Row> {
    TABLE.iter().filter(move |row| looks || row.class != Class::Inert)
}

fn own_object(group: &str, object: &str) -> Option<Object> {
    let same = |text: &str| match text.split_once(' ') {
        Some((first, second)) => first == group && second == object,
        None => group.is_empty() && text == object,
    };
    OBJECTS.iter().find(|(text, _)| same(text)).map(|(_, object)| *object)
}

/// How a command about an object of the table is kept.
fn entry(verb: &str, group: &str, object: &str, words: &[Word]) -> Entry {
    let row = TABLE.iter().find(|row| row.group == group && row.objects().any(|known| known == object));
    let Some(row) = row.filter(|row| !looks(verb) && row.class != Class::Inert) else { return Entry::INERT };
    let rank = match verb {
        "bind" | "unbind" | "link" | "unlink" | "update" => row.bound,
        "rm" | "rename" => Rank::Last,
        _ => row.rank,
    };
    let effect = match (guards(group, object, words).unwrap_or(row.effect), verb) {
        (Effect::Exposure, "rm" | "unbind" | "unset" | "disable") => Effect::Traffic,
        (effect, _) => effect,
    };
    Entry { class: row.class, effect, rank }
}

/// The effect of a line whose arguments decide whether it keeps anybody out: an access list must deny, TLS must ask for
/// a certificate.
fn guards(group: &str, object: &str, words: &[Word]) -> Option<Effect> {
    let is = |word: &Word, text: &str| word.text.eq_ignore_ascii_case(text);
    match (group, object) {
        ("ns", "acl" | "acl6" | "simpleacl" | "simpleacl6") => {
            let denies = words.iter().any(|word| is(word, "DENY"));
            Some(if denies { Effect::Exposure } else { Effect::Inert })
        }
        ("ssl", "vserver" | "profile") => {
            let asks = words.windows(2).any(|pair| is(&pair[0], "-clientAuth") && is(&pair[1], "ENABLED"));
            asks.then_some(Effect::Exposure)
        }
        _ => None,
    }
}

struct Reader<'w> {
    words: &'w [Word],
    used: usize,
    end: usize,
}

impl Reader<'_> {
    fn verb(&mut self) -> Result<&'static str, (Refusal, usize)> {
        // Every box takes it for `show`, although other verbs begin so.
        if self.words.first().is_some_and(|word| word.text.eq_ignore_ascii_case("sh")) {
            self.used += 1;
            return Ok(Verb::Show.text());
        }
        self.next(verbs().collect())
    }

    /// The group, "" for none, and the object.
    fn object(&mut self, looks: bool) -> Result<(&'static str, &'static str), (Refusal, usize)> {
        if let Some(object) = self.old_form(looks) {
            self.used += 1;
            return Ok((NS, object));
        }
        let first = self.next(first_words(looks).collect())?;
        let mut second = objects(first, looks).peekable();
        if second.peek().is_none() {
            return Ok(("", first));
        }
        match self.words.get(self.used) {
            // `stat ssl` is about the whole group.
            None if looks => Ok((first, "")),
            Some(word) if looks && word.option => Ok((first, "")),
            _ => Ok((first, self.next(second.collect())?)),
        }
    }

    /// The object of the group `ns` that the next word means without the group.
    fn old_form(&self, looks: bool) -> Option<&'static str> {
        let word = &self.words.get(self.used)?.text;
        let whole = |found: &str| found.eq_ignore_ascii_case(word);
        let first = find(word, first_words(looks));
        match find(word, objects(NS, looks)) {
            Match::One(object) if whole(object) => {
                Some(object).filter(|_| !matches!(first, Match::One(found) if whole(found)))
            }
            Match::One(object) if first == Match::None => Some(object),
            _ => None,
        }
    }

    /// Takes the next word as one of those.
    fn next(&mut self, candidates: Vec<&'static str>) -> Result<&'static str, (Refusal, usize)> {
        let Some(word) = self.words.get(self.used) else {
            let mut expected: Vec<&'static str> = Vec::new();
            for candidate in candidates {
                if !expected.contains(&candidate) {
                    expected.push(candidate);
                }
            }
            return Err((Refusal::Incomplete { expected }, self.end));
        };
        self.used += 1;
        let all = || candidates.iter().copied();
        let text = word.text.clone();
        match find(&text, all()) {
            Match::One(found) => Ok(found),
            Match::Several(candidates) => {
                Err((Refusal::AmbiguousCommand { word: text, candidates }, word.column))
            }
            Match::None => {
                let nearest = nearest(&text, all());
                Err((Refusal::UnknownCommand { word: text, nearest }, word.column))
            }
        }
    }

    fn column(&self) -> usize {
        self.words.get(self.used).map_or(self.end, |word| word.column)
    }
}

/// The group that old forms leave out.
const NS: &str = "ns";
