//! Content switching: virtual servers, policies and actions, which are kept and not acted on yet (`spec/nitro.md` 9).

use steelyard_core::config::CsVserver;

use super::always;
use super::lbvserver::listen_policy;
use crate::nitro::reply::Reply;
use crate::nitro::resource::Wanted;
use crate::nitro::row::Row;

/// Virtual servers: all, or the one that is named. None is opened, so that none is UP.
pub fn csvserver(wanted: &Wanted<'_>) -> Result<Vec<Row>, Reply> {
    let config = wanted.state.config();
    let row = |vserver: &CsVserver| {
        let mut row = wanted.row();
        row.attributes_but(vserver, &["ipv46", "ippattern", "ipmask", "listenpolicy"])
            .address("ipv46", vserver.ip)
            .address("ippattern", vserver.ip_pattern)
            .text("ipmask", vserver.ip_mask.map_or("*".to_owned(), |mask| mask.to_string()))
            .text("listenpolicy", listen_policy(&vserver.listen_policy))
            .text("curstate", if vserver.enabled { "DOWN" } else { "OUT OF SERVICE" });
        always::fill(&mut row, "csvserver");
        row
    };
    Ok(wanted.of(&config.cs_vservers)?.into_iter().map(row).collect())
}

/// Policies: all, or the one that is named.
pub fn cspolicy(wanted: &Wanted<'_>) -> Result<Vec<Row>, Reply> {
    let config = wanted.state.config();
    let policies = wanted.of(&config.cs_policies)?;
    Ok(policies.into_iter().map(|policy| wanted.configured(policy)).collect())
}

/// Actions: all, or the one that is named.
pub fn csaction(wanted: &Wanted<'_>) -> Result<Vec<Row>, Reply> {
    let config = wanted.state.config();
    let actions = wanted.of(&config.cs_actions)?;
    Ok(actions.into_iter().map(|action| wanted.configured(action)).collect())
}
