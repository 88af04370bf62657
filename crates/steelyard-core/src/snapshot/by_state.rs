//! From the options of a virtual server to what becomes of its clients by its state.

use std::collections::{BTreeMap, BTreeSet};

use crate::config::{Config, LbVserver, MOST_BACKUPS, ServiceType};
use crate::sorted::Sorted;
use crate::sync::Arc;
use crate::time::SECOND_US;
use crate::vserver::spillover::{Spare, Spillover, Threshold};
use crate::vserver::{ByState, VirtualServer};

/// What becomes of the clients of `vserver`. `built` has its backup, if there is one.
pub(super) fn of(vserver: &LbVserver, built: &Sorted<String, Arc<VirtualServer>>) -> ByState {
    ByState {
        backups: backups(vserver, built),
        redirect_url: redirect_url(vserver),
        health_threshold: vserver.health_threshold,
        spillover: spillover(vserver),
        lets_transactions_end: !vserver.down_state_flush,
        waits_for_enable: vserver.disable_primary_on_down && !vserver.backup_vserver.is_empty(),
    }
}

/// Those of `touched` that are in `config`, each after the backup that it names. Where they name each other in a circle,
/// one stands before its backup, and so is built without it.
pub(super) fn backups_first<'c>(config: &'c Config, touched: &BTreeSet<String>) -> Vec<&'c LbVserver> {
    let (mut ordered, mut seen) = (Vec::new(), BTreeSet::new());
    let mut found: Vec<_> = touched.iter().filter_map(|name| config.lb_vservers.numbered(name)).collect();
    found.sort_unstable_by_key(|(number, _)| *number);
    for (_, vserver) in found {
        let from = ordered.len();
        let mut next = Some(vserver);
        while let Some(found) = next {
            let name = found.name.to_ascii_lowercase();
            if !touched.contains(&name) || !seen.insert(name) {
                break;
            }
            ordered.push(found);
            next = config.lb_vservers.find(&found.backup_vserver);
        }
        ordered[from..].reverse();
    }
    ordered
}

/// Those virtual servers, and those that fall back to one of them, at once or after others.
pub(super) fn with_users(mut touched: BTreeSet<String>, config: &Config) -> BTreeSet<String> {
    let mut users: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for vserver in config.lb_vservers.iter().filter(|v| !v.backup_vserver.is_empty()) {
        let backup = vserver.backup_vserver.to_ascii_lowercase();
        users.entry(backup).or_default().push(vserver.name.to_ascii_lowercase());
    }
    let mut waiting: Vec<String> =
        if users.is_empty() { Vec::new() } else { touched.iter().cloned().collect() };
    while let Some(name) = waiting.pop() {
        for user in users.remove(&name).into_iter().flatten() {
            if touched.insert(user.clone()) {
                waiting.push(user);
            }
        }
    }
    touched
}

fn backups(vserver: &LbVserver, built: &Sorted<String, Arc<VirtualServer>>) -> Box<[Arc<VirtualServer>]> {
    let Some(first) = built.get(&vserver.backup_vserver.to_ascii_lowercase()) else { return Box::default() };
    let protocol = super::protocol(vserver.service_type);
    first.chain().take(MOST_BACKUPS).filter(|backup| backup.protocol == protocol).map(Arc::clone).collect()
}

/// What other protocols have no answer for is left out.
fn redirect_url(vserver: &LbVserver) -> Option<Box<str>> {
    let has_status_codes = vserver.service_type == ServiceType::Http;
    (has_status_codes && !vserver.redirect_url.is_empty()).then(|| vserver.redirect_url.as_str().into())
}

/// None without a method, or without the threshold that it needs.
fn spillover(vserver: &LbVserver) -> Option<Spillover> {
    let number = vserver.spillover_threshold;
    let threshold = match vserver.spillover_method {
        "CONNECTION" => Threshold::Connections(number?.into()),
        "DYNAMICCONNECTION" => Threshold::Capacity,
        "BANDWIDTH" => Threshold::Bandwidth(number?.into()),
        "HEALTH" => Threshold::Health(number?),
        _ => return None,
    };
    let without_backup = match vserver.spillover_backup_action {
        "DROP" => Some(Spare::Drop),
        "ACCEPT" => Some(Spare::Accept),
        "REDIRECT" => Some(Spare::Redirect),
        _ => None,
    };
    let minutes = u64::from(vserver.spillover_persistence_timeout_min);
    let persistence_us = vserver.spillover_persistence.then_some(minutes * 60 * SECOND_US);
    Some(Spillover { threshold, without_backup, persistence_us })
}
