//! What there is one of: features, modes, the name of the host, parameters. And groups of virtual servers.

use serde_json::Value;
use steelyard_core::config::{Features, LbGroup, Modes, NsHostName};
use steelyard_core::snapshot::surge_steps;

use super::always;
use crate::nitro::reply::Reply;
use crate::nitro::resource::Wanted;
use crate::nitro::row::Row;

/// `nsfeature`: those that are enabled, and one boolean for each.
pub fn nsfeature(wanted: &Wanted<'_>) -> Row {
    let config = wanted.state.config();
    switched(wanted, "feature", Features::known(), |feature| config.features.has(feature))
}

/// `nsmode`: the same of modes.
pub fn nsmode(wanted: &Wanted<'_>) -> Row {
    let config = wanted.state.config();
    switched(wanted, "mode", Modes::known(), |mode| config.modes.has(mode))
}

/// `nshostname`; none where no name was given.
pub fn nshostname(wanted: &Wanted<'_>) -> Result<Vec<Row>, Reply> {
    let config = wanted.state.config();
    let host = Some(&config.ns_host_name).filter(|host| !host.name.is_empty());
    let row = |host: &NsHostName| {
        let mut row = wanted.row();
        row.attributes_but(host, &["ownernode"]).number("ownernode", host.owner.unwrap_or(NOBODY).into());
        row
    };
    Ok(host.map(row).into_iter().collect())
}

/// `nsparam`.
pub fn nsparam(wanted: &Wanted<'_>) -> Row {
    let mut row = wanted.row();
    row.attributes(&wanted.state.config().ns_param);
    row
}

/// `nsspparams`. A threshold that is not set is that of the throttle.
pub fn nsspparams(wanted: &Wanted<'_>) -> Row {
    let params = &wanted.state.config().ns_sp_params;
    let mut row = wanted.row();
    row.attributes_but(params, &["basethreshold"])
        .number("basethreshold", surge_steps(params).begin().into());
    row
}

/// `lbparameter`.
pub fn lbparameter(wanted: &Wanted<'_>) -> Row {
    let mut row = wanted.row();
    row.attributes(&wanted.state.config().lb_parameter);
    row
}

/// Groups of virtual servers: all, or the one that is named.
pub fn lbgroup(wanted: &Wanted<'_>) -> Result<Vec<Row>, Reply> {
    let config = wanted.state.config();
    let none = |word: &'static str| if word.is_empty() { "NONE" } else { word };
    let row = |group: &LbGroup| {
        let mut row = wanted.row();
        row.attributes_but(group, &["persistencetype", "persistencebackup"])
            .text("persistencetype", none(group.persistence))
            .text("persistencebackup", none(group.persistence_backup));
        always::fill(&mut row, "lbgroup");
        row
    };
    Ok(wanted.of(&config.lb_groups)?.into_iter().map(row).collect())
}

fn switched(
    wanted: &Wanted<'_>,
    list: &'static str,
    known: impl Iterator<Item = &'static str>,
    is_on: impl Fn(&str) -> bool,
) -> Row {
    let (mut on, mut row) = (Vec::new(), wanted.row());
    for word in known {
        if is_on(word) {
            on.push(word.to_owned());
        }
        row.plain(word.to_ascii_lowercase(), Value::Bool(is_on(word)));
    }
    if !on.is_empty() {
        row.texts(list, on);
    }
    row
}

/// No appliance of a cluster.
const NOBODY: u32 = 255;
