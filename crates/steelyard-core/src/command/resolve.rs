//! Names in a command to what they name in a configuration; changes nothing.

use std::collections::BTreeMap;
use std::net::IpAddr;

use super::catalogue::{Head, head};
use super::lex::Word;
use super::nearest::nearest;
use super::refusal::{Hint, Refusal};
use super::{Command, Object, Verb};
use crate::config::attribute::{Host, Place, Value};
use crate::config::{Config, Keyed, LbBinding, MonitorBinding, Server, ServiceType, Table};

/// The server that a command means.
pub(super) struct ResolvedHost {
    /// Its name.
    pub(super) name: String,
    /// The server that must be created for it.
    pub(super) new: Option<Server>,
}

/// The resource called `name`.
pub(super) fn such<'t, T: Keyed>(
    table: &'t Table<T>,
    argument: &'static str,
    name: &str,
) -> Result<&'t T, Refusal> {
    table.find(name).ok_or_else(|| no_such(argument, name))
}

/// 273 for `name`.
pub(super) fn exists(argument: &'static str, name: &str) -> Refusal {
    Refusal::Exists { argument, name: name.to_owned() }
}

/// Services and groups share their names, because `bind lb vserver` takes either.
pub(super) fn service_or_group_exists(
    config: &Config,
    argument: &'static str,
    name: &str,
) -> Result<(), Refusal> {
    match config.services.has(name) || config.service_groups.has(name) {
        true => Err(exists(argument, name)),
        false => Ok(()),
    }
}

/// The server of a service or member: one of that name, whatever its address is by now; for a bare address else the one
/// that has it, or a new one named by it (`spec/methods.md` 5.2).
pub(super) fn resolve_host(config: &Config, command: &Command) -> Result<ResolvedHost, Refusal> {
    let argument = "serverName";
    match command.value("servername") {
        Some(Value::Host(Host::Ip(ip))) => Ok(host_at(config, *ip)),
        Some(Value::Host(Host::Server(name))) => {
            let server = such(&config.servers, argument, name)?;
            Ok(ResolvedHost { name: server.name.clone(), new: None })
        }
        _ => Err(Refusal::ArgumentMissing { argument }),
    }
}

/// The server of a bare address.
pub(super) fn host_at(config: &Config, ip: IpAddr) -> ResolvedHost {
    let name = ip.to_string();
    match config.servers.find(&name).or_else(|| config.servers.find_at(&ip)) {
        Some(server) => ResolvedHost { name: server.name.clone(), new: None },
        None => ResolvedHost { new: Some(Server::at(name.clone(), ip)), name },
    }
}

/// What monitors are bound to, by its name.
pub(super) enum Monitored {
    /// A service.
    Service(String),
    /// A group.
    ServiceGroup(String),
}

impl Monitored {
    /// The monitors that are bound to it.
    pub(super) fn bound<'c>(&self, config: &'c Config) -> &'c [MonitorBinding] {
        match self {
            Monitored::Service(name) => config.services.find(name).map(|service| &service.monitors[..]),
            Monitored::ServiceGroup(name) => {
                config.service_groups.find(name).map(|group| &group.monitors[..])
            }
        }
        .unwrap_or_default()
    }

    /// Changes what is bound to it.
    pub(super) fn change(&self, config: &mut Config, change: impl FnOnce(&mut Vec<MonitorBinding>)) {
        match self {
            Monitored::Service(name) => config.services.change(name, |service| change(&mut service.monitors)),
            Monitored::ServiceGroup(name) => {
                config.service_groups.change(name, |group| change(&mut group.monitors));
            }
        }
    }
}

/// The service or group called `name`.
pub(super) fn monitored(config: &Config, name: &str) -> Result<Monitored, Refusal> {
    if let Some(service) = config.services.find(name) {
        return Ok(Monitored::Service(service.name.clone()));
    }
    match config.service_groups.find(name) {
        Some(group) => Ok(Monitored::ServiceGroup(group.name.clone())),
        None => Err(no_such("serviceName", name)),
    }
}

/// What `bind lb vserver` is to bind, and its protocol.
pub(super) fn target(config: &Config, command: &Command) -> Result<(LbBinding, ServiceType), Refusal> {
    let argument = "serviceName";
    let Some(Value::Text(name)) = command.value("servicename") else {
        return Err(Refusal::ArgumentMissing { argument });
    };
    let order = match command.value("order") {
        Some(Value::Number(order)) => Some(*order),
        _ => None,
    };
    if let Some(service) = config.services.find(name) {
        let weight = match command.value("weight") {
            Some(Value::Number(weight)) => *weight,
            _ => 1,
        };
        let binding = LbBinding::Service { name: service.name.clone(), weight, order };
        return Ok((binding, service.service_type));
    }
    match config.service_groups.find(name) {
        Some(_) if command.value("weight").is_some() => Err(Refusal::PrerequisiteMissing {
            argument: "weight",
            needs: "serviceName; the members of a group have weights of their own",
        }),
        Some(group) => Ok((LbBinding::ServiceGroup { name: group.name.clone(), order }, group.service_type)),
        None => Err(no_such(argument, name)),
    }
}

/// Is there an object of that name, of a kind on which nothing acts?
pub(super) fn is_stored(config: &Config, object: Object, name: &str) -> bool {
    match object {
        Object::CsVserver => config.cs_vservers.has(name),
        Object::CsPolicy => config.cs_policies.has(name),
        Object::CsAction => config.cs_actions.has(name),
        Object::SslCertKey => config.ssl_cert_keys.has(name),
        Object::LbProfile => config.lb_profiles.has(name),
        Object::HaPartner => config.ha_partners.has(name),
        _ => false,
    }
}

/// 258 for `name`. What could have been meant is looked for later, once for each line ([`Search`]).
fn no_such(argument: &'static str, name: &str) -> Refusal {
    Refusal::NoSuch { argument, name: name.to_owned(), hint: Hint::Nothing }
}

/// The names that something has since this command was applied, in lower case: its own, and that of the server that an
/// address stands for.
pub(super) fn added(command: &Command) -> Vec<String> {
    let mut names = Vec::new();
    for (row, value) in command.arguments() {
        match value {
            Value::Text(name) if command.verb() == Verb::Add && row.place == Place::Key => {
                names.push(name.to_ascii_lowercase());
            }
            Value::Text(name) if command.verb() == Verb::Rename && row.nitro == "newname" => {
                names.push(name.to_ascii_lowercase());
            }
            Value::Host(Host::Ip(ip)) if matches!(command.verb(), Verb::Add | Verb::Bind) => {
                names.push(ip.to_string());
            }
            _ => {}
        }
    }
    names
}

/// Looks for the names that could have been meant by those that nothing has; a file of nothing but wrong names must not
/// take the square of its length.
pub(super) struct Search {
    /// How many names may still be compared.
    left: usize,
    /// Names that refused lines would have added, in lower case, of what, and those lines.
    not_added: BTreeMap<String, Vec<(Object, usize)>>,
}

impl Default for Search {
    fn default() -> Search {
        Search { left: MOST_COMPARED, not_added: BTreeMap::new() }
    }
}

impl Search {
    /// Notes the name that a refused line would have added, if it adds one.
    pub(super) fn refused(&mut self, line: usize, words: &[Word]) {
        let Ok(Head::Command { verb: Verb::Add, object, used, .. }) = head(words, 0) else { return };
        if let Some(name) = words.get(used).filter(|word| !word.option) {
            self.not_added.entry(name.text.to_ascii_lowercase()).or_default().push((object, line));
        }
    }

    /// Completes the refusal of a command about `object`.
    pub(super) fn explain(&mut self, config: &Config, object: Object, refusal: &mut Refusal) {
        let Refusal::NoSuch { argument, name, hint } = refusal else { return };
        let not_added = self.not_added.get(&name.to_ascii_lowercase()).into_iter().flatten();
        let meant = meant(argument, object);
        if let Some((_, line)) = not_added.into_iter().find(|(added, _)| meant.contains(added)) {
            *hint = Hint::AddRefused(*line);
            return;
        }
        let known: Vec<&str> = names(config, object, argument).take(self.left.min(SEARCHED)).collect();
        self.left -= known.len();
        *hint = match nearest(name, known) {
            Some(same) if same.eq_ignore_ascii_case(name) => Hint::AddedLater,
            Some(nearest) => Hint::Nearest(nearest.to_owned()),
            None => Hint::Nothing,
        };
    }
}

/// What an argument names, in a command about `object`.
pub(super) fn meant(argument: &str, object: Object) -> &'static [Object] {
    match (argument, object) {
        ("serverName", _) | ("name", Object::Server) => &[Object::Server],
        ("serviceName", Object::SslService) => &[Object::Service],
        ("serviceName", _) => &[Object::Service, Object::ServiceGroup],
        ("serviceGroupName", _) => &[Object::ServiceGroup],
        ("monitorName", _) => &[Object::LbMonitor],
        ("name", Object::Service) => &[Object::Service],
        ("vServerName", Object::SslVserver) => &[Object::LbVserver, Object::CsVserver],
        ("name", Object::LbVserver)
        | ("vServerName" | "targetLBVserver" | "lbvserver" | "targetVserver" | "vServer", _) => {
            &[Object::LbVserver]
        }
        ("backupVServer", _) => &[Object::LbVserver, Object::CsVserver],
        ("lbprofilename", _) => &[Object::LbProfile],
        ("id", Object::HaPartner) => &[Object::HaPartner],
        ("name", Object::CsVserver) => &[Object::CsVserver],
        (
            "certkeyName" | "linkCertKeyName",
            Object::SslCertKey | Object::SslVserver | Object::SslService | Object::SslServiceGroup,
        ) => &[Object::SslCertKey],
        ("policyName", Object::CsVserver | Object::CsPolicy) => &[Object::CsPolicy],
        ("name", Object::CsAction) | ("action", Object::CsPolicy) => &[Object::CsAction],
        ("name", Object::LbGroup) => &[Object::LbGroup],
        ("IPAddress", Object::NsIp) => &[Object::NsIp],
        ("name", Object::NetProfile) | ("netProfile", _) => &[Object::NetProfile],
        ("userName", _) => &[Object::SystemUser],
        ("groupName", Object::SystemGroup) => &[Object::SystemGroup],
        ("policyName", Object::SystemUser | Object::SystemGroup | Object::SystemCmdPolicy) => {
            &[Object::SystemCmdPolicy]
        }
        _ => &[],
    }
}

/// The names that something has of the kind that an argument takes, in order of creation.
fn names<'c>(config: &'c Config, object: Object, argument: &str) -> Box<dyn Iterator<Item = &'c str> + 'c> {
    Box::new(meant(argument, object).iter().flat_map(|object| names_of(config, *object, None)))
}

/// The names of all objects of a kind in order of creation, or those that begin so, in the order of the alphabet.
pub(super) fn names_of<'c>(
    config: &'c Config,
    object: Object,
    start: Option<&str>,
) -> Box<dyn Iterator<Item = &'c str> + 'c> {
    fn of<'t, T: Keyed>(table: &'t Table<T>, start: Option<&str>) -> Box<dyn Iterator<Item = &'t str> + 't> {
        match start {
            None => Box::new(table.iter().map(Keyed::name)),
            Some(start) => Box::new(table.names_beginning(start)),
        }
    }
    match object {
        Object::Server => of(&config.servers, start),
        Object::Service => of(&config.services, start),
        Object::ServiceGroup => of(&config.service_groups, start),
        Object::LbMonitor => of(&config.lb_monitors, start),
        Object::LbVserver => of(&config.lb_vservers, start),
        Object::LbGroup => of(&config.lb_groups, start),
        Object::NsIp => of(&config.ns_ips, start),
        Object::NetProfile => of(&config.net_profiles, start),
        Object::SystemUser => of(&config.system_users, start),
        Object::SystemGroup => of(&config.system_groups, start),
        Object::SystemCmdPolicy => of(&config.system_cmd_policies, start),
        Object::CsVserver => of(&config.cs_vservers, start),
        Object::CsPolicy => of(&config.cs_policies, start),
        Object::CsAction => of(&config.cs_actions, start),
        Object::SslCertKey => of(&config.ssl_cert_keys, start),
        Object::LbProfile => of(&config.lb_profiles, start),
        Object::HaPartner => of(&config.ha_partners, start),
        _ => Box::new(std::iter::empty()),
    }
}

/// How many names one refusal is compared with.
const SEARCHED: usize = 1_000;
/// How many all refusals of a file are.
const MOST_COMPARED: usize = 2_000_000;
