//! Where the running program is asked by its own commands: its management port, or the owner's socket in its data
//! directory.

use std::cell::RefCell;
use std::fmt::{self, Display};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::header::{CONTENT_TYPE, COOKIE, HOST};
use hyper::{Request, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::TlsConnector;
use zeroize::Zeroizing;

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
        /// What makes the handshakes where it is HTTPS.
        secure: Option<Secure>,
        /// Who logs in.
        login: Option<Login>,
    },
    /// By the owner's socket.
    Socket {
        /// Its file.
        path: PathBuf,
        /// The session of somebody who has logged in and is here without being the owner.
        session: Option<String>,
    },
}

/// What makes handshakes, and the host that is meant.
pub struct Secure {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
}

/// Somebody who logs in, and the session that came of it.
pub struct Login {
    user: String,
    password: Zeroizing<String>,
    session: RefCell<Option<String>>,
}

impl Login {
    /// Not logged in yet.
    pub fn of(user: String, password: Zeroizing<String>) -> Login {
        Login { user, password, session: RefCell::default() }
    }
}

impl Door {
    /// The socket in the data directory; or, where none is named, the socket in the default one if there is one, and else
    /// the default port.
    ///
    /// # Errors
    /// The default port cannot be asked.
    pub fn of(data: Option<&Path>) -> Result<Door, Fault> {
        let socket = host::path(data.unwrap_or(Path::new(DATA)));
        match data {
            None if !socket.exists() => Door::port(NITRO, None, None),
            _ => Ok(Door::at(socket)),
        }
    }

    /// Is it a URL of HTTPS?
    pub fn is_secure(url: &str) -> bool {
        url.get(..HTTPS.len()).is_some_and(|scheme| scheme.eq_ignore_ascii_case(HTTPS))
    }

    /// A management port by its URL.
    ///
    /// # Errors
    /// It cannot be asked.
    pub fn port(url: &str, config: Option<Arc<ClientConfig>>, login: Option<Login>) -> Result<Door, Fault> {
        let address = address(url)?;
        let host = address.rsplit_once(':').map_or(&*address, |(host, _)| host);
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let bad = |_| Fault::Url { url: url.to_owned(), why: "no certificate can be of that host" };
        let secure = match config {
            Some(config) => Some(Secure { config, name: ServerName::try_from(host).map_err(bad)? }),
            None => None,
        };
        Ok(Door::Port { url: url.to_owned(), address, secure, login })
    }

    /// Logs in, if somebody is to.
    ///
    /// # Errors
    /// Nothing answers there, or user and password are wrong.
    pub fn enter(&self) -> Result<(), Fault> {
        match self {
            Door::Port { login: Some(login), .. } => self.log_in(login),
            _ => Ok(()),
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

    /// Does the owner ask, who logs in nowhere?
    pub fn is_owners(&self) -> bool {
        matches!(self, Door::Socket { session: None, .. })
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

    /// Ctrl-C ends the wait for an answer from here on, where it no longer ends the program.
    pub fn wait_as_long_as_wanted() {
        INTERRUPTIBLE.store(true, Ordering::Relaxed);
    }

    /// A session that has ended is not the end: somebody logs in once more.
    fn ask(&self, path: &str, json: Option<String>) -> Result<(StatusCode, String), Fault> {
        let Door::Port { login: Some(login), .. } = self else {
            return self.ask_in(self.session(), path, json);
        };
        if login.session.borrow().is_none() {
            self.log_in(login)?;
        }
        let ask = |json| self.ask_in(login.session.borrow().as_deref(), path, json);
        let answer = ask(json.clone())?;
        if answer.0 != StatusCode::UNAUTHORIZED {
            return Ok(answer);
        }
        self.log_in(login)?;
        ask(json)
    }

    fn ask_in(
        &self,
        session: Option<&str>,
        path: &str,
        json: Option<String>,
    ) -> Result<(StatusCode, String), Fault> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| Fault::System { what: "start", error })?;
        runtime.block_on(ask(self, session, path, json))
    }

    fn log_in(&self, login: &Login) -> Result<(), Fault> {
        login.session.take();
        let asked = json!({ "login": { "username": login.user, "password": login.password.as_str() } });
        let (status, body) = self.ask_in(None, LOGIN, Some(asked.to_string()))?;
        let id = serde_json::from_str::<Value>(&body)
            .ok()
            .filter(|_| status.is_success())
            .and_then(|answer| answer.get("sessionid")?.as_str().map(percent_encode));
        match id {
            Some(id) => {
                login.session.replace(Some(id));
                Ok(())
            }
            None => judge(status, body, self.to_string())
                .map(drop)
                .and(Err(Fault::NoAnswer { url: self.to_string(), why: "it gives no session".to_owned() })),
        }
    }
}

impl Drop for Door {
    /// The session is not left behind.
    fn drop(&mut self) {
        if let Door::Port { login: Some(login), .. } = self
            && let Some(session) = login.session.take()
        {
            let asked = Some(json!({ "logout": {} }).to_string());
            // It would end by itself in time.
            drop(self.ask_in(Some(&session), LOGOUT, asked));
        }
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

async fn ask(
    door: &Door,
    session: Option<&str>,
    path: &str,
    json: Option<String>,
) -> Result<(StatusCode, String), Fault> {
    let exchange = async {
        match door {
            Door::Port { address, secure, .. } => {
                let stream = TcpStream::connect(address).await.map_err(|error| reason(&error))?;
                match secure {
                    None => exchange(stream, address, session, (path, json)).await,
                    Some(Secure { config, name }) => {
                        let connector = TlsConnector::from(Arc::clone(config));
                        let stream = connector.connect(name.clone(), stream).await;
                        let stream = stream.map_err(|error| reason(&error))?;
                        exchange(stream, address, session, (path, json)).await
                    }
                }
            }
            Door::Socket { path: socket, .. } => {
                let stream = UnixStream::connect(socket).await.map_err(|error| reason(&error))?;
                exchange(stream, "localhost", session, (path, json)).await
            }
        }
    };
    let interrupted = async {
        match INTERRUPTIBLE.load(Ordering::Relaxed) {
            true => drop(tokio::signal::ctrl_c().await),
            false => std::future::pending().await,
        }
    };
    let exchange = async {
        tokio::select! {
            answer = exchange => answer,
            () = interrupted => Err(GIVEN_UP.to_owned()),
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

/// Host and port of a URL; port 80 where it names none, and 443 for HTTPS.
fn address(url: &str) -> Result<String, Fault> {
    let bad = |why| Fault::Url { url: url.to_owned(), why };
    let uri: Uri = url.parse().map_err(|_| bad("not a URL"))?;
    let port = match uri.scheme_str() {
        Some("http") => 80,
        Some("https") => 443,
        _ => return Err(bad("only http:// and https:// URLs can be asked")),
    };
    let authority = uri.authority().ok_or_else(|| bad("it names no host"))?;
    Ok(match authority.port() {
        Some(_) => authority.as_str().to_owned(),
        None => format!("{}:{port}", authority.host()),
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
    let answer = serde_json::from_str::<Value>(&body).unwrap_or_default();
    let message = answer.get("message").and_then(|message| message.as_str().map(str::to_owned));
    let code = answer.get("errorcode").and_then(Value::as_u64).unwrap_or_default();
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
static INTERRUPTIBLE: AtomicBool = AtomicBool::new(false);
const GIVEN_UP: &str = "interrupted: it may be carried out all the same";
const HTTPS: &str = "https://";
const LOGIN: &str = "/nitro/v1/config/login";
const LOGOUT: &str = "/nitro/v1/config/logout";
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
            ("https://lb.example", "lb.example:443"),
        ] {
            assert_eq!(address(url).unwrap(), expected);
        }
    }
}
