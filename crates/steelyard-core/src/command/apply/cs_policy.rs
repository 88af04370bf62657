//! Policies and actions of content switching.

use super::cs_vserver::any_vserver;
use super::references::{User, user_of_cs_action, user_of_cs_policy};
use super::remove::in_use;
use super::{Done, changed, made, name, needs_feature};
use crate::command::Command;
use crate::command::refusal::Refusal;
use crate::command::resolve::{exists, such};
use crate::config::attribute::Resource;
use crate::config::{Config, CsAction, CsPolicy, Features};

pub(super) fn add_cs_policy(config: &mut Config, command: &Command) -> Result<Done, Refusal> {
    let policy = made::<CsPolicy>(command);
    if config.cs_policies.has(&policy.name) {
        return Err(exists("policyName", &policy.name));
    }
    check_policy(config, &policy, command)?;
    config.cs_policies.insert(policy);
    Ok(needs_feature(config, Features::CS))
}

/// A URL takes the place of a rule, and a rule that of a URL.
pub(super) fn set_cs_policy(config: &mut Config, command: &Command) -> Result<(), Refusal> {
    let mut policy = changed(such(&config.cs_policies, "policyName", name(command))?, command);
    check_policy(config, &policy, command)?;
    for (given, other) in [("url", "rule"), ("rule", "url")] {
        if command.value(given).is_some() {
            policy.reset(other);
        }
    }
    config.cs_policies.insert(policy);
    Ok(())
}

fn check_policy(config: &Config, policy: &CsPolicy, command: &Command) -> Result<(), Refusal> {
    exclusive(command, &[("url", "url"), ("rule", "rule")])?;
    match &*policy.action {
        "" => Ok(()),
        action => such(&config.cs_actions, "action", action).map(|_| ()),
    }
}

pub(super) fn rm_cs_policy(config: &mut Config, name: &str) -> Result<(), Refusal> {
    such(&config.cs_policies, "policyName", name)?;
    if let Some(user) = user_of_cs_policy(config, name) {
        return Err(in_use("policyName", name, user));
    }
    config.cs_policies.remove(name);
    Ok(())
}

pub(super) fn add_cs_action(config: &mut Config, command: &Command) -> Result<Done, Refusal> {
    let action = made::<CsAction>(command);
    if config.cs_actions.has(&action.name) {
        return Err(exists("name", &action.name));
    }
    check_action(config, &action, command)?;
    config.cs_actions.insert(action);
    Ok(needs_feature(config, Features::CS))
}

/// One target takes the place of another; none takes that of an expression, nor the other way round (1426).
pub(super) fn set_cs_action(config: &mut Config, command: &Command) -> Result<(), Refusal> {
    let before = such(&config.cs_actions, "name", name(command))?;
    let mut action = changed(before, command);
    check_action(config, &action, command)?;
    let by_expression = |action: &CsAction| action.target_expression != CsAction::default().target_expression;
    let by_name =
        |action: &CsAction| !(action.target_lb_vserver.is_empty() && action.target_vserver.is_empty());
    if by_expression(&action) && by_name(&action) {
        let argument = if by_expression(before) { "targetLBVserver" } else { "targetVserverExpr" };
        return Err(Refusal::TargetOfOtherKind { argument });
    }
    for (given, other) in [("targetlbvserver", "targetvserver"), ("targetvserver", "targetlbvserver")] {
        if command.value(given).is_some() {
            action.reset(other);
        }
    }
    config.cs_actions.insert(action);
    Ok(())
}

fn check_action(config: &Config, action: &CsAction, command: &Command) -> Result<(), Refusal> {
    exclusive(command, &TARGETS)?;
    if !action.target_lb_vserver.is_empty() {
        such(&config.lb_vservers, "targetLBVserver", &action.target_lb_vserver)?;
    }
    match &*action.target_vserver {
        "" => Ok(()),
        target => any_vserver(config, "targetVserver", target),
    }
}

pub(super) fn rm_cs_action(config: &mut Config, name: &str) -> Result<(), Refusal> {
    such(&config.cs_actions, "name", name)?;
    match user_of_cs_action(config, name) {
        Some(User { object, name: by }) => {
            Err(Refusal::TargetInUse { argument: "name", name: name.to_owned(), object, by })
        }
        None => {
            config.cs_actions.remove(name);
            Ok(())
        }
    }
}

/// At most one of those arguments, by NITRO's name and the command line's.
fn exclusive(command: &Command, among: &[(&str, &'static str)]) -> Result<(), Refusal> {
    let mut given = among.iter().filter(|(nitro, _)| command.value(nitro).is_some());
    match (given.next(), given.next()) {
        (Some((_, other)), Some((_, argument))) => Err(Refusal::Exclusive { argument, other }),
        _ => Ok(()),
    }
}

const TARGETS: [(&str, &str); 3] = [
    ("targetlbvserver", "targetLBVserver"),
    ("targetvserver", "targetVserver"),
    ("targetvserverexpr", "targetVserverExpr"),
];
