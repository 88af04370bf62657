//! Service groups, their members and their monitors.

use super::monitor::{monitor_binding, set_monitor_weight};
use super::{changed, made, name, text};
use crate::command::Command;
use crate::command::refusal::{Hint, Refusal};
use crate::command::resolve::{exists, resolve_host, service_or_group_exists, such};
use crate::config::attribute::Row;
use crate::config::{Bindable, Config, Member, ServiceGroup};

pub(super) fn add_service_group(config: &mut Config, command: &Command) -> Result<(), Refusal> {
    let group = made::<ServiceGroup>(command);
    service_or_group_exists(config, "serviceGroupName", &group.name)?;
    config.service_groups.insert(group);
    Ok(())
}

/// `set serviceGroup NAME [SERVER PORT -weight WEIGHT ... | -monitorName MONITOR -weight WEIGHT] ...`
pub(super) fn set_service_group(config: &mut Config, command: &Command) -> Result<(), Refusal> {
    let mut group = changed(such(&config.service_groups, "serviceGroupName", name(command))?, command);
    let member = member_key(config, &group, command)?;
    match (member, text(command, "monitor_name")) {
        (Some(_), Some(_)) => {
            return Err(Refusal::Exclusive { argument: "monitorName", other: "serverName" });
        }
        (Some(_), None) if of_a_member(command, &[]).is_none() => {
            return Err(Refusal::ArgumentMissing { argument: "weight" });
        }
        (Some(key), None) => group.members.change(&key, |member| *member = changed(member, command)),
        (None, Some(monitor)) => {
            for_members_alone(command, &["weight"], MEMBER)?;
            let weight = command.value("weight").ok_or(Refusal::ArgumentMissing { argument: "weight" })?;
            set_monitor_weight(&mut group.monitors, monitor, weight)?;
        }
        (None, None) => for_members_alone(command, &[], "a member (serverName and port) or monitorName")?,
    }
    config.service_groups.insert(group);
    Ok(())
}

/// The first option that only a member has, but for those.
fn of_a_member(command: &Command, but: &[&str]) -> Option<&'static str> {
    let own = |row: &Row| OF_A_MEMBER.contains(&row.nitro) && !but.contains(&row.nitro);
    command.arguments().find(|(row, _)| own(row)).map(|(row, _)| row.cli)
}

/// Refuses such an option where no member is named.
pub(super) fn for_members_alone(command: &Command, but: &[&str], needs: &'static str) -> Result<(), Refusal> {
    match of_a_member(command, but) {
        Some(argument) => Err(Refusal::PrerequisiteMissing { argument, needs }),
        None => Ok(()),
    }
}

/// What names a member.
pub(super) const MEMBER: &str = "a member (serverName and port)";

/// `bind serviceGroup NAME (SERVER PORT | -monitorName MONITOR) ...`
pub(super) fn bind_service_group(config: &mut Config, command: &Command) -> Result<(), Refusal> {
    let group = such(&config.service_groups, "serviceGroupName", name(command))?;
    match (command.value("servername"), command.value("monitor_name")) {
        (Some(_), Some(_)) => Err(Refusal::Exclusive { argument: "monitorName", other: "serverName" }),
        (None, None) => Err(Refusal::ArgumentMissing { argument: "serverName" }),
        (Some(_), None) => bind_member(config, command),
        (None, Some(_)) => {
            for_members_alone(command, &["weight"], MEMBER)?;
            let binding = monitor_binding(config, &group.monitors, command)?;
            config.service_groups.change(name(command), |group| group.monitors.push(binding));
            Ok(())
        }
    }
}

fn bind_member(config: &mut Config, command: &Command) -> Result<(), Refusal> {
    if command.value("port").is_none() {
        return Err(Refusal::ArgumentMissing { argument: "port" });
    }
    for (nitro, argument) in [("monstate", "monState"), ("passive", "passive")] {
        if command.value(nitro).is_some() {
            return Err(Refusal::PrerequisiteMissing { argument, needs: "monitorName" });
        }
    }
    let group = such(&config.service_groups, "serviceGroupName", name(command))?;
    let host = resolve_host(config, command)?;
    let member = Member { server: host.name, ..made(command) };
    if group.members.find(&member.key()).is_some() {
        return Err(exists("serverName", &member.server));
    }
    host.new.into_iter().for_each(|server| config.servers.insert(server));
    config.service_groups.change(name(command), |group| group.members.push(member));
    Ok(())
}

/// Which member the words SERVER and PORT name, if they are given.
pub(super) fn member_key(
    config: &Config,
    group: &ServiceGroup,
    command: &Command,
) -> Result<Option<(String, u16)>, Refusal> {
    if command.value("servername").is_none() {
        return match command.value("port") {
            Some(_) => Err(Refusal::ArgumentMissing { argument: "serverName" }),
            None => Ok(None),
        };
    }
    if command.value("port").is_none() {
        return Err(Refusal::ArgumentMissing { argument: "port" });
    }
    let wanted = Member { server: resolve_host(config, command)?.name, ..made(command) };
    match group.members.find(&wanted.key()) {
        Some(member) => Ok(Some(member.key())),
        None => Err(Refusal::NoSuch {
            argument: "serverName",
            name: format!("{}:{}", wanted.server, wanted.port),
            hint: Hint::Nothing,
        }),
    }
}

/// NITRO's names of the options that are a member's own.
const OF_A_MEMBER: &[&str] =
    &["weight", "customserverid", "hashid", "state", "nameserver", "dbsttl", "order"];
