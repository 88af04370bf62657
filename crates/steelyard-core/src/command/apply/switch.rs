//! `enable` and `disable`: objects, members, bindings of monitors, features. A configuration has switches alone: by which
//! way a service leaves that is disabled with a delay or gracefully is in the lines (`command::switched`).

use super::group::member_key;
use super::{made, name, text};
use crate::command::refusal::Refusal;
use crate::command::resolve::{monitored, such};
use crate::command::{Command, Object};
use crate::config::attribute::Value;
use crate::config::{Config, LbMonitor, MonitorBinding, NsIp};

pub(super) fn switch(config: &mut Config, command: &Command, on: bool) -> Result<(), Refusal> {
    let name = name(command);
    match command.object() {
        Object::Server => {
            such(&config.servers, "name", name)?;
            config.servers.change(name, |server| server.enabled = on);
        }
        Object::Service => {
            such(&config.services, "name", name)?;
            config.services.change(name, |service| service.enabled = on);
        }
        Object::ServiceGroup => {
            let group = such(&config.service_groups, "serviceGroupName", name)?;
            let member = member_key(config, group, command)?;
            config.service_groups.change(name, |group| match member {
                Some(key) => group.members.change(&key, |member| member.enabled = on),
                None => group.enabled = on,
            });
        }
        Object::LbVserver => {
            such(&config.lb_vservers, "name", name)?;
            config.lb_vservers.change(name, |vserver| vserver.enabled = on);
        }
        Object::CsVserver => {
            such(&config.cs_vservers, "name", name)?;
            config.cs_vservers.change(name, |vserver| vserver.enabled = on);
        }
        Object::NsIp => {
            let address = made::<NsIp>(command).address;
            such(&config.ns_ips, "IPAddress", &address)?;
            config.ns_ips.change(&address, |ip| ip.enabled = on);
        }
        Object::LbMonitor => switch_monitors(config, command, on)?,
        Object::NsFeature => match command.value("feature") {
            Some(Value::WordList(features)) => config.features.switch(features, on),
            _ => return Err(Refusal::ArgumentMissing { argument: "feature" }),
        },
        Object::NsMode => match command.value("mode") {
            Some(Value::WordList(modes)) => config.modes.switch(modes, on),
            _ => return Err(Refusal::ArgumentMissing { argument: "Mode" }),
        },
        _ => return Err(command.unknown()),
    }
    Ok(())
}

/// `enable lb monitor (SERVICE | GROUP) [MONITOR]`: one binding, or all.
fn switch_monitors(config: &mut Config, command: &Command, on: bool) -> Result<(), Refusal> {
    let target = monitored(config, text(command, "servicename").unwrap_or_default())?;
    let wanted = text(command, "monitorname");
    let is_meant =
        |binding: &MonitorBinding| wanted.is_none_or(|name| binding.monitor.eq_ignore_ascii_case(name));
    if let Some(name) = wanted.filter(|_| !target.bound(config).iter().any(is_meant)) {
        return Err(match LbMonitor::is_default(name) {
            true => Refusal::DefaultMonitor,
            false => Refusal::MonitorNotBound { name: name.to_owned() },
        });
    }
    target.change(config, |bound| {
        bound.iter_mut().filter(|binding| is_meant(binding)).for_each(|binding| binding.enabled = on);
    });
    Ok(())
}
