//! What a user may do: command policies of the user and of the user's groups, in the order in which they are asked.
//!
//! Never knows which door a command came through. The hard question is a policy that gives no answer, since its
//! expression is too costly for this command: it never lets anybody in.

use fancy_regex::{Regex, RegexBuilder};

use super::super::Config;
use super::{CommandPolicyBinding, SystemUser};

/// The regular expression of a command policy.
#[derive(Debug)]
pub struct CommandSpec(Regex);

impl CommandSpec {
    /// Reads an expression. Case means nothing in it. A file has `\?` where the command line would take `?` for a call
    /// for help, as in `(\?!system)`.
    ///
    /// # Errors
    /// Why it cannot be read, for people.
    pub fn new(text: &str) -> Result<CommandSpec, String> {
        bounded(&text.replace(r"(\?", "(?")).map(CommandSpec)
    }

    /// Does it match the command? `None`: that would take too long to tell.
    pub fn matches(&self, command: &str) -> Option<bool> {
        self.0.is_match(command).ok()
    }
}

/// What one user may do.
#[derive(Debug)]
pub struct Permissions {
    /// In the order in which they are asked; `None` of an expression that cannot be read.
    rules: Vec<(bool, Option<CommandSpec>)>,
    is_superuser: bool,
}

/// Whether somebody may give a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Permission {
    /// Yes.
    Given,
    /// 257: a policy denies it, or it is allowed by none.
    Denied,
    /// 371: there is no policy for this user.
    NoPolicy,
}

impl Permissions {
    /// What a user of the configuration may do. Policies are asked by their priorities, the smallest first; of the same
    /// priority, the user's own before a group's. The user that is there from the start may do everything.
    pub fn of(config: &Config, user: &str) -> Permissions {
        let own = config.system_users.find(user).map(|user| user.policies.as_slice()).unwrap_or_default();
        let member = |name: &&String| name.eq_ignore_ascii_case(user);
        let groups = config.system_groups.iter().filter(|group| group.users.iter().any(|u| member(&u)));
        let mut bound: Vec<&CommandPolicyBinding> =
            own.iter().chain(groups.flat_map(|group| &group.policies)).collect();
        bound.sort_by_key(|binding| binding.priority);
        let has_all = |binding: &&CommandPolicyBinding| binding.policy.eq_ignore_ascii_case(SUPERUSER);
        let is_superuser = SystemUser::is_nsroot(user) || bound.iter().any(has_all);
        let policies = bound.into_iter().filter_map(|b| config.system_cmd_policies.find(&b.policy));
        let rule = |action: &str, spec: &str| (action == "ALLOW", CommandSpec::new(spec).ok());
        let rules = match SystemUser::is_nsroot(user) {
            true => vec![rule("ALLOW", "")],
            false => policies.map(|policy| rule(policy.action, &policy.spec)).collect(),
        };
        Permissions { rules, is_superuser }
    }

    /// Is the policy `superuser` bound to the user, or to a group of the user's? It alone lets nobody do what another
    /// policy denies.
    pub fn is_superuser(&self) -> bool {
        self.is_superuser
    }

    /// May the user give this command?
    pub fn ask(&self, command: &str) -> Permission {
        if self.rules.is_empty() {
            return Permission::NoPolicy;
        }
        for (allows, spec) in &self.rules {
            match (allows, spec.as_ref().and_then(|spec| spec.matches(command))) {
                (true, Some(true)) => return Permission::Given,
                // What cannot be told denies where it might, and allows nowhere.
                (false, Some(true) | None) => return Permission::Denied,
                (true, None) | (_, Some(false)) => {}
            }
        }
        Permission::Denied
    }
}

/// An expression that somebody gives, in whatever case, bounded in size and in steps.
///
/// # Errors
/// Why it cannot be read, for people.
pub(crate) fn bounded(text: &str) -> Result<Regex, String> {
    let mut builder = RegexBuilder::new(text);
    builder.case_insensitive(true).backtrack_limit(STEPS).delegate_size_limit(ROOM).max_prog_size(PROGRAM);
    builder.build().map_err(|error| error.to_string())
}

/// The policy that makes superusers.
const SUPERUSER: &str = "superuser";
/// Steps back that one match may take.
const STEPS: usize = 100_000;
/// Bytes of a compiled part of an expression.
const ROOM: usize = 1 << 20;
/// Instructions of an expression.
const PROGRAM: usize = 1 << 16;
