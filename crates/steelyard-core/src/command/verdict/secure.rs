//! What of TLS probes act on, while nothing else goes through it: the name of a service, and certificates.

use super::super::{Command, Object, Verb};
use super::site::Site;
use crate::config::attribute::{Effect, Place, Row, Value};

/// Does a command about TLS with services say something that probes act on?
pub(super) fn is_for_probes(site: &Site, command: &Command) -> bool {
    let tls = match command.object() {
        Object::SslService => site.config.tls_of_service(name(command)),
        Object::SslServiceGroup => site.config.tls_of_group(name(command)),
        _ => return false,
    };
    let acts = |row: &Row, value: &Value| {
        row.place != Place::Key && row.effect == Effect::Acts && *value != Value::Flag(false)
    };
    match command.verb() {
        Verb::Set => command.arguments().any(|(row, value)| acts(row, value)),
        Verb::Bind => tls.is_checked && command.value("ca").is_some(),
        _ => false,
    }
}

/// Is that option a certificate that probes through TLS use?
pub(super) fn is_used_by_probes(site: &Site, command: &Command, row: &Row) -> bool {
    let secure = match command.object() {
        Object::SslService | Object::SslServiceGroup => true,
        Object::LbMonitor => {
            let monitor = site.config.lb_monitors.find(name(command));
            monitor.is_some_and(|monitor| monitor.secure && monitor.kind.can_be_secure())
        }
        _ => false,
    };
    secure && ["certkeyname", "ca"].contains(&row.nitro)
}

fn name(command: &Command) -> &str {
    match command.arguments().find(|(row, _)| row.place == Place::Key) {
        Some((_, Value::Text(name))) => name,
        _ => "",
    }
}
