//! Tells the live services where connections to them leave from: what the configuration wants, where the host has it.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use steelyard_core::config::Config;
use steelyard_core::config::source::Sources;
use steelyard_core::snapshot::{Snapshot, member_name};

/// Tells every service and virtual server of `snapshot`. `has` is asked once for each address.
pub fn tell(config: &Config, snapshot: &Snapshot, has: impl Fn(IpAddr) -> bool) {
    let sources = Sources::of(config);
    let mut known: BTreeMap<IpAddr, bool> = BTreeMap::new();
    let mut has = |ip: IpAddr| *known.entry(ip).or_insert_with(|| has(ip));
    let mut tell = |name: &str| {
        let Some(service) = snapshot.service(name) else { return };
        let there: Vec<IpAddr> =
            sources.snips(service.address().ip()).iter().copied().filter(|ip| has(*ip)).collect();
        service.source.subnet.set(one_of(&there, service.address()));
    };
    for service in config.services.iter() {
        tell(&service.name);
    }
    for group in config.service_groups.iter() {
        for member in &group.members {
            tell(&member_name(&group.name, &member.server, member.port));
        }
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
