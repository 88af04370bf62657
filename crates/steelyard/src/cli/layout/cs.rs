//! `show cs vserver`, as appliances of 12.1 to 13.0 print it.

use std::fmt::Write as _;

use steelyard_core::command::Object;

use super::lb_vserver::OF_BOTH;
use super::{general, lines_of, or, text};
use crate::cli::show::{Fields, Item};

/// A virtual server, and what is bound to it where it was asked for by name. Nothing here passes requests on, so that there is
/// no change of state to tell of.
pub fn vserver(item: &Item) -> String {
    let of = &item.of;
    let field = |name| text(of, name);
    let (name, kind) = (field("name"), field("servicetype"));
    let mut out = format!(
        "{}\t{name} ({}:{}) - {kind}\tType: {}\n\tState: {}\n",
        item.place(),
        field("ipv46"),
        or(of, "port", "0"),
        or(of, "type", "CONTENT"),
        field("curstate"),
    );
    // Formatting into a String cannot fail.
    let _ = writeln!(out, "\tClient Idle Timeout: {} sec", field("clttimeout"));
    out.push_str(&lines_of(
        of,
        &[
            ("Down state flush", "downstateflush"),
            ("Disable Primary Vserver On Down ", "disableprimaryondown"),
            ("Comment", "comment"),
            ("Appflow logging", "appflowlog"),
        ],
    ));
    if kind == "HTTP" || kind == "SSL" {
        out.push_str(&lines_of(of, &[("Port Rewrite ", "redirectportrewrite")]));
    }
    out.push_str(&lines_of(of, &[("State Update", "stateupdate")]));
    let default = item.bound(DEFAULT).first().map(|bound| or(bound, "lbvserver", &text(bound, "vserver")));
    let _ = writeln!(
        out,
        "\tDefault: {}\tContent Precedence: {}",
        default.unwrap_or_default(),
        field("precedence")
    );
    out.push_str(&lines_of(
        of,
        &[
            ("Vserver IP and Port insertion", "insertvserveripport"),
            ("Redirect URL", "redirecturl"),
            ("Backup", "backupvserver"),
        ],
    ));
    let _ = writeln!(out, "\tL2Conn: {}\tCase Sensitivity: {}", field("l2conn"), field("casesensitive"));
    out.push_str(&lines_of(
        of,
        &[("Authentication", "authentication"), ("401 Based Authentication", "authn401")],
    ));
    let _ = writeln!(out, "\tPush: {}\tPush VServer: {}", field("push"), field("pushvserver"));
    out.push_str(&lines_of(
        of,
        &[
            ("Push Label Rule", "pushlabel"),
            ("Listen Policy", "listenpolicy"),
            ("IcmpResponse", "icmpvsrresponse"),
            ("RHIstate", "rhistate"),
            ("Traffic Domain", "td"),
        ],
    ));
    out.push_str(&general::others(Object::CsVserver, of, &[OF_BOTH, SHOWN].concat()));
    out.push('\n');
    for (at, bound) in item.bound("csvserver_cspolicy_binding").iter().enumerate() {
        out.push_str(&format!("{})\tContent-Based Policy: {}\n", at + 1, policy(bound)));
    }
    out
}

/// What is bound, behind its number.
fn policy(bound: &Fields) -> String {
    let priority = or(bound, "priority", "0");
    let target = text(bound, "targetlbvserver");
    let target = if target.is_empty() { String::new() } else { format!("\tTarget: {target}") };
    format!("{}\tPriority: {priority}{target}\tHits: {}", text(bound, "policyname"), or(bound, "hits", "0"))
}

const DEFAULT: &str = "csvserver_lbvserver_binding";
/// What has a line of its own, or is in another, beside what a virtual server of load balancing has too.
const SHOWN: &[&str] = &["stateupdate", "precedence", "redirecturl", "casesensitive", "authentication"];
