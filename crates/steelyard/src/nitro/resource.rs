//! What a resource of NITRO's is: how it is looked at, and how it is changed. The tables are in `config` and `stat`.

use steelyard_core::command::{Object, Verb, taken};
use steelyard_core::config::attribute::Resource as Attributes;
use steelyard_core::config::{Keyed, Table};

use super::documented::Section;
use super::query::Query;
use super::reply::Reply;
use super::row::Row;
use crate::auth::Identity;
use crate::state::State;

/// One of NITRO's resources.
pub struct Resource {
    /// As NITRO spells it.
    pub name: &'static str,
    /// NITRO's name of what the path names; empty where there is only one.
    pub key: &'static str,
    /// How it is looked at.
    pub shown: Shown,
    /// How it is changed; `None` of what can only be looked at.
    pub change: Option<Change>,
}

/// How a resource is looked at.
pub enum Shown {
    /// A list: all of it, or what the path and the arguments name.
    List(fn(&Wanted<'_>) -> Result<Vec<Row>, Reply>),
    /// There is one of it, so that it is no list.
    Single(fn(&Wanted<'_>) -> Row),
    /// The saved configuration, which has to be read first.
    Saved,
    /// Files, which have to be read first.
    Files,
}

/// How a resource is changed.
pub struct Change {
    /// The object of the commands that change it.
    pub object: Object,
    /// A binding: adding it is `bind`, deleting it `unbind`.
    pub binds: bool,
    /// What this resource calls by another name than the commands' rows.
    pub renamed: &'static [(&'static str, &'static str)],
}

/// Of what a request wants to see.
pub struct Wanted<'r> {
    /// What runs.
    pub state: &'r State,
    /// The resource.
    pub resource: &'static Resource,
    /// Which half of NITRO it is in.
    pub section: Section,
    /// What the path names.
    pub id: Option<&'r str>,
    /// Who wants it.
    pub who: &'r Identity,
    /// The query.
    pub query: Query<'r>,
}

impl Wanted<'_> {
    /// An element of the resource with no field yet.
    pub fn row(&self) -> Row {
        Row::new(self.section, self.resource.name)
    }

    /// An element with every attribute of that object.
    pub fn configured<T: Attributes>(&self, object: &T) -> Row {
        let mut row = self.row();
        row.attributes(object);
        row
    }

    /// Of a table, what the path names, or all.
    pub fn of<'t, T: Keyed>(&self, table: &'t Table<T>) -> Result<Vec<&'t T>, Reply> {
        match self.id {
            None => Ok(table.iter().collect()),
            Some(name) => table.find(name).map(|found| vec![found]).ok_or_else(|| self.unknown()),
        }
    }

    /// What is said when there is nothing of the name in the path.
    pub fn unknown(&self) -> Reply {
        Reply::unknown(self.resource.key, self.id.unwrap_or_default())
    }
}

/// A resource that only can be looked at.
pub const fn looked_at(name: &'static str, key: &'static str, shown: Shown) -> Resource {
    Resource { name, key, shown, change: None }
}

/// An object that commands change.
pub const fn whole(name: &'static str, key: &'static str, object: Object, shown: Shown) -> Resource {
    Resource { name, key, shown, change: Some(Change { object, binds: false, renamed: &[] }) }
}

/// A binding.
pub const fn binding(name: &'static str, key: &'static str, object: Object, shown: Shown) -> Resource {
    Resource { name, key, shown, change: Some(Change { object, binds: true, renamed: &[] }) }
}

impl Resource {
    /// What its rows stand under. Of interfaces some clients read one spelling and some the other (`spec/nitro.md` 1).
    pub fn keys(&self) -> &[&'static str] {
        if self.name == "Interface" { &["Interface", "interface"] } else { std::slice::from_ref(&self.name) }
    }

    /// What it knows of HTTP's methods, as `Allow` lists them.
    pub fn allowed(&self) -> String {
        let takes = |verbs: &[Verb]| {
            self.change.as_ref().is_some_and(|c| verbs.iter().any(|verb| taken(*verb, c.object).is_some()))
        };
        let binds = self.change.as_ref().is_some_and(|change| change.binds);
        let of = |bound, whole: &[Verb]| if binds { takes(&[bound]) } else { takes(whole) };
        let methods = [
            ("GET", true),
            ("POST", of(Verb::Bind, &[Verb::Add, Verb::Unset, Verb::Enable])),
            ("PUT", of(Verb::Bind, &[Verb::Set])),
            ("DELETE", of(Verb::Unbind, &[Verb::Rm])),
        ];
        methods.iter().filter(|(_, takes)| *takes).map(|(method, _)| *method).collect::<Vec<_>>().join(", ")
    }

    /// The same, and some of its fields have other names in commands.
    pub const fn renamed(self, renamed: &'static [(&'static str, &'static str)]) -> Resource {
        let change = match self.change {
            Some(Change { object, binds, .. }) => Some(Change { object, binds, renamed }),
            None => None,
        };
        Resource { name: self.name, key: self.key, shown: self.shown, change }
    }
}
