//! Where the running program is asked by its own commands: its management port, or the owner's socket in its data
//! directory.

use std::fmt::{self, Display};
use std::path::{Path, PathBuf};
use std::time::Duration;

use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::header::{CONTENT_TYPE, COOKIE, HOST};
use hyper::{Request, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};

use crate::fault::{Fault, reason};
use crate::nitro::host;

/// Where the running program is asked.
pub enum Door {
    /// By its management port.
    Port {
        /// As given.
        url: String,
        /// Host and port of that.
        address: String,
    },
    /// By the owner's socket.
    Socket {
        /// Its file.
        path: PathBuf,
        /// The session of somebody who has logged in and is here without being the owner.
        session: Option<String>,
    },
}

impl Door {
    /// The URL; or the socket in the data directory; or, where neither is named, the socket in the default one if there is
    /// one, and else the default port.
    ///
    /// # Errors
    /// The URL cannot be asked.
    pub fn of(nitro: Option<&str>, data: Option<&Path>) -> Result<Door, Fault> {
        let socket = host::path(data.unwrap_or(Path::new(DATA)));
        match nitro {
            Some(url) => Door::port(url),
            None if data.is_some() || socket.exists() => Ok(Door::at(socket)),
            None => Door::port(NITRO),
        }
    }

    /// The socket in this data directory.
    pub fn socket(data: &Path) -> Door {
        Door::at(host::path(data))
    }

    /// With the session that the environment has, whatever it is: nobody becomes the owner by a bad one.
    fn at(path: PathBuf) -> Door {
        let session = std::env::var_os(SESSION).map(|id| id.to_string_lossy().into_owned());
        Door::Socket { path, session }
    }

    /// The session that is asked with; without one the owner asks, or anybody on this host.
    pub fn session(&self) -> Option<&str> {
        match self {
            Door::Socket { session, .. } => session.as_deref(),
            Door::Port { .. } => None,
        }
    }

    /// The body of the answer to a GET of `path`.
    ///
    /// # Errors
    /// Nothing answers there, or with another status than 200.
    pub fn get(&self, path: &str) -> Result<String, Fault> {
        let (status, body) = self.ask(path, None)?;
        judge(status, body, self.to_string())
    }

    /// The body of the answer to a POST of that JSON, whatever its status.
    ///
    /// # Errors
    /// Nothing answers there, or it is nobody's session.
    pub fn post(&self, path: &str, json: String) -> Result<String, Fault> {
        let (status, body) = self.ask(path, Some(json))?;
        if status == StatusCode::UNAUTHORIZED { judge(status, body, self.to_string()) } else { Ok(body) }
    }

    fn ask(&self, path: &str, json: Option<String>) -> Result<(StatusCode, String), Fault> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| Fault::System { what: "start", error })?;
        runtime.block_on(ask(self, path, json))
    }

    fn port(url: &str) -> Result<Door, Fault> {
        Ok(Door::Port { url: url.to_owned(), address: address(url)? })
    }
}

impl Display for Door {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Door::Port { url, .. } => f.write_str(url),
            Door::Socket { path, .. } => write!(f, "{}", path.display()),
        }
    }
}

async fn ask(door: &Door, path: &str, json: Option<String>) -> Result<(StatusCode, String), Fault> {
    let exchange = async {
        match door {
            Door::Port { address, .. } => {
                let stream = TcpStream::connect(address).await.map_err(|error| reason(&error))?;
                exchange(stream, address, None, (path, json)).await
            }
            Door::Socket { path: socket, session } => {
                let stream = UnixStream::connect(socket).await.map_err(|error| reason(&error))?;
                exchange(stream, "localhost", session.as_deref(), (path, json)).await
            }
        }
    };
    match tokio::time::timeout(PATIENCE, exchange).await {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(why)) => Err(Fault::NoAnswer { url: door.to_string(), why }),
        Err(_) => Err(Fault::NoAnswer {
            url: door.to_string(),
            why: format!("no answer within {} s", PATIENCE.as_secs()),
        }),
    }
}

/// Host and port of a URL; port 80 where it names none.
fn address(url: &str) -> Result<String, Fault> {
    let bad = |why| Fault::Url { url: url.to_owned(), why };
    let uri: Uri = url.parse().map_err(|_| bad("not a URL"))?;
    if uri.scheme_str() != Some("http") {
        return Err(bad("only http:// URLs can be asked"));
    }
    let authority = uri.authority().ok_or_else(|| bad("it names no host"))?;
    Ok(match authority.port() {
        Some(_) => authority.as_str().to_owned(),
        None => format!("{}:80", authority.host()),
    })
}

async fn exchange(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    host: &str,
    session: Option<&str>,
    (path, json): (&str, Option<String>),
) -> Result<(StatusCode, String), String> {
    let (mut sender, connection) =
        http1::handshake(TokioIo::new(stream)).await.map_err(|error| error.to_string())?;
    let request = if json.is_some() { Request::post(path) } else { Request::get(path) };
    let request = match session {
        // One without an id is the session of nobody.
        Some(id) => {
            request.header(COOKIE, format!("NITRO_AUTH_TOKEN={}", if id.is_empty() { "-" } else { id }))
        }
        None => request,
    };
    let request = request
        .header(HOST, host)
        .header(CONTENT_TYPE, "application/json")
        .body(Full::new(Bytes::from(json.unwrap_or_default())))
        .map_err(|error| error.to_string())?;
    let talk = async {
        let response = sender.send_request(request).await.map_err(|error| error.to_string())?;
        let status = response.status();
        let body = Limited::new(response.into_body(), MAX_ANSWER).collect().await;
        let bytes = body.map_err(|error| error.to_string())?.to_bytes();
        Ok((status, String::from_utf8_lossy(&bytes).into_owned()))
    };
    let mut connection = std::pin::pin!(connection);
    let mut talk = std::pin::pin!(talk);
    tokio::select! {
        done = &mut talk => done,
        // The connection may end with the last byte of the answer, which is then already there.
        _ = &mut connection => talk.await,
    }
}

fn judge(status: StatusCode, body: String, url: String) -> Result<String, Fault> {
    if status == StatusCode::OK {
        return Ok(body);
    }
    let answer = serde_json::from_str::<serde_json::Value>(&body).unwrap_or_default();
    let message = answer.get("message").and_then(|message| message.as_str().map(str::to_owned));
    let code = answer.get("errorcode").and_then(serde_json::Value::as_u64).unwrap_or_default();
    match message {
        Some(message) if status == StatusCode::UNAUTHORIZED => Err(Fault::NotLoggedIn { message }),
        Some(message) => Err(Fault::Answer { code, message, url }),
        None => Err(Fault::NoAnswer { url, why: format!("answered {status}") }),
    }
}

/// A name as a part of a path.
pub fn percent_encode(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for byte in name.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => out.push(byte as char),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// Where `run` keeps its data and is managed, unless it is told otherwise.
pub const DATA: &str = "./steelyard-data";
/// The variable of the environment with the session of whoever has logged in.
pub const SESSION: &str = "STEELYARD_SESSION";
const NITRO: &str = "http://127.0.0.1:9080";
/// One decision of a million services is some 100 MB.
const MAX_ANSWER: usize = 256 << 20;
/// A list of tens of thousands takes a slow host some seconds.
const PATIENCE: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_without_a_port_means_port_80() {
        for (url, expected) in [
            ("http://127.0.0.1", "127.0.0.1:80"),
            ("http://127.0.0.1/", "127.0.0.1:80"),
            ("http://127.0.0.1:9080", "127.0.0.1:9080"),
            ("http://[::1]", "[::1]:80"),
            ("http://[::1]:9080/", "[::1]:9080"),
        ] {
            assert_eq!(address(url).unwrap(), expected);
        }
    }
}
