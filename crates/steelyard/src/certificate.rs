//! What a certificate says of itself.
//!
//! Owns reading DER; nothing here judges whom to believe.

use x509_parser::prelude::{FromDer, X509Certificate};

use crate::wall::Date;

/// What is read of a certificate.
pub struct Facts {
    /// When it ends.
    pub not_after: Date,
    /// Whom it is about, as text.
    pub subject: String,
    /// Does it name itself as its issuer?
    pub is_self_signed: bool,
}

impl Facts {
    /// Of that certificate; `None` if it is none.
    pub fn read(der: &[u8]) -> Option<Facts> {
        let (_, certificate) = X509Certificate::from_der(der).ok()?;
        Some(Facts {
            not_after: Date::at(certificate.validity().not_after.timestamp()),
            subject: certificate.subject().to_string(),
            is_self_signed: certificate.subject() == certificate.issuer(),
        })
    }
}
