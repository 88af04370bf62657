//! What is bound to monitors: the figures of a load monitor, certificates.

use super::monitor::changeable_of_any_type;
use super::{Done, made, name, only_one, text};
use crate::command::Command;
use crate::command::refusal::{Hint, Refusal};
use crate::command::resolve::exists;
use crate::config::{CertKeyBinding, Config, MetricBinding};

/// `bind lb monitor NAME (-metric METRIC -metricThreshold N [-metricWeight N] | -certkeyName KEY [-CA ...])`
pub(super) fn bind_part(config: &mut Config, command: &Command) -> Result<Done, Refusal> {
    let monitor = changeable_of_any_type(config, name(command))?;
    match only_one(command, &PARTS)? {
        "metric" => {
            let part = made::<MetricBinding>(command);
            if part.threshold.is_none() {
                return Err(Refusal::ArgumentMissing { argument: "metricThreshold" });
            }
            if monitor.metrics.iter().any(|other| other.metric.eq_ignore_ascii_case(&part.metric)) {
                return Err(exists("metric", &part.metric));
            }
            config.lb_monitors.change(name(command), |monitor| monitor.metrics.push(part));
        }
        _ => {
            let part = made::<CertKeyBinding>(command);
            if monitor.cert_keys.iter().any(|other| other.is_same(&part)) {
                return Err(exists("certkeyName", &part.cert_key));
            }
            config.lb_monitors.change(name(command), |monitor| monitor.cert_keys.push(part));
        }
    }
    Ok(Done::default())
}

/// `unbind lb monitor NAME (-metric METRIC | -certkeyName KEY [-CA])`
pub(super) fn unbind_part(config: &mut Config, command: &Command) -> Result<(), Refusal> {
    changeable_of_any_type(config, name(command))?;
    let (mut gone, what) = (false, only_one(command, &PARTS)?);
    let wanted = text(command, what).unwrap_or_default();
    let cert_key = made::<CertKeyBinding>(command);
    config.lb_monitors.change(name(command), |monitor| {
        let before = monitor.metrics.len() + monitor.cert_keys.len();
        match what {
            "metric" => monitor.metrics.retain(|metric| !metric.metric.eq_ignore_ascii_case(wanted)),
            _ => monitor.cert_keys.retain(|other| !other.is_same(&cert_key)),
        }
        gone = monitor.metrics.len() + monitor.cert_keys.len() < before;
    });
    let argument = PARTS.iter().find(|(nitro, _)| *nitro == what).map_or("metric", |(_, cli)| cli);
    match gone {
        true => Ok(()),
        false => Err(Refusal::NoSuch { argument, name: wanted.to_owned(), hint: Hint::Nothing }),
    }
}

/// What this command binds besides, if it is about no service.
pub(super) fn is_about_a_part(command: &Command) -> bool {
    PARTS.iter().any(|(nitro, _)| command.value(nitro).is_some())
}

/// By NITRO's name and the command line's.
const PARTS: [(&str, &str); 2] = [("metric", "metric"), ("certkeyname", "certkeyName")];
