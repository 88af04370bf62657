//! What is bound to virtual servers.

use steelyard_core::command::Policies;
use steelyard_core::config::{Config, LbBinding, LbVserver, Member, Service, ServiceGroup, Table};
use steelyard_core::snapshot::member_name;

use super::{View, bindings, row};
use crate::nitro::reply::Reply;
use crate::nitro::resource::Wanted;
use crate::nitro::row::Row;

/// `lbvserver_binding`: all of it in one element.
pub fn lbvserver(wanted: &Wanted<'_>) -> Result<Vec<Row>, Reply> {
    bindings(wanted, table, |view, vserver| {
        let mut all = row("lbvserver_binding");
        all.text("name", &vserver.name)
            .rows("lbvserver_service_binding", services(view, vserver))
            .rows("lbvserver_servicegroup_binding", groups(view, vserver))
            .rows("lbvserver_servicegroupmember_binding", members(view, vserver));
        vec![all]
    })
}

/// `lbvserver_service_binding`.
pub fn lbvserver_service(wanted: &Wanted<'_>) -> Result<Vec<Row>, Reply> {
    bindings(wanted, table, services)
}

/// `lbvserver_servicegroup_binding`.
pub fn lbvserver_servicegroup(wanted: &Wanted<'_>) -> Result<Vec<Row>, Reply> {
    bindings(wanted, table, groups)
}

/// `lbvserver_servicegroupmember_binding`.
pub fn lbvserver_servicegroupmember(wanted: &Wanted<'_>) -> Result<Vec<Row>, Reply> {
    bindings(wanted, table, members)
}

/// `lbvserver_policy_binding`: the policies of every kind.
pub fn lbvserver_policy(wanted: &Wanted<'_>) -> Result<Vec<Row>, Reply> {
    let mut rows = bindings(wanted, table, |_, vserver| {
        let bound = |policy| {
            let mut row = row("lbvserver_policy_binding");
            row.text("name", &vserver.name).attributes(policy);
            row
        };
        vserver.policies.iter().map(bound).collect()
    })?;
    // Their lines are kept as they stand: all are read for this.
    if !rows.is_empty() {
        let known = Policies::of(&wanted.state.config());
        for row in &mut rows {
            let kind = row.as_text("policyname").and_then(|name| known.kind(&name).map(str::to_owned));
            if let Some(kind) = kind {
                row.text("policytype", kind);
            }
        }
    }
    Ok(rows)
}

fn table(config: &Config) -> &Table<LbVserver> {
    &config.lb_vservers
}

fn services(view: &View<'_>, vserver: &LbVserver) -> Vec<Row> {
    let bound = vserver.bindings.iter().filter_map(|binding| match binding {
        LbBinding::Service { name, weight, order } => {
            Some((view.config.services.find(name)?, *weight, *order))
        }
        LbBinding::ServiceGroup { .. } => None,
    });
    bound.map(|(service, weight, order)| service_row(view, vserver, service, (weight, order))).collect()
}

fn service_row(
    view: &View<'_>,
    vserver: &LbVserver,
    service: &Service,
    (weight, order): (u32, Option<u32>),
) -> Row {
    let mut row = row("lbvserver_service_binding");
    row.text("name", &vserver.name).text("servicename", &service.name);
    target(&mut row, (view.ip(&service.server), service.port), service.service_type.text());
    row.text("curstate", view.service_state(&service.name))
        .text("vsvrbindsvcip", view.ip(&service.server))
        .number("vsvrbindsvcport", service.port.into());
    share(&mut row, weight, order);
    row
}

fn groups(view: &View<'_>, vserver: &LbVserver) -> Vec<Row> {
    let bound = vserver.bindings.iter().filter_map(|binding| match binding {
        LbBinding::ServiceGroup { name, order } => Some((view.config.service_groups.find(name)?, *order)),
        LbBinding::Service { .. } => None,
    });
    let group_row = |(group, order): (&ServiceGroup, Option<u32>)| {
        let mut row = row("lbvserver_servicegroup_binding");
        // Clients look for the group under either name (`spec/nitro.md` 5).
        row.text("name", &vserver.name)
            .text("servicegroupname", &group.name)
            .text("servicename", &group.name)
            .number("weight", 1)
            .text("stateflag", NO_FLAGS);
        ordered(&mut row, order);
        row
    };
    bound.map(group_row).collect()
}

fn members(view: &View<'_>, vserver: &LbVserver) -> Vec<Row> {
    let bound = vserver.bindings.iter().filter_map(|binding| match binding {
        LbBinding::ServiceGroup { name, order } => Some((view.config.service_groups.find(name)?, *order)),
        LbBinding::Service { .. } => None,
    });
    let row_of = |group, order| move |member| member_row(view, vserver, (group, member), order);
    bound.flat_map(|(group, order)| group.members.iter().map(row_of(group, order))).collect()
}

fn member_row(
    view: &View<'_>,
    vserver: &LbVserver,
    (group, member): (&ServiceGroup, &Member),
    order: Option<u32>,
) -> Row {
    let mut row = row("lbvserver_servicegroupmember_binding");
    row.text("name", &vserver.name).text("servicegroupname", &group.name);
    target(&mut row, (view.ip(&member.server), member.port), group.service_type.text());
    row.text("curstate", view.service_state(&member_name(&group.name, &member.server, member.port)))
        .text("cookiename", "");
    share(&mut row, member.weight, order.or(member.order));
    row
}

fn target(row: &mut Row, (ip, port): (String, u16), service_type: &'static str) {
    row.text("ipv46", ip).number("port", port.into()).text("servicetype", service_type);
}

fn share(row: &mut Row, weight: u32, order: Option<u32>) {
    row.number("weight", weight.into())
        .always_zero()
        .text("cookieipport", "")
        .text("vserverid", "0")
        .text("preferredlocation", "")
        .text("stateflag", NO_FLAGS);
    ordered(row, order);
}

fn ordered(row: &mut Row, order: Option<u32>) {
    if let Some(order) = order {
        row.number("order", order.into()).text("orderstr", order.to_string());
    }
}

/// What an appliance notes about a binding beside its state.
const NO_FLAGS: &str = "0";
