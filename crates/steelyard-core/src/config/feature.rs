//! `ns feature`: which parts of NetScaler the configuration has switched on. The set is kept as it was given.

use std::collections::BTreeSet;

use super::attribute::{Kind, Place, Row, Words};

/// The features that are enabled.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Features(BTreeSet<&'static str>);

impl Features {
    /// Load balancing: without it no virtual server is active.
    pub const LB: &'static str = "LB";
    /// Content switching.
    pub const CS: &'static str = "CS";
    /// TLS.
    pub const SSL: &'static str = "SSL";

    /// Is the feature of this acronym (in NetScaler's spelling, as [`Features::LB`]) enabled?
    pub fn has(&self, acronym: &str) -> bool {
        self.0.contains(acronym)
    }

    /// The acronyms of all that NetScaler has, in its order.
    pub fn known() -> impl Iterator<Item = &'static str> {
        ACRONYMS.iter().copied()
    }

    /// The acronyms, in the order in which NetScaler lists them.
    pub fn iter(&self) -> impl Iterator<Item = &'static str> + '_ {
        Features::known().filter(|acronym| self.has(acronym))
    }

    /// Switches features on or off.
    pub(crate) fn switch(&mut self, acronyms: &[&'static str], on: bool) {
        for acronym in acronyms {
            if on {
                self.0.insert(acronym);
            } else {
                self.0.remove(acronym);
            }
        }
    }
}

impl FromIterator<&'static str> for Features {
    fn from_iter<I: IntoIterator<Item = &'static str>>(acronyms: I) -> Features {
        Features(acronyms.into_iter().collect())
    }
}

/// The words of `enable ns feature`.
pub(crate) static FEATURE: Row = Row::new(
    Place::Required,
    "feature",
    "feature",
    Kind::WordList(Words { carried: ACRONYMS, aliases: LONG_NAMES, not_carried: &[] }),
    "Features to enable or disable, by acronym or long name.",
);

const ACRONYMS: &[&str] = &[
    "WL",
    "SP",
    "LB",
    "CS",
    "CR",
    "SC",
    "CMP",
    "PQ",
    "SSL",
    "GSLB",
    "HDOSP",
    "CF",
    "IC",
    "SSLVPN",
    "AAA",
    "OSPF",
    "RIP",
    "BGP",
    "REWRITE",
    "IPv6PT",
    "AppFw",
    "RESPONDER",
    "HTMLInjection",
    "push",
    "AppFlow",
    "CloudBridge",
    "ISIS",
    "CH",
    "AppQoE",
    "ContentAccelerator",
    "RISE",
    "feo",
    "LSN",
    "RDPProxy",
    "Rep",
    "URLFiltering",
    "VideoOptimization",
    "ForwardProxy",
    "SSLInterception",
    "AdaptiveTCP",
    "CQA",
    "CI",
    "Bot",
    "APIGateway",
];

const LONG_NAMES: &[(&str, &str)] = &[
    ("WebLogging", "WL"),
    ("SurgeProtection", "SP"),
    ("LoadBalancing", "LB"),
    ("ContentSwitching", "CS"),
    ("CacheRedirection", "CR"),
    ("SureConnect", "SC"),
    ("CompressionControl", "CMP"),
    ("PriorityQueuing", "PQ"),
    ("SSLOffloading", "SSL"),
    ("GlobalServerLoadBalancing", "GSLB"),
    ("HttpDoSProtection", "HDOSP"),
    ("ContentFiltering", "CF"),
    ("IntegratedCaching", "IC"),
    ("CallHome", "CH"),
    ("FrontEndOptimization", "feo"),
    ("LargeScaleNAT", "LSN"),
    ("Reputation", "Rep"),
    ("ContentInspection", "CI"),
];
