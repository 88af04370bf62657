//! Which part answers a request.

use hyper::Method;
use hyper::StatusCode;
use hyper::http::request::Parts;

use super::body::Body;
use super::change::{self, Asked, Sent};
use super::documented::Section;
use super::origin::foreign;
use super::query::{Query, decode_id};
use super::reply::Reply;
use super::resource::{Resource, Wanted};
use super::{Door, beyond, config, show, stat};
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
        (_, ["metrics"] | ["steelyard", "v1", "explain", _]) => Reply::wrong_verb("GET"),
        (_, ["nitro", "v1", "config", ..]) if door.owner.is_none() => not_permitted(BY_THE_SOCKET),
        (&(Method::POST | Method::PUT), ["nitro", "v1", "config"]) => {
            old_style(query, head, body, door).await
        }
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
    let Wanted { resource, section, id, query, .. } = wanted;
    if section == Section::Stat {
        return Reply::wrong_verb("GET");
    }
    let sent = match body.whole().await.and_then(|body| Sent::read(&body)) {
        Ok(sent) => sent,
        Err(reply) => return reply,
    };
    changed(Asked { method: &head.method, resource, id, query, on_error: on_error(head), sent }, door).await
}

/// `POST /nitro/v1/config/`: the body names the resource (`spec/nitro.md` 1).
async fn old_style(query: Query<'_>, head: &Parts, body: &mut Body, door: &Door) -> Reply {
    let sent = match body.whole().await.and_then(|body| Sent::read(&body)) {
        Ok(sent) => sent,
        Err(reply) => return reply,
    };
    let name = sent.resource().unwrap_or_default();
    let Some(resource) = find(config::RESOURCES, name) else { return Reply::no_object(name) };
    changed(Asked { method: &head.method, resource, id: None, query, on_error: on_error(head), sent }, door)
        .await
}

async fn changed(asked: Asked<'_>, door: &Door) -> Reply {
    match &door.owner {
        Some(report) => change::answer(&asked, &door.state, report).await,
        None => not_permitted(BY_THE_SOCKET),
    }
}

fn on_error(head: &Parts) -> Option<&str> {
    head.headers.get("x-nitro-onerror").and_then(|value| value.to_str().ok())
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
