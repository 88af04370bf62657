//! Virtual servers and what is bound to them.

use super::protocols::{check_method, go_together};
use super::vservers::{
    address_with_port, bound_policy, bound_profile, checked_place, free_name, policy_to_bind, profile_to_bind,
};
use super::{Done, changed, made, name, needs_feature, only_one, text};
use crate::command::Command;
use crate::command::refusal::Refusal;
use crate::command::resolve::{exists, such, target};
use crate::config::attribute::Value;
use crate::config::{Bindable, Config, Features, LbBinding, LbVserver};

pub(super) fn add_lb_vserver(config: &mut Config, command: &Command) -> Result<Done, Refusal> {
    let vserver = made::<LbVserver>(command);
    free_name(config, "name", &vserver.name)?;
    address_with_port(vserver.ip, command)?;
    let vserver = checked_lb_vserver(config, vserver)?;
    config.lb_vservers.insert(vserver);
    Ok(needs_feature(config, Features::LB))
}

/// `set lb vserver NAME [-weight WEIGHT SERVICE] ...`
pub(super) fn set_lb_vserver(config: &mut Config, command: &Command) -> Result<(), Refusal> {
    let changed = changed(such(&config.lb_vservers, "name", name(command))?, command);
    let mut vserver = checked_lb_vserver(config, changed)?;
    match (command.value("weight"), text(command, "servicename")) {
        (None, _) => {}
        (Some(_), None) => return Err(Refusal::ArgumentMissing { argument: "serviceName" }),
        (Some(Value::Number(new)), Some(service)) => {
            let key = service.to_ascii_lowercase();
            let Some(LbBinding::Service { .. }) = vserver.bindings.find(&key) else {
                return Err(Refusal::NotBound { argument: "serviceName", name: service.to_owned() });
            };
            vserver.bindings.change(&key, |binding| binding.set_weight(*new));
        }
        (Some(_), Some(_)) => return Err(Refusal::ValueMissing { argument: "weight" }),
    }
    config.lb_vservers.insert(vserver);
    Ok(())
}

/// A virtual server that may take its place in the configuration.
pub(super) fn checked_lb_vserver(config: &Config, mut vserver: LbVserver) -> Result<LbVserver, Refusal> {
    check_method(&vserver)?;
    let address = (vserver.ip, Some(vserver.port));
    vserver.ip = checked_place(config, &vserver, &vserver.backup_vserver, address)?;
    Ok(vserver)
}

/// `bind lb vserver NAME (SERVICE [-weight WEIGHT] | GROUP | -policyName POLICY ... | -analyticsProfile PROFILE)`
pub(super) fn bind_lb_vserver(config: &mut Config, command: &Command) -> Result<(), Refusal> {
    such(&config.lb_vservers, "name", name(command))?;
    match only_one(command, &BOUND)? {
        "servicename" => bind_target(config, command),
        "policyname" => bind_policy(config, command),
        _ => bind_analytics_profile(config, command),
    }
}

fn bind_target(config: &mut Config, command: &Command) -> Result<(), Refusal> {
    if let Some((row, _)) = command.arguments().find(|(row, _)| OF_POLICIES.contains(&row.nitro)) {
        return Err(Refusal::PrerequisiteMissing { argument: row.cli, needs: "policyName" });
    }
    let vserver = such(&config.lb_vservers, "name", name(command))?;
    let (binding, service_type) = target(config, command)?;
    if !go_together(vserver.service_type, service_type) {
        return Err(Refusal::TypeMismatch { argument: "serviceName" });
    }
    if vserver.bindings.find(&binding.key()).is_some() {
        return Err(exists("serviceName", binding.name()));
    }
    config.lb_vservers.change(name(command), |vserver| vserver.bindings.push(binding));
    Ok(())
}

fn bind_policy(config: &mut Config, command: &Command) -> Result<(), Refusal> {
    if command.value("weight").is_some() {
        return Err(Refusal::PrerequisiteMissing { argument: "weight", needs: "serviceName" });
    }
    let vserver = such(&config.lb_vservers, "name", name(command))?;
    let binding = policy_to_bind(&vserver.policies, command)?;
    config.lb_vservers.change(name(command), |vserver| vserver.policies.push(binding));
    Ok(())
}

fn bind_analytics_profile(config: &mut Config, command: &Command) -> Result<(), Refusal> {
    let vserver = such(&config.lb_vservers, "name", name(command))?;
    let profile = profile_to_bind(&vserver.analytics_profiles, command)?;
    config.lb_vservers.change(name(command), |vserver| vserver.analytics_profiles.push(profile));
    Ok(())
}

/// `unbind lb vserver NAME (SERVICE | GROUP | -policyName POLICY [-type TYPE] | -analyticsProfile PROFILE)`
pub(super) fn unbind_lb_vserver(config: &mut Config, command: &Command) -> Result<(), Refusal> {
    let vserver = such(&config.lb_vservers, "name", name(command))?;
    match only_one(command, &BOUND)? {
        "servicename" => {
            let target = text(command, "servicename").unwrap_or_default();
            let key = target.to_ascii_lowercase();
            if vserver.bindings.find(&key).is_none() {
                return Err(Refusal::NotBound { argument: "serviceName", name: target.to_owned() });
            }
            config.lb_vservers.change(name(command), |vserver| drop(vserver.bindings.remove(&key)));
        }
        "policyname" => {
            let key = bound_policy(&vserver.policies, command)?;
            config.lb_vservers.change(name(command), |vserver| drop(vserver.policies.remove(&key)));
        }
        _ => {
            let at = bound_profile(&vserver.analytics_profiles, command)?;
            config.lb_vservers.change(name(command), |vserver| drop(vserver.analytics_profiles.remove(at)));
        }
    }
    Ok(())
}

/// What can be bound to a virtual server, by NITRO's name and the command line's.
const BOUND: [(&str, &str); 3] =
    [("servicename", "serviceName"), ("policyname", "policyName"), ("analyticsprofile", "analyticsProfile")];

/// NITRO's names of what only the binding of a policy has.
const OF_POLICIES: &[&str] = &["priority", "gotopriorityexpression", "bindpoint", "labeltype", "labelname"];
