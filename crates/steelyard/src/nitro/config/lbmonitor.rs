//! `lbmonitor`: monitors, the built-in ones among them, in the form that appliances give them (`spec/nitro.md` 4).

use steelyard_core::config::LbMonitor;

use super::always;
use crate::nitro::reply::Reply;
use crate::nitro::resource::Wanted;
use crate::nitro::row::Row;

/// Monitors: all, or the one that is named.
pub fn lbmonitor(wanted: &Wanted<'_>) -> Result<Vec<Row>, Reply> {
    let config = wanted.state.config();
    Ok(wanted.of(&config.lb_monitors)?.into_iter().map(|monitor| monitor_row(wanted, monitor)).collect())
}

fn monitor_row(wanted: &Wanted<'_>, monitor: &LbMonitor) -> Row {
    let lrtm = monitor.lrtm == Some(true);
    let mut row = wanted.row();
    row.attributes_but(monitor, OTHERWISE)
        .text("action", action(monitor))
        .number("lrtmconf", lrtm.into())
        .text("lrtmconfstr", if lrtm { "ENABLED" } else { "DISABLED" })
        .number("destport", monitor.dest_port.unwrap_or(0).into())
        .address("dispatcherip", monitor.dispatcher_ip)
        .number("dispatcherport", monitor.dispatcher_port.unwrap_or(0).into())
        .address("radnasip", monitor.radius_nas_ip)
        .address("radframedip", monitor.radius_framed_ip)
        .number("vendorid", monitor.vendor_id.unwrap_or(0).into())
        .number("firmwarerevision", monitor.firmware_revision.unwrap_or(0).into())
        .number("trofscode", monitor.trofs_code.unwrap_or(0).into())
        .texts("multimetrictable", ["local".to_owned()]);
    always::fill(&mut row, "lbmonitor");
    row
}

/// What follows from an answer seen in passing; of a type that sees none, what was given and is no default.
fn action(monitor: &LbMonitor) -> &'static str {
    match monitor.action {
        "DOWN" if monitor.kind.text() != "HTTP-INLINE" => "Not applicable",
        action => action,
    }
}

/// What appliances show in another form than it is given, or although it was not.
const OTHERWISE: &[&str] = &[
    "action",
    "destport",
    "dispatcherip",
    "dispatcherport",
    "radnasip",
    "radframedip",
    "vendorid",
    "firmwarerevision",
    "trofscode",
];
