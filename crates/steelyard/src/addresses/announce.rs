//! What tells the neighbours that an address is here now: whole Ethernet frames, byte for byte.
//!
//! Pure; sends nothing. The hard question is which form moves an entry that a neighbour already has: of ARP the request
//! whose sender and target are the address itself (RFC 5227 3), which hosts of every age take; of IPv6 the advertisement
//! to everybody on the link with the override flag (RFC 4861 7.2.6).

use std::net::{Ipv4Addr, Ipv6Addr};
use std::time::Duration;

/// A hardware address.
pub type Mac = [u8; 6];

/// ARP announcement of `address` at `mac` (RFC 826; RFC 5227 2.3).
pub fn arp(mac: Mac, address: Ipv4Addr) -> [u8; 42] {
    let mut frame = [0; 42];
    ethernet(&mut frame, BROADCAST, mac, 0x0806);
    // Ethernet, IPv4, their address lengths, request.
    frame[14..22].copy_from_slice(&[0, 1, 8, 0, 6, 4, 0, 1]);
    frame[22..28].copy_from_slice(&mac);
    frame[28..32].copy_from_slice(&address.octets());
    // The target's hardware address, 32 to 38, stays zero: it is what a request asks for.
    frame[38..42].copy_from_slice(&address.octets());
    frame
}

/// Unsolicited neighbour advertisement of `address` at `mac`, from the address itself to everybody on the link (RFC 4861 4.4).
pub fn neighbour_advertisement(mac: Mac, address: Ipv6Addr) -> [u8; 86] {
    let mut frame = [0; 86];
    ethernet(&mut frame, EVERYBODY_MAC, mac, 0x86dd);
    let (ip, message) = frame[14..].split_at_mut(40);
    ip[0] = 6 << 4;
    ip[5] = MESSAGE_BYTES;
    ip[6] = ICMPV6;
    // Receivers drop what a router has passed on.
    ip[7] = 255;
    ip[8..24].copy_from_slice(&address.octets());
    ip[24..40].copy_from_slice(&EVERYBODY.octets());
    message[0] = 136;
    message[4] = OVERRIDE;
    message[8..24].copy_from_slice(&address.octets());
    // Target link-layer address, in units of eight bytes.
    message[24..26].copy_from_slice(&[2, 1]);
    message[26..32].copy_from_slice(&mac);
    let checksum = checksum(address, message);
    message[2..4].copy_from_slice(&checksum.to_be_bytes());
    frame
}

fn ethernet(frame: &mut [u8], to: Mac, from: Mac, kind: u16) {
    frame[..6].copy_from_slice(&to);
    frame[6..12].copy_from_slice(&from);
    frame[12..14].copy_from_slice(&kind.to_be_bytes());
}

/// Over the pseudo-header of RFC 8200 8.1 and the message, whose own checksum is zero.
fn checksum(from: Ipv6Addr, message: &[u8]) -> u16 {
    let words = |bytes: &[u8]| -> u32 {
        bytes.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0))).sum()
    };
    let addresses = words(&from.octets()) + words(&EVERYBODY.octets());
    let mut sum = addresses + message.len() as u32 + u32::from(ICMPV6) + words(message);
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

/// Announcements of one IPv4 address, and the time between two (RFC 5227 1.1: ANNOUNCE_NUM, ANNOUNCE_INTERVAL).
pub const ARP_TIMES: (u8, Duration) = (2, Duration::from_secs(2));
/// Of one IPv6 address (RFC 4861 10: MAX_NEIGHBOR_ADVERTISEMENT, RETRANS_TIMER).
pub const ADVERTISEMENT_TIMES: (u8, Duration) = (3, Duration::from_secs(1));

const BROADCAST: Mac = [0xff; 6];
const EVERYBODY: Ipv6Addr = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 1);
/// RFC 2464 7: 33-33 and the last four bytes of the address.
const EVERYBODY_MAC: Mac = [0x33, 0x33, 0, 0, 0, 1];
const ICMPV6: u8 = 58;
const MESSAGE_BYTES: u8 = 32;
const OVERRIDE: u8 = 1 << 5;

#[cfg(test)]
mod tests {
    use super::*;

    const MAC: Mac = [0x02, 0x00, 0x5e, 0x10, 0x20, 0x30];

    #[test]
    fn an_arp_announcement_byte_for_byte() {
        let expected = [
            &[0xff; 6][..],
            &MAC,
            &[0x08, 0x06],
            &[0x00, 0x01, 0x08, 0x00, 0x06, 0x04, 0x00, 0x01],
            &MAC,
            &[192, 0, 2, 10],
            &[0; 6],
            &[192, 0, 2, 10],
        ]
        .concat();
        assert_eq!(arp(MAC, [192, 0, 2, 10].into())[..], expected);
    }

    /// The checksum was worked out by hand: source 2001:0db8:0:0:0:0:0:10 sums to 2dc9, the destination to ff03, length and
    /// next header to 5a; the message 8800 + 2000 + 2dc9 (target) + 0201 + 0200 + 5e10 + 2030. Together 28530, folded 8532,
    /// and its complement is 7acd.
    #[test]
    fn a_neighbour_advertisement_byte_for_byte() {
        let address = [0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10];
        let expected = [
            &[0x33, 0x33, 0, 0, 0, 1][..],
            &MAC,
            &[0x86, 0xdd],
            &[0x60, 0, 0, 0, 0, 32, 58, 255],
            &address,
            &[0xff, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
            &[136, 0, 0x7a, 0xcd, 0x20, 0, 0, 0],
            &address,
            &[2, 1],
            &MAC,
        ]
        .concat();
        assert_eq!(neighbour_advertisement(MAC, address.into())[..], expected);
    }
}
