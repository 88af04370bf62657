//! Policy-based routes as rules of `ip`, each with a table of its own for the next hop.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::arguments::{Arguments, ip};
use super::filter::{Condition, condition, protocol};
use super::{NOT_READ, NoCommand, OnHost, interface};

pub(super) fn add_pbr(a: &Arguments) -> Result<OnHost, NoCommand> {
    pbr(a, "ip", ["srcIP", "destIP"])
}

pub(super) fn add_pbr6(a: &Arguments) -> Result<OnHost, NoCommand> {
    pbr(a, "ip -6", ["srcIPv6", "destIPv6"])
}

/// ALLOW goes to the next hop, DENY by the usual routes. A range of addresses is as many rules as it has prefixes.
fn pbr(a: &Arguments, ip_command: &str, options: [&str; 2]) -> Result<OnHost, NoCommand> {
    if a.is("state", "DISABLED") {
        return Err(NoCommand::NothingToDo("nothing to do: it is disabled"));
    }
    let allow = a.word(1)?.eq_ignore_ascii_case("ALLOW");
    let priority = a
        .number("priority")?
        .ok_or(NoCommand::NoEqual("give it a place among the others: it has no priority"))?;
    if priority >= MAIN_TABLE_RULE {
        return Err(NoCommand::NoEqual(
            "its priority comes after the host's main table; give smaller numbers to all of them",
        ));
    }
    let table = FIRST_TABLE + priority;
    let [sources, destinations] = options.map(|option| side(a, option));
    let (sources, destinations, rest) = (sources?, destinations?, rest(a)?);
    let mut commands = Vec::new();
    for source in &sources {
        for destination in &destinations {
            let (from, to) = (word("from", source), word("to", destination));
            let lookup = if allow { table.to_string() } else { "main".to_owned() };
            commands
                .push(format!("{ip_command} rule add priority {priority}{from}{to}{rest} lookup {lookup}"));
        }
    }
    if allow {
        let hop = ip(a
            .value("nextHop")
            .ok_or(NoCommand::NoEqual("its next hop is no address; give its table a route by hand"))?)?;
        commands.push(format!("{ip_command} route add default via {hop} table {table}"));
    }
    OnHost::of(commands)
}

/// The prefixes of an address condition; one empty text when there is none.
fn side(a: &Arguments, option: &str) -> Result<Vec<String>, NoCommand> {
    match condition(a, option)? {
        None => Ok(vec![String::new()]),
        Some(Condition { negated: true, .. }) => Err(NoCommand::NoEqual(
            "a rule of the host cannot say 'all but' beside other conditions; mark the packets with nft",
        )),
        Some(Condition { text, .. }) => {
            let (first, last) = text.split_once('-').unwrap_or((text, text));
            prefixes(ip(first)?, ip(last)?)
        }
    }
}

fn rest(a: &Arguments) -> Result<String, NoCommand> {
    let mut text = String::new();
    if let Some(name) = a.value("interface") {
        text.push_str(&format!(" iif {}", interface(Some(name))));
    } else if let Some(vlan) = a.number("vlan")? {
        text.push_str(&format!(" iif <interface>.{vlan}"));
    }
    if a.value("srcMac").is_some() {
        return Err(NoCommand::NoEqual(
            "a rule of the host knows no hardware address; mark the packets with nft",
        ));
    }
    if let Some(number) = protocol(a)? {
        text.push_str(&format!(" ipproto {number}"));
    }
    for (option, side) in [("srcPort", "sport"), ("destPort", "dport")] {
        if let Some(Condition { negated, text: ports }) = condition(a, option)? {
            let numbers = ports.split('-').all(|port| port.parse::<u16>().is_ok());
            if negated || !numbers {
                return Err(NOT_READ);
            }
            text.push_str(&format!(" {side} {ports}"));
        }
    }
    Ok(text)
}

fn word(name: &str, prefix: &str) -> String {
    if prefix.is_empty() { String::new() } else { format!(" {name} {prefix}") }
}

/// The fewest prefixes that are exactly the addresses from `first` to `last`.
fn prefixes(first: IpAddr, last: IpAddr) -> Result<Vec<String>, NoCommand> {
    let (mut at, end, width) = match (first, last) {
        (IpAddr::V4(a), IpAddr::V4(b)) => (u128::from(a.to_bits()), u128::from(b.to_bits()), 32),
        (IpAddr::V6(a), IpAddr::V6(b)) => (a.to_bits(), b.to_bits(), 128),
        _ => return Err(NOT_READ),
    };
    let mut found = Vec::new();
    while at <= end {
        let mut bits = at.trailing_zeros().min(width);
        while bits > 0 && (bits == 128 || end - at < (1 << bits) - 1) {
            bits -= 1;
        }
        let address = match width {
            32 => IpAddr::V4(Ipv4Addr::from_bits(at as u32)),
            _ => IpAddr::V6(Ipv6Addr::from_bits(at)),
        };
        found.push(format!("{address}/{}", width - bits));
        match at.checked_add(1 << bits) {
            Some(next) => at = next,
            None => break,
        }
    }
    match found.is_empty() {
        true => Err(NOT_READ),
        false => Ok(found),
    }
}

/// Priority of the rule that asks the host's own routes.
const MAIN_TABLE_RULE: u32 = 32_766;
/// Clear of the tables 253 to 255, which the host has already.
const FIRST_TABLE: u32 = 1_000;
