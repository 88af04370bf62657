//! Tells the live services where connections to them leave from: what the configuration wants, where the host has it.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};

use steelyard_core::config::Config;
use steelyard_core::config::source::Sources;
use steelyard_core::snapshot::{Snapshot, member_name};

/// Addresses that are wanted and not there.
pub type Missing = BTreeSet<IpAddr>;

/// Tells every service and virtual server of `snapshot`. `has` is asked once for each address.
pub fn tell(config: &Config, snapshot: &Snapshot, has: impl Fn(IpAddr) -> bool) -> Missing {
    let mut telling =
        Telling { sources: Sources::of(config), has, known: BTreeMap::new(), missing: Missing::new() };
    for service in config.services.iter() {
        telling.service(snapshot, &service.name);
    }
    for group in config.service_groups.iter() {
        for member in &group.members {
            let name = member_name(&group.name, &member.server, member.port);
            telling.service(snapshot, &name);
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
    fn service(&mut self, snapshot: &Snapshot, name: &str) {
        let Some(service) = snapshot.service(name) else { return };
        let to = service.address();
        let snips = self.sources.snips(to.ip()).to_vec();
        let there: Vec<IpAddr> = snips.iter().copied().filter(|ip| self.has(*ip)).collect();
        service.source.subnet.set(one_of(&there, to));
        if let (Some(snip), true) = (snips.first(), there.is_empty()) {
            self.missing.insert(*snip);
        }
    }

    fn has(&mut self, ip: IpAddr) -> bool {
        *self.known.entry(ip).or_insert_with(|| (self.has)(ip))
    }
}

/// Several SNIPs of one subnet share its services: always the same one for a service, so that its idle connections serve.
fn one_of(there: &[IpAddr], service: SocketAddr) -> Option<IpAddr> {
    let host = match service.ip() {
        IpAddr::V4(v4) => v4.to_bits(),
        IpAddr::V6(_) => 0,
    };
    let nth = host.wrapping_add(service.port().into()) as usize;
    there.get(nth % there.len().max(1)).copied()
}

/// What is to be said of an address that is not there.
pub fn line(ip: &IpAddr) -> String {
    format!(
        "SNIP {ip} is not on this host, so the kernel chooses where connections leave from; \
         'ip address add {ip} dev IFACE' gives it"
    )
}
