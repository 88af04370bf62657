//! Servers and the services on them.

use super::monitor::{monitor_binding, set_monitor_weight};
use super::references::remove_if_implicit;
use super::{changed, made, name, only_one, text};
use crate::command::Command;
use crate::command::refusal::Refusal;
use crate::command::resolve::{ResolvedHost, exists, host_at, resolve_host, service_or_group_exists, such};
use crate::config::attribute::Value;
use crate::config::{Bindable, Config, Keyed, PolicyBinding, Server, Service};

pub(super) fn add_server(config: &mut Config, command: &Command) -> Result<(), Refusal> {
    let server = made::<Server>(command);
    if config.servers.has(&server.name) {
        return Err(exists("name", &server.name));
    }
    put_server(config, server)
}

pub(super) fn set_server(config: &mut Config, command: &Command) -> Result<(), Refusal> {
    let server = changed(such(&config.servers, "name", name(command))?, command);
    put_server(config, server)
}

/// Puts a server into its place: it has a host, or what stands for one, and the address of no other.
pub(super) fn put_server(config: &mut Config, server: Server) -> Result<(), Refusal> {
    if server.host.is_none() && server.translation_ip.is_none() {
        return Err(Refusal::ArgumentMissing { argument: "IPAddress" });
    }
    match server.ip().and_then(|ip| config.servers.find_at(&ip)) {
        Some(other) if !other.name.eq_ignore_ascii_case(&server.name) => {
            Err(Refusal::ServerExists { argument: "IPAddress", server: other.name.clone() })
        }
        _ => {
            config.servers.insert(server);
            Ok(())
        }
    }
}

pub(super) fn add_service(config: &mut Config, command: &Command) -> Result<(), Refusal> {
    let mut service = made::<Service>(command);
    service_or_group_exists(config, "name", &service.name)?;
    let host = resolve_host(config, command)?;
    host.name.clone_into(&mut service.server);
    free_service_address(config, &service)?;
    host.new.into_iter().for_each(|server| config.servers.insert(server));
    config.services.insert(service);
    Ok(())
}

/// `set service NAME [-IPAddress IP] [-weight WEIGHT MONITOR] ...`
pub(super) fn set_service(config: &mut Config, command: &Command) -> Result<(), Refusal> {
    let mut service = changed(such(&config.services, "name", name(command))?, command);
    match (command.value("weight"), text(command, "monitor_name")) {
        (None, _) => {}
        (Some(_), None) => return Err(Refusal::ArgumentMissing { argument: "monitorName" }),
        (Some(weight), Some(monitor)) => set_monitor_weight(&mut service.monitors, monitor, weight)?,
    }
    let before = service.server.clone();
    let host = match command.value("ipaddress") {
        Some(Value::Ip(ip)) => host_at(config, *ip),
        _ => ResolvedHost { name: before.clone(), new: None },
    };
    host.name.clone_into(&mut service.server);
    free_service_address(config, &service)?;
    host.new.into_iter().for_each(|server| config.servers.insert(server));
    config.services.insert(service);
    remove_if_implicit(config, &before);
    Ok(())
}

fn free_service_address(config: &Config, service: &Service) -> Result<(), Refusal> {
    match service.address_key().and_then(|address| config.services.find_at(&address)) {
        Some(other) if !other.name.eq_ignore_ascii_case(&service.name) => {
            Err(Refusal::ServiceAddressTaken { service: other.name.clone() })
        }
        _ => Ok(()),
    }
}

/// `bind service NAME (-monitorName MONITOR ... | -policyName POLICY)`
pub(super) fn bind_service(config: &mut Config, command: &Command) -> Result<(), Refusal> {
    let service = such(&config.services, "name", name(command))?;
    if only_one(command, &[("monitor_name", "monitorName"), ("policyname", "policyName")])? == "monitor_name"
    {
        let binding = monitor_binding(config, &service.monitors, command)?;
        config.services.change(name(command), |service| service.monitors.push(binding));
        return Ok(());
    }
    for (nitro, argument) in [("monstate", "monState"), ("weight", "weight"), ("passive", "passive")] {
        if command.value(nitro).is_some() {
            return Err(Refusal::PrerequisiteMissing { argument, needs: "monitorName" });
        }
    }
    let binding = made::<PolicyBinding>(command);
    if service.policies.find(&binding.key()).is_some() {
        return Err(exists("policyName", &binding.policy));
    }
    config.services.change(name(command), |service| service.policies.push(binding));
    Ok(())
}
