//! The names of what is bound to an object, where `unbind` asks for one of them.

use crate::command::Object;
use crate::config::{Config, LbBinding};

/// What an argument of `unbind` may name, of an object that is there; `None` where anything of its kind may be meant.
pub(super) fn bound<'c>(
    config: &'c Config,
    object: Object,
    name: &str,
    argument: &str,
) -> Option<Vec<&'c str>> {
    Some(match (object, argument) {
        (Object::LbVserver, "serviceName") => {
            let bindings = config.lb_vservers.find(name)?.bindings.iter();
            let of = |binding: &'c LbBinding| match binding {
                LbBinding::Service { name, .. } | LbBinding::ServiceGroup { name, .. } => name.as_str(),
            };
            bindings.map(of).collect()
        }
        (Object::Service, "monitorName") => {
            config.services.find(name)?.monitors.iter().map(|binding| binding.monitor.as_str()).collect()
        }
        (Object::ServiceGroup, "monitorName") => config
            .service_groups
            .find(name)?
            .monitors
            .iter()
            .map(|binding| binding.monitor.as_str())
            .collect(),
        (Object::ServiceGroup, "serverName") => {
            config.service_groups.find(name)?.members.iter().map(|member| member.server.as_str()).collect()
        }
        (Object::SystemGroup, "userName") => {
            config.system_groups.find(name)?.users.iter().map(String::as_str).collect()
        }
        _ => return None,
    })
}
