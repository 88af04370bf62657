//! The other way round: which virtual servers a service or a group is bound to.

use steelyard_core::config::{LbBinding, LbVserver};

use super::{View, each, row, switch};
use crate::nitro::reply::Reply;
use crate::nitro::resource::Wanted;
use crate::nitro::row::Row;

/// `svcbindings`. A service that is bound nowhere has one element without a virtual server.
pub fn svcbindings(wanted: &Wanted<'_>) -> Result<Vec<Row>, Reply> {
    each(
        wanted,
        |config| &config.services,
        |view, service| {
            let of = |vserver: Option<&LbVserver>| {
                let mut row = row("svcbindings");
                row.text("servicename", &service.name)
                    .text("ipaddress", view.ip(&service.server))
                    .number("port", service.port.into())
                    .text("svrstate", view.service_state(&service.name));
                if let Some(vserver) = vserver {
                    row.text("vservername", &vserver.name);
                }
                row
            };
            of_each(view, &service.name, of)
        },
    )
}

/// `servicegroupbindings`. A group that is bound nowhere has one element with its name alone, because to Terraform a group
/// without the key is gone (`spec/nitro.md` 5). Where it is bound, address and state are the virtual server's.
pub fn servicegroupbindings(wanted: &Wanted<'_>) -> Result<Vec<Row>, Reply> {
    each(
        wanted,
        |config| &config.service_groups,
        |view, group| {
            let of = |vserver: Option<&LbVserver>| {
                let mut row = row("servicegroupbindings");
                row.text("servicegroupname", &group.name);
                let Some(vserver) = vserver else { return row };
                row.text("vservername", &vserver.name)
                    .text("ipaddress", vserver.ip.map_or_else(|| "0.0.0.0".to_owned(), |ip| ip.to_string()))
                    .number("port", vserver.port.into())
                    .text("state", switch(group.enabled));
                if let Some(live) = view.snapshot.vserver(&vserver.name) {
                    row.text("svrstate", view.state.vserver_state(live).0.text());
                }
                row
            };
            of_each(view, &group.name, of)
        },
    )
}

/// `lbpersistentsessions`: this version keeps none.
pub fn lbpersistentsessions(_: &Wanted<'_>) -> Result<Vec<Row>, Reply> {
    Ok(Vec::new())
}

/// A row for each virtual server that `name` is bound to, or one for none.
fn of_each(view: &View<'_>, name: &str, row: impl Fn(Option<&LbVserver>) -> Row) -> Vec<Row> {
    let is_it = |binding: &LbBinding| binding.name().eq_ignore_ascii_case(name);
    let bound = view.config.lb_vservers.iter().filter(|vserver| vserver.bindings.iter().any(is_it));
    let rows: Vec<Row> = bound.map(|vserver| row(Some(vserver))).collect();
    if rows.is_empty() { vec![row(None)] } else { rows }
}
