//! Names that changed: what is alive under the old one goes on under the new one, which a configuration cannot say.

/// Objects that have another name from here on, the old one first, in the order of the lines.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Renamed {
    /// Virtual servers.
    pub vservers: Vec<(String, String)>,
    /// Services.
    pub services: Vec<(String, String)>,
}

/// All those names in lower case, old and new: one that is neither before nor after may have been there in between.
pub(super) fn names(renamed: &[(String, String)]) -> impl Iterator<Item = String> {
    renamed.iter().flat_map(|(old, new)| [old, new]).map(|name| name.to_ascii_lowercase())
}
