//! Lines of an `ns.conf` that are no resource of this program: kept as they stand, in NetScaler's order.
//!
//! Owns their text, class and place in a saved file; never their meaning (`command::catalogue` knows that). The hard
//! question is where a line goes when the rest is printed anew: each has a rank, the place of its command in a file that
//! the appliance would save, and lines of one rank stay in the order in which they came. So whatever a line refers to
//! stands before it, as long as each rank comes after those that its commands refer to.

use std::collections::BTreeSet;

use crate::sync::Arc;

/// The lines that were kept. A copy shares them until one of both changes.
#[derive(Clone, Debug, Default)]
pub struct KeptLines {
    /// Names of the virtual servers that they add, in lower case: one may be a backup.
    vservers: Arc<BTreeSet<String>>,
    places: Arc<[Vec<Kept>; Rank::ALL.len()]>,
    /// Is there a command in the last place?
    removed: bool,
}

/// One of them.
#[derive(Clone, Debug)]
pub struct Kept {
    /// As it stood, line ends inside quotes included; each plain secret of it is masked.
    pub text: String,
    /// What `text` does not show.
    pub whole: Whole,
    /// Why it is kept.
    pub class: Class,
    /// Where a saved file has it.
    pub rank: Rank,
}

/// All of a kept line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Whole {
    /// Its text is all of it.
    Shown,
    /// It has a secret, and was sealed with it.
    Sealed(String),
    /// The same, and what was sealed is not here.
    Missing,
}

/// Why a line is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// It configures what this program does not act on.
    Stored,
    /// It configures the host: addresses, routes, VLANs.
    Host,
    /// It means nothing here: a query, output that was pasted. It is written back as a comment, so that an appliance
    /// that loads the file does not restart at that line.
    Inert,
    /// It is no valid command; the number is NITRO's code. It is written back as a comment.
    Refused(u16),
    /// A comment.
    Comment,
}

impl Class {
    /// Is it a command that a saved file has as such?
    pub fn is_live(self) -> bool {
        matches!(self, Class::Stored | Class::Host)
    }
}

/// Places in a saved file, in their order (`spec/cli.md` 6). Each has first the kept lines, then the resources.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Rank {
    /// The two lines at the top.
    Header,
    /// `set ns config`.
    Config,
    /// `enable ns feature`.
    Features,
    /// `enable ns mode`.
    Modes,
    /// Users, interfaces, VLANs; then `set ns hostName`, `add ns ip`, `set ns param`.
    System,
    /// What needs the addresses: `bind vlan`; then `add netProfile`.
    Network,
    /// Profiles, pattern sets, expressions; then `add server`.
    Servers,
    /// `add service`.
    Services,
    /// `add serviceGroup`.
    ServiceGroups,
    /// Keys and files that certificates name; then `add ssl certKey`.
    Certificates,
    /// Authentication, what names certificates; then `set lb parameter`.
    Parameters,
    /// `add lb vserver`.
    LbVservers,
    /// What names virtual servers: GSLB, VPN, policies and their actions; then `add lb group` and content switching.
    OtherVservers,
    /// What of content switching is no resource here; then `set` of what names a virtual server further up.
    ContentSwitching,
    /// `bind lb vserver`, and the bindings of the others.
    VserverBindings,
    /// `set lb monitor` and `add lb monitor`.
    Monitors,
    /// `bind service`.
    ServiceBindings,
    /// `bind serviceGroup`.
    ServiceGroupBindings,
    /// Routes, TLS of services and virtual servers, global bindings.
    Bindings,
    /// What removes or renames something, and all that follows it.
    Last,
}

impl Rank {
    /// Every rank, in order.
    pub const ALL: [Rank; 20] = [
        Rank::Header,
        Rank::Config,
        Rank::Features,
        Rank::Modes,
        Rank::System,
        Rank::Network,
        Rank::Servers,
        Rank::Services,
        Rank::ServiceGroups,
        Rank::Certificates,
        Rank::Parameters,
        Rank::LbVservers,
        Rank::OtherVservers,
        Rank::ContentSwitching,
        Rank::VserverBindings,
        Rank::Monitors,
        Rank::ServiceBindings,
        Rank::ServiceGroupBindings,
        Rank::Bindings,
        Rank::Last,
    ];
}

impl KeptLines {
    /// All, in the order of a saved file.
    pub fn iter(&self) -> impl Iterator<Item = &Kept> {
        self.places.iter().flatten()
    }

    /// Those of one place.
    pub fn of(&self, rank: Rank) -> &[Kept] {
        &self.places[rank as usize]
    }

    /// Does one of them add a virtual server of that name, such as `cs vserver`?
    pub fn adds_vserver(&self, name: &str) -> bool {
        self.vservers.contains(&name.to_ascii_lowercase())
    }

    /// A line adds a virtual server of that name.
    pub fn note_vserver(&mut self, name: &str) {
        Arc::make_mut(&mut self.vservers).insert(name.to_ascii_lowercase());
    }

    /// These lines, and the virtual servers that others were noted to add.
    pub fn with_vservers_of(self, noted: KeptLines) -> KeptLines {
        KeptLines { vservers: noted.vservers, ..self }
    }

    /// Puts a line behind the others of its place.
    pub fn push(&mut self, kept: Kept) {
        let rank = self.rank_for(kept.class, kept.rank);
        self.removed |= rank == Rank::Last && kept.class.is_live();
        Arc::make_mut(&mut self.places)[rank as usize].push(Kept { rank, ..kept });
    }

    /// The place that a line of that class and rank would get. Behind a command that removes or renames something the
    /// order alone says what is left: every command that comes after it stays after it.
    pub fn rank_for(&self, class: Class, rank: Rank) -> Rank {
        if self.removed && class.is_live() { Rank::Last } else { rank }
    }
}

/// The same lines in the same order.
impl PartialEq for KeptLines {
    fn eq(&self, other: &KeptLines) -> bool {
        Arc::ptr_eq(&self.places, &other.places) || self.iter().eq(other.iter())
    }
}

impl Eq for KeptLines {}

/// The place of what is no command follows from the command after it, and that may be gone: it does not count.
impl PartialEq for Kept {
    fn eq(&self, other: &Kept) -> bool {
        let placed = !self.class.is_live() || self.rank == other.rank;
        self.text == other.text && self.whole == other.whole && self.class == other.class && placed
    }
}

impl Eq for Kept {}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(text: &str, rank: Rank) -> Kept {
        Kept { text: text.to_owned(), whole: Whole::Shown, class: Class::Stored, rank }
    }

    fn texts(lines: &KeptLines) -> Vec<&str> {
        lines.iter().map(|kept| kept.text.as_str()).collect()
    }

    #[test]
    fn lines_stand_by_rank_and_then_as_they_came() {
        let mut lines = KeptLines::default();
        lines.push(stored("bind cs vserver c -policyName p", Rank::VserverBindings));
        lines.push(stored("add cs action a", Rank::OtherVservers));
        lines.push(stored("add cs policy p", Rank::OtherVservers));
        assert_eq!(texts(&lines), ["add cs action a", "add cs policy p", "bind cs vserver c -policyName p"]);
    }

    #[test]
    fn what_follows_a_removal_stays_behind_it() {
        let mut lines = KeptLines::default();
        lines.push(stored("add cs policy p", Rank::OtherVservers));
        lines.push(stored("rm cs policy p", Rank::Last));
        lines.push(stored("add cs policy p -url /new", Rank::OtherVservers));
        assert_eq!(texts(&lines), ["add cs policy p", "rm cs policy p", "add cs policy p -url /new"]);
    }

    #[test]
    fn every_rank_has_its_own_place() {
        assert!(Rank::ALL.iter().enumerate().all(|(index, rank)| *rank as usize == index));
    }
}
