//! The certificates that are bound for TLS of virtual servers.

use steelyard_core::config::SslVserver;

use super::row;
use crate::nitro::config::tls::with_tls;
use crate::nitro::reply::Reply;
use crate::nitro::resource::Wanted;
use crate::nitro::row::Row;

/// `sslvserver_sslcertkey_binding`.
pub fn sslvserver_sslcertkey(wanted: &Wanted<'_>) -> Result<Vec<Row>, Reply> {
    if wanted.id.is_none() && !wanted.query.says_yes("bulkbindings") {
        return Ok(Vec::new());
    }
    Ok(with_tls(wanted)?.iter().flat_map(certificates).collect())
}

fn certificates(vserver: &SslVserver) -> Vec<Row> {
    let certificate = |bound| {
        let mut row = row("sslvserver_sslcertkey_binding");
        row.text("vservername", &vserver.name).attributes(bound).always_zero();
        row
    };
    vserver.bound.cert_keys.iter().map(certificate).collect()
}
