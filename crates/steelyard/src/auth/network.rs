//! Whose an address is: everything that is counted by source, at whichever door, counts so.

use std::net::{IpAddr, Ipv6Addr};

/// What stands for all addresses of one client. Whoever has one of version 6 has its 64 bits of them; one of version 4 in
/// the clothes of version 6 is that of version 4.
pub fn network(ip: IpAddr) -> IpAddr {
    match ip.to_canonical() {
        IpAddr::V6(v6) if !v6.is_loopback() => Ipv6Addr::from_bits(v6.to_bits() >> 64 << 64).into(),
        ip => ip,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_is_its_address_or_its_64_bits() {
        for (ip, expected) in [
            ("192.0.2.7", "192.0.2.7"),
            ("::ffff:192.0.2.7", "192.0.2.7"),
            ("2001:db8:0:1:2:3:4:5", "2001:db8:0:1::"),
            ("2001:db8:0:1::", "2001:db8:0:1::"),
            ("::1", "::1"),
        ] {
            assert_eq!(network(ip.parse().unwrap()), expected.parse::<IpAddr>().unwrap(), "{ip}");
        }
    }
}
