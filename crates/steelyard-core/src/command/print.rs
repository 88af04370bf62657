//! A configuration as the lines of an `ns.conf` that would make it, in the appliance's order (`spec/cli.md` 6): what
//! is at its default is left out.

use super::value::write;
use crate::config::attribute::{Attribute, Place, Resource};
use crate::config::{Config, LbBinding, LbMonitor, LbParameter, MonitorBinding, PolicyBinding};

/// The lines of a configuration, each with its line end.
pub fn print(config: &Config) -> String {
    let mut out = String::new();
    let features: Vec<&str> = config.features.iter().collect();
    if !features.is_empty() {
        out.push_str(&format!("enable ns feature {}\n", features.join(" ")));
    }
    config.ns_ips.iter().for_each(|ip| add(ip, &mut out));
    config.net_profiles.iter().for_each(|profile| add(profile, &mut out));
    config.servers.iter().for_each(|server| add(server, &mut out));
    config.services.iter().for_each(|service| add(service, &mut out));
    config.service_groups.iter().for_each(|group| add(group, &mut out));
    if config.lb_parameter != LbParameter::default() {
        line("set", &config.lb_parameter, &LbParameter::default(), &mut out);
    }
    config.lb_vservers.iter().for_each(|vserver| add(vserver, &mut out));
    for vserver in &config.lb_vservers {
        vserver.bindings.iter().for_each(|binding| bind(&vserver.name, binding, &mut out));
        for binding in &vserver.policies {
            head("bind lb vserver", &vserver.name, &mut out);
            attributes(binding, &PolicyBinding::default(), &mut out);
        }
        for profile in &vserver.analytics_profiles {
            head("bind lb vserver", &vserver.name, &mut out);
            out.push_str(" -analyticsProfile");
            word(profile, &mut out);
            out.push('\n');
        }
    }
    monitors(config, &mut out);
    for service in &config.services {
        service.monitors.iter().for_each(|binding| bind_monitor("service", &service.name, binding, &mut out));
        for binding in &service.policies {
            head("bind service", &service.name, &mut out);
            attributes(binding, &PolicyBinding::default(), &mut out);
        }
    }
    for group in &config.service_groups {
        for member in &group.members {
            head("bind serviceGroup", &group.name, &mut out);
            attributes(member, &Default::default(), &mut out);
        }
        group
            .monitors
            .iter()
            .for_each(|binding| bind_monitor("serviceGroup", &group.name, binding, &mut out));
    }
    out
}

/// Built-in monitors are there without a line; one that was changed is set, one that was removed is removed.
fn monitors(config: &Config, out: &mut String) {
    let (mut kept, mut own) = (Vec::new(), config.lb_monitors.iter().peekable());
    for original in LbMonitor::built_in() {
        match own.next_if(|monitor| monitor.name == original.name && monitor.kind == original.kind) {
            Some(monitor) => kept.push((monitor, original)),
            None => out.push_str(&format!("rm lb monitor {} {}\n", original.name, original.kind.text())),
        }
    }
    for (monitor, original) in kept.iter().filter(|(monitor, original)| *monitor != original) {
        line("set", *monitor, original, out);
    }
    own.for_each(|monitor| add(monitor, out));
}

fn bind(vserver: &str, binding: &LbBinding, out: &mut String) {
    head("bind lb vserver", vserver, out);
    word(binding.name(), out);
    if let LbBinding::Service { weight: weight @ 2.., .. } = binding {
        out.push_str(&format!(" -weight {weight}"));
    }
    out.push('\n');
}

fn bind_monitor(object: &str, name: &str, binding: &MonitorBinding, out: &mut String) {
    head(&format!("bind {object}"), name, out);
    attributes(binding, &MonitorBinding::default(), out);
}

fn head(command: &str, name: &str, out: &mut String) {
    out.push_str(command);
    word(name, out);
}

fn word(text: &str, out: &mut String) {
    out.push(' ');
    super::value::write_text(text, out);
}

fn add<T: Resource + Default>(resource: &T, out: &mut String) {
    line("add", resource, &T::default(), out);
}

fn line<T: Resource>(verb: &str, resource: &T, unless: &T, out: &mut String) {
    out.push_str(&format!("{verb} {}", T::OBJECT));
    attributes(resource, unless, out);
}

/// Words that stand alone, then the options that differ from `unless`, then the end of the line.
fn attributes<T: Resource>(resource: &T, unless: &T, out: &mut String) {
    for (index, attribute) in T::ATTRIBUTES.iter().enumerate() {
        let differs = |a: &Attribute<T>| (a.value)(resource) != (a.value)(unless);
        let second = T::ATTRIBUTES.get(index + 1).filter(|next| next.row.place == Place::SecondWord);
        match attribute.row.place {
            Place::Key | Place::Required | Place::Optional => put(attribute, resource, out),
            Place::SecondWord if differs(attribute) => put(attribute, resource, out),
            Place::Option if differs(attribute) || second.is_some_and(differs) => {
                out.push_str(&format!(" -{}", attribute.row.cli));
                put(attribute, resource, out);
            }
            Place::Option | Place::SecondWord => {}
        }
    }
    out.push('\n');
}

/// A virtual server without an address is written with 0.0.0.0.
fn put<T: Resource>(attribute: &Attribute<T>, resource: &T, out: &mut String) {
    out.push(' ');
    match (attribute.value)(resource) {
        Some(value) => write(&attribute.row.kind, &value, out),
        None => out.push_str("0.0.0.0"),
    }
}
