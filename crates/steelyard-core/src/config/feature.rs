//! `ns feature`: which parts of NetScaler the configuration has switched on. The set is kept as it was given.

use std::collections::BTreeSet;

/// The features that are enabled.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Features(BTreeSet<&'static str>);

impl Features {
    /// Is the feature of this acronym (in NetScaler's spelling, [`Features::LB`] for one) enabled?
    pub fn has(&self, acronym: &str) -> bool {
        self.0.contains(acronym)
    }

    /// The acronyms, sorted.
    pub fn iter(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.0.iter().copied()
    }

    /// Load balancing: without it no virtual server is active.
    pub const LB: &'static str = "LB";
}

impl FromIterator<&'static str> for Features {
    fn from_iter<I: IntoIterator<Item = &'static str>>(acronyms: I) -> Features {
        Features(acronyms.into_iter().collect())
    }
}
