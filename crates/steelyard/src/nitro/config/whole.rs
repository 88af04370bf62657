//! The configuration as a whole: running, saved, and whether they differ (`spec/nitro.md` 4, 9).

use std::time::SystemTime;

use crate::nitro::reply::Reply;
use crate::nitro::resource::Wanted;
use crate::nitro::row::Row;
use crate::nitro::since::{date, seconds};
use crate::state::State;

/// `nsconfig`: where the appliance is managed, settings that `nsparam` has, too, and whether all is saved.
pub fn nsconfig(wanted: &Wanted<'_>) -> Row {
    let state = wanted.state;
    let config = state.config();
    let now = SystemTime::now();
    let mut row = wanted.row();
    row.attributes(&config.ns_config)
        .attributes(&config.ns_param)
        .retain_documented()
        .text("systemtype", "Stand-alone")
        .flag("configchanged", state.is_changed())
        .text("lastconfigchangedtime", date(state.wall(state.changed_at())))
        .text("currentsytemtime", date(now))
        .number("systemtime", seconds(now))
        .zeros(&["flags"]);
    if let Some(ip) = config.ns_config.ip {
        row.address("primaryip", Some(ip));
    }
    if let Some(saved) = state.saved_at() {
        row.text("lastconfigsavetime", date(saved));
    }
    row
}

/// `nsrunningconfig`.
pub fn nsrunningconfig(wanted: &Wanted<'_>) -> Row {
    let mut row = wanted.row();
    row.text("response", wanted.state.printed().ns_conf);
    row
}

/// `nssavedconfig`, which is read from its file.
pub async fn nssavedconfig(mut row: Row, state: &State) -> Result<Row, Reply> {
    let text = state.printed_of_files().await.map_err(|fault| Reply::failed(&fault))?;
    row.text("textblob", text.unwrap_or_default());
    Ok(row)
}
