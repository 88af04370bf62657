//! `unset`: options back to what they are when nobody gives them.

use super::cs_vserver::checked_cs_vserver;
use super::group::{MEMBER, for_members_alone, member_key};
use super::ha_partner::is_local;
use super::host::put_server;
use super::lb_vserver::checked_lb_vserver;
use super::monitor::{changeable, check_monitor};
use super::tls_settings::unset_settings;
use super::{made, name};
use crate::command::refusal::Refusal;
use crate::command::resolve::such;
use crate::command::{Command, Object};
use crate::config::attribute::{Resource, Value};
use crate::config::{Config, NsIp, SslService, SslServiceGroup, SslVserver};

pub(super) fn unset(config: &mut Config, command: &Command) -> Result<(), Refusal> {
    if !command.arguments().any(|(_, value)| *value == Value::Unset) {
        return Err(Refusal::NothingToSet);
    }
    match command.object() {
        Object::Server => {
            let server = without(such(&config.servers, "name", name(command))?, command);
            put_server(config, server)?;
        }
        Object::Service => {
            let service = without(such(&config.services, "name", name(command))?, command);
            config.services.insert(service);
        }
        Object::ServiceGroup => unset_service_group(config, command)?,
        Object::LbVserver => {
            let vserver = without(such(&config.lb_vservers, "name", name(command))?, command);
            let vserver = checked_lb_vserver(config, vserver)?;
            config.lb_vservers.insert(vserver);
        }
        Object::LbMonitor => {
            let monitor = without(changeable(config, command)?, command);
            check_monitor(&monitor, command)?;
            config.lb_monitors.insert(monitor);
        }
        Object::NsIp => {
            let ip = without(such(&config.ns_ips, "IPAddress", &made::<NsIp>(command).address)?, command);
            config.ns_ips.insert(ip);
        }
        Object::NetProfile => {
            let profile = without(such(&config.net_profiles, "name", name(command))?, command);
            config.net_profiles.insert(profile);
        }
        Object::LbGroup => {
            let group = without(such(&config.lb_groups, "name", name(command))?, command);
            config.lb_groups.insert(group);
        }
        Object::SystemUser => {
            let user = without(such(&config.system_users, "userName", name(command))?, command);
            config.system_users.insert(user);
        }
        Object::SystemGroup => {
            let group = without(such(&config.system_groups, "groupName", name(command))?, command);
            config.system_groups.insert(group);
        }
        Object::SystemParameter => config.system_parameter = without(&config.system_parameter, command),
        Object::CsVserver => {
            let vserver = without(such(&config.cs_vservers, "name", name(command))?, command);
            let vserver = checked_cs_vserver(config, vserver)?;
            config.cs_vservers.insert(vserver);
        }
        Object::CsPolicy => {
            let policy = without(such(&config.cs_policies, "policyName", name(command))?, command);
            config.cs_policies.insert(policy);
        }
        Object::CsAction => {
            let action = without(such(&config.cs_actions, "name", name(command))?, command);
            config.cs_actions.insert(action);
        }
        Object::LbProfile => {
            let profile = without(such(&config.lb_profiles, "lbprofilename", name(command))?, command);
            config.lb_profiles.insert(profile);
        }
        Object::HaPartner => {
            is_local(config, command)?;
            config.ha_local = without(&config.ha_local, command);
        }
        Object::SslCertKey => {
            let pair = without(such(&config.ssl_cert_keys, "certkeyName", name(command))?, command);
            config.ssl_cert_keys.insert(pair);
        }
        Object::SslVserver => unset_settings::<SslVserver>(config, command)?,
        Object::SslService => unset_settings::<SslService>(config, command)?,
        Object::SslServiceGroup => unset_settings::<SslServiceGroup>(config, command)?,
        Object::NsConfig => {
            config.ns_config = without(&config.ns_config, command);
            config.ns_param = without(&config.ns_param, command);
        }
        Object::NsParam => config.ns_param = without(&config.ns_param, command),
        Object::NsSpParams => config.ns_sp_params = without(&config.ns_sp_params, command),
        Object::LbParameter => config.lb_parameter = without(&config.lb_parameter, command),
        _ => return Err(command.unknown()),
    }
    Ok(())
}

/// `unset serviceGroup NAME [SERVER PORT -weight] ...`
fn unset_service_group(config: &mut Config, command: &Command) -> Result<(), Refusal> {
    let mut group = without(such(&config.service_groups, "serviceGroupName", name(command))?, command);
    if command.value("monitor_name").is_some() {
        let needs = "unbind serviceGroup, which takes it away";
        return Err(Refusal::PrerequisiteMissing { argument: "monitorName", needs });
    }
    match member_key(config, &group, command)? {
        Some(key) => group.members.change(&key, |member| *member = without(member, command)),
        None => for_members_alone(command, &[], MEMBER)?,
    }
    config.service_groups.insert(group);
    Ok(())
}

/// The same resource with the options that the command names at their defaults.
pub(super) fn without<T: Resource + Clone>(resource: &T, command: &Command) -> T {
    let mut changed = resource.clone();
    for (row, _) in command.arguments().filter(|(_, value)| **value == Value::Unset) {
        changed.reset(row.nitro);
    }
    changed
}
