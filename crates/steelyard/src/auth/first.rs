//! nsroot's first password: from a file, from the environment, or one that is made and shown once. There is none that
//! everybody knows.
//!
//! Kept is a hash of it alone, in the data directory; it counts as long as the configuration has no password of nsroot.

use std::env;
use std::path::Path;

use steelyard_core::command::LONGEST_PASSWORD;
use steelyard_core::config::{Config, NSROOT};
use zeroize::Zeroizing;

use super::First;
use super::hash::{self, Stored};
use crate::fault::Fault;
use crate::private::{self, Unusable};
use crate::report::Report;

/// The hash of nsroot's first password, if there is one or has to be one.
///
/// # Errors
/// [`Fault::FirstPassword`]: what is given cannot be used.
pub fn password(
    data: &Path,
    config: &Config,
    file: Option<&Path>,
    report: &Report,
) -> Result<Option<First>, Fault> {
    let kept = data.join(FILE);
    let fault = |path: &Path, why: String| Fault::FirstPassword { from: path.display().to_string(), why };
    match private::read(&kept, LARGEST) {
        Ok(text) => {
            let text = String::from_utf8_lossy(&text).trim().to_owned();
            return match hash::is_own(&text) {
                true => Ok(Some(First::Until(text))),
                false => Err(fault(&kept, "not what this program has written; take it away".to_owned())),
            };
        }
        Err(Unusable::Io(error)) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(unusable) => return Err(fault(&kept, unusable.to_string())),
    }
    let nsroot = config.system_users.find(NSROOT).and_then(|user| user.password.as_ref());
    if Stored::of(nsroot) != Stored::Nothing {
        return Ok(None);
    }
    let given = given(file)?;
    let made = given.is_none();
    let cannot = |why| Fault::FirstPassword { from: NSROOT.to_owned(), why };
    let password = given.map_or_else(|| hash::generated().map(Zeroizing::new), Ok).map_err(cannot)?;
    let hash = hash::hash(&password).map_err(cannot)?;
    if let Err(error) = private::put(data, FILE, format!("{hash}\n").as_bytes()) {
        let (path, why) = (kept.display(), crate::fault::reason(&error));
        report.err(format!("steelyard: {path}: {why}; the password of nsroot is forgotten at the end"));
    }
    if made {
        report.err(shown(&password));
    }
    Ok(Some(First::Until(hash)))
}

/// A password for a program that keeps nothing, and its hash.
///
/// # Errors
/// [`Fault::FirstPassword`]: the system gives no random numbers.
pub fn for_now() -> Result<(String, First), Fault> {
    let made = hash::generated()
        .and_then(|password| hash::hash(&password).map(|hash| (password, First::Always(hash))));
    made.map_err(|why| Fault::FirstPassword { from: NSROOT.to_owned(), why })
}

/// The line that tells a password which nobody knows yet.
fn shown(password: &str) -> String {
    format!(
        "steelyard: nsroot's password is {password}, which is not shown again; change it: set system user nsroot NEW"
    )
}

fn given(file: Option<&Path>) -> Result<Option<Zeroizing<String>>, Fault> {
    let (from, text) = match (file, env::var(VARIABLE)) {
        (Some(path), _) => {
            let from = format!("--nsroot-password-file {}", path.display());
            let text = private::read(path, LARGEST)
                .map_err(|why| Fault::FirstPassword { from: from.clone(), why: why.to_string() })?;
            (from, Zeroizing::new(String::from_utf8_lossy(&text).trim_end_matches(['\r', '\n']).to_owned()))
        }
        (None, Ok(text)) => (VARIABLE.to_owned(), Zeroizing::new(text)),
        (None, Err(env::VarError::NotPresent)) => return Ok(None),
        (None, Err(env::VarError::NotUnicode(_))) => (VARIABLE.to_owned(), Zeroizing::default()),
    };
    match text.len() {
        1..=LONGEST_PASSWORD => Ok(Some(text)),
        _ => Err(Fault::FirstPassword {
            from,
            why: format!("a password has 1 to {LONGEST_PASSWORD} bytes of text"),
        }),
    }
}

const FILE: &str = "nsroot.password";
const VARIABLE: &str = "STEELYARD_NSROOT_PASSWORD";
const LARGEST: usize = 4_096;
