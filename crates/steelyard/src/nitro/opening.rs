//! Where the management interface is opened, and what it speaks there: the words of `--nitro`.

use std::fmt;
use std::net::SocketAddr;
use std::rc::Rc;
use std::str::FromStr;

use tokio::net::TcpListener;

use super::Listener;
use super::pair::{Pair, own_names};
use super::tls::Tls;
use crate::fault::Fault;

/// An address, and what is spoken at it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Opening {
    /// Where it listens.
    pub address: SocketAddr,
    /// What it speaks.
    pub scheme: Scheme,
}

/// What is spoken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scheme {
    /// HTTP, in clear.
    Http,
    /// HTTPS.
    Https,
}

impl Opening {
    /// In clear at that address.
    pub fn plain(address: SocketAddr) -> Opening {
        Opening { address, scheme: Scheme::Http }
    }
}

impl Opening {
    /// What the operator should know about it.
    pub fn danger(&self) -> Option<String> {
        let is_readable = self.scheme == Scheme::Http && !self.address.ip().is_loopback();
        is_readable
            .then(|| format!("--nitro {self}: passwords can be read on the way; https:// encrypts them"))
    }
}

impl FromStr for Opening {
    type Err = &'static str;

    /// What is spoken at an address alone: HTTP on loopback, HTTPS elsewhere.
    fn from_str(text: &str) -> Result<Opening, &'static str> {
        let (scheme, address) = match text.split_once("://") {
            Some(("http", address)) => (Some(Scheme::Http), address.trim_end_matches('/')),
            Some(("https", address)) => (Some(Scheme::Https), address.trim_end_matches('/')),
            Some(_) => return Err("only http:// and https:// are spoken"),
            None => (None, text),
        };
        let address: SocketAddr = address.parse().map_err(|_| "give ADDRESS:PORT, the address in digits")?;
        let usual = if address.ip().is_loopback() { Scheme::Http } else { Scheme::Https };
        Ok(Opening { address, scheme: scheme.unwrap_or(usual) })
    }
}

/// As a URL.
impl fmt::Display for Opening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = match self.scheme {
            Scheme::Http => "http",
            Scheme::Https => "https",
        };
        write!(f, "{scheme}://{}", self.address)
    }
}

/// What is open, with the ports that the system chose.
pub struct Opened {
    /// A listener of each opening.
    pub listeners: Vec<Listener>,
    /// Each opening.
    pub at: Vec<Opening>,
    /// What answers handshakes, if there are any.
    pub tls: Option<Rc<Tls>>,
}

/// Opens all of them; the certificate of HTTPS is that pair.
///
/// # Errors
/// An address cannot be opened, or the certificate cannot be used.
pub async fn open(openings: &[Opening], certificate: Option<Pair>) -> Result<Opened, Fault> {
    let by_tls = openings.iter().any(|opening| opening.scheme == Scheme::Https);
    let names = || own_names(openings.iter().map(|opening| opening.address.ip()));
    let tls = certificate.filter(|_| by_tls).map(|pair| Tls::open(pair, names())).transpose()?.map(Rc::new);
    let mut opened = Opened { listeners: Vec::new(), at: Vec::new(), tls };
    for opening in openings {
        let address = opening.address;
        let listener = TcpListener::bind(address).await;
        let listener = listener.map_err(|error| Fault::Management { address, error })?;
        opened.at.push(Opening { address: listener.local_addr().unwrap_or(address), ..*opening });
        opened.listeners.push(match (opening.scheme, &opened.tls) {
            (Scheme::Http, _) => Listener::Port(listener),
            (Scheme::Https, Some(tls)) => Listener::Tls(listener, Rc::clone(tls)),
            (Scheme::Https, None) => return Err(Fault::NoCertificate),
        });
    }
    Ok(opened)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_alone_is_in_clear_on_loopback_and_nowhere_else() {
        for (text, url) in [
            ("127.0.0.1:9080", "http://127.0.0.1:9080"),
            ("[::1]:9080", "http://[::1]:9080"),
            ("192.0.2.1:443", "https://192.0.2.1:443"),
            ("0.0.0.0:443", "https://0.0.0.0:443"),
            ("https://127.0.0.1:9443", "https://127.0.0.1:9443"),
            ("http://192.0.2.1:80/", "http://192.0.2.1:80"),
        ] {
            assert_eq!(text.parse::<Opening>().unwrap().to_string(), url, "{text}");
        }
        for text in ["ftp://127.0.0.1:9080", "localhost:9080", "127.0.0.1", "https://", "", "https://a:1"] {
            assert!(text.parse::<Opening>().is_err(), "{text}");
        }
    }
}
