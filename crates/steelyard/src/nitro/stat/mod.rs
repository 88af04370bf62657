//! The resources under `/nitro/v1/stat`: the tables, and the figures of each (`spec/nitro.md` 10).
//!
//! What is never anything but 0 here is listed in `nitro/zero.md`, for people and for the program alike. Counters begin anew by
//! `clearstats` alone (`anew`): exporters take a counter that falls for a restart.

pub mod anew;
pub mod appliance;
mod group;
mod interface;
pub mod protocol;
mod traffic;
mod virtual_server;

use hyper::StatusCode;

use super::query::Query;
use super::reply::Reply;
use super::resource::{Resource, Shown, Wanted, looked_at};
use super::row::Row;

/// Every one of the reference.
pub const RESOURCES: &[Resource] = &[
    looked_at("csvserver", "name", Shown::List(virtual_server::csvserver)),
    looked_at("hanode", "", Shown::Single(appliance::hanode)),
    looked_at("Interface", "id", Shown::List(interface::interface)),
    looked_at("lbmonitor", "monitorname", Shown::List(virtual_server::lbmonitor)),
    looked_at("lbvserver", "name", Shown::List(virtual_server::lbvserver)),
    looked_at("ns", "", Shown::Single(appliance::ns)),
    looked_at("protocolhttp", "", Shown::Single(protocol::http)),
    looked_at("protocolip", "", Shown::Single(protocol::ip)),
    looked_at("protocoltcp", "", Shown::Single(protocol::tcp)),
    looked_at("service", "name", Shown::List(traffic::service)),
    looked_at("servicegroup", "servicegroupname", Shown::List(group::servicegroup)),
    looked_at("servicegroupmember", "servicegroupname", Shown::List(group::servicegroupmember)),
    looked_at("sslvserver", "vservername", Shown::List(virtual_server::sslvserver)),
    looked_at("system", "", Shown::Single(appliance::system)),
    looked_at("systemcpu", "id", Shown::List(appliance::systemcpu)),
];

/// Nothing but zeros.
pub fn zeros(wanted: &Wanted<'_>) -> Row {
    let mut row = wanted.row();
    row.always_zero();
    row
}

/// Is what the query says of `clearstats` a word of the reference?
///
/// # Errors
/// It is none.
pub fn check(query: Query<'_>) -> Result<(), Reply> {
    let word = anew::word(query);
    let is_known = |word: &str| ["basic", "full"].iter().any(|known| known.eq_ignore_ascii_case(word));
    if word.as_deref().is_none_or(is_known) {
        return Ok(());
    }
    Err(Reply::error(StatusCode::BAD_REQUEST, 1097, "Invalid argument value [clearstats]"))
}
