//! The one place that changes a configuration.
//!
//! Every function here first checks all that it needs and then changes, so that a refused command leaves the
//! configuration as it was, and an accepted one leaves every reference in it pointing at something that exists.

mod bound_again;
mod clear;
mod cs_policy;
mod cs_vserver;
mod group;
mod ha_partner;
mod host;
mod lb_group;
mod lb_vserver;
mod monitor;
mod monitor_options;
mod monitor_parts;
mod protocols;
mod references;
mod remove;
mod ssl_cert_key;
mod switch;
mod system;
mod tls_settings;
mod unbind;
mod unset;
mod vservers;

use super::refusal::Refusal;
use super::resolve::{exists, such};
use super::{Command, Object, Verb};
use crate::config::attribute::{Change, Place, Resource, Value};
use crate::config::{Config, Keyed, NsHostName, SslService, SslServiceGroup, SslVserver, Table, Undoable};
pub use bound_again::bind_over;
pub use clear::{Level, clear};
use cs_policy::{add_cs_action, add_cs_policy, set_cs_action, set_cs_policy};
use cs_vserver::{add_cs_vserver, bind_cs_vserver, set_cs_vserver};
use group::{add_service_group, bind_service_group, set_service_group};
use ha_partner::{bind_ha_partner, set_ha_partner};
use host::{add_server, add_service, bind_service, set_server, set_service};
use lb_group::bind_lb_group;
use lb_vserver::{add_lb_vserver, bind_lb_vserver, set_lb_vserver};
use monitor::{add_lb_monitor, bind_lb_monitor, set_lb_monitor};
pub(super) use monitor_options::types_of_option;
pub(super) use protocols::has_method;
use remove::{rename, rm};
use ssl_cert_key::{
    add_ssl_cert_key, bind_ssl_cert_key, link_ssl_cert_key, set_ssl_cert_key, unlink_ssl_cert_key,
    update_ssl_cert_key,
};
use switch::switch;
use system::{add_cmd_policy, bind_system_group, bind_system_user, set_cmd_policy};
pub(super) use tls_settings::has_tls;
use tls_settings::{bind_settings, set_settings};
use unbind::unbind;
use unset::unset;

/// What an accepted command leaves to say.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Done {
    /// What the operator should know.
    pub warnings: Vec<Warning>,
}

/// Why an accepted command may not do what was meant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Warning {
    /// 1067: the object is kept, but this feature is not enabled.
    FeatureDisabled(&'static str),
    /// 1158: there is a newer way to say this.
    Deprecated(&'static str),
    /// 1093: a virtual server chooses by LRTM, and no monitor of some that are bound to it measures.
    Unmeasured {
        /// The virtual server.
        vserver: String,
        /// The services and groups, the first few by name.
        services: String,
    },
}

impl Warning {
    /// NITRO's error code.
    pub fn code(&self) -> u16 {
        match self {
            Warning::FeatureDisabled(_) => 1067,
            Warning::Deprecated(_) => 1158,
            Warning::Unmeasured { .. } => 1093,
        }
    }
}

impl std::fmt::Display for Warning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Warning::FeatureDisabled(feature) => write!(f, "Feature(s) not enabled [{feature}]"),
            Warning::Deprecated(argument) => write!(f, "Argument deprecated [{argument}]"),
            Warning::Unmeasured { vserver, services } => write!(
                f,
                "Argument pre-requisite missing [lbMethod LRTM of {vserver}: no monitor with -LRTM ENABLED measures {services}]"
            ),
        }
    }
}

/// Applies a command: all of it, or nothing.
///
/// # Errors
/// [`Refusal`] when the configuration does not allow the command. It is unchanged then.
pub fn apply(config: &mut Config, command: &Command) -> Result<Done, Refusal> {
    if let Some(argument) = command.plain() {
        let why = "it was not sealed".to_owned();
        return Err(Refusal::CannotSeal { argument: Some(argument), why });
    }
    match (command.verb(), command.object()) {
        (Verb::Add, Object::Server) => add_server(config, command)?,
        (Verb::Add, Object::Service) => add_service(config, command)?,
        (Verb::Add, Object::ServiceGroup) => add_service_group(config, command)?,
        (Verb::Add, Object::LbVserver) => return add_lb_vserver(config, command),
        (Verb::Add, Object::LbMonitor) => add_lb_monitor(config, command)?,
        (Verb::Add, Object::NsIp) => add(&mut config.ns_ips, "IPAddress", command)?,
        (Verb::Add, Object::LbGroup) => add(&mut config.lb_groups, "name", command)?,
        (Verb::Add, Object::CsVserver) => return add_cs_vserver(config, command),
        (Verb::Add, Object::CsPolicy) => return add_cs_policy(config, command),
        (Verb::Add, Object::CsAction) => return add_cs_action(config, command),
        (Verb::Add, Object::NetProfile) => add(&mut config.net_profiles, "name", command)?,
        (Verb::Add, Object::SystemUser) => add(&mut config.system_users, "userName", command)?,
        (Verb::Add, Object::SystemGroup) => add(&mut config.system_groups, "groupName", command)?,
        (Verb::Add, Object::SystemCmdPolicy) => add_cmd_policy(config, command)?,
        (Verb::Bind, Object::SystemUser) => bind_system_user(config, command)?,
        (Verb::Bind, Object::SystemGroup) => bind_system_group(config, command)?,
        (Verb::Bind, Object::Service) => bind_service(config, command)?,
        (Verb::Bind, Object::ServiceGroup) => bind_service_group(config, command)?,
        (Verb::Bind, Object::CsVserver) => bind_cs_vserver(config, command)?,
        (Verb::Add, Object::LbProfile) => add(&mut config.lb_profiles, "lbprofilename", command)?,
        (Verb::Add, Object::HaPartner) => add(&mut config.ha_partners, "id", command)?,
        (Verb::Bind, Object::HaPartner) => bind_ha_partner(config, command)?,
        (Verb::Add, Object::SslCertKey) => return add_ssl_cert_key(config, command),
        (Verb::Bind, Object::SslCertKey) => bind_ssl_cert_key(config, command)?,
        (Verb::Bind, Object::SslVserver) => return bind_settings::<SslVserver>(config, command),
        (Verb::Bind, Object::SslService) => return bind_settings::<SslService>(config, command),
        (Verb::Bind, Object::SslServiceGroup) => return bind_settings::<SslServiceGroup>(config, command),
        (Verb::Link, Object::SslCertKey) => link_ssl_cert_key(config, command)?,
        (Verb::Unlink, Object::SslCertKey) => unlink_ssl_cert_key(config, command)?,
        (Verb::Update, Object::SslCertKey) => update_ssl_cert_key(config, command)?,
        (Verb::Bind, Object::LbVserver) => bind_lb_vserver(config, command)?,
        (Verb::Set, _) if command.changes_nothing() => {
            return Err(Refusal::NothingToSet);
        }
        (Verb::Set, Object::Server) => set_server(config, command)?,
        (Verb::Set, Object::Service) => set_service(config, command)?,
        (Verb::Set, Object::ServiceGroup) => set_service_group(config, command)?,
        (Verb::Set, Object::CsVserver) => set_cs_vserver(config, command)?,
        (Verb::Set, Object::CsPolicy) => set_cs_policy(config, command)?,
        (Verb::Set, Object::CsAction) => set_cs_action(config, command)?,
        (Verb::Set, Object::LbProfile) => set(&mut config.lb_profiles, "lbprofilename", command)?,
        (Verb::Set, Object::HaPartner) => set_ha_partner(config, command)?,
        (Verb::Set, Object::SslCertKey) => set_ssl_cert_key(config, command)?,
        (Verb::Set, Object::SslVserver) => return set_settings::<SslVserver>(config, command),
        (Verb::Set, Object::SslService) => return set_settings::<SslService>(config, command),
        (Verb::Set, Object::SslServiceGroup) => return set_settings::<SslServiceGroup>(config, command),
        (Verb::Set, Object::LbVserver) => set_lb_vserver(config, command)?,
        (Verb::Set, Object::LbMonitor) => set_lb_monitor(config, command)?,
        (Verb::Set, Object::LbParameter) => {
            config.lb_parameter = changed(&config.lb_parameter, command);
        }
        (Verb::Set, Object::NsIp) => set(&mut config.ns_ips, "IPAddress", command)?,
        (Verb::Set, Object::LbGroup) => set(&mut config.lb_groups, "name", command)?,
        (Verb::Set, Object::NsConfig) => {
            config.ns_config = changed(&config.ns_config, command);
            config.ns_param = changed(&config.ns_param, command);
        }
        (Verb::Set, Object::NsParam) => config.ns_param = changed(&config.ns_param, command),
        (Verb::Set, Object::NsSpParams) => {
            config.ns_sp_params = changed(&config.ns_sp_params, command);
        }
        (Verb::Set, Object::NsHostName) => {
            let host = changed(&config.ns_host_name, command);
            config.ns_host_name = NsHostName { name: name(command).to_owned(), ..host };
        }
        (Verb::Set, Object::NetProfile) => set(&mut config.net_profiles, "name", command)?,
        (Verb::Set, Object::SystemUser) => set(&mut config.system_users, "userName", command)?,
        (Verb::Set, Object::SystemGroup) => set(&mut config.system_groups, "groupName", command)?,
        (Verb::Set, Object::SystemCmdPolicy) => set_cmd_policy(config, command)?,
        (Verb::Set, Object::SystemParameter) => {
            config.system_parameter = changed(&config.system_parameter, command);
        }
        (Verb::Bind, Object::LbGroup) => bind_lb_group(config, command)?,
        (Verb::Bind, Object::LbMonitor) => return bind_lb_monitor(config, command),
        (Verb::Unset, _) => unset(config, command)?,
        (Verb::Rm, _) => rm(config, command)?,
        (Verb::Unbind, _) => unbind(config, command)?,
        (Verb::Rename, _) => rename(config, command)?,
        (Verb::Enable, _) => switch(config, command, true)?,
        (Verb::Disable, _) => switch(config, command, false)?,
        (Verb::Show | Verb::Stat, _) => {}
        _ => return Err(command.unknown()),
    }
    Ok(Done::default())
}

/// Applies the commands that one line stands for: all of them, or nothing.
///
/// # Errors
/// [`Refusal`] of the first command that the configuration does not allow. It is unchanged then.
pub(super) fn apply_all(config: &mut Config, commands: &[Command]) -> Result<Done, Refusal> {
    if let [command] = commands {
        return apply(config, command);
    }
    config.tables().into_iter().for_each(Undoable::begin);
    let mut all = Done::default();
    for command in commands {
        match apply(config, command) {
            Ok(done) => {
                let new = done.warnings.into_iter().filter(|warning| !all.warnings.contains(warning));
                all.warnings.extend(new.collect::<Vec<_>>());
            }
            Err(refusal) => {
                config.tables().into_iter().for_each(Undoable::take_back);
                return Err(refusal);
            }
        }
    }
    config.tables().into_iter().for_each(Undoable::keep);
    Ok(all)
}

/// `add` of an object that nothing else has a say in.
fn add<T: Resource + Keyed + Default>(
    table: &mut Table<T>,
    key: &'static str,
    command: &Command,
) -> Result<(), Refusal> {
    let new = made::<T>(command);
    if table.has(new.name()) {
        return Err(exists(key, new.name()));
    }
    table.insert(new);
    Ok(())
}

/// What is to be said where something is kept whose feature is not enabled.
fn needs_feature(config: &Config, feature: &'static str) -> Done {
    let missing = (!config.features.has(feature)).then_some(Warning::FeatureDisabled(feature));
    Done { warnings: missing.into_iter().collect() }
}

/// `set` of such an object.
fn set<T: Resource + Keyed + Default + Clone>(
    table: &mut Table<T>,
    key: &'static str,
    command: &Command,
) -> Result<(), Refusal> {
    let asked = made::<T>(command);
    let changed = changed(such(table, key, asked.name())?, command);
    table.insert(changed);
    Ok(())
}

/// A new resource with what the command gives.
fn made<T: Resource + Default>(command: &Command) -> T {
    let mut resource = T::default();
    for (row, value) in command.arguments() {
        resource.store(row.nitro, value);
    }
    for nitro in T::BY_TYPE.iter().filter(|nitro| command.value(nitro).is_none()) {
        resource.default_by_type(nitro);
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

/// Which one of those arguments, by NITRO's name and the command line's, the command gives. They name what is bound, and
/// nothing is named by no text.
fn only_one(command: &Command, among: &[(&'static str, &'static str)]) -> Result<&'static str, Refusal> {
    let mut given = among.iter().filter(|(nitro, _)| command.value(nitro).is_some());
    match (given.next(), given.next(), among) {
        (Some((nitro, argument)), None, _) if text(command, nitro) == Some("") => {
            Err(Refusal::ValueMissing { argument })
        }
        (Some((nitro, _)), None, _) => Ok(nitro),
        (Some((_, other)), Some((_, argument)), _) => Err(Refusal::Exclusive { argument, other }),
        (None, _, [(_, argument), ..]) => Err(Refusal::ArgumentMissing { argument }),
        (None, _, []) => Err(Refusal::NothingToSet),
    }
}

/// What the command's object is called.
pub(super) fn name(command: &Command) -> &str {
    let key = command.arguments().find(|(row, _)| row.place == Place::Key);
    match key {
        Some((_, Value::Text(name))) => name,
        _ => "",
    }
}

/// Several names that the command gives.
fn names<'c>(command: &'c Command, nitro: &str) -> Vec<&'c str> {
    match command.value(nitro) {
        Some(Value::Names(names)) => names.iter().map(String::as_str).collect(),
        _ => Vec::new(),
    }
}

pub(super) fn text<'c>(command: &'c Command, nitro: &str) -> Option<&'c str> {
    match command.value(nitro) {
        Some(Value::Text(text)) => Some(text),
        _ => None,
    }
}
