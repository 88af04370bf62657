//! `system user`: somebody who may log in.
//!
//! Of a password a configuration has at most two things: what an appliance made of it, which goes back to it as it is,
//! and this program's own hash of it, which stands in no `ns.conf`.

use super::super::attribute::Kind;
use super::super::make::resource;
use super::super::secret::Secret;
use super::super::table::Keyed;
use super::{CommandPolicyBinding, DOORS, PROMPT, SESSION_TIMEOUT};

resource! {
    /// Somebody who may log in.
    pub struct SystemUser "system user" {
        /// Name by which the user logs in.
        name: String = String::new(), Key("userName", "username", Kind::Name).at_add();
        /// Password of the user; without one the user cannot log in.
        password: Option<Secret> = None, Optional("password", "password", Kind::Secret);
        /// DISABLED: the user is not looked for in a directory elsewhere.
        external_auth: bool = true, Option("externalAuth", "externalauth", Kind::Switch).inert();
        /// What the command line prints before each of the user's commands: %u user, %h host, %s state, %t and %T time, %d date.
        prompt: String = String::new(), Option("promptString", "promptstring", PROMPT);
        /// Seconds without a request after which a session of the user ends; 0: it does not.
        timeout_s: Option<u32> = None, Option("timeout", "timeout", SESSION_TIMEOUT);
        /// ENABLED: the user may see logs of the web.
        logging: bool = false, Option("logging", "logging", Kind::Switch).inert();
        /// Most sessions of the user at one time.
        max_sessions: Option<u32> = None,
            Option("maxsession", "maxsession", Kind::Number { min: 1, max: 40 });
        /// By which doors the user may come in; not said, by all.
        doors: Vec<&'static str> = Vec::new(),
            Option("allowedManagementInterface", "allowedmanagementinterface", DOORS);
    }
    plain {
        /// What the user may do, in binding order; the policy with the smallest priority is asked first.
        policies: Vec<CommandPolicyBinding> = Vec::new();
        /// Partitions that the user is bound to; there is one here, the default one.
        partitions: Vec<String> = Vec::new();
    }
}

impl SystemUser {
    /// The user that is there from the start, and may do everything.
    pub(crate) fn nsroot() -> SystemUser {
        SystemUser { name: NSROOT.to_owned(), ..SystemUser::default() }
    }

    /// Is that [`NSROOT`]?
    pub fn is_nsroot(name: &str) -> bool {
        name.eq_ignore_ascii_case(NSROOT)
    }
}

impl Keyed for SystemUser {
    /// A user occupies none.
    type Address = ();

    fn name(&self) -> &str {
        &self.name
    }

    fn address_key(&self) -> Option<()> {
        None
    }
}

/// The name of the user that cannot be removed.
pub const NSROOT: &str = "nsroot";
