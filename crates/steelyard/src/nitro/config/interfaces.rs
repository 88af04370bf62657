//! `Interface`: the network interfaces of the host (`spec/nitro.md` 9).

use crate::interfaces::{self, Interface};
use crate::nitro::reply::Reply;
use crate::nitro::resource::Wanted;
use crate::nitro::row::Row;

/// Each that is in use, or the one that is named.
pub fn interface(wanted: &Wanted<'_>) -> Result<Vec<Row>, Reply> {
    let mut all = interfaces::all();
    if let Some(id) = wanted.id {
        all.retain(|interface| interface.name == id);
        if all.is_empty() {
            return Err(wanted.unknown());
        }
    }
    Ok(all.iter().map(|interface| row(wanted, interface)).collect())
}

fn row(wanted: &Wanted<'_>, interface: &Interface) -> Row {
    let bit = |yes: bool| u64::from(yes);
    let speed = interface.speed.map_or_else(|| "AUTO".to_owned(), |speed| speed.to_string());
    let mut row = wanted.row();
    row.text("id", &*interface.name)
        .text("devicename", &*interface.name)
        .text("description", if interface.is_loopback { "loopback" } else { "Linux" })
        .number("mtu", interface.mtu)
        .number("actualmtu", interface.mtu)
        .number("vlan", 1)
        .text("mac", &*interface.mac)
        .text("reqspeed", "AUTO")
        .text("actspeed", speed.clone())
        .text("speed", speed)
        .text("reqduplex", "AUTO")
        .text("actduplex", "FULL")
        .text("actflowctl", "OFF")
        .text("state", if interface.enabled { "ENABLED" } else { "DISABLED" })
        .number("linkstate", bit(interface.has_link))
        .number("intfstate", bit(interface.has_link))
        .text("intftype", if interface.is_loopback { "Loopback" } else { "Host" });
    for (field, counter) in COUNTERS {
        row.number(field, interface.counter(counter));
    }
    row
}

/// NITRO's names of counters, and the kernel's.
const COUNTERS: &[(&str, &str)] = &[
    ("rxpackets", "rx_packets"),
    ("rxbytes", "rx_bytes"),
    ("rxerrors", "rx_errors"),
    ("rxdrops", "rx_dropped"),
    ("txpackets", "tx_packets"),
    ("txbytes", "tx_bytes"),
    ("txerrors", "tx_errors"),
    ("txdrops", "tx_dropped"),
];
