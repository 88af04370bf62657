//! HTTPS of the management interface: handshakes, and the certificate that they are answered with.
//!
//! Owns which certificate is in use; connections that are open keep theirs. What goes wrong with a client is the
//! client's to know: nothing of it is printed.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

use rustls::ServerConfig;
use rustls::pki_types::CertificateDer;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::pair::{Identity, Pair};
use crate::fault::Fault;

/// What answers handshakes.
pub struct Tls {
    pair: Pair,
    /// For a certificate that is made.
    names: Vec<String>,
    server: RefCell<Arc<ServerConfig>>,
    chain: RefCell<Vec<CertificateDer<'static>>>,
}

impl Tls {
    /// With the certificate as it is now, made if there is none.
    ///
    /// # Errors
    /// [`Fault::Certificate`]
    pub fn open(pair: Pair, names: Vec<String>) -> Result<Tls, Fault> {
        let Identity { server, chain } = pair.open(&names)?;
        Ok(Tls { pair, names, server: RefCell::new(server), chain: RefCell::new(chain) })
    }

    /// Takes the files as they are now; what there is to say if the certificate is another one.
    ///
    /// # Errors
    /// [`Fault::Certificate`]: the one in use stays.
    pub async fn renew(&self) -> Result<Option<String>, Fault> {
        let (pair, names) = (self.pair.clone(), self.names.clone());
        let reading = tokio::task::spawn_blocking(move || pair.open(&names));
        let Identity { server, chain } = reading.await.map_err(|_| Fault::Reading)??;
        self.server.replace(server);
        let before = self.chain.replace(chain);
        let is_another = before != *self.chain.borrow();
        let said =
            || format!("new management connections get the certificate in {}", self.pair.path().display());
        Ok(is_another.then(said))
    }

    /// A client's connection after its handshake; `None` if that does not succeed in time.
    pub async fn accept(&self, stream: TcpStream) -> Option<TlsStream<TcpStream>> {
        let server = Arc::clone(&self.server.borrow());
        tokio::time::timeout(HANDSHAKE_TIME, shake_hands(stream, server)).await.ok().flatten()
    }
}

async fn shake_hands(stream: TcpStream, server: Arc<ServerConfig>) -> Option<TlsStream<TcpStream>> {
    let mut first = [0];
    stream.peek(&mut first).await.ok()?;
    // The first byte of a request is a letter, and no record of TLS begins with one.
    if first[0].is_ascii_alphabetic() {
        say_what_is_spoken(stream).await;
        return None;
    }
    TlsAcceptor::from(server).accept(stream).await.ok()
}

/// To a client that sent HTTP. What it sends further is taken in for a while, so that no reset overtakes the answer.
async fn say_what_is_spoken(mut stream: TcpStream) {
    let answer = format!(
        "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{HTTPS_HERE}",
        HTTPS_HERE.len()
    );
    let mut room = [0; 4_096];
    if stream.write_all(answer.as_bytes()).await.is_ok() && stream.shutdown().await.is_ok() {
        for _ in 0..MOST_READS {
            if !stream.read(&mut room).await.is_ok_and(|bytes| bytes > 0) {
                break;
            }
        }
    }
}

const HTTPS_HERE: &str = "this address speaks HTTPS; ask it by https://\n";
/// From the connection to the end of the handshake.
const HANDSHAKE_TIME: Duration = Duration::from_secs(10);
const MOST_READS: usize = 256;
