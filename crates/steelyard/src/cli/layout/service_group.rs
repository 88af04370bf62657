//! `show serviceGroup`.

use std::fmt::Write as _;

use steelyard_core::command::Object;

use super::service::{SHOWN, changed, probes, settings};
use super::{general, or, text};
use crate::cli::show::{Fields, Item};

/// A group, and its members where they were asked for.
pub fn text_of(item: &Item) -> String {
    let members_of = item.bound("servicegroup_servicegroupmember_binding");
    head(item) + &members(members_of, item.bound("servicegroup_servicegroupentitymonbindings_binding"))
}

fn head(item: &Item) -> String {
    let of = &item.of;
    let place = item.place();
    let mut out = format!("{place}\t{} - {}\n", text(of, "servicegroupname"), text(of, "servicetype"));
    // Formatting into a String cannot fail.
    let _ = writeln!(
        out,
        "\tState: {}\tEffective State: {}\tMonitor Threshold : {}",
        text(of, "state"),
        text(of, "servicegroupeffectivestate"),
        or(of, "monthreshold", "0")
    );
    out.push_str(&settings(of));
    let _ = writeln!(
        out,
        "\tMonitoring Owner: 0\n\tMonitor Connection Close : {}\n\tContentInspection profile name: ???",
        or(of, "monconnectionclose", "NONE")
    );
    if !text(of, "comment").is_empty() {
        let _ = writeln!(out, "\tComment: \"{}\"", text(of, "comment"));
    }
    let shown: Vec<&str> = SHOWN.iter().copied().chain(["monconnectionclose"]).collect();
    out.push_str(&general::others(Object::ServiceGroup, of, &shown));
    out.push('\n');
    out
}

/// Its members, each with what its monitors found.
fn members(members: &[Fields], probed: &[Fields]) -> String {
    let mut out = String::new();
    for (at, member) in members.iter().enumerate() {
        let _ = writeln!(
            out,
            "\t{})     {}:{}\tState: {}\tServer Name: {}\tServer ID: {}\tWeight: {}",
            at + 1,
            text(member, "ip"),
            text(member, "port"),
            text(member, "svrstate"),
            text(member, "servername"),
            or(member, "customserverid", "None"),
            or(member, "weight", "1")
        );
        out.push_str(&changed("\t\t", member));
        let name = ["servicegroupname", "servername", "port"].map(|field| text(member, field)).join("?");
        let own = |probe: &&Fields| text(probe, "servicegroupentname2") == name;
        for probe in probed.iter().filter(own) {
            let passive = u8::from(text(probe, "passive") == "true");
            let _ = writeln!(
                out,
                "\n\t\tMonitor Name: {} \tState: {}\tPassive: {passive}",
                text(probe, "monitor_name"),
                text(probe, "monitor_state")
            );
            out.push_str(&probes(probe));
        }
    }
    out
}
