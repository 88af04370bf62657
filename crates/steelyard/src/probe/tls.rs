//! TLS of probes: handshakes, and what they fail of.
//!
//! Owns what handshakes are made with, once for all probes that have the same. The hard question is whom to believe: as an
//! appliance does, a probe takes any certificate unless it is told whose word counts.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::net::IpAddr;
use std::sync::Arc;

use rustls::client::Resumption;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::crypto::aws_lc_rs::default_provider;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::version::{TLS12, TLS13};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, NamedGroup, PeerIncompatible,
    SignatureScheme,
};
use steelyard_core::monitor::Fault;
use steelyard_core::monitor::tls::{Credentials, HandshakeFault, Terms};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// What the handshakes of all probes are made with.
#[derive(Default)]
pub struct Handshakes {
    made: RefCell<BTreeMap<Credentials, Arc<ClientConfig>>>,
}

/// One handshake that is to be made.
pub struct Handshake {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
}

impl Handshakes {
    /// One with a service at `ip`.
    ///
    /// # Errors
    /// [`Fault::Local`]
    pub fn with(&self, terms: &Terms, ip: IpAddr) -> Result<Handshake, Fault> {
        let config = self.config(&terms.credentials).map_err(|_| Fault::Local("no TLS on this host"))?;
        let named = terms.name.as_deref().and_then(|name| ServerName::try_from(name.to_owned()).ok());
        // No ClientHello has an address for a name.
        Ok(Handshake { config, name: named.unwrap_or(ServerName::IpAddress(ip.into())) })
    }

    fn config(&self, credentials: &Credentials) -> Result<Arc<ClientConfig>, Error> {
        if let Some(config) = self.made.borrow().get(credentials) {
            return Ok(Arc::clone(config));
        }
        let config = Arc::new(made_of(credentials)?);
        self.made.borrow_mut().insert(credentials.clone(), Arc::clone(&config));
        Ok(config)
    }
}

impl Handshake {
    /// Makes it on that connection.
    ///
    /// # Errors
    /// [`Fault::Handshake`]
    pub async fn make(self, stream: TcpStream) -> Result<TlsStream<TcpStream>, Fault> {
        let connecting = TlsConnector::from(self.config).connect(self.name, stream);
        connecting.await.map_err(|error| Fault::Handshake(fault(&error)))
    }
}

fn made_of(credentials: &Credentials) -> Result<ClientConfig, Error> {
    let provider = Arc::new(provider());
    let versions = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(&[&TLS13, &TLS12])?;
    let verifier = Arc::new(AnyCertificate { schemes: schemes(&provider) });
    let mut config = versions.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth();
    // Each probe makes a whole handshake: that is what it asks for.
    config.resumption = Resumption::disabled();
    config.enable_sni = credentials.sends_name;
    Ok(config)
}

/// Without what is new and long: old servers and what stands before them take a ClientHello of one packet.
fn provider() -> CryptoProvider {
    let mut provider = default_provider();
    provider.kx_groups.retain(|group| group.name() != NamedGroup::X25519MLKEM768);
    provider
}

/// With those that old servers have and nobody should believe any more: whoever takes any certificate takes them, too.
fn schemes(provider: &CryptoProvider) -> Vec<SignatureScheme> {
    let mut schemes = provider.signature_verification_algorithms.supported_schemes();
    schemes.extend([SignatureScheme::RSA_PKCS1_SHA1, SignatureScheme::ECDSA_SHA1_Legacy]);
    schemes
}

/// Takes whatever a server shows.
#[derive(Debug)]
struct AnyCertificate {
    schemes: Vec<SignatureScheme>,
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

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.schemes.clone()
    }
}

/// The alert by which the server ended what had been a connection, if it did so.
pub fn alert(error: &io::Error) -> Option<Fault> {
    match of_tls(error) {
        Some(Error::AlertReceived(alert)) => Some(Fault::Handshake(HandshakeFault::Alert((*alert).into()))),
        _ => None,
    }
}

fn of_tls(error: &io::Error) -> Option<&Error> {
    error.get_ref().and_then(|inner| inner.downcast_ref())
}

fn fault(error: &io::Error) -> HandshakeFault {
    match of_tls(error) {
        Some(error) => fault_of_tls(error),
        None if error.kind() == ErrorKind::UnexpectedEof => HandshakeFault::Closed,
        None => HandshakeFault::Reset,
    }
}

fn fault_of_tls(error: &Error) -> HandshakeFault {
    match error {
        Error::AlertReceived(alert) => HandshakeFault::Alert((*alert).into()),
        Error::InvalidMessage(_) => HandshakeFault::NotTls,
        Error::InappropriateMessage { .. } => HandshakeFault::NotTls,
        Error::PeerIncompatible(why) => in_common(why),
        Error::InvalidCertificate(why) => HandshakeFault::Certificate(unfit(why)),
        Error::NoCertificatesPresented => HandshakeFault::Certificate("is missing"),
        _ => HandshakeFault::Misbehaved,
    }
}

fn in_common(why: &PeerIncompatible) -> HandshakeFault {
    use PeerIncompatible as Not;
    match why {
        Not::ServerDoesNotSupportTls12Or13
        | Not::ServerTlsVersionIsDisabledByOurConfig
        | Not::Tls12NotOffered
        | Not::Tls12NotOfferedOrEnabled => HandshakeFault::Version,
        Not::NoCipherSuitesInCommon => HandshakeFault::NothingInCommon("cipher suite"),
        Not::NoKxGroupsInCommon | Not::NoEcPointFormatsInCommon => {
            HandshakeFault::NothingInCommon("key exchange group")
        }
        Not::NoSignatureSchemesInCommon | Not::NoCertificateRequestSignatureSchemesInCommon => {
            HandshakeFault::NothingInCommon("signature scheme")
        }
        _ => HandshakeFault::NothingInCommon("extension"),
    }
}

/// What is wrong with a certificate.
fn unfit(why: &CertificateError) -> &'static str {
    match why {
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => "has expired",
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => "is not valid yet",
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "is for another name"
        }
        CertificateError::UnknownIssuer => "was signed by nobody who is trusted",
        CertificateError::BadEncoding => "cannot be read",
        CertificateError::BadSignature => "has a wrong signature",
        CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => {
            "is not for a server"
        }
        _ => "cannot be checked",
    }
}
