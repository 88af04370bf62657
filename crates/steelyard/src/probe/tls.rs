//! TLS of probes: handshakes, and what they fail of.
//!
//! Owns what handshakes are made with, once for all probes that have the same, until the configuration changes.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::net::IpAddr;
use std::sync::Arc;

use rustls::pki_types::ServerName;
use rustls::{CertificateError, ClientConfig, Error, PeerIncompatible};
use steelyard_core::monitor::Fault;
use steelyard_core::monitor::tls::{Credentials, HandshakeFault, Terms, Usable};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::credentials::made_of;
use crate::files::Folders;

/// What the handshakes of all probes are made with.
#[derive(Default)]
pub struct Handshakes {
    folders: RefCell<Folders>,
    made: RefCell<BTreeMap<Credentials, Made>>,
}

/// What makes handshakes, or why nothing does.
type Made = Result<Arc<ClientConfig>, Box<str>>;

/// One handshake that is to be made.
pub struct Handshake {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
}

impl Handshakes {
    /// The files of those folders count as they are now.
    pub fn renew(&self, folders: &Folders) {
        folders.clone_into(&mut self.folders.borrow_mut());
        self.made.borrow_mut().clear();
    }

    /// One with a service at `ip`.
    ///
    /// # Errors
    /// [`Fault::Local`]
    pub fn with(&self, terms: &Terms, ip: IpAddr) -> Result<Handshake, Fault> {
        let config =
            self.config(&terms.credentials).map_err(|_| Fault::Local("a certificate cannot be used"))?;
        let named = terms.name.as_deref().and_then(|name| ServerName::try_from(name.to_owned()).ok());
        // No ClientHello has an address for a name.
        Ok(Handshake { config, name: named.unwrap_or(ServerName::IpAddress(ip.into())) })
    }

    fn config(&self, credentials: &Credentials) -> Made {
        if let Some(made) = self.made.borrow().get(credentials) {
            return made.clone();
        }
        let made = made_of(credentials, &self.folders.borrow());
        self.made.borrow_mut().insert(credentials.clone(), made.clone());
        made
    }
}

impl Usable for Handshakes {
    fn cannot_use(&self, credentials: &Credentials) -> Option<Box<str>> {
        self.config(credentials).err()
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
        // So does who checks call this.
        CertificateError::ApplicationVerificationFailure => "is self-signed, and nobody vouches for it",
        CertificateError::BadEncoding => "cannot be read",
        CertificateError::BadSignature => "has a wrong signature",
        CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => {
            "is not for a server"
        }
        _ => "cannot be checked",
    }
}
