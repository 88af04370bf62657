//! VLANs, interfaces, channels, tunnels and bridges.

use super::arguments::{Arguments, ip4, network, network6};
use super::{NOT_READ, NoCommand, OnHost, interface, quoted};

pub(super) fn add_vlan(a: &Arguments) -> Result<OnHost, NoCommand> {
    let vlan = number(a.word(0)?)?;
    let mut commands =
        vec![format!("ip link add link <interface> name <interface>.{vlan} type vlan id {vlan}")];
    commands.extend(vlan_settings(a, vlan)?);
    OnHost::of(commands)
}

pub(super) fn set_vlan(a: &Arguments) -> Result<OnHost, NoCommand> {
    settings(vlan_settings(a, number(a.word(0)?)?)?)
}

fn vlan_settings(a: &Arguments, vlan: u32) -> Result<Vec<String>, NoCommand> {
    let mut commands = Vec::new();
    if let Some(mtu) = a.number("mtu")?.filter(|mtu| *mtu > 0) {
        commands.push(format!("ip link set dev <interface>.{vlan} mtu {mtu}"));
    }
    if let Some(alias) = a.value("aliasName").filter(|alias| !alias.is_empty()) {
        commands.push(format!("ip link set dev <interface>.{vlan} alias {}", quoted(alias)));
    }
    Ok(commands)
}

/// Tagged interfaces carry the VLAN by a link of their own; on the others it arrives without a tag.
pub(super) fn bind_vlan(a: &Arguments) -> Result<OnHost, NoCommand> {
    let vlan = number(a.word(0)?)?;
    let mut commands = Vec::new();
    if let Some([address, rest @ ..]) = a.values("IPAddress") {
        let (address, length) = match rest {
            [mask, ..] => network(address, mask).map(|(ip, length)| (ip.to_string(), length))?,
            [] => network6(address).map(|(ip, length)| (ip.to_string(), length))?,
        };
        commands.push(format!("ip address add {address}/{length} dev <interface>.{vlan}"));
    }
    let interfaces = a.values("ifnum").unwrap_or_default();
    if a.values("tagged").is_some() {
        commands.extend(interfaces.iter().map(|name| {
            let interface = interface(Some(name));
            format!("ip link add link {interface} name {interface}.{vlan} type vlan id {vlan}")
        }));
    }
    match commands.is_empty() {
        true if interfaces.is_empty() => Err(NOT_READ),
        true => Err(NoCommand::NothingToDo(
            "the VLAN arrives untagged on that interface: use the interface itself, no VLAN is needed",
        )),
        false => OnHost::of(commands),
    }
}

pub(super) fn rm_vlan(a: &Arguments) -> Result<OnHost, NoCommand> {
    OnHost::of([format!("ip link del <interface>.{}", number(a.word(0)?)?)])
}

/// What a saved file says of each interface is mostly the appliance's own: rings, high availability, throughput.
pub(super) fn set_interface(a: &Arguments) -> Result<OnHost, NoCommand> {
    let interface = interface(Some(a.word(0)?));
    let mut commands = link_settings(a, &interface)?;
    if let Some(key) = a.number("lacpKey")?.filter(|_| !a.is("lacpMode", "DISABLED")) {
        commands.push(format!("ip link set dev {interface} master bond{key}"));
    }
    let mut ethtool = Vec::new();
    if let Some(speed) = a.number("speed").ok().flatten() {
        ethtool.push(format!("speed {speed}"));
    }
    if let Some(duplex) =
        a.value("duplex").map(str::to_ascii_lowercase).filter(|d| ["full", "half"].contains(&d.as_str()))
    {
        ethtool.push(format!("duplex {duplex}"));
    }
    if a.is("autoneg", "DISABLED") {
        ethtool.push("autoneg off".to_owned());
    }
    if !ethtool.is_empty() {
        commands.push(format!("ethtool -s {interface} {}", ethtool.join(" ")));
    }
    settings(commands)
}

pub(super) fn enable_interface(a: &Arguments) -> Result<OnHost, NoCommand> {
    OnHost::of([format!("ip link set dev {} up", interface(Some(a.word(0)?)))])
}

pub(super) fn disable_interface(a: &Arguments) -> Result<OnHost, NoCommand> {
    OnHost::of([format!("ip link set dev {} down", interface(Some(a.word(0)?)))])
}

/// A channel `LA/1` is a static aggregate; a host's bond of the kind `balance-xor` is the same.
pub(super) fn add_channel(a: &Arguments) -> Result<OnHost, NoCommand> {
    let bond = bond(a.word(0)?)?;
    let mut commands = vec![format!("ip link add name {bond} type bond mode balance-xor")];
    commands.extend(a.values("ifnum").unwrap_or_default().iter().map(|name| member(name, &bond)));
    commands.extend(link_settings(a, &bond)?);
    OnHost::of(commands)
}

pub(super) fn bind_channel(a: &Arguments) -> Result<OnHost, NoCommand> {
    let bond = bond(a.word(0)?)?;
    OnHost::of(a.words()[1..].iter().map(|name| member(name, &bond)))
}

pub(super) fn set_channel(a: &Arguments) -> Result<OnHost, NoCommand> {
    let bond = bond(a.word(0)?)?;
    settings(link_settings(a, &bond)?)
}

/// Only a bond that speaks LACP has a system priority.
pub(super) fn set_lacp(a: &Arguments) -> Result<OnHost, NoCommand> {
    match a.number("sysPriority")? {
        None | Some(DEFAULT_LACP_PRIORITY) => {
            Err(NoCommand::NothingToDo("nothing to do: it is the default, and only LACP uses it"))
        }
        Some(priority) => {
            OnHost::of([format!("ip link set dev <bond> type bond ad_actor_sys_prio {priority}")])
        }
    }
}

pub(super) fn add_vxlan(a: &Arguments) -> Result<OnHost, NoCommand> {
    let id = number(a.word(0)?)?;
    let port = a.number("port")?.unwrap_or(4789);
    OnHost::of([format!("ip link add name vxlan{id} type vxlan id {id} dstport {port} dev <interface>")])
}

pub(super) fn add_bridge_group(a: &Arguments) -> Result<OnHost, NoCommand> {
    OnHost::of([format!("ip link add name bridge{} type bridge", number(a.word(0)?)?)])
}

pub(super) fn bind_bridge_group(a: &Arguments) -> Result<OnHost, NoCommand> {
    let id = number(a.word(0)?)?;
    let vlan = a
        .number("vlan")?
        .ok_or(NoCommand::NoEqual("addresses of a bridge group: give them to the bridge"))?;
    OnHost::of([format!("ip link set dev <interface>.{vlan} master bridge{id}")])
}

/// `add ipTunnel NAME REMOTE MASK LOCAL [-protocol GRE]`
pub(super) fn add_tunnel(a: &Arguments) -> Result<OnHost, NoCommand> {
    let (name, remote, local) = (quoted(a.word(0)?), ip4(a.word(1)?)?, ip4(a.word(3)?)?);
    let mode = match a.value("protocol") {
        None => "ipip",
        Some(p) if p.eq_ignore_ascii_case("IPIP") => "ipip",
        Some(p) if p.eq_ignore_ascii_case("GRE") => "gre",
        Some(_) => {
            return Err(NoCommand::NoEqual("a tunnel of that protocol is made with strongSwan or by hand"));
        }
    };
    OnHost::of([format!("ip tunnel add {name} mode {mode} remote {remote} local {local}")])
}

fn link_settings(a: &Arguments, interface: &str) -> Result<Vec<String>, NoCommand> {
    let mut commands = Vec::new();
    if let Some(mtu) = a.number("mtu")? {
        commands.push(format!("ip link set dev {interface} mtu {mtu}"));
    }
    if let Some(alias) = a.value("ifAlias").filter(|alias| !alias.trim().is_empty()) {
        commands.push(format!("ip link set dev {interface} alias {}", quoted(alias)));
    }
    if a.is("state", "DISABLED") {
        commands.push(format!("ip link set dev {interface} down"));
    }
    Ok(commands)
}

fn settings(commands: Vec<String>) -> Result<OnHost, NoCommand> {
    match commands.is_empty() {
        true => Err(NoCommand::NothingToDo("nothing to do: the appliance's own settings of the interface")),
        false => OnHost::of(commands),
    }
}

fn member(name: &str, bond: &str) -> String {
    format!("ip link set dev {} master {bond}", interface(Some(name)))
}

fn bond(channel: &str) -> Result<String, NoCommand> {
    let number = channel.split_once('/').map(|(_, number)| number).unwrap_or(channel);
    Ok(format!("bond{}", self::number(number)?))
}

fn number(text: &str) -> Result<u32, NoCommand> {
    text.parse().map_err(|_| NOT_READ)
}

const DEFAULT_LACP_PRIORITY: u32 = 32_768;
