//! What is bound to service groups: members and monitors.

use steelyard_core::config::{Config, Member, MonitorBinding, ServiceGroup, Table};
use steelyard_core::snapshot::member_name;

use super::probes::Probes;
use super::service::or_default;
use super::{View, bindings, row, switch};
use crate::nitro::reply::Reply;
use crate::nitro::resource::Wanted;
use crate::nitro::row::Row;
use crate::nitro::since::since;

/// `servicegroup_binding`: all of it in one element.
pub fn servicegroup(wanted: &Wanted<'_>) -> Result<Vec<Row>, Reply> {
    bindings(wanted, table, |view, group| {
        let mut all = row("servicegroup_binding");
        all.text("servicegroupname", &group.name)
            .rows("servicegroup_servicegroupmember_binding", members(view, group))
            .rows("servicegroup_lbmonitor_binding", monitors(view, group))
            .rows(MONITORS_OF_MEMBERS, monitors_of_members(view, group));
        vec![all]
    })
}

/// `servicegroup_servicegroupmember_binding`.
pub fn servicegroup_servicegroupmember(wanted: &Wanted<'_>) -> Result<Vec<Row>, Reply> {
    bindings(wanted, table, members)
}

/// `servicegroup_lbmonitor_binding`.
pub fn servicegroup_lbmonitor(wanted: &Wanted<'_>) -> Result<Vec<Row>, Reply> {
    bindings(wanted, table, monitors)
}

/// `servicegroup_servicegroupentitymonbindings_binding`: each monitor of each member.
pub fn servicegroup_monitors_of_members(wanted: &Wanted<'_>) -> Result<Vec<Row>, Reply> {
    bindings(wanted, table, monitors_of_members)
}

fn table(config: &Config) -> &Table<ServiceGroup> {
    &config.service_groups
}

fn members(view: &View<'_>, group: &ServiceGroup) -> Vec<Row> {
    let member_row = |member: &Member| {
        let name = member_name(&group.name, &member.server, member.port);
        let mut row = row("servicegroup_servicegroupmember_binding");
        row.text("servicegroupname", &group.name)
            .text("ip", view.ip(&member.server))
            .text("servername", &member.server)
            .text("svrstate", view.service_state(&name))
            .number("weight", member.weight.into());
        of_member(&mut row, member);
        row.text("graceful", "NO").always_zero();
        if let Some(live) = view.live(&name) {
            since(&mut row, view.state, live.since());
        }
        row
    };
    group.members.iter().map(member_row).collect()
}

/// What every row about a member has.
fn of_member(row: &mut Row, member: &Member) {
    row.number("port", member.port.into())
        .text("state", switch(member.enabled))
        .number("hashid", member.hash_id.unwrap_or(0).into())
        .text("customserverid", &member.custom_server_id)
        .number("dbsttl", member.dbs_ttl_s.into())
        .text("nameserver", if member.name_server.is_empty() { NO_NAME_SERVER } else { &member.name_server });
    if let Some(order) = member.order {
        row.number("order", order.into());
    }
}

fn monitors(_: &View<'_>, group: &ServiceGroup) -> Vec<Row> {
    let monitor = |binding: &MonitorBinding| {
        let mut row = row("servicegroup_lbmonitor_binding");
        row.text("servicegroupname", &group.name)
            .text("monitor_name", &binding.monitor)
            .text("monstate", switch(binding.enabled))
            .text("state", switch(group.enabled))
            .number("weight", binding.weight.into())
            .number("monweight", binding.weight.into())
            .flag("passive", binding.passive)
            .text("customserverid", "None")
            .always_zero();
        row
    };
    group.monitors.iter().map(monitor).collect()
}

fn monitors_of_members(view: &View<'_>, group: &ServiceGroup) -> Vec<Row> {
    let bound = or_default(group.service_type, &group.monitors, group.health_monitor);
    let of = |member: &Member| {
        let name = member_name(&group.name, &member.server, member.port);
        let probes = Probes::of(view, &name);
        let monitor = |binding: &MonitorBinding| {
            let mut row = row(MONITORS_OF_MEMBERS);
            row.text("servicegroupname", &group.name)
                .text("servicegroupentname2", &name)
                .text("monitor_name", &binding.monitor)
                .number("weight", binding.weight.into())
                .flag("passive", binding.passive);
            of_member(&mut row, member);
            let probed = probes.by(view, binding);
            row.text("monitor_state", probed.state)
                .text("lastresponse", &probed.last_response)
                .number("responsetime", probed.response_ms())
                .number("responsetimeus", probed.response_us)
                .number("monitortotalprobes", probed.probes)
                .number("monitortotalfailedprobes", probed.failed)
                .number("monitorcurrentfailedprobes", probed.failed_now)
                .always_zero();
            row
        };
        bound.iter().map(monitor).collect::<Vec<_>>()
    };
    group.members.iter().flat_map(of).collect()
}

const MONITORS_OF_MEMBERS: &str = "servicegroup_servicegroupentitymonbindings_binding";
const NO_NAME_SERVER: &str = "0.0.0.0";
