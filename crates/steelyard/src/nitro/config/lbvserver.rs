//! `lbvserver`: a virtual server as it was configured, and how it is (`spec/nitro.md` 4).

use std::sync::Arc;

use steelyard_core::balance::startup::StartupReason;
use steelyard_core::config::{Config, LbBinding, LbVserver};
use steelyard_core::service::State as ServiceState;
use steelyard_core::vserver::VirtualServer;

use std::sync::atomic::Ordering::Relaxed;

use super::always;
use crate::nitro::reply::Reply;
use crate::nitro::resource::Wanted;
use crate::nitro::row::Row;
use crate::nitro::since::since;

/// Virtual servers: all, or the one that is named.
pub fn lbvserver(wanted: &Wanted<'_>) -> Result<Vec<Row>, Reply> {
    let config = wanted.state.config();
    let snapshot = wanted.state.snapshot();
    let row = |vserver: &LbVserver| {
        let mut row = wanted.row();
        configured(&mut row, vserver, &config);
        if let Some(live) = snapshot.vserver(&vserver.name) {
            how_it_is(&mut row, wanted, live);
        }
        row
    };
    Ok(wanted.of(&config.lb_vservers)?.into_iter().map(row).collect())
}

fn configured(row: &mut Row, vserver: &LbVserver, config: &Config) {
    row.attributes_but(vserver, OTHERWISE)
        .address("ipv46", vserver.ip)
        .address("ippattern", vserver.ip_pattern)
        .text("ipmask", vserver.ip_mask.map_or("*".to_owned(), |mask| mask.to_string()))
        .text("listenpolicy", listen_policy(&vserver.listen_policy))
        .number("datalength", vserver.data_length.unwrap_or(0).into())
        .number("dataoffset", vserver.data_offset.unwrap_or(0).into())
        .number("totalservices", bound(vserver, config) as u64)
        .text("consolidatedlconngbl", if config.lb_parameter.consolidated_connections { "YES" } else { "NO" })
        .address("vsvrbindsvcip", vserver.ip);
    always::fill(row, "lbvserver");
}

fn how_it_is(row: &mut Row, wanted: &Wanted<'_>, live: &Arc<VirtualServer>) {
    let state = wanted.state;
    let (is, _) = state.vserver_state(live);
    let by_backup =
        is != ServiceState::Up && live.is_open() && live.by_state.backups.iter().any(|b| b.is_up());
    let effective = match is {
        _ if by_backup => ServiceState::Up,
        ServiceState::OutOfService => ServiceState::Down,
        is => is,
    };
    let active = live.services().filter(|service| service.state().admits()).count();
    // Of one that chooses nothing nobody says how it chooses.
    let reason = live.picker.startup().filter(|_| is == ServiceState::Up);
    row.text("curstate", is.text())
        .text("effectivestate", effective.text())
        .number("health", live.picker.standing().percent().into())
        .number("activeservices", active as u64)
        .number("lbrrreason", reason.map_or(0, StartupReason::code).into())
        .number("hits", live.live.hits.load(Relaxed));
    let date = since(row, state, state.vserver_since(live));
    row.number("statechangetimeseconds", date.seconds());
    if by_backup {
        row.text("backupvserverstatus", "(Backup Active)");
    }
}

/// Services and members, whether this version can send anything to them or not.
fn bound(vserver: &LbVserver, config: &Config) -> usize {
    let of = |binding: &LbBinding| match binding {
        LbBinding::Service { .. } => 1,
        LbBinding::ServiceGroup { name, .. } => {
            config.service_groups.find(name).map_or(0, |group| group.members.iter().count())
        }
    };
    vserver.bindings.iter().map(of).sum()
}

/// The expression that says which connections are a virtual server's own; none has a word of its own.
pub fn listen_policy(expression: &str) -> &str {
    if expression == "none" { "NONE" } else { expression }
}

/// What appliances show in another form than it is given, or although it was not.
const OTHERWISE: &[&str] = &["ipv46", "ippattern", "ipmask", "listenpolicy", "datalength", "dataoffset"];
