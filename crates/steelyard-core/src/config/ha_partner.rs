//! `HA node`: the partners of an appliance, and what it does about them itself. Kept, shown and saved: one instance serves by
//! itself here.

use std::net::IpAddr;

use super::attribute::{Kind, Place, Row};
use super::make::resource;
use super::one_of;
use super::table::known_by_name;

resource! {
    /// A partner.
    pub struct HaPartner "HA node" {
        /// Number of the partner.
        name: String = String::new(), Key("id", "id", Kind::Number { min: 1, max: 64 }).at_add().inert();
        /// Its address.
        ip: Option<IpAddr> = None, Required("IPAddress", "ipaddress", Kind::Ip).at_add().inert();
        /// ENABLED: the two have networks of their own.
        inc: bool = false, Option("inc", "inc", Kind::Switch).at_add().inert();
    }
}

known_by_name!(HaPartner);

resource! {
    /// What the appliance itself does about its partners.
    pub struct HaLocal "HA node" {
        /// Which part it takes.
        status: &'static str = "ENABLED",
            Option("haStatus", "hastatus", one_of(&["ENABLED", "STAYSECONDARY", "DISABLED", "STAYPRIMARY"])).inert();
        /// DISABLED: the configuration is not copied as a whole.
        sync: bool = true, Option("haSync", "hasync", Kind::Switch).inert();
        /// DISABLED: commands are not passed on.
        propagation: bool = true, Option("haProp", "haprop", Kind::Switch).inert();
        /// Milliseconds between two signs of life.
        hello_interval_ms: u32 = 200,
            Option("helloInterval", "hellointerval", Kind::Number { min: 200, max: 1000 }).inert();
        /// Seconds without one after which a partner counts as gone.
        dead_interval_s: u32 = 3, Option("deadInterval", "deadinterval", Kind::Number { min: 3, max: 60 }).inert();
        /// ON: one of two stays primary although neither is sound.
        fail_safe: bool = false, Option("failSafe", "failsafe", Kind::OnOff).inert();
        /// Changes of part after which no more follow; 0 for any number.
        max_flips: u32 = 0, Option("maxFlips", "maxflips", Kind::Number { min: 0, max: u32::MAX }).inert();
        /// Seconds in which that many may happen.
        max_flip_time_s: u32 = 0, Option("maxFlipTime", "maxfliptime", Kind::Number { min: 0, max: u32::MAX }).inert();
        /// VLAN for what the two tell each other.
        sync_vlan: Option<u32> = None, Option("syncvlan", "syncvlan", Kind::Number { min: 1, max: 4094 }).inert();
        /// ENABLED: a copy counts as made only if all of it was taken over.
        strict_sync: bool = false, Option("syncStatusStrictMode", "syncstatusstrictmode", Kind::Switch).inert();
    }
    plain {
        /// Routes without which it counts as unsound, in binding order.
        route_monitors: Vec<RouteMonitor> = Vec::new();
    }
}

resource! {
    /// A route without which the appliance counts as unsound.
    pub struct RouteMonitor "HA node" {
        /// Network that the route leads to; * for any.
        network: Option<IpAddr> = None, Option("routeMonitor", "routemonitor", Kind::IpOrAny).inert();
        /// Mask of that network.
        netmask: Option<IpAddr> = None, SecondWord("netmask", "netmask", Kind::Ip).inert();
    }
}

/// Which partner a command is about that need not say so.
pub(crate) static PARTNER: Row = Row::new(
    Place::Key,
    "id",
    "id",
    Kind::Number { min: 0, max: 64 },
    "Number of a partner; 0 is the appliance itself.",
)
.at_add();
