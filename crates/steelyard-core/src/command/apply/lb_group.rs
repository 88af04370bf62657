//! Virtual servers in groups: a virtual server is in one group at most.

use super::{name, names};
use crate::command::Command;
use crate::command::refusal::Refusal;
use crate::command::resolve::such;
use crate::config::{Config, LbGroup};

/// `bind lb group NAME VSERVER ...`: all of them or none.
pub(super) fn bind_lb_group(config: &mut Config, command: &Command) -> Result<(), Refusal> {
    such(&config.lb_groups, "name", name(command))?;
    let mut bound: Vec<String> = Vec::new();
    for wanted in names(command, "vservername") {
        let vserver = such(&config.lb_vservers, "vServerName", wanted)?;
        let twice = bound.iter().any(|other| other.eq_ignore_ascii_case(wanted));
        if twice || config.lb_groups.iter().any(|group| has(group, wanted)) {
            return Err(Refusal::VserverInGroup { name: vserver.name.clone() });
        }
        bound.push(vserver.name.clone());
    }
    config.lb_groups.change(name(command), |group| group.vservers.extend(bound));
    Ok(())
}

/// `unbind lb group NAME VSERVER ...`: all of them or none.
pub(super) fn unbind_lb_group(config: &mut Config, command: &Command) -> Result<(), Refusal> {
    let group = such(&config.lb_groups, "name", name(command))?;
    let unwanted = names(command, "vservername");
    if let Some(missing) = unwanted.iter().find(|name| !has(group, name)) {
        return Err(Refusal::VserverNotInGroup { name: (*missing).to_owned() });
    }
    config.lb_groups.change(name(command), |group| {
        group.vservers.retain(|vserver| !unwanted.iter().any(|name| name.eq_ignore_ascii_case(vserver)));
    });
    Ok(())
}

fn has(group: &LbGroup, vserver: &str) -> bool {
    group.vservers.iter().any(|other| other.eq_ignore_ascii_case(vserver))
}
