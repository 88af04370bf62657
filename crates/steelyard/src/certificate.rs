//! What a certificate says of itself.
//!
//! Owns reading PEM and DER; nothing here judges whom to believe.

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use x509_parser::objects::{oid_registry, oid2abbrev, oid2sn};
use x509_parser::oid_registry::Oid;
use x509_parser::prelude::{FromDer, GeneralName, X509Certificate, X509Name};

use crate::wall::Date;

/// What is read of a certificate.
#[derive(Clone, Debug)]
pub struct Facts {
    /// Its number, in hexadecimal digits.
    pub serial: String,
    /// Whom it is about: `O=Example,CN=www.example.com`.
    pub subject: String,
    /// Who signed it.
    pub issuer: String,
    /// When it begins.
    pub not_before: Date,
    /// When it ends.
    pub not_after: Date,
    /// By which algorithm it was signed.
    pub signature: String,
    /// Of which kind its key is.
    pub key: String,
    /// Its key's length in bits.
    pub key_bits: u64,
    /// Of X.509.
    pub version: u64,
    /// May it sign others?
    pub is_ca: bool,
    /// May it show a server? `true` as well where it does not say.
    pub is_of_server: bool,
    /// May it show a client? `true` as well where it does not say.
    pub is_of_client: bool,
}

impl Facts {
    /// Of the first certificate in a file, which is PEM, else DER; `None` if it is neither.
    pub fn of_file(contents: &[u8]) -> Option<Facts> {
        match CertificateDer::from_pem_slice(contents) {
            Ok(der) => Facts::read(&der),
            Err(_) => Facts::read(contents),
        }
    }

    /// Of that DER; `None` if it is no certificate.
    pub fn read(der: &[u8]) -> Option<Facts> {
        let (_, certificate) = X509Certificate::from_der(der).ok()?;
        let key = certificate.public_key();
        let usage = certificate.extended_key_usage().ok().flatten().map(|usage| usage.value);
        let serves = |named: Option<bool>| named.unwrap_or(!certificate.is_ca());
        Some(Facts {
            serial: hexadecimal(certificate.raw_serial()),
            subject: name(certificate.subject()),
            issuer: name(certificate.issuer()),
            not_before: Date::at(certificate.validity().not_before.timestamp()),
            not_after: Date::at(certificate.validity().not_after.timestamp()),
            signature: algorithm(&certificate.signature_algorithm.algorithm),
            key: algorithm(&key.algorithm.algorithm),
            key_bits: key.parsed().map_or(0, |key| key.key_size() as u64),
            version: u64::from(certificate.version().0) + 1,
            is_ca: certificate.is_ca(),
            is_of_server: serves(usage.map(|usage| usage.any || usage.server_auth)),
            is_of_client: serves(usage.map(|usage| usage.any || usage.client_auth)),
        })
    }

    /// Does it name itself as its issuer?
    pub fn is_self_signed(&self) -> bool {
        self.subject == self.issuer
    }
}

/// The names of hosts in a certificate.
pub struct HostNames {
    common: Vec<String>,
    /// `None` where nothing is said of other names than the subject's.
    alternative: Option<Vec<String>>,
}

impl HostNames {
    /// Of that DER; `None` if it is no certificate.
    pub fn read(der: &[u8]) -> Option<HostNames> {
        let (_, certificate) = X509Certificate::from_der(der).ok()?;
        let common = certificate.subject().iter_common_name();
        let host = |name: &GeneralName<'_>| match name {
            GeneralName::DNSName(name) => Some((*name).to_owned()),
            _ => None,
        };
        let alternative = certificate.subject_alternative_name().ok()?;
        Some(HostNames {
            common: common.filter_map(|part| part.as_str().ok()).map(str::to_owned).collect(),
            alternative: alternative.map(|names| names.value.general_names.iter().filter_map(host).collect()),
        })
    }

    /// All of them, as they stand there.
    pub fn all(&self) -> impl Iterator<Item = &String> {
        self.alternative.iter().flatten().chain(&self.common)
    }

    /// The subject's, where there is nothing else that says a name.
    pub fn old_ones(&self) -> impl Iterator<Item = &String> {
        self.common.iter().filter(|_| self.alternative.is_none())
    }
}

fn name(name: &X509Name<'_>) -> String {
    let parts = name.iter_attributes().map(|part| {
        let kind = oid2abbrev(part.attr_type(), oid_registry())
            .map_or_else(|_| part.attr_type().to_id_string(), str::to_owned);
        format!("{kind}={}", part.as_str().unwrap_or_default())
    });
    parts.collect::<Vec<_>>().join(",")
}

fn algorithm(oid: &Oid<'_>) -> String {
    oid2sn(oid, oid_registry()).map_or_else(|_| oid.to_id_string(), str::to_owned)
}

/// DER puts a zero before what would be a negative number.
fn hexadecimal(number: &[u8]) -> String {
    let number = number.strip_prefix(&[0]).filter(|rest| !rest.is_empty()).unwrap_or(number);
    number.iter().map(|byte| format!("{byte:02X}")).collect()
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, DistinguishedName, DnType, KeyPair, SerialNumber, date_time_ymd};

    use super::*;

    #[test]
    fn facts_are_those_that_were_signed() {
        let mut params = CertificateParams::new(["www.example.com".to_owned()]).unwrap();
        params.distinguished_name = DistinguishedName::new();
        params.distinguished_name.push(DnType::OrganizationName, "Example, Inc.");
        params.distinguished_name.push(DnType::CommonName, "www.example.com");
        params.serial_number = Some(SerialNumber::from_slice(&[0xca, 0xfe]));
        (params.not_before, params.not_after) = (date_time_ymd(2026, 1, 2), date_time_ymd(2036, 3, 4));
        let made = params.self_signed(&KeyPair::generate().unwrap()).unwrap();
        for contents in [made.pem().into_bytes(), made.der().to_vec()] {
            let facts = Facts::of_file(&contents).unwrap();
            assert_eq!(facts.serial, "CAFE");
            assert_eq!(facts.subject, "O=Example, Inc.,CN=www.example.com");
            assert!(facts.is_self_signed() && !facts.is_ca && facts.is_of_server && facts.is_of_client);
            assert_eq!(
                (facts.not_before.calendar(), facts.not_after.calendar()),
                ((2026, 1, 2), (2036, 3, 4))
            );
            assert_eq!((&*facts.key, facts.key_bits, facts.version), ("id-ecPublicKey", 256, 3));
            assert_eq!(facts.signature, "ecdsa-with-SHA256");
        }
    }

    #[test]
    fn what_is_no_certificate_has_none() {
        let key = KeyPair::generate().unwrap().serialize_pem();
        for contents in [
            &b""[..],
            b"x",
            b"\x30\x80",
            key.as_bytes(),
            b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
        ] {
            assert!(Facts::of_file(contents).is_none(), "{}", String::from_utf8_lossy(contents));
        }
    }
}
