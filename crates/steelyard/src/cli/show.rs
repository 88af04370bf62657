//! `show`: which resources of NITRO an object's text is made of.

use serde_json::{Map, Value};
use steelyard_core::command::{Action, Command, Object};
use steelyard_core::config::attribute;

use super::layout::{appliance, lb_monitor, lb_vserver, lines, server, service, service_group};
use super::line::Said;
use crate::door::{Door, percent_encode};

/// An object as NITRO gives it.
pub type Fields = Map<String, Value>;

/// The text of what a command asks for: one object with what is bound to it, or all, numbered.
pub fn show(command: &Command, door: &Door) -> Result<String, Said> {
    let name = command.arguments().find_map(|(row, value)| match (row.place, value) {
        (
            attribute::Place::Key | attribute::Place::Required | attribute::Place::Optional,
            attribute::Value::Text(name),
        ) => Some(name.as_str()),
        _ => None,
    });
    match command.object() {
        Object::LbMonitor => {
            let monitors = objects(door, "lbmonitor", name)?;
            Ok(each(&monitors, lb_monitor::text_of))
        }
        Object::Server => Ok(each(&objects(door, "server", name)?, server::text_of)),
        Object::NsIp => Ok(appliance::addresses(&objects(door, "nsip", name)?)),
        Object::LbVserver => {
            let vservers = objects(door, "lbvserver", name)?;
            match name {
                Some(name) => {
                    let bound = |what: &str| objects(door, &format!("lbvserver_{what}_binding"), Some(name));
                    let (services, groups) = (bound("service")?, bound("servicegroup")?);
                    let members = bound("servicegroupmember")?;
                    let bound = || lb_vserver::bound(&services, &groups, &members);
                    Ok(each(&vservers, |_, of| lb_vserver::head(None, of) + &bound()))
                }
                None => Ok(each(&vservers, |number, of| lb_vserver::head(Some(number), of))),
            }
        }
        Object::Service => {
            let services = objects(door, "service", name)?;
            match name {
                Some(name) => {
                    let bound = objects(door, "service_lbmonitor_binding", Some(name))?;
                    Ok(each(&services, |_, of| service::head(None, of) + &service::monitors(&bound)))
                }
                None => Ok(each(&services, |number, of| service::head(Some(number), of))),
            }
        }
        Object::ServiceGroup => {
            let groups = objects(door, "servicegroup", name)?;
            match name {
                Some(name) => {
                    let members = objects(door, "servicegroup_servicegroupmember_binding", Some(name))?;
                    let probes =
                        objects(door, "servicegroup_servicegroupentitymonbindings_binding", Some(name))?;
                    let bound = || service_group::members(&members, &probes);
                    Ok(each(&groups, |_, of| service_group::head(None, of) + &bound()))
                }
                None => Ok(each(&groups, |number, of| service_group::head(Some(number), of))),
            }
        }
        _ => Err(Said::error(NOT_SHOWN)),
    }
}

/// The text of what is no object of the configuration.
pub fn text(action: &Action, door: &Door) -> Result<String, Said> {
    let whole = |resource, field| {
        let found = objects(door, resource, None)?;
        let text = found.first().and_then(|of| of.get(field)).and_then(Value::as_str).unwrap_or_default();
        Ok(lines(text))
    };
    match (action.object.to_ascii_lowercase().as_str(), &*action.arguments) {
        ("ns runningconfig", []) => whole("nsrunningconfig", "response"),
        ("ns savedconfig", []) => whole("nssavedconfig", "textblob"),
        ("ns version", []) => Ok(appliance::version(&objects(door, "nsversion", None)?)),
        _ => Err(Said::error(NOT_SHOWN)),
    }
}

/// Of what this prompt does not show.
pub const NOT_SHOWN: &str = "Operation not supported here [shown are server, service, serviceGroup, lb vserver, lb monitor, ns ip, ns version, ns runningConfig and ns savedConfig]";

fn each(objects: &[Fields], text: impl Fn(usize, &Fields) -> String) -> String {
    objects.iter().enumerate().map(|(at, of)| text(at + 1, of)).collect()
}

/// The objects of a resource, all or those of one name; none where the answer has none.
fn objects(door: &Door, resource: &str, name: Option<&str>) -> Result<Vec<Fields>, Said> {
    let of_name = name.map(|name| format!("/{}", percent_encode(&percent_encode(name)))).unwrap_or_default();
    let body = door.get(&format!("/nitro/v1/config/{resource}{of_name}"))?;
    let unread = |_| Said::error(format!("Internal error [{resource}]"));
    let mut answer: Fields = serde_json::from_str(&body).map_err(unread)?;
    Ok(match answer.remove(resource) {
        Some(Value::Array(objects)) => {
            let object = |value| if let Value::Object(object) = value { Some(object) } else { None };
            objects.into_iter().filter_map(object).collect()
        }
        Some(Value::Object(object)) => vec![object],
        _ => Vec::new(),
    })
}
