//! Lines of an `ns.conf` that are no resource of this program: kept as they stand, in NetScaler's order.
//!
//! Owns their text, class and place in a saved file; never their meaning (`command::catalogue` knows that). The hard
//! question is where a line goes when the rest is printed anew: each has a rank, the place of its command in a file that
//! the appliance would save, and lines of one rank stay in the order in which they came.

/// The lines that were kept.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct KeptLines(Vec<Kept>);

/// One of them.
#[derive(Clone, Debug)]
pub struct Kept {
    /// As it stood, line ends inside quotes included.
    pub text: String,
    /// Why it is kept.
    pub class: Class,
    /// Where a saved file has it.
    pub rank: Rank,
}

/// Why a line is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// It configures what this program does not act on.
    Stored,
    /// It configures the host: addresses, routes, VLANs.
    Host,
    /// It means nothing here: a query, output that was pasted.
    Inert,
    /// It is no valid command; the number is NITRO's code.
    Refused(u16),
    /// A comment.
    Comment,
}

/// Places in a saved file, in their order (`spec/cli.md` 6). Each lies before the resources of the same name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Rank {
    /// The two lines at the top.
    Header,
    /// `set ns config`, features, modes, users, addresses, policies, profiles.
    System,
    /// `add server`.
    Servers,
    /// `add service`.
    Services,
    /// `add serviceGroup`.
    ServiceGroups,
    /// Certificates, authentication.
    Certificates,
    /// `set lb parameter`.
    Parameters,
    /// `add lb vserver`.
    LbVservers,
    /// What names virtual servers: content switching, GSLB, VPN, `lb group`.
    OtherVservers,
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
    /// What takes something away, and all that follows it.
    Last,
}

impl KeptLines {
    /// All, in the order of a saved file.
    pub fn iter(&self) -> std::slice::Iter<'_, Kept> {
        self.0.iter()
    }

    /// Those of one place.
    pub fn of(&self, rank: Rank) -> impl Iterator<Item = &Kept> {
        self.0.iter().filter(move |kept| kept.rank == rank)
    }

    /// Puts a line behind the others of its place.
    pub fn push(&mut self, kept: Kept) {
        let position = self.0.partition_point(|other| other.rank <= kept.rank);
        self.0.insert(position, kept);
    }
}

/// A comment's place follows from the command after it, and that may be gone: its text alone counts.
impl PartialEq for Kept {
    fn eq(&self, other: &Kept) -> bool {
        let placed = self.class == Class::Comment || self.rank == other.rank;
        self.text == other.text && self.class == other.class && placed
    }
}

impl Eq for Kept {}
