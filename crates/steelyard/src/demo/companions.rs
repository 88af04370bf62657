//! The demonstration's services and clients: real HTTP over real sockets, on a thread of their own.
//!
//! Never touches the balancer but through its sockets. Ends when it is dropped.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread::JoinHandle;
use std::time::Duration;

use http_body_util::{BodyExt, Empty};
use hyper::body::Bytes;
use hyper::client::conn::http1 as client;
use hyper::header::HOST;
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener as AsyncListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{LocalSet, spawn_local};
use tokio::time::sleep;

use crate::simulated;

/// Services and clients that run.
pub struct Companions {
    phase: watch::Sender<Phase>,
    tally: Arc<Tally>,
    thread: Option<JoinHandle<()>>,
}

/// What the clients saw.
#[derive(Default)]
pub struct Tally {
    /// Answers with status 200.
    pub answers: AtomicU64,
    /// Any other answer, and connections that broke.
    pub errors: AtomicU64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Serving,
    Loading,
    Over,
}

impl Companions {
    /// Serves each name on its listener, thinking for its delay before each answer. The clients of `target` wait for
    /// `begin_load`.
    ///
    /// # Errors
    /// The system grants no thread or no epoll instance.
    pub fn start(
        services: Vec<(&'static str, Duration, TcpListener)>,
        target: SocketAddr,
    ) -> io::Result<Companions> {
        let (phase, phases) = watch::channel(Phase::Serving);
        let tally = Arc::new(Tally::default());
        let counted = Arc::clone(&tally);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let run = move || {
            let everything = LocalSet::new();
            everything.block_on(&runtime, async move {
                for (name, delay, listener) in services {
                    spawn_local(serve(name, delay, listener));
                }
                for number in 0..CLIENTS {
                    spawn_local(visit(target, number, phases.clone(), Arc::clone(&counted)));
                }
                over(phases).await;
            });
        };
        let thread = std::thread::Builder::new().name("demo".to_owned()).spawn(run)?;
        Ok(Companions { phase, tally, thread: Some(thread) })
    }

    /// Lets the clients begin.
    pub fn begin_load(&self) {
        self.phase.send_replace(Phase::Loading);
    }

    /// What the clients saw; goes on counting.
    pub fn tally(&self) -> Arc<Tally> {
        Arc::clone(&self.tally)
    }
}

impl Drop for Companions {
    fn drop(&mut self) {
        self.phase.send_replace(Phase::Over);
        if let Some(thread) = self.thread.take() {
            // Nothing is left to do about companions that panicked.
            let _ = thread.join();
        }
    }
}

/// Ends when the clients are done and a moment later, so that no request is cut off at its service.
async fn over(mut phases: watch::Receiver<Phase>) {
    let _ = phases.wait_for(|phase| *phase == Phase::Over).await;
    sleep(LAST_ANSWERS).await;
}

async fn serve(name: &'static str, delay: Duration, listener: TcpListener) {
    let Ok(()) = listener.set_nonblocking(true) else { return };
    let Ok(listener) = AsyncListener::from_std(listener) else { return };
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            sleep(ACCEPT_PAUSE).await;
            continue;
        };
        spawn_local(simulated::http(stream, Arc::from(name), delay));
    }
}

/// One client: a kept-alive connection, a request, a pause, and so on.
async fn visit(target: SocketAddr, number: u32, mut phases: watch::Receiver<Phase>, tally: Arc<Tally>) {
    let Ok(_) = phases.wait_for(|phase| *phase != Phase::Serving).await else { return };
    sleep(PAUSE * number / CLIENTS).await;
    while *phases.borrow() == Phase::Loading {
        if converse(target, &phases, &tally).await.is_err() {
            tally.errors.fetch_add(1, Relaxed);
            sleep(PAUSE).await;
        }
    }
}

async fn converse(
    target: SocketAddr,
    phases: &watch::Receiver<Phase>,
    tally: &Tally,
) -> Result<(), hyper::Error> {
    let Ok(stream) = TcpStream::connect(target).await else {
        tally.errors.fetch_add(1, Relaxed);
        sleep(PAUSE).await;
        return Ok(());
    };
    let (mut sender, connection) = client::handshake(TokioIo::new(stream)).await?;
    let connection = spawn_local(connection);
    while *phases.borrow() == Phase::Loading && !sender.is_closed() {
        let request = Request::get("/").header(HOST, "demo.example").body(Empty::<Bytes>::new());
        let Ok(request) = request else { return Ok(()) };
        let response = sender.send_request(request).await?;
        let status = response.status();
        response.into_body().collect().await?;
        let counter = if status == StatusCode::OK { &tally.answers } else { &tally.errors };
        counter.fetch_add(1, Relaxed);
        sleep(PAUSE).await;
    }
    connection.abort();
    Ok(())
}

/// Some 250 requests a second in all.
const CLIENTS: u32 = 8;
const PAUSE: Duration = Duration::from_millis(20);
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
const LAST_ANSWERS: Duration = Duration::from_millis(200);
