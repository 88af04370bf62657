//! `show service`.

use std::fmt::Write as _;

use steelyard_core::command::Object;

use super::{general, milliseconds, number, or, since, text};
use crate::cli::show::{Fields, Item};

/// A service, and its monitors where it was asked for by name.
pub fn text_of(item: &Item) -> String {
    head(item) + &monitors(item.bound("service_lbmonitor_binding"))
}

fn head(item: &Item) -> String {
    let of = &item.of;
    let field = |name| text(of, name);
    let place = item.place();
    let port = match field("port").as_str() {
        "65535" => "*".to_owned(),
        port => port.to_owned(),
    };
    let mut out =
        format!("{place}\t{} ({}:{port}) - {}\n", field("name"), field("ipaddress"), field("servicetype"));
    // Formatting into a String cannot fail.
    let _ = writeln!(out, "\tState: {}", field("svrstate"));
    out.push_str(&changed("\t", of));
    let _ = writeln!(out, "\tServer Name: {}", field("servername"));
    let _ = writeln!(
        out,
        "\tServer ID : {} \tMonitor Threshold : {}",
        or(of, "customserverid", "None"),
        or(of, "monthreshold", "0")
    );
    out.push_str(&settings(of));
    if !field("comment").is_empty() {
        let _ = writeln!(out, "\tComment: \"{}\"", field("comment"));
    }
    out.push_str(&general::others(Object::Service, of, SHOWN));
    out.push('\n');
    out
}

/// The lines that services and groups share.
pub fn settings(of: &Fields) -> String {
    let field = |name| text(of, name);
    let mut out = format!(
        "\tMax Conn: {}\tMax Req: {}\tMax Bandwidth: {} kbits\n",
        or(of, "maxclient", "0"),
        or(of, "maxreq", "0"),
        or(of, "maxbandwidth", "0")
    );
    for (label, name) in SWITCHES {
        let _ = writeln!(out, "\t{label}: {}", or(of, name, "NO"));
    }
    let _ = writeln!(
        out,
        "\tIdle timeout: Client: {} sec\tServer: {} sec",
        or(of, "clttimeout", "0"),
        or(of, "svrtimeout", "0")
    );
    let header = match field("cipheader") {
        header if header.is_empty() || field("cip") != "ENABLED" => String::new(),
        header => format!("\tHeader: {header}"),
    };
    let _ = writeln!(out, "\tClient IP: {}{header}", or(of, "cip", "DISABLED"));
    for (label, name, otherwise) in STATES {
        let _ = writeln!(out, "\t{label}: {}", or(of, name, otherwise));
    }
    out
}

/// Since when the state has been what it is.
pub fn changed(indent: &str, of: &Fields) -> String {
    format!(
        "{indent}Last state change was at {}\n{indent}Time since last state change: {}\n",
        text(of, "statechangetimesec"),
        since(number(of, "tickssincelaststatechange"))
    )
}

/// The monitors bound to it, with what they found.
fn monitors(bound: &[Fields]) -> String {
    let mut out = String::new();
    for (at, of) in bound.iter().enumerate() {
        let passive = u8::from(text(of, "passive") == "true");
        let _ = write!(
            out,
            "{})\tMonitor Name: {}\n\t\tState: {}\tWeight: {}\tPassive: {passive}\n",
            at + 1,
            text(of, "monitor_name"),
            text(of, "monitor_state"),
            or(of, "weight", "1")
        );
        out.push_str(&probes(of));
    }
    out
}

/// How probing went.
pub fn probes(of: &Fields) -> String {
    format!(
        "\t\tProbes: {}\tFailed [Total: {} Current: {}]\n\t\tLast response: {}\n\t\tResponse Time: {} millisec\n",
        or(of, "monitortotalprobes", "0"),
        or(of, "monitortotalfailedprobes", "0"),
        or(of, "monitorcurrentfailedprobes", "0"),
        text(of, "lastresponse"),
        milliseconds(number(of, "responsetimeus"))
    )
}

/// What has a line of its own, or is in another.
pub const SHOWN: &[&str] = &[
    "servername",
    "ip",
    "servicetype",
    "port",
    "state",
    "customserverid",
    "monthreshold",
    "maxclient",
    "maxreq",
    "maxbandwidth",
    "usip",
    "cka",
    "accessdown",
    "tcpb",
    "cmp",
    "clttimeout",
    "svrtimeout",
    "cip",
    "cipheader",
    "cacheable",
    "sc",
    "sp",
    "downstateflush",
    "appflowlog",
    "processlocal",
    "td",
    "comment",
];
const SWITCHES: [(&str, &str); 5] = [
    ("Use Source IP", "usip"),
    ("Client Keepalive(CKA)", "cka"),
    ("Access Down Service", "accessdown"),
    ("TCP Buffering(TCPB)", "tcpb"),
    ("HTTP Compression(CMP)", "cmp"),
];
const STATES: [(&str, &str, &str); 7] = [
    ("Cacheable", "cacheable", "NO"),
    ("SC", "sc", "OFF"),
    ("SP", "sp", "OFF"),
    ("Down state flush", "downstateflush", "ENABLED"),
    ("Appflow logging", "appflowlog", "ENABLED"),
    ("Process Local", "processlocal", "DISABLED"),
    ("Traffic Domain", "td", "0"),
];
