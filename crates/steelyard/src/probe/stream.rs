//! Probes over TCP connections, through TLS where the monitor is secure.
//!
//! The hard question is where the clock stands: it is read before the write that hands over the last byte of a request and
//! after the read that brings an answer, so that a pause of this thread never makes a service look faster than it is.

use std::cell::Cell;
use std::future::poll_fn;
use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::task::{Poll, ready};
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, getsockname, socket_with, sockopt};
use steelyard_core::monitor::schedule::Closing;
use steelyard_core::monitor::tls::Terms;
use steelyard_core::monitor::{Fault, Probe, Stage, Step};
use tokio::io::{AsyncRead, AsyncWriteExt, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_rustls::client::TlsStream;

use super::channel::{End, Errand, classify, mark};
use super::clear::Clear;
use super::tls::{Handshakes, alert};
use crate::worker::{Clock, leave_from};

/// A connection on which an answer may still be under way.
pub struct Open(Stream);

/// Bytes both ways.
enum Stream {
    Clear(Clear),
    Secure(Box<TlsStream<TcpStream>>),
}

/// Uses one connection to the end.
pub async fn use_one(
    probe: &mut dyn Probe,
    due: &Errand<'_>,
    handshakes: &Handshakes,
    (deadline, clock): (Instant, Clock),
) -> (End, Option<Open>) {
    let stage = Cell::new(Stage::Connect);
    let mut opened = None;
    let using = async {
        let tcp = connect(due).await?;
        let stream = match &due.spec.tls {
            None => Stream::Clear(tcp),
            Some(terms) => {
                stage.set(Stage::Handshake);
                // What a handshake needs is large: probes in clear do without.
                let tcp = tcp.into_stream().map_err(|error| classify(&error))?;
                Stream::Secure(Box::new(Box::pin(secure(tcp, terms, due, handshakes)).await?))
            }
        };
        stage.set(Stage::Response);
        let first = probe.opened(clock.now());
        // A server may have sent session tickets behind its handshake.
        let ended = matches!(first, Step::Done(_)) && due.spec.tls.is_none();
        let stream = opened.insert(stream);
        Ok((converse(probe, first, stream, clock).await, ended))
    };
    let (end, ended) = match timeout_at(deadline, using).await {
        Ok(Ok(done)) => done,
        Ok(Err(why)) => (End::Result(probe.failed(why)), false),
        Err(_) => (End::Result(probe.timed_out(stage.get())), false),
    };
    // One that ends by RST does so at once, whatever is still to come on it.
    let lingers = due.closing == Closing::Fin && !ended;
    (end, opened.filter(|stream| lingers && !stream.is_at_its_end()).map(Open))
}

async fn secure(
    stream: TcpStream,
    terms: &Terms,
    due: &Errand<'_>,
    handshakes: &Handshakes,
) -> Result<TlsStream<TcpStream>, Fault> {
    handshakes.with(terms, due.to.ip())?.make(stream).await
}

async fn connect(due: &Errand<'_>) -> Result<Clear, Fault> {
    connect_from(due).await.map_err(|error| classify(&error))
}

async fn connect_from(due: &Errand<'_>) -> io::Result<Clear> {
    let family = if due.to.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = socket_with(family, SocketType::STREAM, flags, None)?;
    if let Some(from) = due.from {
        leave_from(&socket, from)?;
    }
    mark(&socket, due)?;
    if due.spec.speaks_first() {
        // The request itself acknowledges: one packet less, and the service has it together with the connection.
        let _ = sockopt::set_tcp_quickack(&socket, false);
    }
    match rustix::net::connect(&socket, &due.to) {
        Ok(()) | Err(Errno::INPROGRESS | Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    let clear = Clear::connected(socket).await?;
    // On one host a connect to a closed port in the ephemeral range can meet itself.
    if getsockname(clear.fd()?).is_ok_and(|local| local == due.to.into()) {
        return Err(Errno::CONNREFUSED.into());
    }
    if due.closing == Closing::Reset {
        // However it ends from here on: also where it is cut off with its service.
        sockopt::set_socket_linger(clear.fd()?, Some(Duration::ZERO))?;
    }
    Ok(clear)
}

async fn converse(probe: &mut dyn Probe, first: Step, stream: &mut Stream, clock: Clock) -> End {
    let mut step = first;
    loop {
        step = match step {
            Step::Done(result) => return End::Result(result),
            Step::Farewell(bytes, result) => {
                // Such few bytes find room in the socket at once, and without them the result is the same.
                let _ = Box::pin(stream.write_all(&bytes)).await;
                return End::Result(result);
            }
            Step::Reopen(channel) => return End::Reopen(channel),
            Step::Send(bytes) => {
                send(probe, stream, &bytes, clock).await;
                Step::Wait
            }
            Step::Wait => {
                let next = |bytes: &[u8]| match bytes {
                    [] => Err(probe.closed()),
                    bytes => Ok(probe.received(bytes, clock.now())),
                };
                match stream.take(next).await {
                    Ok(Ok(step)) => step,
                    Ok(Err(closed)) => return End::Result(closed),
                    Err(error) => {
                        return End::Result(match alert(&error) {
                            Some(alert) => probe.failed(alert),
                            None => probe.closed(),
                        });
                    }
                }
            }
        }
    }
}

/// A failed write is no result yet: the answer may be there already.
async fn send(probe: &mut dyn Probe, stream: &mut Stream, bytes: &[u8], clock: Clock) {
    let mut rest = bytes;
    while !rest.is_empty() {
        let before = clock.now();
        match stream.write(rest).await {
            Ok(n @ 1..) => rest = rest.get(n..).unwrap_or_default(),
            Ok(0) | Err(_) => return,
        }
        if rest.is_empty() && stream.flush().await.is_ok() {
            probe.sent(before);
        }
    }
}

impl Stream {
    /// Waits for bytes and hands them over; none come from a peer that has ended.
    async fn take<T>(&mut self, mut take: impl FnMut(&[u8]) -> T) -> io::Result<T> {
        match self {
            Stream::Clear(clear) => clear.take(take).await,
            Stream::Secure(tls) => {
                poll_fn(|cx| {
                    // Nowhere else than here, so that a probe that waits holds no room for them.
                    let mut room = [MaybeUninit::uninit(); READ];
                    let mut buffer = ReadBuf::uninit(&mut room);
                    ready!(Pin::new(&mut *tls).poll_read(cx, &mut buffer))?;
                    Poll::Ready(Ok(take(buffer.filled())))
                })
                .await
            }
        }
    }

    async fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Clear(clear) => clear.write(bytes).await,
            Stream::Secure(tls) => tls.write(bytes).await,
        }
    }

    async fn flush(&mut self) -> io::Result<()> {
        match self {
            Stream::Clear(_) => Ok(()),
            Stream::Secure(tls) => tls.flush().await,
        }
    }

    async fn write_all(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            match self.write(bytes).await? {
                0 => return Err(io::ErrorKind::WriteZero.into()),
                written => bytes = bytes.get(written..).unwrap_or_default(),
            }
        }
        self.flush().await
    }

    async fn shut_down(&mut self) -> io::Result<()> {
        match self {
            Stream::Clear(clear) => clear.shut_down(),
            Stream::Secure(tls) => tls.shutdown().await,
        }
    }

    /// Has the peer sent its FIN, and was all that came before it read?
    fn is_at_its_end(&self) -> bool {
        matches!(self, Stream::Clear(clear) if clear.is_at_its_end())
    }
}

impl Open {
    /// Closes by FIN, not RST: the rest of the answer is read and dropped for a short while, so that the service does
    /// not log a reset for every probe.
    pub async fn hang_up(self) {
        let Open(mut stream) = self;
        let mut left = HANG_UP_BYTES;
        let drain = async {
            if stream.shut_down().await.is_err() {
                return;
            }
            while let Ok(n @ 1..) = stream.take(<[u8]>::len).await {
                left = left.saturating_sub(n);
                if left == 0 {
                    return;
                }
            }
        };
        let _ = timeout(HANG_UP_TIME, drain).await;
    }
}

/// Most bytes that are read at once.
const READ: usize = 4_096;
const HANG_UP_BYTES: usize = 65_536;
const HANG_UP_TIME: Duration = Duration::from_millis(500);
