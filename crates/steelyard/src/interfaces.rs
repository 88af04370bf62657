//! The host's network interfaces and their counters, as the kernel shows them in `/sys/class/net`.
//!
//! Owns reading them. A file that is missing or holds no number counts as 0.

use std::fs;
use std::path::{Path, PathBuf};

/// A network interface as it is now.
pub struct Interface {
    /// The kernel's name of it.
    pub name: String,
    /// Its hardware address.
    pub mac: String,
    /// Its largest packet.
    pub mtu: u64,
    /// Is it switched on?
    pub enabled: bool,
    /// Does it carry frames?
    pub has_link: bool,
    /// In Mbit/s; `None` where the driver does not say.
    pub speed: Option<u64>,
    /// Is it the loopback interface?
    pub is_loopback: bool,
    path: PathBuf,
}

/// Those that are switched on or are hardware, by name; at most [`MOST`].
pub fn all() -> Vec<Interface> {
    let Ok(entries) = fs::read_dir(FOLDER) else { return Vec::new() };
    let named = entries.flatten().filter_map(|entry| Interface::read(entry.path()));
    let mut all: Vec<Interface> = named.take(MOST).collect();
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all
}

impl Interface {
    /// One of its counters, by the kernel's name: `rx_bytes`, `tx_errors`.
    pub fn counter(&self, name: &str) -> u64 {
        number(&self.path.join("statistics").join(name)).unwrap_or(0)
    }

    fn read(path: PathBuf) -> Option<Interface> {
        let flags = text(&path.join("flags")).unwrap_or_default();
        let flags = u64::from_str_radix(flags.trim_start_matches("0x"), 16).unwrap_or(0);
        let enabled = flags & IFF_UP != 0;
        if !enabled && !path.join("device").exists() {
            return None;
        }
        let number = |name: &str| number(&path.join(name));
        Some(Interface {
            name: path.file_name()?.to_str()?.to_owned(),
            mac: text(&path.join("address")).unwrap_or_default(),
            mtu: number("mtu").unwrap_or(0),
            enabled,
            has_link: enabled && number("carrier") == Some(1),
            speed: number("speed"),
            is_loopback: flags & IFF_LOOPBACK != 0,
            path,
        })
    }
}

fn text(path: &Path) -> Option<String> {
    fs::read_to_string(path).ok().map(|text| text.trim().to_owned())
}

fn number(path: &Path) -> Option<u64> {
    text(path)?.parse().ok()
}

const FOLDER: &str = "/sys/class/net";
const MOST: usize = 1_024;
const IFF_UP: u64 = 0x1;
const IFF_LOOPBACK: u64 = 0x8;
