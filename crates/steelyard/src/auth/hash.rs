//! Hashes of passwords: this program's own, by argon2id, and those of appliances, which are checked and never made.
//!
//! The hard question is time: a name that nobody has, and a password in a form that nobody knows, must cost what a wrong
//! password costs. So whatever is wrong costs one argon2id.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::sync::{Mutex, OnceLock, PoisonError};

use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::digest::{Algorithm, Context, SHA1_FOR_LEGACY_USE_ONLY, SHA512};
use aws_lc_rs::{hmac, pbkdf2, rand};
use steelyard_core::config::secret::Secret;
use steelyard_core::config::{HashForm, ImportedHash};

/// What is known of somebody's password.
#[derive(Clone, PartialEq, Eq)]
pub enum Stored {
    /// This program's own hash, as a PHC string.
    Own(String),
    /// An appliance's.
    Imported(ImportedHash),
    /// Nothing that can be checked: nobody has this password.
    Nothing,
}

/// How a password fits.
#[derive(Clone, PartialEq, Eq)]
pub enum Fit {
    /// It is the one.
    Yes,
    /// It is the one, and this is a better hash of it.
    Better(String),
    /// It is not.
    No,
}

impl Stored {
    /// What can be checked of a secret: this program's own hash before an appliance's.
    pub fn of(secret: Option<&Secret>) -> Stored {
        let own = secret.and_then(Secret::sealed).filter(|own| PasswordHash::new(own).is_ok());
        let imported = || secret.and_then(ImportedHash::of);
        match own {
            Some(own) => Stored::Own(own.to_owned()),
            None => imported().map_or(Stored::Nothing, Stored::Imported),
        }
    }

    /// Is `password` the one? Takes some 20 ms of a core and 19 MiB, unless it is.
    pub fn fits(&self, password: &str) -> Fit {
        let fits = match self {
            Stored::Own(own) => PasswordHash::new(own)
                .is_ok_and(|own| argon2().verify_password(password.as_bytes(), &own).is_ok()),
            Stored::Imported(imported) => {
                let better = hash(password);
                return match (fits(imported, password), better) {
                    (true, Ok(better)) => Fit::Better(better),
                    (true, Err(_)) => Fit::Yes,
                    (false, _) => Fit::No,
                };
            }
            Stored::Nothing => hash(password).is_err_and(|_| false),
        };
        if fits { Fit::Yes } else { Fit::No }
    }

    /// Tells it from another; short, and no way back to the password that is not in the configuration.
    pub fn text(&self) -> &str {
        match self {
            Stored::Own(own) => own,
            Stored::Imported(imported) => &imported.salt,
            Stored::Nothing => "",
        }
    }
}

/// Does a password fit an appliance's hash?
fn fits(imported: &ImportedHash, password: &str) -> bool {
    // A string ends at such a byte there, and what is behind it would not count.
    if password.contains('\0') {
        return false;
    }
    let digest = |algorithm: &'static Algorithm| {
        let mut context = Context::new(algorithm);
        // The salt's digits, not what they say; and the zero byte that ends a string there.
        context.update(imported.salt.as_bytes());
        context.update(password.as_bytes());
        context.update(&[0]);
        verify_slices_are_equal(context.finish().as_ref(), &imported.digest).is_ok()
    };
    match imported.form {
        HashForm::Sha1 => digest(&SHA1_FOR_LEGACY_USE_ONLY),
        HashForm::Sha512 => digest(&SHA512),
        HashForm::Pbkdf2 => {
            let (algorithm, salt) = (pbkdf2::PBKDF2_HMAC_SHA256, imported.salt_bytes());
            pbkdf2::verify(algorithm, ROUNDS, &salt, password.as_bytes(), &imported.digest).is_ok()
        }
    }
}

/// Is it a hash of this program's own?
pub fn is_own(text: &str) -> bool {
    PasswordHash::new(text).is_ok()
}

/// A new hash of a password.
///
/// # Errors
/// What is missing, for people.
pub fn hash(password: &str) -> Result<String, String> {
    let mut salt = [0; 16];
    rand::fill(&mut salt).map_err(|_| "the system gives no random numbers".to_owned())?;
    let hash: PasswordHash = argon2()
        .hash_password_with_salt(password.as_bytes(), &salt)
        .map_err(|error| format!("the password cannot be hashed: {error}"))?;
    Ok(hash.to_string())
}

/// One for each hash of this program's own that is made.
fn argon2() -> Argon2<'static> {
    #[cfg(test)]
    tests::MADE.set(tests::made() + 1);
    Argon2::default()
}

/// Hashes passwords of a configuration, each once: a file that is read again comes to the same configuration.
#[derive(Default)]
pub struct Passwords {
    known: Mutex<BTreeMap<[u8; 32], String>>,
    marking: OnceLock<Option<hmac::Key>>,
}

impl Passwords {
    /// The hash of the password of whoever `purpose` names.
    ///
    /// # Errors
    /// What is missing, for people.
    pub fn hash(&self, password: &str, purpose: &str) -> Result<String, String> {
        let Some(mark) = self.mark(password, purpose) else { return hash(password) };
        if let Some(known) = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(&mark) {
            return Ok(known.clone());
        }
        let new = hash(password)?;
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() < MOST_KNOWN {
            known.insert(mark, new.clone());
        }
        Ok(new)
    }

    fn mark(&self, password: &str, purpose: &str) -> Option<[u8; 32]> {
        let key = self.marking.get_or_init(|| {
            let mut key = [0; 32];
            rand::fill(&mut key).ok().map(|()| hmac::Key::new(hmac::HMAC_SHA256, &key))
        });
        let mut context = hmac::Context::with_key(key.as_ref()?);
        context.update(&purpose.len().to_le_bytes());
        context.update(purpose.as_bytes());
        context.update(password.as_bytes());
        context.sign().as_ref().try_into().ok()
    }
}

/// A password that nobody guesses and that can be read aloud.
///
/// # Errors
/// What is missing, for people.
pub fn generated() -> Result<String, String> {
    let mut random = [0; 24];
    rand::fill(&mut random).map_err(|_| "the system gives no random numbers".to_owned())?;
    Ok(random.iter().map(|byte| char::from(LETTERS[usize::from(byte % 32)])).collect())
}

/// Without those that look alike; 32 of them, so that each is as likely.
const LETTERS: &[u8; 32] = b"abcdefghijkmnopqrstuvwxyz2345679";
const ROUNDS: NonZeroU32 = NonZeroU32::MIN.saturating_add(2_499);
/// Passwords that are remembered so; a configuration with more is reported as changed when it is read again.
const MOST_KNOWN: usize = 4_096;

#[cfg(test)]
pub mod tests {
    use std::cell::Cell;

    use super::*;

    thread_local! {
        pub static MADE: Cell<u32> = const { Cell::new(0) };
    }

    /// Hashes of this program's own that this thread has made.
    pub fn made() -> u32 {
        MADE.get()
    }

    fn stored(text: &str) -> Stored {
        Stored::of(Some(&Secret::Foreign(vec![text.to_owned(), "-encrypted".to_owned()])))
    }

    fn lets_in(stored: &Stored, password: &str) -> bool {
        stored.fits(password) != Fit::No
    }

    /// Test vectors of others: hashcat's modes 8100 (by the description of its format), 22200 and 33900.
    #[test]
    fn hashes_of_appliances_are_checked() {
        for (hash, password) in [
            ("14dfca1e6c0f5f3d96526c3ce70849992b7fad3e324cf6b0f", "nsroot"),
            (
                "2f9282ade42ce148175dc3b4d8b5916dae5211eee49886c3f7cc768f6b9f2eb982a5ac2f2672a0223999bfd15349093278adf12f6276e8b61dacf5572b3f93d0b4fa886ce",
                "hashcat",
            ),
            (
                "5567243c55099b6b10a714a350db53beea8be6ac9c247fd40fea7e96d206a9f11fd1c45735556ac2004138640de206d0e1522607ab3c3f92816156d2d7845068e",
                "hashcat",
            ),
        ] {
            let Fit::Better(better) = stored(hash).fits(password) else { panic!("{hash}") };
            assert!(lets_in(&Stored::Own(better.clone()), password), "{better}");
            assert!(!lets_in(&Stored::Own(better), "other"));
            for wrong in ["", "Nsroot", "hashcat ", "hashcat\0"] {
                assert!(!lets_in(&stored(hash), wrong), "{wrong:?}");
            }
        }
    }

    #[test]
    fn an_own_hash_counts_before_an_appliances() {
        let foreign = vec!["14dfca1e6c0f5f3d96526c3ce70849992b7fad3e324cf6b0f".to_owned()];
        let sealed = hash("own").unwrap();
        assert!(sealed.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{sealed}");
        let both = Stored::of(Some(&Secret::Supplied { foreign, sealed }));
        assert!(both.fits("own") == Fit::Yes && both.fits("nsroot") == Fit::No);
    }

    #[test]
    fn nothing_fits_nobody() {
        for secret in [None, Some(Secret::Sealed("********".to_owned()))] {
            let stored = Stored::of(secret.as_ref());
            assert!(stored == Stored::Nothing && !lets_in(&stored, "") && !lets_in(&stored, "********"));
        }
    }

    #[test]
    fn a_file_that_is_read_again_has_the_same_hashes_and_no_two_users_have_one() {
        let passwords = Passwords::default();
        let one = passwords.hash("hunter2", "system user/password/one").unwrap();
        assert_eq!(passwords.hash("hunter2", "system user/password/one").unwrap(), one);
        assert_ne!(passwords.hash("hunter2", "system user/password/other").unwrap(), one);
        assert_ne!(Passwords::default().hash("hunter2", "system user/password/one").unwrap(), one);
    }

    #[test]
    fn generated_passwords_differ() {
        let (one, other) = (generated().unwrap(), generated().unwrap());
        assert!(one != other && one.len() == 24, "{one} {other}");
    }
}
