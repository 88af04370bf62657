//! A service for tests: a real HTTP server on plain threads whose every answer is a closure, and which keeps its own
//! record of what it was asked and when, independent of what the program counts.

use std::io::{self, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::client::PATIENCE;
use crate::message::{Body, Message, read_body, read_head};

/// What happens to the connection after an answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Then {
    /// It stays open for the next request.
    Keep,
    /// FIN.
    Close,
    /// RST.
    Reset,
}

/// One request of the service's own record.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Which connection it came on, from 0. Probes open connections too, without a request.
    pub connection: usize,
    /// Where that connection came from.
    pub peer: SocketAddr,
    /// The request; without its body if the handler was called with the head alone.
    pub request: Message,
    /// When its head was complete.
    pub began_at: Instant,
    /// When the handler had returned.
    pub ended_at: Option<Instant>,
}

/// A running service. It ends, with all its connections, when it is dropped.
pub struct TestService {
    address: SocketAddr,
    shared: Arc<Shared>,
    acceptor: Option<JoinHandle<()>>,
}

/// What a handler is given: the request, and the connection to do with as it likes.
pub struct Exchange<'a> {
    /// The request, its body read unless the service [reads heads only](TestService::start_with_heads).
    pub request: Message,
    /// How many requests of this service began before it.
    pub nth: usize,
    stream: &'a mut BufReader<TcpStream>,
}

type Handler = dyn Fn(&mut Exchange<'_>) -> io::Result<Then> + Send + Sync;

struct Shared {
    handler: Box<Handler>,
    reads: Reads,
    log: Mutex<Vec<Entry>>,
    open: Mutex<Vec<(usize, TcpStream)>>,
    connections: AtomicUsize,
    stopping: AtomicBool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Reads {
    Bodies,
    HeadsOnly,
}

impl TestService {
    /// Listens on `address`; `handler` answers each request, read whole.
    pub fn start<H>(address: SocketAddr, handler: H) -> TestService
    where
        H: Fn(&mut Exchange<'_>) -> io::Result<Then> + Send + Sync + 'static,
    {
        TestService::launch(address, Box::new(handler), Reads::Bodies)
    }

    /// The same, but the handler is called as soon as the head is there and reads the body itself, or does not.
    pub fn start_with_heads<H>(address: SocketAddr, handler: H) -> TestService
    where
        H: Fn(&mut Exchange<'_>) -> io::Result<Then> + Send + Sync + 'static,
    {
        TestService::launch(address, Box::new(handler), Reads::HeadsOnly)
    }

    /// A service that answers every request with 200, its own port as the body, and keeps the connection.
    pub fn plain(address: SocketAddr) -> TestService {
        TestService::named(address, &address.port().to_string())
    }

    /// The same with `name` as the body.
    pub fn named(address: SocketAddr, name: &str) -> TestService {
        let name = name.to_owned();
        TestService::start(address, move |x| x.ok(&name))
    }

    /// The same, `delay_ms` after the request has come.
    pub fn slow(address: SocketAddr, name: &str, delay_ms: u64) -> TestService {
        let name = name.to_owned();
        TestService::start(address, move |x| {
            std::thread::sleep(Duration::from_millis(delay_ms));
            x.ok(&name)
        })
    }

    /// The same, once `gate` has let the request pass.
    pub fn held(address: SocketAddr, name: &str, gate: &Gate) -> TestService {
        let (name, gate) = (name.to_owned(), gate.clone());
        TestService::start(address, move |x| {
            gate.pass();
            x.ok(&name)
        })
    }

    /// The same with a status that the test changes as it goes.
    pub fn with_status(address: SocketAddr, name: &str, status: &Arc<AtomicU16>) -> TestService {
        let (name, status) = (name.to_owned(), Arc::clone(status));
        TestService::start(address, move |x| x.answer(status.load(Ordering::SeqCst), name.as_bytes()))
    }

    /// A service that answers every request with 200 and the request's own body.
    pub fn echo(address: SocketAddr) -> TestService {
        TestService::start(address, |x| {
            let body = x.request.body.clone();
            x.answer(200, &body)
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its record so far.
    pub fn log(&self) -> Vec<Entry> {
        lock(&self.shared.log).clone()
    }

    /// Requests begun so far.
    pub fn begun(&self) -> usize {
        lock(&self.shared.log).len()
    }

    /// The heads, as they came, of the requests so far whose head holds `text`: probes among them.
    pub fn heads_with(&self, text: &str) -> Vec<String> {
        let log = lock(&self.shared.log);
        log.iter().map(|e| &e.request.head).filter(|head| head.contains(text)).cloned().collect()
    }

    /// Requests begun and not ended now.
    pub fn active(&self) -> usize {
        lock(&self.shared.log).iter().filter(|e| e.ended_at.is_none()).count()
    }

    /// Connections that carried a request, in the order of their first one.
    pub fn used_connections(&self) -> Vec<usize> {
        let mut used: Vec<usize> = Vec::new();
        for entry in self.log() {
            if !used.contains(&entry.connection) {
                used.push(entry.connection);
            }
        }
        used
    }

    /// Waits until `count` requests have begun.
    pub fn wait_begun(&self, count: usize) {
        wait_for(&format!("{count} requests at {}", self.address), || self.begun() >= count);
    }

    /// Closes every connection that is open now, by FIN.
    pub fn close_connections(&self) {
        for (_, stream) in lock(&self.shared.open).drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    /// Stops listening and closes every connection: from here on connects are refused.
    pub fn stop(mut self) {
        self.end();
        // A process that another test starts just now has a copy of the listener for a moment, which keeps it open.
        wait_for("connects to be refused", || TcpStream::connect_timeout(&self.address, PATIENCE).is_err());
    }

    fn launch(address: SocketAddr, handler: Box<Handler>, reads: Reads) -> TestService {
        let listener = TcpListener::bind(address).unwrap_or_else(|e| panic!("service on {address}: {e}"));
        let shared = Arc::new(Shared {
            handler,
            reads,
            log: Mutex::default(),
            open: Mutex::default(),
            connections: AtomicUsize::new(0),
            stopping: AtomicBool::new(false),
        });
        let for_thread = Arc::clone(&shared);
        let acceptor = Some(std::thread::spawn(move || accept(&listener, &for_thread)));
        TestService { address, shared, acceptor }
    }

    fn end(&mut self) {
        let Some(acceptor) = self.acceptor.take() else { return };
        self.shared.stopping.store(true, Ordering::SeqCst);
        // Wakes the acceptor, which then closes its listener.
        drop(TcpStream::connect_timeout(&self.address, PATIENCE));
        let _ = acceptor.join();
        self.close_connections();
    }
}

impl Drop for TestService {
    fn drop(&mut self) {
        self.end();
    }
}

impl Exchange<'_> {
    /// Sends bytes as they are.
    pub fn raw(&mut self, bytes: impl AsRef<[u8]>) -> io::Result<()> {
        self.stream.get_mut().write_all(bytes.as_ref())
    }

    /// A whole answer; the connection stays open.
    pub fn answer(&mut self, status: u16, body: &[u8]) -> io::Result<Then> {
        let mut bytes =
            format!("HTTP/1.1 {status} Test\r\nContent-Length: {}\r\n\r\n", body.len()).into_bytes();
        if self.request.method() != "HEAD" {
            bytes.extend(body);
        }
        self.raw(bytes)?;
        Ok(Then::Keep)
    }

    /// 200 with a short text.
    pub fn ok(&mut self, body: &str) -> io::Result<Then> {
        self.answer(200, body.as_bytes())
    }

    /// Reads the request's body, when the service reads heads only.
    pub fn read_body(&mut self) -> io::Result<()> {
        read_body(self.stream, &mut self.request, Body::Framed)
    }

    /// Reads as many bytes as `into` has room for.
    pub fn read_exact(&mut self, into: &mut [u8]) -> io::Result<()> {
        self.stream.read_exact(into)
    }

    /// Reads whatever comes until the stream ends or `most` bytes were read; how many there were.
    pub fn drain(&mut self, most: usize) -> io::Result<usize> {
        let mut scratch = [0; 16384];
        let mut total = 0;
        while total < most {
            match self.stream.read(&mut scratch)? {
                0 => break,
                read => total += read,
            }
        }
        Ok(total)
    }
}

/// Holds requests until a test lets them go.
#[derive(Clone, Default)]
pub struct Gate(Arc<(Mutex<usize>, Condvar)>);

impl Gate {
    /// A gate that nothing passes yet.
    pub fn new() -> Gate {
        Gate::default()
    }

    /// Lets `count` more pass.
    pub fn release(&self, count: usize) {
        let mut allowed = lock(&self.0.0);
        *allowed = allowed.saturating_add(count);
        self.0.1.notify_all();
    }

    /// Lets everything pass from now on.
    pub fn open(&self) {
        self.release(usize::MAX);
    }

    /// Waits to be let through.
    pub fn pass(&self) {
        let allowed = lock(&self.0.0);
        let result = self.0.1.wait_timeout_while(allowed, PATIENCE, |allowed| *allowed == 0);
        let (mut allowed, _) = result.unwrap_or_else(std::sync::PoisonError::into_inner);
        if *allowed != usize::MAX {
            *allowed = allowed.saturating_sub(1);
        }
    }
}

/// Waits until `holds`, looking again every few milliseconds; fails after [`PATIENCE`].
pub fn wait_for(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "waited in vain for: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for stream in listener.incoming() {
        if shared.stopping.load(Ordering::SeqCst) {
            return;
        }
        let Ok(stream) = stream else { continue };
        let connection = shared.connections.fetch_add(1, Ordering::SeqCst);
        let shared = Arc::clone(shared);
        std::thread::spawn(move || drop(serve(stream, connection, &shared)));
    }
}

fn serve(stream: TcpStream, connection: usize, shared: &Shared) -> io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_write_timeout(Some(PATIENCE))?;
    lock(&shared.open).push((connection, stream.try_clone()?));
    let mut stream = BufReader::new(stream);
    let result = serve_requests(&mut stream, connection, shared);
    // The clone in the list would keep the connection open.
    lock(&shared.open).retain(|(c, _)| *c != connection);
    result
}

fn serve_requests(stream: &mut BufReader<TcpStream>, connection: usize, shared: &Shared) -> io::Result<()> {
    while let Some(mut request) = read_head(stream)? {
        if shared.reads == Reads::Bodies {
            read_body(stream, &mut request, Body::Framed)?;
        }
        let nth = begin(shared, (connection, stream.get_ref().peer_addr()?), &request);
        let then = (shared.handler)(&mut Exchange { request, nth, stream });
        lock(&shared.log)[nth].ended_at = Some(Instant::now());
        match then? {
            Then::Keep => {}
            Then::Close => break,
            Then::Reset => {
                return socket2::SockRef::from(stream.get_ref()).set_linger(Some(Duration::ZERO));
            }
        }
    }
    Ok(())
}

fn begin(shared: &Shared, (connection, peer): (usize, SocketAddr), request: &Message) -> usize {
    let mut log = lock(&shared.log);
    let (request, began_at) = (request.clone(), Instant::now());
    log.push(Entry { connection, peer, request, began_at, ended_at: None });
    log.len() - 1
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
