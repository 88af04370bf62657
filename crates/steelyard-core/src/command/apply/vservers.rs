//! What virtual servers of every kind have in common: names, addresses, backups, and the policies bound to them.

use std::net::{IpAddr, SocketAddr};

use super::{made, text};
use crate::command::Command;
use crate::command::refusal::{Hint, Refusal};
use crate::command::resolve::{exists, such};
use crate::config::{
    Bindable, BindingList, Config, Keyed, LbVserver, MOST_BACKUPS, PolicyBinding, Transport,
};

/// Refuses a name that a virtual server has.
pub(super) fn free_name(config: &Config, argument: &'static str, name: &str) -> Result<(), Refusal> {
    match config.lb_vservers.has(name) || config.cs_vservers.has(name) {
        true => Err(exists(argument, name)),
        false => Ok(()),
    }
}

/// Refuses an address that another virtual server than `name` has.
pub(super) fn free_address(
    config: &Config,
    name: &str,
    address: Option<(Transport, u32, SocketAddr)>,
) -> Result<(), Refusal> {
    let Some(address) = address else { return Ok(()) };
    let lb = config.lb_vservers.find_at(&address).map(Keyed::name);
    let cs = config.cs_vservers.find_at(&address).map(Keyed::name);
    match lb.or(cs).filter(|other| !other.eq_ignore_ascii_case(name)) {
        Some(other) => Err(Refusal::AddressInUse { argument: "IPAddress", vserver: other.to_owned() }),
        None => Ok(()),
    }
}

/// `add` has an address and a port, or neither.
pub(super) fn address_with_port(ip: Option<IpAddr>, command: &Command) -> Result<(), Refusal> {
    match (ip.is_some(), command.value("port").is_some()) {
        (true, false) => Err(Refusal::ArgumentMissing { argument: "port" }),
        (false, true) => Err(Refusal::ArgumentMissing { argument: "IPAddress" }),
        _ => Ok(()),
    }
}

/// The address of a virtual server that may take its place in the configuration: none without a port, and none that
/// another has.
pub(super) fn checked_place<V: Keyed<Address = (Transport, u32, SocketAddr)>>(
    config: &Config,
    vserver: &V,
    backup: &str,
    (ip, port): (Option<IpAddr>, Option<u16>),
) -> Result<Option<IpAddr>, Refusal> {
    check_backup(config, vserver.name(), backup)?;
    if port.is_some_and(|port| port != 0) {
        free_address(config, vserver.name(), vserver.address_key())?;
        return Ok(ip);
    }
    match ip.is_some_and(|ip| !ip.is_unspecified()) {
        true => Err(Refusal::PrerequisiteMissing { argument: "IPAddress", needs: "a port other than 0" }),
        false => Ok(None),
    }
}

/// Backups stand one behind the other, so many at most and never in a circle (`spec/methods.md` 3.7).
pub(super) fn check_backup(config: &Config, name: &str, backup: &str) -> Result<(), Refusal> {
    let mut next = backup;
    for _ in 0..MOST_BACKUPS {
        if next.is_empty() {
            return Ok(());
        }
        if next.eq_ignore_ascii_case(name) {
            return Err(Refusal::BackupLoop { name: backup.to_owned() });
        }
        let of_cs = || config.cs_vservers.find(next).map(|vserver| &vserver.backup_vserver);
        next = match config.lb_vservers.find(next).map(|vserver| &vserver.backup_vserver).or_else(of_cs) {
            Some(backup) => backup,
            // One of another kind, of which only the line is kept: nothing is known of its own backup.
            None if config.kept.adds_vserver(next) => return Ok(()),
            None => return such(&config.lb_vservers, "backupVServer", next).map(|_: &LbVserver| ()),
        };
    }
    match next.is_empty() {
        true => Ok(()),
        false => Err(Refusal::BackupChainTooLong { max: MOST_BACKUPS }),
    }
}

/// The binding of a policy that a command asks for, unless it is there already.
pub(super) fn policy_to_bind(
    bound: &BindingList<PolicyBinding>,
    command: &Command,
) -> Result<PolicyBinding, Refusal> {
    let binding = made::<PolicyBinding>(command);
    if !binding.label_type.is_empty() && binding.label.is_none() {
        return Err(Refusal::ArgumentMissing { argument: "labelName" });
    }
    if binding.label_type.is_empty() && binding.label.is_some() {
        return Err(Refusal::PrerequisiteMissing { argument: "labelName", needs: "invoke" });
    }
    match bound.find(&binding.key()) {
        Some(_) => Err(exists("policyName", &binding.policy)),
        None => Ok(binding),
    }
}

/// The binding of a policy that a command takes away. Without a type: whichever there is.
pub(super) fn bound_policy(
    bound: &BindingList<PolicyBinding>,
    command: &Command,
) -> Result<<PolicyBinding as Bindable>::Key, Refusal> {
    let policy = made::<PolicyBinding>(command);
    let is = |bound: &&PolicyBinding| {
        let side = command.value("bindpoint").is_none() || bound.bind_point == policy.bind_point;
        side && bound.policy.eq_ignore_ascii_case(&policy.policy)
    };
    let found = bound.iter().find(is).map(Bindable::key);
    found.ok_or(Refusal::NoSuch { argument: "policyName", name: policy.policy, hint: Hint::Nothing })
}

/// Binds the analytics profile that a command names.
pub(super) fn profile_to_bind(bound: &[String], command: &Command) -> Result<String, Refusal> {
    let profile = text(command, "analyticsprofile").unwrap_or_default();
    match bound.iter().any(|other| other.eq_ignore_ascii_case(profile)) {
        true => Err(exists("analyticsProfile", profile)),
        false => Ok(profile.to_owned()),
    }
}

/// Where the analytics profile stands that a command takes away.
pub(super) fn bound_profile(bound: &[String], command: &Command) -> Result<usize, Refusal> {
    let profile = text(command, "analyticsprofile").unwrap_or_default();
    let missing =
        || Refusal::NoSuch { argument: "analyticsProfile", name: profile.to_owned(), hint: Hint::Nothing };
    bound.iter().position(|other| other.eq_ignore_ascii_case(profile)).ok_or_else(missing)
}
