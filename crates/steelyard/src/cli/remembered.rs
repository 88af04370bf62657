//! The file of lines that were given at a terminal, for the arrow keys of the next session.
//!
//! Owns what goes into it: no line with a secret, and nothing of whoever comes over the network. It is its owner's alone; one
//! that others could have written is not believed. What cannot be read or written costs no command.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::private::{self, Unusable};

/// The file, as long as it can be used.
pub struct Remembered {
    path: Option<PathBuf>,
    /// Lines in it, as far as this session knows.
    lines: usize,
}

impl Remembered {
    /// Nothing is read or written.
    pub fn nowhere() -> Remembered {
        Remembered { path: None, lines: 0 }
    }

    /// The file of whoever runs this, and its lines; why it is not used, where that is not its absence.
    pub fn of_owner() -> (Remembered, Vec<String>, Option<String>) {
        let Some(path) = path() else { return (Remembered::nowhere(), Vec::new(), None) };
        match lines_of(&path) {
            Ok(lines) => (Remembered { path: Some(path), lines: lines.len() }, lines, None),
            Err(Unusable::Io(error)) if error.kind() == io::ErrorKind::NotFound => {
                (Remembered { path: Some(path), lines: 0 }, Vec::new(), None)
            }
            Err(why) => {
                let why = match why {
                    Unusable::Io(error) => crate::fault::reason(&error),
                    Unusable::NoFile => "not a file".to_owned(),
                    why => why.to_string(),
                };
                let why = format!("{}: {why}; lines are not remembered", path.display());
                (Remembered::nowhere(), Vec::new(), Some(why))
            }
        }
    }

    /// Adds a line, which holds no secret.
    pub fn add(&mut self, line: &str) {
        let Some(path) = &self.path else { return };
        if line.len() > LONGEST || line.contains(['\n', '\r']) {
            return;
        }
        let added = append(path, line).and_then(|()| match self.lines {
            lines if lines >= 2 * KEPT => cut(path),
            lines => Ok(lines + 1),
        });
        match added {
            Ok(lines) => self.lines = lines,
            Err(_) => self.path = None,
        }
    }
}

/// `$XDG_STATE_HOME/steelyard/history`, by default in `~/.local/state`.
fn path() -> Option<PathBuf> {
    let folder = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = folder("XDG_STATE_HOME").or_else(|| Some(folder("HOME")?.join(".local/state")))?;
    Some(state.join("steelyard/history"))
}

/// The last ones.
fn lines_of(path: &Path) -> Result<Vec<String>, Unusable> {
    let bytes = private::read(path, MOST)?;
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    Ok(lines[lines.len().saturating_sub(KEPT)..].to_vec())
}

fn append(path: &Path, line: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    let mut open = OpenOptions::new();
    open.append(true).create(true).mode(0o600).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    let mut file = open.open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() || private::is_open_to_others(&metadata) || metadata.len() > MOST as u64 {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    file.write_all(format!("{line}\n").as_bytes())
}

/// Leaves the last lines in it; how many.
fn cut(path: &Path) -> io::Result<usize> {
    let lines = lines_of(path).map_err(|_| io::Error::from(io::ErrorKind::PermissionDenied))?;
    let draft = path.with_extension(std::process::id().to_string());
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft)?;
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let written = file.write_all(text.as_bytes()).and_then(|()| fs::rename(&draft, path));
    if written.is_err() {
        drop(fs::remove_file(&draft));
    }
    written.map(|()| lines.len())
}

/// Lines.
const KEPT: usize = 1_000;
/// Bytes of a line.
const LONGEST: usize = 4_096;
/// Bytes of the file: no more than twice the lines are ever in it.
const MOST: usize = (2 * KEPT + 1) * (LONGEST + 1);
