//! What is bound is bound once more: NITRO's PUT means by it that the binding shall be so. No command line does.

use super::group::member_key;
use super::{Done, apply, name, names, text};
use crate::command::refusal::Refusal;
use crate::command::resolve::monitored;
use crate::command::{Command, Object, Verb};
use crate::config::attribute::{Resource, Value};
use crate::config::{Config, LbBinding, MonitorBinding};

/// As [`apply`] does. A binding that is there already takes what the command gives it, keeps the rest, and stays where it
/// is among the others.
///
/// # Errors
/// [`Refusal`] when the configuration does not allow the command. It is unchanged then.
pub fn bind_over(config: &mut Config, command: &Command) -> Result<Done, Refusal> {
    match apply(config, command) {
        Err(refusal) if is_of_one_that_is_there(&refusal) && command.verb() == Verb::Bind => {
            if change(config, command) { Ok(Done::default()) } else { Err(refusal) }
        }
        done => done,
    }
}

fn is_of_one_that_is_there(refusal: &Refusal) -> bool {
    matches!(refusal, Refusal::Exists { .. } | Refusal::MonitorAlreadyBound | Refusal::VserverInGroup { .. })
}

/// Changes the binding; `false` of one that has nothing to change.
fn change(config: &mut Config, command: &Command) -> bool {
    let own = name(command).to_owned();
    match command.object() {
        Object::LbVserver => of_vserver(config, &own, command),
        Object::Service => {
            let Some(monitor) = text(command, "monitor_name") else { return false };
            config.services.change(&own, |service| of_monitor(&mut service.monitors, monitor, command));
            true
        }
        Object::ServiceGroup => of_group(config, &own, command),
        Object::LbMonitor => match text(command, "servicename") {
            Some(target) => monitored(config, target).is_ok_and(|target| {
                target.change(config, |bound| of_monitor(bound, &own, command));
                true
            }),
            None => of_metric(config, &own, command),
        },
        // It has no settings; that of another group is not to be taken from there.
        Object::LbGroup => config.lb_groups.find(&own).is_some_and(|group| {
            let is_in = |wanted: &&str| group.vservers.iter().any(|known| known.eq_ignore_ascii_case(wanted));
            names(command, "vservername").iter().all(is_in)
        }),
        _ => false,
    }
}

fn of_vserver(config: &mut Config, own: &str, command: &Command) -> bool {
    let Some(target) = text(command, "servicename") else { return false };
    config.lb_vservers.change(own, |vserver| {
        vserver.bindings.change(&target.to_ascii_lowercase(), |binding| {
            if let Some(Value::Number(weight)) = command.value("weight") {
                binding.set_weight(*weight);
            }
            if let (
                Some(Value::Number(new)),
                LbBinding::Service { order, .. } | LbBinding::ServiceGroup { order, .. },
            ) = (command.value("order"), binding)
            {
                *order = Some(*new);
            }
        });
    });
    true
}

fn of_group(config: &mut Config, own: &str, command: &Command) -> bool {
    if let Some(monitor) = text(command, "monitor_name") {
        config.service_groups.change(own, |group| of_monitor(&mut group.monitors, monitor, command));
        return true;
    }
    let found = config.service_groups.find(own).map(|group| member_key(config, group, command));
    let Some(Ok(Some(key))) = found else { return false };
    config.service_groups.change(own, |group| {
        group.members.change(&key, |member| give(member, command, &["servername", "port"]));
    });
    true
}

fn of_metric(config: &mut Config, own: &str, command: &Command) -> bool {
    let Some(metric) = text(command, "metric") else { return false };
    config.lb_monitors.change(own, |monitor| {
        let is_it = |bound: &&mut crate::config::MetricBinding| bound.metric.eq_ignore_ascii_case(metric);
        monitor.metrics.iter_mut().filter(is_it).for_each(|bound| give(bound, command, &["metric"]));
    });
    true
}

fn of_monitor(bound: &mut [MonitorBinding], monitor: &str, command: &Command) {
    let is_it = |binding: &&mut MonitorBinding| binding.monitor.eq_ignore_ascii_case(monitor);
    bound.iter_mut().filter(is_it).for_each(|binding| give(binding, command, &["monitor_name"]));
}

/// Gives a binding what the command gives, but for what names it.
fn give<T: Resource>(binding: &mut T, command: &Command, keys: &[&str]) {
    for (row, value) in command.arguments().filter(|(row, _)| !keys.contains(&row.nitro)) {
        binding.store(row.nitro, value);
    }
}
