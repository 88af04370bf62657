//! Probes by ICMP and ICMPv6.
//!
//! The hard question is what this host permits: an echo socket (`net.ipv4.ping_group_range`), which only hands over the
//! replies to its own requests, or a raw one (CAP_NET_RAW), which hands over all that the host sends. What is neither is
//! this host's fault and takes no service down.

use std::io;
use std::net::SocketAddr;

use rustix::io::Errno;
use socket2::{Domain, Protocol, Socket, Type};
use steelyard_core::monitor::Fault;
use tokio::net::UdpSocket;

use super::channel::{Errand, classify};
use super::datagram;

/// A socket that is connected: only what the host at that address sends arrives, and the errors on the way there.
pub fn open(due: &Errand<'_>) -> Result<UdpSocket, Fault> {
    let (domain, protocol) = match Domain::for_address(due.to) {
        Domain::IPV4 => (Domain::IPV4, Protocol::ICMPV4),
        other => (other, Protocol::ICMPV6),
    };
    let socket = |kind: Type| Socket::new(domain, kind.nonblocking(), Some(protocol));
    let socket = socket(Type::DGRAM).or_else(|_| socket(Type::RAW)).map_err(|error| not_opened(&error))?;
    // There are no ports; that of a raw socket would mean a protocol.
    let to = SocketAddr::new(due.to.ip(), 0);
    datagram::connected(socket, due, to).map_err(|error| classify(&error))
}

fn not_opened(error: &io::Error) -> Fault {
    match Errno::from_io_error(error) {
        Some(Errno::ACCESS | Errno::PERM) => Fault::Local(FORBIDDEN),
        _ => classify(error),
    }
}

const FORBIDDEN: &str =
    "cannot open ICMP socket: EACCES (give CAP_NET_RAW, or the group in net.ipv4.ping_group_range)";
