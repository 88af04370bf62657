//! `lbmonitor`: monitors, the built-in ones among them, in the form that appliances give them (`spec/nitro.md` 4).

use std::collections::BTreeMap;

use steelyard_core::config::LbMonitor;
use steelyard_core::config::attribute::{Span, Unit};

use crate::nitro::reply::Reply;
use crate::nitro::resource::Wanted;
use crate::nitro::row::Row;

/// Monitors: all, or the one that is named.
pub fn lbmonitor(wanted: &Wanted<'_>) -> Result<Vec<Row>, Reply> {
    let config = wanted.state.config();
    let monitors = wanted.of(&config.lb_monitors)?;
    let limits = match monitors.iter().any(|monitor| learns(monitor)) {
        true => wanted.state.limits_us(),
        false => BTreeMap::new(),
    };
    let limit_us = |monitor: &LbMonitor| limits.get(&*monitor.name).copied();
    Ok(monitors.into_iter().map(|monitor| monitor_row(wanted, monitor, limit_us(monitor))).collect())
}

/// Does it learn how long its probes may take?
fn learns(monitor: &LbMonitor) -> bool {
    monitor.deviation.number > 0
}

/// `limit_us` is how long its probes may take now.
fn monitor_row(wanted: &Wanted<'_>, monitor: &LbMonitor, limit_us: Option<u64>) -> Row {
    let LbMonitor { resptimeout, interval, .. } = *monitor;
    let limit = limit_us.filter(|_| learns(monitor)).map_or(0, |us| in_unit_of(resptimeout, us));
    // Probes begin as often as ever: what is learnt shortens their time alone.
    let dynamic_interval = if limit > 0 { interval.number } else { 0 };
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
    row.number("dynamicresponsetimeout", limit).number("dynamicinterval", dynamic_interval.into());
    row
}

/// A time in the unit of that span, rounded up.
fn in_unit_of(span: Span, us: u64) -> u64 {
    us.div_ceil(match span.unit {
        Unit::Sec => 1_000_000,
        Unit::Msec => 1_000,
        Unit::Min => 60_000_000,
    })
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
