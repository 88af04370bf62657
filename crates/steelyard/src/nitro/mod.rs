//! The management doors: NITRO, the decisions behind `steelyard explain`, and `/metrics`.
//!
//! Owns the HTTP side: limits, paths, envelope, status and reason phrase (`spec/nitro.md` 1, 3, 4, 6). What a figure
//! means is `stat`'s business, what a change is `change`'s. There are no users yet, hence three guards: only a loopback
//! address is served, a request that a foreign web page had a browser make is refused, and the configuration is shown
//! and changed by the socket in the data directory alone, which only its owner can reach.

mod change;
pub mod host;
pub mod rates;
mod shown;
mod stat;

use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::ext::ReasonPhrase;
use hyper::header::{ALLOW, CONNECTION, CONTENT_TYPE, HOST, HeaderValue};
use hyper::http::request::Parts;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::spawn_local;

use crate::explain;
use crate::fault::Fault;
use crate::metrics;
use crate::report::Report;
use crate::state::State;

/// Opens the management address.
///
/// # Errors
/// What the system says.
pub async fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    TcpListener::bind(address).await
}

/// Where clients come in.
pub enum Listener {
    /// The management address.
    Port(TcpListener),
    /// The socket in the data directory.
    Socket(UnixListener),
}

/// What is answered to those who come in there.
#[derive(Clone)]
pub struct Door {
    state: Rc<State>,
    /// Where is told what changes lead to; only the program's owner has this.
    owner: Option<Report>,
}

impl Door {
    /// For anybody on this host.
    pub fn port(state: &Rc<State>) -> Door {
        Door { state: Rc::clone(state), owner: None }
    }

    /// For the program's owner.
    pub fn host(state: &Rc<State>, report: &Report) -> Door {
        Door { state: Rc::clone(state), owner: Some(report.clone()) }
    }
}

/// Answers for ever. At most [`CONNECTIONS`] clients at one time; more wait in the listener's queue.
pub async fn serve(listener: Listener, door: Door) {
    let room = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let Ok(permit) = Arc::clone(&room).acquire_owned().await else { return };
        let accepted = match &listener {
            Listener::Port(listener) => {
                listener.accept().await.map(|(stream, _)| spawn(stream, &door, permit))
            }
            Listener::Socket(listener) => listener.accept().await.map(|(stream, _)| {
                if host::is_owner(&stream) {
                    spawn(stream, &door, permit);
                }
            }),
        };
        if accepted.is_err() {
            // Out of descriptors, most likely: accept would fail again at once.
            tokio::time::sleep(ACCEPT_PAUSE).await;
        }
    }
}

fn spawn(stream: impl AsyncRead + AsyncWrite + Unpin + 'static, door: &Door, permit: OwnedSemaphorePermit) {
    let door = door.clone();
    spawn_local(async move {
        let _permit = permit;
        converse(stream, door).await;
    });
}

async fn converse(stream: impl AsyncRead + AsyncWrite + Unpin, door: Door) {
    let answer = service_fn(move |request: Request<Incoming>| {
        let door = door.clone();
        async move { Ok::<_, Infallible>(respond(request, &door).await) }
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_buf_size(MAX_HEAD)
        .serve_connection(TokioIo::new(stream), answer);
    // A client that breaks off, or off the protocol, has its answer already or wants none.
    let _ = tokio::time::timeout(CONNECTION_TIME, served).await;
}

async fn respond(request: Request<Incoming>, door: &Door) -> Response<Full<Bytes>> {
    let (head, body) = request.into_parts();
    let (path, query) = (head.uri.path(), head.uri.query());
    let segments: Vec<&str> = path.split('/').filter(|s| !s.is_empty()).collect();
    let mut unread = head.method != Method::GET;
    let reply = match (&*segments, &door.owner) {
        _ if foreign(&head, door) => Reply::error(StatusCode::FORBIDDEN, 257, "Operation not permitted"),
        (["metrics"], _) if head.method == Method::GET => figures(&door.state).await,
        (["nitro", "v1", "config", ..], None) => Reply::error(StatusCode::FORBIDDEN, 257, BY_THE_SOCKET),
        (["nitro", "v1", "config", object, ..], Some(_)) if head.method == Method::GET => {
            shown::answer(&decode_id(object), &door.state).await
        }
        (["nitro", "v1", "config", segments @ ..], Some(report)) => match whole(body).await {
            Err(reply) => reply,
            Ok(body) => {
                unread = false;
                let asked = change::Asked { method: &head.method, segments, query, body: &body };
                change::answer(&asked, &door.state, report).await
            }
        },
        _ => route(&head.method, &segments, query, &door.state),
    };
    let mut response = Response::new(Full::new(Bytes::from(reply.body)));
    *response.status_mut() = reply.status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(reply.content_type));
    if let Some(phrase) = phrase(reply.status) {
        response.extensions_mut().insert(ReasonPhrase::from_static(phrase));
    }
    if let Some(warning) = reply.warning.and_then(|text| HeaderValue::from_str(&text).ok()) {
        response.headers_mut().insert("x-nitro-warning", warning);
    }
    if reply.status == StatusCode::METHOD_NOT_ALLOWED {
        response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET"));
    }
    if unread {
        // The body is not read, so that the connection cannot be used again.
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

/// The whole body, in bounded time and room.
async fn whole(body: Incoming) -> Result<Bytes, Reply> {
    let reading = Limited::new(body, MAX_BODY).collect();
    match tokio::time::timeout(BODY_TIMEOUT, reading).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(_)) => {
            let text = format!("Invalid JSON input [at most {} MiB]", MAX_BODY >> 20);
            Err(Reply::error(StatusCode::BAD_REQUEST, 1233, &text))
        }
        Err(_) => Err(Reply::error(StatusCode::BAD_REQUEST, 1233, "Invalid JSON input [it does not end]")),
    }
}

/// What clients compare letter for letter (`spec/nitro.md` 1).
fn phrase(status: StatusCode) -> Option<&'static [u8]> {
    match status.as_u16() {
        599 => Some(b"Netscaler specific error"),
        209 => Some(b"Netscaler specific warning"),
        _ => None,
    }
}

fn route(method: &Method, segments: &[&str], query: Option<&str>, state: &State) -> Reply {
    let get = |answer: &dyn Fn() -> Reply| if method == Method::GET { answer() } else { Reply::wrong_verb() };
    match segments {
        ["nitro", "v1", "stat", "lbvserver"] => get(&|| Reply::list("lbvserver", stat::lbvservers(state))),
        ["nitro", "v1", "stat", "service"] => get(&|| Reply::list("service", stat::services(state))),
        ["nitro", "v1", "stat", "lbvserver", id] => {
            get(&|| one("lbvserver", id, |n| stat::lbvserver(state, n)))
        }
        ["nitro", "v1", "stat", "service", id] => get(&|| one("service", id, |n| stat::service(state, n))),
        ["metrics"] => Reply::wrong_verb(),
        ["steelyard", "v1", "explain", id] => get(&|| decisions(id, query, state)),
        ["nitro", "v1", "stat", object, ..] => Reply::no_object(&decode_id(object)),
        _ => Reply::error(StatusCode::NOT_FOUND, 1232, "Invalid object name"),
    }
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

fn one(object: &'static str, id: &str, find: impl Fn(&str) -> Option<Fields>) -> Reply {
    let name = decode_id(id);
    match find(&name) {
        Some(found) => Reply::list(object, vec![found]),
        None => Reply::unknown(&name),
    }
}

fn decisions(id: &str, query: Option<&str>, state: &State) -> Reply {
    let name = decode_id(id);
    let last = query
        .into_iter()
        .flat_map(|q| q.split('&'))
        .find_map(|pair| pair.strip_prefix("last="))
        .and_then(|n| n.parse().ok())
        .unwrap_or(explain::DEFAULT_LAST);
    match state.snapshot().vserver(&name) {
        Some(vserver) => Reply::ok(&explain::answer(vserver, last)),
        None => Reply::unknown(&name),
    }
}

/// Did a web page of another origin cause this request? A browser says where it comes from; a name that was rebound
/// to loopback shows in Host.
fn foreign(head: &Parts, door: &Door) -> bool {
    let text = |name: &str| head.headers.get(name).and_then(|v| v.to_str().ok());
    let cross_site = text("sec-fetch-site").is_some_and(|site| site != "same-origin" && site != "none");
    let rebound = text(HOST.as_str()).is_some_and(|host| !names_loopback(host));
    cross_site || rebound && door.owner.is_none()
}

fn names_loopback(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => host,
    };
    let bare = name.trim_start_matches('[').trim_end_matches(']');
    name.eq_ignore_ascii_case("localhost") || bare.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// Percent-decoded once, then once more as form data: clients encode a name once or twice, and no name holds `%` or
/// `+` (`spec/nitro.md` 3).
fn decode_id(raw: &str) -> String {
    let once = percent_decode(raw.as_bytes());
    let plus: Vec<u8> = once.into_iter().map(|b| if b == b'+' { b' ' } else { b }).collect();
    String::from_utf8_lossy(&percent_decode(&plus)).into_owned()
}

fn percent_decode(text: &[u8]) -> Vec<u8> {
    let digit = |b: Option<&u8>| b.and_then(|&b| (b as char).to_digit(16));
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        match (byte, digit(text.get(at + 1)), digit(text.get(at + 2))) {
            (b'%', Some(high), Some(low)) => {
                out.push((high * 16 + low) as u8);
                at += 3;
            }
            _ => {
                out.push(byte);
                at += 1;
            }
        }
    }
    out
}

/// One answer.
struct Reply {
    status: StatusCode,
    content_type: &'static str,
    body: String,
    /// What the header about a warning says.
    warning: Option<String>,
}

impl Reply {
    fn new(status: StatusCode, body: String) -> Reply {
        Reply { status, content_type: JSON, body, warning: None }
    }

    fn ok(body: &impl Serialize) -> Reply {
        match serde_json::to_string(body) {
            Ok(body) => Reply::new(StatusCode::OK, body),
            Err(_) => Reply::error(StatusCode::SERVICE_UNAVAILABLE, 1239, "NITRO command Execution failed"),
        }
    }

    /// Carried out.
    fn done() -> Reply {
        Reply::ok(&Fields(envelope(0, "Done", "NONE")))
    }

    /// Carried out, and there is something new.
    fn created() -> Reply {
        Reply { status: StatusCode::CREATED, ..Reply::done() }
    }

    /// Carried out, and there is something to know.
    fn warning(code: u16, text: &str) -> Reply {
        let status = StatusCode::from_u16(209).unwrap_or(StatusCode::OK);
        let fields = Fields(envelope(code.into(), text, "WARNING"));
        let warning = Some(format!("{code} - {text}"));
        Reply { warning, ..Reply::new(status, serde_json::to_string(&fields).unwrap_or_default()) }
    }

    /// What an appliance has no status of HTTP's own for.
    fn netscaler_error(code: u16, message: &str) -> Reply {
        let status = StatusCode::from_u16(599).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        Reply::error(status, code.into(), message)
    }

    /// There is one of it, so that it is no list.
    fn single(object: &'static str, fields: Fields) -> Reply {
        let mut all = envelope(0, "Done", "NONE");
        all.push((object, json!(fields)));
        Reply::ok(&Fields(all))
    }

    fn failed(fault: &Fault) -> Reply {
        let text = format!("NITRO command Execution failed [{fault}]");
        Reply::error(StatusCode::SERVICE_UNAVAILABLE, 1239, &text)
    }

    fn no_object(name: &str) -> Reply {
        Reply::error(StatusCode::NOT_FOUND, 1232, &format!("Invalid object name [{name}]"))
    }

    /// An empty list has no key at all (`spec/nitro.md` 4).
    fn list(object: &'static str, rows: Vec<Fields>) -> Reply {
        Reply::ok(&List { object, rows })
    }

    fn error(status: StatusCode, code: u32, message: &str) -> Reply {
        let fields = Fields(envelope(code, message, "ERROR"));
        Reply::new(status, serde_json::to_string(&fields).unwrap_or_default())
    }

    fn unknown(name: &str) -> Reply {
        Reply::error(StatusCode::NOT_FOUND, 258, &format!("No such resource [name, {name}]"))
    }

    fn wrong_verb() -> Reply {
        let text = "Invalid method name. It should be either post, put, get, stat or delete";
        Reply::error(StatusCode::METHOD_NOT_ALLOWED, 1237, text)
    }
}

fn envelope(code: u32, message: &str, severity: &str) -> Vec<(&'static str, Value)> {
    vec![("errorcode", json!(code)), ("message", json!(message)), ("severity", json!(severity))]
}

/// The envelope of a success and, after it, the rows.
struct List {
    object: &'static str,
    rows: Vec<Fields>,
}

impl Serialize for List {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (name, value) in envelope(0, "Done", "NONE") {
            map.serialize_entry(name, &value)?;
        }
        if !self.rows.is_empty() {
            map.serialize_entry(self.object, &self.rows)?;
        }
        map.end()
    }
}

/// A JSON object that keeps its order.
pub struct Fields(pub Vec<(&'static str, Value)>);

impl Serialize for Fields {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

const JSON: &str = "application/json; charset=utf-8";
const BY_THE_SOCKET: &str = "Operation not permitted [by nitro.sock in the data directory alone]";
const CONNECTIONS: usize = 64;
/// More than a configuration's largest list in one body.
const MAX_BODY: usize = 16 << 20;
const BODY_TIMEOUT: Duration = Duration::from_secs(30);
const MAX_HEAD: usize = 32_768;
const HEAD_TIMEOUT: Duration = Duration::from_secs(30);
/// A client that never reads must not keep its place for ever.
const CONNECTION_TIME: Duration = Duration::from_secs(300);
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a01_names_are_reached_by_single_and_double_encoding() {
        for raw in ["lb v1", "lb%20v1", "lb%2520v1", "lb%2Bv1", "lb+v1"] {
            assert_eq!(decode_id(raw), "lb v1", "{raw}");
        }
        assert_eq!(decode_id("production%23Backend"), "production#Backend");
        assert_eq!(decode_id("production%2523Backend"), "production#Backend");
        assert_eq!(decode_id("a%2Fb"), "a/b");
        assert_eq!(decode_id("100%"), "100%");
        assert_eq!(decode_id("%zz%4"), "%zz%4");
    }

    #[test]
    fn only_loopback_names_are_ours() {
        for host in ["127.0.0.1", "127.0.0.1:9080", "localhost:1", "LOCALHOST", "[::1]:9080", "127.9.9.9:80"]
        {
            assert!(names_loopback(host), "{host}");
        }
        for host in
            ["evil.example", "evil.example:9080", "10.0.0.1:9080", "127.0.0.1.evil.example", "", "[::2]"]
        {
            assert!(!names_loopback(host), "{host}");
        }
    }

    #[test]
    fn an_empty_list_is_the_bare_envelope() {
        let reply = Reply::list("service", Vec::new());
        assert_eq!(reply.body, r#"{"errorcode":0,"message":"Done","severity":"NONE"}"#);
    }
}
