//! Which address connections to a service are to leave from, by the configuration.
//!
//! Never knows what the host has: a wish for an address that it lacks is left to the kernel. The rule is NetScaler's: a net
//! profile where there is one, else the SNIP in whose subnet the service is, the narrowest if subnets nest.

use std::net::{IpAddr, Ipv4Addr};

use super::{Config, IpType, NsIp};

/// The addresses of a configuration that connections may leave from.
pub struct Sources<'a> {
    config: &'a Config,
    /// By rising width of the subnet, each with its SNIPs in order of creation.
    subnets: Vec<(Subnet, Vec<IpAddr>)>,
}

/// An IPv4 subnet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Subnet {
    network: u32,
    mask: u32,
}

impl<'a> Sources<'a> {
    /// Those of `config`.
    pub fn of(config: &'a Config) -> Sources<'a> {
        let mut subnets: Vec<(Subnet, Vec<IpAddr>)> = Vec::new();
        for (subnet, snip) in config.ns_ips.iter().filter_map(snip) {
            match subnets.iter_mut().find(|(known, _)| *known == subnet) {
                Some((_, snips)) => snips.push(snip),
                None => subnets.push((subnet, vec![snip])),
            }
        }
        subnets.sort_by_key(|(subnet, _)| std::cmp::Reverse(subnet.mask));
        Sources { config, subnets }
    }

    /// The source address of the net profile called `name`. `None` when there is no such profile, or it has none, or names
    /// a set of addresses, which this version does not carry.
    pub fn profile(&self, name: &str) -> Option<IpAddr> {
        self.config.net_profiles.find(name)?.source.as_deref()?.parse().ok()
    }

    /// The SNIPs of the narrowest subnet that contains `to`. NetScaler takes each in turn.
    pub fn snips(&self, to: IpAddr) -> &[IpAddr] {
        let found = self.subnets.iter().find(|(subnet, _)| subnet.contains(to));
        found.map_or(&[], |(_, snips)| snips)
    }
}

impl Subnet {
    fn contains(self, ip: IpAddr) -> bool {
        match ip {
            IpAddr::V4(v4) => v4.to_bits() & self.mask == self.network,
            IpAddr::V6(_) => false,
        }
    }
}

/// An enabled SNIP and its subnet.
fn snip(ip: &NsIp) -> Option<(Subnet, IpAddr)> {
    let (IpAddr::V4(address), IpAddr::V4(mask)) = (ip.ip()?, ip.netmask) else { return None };
    let usable = ip.kind == IpType::Snip && ip.enabled && ip.traffic_domain == 0;
    let mask = Ipv4Addr::to_bits(mask);
    let subnet = Subnet { network: address.to_bits() & mask, mask };
    usable.then_some((subnet, IpAddr::V4(address)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::NetProfile;

    fn config(lines: &[&str]) -> Config {
        let mut config = Config::default();
        for line in lines {
            let mut words = line.split(' ');
            let ip = NsIp {
                address: words.next().unwrap().to_owned(),
                netmask: words.next().unwrap().parse().unwrap(),
                kind: if words.next() == Some("VIP") { IpType::Vip } else { IpType::Snip },
                ..NsIp::default()
            };
            config.ns_ips.insert(ip);
        }
        config
    }

    fn snips(config: &Config, to: &str) -> Vec<String> {
        Sources::of(config).snips(to.parse().unwrap()).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_narrowest_subnet_that_contains_the_service_decides() {
        let config = config(&[
            "10.0.0.1 255.0.0.0",
            "10.1.0.1 255.255.0.0",
            "10.1.2.1 255.255.255.0",
            "10.1.2.2 255.255.255.0",
            "10.1.3.1 255.255.255.0 VIP",
        ]);
        assert_eq!(snips(&config, "10.1.2.80"), ["10.1.2.1", "10.1.2.2"]);
        assert_eq!(snips(&config, "10.1.3.80"), ["10.1.0.1"], "a VIP is no source");
        assert_eq!(snips(&config, "10.9.9.9"), ["10.0.0.1"]);
        assert_eq!(snips(&config, "192.0.2.1"), [] as [&str; 0]);
        assert_eq!(snips(&config, "2001:db8::1"), [] as [&str; 0]);
    }

    #[test]
    fn a_profile_has_an_address_or_none() {
        let mut config = Config::default();
        for (name, source) in [("one", Some("10.1.1.102")), ("set", Some("an_ipset")), ("none", None)] {
            let source = source.map(str::to_owned);
            config.net_profiles.insert(NetProfile { name: name.to_owned(), source, ..NetProfile::default() });
        }
        let sources = Sources::of(&config);
        assert_eq!(sources.profile("ONE"), Some([10, 1, 1, 102].into()));
        assert_eq!(["set", "none", "nobody", ""].map(|name| sources.profile(name)), [None; 4]);
    }

    #[test]
    fn a_disabled_snip_is_none() {
        let mut config = config(&["10.1.2.1 255.255.255.0"]);
        let disabled = NsIp { enabled: false, ..config.ns_ips.find("10.1.2.1").unwrap().clone() };
        config.ns_ips.insert(disabled);
        assert_eq!(snips(&config, "10.1.2.80"), [] as [&str; 0]);
    }
}
