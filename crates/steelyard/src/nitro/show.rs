//! GET: rows of a resource, and what a query leaves of them (`spec/nitro.md` 3, 4).

use serde::Serialize;

use super::config::systemfile::systemfile;
use super::config::whole::nssavedconfig;
use super::documented::{Documented, Section};
use super::filter::Filter;
use super::query::Query;
use super::reply::Reply;
use super::resource::{Shown, Wanted};
use super::row::Row;
use super::stat;

/// `GET /nitro/v1/SECTION/RESOURCE[/ID]`. The arguments of a query may name what the path could.
pub async fn answer(wanted: &Wanted<'_>) -> Reply {
    let arguments = wanted.query.pairs("args");
    let key = wanted.resource.key;
    let named = arguments.iter().find(|(name, _)| !key.is_empty() && name.eq_ignore_ascii_case(key));
    let id = wanted.id.or(named.map(|(_, value)| value.as_str()));
    let shown = shown(&Wanted { id, ..*wanted }, &arguments).await;
    shown.unwrap_or_else(|reply| reply)
}

async fn shown(wanted: &Wanted<'_>, arguments: &[(String, String)]) -> Result<Reply, Reply> {
    let resource = wanted.resource;
    if wanted.section == Section::Stat {
        stat::check(wanted.query)?;
    }
    let single = |row| {
        let mut rows = [row];
        leave_attributes(&mut rows, wanted.query);
        let [row] = rows;
        Reply::with_resource(resource.name, &row)
    };
    match resource.shown {
        Shown::Single(show) => Ok(single(show(wanted))),
        Shown::Saved => Ok(single(nssavedconfig(wanted.row(), wanted.state).await?)),
        Shown::Files => list(wanted, systemfile(wanted).await?),
        Shown::List(show) => {
            let mut rows = show(wanted)?;
            narrow(&mut rows, wanted, arguments)?;
            list(wanted, rows)
        }
    }
}

/// Leaves the rows that the arguments say. Of `stat` they say what each resource means by them.
fn narrow(rows: &mut Vec<Row>, wanted: &Wanted<'_>, arguments: &[(String, String)]) -> Result<(), Reply> {
    if wanted.section == Section::Stat || arguments.is_empty() || rows.is_empty() {
        return Ok(());
    }
    Filter::of_arguments(arguments, rows).apply(rows, None)?;
    // Of a binding the path names one end: that end is there.
    let is_binding = wanted.resource.name.contains("binding");
    if rows.is_empty() && wanted.id.is_some() && !is_binding { Err(wanted.unknown()) } else { Ok(()) }
}

fn list(wanted: &Wanted<'_>, mut rows: Vec<Row>) -> Result<Reply, Reply> {
    let Wanted { resource, query, section, .. } = *wanted;
    let documented = Documented::find(section, resource.name);
    Filter::of(query)?.apply(&mut rows, documented)?;
    let (size, page) = (query.count("pagesize")?, query.count("pageno")?);
    if query.says_yes("count") {
        return Ok(Reply::with_keys(resource.keys(), &[Counted { count: rows.len() }]));
    }
    if let Some(size) = size {
        let before = (page.unwrap_or(1) - 1).saturating_mul(size);
        rows = rows.into_iter().skip(before).take(size).collect();
    }
    leave_attributes(&mut rows, query);
    Ok(Reply::list(resource.keys(), &rows))
}

/// Leaves the fields that the query names; all, where it names none.
fn leave_attributes(rows: &mut [Row], query: Query<'_>) {
    let wanted = query.list("attrs");
    if !wanted.is_empty() {
        let is_wanted = |name: &str| wanted.iter().any(|w| w.eq_ignore_ascii_case(name));
        rows.iter_mut().for_each(|row| row.retain(is_wanted));
    }
}

/// How many there are.
#[derive(Serialize)]
struct Counted {
    #[serde(rename = "__count")]
    count: usize,
}
