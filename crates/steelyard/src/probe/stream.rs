//! Probes over TCP connections, through TLS where the monitor is secure.
//!
//! The hard question is where the clock stands: it is read before the write that hands over the last byte of a request and
//! after the read that brings an answer, so that a pause of this thread never makes a service look faster than it is.

use std::io;
use std::time::Duration;

use rustix::net::sockopt;
use steelyard_core::monitor::schedule::Closing;
use steelyard_core::monitor::tls::Terms;
use steelyard_core::monitor::{Fault, Probe, Stage, Step};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::{Instant, timeout, timeout_at};
use tokio_rustls::client::TlsStream;

use super::channel::{End, Errand, classify, mark};
use super::tls::{Handshakes, alert};
use crate::worker::{Clock, leave_from};

/// A connection on which an answer may still be under way.
pub struct Open(Box<dyn Stream>);

/// Bytes both ways, in clear or through TLS.
trait Stream: AsyncRead + AsyncWrite + Unpin {}

impl<S: AsyncRead + AsyncWrite + Unpin> Stream for S {}

/// Uses one connection to the end.
pub async fn use_one(
    probe: &mut dyn Probe,
    due: &Errand<'_>,
    handshakes: &Handshakes,
    (deadline, clock): (Instant, Clock),
) -> (End, Option<Open>) {
    let failed = |result| (End::Result(result), None);
    let stream = match timeout_at(deadline, connect(due)).await {
        Ok(Ok(stream)) => stream,
        Ok(Err(why)) => return failed(probe.failed(why)),
        Err(_) => return failed(probe.timed_out(Stage::Connect)),
    };
    let mut stream: Box<dyn Stream> = match &due.spec.tls {
        None => Box::new(stream),
        Some(terms) => match timeout_at(deadline, secure(stream, terms, due, handshakes)).await {
            Ok(Ok(stream)) => Box::new(stream),
            Ok(Err(why)) => return failed(probe.failed(why)),
            Err(_) => return failed(probe.timed_out(Stage::Handshake)),
        },
    };
    // One that ends by RST does so at once, whatever is still to come on it.
    let by_fin = due.closing == Closing::Fin;
    let first = match probe.opened(clock.now()) {
        // A server may have sent session tickets behind its handshake.
        Step::Done(result) => {
            return (End::Result(result), (due.spec.tls.is_some() && by_fin).then_some(Open(stream)));
        }
        step => step,
    };
    let end = match timeout_at(deadline, converse(probe, first, &mut *stream, clock)).await {
        Ok(end) => end,
        Err(_) => End::Result(probe.timed_out(Stage::Response)),
    };
    (end, by_fin.then_some(Open(stream)))
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
    let stream = socket.connect(due.to).await?;
    if due.closing == Closing::Reset {
        // However it ends from here on: also where it is cut off with its service.
        sockopt::set_socket_linger(&stream, Some(Duration::ZERO))?;
    }
    Ok(stream)
}

async fn converse(probe: &mut dyn Probe, first: Step, stream: &mut dyn Stream, clock: Clock) -> End {
    let mut buffer = [0u8; 4_096];
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
            Step::Wait => match stream.read(&mut buffer).await {
                Ok(0) => return End::Result(probe.closed()),
                Err(error) => {
                    return End::Result(match alert(&error) {
                        Some(alert) => probe.failed(alert),
                        None => probe.closed(),
                    });
                }
                Ok(n) => probe.received(buffer.get(..n).unwrap_or_default(), clock.now()),
            },
        }
    }
}

/// A failed write is no result yet: the answer may be there already.
async fn send(probe: &mut dyn Probe, stream: &mut dyn Stream, bytes: &[u8], clock: Clock) {
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

impl Open {
    /// Closes by FIN, not RST: the rest of the answer is read and dropped for a short while, so that the service does
    /// not log a reset for every probe.
    pub async fn hang_up(self) {
        let Open(mut stream) = self;
        let mut buffer = [0u8; 4_096];
        let mut left = HANG_UP_BYTES;
        let drain = async {
            if stream.shutdown().await.is_err() {
                return;
            }
            while let Ok(n @ 1..) = stream.read(&mut buffer).await {
                left = left.saturating_sub(n);
                if left == 0 {
                    return;
                }
            }
        };
        let _ = timeout(HANG_UP_TIME, drain).await;
    }
}

const HANG_UP_BYTES: usize = 65_536;
const HANG_UP_TIME: Duration = Duration::from_millis(500);
