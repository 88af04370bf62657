//! `sslcertkey`: certificates and their keys, which are kept and serve no traffic yet (`spec/nitro.md` 9).

use steelyard_core::config::SslCertKey;

use crate::certificate::Facts;
use crate::nitro::reply::Reply;
use crate::nitro::resource::Wanted;
use crate::nitro::row::Row;
use crate::wall::Date;

/// Certificates: all, or the one that is named.
pub fn sslcertkey(wanted: &Wanted<'_>) -> Result<Vec<Row>, Reply> {
    let config = wanted.state.config();
    let row = |pair: &SslCertKey| {
        let mut row = wanted.row();
        row.attributes_but(pair, &["passcrypt"]);
        if !pair.issuer.is_empty() {
            row.text("linkcertkeyname", &pair.issuer);
        }
        if let Some(facts) = wanted.state.folders().certificate(&pair.cert) {
            fields(&mut row, &facts);
        }
        row
    };
    Ok(wanted.of(&config.ssl_cert_keys)?.into_iter().map(row).collect())
}

/// What the certificate says of itself, as an appliance words it.
fn fields(row: &mut Row, facts: &Facts) {
    let (now, day) = (Date::in_days(0).seconds(), 86_400);
    let status = match now {
        _ if now < facts.not_before.seconds() => "Not yet valid",
        _ if now > facts.not_after.seconds() => "Expired",
        _ => "Valid",
    };
    row.text("serial", &*facts.serial)
        .text("subject", &*facts.subject)
        .text("issuer", &*facts.issuer)
        .text("clientcertnotbefore", facts.not_before.gmt())
        .text("clientcertnotafter", facts.not_after.gmt())
        .number("daystoexpiration", facts.not_after.seconds().saturating_sub(now) / day)
        .text("status", status)
        .text("signaturealg", &*facts.signature)
        .text("publickey", &*facts.key)
        .number("publickeysize", facts.key_bits)
        .number("version", facts.version)
        .texts("certificatetype", kinds(facts).map(str::to_owned));
}

fn kinds(facts: &Facts) -> impl Iterator<Item = &'static str> {
    let all = [
        ("ROOT_CERT", facts.is_ca && facts.is_self_signed()),
        ("INTM_CERT", facts.is_ca && !facts.is_self_signed()),
        ("CLNT_CERT", facts.is_of_client),
        ("SRVR_CERT", facts.is_of_server),
    ];
    all.into_iter().filter(|(_, is)| *is).map(|(kind, _)| kind)
}
