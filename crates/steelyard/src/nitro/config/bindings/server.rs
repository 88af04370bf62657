//! What runs on servers: services and members of groups.

use steelyard_core::config::{Config, Member, Server, ServiceGroup, Table};
use steelyard_core::snapshot::member_name;

use super::{View, bindings, row};
use crate::nitro::reply::Reply;
use crate::nitro::resource::Wanted;
use crate::nitro::row::Row;

/// `server_binding`: all of it in one element.
pub fn server(wanted: &Wanted<'_>) -> Result<Vec<Row>, Reply> {
    bindings(wanted, table, |view, server| {
        let mut all = row("server_binding");
        all.text("name", &server.name)
            .rows("server_service_binding", services(view, server))
            .rows("server_servicegroup_binding", members(view, server));
        vec![all]
    })
}

/// `server_service_binding`.
pub fn server_service(wanted: &Wanted<'_>) -> Result<Vec<Row>, Reply> {
    bindings(wanted, table, services)
}

/// `server_servicegroup_binding`.
pub fn server_servicegroup(wanted: &Wanted<'_>) -> Result<Vec<Row>, Reply> {
    bindings(wanted, table, members)
}

fn table(config: &Config) -> &Table<Server> {
    &config.servers
}

fn services(view: &View<'_>, server: &Server) -> Vec<Row> {
    let here = view.config.services.iter().filter(|s| s.server.eq_ignore_ascii_case(&server.name));
    here.map(|service| {
        let mut row = row("server_service_binding");
        row.text("name", &server.name).text("servicename", &service.name);
        at(view, &mut row, server, service.port);
        row.text("svctype", service.service_type.text()).text("svrstate", view.service_state(&service.name));
        row
    })
    .collect()
}

fn members(view: &View<'_>, server: &Server) -> Vec<Row> {
    let all =
        view.config.service_groups.iter().flat_map(|group| group.members.iter().map(move |m| (group, m)));
    let here = all.filter(|(_, member)| member.server.eq_ignore_ascii_case(&server.name));
    here.map(|found| member_row(view, server, found)).collect()
}

/// With what the group has for each of its members.
fn member_row(view: &View<'_>, server: &Server, (group, member): (&ServiceGroup, &Member)) -> Row {
    let mut row = row("server_servicegroup_binding");
    let name = member_name(&group.name, &member.server, member.port);
    row.text("name", &server.name).attributes(group).retain_documented();
    at(view, &mut row, server, member.port);
    row.number("dup_port", member.port.into())
        .text("svctype", group.service_type.text())
        .text("dup_svctype", group.service_type.text())
        .text("svrstate", view.service_state(&name))
        .text("customserverid", &member.custom_server_id)
        .number("weight", member.weight.into())
        .text("servicegroupentname2", name)
        .number("boundtd", group.traffic_domain.into())
        .always_zero();
    row
}

fn at(view: &View<'_>, row: &mut Row, server: &Server, port: u16) {
    let ip = view.ip(&server.name);
    row.text("serviceipaddress", &ip).text("serviceipstr", ip).number("port", port.into());
}
