//! `show`: the rows of NITRO's resources first, then the layout.
//!
//! Owns what is asked of the program: each resource once, however many objects are wanted. What an object is made of
//! `table` says, which ones a command means `wanted`.

mod table;
mod wanted;

use std::collections::HashMap;

use serde_json::{Map, Value};
use steelyard_core::command::{Action, Command};

use super::layout;
use super::line::{NOT_SUPPORTED, Said};
use super::mode::Mode;
use super::progress::Progress;
use crate::door::{Door, percent_encode};
use crate::nitro;
use table::{Layout, Shown};
use wanted::{Wanted, Which};

/// An object as NITRO gives it.
pub type Fields = Map<String, Value>;

/// Rows by the name, in lower case, of the object that they are about.
type Named = HashMap<String, Vec<Fields>>;

/// What was asked for.
pub struct Found {
    shown: &'static Shown,
    /// The objects, in the order in which the program has them.
    pub items: Vec<Item>,
    /// The rows of what is shown beside them.
    beside: Vec<(&'static str, Vec<Fields>)>,
    /// A line for each is enough.
    in_brief: bool,
    /// Names stand as they are, whatever room there is.
    in_full: bool,
    /// Columns that a table may have; no end where nobody looks.
    pub room: Option<usize>,
}

/// An object, and what is bound to it.
pub struct Item {
    /// Its number, from 1.
    pub nth: usize,
    /// Is it one of a list? Then nothing is said of what is bound to it, unless that was asked for.
    pub listed: bool,
    /// Itself.
    pub of: Fields,
    bound: Vec<(&'static str, Vec<Fields>)>,
}

/// Finds what a command means; several commands are those that a range stands for.
///
/// # Errors
/// There is no such object, or the program is not reached.
pub fn find(commands: &[Command], door: &Door, mode: &Mode) -> Result<Found, Said> {
    let [command, ..] = commands else { return Err(not_shown("show")) };
    let title = command.object().text();
    let shown = Shown::of(title).ok_or_else(|| not_shown(title))?;
    found(shown, Wanted::of(commands, shown, mode)?, door)
}

/// The same of what is no object of the configuration.
///
/// # Errors
/// As [`find`].
pub fn find_beside(action: &Action, door: &Door, mode: &Mode) -> Result<Found, Said> {
    let shown = Shown::of(&action.object).ok_or_else(|| not_shown(&action.object))?;
    found(shown, Wanted::of_action(action, shown, mode)?, door)
}

impl Found {
    /// To be laid out within so many columns.
    pub fn within(self, room: Option<usize>) -> Found {
        Found { room: room.filter(|_| !self.in_full), ..self }
    }

    /// How many objects there are, where it is a list.
    pub fn total(&self) -> Option<usize> {
        self.items.first().filter(|first| first.listed).map(|_| self.items.len())
    }

    /// As the appliance lays it out.
    pub fn laid_out(&self) -> String {
        match self.shown.layout {
            _ if self.in_brief => layout::general::brief(self.shown.resource, self),
            Layout::Each(lay) => self.items.iter().map(lay).collect(),
            Layout::General(object) => {
                self.items.iter().map(|item| layout::general::text_of(object, item)).collect()
            }
            Layout::Together(lay) => lay(self),
        }
    }

    /// The rows of every resource that it is made of, as NITRO has them.
    pub fn rows(self) -> Fields {
        let mut rows = Fields::new();
        let value = |rows: Vec<Fields>| rows.into_iter().map(Value::Object).collect::<Vec<Value>>();
        let mut add = |resource: &str, of: Vec<Fields>| {
            let known = rows.entry(resource).or_insert_with(|| Value::Array(Vec::new()));
            if let Value::Array(known) = known {
                known.extend(value(of));
            }
        };
        let resource = self.shown.resource;
        add(resource, Vec::new());
        for Item { of, bound, .. } in self.items {
            add(resource, vec![of]);
            bound.into_iter().for_each(|(resource, of)| add(resource, of));
        }
        self.beside.into_iter().for_each(|(resource, of)| add(resource, of));
        for (resource, value) in &mut rows {
            if nitro::is_single(resource)
                && let Value::Array(one) = value
            {
                *value = one.pop().unwrap_or_default();
            }
        }
        rows
    }

    /// The rows of a resource that is shown beside.
    pub fn beside(&self, resource: &str) -> &[Fields] {
        of(&self.beside, resource)
    }
}

impl Item {
    /// `1)` in a list; nothing where it was asked for by name.
    pub fn place(&self) -> String {
        if self.listed { format!("{})", self.nth) } else { String::new() }
    }

    /// The rows of what is bound to it by that resource.
    pub fn bound(&self, resource: &str) -> &[Fields] {
        of(&self.bound, resource)
    }

    /// Everything that is bound to it, by resource.
    pub fn all_bound(&self) -> impl Iterator<Item = &(&'static str, Vec<Fields>)> {
        self.bound.iter()
    }
}

fn of<'r>(rows: &'r [(&'static str, Vec<Fields>)], resource: &str) -> &'r [Fields] {
    rows.iter().find(|(name, _)| *name == resource).map_or(&[], |(_, rows)| rows)
}

fn found(shown: &'static Shown, wanted: Wanted, door: &Door) -> Result<Found, Said> {
    let resource = shown.resource;
    let one = if let Which::Named(name) = &wanted.which { Some(name.as_str()) } else { None };
    let rows = match wanted.which {
        Which::Nothing => Vec::new(),
        _ => objects(door, resource, one, &shown.query(&wanted))?,
    };
    let rows = wanted.narrow(shown, rows)?;
    let listed = wanted.which.is_all();
    let mut bound = match listed && !wanted.members {
        true => Vec::new(),
        false => bound(shown, one, door)?,
    };
    let item = |(at, of): (usize, Fields)| {
        let key = name_of(shown.key(), &of);
        let take =
            |(resource, rows): &mut (&'static str, Named)| (*resource, rows.remove(&key).unwrap_or_default());
        Item { nth: at + 1, listed, of, bound: bound.iter_mut().map(take).collect() }
    };
    let items = rows.into_iter().enumerate().map(item).collect();
    let beside = shown.beside.iter().map(|name| Ok((*name, objects(door, name, None, "")?)));
    let beside = beside.collect::<Result<_, Said>>()?;
    let Wanted { in_brief, in_full, .. } = wanted;
    Ok(Found { shown, items, beside, in_brief, in_full, room: None })
}

/// What is bound to the one of that name, or to each of all, by its name in lower case.
fn bound(shown: &Shown, one: Option<&str>, door: &Door) -> Result<Vec<(&'static str, Named)>, Said> {
    let of = |resource: &&'static str| {
        let mut by_name = Named::new();
        for row in objects(door, resource, one, "bulkbindings=yes")? {
            by_name.entry(name_of(shown.key(), &row)).or_default().push(row);
        }
        Ok((*resource, by_name))
    };
    shown.bound.iter().map(of).collect()
}

fn name_of(key: &str, of: &Fields) -> String {
    layout::text(of, key).to_ascii_lowercase()
}

/// The rows of a resource, all or those of one name; none where the answer has none.
fn objects(door: &Door, resource: &str, name: Option<&str>, query: &str) -> Result<Vec<Fields>, Said> {
    let of_name = name.map(|name| format!("/{}", percent_encode(&percent_encode(name)))).unwrap_or_default();
    let query = if query.is_empty() { String::new() } else { format!("?{query}") };
    let waited_for = Progress::of(resource);
    let body = door.get(&format!("/nitro/v1/config/{resource}{of_name}{query}"))?;
    drop(waited_for);
    let unread = |_| Said::error(format!("Internal error [{resource}]"));
    let mut answer: Fields = serde_json::from_str(&body).map_err(unread)?;
    Ok(match answer.remove(resource) {
        Some(Value::Array(objects)) => {
            let object = |value| if let Value::Object(object) = value { Some(object) } else { None };
            objects.into_iter().filter_map(object).collect()
        }
        Some(Value::Object(object)) => vec![object],
        _ => Vec::new(),
    })
}

/// Of what the program has no resource.
fn not_shown(what: &str) -> Said {
    Said::Error {
        code: NOT_SUPPORTED,
        message: format!("Operation not supported here [show {what}]"),
        advice: "nothing here has it; what is configured is in 'show ns runningConfig'".to_owned(),
    }
}
