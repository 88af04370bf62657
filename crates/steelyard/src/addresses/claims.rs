//! The addresses that this program has given the interface of `--vip manage=IFACE`, and their announcement.
//!
//! Adds before it announces, and announces a few times, as the standards ask, since one frame may be lost. An address that
//! cannot be added is tried again at each call, and its trouble told once. All are announced again when the link comes back:
//! who was on it meanwhile may have been told otherwise.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, ErrorKind};
use std::net::IpAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Instant;

use rustix::net::{AddressFamily, SocketFlags, SocketType};

use super::announce::{self, Mac};
use super::netlink::{Interface, Netlink};
use crate::fault::reason;
use crate::worker::send_frame;

/// What is held on one interface.
pub struct Claims {
    name: String,
    frames: OwnedFd,
    /// The interface that they were added to.
    held: BTreeMap<IpAddr, u32>,
    announcing: Vec<Announcement>,
    /// As it was when it was looked at last.
    interface: Option<Interface>,
    /// What was said of an address, or of the interface as such, when it was tried last.
    troubles: BTreeMap<Option<IpAddr>, String>,
}

struct Announcement {
    ip: IpAddr,
    from: (u32, Mac),
    due: Instant,
    left: u8,
}

impl Claims {
    /// None yet, on the interface called `name`.
    ///
    /// # Errors
    /// The process may not send frames.
    pub fn new(name: String) -> io::Result<Claims> {
        let frames =
            rustix::net::socket_with(AddressFamily::PACKET, SocketType::RAW, SocketFlags::CLOEXEC, None)?;
        Ok(Claims {
            name,
            frames,
            held: BTreeMap::new(),
            announcing: Vec::new(),
            interface: None,
            troubles: BTreeMap::new(),
        })
    }

    /// Removes what is held and not in `wanted`, and adds what the host lacks of it. Returns the troubles that are new.
    pub fn settle(&mut self, netlink: &Netlink, wanted: &BTreeSet<IpAddr>) -> Vec<String> {
        let mut troubles = BTreeMap::new();
        let gone: Vec<(IpAddr, u32)> = self.held.iter().map(|(ip, index)| (*ip, *index)).collect();
        for (ip, index) in gone.into_iter().filter(|(ip, _)| !wanted.contains(ip)) {
            match netlink.remove(ip, index) {
                Ok(()) => drop(self.held.remove(&ip)),
                Err(error) => drop(troubles.insert(Some(ip), self.trouble("removed", ip, &error))),
            }
        }
        self.announcing.retain(|announcement| self.held.contains_key(&announcement.ip));
        if !wanted.is_empty() {
            match netlink.interface(&self.name) {
                Ok(Some(interface)) => {
                    self.announce_after_change(interface);
                    self.add_missing(netlink, interface, wanted, &mut troubles);
                }
                Ok(None) => {
                    self.held.clear();
                    troubles.insert(None, format!("{}: the interface is gone; {BACK}", self.name));
                }
                Err(error) => drop(troubles.insert(None, format!("{}: {}", self.name, reason(&error)))),
            }
        }
        self.announce_due();
        let before = std::mem::replace(&mut self.troubles, troubles);
        let new = self.troubles.iter().filter(|(ip, text)| before.get(ip) != Some(text));
        new.map(|(_, text)| text.clone()).collect()
    }

    /// Is the address held? One of IPv6 takes the kernel a moment to make local.
    pub fn holds(&self, ip: IpAddr) -> bool {
        self.held.contains_key(&ip)
    }

    /// Sends each announcement that is due.
    pub fn announce_due(&mut self) {
        if self.announcing.is_empty() {
            return;
        }
        let now = Instant::now();
        let frames = self.frames.as_fd();
        self.announcing.retain_mut(|announcement| {
            if announcement.due > now {
                return true;
            }
            let (index, mac) = announcement.from;
            // A link that is down carries none; the next one may be carried.
            let _ = match announcement.ip {
                IpAddr::V4(ip) => send_frame(frames, index, &announce::arp(mac, ip)),
                IpAddr::V6(ip) => send_frame(frames, index, &announce::neighbour_advertisement(mac, ip)),
            };
            announcement.left -= 1;
            announcement.due = now + times(announcement.ip).1;
            announcement.left > 0
        });
    }

    fn announce_after_change(&mut self, interface: Interface) {
        if self.interface.replace(interface) != Some(interface) && interface.up {
            let held: Vec<IpAddr> = self.held.keys().copied().collect();
            held.into_iter().for_each(|ip| self.hold(ip, interface));
        }
    }

    fn add_missing(
        &mut self,
        netlink: &Netlink,
        interface: Interface,
        wanted: &BTreeSet<IpAddr>,
        troubles: &mut BTreeMap<Option<IpAddr>, String>,
    ) {
        let mut left_behind = None;
        for &ip in wanted {
            if netlink.is_local(ip).unwrap_or(false) {
                if !self.held.contains_key(&ip) {
                    let ours: &BTreeSet<IpAddr> = left_behind.get_or_insert_with(|| {
                        netlink.added(interface.index).unwrap_or_default().into_iter().collect()
                    });
                    if ours.contains(&ip) {
                        self.hold(ip, interface);
                    }
                }
                continue;
            }
            match netlink.add(ip, interface.index) {
                Ok(()) => self.hold(ip, interface),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => {
                    self.held.remove(&ip);
                    troubles.insert(Some(ip), self.trouble("added", ip, &error));
                }
            }
        }
    }

    fn hold(&mut self, ip: IpAddr, interface: Interface) {
        self.held.insert(ip, interface.index);
        self.announcing.retain(|announcement| announcement.ip != ip);
        if let Some(mac) = interface.mac {
            let (from, left) = ((interface.index, mac), times(ip).0);
            self.announcing.push(Announcement { ip, from, due: Instant::now(), left });
        }
    }

    fn trouble(&self, what: &str, ip: IpAddr, error: &io::Error) -> String {
        format!("{}: {ip} cannot be {what}: {}; tried again every 5 s", self.name, reason(error))
    }
}

fn times(ip: IpAddr) -> (u8, std::time::Duration) {
    if ip.is_ipv4() { announce::ARP_TIMES } else { announce::ADVERTISEMENT_TIMES }
}

const BACK: &str = "its addresses are added again when it is back";
