//! `system group`: users with the same rights.

use super::super::attribute::Kind;
use super::super::make::resource;
use super::super::table::Keyed;
use super::{CommandPolicyBinding, DAYS, DOORS, PROMPT, SESSION_TIMEOUT};

resource! {
    /// Users with the same rights.
    pub struct SystemGroup "system group" {
        /// Name of the group.
        name: String = String::new(), Key("groupName", "groupname", Kind::Name).at_add();
        /// What the command line prints before each command of its users, unless the user says it.
        prompt: String = String::new(), Option("promptString", "promptstring", PROMPT);
        /// Seconds without a request after which a session of its users ends, unless the user says it; 0: it does not.
        timeout_s: Option<u32> = None, Option("timeout", "timeout", SESSION_TIMEOUT);
        /// By which doors its users may come in, unless the user says it.
        doors: Vec<&'static str> = Vec::new(),
            Option("allowedManagementInterface", "allowedmanagementinterface", DOORS);
        /// Days after which a password of its users must be changed.
        days_to_expire: Option<u32> = None, Option("daystoexpire", "daystoexpire", DAYS).inert();
        /// Days before that at which the user is told.
        warn_prior_days: Option<u32> = None, Option("warnpriorndays", "warnpriorndays", DAYS).inert();
    }
    plain {
        /// Names of its users, in binding order.
        users: Vec<String> = Vec::new();
        /// What its users may do, after what policies of their own say.
        policies: Vec<CommandPolicyBinding> = Vec::new();
        /// Partitions that it is bound to; there is one here, the default one.
        partitions: Vec<String> = Vec::new();
    }
}

impl Keyed for SystemGroup {
    /// A group occupies none.
    type Address = ();

    fn name(&self) -> &str {
        &self.name
    }

    fn address_key(&self) -> Option<()> {
        None
    }
}
