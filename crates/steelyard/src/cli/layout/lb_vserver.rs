//! `show lb vserver`.

use std::fmt::Write as _;

use super::service::changed;
use super::{or, text};
use crate::cli::show::Fields;

/// The virtual server itself; numbered among others.
pub fn head(nth: Option<usize>, of: &Fields) -> String {
    let field = |name| text(of, name);
    let place = nth.map(|nth| format!("{nth})")).unwrap_or_default();
    let (name, ip, port, kind) = (field("name"), field("ipv46"), field("port"), field("servicetype"));
    // Formatting into a String cannot fail.
    let mut out = format!("{place}\t{name} ({ip}:{port}) - {kind}\tType: {} \n", or(of, "type", "ADDRESS"));
    let _ = writeln!(out, "\tState: {}", field("curstate"));
    out.push_str(&changed("\t", of));
    let arp = if ip == "0.0.0.0" { "  ARP:DISABLED" } else { "" };
    let _ = writeln!(out, "\tEffective State: {}{arp}", field("effectivestate"));
    let _ = writeln!(out, "\tClient Idle Timeout: {} sec", field("clttimeout"));
    let _ = writeln!(out, "\tDown state flush: {}", field("downstateflush"));
    let _ = writeln!(out, "\tDisable Primary Vserver On Down : {}", field("disableprimaryondown"));
    if !field("comment").is_empty() {
        let _ = writeln!(out, "\tComment: \"{}\"", field("comment"));
    }
    let _ = writeln!(out, "\tAppflow logging: {}", field("appflowlog"));
    if kind == "HTTP" || kind == "SSL" {
        let _ = writeln!(out, "\tPort Rewrite : {}", field("redirectportrewrite"));
    }
    if kind == "SSL" {
        let _ = writeln!(out, "\tDnsOverHttps: {}", or(of, "dnsoverhttps", "DISABLED"));
    }
    let (total, active) = (field("totalservices"), or(of, "activeservices", "0"));
    let _ = writeln!(out, "\tNo. of Bound Services :  {total} (Total) \t {active} (Active)");
    out.push_str(&choosing(of));
    out.push_str(&rest(of));
    out.push('\n');
    out
}

/// Method, rules, persistence.
fn choosing(of: &Fields) -> String {
    let field = |name| text(of, name);
    let mut out =
        format!("\tConfigured Method: {}\tBackupMethod: {}\n", field("lbmethod"), field("backuplbmethod"));
    for (label, name) in [("Rule", "rule"), ("RespRule", "resrule")] {
        match field(name).as_str() {
            "" | "none" => {}
            rule => out.push_str(&format!("\t{label}: {rule}\n")),
        }
    }
    let _ = writeln!(out, "\tMode: {}", field("m"));
    let _ = match field("persistencetype").as_str() {
        kind @ ("NONE" | "") => {
            writeln!(out, "\tPersistence: {}", if kind.is_empty() { "NONE" } else { kind })
        }
        kind => writeln!(
            out,
            "\tPersistence: {kind}\tPersistence Mask: {}\tPersistence Timeout: {} min",
            field("persistmask"),
            field("timeout")
        ),
    };
    out
}

fn rest(of: &Fields) -> String {
    let field = |name| text(of, name);
    let mut out = format!("\tVserver IP and Port insertion: {} \n", or(of, "insertvserveripport", "OFF"));
    if field("authn401") == "ON" {
        let _ = writeln!(out, "\t401 Based Authentication: ON\tAuthn Vserver: {}", field("authnvsname"));
    }
    let _ = writeln!(out, "\tPush: {}\tPush VServer: {}", field("push"), field("pushvserver"));
    for (label, name) in SETTINGS_BEFORE {
        let _ = writeln!(out, "\t{label}: {}", field(name));
    }
    let _ = writeln!(
        out,
        "\tNew Service Startup Request Rate: {} {}, Increment Interval: {}",
        field("newservicerequest"),
        field("newservicerequestunit"),
        field("newservicerequestincrementinterval")
    );
    for (label, name) in SETTINGS_BEHIND {
        let _ = writeln!(out, "\t{label}: {}", field(name));
    }
    let _ = writeln!(out, "\tCurrent Active Order: {NO_ORDER}");
    out
}

/// The services bound to it, then the groups with their members.
pub fn bound(services: &[Fields], groups: &[Fields], members: &[Fields]) -> String {
    let mut out = String::new();
    for (at, of) in services.iter().enumerate() {
        out.push_str(&format!("{}) {}", at + 1, target(&text(of, "servicename"), of)));
    }
    if !groups.is_empty() {
        out.push_str("Bound Service Groups:\n");
    }
    for (at, group) in groups.iter().enumerate() {
        let name = text(group, "servicegroupname");
        let _ = writeln!(out, "{})\tGroup Name: {name}", at + 1);
        let own = members.iter().filter(|member| text(member, "servicegroupname") == name);
        for (at, member) in own.enumerate() {
            out.push_str(&format!("\t\t{}) {}", at + 1, target(&name, member)));
        }
    }
    out
}

fn target(name: &str, of: &Fields) -> String {
    let field = |name| text(of, name);
    format!(
        "{name} ({}: {}) - {} State: {}\tWeight: {} Order: {NO_ORDER}\n",
        field("ipv46"),
        field("port"),
        field("servicetype"),
        field("curstate"),
        or(of, "weight", "1")
    )
}

const SETTINGS_BEFORE: [(&str, &str); 7] = [
    ("Push Multi Clients", "pushmulticlients"),
    ("Push Label Rule", "pushlabel"),
    ("L2Conn", "l2conn"),
    ("Skip Persistency", "skippersistency"),
    ("Listen Policy", "listenpolicy"),
    ("IcmpResponse", "icmpvsrresponse"),
    ("RHIstate", "rhistate"),
];
const SETTINGS_BEHIND: [(&str, &str); 7] = [
    ("Mac mode Retain Vlan", "macmoderetainvlan"),
    ("DBS_LB", "dbslb"),
    ("Process Local", "processlocal"),
    ("Traffic Domain", "td"),
    ("TROFS Persistence honored", "trofspersistence"),
    ("Retain Connections on Cluster", "retainconnectionsoncluster"),
    ("Order Sequence", "toggleorder"),
];
/// Nothing here is bound with an order.
const NO_ORDER: &str = "None";
