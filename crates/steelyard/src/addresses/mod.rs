//! The addresses of the host: which it has, and with `--vip manage=IFACE` which it is given for as long as a virtual
//! server is served there.
//!
//! Owns what the program has added to the interface, and removes nothing else. Never opens a listener: those are bound
//! whether or not the address is there. The hard question: whose is an address that is there already? Only one that bears
//! this program's mark, left by a run that was killed, is taken over; anybody else's is used and left alone.

mod announce;
mod claims;
mod netlink;
mod sources;
pub mod ways;

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::net::IpAddr;
use std::rc::Rc;
use std::str::FromStr;
use std::time::Duration;

use rustix::thread::{CapabilitySet, capabilities};
use steelyard_core::config::Config;
use steelyard_core::config::difference::Difference;
use steelyard_core::snapshot::Snapshot;

use crate::fault::{Fault, reason};
use crate::report::Report;
use crate::state::State;

use claims::Claims;
use netlink::{Changes, Netlink};
use sources::Missing;

/// `--vip`: who sees to it that this host has the addresses of its virtual servers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Vip {
    /// Whoever runs the host.
    Host,
    /// This program, on the interface of this name.
    Manage(String),
}

impl FromStr for Vip {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Vip, &'static str> {
        match (text, text.strip_prefix("manage=")) {
            ("host", _) => Ok(Vip::Host),
            (_, Some("")) => Err("name the interface: manage=eth0"),
            (_, Some(name)) if name.len() > LONGEST_NAME => Err("no interface has so long a name"),
            (_, Some(name)) => Ok(Vip::Manage(name.to_owned())),
            _ => Err("give host, or manage= and an interface"),
        }
    }
}

/// What is known of the host's addresses, and what is held of them.
pub struct Addresses {
    /// `None` when the system has none for this process: nothing is known then, so nothing is said to be missing.
    netlink: Option<Netlink>,
    claims: Option<RefCell<Claims>>,
    /// Addresses of virtual servers that the host does not have.
    absent: RefCell<BTreeSet<IpAddr>>,
    /// Has any service been told where to leave from?
    told: Cell<bool>,
    missing: RefCell<Missing>,
    /// What of it was told.
    said: RefCell<Missing>,
    released: Cell<bool>,
    /// What was looked at last.
    settled: RefCell<Option<Wanted>>,
}

/// Addresses of virtual servers.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Wanted {
    /// All of them.
    pub all: BTreeSet<IpAddr>,
    /// Those at which somebody is answered, once that is known.
    pub served: Option<BTreeSet<IpAddr>>,
}

/// Whether this host has an address, as far as can be known.
pub fn known() -> impl Fn(IpAddr) -> Option<bool> {
    let netlink = Netlink::open().ok();
    move |ip| netlink.as_ref()?.is_local(ip).ok()
}

impl Addresses {
    /// # Errors
    /// [`Fault::Vip`]: the interface does not exist, or the process may not do what it would have to.
    pub fn open(vip: Vip) -> Result<Addresses, Fault> {
        let netlink = Netlink::open();
        let claims = match (&netlink, vip) {
            (_, Vip::Host) => None,
            (Err(error), Vip::Manage(name)) => {
                return Err(Fault::Vip { interface: name, why: format!("no netlink: {}", reason(error)) });
            }
            (Ok(netlink), Vip::Manage(name)) => Some(claims(netlink, name)?),
        };
        Ok(Addresses {
            netlink: netlink.ok(),
            claims: claims.map(RefCell::new),
            absent: RefCell::default(),
            told: Cell::new(false),
            missing: RefCell::default(),
            said: RefCell::default(),
            released: Cell::new(false),
            settled: RefCell::default(),
        })
    }

    /// Does this host have that address, as far as can be known?
    pub fn has(&self, ip: IpAddr) -> Option<bool> {
        self.netlink.as_ref()?.is_local(ip).ok()
    }

    /// Tells the services of `snapshot` where connections to them leave from: what `config` wants, where this host has it.
    /// Those that a difference does not name were told before.
    pub fn tell_sources(&self, difference: &Difference, config: &Config, snapshot: &Snapshot) {
        let wanted = !config.ns_ips.is_empty() || !config.net_profiles.is_empty();
        if !self.told.replace(wanted) && !wanted {
            return;
        }
        let has = |ip| self.has(ip) == Some(true);
        let mut missing = self.missing.borrow_mut();
        match difference.sources() {
            true => *missing = sources::tell(&Difference::whole(), config, snapshot, has),
            // What is missing no longer is forgotten when all are told again, every few seconds.
            false => missing.extend(sources::tell(difference, config, snapshot, has)),
        }
    }

    /// A line for each address that connections should leave from, that is missing and that was not told yet.
    pub fn missing_sources(&self) -> Vec<String> {
        let missing = self.missing.borrow();
        let before = self.said.replace(missing.clone());
        missing.difference(&before).map(sources::line).collect()
    }

    /// Was an address of a virtual server missing when [`Addresses::settle`] looked last?
    pub fn is_absent(&self, ip: IpAddr) -> bool {
        self.absent.borrow().contains(&ip)
    }

    /// With `--vip manage`, adds and removes until this host has exactly those of `wanted` that are served, if they are
    /// known, beside its own. Looks which of all it lacks. Returns a line for each trouble that is new.
    pub fn settle(&self, wanted: Wanted) -> Vec<String> {
        self.settled.take();
        self.settle_change(wanted)
    }

    /// The same as far as `wanted` is not what it was at the last time: what the host has otherwise is looked at again
    /// every few seconds.
    pub fn settle_change(&self, wanted: Wanted) -> Vec<String> {
        let (Some(netlink), false) = (&self.netlink, self.released.get()) else { return Vec::new() };
        let before = self.settled.take();
        if before.as_ref() == Some(&wanted) {
            self.settled.replace(before);
            return Vec::new();
        }
        let said = match (&self.claims, &wanted.served) {
            (Some(claims), Some(served)) => claims.borrow_mut().settle(netlink, served),
            _ => Vec::new(),
        };
        let held = |ip: &IpAddr| self.claims.as_ref().is_some_and(|claims| claims.borrow().holds(*ip));
        let looked = |ip: &IpAddr| before.as_ref().is_some_and(|before| before.all.contains(ip));
        let lacks = |ip: &IpAddr| match self.claims.is_none() && looked(ip) {
            true => self.is_absent(*ip),
            false => !held(ip) && self.has(*ip) == Some(false),
        };
        let missing = wanted.all.iter().filter(|ip| lacks(ip)).copied().collect();
        self.absent.replace(missing);
        self.settled.replace(Some(wanted));
        said
    }

    /// Does this program add addresses, some of which connections may leave from?
    pub fn manages(&self) -> bool {
        self.claims.is_some()
    }

    /// To be called every 100 ms: announces again what is due.
    pub fn tick(&self) {
        if let Some(claims) = &self.claims {
            claims.borrow_mut().announce_due();
        }
    }

    /// Removes what was added, for good. Returns a line for each address that would not go.
    pub fn release(&self) -> Vec<String> {
        let (Some(netlink), false) = (&self.netlink, self.released.replace(true)) else { return Vec::new() };
        self.claims
            .as_ref()
            .map_or_else(Vec::new, |claims| claims.borrow_mut().settle(netlink, &BTreeSet::new()))
    }
}

/// Whichever way the program ends.
impl Drop for Addresses {
    fn drop(&mut self) {
        self.release();
    }
}

/// Keeps the host's addresses and the configuration together, for ever: at each change of the host's, and every few seconds
/// for what the kernel does not tell.
pub async fn follow(state: Rc<State>, report: Report) {
    let changes = Changes::open();
    loop {
        let change = async {
            match &changes {
                Ok(changes) if changes.next().await.is_ok() => {}
                _ => std::future::pending().await,
            }
        };
        let _ = tokio::time::timeout(LOOK_AGAIN, change).await;
        let said = state.settle_addresses().into_iter().chain(state.missing_sources());
        said.for_each(|line| report.err(format!("steelyard: {line}")));
        tokio::time::sleep(PAUSE).await;
    }
}

fn claims(netlink: &Netlink, name: String) -> Result<Claims, Fault> {
    let fault = |why: String| Fault::Vip { interface: name.clone(), why };
    match netlink.interface(&name) {
        Ok(Some(_)) => {}
        Ok(None) => {
            let why = "there is no such interface; 'ip link' lists those that there are";
            return Err(fault(why.to_owned()));
        }
        Err(error) => return Err(fault(reason(&error))),
    }
    let may = capabilities(None).map(|sets| sets.effective).unwrap_or(CapabilitySet::empty());
    if !may.contains(CapabilitySet::NET_ADMIN | CapabilitySet::NET_RAW) {
        return Err(fault(NO_PERMISSION.to_owned()));
    }
    Claims::new(name.clone()).map_err(|error| fault(reason(&error)))
}

const LOOK_AGAIN: Duration = Duration::from_secs(5);
/// A change seldom comes alone. The first is followed at once: connections from an address that has gone hang.
const PAUSE: Duration = Duration::from_millis(50);
/// IFNAMSIZ, less the zero at the end.
const LONGEST_NAME: usize = 15;
const NO_PERMISSION: &str = "not permitted to add addresses and announce them; run as root or grant the program \
     CAP_NET_ADMIN and CAP_NET_RAW (setcap cap_net_admin,cap_net_raw,cap_net_bind_service+ep)";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_vip() {
        assert_eq!("host".parse(), Ok(Vip::Host));
        assert_eq!("manage=eth0.100".parse(), Ok(Vip::Manage("eth0.100".to_owned())));
        for wrong in ["", "manage", "manage=", "Host", "manage=an-interface-with-a-name"] {
            assert!(wrong.parse::<Vip>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_this_host_has() {
        let addresses = Addresses::open(Vip::Host).unwrap();
        let has = |ip: &str| addresses.has(ip.parse().unwrap());
        assert_eq!(has("127.0.0.1"), Some(true));
        assert_eq!(
            has("127.99.98.97"),
            Some(true),
            "all of 127.0.0.0/8 is local, though only one is on an interface"
        );
        assert_eq!(has("192.0.2.1"), Some(false));
        assert_ne!(has("2001:db8::1"), Some(true));
    }
}
