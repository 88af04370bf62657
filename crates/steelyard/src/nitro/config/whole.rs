//! The configuration as a whole: running, saved, and whether they differ (`spec/nitro.md` 4, 9).

use crate::nitro::reply::Reply;
use crate::nitro::resource::Wanted;
use crate::nitro::row::Row;
use crate::state::State;

/// `nsconfig`.
pub fn nsconfig(wanted: &Wanted<'_>) -> Row {
    let mut row = wanted.row();
    row.flag("configchanged", wanted.state.is_changed()).text("systemtype", "Stand-alone");
    row
}

/// `nsrunningconfig`.
pub fn nsrunningconfig(wanted: &Wanted<'_>) -> Row {
    let mut row = wanted.row();
    row.text("response", wanted.state.printed().ns_conf);
    row
}

/// `nsparam`.
pub fn nsparam(wanted: &Wanted<'_>) -> Row {
    let mut row = wanted.row();
    row.attributes(&wanted.state.config().ns_param);
    row
}

/// `nssavedconfig`, which is read from its file.
pub async fn nssavedconfig(mut row: Row, state: &State) -> Result<Row, Reply> {
    let text = state.printed_of_files().await.map_err(|fault| Reply::failed(&fault))?;
    row.text("textblob", text.unwrap_or_default());
    Ok(row)
}
