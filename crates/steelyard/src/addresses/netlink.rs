//! The kernel's word on addresses: which ones this host has, and adding and removing them on an interface.
//!
//! Owns the netlink sockets; the layout of messages is the library's, and none of its types leaves this file. Never decides
//! which address is wanted. The hard question: is an address this host's? Asked of the routing table, since an address can
//! be local without being on an interface (127.0.0.0/8, a local route), and since binding would tell nothing on a host
//! with `ip_nonlocal_bind`.

use std::cell::{Cell, RefCell};
use std::io::{self, ErrorKind};
use std::net::IpAddr;
use std::os::fd::OwnedFd;
use std::time::Duration;

use netlink_packet_core::{
    NLM_F_ACK, NLM_F_CREATE, NLM_F_DUMP, NLM_F_EXCL, NLM_F_REQUEST, NetlinkHeader, NetlinkMessage,
    NetlinkPayload,
};
use netlink_packet_route::address::{
    AddressAttribute, AddressHeaderFlags, AddressMessage, AddressProtocol, CacheInfo,
};
use netlink_packet_route::link::{LinkAttribute, LinkFlags, LinkMessage};
use netlink_packet_route::route::{RouteAddress, RouteAttribute, RouteMessage, RouteType};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use rustix::io::Errno;
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{RecvFlags, SendFlags, SocketFlags, SocketType, sockopt};
use tokio::io::unix::AsyncFd;

use super::announce::Mac;
use crate::worker::watch;

/// A socket to ask the kernel by. Every question is answered before it returns.
pub struct Netlink {
    socket: OwnedFd,
    sequence: Cell<u32>,
    buffer: RefCell<Box<[u8]>>,
}

/// A network interface as it is now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Interface {
    /// The kernel's number of it.
    pub index: u32,
    /// Its hardware address, if neighbours find hosts by one there.
    pub mac: Option<Mac>,
    /// Does it carry frames now?
    pub up: bool,
    /// How often it began to, so that a short interruption is noticed.
    pub ups: u32,
}

impl Netlink {
    /// # Errors
    /// The system has no netlink for this process.
    pub fn open() -> io::Result<Netlink> {
        let socket = socket(SocketFlags::CLOEXEC, 0)?;
        // The kernel answers while it is asked; one that does not must not hold up the control thread.
        sockopt::set_socket_timeout(&socket, sockopt::Timeout::Recv, Some(PATIENCE))?;
        let buffer = RefCell::new(vec![0; DATAGRAM_BYTES].into());
        Ok(Netlink { socket, sequence: Cell::new(0), buffer })
    }

    /// Is this an address of this host, so that it is delivered here and may be left from?
    ///
    /// # Errors
    /// What the kernel refuses.
    pub fn is_local(&self, ip: IpAddr) -> io::Result<bool> {
        let mut message = RouteMessage::default();
        message.header.address_family = family(ip);
        message.header.destination_prefix_length = host_prefix(ip);
        let to = match ip {
            IpAddr::V4(v4) => RouteAddress::Inet(v4),
            IpAddr::V6(v6) => RouteAddress::Inet6(v6),
        };
        message.attributes.push(RouteAttribute::Destination(to));
        match self.ask(NLM_F_ACK, RouteNetlinkMessage::GetRoute(message)) {
            Ok(answer) => Ok(answer
                .iter()
                .any(|m| matches!(m, RouteNetlinkMessage::NewRoute(r) if r.header.kind == RouteType::Local))),
            Err(error) if NO_ROUTE.contains(&error.kind()) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The interface of that name; `None` when there is none.
    ///
    /// # Errors
    /// What the kernel refuses.
    pub fn interface(&self, name: &str) -> io::Result<Option<Interface>> {
        let mut message = LinkMessage::default();
        message.attributes.push(LinkAttribute::IfName(name.to_owned()));
        let answer = match self.ask(NLM_F_ACK, RouteNetlinkMessage::GetLink(message)) {
            Ok(answer) => answer,
            Err(error) if Errno::from_io_error(&error) == Some(Errno::NODEV) => return Ok(None),
            Err(error) => return Err(error),
        };
        Ok(answer.iter().find_map(|message| match message {
            RouteNetlinkMessage::NewLink(link) => Some(Interface {
                index: link.header.index,
                mac: mac(link),
                up: link.header.flags.contains(LinkFlags::Up | LinkFlags::LowerUp),
                ups: ups(link),
            }),
            _ => None,
        }))
    }

    /// The addresses on an interface that this program, running or an earlier time, has added there.
    ///
    /// # Errors
    /// What the kernel refuses.
    pub fn added(&self, index: u32) -> io::Result<Vec<IpAddr>> {
        let answer = self.ask(NLM_F_DUMP, RouteNetlinkMessage::GetAddress(AddressMessage::default()))?;
        let ours = |message: &RouteNetlinkMessage| match message {
            RouteNetlinkMessage::NewAddress(address) if address.header.index == index => marked(address),
            _ => None,
        };
        Ok(answer.iter().filter_map(ours).collect())
    }

    /// Adds an address for a single host to an interface.
    ///
    /// # Errors
    /// What the kernel refuses; `AlreadyExists` when somebody else was faster.
    pub fn add(&self, ip: IpAddr, index: u32) -> io::Result<()> {
        let mut message = host_address(ip, index);
        message.attributes.push(AddressAttribute::Protocol(AddressProtocol::Other(MARK)));
        if ip.is_ipv6() {
            // Whoever had it before may still be there for a moment. And it is not for connections that others make.
            message.header.flags |= AddressHeaderFlags::Nodad;
            let mut lifetime = CacheInfo::default();
            (lifetime.ifa_preferred, lifetime.ifa_valid) = (0, u32::MAX);
            message.attributes.push(AddressAttribute::CacheInfo(lifetime));
        }
        let flags = NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL;
        self.ask(flags, RouteNetlinkMessage::NewAddress(message)).map(drop)
    }

    /// Removes one that [`Netlink::add`] added. One that is gone already is no error.
    ///
    /// # Errors
    /// What the kernel refuses.
    pub fn remove(&self, ip: IpAddr, index: u32) -> io::Result<()> {
        match self.ask(NLM_F_ACK, RouteNetlinkMessage::DelAddress(host_address(ip, index))) {
            Err(error)
                if matches!(Errno::from_io_error(&error), Some(Errno::ADDRNOTAVAIL | Errno::NODEV)) =>
            {
                Ok(())
            }
            answer => answer.map(drop),
        }
    }

    /// Sends one message; what comes back for it, up to the acknowledgement or the end of the list.
    fn ask(&self, flags: u16, message: RouteNetlinkMessage) -> io::Result<Vec<RouteNetlinkMessage>> {
        let sequence = self.sequence.get().wrapping_add(1);
        self.sequence.set(sequence);
        let mut header = NetlinkHeader::default();
        (header.flags, header.sequence_number) = (NLM_F_REQUEST | flags, sequence);
        let mut request = NetlinkMessage::new(header, NetlinkPayload::from(message));
        request.finalize();
        let mut bytes = vec![0; request.buffer_len()];
        request.serialize(&mut bytes);
        rustix::net::sendto(&self.socket, &bytes, SendFlags::empty(), &SocketAddrNetlink::new(0, 0))?;
        let mut answer = Vec::new();
        let mut buffer = self.buffer.borrow_mut();
        loop {
            let (length, _) = rustix::net::recv(&self.socket, &mut buffer[..], RecvFlags::empty())?;
            let mut rest = &buffer[..length];
            while let Some((message, after)) = first(rest)? {
                rest = after;
                if message.header.sequence_number != sequence {
                    continue;
                }
                match message.payload {
                    NetlinkPayload::InnerMessage(inner) => answer.push(inner),
                    NetlinkPayload::Done(_) => return Ok(answer),
                    NetlinkPayload::Error(said) => {
                        return said.code.map_or(Ok(answer), |_| Err(said.to_io()));
                    }
                    _ => {}
                }
            }
        }
    }
}

/// Hears of every change of an address or an interface.
pub struct Changes {
    socket: AsyncFd<OwnedFd>,
}

impl Changes {
    /// # Errors
    /// The system has no netlink for this process.
    pub fn open() -> io::Result<Changes> {
        let groups = (libc::RTMGRP_LINK | libc::RTMGRP_IPV4_IFADDR | libc::RTMGRP_IPV6_IFADDR) as u32;
        let socket = socket(SocketFlags::CLOEXEC | SocketFlags::NONBLOCK, groups)?;
        Ok(Changes { socket: watch(socket)? })
    }

    /// Waits for changes since the last call. What they were is to be asked.
    pub async fn next(&self) -> io::Result<()> {
        let mut ready = self.socket.readable().await?;
        let mut buffer = [0; 1024];
        for _ in 0..MOST_AT_ONCE {
            match rustix::net::recv(self.socket.get_ref(), &mut buffer[..], RecvFlags::TRUNC) {
                // Those that found no room in the queue are made up for by asking.
                Ok(_) | Err(Errno::NOBUFS | Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    ready.clear_ready();
                    return Ok(());
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

fn socket(flags: SocketFlags, groups: u32) -> io::Result<OwnedFd> {
    let family = rustix::net::AddressFamily::NETLINK;
    // Protocol 0 is NETLINK_ROUTE.
    let socket = rustix::net::socket_with(family, SocketType::RAW, flags, None)?;
    rustix::net::bind(&socket, &SocketAddrNetlink::new(0, groups))?;
    Ok(socket)
}

/// The first message of `bytes` and what follows it, if there is one.
#[allow(clippy::type_complexity)]
fn first(bytes: &[u8]) -> io::Result<Option<(NetlinkMessage<RouteNetlinkMessage>, &[u8])>> {
    let Some(length) = bytes.first_chunk::<4>().map(|length| u32::from_ne_bytes(*length) as usize) else {
        return Ok(None);
    };
    let unsound = |why: String| io::Error::new(ErrorKind::InvalidData, why);
    let message = bytes.get(..length).ok_or_else(|| unsound("a netlink message was cut".to_owned()))?;
    let parsed = NetlinkMessage::deserialize(message).map_err(|error| unsound(error.to_string()))?;
    Ok(Some((parsed, bytes.get(length.next_multiple_of(4)..).unwrap_or_default())))
}

fn mac(link: &LinkMessage) -> Option<Mac> {
    if link.header.flags.intersects(LinkFlags::Noarp | LinkFlags::Loopback) {
        return None;
    }
    link.attributes.iter().find_map(|attribute| match attribute {
        LinkAttribute::Address(bytes) => bytes.as_slice().try_into().ok(),
        _ => None,
    })
}

fn ups(link: &LinkMessage) -> u32 {
    let count = link.attributes.iter().find_map(|attribute| match attribute {
        LinkAttribute::CarrierUpCount(count) => Some(*count),
        _ => None,
    });
    count.unwrap_or(0)
}

fn marked(address: &AddressMessage) -> Option<IpAddr> {
    let mark = AddressAttribute::Protocol(AddressProtocol::Other(MARK));
    let ours = address.attributes.contains(&mark);
    let ip = address.attributes.iter().find_map(|attribute| match attribute {
        AddressAttribute::Address(ip) => Some(*ip),
        _ => None,
    })?;
    (ours && address.header.prefix_len == host_prefix(ip)).then_some(ip)
}

fn host_address(ip: IpAddr, index: u32) -> AddressMessage {
    let mut message = AddressMessage::default();
    message.header.family = family(ip);
    message.header.prefix_len = host_prefix(ip);
    message.header.index = index;
    message.attributes.extend([AddressAttribute::Local(ip), AddressAttribute::Address(ip)]);
    message
}

fn family(ip: IpAddr) -> AddressFamily {
    if ip.is_ipv4() { AddressFamily::Inet } else { AddressFamily::Inet6 }
}

fn host_prefix(ip: IpAddr) -> u8 {
    if ip.is_ipv4() { 32 } else { 128 }
}

/// What the kernel notes beside an address as to who added it (`IFA_PROTO`; `ip address` shows `proto 0x53`). Kernels before
/// 5.18 drop it.
const MARK: u8 = 0x53;
const PATIENCE: Duration = Duration::from_secs(1);
/// Changes read before they are followed.
const MOST_AT_ONCE: usize = 1_000;
/// More than the kernel puts into one datagram.
const DATAGRAM_BYTES: usize = 64 << 10;
/// How the kernel says that it would not know where to send what is for an address.
const NO_ROUTE: [ErrorKind; 4] = [
    ErrorKind::NetworkUnreachable,
    ErrorKind::HostUnreachable,
    ErrorKind::PermissionDenied,
    ErrorKind::InvalidInput,
];
