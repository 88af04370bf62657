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
    NLM_F_ACK, NLM_F_CREATE, NLM_F_DUMP, NLM_F_EXCL, NLM_F_REPLACE, NLM_F_REQUEST, NetlinkHeader,
    NetlinkMessage, NetlinkPayload,
};
use netlink_packet_route::address::{
    AddressAttribute, AddressHeaderFlags, AddressMessage, AddressProtocol, CacheInfo,
};
use netlink_packet_route::link::{LinkAttribute, LinkFlags, LinkMessage};
use netlink_packet_route::route::{RouteAttribute, RouteFlags, RouteMessage, RouteProtocol, RouteType};
use netlink_packet_route::rule::{RuleAction, RuleAttribute, RuleMessage};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use rustix::io::Errno;
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{RecvFlags, SendFlags, SocketFlags, SocketType, sockopt};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use super::announce::Mac;
use crate::worker::watch;

/// A socket to ask the kernel by. Every question is answered before it returns.
pub struct Netlink {
    socket: OwnedFd,
    sequence: Cell<u32>,
    buffer: RefCell<Box<[u8]>>,
}

/// How an address is reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reach {
    /// It is this host's own.
    Here,
    /// Through that interface, with no router between.
    Direct(u32),
    /// By way of a router.
    Routed,
    /// There is no route to it.
    Not,
}

/// A rule of the host's routing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rule {
    /// The mark that it asks for.
    pub mark: Option<u32>,
    /// The table that it leads to.
    pub table: u32,
    /// Has this program, running or an earlier time, added it?
    pub ours: bool,
}

impl Rule {
    fn of(message: &RuleMessage) -> Rule {
        let mut rule = Rule { mark: None, table: message.header.table.into(), ours: false };
        for attribute in &message.attributes {
            match attribute {
                RuleAttribute::FwMark(mark) => rule.mark = Some(*mark),
                RuleAttribute::Table(table) => rule.table = *table,
                RuleAttribute::Protocol(by) => rule.ours = *by == RouteProtocol::Other(MARK),
                _ => {}
            }
        }
        rule
    }
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
        Ok(self.route(ip)?.is_some_and(|route| route.header.kind == RouteType::Local))
    }

    /// How this host reaches `ip`.
    ///
    /// # Errors
    /// What the kernel refuses.
    pub fn reach(&self, ip: IpAddr) -> io::Result<Reach> {
        let Some(route) = self.route(ip)? else { return Ok(Reach::Not) };
        let far = |a: &RouteAttribute| matches!(a, RouteAttribute::Gateway(_) | RouteAttribute::Via(_));
        let interface = route.attributes.iter().find_map(|attribute| match attribute {
            RouteAttribute::Oif(index) => Some(*index),
            _ => None,
        });
        Ok(match (route.header.kind, interface) {
            (RouteType::Local, _) => Reach::Here,
            (RouteType::Unicast, Some(interface)) if !route.attributes.iter().any(far) => {
                Reach::Direct(interface)
            }
            (RouteType::Unicast, _) => Reach::Routed,
            _ => Reach::Not,
        })
    }

    /// The route that the kernel would take to `ip`, if there is one.
    fn route(&self, ip: IpAddr) -> io::Result<Option<RouteMessage>> {
        let mut message = RouteMessage::default();
        message.header.address_family = family(ip);
        message.header.destination_prefix_length = host_prefix(ip);
        message.attributes.push(RouteAttribute::Destination(ip.into()));
        match self.ask(NLM_F_ACK, RouteNetlinkMessage::GetRoute(message)) {
            Ok(answer) => Ok(answer.into_iter().find_map(|message| match message {
                RouteNetlinkMessage::NewRoute(route) => Some(route),
                _ => None,
            })),
            Err(error) if NO_ROUTE.contains(&error.kind()) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Has what carries the mark `number` go by way of `hop`, and nowhere else: by a rule that leads to the table `number`,
    /// and a route there. What is there already stays.
    ///
    /// # Errors
    /// What the kernel refuses.
    pub fn lead(&self, number: u32, hop: IpAddr, interface: u32) -> io::Result<()> {
        let add = NLM_F_ACK | NLM_F_CREATE;
        let there = |answer: io::Result<Vec<RouteNetlinkMessage>>| match answer {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
            answer => answer.map(drop),
        };
        // The rule is first to come and last to go, so that whoever finds none of ours has nothing of ours to remove.
        there(self.ask(add | NLM_F_EXCL, RouteNetlinkMessage::NewRule(rule(number, hop))))?;
        // Interfaces take their routes with them; what is marked must not go by the host's other tables then.
        there(self.ask(add | NLM_F_EXCL, RouteNetlinkMessage::NewRoute(no_way(number, hop))))?;
        let mut way = route_of(number, hop, WAY_METRIC);
        way.header.kind = RouteType::Unicast;
        way.header.flags = RouteFlags::Onlink;
        way.attributes.extend([RouteAttribute::Gateway(hop.into()), RouteAttribute::Oif(interface)]);
        self.ask(add | NLM_F_REPLACE, RouteNetlinkMessage::NewRoute(way)).map(drop)
    }

    /// Removes what [`Netlink::lead`] added, for any hop of the family of `hop`. What is gone already is no error.
    ///
    /// # Errors
    /// What the kernel refuses.
    pub fn lead_no_more(&self, number: u32, hop: IpAddr) -> io::Result<()> {
        let gone = |answer: io::Result<Vec<RouteNetlinkMessage>>| match answer {
            Err(error) if matches!(Errno::from_io_error(&error), Some(Errno::SRCH | Errno::NOENT)) => Ok(()),
            answer => answer.map(drop),
        };
        let way = route_of(number, hop, WAY_METRIC);
        gone(self.ask(NLM_F_ACK, RouteNetlinkMessage::DelRoute(way)))?;
        gone(self.ask(NLM_F_ACK, RouteNetlinkMessage::DelRoute(no_way(number, hop))))?;
        // The kernel does not compare whose a rule is.
        match self.rules(hop)?.iter().any(|rule| rule.ours && rule.mark == Some(number)) {
            true => gone(self.ask(NLM_F_ACK, RouteNetlinkMessage::DelRule(rule(number, hop)))),
            false => Ok(()),
        }
    }

    /// The rules of this host by which it looks up routes of the family of `ip`.
    ///
    /// # Errors
    /// What the kernel refuses.
    pub fn rules(&self, ip: IpAddr) -> io::Result<Vec<Rule>> {
        let mut message = RuleMessage::default();
        message.header.family = family(ip);
        let answer = self.ask(NLM_F_DUMP, RouteNetlinkMessage::GetRule(message))?;
        let rule = |message: RouteNetlinkMessage| match message {
            RouteNetlinkMessage::NewRule(rule) => Some(Rule::of(&rule)),
            _ => None,
        };
        Ok(answer.into_iter().filter_map(rule).collect())
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
        Ok(Changes { socket: watch(socket, Interest::READABLE)? })
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

/// The rule by which what bears a mark is looked up in the table of the same number.
fn rule(number: u32, hop: IpAddr) -> RuleMessage {
    let mut message = RuleMessage::default();
    message.header.family = family(hop);
    message.header.action = RuleAction::ToTable;
    message.attributes.extend([
        RuleAttribute::Priority(RULE_PRIORITY),
        RuleAttribute::FwMark(number),
        RuleAttribute::FwMask(u32::MAX),
        RuleAttribute::Table(number),
        RuleAttribute::Protocol(RouteProtocol::Other(MARK)),
    ]);
    message
}

/// A route to everywhere, in a table of this program's.
fn route_of(table: u32, hop: IpAddr, metric: u32) -> RouteMessage {
    let mut message = RouteMessage::default();
    message.header.address_family = family(hop);
    message.header.protocol = RouteProtocol::Other(MARK);
    message.attributes.extend([RouteAttribute::Table(table), RouteAttribute::Priority(metric)]);
    message
}

/// The one that counts while the way has none.
fn no_way(table: u32, hop: IpAddr) -> RouteMessage {
    let mut message = route_of(table, hop, NO_WAY_METRIC);
    message.header.kind = RouteType::Unreachable;
    message
}

fn family(ip: IpAddr) -> AddressFamily {
    if ip.is_ipv4() { AddressFamily::Inet } else { AddressFamily::Inet6 }
}

fn host_prefix(ip: IpAddr) -> u8 {
    if ip.is_ipv4() { 32 } else { 128 }
}

/// What the kernel notes beside an address, a route or a rule as to who added it (`ip address` shows `proto 0x53`, `ip rule`
/// and `ip route` show `proto 83`). Kernels before 5.18 drop it of addresses, before 4.17 of rules.
const MARK: u8 = 0x53;
/// Behind the rule for this host's own addresses, before those that hosts usually have.
const RULE_PRIORITY: u32 = 83;
const WAY_METRIC: u32 = 1;
const NO_WAY_METRIC: u32 = 2;
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
