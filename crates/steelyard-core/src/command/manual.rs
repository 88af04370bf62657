//! Everything about each command, as a page of the manual: from the attribute rows, what is known of their defaults and of
//! what goes together, and the table of commands that configure nothing.
//!
//! Owns which sentences are said about an argument; how a page looks, on a terminal or as a file for `man`, is not decided here.

use super::counted::form_of;
use super::described::{DEPENDENCIES, Described, described};
use super::form::{Form, form};
use super::help::{limits, synopsis, synopsis_of_once, value_of};
use super::once::{JSON, Once, What, once};
use super::{OF_THE_APPLIANCE, Object, Verb, about, value};
use crate::config::attribute::{Change, Effect, Kind, Row, Value};

/// A page.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Page {
    /// `add lb vserver`
    pub name: String,
    /// One line.
    pub purpose: String,
    /// As `help` has it, without the word before it.
    pub synopsis: String,
    /// Paragraphs.
    pub description: Vec<String>,
    /// In the order of the synopsis.
    pub arguments: Vec<Entry>,
    /// Names of other pages.
    pub see_also: Vec<String>,
}

/// An argument.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// As it is written: `-weight <positive_integer>`.
    pub name: String,
    /// Sentences.
    pub text: String,
}

/// Every page: objects in the order of the vocabulary with their verbs, then what configures nothing.
pub fn pages() -> impl Iterator<Item = Page> {
    let own = Object::ALL
        .into_iter()
        .flat_map(|object| Verb::ALL.into_iter().filter_map(move |verb| page_of(verb, object)));
    let counted = OF_THE_APPLIANCE.iter().filter_map(|object| page_of_counted(object));
    own.chain(counted).chain(once().map(page_of_once))
}

/// The page of a command of objects; `None` when the verb does not go with the object.
pub(super) fn page_of(verb: Verb, object: Object) -> Option<Page> {
    let form = form(verb, object)?;
    let known = described(object);
    let entry = |row: &'static Row| {
        let of = known.iter().find(|described| described.row == row);
        Entry { name: name_of(verb, &form, row), text: text_of((verb, Some(object)), &form, row, of) }
    };
    let others = Verb::ALL.into_iter().filter(|other| *other != verb && self::form(*other, object).is_some());
    Some(Page {
        name: format!("{} {}", verb.text(), object.text()),
        purpose: format!("{} {}", about::of_verb(verb), about::object(object)),
        synopsis: synopsis(verb, object.text(), &form),
        description: object.is_stored().then(|| STORED.to_owned()).into_iter().collect(),
        arguments: form.rows().map(entry).chain(json(verb)).collect(),
        see_also: others.map(|other| format!("{} {}", other.text(), object.text())).collect(),
    })
}

/// The page of a `stat` of what nothing configures.
pub(super) fn page_of_counted(object: &str) -> Option<Page> {
    let form = form_of(object)?;
    let entry = |row: &'static Row| {
        let text = text_of((Verb::Stat, None), &form, row, None);
        Entry { name: name_of(Verb::Stat, &form, row), text }
    };
    Some(Page {
        name: format!("{} {object}", Verb::Stat.text()),
        purpose: about::of_verb(Verb::Stat).to_owned(),
        synopsis: synopsis(Verb::Stat, object, &form),
        description: Vec::new(),
        arguments: form.rows().map(entry).chain(json(Verb::Stat)).collect(),
        see_also: Vec::new(),
    })
}

/// The page of a command that configures nothing.
pub(super) fn page_of_once(once: &Once) -> Page {
    let entry = |part: &super::once::Part| {
        let mut text = sentence(part.help);
        if let What::Words(words) = part.what {
            text.push_str(&format!(" One of {}.", words.join(", ")));
        }
        if part.required {
            text.push_str(" Required.");
        }
        Entry { name: super::help::part(part), text }
    };
    Page {
        name: once.name(),
        purpose: once.help.to_owned(),
        synopsis: synopsis_of_once(once),
        description: once.beyond.then(|| BEYOND.to_owned()).into_iter().collect(),
        arguments: once.parts.iter().map(entry).collect(),
        see_also: Vec::new(),
    }
}

/// What the prompt takes off the lines of these verbs.
fn json(verb: Verb) -> Option<Entry> {
    let is_looking = matches!(verb, Verb::Show | Verb::Stat);
    is_looking.then(|| Entry { name: JSON.0.to_owned(), text: format!("{} {BEYOND}", JSON.1) })
}

/// An argument as it is written.
fn name_of(verb: Verb, form: &Form, row: &Row) -> String {
    let is_option = form.options.iter().any(|option| option.row == row);
    match (is_option, verb) {
        (true, Verb::Unset) => format!("-{}", row.cli),
        (true, _) => format!("-{}{}", row.cli, value_of(row)),
        (false, _) => format!("<{}>", row.cli),
    }
}

/// What is said of an argument.
fn text_of(command: (Verb, Option<Object>), form: &Form, row: &Row, described: Option<&Described>) -> String {
    let (verb, object) = command;
    let mut said = vec![sentence(row.help)];
    if form.slots.iter().any(|slot| slot.required && slot.row == row) {
        said.push("Required.".to_owned());
    }
    if verb != Verb::Unset {
        said.extend(values(row));
        if row.ranged {
            said.push("A range stands for several: web[1-3].".to_owned());
        }
    }
    if matches!(verb, Verb::Add | Verb::Set | Verb::Unset) {
        said.extend(described.into_iter().flat_map(defaults));
    }
    if verb == Verb::Add && row.change == Change::AtAdd && form.options.iter().any(|of| of.row == row) {
        said.push("'set' does not change it.".to_owned());
    }
    said.extend(object.into_iter().flat_map(|object| dependencies(object, form, row)));
    if !matches!(verb, Verb::Show | Verb::Stat | Verb::Rm) {
        said.extend(effect(row.effect));
    }
    said.join(" ")
}

/// What may stand there.
fn values(row: &Row) -> Vec<String> {
    let mut said = Vec::new();
    if let Kind::Word(words) | Kind::WordList(words) = row.kind {
        let which = if matches!(row.kind, Kind::WordList(_)) { "Any of" } else { "One of" };
        said.push(format!("{which} {}.", words.carried.join(", ")));
        if !words.not_carried.is_empty() {
            said.push(format!("Known, and not carried here yet: {}.", words.not_carried.join(", ")));
        }
    }
    if let Kind::Span { .. } = row.kind {
        said.push("In seconds, unless SEC, MSEC or MIN follows.".to_owned());
    }
    said.extend(limits(row.kind).map(|limits| format!("{}.", capital(&limits))));
    said
}

/// What holds where nothing is given, and who has it at all.
fn defaults(of: &Described) -> Vec<String> {
    let written = |value: &Value| {
        let mut out = String::new();
        value::write(&of.row.kind, value, &mut out);
        Some(out).filter(|out| !out.is_empty() && out != "\"\"")
    };
    let mut said = Vec::new();
    said.extend(of.default.as_ref().and_then(written).map(|value| format!("Default: {value}.")));
    let mut values: Vec<(String, Vec<&str>)> = Vec::new();
    for (kind, value) in &of.by_type {
        let Some(value) = written(value) else { continue };
        match values.iter_mut().find(|(known, _)| *known == value) {
            Some((_, kinds)) => kinds.push(kind),
            None => values.push((value, vec![kind])),
        }
    }
    // The value of most is said without naming them.
    values.sort_by_key(|(_, kinds)| kinds.len());
    if let Some((most, _)) = values.pop() {
        let others: Vec<String> =
            values.iter().map(|(value, kinds)| format!("; {value} of {}", kinds.join(", "))).collect();
        said.push(format!("Default: {most}{}.", others.concat()));
    }
    if !of.types.is_empty() {
        said.push(format!("Only of {}.", of.types.join(", ")));
    }
    let by_word = of.types_by_word.iter();
    said.extend(by_word.map(|(word, kinds)| format!("{word} only of {}.", kinds.join(", "))));
    said
}

/// What it needs and excludes, as far as that may be given in the same command.
fn dependencies(object: Object, form: &Form, row: &Row) -> Vec<String> {
    let name = |nitro: &&str| form.rows().find(|row| row.nitro == *nitro).map(|row| row.cli);
    let known = || DEPENDENCIES.iter().filter(|known| known.object == object && known.attribute == row.nitro);
    let all = |names: Vec<&str>, before: &str| {
        (!names.is_empty()).then(|| format!("{before} {}.", names.join(", ")))
    };
    let needs = all(known().flat_map(|known| known.needs).filter_map(name).collect(), "Needs");
    let excludes = all(known().flat_map(|known| known.excludes).filter_map(name).collect(), "Not with");
    needs.into_iter().chain(excludes).collect()
}

fn effect(effect: Effect) -> Option<String> {
    let said = match effect {
        Effect::Acts => return None,
        Effect::Inert => "Kept, shown and saved; it changes no traffic.",
        Effect::Traffic => "Kept, shown and saved; not acted on here, although traffic depends on it.",
        Effect::Exposure => "Kept, shown and saved; not acted on here, although it decides who gets in.",
    };
    Some(said.to_owned())
}

/// With an end.
fn sentence(text: &str) -> String {
    let text = text.trim();
    if text.ends_with(['.', '!', '?']) { text.to_owned() } else { format!("{text}.") }
}

fn capital(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or(String::new(), |first| first.to_uppercase().chain(characters).collect())
}

const STORED: &str = "Kept, shown, changed and saved like any other object; nothing, or next to nothing, of it acts on traffic here.";
const BEYOND: &str = "An addition of Steelyard: no appliance has it.";
