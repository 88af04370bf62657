//! Users, groups of them and command policies as lines. A password that was set here is in none.

use super::{add, changed, each, head, line, shows_the_same, word};
use crate::config::{CommandPolicyBinding, Config, SystemCmdPolicy, SystemUser};

/// Built-in policies are there without a line; nsroot is set if anything was said of it.
pub(super) fn print(config: &Config, out: &mut String) {
    changed(&config.system_parameter, out);
    let own = |policy: &&SystemCmdPolicy| !SystemCmdPolicy::is_built_in(&policy.name);
    config.system_cmd_policies.iter().filter(own).for_each(|policy| add(policy, out));
    for user in &config.system_users {
        let nsroot = SystemUser::nsroot();
        match SystemUser::is_nsroot(&user.name) {
            true if shows_the_same(user, &nsroot) => {}
            true => line("set", user, &nsroot, out),
            false => add(user, out),
        }
    }
    config.system_groups.iter().for_each(|group| add(group, out));
}

/// What is bound to users and groups.
pub(super) fn bindings(config: &Config, out: &mut String) {
    for user in &config.system_users {
        for CommandPolicyBinding { policy, priority } in &user.policies {
            head("bind system user", &user.name, out);
            word(policy, out);
            out.push_str(&format!(" {priority}\n"));
        }
        each("bind system user", &user.name, "partitionName", &user.partitions, out);
    }
    for group in &config.system_groups {
        each("bind system group", &group.name, "userName", &group.users, out);
        for CommandPolicyBinding { policy, priority } in &group.policies {
            head("bind system group", &group.name, out);
            out.push_str(" -policyName");
            word(policy, out);
            out.push_str(&format!(" {priority}\n"));
        }
        each("bind system group", &group.name, "partitionName", &group.partitions, out);
    }
}
