//! Which part answers a request.

use hyper::Method;
use hyper::StatusCode;
use hyper::http::request::Parts;

use super::body::Body;
use super::documented::Section;
use super::origin::foreign;
use super::query::{Query, decode_id};
use super::reply::Reply;
use super::resource::{Resource, Wanted};
use super::{Door, beyond, change, config, show, stat};
use crate::explain;
use crate::metrics;
use crate::state::State;

/// The answer to a request.
pub async fn answer(head: &Parts, body: &mut Body, door: &Door) -> Reply {
    if foreign(head, door.owner.is_some()) {
        return not_permitted("of another origin");
    }
    let segments: Vec<String> =
        head.uri.path().split('/').filter(|segment| !segment.is_empty()).map(decode_id).collect();
    let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
    let query = Query::new(head.uri.query());
    match (&head.method, &*segments) {
        (&Method::GET, ["metrics"]) => figures(&door.state).await,
        (&Method::GET, ["steelyard", "v1", "explain", name]) => decisions(name, query, &door.state),
        (_, ["metrics"] | ["steelyard", "v1", "explain", _]) => Reply::wrong_verb(),
        (_, ["nitro", "v1", "config", ..]) if door.owner.is_none() => not_permitted(BY_THE_SOCKET),
        (method, ["nitro", "v1", half @ ("config" | "stat"), name, rest @ ..]) => {
            let (section, table, beyond) = match *half {
                "stat" => (Section::Stat, stat::RESOURCES, beyond::STAT),
                _ => (Section::Config, config::RESOURCES, beyond::CONFIG),
            };
            let Some(resource) = find(table, name).or_else(|| find(beyond, name)) else {
                return Reply::no_object(name);
            };
            let wanted = Wanted { state: &door.state, resource, section, id: rest.first().copied(), query };
            if method == Method::GET {
                show::answer(&wanted).await
            } else {
                change(wanted, head, body, door).await
            }
        }
        _ => Reply::error(StatusCode::NOT_FOUND, 1232, "Invalid object name"),
    }
}

async fn change(wanted: Wanted<'_>, head: &Parts, body: &mut Body, door: &Door) -> Reply {
    let (Section::Config, Some(report)) = (wanted.section, &door.owner) else { return Reply::wrong_verb() };
    let Wanted { resource, id, query, .. } = wanted;
    match body.whole().await {
        Ok(body) => {
            let asked = change::Asked { method: &head.method, resource, id, query, body: &body };
            change::answer(&asked, &door.state, report).await
        }
        Err(reply) => reply,
    }
}

fn find(table: &'static [Resource], name: &str) -> Option<&'static Resource> {
    table.iter().find(|resource| resource.name.eq_ignore_ascii_case(name))
}

fn not_permitted(why: &str) -> Reply {
    Reply::error(StatusCode::FORBIDDEN, 257, &format!("Operation not permitted [{why}]"))
}

/// `/metrics`. A large configuration takes a while to tell, so that is done aside, and once at a time.
async fn figures(state: &State) -> Reply {
    let _turn = state.scraping().lock().await;
    let figures = state.figures();
    match tokio::task::spawn_blocking(move || figures.render()).await {
        Ok(body) => Reply { content_type: metrics::CONTENT_TYPE, ..Reply::new(StatusCode::OK, body) },
        Err(_) => Reply::error(StatusCode::SERVICE_UNAVAILABLE, 1239, "NITRO command Execution failed"),
    }
}

fn decisions(name: &str, query: Query<'_>, state: &State) -> Reply {
    let last = query.get("last").and_then(|n| n.parse().ok()).unwrap_or(explain::DEFAULT_LAST);
    match state.snapshot().vserver(name) {
        Some(vserver) => Reply::ok(&explain::answer(vserver, last)),
        None => Reply::unknown("name", name),
    }
}

const BY_THE_SOCKET: &str = "by nitro.sock in the data directory alone";
