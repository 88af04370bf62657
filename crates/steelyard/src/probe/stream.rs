//! Probes over TCP connections, through TLS where the monitor is secure.
//!
//! The hard question is where the clock stands: it is read before the write that hands over the last byte of a request and
//! after the read that brings an answer, so that a pause of this thread never makes a service look faster than it is.

use std::cell::Cell;
use std::future::poll_fn;
use std::io;
use std::mem::MaybeUninit;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use rustix::net::sockopt;
use steelyard_core::monitor::schedule::Closing;
use steelyard_core::monitor::tls::Terms;
use steelyard_core::monitor::{Fault, Probe, Stage, Step};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, Interest, ReadBuf};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::{Instant, timeout, timeout_at};
use tokio_rustls::client::TlsStream;

use super::channel::{End, Errand, classify, mark};
use super::tls::{Handshakes, alert};
use crate::worker::{Clock, leave_from};

/// A connection on which an answer may still be under way.
pub struct Open(Stream);

/// Bytes both ways.
enum Stream {
    Clear {
        tcp: TcpStream,
        /// Has the last read taken all that was there?
        emptied: bool,
    },
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
            None => Stream::Clear { tcp, emptied: false },
            Some(terms) => {
                stage.set(Stage::Handshake);
                // What a handshake needs is large: probes in clear do without.
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

async fn connect(due: &Errand<'_>) -> Result<TcpStream, Fault> {
    let stream = connect_from(due).await.map_err(|error| classify(&error))?;
    // On one host a connect to a closed port in the ephemeral range can meet itself.
    if stream.local_addr().is_ok_and(|local| local == due.to) {
        return Err(Fault::Refused);
    }
    Ok(stream)
}

async fn connect_from(due: &Errand<'_>) -> io::Result<TcpStream> {
    let socket = if due.to.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    if let Some(from) = due.from {
        leave_from(&socket, from)?;
    }
    mark(&socket, due)?;
    if due.spec.speaks_first() {
        // The request itself acknowledges: one packet less, and the service has it together with the connection.
        let _ = sockopt::set_tcp_quickack(&socket, false);
    }
    let stream = socket.connect(due.to).await?;
    if due.closing == Closing::Reset {
        // However it ends from here on: also where it is cut off with its service.
        sockopt::set_socket_linger(&stream, Some(Duration::ZERO))?;
    }
    Ok(stream)
}

async fn converse(probe: &mut dyn Probe, first: Step, stream: &mut Stream, clock: Clock) -> End {
    let mut step = first;
    loop {
        step = match step {
            Step::Done(result) => return End::Result(result),
            Step::Farewell(bytes, result) => {
                // Such few bytes find room in the socket at once, and without them the result is the same.
                let _ = stream.write_all(&bytes).await;
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
        poll_fn(|cx| self.poll_take(cx, &mut take)).await
    }

    /// The bytes are nowhere else than here, so that a probe that waits holds no room for them.
    fn poll_take<T>(&mut self, cx: &mut Context<'_>, take: impl FnOnce(&[u8]) -> T) -> Poll<io::Result<T>> {
        let mut room = [MaybeUninit::uninit(); READ];
        let mut buffer = ReadBuf::uninit(&mut room);
        match self {
            Stream::Clear { tcp, emptied } => {
                ready!(Pin::new(tcp).poll_read(cx, &mut buffer))?;
                *emptied = buffer.remaining() > 0;
            }
            Stream::Secure(tls) => ready!(Pin::new(tls).poll_read(cx, &mut buffer))?,
        }
        Poll::Ready(Ok(take(buffer.filled())))
    }

    /// Has the peer sent its FIN, and was all that came before it read? Then it takes a FIN for an answer, and no RST
    /// comes of closing.
    fn is_at_its_end(&self) -> bool {
        let Stream::Clear { tcp, emptied: true } = self else { return false };
        let known = pin!(tcp.ready(Interest::READABLE)).poll(&mut Context::from_waker(Waker::noop()));
        matches!(known, Poll::Ready(Ok(ready)) if ready.is_read_closed())
    }

    fn writer(&mut self) -> Pin<&mut (dyn AsyncWrite + '_)> {
        match self {
            Stream::Clear { tcp, .. } => Pin::<&mut TcpStream>::new(tcp),
            Stream::Secure(tls) => Pin::<&mut TlsStream<TcpStream>>::new(tls),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.writer().poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.writer().poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.writer().poll_shutdown(cx)
    }
}

impl Open {
    /// Closes by FIN, not RST: the rest of the answer is read and dropped for a short while, so that the service does
    /// not log a reset for every probe.
    pub async fn hang_up(self) {
        let Open(mut stream) = self;
        let mut left = HANG_UP_BYTES;
        let drain = async {
            if stream.shutdown().await.is_err() {
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
