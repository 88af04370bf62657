//! The one place that changes a configuration.
//!
//! Every function here first checks all that it needs and then changes, so that a refused command leaves the
//! configuration as it was, and an accepted one leaves every reference in it pointing at something that exists.

use super::refusal::Refusal;
use super::resolve::{exists, resolve_host, service_or_group_exists, such, target};
use super::{Command, Object, Verb};
use crate::config::attribute::{Change, Place, Resource, Value};
use crate::config::{
    Config, Features, LbBinding, LbMonitor, LbVserver, Member, MonitorBinding, MonitorType, Server, Service,
    ServiceGroup, TCP_DEFAULT,
};

/// What an accepted command leaves to say.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Done {
    /// What the operator should know.
    pub warnings: Vec<Warning>,
}

/// Why an accepted command may not do what was meant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Warning {
    /// 1067: the object is kept, but this feature is not enabled.
    FeatureDisabled(&'static str),
}

impl Warning {
    /// NITRO's error code.
    pub fn code(self) -> u16 {
        1067
    }
}

impl std::fmt::Display for Warning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Warning::FeatureDisabled(feature) = self;
        write!(f, "Feature(s) not enabled [{feature}]")
    }
}

/// Applies a command: all of it, or nothing.
///
/// # Errors
/// [`Refusal`] when the configuration does not allow the command. It is unchanged then.
pub fn apply(config: &mut Config, command: &Command) -> Result<Done, Refusal> {
    match (command.verb(), command.object()) {
        (Verb::Add, Object::Server) => add_server(config, command)?,
        (Verb::Add, Object::Service) => add_service(config, command)?,
        (Verb::Add, Object::ServiceGroup) => add_service_group(config, command)?,
        (Verb::Add, Object::LbVserver) => return add_lb_vserver(config, command),
        (Verb::Add, Object::LbMonitor) => add_lb_monitor(config, command)?,
        (Verb::Bind, Object::Service) => bind_service(config, command)?,
        (Verb::Bind, Object::ServiceGroup) => bind_service_group(config, command)?,
        (Verb::Bind, Object::LbVserver) => bind_lb_vserver(config, command)?,
        (Verb::Set, _) if command.arguments().all(|(row, _)| row.change == Change::AtAdd) => {
            return Err(Refusal::NothingToSet);
        }
        (Verb::Set, Object::Server) => set_server(config, command)?,
        (Verb::Set, Object::Service) => set_service(config, command)?,
        (Verb::Set, Object::ServiceGroup) => set_service_group(config, command)?,
        (Verb::Set, Object::LbVserver) => set_lb_vserver(config, command)?,
        (Verb::Set, Object::LbMonitor) => set_lb_monitor(config, command)?,
        (Verb::Set, Object::LbParameter) => {
            config.lb_parameter = changed(&config.lb_parameter, command);
        }
        (Verb::Enable, object) => switch(config, command, object, true)?,
        (Verb::Disable, object) => switch(config, command, object, false)?,
        (verb @ (Verb::Add | Verb::Bind | Verb::Set), object) => {
            let word = format!("{} {}", verb.text(), object.text());
            return Err(Refusal::UnknownCommand { word, nearest: None });
        }
    }
    Ok(Done::default())
}

fn add_server(config: &mut Config, command: &Command) -> Result<(), Refusal> {
    let server = made::<Server>(command);
    if config.servers.has(&server.name) {
        return Err(exists("name", &server.name));
    }
    free_server_address(config, &server)?;
    config.servers.insert(server);
    Ok(())
}

fn set_server(config: &mut Config, command: &Command) -> Result<(), Refusal> {
    let server = changed(such(&config.servers, "name", name(command))?, command);
    free_server_address(config, &server)?;
    config.servers.insert(server);
    Ok(())
}

fn free_server_address(config: &Config, server: &Server) -> Result<(), Refusal> {
    match config.servers.find_at(&server.ip) {
        Some(other) if !other.name.eq_ignore_ascii_case(&server.name) => {
            Err(Refusal::ServerExists { argument: "IPAddress", server: other.name.clone() })
        }
        _ => Ok(()),
    }
}

fn add_service(config: &mut Config, command: &Command) -> Result<(), Refusal> {
    let mut service = made::<Service>(command);
    service_or_group_exists(config, "name", &service.name)?;
    let host = resolve_host(config, command)?;
    host.name.clone_into(&mut service.server);
    let address = (service.server.to_ascii_lowercase(), service.port, service.service_type);
    if let Some(other) = config.services.find_at(&address) {
        return Err(Refusal::ServiceAddressTaken { service: other.name.clone() });
    }
    host.new.into_iter().for_each(|server| config.servers.insert(server));
    config.services.insert(service);
    Ok(())
}

/// `set service NAME [-weight WEIGHT MONITOR] ...`
fn set_service(config: &mut Config, command: &Command) -> Result<(), Refusal> {
    let mut service = changed(such(&config.services, "name", name(command))?, command);
    match (command.value("weight"), text(command, "monitor_name")) {
        (None, _) => {}
        (Some(_), None) => return Err(Refusal::ArgumentMissing { argument: "monitorName" }),
        (Some(weight), Some(monitor)) => set_monitor_weight(&mut service.monitors, monitor, weight)?,
    }
    config.services.insert(service);
    Ok(())
}

fn bind_service(config: &mut Config, command: &Command) -> Result<(), Refusal> {
    let service = such(&config.services, "name", name(command))?;
    if command.value("monitor_name").is_none() {
        return Err(Refusal::ArgumentMissing { argument: "monitorName" });
    }
    let binding = monitor_binding(config, &service.monitors, command)?;
    config.services.change(name(command), |service| service.monitors.push(binding));
    Ok(())
}

fn add_service_group(config: &mut Config, command: &Command) -> Result<(), Refusal> {
    let group = made::<ServiceGroup>(command);
    service_or_group_exists(config, "serviceGroupName", &group.name)?;
    config.service_groups.insert(group);
    Ok(())
}

/// `set serviceGroup NAME [SERVER PORT -weight WEIGHT | -monitorName MONITOR -weight WEIGHT] ...`
fn set_service_group(config: &mut Config, command: &Command) -> Result<(), Refusal> {
    let mut group = changed(such(&config.service_groups, "serviceGroupName", name(command))?, command);
    let member = member_index(config, &group, command)?;
    match (command.value("weight"), member, text(command, "monitor_name")) {
        (_, Some(_), Some(_)) => {
            return Err(Refusal::Exclusive { argument: "monitorName", other: "serverName" });
        }
        (Some(weight), Some(member), None) => group.members[member].store("weight", weight),
        (Some(weight), None, Some(monitor)) => set_monitor_weight(&mut group.monitors, monitor, weight)?,
        (None, None, None) => {}
        (None, _, _) => return Err(Refusal::ArgumentMissing { argument: "weight" }),
        (Some(_), None, None) => {
            let needs = "a member (serverName and port) or monitorName";
            return Err(Refusal::PrerequisiteMissing { argument: "weight", needs });
        }
    }
    config.service_groups.insert(group);
    Ok(())
}

/// `bind serviceGroup NAME (SERVER PORT | -monitorName MONITOR) ...`
fn bind_service_group(config: &mut Config, command: &Command) -> Result<(), Refusal> {
    let group = such(&config.service_groups, "serviceGroupName", name(command))?;
    match (command.value("servername"), command.value("monitor_name")) {
        (Some(_), Some(_)) => Err(Refusal::Exclusive { argument: "monitorName", other: "serverName" }),
        (None, None) => Err(Refusal::ArgumentMissing { argument: "serverName" }),
        (Some(_), None) => bind_member(config, command),
        (None, Some(_)) if command.value("state").is_some() => {
            Err(Refusal::PrerequisiteMissing { argument: "state", needs: "a member (serverName and port)" })
        }
        (None, Some(_)) => {
            let binding = monitor_binding(config, &group.monitors, command)?;
            config.service_groups.change(name(command), |group| group.monitors.push(binding));
            Ok(())
        }
    }
}

fn bind_member(config: &mut Config, command: &Command) -> Result<(), Refusal> {
    if command.value("port").is_none() {
        return Err(Refusal::ArgumentMissing { argument: "port" });
    }
    if command.value("monstate").is_some() {
        return Err(Refusal::PrerequisiteMissing { argument: "monState", needs: "monitorName" });
    }
    let group = such(&config.service_groups, "serviceGroupName", name(command))?;
    let host = resolve_host(config, command)?;
    let member = Member { server: host.name, ..made(command) };
    if group.members.iter().any(|other| same_member(other, &member)) {
        return Err(exists("serverName", &member.server));
    }
    host.new.into_iter().for_each(|server| config.servers.insert(server));
    config.service_groups.change(name(command), |group| group.members.push(member));
    Ok(())
}

/// Which member the words SERVER and PORT name, if they are given.
fn member_index(config: &Config, group: &ServiceGroup, command: &Command) -> Result<Option<usize>, Refusal> {
    if command.value("servername").is_none() {
        return match command.value("port") {
            Some(_) => Err(Refusal::ArgumentMissing { argument: "serverName" }),
            None => Ok(None),
        };
    }
    if command.value("port").is_none() {
        return Err(Refusal::ArgumentMissing { argument: "port" });
    }
    let wanted = Member { server: resolve_host(config, command)?.name, ..made(command) };
    match group.members.iter().position(|member| same_member(member, &wanted)) {
        Some(index) => Ok(Some(index)),
        None => Err(Refusal::NoSuch {
            argument: "serverName",
            name: format!("{}:{}", wanted.server, wanted.port),
            nearest: None,
        }),
    }
}

fn same_member(one: &Member, other: &Member) -> bool {
    one.port == other.port && one.server.eq_ignore_ascii_case(&other.server)
}

fn add_lb_vserver(config: &mut Config, command: &Command) -> Result<Done, Refusal> {
    let vserver = made::<LbVserver>(command);
    if config.lb_vservers.has(&vserver.name) {
        return Err(exists("name", &vserver.name));
    }
    if vserver.ip.is_some() && command.value("port").is_none() {
        return Err(Refusal::ArgumentMissing { argument: "port" });
    }
    if vserver.ip.is_none() && command.value("port").is_some() {
        return Err(Refusal::ArgumentMissing { argument: "IPAddress" });
    }
    let vserver = checked_vserver(config, vserver)?;
    config.lb_vservers.insert(vserver);
    let enabled = config.features.has(Features::LB);
    let warnings = if enabled { Vec::new() } else { vec![Warning::FeatureDisabled(Features::LB)] };
    Ok(Done { warnings })
}

/// `set lb vserver NAME [-weight WEIGHT SERVICE] ...`
fn set_lb_vserver(config: &mut Config, command: &Command) -> Result<(), Refusal> {
    let changed = changed(such(&config.lb_vservers, "name", name(command))?, command);
    let mut vserver = checked_vserver(config, changed)?;
    match (command.value("weight"), text(command, "servicename")) {
        (None, _) => {}
        (Some(_), None) => return Err(Refusal::ArgumentMissing { argument: "serviceName" }),
        (Some(Value::Number(new)), Some(service)) => {
            let bound = vserver.bindings.iter_mut().find_map(|binding| match binding {
                LbBinding::Service { name, weight } if name.eq_ignore_ascii_case(service) => Some(weight),
                _ => None,
            });
            let not_bound = || Refusal::NotBound { argument: "serviceName", name: service.to_owned() };
            *bound.ok_or_else(not_bound)? = *new;
        }
        (Some(_), Some(_)) => return Err(Refusal::ValueMissing { argument: "weight" }),
    }
    config.lb_vservers.insert(vserver);
    Ok(())
}

/// A virtual server that may take its place in the configuration.
fn checked_vserver(config: &Config, mut vserver: LbVserver) -> Result<LbVserver, Refusal> {
    if !vserver.lb_method.suits(vserver.service_type) {
        return Err(Refusal::MethodForType { method: vserver.lb_method.text() });
    }
    if vserver.port == 0 {
        if vserver.ip.is_some_and(|ip| !ip.is_unspecified()) {
            let needs = "a port other than 0";
            return Err(Refusal::PrerequisiteMissing { argument: "IPAddress", needs });
        }
        vserver.ip = None;
    }
    match vserver.address().and_then(|address| config.lb_vservers.find_at(&address)) {
        Some(other) if !other.name.eq_ignore_ascii_case(&vserver.name) => {
            Err(Refusal::AddressInUse { argument: "IPAddress", vserver: other.name.clone() })
        }
        _ => Ok(vserver),
    }
}

/// `bind lb vserver NAME (SERVICE [-weight WEIGHT] | GROUP)`
fn bind_lb_vserver(config: &mut Config, command: &Command) -> Result<(), Refusal> {
    let vserver = such(&config.lb_vservers, "name", name(command))?;
    let (binding, service_type) = target(config, command)?;
    if service_type != vserver.service_type {
        return Err(Refusal::TypeMismatch { argument: "serviceName" });
    }
    if vserver.bindings.iter().any(|other| other.name().eq_ignore_ascii_case(binding.name())) {
        return Err(exists("serviceName", binding.name()));
    }
    config.lb_vservers.change(name(command), |vserver| vserver.bindings.push(binding));
    Ok(())
}

fn add_lb_monitor(config: &mut Config, command: &Command) -> Result<(), Refusal> {
    let monitor = made::<LbMonitor>(command);
    if config.lb_monitors.has(&monitor.name) {
        return Err(exists("monitorName", &monitor.name));
    }
    check_monitor(&monitor, command)?;
    config.lb_monitors.insert(monitor);
    Ok(())
}

fn set_lb_monitor(config: &mut Config, command: &Command) -> Result<(), Refusal> {
    let monitor = such(&config.lb_monitors, "monitorName", name(command))?;
    if monitor.name == TCP_DEFAULT {
        return Err(Refusal::DefaultMonitor);
    }
    if command.value("type") != Some(&Value::Word(monitor.kind.text())) {
        return Err(Refusal::MonitorTypeDiffers { has: monitor.kind.text() });
    }
    let monitor = changed(monitor, command);
    check_monitor(&monitor, command)?;
    config.lb_monitors.insert(monitor);
    Ok(())
}

/// `spec/methods.md` 4.1, 4.2.
fn check_monitor(monitor: &LbMonitor, command: &Command) -> Result<(), Refusal> {
    if monitor.kind != MonitorType::Http {
        let of_http = command.arguments().find(|(row, _)| HTTP_ALONE.contains(&row.nitro));
        if let Some((row, _)) = of_http {
            return Err(Refusal::PrerequisiteMissing { argument: row.cli, needs: "a monitor of type HTTP" });
        }
    }
    let LbMonitor { interval_ms, resptimeout_ms, retries, failure_retries, .. } = *monitor;
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

/// The binding that a command asks for, if the monitor may be bound beside those that are.
fn monitor_binding(
    config: &Config,
    bound: &[MonitorBinding],
    command: &Command,
) -> Result<MonitorBinding, Refusal> {
    let asked = made::<MonitorBinding>(command);
    if BUILT_IN_ELSEWHERE.iter().any(|other| other.eq_ignore_ascii_case(&asked.monitor))
        && !config.lb_monitors.has(&asked.monitor)
    {
        let carried = &["tcp", "http"];
        return Err(Refusal::NotCarried { argument: Some("monitorName"), what: asked.monitor, carried });
    }
    let monitor = such(&config.lb_monitors, "monitorName", &asked.monitor)?;
    if monitor.name == TCP_DEFAULT {
        return Err(Refusal::DefaultMonitorBound);
    }
    if bound.iter().any(|other| other.monitor.eq_ignore_ascii_case(&monitor.name)) {
        return Err(Refusal::MonitorAlreadyBound);
    }
    Ok(MonitorBinding { monitor: monitor.name.clone(), ..asked })
}

fn set_monitor_weight(bound: &mut [MonitorBinding], monitor: &str, weight: &Value) -> Result<(), Refusal> {
    match bound.iter_mut().find(|binding| binding.monitor.eq_ignore_ascii_case(monitor)) {
        Some(binding) => {
            binding.store("weight", weight);
            Ok(())
        }
        None => Err(Refusal::MonitorNotBound { name: monitor.to_owned() }),
    }
}

/// `enable` and `disable`.
fn switch(config: &mut Config, command: &Command, object: Object, on: bool) -> Result<(), Refusal> {
    let name = name(command);
    match object {
        Object::Server => {
            such(&config.servers, "name", name)?;
            config.servers.change(name, |server| server.enabled = on);
        }
        Object::Service => {
            such(&config.services, "name", name)?;
            config.services.change(name, |service| service.enabled = on);
        }
        Object::ServiceGroup => {
            let group = such(&config.service_groups, "serviceGroupName", name)?;
            let member = member_index(config, group, command)?;
            config.service_groups.change(name, |group| match member {
                Some(member) => group.members[member].enabled = on,
                None => group.enabled = on,
            });
        }
        Object::LbVserver => {
            such(&config.lb_vservers, "name", name)?;
            config.lb_vservers.change(name, |vserver| vserver.enabled = on);
        }
        Object::NsFeature => match command.value("feature") {
            Some(Value::WordList(features)) => config.features.switch(features, on),
            _ => return Err(Refusal::ArgumentMissing { argument: "feature" }),
        },
        Object::LbMonitor | Object::LbParameter => {
            let word = format!("{} {}", command.verb().text(), object.text());
            return Err(Refusal::UnknownCommand { word, nearest: None });
        }
    }
    Ok(())
}

/// A new resource with what the command gives.
fn made<T: Resource + Default>(command: &Command) -> T {
    let mut resource = T::default();
    for (row, value) in command.arguments() {
        resource.store(row.nitro, value);
    }
    resource
}

/// The same resource with what the command changes.
fn changed<T: Resource + Clone>(resource: &T, command: &Command) -> T {
    let mut changed = resource.clone();
    for (row, value) in command.arguments().filter(|(row, _)| row.change == Change::Later) {
        changed.store(row.nitro, value);
    }
    changed
}

/// What the command's object is called.
fn name(command: &Command) -> &str {
    let key = command.arguments().find(|(row, _)| row.place == Place::Key);
    match key {
        Some((_, Value::Text(name))) => name,
        _ => "",
    }
}

fn text<'c>(command: &'c Command, nitro: &str) -> Option<&'c str> {
    match command.value(nitro) {
        Some(Value::Text(text)) => Some(text),
        _ => None,
    }
}

/// NITRO's names of what only an HTTP monitor has.
const HTTP_ALONE: &[&str] = &["respcode", "httprequest", "customheaders"];
/// NetScaler's built-in monitors that this version does not carry.
const BUILT_IN_ELSEWHERE: &[&str] = &[
    "arp",
    "dns",
    "dns-tcp",
    "ftp",
    "http-ecv",
    "https",
    "https-ecv",
    "ldns-dns",
    "ldns-ping",
    "ldns-tcp",
    "nd6",
    "ping",
    "ping-default",
    "sta",
    "stasecure",
    "tcp-ecv",
    "tcps",
    "tcps-ecv",
    "udp-ecv",
    "xdm",
    "xnc",
];
