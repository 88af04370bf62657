//! Listening: how an address is bound for all workers, how a worker accepts, and how it stops without resetting
//! anybody.
//!
//! Two hard questions. `SO_REUSEPORT` would let a second process of the same user in silently, so the first socket is
//! bound without it. And closing a listener resets what waits in its queue, so SYNs are dropped first and the queue
//! is served empty before the socket goes.

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, sockopt};
use socket2::{SockFilter, SockRef};
use steelyard_core::time::{MILLISECOND_US, Time};

use super::Counters;
use super::mailbox::Listen;
use super::source::Source;

/// Who may already listen on an address that is to be bound.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Sharing {
    /// Nobody.
    Exclusive,
    /// Listeners of this process: of that address and being closed, or of one that includes it.
    WithOurs,
}

/// Binds and listens `count` times on `address`; an address that the host does not have (yet) is bound all the same.
///
/// # Errors
/// Whatever the system says, above all that the address is in use. Nothing stays bound then.
pub(super) fn bind_all(address: SocketAddr, count: usize, sharing: Sharing) -> io::Result<Vec<OwnedFd>> {
    let mut sockets = Vec::with_capacity(count);
    for nth in 0..count {
        let socket = open(address)?;
        let exclusive = nth == 0 && sharing == Sharing::Exclusive;
        sockopt::set_socket_reuseport(&socket, !exclusive)?;
        rustix::net::bind(&socket, &address)?;
        sockopt::set_socket_reuseport(&socket, true)?;
        sockets.push(socket);
    }
    for socket in &sockets {
        rustix::net::listen(socket, BACKLOG)?;
    }
    Ok(sockets)
}

fn open(address: SocketAddr) -> io::Result<OwnedFd> {
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = rustix::net::socket_with(family, SocketType::STREAM, flags, None)?;
    sockopt::set_socket_reuseaddr(&socket, true)?;
    if address.is_ipv4() {
        sockopt::set_ip_freebind(&socket, true)?;
    } else {
        sockopt::set_ipv6_freebind(&socket, true)?;
        sockopt::set_ipv6_v6only(&socket, true)?;
    }
    // Accepted sockets inherit these, which saves a call for each of them.
    super::options::prepare(&socket)?;
    Ok(socket)
}

/// The listeners of one worker.
pub(super) struct Listeners {
    list: slab::Slab<Listener>,
    counters: Arc<Counters>,
}

struct Listener {
    address: SocketAddr,
    vserver: Arc<str>,
    socket: OwnedFd,
    /// Accepts until then, without new SYNs; then closes.
    closes_at: Option<Time>,
    /// Is not asked before then: the process is short of descriptors, memory or places.
    rests_until: Option<Time>,
    _lease: Arc<()>,
}

/// What one attempt to accept came to.
pub(super) enum Accepted {
    /// A connection from this address.
    Client(OwnedFd, SocketAddr),
    /// Nobody waits.
    Nobody,
    /// Somebody came and went; others may wait.
    Lost,
}

impl Listeners {
    pub fn new(counters: Arc<Counters>) -> Listeners {
        Listeners { list: slab::Slab::new(), counters }
    }

    /// Takes over newly bound listeners, renames what stays and starts closing every address not in `names`.
    pub fn adopt(
        &mut self,
        epoll: &OwnedFd,
        opened: Vec<Listen>,
        names: &BTreeMap<SocketAddr, Arc<str>>,
        now: Time,
    ) {
        for (_, listener) in &mut self.list {
            match names.get(&listener.address) {
                Some(name) if listener.closes_at.is_none() => listener.vserver = Arc::clone(name),
                _ => listener.start_closing(now),
            }
        }
        for Listen { address, socket, lease } in opened {
            let Some(vserver) = names.get(&address).map(Arc::clone) else { continue };
            let entry = self.list.vacant_entry();
            let data = EventData::new_u64(Source::Listener(entry.key() as u32).to_bits());
            // Fails only without memory for the registration; the other workers' listeners serve the address then.
            if epoll::add(epoll, &socket, data, EventFlags::IN).is_ok() {
                let (closes_at, rests_until) = (None, None);
                entry.insert(Listener { address, vserver, socket, closes_at, rests_until, _lease: lease });
            }
        }
    }

    /// Starts closing all of them.
    pub fn close_all(&mut self, now: Time) {
        self.list.iter_mut().for_each(|(_, listener)| listener.start_closing(now));
    }

    /// Is every listener gone?
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The virtual server of a listener.
    pub fn vserver(&self, key: u32) -> Option<Arc<str>> {
        self.list.get(key as usize).map(|l| Arc::clone(&l.vserver))
    }

    /// One attempt at a listener that epoll called readable.
    pub fn accept(&mut self, key: u32, epoll: &OwnedFd, now: Time) -> Accepted {
        let Some(listener) = self.list.get_mut(key as usize) else { return Accepted::Nobody };
        match rustix::net::acceptfrom_with(&listener.socket, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC) {
            Ok((socket, peer)) => match peer.and_then(|p| SocketAddr::try_from(p).ok()) {
                Some(peer) => Accepted::Client(socket, peer),
                None => Accepted::Lost,
            },
            Err(Errno::AGAIN) => Accepted::Nobody,
            // Without one of these who waits cannot even be refused, and epoll would report it for ever.
            Err(Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM) => {
                self.rest(key, epoll, now);
                Accepted::Nobody
            }
            Err(_) => Accepted::Lost,
        }
    }

    /// Wakes those that rested long enough and closes those whose time is up.
    pub fn expire(&mut self, epoll: &OwnedFd, now: Time) {
        self.list.retain(|key, listener| {
            if listener.rests_until.is_some_and(|t| t <= now) {
                listener.rests_until = None;
                listener.watch(key as u32, epoll, EventFlags::IN);
            }
            listener.closes_at.is_none_or(|t| t > now)
        });
    }

    /// When `expire` has something to do.
    pub fn next_deadline(&self) -> Time {
        let times = self.list.iter().flat_map(|(_, l)| [l.closes_at, l.rests_until]);
        times.flatten().min().unwrap_or(Time::NEVER)
    }

    /// Nobody else is let in for a moment: who waits goes on waiting in the listener's queue.
    pub fn rest(&mut self, key: u32, epoll: &OwnedFd, now: Time) {
        if let Some(listener) = self.list.get_mut(key as usize) {
            self.counters.rests.fetch_add(1, Ordering::Relaxed);
            listener.rest(key, epoll, now);
        }
    }
}

impl Listener {
    fn start_closing(&mut self, now: Time) {
        if self.closes_at.is_none() {
            // Without the filter the drain still serves what waits; only SYNs of the last moment are lost.
            let _ = SockRef::from(&self.socket).attach_filter(&DROP_SYN);
            self.closes_at = Some(now.plus_us(DRAIN_US));
        }
    }

    fn rest(&mut self, key: u32, epoll: &OwnedFd, now: Time) {
        self.rests_until = Some(now.plus_us(REST_US));
        self.watch(key, epoll, EventFlags::empty());
    }

    fn watch(&self, key: u32, epoll: &OwnedFd, flags: EventFlags) {
        let data = EventData::new_u64(Source::Listener(key).to_bits());
        let _ = epoll::modify(epoll, self.socket.as_fd(), data, flags);
    }
}

/// Waiting connections per listener; the kernel lowers it to net.core.somaxconn.
const BACKLOG: i32 = 4096;

/// How long a closing listener completes handshakes that had begun. Below the one second after which a client sends
/// its dropped SYN again, so that the repeated one finds the port closed.
const DRAIN_US: u64 = 500 * MILLISECOND_US;

/// How long a listener rests when descriptors, memory or places for clients have run out.
const REST_US: u64 = 100 * MILLISECOND_US;

/// Classic BPF over the TCP header: drop what has SYN without ACK, pass the rest.
const DROP_SYN: [SockFilter; 5] = [
    SockFilter::new(0x30, 0, 0, 13),   // ldb [13]: the flags
    SockFilter::new(0x54, 0, 0, 0x12), // and SYN|ACK
    SockFilter::new(0x15, 0, 1, 0x02), // jeq SYN, else skip one
    SockFilter::new(0x06, 0, 0, 0),    // ret 0: drop
    SockFilter::new(0x06, 0, 0, u32::MAX),
];

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::net::{IpAddr, Ipv4Addr, TcpListener, TcpStream};
    use std::time::Duration;

    use super::*;

    /// An address on loopback that nothing else in this process uses; the kernel chose the port.
    fn free_address(last: u8) -> SocketAddr {
        let host = IpAddr::V4(Ipv4Addr::new(127, 77, (std::process::id() % 250) as u8, last));
        TcpListener::bind((host, 0)).unwrap().local_addr().unwrap()
    }

    #[test]
    fn every_worker_gets_a_listener_of_the_same_address() {
        let address = free_address(1);
        let sockets = bind_all(address, 3, Sharing::Exclusive).unwrap();
        for socket in &sockets {
            let own = SocketAddr::try_from(rustix::net::getsockname(socket).unwrap()).unwrap();
            assert_eq!(own, address);
        }
        TcpStream::connect(address).unwrap();
    }

    #[test]
    fn an_address_with_a_listener_is_in_use_even_if_that_one_would_share() {
        let address = free_address(2);
        let _sharing = bind_all(address, 2, Sharing::Exclusive).unwrap();
        let error = bind_all(address, 2, Sharing::Exclusive).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AddrInUse);
    }

    #[test]
    fn an_address_that_is_being_closed_is_taken_over() {
        let address = free_address(3);
        let old = bind_all(address, 2, Sharing::Exclusive).unwrap();
        let _new = bind_all(address, 2, Sharing::WithOurs).unwrap();
        drop(old);
        TcpStream::connect(address).unwrap();
    }

    #[test]
    fn an_address_that_this_host_lacks_is_bound() {
        let documentation_only: SocketAddr = "192.0.2.77:8080".parse().unwrap();
        bind_all(documentation_only, 1, Sharing::Exclusive).unwrap();
    }

    #[test]
    fn closing_serves_the_queue_and_lets_nobody_in() {
        let address = free_address(4);
        let socket = bind_all(address, 1, Sharing::Exclusive).unwrap().remove(0);
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).unwrap();
        let mut listeners = Listeners::new(Arc::new(Counters::default()));
        let names = BTreeMap::from([(address, Arc::from("v"))]);
        listeners.adopt(&epoll, vec![Listen { address, socket, lease: Arc::new(()) }], &names, Time::ZERO);
        let mut queued = TcpStream::connect(address).unwrap();

        listeners.close_all(Time::ZERO);
        let late = TcpStream::connect_timeout(&address, Duration::from_millis(100));
        assert_eq!(late.unwrap_err().kind(), io::ErrorKind::TimedOut);
        let Accepted::Client(accepted, _) = listeners.accept(0, &epoll, Time::ZERO) else { panic!("nobody") };
        drop(accepted);
        assert_eq!(queued.read(&mut [0]).unwrap(), 0, "an orderly end, not a reset");

        listeners.expire(&epoll, Time::ZERO.plus_us(DRAIN_US));
        assert!(listeners.is_empty());
        assert_eq!(TcpStream::connect(address).unwrap_err().kind(), io::ErrorKind::ConnectionRefused);
    }
}
