//! `steelyard explain`: the last decisions of a virtual server, as the documentation's own table or as JSON.
//!
//! Owns the JSON of a decision (both ends of it) and the question to the running program. How the table looks is
//! `table`'s business; what was decided and why comes from the core's decision log.

mod table;

use std::fmt::{self, Display};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::ValueEnum;
use http_body_util::{BodyExt, Empty, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::header::HOST;
use hyper::{Request, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use serde::{Deserialize, Serialize};
use steelyard_core::balance::decision;
use steelyard_core::vserver::VirtualServer;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};

use crate::fault::{Fault, reason};
use crate::nitro::host;

/// What to explain, and to whom.
#[derive(clap::Args)]
pub struct ExplainArgs {
    /// Virtual server whose decisions to show.
    vserver: String,
    /// How many of the last decisions.
    #[arg(long, value_name = "N", default_value_t = DEFAULT_LAST, value_parser = clap::value_parser!(u64).range(1..=MAX_LAST))]
    last: u64,
    /// A table for people, or JSON for programs.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Management URL of the running program. Without it the socket in the data directory is asked, and where there is
    /// none http://127.0.0.1:9080.
    #[arg(long, value_name = "URL")]
    nitro: Option<String>,
    /// Data directory of the running program, by default ./steelyard-data: its owner asks the socket nitro.sock there,
    /// also where the management port speaks HTTPS alone.
    #[arg(long, value_name = "DIRECTORY", conflicts_with = "nitro")]
    data: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
}

/// The last decisions of one virtual server.
#[derive(Serialize, Deserialize, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Its name.
    pub vserver: String,
    /// Its method, as `-lbMethod` spells it.
    pub method: String,
    /// Oldest first.
    pub decisions: Vec<Decision>,
}

/// One decision and everything it rested on.
#[derive(Serialize, Deserialize, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Number of the decision since the virtual server exists.
    pub request: u64,
    /// When, in microseconds since the program started.
    pub at_us: u64,
    /// method, startup round robin, slow start, persistence, fallback or retry.
    pub reason: String,
    /// The method whose values `metric` and `key` are: the virtual server's own, or ROUNDROBIN or LEASTCONNECTION
    /// where one of them stands in.
    pub rule: String,
    /// The service selected before this decision.
    pub last_selected: Option<String>,
    /// Every bound service in ring order.
    pub services: Vec<Row>,
    /// Names of the services with the least value.
    pub tied: Vec<String>,
    /// The service that got the request.
    pub selected: String,
}

/// A service as one decision saw it.
#[derive(Serialize, Deserialize, Debug, PartialEq, Eq)]
pub struct Row {
    /// Its name.
    pub name: String,
    /// Could it be chosen?
    pub eligible: bool,
    /// Why not.
    pub why_not: Option<String>,
    /// N in the method's own unit: a count, active times microseconds, bytes of 14 s, or turns taken.
    pub metric: u64,
    /// Weight of the binding.
    pub weight: u32,
    /// What was compared: floor(metric * 10000 / weight); under ROUNDROBIN the round, floor(metric / weight).
    pub key: u64,
}

/// The last decisions of a virtual server, at most `last`.
pub fn answer(vserver: &VirtualServer, last: u64) -> Answer {
    let last = usize::try_from(last.min(MAX_LAST)).unwrap_or(0);
    let decisions = vserver.decisions(last).into_iter().map(spell_out).collect();
    Answer { vserver: vserver.name.to_string(), method: vserver.method.to_owned(), decisions }
}

/// Decisions as people read them.
pub fn text(answer: &Answer) -> String {
    table::render(answer)
}

/// Positions become names, which is what people and scripts compare.
fn spell_out(decision: decision::Decision) -> Decision {
    let name = |position: usize| decision.services.get(position).map(|row| row.name.clone());
    Decision {
        request: decision.request,
        at_us: decision.at_us,
        reason: decision.reason.text().to_owned(),
        rule: decision.rule.to_owned(),
        last_selected: decision.last_selected.and_then(name),
        tied: decision.tied.iter().copied().filter_map(name).collect(),
        selected: name(decision.selected).unwrap_or_default(),
        services: decision.services.into_iter().map(Row::from).collect(),
    }
}

impl From<decision::Row> for Row {
    fn from(row: decision::Row) -> Row {
        Row {
            name: row.name,
            eligible: row.eligible,
            why_not: row.why_not.map(str::to_owned),
            metric: row.metric,
            weight: row.weight,
            key: row.key,
        }
    }
}

/// Asks the running program and prints its answer.
///
/// # Errors
/// Nothing answers at the URL, or it has no such virtual server.
pub fn run(args: &ExplainArgs) -> Result<(), Fault> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Fault::System { what: "start", error })?;
    let path = format!("/steelyard/v1/explain/{}?last={}", percent_encode(&args.vserver), args.last);
    let door = Door::of(args)?;
    let body = runtime.block_on(ask(&door, &path))?;
    let answer: Answer = serde_json::from_str(&body).map_err(|error| Fault::NoAnswer {
        url: door.to_string(),
        why: format!("not the answer of this program ({error})"),
    })?;
    match args.format {
        Format::Text => print(&text(&answer)),
        Format::Json => print(&(body + "\n")),
    }
    Ok(())
}

/// A reader that has enough closes the pipe, which is no error.
fn print(text: &str) {
    let _ = std::io::stdout().lock().write_all(text.as_bytes());
}

/// Where the running program is asked.
enum Door {
    Port { url: String, address: String },
    Socket(PathBuf),
}

impl Door {
    fn of(args: &ExplainArgs) -> Result<Door, Fault> {
        let data = args.data.as_deref();
        let socket = host::path(data.unwrap_or(Path::new(DATA)));
        match &args.nitro {
            Some(url) => Door::port(url),
            None if data.is_some() || socket.exists() => Ok(Door::Socket(socket)),
            None => Door::port(NITRO),
        }
    }

    fn port(url: &str) -> Result<Door, Fault> {
        Ok(Door::Port { url: url.to_owned(), address: address(url)? })
    }
}

impl Display for Door {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Door::Port { url, .. } => f.write_str(url),
            Door::Socket(path) => write!(f, "{}", path.display()),
        }
    }
}

async fn ask(door: &Door, path: &str) -> Result<String, Fault> {
    let exchange = async {
        match door {
            Door::Port { address, .. } => {
                let stream = TcpStream::connect(address).await.map_err(|error| reason(&error))?;
                exchange(stream, address, path).await
            }
            Door::Socket(socket) => {
                let stream = UnixStream::connect(socket).await.map_err(|error| reason(&error))?;
                exchange(stream, "localhost", path).await
            }
        }
    };
    match tokio::time::timeout(PATIENCE, exchange).await {
        Ok(Ok((status, body))) => judge(status, body, door.to_string()),
        Ok(Err(why)) => Err(Fault::NoAnswer { url: door.to_string(), why }),
        Err(_) => Err(Fault::NoAnswer { url: door.to_string(), why: "no answer within 10 s".to_owned() }),
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
    path: &str,
) -> Result<(StatusCode, String), String> {
    let (mut sender, connection) =
        http1::handshake(TokioIo::new(stream)).await.map_err(|error| error.to_string())?;
    let request = Request::get(path)
        .header(HOST, host)
        .body(Empty::<Bytes>::new())
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
    let message = serde_json::from_str::<serde_json::Value>(&body)
        .ok()
        .and_then(|answer| answer.get("message")?.as_str().map(str::to_owned));
    match message {
        Some(message) => Err(Fault::Answer { message, url }),
        None => Err(Fault::NoAnswer { url, why: format!("answered {status}") }),
    }
}

fn percent_encode(name: &str) -> String {
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
const DATA: &str = "./steelyard-data";
const NITRO: &str = "http://127.0.0.1:9080";
/// Decisions shown when nobody says how many.
pub const DEFAULT_LAST: u64 = 10;
/// Most decisions in one answer; the log may hold fewer.
pub const MAX_LAST: u64 = 1_000;
/// One decision of a million services is some 100 MB.
const MAX_ANSWER: usize = 256 << 20;
const PATIENCE: Duration = Duration::from_secs(10);

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
