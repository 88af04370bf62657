//! What is bound to content switching virtual servers.

use super::{bindings, row};
use crate::nitro::reply::Reply;
use crate::nitro::resource::Wanted;
use crate::nitro::row::Row;

/// `csvserver_cspolicy_binding`. Policies of other kinds are no part of it.
pub fn csvserver_cspolicy(wanted: &Wanted<'_>) -> Result<Vec<Row>, Reply> {
    bindings(
        wanted,
        |config| &config.cs_vservers,
        |view, vserver| {
            let of_switching = vserver
                .policies
                .iter()
                .filter_map(|bound| Some((bound, view.config.cs_policies.find(&bound.policy)?)));
            of_switching
                .map(|(bound, policy)| {
                    let mut row = row("csvserver_cspolicy_binding");
                    row.text("name", &vserver.name)
                        .attributes(bound)
                        .text("rule", &policy.rule)
                        .flag("invoke", bound.label.is_some())
                        .always_zero();
                    row
                })
                .collect()
        },
    )
}

/// `csvserver_lbvserver_binding`: where the requests go that no policy passes on.
pub fn csvserver_lbvserver(wanted: &Wanted<'_>) -> Result<Vec<Row>, Reply> {
    bindings(
        wanted,
        |config| &config.cs_vservers,
        |_, vserver| {
            let target = &vserver.default_target;
            if target.lb_vserver.is_empty() && target.vserver.is_empty() {
                return Vec::new();
            }
            let mut row = row("csvserver_lbvserver_binding");
            row.text("name", &vserver.name).attributes(target).always_zero();
            vec![row]
        },
    )
}
