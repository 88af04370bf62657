//! NetScaler's client-IP prefix: what a TCP service with `-cip ENABLED` is told before the client's first byte.
//!
//! Owns the form of 10.5 and later (haproxy's `doc/netscaler-client-ip-insertion-protocol.txt`, citrix.com's article of
//! 2016-04-25): a magic number, the length of the whole prefix, the type 1, the length of what follows, then the IP and
//! the TCP header of the packet that ended the client's handshake. A program behind a socket never sees those headers:
//! they are written anew from the two addresses, without options, with sequence numbers, window and identification 0
//! and with sound checksums.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

/// Appends the prefix for a client that has connected from `client` to `server`.
pub fn write(magic: u32, client: SocketAddr, server: SocketAddr, out: &mut Vec<u8>) {
    let headers = IP_TCP_BYTES[usize::from(is_v6(client, server))];
    out.extend_from_slice(&magic.to_be_bytes());
    out.extend_from_slice(&(PREFIX_BYTES + u32::from(headers)).to_be_bytes());
    out.extend_from_slice(&TYPE.to_be_bytes());
    out.extend_from_slice(&headers.to_be_bytes());
    let at = out.len();
    match (client.ip(), server.ip()) {
        (IpAddr::V4(from), IpAddr::V4(to)) => {
            out.extend_from_slice(&[0x45, 0, 0, headers as u8, 0, 0, 0x40, 0, HOPS, TCP, 0, 0]);
            out.extend_from_slice(&from.octets());
            out.extend_from_slice(&to.octets());
            let sum = checksum(sum(&out[at..]));
            out[at + 10..at + 12].copy_from_slice(&sum);
        }
        (from, to) => {
            out.extend_from_slice(&[0x60, 0, 0, 0, 0, TCP_BYTES, TCP, HOPS]);
            out.extend_from_slice(&v6(from).octets());
            out.extend_from_slice(&v6(to).octets());
        }
    }
    let addresses = if is_v6(client, server) { at + 8 } else { at + 12 };
    let of_addresses = sum(&out[addresses..]);
    let at = out.len();
    out.extend_from_slice(&client.port().to_be_bytes());
    out.extend_from_slice(&server.port().to_be_bytes());
    // Sequence and acknowledgement numbers; five words of header; ACK; window, checksum, urgent pointer.
    out.extend_from_slice(&[0, 0, 0, 0, 0, 0, 0, 0, 0x50, 0x10, 0, 0, 0, 0, 0, 0]);
    let sum = checksum(of_addresses + u32::from(TCP) + u32::from(TCP_BYTES) + sum(&out[at..]));
    out[at + 16..at + 18].copy_from_slice(&sum);
}

/// The magic number that sender and receiver have agreed on: the name of the header (`cipHeader`) where that is a number.
/// The documents do not say what stands there otherwise; here it is 0.
pub fn magic(name: &str) -> u32 {
    name.parse().unwrap_or(0)
}

fn is_v6(client: SocketAddr, server: SocketAddr) -> bool {
    client.is_ipv6() || server.is_ipv6()
}

fn v6(ip: IpAddr) -> Ipv6Addr {
    match ip {
        IpAddr::V4(v4) => v4.to_ipv6_mapped(),
        IpAddr::V6(v6) => v6,
    }
}

/// RFC 1071, of an even number of bytes.
fn sum(bytes: &[u8]) -> u32 {
    bytes.chunks_exact(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]]))).sum()
}

fn checksum(sum: u32) -> [u8; 2] {
    let folded = (sum & 0xffff) + (sum >> 16);
    let folded = (folded & 0xffff) + (folded >> 16);
    (!(folded as u16)).to_be_bytes()
}

/// Magic number, both lengths and the type.
const PREFIX_BYTES: u32 = 12;
const TYPE: u16 = 1;
const TCP_BYTES: u8 = 20;
/// Both headers of IPv4, and of IPv6.
const IP_TCP_BYTES: [u16; 2] = [40, 60];
const TCP: u8 = 6;
const HOPS: u8 = 64;

#[cfg(test)]
mod tests {
    use super::*;

    /// Worked out by hand: sums of the 16-bit words, complemented.
    #[test]
    fn ipv4_byte_for_byte() {
        let mut out = vec![0xee];
        write(0x0102_0304, ([192, 0, 2, 1], 0x1234).into(), ([198, 51, 100, 7], 80).into(), &mut out);
        // IP: 4500 + 0028 + 4000 + 4006 + c000 + 0201 + c633 + 6407 = 2b169, folded b16b, complement 4e94.
        // TCP: c000 + 0201 + c633 + 6407 + 0006 + 0014 + 1234 + 0050 + 5010 = 24ee9, folded 4eeb, complement b114.
        let expected = [
            0xee, 1, 2, 3, 4, 0, 0, 0, 52, 0, 1, 0, 40, //
            0x45, 0, 0, 40, 0, 0, 0x40, 0, 64, 6, 0x4e, 0x94, 192, 0, 2, 1, 198, 51, 100, 7, //
            0x12, 0x34, 0, 80, 0, 0, 0, 0, 0, 0, 0, 0, 0x50, 0x10, 0, 0, 0xb1, 0x14, 0, 0,
        ];
        assert_eq!(out, expected);
    }

    #[test]
    fn ipv6_byte_for_byte() {
        let mut out = Vec::new();
        let client = "[2001:db8::1]:4660".parse().unwrap();
        write(7, client, "[2001:db8::2]:443".parse().unwrap(), &mut out);
        // TCP: 2 * (2001 + 0db8) + 1 + 2 + 0006 + 0014 + 1234 + 01bb + 5010 = bf8e, complement 4071.
        let expected = [
            0, 0, 0, 7, 0, 0, 0, 72, 0, 1, 0, 60, //
            0x60, 0, 0, 0, 0, 20, 6, 64, //
            0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, //
            0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, //
            0x12, 0x34, 1, 0xbb, 0, 0, 0, 0, 0, 0, 0, 0, 0x50, 0x10, 0, 0, 0x40, 0x71, 0, 0,
        ];
        assert_eq!(out, expected);
    }

    /// A receiver that checks them finds all words of a header to sum up to ffff.
    #[test]
    fn addresses_of_two_families_are_written_as_ipv6_and_sum_up() {
        let mut out = Vec::new();
        write(1, ([127, 0, 0, 9], 999).into(), "[::1]:80".parse().unwrap(), &mut out);
        assert_eq!(out.len(), 72);
        let total = sum(&out[20..]) + 6 + 20;
        assert_eq!(checksum(total), [0, 0]);
    }

    #[test]
    fn the_magic_number_is_the_name_where_that_is_a_number() {
        assert_eq!((magic("16909060"), magic("4294967295")), (0x0102_0304, u32::MAX));
        assert_eq!((magic("client-ip"), magic("4294967296")), (0, 0));
    }
}
