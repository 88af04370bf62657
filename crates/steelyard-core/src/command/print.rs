//! A configuration as the lines of an `ns.conf` that would make it, in the appliance's order (`spec/cli.md` 6): what
//! is at its default is left out, unless the appliance writes it, too.

mod switching;
mod system;
mod tls;

use std::collections::BTreeSet;

use super::value::write;
use super::{Command, Object, Verb, beside, keep};
use crate::config::attribute::{Attribute, Kind, Place, Resource, Value};
use crate::config::kept::Rank;
use crate::config::{
    BindingList, CertKeyBinding, Config, HaPartner, LbBinding, LbMonitor, MetricBinding, MonitorBinding,
    PolicyBinding, RouteMonitor, Service, ServiceGroup,
};

/// A configuration as text.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Printed {
    /// What an appliance would load: NetScaler's commands alone.
    pub ns_conf: String,
    /// What only this program understands.
    pub steelyard_conf: String,
}

/// The lines of a configuration, each with its line end: of every place in the file first those that were kept, then
/// the resources.
pub fn print(config: &Config) -> Printed {
    let mut out = String::new();
    if !config.kept.of(Rank::Header).iter().any(|kept| keep::is_version(&kept.text)) {
        out.push_str(keep::VERSION);
        out.push('\n');
    }
    for rank in Rank::ALL {
        config.kept.of(rank).iter().for_each(|kept| keep::write(kept, &mut out));
        resources(config, rank, &mut out);
    }
    Printed { ns_conf: out, steelyard_conf: beside::print(config) }
}

/// The place of a command in a saved file.
pub(super) fn rank(verb: Verb, object: Object) -> Rank {
    let binds = matches!(verb, Verb::Bind | Verb::Unbind);
    match object {
        Object::NsConfig => Rank::Config,
        Object::NsFeature => Rank::Features,
        Object::NsMode => Rank::Modes,
        Object::NsHostName | Object::NsIp | Object::NsParam => Rank::System,
        Object::NetProfile | Object::NsSpParams => Rank::Network,
        Object::Server => Rank::Servers,
        Object::Service if binds => Rank::ServiceBindings,
        Object::Service => Rank::Services,
        Object::ServiceGroup if binds => Rank::ServiceGroupBindings,
        Object::ServiceGroupMember => Rank::ServiceGroupBindings,
        Object::ServiceGroup => Rank::ServiceGroups,
        Object::SslCertKey if binds => Rank::Bindings,
        Object::SslVserver | Object::SslService | Object::SslServiceGroup => Rank::Bindings,
        Object::SslCertKey => Rank::Certificates,
        Object::LbParameter => Rank::Parameters,
        Object::LbVserver | Object::LbGroup | Object::CsVserver if binds => Rank::VserverBindings,
        Object::LbVserver => Rank::LbVservers,
        Object::LbGroup | Object::CsVserver | Object::CsPolicy | Object::CsAction => Rank::OtherVservers,
        Object::LbMonitor => Rank::Monitors,
        Object::LbProfile => Rank::Network,
        Object::HaPartner => Rank::System,
        Object::SystemUser | Object::SystemGroup if binds => Rank::Bindings,
        Object::SystemUser | Object::SystemGroup | Object::SystemCmdPolicy | Object::SystemParameter => {
            Rank::System
        }
    }
}

/// The place in a saved file of what a command says; a backup of another kind is set further down.
pub(super) fn place(config: &Config, command: &Command) -> Rank {
    match (command.verb(), command.value("backupvserver")) {
        (Verb::Set, Some(Value::Text(backup))) if is_foreign(config, backup) => Rank::ContentSwitching,
        (verb, _) => rank(verb, command.object()),
    }
}

/// Is that a backup of another kind?
fn is_foreign(config: &Config, backup: &str) -> bool {
    !backup.is_empty() && !config.lb_vservers.has(backup)
}

/// The resources of one place.
fn resources(config: &Config, rank: Rank, out: &mut String) {
    match rank {
        Rank::Features => features(config, out),
        Rank::Config => changed(&config.ns_config, out),
        Rank::Modes => modes(config, out),
        Rank::System => {
            system::print(config, out);
            changed(&config.ns_host_name, out);
            changed(&config.ns_param, out);
            config.ns_ips.iter().for_each(|ip| add(ip, out));
            ha_partners(config, out);
        }
        Rank::OtherVservers => {
            config.lb_groups.iter().for_each(|group| add(group, out));
            switching::print(config, out);
        }
        Rank::ContentSwitching => foreign_backups(config, out),
        Rank::Network => {
            changed(&config.ns_sp_params, out);
            config.net_profiles.iter().for_each(|profile| add(profile, out));
            config.lb_profiles.iter().for_each(|profile| add(profile, out));
        }
        Rank::Servers => config.servers.iter().for_each(|server| add(server, out)),
        Rank::Services => config.services.iter().for_each(|service| add(service, out)),
        Rank::ServiceGroups => config.service_groups.iter().for_each(|group| add(group, out)),
        Rank::Certificates => tls::print(config, out),
        Rank::Parameters => changed(&config.lb_parameter, out),
        Rank::LbVservers => lb_vservers(config, out),
        Rank::VserverBindings => vserver_bindings(config, out),
        Rank::Monitors => {
            monitors(config, out);
            config.lb_monitors.iter().for_each(|monitor| parts(monitor, out));
        }
        Rank::ServiceBindings => config.services.iter().for_each(|service| service_bindings(service, out)),
        Rank::ServiceGroupBindings => {
            config.service_groups.iter().for_each(|group| group_bindings(group, out))
        }
        Rank::Bindings => {
            system::bindings(config, out);
            tls::bindings(config, out);
        }
        Rank::Header | Rank::Last => {}
    }
}

fn ha_partners(config: &Config, out: &mut String) {
    config.ha_partners.iter().for_each(|partner| add(partner, out));
    changed(&config.ha_local, out);
    for monitor in &config.ha_local.route_monitors {
        out.push_str(&format!("bind {}", HaPartner::OBJECT));
        attributes(monitor, &RouteMonitor::default(), out);
    }
}

fn features(config: &Config, out: &mut String) {
    let features: Vec<&str> = config.features.iter().collect();
    if !features.is_empty() {
        out.push_str(&format!("enable ns feature {}\n", features.join(" ")));
    }
}

fn modes(config: &Config, out: &mut String) {
    for (verb, on) in [("enable", true), ("disable", false)] {
        let modes: Vec<&str> = config.modes.switched(on).collect();
        if !modes.is_empty() {
            out.push_str(&format!("{verb} ns mode {}\n", modes.join(" ")));
        }
    }
}

/// What there is one of, if it was changed.
fn changed<T: Resource + Default + PartialEq>(resource: &T, out: &mut String) {
    if !shows_the_same(resource, &T::default()) {
        line("set", resource, &T::default(), out);
    }
}

/// What names a virtual server that stands further down is set when that is there.
fn lb_vservers(config: &Config, out: &mut String) {
    let mut added = BTreeSet::new();
    let mut later = String::new();
    for vserver in &config.lb_vservers {
        added.insert(vserver.name.to_ascii_lowercase());
        let mut first = vserver.clone();
        for (option, other) in
            [("backupVServer", &mut first.backup_vserver), ("pushVserver", &mut first.push_vserver)]
        {
            if option == "backupVServer" && !config.lb_vservers.has(other) {
                other.clear();
            } else if !added.contains(&other.to_ascii_lowercase()) && config.lb_vservers.has(other) {
                head("set lb vserver", &vserver.name, &mut later);
                later.push_str(&format!(" -{option}"));
                word(&std::mem::take(other), &mut later);
                later.push('\n');
            }
        }
        add(&first, out);
    }
    out.push_str(&later);
}

/// A backup of another kind stands further down than its virtual server; so may any of content switching.
fn foreign_backups(config: &Config, out: &mut String) {
    let lb = config.lb_vservers.iter().map(|v| ("set lb vserver", &v.name, &v.backup_vserver));
    let cs = config.cs_vservers.iter().map(|v| ("set cs vserver", &v.name, &v.backup_vserver));
    for (set, name, backup) in lb.chain(cs).filter(|(.., backup)| is_foreign(config, backup)) {
        head(set, name, out);
        out.push_str(" -backupVServer");
        word(backup, out);
        out.push('\n');
    }
}

fn vserver_bindings(config: &Config, out: &mut String) {
    for vserver in &config.lb_vservers {
        vserver.bindings.iter().for_each(|binding| bind(&vserver.name, binding, out));
        policies("bind lb vserver", &vserver.name, &vserver.policies, out);
        each("bind lb vserver", &vserver.name, "analyticsProfile", &vserver.analytics_profiles, out);
    }
    switching::bindings(config, out);
    for group in config.lb_groups.iter().filter(|group| !group.vservers.is_empty()) {
        head("bind lb group", &group.name, out);
        group.vservers.iter().for_each(|vserver| word(vserver, out));
        out.push('\n');
    }
}

fn policies(bind: &str, name: &str, bound: &BindingList<PolicyBinding>, out: &mut String) {
    for binding in bound.iter() {
        head(bind, name, out);
        attributes(binding, &PolicyBinding::default(), out);
    }
}

/// A line for each name that is bound by that option.
fn each(command: &str, name: &str, option: &str, bound: &[String], out: &mut String) {
    for other in bound {
        head(command, name, out);
        out.push_str(&format!(" -{option}"));
        word(other, out);
        out.push('\n');
    }
}

fn service_bindings(service: &Service, out: &mut String) {
    service.monitors.iter().for_each(|binding| bind_monitor("service", &service.name, binding, out));
    policies("bind service", &service.name, &service.policies, out);
}

fn group_bindings(group: &ServiceGroup, out: &mut String) {
    for member in &group.members {
        head("bind serviceGroup", &group.name, out);
        attributes(member, &Default::default(), out);
    }
    group.monitors.iter().for_each(|binding| bind_monitor("serviceGroup", &group.name, binding, out));
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
    for (monitor, original) in kept.iter().filter(|(monitor, original)| !shows_the_same(*monitor, original)) {
        line("set", *monitor, original, out);
    }
    own.for_each(|monitor| add(monitor, out));
}

/// What is bound to a monitor itself.
fn parts(monitor: &LbMonitor, out: &mut String) {
    for metric in &monitor.metrics {
        head("bind lb monitor", &monitor.name, out);
        attributes(metric, &MetricBinding::default(), out);
    }
    for cert_key in &monitor.cert_keys {
        head("bind lb monitor", &monitor.name, out);
        attributes(cert_key, &CertKeyBinding::default(), out);
    }
}

fn bind(vserver: &str, binding: &LbBinding, out: &mut String) {
    head("bind lb vserver", vserver, out);
    word(binding.name(), out);
    if let LbBinding::Service { weight: weight @ 2.., .. } = binding {
        out.push_str(&format!(" -weight {weight}"));
    }
    if let Some(order) = binding.order() {
        out.push_str(&format!(" -order {order}"));
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
    line("add", resource, &resource.fresh(), out);
}

fn line<T: Resource>(verb: &str, resource: &T, unless: &T, out: &mut String) {
    out.push_str(&format!("{verb} {}", T::OBJECT));
    attributes(resource, unless, out);
}

/// Words that stand alone, then the options that differ from `unless` or are always written, then the end of the line.
fn attributes<T: Resource>(resource: &T, unless: &T, out: &mut String) {
    let differs = |a: &Attribute<T>| shown(a, resource) != shown(a, unless);
    for (index, attribute) in T::ATTRIBUTES.iter().enumerate() {
        let after = &T::ATTRIBUTES[index + 1..];
        let mut more = after.iter().take_while(|next| next.row.place == Place::SecondWord);
        match attribute.row.place {
            Place::Key | Place::Required => put(attribute, resource, out),
            Place::Optional => optional(attribute, after.first(), resource, out),
            Place::SecondWord if differs(attribute) => put(attribute, resource, out),
            Place::Option if attribute.row.always || differs(attribute) || more.any(differs) => {
                out.push_str(&format!(" -{}", attribute.row.cli));
                put(attribute, resource, out);
            }
            Place::Option | Place::SecondWord => {}
        }
    }
    out.push('\n');
}

/// A word that may be left out is, unless another such word follows: a virtual server without an address that has a port
/// has 0.0.0.0.
fn optional<T: Resource>(
    attribute: &Attribute<T>,
    next: Option<&Attribute<T>>,
    resource: &T,
    out: &mut String,
) {
    if (attribute.value)(resource).is_some() {
        put(attribute, resource, out);
    } else if next.is_some_and(|next| next.row.place == Place::Optional && (next.value)(resource).is_some()) {
        out.push_str(" 0.0.0.0");
    }
}

fn put<T: Resource>(attribute: &Attribute<T>, resource: &T, out: &mut String) {
    if let Some(value) = shown(attribute, resource).filter(|_| attribute.row.kind != Kind::Bare) {
        out.push(' ');
        write(&attribute.row.kind, &value, out);
    }
}

/// What an appliance is shown of an attribute: no secret that only this program can read.
fn shown<T: Resource>(attribute: &Attribute<T>, resource: &T) -> Option<Value> {
    (attribute.value)(resource)
        .filter(|value| !matches!(value, Value::Secret(secret) if secret.foreign().is_none()))
}

fn shows_the_same<T: Resource>(one: &T, other: &T) -> bool {
    T::ATTRIBUTES.iter().all(|attribute| shown(attribute, one) == shown(attribute, other))
}
