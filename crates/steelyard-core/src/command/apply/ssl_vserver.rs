//! TLS of virtual servers. There is one for each that has TLS; it stands in the configuration while anything is said of it.

use super::vservers::{bound_policy, policy_to_bind};
use super::{Done, changed, made, name, needs_feature, only_one, text};
use crate::command::Command;
use crate::command::refusal::{Allowed, Hint, Refusal};
use crate::command::resolve::{exists, such};
use crate::config::attribute::Resource;
use crate::config::{
    ALL_CURVES, CertKeyBinding, Choice, Config, DEFAULT_CIPHERS, Features, PolicyBinding, SslVserver,
};

/// TLS of the virtual server that the command names, as it is now.
pub(super) fn ssl_vserver(config: &Config, command: &Command) -> Result<SslVserver, Refusal> {
    let name = name(command);
    let lb = config.lb_vservers.find(name).map(|vserver| (&vserver.name, vserver.service_type));
    let cs = || config.cs_vservers.find(name).map(|vserver| (&vserver.name, vserver.service_type));
    match lb.or_else(cs).filter(|(_, service_type)| service_type.has_tls()) {
        Some((name, _)) => {
            let fresh = || SslVserver { name: name.clone(), ..SslVserver::default() };
            Ok(config.ssl_vservers.find(name).cloned().unwrap_or_else(fresh))
        }
        None => Err(Refusal::NoSuch { argument: "vServerName", name: name.to_owned(), hint: Hint::Nothing }),
    }
}

/// Puts it back, unless nothing is said of it any more.
pub(super) fn put_ssl_vserver(config: &mut Config, vserver: SslVserver) {
    match vserver == (SslVserver { name: vserver.name.clone(), ..SslVserver::default() }) {
        true => drop(config.ssl_vservers.remove(&vserver.name)),
        false => config.ssl_vservers.insert(vserver),
    }
}

pub(super) fn set_ssl_vserver(config: &mut Config, command: &Command) -> Result<Done, Refusal> {
    let vserver = changed(&ssl_vserver(config, command)?, command);
    put_ssl_vserver(config, vserver);
    Ok(needs_feature(config, Features::SSL))
}

/// `bind ssl vserver NAME (-certkeyName PAIR ... | -cipherName CIPHER | -eccCurveName CURVE | -policyName POLICY ...)`
pub(super) fn bind_ssl_vserver(config: &mut Config, command: &Command) -> Result<Done, Refusal> {
    let mut vserver = ssl_vserver(config, command)?;
    match what(command)? {
        "certkeyname" => {
            let binding = made::<CertKeyBinding>(command);
            such(&config.ssl_cert_keys, "certkeyName", &binding.cert_key)?;
            if vserver.cert_keys.iter().any(|other| other.is_same(&binding)) {
                return Err(exists("certkeyName", &binding.cert_key));
            }
            vserver.cert_keys.push(binding);
        }
        "policyname" => {
            let binding = policy_to_bind(&vserver.policies, command)?;
            if !LABEL_TYPES.contains(&binding.label_type) {
                let (word, allowed) = (binding.label_type.to_owned(), Allowed::Words(&LABEL_TYPES[1..]));
                return Err(Refusal::InvalidValue { argument: "invoke", word, allowed, nearest: None });
            }
            vserver.policies.push(binding);
        }
        "ciphername" => choose(&mut vserver.ciphers, DEFAULT_CIPHERS, chosen(command, "ciphername")),
        _ => choose(&mut vserver.curves, ALL_CURVES, chosen(command, "ecccurvename")),
    }
    put_ssl_vserver(config, vserver);
    Ok(needs_feature(config, Features::SSL))
}

/// `unbind ssl vserver NAME (-certkeyName PAIR [-CA | -SNICert] | -cipherName CIPHER | -eccCurveName CURVE | -policyName POLICY)`
pub(super) fn unbind_ssl_vserver(config: &mut Config, command: &Command) -> Result<(), Refusal> {
    let mut vserver = ssl_vserver(config, command)?;
    match what(command)? {
        "certkeyname" => {
            let binding = made::<CertKeyBinding>(command);
            let at = vserver.cert_keys.iter().position(|other| other.is_same(&binding));
            vserver.cert_keys.remove(at.ok_or_else(|| missing("certkeyName", &binding.cert_key))?);
        }
        "policyname" => drop(vserver.policies.remove(&bound_policy(&vserver.policies, command)?)),
        "ciphername" => {
            leave_out(&mut vserver.ciphers, DEFAULT_CIPHERS, "cipherName", chosen(command, "ciphername"))?
        }
        _ => {
            let curve = chosen(command, "ecccurvename");
            leave_out(&mut vserver.curves, ALL_CURVES, "eccCurveName", curve)?;
            if curve.eq_ignore_ascii_case(ALL_CURVES) {
                vserver.curves.names.clear();
            }
        }
    }
    put_ssl_vserver(config, vserver);
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
