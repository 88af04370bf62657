//! The key that secrets are kept with: a file in the data directory, made when the first secret is sealed.
//!
//! Owns the key and the form of a sealed secret: base64 of a version, a nonce and AES-256-GCM's output, with the
//! secret's purpose as associated data. Never writes or prints a secret. The hard question is a key that is not to be
//! trusted: a file that others can read, or of another length, is refused, and so is every secret that needs it.
//! Passwords of users are never opened again, so that they are hashed in place of that, and need no key.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use aws_lc_rs::aead::{AES_256_GCM, Aad, NONCE_LEN, Nonce, RandomizedNonceKey};
use aws_lc_rs::{hmac, rand};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use steelyard_core::command::{CannotSeal, Seal};
use steelyard_core::config::secret::{PASSWORD_OF, Plain, Unseal};
use zeroize::Zeroizing;

use crate::auth::hash::Passwords;
use crate::fault::reason;
use crate::private::{self, ELSEWHERE, Unusable};

/// Seals secrets with the key of a data directory. Clones have the same key.
#[derive(Clone)]
pub struct Keeper {
    inner: Arc<Inner>,
}

struct Inner {
    /// Empty: there is no file.
    directory: PathBuf,
    storage: Storage,
    /// Kept once it was read or made. A failure is not kept: the operator may mend it while the program runs.
    key: Mutex<Option<Arc<Key>>>,
    passwords: Passwords,
}

/// Does a new key outlive the program?
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Storage {
    /// It is written to the data directory.
    Disk,
    /// It is in memory alone, for whoever saves nothing.
    Memory,
}

struct Key {
    sealing: RandomizedNonceKey,
    /// What was sealed before, so that a file that is read again seals to the same configuration.
    known: Mutex<BTreeMap<[u8; 32], String>>,
    marking: hmac::Key,
}

impl Keeper {
    /// Touches nothing before the first secret.
    pub fn new(directory: &Path, storage: Storage) -> Keeper {
        let (directory, key, passwords) = (directory.to_owned(), Mutex::default(), Passwords::default());
        let inner = Inner { directory, storage, key, passwords };
        Keeper { inner: Arc::new(inner) }
    }

    /// For a configuration that nobody saves.
    pub fn in_memory() -> Keeper {
        Keeper::new(Path::new(""), Storage::Memory)
    }

    /// Why a sealed secret cannot be opened, for people; `None` if it can.
    pub fn why_shut(&self, sealed: &str, purpose: &str) -> Option<String> {
        match self.inner.existing_key() {
            Err(why) => Some(why),
            Ok(None) => Some(format!("there is no {}", self.inner.path().display())),
            Ok(Some(key)) => match key.open(sealed, purpose) {
                None => Some(format!("it was sealed with another key than {}", self.inner.path().display())),
                Some(_) => None,
            },
        }
    }
}

impl Seal for Keeper {
    fn seal(&self, plain: &str, purpose: &str) -> Result<String, CannotSeal> {
        if purpose.starts_with(PASSWORD_OF) {
            return self.inner.passwords.hash(plain, purpose).map_err(CannotSeal);
        }
        let key = self.inner.key().map_err(CannotSeal)?;
        key.seal(plain, purpose).ok_or_else(|| CannotSeal("the cipher failed".to_owned()))
    }
}

impl Unseal for Keeper {
    fn open(&self, sealed: &str, purpose: &str) -> Option<Plain> {
        let key = self.inner.existing_key().ok().flatten()?;
        Some(Plain::new(key.open(sealed, purpose)?.to_string()))
    }
}

impl Inner {
    fn path(&self) -> PathBuf {
        self.directory.join(KEY_FILE)
    }

    /// The key, made if there is none.
    fn key(&self) -> Result<Arc<Key>, String> {
        if let Some(key) = self.existing_key()? {
            return Ok(key);
        }
        let mut bytes = Zeroizing::new([0; KEY_BYTES]);
        rand::fill(&mut *bytes).map_err(|_| "the system gives no random numbers".to_owned())?;
        if self.storage == Storage::Disk {
            let written = private::put(&self.directory, KEY_FILE, &*bytes);
            written.map_err(|error| format!("{}: {}; {ELSEWHERE}", self.path().display(), reason(&error)))?;
            // Another process may have been first: its key is the one.
            if let Some(key) = self.existing_key()? {
                return Ok(key);
            }
        }
        self.keep(&bytes)
    }

    /// The key, if there is one.
    fn existing_key(&self) -> Result<Option<Arc<Key>>, String> {
        if let Some(key) = &*self.key.lock().unwrap_or_else(PoisonError::into_inner) {
            return Ok(Some(Arc::clone(key)));
        }
        if self.directory.as_os_str().is_empty() {
            return Ok(None);
        }
        match read_key(&self.path()) {
            Ok(bytes) => self.keep(&bytes).map(Some),
            Err(Unusable::Io(error)) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(unusable) => Err(format!("{}: {unusable}", self.path().display())),
        }
    }

    fn keep(&self, bytes: &[u8; KEY_BYTES]) -> Result<Arc<Key>, String> {
        let key = Arc::new(Key::new(bytes).ok_or("the cipher takes no key")?);
        let mut kept = self.key.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(Arc::clone(kept.get_or_insert(key)))
    }
}

impl Key {
    fn new(bytes: &[u8; KEY_BYTES]) -> Option<Key> {
        let mut mark = Zeroizing::new([0; 32]);
        rand::fill(&mut *mark).ok()?;
        Some(Key {
            sealing: RandomizedNonceKey::new(&AES_256_GCM, bytes).ok()?,
            known: Mutex::default(),
            marking: hmac::Key::new(hmac::HMAC_SHA256, &*mark),
        })
    }

    fn seal(&self, plain: &str, purpose: &str) -> Option<String> {
        let mark = self.mark(plain, purpose);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sealed) = known.get(&mark) {
            return Some(sealed.clone());
        }
        let mut buffer = Zeroizing::new(Vec::with_capacity(plain.len() + AES_256_GCM.tag_len()));
        buffer.extend_from_slice(plain.as_bytes());
        let nonce = self.sealing.seal_in_place_append_tag(associated(purpose), &mut *buffer).ok()?;
        let sealed = STANDARD.encode([&[VERSION][..], nonce.as_ref(), &buffer].concat());
        if known.len() < MOST_KNOWN {
            known.insert(mark, sealed.clone());
        }
        Some(sealed)
    }

    fn open(&self, sealed: &str, purpose: &str) -> Option<Zeroizing<String>> {
        let mut bytes = Zeroizing::new(STANDARD.decode(sealed).ok()?);
        let (version, rest) = bytes.split_first_mut()?;
        let (nonce, rest) = rest.split_at_mut_checked(NONCE_LEN)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
        if *version != VERSION {
            return None;
        }
        let plain = self.sealing.open_in_place(nonce, associated(purpose), rest).ok()?;
        std::str::from_utf8(plain).ok().map(|plain| Zeroizing::new(plain.to_owned()))
    }

    fn mark(&self, plain: &str, purpose: &str) -> [u8; 32] {
        let mut context = hmac::Context::with_key(&self.marking);
        context.update(&purpose.len().to_le_bytes());
        context.update(purpose.as_bytes());
        context.update(plain.as_bytes());
        context.sign().as_ref().try_into().unwrap_or_default()
    }
}

fn associated(purpose: &str) -> Aad<String> {
    Aad::from(format!("steelyard\0{purpose}"))
}

fn read_key(path: &Path) -> Result<Zeroizing<[u8; KEY_BYTES]>, Unusable> {
    let bytes = private::read(path, KEY_BYTES)?;
    <[u8; KEY_BYTES]>::try_from(bytes.as_slice()).map(Zeroizing::new).map_err(|_| {
        Unusable::Other(format!(
            "not {KEY_BYTES} bytes long; put back the file that sealed your secrets, or take it away"
        ))
    })
}

const KEY_FILE: &str = "seal.key";
/// Of AES-256.
const KEY_BYTES: usize = 32;
/// First byte of what base64 holds.
const VERSION: u8 = 1;
/// Secrets sealed before that are remembered; a configuration that has more is reported as changed when read again.
const MOST_KNOWN: usize = 65_536;

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    use super::*;

    /// A directory of this test's own, removed at its end.
    struct Directory(PathBuf);

    impl Directory {
        fn new(name: &str) -> Directory {
            let path = std::env::temp_dir().join(format!("steelyard-seal-{name}-{}", std::process::id()));
            let _ = fs::remove_dir_all(&path);
            Directory(path)
        }

        fn keeper(&self) -> Keeper {
            Keeper::new(&self.0, Storage::Disk)
        }

        fn key(&self) -> PathBuf {
            self.0.join(KEY_FILE)
        }
    }

    impl Drop for Directory {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn opened(keeper: &Keeper, sealed: &str, purpose: &str) -> Option<String> {
        let key = keeper.inner.existing_key().unwrap()?;
        key.open(sealed, purpose).map(|plain| plain.as_str().to_owned())
    }

    #[test]
    fn what_is_sealed_opens_in_a_later_process_for_its_purpose_alone() {
        let directory = Directory::new("opens");
        let sealed = directory.keeper().seal("hunter2 ü", "p").unwrap();
        let later = directory.keeper();
        assert_eq!(opened(&later, &sealed, "p").as_deref(), Some("hunter2 ü"));
        assert_eq!(opened(&later, &sealed, "q"), None);
        assert!(later.opens(&sealed, "p") && !later.opens(&sealed, "q"));
        let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
        assert_eq!((mode(&directory.0), mode(&directory.key())), (0o700, 0o600));
        assert_eq!(fs::read_dir(&directory.0).unwrap().count(), 1, "no draft is left");
    }

    #[test]
    fn a_changed_byte_anywhere_is_noticed() {
        let directory = Directory::new("changed");
        let keeper = directory.keeper();
        let sealed = keeper.seal("hunter2", "p").unwrap();
        let bytes = STANDARD.decode(&sealed).unwrap();
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            assert!(!keeper.opens(&STANDARD.encode(changed), "p"), "byte {at}");
        }
        for at in 0..sealed.len() {
            assert!(!keeper.opens(&sealed[..at], "p"), "cut at {at}");
        }
    }

    #[test]
    fn the_same_secret_seals_alike_in_one_process_and_otherwise_in_another() {
        let directory = Directory::new("alike");
        let keeper = directory.keeper();
        let sealed = keeper.seal("hunter2", "p").unwrap();
        assert_eq!(keeper.clone().seal("hunter2", "p").unwrap(), sealed);
        assert_ne!(keeper.seal("hunter2", "q").unwrap(), sealed);
        assert_ne!(directory.keeper().seal("hunter2", "p").unwrap(), sealed);
    }

    #[test]
    fn nothing_is_written_before_the_first_secret_or_for_one_that_is_not_saved() {
        let directory = Directory::new("unwritten");
        assert!(!directory.keeper().opens("AQ==", "p"));
        let keeper = Keeper::new(&directory.0, Storage::Memory);
        let sealed = keeper.seal("hunter2", "p").unwrap();
        assert!(keeper.opens(&sealed, "p"));
        assert!(!directory.0.exists());
    }

    #[test]
    fn a_key_that_others_can_read_or_of_another_length_is_refused_and_stays() {
        let directory = Directory::new("refused");
        let sealed = directory.keeper().seal("hunter2", "p").unwrap();
        let refused = |what: &str| {
            let keeper = directory.keeper();
            let CannotSeal(why) = keeper.seal("hunter2", "p").unwrap_err();
            assert!(why.contains("seal.key: ") && why.contains(what) && !why.contains('\n'), "{why}");
            assert_eq!(keeper.why_shut(&sealed, "p"), Some(why));
        };
        fs::set_permissions(directory.key(), PermissionsExt::from_mode(0o640)).unwrap();
        refused("mode 640");
        fs::set_permissions(directory.key(), PermissionsExt::from_mode(0o600)).unwrap();
        for length in [0, KEY_BYTES - 1, KEY_BYTES + 1] {
            fs::write(directory.key(), vec![7; length]).unwrap();
            refused("not 32 bytes");
            assert_eq!(fs::metadata(directory.key()).unwrap().len(), length as u64);
        }
        fs::remove_file(directory.key()).unwrap();
        fs::create_dir(directory.key()).unwrap();
        refused("not a file");
    }

    #[test]
    fn a_directory_that_cannot_be_made_is_named() {
        let directory = Directory::new("nowhere");
        fs::write(&directory.0, "").unwrap();
        let CannotSeal(why) = directory.keeper().seal("hunter2", "p").unwrap_err();
        assert!(why.contains("seal.key: ") && why.ends_with("--data"), "{why}");
        fs::remove_file(&directory.0).unwrap();
    }

    #[test]
    fn whoever_comes_second_takes_the_key_of_the_first() {
        let directory = Directory::new("second");
        private::put(&directory.0, KEY_FILE, &[1; KEY_BYTES]).unwrap();
        let sealed = directory.keeper().seal("hunter2", "p").unwrap();
        assert!(private::put(&directory.0, KEY_FILE, &[2; KEY_BYTES]).is_ok());
        assert!(directory.keeper().opens(&sealed, "p"));
    }
}
