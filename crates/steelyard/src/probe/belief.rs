//! Whom a probe believes: any certificate, as an appliance does, or those by the word of authorities.
//!
//! The hard question is what people really have: certificates of their own making, which are authorities and servers at
//! once, and certificates that name their host as old ones do.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::{
    CryptoProvider, WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature,
};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use steelyard_core::monitor::tls::CheckedName;

use crate::certificate::{Facts, HostNames};

/// What checks the certificates of services: by the word of those authorities, else not at all.
///
/// # Errors
/// An authority is none.
pub fn verifier(
    provider: &CryptoProvider,
    checked: Option<(Vec<CertificateDer<'static>>, CheckedName)>,
) -> Result<Arc<dyn ServerCertVerifier>, Error> {
    let algorithms = provider.signature_verification_algorithms;
    let Some((trusted, name)) = checked else { return Ok(Arc::new(AnyCertificate { algorithms })) };
    let mut authorities = RootCertStore::empty();
    trusted.iter().try_for_each(|der| authorities.add(der.clone()))?;
    Ok(Arc::new(Checked { trusted, authorities, name, algorithms }))
}

/// Takes whatever a server shows.
#[derive(Debug)]
struct AnyCertificate {
    algorithms: WebPkiSupportedAlgorithms,
}

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    /// With those that old servers have and nobody should believe any more: whoever takes any certificate takes them, too.
    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        let mut schemes = self.algorithms.supported_schemes();
        schemes.extend([SignatureScheme::RSA_PKCS1_SHA1, SignatureScheme::ECDSA_SHA1_Legacy]);
        schemes
    }
}

/// Takes what authorities signed.
#[derive(Debug)]
struct Checked {
    trusted: Vec<CertificateDer<'static>>,
    authorities: RootCertStore,
    name: CheckedName,
    algorithms: WebPkiSupportedAlgorithms,
}

impl Checked {
    fn signed(
        &self,
        der: &CertificateDer<'_>,
        parsed: &ParsedCertificate<'_>,
        others: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<(), Error> {
        let facts = Facts::read(der).ok_or(CertificateError::BadEncoding)?;
        if self.trusted.iter().any(|trusted| trusted.as_ref() == der.as_ref()) {
            return in_its_time(&facts, now);
        }
        let algorithms = self.algorithms.all;
        let signed =
            verify_server_cert_signed_by_trust_anchor(parsed, &self.authorities, others, now, algorithms);
        match signed {
            // It signed itself: what else may be wrong with its chain does not matter.
            Err(_) if facts.is_self_signed() => {
                in_its_time(&facts, now).and(Err(CertificateError::ApplicationVerificationFailure.into()))
            }
            signed => signed,
        }
    }

    fn is_for(
        &self,
        der: &CertificateDer<'_>,
        parsed: &ParsedCertificate<'_>,
        name: &ServerName<'_>,
    ) -> Result<(), Error> {
        let literal = match &self.name {
            CheckedName::Any => return Ok(()),
            CheckedName::Literal(literal) => literal.to_string(),
            CheckedName::AsCalled => match verify_server_name(parsed, name) {
                Ok(()) => return Ok(()),
                Err(_) => name.to_str().into_owned(),
            },
        };
        let names = HostNames::read(der).ok_or(CertificateError::BadEncoding)?;
        // A host that no alternative name could name is named by the subject, as in old certificates.
        let counts = match &self.name {
            CheckedName::Literal(_) => names.all().any(|name| name.eq_ignore_ascii_case(&literal)),
            _ => names.old_ones().any(|name| name.eq_ignore_ascii_case(&literal)),
        };
        if counts { Ok(()) } else { Err(CertificateError::NotValidForName.into()) }
    }
}

fn in_its_time(facts: &Facts, now: UnixTime) -> Result<(), Error> {
    match now.as_secs() {
        now if now < facts.not_before.seconds() => Err(CertificateError::NotValidYet.into()),
        now if now > facts.not_after.seconds() => Err(CertificateError::Expired.into()),
        _ => Ok(()),
    }
}

impl ServerCertVerifier for Checked {
    fn verify_server_cert(
        &self,
        der: &CertificateDer<'_>,
        others: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        _: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let parsed = ParsedCertificate::try_from(der)?;
        self.signed(der, &parsed, others, now)?;
        self.is_for(der, &parsed, name)?;
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        der: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, der, signed, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        der: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, der, signed, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}
