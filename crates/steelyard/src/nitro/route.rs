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
use super::{Door, beyond, completing, config, schema, session, show, stat, typed};
use crate::auth::{DONE, Source};
use crate::explain;
use crate::metrics;
use crate::state::State;

/// The answer to a request.
pub async fn answer(head: &Parts, body: &mut Body, door: &Door, source: Source) -> Reply {
    answered(head, body, door, source).await.unwrap_or_else(|refused| refused)
}

async fn answered(head: &Parts, body: &mut Body, door: &Door, source: Source) -> Result<Reply, Reply> {
    if foreign(head, source) {
        return Err(not_permitted("of another origin"));
    }
    let segments: Vec<String> =
        head.uri.path().split('/').filter(|segment| !segment.is_empty()).map(decode_id).collect();
    let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
    let query = Query::new(head.uri.query());
    let state = &door.state;
    match (&head.method, &*segments) {
        (&Method::GET, ["metrics"]) => {
            known(head, state, source, "stat lb vserver").await?;
            Ok(figures(state).await)
        }
        (&Method::GET, ["steelyard", "v1", "explain", name]) => {
            known(head, state, source, &format!("show lb vserver {name}")).await?;
            Ok(decisions(name, query, state))
        }
        (&Method::POST, ["steelyard", "v1", asked @ ("command" | "permission")]) => {
            let who = session::identity(head, None, state, source).await?;
            let sent = Sent::read(&body.whole().await?)?;
            match *asked {
                "command" => Ok(typed::answer(&sent, &who, door).await),
                _ => Ok(typed::permission(&sent, &who, door)),
            }
        }
        (&Method::POST, ["steelyard", "v1", "complete"]) => {
            let who = session::identity(head, None, state, source).await?;
            let sent = Sent::read(&body.whole().await?)?;
            Ok(completing::answer(&sent, &who, door))
        }
        (_, ["steelyard", "v1", "command" | "complete" | "permission"]) => Err(Reply::wrong_verb("POST")),
        (_, ["metrics"] | ["steelyard", "v1", "explain", _]) => Err(Reply::wrong_verb("GET")),
        (&Method::POST, ["nitro", "v1", "config", "login"]) => {
            Ok(session::log_in(&Sent::read(&body.small().await?)?, state, source).await)
        }
        (&Method::POST, ["nitro", "v1", "config", "logout"]) => {
            Ok(session::log_out(head, &Sent::read(&body.small().await?)?, state, source).await)
        }
        (_, ["nitro", "v1", "config", "login" | "logout"]) => Err(Reply::wrong_verb("POST")),
        (&Method::GET, ["nitro", "v1", "schema", rest @ ..]) => {
            session::identity(head, None, state, source).await?;
            Ok(schema::answer(rest.first().copied()))
        }
        (_, ["nitro", "v1", "schema", ..]) => Err(Reply::wrong_verb("GET")),
        (&(Method::POST | Method::PUT), ["nitro", "v1", "config"]) => {
            old_style(query, head, body, door, source).await
        }
        (method, ["nitro", "v1", half @ ("config" | "stat"), name, rest @ ..]) => {
            let who = session::identity(head, None, state, source).await?;
            let (section, table, beyond) = match *half {
                "stat" => (Section::Stat, stat::RESOURCES, beyond::STAT),
                _ => (Section::Config, config::RESOURCES, beyond::CONFIG),
            };
            let found = find(table, name).or_else(|| find(beyond, name));
            let resource = found.ok_or_else(|| Reply::no_object(name))?;
            let wanted = Wanted { state, resource, section, id: rest.first().copied(), who: &who, query };
            if method == Method::GET { look(&wanted).await } else { change(wanted, head, body, door).await }
        }
        _ => Err(Reply::error(StatusCode::NOT_FOUND, 1232, "Invalid object name")),
    }
}

/// Whoever looks needs no password on this host, and one elsewhere; somebody's session is that of nobody else.
async fn known(head: &Parts, state: &State, source: Source, command: &str) -> Result<(), Reply> {
    let is_here = match source {
        Source::Address(ip) => ip.to_canonical().is_loopback(),
        Source::Owner { .. } => !session::brings_session(head),
    };
    if is_here {
        return Ok(());
    }
    let who = session::identity(head, None, state, source).await?;
    Ok(session::permitted(state, &who, command)?)
}

async fn look(wanted: &Wanted<'_>) -> Result<Reply, Reply> {
    let verb = match wanted.section {
        Section::Config => "show",
        Section::Stat => "stat",
    };
    let id = wanted.id.map(|id| format!(" {id}")).unwrap_or_default();
    let command = format!("{verb} {}{id}", session::object_words(wanted.resource.name));
    session::permitted(wanted.state, wanted.who, &command)?;
    if wanted.section == Section::Stat && stat::anew::is_asked(wanted.query) {
        return cleared(wanted, &command).await;
    }
    Ok(show::answer(wanted).await)
}

/// Figures that begin anew: a change, which who may only look may not make.
async fn cleared(wanted: &Wanted<'_>, command: &str) -> Result<Reply, Reply> {
    let state = wanted.state;
    stat::check(wanted.query)?;
    if let Some(other) =
        ["filter", "count", "pagesize"].iter().find(|other| wanted.query.get(other).is_some())
    {
        // They choose from what was counted, when it is cleared already.
        let text = format!("Arguments cannot both be specified [clearstats, {other}]");
        return Err(Reply::error(StatusCode::BAD_REQUEST, 1092, &text));
    }
    let changed = command.replacen("stat", "clear", 1);
    session::permitted(state, wanted.who, &changed)?;
    let reply = show::answer(wanted).await;
    if reply.status.is_success() {
        let level = stat::anew::word(wanted.query).unwrap_or_default();
        state.auth().note(wanted.who, &format!("{command} -clearstats {level}"), DONE);
    }
    Ok(reply)
}

async fn change(wanted: Wanted<'_>, head: &Parts, body: &mut Body, door: &Door) -> Result<Reply, Reply> {
    let Wanted { resource, section, id, who, query, .. } = wanted;
    if section == Section::Stat {
        return Err(Reply::wrong_verb("GET"));
    }
    let sent = Sent::read(&body.whole().await?)?;
    changed(Asked { method: &head.method, resource, id, who, query, on_error: on_error(head), sent }, door)
        .await
}

/// `POST /nitro/v1/config/`: the body names the resource (`spec/nitro.md` 1), and may bring the session.
async fn old_style(
    query: Query<'_>,
    head: &Parts,
    body: &mut Body,
    door: &Door,
    source: Source,
) -> Result<Reply, Reply> {
    let state = &door.state;
    let known = session::identity(head, None, state, source).await;
    let sent = Sent::read(&if known.is_ok() { body.whole().await? } else { body.small().await? })?;
    let name = sent.resource().unwrap_or_default();
    match name {
        "login" => return Ok(session::log_in(&sent, state, source).await),
        "logout" => return Ok(session::log_out(head, &sent, state, source).await),
        _ => {}
    }
    let who = match known {
        Ok(who) => who,
        Err(_) if sent.session().is_some() => session::identity(head, sent.session(), state, source).await?,
        Err(reply) => return Err(reply),
    };
    let resource = find(config::RESOURCES, name).ok_or_else(|| Reply::no_object(name))?;
    let (method, on_error) = (&head.method, on_error(head));
    changed(Asked { method, resource, id: None, who: &who, query, on_error, sent }, door).await
}

/// Carries out a request that changes something.
pub async fn changed(asked: Asked<'_>, door: &Door) -> Result<Reply, Reply> {
    if asked.resource.name == "systemsession" && *asked.method == Method::POST {
        let action = asked.parameter("action").unwrap_or_default();
        return session::kill(&asked.sent, &action, &door.state, asked.who);
    }
    Ok(change::answer(&asked, &door.state, &door.report).await)
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
