//! Why a virtual server serves nobody, or not everybody, in words for people.
//!
//! Owns the words and what they advise. Decides nothing: the state is core's.

use steelyard_core::vserver::{Closed, VirtualServer};

use crate::expose::list;
use crate::fault::reason;
use crate::listing::quoted;
use crate::worker::BindFailure;

/// Why nobody is let in, the most general reason first, and what to do.
pub(super) fn why_closed(vserver: &VirtualServer) -> String {
    let mut reasons = Vec::new();
    let mut guards = Vec::new();
    for closed in &vserver.closed {
        match closed {
            Closed::FeatureOff => {
                reasons
                    .push("load balancing is off: 'enable ns feature LB', or --assume-features".to_owned());
            }
            Closed::Type(name) => reasons.push(format!("this version does not carry {name}")),
            Closed::Wildcard => reasons.push("this version serves no port *".to_owned()),
            Closed::Guarded(guard) => guards.push(guard),
        }
    }
    if !guards.is_empty() {
        let name = quoted(&vserver.name);
        let guards = list(&guards);
        reasons.push(format!(
            "exposure: this version does not act on {guards}; --expose {name} opens it all the same"
        ));
    }
    reasons.join("; ")
}

pub(super) fn below_threshold(vserver: &VirtualServer) -> String {
    let (percent, threshold) = (vserver.picker.standing().percent(), vserver.by_state.health_threshold);
    format!("{percent} % of its services are UP, less than the {threshold} % of -healthThreshold")
}

/// What becomes of the clients of a virtual server that is not UP, unless they are refused.
pub(super) fn meanwhile(vserver: &VirtualServer) -> Option<String> {
    let by_state = &vserver.by_state;
    if !vserver.is_open() {
        return None;
    }
    let backup = by_state.backups.iter().find(|backup| backup.is_up());
    let backup = backup.map(|backup| format!("its backup {} serves", quoted(&backup.name)));
    let circle = if vserver.redirects_to_itself() { ", which is this virtual server itself" } else { "" };
    let redirect = |url| format!("clients are redirected to {url}{circle}");
    backup.or_else(|| by_state.redirect_url.as_ref().map(redirect))
}

pub(super) fn not_open(failure: &BindFailure) -> String {
    format!("{}: cannot listen on {}: {}", failure.vserver, failure.address, reason(&failure.error))
}

/// `disablePrimaryOnDown`.
pub(super) const BARRED: &str = "a backup has taken its place: it waits to be enabled by hand";
/// Shown of a virtual server that is open all the same: once the host has the address, it is served there.
pub(super) const ABSENT: &str = "address not on this host";
