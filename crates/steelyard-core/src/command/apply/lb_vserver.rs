//! Virtual servers and what is bound to them.

use super::protocols::{check_method, go_together};
use super::{Done, Warning, changed, made, name, only_one, text};
use crate::command::Command;
use crate::command::refusal::{Hint, Refusal};
use crate::command::resolve::{exists, such, target};
use crate::config::attribute::Value;
use crate::config::{Bindable, Config, Features, Keyed, LbBinding, LbVserver, MOST_BACKUPS, PolicyBinding};

pub(super) fn add_lb_vserver(config: &mut Config, command: &Command) -> Result<Done, Refusal> {
    let vserver = made::<LbVserver>(command);
    if config.lb_vservers.has(&vserver.name) {
        return Err(exists("name", &vserver.name));
    }
    if vserver.ip.is_some() && command.value("port").is_none() {
        return Err(Refusal::ArgumentMissing { argument: "port" });
    }
    if vserver.ip.is_none() && command.value("port").is_some() {
        return Err(Refusal::ArgumentMissing { argument: "IPAddress" });
    }
    let vserver = checked_vserver(config, vserver)?;
    config.lb_vservers.insert(vserver);
    let enabled = config.features.has(Features::LB);
    let warnings = if enabled { Vec::new() } else { vec![Warning::FeatureDisabled(Features::LB)] };
    Ok(Done { warnings })
}

/// `set lb vserver NAME [-weight WEIGHT SERVICE] ...`
pub(super) fn set_lb_vserver(config: &mut Config, command: &Command) -> Result<(), Refusal> {
    let changed = changed(such(&config.lb_vservers, "name", name(command))?, command);
    let mut vserver = checked_vserver(config, changed)?;
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
pub(super) fn checked_vserver(config: &Config, mut vserver: LbVserver) -> Result<LbVserver, Refusal> {
    check_method(&vserver)?;
    check_backup(config, &vserver)?;
    if vserver.port == 0 {
        if vserver.ip.is_some_and(|ip| !ip.is_unspecified()) {
            let needs = "a port other than 0";
            return Err(Refusal::PrerequisiteMissing { argument: "IPAddress", needs });
        }
        vserver.ip = None;
    }
    match vserver.address_key().and_then(|address| config.lb_vservers.find_at(&address)) {
        Some(other) if !other.name.eq_ignore_ascii_case(&vserver.name) => {
            Err(Refusal::AddressInUse { argument: "IPAddress", vserver: other.name.clone() })
        }
        _ => Ok(vserver),
    }
}

/// Backups stand one behind the other, so many at most and never in a circle (`spec/methods.md` 3.7).
fn check_backup(config: &Config, vserver: &LbVserver) -> Result<(), Refusal> {
    let mut next = vserver.backup_vserver.as_str();
    for _ in 0..MOST_BACKUPS {
        if next.is_empty() {
            return Ok(());
        }
        if next.eq_ignore_ascii_case(&vserver.name) {
            return Err(Refusal::BackupLoop { name: vserver.backup_vserver.clone() });
        }
        next = match such(&config.lb_vservers, "backupVServer", next) {
            Ok(backup) => &backup.backup_vserver,
            // One of another kind, of which only the line is kept: nothing is known of its own backup.
            Err(_) if config.kept.adds_vserver(next) => return Ok(()),
            Err(refusal) => return Err(refusal),
        };
    }
    match next.is_empty() {
        true => Ok(()),
        false => Err(Refusal::BackupChainTooLong { max: MOST_BACKUPS }),
    }
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
    let binding = made::<PolicyBinding>(command);
    if !binding.label_type.is_empty() && binding.label.is_none() {
        return Err(Refusal::ArgumentMissing { argument: "labelName" });
    }
    if vserver.policies.find(&binding.key()).is_some() {
        return Err(exists("policyName", &binding.policy));
    }
    config.lb_vservers.change(name(command), |vserver| vserver.policies.push(binding));
    Ok(())
}

fn bind_analytics_profile(config: &mut Config, command: &Command) -> Result<(), Refusal> {
    let vserver = such(&config.lb_vservers, "name", name(command))?;
    let profile = text(command, "analyticsprofile").unwrap_or_default().to_owned();
    if vserver.analytics_profiles.iter().any(|other| other.eq_ignore_ascii_case(&profile)) {
        return Err(exists("analyticsProfile", &profile));
    }
    config.lb_vservers.change(name(command), |vserver| vserver.analytics_profiles.push(profile));
    Ok(())
}

/// `unbind lb vserver NAME (SERVICE | GROUP | -policyName POLICY [-type TYPE] | -analyticsProfile PROFILE)`
pub(super) fn unbind_lb_vserver(config: &mut Config, command: &Command) -> Result<(), Refusal> {
    let vserver = such(&config.lb_vservers, "name", name(command))?;
    let what = only_one(command, &BOUND)?;
    let target = text(command, what).unwrap_or_default().to_owned();
    let policy = made::<PolicyBinding>(command);
    // Without a type: whichever binding of that policy there is.
    let key = |bound: &PolicyBinding| {
        let side = command.value("bindpoint").is_none() || bound.bind_point == policy.bind_point;
        side && bound.policy.eq_ignore_ascii_case(&policy.policy)
    };
    let found = match what {
        "servicename" => vserver.bindings.find(&target.to_ascii_lowercase()).is_some(),
        "policyname" => vserver.policies.iter().any(key),
        _ => vserver.analytics_profiles.iter().any(|profile| profile.eq_ignore_ascii_case(&target)),
    };
    let argument = BOUND.iter().find(|(nitro, _)| *nitro == what).map_or("serviceName", |(_, cli)| cli);
    match (found, what) {
        (false, "servicename") => return Err(Refusal::NotBound { argument, name: target }),
        (false, _) => return Err(Refusal::NoSuch { argument, name: target, hint: Hint::Nothing }),
        (true, _) => {}
    }
    config.lb_vservers.change(name(command), |vserver| match what {
        "servicename" => {
            vserver.bindings.remove(&target.to_ascii_lowercase());
        }
        "policyname" => {
            let gone = vserver.policies.iter().find(|bound| key(bound)).map(Bindable::key);
            gone.and_then(|key| vserver.policies.remove(&key));
        }
        _ => vserver.analytics_profiles.retain(|profile| !profile.eq_ignore_ascii_case(&target)),
    });
    Ok(())
}

/// What can be bound to a virtual server, by NITRO's name and the command line's.
const BOUND: [(&str, &str); 3] =
    [("servicename", "serviceName"), ("policyname", "policyName"), ("analyticsprofile", "analyticsProfile")];

/// NITRO's names of what only the binding of a policy has.
const OF_POLICIES: &[&str] = &["priority", "gotopriorityexpression", "bindpoint", "labeltype", "labelname"];
