//! TLS of virtual servers, services and groups. There is one for each that has TLS; it stands in the configuration while
//! anything is said of it.

use super::unset::without;
use super::vservers::{bound_policy, policy_to_bind};
use super::{Done, changed, made, name, needs_feature, only_one, text};
use crate::command::refusal::{Allowed, Hint, Refusal};
use crate::command::resolve::{exists, such};
use crate::command::{Command, Object};
use crate::config::attribute::Resource;
use crate::config::{
    ALL_CURVES, CertKeyBinding, Choice, Config, DEFAULT_CIPHERS, Features, Keyed, PolicyBinding, ServiceType,
    SslService, SslServiceGroup, SslVserver, Table, TlsBindings,
};

/// TLS of one kind of object.
pub(super) trait TlsSettings: Resource + Keyed + Default + Clone + PartialEq + 'static {
    /// The argument that names the object.
    const ARGUMENT: &'static str;

    /// The object of that name, and its protocol.
    fn owner<'c>(config: &'c Config, name: &str) -> Option<(&'c str, ServiceType)>;
    /// TLS of those objects of which anything was said.
    fn table(config: &mut Config) -> &mut Table<Self>;
    /// Gives it the name of its object.
    fn call(&mut self, name: &str);
    /// What is bound for it.
    fn bound(&mut self) -> &mut TlsBindings;
}

impl TlsSettings for SslVserver {
    const ARGUMENT: &'static str = "vServerName";

    fn owner<'c>(config: &'c Config, name: &str) -> Option<(&'c str, ServiceType)> {
        let lb = config.lb_vservers.find(name).map(|vserver| (&*vserver.name, vserver.service_type));
        let cs = || config.cs_vservers.find(name).map(|vserver| (&*vserver.name, vserver.service_type));
        lb.or_else(cs)
    }

    fn table(config: &mut Config) -> &mut Table<SslVserver> {
        &mut config.ssl_vservers
    }

    fn call(&mut self, name: &str) {
        name.clone_into(&mut self.name);
    }

    fn bound(&mut self) -> &mut TlsBindings {
        &mut self.bound
    }
}

impl TlsSettings for SslService {
    const ARGUMENT: &'static str = "serviceName";

    fn owner<'c>(config: &'c Config, name: &str) -> Option<(&'c str, ServiceType)> {
        config.services.find(name).map(|service| (&*service.name, service.service_type))
    }

    fn table(config: &mut Config) -> &mut Table<SslService> {
        &mut config.ssl_services
    }

    fn call(&mut self, name: &str) {
        name.clone_into(&mut self.name);
    }

    fn bound(&mut self) -> &mut TlsBindings {
        &mut self.bound
    }
}

impl TlsSettings for SslServiceGroup {
    const ARGUMENT: &'static str = "serviceGroupName";

    fn owner<'c>(config: &'c Config, name: &str) -> Option<(&'c str, ServiceType)> {
        config.service_groups.find(name).map(|group| (&*group.name, group.service_type))
    }

    fn table(config: &mut Config) -> &mut Table<SslServiceGroup> {
        &mut config.ssl_service_groups
    }

    fn call(&mut self, name: &str) {
        name.clone_into(&mut self.name);
    }

    fn bound(&mut self) -> &mut TlsBindings {
        &mut self.bound
    }
}

/// Does a virtual server, a service or a group of that name, whichever the object is about, have TLS? True of other objects.
pub(in crate::command) fn has_tls(config: &Config, object: Object, name: &str) -> bool {
    let owner = match object {
        Object::SslVserver => SslVserver::owner(config, name),
        Object::SslService => SslService::owner(config, name),
        Object::SslServiceGroup => SslServiceGroup::owner(config, name),
        _ => return true,
    };
    owner.is_some_and(|(_, service_type)| service_type.has_tls())
}

/// TLS of the object that the command names, as it is now.
pub(super) fn settings<T: TlsSettings>(config: &mut Config, command: &Command) -> Result<T, Refusal> {
    let name = name(command);
    let owner = T::owner(config, name).filter(|(_, service_type)| service_type.has_tls());
    let Some(name) = owner.map(|(name, _)| name.to_owned()) else { return Err(missing(T::ARGUMENT, name)) };
    Ok(T::table(config).find(&name).cloned().unwrap_or_else(|| {
        let mut fresh = T::default();
        fresh.call(&name);
        fresh
    }))
}

/// Puts it back, unless nothing is said of it any more.
pub(super) fn put_settings<T: TlsSettings>(config: &mut Config, settings: T) {
    match settings == settings.fresh() {
        true => drop(T::table(config).remove(settings.name())),
        false => T::table(config).insert(settings),
    }
}

/// Gives it its object's new name.
pub(super) fn rename_settings<T: TlsSettings>(config: &mut Config, old: &str, new: &str) {
    if let Some(mut settings) = T::table(config).find(old).cloned() {
        settings.call(new);
        T::table(config).replace(old, settings);
    }
}

pub(super) fn set_settings<T: TlsSettings>(config: &mut Config, command: &Command) -> Result<Done, Refusal> {
    let settings = changed(&settings::<T>(config, command)?, command);
    put_settings(config, settings);
    Ok(needs_feature(config, Features::SSL))
}

pub(super) fn unset_settings<T: TlsSettings>(config: &mut Config, command: &Command) -> Result<(), Refusal> {
    let settings = without(&settings::<T>(config, command)?, command);
    put_settings(config, settings);
    Ok(())
}

/// `bind ssl vserver|service|serviceGroup NAME (-certkeyName PAIR ... | -cipherName CIPHER | -eccCurveName CURVE | -policyName POLICY ...)`
pub(super) fn bind_settings<T: TlsSettings>(config: &mut Config, command: &Command) -> Result<Done, Refusal> {
    let mut settings = settings::<T>(config, command)?;
    let bound = settings.bound();
    match what(command)? {
        "certkeyname" => {
            let binding = made::<CertKeyBinding>(command);
            such(&config.ssl_cert_keys, "certkeyName", &binding.cert_key)?;
            if bound.cert_keys.iter().any(|other| other.is_same(&binding)) {
                return Err(exists("certkeyName", &binding.cert_key));
            }
            bound.cert_keys.push(binding);
        }
        "policyname" => {
            let binding = policy_to_bind(&bound.policies, command)?;
            if !LABEL_TYPES.contains(&binding.label_type) {
                let (word, allowed) = (binding.label_type.to_owned(), Allowed::Words(&LABEL_TYPES[1..]));
                return Err(Refusal::InvalidValue { argument: "invoke", word, allowed, nearest: None });
            }
            bound.policies.push(binding);
        }
        "ciphername" => choose(&mut bound.ciphers, DEFAULT_CIPHERS, chosen(command, "ciphername")),
        _ => choose(&mut bound.curves, ALL_CURVES, chosen(command, "ecccurvename")),
    }
    put_settings(config, settings);
    Ok(needs_feature(config, Features::SSL))
}

/// `unbind ssl vserver|service|serviceGroup NAME (-certkeyName PAIR [-CA | -SNICert] | -cipherName CIPHER | -eccCurveName CURVE | -policyName POLICY)`
pub(super) fn unbind_settings<T: TlsSettings>(config: &mut Config, command: &Command) -> Result<(), Refusal> {
    let mut settings = settings::<T>(config, command)?;
    let bound = settings.bound();
    match what(command)? {
        "certkeyname" => {
            let binding = made::<CertKeyBinding>(command);
            let at = bound.cert_keys.iter().position(|other| other.is_same(&binding));
            bound.cert_keys.remove(at.ok_or_else(|| missing("certkeyName", &binding.cert_key))?);
        }
        "policyname" => drop(bound.policies.remove(&bound_policy(&bound.policies, command)?)),
        "ciphername" => {
            leave_out(&mut bound.ciphers, DEFAULT_CIPHERS, "cipherName", chosen(command, "ciphername"))?
        }
        _ => {
            let curve = chosen(command, "ecccurvename");
            leave_out(&mut bound.curves, ALL_CURVES, "eccCurveName", curve)?;
            if curve.eq_ignore_ascii_case(ALL_CURVES) {
                bound.curves.names.clear();
            }
        }
    }
    put_settings(config, settings);
    Ok(())
}

/// Which of the things that can be bound the command is about; what belongs to another is refused.
fn what(command: &Command) -> Result<&'static str, Refusal> {
    let what = only_one(command, &BOUND)?;
    let of = |nitro: &str| match nitro {
        _ if CertKeyBinding::rows().any(|row| row.nitro == nitro) => Some(("certkeyname", "certkeyName")),
        _ if PolicyBinding::rows().any(|row| row.nitro == nitro) => Some(("policyname", "policyName")),
        _ => None,
    };
    for (row, _) in command.arguments() {
        if let Some((_, needs)) = of(row.nitro).filter(|(owner, _)| *owner != what) {
            return Err(Refusal::PrerequisiteMissing { argument: row.cli, needs });
        }
    }
    Ok(what)
}

fn chosen<'c>(command: &'c Command, nitro: &str) -> &'c str {
    text(command, nitro).unwrap_or_default()
}

/// What is bound already stays where it is.
fn choose(choice: &mut Choice, default: &str, name: &str) {
    if name.eq_ignore_ascii_case(default) {
        choice.without_default = false;
    } else if !choice.names.iter().any(|other| other.eq_ignore_ascii_case(name)) {
        choice.names.push(name.to_owned());
    }
}

fn leave_out(choice: &mut Choice, default: &str, argument: &'static str, name: &str) -> Result<(), Refusal> {
    if name.eq_ignore_ascii_case(default) {
        choice.without_default = true;
        return Ok(());
    }
    let at = choice.names.iter().position(|other| other.eq_ignore_ascii_case(name));
    choice.names.remove(at.ok_or_else(|| missing(argument, name))?);
    Ok(())
}

fn missing(argument: &'static str, name: &str) -> Refusal {
    Refusal::NoSuch { argument, name: name.to_owned(), hint: Hint::Nothing }
}

/// Kinds of labels that a policy can invoke here, and none.
const LABEL_TYPES: &[&str] = &["", "policylabel"];

/// What can be bound for TLS, by NITRO's name and the command line's.
const BOUND: [(&str, &str); 4] = [
    ("certkeyname", "certkeyName"),
    ("ciphername", "cipherName"),
    ("ecccurvename", "eccCurveName"),
    ("policyname", "policyName"),
];
