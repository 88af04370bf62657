//! Users, groups of them and command policies. What is there from the start stays: nsroot and the built-in policies.

use super::references::{User, user_of_cmd_policy};
use super::{changed, made, name, only_one, text};
use crate::command::Command;
use crate::command::refusal::{Hint, Refusal};
use crate::command::resolve::{exists, such};
use crate::config::{CommandPolicyBinding, CommandSpec, Config, SystemCmdPolicy, SystemUser};

pub(super) fn add_cmd_policy(config: &mut Config, command: &Command) -> Result<(), Refusal> {
    let policy = made::<SystemCmdPolicy>(command);
    if config.system_cmd_policies.has(&policy.name) {
        return Err(exists("policyName", &policy.name));
    }
    readable(&policy)?;
    config.system_cmd_policies.insert(policy);
    Ok(())
}

pub(super) fn set_cmd_policy(config: &mut Config, command: &Command) -> Result<(), Refusal> {
    let policy = changed(such(&config.system_cmd_policies, "policyName", name(command))?, command);
    stays(SystemCmdPolicy::is_built_in(&policy.name), "policyName", &policy.name)?;
    readable(&policy)?;
    config.system_cmd_policies.insert(policy);
    Ok(())
}

pub(super) fn rm_cmd_policy(config: &mut Config, name: &str) -> Result<(), Refusal> {
    such(&config.system_cmd_policies, "policyName", name)?;
    stays(SystemCmdPolicy::is_built_in(name), "policyName", name)?;
    if let Some(User { object, name: by }) = user_of_cmd_policy(config, name) {
        return Err(Refusal::InUse { argument: "policyName", name: name.to_owned(), object, by });
    }
    config.system_cmd_policies.remove(name);
    Ok(())
}

fn readable(policy: &SystemCmdPolicy) -> Result<(), Refusal> {
    let refusal = |why| Refusal::InvalidExpression { argument: "cmdSpec", why };
    CommandSpec::new(&policy.spec).map(drop).map_err(refusal)
}

/// A user leaves every group.
pub(super) fn rm_system_user(config: &mut Config, name: &str) -> Result<(), Refusal> {
    such(&config.system_users, "userName", name)?;
    stays(SystemUser::is_nsroot(name), "userName", name)?;
    config.system_users.remove(name);
    let groups: Vec<String> = config.system_groups.iter().map(|group| group.name.clone()).collect();
    for group in groups {
        config.system_groups.change(&group, |group| group.users.retain(|user| !same(user, name)));
    }
    Ok(())
}

pub(super) fn rm_system_group(config: &mut Config, name: &str) -> Result<(), Refusal> {
    such(&config.system_groups, "groupName", name)?;
    config.system_groups.remove(name);
    Ok(())
}

fn stays(from_the_start: bool, argument: &'static str, name: &str) -> Result<(), Refusal> {
    match from_the_start {
        true => Err(Refusal::BuiltIn { argument, name: name.to_owned() }),
        false => Ok(()),
    }
}

/// `bind system user NAME (POLICY PRIORITY | -partitionName PARTITION)`
pub(super) fn bind_system_user(config: &mut Config, command: &Command) -> Result<(), Refusal> {
    let user = such(&config.system_users, "userName", name(command))?;
    if only_one(command, &[POLICY, PARTITION])? == PARTITION.0 {
        let partition = added(&user.partitions, command, PARTITION)?;
        config.system_users.change(name(command), |user| user.partitions.push(partition));
        return Ok(());
    }
    let binding = policy_binding(config, &user.policies, command)?;
    config.system_users.change(name(command), |user| user.policies.push(binding));
    Ok(())
}

/// `bind system group NAME [-userName USER] [-policyName POLICY PRIORITY] [-partitionName PARTITION]`: all of it or
/// nothing.
pub(super) fn bind_system_group(config: &mut Config, command: &Command) -> Result<(), Refusal> {
    let mut group = such(&config.system_groups, "groupName", name(command))?.clone();
    asks_for_something(command)?;
    if let Some(wanted) = text(command, USER.0) {
        such(&config.system_users, USER.1, wanted)?;
        let user = added(&group.users, command, USER)?;
        group.users.push(user);
    }
    if text(command, POLICY.0).is_some() {
        let binding = policy_binding(config, &group.policies, command)?;
        group.policies.push(binding);
    }
    if text(command, PARTITION.0).is_some() {
        let partition = added(&group.partitions, command, PARTITION)?;
        group.partitions.push(partition);
    }
    config.system_groups.insert(group);
    Ok(())
}

/// `unbind system user NAME (POLICY | -partitionName PARTITION)`
pub(super) fn unbind_system_user(config: &mut Config, command: &Command) -> Result<(), Refusal> {
    let mut user = such(&config.system_users, "userName", name(command))?.clone();
    match only_one(command, &[POLICY, PARTITION])? == PARTITION.0 {
        true => take(&mut user.partitions, command, PARTITION, |partition| partition)?,
        false => take(&mut user.policies, command, POLICY, |binding| &binding.policy)?,
    }
    config.system_users.insert(user);
    Ok(())
}

/// `unbind system group NAME [-userName USER] [-policyName POLICY] [-partitionName PARTITION]`: all of it or nothing.
pub(super) fn unbind_system_group(config: &mut Config, command: &Command) -> Result<(), Refusal> {
    let mut group = such(&config.system_groups, "groupName", name(command))?.clone();
    asks_for_something(command)?;
    take(&mut group.users, command, USER, |user| user)?;
    take(&mut group.policies, command, POLICY, |binding| &binding.policy)?;
    take(&mut group.partitions, command, PARTITION, |partition| partition)?;
    config.system_groups.insert(group);
    Ok(())
}

fn asks_for_something(command: &Command) -> Result<(), Refusal> {
    match [USER, POLICY, PARTITION].iter().any(|(nitro, _)| command.value(nitro).is_some()) {
        true => Ok(()),
        false => Err(Refusal::ArgumentMissing { argument: USER.1 }),
    }
}

fn policy_binding(
    config: &Config,
    bound: &[CommandPolicyBinding],
    command: &Command,
) -> Result<CommandPolicyBinding, Refusal> {
    let mut binding = made::<CommandPolicyBinding>(command);
    let policy = such(&config.system_cmd_policies, POLICY.1, &binding.policy)?;
    if bound.iter().any(|other| same(&other.policy, &policy.name)) {
        return Err(exists(POLICY.1, &policy.name));
    }
    if command.value("priority").is_none() {
        return Err(Refusal::ArgumentMissing { argument: "priority" });
    }
    policy.name.clone_into(&mut binding.policy);
    Ok(binding)
}

/// The name that the command gives and that is not among those that are bound.
fn added(
    bound: &[String],
    command: &Command,
    (nitro, argument): (&str, &'static str),
) -> Result<String, Refusal> {
    let wanted = text(command, nitro).ok_or(Refusal::ArgumentMissing { argument })?;
    match bound.iter().any(|other| same(other, wanted)) {
        true => Err(exists(argument, wanted)),
        false => Ok(wanted.to_owned()),
    }
}

/// Takes what the command names away, if it names anything.
fn take<T>(
    bound: &mut Vec<T>,
    command: &Command,
    (nitro, argument): (&str, &'static str),
    name: impl Fn(&T) -> &String,
) -> Result<(), Refusal> {
    let Some(unwanted) = text(command, nitro) else { return Ok(()) };
    let before = bound.len();
    bound.retain(|item| !same(name(item), unwanted));
    match bound.len() < before {
        true => Ok(()),
        false => Err(Refusal::NoSuch { argument, name: unwanted.to_owned(), hint: Hint::Nothing }),
    }
}

fn same(one: &str, other: &str) -> bool {
    one.eq_ignore_ascii_case(other)
}

/// NITRO's name of what is bound, and the command line's.
const USER: (&str, &str) = ("username", "userName");
const POLICY: (&str, &str) = ("policyname", "policyName");
const PARTITION: (&str, &str) = ("partitionname", "partitionName");
