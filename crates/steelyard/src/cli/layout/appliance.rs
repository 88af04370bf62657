//! `show ns version`.

use super::text;
use crate::cli::show::Fields;

/// What the program says it is.
pub fn version(found: &[Fields]) -> String {
    found.iter().map(|of| format!("\t{}\n", text(of, "version"))).collect()
}
