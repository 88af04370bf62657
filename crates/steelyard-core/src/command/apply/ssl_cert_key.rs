//! Certificates and their keys, and what is linked and bound to them.

use super::references::user_of_cert_key;
use super::remove::in_use;
use super::{Done, changed, made, name, names, needs_feature, text};
use crate::command::Command;
use crate::command::refusal::{Hint, Refusal};
use crate::command::resolve::{exists, such};
use crate::config::attribute::{Place, Resource};
use crate::config::{Config, Features, OcspResponderBinding, SslCertKey};

pub(super) fn add_ssl_cert_key(config: &mut Config, command: &Command) -> Result<Done, Refusal> {
    let pair = made::<SslCertKey>(command);
    if config.ssl_cert_keys.has(&pair.name) {
        return Err(exists("certkeyName", &pair.name));
    }
    if pair.cert.is_empty() {
        return Err(Refusal::ArgumentMissing { argument: "cert" });
    }
    one_key(command)?;
    config.ssl_cert_keys.insert(pair);
    Ok(needs_feature(config, Features::SSL))
}

pub(super) fn set_ssl_cert_key(config: &mut Config, command: &Command) -> Result<(), Refusal> {
    let pair = changed(such(&config.ssl_cert_keys, "certkeyName", name(command))?, command);
    config.ssl_cert_keys.insert(pair);
    Ok(())
}

/// `update ssl certKey NAME [-cert FILE] [-key FILE] [-passplain WORD] ...`: a new key has a pass phrase of its own, or none.
pub(super) fn update_ssl_cert_key(config: &mut Config, command: &Command) -> Result<(), Refusal> {
    let mut pair = such(&config.ssl_cert_keys, "certkeyName", name(command))?.clone();
    one_key(command)?;
    if KEYS.iter().any(|(nitro, _)| command.value(nitro).is_some()) {
        KEYS.iter().map(|(nitro, _)| nitro).chain(&PASSPHRASES).for_each(|nitro| pair.reset(nitro));
    }
    for (row, value) in command.arguments().filter(|(row, _)| row.place != Place::Key) {
        pair.store(row.nitro, value);
    }
    config.ssl_cert_keys.insert(pair);
    Ok(())
}

/// A key is in a file or in a module.
fn one_key(command: &Command) -> Result<(), Refusal> {
    let mut given = KEYS.iter().filter(|(nitro, _)| command.value(nitro).is_some());
    match (given.next(), given.next()) {
        (Some((_, other)), Some((_, argument))) => Err(Refusal::Exclusive { argument, other }),
        _ => Ok(()),
    }
}

pub(super) fn rm_ssl_cert_keys(config: &mut Config, command: &Command) -> Result<(), Refusal> {
    let names = names(command, "certkey");
    for name in &names {
        such(&config.ssl_cert_keys, "certkeyName", name)?;
        let gone = |user: &str| names.iter().any(|name| name.eq_ignore_ascii_case(user));
        if let Some(user) =
            user_of_cert_key(config, name).find(|user| user.object != SslCertKey::OBJECT || !gone(&user.name))
        {
            return Err(in_use("certkeyName", name, user));
        }
    }
    for name in names {
        config.ssl_cert_keys.remove(name);
    }
    Ok(())
}

/// `link ssl certKey NAME ISSUER`: a certificate has one issuer.
pub(super) fn link_ssl_cert_key(config: &mut Config, command: &Command) -> Result<(), Refusal> {
    let pair = such(&config.ssl_cert_keys, "certkeyName", name(command))?;
    let issuer = text(command, "linkcertkeyname").unwrap_or_default();
    let issuer = such(&config.ssl_cert_keys, "linkCertKeyName", issuer)?.name.clone();
    if !pair.issuer.is_empty() {
        return Err(exists("linkCertKeyName", &pair.issuer));
    }
    config.ssl_cert_keys.change(name(command), |pair| pair.issuer = issuer);
    Ok(())
}

pub(super) fn unlink_ssl_cert_key(config: &mut Config, command: &Command) -> Result<(), Refusal> {
    let pair = such(&config.ssl_cert_keys, "certkeyName", name(command))?;
    if pair.issuer.is_empty() {
        let name = pair.name.clone();
        return Err(Refusal::NoSuch { argument: "linkCertKeyName", name, hint: Hint::Nothing });
    }
    config.ssl_cert_keys.change(name(command), |pair| pair.issuer.clear());
    Ok(())
}

/// `bind ssl certKey NAME -ocspResponder RESPONDER [-priority N]`
pub(super) fn bind_ssl_cert_key(config: &mut Config, command: &Command) -> Result<(), Refusal> {
    let pair = such(&config.ssl_cert_keys, "certkeyName", name(command))?;
    let binding = made::<OcspResponderBinding>(command);
    if binding.responder.is_empty() {
        return Err(Refusal::ArgumentMissing { argument: "ocspResponder" });
    }
    if pair.ocsp_responders.iter().any(|other| other.responder.eq_ignore_ascii_case(&binding.responder)) {
        return Err(exists("ocspResponder", &binding.responder));
    }
    config.ssl_cert_keys.change(name(command), |pair| pair.ocsp_responders.push(binding));
    Ok(())
}

pub(super) fn unbind_ssl_cert_key(config: &mut Config, command: &Command) -> Result<(), Refusal> {
    let pair = such(&config.ssl_cert_keys, "certkeyName", name(command))?;
    let responder =
        text(command, "ocspresponder").ok_or(Refusal::ArgumentMissing { argument: "ocspResponder" })?;
    let at = pair.ocsp_responders.iter().position(|other| other.responder.eq_ignore_ascii_case(responder));
    let missing =
        || Refusal::NoSuch { argument: "ocspResponder", name: responder.to_owned(), hint: Hint::Nothing };
    let at = at.ok_or_else(missing)?;
    config.ssl_cert_keys.change(name(command), |pair| drop(pair.ocsp_responders.remove(at)));
    Ok(())
}

/// Where a key is, by NITRO's name and the command line's.
const KEYS: [(&str, &str); 3] = [("key", "key"), ("fipskey", "fipsKey"), ("hsmkey", "hsmKey")];
/// NITRO's names of what says a pass phrase.
const PASSPHRASES: [&str; 3] = ["password", "passplain", "passcrypt"];
