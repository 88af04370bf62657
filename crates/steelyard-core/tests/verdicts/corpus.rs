//! The real configurations, by name and line.

#[path = "../../../../ci/corpus.rs"]
mod files;

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

/// All files, sorted by name; `None` where there is no corpus: the caller's test ends there.
pub fn corpus() -> Option<Vec<Sample>> {
    let sample =
        |(name, bytes): (String, Vec<u8>)| Sample { name: name.trim_end_matches(".conf").to_owned(), bytes };
    Some(files::corpus()?.into_iter().map(sample).collect())
}
