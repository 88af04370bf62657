//! `sslcertkey`: certificates and their keys, which are kept and serve no traffic yet (`spec/nitro.md` 9).

use steelyard_core::config::SslCertKey;

use crate::nitro::reply::Reply;
use crate::nitro::resource::Wanted;
use crate::nitro::row::Row;

/// Certificates: all, or the one that is named.
pub fn sslcertkey(wanted: &Wanted<'_>) -> Result<Vec<Row>, Reply> {
    let config = wanted.state.config();
    let row = |pair: &SslCertKey| {
        let mut row = wanted.row();
        row.attributes_but(pair, &["passcrypt"]);
        if !pair.issuer.is_empty() {
            row.text("linkcertkeyname", &pair.issuer);
        }
        row
    };
    Ok(wanted.of(&config.ssl_cert_keys)?.into_iter().map(row).collect())
}
