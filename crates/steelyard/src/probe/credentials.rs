//! From the credentials of probes to what makes handshakes: the files of certificates and keys are read here.
//!
//! Owns what is said of a file that cannot be used. Files are read when the configuration changes, never for a probe.

use std::sync::Arc;

use rustls::client::Resumption;
use rustls::crypto::CryptoProvider;
use rustls::crypto::aws_lc_rs::default_provider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, Error, NamedGroup};
use steelyard_core::monitor::tls::{CertificateFile, Credentials, Shown};
use zeroize::Zeroizing;

use super::belief::verifier;
use crate::certificate::Facts;
use crate::files::Folders;

/// What makes the handshakes of those credentials.
///
/// # Errors
/// What cannot be used, and why, for people.
pub fn made_of(credentials: &Credentials, folders: &Folders) -> Result<Arc<ClientConfig>, Box<str>> {
    let said = |error: Error| Box::from(error.to_string());
    let provider = Arc::new(provider());
    let checked = match &credentials.check {
        None => None,
        Some(check) => {
            let mut trusted = Vec::new();
            for file in &check.authorities {
                trusted.extend(certificates(file, folders)?);
            }
            Some((trusted, check.name.clone()))
        }
    };
    let verifier = verifier(&provider, checked).map_err(said)?;
    let versions = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&TLS13, &TLS12])
        .map_err(said)?;
    let builder = versions.dangerous().with_custom_certificate_verifier(verifier);
    let mut config = match &credentials.shown {
        None => builder.with_no_client_auth(),
        Some(shown) => {
            let chain = certificates(&shown.certificate, folders)?;
            let unfit = |error: Error| unusable(&shown.certificate, &shown.key, unfit(&error));
            builder.with_client_auth_cert(chain, key(shown, folders)?).map_err(unfit)?
        }
    };
    // Each probe makes a whole handshake: that is what it asks for.
    config.resumption = Resumption::disabled();
    config.enable_sni = credentials.sends_name;
    Ok(Arc::new(config))
}

/// Without what is new and long: old servers and what stands before them take a ClientHello of one packet.
fn provider() -> CryptoProvider {
    let mut provider = default_provider();
    provider.kx_groups.retain(|group| group.name() != NamedGroup::X25519MLKEM768);
    provider
}

/// All that are in the file; at least one.
fn certificates(file: &CertificateFile, folders: &Folders) -> Result<Vec<CertificateDer<'static>>, Box<str>> {
    let unusable = |why: &str| unusable(file, &file.path, why);
    let contents = folders.named(&file.path).map_err(|refused| unusable(&refused.to_string()))?;
    let all = match file.is_der {
        true => vec![CertificateDer::from(contents)],
        false => CertificateDer::pem_slice_iter(&contents)
            .collect::<Result<Vec<_>, _>>()
            .map_err(|_| unusable("it is no PEM"))?,
    };
    match all.iter().all(|der| Facts::read(der).is_some()) && !all.is_empty() {
        true => Ok(all),
        false => Err(unusable("it holds no certificate")),
    }
}

fn key(shown: &Shown, folders: &Folders) -> Result<PrivateKeyDer<'static>, Box<str>> {
    let unusable = |why: &str| unusable(&shown.certificate, &shown.key, why);
    let contents = folders.named(&shown.key).map_err(|refused| unusable(&refused.to_string()))?;
    let contents = Zeroizing::new(contents);
    let key = match shown.certificate.is_der {
        true => PrivateKeyDer::try_from(contents.to_vec()).ok(),
        false => PrivateKeyDer::from_pem_slice(&contents).ok(),
    };
    key.ok_or_else(|| unusable("it holds no private key that is not encrypted"))
}

fn unfit(error: &Error) -> &'static str {
    match error {
        Error::InconsistentKeys(_) => "it is not the key of the certificate",
        _ => "the key cannot be used",
    }
}

fn unusable(file: &CertificateFile, path: &str, why: &str) -> Box<str> {
    format!("certKey {}: {path}: {why}", file.name).into()
}
