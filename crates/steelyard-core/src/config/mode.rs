//! `ns mode`: how the appliance forwards packets, and what holds for every service. Kept as it was given.

use std::collections::BTreeMap;

use super::attribute::{Effect, Kind, Place, Row, Words};

/// The modes that were switched on or off.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Modes(BTreeMap<&'static str, bool>);

impl Modes {
    /// Was the mode of this acronym switched on?
    pub fn has(&self, acronym: &str) -> bool {
        self.0.get(acronym) == Some(&true)
    }

    /// The acronyms of all that NetScaler has, in its order.
    pub fn known() -> impl Iterator<Item = &'static str> {
        ACRONYMS.iter().copied()
    }

    /// The acronyms of what was switched on or off, in the order in which NetScaler lists them.
    pub fn switched(&self, on: bool) -> impl Iterator<Item = &'static str> + '_ {
        Modes::known().filter(move |acronym| self.0.get(acronym) == Some(&on))
    }

    /// Switches modes on or off.
    pub(crate) fn switch(&mut self, acronyms: &[&'static str], on: bool) {
        self.0.extend(acronyms.iter().map(|acronym| (*acronym, on)));
    }

    /// What this version does with a mode: CKA acts; two others would hold for every service, too; the rest are about how
    /// packets are forwarded, which is the host's affair here.
    pub fn effect(acronym: &str) -> Effect {
        match acronym {
            "CKA" => Effect::Acts,
            "USIP" | "TCPB" => Effect::Traffic,
            _ => Effect::Inert,
        }
    }
}

/// The words of `enable ns mode`.
pub(crate) static MODE: Row = Row::new(
    Place::Required,
    "Mode",
    "mode",
    Kind::WordList(Words { carried: ACRONYMS, aliases: LONG_NAMES, not_carried: &[] }),
    "Modes to enable or disable, by acronym or long name.",
)
.inert();

/// In the order of saved files.
const ACRONYMS: &[&str] = &[
    "FR",
    "L2",
    "L3",
    "USIP",
    "CKA",
    "TCPB",
    "MBF",
    "Edge",
    "USNIP",
    "SRADV",
    "DRADV",
    "IRADV",
    "SRADV6",
    "DRADV6",
    "PMTUD",
    "MediaClassification",
    "RISE_APBR",
    "RISE_RHI",
    "BridgeBPDUs",
    "ULFD",
    "SINGLE_IP",
];

const LONG_NAMES: &[(&str, &str)] = &[
    ("FastRamp", "FR"),
    ("L2mode", "L2"),
    ("UseSourceIP", "USIP"),
    ("ClientKeepAlive", "CKA"),
    ("TCPBuffering", "TCPB"),
    ("MACbasedforwarding", "MBF"),
    ("L3mode", "L3"),
];
