//! The key by which clients know this host: made once, in the data directory, and never again.
//!
//! A file that is there and cannot be used is an error and not an occasion for another key: whoever has been here before
//! would take that for somebody between them and the host.

use std::fs;
use std::io;
use std::path::Path;

use aws_lc_rs::rand;
use russh::keys::ssh_key::LineEnding;
use russh::keys::ssh_key::private::{Ed25519Keypair, KeypairData};
use russh::keys::{Algorithm, PrivateKey};
use zeroize::Zeroizing;

use super::FOLDER;
use crate::fault::{Fault, reason};
use crate::private;

/// The key of this host, made if there is none.
///
/// # Errors
/// [`Fault::Ssh`]: the file, and why it cannot be used.
pub fn of(data: &Path) -> Result<PrivateKey, Fault> {
    let folder = data.join(FOLDER);
    let path = folder.join(NAME);
    if fs::symlink_metadata(&path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
        make(&folder).map_err(|why| fault(&path, why))?;
    }
    read(&path).map_err(|why| fault(&path, why))
}

fn make(folder: &Path) -> Result<(), String> {
    let mut seed = Zeroizing::new([0; 32]);
    rand::fill(&mut *seed).map_err(|_| "the system gives no random numbers".to_owned())?;
    let pair = KeypairData::from(Ed25519Keypair::from_seed(&seed));
    let key = PrivateKey::new(pair, "made by Steelyard").map_err(|error| error.to_string())?;
    let text = key.to_openssh(LineEnding::LF).map_err(|error| error.to_string())?;
    private::put(folder, NAME, text.as_bytes()).map_err(|error| reason(&error))
}

fn read(path: &Path) -> Result<PrivateKey, String> {
    let bytes = private::read(path, LARGEST).map_err(|unusable| unusable.to_string())?;
    let key = PrivateKey::from_openssh(&*bytes)
        .map_err(|_| format!("no private key as OpenSSH writes it; {ANEW}"))?;
    if key.is_encrypted() || key.algorithm() != Algorithm::Ed25519 {
        return Err(format!("not an Ed25519 key without a passphrase; {ANEW}"));
    }
    Ok(key)
}

fn fault(path: &Path, why: String) -> Fault {
    Fault::Ssh { what: path.display().to_string(), why }
}

const NAME: &str = "host_ed25519";
const ANEW: &str = "put it back, or take it away and one is made that clients have to be told of";
const LARGEST: usize = 16 << 10;

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    use super::*;

    #[test]
    fn a_key_is_made_once_and_never_in_the_place_of_another() {
        let data = std::env::temp_dir().join(format!("steelyard-host-key-{}", std::process::id()));
        let _ = fs::remove_dir_all(&data);
        let path = data.join(FOLDER).join(NAME);
        let print = |key: &PrivateKey| key.fingerprint(russh::keys::HashAlg::Sha256).to_string();
        let first = print(&of(&data).unwrap());
        assert_eq!(print(&of(&data).unwrap()), first);
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        let whole = fs::read(&path).unwrap();
        for bad in [&b""[..], b"text", &whole[..whole.len() / 2]] {
            fs::write(&path, bad).unwrap();
            assert!(matches!(of(&data), Err(Fault::Ssh { .. })));
            assert_eq!(fs::read(&path).unwrap(), bad, "it is left as it is");
        }
        fs::write(&path, &whole).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(of(&data).is_err_and(|fault| fault.to_string().contains("others may read it")));
        fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("/nowhere", &path).unwrap();
        assert!(of(&data).is_err(), "a link that leads nowhere is no missing file");
        fs::remove_dir_all(&data).unwrap();
    }
}
