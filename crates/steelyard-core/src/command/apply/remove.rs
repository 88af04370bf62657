//! `rm` and `rename`.

use super::cs_policy::{rm_cs_action, rm_cs_policy};
use super::ha_partner::rm_ha_partner;
use super::monitor::changeable;
use super::references::{
    User, is_bound_beside, leave_groups, remove_if_implicit, rename_cs_action, rename_cs_policy,
    rename_server, rename_target, rename_vserver, unbind_everywhere, user_of_lb_profile, user_of_monitor,
    user_of_net_profile, user_of_server, user_of_target, user_of_target_vserver, users_of_vserver,
};
use super::ssl_cert_key::rm_ssl_cert_keys;
use super::system::{rm_cmd_policy, rm_system_group, rm_system_user};
use super::tls_settings::rename_settings;
use super::vservers::free_name;
use super::{made, name, names, text};
use crate::command::refusal::Refusal;
use crate::command::resolve::{exists, service_or_group_exists, such};
use crate::command::{Command, Object};
use crate::config::{Config, Keyed, NsIp, SslService, SslServiceGroup, Table};

pub(super) fn rm(config: &mut Config, command: &Command) -> Result<(), Refusal> {
    match command.object() {
        Object::Server => rm_servers(config, &names(command, "name"))?,
        Object::Service => rm_service(config, name(command))?,
        Object::ServiceGroup => rm_service_group(config, name(command))?,
        Object::LbVserver => rm_lb_vservers(config, &names(command, "name"))?,
        Object::CsVserver => rm_cs_vservers(config, &names(command, "name"))?,
        Object::CsPolicy => rm_cs_policy(config, name(command))?,
        Object::CsAction => rm_cs_action(config, name(command))?,
        Object::LbProfile => rm_lb_profile(config, name(command))?,
        Object::HaPartner => rm_ha_partner(config, command)?,
        Object::SslCertKey => rm_ssl_cert_keys(config, command)?,
        Object::LbMonitor => rm_lb_monitor(config, command)?,
        Object::NsIp => {
            let address = made::<NsIp>(command).address;
            such(&config.ns_ips, "IPAddress", &address)?;
            config.ns_ips.remove(&address);
        }
        Object::NetProfile => rm_net_profiles(config, &names(command, "name"))?,
        Object::SystemUser => rm_system_user(config, name(command))?,
        Object::SystemGroup => rm_system_group(config, name(command))?,
        Object::SystemCmdPolicy => rm_cmd_policy(config, name(command))?,
        Object::LbGroup => {
            let names = names(command, "name");
            names.iter().try_for_each(|name| such(&config.lb_groups, "name", name).map(|_| ()))?;
            names.iter().for_each(|name| drop(config.lb_groups.remove(name)));
        }
        _ => return Err(command.unknown()),
    }
    Ok(())
}

fn rm_servers(config: &mut Config, names: &[&str]) -> Result<(), Refusal> {
    for name in names {
        such(&config.servers, "name", name)?;
        if let Some(user) = user_of_server(config, name) {
            return Err(in_use("name", name, user));
        }
    }
    for name in names {
        config.servers.remove(name);
    }
    Ok(())
}

/// A bound service is unbound first, unless `lb parameter` asks for it to be refused.
fn rm_service(config: &mut Config, name: &str) -> Result<(), Refusal> {
    such(&config.services, "name", name)?;
    may_go(config, "name", name)?;
    unbind_everywhere(config, name);
    config.ssl_services.remove(name);
    if let Some(service) = config.services.remove(name) {
        remove_if_implicit(config, &service.server);
    }
    Ok(())
}

fn rm_service_group(config: &mut Config, name: &str) -> Result<(), Refusal> {
    such(&config.service_groups, "serviceGroupName", name)?;
    may_go(config, "serviceGroupName", name)?;
    unbind_everywhere(config, name);
    config.ssl_service_groups.remove(name);
    if let Some(group) = config.service_groups.remove(name) {
        group.members.iter().for_each(|member| remove_if_implicit(config, &member.server));
    }
    Ok(())
}

/// Error 1325: `-AllowBoundSvcRemoval DISABLED` keeps what is bound.
fn may_go(config: &Config, argument: &'static str, name: &str) -> Result<(), Refusal> {
    if config.lb_parameter.allow_bound_service_removal {
        return Ok(());
    }
    match user_of_target(config, name) {
        Some(user) => Err(Refusal::BoundToVserver { argument, name: name.to_owned(), vserver: user.name }),
        None => Ok(()),
    }
}

/// A virtual server goes with its bindings and its place in a group; one that others use stays.
fn rm_lb_vservers(config: &mut Config, names: &[&str]) -> Result<(), Refusal> {
    for name in names {
        such(&config.lb_vservers, "name", name)?;
    }
    unused(config, names)?;
    for name in names {
        config.lb_vservers.remove(name);
        config.ssl_vservers.remove(name);
        leave_groups(config, name);
    }
    Ok(())
}

/// A virtual server for content switching goes with its bindings.
fn rm_cs_vservers(config: &mut Config, names: &[&str]) -> Result<(), Refusal> {
    for name in names {
        such(&config.cs_vservers, "name", name)?;
    }
    unused(config, names)?;
    for name in names {
        config.cs_vservers.remove(name);
        config.ssl_vservers.remove(name);
    }
    Ok(())
}

/// Refuses virtual servers that others fall back to, or that content switching sends requests to; those that are removed
/// with them do not count.
fn unused(config: &Config, names: &[&str]) -> Result<(), Refusal> {
    for name in names {
        let stays = |user: &User| !names.iter().any(|name| name.eq_ignore_ascii_case(&user.name));
        if let Some(user) = users_of_vserver(config, name).find(stays) {
            return Err(in_use("name", name, user));
        }
        if let Some(User { object, name: by }) = user_of_target_vserver(config, name) {
            return Err(Refusal::TargetInUse { argument: "name", name: (*name).to_owned(), object, by });
        }
    }
    Ok(())
}

fn rm_net_profiles(config: &mut Config, names: &[&str]) -> Result<(), Refusal> {
    for name in names {
        such(&config.net_profiles, "name", name)?;
        if let Some(user) = user_of_net_profile(config, name) {
            return Err(in_use("name", name, user));
        }
    }
    for name in names {
        config.net_profiles.remove(name);
    }
    Ok(())
}

fn rm_lb_profile(config: &mut Config, name: &str) -> Result<(), Refusal> {
    such(&config.lb_profiles, "lbprofilename", name)?;
    if let Some(user) = user_of_lb_profile(config, name) {
        return Err(in_use("lbprofilename", name, user));
    }
    config.lb_profiles.remove(name);
    Ok(())
}

fn rm_lb_monitor(config: &mut Config, command: &Command) -> Result<(), Refusal> {
    let monitor = changeable(config, command)?;
    if let Some(User { object, name: by }) = user_of_monitor(config, &monitor.name) {
        return Err(Refusal::MonitorInUse { name: monitor.name.clone(), object, by });
    }
    config.lb_monitors.remove(name(command));
    Ok(())
}

pub(super) fn rename(config: &mut Config, command: &Command) -> Result<(), Refusal> {
    let (old, new) = (name(command), text(command, "newname").unwrap_or_default());
    let same = old.eq_ignore_ascii_case(new);
    match command.object() {
        Object::Server => {
            renamed(&mut config.servers, "name", (old, new), |server, new| server.name = new)?;
            rename_server(config, old, new);
        }
        Object::Service => {
            such(&config.services, "name", old)?;
            if !same {
                service_or_group_exists(config, "newName", new)?;
            }
            renamed(&mut config.services, "name", (old, new), |service, new| service.name = new)?;
            rename_target(config, old, new);
            rename_settings::<SslService>(config, old, new);
        }
        Object::ServiceGroup => {
            such(&config.service_groups, "serviceGroupName", old)?;
            if !same {
                service_or_group_exists(config, "newName", new)?;
            }
            renamed(&mut config.service_groups, "serviceGroupName", (old, new), |group, new| {
                group.name = new
            })?;
            rename_target(config, old, new);
            rename_settings::<SslServiceGroup>(config, old, new);
        }
        Object::LbVserver => {
            such(&config.lb_vservers, "name", old)?;
            if !same {
                free_name(config, "newName", new)?;
            }
            renamed(&mut config.lb_vservers, "name", (old, new), |vserver, new| vserver.name = new)?;
            rename_vserver(config, old, new);
        }
        Object::CsVserver => {
            such(&config.cs_vservers, "name", old)?;
            if !same {
                free_name(config, "newName", new)?;
            }
            renamed(&mut config.cs_vservers, "name", (old, new), |vserver, new| vserver.name = new)?;
            rename_vserver(config, old, new);
        }
        Object::CsPolicy => {
            such(&config.cs_policies, "policyName", old)?;
            if !same && is_bound_beside(config, old, new) {
                return Err(exists("newName", new));
            }
            renamed(&mut config.cs_policies, "policyName", (old, new), |policy, new| policy.name = new)?;
            rename_cs_policy(config, old, new);
        }
        Object::CsAction => {
            renamed(&mut config.cs_actions, "name", (old, new), |action, new| action.name = new)?;
            rename_cs_action(config, old, new);
        }
        Object::LbGroup => {
            renamed(&mut config.lb_groups, "name", (old, new), |group, new| group.name = new)?;
        }
        _ => return Err(command.unknown()),
    }
    Ok(())
}

/// Renames the resource itself; it keeps its place.
fn renamed<T: Keyed + Clone>(
    table: &mut Table<T>,
    argument: &'static str,
    (old, new): (&str, &str),
    rename: impl FnOnce(&mut T, String),
) -> Result<(), Refusal> {
    let mut item = such(table, argument, old)?.clone();
    if !old.eq_ignore_ascii_case(new) && table.has(new) {
        return Err(exists("newName", new));
    }
    rename(&mut item, new.to_owned());
    table.replace(old, item);
    Ok(())
}

pub(super) fn in_use(argument: &'static str, name: &str, User { object, name: by }: User) -> Refusal {
    Refusal::InUse { argument, name: name.to_owned(), object, by }
}
