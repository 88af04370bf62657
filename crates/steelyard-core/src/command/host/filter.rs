//! Access lists and address translation as rules of `nft`.
//!
//! The appliance asks its lists in the order of their priorities, simple ones first, and lets pass what none names: so
//! does a chain with the policy accept, if its rules are added in that order.

use std::net::IpAddr;

use super::arguments::{Arguments, ip, mac, network};
use super::{NOT_READ, NoCommand, OnHost, interface};

pub(super) fn add_acl(a: &Arguments) -> Result<OnHost, NoCommand> {
    acl(a, Family::V4)
}

pub(super) fn add_acl6(a: &Arguments) -> Result<OnHost, NoCommand> {
    acl(a, Family::V6)
}

pub(super) fn add_simple_acl(a: &Arguments) -> Result<OnHost, NoCommand> {
    simple(a, Family::V4)
}

pub(super) fn add_simple_acl6(a: &Arguments) -> Result<OnHost, NoCommand> {
    simple(a, Family::V6)
}

/// `add rnat NAME NETWORK MASK`, without an address of its own.
pub(super) fn add_rnat(a: &Arguments) -> Result<OnHost, NoCommand> {
    match a.words() {
        [_, address, mask] => rnat(address, mask, &[]),
        _ => Err(RNAT_OF_ACL),
    }
}

/// `set rnat NETWORK MASK [-natIP ADDRESS ...]`
pub(super) fn set_rnat(a: &Arguments) -> Result<OnHost, NoCommand> {
    match a.words() {
        [address, mask] => rnat(address, mask, a.values("natIP").unwrap_or_default()),
        _ => Err(RNAT_OF_ACL),
    }
}

/// `add inat NAME PUBLIC PRIVATE`
pub(super) fn add_inat(a: &Arguments) -> Result<OnHost, NoCommand> {
    let (public, private) = (ip(a.word(1)?)?, ip(a.word(2)?)?);
    match (public, private) {
        (IpAddr::V4(_), IpAddr::V4(_)) => Ok(OnHost {
            first: INAT_FIRST,
            commands: vec![format!("nft add rule ip nat prerouting ip daddr {public} dnat to {private}")],
        }),
        _ => Err(NoCommand::NoEqual("a translation between IPv4 and IPv6 needs a program such as jool")),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Family {
    V4,
    V6,
}

fn acl(a: &Arguments, family: Family) -> Result<OnHost, NoCommand> {
    if a.is("state", "DISABLED") {
        return Err(NoCommand::NothingToDo("nothing to do: it is disabled"));
    }
    let action = match a.word(1)? {
        word if word.eq_ignore_ascii_case("ALLOW") => "accept",
        word if word.eq_ignore_ascii_case("DENY") => "drop",
        _ => return Err(NoCommand::NoEqual("a host bridges by its bridge alone; no rule does that")),
    };
    let mut parts = Vec::new();
    if let Some(name) = a.value("interface") {
        parts.push(format!("iifname {}", interface(Some(name))));
    } else if let Some(vlan) = a.number("vlan")? {
        parts.push(format!("iifname <interface>.{vlan}"));
    }
    if let Some(given) = a.value("srcMac") {
        parts.push(format!("ether saddr {}", mac(given)?));
    }
    addresses(a, family, &mut parts)?;
    transport(a, family, &mut parts)?;
    let priority = a.number("priority")?.map_or_else(String::new, |p| format!(", priority {p}"));
    Ok(rule(&parts, action, &format!("{}{priority}", a.word(0)?)))
}

/// `add ns simpleacl NAME DENY -srcIP ADDRESS [-destPort PORT -protocol TCP]`
fn simple(a: &Arguments, family: Family) -> Result<OnHost, NoCommand> {
    if a.value("TTL").is_some() {
        return Err(NoCommand::NoEqual("it ends by itself after its TTL: use an nft set with a timeout"));
    }
    let mut parts = Vec::new();
    addresses(a, family, &mut parts)?;
    transport(a, family, &mut parts)?;
    Ok(rule(&parts, "drop", a.word(0)?))
}

fn rule(parts: &[String], action: &str, comment: &str) -> OnHost {
    let safe = |c: char| if c.is_ascii_alphanumeric() || " ,._:@=#-".contains(c) { c } else { '_' };
    let comment: String = comment.chars().map(safe).take(COMMENT).collect();
    let parts = parts.join(" ");
    OnHost {
        first: ACL_FIRST,
        commands: vec![format!("nft add rule inet filter input {parts} {action} comment '\"{comment}\"'")],
    }
}

/// Without any, the family alone: an IPv4 list says nothing of IPv6.
fn addresses(a: &Arguments, family: Family, parts: &mut Vec<String>) -> Result<(), NoCommand> {
    let (word, source, destination) = match family {
        Family::V4 => ("ip", "srcIP", "destIP"),
        Family::V6 => ("ip6", "srcIPv6", "destIPv6"),
    };
    let before = parts.len();
    for (option, side) in [(source, "saddr"), (destination, "daddr")] {
        if let Some(condition) = condition(a, option)? {
            let range = condition.range(|text| match (ip(text)?, family) {
                (ip @ IpAddr::V4(_), Family::V4) | (ip @ IpAddr::V6(_), Family::V6) => Ok(ip),
                _ => Err(NOT_READ),
            })?;
            parts.push(format!("{word} {side} {}{range}", condition.not()));
        }
    }
    if parts.len() == before {
        parts.push(format!("meta nfproto {}", if family == Family::V4 { "ipv4" } else { "ipv6" }));
    }
    Ok(())
}

fn transport(a: &Arguments, family: Family, parts: &mut Vec<String>) -> Result<(), NoCommand> {
    let protocol = protocol(a)?;
    let before = parts.len();
    let header = match protocol {
        Some(TCP) => "tcp",
        Some(UDP) => "udp",
        Some(SCTP) => "sctp",
        _ => "th",
    };
    for (option, side) in [("srcPort", "sport"), ("destPort", "dport")] {
        if let Some(condition) = condition(a, option)? {
            let range = condition.range(|text| text.parse::<u16>().map_err(|_| NOT_READ))?;
            if header == "th" && parts.len() == before {
                parts.push("meta l4proto '{ tcp, udp }'".to_owned());
            }
            parts.push(format!("{header} {side} {}{range}", condition.not()));
        }
    }
    if a.values("established").is_some() {
        parts.push("'tcp flags & (ack | rst) != 0'".to_owned());
    }
    if let Some(kind) = a.number("icmpType")? {
        let word = if family == Family::V4 { "icmp" } else { "icmpv6" };
        parts.push(format!("{word} type {kind}"));
        if let Some(code) = a.number("icmpCode")? {
            parts.push(format!("{word} code {code}"));
        }
    }
    if let Some(number) = protocol.filter(|_| parts.len() == before) {
        parts.push(format!("meta l4proto {number}"));
    }
    Ok(())
}

/// The number of the protocol that a line names.
pub(super) fn protocol(a: &Arguments) -> Result<Option<u32>, NoCommand> {
    match a.value("protocol") {
        None => a.number("protocolNumber"),
        Some(name) => PROTOCOLS
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, number)| Some(*number))
            .ok_or(NoCommand::NoEqual("its protocol has no number here; give -protocolNumber")),
    }
}

/// `-srcIP [=|!=] FIRST[-LAST]`
pub(super) struct Condition<'w> {
    /// Is it about all others?
    pub(super) negated: bool,
    /// `FIRST` or `FIRST-LAST`.
    pub(super) text: &'w str,
}

pub(super) fn condition<'w>(a: &Arguments<'w>, option: &str) -> Result<Option<Condition<'w>>, NoCommand> {
    let Some(values) = a.values(option) else { return Ok(None) };
    let (negated, text) = match *values {
        [text] => (false, text),
        ["=", text] => (false, text),
        ["!=", text] => (true, text),
        [word, text] if word.eq_ignore_ascii_case("EQ") => (false, text),
        [word, text] if word.eq_ignore_ascii_case("NEQ") => (true, text),
        _ => return Err(NOT_READ),
    };
    Ok(Some(Condition { negated, text }))
}

impl Condition<'_> {
    /// One value or two with a hyphen, each as `read` understands it.
    fn range<T: std::fmt::Display>(
        &self,
        read: impl Fn(&str) -> Result<T, NoCommand>,
    ) -> Result<String, NoCommand> {
        match self.text.split_once('-') {
            None => Ok(read(self.text)?.to_string()),
            Some((first, last)) => Ok(format!("{}-{}", read(first)?, read(last)?)),
        }
    }

    fn not(&self) -> &'static str {
        if self.negated { "!= " } else { "" }
    }
}

fn rnat(address: &str, mask: &str, to: &[&str]) -> Result<OnHost, NoCommand> {
    let (address, length) = network(address, mask)?;
    let to: Vec<IpAddr> = to.iter().map(|text| ip(text)).collect::<Result<_, _>>()?;
    let action = match &to[..] {
        [] => "masquerade".to_owned(),
        [one] => format!("snat to {one}"),
        several => {
            let map: Vec<String> = several.iter().enumerate().map(|(n, ip)| format!("{n} : {ip}")).collect();
            format!("snat to numgen inc mod {} map '{{ {} }}'", several.len(), map.join(", "))
        }
    };
    Ok(OnHost {
        first: RNAT_FIRST,
        commands: vec![format!("nft add rule ip nat postrouting ip saddr {address}/{length} {action}")],
    })
}

const ACL_FIRST: &[&str] = &[
    "nft add table inet filter",
    "nft add chain inet filter input '{ type filter hook input priority filter; policy accept; }'",
];
const RNAT_FIRST: &[&str] = &[
    "nft add table ip nat",
    "nft add chain ip nat postrouting '{ type nat hook postrouting priority srcnat; }'",
];
const INAT_FIRST: &[&str] = &[
    "nft add table ip nat",
    "nft add chain ip nat prerouting '{ type nat hook prerouting priority dstnat; }'",
];
const RNAT_OF_ACL: NoCommand = NoCommand::NoEqual(
    "it goes with an access list or another line: add snat to a rule with the conditions of that one",
);
/// Longest comment, in characters; nft takes 128.
const COMMENT: usize = 100;

pub(super) const TCP: u32 = 6;
pub(super) const UDP: u32 = 17;
const SCTP: u32 = 132;

/// Assigned numbers of the protocols that the appliance calls by name.
const PROTOCOLS: &[(&str, u32)] = &[
    ("ICMP", 1),
    ("IGMP", 2),
    ("IPIP", 4),
    ("TCP", TCP),
    ("EGP", 8),
    ("IGP", 9),
    ("UDP", UDP),
    ("RDP", 27),
    ("IPv6", 41),
    ("RSVP", 46),
    ("GRE", 47),
    ("ESP", 50),
    ("AH", 51),
    ("ICMPV6", 58),
    ("EIGRP", 88),
    ("OSPFIGP", 89),
    ("PIM", 103),
    ("VRRP", 112),
    ("L2TP", 115),
    ("ISIS", 124),
    ("SCTP", SCTP),
];
