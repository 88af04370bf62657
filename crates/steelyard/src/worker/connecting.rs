//! Connects towards services: the socket, where it leaves from, and what is done when no local port is left for it.
//!
//! Never waits for an answer, which comes as an event of the socket. The hard question: which address does it leave from?
//! The one that was asked for, as long as that has a port left to the service; else the first spare one that has.

use std::net::{IpAddr, SocketAddr};
use std::os::fd::OwnedFd;

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, sockopt};
use steelyard_core::proxy::io::Gone;

use super::Clock;
use super::options::{leave_from, prepare, server_congestion};
use super::ports::{Ports, Way};

/// What a worker needs for it.
pub(super) struct Connecting {
    clock: Clock,
    ports: Ports,
    /// Congestion control for server-side connections, when the host's default is a poor one for them.
    congestion: Option<&'static str>,
}

impl Connecting {
    pub fn new(clock: Clock) -> Connecting {
        Connecting { clock, ports: Ports::default(), congestion: server_congestion() }
    }

    /// A socket whose connect to `to` has begun, from the first of `from` and `spare` that has a port left.
    pub fn begin(
        &mut self,
        to: SocketAddr,
        from: Option<IpAddr>,
        spare: &mut dyn Iterator<Item = IpAddr>,
    ) -> Result<OwnedFd, Gone> {
        let (clock, mut way) = (self.clock, (to, from));
        loop {
            let full = self.ports.is_full(way, || clock.now());
            match if full { Err(Errno::ADDRNOTAVAIL) } else { self.connect(way) } {
                Ok(fd) => return Ok(fd),
                Err(Errno::ADDRNOTAVAIL) => {}
                Err(_) => return Err(Gone::ConnectFailed),
            }
            if !full {
                self.ports.found_full(way, clock.now());
            }
            way.1 = Some(spare.next().ok_or(Gone::NoLocalPort)?);
        }
    }

    /// [`Errno::ADDRNOTAVAIL`]: no local port is left on that way.
    fn connect(&self, (to, from): Way) -> rustix::io::Result<OwnedFd> {
        let family = if to.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let fd = rustix::net::socket_with(family, SocketType::STREAM, flags, None)?;
        prepare(&fd)?;
        if let Some(name) = self.congestion {
            let _ = sockopt::set_tcp_congestion(&fd, name);
        }
        if let Some(from) = from {
            leave_from(&fd, from)?;
        }
        match rustix::net::connect(&fd, &to) {
            Ok(()) | Err(Errno::INPROGRESS | Errno::INTR) => Ok(fd),
            Err(error) => Err(error),
        }
    }
}
