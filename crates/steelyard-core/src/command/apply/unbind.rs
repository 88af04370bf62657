//! `unbind`.

use super::cs_vserver::unbind_cs_vserver;
use super::group::member_key;
use super::ha_partner::unbind_ha_partner;
use super::lb_group::unbind_lb_group;
use super::lb_vserver::unbind_lb_vserver;
use super::monitor_parts::{is_about_a_part, unbind_part};
use super::references::remove_if_implicit;
use super::ssl_cert_key::unbind_ssl_cert_key;
use super::system::{unbind_system_group, unbind_system_user};
use super::tls_settings::unbind_settings;
use super::{name, only_one, text};
use crate::command::refusal::{Hint, Refusal};
use crate::command::resolve::{Monitored, monitored, such};
use crate::command::{Command, Object};
use crate::config::{Config, LbMonitor, SslService, SslServiceGroup, SslVserver};

pub(super) fn unbind(config: &mut Config, command: &Command) -> Result<(), Refusal> {
    match command.object() {
        Object::Service => {
            let service = such(&config.services, "name", name(command))?;
            let target = Monitored::Service(service.name.clone());
            let what = [("monitor_name", "monitorName"), ("policyname", "policyName")];
            match (only_one(command, &what)?, text(command, "policyname")) {
                ("policyname", Some(policy)) => unbind_policy(config, command, policy),
                _ => unbind_monitor(config, &target, text(command, "monitor_name").unwrap_or_default()),
            }
        }
        Object::ServiceGroup => unbind_service_group(config, command),
        Object::LbVserver => unbind_lb_vserver(config, command),
        Object::CsVserver => unbind_cs_vserver(config, command),
        Object::HaPartner => unbind_ha_partner(config, command),
        Object::SslCertKey => unbind_ssl_cert_key(config, command),
        Object::SslVserver => unbind_settings::<SslVserver>(config, command),
        Object::SslService => unbind_settings::<SslService>(config, command),
        Object::SslServiceGroup => unbind_settings::<SslServiceGroup>(config, command),
        Object::LbGroup => unbind_lb_group(config, command),
        Object::SystemUser => unbind_system_user(config, command),
        Object::SystemGroup => unbind_system_group(config, command),
        Object::LbMonitor if is_about_a_part(command) => unbind_part(config, command),
        Object::LbMonitor => {
            such(&config.lb_monitors, "monitorName", name(command))?;
            let target = text(command, "servicename");
            let target =
                monitored(config, target.ok_or(Refusal::ArgumentMissing { argument: "serviceName" })?)?;
            unbind_monitor(config, &target, name(command))
        }
        _ => Err(command.unknown()),
    }
}

fn unbind_policy(config: &mut Config, command: &Command, policy: &str) -> Result<(), Refusal> {
    let mut gone = None;
    let key = (policy.to_ascii_lowercase(), "");
    config.services.change(name(command), |service| gone = service.policies.remove(&key));
    let missing = || Refusal::NoSuch { argument: "policyName", name: policy.to_owned(), hint: Hint::Nothing };
    gone.map(|_| ()).ok_or_else(missing)
}

fn unbind_monitor(config: &mut Config, target: &Monitored, monitor: &str) -> Result<(), Refusal> {
    if !target.bound(config).iter().any(|binding| binding.monitor.eq_ignore_ascii_case(monitor)) {
        return Err(match LbMonitor::is_default(monitor) {
            true => Refusal::DefaultMonitorUnbound,
            false => Refusal::MonitorNotBound { name: monitor.to_owned() },
        });
    }
    target.change(config, |bound| bound.retain(|binding| !binding.monitor.eq_ignore_ascii_case(monitor)));
    Ok(())
}

/// `unbind serviceGroup NAME (SERVER PORT | -monitorName MONITOR)`
fn unbind_service_group(config: &mut Config, command: &Command) -> Result<(), Refusal> {
    let group = such(&config.service_groups, "serviceGroupName", name(command))?;
    let member = member_key(config, group, command)?;
    match (member, text(command, "monitor_name")) {
        (Some(_), Some(_)) => Err(Refusal::Exclusive { argument: "monitorName", other: "serverName" }),
        (None, None) => Err(Refusal::ArgumentMissing { argument: "serverName" }),
        (None, Some(monitor)) => {
            let target = Monitored::ServiceGroup(group.name.clone());
            unbind_monitor(config, &target, monitor)
        }
        (Some(key), None) => {
            let mut gone = None;
            config.service_groups.change(name(command), |group| gone = group.members.remove(&key));
            gone.into_iter().for_each(|member| remove_if_implicit(config, &member.server));
            Ok(())
        }
    }
}
