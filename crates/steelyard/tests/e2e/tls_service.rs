//! Servers of TLS for tests, and their certificates. A server writes down which name each ClientHello asks for.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::danger::ClientCertVerifier;
use rustls::server::{Acceptor, NoClientAuth};
use rustls::{ServerConfig, Stream};

use crate::tcp::{Listening, listen};

/// An authority of the test.
pub struct Authority(CertifiedIssuer<'static, KeyPair>);

/// A certificate and its key, in PEM.
pub struct Pair {
    pub certificate: String,
    pub key: String,
}

impl Authority {
    pub fn new(name: &str) -> Authority {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Authority(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    /// Its certificate, in PEM.
    pub fn pem(&self) -> String {
        self.0.pem()
    }

    /// A certificate for that name, which ends in that year.
    pub fn signs(&self, name: &str, until: i32) -> Pair {
        let key = KeyPair::generate().unwrap();
        let certificate = params(name, until).signed_by(&key, &self.0).unwrap();
        Pair { certificate: certificate.pem(), key: key.serialize_pem() }
    }
}

/// A certificate that nobody signed but its own key.
pub fn self_signed(name: &str) -> Pair {
    let key = KeyPair::generate().unwrap();
    let certificate = params(name, 2120).self_signed(&key).unwrap();
    Pair { certificate: certificate.pem(), key: key.serialize_pem() }
}

fn params(name: &str, until: i32) -> CertificateParams {
    let mut params = CertificateParams::new([name.to_owned()]).unwrap();
    params.distinguished_name.push(DnType::CommonName, name);
    (params.not_before, params.not_after) = (date_time_ymd(2020, 1, 2), date_time_ymd(until, 3, 4));
    params
}

impl Pair {
    /// What a server needs to show it.
    pub fn server(&self) -> Arc<ServerConfig> {
        self.server_for(Arc::new(NoClientAuth))
    }

    /// The same, of one that asks clients for certificates.
    pub fn server_for(&self, clients: Arc<dyn ClientCertVerifier>) -> Arc<ServerConfig> {
        let chain = CertificateDer::pem_slice_iter(self.certificate.as_bytes()).map(Result::unwrap).collect();
        let key = PrivateKeyDer::from_pem_slice(self.key.as_bytes()).unwrap();
        let config =
            ServerConfig::builder_with_provider(provider()).with_safe_default_protocol_versions().unwrap();
        Arc::new(config.with_client_cert_verifier(clients).with_single_cert(chain, key).unwrap())
    }
}

/// The library's cryptography.
pub fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::aws_lc_rs::default_provider())
}

/// A server that answers each request by status 200, and what each ClientHello asked for.
pub struct TlsService {
    _listening: Listening<()>,
    names: Arc<Mutex<Vec<Option<String>>>>,
}

/// How long a server takes, and whom it takes.
#[derive(Clone, Default)]
pub struct Manner {
    /// Between the ClientHello and what follows.
    pub before_handshake: Duration,
    /// Between a request and its answer.
    pub before_answer: Duration,
    /// The one name that a ClientHello must ask for; others get the alert `unrecognized_name`.
    pub only: Option<&'static str>,
}

impl TlsService {
    pub fn start(address: SocketAddr, server: Arc<ServerConfig>, manner: Manner) -> TlsService {
        let names: Arc<Mutex<Vec<Option<String>>>> = Arc::default();
        let written = Arc::clone(&names);
        let listening = listen(address, move |stream| {
            let (server, manner, written) = (Arc::clone(&server), manner.clone(), Arc::clone(&written));
            // Who comes next must not wait. What goes wrong with a client is seen by what the client says of it.
            std::thread::spawn(move || drop(serve(stream, server, &manner, &written)));
        });
        TlsService { _listening: listening, names }
    }

    /// What each ClientHello asked for so far.
    pub fn names(&self) -> Vec<Option<String>> {
        self.names.lock().unwrap().clone()
    }
}

fn serve(
    mut stream: TcpStream,
    server: Arc<ServerConfig>,
    manner: &Manner,
    names: &Mutex<Vec<Option<String>>>,
) -> io::Result<()> {
    let mut acceptor = Acceptor::default();
    let accepted = loop {
        if acceptor.read_tls(&mut stream)? == 0 {
            return Ok(());
        }
        match acceptor.accept() {
            Ok(Some(accepted)) => break accepted,
            Ok(None) => {}
            Err((_, mut alert)) => return alert.write_all(&mut stream),
        }
    };
    let name = accepted.client_hello().server_name().map(str::to_owned);
    names.lock().unwrap().push(name.clone());
    std::thread::sleep(manner.before_handshake);
    if manner.only.is_some_and(|only| name.as_deref() != Some(only)) {
        return stream.write_all(UNRECOGNIZED_NAME);
    }
    let mut connection = match accepted.into_connection(server) {
        Ok(connection) => connection,
        Err((_, mut alert)) => return alert.write_all(&mut stream),
    };
    let mut tls = Stream::new(&mut connection, &mut stream);
    let mut request = Vec::new();
    while !request.windows(4).any(|end| end == b"\r\n\r\n") {
        let mut room = [0; 4_096];
        match tls.read(&mut room)? {
            0 => return Ok(()),
            n => request.extend_from_slice(&room[..n]),
        }
    }
    std::thread::sleep(manner.before_answer);
    tls.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")?;
    tls.conn.send_close_notify();
    tls.flush()
}

/// An alert record: fatal, 112 (RFC 6066 9).
const UNRECOGNIZED_NAME: &[u8] = &[21, 3, 3, 0, 2, 2, 112];
