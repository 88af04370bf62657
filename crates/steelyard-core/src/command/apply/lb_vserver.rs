//! Virtual servers and what is bound to them.

use super::{Done, Warning, changed, made, name, text};
use crate::command::Command;
use crate::command::refusal::Refusal;
use crate::command::resolve::{exists, such, target};
use crate::config::attribute::Value;
use crate::config::{Bindable, Config, Features, LbBinding, LbVserver};

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
    if !vserver.lb_method.suits(vserver.service_type) {
        return Err(Refusal::MethodForType { method: vserver.lb_method.text() });
    }
    if vserver.port == 0 {
        if vserver.ip.is_some_and(|ip| !ip.is_unspecified()) {
            let needs = "a port other than 0";
            return Err(Refusal::PrerequisiteMissing { argument: "IPAddress", needs });
        }
        vserver.ip = None;
    }
    match vserver.address().and_then(|address| config.lb_vservers.find_at(&address)) {
        Some(other) if !other.name.eq_ignore_ascii_case(&vserver.name) => {
            Err(Refusal::AddressInUse { argument: "IPAddress", vserver: other.name.clone() })
        }
        _ => Ok(vserver),
    }
}

/// `bind lb vserver NAME (SERVICE [-weight WEIGHT] | GROUP)`
pub(super) fn bind_lb_vserver(config: &mut Config, command: &Command) -> Result<(), Refusal> {
    let vserver = such(&config.lb_vservers, "name", name(command))?;
    let (binding, service_type) = target(config, command)?;
    if service_type != vserver.service_type {
        return Err(Refusal::TypeMismatch { argument: "serviceName" });
    }
    if vserver.bindings.find(&binding.key()).is_some() {
        return Err(exists("serviceName", binding.name()));
    }
    config.lb_vservers.change(name(command), |vserver| vserver.bindings.push(binding));
    Ok(())
}
