//! Tells the live services where connections to them leave from: what the configuration wants, where the host has it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::net::{IpAddr, SocketAddr};

use steelyard_core::config::Config;
use steelyard_core::config::difference::Difference;
use steelyard_core::config::source::Sources;
use steelyard_core::service::source::Cell;
use steelyard_core::snapshot::{Snapshot, member_name};

/// What makes connections leave from an address.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum By {
    /// `add ns ip -type SNIP`.
    Snip,
    /// `add netProfile -srcIP`.
    NetProfile,
}

/// Addresses that are wanted and not there.
pub type Missing = BTreeSet<(IpAddr, By)>;

/// Tells every service and virtual server of `snapshot` that a difference names. `has` is asked once for each address.
pub fn tell(
    difference: &Difference,
    config: &Config,
    snapshot: &Snapshot,
    has: impl Fn(IpAddr) -> bool,
) -> Missing {
    let mut telling =
        Telling { sources: Sources::of(config), has, known: BTreeMap::new(), missing: Missing::new() };
    for service in difference.services(config) {
        telling.service(snapshot, &service.name, &service.net_profile);
    }
    for group in difference.groups(config) {
        for member in &group.members {
            let name = member_name(&group.name, &member.server, member.port);
            telling.service(snapshot, &name, &group.net_profile);
        }
    }
    for vserver in difference.vservers(config) {
        if let Some(live) = snapshot.vserver(&vserver.name) {
            let wanted = telling.sources.profile(&vserver.net_profile);
            telling.profile(&live.live.source, wanted);
        }
    }
    for monitor in config.lb_monitors.iter() {
        if let Some(wanted) = telling.sources.profile(&monitor.net_profile) {
            telling.look_for(wanted);
        }
    }
    telling.missing
}

struct Telling<'a, H: Fn(IpAddr) -> bool> {
    sources: Sources<'a>,
    has: H,
    known: BTreeMap<IpAddr, bool>,
    missing: Missing,
}

impl<H: Fn(IpAddr) -> bool> Telling<'_, H> {
    fn service(&mut self, snapshot: &Snapshot, name: &str, profile: &str) {
        let Some(service) = snapshot.service(name) else { return };
        let to = service.address();
        let wanted = self.sources.profile(profile).filter(|ip| ip.is_ipv4() == to.is_ipv4());
        self.profile(&service.source.profile, wanted);
        let snips = self.sources.snips(to.ip()).to_vec();
        let there: Vec<IpAddr> = snips.iter().copied().filter(|ip| self.has(*ip)).collect();
        let mut in_turn = from_own(&there, to);
        service.source.subnet.set(in_turn.next());
        for spare in &service.source.spares {
            spare.set(in_turn.next());
        }
        if let (Some(snip), true, None) = (snips.first(), there.is_empty(), wanted) {
            self.missing.insert((*snip, By::Snip));
        }
    }

    fn profile(&mut self, cell: &Cell, wanted: Option<IpAddr>) {
        cell.set(wanted.filter(|ip| self.look_for(*ip)));
    }

    /// Is the address of a profile there?
    fn look_for(&mut self, ip: IpAddr) -> bool {
        let there = self.has(ip);
        if !there {
            self.missing.insert((ip, By::NetProfile));
        }
        there
    }

    fn has(&mut self, ip: IpAddr) -> bool {
        *self.known.entry(ip).or_insert_with(|| (self.has)(ip))
    }
}

/// Several SNIPs of one subnet share its services: always the same one for a service, so that its idle connections serve;
/// behind it the others, for when that one has no port left.
fn from_own(there: &[IpAddr], service: SocketAddr) -> impl Iterator<Item = IpAddr> {
    let host = match service.ip() {
        IpAddr::V4(v4) => v4.to_bits(),
        IpAddr::V6(_) => 0,
    };
    let nth = host.wrapping_add(service.port().into()) as usize;
    let (before, own) = there.split_at(nth % there.len().max(1));
    own.iter().chain(before).copied()
}

/// What is to be said of an address that is not there.
pub fn line((ip, by): &(IpAddr, By)) -> String {
    format!(
        "{by} {ip} is not on this host, so the kernel chooses where connections leave from; \
         'ip address add {ip} dev IFACE' gives it"
    )
}

impl fmt::Display for By {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            By::Snip => "SNIP",
            By::NetProfile => "netProfile source",
        })
    }
}
