//! The local addresses that connections to a service leave from, changed while traffic reads them.
//!
//! Owns one cell for each who has a say. Never decides which address that is (see `config/source.rs`) nor whether the host
//! has it. The hard question: an IPv6 address is wider than an atomic, and traffic takes no lock and waits for nobody.
//! So a cell has two slots: the one in use is never written to, and a version says which one that is.

use std::net::{IpAddr, Ipv6Addr};

use crate::sync::{AtomicU64, Ordering, fence};

/// One address that may change, or none. Written by the control thread alone, read by any.
#[derive(Default)]
pub struct Cell {
    /// Counts the changes; its lowest bit says which slot is in use.
    version: AtomicU64,
    slots: [[AtomicU64; 2]; 2],
}

/// Where a connection leaves from, in a form that is compared at every request: IPv4 as IPv4-mapped IPv6, any as the
/// unspecified address, which nothing leaves from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SourceAddress([u64; 2]);

/// What a service has to say about where connections to it leave from.
#[derive(Default)]
pub struct Source {
    /// The address of its own net profile, or of its group's.
    pub profile: Cell,
    /// The SNIP of its subnet.
    pub subnet: Cell,
    /// Other SNIPs of that subnet.
    pub spares: [Cell; 3],
}

impl Source {
    /// The address for a connection to `to` on behalf of a virtual server: the service's own net profile, else that of
    /// the virtual server, else the SNIP.
    #[inline]
    pub fn address(&self, vserver: &Cell, to: IpAddr) -> SourceAddress {
        let own = self.profile.get();
        if own != SourceAddress::ANY {
            return own;
        }
        let theirs = vserver.get();
        if theirs != SourceAddress::ANY && theirs.is_ipv4() == to.is_ipv4() {
            return theirs;
        }
        self.subnet.get()
    }

    /// Where a connection may leave from when `first`, which [`Source::address`] said, has no port left: the other SNIPs. A
    /// net profile's address has no substitute.
    pub fn spare(&self, first: SourceAddress) -> impl Iterator<Item = IpAddr> {
        let is_snip = first == self.subnet.get() && first != self.profile.get();
        self.spares.iter().filter(move |_| is_snip).filter_map(|cell| cell.get().ip())
    }

    /// The address for a probe of a service at `service`, which may go to somebody else (`-destIP`). A virtual server's
    /// net profile has no say in probes.
    pub fn of_probe(&self, service: IpAddr, to: IpAddr) -> Option<IpAddr> {
        let profile = self.profile.get().ip().filter(|address| address.is_ipv4() == to.is_ipv4());
        profile.or_else(|| self.subnet.get().ip().filter(|_| to == service))
    }
}

impl Cell {
    /// The address.
    #[inline]
    pub fn get(&self) -> SourceAddress {
        let version = self.version.load(Ordering::Acquire);
        if version == 0 { SourceAddress::ANY } else { self.read(version) }
    }

    /// Replaces it. Control thread only. True when that is a change.
    pub fn set(&self, address: Option<IpAddr>) -> bool {
        let SourceAddress(words) = SourceAddress::new(address);
        if self.get() == SourceAddress(words) {
            return false;
        }
        let version = self.version.load(Ordering::Relaxed) + 1;
        // Pairs with the fence of `read`: whoever sees one of these bytes in the slot sees also that it is out of use.
        fence(Ordering::Release);
        for (half, word) in self.slot(version).iter().zip(words) {
            half.store(word, Ordering::Relaxed);
        }
        self.version.store(version, Ordering::Release);
        true
    }

    /// Reads again only when the address has changed meanwhile, so nobody who is slow holds up anybody.
    fn read(&self, mut version: u64) -> SourceAddress {
        loop {
            let [high, low] = self.slot(version);
            let words = [high.load(Ordering::Relaxed), low.load(Ordering::Relaxed)];
            fence(Ordering::Acquire);
            let now = self.version.load(Ordering::Relaxed);
            if now == version {
                return SourceAddress(words);
            }
            version = now;
            fence(Ordering::Acquire);
        }
    }

    fn slot(&self, version: u64) -> &[AtomicU64; 2] {
        &self.slots[(version & 1) as usize]
    }
}

impl SourceAddress {
    /// Whichever address the kernel chooses.
    pub const ANY: SourceAddress = SourceAddress([0, 0]);

    /// That address; `None` for any.
    pub fn new(address: Option<IpAddr>) -> SourceAddress {
        let bits = match address {
            None => 0,
            Some(IpAddr::V4(v4)) => v4.to_ipv6_mapped().to_bits(),
            Some(IpAddr::V6(v6)) => v6.to_bits(),
        };
        SourceAddress([(bits >> 64) as u64, bits as u64])
    }

    /// The address; `None` for any.
    pub fn ip(self) -> Option<IpAddr> {
        let SourceAddress([high, low]) = self;
        let bits = (u128::from(high) << 64) | u128::from(low);
        (bits != 0).then(|| IpAddr::V6(Ipv6Addr::from_bits(bits)).to_canonical())
    }

    fn is_ipv4(self) -> bool {
        let SourceAddress([high, low]) = self;
        high == 0 && low >> 32 == 0xffff
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> Option<IpAddr> {
        Some(text.parse().unwrap())
    }

    #[test]
    fn an_address_comes_back_as_it_was_given() {
        let cell = Cell::default();
        assert_eq!(cell.get().ip(), None);
        for address in [ip("10.1.1.10"), ip("2001:db8::10"), ip("255.255.255.255"), None, ip("fe80::1")] {
            assert!(cell.set(address));
            assert!(!cell.set(address), "no change");
            assert_eq!(cell.get().ip(), address);
        }
    }

    #[test]
    fn the_service_s_own_profile_wins_then_the_virtual_server_s_then_the_subnet() {
        let (source, vserver) = (Source::default(), Cell::default());
        let to = [10, 0, 0, 80].into();
        assert_eq!(source.address(&vserver, to).ip(), None);
        source.subnet.set(ip("10.0.0.1"));
        assert_eq!(source.address(&vserver, to).ip(), ip("10.0.0.1"));
        vserver.set(ip("2001:db8::1"));
        assert_eq!(source.address(&vserver, to).ip(), ip("10.0.0.1"), "of another family");
        vserver.set(ip("10.0.0.2"));
        assert_eq!(source.address(&vserver, to).ip(), ip("10.0.0.2"));
        source.profile.set(ip("10.0.0.3"));
        assert_eq!(source.address(&vserver, to).ip(), ip("10.0.0.3"));
    }

    #[test]
    fn only_a_snip_has_substitutes() {
        let (source, vserver) = (Source::default(), Cell::default());
        let to = [10, 0, 0, 80].into();
        let spare =
            |source: &Source| source.spare(source.address(&vserver, to)).map(Some).collect::<Vec<_>>();
        assert_eq!(spare(&source), []);
        source.subnet.set(ip("10.0.0.1"));
        assert_eq!(spare(&source), []);
        source.spares[0].set(ip("10.0.0.2"));
        source.spares[1].set(ip("10.0.0.3"));
        assert_eq!(spare(&source), [ip("10.0.0.2"), ip("10.0.0.3")]);
        source.profile.set(ip("10.0.0.9"));
        assert_eq!(spare(&source), []);
    }

    #[test]
    fn a_probe_of_another_host_does_not_leave_from_the_snip_of_the_service() {
        let (source, service, other) = (Source::default(), [10, 0, 0, 80].into(), [10, 9, 0, 80].into());
        source.subnet.set(ip("10.0.0.1"));
        assert_eq!(source.of_probe(service, service), ip("10.0.0.1"));
        assert_eq!(source.of_probe(service, other), None);
        source.profile.set(ip("10.0.0.3"));
        assert_eq!(source.of_probe(service, service), ip("10.0.0.3"));
        assert_eq!(source.of_probe(service, other), ip("10.0.0.3"));
        assert_eq!(source.of_probe(service, ip("2001:db8::80").unwrap()), None);
    }
}
