//! A configuration from disk: its files, bounded, and what the core makes of them.
//!
//! Beside the `ns.conf` may be a `steelyard.conf`, and the operator may supply secrets in a file of their own; nobody
//! else may be able to read that one.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use steelyard_core::command::{self, Files, Forget, Reading, Seal, Switched};
use steelyard_core::config::Config;
use steelyard_core::monitor::bound::sealed_secrets;
use zeroize::Zeroizing;

use crate::auth::without_password;
use crate::fault::{Fault, reason};
use crate::private::is_open_to_others;
use crate::run::OnFailure;
use crate::save::{self, Version};
use crate::seal::Keeper;

/// Where a configuration comes from, and how it is to be read; the same at the start and at each reload.
#[derive(Clone)]
pub struct Source {
    /// The file.
    pub path: PathBuf,
    /// Secrets that the operator supplies.
    pub secrets: Option<PathBuf>,
    /// What they are sealed with.
    pub key: Keeper,
    /// Enable the features that it uses even if it does not say so.
    pub assume_features: bool,
    /// What a refused line leads to.
    pub on_failure: OnFailure,
    /// What a file that is not there leads to.
    pub absent: Absent,
}

/// What it means that there is no configuration file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Absent {
    /// A mistake: the operator named it.
    Mistake,
    /// Nothing was saved yet.
    Empty,
}

impl Source {
    /// The files that it is saved to.
    pub fn files(&self) -> save::Files {
        save::Files::new(&self.path)
    }

    /// Puts into place what a save that was interrupted left waiting.
    pub fn finish_saving(&self) {
        if let Ok(ns_conf) = file(&self.path) {
            self.files().finish(&ns_conf);
        }
    }

    /// The same of the files of a save.
    pub fn of(&self, version: Version) -> Source {
        match self.files().older(version) {
            Some(path) => Source { path, absent: Absent::Mistake, ..self.clone() },
            None => self.clone(),
        }
    }

    /// Reads the files as they are now.
    ///
    /// # Errors
    /// [`Fault::Unreadable`], [`Fault::Secrets`], and [`Fault::Refused`] if a refused line is not to be accepted.
    pub fn load(&self) -> Result<Loaded, Fault> {
        let ns_conf = match self.absent {
            Absent::Mistake => file(&self.path)?,
            Absent::Empty => optional(&self.path)?.unwrap_or_default(),
        };
        let beside = self.files().beside(&ns_conf);
        let steelyard_conf = optional(&beside)?;
        let secrets = self.secrets.as_deref().map(secrets).transpose()?;
        let names = [&self.path, &beside, self.secrets.as_ref().unwrap_or(&self.path)];
        let [ns_conf_name, beside_name, secrets_name] = names.map(|path| path.display().to_string());
        let named = |text, name| command::File { text, name };
        let files = Files {
            ns_conf: named(&ns_conf, &ns_conf_name),
            steelyard_conf: steelyard_conf.as_deref().map(|text| named(text, &beside_name)),
            secrets: secrets.as_deref().map(|text| named(text, &secrets_name)),
        };
        let mut loaded = made(files, &self.key, self.assume_features);
        if self.on_failure == OnFailure::Exit && !loaded.refused.is_empty() {
            return Err(Fault::Refused(loaded.refused));
        }
        loaded.notes.extend(shut(&loaded.config, &self.key));
        loaded.notes.extend(without_password(&loaded.config));
        Ok(loaded)
    }
}

/// A configuration, and a line for people for each line that was refused: `file:line:column: why`.
pub struct Loaded {
    /// What the accepted lines make.
    pub config: Config,
    /// What its lines switch on and off, beyond that.
    pub switched: Switched,
    /// What was refused, in order.
    pub refused: Vec<String>,
    /// Features that are on although the file does not enable them.
    pub assumed: Vec<&'static str>,
    /// What cannot be served: secrets that do not open.
    pub notes: Vec<String>,
}

impl Loaded {
    /// What was refused and what is served otherwise, for standard error.
    pub fn said(&self) -> Vec<String> {
        let assumed = (!self.assumed.is_empty()).then(|| {
            let line = enabling(&self.assumed);
            format!("steelyard: --assume-features, as if the file had: {line}")
        });
        self.refused.iter().cloned().chain(assumed).chain(self.notes.iter().cloned()).collect()
    }
}

/// What the lines of a file come to, one by one, with what is beside it. Nothing is kept, so that secrets need no key.
///
/// # Errors
/// [`Fault::Unreadable`].
pub fn reading(path: &Path) -> Result<Reading, Fault> {
    let ns_conf = file(path)?;
    let beside = save::Files::new(path).beside(&ns_conf);
    let steelyard_conf = optional(&beside)?;
    let [ns_conf_name, beside_name] = [path, &beside].map(|path| path.display().to_string());
    let named = |text, name| command::File { text, name };
    let files = Files {
        ns_conf: named(&ns_conf, &ns_conf_name),
        steelyard_conf: steelyard_conf.as_deref().map(|text| named(text, &beside_name)),
        secrets: None,
    };
    Ok(command::read_files(files, &Forget))
}

/// Reads the text of a file called `path`. `assume_features` enables what it uses even if it does not say so.
pub fn configuration(path: &Path, text: &[u8], assume_features: bool) -> Loaded {
    let name = path.display().to_string();
    let ns_conf = command::File { text, name: &name };
    made(Files { ns_conf, steelyard_conf: None, secrets: None }, &Keeper::in_memory(), assume_features)
}

fn made(files: Files<'_>, key: &dyn Seal, assume_features: bool) -> Loaded {
    let Reading { mut config, refused, lines } = command::read_files(files, key);
    let assumed = if assume_features { command::features_not_enabled(&config) } else { Vec::new() };
    if !assumed.is_empty() {
        // The line is ours and valid; were it not, the virtual servers would be shown as switched off.
        let _ = command::run_line(&mut config, &enabling(&assumed));
    }
    let refused = refused.iter().map(ToString::to_string).collect();
    let switched = Switched::by(&lines);
    Loaded { config, switched, refused, assumed, notes: Vec::new() }
}

fn enabling(features: &[&str]) -> String {
    format!("enable ns feature {}", features.join(" "))
}

fn shut(config: &Config, key: &Keeper) -> Vec<String> {
    let mut lines = Vec::new();
    for monitor in &config.lb_monitors {
        for secret in sealed_secrets(monitor) {
            if let Some(why) = key.why_shut(&secret.text, &secret.purpose) {
                lines.push(format!(
                    "steelyard: monitor {} is UNKNOWN: its -{} cannot be opened: {why}; supply it again with --secrets",
                    monitor.name, secret.option
                ));
            }
        }
    }
    lines
}

/// The whole file.
///
/// # Errors
/// [`Fault::Unreadable`] when it is not there, not a file, not permitted, or larger than 64 MiB.
pub fn file(path: &Path) -> Result<Zeroizing<Vec<u8>>, Fault> {
    let unreadable = |why| Fault::Unreadable { path: path.to_owned(), why };
    File::open(path).map_err(|error| reason(&error)).and_then(bytes).map_err(unreadable)
}

/// The same, if it is there.
fn optional(path: &Path) -> Result<Option<Zeroizing<Vec<u8>>>, Fault> {
    match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        _ => file(path).map(Some),
    }
}

/// A file of plain secrets.
///
/// # Errors
/// [`Fault::Secrets`] also when others may read it.
fn secrets(path: &Path) -> Result<Zeroizing<Vec<u8>>, Fault> {
    let read = || {
        let file = File::open(path).map_err(|error| reason(&error))?;
        let metadata = file.metadata().map_err(|error| reason(&error))?;
        if is_open_to_others(&metadata) {
            let mode = metadata.mode() & 0o777;
            return Err(format!("others may read or write it (mode {mode:03o}); chmod 600 it"));
        }
        bytes(file)
    };
    read().map_err(|why| Fault::Secrets { path: path.to_owned(), why })
}

fn bytes(file: File) -> Result<Zeroizing<Vec<u8>>, String> {
    let expected = file.metadata().map_or(0, |metadata| metadata.len().min(LARGEST as u64));
    let mut text = Zeroizing::new(Vec::with_capacity(usize::try_from(expected).unwrap_or(0) + 1));
    file.take(LARGEST as u64 + 1).read_to_end(&mut text).map_err(|error| reason(&error))?;
    match text.len() <= LARGEST {
        true => Ok(text),
        false => Err(format!("larger than {} MiB", LARGEST >> 20)),
    }
}

/// Bytes of the largest file that is read.
pub const LARGEST: usize = 64 << 20;
