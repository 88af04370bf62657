//! `show ns ip`, and what an appliance says of itself: version, hardware, capacity, configuration as a whole.

use serde_json::Value;

use super::{features, ha, lines, or, text};
use crate::cli::show::{Fields, Found};

/// What the program says it is.
pub fn version(found: &Found) -> String {
    found.items.iter().map(|item| format!("\t{}\n", text(&item.of, "version"))).collect()
}

/// What the appliance calls itself.
pub fn host_name(found: &Found) -> String {
    found.items.iter().map(|item| format!("\tHostname:  {}\n", text(&item.of, "hostname"))).collect()
}

/// The host, as far as it tells everybody.
pub fn hardware(found: &Found) -> String {
    let of = |of: &Fields| {
        format!(
            "\tPlatform: {}\n\tCPU: {}MHZ\n\tHost Id: {}\n\tSerial no: {}\n\tEncoded serial no: {}\n",
            text(of, "hwdescription"),
            text(of, "cpufrequncy"),
            text(of, "hostid"),
            text(of, "serialno"),
            text(of, "encodedserialno")
        )
    };
    found.items.iter().map(|item| of(&item.of)).collect()
}

/// How much may be carried.
pub fn capacity(found: &Found) -> String {
    let of = |of: &Fields| {
        format!(
            "\tActualbandwidth: {}\tEdition: {}\tUnit: {}\n\tMaxbandwidth: {}\tMinbandwidth: {}\tInstancecount: {}\n",
            text(of, "actualbandwidth"),
            text(of, "edition"),
            text(of, "unit"),
            text(of, "maxbandwidth"),
            text(of, "minbandwidth"),
            text(of, "instancecount")
        )
    };
    found.items.iter().map(|item| of(&item.of)).collect()
}

/// `show ns config`: where the appliance is managed, and when its configuration was changed and saved.
pub fn config(found: &Found) -> String {
    found.items.iter().map(|item| whole(&item.of, found)).collect()
}

/// `show ns info`: version, configuration, and what is switched on.
pub fn info(found: &Found) -> String {
    let config = found.beside("nsconfig").iter().map(|of| whole(of, found));
    let features = found.beside("nsfeature").iter().map(features::status);
    format!(
        "{}\n{}\n\tFeature status:\n{}",
        version(found),
        config.collect::<String>(),
        features.collect::<String>()
    )
}

/// The text of the configuration that runs.
pub fn running(found: &Found) -> String {
    found.items.iter().map(|item| as_written(&item.of, "response")).collect()
}

/// The text of the configuration that is saved.
pub fn saved(found: &Found) -> String {
    found.items.iter().map(|item| as_written(&item.of, "textblob")).collect()
}

fn as_written(of: &Fields, field: &str) -> String {
    lines(of.get(field).and_then(Value::as_str).unwrap_or_default())
}

fn whole(of: &Fields, found: &Found) -> String {
    let ip = or(of, "ipaddress", "0.0.0.0");
    let mask = or(of, "netmask", "0.0.0.0");
    let mapped = found.beside("nsip").iter().filter(|ip| text(ip, "type") == "MIP").count();
    let mut out = format!("\tNetScaler IP: {ip}  (mask: {mask})\n\tNumber of MappedIP(s): {mapped}\n");
    out.push_str(&ha::part(found.beside("hanode")));
    for (label, field) in [
        ("System Time", "currentsytemtime"),
        ("Last Config Changed Time", "lastconfigchangedtime"),
        ("Last Config Saved Time", "lastconfigsavetime"),
    ] {
        if !text(of, field).is_empty() {
            out.push_str(&format!("\t{label:>30}: {}\n", text(of, field)));
        }
    }
    let changed = text(of, "configchanged").to_uppercase();
    out.push_str(&format!("\tConfig Changed since Last Saved Config: {changed}\n"));
    out
}

/// Addresses, numbered.
pub fn addresses(found: &Found) -> String {
    let mut out = format!(
        "  \t{}\n  \t{}\n",
        row(COLUMNS),
        row(COLUMNS.map(|column| DASHES.get(..column.len()).unwrap_or(DASHES)))
    );
    for (at, item) in found.items.iter().enumerate() {
        let of = &item.of;
        let kind = text(of, "type");
        let switch = |name| if text(of, name) == "ENABLED" { "Enabled" } else { "Disabled" };
        let vserver = if kind == "VIP" { switch("vserver") } else { "NA" };
        let kind = if kind == "NSIP" { "NetScaler IP" } else { &kind };
        let (address, domain) = (text(of, "ipaddress"), or(of, "td", "0"));
        let cells =
            [&address, &domain, kind, "Active", switch("arp"), switch("icmp"), vserver, switch("state")];
        out.push_str(&format!("{})\t{}\n", at + 1, row(cells)));
    }
    out
}

fn row(cells: [&str; 8]) -> String {
    let cell = |(cell, width): (&str, usize)| format!("{cell:width$}");
    cells.into_iter().zip(WIDTHS).map(cell).collect::<String>().trim_end().to_owned()
}

const COLUMNS: [&str; 8] = ["Ipaddress", "Traffic Domain", "Type", "Mode", "Arp", "Icmp", "Vserver", "State"];
const WIDTHS: [usize; 8] = [17, 16, 17, 9, 9, 9, 9, 0];
const DASHES: &str = "--------------";
