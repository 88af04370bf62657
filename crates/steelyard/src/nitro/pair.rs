//! The certificate of the management interface and its key: two files, made where there are none.
//!
//! Owns what the files must be, and making them. A file of the operator's is never replaced. The hard question is a stop
//! between two writes: the key is written first, and a certificate that is missing is made for the key that is there.

use std::fs::{self, File};
use std::io::{self, Read};
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use aws_lc_rs::rand;
use rcgen::{
    CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair, KeyUsagePurpose,
    SerialNumber, date_time_ymd,
};
use rustls::crypto::aws_lc_rs::default_provider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::version::{TLS12, TLS13};
use rustls::{Error, ServerConfig};
use zeroize::Zeroizing;

use crate::certificate::Facts;
use crate::fault::{Fault, reason};
use crate::private::{self, Unusable};
use crate::wall::Date;

/// Where a certificate and its key are.
#[derive(Clone, Debug)]
pub struct Pair {
    certificate: PathBuf,
    key: PathBuf,
    /// Where they are made if there are none; `None` of files that the operator named.
    directory: Option<PathBuf>,
}

/// A certificate and its key, fit for use.
pub struct Identity {
    /// What answers handshakes with them.
    pub server: Arc<ServerConfig>,
    /// The certificate, and those that lead from it to an authority.
    pub chain: Vec<CertificateDer<'static>>,
}

impl Pair {
    /// In the data directory.
    pub fn of(data: &Path) -> Pair {
        let (certificate, key) = (data.join(CERTIFICATE), data.join(KEY));
        Pair { certificate, key, directory: Some(data.to_owned()) }
    }

    /// Those two files.
    pub fn named(certificate: &Path, key: &Path) -> Pair {
        Pair { certificate: certificate.to_owned(), key: key.to_owned(), directory: None }
    }

    /// The certificate's file, for people.
    pub fn path(&self) -> &Path {
        &self.certificate
    }

    /// Reads them. Of those in the data directory what is missing is made, and what was made and is about to end is
    /// made anew for these names.
    ///
    /// # Errors
    /// [`Fault::Certificate`]: which file, and why.
    pub fn open(&self, names: &[String]) -> Result<Identity, Fault> {
        if let Some(directory) = &self.directory {
            self.see_to_it(directory, names)?;
        }
        self.read()
    }

    fn see_to_it(&self, directory: &Path, names: &[String]) -> Result<(), Fault> {
        let (has_certificate, has_key) = (exists(&self.certificate), exists(&self.key));
        let unwritten = |path: &Path, error: &io::Error| fault(path, &reason(error));
        if !has_certificate && !has_key {
            let key = KeyPair::generate().map_err(|error| fault(&self.key, &error.to_string()))?;
            let pem = Zeroizing::new(key.serialize_pem());
            private::put(directory, KEY, pem.as_bytes()).map_err(|error| unwritten(&self.key, &error))?;
        } else if has_certificate && !self.is_ending()? {
            return Ok(());
        }
        let text = made_for(&self.key_text()?, names).map_err(|why| fault(&self.key, &why))?;
        match fs::remove_file(&self.certificate) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(unwritten(&self.certificate, &error));
            }
            _ => {}
        }
        private::put(directory, CERTIFICATE, text.as_bytes())
            .map_err(|error| unwritten(&self.certificate, &error))
    }

    /// Is it one that was made here, and ends soon or has ended?
    fn is_ending(&self) -> Result<bool, Fault> {
        let facts = self.chain()?.first().and_then(|der| Facts::read(der));
        let soon = Date::in_days(SPARE_DAYS);
        let ends_soon = |facts: &Facts| facts.not_after.seconds() < soon.seconds();
        Ok(facts.is_some_and(|f| f.is_self_signed() && f.subject.contains(MADE_HERE) && ends_soon(&f)))
    }

    fn read(&self) -> Result<Identity, Fault> {
        let chain = self.chain()?;
        let key = PrivateKeyDer::from_pem_slice(&self.key_text()?);
        let key = key.map_err(|_| fault(&self.key, "no private key in PEM that is not encrypted"))?;
        let versions = ServerConfig::builder_with_provider(Arc::new(default_provider()))
            .with_protocol_versions(&[&TLS13, &TLS12])
            .map_err(|error| fault(&self.certificate, &error.to_string()))?;
        let server = versions.with_no_client_auth().with_single_cert(chain.clone(), key);
        let mut server = server.map_err(|error| self.unfit(&error))?;
        // NITRO's reason phrases are known to HTTP/1.1 alone.
        server.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Identity { server: Arc::new(server), chain })
    }

    fn unfit(&self, error: &Error) -> Fault {
        match error {
            Error::InconsistentKeys(_) => {
                let certificate = self.certificate.display();
                fault(&self.key, &format!("is not the key of the certificate in {certificate}"))
            }
            other => fault(&self.certificate, &other.to_string()),
        }
    }

    fn chain(&self) -> Result<Vec<CertificateDer<'static>>, Fault> {
        let path = &self.certificate;
        let mut text = Vec::new();
        let read = File::open(path).and_then(|file| file.take(MOST_BYTES).read_to_end(&mut text));
        read.map_err(|error| fault(path, &reason(&error)))?;
        let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
        match chain {
            Ok(chain) if !chain.is_empty() => Ok(chain),
            _ => Err(fault(path, "no certificate in PEM")),
        }
    }

    fn key_text(&self) -> Result<Zeroizing<Vec<u8>>, Fault> {
        // A link is the operator's own: what renews certificates keeps them behind links.
        let path = fs::canonicalize(&self.key).map_err(|error| fault(&self.key, &reason(&error)))?;
        let read = private::read(&path, MOST_BYTES as usize).and_then(|text| match text.len() as u64 {
            ..=MOST_BYTES => Ok(text),
            _ => Err(Unusable::Other("too long for a key".to_owned())),
        });
        read.map_err(|unusable| fault(&self.key, &unusable.to_string()))
    }
}

/// What this host is called, and the loopback addresses.
pub fn own_names(addresses: impl Iterator<Item = IpAddr>) -> Vec<String> {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let fixed = ["localhost".to_owned(), "127.0.0.1".to_owned(), "::1".to_owned()];
    let specified = addresses.filter(|ip| !ip.is_unspecified()).map(|ip| ip.to_string());
    let mut names: Vec<String> = Vec::new();
    for name in [host].into_iter().chain(fixed).chain(specified) {
        if !name.is_empty() && name.is_ascii() && !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// A certificate for that key, in PEM.
fn made_for(key: &[u8], names: &[String]) -> Result<String, String> {
    let text = |error: rcgen::Error| error.to_string();
    let key = std::str::from_utf8(key).map_err(|_| "no private key in PEM".to_owned())?;
    let key = KeyPair::from_pem(key).map_err(text)?;
    let mut params = CertificateParams::new(names).map_err(text)?;
    let mut subject = DistinguishedName::new();
    subject.push(DnType::OrganizationName, MADE_HERE);
    subject.push(DnType::CommonName, names.first().map_or("localhost", String::as_str));
    params.distinguished_name = subject;
    params.is_ca = IsCa::ExplicitNoCa;
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    // Browsers refuse two certificates of one issuer with the same number.
    let mut serial = [0; 16];
    rand::fill(&mut serial).map_err(|_| "the system gives no random numbers".to_owned())?;
    params.serial_number = Some(SerialNumber::from_slice(&serial));
    let day = |days| {
        let (year, month, day) = Date::in_days(days).calendar();
        date_time_ymd(year, month, day)
    };
    // Hosts' clocks differ.
    params.not_before = day(-1);
    params.not_after = day(DAYS);
    Ok(params.self_signed(&key).map_err(text)?.pem())
}

fn exists(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

fn fault(path: &Path, why: &str) -> Fault {
    Fault::Certificate { path: path.to_owned(), why: why.to_owned() }
}

const CERTIFICATE: &str = "nitro.crt";
const KEY: &str = "nitro.key";
/// The organisation in the subject of certificates that are made here.
const MADE_HERE: &str = "made by Steelyard";
/// Ten years.
const DAYS: i64 = 3_650;
/// What is made here and ends within so many days is made anew.
const SPARE_DAYS: i64 = 30;
/// More than any chain has.
const MOST_BYTES: u64 = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_made_has_its_names_and_ends() {
        let names = own_names(["192.0.2.7".parse().unwrap(), "0.0.0.0".parse().unwrap()].into_iter());
        assert!(names.contains(&"192.0.2.7".to_owned()) && !names.contains(&"0.0.0.0".to_owned()));
        let key = KeyPair::generate().unwrap();
        let pem = made_for(key.serialize_pem().as_bytes(), &names).unwrap();
        let der = CertificateDer::from_pem_slice(pem.as_bytes()).unwrap();
        let facts = Facts::read(&der).unwrap();
        let (ends, soonest) = (facts.not_after.seconds(), Date::in_days(DAYS - 2).seconds());
        assert!(ends > soonest && ends < Date::in_days(DAYS + 2).seconds(), "{ends}");
        assert!(facts.is_self_signed() && facts.subject.contains(MADE_HERE), "{}", facts.subject);
    }
}
