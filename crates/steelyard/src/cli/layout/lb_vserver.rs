//! `show lb vserver`.

use std::fmt::Write as _;

use steelyard_core::balance::startup::StartupReason;
use steelyard_core::command::Object;

use super::service::changed;
use super::{general, or, text};
use crate::cli::show::{Fields, Item};

/// A virtual server, and what is bound to it where it was asked for by name.
pub fn text_of(item: &Item) -> String {
    head(item) + &bound(item) + &policies(item.bound("lbvserver_policy_binding"))
}

/// The virtual server itself; numbered among others.
fn head(item: &Item) -> String {
    let of = &item.of;
    let field = |name| text(of, name);
    let place = item.place();
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
    out.push_str(&instead(of));
    out.push_str(&rest(of));
    let settings: Vec<&str> = SETTINGS_BEFORE.iter().chain(&SETTINGS_BEHIND).map(|(_, name)| *name).collect();
    out.push_str(&general::others(Object::LbVserver, of, &[OF_BOTH, SHOWN, &settings].concat()));
    out.push('\n');
    out
}

/// Method, rules, persistence.
fn choosing(of: &Fields) -> String {
    let field = |name| text(of, name);
    let reason = field("lbrrreason").parse().ok().and_then(StartupReason::of_code).map(StartupReason::text);
    let now = reason.map(|why| format!("\n\tCurrent Method: Round Robin, Reason: {why}")).unwrap_or_default();
    let mut out = format!(
        "\tConfigured Method: {}{now}\tBackupMethod: {}\n",
        field("lbmethod"),
        field("backuplbmethod")
    );
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
    if field("persistencebackup") == "SOURCEIP" {
        let timeout = or(of, "backuppersistencetimeout", "2");
        let _ = writeln!(out, "\tPersistence Backup: SOURCEIP\tBackup Persistence Timeout: {timeout} min");
    }
    out
}

/// Who serves in its place, and from when on.
fn instead(of: &Fields) -> String {
    let field = |name| text(of, name);
    let mut out = String::new();
    if !field("backupvserver").is_empty() {
        let status = field("backupvserverstatus");
        let status = if status.is_empty() { status } else { format!(" {status}") };
        let _ = writeln!(out, "\tBackup: {}{status}", field("backupvserver"));
    }
    if !field("redirurl").is_empty() {
        let _ = writeln!(out, "\tRedirect URL: {}", field("redirurl"));
    }
    if !matches!(field("somethod").as_str(), "" | "NONE") {
        let _ = writeln!(
            out,
            "\tSpillover Method: {}\tSpillover Threshold: {}\n\tSpillover Persistence: {}\tSpillover Persistence Timeout: {} min",
            field("somethod"),
            or(of, "sothreshold", "0"),
            or(of, "sopersistence", "DISABLED"),
            or(of, "sopersistencetimeout", "2")
        );
        if !field("sobackupaction").is_empty() {
            let _ = writeln!(out, "\tSpillover Backup Action: {}", field("sobackupaction"));
        }
    }
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
fn bound(item: &Item) -> String {
    let services = item.bound("lbvserver_service_binding");
    let groups = item.bound("lbvserver_servicegroup_binding");
    let members = item.bound("lbvserver_servicegroupmember_binding");
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

/// The policies bound to it.
fn policies(policies: &[Fields]) -> String {
    let mut out = String::new();
    for (at, of) in policies.iter().enumerate() {
        let priority = or(of, "priority", "0");
        let kind = match text(of, "policytype") {
            kind if kind.is_empty() => kind,
            kind => general::words(&kind) + " ",
        };
        let _ =
            writeln!(out, "{})\t{kind}Policy Name: {}\tPriority: {priority}", at + 1, text(of, "policyname"));
        for (label, name) in
            [("GotoPriority Expression", "gotopriorityexpression"), ("Flowtype", "bindpoint")]
        {
            if !text(of, name).is_empty() {
                let _ = writeln!(out, "\t{label}: {}", text(of, name));
            }
        }
    }
    out
}

fn target(name: &str, of: &Fields) -> String {
    let field = |name| text(of, name);
    format!(
        "{name} ({}: {}) - {} State: {}\tWeight: {} Order: {}\n",
        field("ipv46"),
        field("port"),
        field("servicetype"),
        field("curstate"),
        or(of, "weight", "1"),
        or(of, "orderstr", NO_ORDER)
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
/// What of a virtual server of either kind has a line of its own, or is in another.
pub const OF_BOTH: &[&str] = &[
    "servicetype",
    "ipv46",
    "port",
    "state",
    "clttimeout",
    "downstateflush",
    "disableprimaryondown",
    "comment",
    "appflowlog",
    "redirectportrewrite",
    "backupvserver",
    "insertvserveripport",
    "authn401",
    "push",
    "pushvserver",
    "pushlabel",
    "l2conn",
    "listenpolicy",
    "icmpvsrresponse",
    "rhistate",
    "td",
];
/// What else has, but for the settings.
const SHOWN: &[&str] = &[
    "dnsoverhttps",
    "lbmethod",
    "backuplbmethod",
    "rule",
    "resrule",
    "m",
    "persistencetype",
    "persistmask",
    "timeout",
    "persistencebackup",
    "backuppersistencetimeout",
    "redirurl",
    "somethod",
    "sothreshold",
    "sopersistence",
    "sopersistencetimeout",
    "sobackupaction",
    "authnvsname",
    "newservicerequest",
    "newservicerequestunit",
    "newservicerequestincrementinterval",
];
/// Of a binding that was given none, and of what is in use: nothing here goes by order.
const NO_ORDER: &str = "None";
