//! `sslvserver`: TLS of virtual servers, which is kept and not acted on yet; and `lbprofile`, which is so, too
//! (`spec/nitro.md` 9). `sslservice` and `sslservicegroup`: TLS with services.

use steelyard_core::config::attribute::Resource;
use steelyard_core::config::{LbProfile, SslService, SslServiceGroup, SslVserver};

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

/// `sslservice`: TLS with all services that have any, whether or not anything was said of it; or with the one that is named.
pub fn sslservice(wanted: &Wanted<'_>) -> Result<Vec<Row>, Reply> {
    let config = wanted.state.config();
    let with_tls = config.services.iter().filter(|service| service.service_type.has_tls());
    let of = |name: &String| {
        let fresh = || SslService { name: name.clone(), ..SslService::default() };
        config.ssl_services.find(name).cloned().unwrap_or_else(fresh)
    };
    named(wanted, with_tls.map(|service| &service.name), |name| wanted.configured(&of(name)))
}

/// `sslservicegroup`: the same of groups.
pub fn sslservicegroup(wanted: &Wanted<'_>) -> Result<Vec<Row>, Reply> {
    let config = wanted.state.config();
    let with_tls = config.service_groups.iter().filter(|group| group.service_type.has_tls());
    let of = |name: &String| {
        let fresh = || SslServiceGroup { name: name.clone(), ..SslServiceGroup::default() };
        config.ssl_service_groups.find(name).cloned().unwrap_or_else(fresh)
    };
    named(wanted, with_tls.map(|group| &group.name), |name| wanted.configured(&of(name)))
}

/// The certificates of `sslservice_sslcertkey_binding`.
pub fn certificates_of_services(wanted: &Wanted<'_>) -> Result<Vec<Row>, Reply> {
    let config = wanted.state.config();
    let services = config.ssl_services.iter().map(|s| (&*s.name, &*s.bound.cert_keys));
    Ok(certificates(wanted, "servicename", services))
}

/// Those of `sslservicegroup_sslcertkey_binding`.
pub fn certificates_of_groups(wanted: &Wanted<'_>) -> Result<Vec<Row>, Reply> {
    let config = wanted.state.config();
    let groups = config.ssl_service_groups.iter().map(|g| (&*g.name, &*g.bound.cert_keys));
    Ok(certificates(wanted, "servicegroupname", groups))
}

fn certificates<'c, T: Resource + 'c>(
    wanted: &Wanted<'_>,
    key: &'static str,
    bound: impl Iterator<Item = (&'c str, &'c [T])>,
) -> Vec<Row> {
    let is_meant = |name: &str| wanted.id.is_none_or(|id| id.eq_ignore_ascii_case(name));
    let row = |name: &str, certificate: &T| {
        let mut row = wanted.row();
        row.text(key, name).attributes(certificate);
        row
    };
    let meant = bound.filter(|(name, _)| is_meant(name));
    meant.flat_map(|(name, bound)| bound.iter().map(move |certificate| row(name, certificate))).collect()
}

/// A row for each of those names, or for the one in the path.
fn named<'c>(
    wanted: &Wanted<'_>,
    names: impl Iterator<Item = &'c String>,
    row: impl Fn(&String) -> Row,
) -> Result<Vec<Row>, Reply> {
    let is_meant = |name: &&String| wanted.id.is_none_or(|id| id.eq_ignore_ascii_case(name));
    let rows: Vec<Row> = names.filter(is_meant).map(row).collect();
    if rows.is_empty() && wanted.id.is_some() { Err(wanted.unknown()) } else { Ok(rows) }
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
