//! Fields of a body, arguments of a query and the name in a path, as a command's rows have them (`spec/nitro.md` 3, 5).

use serde_json::{Map, Value};
use steelyard_core::command::{Command, Refusal, Taken, Verb};
use steelyard_core::config::attribute::{Kind, Row};

use super::refused::refused;
use crate::nitro::reply::Failure;
use crate::nitro::resource::Change;

/// What a command is given: the words of each row.
pub struct Given<'c> {
    change: &'c Change,
    verb: Verb,
    taken: &'c Taken,
    fields: Vec<Field>,
}

struct Field {
    row: &'static Row,
    /// What the client called it.
    called: String,
    words: Vec<String>,
    source: Source,
}

/// Where something was given. What stands in several places counts once, the first counts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    Body,
    Arguments,
    Path,
}

impl<'c> Given<'c> {
    /// Nothing yet.
    pub fn new(change: &'c Change, verb: Verb, taken: &'c Taken) -> Given<'c> {
        Given { change, verb, taken, fields: Vec::new() }
    }

    /// The fields of an object of the body. What is null is not given.
    pub fn body(&mut self, object: &Map<String, Value>) -> Result<(), Failure> {
        for (name, value) in object.iter().filter(|(_, value)| !value.is_null()) {
            if self.is_unit(name, object) || is_said_by_another(name, object) {
                continue;
            }
            let row = self.row(name)?;
            let Some(mut words) = self.words(row, value).map_err(|()| Failure::wrong_type(name))? else {
                continue;
            };
            if let (Kind::Span { unit, .. }, false) = (row.kind, words.is_empty())
                && let Some(value) = object.get(unit).filter(|value| !value.is_null())
            {
                words.extend(word(value).map(Some).map_err(|()| Failure::wrong_type(unit))?);
            }
            self.put(row, name, words, Source::Body)?;
        }
        Ok(())
    }

    /// `args=k:v,k:v`.
    pub fn arguments(&mut self, pairs: &[(String, String)]) -> Result<(), Failure> {
        for (name, value) in pairs {
            let row = self.row(name)?;
            let words = match (row.kind, &*value.to_ascii_lowercase()) {
                (Kind::Bare, "true") => Vec::new(),
                (Kind::Bare, "false") => continue,
                _ => vec![value.clone()],
            };
            self.put(row, name, words, Source::Arguments)?;
        }
        Ok(())
    }

    /// What the path names.
    pub fn path(&mut self, key: &str, id: &str) -> Result<(), Failure> {
        let row = self.row(key)?;
        self.put(row, key, vec![id.to_owned()], Source::Path)
    }

    /// The command.
    pub fn command(&self) -> Result<Command, Failure> {
        let words: Vec<Vec<&str>> =
            self.fields.iter().map(|field| field.words.iter().map(String::as_str).collect()).collect();
        let given: Vec<(&str, &[&str])> =
            self.fields.iter().zip(&words).map(|(field, words)| (field.row.nitro, &words[..])).collect();
        Command::new(self.verb, self.change.object, &given).map_err(|refusal| refused(&refusal))
    }

    fn row(&self, name: &str) -> Result<&'static Row, Failure> {
        let unknown = || refused(&Refusal::UnknownArgument { word: name.to_owned(), nearest: None });
        self.taken.row_of_nitro(&self.change.row(name)).ok_or_else(unknown)
    }

    fn put(
        &mut self,
        row: &'static Row,
        called: &str,
        words: Vec<String>,
        source: Source,
    ) -> Result<(), Failure> {
        match self.fields.iter().find(|field| field.row == row) {
            Some(other) if other.source == source && (other.words != words || row.kind == Kind::Host) => {
                Err(refused(&twice(row, &other.called, called)))
            }
            Some(_) => Ok(()),
            None => {
                self.fields.push(Field { row, called: called.to_owned(), words, source });
                Ok(())
            }
        }
    }

    /// The words of a value; `None` of one that is not given: a flag that is false.
    fn words(&self, row: &Row, value: &Value) -> Result<Option<Vec<String>>, ()> {
        if self.verb == Verb::Unset && !self.taken.is_word(row) {
            let named = !matches!(value, Value::Bool(false)) && value.as_str() != Some("false");
            return Ok(named.then(Vec::new));
        }
        Ok(match value {
            Value::Bool(given) if row.kind == Kind::Bare => given.then(Vec::new),
            Value::Array(items) => Some(items.iter().map(word).collect::<Result<_, _>>()?),
            Value::String(text) if matches!(row.kind, Kind::WordList(_)) => {
                Some(text.split_ascii_whitespace().map(str::to_owned).collect())
            }
            value => Some(vec![word(value)?]),
        })
    }

    /// Units are fields of their own here and words behind the value in a command.
    fn is_unit(&self, name: &str, object: &Map<String, Value>) -> bool {
        let is_of = |row: &Row| matches!(row.kind, Kind::Span { unit, .. } if unit == name);
        self.taken.rows().any(|row| is_of(row) && object.contains_key(row.nitro))
    }
}

/// That a label is invoked says its kind in a command, and a flag besides in NITRO.
fn is_said_by_another(name: &str, object: &Map<String, Value>) -> bool {
    name.eq_ignore_ascii_case("invoke") && object.contains_key("labeltype")
}

impl Change {
    /// The row's name of what a client calls `field`.
    pub fn row(&self, field: &str) -> String {
        let field = field.to_ascii_lowercase();
        let renamed = self.renamed.iter().find(|(from, _)| *from == field);
        renamed.map_or(field, |(_, to)| (*to).to_owned())
    }
}

/// NITRO has several names of one row where a command takes either of two things.
fn twice(row: &Row, one: &str, other: &str) -> Refusal {
    let named = |name: &&&str| name.eq_ignore_ascii_case(one) || name.eq_ignore_ascii_case(other);
    match SECOND_NAMES.iter().find(named) {
        Some(second) if !one.eq_ignore_ascii_case(other) => {
            Refusal::Exclusive { argument: row.cli, other: second }
        }
        _ => Refusal::GivenTwice { argument: row.cli },
    }
}

fn word(value: &Value) -> Result<String, ()> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        _ => Err(()),
    }
}

/// What NITRO calls a row besides its own name, as messages spell it.
const SECOND_NAMES: &[&str] = &["IP", "IPAddress", "domain", "serviceGroupName"];
