//! A configuration file from disk: its bytes, bounded, and what the core makes of them.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use steelyard_core::command;
use steelyard_core::config::Config;

use crate::fault::{Fault, reason};
use crate::run::OnFailure;

/// Where a configuration comes from, and how it is to be read; the same at the start and at each reload.
#[derive(Clone)]
pub struct Source {
    /// The file.
    pub path: PathBuf,
    /// Enable the features that it uses even if it does not say so.
    pub assume_features: bool,
    /// What a refused line leads to.
    pub on_failure: OnFailure,
}

impl Source {
    /// Reads the file as it is now.
    ///
    /// # Errors
    /// [`Fault::Unreadable`], and [`Fault::Refused`] if a refused line is not to be accepted.
    pub fn load(&self) -> Result<Loaded, Fault> {
        let text = file(&self.path)?;
        let loaded = configuration(&self.path, &text, self.assume_features);
        if self.on_failure == OnFailure::Exit && !loaded.refused.is_empty() {
            return Err(Fault::Refused(loaded.refused));
        }
        Ok(loaded)
    }
}

/// A configuration, and a line for people for each line that was refused: `file:line:column: why`.
pub struct Loaded {
    /// What the accepted lines make.
    pub config: Config,
    /// What was refused, in order.
    pub refused: Vec<String>,
    /// What is served otherwise than the file says.
    pub notes: Vec<String>,
}

impl Loaded {
    /// What was refused and what is served otherwise, for standard error.
    pub fn said(&self) -> Vec<String> {
        self.refused.iter().chain(&self.notes).cloned().collect()
    }
}

/// The whole file.
///
/// # Errors
/// [`Fault::Unreadable`] when it is not there, not a file, not permitted, or larger than 64 MiB.
fn file(path: &Path) -> Result<Vec<u8>, Fault> {
    let unreadable = |why: String| Fault::Unreadable { path: path.to_owned(), why };
    let read = || -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        File::open(path)?.take(LARGEST + 1).read_to_end(&mut text)?;
        Ok(text)
    };
    let text = read().map_err(|error| unreadable(reason(&error)))?;
    if text.len() as u64 > LARGEST {
        return Err(unreadable(format!("larger than {} MiB", LARGEST >> 20)));
    }
    Ok(text)
}

/// Reads the text of a file called `path`. `assume_features` enables what it uses even if it does not say so.
pub fn configuration(path: &Path, text: &[u8], assume_features: bool) -> Loaded {
    let mut reading = command::read(text, &path.display().to_string());
    let assumed = if assume_features { command::features_not_enabled(&reading.config) } else { Vec::new() };
    let line = format!("enable ns feature {}", assumed.join(" "));
    let notes = match assumed.is_empty() {
        true => Vec::new(),
        false => vec![format!("steelyard: --assume-features, as if the file had: {line}")],
    };
    if !assumed.is_empty() {
        // The line is ours and valid; were it not, the virtual servers would be shown as switched off.
        let _ = command::run_line(&mut reading.config, &line);
    }
    let refused = reading.refused.iter().map(ToString::to_string).collect();
    Loaded { config: reading.config, refused, notes }
}

const LARGEST: u64 = 64 << 20;
