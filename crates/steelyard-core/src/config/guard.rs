//! What keeps clients out at the appliance and is not acted on here, by virtual server: a virtual server that has any of
//! it is not opened, unless the operator names it.
//!
//! Owns the words for it. `command::guards` finds it in a configuration; the hard question, what a line that nobody acts
//! on would have kept out, is answered there, and in doubt it guards.

use std::fmt;

use crate::sorted::Sorted;

/// One thing that decides who gets in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Guard {
    /// An option that is not at its default.
    Option {
        /// Its name.
        name: &'static str,
        /// Its value, as a file has it.
        value: String,
        /// What has it.
        bound: Bound,
    },
    /// A policy that is bound, or a label that is invoked.
    Policy {
        /// As in `add KIND policy`; `None` if no line adds it.
        kind: Option<String>,
        /// Its name.
        name: String,
        /// What to.
        bound: Bound,
    },
    /// `add ns acl`, `acl6`, `simpleacl`, `simpleacl6` with action DENY.
    Acl {
        /// As in `add ns KIND`.
        kind: &'static str,
        /// Its name.
        name: String,
        /// How many more are about the same addresses and ports.
        others: usize,
    },
    /// `set ssl vserver NAME -clientAuth ENABLED`.
    ClientCertificate,
    /// `set appfw settings -defaultProfile`: what no policy matches is not let through unseen.
    DefaultProfile(String),
    /// A line that would have changed it was refused, and what its option does is not known.
    Refused {
        /// The option.
        option: String,
    },
    /// As many more as this.
    More(usize),
}

/// What an option or a policy belongs to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Bound {
    /// The virtual server itself.
    Here,
    /// Every virtual server.
    Globally,
    /// A service or group that is bound to it.
    To(String),
}

/// The guards of every virtual server that has some.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Guards {
    by_vserver: Sorted<String, Vec<Guard>>,
}

impl Guards {
    /// Those of the virtual server called `name`, without regard to case.
    pub fn of(&self, name: &str) -> &[Guard] {
        self.by_vserver.get(&name.to_ascii_lowercase()).map_or(&[], Vec::as_slice)
    }

    /// Those of the virtual server called `name`, which has none yet. The same one again is left out; beyond [`NAMED`] they
    /// are only counted.
    pub fn put(&mut self, name: &str, all: Vec<Guard>) {
        let mut guards: Vec<Guard> = Vec::new();
        for guard in all {
            if guards.contains(&guard) {
                continue;
            }
            if let Some(Guard::More(count)) = guards.last_mut() {
                *count += 1;
            } else if guards.len() < NAMED {
                guards.push(guard);
            } else {
                guards.push(Guard::More(1));
            }
        }
        if !guards.is_empty() {
            self.by_vserver.insert(name.to_ascii_lowercase(), guards);
        }
    }

    /// The operator opens the virtual server called `name` all the same. Returns what guarded it.
    pub fn waive(&mut self, name: &str) -> Vec<Guard> {
        self.by_vserver.remove(&name.to_ascii_lowercase()).unwrap_or_default()
    }
}

/// As in `-authn401 ON`, `responder policy p`, `responder policy q, bound globally`.
impl fmt::Display for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Guard::Option { name, value, bound } => write!(f, "-{name} {value}{bound}"),
            Guard::Policy { kind: Some(kind), name, bound } => write!(f, "{kind} policy {name}{bound}"),
            Guard::Policy { kind: None, name, bound } => {
                write!(f, "policy {name}, which no line adds{bound}")
            }
            Guard::Acl { kind, name, others: 0 } => write!(f, "ns {kind} {name}"),
            Guard::Acl { kind, name, others } => write!(f, "ns {kind} {name} and {others} like it"),
            Guard::ClientCertificate => f.write_str("client certificates"),
            Guard::DefaultProfile(profile) => write!(f, "appfw -defaultProfile {profile}"),
            Guard::More(count) => write!(f, "{count} more"),
            Guard::Refused { option } => write!(f, "{option}, which was refused"),
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Bound::Here => Ok(()),
            Bound::Globally => f.write_str(", bound globally"),
            Bound::To(object) => write!(f, " of {object}"),
        }
    }
}

/// Guards of one virtual server that are told by name.
const NAMED: usize = 8;
