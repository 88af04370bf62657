//! The prompt over SSH: `steelyard run --ssh ADDRESS:PORT`.
//!
//! Owns the listeners, the connections and their end, on a thread of its own: a handshake costs milliseconds that no probe
//! waits for. Users and sessions are the control thread's, which is asked by `desk`; what is typed at a prompt goes to a
//! `child` with the session of whoever has logged in. `client` says what may be asked for, `room` how many there are,
//! `flow` how much of their input waits.

mod child;
mod client;
mod desk;
mod flow;
mod host_key;
mod room;
mod user_keys;

use std::borrow::Cow;
use std::io;
use std::net::{self, Shutdown, SocketAddr};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::Duration;

use russh::keys::{Algorithm, EcdsaCurve, HashAlg, PrivateKey};
use russh::server::{Config, RunningSession, run_stream};
use russh::{Disconnect, Preferred, SshId, cipher, compression, kex, mac};
use rustix::thread::clear_ambient_capability_set;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::{JoinSet, spawn_local};
use tokio::time::{Instant, interval, sleep, sleep_until, timeout, timeout_at};

use crate::fault::{Fault, reason};
use crate::report::Report;
use crate::state::State;
use client::{Broken, Client, Shared};
use desk::{Desk, Questions};
use flow::{Flow, Flowing};
use room::{Place, Room};
use user_keys::UserKeys;

/// Addresses that are open and not served yet.
pub struct Opened {
    listeners: Vec<net::TcpListener>,
    key: PrivateKey,
    data: PathBuf,
}

/// SSH that is served.
pub struct Serving {
    stop: watch::Sender<bool>,
    thread: JoinHandle<()>,
}

/// What all connections share.
pub struct Site {
    /// Where the program is asked.
    data: PathBuf,
    desk: Desk,
    keys: UserKeys,
    /// How many more prompts there may be.
    prompts: Arc<Semaphore>,
    report: Report,
}

/// Opens the addresses, if there are any; the key of the host is in the data directory.
///
/// # Errors
/// An address cannot be opened, or the key cannot be used.
pub fn open(addresses: &[SocketAddr], data: Option<&Path>) -> Result<Option<Opened>, Fault> {
    let Some(first) = addresses.first() else { return Ok(None) };
    let fault = |address, why: &str| Fault::Ssh { what: format!("--ssh {address}"), why: why.to_owned() };
    let data = data.ok_or_else(|| fault(first, "it needs a data directory; give --data"))?;
    let key = host_key::of(data)?;
    let listeners = addresses.iter().map(|address| {
        let listener = net::TcpListener::bind(address).and_then(|l| l.set_nonblocking(true).map(|()| l));
        listener.map_err(|error| fault(address, &format!("{}; choose another address", reason(&error))))
    });
    let listeners = listeners.collect::<Result<_, Fault>>()?;
    Ok(Some(Opened { listeners, key, data: data.to_owned() }))
}

impl Opened {
    /// A line for each address: where it is, and the key to expect there.
    pub fn lines(&self) -> Vec<String> {
        let key = client::fingerprint(self.key.public_key());
        let address = |listener: &net::TcpListener| listener.local_addr().ok();
        let line = |address| format!("ssh:        {address}, host key ED25519 {key}");
        self.listeners.iter().filter_map(address).map(line).collect()
    }

    /// The owner's socket, by which prompts ask, cannot be had: why not.
    pub fn without_socket(&self, why: &str) -> Fault {
        Fault::Ssh { what: "--ssh".to_owned(), why: format!("prompts ask by the owner's socket; {why}") }
    }

    /// Serves them on a thread of their own; users are asked of that state, here, and prompts ask by the owner's socket.
    ///
    /// # Errors
    /// The system grants no thread.
    pub fn serve(self, state: &Rc<State>, report: &Report) -> Result<Serving, Fault> {
        let (desk, questions): (Desk, Questions) = Desk::new();
        spawn_local(desk::answer(questions, Rc::clone(state)));
        let (stop, stopped) = watch::channel(false);
        let Opened { listeners, key, data } = self;
        let keys = UserKeys::new(&data, report.clone());
        let site = Arc::new(Site {
            data,
            desk,
            keys,
            prompts: Arc::new(Semaphore::new(PROMPTS)),
            report: report.clone(),
        });
        let fault = |error| Fault::System { what: "start a thread", error };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(fault)?;
        let thread = std::thread::Builder::new().name("ssh".to_owned()).spawn(move || {
            // Of this thread alone, and so of the children that it starts.
            let _ = clear_ambient_capability_set();
            runtime.block_on(serve(listeners, Arc::new(config(key)), site, stopped));
            runtime.shutdown_background();
        });
        Ok(Serving { stop, thread: thread.map_err(fault)? })
    }
}

impl Serving {
    /// Ends every session, and waits for that.
    pub async fn stop(self) {
        let _ = self.stop.send(true);
        // It ends in bounded time. A thread that has panicked has ended, too.
        let _ = tokio::task::spawn_blocking(move || self.thread.join()).await;
    }
}

impl Site {
    fn cannot_start(&self, error: &io::Error) {
        self.report.err(format!("steelyard: ssh: the prompt cannot be started: {}", reason(error)));
    }
}

/// What is spoken: nothing that is known to be weak, and no compression.
fn config(key: PrivateKey) -> Config {
    Config {
        server_id: SshId::Standard(Cow::Borrowed(concat!("SSH-2.0-Steelyard_", env!("CARGO_PKG_VERSION")))),
        methods: client::methods(),
        // Passwords take their time by themselves; a key that is not known is no secret.
        auth_rejection_time: Duration::ZERO,
        keys: vec![key],
        window_size: WINDOW,
        event_buffer_size: 4,
        channel_buffer_size: 4,
        preferred: Preferred {
            kex: Cow::Borrowed(KEX),
            key: Cow::Borrowed(KEYS),
            host_key_certificates: Cow::Borrowed(&[]),
            cipher: Cow::Borrowed(&[cipher::CHACHA20_POLY1305, cipher::AES_256_GCM, cipher::AES_128_GCM]),
            mac: Cow::Borrowed(&[mac::HMAC_SHA256_ETM, mac::HMAC_SHA512_ETM]),
            compression: Cow::Borrowed(&[compression::NONE]),
        },
        // The question which methods there are is the first.
        max_auth_attempts: ATTEMPTS + 1,
        inactivity_timeout: Some(SILENCE),
        keepalive_interval: Some(KEEPALIVE),
        keepalive_max: 4,
        nodelay: true,
        ..Config::default()
    }
}

/// Until it is stopped, and then until every connection has ended, or for a while.
async fn serve(
    listeners: Vec<net::TcpListener>,
    config: Arc<Config>,
    site: Arc<Site>,
    stopped: watch::Receiver<bool>,
) {
    let room = Room::default();
    let accepting = listeners.into_iter().filter_map(|listener| TcpListener::from_std(listener).ok());
    let mut accepting: JoinSet<JoinSet<()>> = accepting
        .map(|listener| {
            accept(listener, Arc::clone(&config), Arc::clone(&site), room.clone(), stopped.clone())
        })
        .collect();
    let all = async {
        while let Some(connections) = accepting.join_next().await {
            if let Ok(connections) = connections {
                connections.join_all().await;
            }
        }
    };
    let mut stop = stopped.clone();
    let patience = async {
        until(&mut stop).await;
        sleep(FAREWELL_TIME * 2).await;
    };
    tokio::select! {
        () = all => {}
        () = patience => {}
    }
}

/// Until it is stopped; the connections that are left.
async fn accept(
    listener: TcpListener,
    config: Arc<Config>,
    site: Arc<Site>,
    room: Room,
    mut stopped: watch::Receiver<bool>,
) -> JoinSet<()> {
    let mut connections = JoinSet::new();
    loop {
        while connections.try_join_next().is_some() {}
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = until(&mut stopped) => return connections,
        };
        match accepted {
            Ok((stream, peer)) => {
                let place = room.enter(peer.ip());
                let connection = Connection { stream, peer, place, stopped: stopped.clone() };
                connections.spawn(connection.serve(Arc::clone(&config), Arc::clone(&site)));
            }
            // Out of descriptors, most likely: accept would fail again at once.
            Err(_) => sleep(ACCEPT_PAUSE).await,
        }
    }
}

/// Until all of it is stopped.
async fn until(stopped: &mut watch::Receiver<bool>) {
    // Whoever could say it has gone, which says it, too.
    let _ = stopped.wait_for(|stop| *stop).await;
}

/// A client that has come.
struct Connection {
    stream: TcpStream,
    peer: SocketAddr,
    place: Place,
    stopped: watch::Receiver<bool>,
}

impl Connection {
    async fn serve(self, config: Arc<Config>, site: Arc<Site>) {
        let Connection { stream, peer, place, stopped } = self;
        let source = peer.ip().to_canonical();
        let Ok((stream, cut)) = with_cut(stream) else { return };
        let (farewell, heard) = watch::channel(None);
        let flow = Flow::default();
        let shared = Shared {
            flow: flow.clone(),
            place: Arc::new(place),
            entered: Arc::new(OnceLock::new()),
            farewell: heard,
        };
        let client = Client::new(Arc::clone(&site), source, &shared);
        let deadline = Instant::now() + GRACE;
        let begun = tokio::select! {
            begun = timeout_at(deadline, run_stream(config, Flowing::new(stream, flow.clone()), client)) => begun,
            () = shared.place.lost() => return,
        };
        let Ok(Ok(mut running)) = begun else { return };
        if watch_over(&mut running, &shared, &site, Ends { deadline, farewell, stopped }).await == Left::Open
        {
            // From here on reading and writing fail, and the connection ends with its children.
            let _ = cut.shutdown(Shutdown::Both);
            flow.end();
            // A password may be being checked: whoever comes in by that now leaves at once.
            let _ = timeout(GRACE, running).await;
        }
        if let Some(entered) = shared.entered.get() {
            site.desk.leave(entered.clone(), source).await;
        }
    }
}

/// A stream, and what cuts it whoever reads and writes there.
fn with_cut(stream: TcpStream) -> io::Result<(TcpStream, net::TcpStream)> {
    stream.set_nodelay(true)?;
    let stream = stream.into_std()?;
    let cut = stream.try_clone()?;
    Ok((TcpStream::from_std(stream)?, cut))
}

/// How a connection is left.
#[derive(PartialEq, Eq)]
enum Left {
    Open,
    Closed,
}

/// What a connection may end by.
struct Ends {
    /// Without a login.
    deadline: Instant,
    /// Where the last words are said.
    farewell: watch::Sender<Option<&'static str>>,
    /// The whole of it.
    stopped: watch::Receiver<bool>,
}

/// Until the connection has ended or has to end.
async fn watch_over(running: &mut RunningSession<Client>, shared: &Shared, site: &Site, ends: Ends) -> Left {
    let Ends { deadline, farewell, mut stopped } = ends;
    let handle = running.handle();
    let mut ticks = interval(TICK);
    let words = loop {
        tokio::select! {
            ended = &mut *running => {
                if let Err(Broken::TooMuch) = ended {
                    let user = shared.entered.get().map(|entered| entered.user.clone()).unwrap_or_default();
                    site.report.err(format!("steelyard: ssh: {user}: more input than is taken; the connection is ended"));
                }
                return Left::Closed;
            }
            () = shared.place.lost(), if shared.entered.get().is_none() => return Left::Open,
            () = sleep_until(deadline), if shared.entered.get().is_none() => return Left::Open,
            () = until(&mut stopped) => break STOPS,
            _ = ticks.tick() => {
                if let Some(entered) = shared.entered.get() && !site.desk.is_live(entered).await {
                    break ENDED;
                }
            }
        }
    };
    // It is said on every channel, after which clients go by themselves; one that has no channel is told by the protocol.
    let _ = farewell.send(Some(words));
    if timeout(FAREWELL_TIME / 2, &mut *running).await.is_ok() {
        return Left::Closed;
    }
    let bye = handle.disconnect(Disconnect::ByApplication, words.to_owned(), String::new());
    let _ = timeout(FAREWELL_TIME / 2, bye).await;
    Left::Open
}

const FOLDER: &str = "ssh";
const KEX: &[kex::Name] = &[
    kex::MLKEM768X25519_SHA256,
    kex::CURVE25519,
    kex::CURVE25519_PRE_RFC_8731,
    kex::EXTENSION_SUPPORT_AS_SERVER,
    kex::EXTENSION_OPENSSH_STRICT_KEX_AS_SERVER,
];
/// Of users; the host's own key is of the first kind.
const KEYS: &[Algorithm] = &[
    Algorithm::Ed25519,
    Algorithm::Ecdsa { curve: EcdsaCurve::NistP256 },
    Algorithm::Ecdsa { curve: EcdsaCurve::NistP384 },
    Algorithm::Ecdsa { curve: EcdsaCurve::NistP521 },
    Algorithm::Rsa { hash: Some(HashAlg::Sha512) },
    Algorithm::Rsa { hash: Some(HashAlg::Sha256) },
];
const ENDED: &str = "ERROR: Session expired or killed. Please login again";
const STOPS: &str = "The program stops; the session has ended";
/// From the connection to the login.
const GRACE: Duration = Duration::from_secs(60);
/// Passwords and keys that may be tried on one connection.
const ATTEMPTS: usize = 6;
/// Of all connections, at one time.
const PROMPTS: usize = 96;
/// Bytes that a client may send before they are taken.
const WINDOW: u32 = 256 << 10;
/// A client that does not answer is asked so often.
const KEEPALIVE: Duration = Duration::from_secs(60);
/// A client that takes nothing has gone after so long.
const SILENCE: Duration = Duration::from_secs(600);
/// How often it is asked whether a session goes on.
const TICK: Duration = Duration::from_secs(1);
const FAREWELL_TIME: Duration = Duration::from_secs(2);
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
