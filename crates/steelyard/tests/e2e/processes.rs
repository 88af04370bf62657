//! The host's processes, as /proc has them.

use std::fs;
use std::path::PathBuf;

/// A process at the time of looking.
#[derive(Debug)]
pub struct Found {
    pub id: u32,
    pub parent: u32,
    pub group: u32,
    /// Ended and not reaped.
    pub is_dead: bool,
    /// Its command line.
    pub words: Vec<String>,
    folder: PathBuf,
}

impl Found {
    /// Does it work in that folder?
    pub fn is_in(&self, folder: &str) -> bool {
        self.folder == fs::canonicalize(folder).unwrap()
    }
}

/// All of them; those that end meanwhile may be missing.
pub fn processes() -> Vec<Found> {
    let ids = fs::read_dir("/proc").unwrap().flatten();
    ids.filter_map(|entry| found(entry.file_name().to_str()?.parse().ok()?)).collect()
}

fn found(id: u32) -> Option<Found> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // The name in parentheses may hold anything.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let words = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
    let words = words.split(|&byte| byte == 0).map(|word| String::from_utf8_lossy(word).into_owned());
    Some(Found {
        id,
        parent: fields.get(1)?.parse().ok()?,
        group: fields.get(2)?.parse().ok()?,
        is_dead: ["Z", "X"].contains(fields.first()?),
        words: words.collect(),
        folder: fs::read_link(format!("/proc/{id}/cwd")).unwrap_or_default(),
    })
}
