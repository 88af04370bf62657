//! Monitors, and which of them a service or a group may have.

use super::monitor_options::check_options;
use super::monitor_parts::{bind_part, is_about_a_part};
use super::{Done, Warning, changed, made, name, text};
use crate::command::Command;
use crate::command::misfit::Misfit;
use crate::command::refusal::{Allowed, Refusal};
use crate::command::resolve::{exists, monitored, such};
use crate::config::attribute::{Resource, Value};
use crate::config::dns_name::wire_name;
use crate::config::escape::unescape;
use crate::config::expected::{Expected, Sought};
use crate::config::{Config, LbMonitor, MonitorBinding, MonitorType, TCP_DEFAULT, breaks_line};

pub(super) fn add_lb_monitor(config: &mut Config, command: &Command) -> Result<(), Refusal> {
    let monitor = made::<LbMonitor>(command);
    if config.lb_monitors.has(&monitor.name) {
        return Err(exists("monitorName", &monitor.name));
    }
    check_monitor(&monitor, command)?;
    config.lb_monitors.insert(monitor);
    Ok(())
}

pub(super) fn set_lb_monitor(config: &mut Config, command: &Command) -> Result<(), Refusal> {
    let monitor = changed(changeable(config, command)?, command);
    check_monitor(&monitor, command)?;
    config.lb_monitors.insert(monitor);
    Ok(())
}

/// The monitor of that name and type; not a default one, on which nothing is allowed.
pub(super) fn changeable<'c>(config: &'c Config, command: &Command) -> Result<&'c LbMonitor, Refusal> {
    let monitor = changeable_of_any_type(config, name(command))?;
    if command.value("type") != Some(&Value::Word(monitor.kind.text())) {
        return Err(Refusal::MonitorTypeDiffers { has: monitor.kind.text() });
    }
    Ok(monitor)
}

/// The monitor of that name; not a default one.
pub(super) fn changeable_of_any_type<'c>(config: &'c Config, name: &str) -> Result<&'c LbMonitor, Refusal> {
    let monitor = such(&config.lb_monitors, "monitorName", name)?;
    match LbMonitor::is_default(&monitor.name) {
        true => Err(Refusal::DefaultMonitor),
        false => Ok(monitor),
    }
}

/// `bind lb monitor MONITOR (SERVICE | GROUP)`, the old way to say `bind service SERVICE -monitorName MONITOR`; or what
/// is bound to the monitor itself.
pub(super) fn bind_lb_monitor(config: &mut Config, command: &Command) -> Result<Done, Refusal> {
    let Some(target) = text(command, "servicename") else { return bind_part(config, command) };
    if is_about_a_part(command) {
        return Err(Refusal::Exclusive { argument: "serviceName", other: "metric" });
    }
    let target = monitored(config, target)?;
    let asked = MonitorBinding { monitor: name(command).to_owned(), ..made(command) };
    let binding = checked_binding(config, target.bound(config), asked)?;
    target.change(config, |bound| bound.push(binding));
    Ok(Done { warnings: vec![Warning::Deprecated("serviceName")] })
}

/// `spec/methods.md` 4.1, 4.2.
pub(super) fn check_monitor(monitor: &LbMonitor, command: &Command) -> Result<(), Refusal> {
    check_options(monitor.kind, command)?;
    check_texts(monitor)?;
    if let Some(range) =
        monitor.resp_codes.iter().find(|range| range.low < 100 && monitor.kind.has_status_codes())
    {
        let (word, min) = (range.low.to_string(), "100".to_owned());
        return Err(Refusal::BelowMinimum { argument: "respCode", word, min });
    }
    let is_ftp = matches!(monitor.kind, MonitorType::Ftp | MonitorType::FtpExtended);
    let named = [("userName", &monitor.user), ("fileName", &monitor.file)];
    if let Some((argument, word)) = named.into_iter().find(|(_, word)| is_ftp && breaks_line(word)) {
        let allowed = Allowed::Such("a text without line breaks: FTP would take what follows for a command");
        return Err(Refusal::InvalidValue { argument, word: word.clone(), allowed, nearest: None });
    }
    if let Some(misfit) = misfit(monitor) {
        return Err(Refusal::Misfit(misfit));
    }
    let LbMonitor { retries, failure_retries, .. } = *monitor;
    let (interval_ms, resptimeout_ms) = (monitor.interval.ms(), monitor.resptimeout.ms());
    if resptimeout_ms >= interval_ms {
        let argument = if command.value("interval").is_some() { "interval" } else { "resptimeout" };
        return Err(Refusal::IntervalTooShort { argument, interval_ms, resptimeout_ms });
    }
    if failure_retries >= retries {
        let argument = if command.value("failureretries").is_some() { "failureRetries" } else { "retries" };
        return Err(Refusal::TooFewRetries { argument, retries, failure_retries });
    }
    Ok(())
}

/// What it is and no monitor of its type can be.
fn misfit(monitor: &LbMonitor) -> Option<Misfit> {
    let kind = monitor.kind;
    if monitor.secure && !kind.may_be_secure() {
        return Some(Misfit::NeverSecure { kind: kind.text() });
    }
    if monitor.lrtm == Some(true) && !kind.may_be_measured() {
        return Some(Misfit::NeverMeasured { kind: kind.text() });
    }
    if monitor.transparent && monitor.dest_ip.is_none() {
        return Some(Misfit::AddressMissing);
    }
    if monitor.tos && monitor.tos_id.is_none() {
        return Some(Misfit::TosIdMissing);
    }
    (kind == MonitorType::FtpExtended && monitor.file.is_empty()).then_some(Misfit::FileMissing)
}

/// What a monitor asks and what it expects.
fn check_texts(monitor: &LbMonitor) -> Result<(), Refusal> {
    if matches!(monitor.kind, MonitorType::Dns | MonitorType::DnsTcp) && wire_name(&monitor.query).is_none() {
        let (word, allowed) = (monitor.query.clone(), Allowed::Such("a domain name"));
        return Err(Refusal::InvalidValue { argument: "query", word, allowed, nearest: None });
    }
    if !matches!(monitor.kind, MonitorType::HttpEcv | MonitorType::TcpEcv | MonitorType::UdpEcv) {
        return Ok(());
    }
    let unreadable = |why| Refusal::InvalidExpression { argument: "recv", why };
    let expected = Expected::new(&monitor.receive).map_err(unreadable)?;
    let received = match expected.sought() {
        Sought::Bytes(text) => text.len(),
        Sought::Anything | Sought::Match { .. } => 0,
    };
    let lengths = [("send", unescape(&monitor.send).len(), MOST_SENT), ("recv", received, MOST_EXPECTED)];
    let too_long = lengths.iter().find(|(_, bytes, max)| bytes > max);
    match too_long.filter(|_| monitor.kind == MonitorType::TcpEcv) {
        Some(&(argument, _, max)) => Err(Refusal::TooLong { argument, max }),
        None => Ok(()),
    }
}

/// Bytes that TCP-ECV sends.
const MOST_SENT: usize = 512;
/// Bytes of text that it expects: 128 with the byte that ends it at the appliance.
const MOST_EXPECTED: usize = 127;

/// The binding that a command asks for, if the monitor may be bound beside those that are.
pub(super) fn monitor_binding(
    config: &Config,
    bound: &[MonitorBinding],
    command: &Command,
) -> Result<MonitorBinding, Refusal> {
    checked_binding(config, bound, made(command))
}

fn checked_binding(
    config: &Config,
    bound: &[MonitorBinding],
    asked: MonitorBinding,
) -> Result<MonitorBinding, Refusal> {
    let monitor = such(&config.lb_monitors, "monitorName", &asked.monitor)?;
    if monitor.name == TCP_DEFAULT {
        return Err(Refusal::DefaultMonitorBound);
    }
    if bound.iter().any(|other| other.monitor.eq_ignore_ascii_case(&monitor.name)) {
        return Err(Refusal::MonitorAlreadyBound);
    }
    if asked.passive && monitor.kind.text() != "LOAD" {
        return Err(Refusal::Misfit(Misfit::Passive { kind: monitor.kind.text() }));
    }
    Ok(MonitorBinding { monitor: monitor.name.clone(), ..asked })
}

pub(super) fn set_monitor_weight(
    bound: &mut [MonitorBinding],
    monitor: &str,
    weight: &Value,
) -> Result<(), Refusal> {
    match bound.iter_mut().find(|binding| binding.monitor.eq_ignore_ascii_case(monitor)) {
        Some(binding) => {
            binding.store("weight", weight);
            Ok(())
        }
        None => Err(Refusal::MonitorNotBound { name: monitor.to_owned() }),
    }
}
