//! What a monitor, a service or a group is bound to: `show lb monbindings`, `svcbindings` and `serviceGroupBindings`.

use std::fmt::Write as _;

use super::{table, text};
use crate::cli::show::{Fields, Found, Item};

/// The services and groups of a monitor.
pub fn monitor(item: &Item) -> String {
    let field = |name| text(&item.of, name);
    let mut out = format!(
        "{}\tMonitor Name: {}\tType: {}\tState: {}\n",
        item.place(),
        field("monitorname"),
        field("type"),
        field("state")
    );
    let services = item.bound("lbmonbindings_service_binding");
    for (at, of) in services.iter().enumerate() {
        let place = format!("{}:{}", text(of, "ipaddress"), text(of, "port"));
        // Formatting into a String cannot fail.
        let _ = writeln!(
            out,
            "\t{})\tService Name: {} ({place}) - {}\tState: {}\tMonitor State: {}",
            at + 1,
            text(of, "servicename"),
            text(of, "servicetype"),
            text(of, "svrstate"),
            text(of, "monsvcstate")
        );
    }
    let group = |(at, of): (usize, &Fields)| {
        format!(
            "\t{})\tService Group Name: {} - {}\tMonitor State: {}\n",
            services.len() + at + 1,
            text(of, "servicegroupname"),
            text(of, "servicetype"),
            text(of, "monstate")
        )
    };
    let groups = item.bound("lbmonbindings_servicegroup_binding").iter().enumerate().map(group);
    out.extend(groups);
    out
}

/// The virtual servers of services.
pub fn service(found: &Found) -> String {
    table(
        found,
        &[
            ("Service", "servicename"),
            ("IPAddress", "ipaddress"),
            ("Port", "port"),
            ("State", "svrstate"),
            ("Vserver", "vservername"),
        ],
    )
}

/// The virtual servers of groups.
pub fn service_group(found: &Found) -> String {
    table(
        found,
        &[
            ("Service Group", "servicegroupname"),
            ("State", "state"),
            ("Vserver", "vservername"),
            ("IPAddress", "ipaddress"),
            ("Port", "port"),
            ("Vserver State", "svrstate"),
        ],
    )
}
