//! Partners, and what the appliance itself does about them.

use super::{changed, made};
use crate::command::Command;
use crate::command::refusal::{Hint, Refusal};
use crate::command::resolve::{exists, such};
use crate::config::attribute::Value;
use crate::config::{Config, HaPartner, RouteMonitor};

/// Only the appliance itself can be set, and only routes of its own be watched.
pub(super) fn is_local(config: &Config, command: &Command) -> Result<(), Refusal> {
    match command.value("id") {
        None | Some(Value::Number(0)) => Ok(()),
        Some(Value::Number(id)) => {
            such(&config.ha_partners, "id", &id.to_string())?;
            Err(Refusal::PrerequisiteMissing { argument: "id", needs: "0, the appliance itself" })
        }
        Some(_) => Err(Refusal::ValueMissing { argument: "id" }),
    }
}

pub(super) fn set_ha_partner(config: &mut Config, command: &Command) -> Result<(), Refusal> {
    is_local(config, command)?;
    config.ha_local = changed(&config.ha_local, command);
    Ok(())
}

pub(super) fn rm_ha_partner(config: &mut Config, command: &Command) -> Result<(), Refusal> {
    let id = made::<HaPartner>(command).name;
    such(&config.ha_partners, "id", &id)?;
    config.ha_partners.remove(&id);
    Ok(())
}

/// `-routeMonitor NETWORK [MASK]`: a route to watch.
pub(super) fn bind_ha_partner(config: &mut Config, command: &Command) -> Result<(), Refusal> {
    let (monitor, at) = route(config, command)?;
    match at {
        Some(_) => Err(exists("routeMonitor", &shown(&monitor))),
        None => {
            config.ha_local.route_monitors.push(monitor);
            Ok(())
        }
    }
}

pub(super) fn unbind_ha_partner(config: &mut Config, command: &Command) -> Result<(), Refusal> {
    let (monitor, at) = route(config, command)?;
    let missing = || Refusal::NoSuch { argument: "routeMonitor", name: shown(&monitor), hint: Hint::Nothing };
    config.ha_local.route_monitors.remove(at.ok_or_else(missing)?);
    Ok(())
}

/// The route that a command names, and where it stands among those that are watched.
fn route(config: &Config, command: &Command) -> Result<(RouteMonitor, Option<usize>), Refusal> {
    is_local(config, command)?;
    let monitor = made::<RouteMonitor>(command);
    if monitor.network.is_none() {
        return Err(Refusal::ArgumentMissing { argument: "routeMonitor" });
    }
    let at = config.ha_local.route_monitors.iter().position(|other| *other == monitor);
    Ok((monitor, at))
}

fn shown(monitor: &RouteMonitor) -> String {
    monitor.network.map(|network| network.to_string()).unwrap_or_default()
}
