//! Where the real configurations are, and what to do where they are not.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

/// One file of the corpus.
pub struct Sample {
    /// `001`.
    pub name: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

impl Sample {
    /// Its lines, as an editor counts them.
    pub fn lines(&self) -> Vec<String> {
        String::from_utf8_lossy(&self.bytes).lines().map(str::to_owned).collect()
    }
}

/// All files, sorted by name; `None` where there is no corpus: the caller's test ends there, and is counted as skipped.
///
/// # Panics
/// Under CI without a corpus.
pub fn corpus(test: &str) -> Option<Vec<Sample>> {
    let folder = std::env::var_os("STEELYARD_CORPUS")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus"), PathBuf::from);
    let Ok(entries) = std::fs::read_dir(&folder) else {
        skip(test, &folder);
        return None;
    };
    let mut samples: Vec<Sample> = entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "conf"))
        .map(|path| Sample {
            name: path.file_stem().unwrap().to_string_lossy().into_owned(),
            bytes: std::fs::read(&path).unwrap(),
        })
        .collect();
    samples.sort_by(|a, b| a.name.cmp(&b.name));
    assert!(samples.len() >= 53, "{} has {} files", folder.display(), samples.len());
    Some(samples)
}

fn skip(test: &str, folder: &Path) {
    let missing = format!("no corpus in {}: STEELYARD_CORPUS names its folder", folder.display());
    assert!(std::env::var_os("CI").is_none_or(|value| value != "true"), "{missing}");
    eprintln!("SKIPPED: {test}: {missing}");
    if let Some(path) = std::env::var_os("STEELYARD_SKIPPED") {
        let file = OpenOptions::new().append(true).create(true).open(path);
        file.and_then(|mut file| writeln!(file, "skipped: {test}, for want of a corpus")).unwrap();
    }
}
