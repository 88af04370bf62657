//! `sslvserver`: TLS of virtual servers, which is kept and not acted on yet; and `lbprofile`, which is so, too
//! (`spec/nitro.md` 9).

use steelyard_core::config::{LbProfile, SslVserver};

use super::always;
use crate::nitro::reply::Reply;
use crate::nitro::resource::Wanted;
use crate::nitro::row::Row;

/// TLS of all virtual servers that have any, whether or not anything was said of it; or of the one that is named.
pub fn sslvserver(wanted: &Wanted<'_>) -> Result<Vec<Row>, Reply> {
    let row = |vserver: &SslVserver| {
        let mut row = wanted.configured(vserver);
        always::fill(&mut row, "sslvserver");
        row
    };
    Ok(with_tls(wanted)?.iter().map(row).collect())
}

/// TLS of what the path names, or all of it.
pub fn with_tls(wanted: &Wanted<'_>) -> Result<Vec<SslVserver>, Reply> {
    let config = wanted.state.config();
    let is_meant =
        |vserver: &SslVserver| wanted.id.is_none_or(|name| vserver.name.eq_ignore_ascii_case(name));
    let found: Vec<SslVserver> = config.all_ssl_vservers().filter(is_meant).collect();
    match found.is_empty() && wanted.id.is_some() {
        true => Err(wanted.unknown()),
        false => Ok(found),
    }
}

/// Profiles: all, or the one that is named, with how many virtual servers name it.
pub fn lbprofile(wanted: &Wanted<'_>) -> Result<Vec<Row>, Reply> {
    let config = wanted.state.config();
    let row = |profile: &LbProfile| {
        let names = |named: &String| named.eq_ignore_ascii_case(&profile.name);
        let count = config.lb_vservers.iter().filter(|vserver| names(&vserver.lb_profile)).count();
        let mut row = wanted.configured(profile);
        row.number("vsvrcount", count as u64);
        row
    };
    Ok(wanted.of(&config.lb_profiles)?.into_iter().map(row).collect())
}
