//! How a command reaches the running program: its arguments, who asks, and whom to believe.
//!
//! Owns where a password comes from: a variable of the environment, a file that others cannot read, or the terminal; never
//! an argument, which every process of the host can read.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::crypto::aws_lc_rs::default_provider;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, RootCertStore};
use zeroize::Zeroizing;

use crate::door::{Door, Login};
use crate::fault::{Fault, reason};
use crate::probe::belief::verifier;
use crate::{keys, private};

/// Where the running program is, and who asks.
#[derive(clap::Args)]
pub struct Reach {
    /// Data directory of the running program, by default ./steelyard-data: its owner asks the socket nitro.sock there,
    /// also where the management port speaks HTTPS alone.
    #[arg(long, value_name = "DIRECTORY", conflicts_with = "nitro")]
    pub data: Option<PathBuf>,
    /// Management URL of the running program, by HTTP or HTTPS. Without it the socket in the data directory is asked;
    /// where there is none, 'explain' asks http://127.0.0.1:9080.
    #[arg(long, value_name = "URL")]
    pub nitro: Option<String>,
    /// Who logs in at that URL: for 'cli' nsroot by default, for 'explain' nobody. The password is taken from STEELYARD_PASSWORD in the environment or from --password-file,
    /// and else asked for on the terminal.
    #[arg(long, value_name = "NAME", requires = "nitro")]
    pub user: Option<String>,
    /// File with the password in its first line, which nobody else may be able to read.
    #[arg(long, value_name = "FILE", requires = "nitro")]
    pub password_file: Option<PathBuf>,
    /// PEM file with the certificates that are believed over HTTPS: nitro.crt in the program's data directory is its own.
    #[arg(long, value_name = "FILE", requires = "nitro", conflicts_with = "insecure")]
    pub ca: Option<PathBuf>,
    /// Believe any certificate: whoever is between reads the password.
    #[arg(long, requires = "nitro")]
    pub insecure: bool,
}

impl Reach {
    /// Is a user meant to log in?
    pub fn is_for_user(&self) -> bool {
        self.user.is_some() || self.password_file.is_some()
    }

    /// Who logs in: the user that is named, else nsroot.
    ///
    /// # Errors
    /// There is no password.
    pub fn login(&self) -> Result<Login, Fault> {
        let user = self.user.clone().unwrap_or_else(|| SUPERUSER.to_owned());
        let password = self.password(&user)?;
        Ok(Login::of(user, password))
    }

    /// What makes the handshakes of HTTPS.
    ///
    /// # Errors
    /// Nothing says whom to believe, or the file cannot be used.
    pub fn handshakes(&self) -> Result<Arc<ClientConfig>, Fault> {
        let url = self.nitro.clone().unwrap_or_default();
        let said =
            |error: rustls::Error| Fault::System { what: "speak TLS", error: std::io::Error::other(error) };
        let provider = Arc::new(default_provider());
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(&[&TLS13, &TLS12])
            .map_err(said)?;
        let config = match &self.ca {
            Some(path) => builder.with_root_certificates(authorities(path)?).with_no_client_auth(),
            None if self.insecure => {
                let verifier = verifier(&provider, None).map_err(said)?;
                builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth()
            }
            None => {
                return Err(Fault::Url {
                    url,
                    why: "nothing says which certificate to believe: give --ca FILE (nitro.crt in its data directory is its own), or --insecure",
                });
            }
        };
        Ok(Arc::new(config))
    }

    /// The program at the URL, or at the socket in the data directory; where neither is named, at the default ones.
    ///
    /// # Errors
    /// It cannot be asked so.
    pub fn door(&self, login: Option<Login>) -> Result<Door, Fault> {
        match &self.nitro {
            Some(url) if Door::is_secure(url) => Door::port(url, Some(self.handshakes()?), login),
            Some(url) => Door::port(url, None, login),
            None => Door::of(self.data.as_deref()),
        }
    }

    fn password(&self, user: &str) -> Result<Zeroizing<String>, Fault> {
        if let Some(path) = &self.password_file {
            let wrong = |why: String| Fault::Password { from: path.display().to_string(), why };
            let bytes = private::read(path, LONGEST).map_err(|why| {
                wrong(match why {
                    private::Unusable::Io(error) => reason(&error),
                    why => why.to_string(),
                })
            })?;
            let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            let text = std::str::from_utf8(line).map_err(|_| wrong("not UTF-8".to_owned()))?;
            return Ok(Zeroizing::new(text.to_owned()));
        }
        if let Some(password) = std::env::var_os(PASSWORD) {
            let text = password
                .into_string()
                .map_err(|_| Fault::Password { from: PASSWORD.to_owned(), why: "not UTF-8".to_owned() })?;
            return Ok(Zeroizing::new(text));
        }
        keys::secret(&format!("Password of {user}: ")).ok_or_else(|| Fault::Password {
            from: format!("no password of {user}"),
            why: format!("give it by {PASSWORD} in the environment, by --password-file, or on a terminal"),
        })
    }
}

fn authorities(path: &Path) -> Result<RootCertStore, Fault> {
    let wrong = |why: &str| Fault::Authority { path: path.to_owned(), why: why.to_owned() };
    let contents = std::fs::read(path).map_err(|error| wrong(&reason(&error)))?;
    let mut store = RootCertStore::empty();
    for der in CertificateDer::pem_slice_iter(&contents) {
        store
            .add(der.map_err(|_| wrong("it is no PEM"))?)
            .map_err(|_| wrong("a certificate in it cannot be used"))?;
    }
    if store.is_empty() { Err(wrong("it holds no certificate")) } else { Ok(store) }
}

/// Who logs in where nobody is named.
const SUPERUSER: &str = "nsroot";
/// The variable of the environment with the password.
const PASSWORD: &str = "STEELYARD_PASSWORD";
/// Bytes of its file.
const LONGEST: usize = 4_096;
