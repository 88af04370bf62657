//! The fields that are always 0: the list that people read is the one that answers are made of.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::documented::Section;

/// Those of a resource.
pub fn always_zero(section: Section, resource: &'static str) -> &'static [&'static str] {
    LISTED.get(&(section, resource)).map(Vec::as_slice).unwrap_or_default()
}

static LISTED: LazyLock<BTreeMap<(Section, &'static str), Vec<&'static str>>> = LazyLock::new(|| {
    let mut listed: BTreeMap<_, Vec<&str>> = BTreeMap::new();
    let mut at = None;
    for line in LIST.lines() {
        match line.strip_prefix("## ").and_then(|name| name.split_once('/')) {
            Some(("stat", resource)) => at = Some((Section::Stat, resource)),
            Some((_, resource)) => at = Some((Section::Config, resource)),
            None => {
                if let Some(at) = at {
                    listed.entry(at).or_default().extend(line.split_ascii_whitespace());
                }
            }
        }
    }
    listed
});

const LIST: &str = include_str!("zero.md");
