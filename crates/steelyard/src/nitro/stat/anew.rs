//! `clearstats`: counters that begin anew.
//!
//! Owns what each counter was when somebody cleared it; what `stat` tells is the difference. The counters themselves go on, and
//! with them rates, methods and `/metrics`, whose totals never fall. The hard question is what a counter belongs to: to the
//! live object, so that it stays cleared under another name, and counts from 0 once it is removed and added again.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use steelyard_core::service::{Service, Traffic};
use steelyard_core::vserver::{Live, VirtualServer};

use crate::nitro::query::Query;
use crate::nitro::resource::Wanted;
use crate::nitro::row::Row;

/// What counters belong to.
pub enum Of<'o> {
    /// A virtual server.
    Vserver(&'o VirtualServer),
    /// A service, or a member of a group.
    Service(&'o Service),
    /// The appliance, or one of its interfaces.
    Appliance(&'o str),
}

/// What counters were when they were cleared.
#[derive(Default)]
pub struct Cleared(BTreeMap<Key, (Held, BTreeMap<String, u64>)>);

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Live(usize),
    Appliance(&'static str, String),
}

/// Keeps the address of what is gone from being another's.
enum Held {
    Vserver(Weak<Live>),
    Service(Weak<Traffic>),
    Nothing,
}

/// Does the query say that what is told of begins anew?
pub fn is_asked(query: Query<'_>) -> bool {
    word(query).is_some()
}

/// Does what is bound to it begin anew, too? `full` says so; a group has no counters but those of its members.
pub fn is_with_bound(wanted: &Wanted<'_>) -> bool {
    word(wanted.query)
        .is_some_and(|word| word.eq_ignore_ascii_case("full") || wanted.resource.name == "servicegroup")
}

/// What it says of `clearstats`.
pub fn word(query: Query<'_>) -> Option<String> {
    let argument = query.pairs("args").into_iter().find(|(name, _)| name.eq_ignore_ascii_case("clearstats"));
    query.get("clearstats").or(argument.map(|(_, word)| word))
}

/// Leaves of a row's counters what they have counted since they were cleared, which is now where that is asked for.
pub fn counted(row: &mut Row, wanted: &Wanted<'_>, of: &Of<'_>) {
    let mut cleared = wanted.state.cleared().borrow_mut();
    let is_meant = row.resource() == wanted.resource.name || is_with_bound(wanted);
    if is_meant && is_asked(wanted.query) {
        cleared.begin(row, of);
    }
    cleared.leave(row, of);
}

impl Cleared {
    fn begin(&mut self, row: &Row, of: &Of<'_>) {
        self.0.retain(|_, (held, _)| held.is_there());
        let counters = row.numbers().filter(|(name, _)| is_counter(name));
        let counters = counters.map(|(name, number)| (name.to_owned(), number)).collect();
        let held = match of {
            Of::Vserver(vserver) => Held::Vserver(Arc::downgrade(&vserver.live)),
            Of::Service(service) => Held::Service(Arc::downgrade(&service.traffic)),
            Of::Appliance(_) => Held::Nothing,
        };
        self.0.insert(key(row, of), (held, counters));
    }

    fn leave(&self, row: &mut Row, of: &Of<'_>) {
        if self.0.is_empty() {
            return;
        }
        if let Some((_, counters)) = self.0.get(&key(row, of)) {
            counters.iter().for_each(|(name, number)| row.subtract(name, *number));
        }
    }
}

impl Held {
    fn is_there(&self) -> bool {
        match self {
            Held::Vserver(live) => live.strong_count() > 0,
            Held::Service(traffic) => traffic.strong_count() > 0,
            Held::Nothing => true,
        }
    }
}

fn key(row: &Row, of: &Of<'_>) -> Key {
    match of {
        Of::Vserver(vserver) => Key::Live(Arc::as_ptr(&vserver.live).addr()),
        Of::Service(service) => Key::Live(Arc::as_ptr(&service.traffic).addr()),
        Of::Appliance(name) => Key::Appliance(row.resource(), (*name).to_owned()),
    }
}

/// Is it a number that only grows?
fn is_counter(field: &str) -> bool {
    !field.ends_with("rate") && COUNTERS.iter().any(|start| field.starts_with(start))
}

/// How the names of counters begin; levels and percentages begin otherwise.
const COUNTERS: &[&str] = &[
    "tot",
    "httptot",
    "tcptot",
    "tcperr",
    "iptot",
    "udptot",
    "udpbad",
    "err",
    "nictot",
    "rxcrcerrors",
    "invalidrequestresponse",
    "vsvrservicehits",
];
