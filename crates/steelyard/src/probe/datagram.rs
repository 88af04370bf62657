//! Probes over UDP, and what ICMP has in common with it: messages that arrive whole.

use std::io;
use std::mem::MaybeUninit;
use std::net::SocketAddr;

use rustix::net::{RecvFlags, recv};
use socket2::{Domain, Socket, Type};
use steelyard_core::monitor::{Fault, Probe, Stage, Step};
use tokio::io::Interest;
use tokio::net::UdpSocket;
use tokio::time::{Instant, timeout_at};

use super::channel::{End, Errand, classify, mark};
use crate::worker::{Clock, leave_from};

/// Uses one socket, if it could be had, to the end.
pub async fn use_one(
    probe: &mut dyn Probe,
    socket: Result<UdpSocket, Fault>,
    deadline: Instant,
    clock: Clock,
) -> End {
    let socket = match socket {
        Ok(socket) => socket,
        Err(why) => return End::Result(probe.failed(why)),
    };
    let first = probe.opened(clock.now());
    match timeout_at(deadline, converse(probe, first, &socket, clock)).await {
        Ok(end) => end,
        Err(_) => End::Result(probe.timed_out(Stage::Response)),
    }
}

/// A socket that is connected: only the service's answers arrive, and the errors that its host sends.
pub fn open(due: &Errand<'_>) -> Result<UdpSocket, Fault> {
    let socket = Socket::new(Domain::for_address(due.to), Type::DGRAM.nonblocking(), None);
    socket.and_then(|socket| connected(socket, due, due.to)).map_err(|error| classify(&error))
}

/// A socket that sends messages to `to`, from where the probe is to leave.
pub fn connected(socket: Socket, due: &Errand<'_>, to: SocketAddr) -> io::Result<UdpSocket> {
    if let Some(from) = due.from {
        leave_from(&socket, from)?;
    }
    mark(&socket, due)?;
    socket.connect(&to.into())?;
    UdpSocket::from_std(socket.into())
}

async fn converse(probe: &mut dyn Probe, first: Step, socket: &UdpSocket, clock: Clock) -> End {
    let mut step = first;
    loop {
        step = match step {
            Step::Done(result) => return End::Result(result),
            Step::Farewell(bytes, result) => {
                let _ = socket.try_send(&bytes);
                return End::Result(result);
            }
            Step::Reopen(channel) => return End::Reopen(channel),
            Step::Send(bytes) => {
                let before = clock.now();
                match socket.send(&bytes).await {
                    Ok(_) => {
                        probe.sent(before);
                        Step::Wait
                    }
                    Err(error) => return End::Result(probe.failed(classify(&error))),
                }
            }
            Step::Wait => match take(socket, |bytes| probe.received(bytes, clock.now())).await {
                Ok(step) => step,
                Err(error) => return End::Result(probe.failed(classify(&error))),
            },
        }
    }
}

/// Waits for a message and hands it over.
async fn take<T>(socket: &UdpSocket, mut take: impl FnMut(&[u8]) -> T) -> io::Result<T> {
    let receive = || {
        // Nowhere else than here, so that a probe that waits holds no room for it.
        let mut room = [MaybeUninit::uninit(); LARGEST];
        let ((message, _), _) = recv(socket, &mut room, RecvFlags::empty())?;
        Ok(take(message))
    };
    // What the host of the service says by ICMP comes as an error.
    socket.async_io(Interest::READABLE | Interest::ERROR, receive).await
}

/// No datagram is longer.
const LARGEST: usize = 65_535;
