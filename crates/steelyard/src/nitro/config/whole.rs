//! The configuration as a whole: running, saved, and whether they differ (`spec/nitro.md` 4, 9).

use super::always;
use crate::nitro::reply::Reply;
use crate::nitro::resource::Wanted;
use crate::nitro::row::Row;
use crate::save::Version;
use crate::state::State;

/// `nsconfig`: where the appliance is managed, settings that `nsparam` has, too, and whether all is saved.
pub fn nsconfig(wanted: &Wanted<'_>) -> Row {
    let state = wanted.state;
    let config = state.config();
    let now = state.date(state.now());
    let mut row = wanted.row();
    row.attributes(&config.ns_config)
        .attributes(&config.ns_param)
        .retain_documented()
        .flag("configchanged", state.is_changed())
        .text("lastconfigchangedtime", state.date(state.changed_at()).text())
        .text("currentsytemtime", now.text())
        .number("systemtime", now.seconds());
    always::fill(&mut row, "nsconfig");
    if let Some(ip) = config.ns_config.ip {
        row.address("primaryip", Some(ip));
    }
    if let Some(saved) = state.saved_at() {
        row.text("lastconfigsavetime", saved.text());
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
    let text = state.printed_of_files(Version::Last).await.map_err(|fault| Reply::failed(&fault))?;
    row.text("textblob", text);
    Ok(row)
}
