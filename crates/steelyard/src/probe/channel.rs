//! The channels that probes go over, each opened, used to its end and closed.
//!
//! Owns what every kind of channel has in common: the time until which a probe may take, and whose fault it is that a
//! channel cannot be had. What this host lacks must not take a service down.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::ops::Deref;
use std::os::fd::AsFd;
use std::time::Duration;

use rustix::io::Errno;
use socket2::SockRef;
use steelyard_core::monitor::schedule::Due;
use steelyard_core::monitor::{Channel, Fault, Probe, ProbeResult};
use tokio::time::Instant;

use super::stream::Open;
use super::tls::Handshakes;
use super::{datagram, echo, stream};
use crate::addresses::ways::Ways;
use crate::worker::Clock;

/// How the use of one channel ended.
pub enum End {
    /// The probe has its result.
    Result(ProbeResult),
    /// The probe goes on over another channel.
    Reopen(Channel),
}

/// A probe that is due, and how its packets find their way.
pub struct Errand<'d> {
    due: &'d Due,
    /// What marks them for it, if they do not go as the host's routes say.
    way: Option<u32>,
}

impl Deref for Errand<'_> {
    type Target = Due;

    fn deref(&self) -> &Due {
        self.due
    }
}

/// Runs one probe to its result. A stream comes back when an answer may still be under way on it.
pub async fn carry_out(
    probe: &mut dyn Probe,
    due: &Due,
    (handshakes, ways): (&Handshakes, &Ways),
    clock: Clock,
) -> (ProbeResult, Option<Open>) {
    let due = &match due.hop.map(|hop| ways.mark(hop, due.to.ip())).transpose() {
        Ok(way) => Errand { due, way },
        Err(why) => return (probe.failed(why), None),
    };
    let deadline = Instant::now() + Duration::from_micros(due.limit_us);
    let mut channel = probe.channel();
    loop {
        let (end, open) = match channel {
            Channel::Stream => stream::use_one(probe, due, handshakes, (deadline, clock)).await,
            Channel::Datagram => (datagram::use_one(probe, datagram::open(due), deadline, clock).await, None),
            Channel::Echo => (datagram::use_one(probe, echo::open(due), deadline, clock).await, None),
        };
        match end {
            End::Result(result) => return (result, open),
            // What it leaves is closed at once: nothing more is expected on it.
            End::Reopen(other) => channel = other,
        }
    }
}

/// Has a socket that is about to connect send packets of the monitor's type of service, and on their way.
pub fn mark(socket: impl AsFd, due: &Errand<'_>) -> io::Result<()> {
    let socket = SockRef::from(&socket);
    if let Some(way) = due.way {
        socket.set_mark(way)?;
    }
    let Some(tos) = due.spec.tos else { return Ok(()) };
    match due.to {
        SocketAddr::V4(_) => socket.set_tos_v4(tos.into()),
        SocketAddr::V6(_) => socket.set_tclass_v6(tos.into()),
    }
}

/// Whose fault is it?
pub fn classify(error: &io::Error) -> Fault {
    match Errno::from_io_error(error) {
        Some(Errno::MFILE | Errno::NFILE) => Fault::Local("no file descriptor left"),
        Some(Errno::ADDRNOTAVAIL) => Fault::Local("no local address or port left"),
        Some(Errno::NOBUFS | Errno::NOMEM | Errno::AGAIN) => Fault::Local("no memory for a socket"),
        Some(Errno::ACCESS | Errno::PERM) => Fault::Local("forbidden by this host"),
        Some(Errno::AFNOSUPPORT) => Fault::Local("this host has no such address family"),
        _ if error.kind() == ErrorKind::ConnectionRefused => Fault::Refused,
        _ if error.kind() == ErrorKind::ConnectionReset => Fault::Refused,
        _ => Fault::Unreachable,
    }
}
