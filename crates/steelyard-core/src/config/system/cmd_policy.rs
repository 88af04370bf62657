//! `system cmdPolicy`: which commands somebody may give.

use super::super::attribute::Kind;
use super::super::make::resource;
use super::super::table::Keyed;
use super::super::{TEXT, one_of};

resource! {
    /// Commands that are allowed or denied.
    pub struct SystemCmdPolicy "system cmdPolicy" {
        /// Name of the policy.
        name: String = String::new(), Key("policyName", "policyname", Kind::Name).at_add();
        /// What it does with a command that its expression matches.
        action: &'static str = "ALLOW", Required("action", "action", one_of(&["ALLOW", "DENY"]));
        /// Regular expression for commands, in any case.
        spec: String = String::new(), Required("cmdSpec", "cmdspec", TEXT);
    }
}

impl SystemCmdPolicy {
    /// Those that are there from the start, and stay as they are.
    pub fn built_in() -> impl Iterator<Item = SystemCmdPolicy> {
        BUILT_IN.iter().map(|(name, spec)| SystemCmdPolicy {
            name: (*name).to_owned(),
            spec: (*spec).to_owned(),
            ..SystemCmdPolicy::default()
        })
    }

    /// Is it one of those?
    pub fn is_built_in(name: &str) -> bool {
        BUILT_IN.iter().any(|(built_in, _)| built_in.eq_ignore_ascii_case(name))
    }
}

impl Keyed for SystemCmdPolicy {
    /// A policy occupies none.
    type Address = ();

    fn name(&self) -> &str {
        &self.name
    }

    fn address_key(&self) -> Option<()> {
        None
    }
}

/// Each with its regular expression, as the documentation of NetScaler 13.1 has them.
const BUILT_IN: &[(&str, &str)] = &[
    (
        "read-only",
        r"(^man.*)|(^show\s+(?!system)(?!configstatus)(?!ns ns\.conf)(?!ns savedconfig)(?!ns runningConfig)(?!gslb runningConfig)(?!audit messages)(?!techsupport).*)|(^stat.*)",
    ),
    (
        "operator",
        r"(^man.*)|(^show\s+(?!system)(?!configstatus)(?!ns ns\.conf)(?!ns savedconfig)(?!ns runningConfig)(?!gslb runningConfig)(?!audit messages)(?!techsupport).*)|(^stat.*)|(^(enable|disable) (server|service).*)",
    ),
    (
        "network",
        r"^(?!shell)\S+\s+(?!system)(?!configstatus)(?!ns ns\.conf)(?!ns savedconfig)(?!ns runningConfig)(?!gslb runningConfig)(?!audit messages)(?!techsupport).*",
    ),
    (
        "sysadmin",
        r"^(?!shell)(?!sftp)(?!scp)(?!batch)(?!source)(?!.*superuser)(?!.*nsroot)(?!install)(?!show\s+system\s+(user|cmdPolicy|file))(?!(set|add|rm|create|export|kill)\s+system)(?!(unbind|bind)\s+system\s+(user|group))(?!diff\s+ns\s+config)(?!(set|unset|add|rm|bind|unbind|switch)\s+ns\s+partition).*",
    ),
    ("superuser", ".*"),
];
