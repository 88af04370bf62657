//! The management port: NITRO's statistics, read-only, the decisions behind `steelyard explain`, and `/metrics`.
//!
//! Owns the HTTP side: limits, paths, envelope, status and reason phrase (`spec/nitro.md` 1, 3, 4, 6). What a figure
//! means is `stat`'s business. Never changes anything. There are no users yet, hence two guards: only a loopback
//! address is served, and a request that a foreign web page had a browser make is refused.

pub mod rates;
mod stat;

use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{ALLOW, CONNECTION, CONTENT_TYPE, HOST, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::spawn_local;

use crate::explain;
use crate::metrics;
use crate::state::State;

/// Opens the management address.
///
/// # Errors
/// What the system says.
pub async fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    TcpListener::bind(address).await
}

/// Answers for ever. At most [`CONNECTIONS`] clients at one time; more wait in the listener's queue.
pub async fn serve(listener: TcpListener, state: Rc<State>) {
    let room = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let Ok(permit) = Arc::clone(&room).acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, _)) => {
                let state = Rc::clone(&state);
                spawn_local(async move {
                    let _permit = permit;
                    converse(stream, state).await;
                });
            }
            // Out of descriptors, most likely: accept would fail again at once.
            Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
        }
    }
}

async fn converse(stream: TcpStream, state: Rc<State>) {
    let answer = service_fn(move |request: Request<Incoming>| {
        let state = Rc::clone(&state);
        async move { Ok::<_, Infallible>(respond(&request, &state).await) }
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_buf_size(MAX_HEAD)
        .serve_connection(TokioIo::new(stream), answer);
    // A client that breaks off, or off the protocol, has its answer already or wants none.
    let _ = tokio::time::timeout(CONNECTION_TIME, served).await;
}

async fn respond(request: &Request<Incoming>, state: &State) -> Response<Full<Bytes>> {
    let reply = if foreign(request) {
        Reply::error(StatusCode::FORBIDDEN, 257, "Operation not permitted")
    } else if request.method() == Method::GET && request.uri().path() == "/metrics" {
        figures(state).await
    } else {
        route(request.method(), request.uri().path(), request.uri().query(), state)
    };
    let mut response = Response::new(Full::new(Bytes::from(reply.body)));
    *response.status_mut() = reply.status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(reply.content_type));
    if reply.status == StatusCode::METHOD_NOT_ALLOWED {
        response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET"));
    }
    if request.method() != Method::GET {
        // The body is not read, so that the connection cannot be used again.
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

fn route(method: &Method, path: &str, query: Option<&str>, state: &State) -> Reply {
    let segments: Vec<&str> = path.split('/').filter(|s| !s.is_empty()).collect();
    let get = |answer: &dyn Fn() -> Reply| if method == Method::GET { answer() } else { Reply::wrong_verb() };
    match segments.as_slice() {
        ["nitro", "v1", "stat", "lbvserver"] => get(&|| Reply::list("lbvserver", stat::lbvservers(state))),
        ["nitro", "v1", "stat", "service"] => get(&|| Reply::list("service", stat::services(state))),
        ["nitro", "v1", "stat", "lbvserver", id] => {
            get(&|| one("lbvserver", id, |n| stat::lbvserver(state, n)))
        }
        ["nitro", "v1", "stat", "service", id] => get(&|| one("service", id, |n| stat::service(state, n))),
        ["metrics"] => Reply::wrong_verb(),
        ["steelyard", "v1", "explain", id] => get(&|| decisions(id, query, state)),
        ["nitro", "v1", "stat" | "config", object, ..] => {
            let text = format!("Invalid object name [{}]", decode_id(object));
            Reply::error(StatusCode::NOT_FOUND, 1232, &text)
        }
        _ => Reply::error(StatusCode::NOT_FOUND, 1232, "Invalid object name"),
    }
}

/// `/metrics`. A large configuration takes a while to tell, so that is done aside, and once at a time.
async fn figures(state: &State) -> Reply {
    let _turn = state.scraping().lock().await;
    let figures = state.figures();
    match tokio::task::spawn_blocking(move || figures.render()).await {
        Ok(body) => Reply { status: StatusCode::OK, content_type: metrics::CONTENT_TYPE, body },
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
fn foreign(request: &Request<Incoming>) -> bool {
    let text = |name: &str| request.headers().get(name).and_then(|v| v.to_str().ok());
    let cross_site = text("sec-fetch-site").is_some_and(|site| site != "same-origin" && site != "none");
    let rebound = text(HOST.as_str()).is_some_and(|host| !names_loopback(host));
    cross_site || rebound
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
}

impl Reply {
    fn ok(body: &impl Serialize) -> Reply {
        match serde_json::to_string(body) {
            Ok(body) => Reply { status: StatusCode::OK, content_type: JSON, body },
            Err(_) => Reply::error(StatusCode::SERVICE_UNAVAILABLE, 1239, "NITRO command Execution failed"),
        }
    }

    /// An empty list has no key at all (`spec/nitro.md` 4).
    fn list(object: &'static str, rows: Vec<Fields>) -> Reply {
        Reply::ok(&List { object, rows })
    }

    fn error(status: StatusCode, code: u32, message: &str) -> Reply {
        let fields = Fields(envelope(code, message, "ERROR"));
        Reply { status, content_type: JSON, body: serde_json::to_string(&fields).unwrap_or_default() }
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
const CONNECTIONS: usize = 64;
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
