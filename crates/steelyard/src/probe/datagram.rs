//! Probes over UDP.

use std::io;

use steelyard_core::monitor::schedule::Due;
use steelyard_core::monitor::{Probe, Stage, Step};
use tokio::net::UdpSocket;
use tokio::time::{Instant, timeout_at};

use super::channel::{End, classify};
use crate::worker::{Clock, leave_from};

/// Uses one socket to the end. It is connected: only the service's answers arrive, and the errors that its host sends.
pub async fn use_one(probe: &mut dyn Probe, due: &Due, deadline: Instant, clock: Clock) -> End {
    let socket = match open(due) {
        Ok(socket) => socket,
        Err(error) => return End::Result(probe.failed(classify(&error))),
    };
    let first = probe.opened(clock.now());
    match timeout_at(deadline, converse(probe, first, &socket, clock)).await {
        Ok(end) => end,
        Err(_) => End::Result(probe.timed_out(Stage::Response)),
    }
}

fn open(due: &Due) -> io::Result<UdpSocket> {
    let domain = socket2::Domain::for_address(due.to);
    let socket = socket2::Socket::new(domain, socket2::Type::DGRAM.nonblocking(), None)?;
    if let Some(from) = due.from {
        leave_from(&socket, from)?;
    }
    socket.connect(&due.to.into())?;
    UdpSocket::from_std(socket.into())
}

async fn converse(probe: &mut dyn Probe, first: Step, socket: &UdpSocket, clock: Clock) -> End {
    let mut buffer = vec![0u8; LARGEST];
    let mut step = first;
    loop {
        step = match step {
            Step::Done(result) => return End::Result(result),
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
            Step::Wait => match socket.recv(&mut buffer).await {
                Ok(n) => probe.received(buffer.get(..n).unwrap_or_default(), clock.now()),
                Err(error) => return End::Result(probe.failed(classify(&error))),
            },
        }
    }
}

/// No datagram is longer.
const LARGEST: usize = 65_535;
