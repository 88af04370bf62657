//! The lab's services: one listener for all of them, each at an address of its own, on a thread of their own.
//!
//! Never touches the balancer but through its sockets. Ends when it is dropped.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use socket2::{Domain, Protocol, Socket, Type};
use steelyard_core::config::ServiceType;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{LocalSet, spawn_local};
use tokio::time::sleep;

use crate::simulated;

/// One service.
pub struct Simulated {
    /// Its name, or of a member `group?server?port`.
    pub name: Arc<str>,
    /// What it speaks.
    pub service_type: ServiceType,
    /// Its address in the file.
    pub configured: String,
    /// How long it thinks.
    pub delay: Duration,
}

impl Simulated {
    /// Where the service of that number is; `None` when there are more than loopback has room for.
    pub fn address(index: usize) -> Option<Ipv4Addr> {
        let index = u32::try_from(index).ok().filter(|index| *index < MOST)?;
        Some(Ipv4Addr::from(FIRST + index))
    }

    fn index(address: SocketAddr) -> Option<usize> {
        match address.ip() {
            IpAddr::V4(ip) => Some(u32::from(ip).checked_sub(FIRST)? as usize),
            IpAddr::V6(_) => None,
        }
    }
}

/// A listener for all services.
pub struct Listener {
    socket: Socket,
    port: u16,
}

impl Listener {
    /// Listens on loopback alone.
    ///
    /// # Errors
    /// What the system says.
    pub fn open() -> io::Result<Listener> {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))?;
        // No single address includes the whole of loopback; what comes from elsewhere is not let in.
        socket.bind_device(Some(LOOPBACK))?;
        socket.set_nonblocking(true)?;
        socket.bind(&SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)).into())?;
        socket.listen(BACKLOG)?;
        let address = socket.local_addr()?.as_socket();
        let port = address.ok_or(io::ErrorKind::AddrNotAvailable)?.port();
        Ok(Listener { socket, port })
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.port
    }
}

/// Services that run.
pub struct Services {
    ends: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
}

impl Services {
    /// Serves each of `services`.
    ///
    /// # Errors
    /// The system grants no thread or no epoll instance.
    pub fn start(listener: Listener, services: Vec<Answering>) -> io::Result<Services> {
        let (ends, mut ended) = watch::channel(false);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let run = move || {
            let everything = LocalSet::new();
            everything.block_on(&runtime, async move {
                spawn_local(serve(listener, services.into()));
                let _ = ended.wait_for(|ends| *ends).await;
            });
        };
        let thread = std::thread::Builder::new().name("lab".to_owned()).spawn(run)?;
        Ok(Services { ends, thread: Some(thread) })
    }
}

impl Drop for Services {
    fn drop(&mut self) {
        self.ends.send_replace(true);
        if let Some(thread) = self.thread.take() {
            // Nothing is left to do about services that panicked.
            let _ = thread.join();
        }
    }
}

/// What a service needs to answer.
#[derive(Clone)]
pub struct Answering {
    name: Arc<str>,
    protocol: ServiceType,
    delay: Duration,
}

impl From<&Simulated> for Answering {
    fn from(service: &Simulated) -> Answering {
        let Simulated { name, service_type, delay, .. } = service;
        Answering { name: Arc::clone(name), protocol: *service_type, delay: *delay }
    }
}

async fn serve(listener: Listener, services: Arc<[Answering]>) {
    let Ok(listener) = TcpListener::from_std(listener.socket.into()) else { return };
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            sleep(ACCEPT_PAUSE).await;
            continue;
        };
        let index = stream.local_addr().ok().and_then(Simulated::index);
        if let Some(service) = index.and_then(|index| services.get(index)) {
            spawn_local(answer(stream, service.clone()));
        }
    }
}

async fn answer(stream: TcpStream, service: Answering) {
    let Answering { name, protocol, delay } = service;
    match protocol {
        ServiceType::Http => simulated::http(stream, name, delay).await,
        _ => simulated::tcp(stream, name, delay).await,
    }
}

/// 127.128.0.1, the first address of a service.
const FIRST: u32 = u32::from_be_bytes([127, 128, 0, 1]);
/// Services in one lab.
const MOST: u32 = 1 << 22;
const LOOPBACK: &[u8] = b"lo";
const BACKLOG: i32 = 1024;
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
