//! The public keys by which users may come in: a file for each user in the data directory, as OpenSSH's `authorized_keys`.
//!
//! Read anew at each offer, so that a key that is taken out is out. A file that others may write is not believed; a line
//! with options counts for nothing, since nothing here would act on them.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use russh::keys::ssh_key::public::KeyData;
use russh::keys::{Algorithm, HashAlg, PublicKey};
use rustix::process::geteuid;

use super::FOLDER;
use crate::fault::reason;
use crate::report::Report;

/// Where the files are.
pub struct UserKeys {
    folder: PathBuf,
    report: Report,
    /// What the operator was told already.
    told: Mutex<BTreeSet<String>>,
}

impl UserKeys {
    /// In that data directory.
    pub fn new(data: &Path, report: Report) -> UserKeys {
        UserKeys { folder: data.join(FOLDER).join(NAME), report, told: Mutex::default() }
    }

    /// Does that user come in by that key, signed for in this way? What is wrong with the file is told to the operator.
    pub fn lets_in(&self, user: &str, key: &PublicKey, algorithm: &Algorithm) -> bool {
        if !is_accepted(key.key_data(), algorithm) || !is_file_name(user) {
            return false;
        }
        let path = self.folder.join(user);
        match read(&self.folder, &path) {
            Ok(None) => false,
            Ok(Some(text)) => {
                let (keys, wrong) = keys(&text);
                wrong.into_iter().for_each(|(line, why)| self.tell(&path, &format!("line {line}: {why}")));
                keys.iter().any(|known| known.key_data() == key.key_data())
            }
            Err(why) => {
                self.tell(&path, &why);
                false
            }
        }
    }

    /// Once for each fault: whoever offers keys must not fill a log.
    fn tell(&self, path: &Path, why: &str) {
        let line = format!("steelyard: {}: {why}; no key of it counts", path.display());
        let Ok(mut told) = self.told.lock() else { return };
        if told.len() < MOST_TOLD && told.insert(line.clone()) {
            self.report.err(line);
        }
    }
}

/// Is it a kind of key, and of signature, that nobody can forge today? Of RSA that leaves out SHA-1 and short keys.
fn is_accepted(key: &KeyData, algorithm: &Algorithm) -> bool {
    match (key, algorithm) {
        (KeyData::Ed25519(_), Algorithm::Ed25519) | (KeyData::Ecdsa(_), Algorithm::Ecdsa { .. }) => true,
        (KeyData::Rsa(key), Algorithm::Rsa { hash: Some(HashAlg::Sha256 | HashAlg::Sha512) }) => {
            key.n().as_positive_bytes().is_some_and(|modulus| modulus.len() * 8 >= LEAST_RSA_BITS)
        }
        _ => false,
    }
}

/// A user whose name cannot be that of a file has no keys.
fn is_file_name(user: &str) -> bool {
    !user.is_empty() && user.len() <= LONGEST_NAME && !user.starts_with('.') && !user.contains(['/', '\0'])
}

/// The file's text; none where there is no file.
fn read(folder: &Path, path: &Path) -> Result<Option<String>, String> {
    let open = |path: &Path, flags| {
        OpenOptions::new().read(true).custom_flags(flags | libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path)
    };
    let is_missing = |error: &std::io::Error| error.kind() == std::io::ErrorKind::NotFound;
    for path in [folder, folder.parent().unwrap_or(folder)] {
        match open(path, libc::O_DIRECTORY) {
            Ok(folder) => check(&folder).map_err(|why| format!("{}: {why}", path.display()))?,
            Err(error) if is_missing(&error) => return Ok(None),
            Err(error) => return Err(format!("{}: {}", path.display(), reason(&error))),
        }
    }
    let file = match open(path, 0) {
        Ok(file) => file,
        Err(error) if is_missing(&error) => return Ok(None),
        Err(error) => return Err(reason(&error)),
    };
    check(&file)?;
    if !file.metadata().is_ok_and(|metadata| metadata.is_file()) {
        return Err("not a file".to_owned());
    }
    let mut text = String::new();
    file.take(LARGEST + 1).read_to_string(&mut text).map_err(|error| reason(&error))?;
    if text.len() as u64 > LARGEST {
        return Err(format!("longer than {LARGEST} bytes"));
    }
    Ok(Some(text))
}

/// Only its owner may write it, who is this program's user or root.
fn check(file: &File) -> Result<(), String> {
    let metadata = file.metadata().map_err(|error| reason(&error))?;
    if ![0, geteuid().as_raw()].contains(&metadata.uid()) {
        return Err("it belongs to another user than the one this program runs as".to_owned());
    }
    match metadata.mode() & 0o022 {
        0 => Ok(()),
        _ => Err(format!("others may write it (mode {:03o})", metadata.mode() & 0o777)),
    }
}

/// The keys of a file, and the first lines of it that are none.
fn keys(text: &str) -> (Vec<PublicKey>, Option<(usize, &'static str)>) {
    let (mut keys, mut wrong) = (Vec::new(), None);
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        match PublicKey::from_openssh(line) {
            Ok(key) => keys.push(key),
            Err(_) => drop(wrong.get_or_insert((at + 1, "no public key, or one with options"))),
        }
    }
    // A line with options may be meant to keep somebody out: the rest of the file is not believed either.
    match wrong {
        None => (keys, None),
        wrong => (Vec::new(), wrong),
    }
}

const NAME: &str = "authorized_keys.d";
const LONGEST_NAME: usize = 127;
const LEAST_RSA_BITS: usize = 2_048;
/// Bytes of a file.
const LARGEST: u64 = 64 << 10;
const MOST_TOLD: usize = 64;
