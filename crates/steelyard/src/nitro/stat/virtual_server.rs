//! The figures of virtual servers of every kind, and of monitors.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use steelyard_core::config::{CsVserver, LbBinding, LbMonitor, LbVserver};
use steelyard_core::service::State as ServiceState;
use steelyard_core::vserver::VirtualServer;

use super::anew::{self, Of};
use super::group;
use super::traffic::{address, carried, service_row, state_text};
use crate::nitro::rates::Counts;
use crate::nitro::reply::Reply;
use crate::nitro::resource::Wanted;
use crate::nitro::row::Row;
use crate::state::State;

/// `lbvserver`: all, or the one that is named, with what is bound to it where `statbindings=yes` asks for that.
pub fn lbvserver(wanted: &Wanted<'_>) -> Result<Vec<Row>, Reply> {
    let (config, snapshot) = (wanted.state.config(), wanted.state.snapshot());
    let with_bindings = wanted.query.says_yes("statbindings");
    let of = |configured: &LbVserver| {
        let live = snapshot.vserver(&configured.name)?;
        let mut row = wanted.row();
        figures(&mut row, wanted.state, configured, live);
        anew::counted(&mut row, wanted, &Of::Vserver(live));
        if with_bindings || anew::is_with_bound(wanted) {
            let (services, members) = bound(wanted, configured);
            if with_bindings {
                row.rows("service", services).rows("servicegroupmember", members);
            }
        }
        Some(row)
    };
    Ok(wanted.of(&config.lb_vservers)?.into_iter().filter_map(of).collect())
}

fn figures(row: &mut Row, state: &State, configured: &LbVserver, vserver: &Arc<VirtualServer>) {
    let recent = state.recent_of_vserver(vserver);
    let live = &vserver.live;
    let all = vserver.services().count() as u64;
    let up = vserver.services().filter(|service| service.state().admits()).count() as u64;
    let servers: u64 = vserver.services().map(|service| service.traffic.connections.load(Relaxed)).sum();
    let of_services: u64 = vserver.services().map(|service| service.pace.waiting()).sum();
    let threshold = vserver.by_state.spillover.as_ref().map_or(0, |spillover| spillover.number(vserver));
    let (vserver_state, why) = state.vserver_state(vserver);
    row.text("name", &*vserver.name).text("sortorder", "descending");
    address(row, vserver.address);
    row.text("type", configured.service_type.text())
        .text("state", state_text(vserver_state))
        .number("actsvcs", up)
        .number("inactsvcs", all - up)
        .number("vslbhealth", vserver.picker.standing().percent().into())
        .number("tothits", live.hits.load(Relaxed))
        .number("hitsrate", recent.per_second(recent.counts.hits));
    carried(row, &recent, Counts::of_vserver(vserver));
    row.number("curclntconnections", live.connections.load(Relaxed))
        .number("establishedconn", live.connections.load(Relaxed))
        .number("cursrvrconnections", servers)
        .number("vsvrsurgecount", vserver.waiting() as u64)
        .number("svcsurgecount", of_services)
        .number("surgecount", vserver.waiting() as u64 + of_services)
        .number("sothreshold", threshold)
        .number("totspillovers", live.spilled.load(Relaxed))
        .number("invalidrequestresponse", live.invalid.load(Relaxed))
        .number("invalidrequestresponsedropped", live.invalid.load(Relaxed))
        .number("totvserverdownbackuphits", live.backup_hits.load(Relaxed));
    durations(row, vserver);
    row.always_zero();
    // Ours: why it is not UP, in words.
    row.text("reason", why.unwrap_or_default());
}

/// How long it took until the last byte of an answer, in the mean.
fn durations(row: &mut Row, vserver: &VirtualServer) {
    let read = vserver.live.duration.read();
    let count: u64 = read.counts.iter().sum();
    row.number("avgcltttlb", read.sum_us.checked_div(count).unwrap_or(0) / 1_000)
        .number("totcltttlbtransactions", count);
}

/// The services bound to it, and the members of groups.
fn bound(wanted: &Wanted<'_>, configured: &LbVserver) -> (Vec<Row>, Vec<Row>) {
    let config = wanted.state.config();
    let (mut services, mut members) = (Vec::new(), Vec::new());
    for binding in &configured.bindings {
        match binding {
            LbBinding::Service { name, .. } => {
                services.extend(config.services.find(name).map(|service| service_row(wanted, service)));
            }
            LbBinding::ServiceGroup { name, .. } => {
                members.extend(config.service_groups.find(name).map(|found| group::members(wanted, found)));
            }
        }
    }
    (services, members.into_iter().flatten().collect())
}

/// `sslvserver`: virtual servers of TLS, which this version does not serve.
pub fn sslvserver(wanted: &Wanted<'_>) -> Result<Vec<Row>, Reply> {
    let (config, snapshot) = (wanted.state.config(), wanted.state.snapshot());
    let is_tls = |vserver: &&LbVserver| matches!(vserver.service_type.text(), "SSL" | "SSL_TCP");
    let of = |configured: &LbVserver| {
        let live = snapshot.vserver(&configured.name)?;
        let up = live.services().filter(|service| service.state().admits()).count() as u64;
        let mut row = wanted.row();
        row.text("vservername", &configured.name);
        address(&mut row, live.address);
        row.text("type", configured.service_type.text())
            .text("state", state_text(wanted.state.vserver_state(live).0))
            .number("actsvcs", up)
            .number("vslbhealth", live.picker.standing().percent().into());
        row.always_zero();
        Some(row)
    };
    let rows: Vec<Row> = wanted.of(&config.lb_vservers)?.into_iter().filter(is_tls).filter_map(of).collect();
    if rows.is_empty() && wanted.id.is_some() { Err(wanted.unknown()) } else { Ok(rows) }
}

/// `csvserver`: content switching virtual servers, which this version keeps and does not serve.
pub fn csvserver(wanted: &Wanted<'_>) -> Result<Vec<Row>, Reply> {
    let config = wanted.state.config();
    let of = |configured: &CsVserver| {
        let state = if configured.enabled { ServiceState::Down } else { ServiceState::OutOfService };
        let mut row = wanted.row();
        row.text("name", &configured.name);
        address(&mut row, configured.ip.map(|ip| (ip, configured.port.unwrap_or(0)).into()));
        row.text("type", configured.service_type.text()).text("state", state_text(state));
        row.always_zero();
        row
    };
    Ok(wanted.of(&config.cs_vservers)?.into_iter().map(of).collect())
}

/// `lbmonitor`.
pub fn lbmonitor(wanted: &Wanted<'_>) -> Result<Vec<Row>, Reply> {
    let config = wanted.state.config();
    let of = |monitor: &LbMonitor| {
        let mut row = wanted.row();
        row.text("monitorname", &monitor.name)
            .text("type", monitor.kind.text())
            .text("state", if monitor.enabled { "ENABLED" } else { "DISABLED" });
        row
    };
    Ok(wanted.of(&config.lb_monitors)?.into_iter().map(of).collect())
}
