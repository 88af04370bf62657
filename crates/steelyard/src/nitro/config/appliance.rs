//! What an appliance says of itself: its release, hardware, licence and capacity (`spec/nitro.md` 4, 9).
//!
//! Owns the words. The hard question is what to say where a program on a host has no such thing: what an appliance says
//! at rest, so that a client that reads it goes on.

use std::fs;

use aws_lc_rs::digest::{SHA256, digest};
use steelyard_core::config::HaPartner;

use crate::nitro::documented::Documented;
use crate::nitro::reply::Reply;
use crate::nitro::resource::Wanted;
use crate::nitro::row::Row;

/// `nsversion`: the release of NetScaler that is spoken here, in the form that clients take apart.
pub fn nsversion(wanted: &Wanted<'_>) -> Row {
    let mut row = wanted.row();
    row.text("version", VERSION).number("mode", 0);
    row
}

/// `nshardware`: of the host what it tells everybody.
pub fn nshardware(wanted: &Wanted<'_>) -> Row {
    let serial = serial();
    let mut row = wanted.row();
    row.text("hwdescription", format!("Steelyard {} on {}", env!("CARGO_PKG_VERSION"), machine()))
        .number("sysid", 0)
        .number("manufactureday", 0)
        .number("manufacturemonth", 0)
        .number("manufactureyear", 0)
        .number("cpufrequncy", megahertz())
        .number("hostid", 0)
        .text("host", serial.clone())
        .text("encodedserialno", serial.clone())
        .text("serialno", serial);
    row
}

/// `nslicense`: nothing here needs a licence, and nothing ends.
pub fn nslicense(wanted: &Wanted<'_>) -> Row {
    let mut row = wanted.row();
    let fields = Documented::find(wanted.section, wanted.resource.name).map(|d| &*d.fields);
    for field in fields.unwrap_or_default() {
        match field.kind {
            "Boolean" => row.flag(field.name, !OTHER_EDITIONS.contains(&field.name)),
            "Double" => row.number(field.name, 0),
            _ => &mut row,
        };
    }
    row.text("licensingmode", "Local").text("daystoexpiration", DAYS_OF_A_LICENCE_WITHOUT_END);
    row
}

/// `nscapacity`: no bandwidth was bought, and none is set.
pub fn nscapacity(wanted: &Wanted<'_>) -> Row {
    let mut row = wanted.row();
    for name in ["bandwidth", "actualbandwidth", "maxbandwidth", "minbandwidth", "instancecount"] {
        row.number(name, 0);
    }
    row.text("edition", "Platinum").text("unit", "Mbps");
    row
}

/// `hanode`: this program, whose number is 0 and which takes the primary's part, then the partners that are kept.
pub fn hanode(wanted: &Wanted<'_>) -> Result<Vec<Row>, Reply> {
    let config = wanted.state.config();
    let mut own = wanted.row();
    own.number("id", 0).text("state", "Primary").text("inc", "DISABLED");
    if let Some(ip) = config.ns_config.ip {
        own.text("ipaddress", ip.to_string());
    }
    own.attributes(&config.ha_local);
    for name in ["flags", "masterstatetime", "curflips", "completedfliptime"] {
        own.number(name, 0);
    }
    own.text("ssl2", "NOT PRESENT").text("routemonitorstate", "UP");
    let partner = |partner: &HaPartner| {
        let mut row = wanted.row();
        row.attributes(partner).text("state", "UNKNOWN");
        row
    };
    let mut rows: Vec<Row> = [own].into_iter().chain(config.ha_partners.iter().map(partner)).collect();
    if let Some(id) = wanted.id {
        rows.retain(|row| row.as_text("id").is_some_and(|known| known == id));
    }
    if rows.is_empty() { Err(wanted.unknown()) } else { Ok(rows) }
}

/// `ntpsync`: the clock is the host's to keep in step.
pub fn ntpsync(wanted: &Wanted<'_>) -> Row {
    let mut row = wanted.row();
    row.text("state", "DISABLED");
    row
}

/// `ntpstatus`: for the same reason no server.
pub fn ntpstatus(wanted: &Wanted<'_>) -> Row {
    let mut row = wanted.row();
    row.text("response", "");
    row
}

/// Of what there is none here, whatever its name.
pub fn none(wanted: &Wanted<'_>) -> Result<Vec<Row>, Reply> {
    if wanted.id.is_some() { Err(wanted.unknown()) } else { Ok(Vec::new()) }
}

/// What no object has any of, so that the path's name says nothing.
pub fn none_of_any(_: &Wanted<'_>) -> Result<Vec<Row>, Reply> {
    Ok(Vec::new())
}

fn machine() -> String {
    let uname = rustix::system::uname();
    let text = |part: &std::ffi::CStr| part.to_string_lossy().into_owned();
    format!("{} {} {}", text(uname.sysname()), text(uname.release()), text(uname.machine()))
}

fn megahertz() -> u64 {
    let cpus = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let first = cpus.lines().find_map(|line| line.strip_prefix("cpu MHz")?.split_once(':'));
    first.and_then(|(_, number)| number.trim().parse::<f64>().ok()).map_or(0, |number| number as u64)
}

/// The same at every start on this host and on no other. The host's own number is confidential, hence the digest.
fn serial() -> String {
    let id = fs::read("/etc/machine-id").unwrap_or_default();
    let digest = digest(&SHA256, &[b"steelyard\0", id.trim_ascii()].concat());
    digest.as_ref().iter().take(SERIAL_BYTES).map(|byte| format!("{byte:02X}")).collect()
}

/// The date is that of the release that is spoken, not of this program.
const VERSION: &str = "NetScaler NS14.1: Build 51.80.nc, Date: Oct 10 2025, 00:00:00   (64-bit)";
/// The lesser editions, which an appliance with everything is not.
const OTHER_EDITIONS: &[&str] = &["isstandardlic", "isenterpriselic", "issgwylic", "isswglic"];
/// Clients warn when less than a number of days is left: a hundred years.
const DAYS_OF_A_LICENCE_WITHOUT_END: &str = "36500";
const SERIAL_BYTES: usize = 6;
