//! Addresses, routes and neighbours.

use super::arguments::{Arguments, ip, ip4, mac, network, network6};
use super::{NOT_READ, NoCommand, OnHost, interface};

/// The management address and its VLAN.
pub(super) fn set_ns_config(a: &Arguments) -> Result<OnHost, NoCommand> {
    let mut commands = Vec::new();
    if let (Some(address), Some(mask)) = (a.value("IPAddress"), a.value("netmask")) {
        let (address, length) = network(address, mask)?;
        commands.push(format!("ip address add {address}/{length} dev <interface>"));
    }
    if let Some(vlan) = a.number("nsvlan")?
        && !a.is("tagged", "NO")
    {
        let interface = interface(a.value("ifnum"));
        commands.push(format!("ip link add link {interface} name {interface}.{vlan} type vlan id {vlan}"));
    }
    if let Some(zone) = a.value("timezone").and_then(|text| text.rsplit('-').next()) {
        commands.push(format!("timedatectl set-timezone {}", super::quoted(zone)));
    }
    match commands.is_empty() {
        true if a.value("nsvlan").is_some() => {
            Err(NoCommand::NothingToDo("untagged frames need no VLAN on the host"))
        }
        true => Err(super::NO_EQUAL),
        false => OnHost::of(commands),
    }
}

pub(super) fn add_ip(a: &Arguments) -> Result<OnHost, NoCommand> {
    let (address, length) = network(a.word(0)?, a.word(1)?)?;
    OnHost::of([format!("ip address add {address}/{length} dev {}", of_vlan(a)?)])
}

pub(super) fn add_ip6(a: &Arguments) -> Result<OnHost, NoCommand> {
    let (address, length) = network6(a.word(0)?)?;
    OnHost::of([format!("ip address add {address}/{length} dev {}", of_vlan(a)?)])
}

pub(super) fn rm_ip(a: &Arguments) -> Result<OnHost, NoCommand> {
    let text = a.word(0)?;
    let address = ip(text.split('/').next().unwrap_or(text))?;
    OnHost::of([format!("ip address del {address} dev <interface>")])
}

/// `add route 10.1.0.0 255.255.0.0 10.0.0.1`; a gateway `null` throws away what goes there.
pub(super) fn add_route(a: &Arguments) -> Result<OnHost, NoCommand> {
    let target = target(network(a.word(0)?, a.word(1)?)?);
    route("ip route add", &target, a, |gateway| ip4(gateway).map(|ip| ip.to_string()))
}

pub(super) fn add_route6(a: &Arguments) -> Result<OnHost, NoCommand> {
    let (address, length) = network6(a.word(0)?)?;
    let target = if length == 0 { "default".to_owned() } else { format!("{address}/{length}") };
    // The gateway is the last word; in old forms VLAN and interface stand before it.
    let gateway = a.words().last().filter(|_| a.words().len() > 1).ok_or(NOT_READ)?;
    let gateway = ip(gateway)?;
    let device = if a.value("vlan").is_some() { format!(" dev {}", of_vlan(a)?) } else { String::new() };
    OnHost::of([format!("ip route add {target} via {gateway}{device}{}", metric(a)?)])
}

pub(super) fn rm_route(a: &Arguments) -> Result<OnHost, NoCommand> {
    let target = target(network(a.word(0)?, a.word(1)?)?);
    match a.word(2) {
        Ok(_) => route("ip route del", &target, a, |gateway| ip4(gateway).map(|ip| ip.to_string())),
        Err(_) => OnHost::of([format!("ip route del {target}")]),
    }
}

pub(super) fn rm_route6(a: &Arguments) -> Result<OnHost, NoCommand> {
    let (address, length) = network6(a.word(0)?)?;
    OnHost::of([format!("ip route del {address}/{length}")])
}

pub(super) fn add_arp(a: &Arguments) -> Result<OnHost, NoCommand> {
    let address = ip4(a.value("IPAddress").ok_or(NOT_READ)?)?;
    let mac = mac(a.value("mac").ok_or(NOT_READ)?)?;
    neighbour(&address.to_string(), &mac, &interface(a.value("ifnum")))
}

/// `add nd6 2001:db8::1 02:00:00:00:00:01 1/1`
pub(super) fn add_nd6(a: &Arguments) -> Result<OnHost, NoCommand> {
    let (address, _) = network6(a.word(0)?)?;
    neighbour(&address.to_string(), &mac(a.word(1)?)?, &interface(a.word(2).ok().or(a.value("ifnum"))))
}

fn neighbour(address: &str, mac: &str, interface: &str) -> Result<OnHost, NoCommand> {
    OnHost::of([format!("ip neighbour add {address} lladdr {mac} nud permanent dev {interface}")])
}

fn route(
    verb: &str,
    target: &str,
    a: &Arguments,
    gateway: impl Fn(&str) -> Result<String, NoCommand>,
) -> Result<OnHost, NoCommand> {
    let metric = metric(a)?;
    let given = a.word(2)?;
    OnHost::of([match given.eq_ignore_ascii_case("null") {
        true => format!("{verb} blackhole {target}{metric}"),
        false => format!("{verb} {target} via {}{metric}", gateway(given)?),
    }])
}

fn target((address, length): (std::net::Ipv4Addr, u32)) -> String {
    match length {
        0 => "default".to_owned(),
        _ => format!("{address}/{length}"),
    }
}

/// The appliance prefers the smaller distance, then the smaller cost.
fn metric(a: &Arguments) -> Result<String, NoCommand> {
    let metric = match a.number("distance")? {
        Some(distance) => Some(distance),
        None => a.number("cost")?,
    };
    Ok(metric.map_or_else(String::new, |metric| format!(" metric {metric}")))
}

/// VLAN 1 is what arrives untagged.
fn of_vlan(a: &Arguments) -> Result<String, NoCommand> {
    Ok(match a.number("vlan")? {
        None | Some(0 | 1) => "<interface>".to_owned(),
        Some(vlan) => format!("<interface>.{vlan}"),
    })
}
