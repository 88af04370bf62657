//! The management doors: NITRO, the decisions behind `steelyard explain`, and `/metrics`.
//!
//! Owns connections: their number, their limits and what of an answer goes on the wire. `route` says who answers: `show`
//! looks (`config` and `stat` have the tables of resources), `change` changes, `session` knows who asks. A request that
//! a foreign web page had a browser make is refused. By the socket in the data directory its owner comes in without a
//! password.

pub mod beyond;
mod body;
mod change;
mod completing;
mod config;
pub mod documented;
mod filter;
pub mod host;
pub mod ledger;
pub mod opening;
mod origin;
pub mod pair;
pub mod query;
pub mod rates;
mod reply;
pub mod resource;
mod room;
mod route;
mod row;
mod schema;
mod session;
mod show;
mod since;
pub mod stat;
mod taking;
pub mod tls;
pub mod totals;
mod typed;
pub mod zero;

use std::convert::Infallible;
use std::rc::Rc;
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::ext::ReasonPhrase;
use hyper::header::{CONNECTION, CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use steelyard_core::config::attribute::{Kind, Value};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream, UnixListener};
use tokio::task::spawn_local;

use crate::auth::Source;
use crate::report::Report;
use crate::state::State;
use body::Body;
use documented::Section;
use reply::{Reply, phrase};
use resource::Shown;
use room::{Place, Room};
use row::Row;
use taking::Taking;
use tls::Tls;

/// What the objects of a resource under `config` are known by, empty where there is only one; `None` where there is no such
/// resource.
pub fn key_of(resource: &str) -> Option<&'static str> {
    looked_at().find(|known| known.name == resource).map(|known| known.key)
}

/// Is there only one of that resource under `config`, so that an answer has it as it is and not in a list?
pub fn is_single(resource: &str) -> bool {
    let is_list = |known: &resource::Resource| matches!(known.shown, Shown::List(_) | Shown::Files);
    looked_at().any(|known| known.name == resource && !is_list(known))
}

/// Every resource under `config`.
#[cfg(test)]
pub fn resources() -> impl Iterator<Item = &'static str> {
    looked_at().map(|known| known.name)
}

fn looked_at() -> impl Iterator<Item = &'static resource::Resource> {
    config::RESOURCES.iter().chain(beyond::CONFIG)
}

/// What an attribute holds, as a field of an answer; nothing where it is left out.
pub fn told(kind: &Kind, value: &Value) -> Option<serde_json::Value> {
    let mut row = Row::new(Section::Config, "");
    row.attribute("value", kind, value);
    row.into_fields().into_iter().next().map(|(_, value)| value)
}

/// Where clients come in.
pub enum Listener {
    /// The management address.
    Port(TcpListener),
    /// The same, by HTTPS.
    Tls(TcpListener, Rc<Tls>),
    /// The socket in the data directory.
    Socket(UnixListener),
}

/// What is answered to those who come in there.
#[derive(Clone)]
pub struct Door {
    state: Rc<State>,
    /// Where is told what changes lead to.
    report: Report,
}

impl Door {
    /// To that state.
    pub fn new(state: &Rc<State>, report: &Report) -> Door {
        Door { state: Rc::clone(state), report: report.clone() }
    }
}

/// Answers for ever. Clients for whom there is no place wait in the listener's queue; who has too many is shut out.
pub async fn serve(listener: Listener, door: Door) {
    let room = Room::new();
    loop {
        let Some(place) = room.place().await else { return };
        let accepted = match &listener {
            Listener::Port(listener) => listener.accept().await.map(|(stream, peer)| {
                if let Some(place) = room.of(place, peer.ip()) {
                    spawn(stream, &door, Source::Address(peer.ip()), place);
                }
            }),
            Listener::Tls(listener, tls) => listener.accept().await.map(|(stream, peer)| {
                if let Some(place) = room.of(place, peer.ip()) {
                    spawn_tls(stream, Rc::clone(tls), &door, (Source::Address(peer.ip()), place));
                }
            }),
            Listener::Socket(listener) => listener.accept().await.map(|(stream, _)| {
                if let Some(uid) = host::owner(&stream) {
                    spawn(stream, &door, Source::Owner { uid }, place);
                }
            }),
        };
        if accepted.is_err() {
            // Out of descriptors, most likely: accept would fail again at once.
            tokio::time::sleep(ACCEPT_PAUSE).await;
        }
    }
}

fn spawn(stream: impl AsyncRead + AsyncWrite + Unpin + 'static, door: &Door, source: Source, place: Place) {
    let door = door.clone();
    spawn_local(async move {
        let _place = place;
        converse(stream, door, source).await;
    });
}

fn spawn_tls(stream: TcpStream, tls: Rc<Tls>, door: &Door, (source, place): (Source, Place)) {
    let door = door.clone();
    spawn_local(async move {
        let _place = place;
        if let Some(stream) = tls.accept(stream).await {
            converse(stream, door, source).await;
        }
    });
}

async fn converse(stream: impl AsyncRead + AsyncWrite + Unpin, door: Door, source: Source) {
    let answer = service_fn(move |request: Request<Incoming>| {
        let door = door.clone();
        async move { Ok::<_, Infallible>(respond(request, &door, source).await) }
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_buf_size(MAX_HEAD)
        .serve_connection(TokioIo::new(Taking::new(stream)), answer);
    // A client that breaks off, or off the protocol, has its answer already or wants none.
    let _ = tokio::time::timeout(CONNECTION_TIME, served).await;
}

async fn respond(request: Request<Incoming>, door: &Door, source: Source) -> Response<Full<Bytes>> {
    let (head, body) = request.into_parts();
    let mut body = Body::new(body);
    let reply = route::answer(&head, &mut body, door, source).await;
    written(reply, body.is_unread())
}

/// An answer as it goes on the wire. Behind a body that was not read the connection cannot be used again.
fn written(reply: Reply, unread: bool) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(reply.body)));
    *response.status_mut() = reply.status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(reply.content_type));
    if unread {
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
    }
    for (name, value) in reply.headers {
        if let Ok(value) = HeaderValue::from_str(&value) {
            headers.insert(name, value);
        }
    }
    if let Some(phrase) = phrase(reply.status) {
        response.extensions_mut().insert(ReasonPhrase::from_static(phrase));
    }
    response
}

const MAX_HEAD: usize = 32_768;
const HEAD_TIMEOUT: Duration = Duration::from_secs(30);
/// A client that reads a little now and then must not keep its place for ever.
const CONNECTION_TIME: Duration = Duration::from_secs(300);
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
