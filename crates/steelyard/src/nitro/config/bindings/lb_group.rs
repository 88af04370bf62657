//! The virtual servers of groups of them.

use super::{bindings, row};
use crate::nitro::reply::Reply;
use crate::nitro::resource::Wanted;
use crate::nitro::row::Row;

/// `lbgroup_lbvserver_binding`.
pub fn lbgroup_lbvserver(wanted: &Wanted<'_>) -> Result<Vec<Row>, Reply> {
    bindings(
        wanted,
        |config| &config.lb_groups,
        |_, group| {
            let of = |vserver: &String| {
                let mut row = row("lbgroup_lbvserver_binding");
                row.text("name", &group.name).text("vservername", vserver);
                row
            };
            group.vservers.iter().map(of).collect()
        },
    )
}
