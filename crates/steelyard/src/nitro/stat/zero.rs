//! The fields of `stat` that are always 0: the list that people read is the one that answers are made of.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::nitro::row::Row;

/// Adds those of a resource.
pub fn fill(row: &mut Row, resource: &str) {
    for field in LISTED.get(resource).into_iter().flatten() {
        row.number(field, 0);
    }
}

/// Resource and its fields.
static LISTED: LazyLock<BTreeMap<&'static str, Vec<&'static str>>> = LazyLock::new(|| {
    let mut listed: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut resource = None;
    for line in LIST.lines() {
        match line.strip_prefix("## ") {
            Some(name) => resource = Some(name),
            None => {
                if let Some(resource) = resource {
                    listed.entry(resource).or_default().extend(line.split_ascii_whitespace());
                }
            }
        }
    }
    listed
});

const LIST: &str = include_str!("zero.md");
