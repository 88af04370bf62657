//! The dispatcher of USER monitors that is built in: it runs their scripts from the data directory and answers as
//! NetScaler's does (`spec/methods.md` 4.8).
//!
//! Owns when it is open, who is let in, and how much runs at one time; `order` reads a request, `script` runs one, `outcome`
//! says what its end means. The hard question is whose scripts run as whom: those of one folder, which only superusers
//! write to, as a user without rights, never as root.

mod order;
mod outcome;
mod script;
mod script_user;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::rc::Rc;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt, Empty, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{HeaderName, HeaderValue, SERVER};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use steelyard_core::monitor::schedule::Schedule;
use steelyard_core::monitor::user::Script;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::{AbortHandle, spawn_local};
use tokio::time::timeout;

use crate::fault::{Fault, reason};
use crate::files::Folders;
use crate::listing::quoted;
use crate::report::Report;
use order::Order;
use outcome::Answer;
use script::Place;
use script_user::ScriptUser;

/// Whether scripts are run, and by whom.
#[derive(clap::Args)]
pub struct DispatcherArgs {
    /// Where scripts of USER monitors are run, from the folder nsconfig/monitors of the data directory: on loopback, and
    /// only while a monitor has that -dispatcherIP and -dispatcherPort. 'off' runs none.
    #[arg(long, value_name = "ADDRESS:PORT|off", default_value = "127.0.0.1:3013")]
    dispatcher: Opening,
    /// Who runs those scripts; never root. Without this option that is nobody where root runs the program, and whoever
    /// runs it elsewhere.
    #[arg(long, value_name = "NAME")]
    script_user: Option<String>,
}

/// The words of `--dispatcher`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Opening {
    Off,
    At(SocketAddr),
}

impl FromStr for Opening {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Opening, &'static str> {
        if text == "off" {
            return Ok(Opening::Off);
        }
        let address: SocketAddr =
            text.parse().map_err(|_| "give ADDRESS:PORT, the address in digits, or off")?;
        match (address.ip().is_loopback(), address.port()) {
            (false, _) => Err("it is open on loopback alone: whoever reaches it has scripts run"),
            (true, 0) => Err("monitors need a port to name"),
            (true, _) => Ok(Opening::At(address)),
        }
    }
}

impl DispatcherArgs {
    /// The dispatcher of a program with that data directory.
    ///
    /// # Errors
    /// The user cannot run scripts.
    pub fn dispatcher(&self, data: &Path, report: &Report) -> Result<Dispatcher, Fault> {
        let user = ScriptUser::find(self.script_user.as_deref());
        if let (Some(name), Err(why)) = (&self.script_user, &user) {
            return Err(Fault::ScriptUser { name: name.clone(), why: why.clone() });
        }
        let Opening::At(address) = self.dispatcher else { return Ok(Dispatcher::default()) };
        let inner = Inner {
            address,
            folders: Folders::new(Some(data)),
            user,
            report: report.clone(),
            listening: RefCell::default(),
            told: RefCell::default(),
            runs: Arc::new(Semaphore::new(MOST_RUNS)),
            connections: Arc::new(Semaphore::new(MOST_CONNECTIONS)),
        };
        Ok(Dispatcher(Some(Rc::new(inner))))
    }
}

/// Runs scripts while a monitor asks for it. Clones are the same; the default runs none.
#[derive(Clone, Default)]
pub struct Dispatcher(Option<Rc<Inner>>);

struct Inner {
    address: SocketAddr,
    folders: Folders,
    /// Who runs scripts, or why nobody can.
    user: Result<ScriptUser, String>,
    report: Report,
    listening: RefCell<Option<AbortHandle>>,
    /// What was told already of what is wrong now.
    told: RefCell<BTreeSet<String>>,
    runs: Arc<Semaphore>,
    connections: Arc<Semaphore>,
}

impl Dispatcher {
    /// To be called when what is probed has changed, before that is probed: opens where one of the monitors asks here,
    /// closes where none does. Tells what is missing, each once. Must be called on a thread that runs a tokio `LocalSet`.
    pub fn settle(&self, schedule: &Schedule) {
        let Some(inner) = &self.0 else { return };
        let here = schedule.scripted().filter(|(_, script)| script.dispatcher == inner.address);
        let asked: BTreeMap<&str, &Script> = here.map(|(spec, script)| (&*spec.name, script)).collect();
        if asked.is_empty() {
            inner.told.borrow_mut().clear();
            if let Some(listening) = inner.listening.take() {
                listening.abort();
            }
            return;
        }
        let wrong: BTreeSet<String> = match inner.listen() {
            Ok(()) => asked.iter().filter_map(|(monitor, script)| inner.missing(monitor, script)).collect(),
            Err(why) => BTreeSet::from([why]),
        };
        let told = inner.told.replace(wrong.clone());
        wrong.difference(&told).for_each(|line| inner.report.err(format!("steelyard: {line}")));
    }
}

impl Inner {
    /// Opens it, unless it is open.
    fn listen(self: &Rc<Self>) -> Result<(), String> {
        if self.listening.borrow().is_some() {
            return Ok(());
        }
        self.user.as_ref().map_err(|why| format!("no script of a USER monitor can be run: {why}"))?;
        let listener = bind(self.address).map_err(|error| match error.kind() {
            io::ErrorKind::AddrInUse => {
                format!("{} is taken: USER monitors ask the dispatcher that listens there", self.address)
            }
            _ => format!("no script of a USER monitor can be run: {}: {}", self.address, reason(&error)),
        })?;
        let serving = spawn_local(serve(listener, Rc::clone(self)));
        *self.listening.borrow_mut() = Some(serving.abort_handle());
        Ok(())
    }

    /// What the operator should know of a monitor's script.
    fn missing(&self, monitor: &str, script: &Script) -> Option<String> {
        let why = self.folders.script(&script.name).err()?;
        let said = script::not_there(&script.name, &why, &self.folders);
        Some(format!("monitor {}: {said}", quoted(monitor)))
    }
}

fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    let listener = std::net::TcpListener::bind(address)?;
    listener.set_nonblocking(true)?;
    TcpListener::from_std(listener)
}

async fn serve(listener: TcpListener, inner: Rc<Inner>) {
    loop {
        let Ok(place) = Arc::clone(&inner.connections).acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, _)) => {
                let inner = Rc::clone(&inner);
                spawn_local(async move {
                    converse(stream, inner).await;
                    drop(place);
                });
            }
            // Out of descriptors, most likely: accept would fail again at once.
            Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
        }
    }
}

/// One request and its answer. A client that hangs up meanwhile ends its script.
async fn converse(stream: TcpStream, inner: Rc<Inner>) {
    let answer = service_fn(move |request: Request<Incoming>| {
        let inner = Rc::clone(&inner);
        async move { Ok::<_, Infallible>(written(respond(request, &inner).await)) }
    });
    // Who breaks off wants no answer.
    let _ = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(READ_TIME)
        .max_buf_size(MAX_HEAD)
        .keep_alive(false)
        .title_case_headers(true)
        .auto_date_header(false)
        .serve_connection(TokioIo::new(stream), answer)
        .await;
}

async fn respond(request: Request<Incoming>, inner: &Inner) -> Answer {
    let (head, body) = request.into_parts();
    let body = match timeout(READ_TIME, Limited::new(body, MAX_BODY).collect()).await {
        Ok(Ok(body)) => body.to_bytes(),
        Ok(Err(_)) => return Answer::unreadable(format!("the body is cut, or longer than {MAX_BODY} bytes")),
        Err(_) => return Answer::unreadable(format!("no body within {} s", READ_TIME.as_secs())),
    };
    let order = match Order::read(&head, &body) {
        Ok(order) => order,
        Err(answer) => return answer,
    };
    let user = match &inner.user {
        Ok(user) => user.clone(),
        Err(why) => return Answer::no_room(why.clone()),
    };
    // Whoever waits longer has no time left for the script.
    let Ok(Ok(room)) = timeout(order.time / 2, Arc::clone(&inner.runs).acquire_owned()).await else {
        return Answer::no_room(format!("{MOST_RUNS} scripts run already"));
    };
    script::run(order, Place { folders: inner.folders.clone(), user }, room).await
}

fn written(answer: Answer) -> Response<Empty<Bytes>> {
    let mut response = Response::new(Empty::new());
    *response.status_mut() = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    headers.insert(SERVER, HeaderValue::from_static("steelyard"));
    let name = if answer.status == 200 { "more-info" } else { "failure-reason" };
    if let Ok(value) = HeaderValue::from_bytes(answer.text.as_bytes())
        && !answer.text.is_empty()
    {
        headers.insert(HeaderName::from_static(name), value);
    }
    response
}

/// Scripts at one time; a host is to do other things as well.
const MOST_RUNS: usize = 64;
const MOST_CONNECTIONS: usize = 1_024;
const MAX_HEAD: usize = 16_384;
const MAX_BODY: usize = 16_384;
const READ_TIME: Duration = Duration::from_secs(5);
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_opened_on_loopback_alone() {
        let at = |text: &str| text.parse::<Opening>();
        assert_eq!(at("off"), Ok(Opening::Off));
        assert_eq!(at("127.0.0.1:3013"), Ok(Opening::At("127.0.0.1:3013".parse().unwrap())));
        assert_eq!(at("[::1]:4000"), Ok(Opening::At("[::1]:4000".parse().unwrap())));
        for wrong in ["0.0.0.0:3013", "192.0.2.1:3013", "127.0.0.1:0", "127.0.0.1", "on", ""] {
            assert!(at(wrong).is_err(), "{wrong}");
        }
    }
}
