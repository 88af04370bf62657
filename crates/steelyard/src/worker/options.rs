//! Socket options of traffic sockets, each with its reason.

use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, sockopt};

/// Options of every traffic socket: no delay for small segments, and probes that find a vanished peer.
pub(super) fn prepare(socket: &OwnedFd) -> rustix::io::Result<()> {
    sockopt::set_tcp_nodelay(socket, true)?;
    sockopt::set_socket_keepalive(socket, true)?;
    sockopt::set_tcp_keepidle(socket, KEEPALIVE_IDLE)?;
    sockopt::set_tcp_keepintvl(socket, KEEPALIVE_INTERVAL)
}

/// Has a socket that is about to connect leave from `from`. One that the host has lost meanwhile leaves the choice to the
/// kernel, as if nothing had been asked for.
pub fn leave_from(socket: impl AsFd, from: IpAddr) -> rustix::io::Result<()> {
    let socket = socket.as_fd();
    // The port is chosen by connect, which may take one that another connection to another service has. A kernel that
    // does not know this only has fewer connections from one address.
    let _ = super::sys::bind_address_no_port(socket);
    match rustix::net::bind(socket, &SocketAddr::new(from, 0)) {
        Err(Errno::ADDRNOTAVAIL) => Ok(()),
        // Of such a kernel, which has chosen a port already, and has none left.
        Err(Errno::ADDRINUSE) => Err(Errno::ADDRNOTAVAIL),
        bound => bound,
    }
}

/// Ends a connection by RST.
pub(super) fn reset(fd: OwnedFd) {
    let _ = sockopt::set_socket_linger(&fd, Some(Duration::ZERO));
}

/// A paced default such as BBR costs CPU between machines of one site and gains nothing there.
pub(super) fn server_congestion() -> Option<&'static str> {
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let probe = rustix::net::socket_with(AddressFamily::INET, SocketType::STREAM, flags, None).ok()?;
    if !sockopt::tcp_congestion(&probe).ok()?.starts_with("bbr") {
        return None;
    }
    ["cubic", "reno"].into_iter().find(|name| sockopt::set_tcp_congestion(&probe, name).is_ok())
}

/// A peer that vanished without a word is found within about two minutes.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(60);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(10);
