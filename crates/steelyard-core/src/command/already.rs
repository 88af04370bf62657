//! Is what a command would add there already, just as the command would make it? NITRO's `idempotent=yes` asks that.

use super::apply::apply;
use super::{Command, Object, Verb};
use crate::config::attribute::{Place, Resource, Value};
use crate::config::{Config, Keyed, Table, Undoable};

/// Is there an object of that name, type and attributes? What is bound to it says nothing. The configuration is as
/// before afterwards.
pub fn is_there_already(config: &mut Config, command: &Command) -> bool {
    if command.verb() != Verb::Add {
        return false;
    }
    match command.object() {
        Object::Server => is_same(config, command, |config| &mut config.servers),
        Object::Service => is_same(config, command, |config| &mut config.services),
        Object::ServiceGroup => is_same(config, command, |config| &mut config.service_groups),
        Object::LbVserver => is_same(config, command, |config| &mut config.lb_vservers),
        Object::LbMonitor => is_same(config, command, |config| &mut config.lb_monitors),
        Object::LbGroup => is_same(config, command, |config| &mut config.lb_groups),
        Object::NsIp => is_same(config, command, |config| &mut config.ns_ips),
        Object::NetProfile => is_same(config, command, |config| &mut config.net_profiles),
        Object::CsVserver => is_same(config, command, |config| &mut config.cs_vservers),
        Object::CsPolicy => is_same(config, command, |config| &mut config.cs_policies),
        Object::CsAction => is_same(config, command, |config| &mut config.cs_actions),
        Object::LbProfile => is_same(config, command, |config| &mut config.lb_profiles),
        Object::SslCertKey => is_same(config, command, |config| &mut config.ssl_cert_keys),
        _ => false,
    }
}

/// Takes the object away, adds it by the command, compares, and takes all of that back.
fn is_same<T: Resource + Keyed>(
    config: &mut Config,
    command: &Command,
    table: fn(&mut Config) -> &mut Table<T>,
) -> bool {
    let Some(name) = key(command) else { return false };
    config.tables().into_iter().for_each(Undoable::begin);
    let before = table(config).remove(&name);
    let made = apply(config, command).is_ok();
    let same = match (&before, table(config).find(&name)) {
        (Some(before), Some(after)) if made => are_alike(before, after),
        _ => false,
    };
    config.tables().into_iter().for_each(Undoable::take_back);
    same
}

fn are_alike<T: Resource>(one: &T, other: &T) -> bool {
    T::ATTRIBUTES.iter().all(|attribute| match ((attribute.value)(one), (attribute.value)(other)) {
        // A name is the same in any case.
        (Some(Value::Text(a)), Some(Value::Text(b))) if attribute.row.place == Place::Key => {
            a.eq_ignore_ascii_case(&b)
        }
        (a, b) => a == b,
    })
}

fn key(command: &Command) -> Option<String> {
    let (_, value) = command.arguments().find(|(row, _)| row.place == Place::Key)?;
    match value {
        Value::Text(name) => Some(name.clone()),
        Value::Ip(ip) => Some(ip.to_string()),
        _ => None,
    }
}
