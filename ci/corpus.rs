//! How tests reach the corpus: 53 configurations of other people, which stand beside the checkout and are never copied into it.
//!
//! Used by `#[path = "…/ci/corpus.rs"] mod corpus;`. What happens when the folder is missing? Under CI the test fails;
//! elsewhere it is skipped, and `make test` counts it as skipped.

use std::env;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Name and bytes of every file, by name, or `None`: the caller's test ends there and is counted as skipped.
///
/// # Panics
/// Under CI if the folder is missing; anywhere if it holds fewer files than the corpus has.
pub fn corpus() -> Option<Vec<(String, Vec<u8>)>> {
    let folder = folder();
    let Ok(entries) = fs::read_dir(&folder) else {
        let missing = format!("no corpus in {}: STEELYARD_CORPUS says where it is", folder.display());
        assert!(env::var_os("CI").is_none_or(|v| v != "true"), "{missing}");
        eprintln!("SKIPPED: {missing}");
        if let Some(path) = env::var_os("STEELYARD_SKIPPED") {
            let file = OpenOptions::new().append(true).create(true).open(&path);
            let written = file.and_then(|mut f| writeln!(f, "skipped: a test that needs the corpus"));
            assert!(
                written.is_ok(),
                "{} cannot be written, so the test would count as passed",
                path.display()
            );
        }
        return None;
    };
    let paths = entries.map(|entry| entry.map(|entry| entry.path()).unwrap_or_default());
    let mut paths: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|e| e == "conf")).collect();
    paths.sort();
    assert!(paths.len() >= FILES, "only {} files in {}", paths.len(), folder.display());
    let read = |path: PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        (name, fs::read(&path).unwrap_or_default())
    };
    Some(paths.into_iter().map(read).collect())
}

fn folder() -> PathBuf {
    match env::var_os("STEELYARD_CORPUS") {
        Some(folder) => PathBuf::from(folder),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus"),
    }
}

const FILES: usize = 53;
