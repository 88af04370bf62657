//! GET: rows of a resource, and what a query leaves of them (`spec/nitro.md` 3, 4).

use serde::Serialize;

use super::config::whole::nssavedconfig;
use super::query::Query;
use super::reply::Reply;
use super::resource::{Resource, Shown, Wanted};
use super::row::Row;

/// `GET /nitro/v1/SECTION/RESOURCE[/ID]`.
pub async fn answer(wanted: &Wanted<'_>) -> Reply {
    let resource = wanted.resource;
    match resource.shown {
        Shown::Not => Reply::wrong_verb(),
        Shown::Single(show) => Reply::with_resource(resource.name, &show(wanted)),
        Shown::Saved => match nssavedconfig(wanted.row(), wanted.state).await {
            Ok(row) => Reply::with_resource(resource.name, &row),
            Err(reply) => reply,
        },
        Shown::List(show) => match show(wanted) {
            Ok(rows) => list(resource, rows, wanted.query),
            Err(reply) => reply,
        },
    }
}

fn list(resource: &Resource, mut rows: Vec<Row>, query: Query<'_>) -> Reply {
    let filters = query.pairs("filter");
    let passes = |row: &Row, (name, value): &(String, String)| {
        row.as_text(name).is_some_and(|text| text.eq_ignore_ascii_case(value))
    };
    rows.retain(|row| filters.iter().all(|filter| passes(row, filter)));
    // Arguments are ids besides that in the path; those that are no field of it say something else.
    let ids = query.pairs("args");
    let is_named = |row: &Row, id: &(String, String)| row.as_text(&id.0).is_none() || passes(row, id);
    rows.retain(|row| ids.iter().all(|id| is_named(row, id)));
    if query.says_yes("count") {
        return Reply::with_keys(resource.keys(), &[Counted { count: rows.len() }]);
    }
    let number = |name: &str| query.get(name).and_then(|text| text.parse::<usize>().ok()).filter(|n| *n > 0);
    if let Some(size) = number("pagesize") {
        let before = (number("pageno").unwrap_or(1) - 1).saturating_mul(size);
        rows = rows.into_iter().skip(before).take(size).collect();
    }
    let wanted = query.list("attrs");
    if !wanted.is_empty() {
        let is_wanted = |name: &str| wanted.iter().any(|w| w.eq_ignore_ascii_case(name));
        rows.iter_mut().for_each(|row| row.retain(is_wanted));
    }
    Reply::list(resource.keys(), &rows)
}

/// How many there are.
#[derive(Serialize)]
struct Counted {
    #[serde(rename = "__count")]
    count: usize,
}
