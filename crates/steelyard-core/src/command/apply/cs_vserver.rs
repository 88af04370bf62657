//! Virtual servers for content switching, and what is bound to them.

use super::vservers::{
    address_with_port, bound_policy, bound_profile, checked_place, free_name, policy_to_bind, profile_to_bind,
};
use super::{Done, changed, made, name, needs_feature, only_one, text};
use crate::command::Command;
use crate::command::refusal::{Hint, Refusal};
use crate::command::resolve::{exists, such};
use crate::config::attribute::Resource;
use crate::config::{Config, CsDomain, CsTarget, CsVserver, Features};

pub(super) fn add_cs_vserver(config: &mut Config, command: &Command) -> Result<Done, Refusal> {
    let vserver = made::<CsVserver>(command);
    free_name(config, "name", &vserver.name)?;
    address_with_port(vserver.ip, command)?;
    let vserver = checked_cs_vserver(config, vserver)?;
    config.cs_vservers.insert(vserver);
    Ok(needs_feature(config, Features::CS))
}

/// `set cs vserver NAME [-domainName NAME [-TTL SECONDS] ...] ...`
pub(super) fn set_cs_vserver(config: &mut Config, command: &Command) -> Result<(), Refusal> {
    let changed_vserver = changed(such(&config.cs_vservers, "name", name(command))?, command);
    let mut vserver = checked_cs_vserver(config, changed_vserver)?;
    match (text(command, "domainname"), given_with_domain(command)) {
        (None, None) => {}
        (None, Some(argument)) => {
            return Err(Refusal::PrerequisiteMissing { argument, needs: "domainName" });
        }
        (Some(domain), _) => {
            let at = position(&vserver.domains, domain)?;
            vserver.domains[at] = changed(&vserver.domains[at], command);
        }
    }
    config.cs_vservers.insert(vserver);
    Ok(())
}

/// A virtual server that may take its place in the configuration.
pub(super) fn checked_cs_vserver(config: &Config, mut vserver: CsVserver) -> Result<CsVserver, Refusal> {
    vserver.ip = checked_place(config, &vserver, &vserver.backup_vserver, (vserver.ip, vserver.port))?;
    Ok(vserver)
}

/// `bind cs vserver NAME (-lbvserver LB | -vServer OTHER | -policyName POLICY ... | -domainName NAME ... |
/// -analyticsProfile PROFILE)`
pub(super) fn bind_cs_vserver(config: &mut Config, command: &Command) -> Result<(), Refusal> {
    let vserver = such(&config.cs_vservers, "name", name(command))?;
    let what = only_one(command, &BOUND)?;
    if let Some(argument) = given_with_domain(command).filter(|_| what != "domainname") {
        return Err(Refusal::PrerequisiteMissing { argument, needs: "domainName" });
    }
    if command.value("targetlbvserver").is_some() && what != "policyname" {
        return Err(Refusal::PrerequisiteMissing { argument: "targetLBVserver", needs: "policyName" });
    }
    match what {
        "policyname" => return bind_policy(config, command),
        "lbvserver" | "targetvserver" => {
            let target = made::<CsTarget>(command);
            check_target(config, &target)?;
            if target == vserver.default_target {
                return Err(exists(argument_of(what), &format!("{}{}", target.lb_vserver, target.vserver)));
            }
            config.cs_vservers.change(name(command), |vserver| vserver.default_target = target);
        }
        "domainname" => {
            let domain = made::<CsDomain>(command);
            if position(&vserver.domains, &domain.domain).is_ok() {
                return Err(exists("domainName", &domain.domain));
            }
            config.cs_vservers.change(name(command), |vserver| vserver.domains.push(domain));
        }
        _ => {
            let profile = profile_to_bind(&vserver.analytics_profiles, command)?;
            config.cs_vservers.change(name(command), |vserver| vserver.analytics_profiles.push(profile));
        }
    }
    Ok(())
}

/// A policy with a target is one of content switching. One without may be of any kind, of which only the line is kept.
fn bind_policy(config: &mut Config, command: &Command) -> Result<(), Refusal> {
    let vserver = such(&config.cs_vservers, "name", name(command))?;
    let binding = policy_to_bind(&vserver.policies, command)?;
    if !binding.target.is_empty() {
        such(&config.lb_vservers, "targetLBVserver", &binding.target)?;
        such(&config.cs_policies, "policyName", &binding.policy)?;
    }
    config.cs_vservers.change(name(command), |vserver| vserver.policies.push(binding));
    Ok(())
}

/// What requests are passed on to must be there.
pub(super) fn check_target(config: &Config, target: &CsTarget) -> Result<(), Refusal> {
    if !target.lb_vserver.is_empty() {
        such(&config.lb_vservers, "lbvserver", &target.lb_vserver)?;
    }
    match &*target.vserver {
        "" => Ok(()),
        other => any_vserver(config, "vServer", other),
    }
}

/// A virtual server of another kind, of which the line may be all that is kept.
pub(super) fn any_vserver(config: &Config, argument: &'static str, name: &str) -> Result<(), Refusal> {
    match config.kept.adds_vserver(name) {
        true => Ok(()),
        false => such(&config.lb_vservers, argument, name).map(|_| ()),
    }
}

/// `unbind cs vserver NAME (-lbvserver LB | -vServer OTHER | -policyName POLICY [-type TYPE] | -domainName NAME |
/// -analyticsProfile PROFILE)`
pub(super) fn unbind_cs_vserver(config: &mut Config, command: &Command) -> Result<(), Refusal> {
    let vserver = such(&config.cs_vservers, "name", name(command))?;
    match only_one(command, &BOUND)? {
        "policyname" => {
            let key = bound_policy(&vserver.policies, command)?;
            config.cs_vservers.change(name(command), |vserver| drop(vserver.policies.remove(&key)));
        }
        what @ ("lbvserver" | "targetvserver") => {
            let (given, bound) = (made::<CsTarget>(command), &vserver.default_target);
            let same = |one: &str, other: &str| one.eq_ignore_ascii_case(other);
            if !same(&given.lb_vserver, &bound.lb_vserver) || !same(&given.vserver, &bound.vserver) {
                let name = format!("{}{}", given.lb_vserver, given.vserver);
                return Err(Refusal::NotTheDefault { argument: argument_of(what), name });
            }
            config.cs_vservers.change(name(command), |vserver| vserver.default_target = CsTarget::default());
        }
        "domainname" => {
            let at = position(&vserver.domains, text(command, "domainname").unwrap_or_default())?;
            config.cs_vservers.change(name(command), |vserver| drop(vserver.domains.remove(at)));
        }
        _ => {
            let at = bound_profile(&vserver.analytics_profiles, command)?;
            config.cs_vservers.change(name(command), |vserver| drop(vserver.analytics_profiles.remove(at)));
        }
    }
    Ok(())
}

/// Where a name stands that the virtual server answers for.
fn position(domains: &[CsDomain], name: &str) -> Result<usize, Refusal> {
    let missing = || Refusal::NoSuch { argument: "domainName", name: name.to_owned(), hint: Hint::Nothing };
    domains.iter().position(|domain| domain.domain.eq_ignore_ascii_case(name)).ok_or_else(missing)
}

/// The first option that goes with a name alone.
fn given_with_domain(command: &Command) -> Option<&'static str> {
    let of_domain = |nitro| nitro != "domainname" && CsDomain::rows().any(|row| row.nitro == nitro);
    command.arguments().find(|(row, _)| of_domain(row.nitro)).map(|(row, _)| row.cli)
}

fn argument_of(nitro: &str) -> &'static str {
    BOUND.iter().find(|(known, _)| *known == nitro).map_or("lbvserver", |(_, argument)| argument)
}

/// What can be bound to such a virtual server, by NITRO's name and the command line's.
const BOUND: [(&str, &str); 5] = [
    ("policyname", "policyName"),
    ("lbvserver", "lbvserver"),
    ("targetvserver", "vServer"),
    ("domainname", "domainName"),
    ("analyticsprofile", "analyticsProfile"),
];
