//! Who names what: the one list of the references in a configuration, for verbs that take something away or rename it.
//!
//! No reference outlives what it names. Each verb has a rule for what is in use (`spec/nitro.md` 5 and the texts of its
//! errors): what is bound to a virtual server goes with its bindings, a monitor or a server in use stays.

use super::tls_settings::rename_settings;
use crate::config::attribute::Resource;
use crate::config::{
    Bindable, CommandPolicyBinding, Config, CsVserver, Keyed, LbBinding, LbMonitor, Server, ServiceType,
    SslCertKey, SslService, SslServiceGroup, SslVserver, Table,
};

/// Something that uses something else.
pub(super) struct User {
    /// What it is, as the command line calls it.
    pub(super) object: &'static str,
    /// Its name.
    pub(super) name: String,
}

impl User {
    fn new(object: &'static str, name: &str) -> User {
        User { object, name: name.to_owned() }
    }
}

/// A service or a group with a member on that server.
pub(super) fn user_of_server(config: &Config, server: &str) -> Option<User> {
    let server = server.to_ascii_lowercase();
    let first = ServiceType::ALL.first().copied()?;
    let mut services = config.services.within((server.clone(), 0, first)..);
    if let Some(service) = services.next().filter(|service| service.server.eq_ignore_ascii_case(&server)) {
        return Some(User::new("service", &service.name));
    }
    let key = (server, 0);
    let on_it = |member: &crate::config::Member| member.server.eq_ignore_ascii_case(&key.0);
    let group =
        config.service_groups.iter().find(|g| g.members.within(key.clone()..).next().is_some_and(on_it));
    group.map(|group| User::new("serviceGroup", &group.name))
}

/// A service or a group to which that monitor is bound.
pub(super) fn user_of_monitor(config: &Config, monitor: &str) -> Option<User> {
    let is = |binding: &crate::config::MonitorBinding| binding.monitor.eq_ignore_ascii_case(monitor);
    let service = config.services.iter().find(|service| service.monitors.iter().any(is));
    let group = || config.service_groups.iter().find(|group| group.monitors.iter().any(is));
    service
        .map(|service| User::new("service", &service.name))
        .or_else(|| group().map(|group| User::new("serviceGroup", &group.name)))
}

/// A virtual server to which that service or group is bound.
pub(super) fn user_of_target(config: &Config, target: &str) -> Option<User> {
    let key = target.to_ascii_lowercase();
    let vserver = config.lb_vservers.iter().find(|vserver| vserver.bindings.find(&key).is_some());
    vserver.map(|vserver| User::new("lb vserver", &vserver.name))
}

/// The virtual servers that fall back to that one.
pub(super) fn users_of_vserver<'c>(config: &'c Config, vserver: &str) -> impl Iterator<Item = User> + 'c {
    let vserver = vserver.to_owned();
    let lb = config.lb_vservers.iter().map(|user| ("lb vserver", &user.name, &user.backup_vserver));
    let cs = config.cs_vservers.iter().map(|user| ("cs vserver", &user.name, &user.backup_vserver));
    let users = lb.chain(cs).filter(move |(.., backup)| backup.eq_ignore_ascii_case(&vserver));
    users.map(|(object, name, _)| User::new(object, name))
}

/// What of content switching sends requests to that virtual server.
pub(super) fn user_of_target_vserver(config: &Config, vserver: &str) -> Option<User> {
    let is = |name: &str| name.eq_ignore_ascii_case(vserver);
    let mut actions = config.cs_actions.iter();
    let action = actions.find(|action| is(&action.target_lb_vserver) || is(&action.target_vserver));
    let sends = |cs: &&CsVserver| {
        let default = &cs.default_target;
        is(&default.lb_vserver) || is(&default.vserver) || cs.policies.iter().any(|bound| is(&bound.target))
    };
    let cs = || config.cs_vservers.iter().find(sends).map(|cs| User::new("cs vserver", &cs.name));
    action.map(|action| User::new("cs action", &action.name)).or_else(cs)
}

/// A virtual server to which that policy of content switching is bound.
pub(super) fn user_of_cs_policy(config: &Config, policy: &str) -> Option<User> {
    let bound = |cs: &&CsVserver| cs.policies.iter().any(|bound| bound.policy.eq_ignore_ascii_case(policy));
    config.cs_vservers.iter().find(bound).map(|cs| User::new("cs vserver", &cs.name))
}

/// A policy with that action of content switching.
pub(super) fn user_of_cs_action(config: &Config, action: &str) -> Option<User> {
    let mut policies = config.cs_policies.iter();
    let policy = policies.find(|policy| policy.action.eq_ignore_ascii_case(action));
    policy.map(|policy| User::new("cs policy", &policy.name))
}

/// Is a policy of the other name bound where that one of content switching is? It may be of any kind, and need not be here.
pub(super) fn is_bound_beside(config: &Config, policy: &str, other: &str) -> bool {
    let other = other.to_ascii_lowercase();
    config.cs_vservers.iter().any(|cs| {
        let mut bound = cs.policies.iter().filter(|bound| bound.policy.eq_ignore_ascii_case(policy));
        bound.any(|bound| cs.policies.find(&(other.clone(), bound.bind_point)).is_some())
    })
}

/// Gives a policy of content switching its new name where it is bound.
pub(super) fn rename_cs_policy(config: &mut Config, old: &str, new: &str) {
    for vserver in names_of(&config.cs_vservers) {
        config.cs_vservers.change(&vserver, |vserver| {
            let bound = vserver.policies.iter().filter(|bound| bound.policy.eq_ignore_ascii_case(old));
            let keys: Vec<_> = bound.map(Bindable::key).collect();
            for key in keys {
                vserver.policies.rename(&key, |bound| new.clone_into(&mut bound.policy));
            }
        });
    }
}

/// Gives an action of content switching its new name in policies.
pub(super) fn rename_cs_action(config: &mut Config, old: &str, new: &str) {
    for policy in names_of(&config.cs_policies) {
        config.cs_policies.change(&policy, |policy| rename(&mut policy.action, old, new));
    }
}

fn names_of<T: Keyed>(table: &Table<T>) -> Vec<String> {
    table.iter().map(|item| item.name().to_owned()).collect()
}

fn rename(name: &mut String, old: &str, new: &str) {
    if name.eq_ignore_ascii_case(old) {
        new.clone_into(name);
    }
}

/// A virtual server with that load balancing profile.
pub(super) fn user_of_lb_profile(config: &Config, profile: &str) -> Option<User> {
    let mut vservers = config.lb_vservers.iter();
    let user = vservers.find(|vserver| vserver.lb_profile.eq_ignore_ascii_case(profile));
    user.map(|user| User::new("lb vserver", &user.name))
}

/// What sends from the addresses of that profile.
pub(super) fn user_of_net_profile(config: &Config, profile: &str) -> Option<User> {
    let is = |used: &str| used.eq_ignore_ascii_case(profile);
    let services = config.services.iter().map(|s| (&s.net_profile, "service", &s.name));
    let groups = config.service_groups.iter().map(|g| (&g.net_profile, "serviceGroup", &g.name));
    let vservers = config.lb_vservers.iter().map(|v| (&v.net_profile, "lb vserver", &v.name));
    let cs = config.cs_vservers.iter().map(|v| (&v.net_profile, "cs vserver", &v.name));
    let monitors = config.lb_monitors.iter().map(|m| (&m.net_profile, "lb monitor", &m.name));
    let mut all = services.chain(groups).chain(vservers).chain(cs).chain(monitors);
    all.find(|(used, ..)| is(used)).map(|(_, object, name)| User::new(object, name))
}

/// A user or a group that a command policy is bound to.
pub(super) fn user_of_cmd_policy(config: &Config, policy: &str) -> Option<User> {
    let is = |binding: &CommandPolicyBinding| binding.policy.eq_ignore_ascii_case(policy);
    let user = config.system_users.iter().find(|user| user.policies.iter().any(is));
    let group = || config.system_groups.iter().find(|group| group.policies.iter().any(is));
    user.map(|user| User::new("system user", &user.name))
        .or_else(|| group().map(|group| User::new("system group", &group.name)))
}

/// Takes a virtual server from the group that it is in.
pub(super) fn leave_groups(config: &mut Config, vserver: &str) {
    for group in names_of(&config.lb_groups) {
        config.lb_groups.change(&group, |group| {
            group.vservers.retain(|other| !other.eq_ignore_ascii_case(vserver));
            if group.master_vserver.eq_ignore_ascii_case(vserver) {
                group.reset("mastervserver");
            }
        });
    }
}

/// What uses a certificate: TLS of virtual servers, services and groups, monitors, certificates that it signed.
pub(super) fn user_of_cert_key<'c>(config: &'c Config, name: &str) -> impl Iterator<Item = User> + 'c {
    let vservers =
        config.ssl_vservers.iter().map(|tls| (SslVserver::OBJECT, &tls.name, &tls.bound.cert_keys));
    let services =
        config.ssl_services.iter().map(|tls| (SslService::OBJECT, &tls.name, &tls.bound.cert_keys));
    let groups = config.ssl_service_groups.iter();
    let groups = groups.map(|tls| (SslServiceGroup::OBJECT, &tls.name, &tls.bound.cert_keys));
    let monitors = config.lb_monitors.iter().map(|user| (LbMonitor::OBJECT, &user.name, &user.cert_keys));
    let (bound, signer) = (name.to_owned(), name.to_owned());
    let users = vservers.chain(services).chain(groups).chain(monitors);
    let users =
        users.filter(move |(.., keys)| keys.iter().any(|key| key.cert_key.eq_ignore_ascii_case(&bound)));
    let signed = config.ssl_cert_keys.iter().filter(move |pair| pair.issuer.eq_ignore_ascii_case(&signer));
    let signed = signed.map(|pair| User::new(SslCertKey::OBJECT, &pair.name));
    users.map(|(object, name, _)| User::new(object, name)).chain(signed)
}

/// Gives a virtual server its new name in groups, where others fall back to it, and where content switching sends
/// requests to it.
pub(super) fn rename_vserver(config: &mut Config, old: &str, new: &str) {
    let rename = |name: &mut String| rename(name, old, new);
    let users: Vec<User> = users_of_vserver(config, old).collect();
    for user in users {
        config.lb_vservers.change(&user.name, |vserver| rename(&mut vserver.backup_vserver));
    }
    for group in names_of(&config.lb_groups) {
        config.lb_groups.change(&group, |group| {
            group.vservers.iter_mut().for_each(rename);
            rename(&mut group.master_vserver);
        });
    }
    rename_settings::<SslVserver>(config, old, new);
    for action in names_of(&config.cs_actions) {
        config.cs_actions.change(&action, |action| {
            rename(&mut action.target_lb_vserver);
            rename(&mut action.target_vserver);
        });
    }
    for vserver in names_of(&config.cs_vservers) {
        config.cs_vservers.change(&vserver, |vserver| {
            rename(&mut vserver.backup_vserver);
            rename(&mut vserver.default_target.lb_vserver);
            rename(&mut vserver.default_target.vserver);
            let keys: Vec<_> = vserver.policies.iter().map(Bindable::key).collect();
            keys.iter().for_each(|key| vserver.policies.change(key, |bound| rename(&mut bound.target)));
        });
    }
}

/// Takes a service or group from every virtual server.
pub(super) fn unbind_everywhere(config: &mut Config, target: &str) {
    let key = target.to_ascii_lowercase();
    for name in bound_to(config, &key) {
        config.lb_vservers.change(&name, |vserver| {
            vserver.bindings.remove(&key);
        });
    }
}

/// Gives a service or group that is bound to virtual servers its new name there.
pub(super) fn rename_target(config: &mut Config, old: &str, new: &str) {
    let key = old.to_ascii_lowercase();
    for vserver in bound_to(config, &key) {
        config.lb_vservers.change(&vserver, |vserver| {
            vserver.bindings.rename(&key, |binding| match binding {
                LbBinding::Service { name, .. } | LbBinding::ServiceGroup { name, .. } => {
                    new.clone_into(name)
                }
            });
        });
    }
}

/// Gives a server its new name in its services and members.
pub(super) fn rename_server(config: &mut Config, old: &str, new: &str) {
    let on_it = |server: &str| server.eq_ignore_ascii_case(old);
    let services: Vec<_> = config.services.iter().filter(|s| on_it(&s.server)).cloned().collect();
    for mut service in services {
        new.clone_into(&mut service.server);
        config.services.insert(service);
    }
    let groups: Vec<_> =
        config.service_groups.iter().filter(|g| g.members.iter().any(|m| on_it(&m.server))).collect();
    let members: Vec<(String, Vec<_>)> = groups
        .into_iter()
        .map(|g| (g.name.clone(), g.members.iter().filter(|m| on_it(&m.server)).map(Bindable::key).collect()))
        .collect();
    for (group, keys) in members {
        config.service_groups.change(&group, |group| {
            for key in keys {
                group.members.rename(&key, |member| new.clone_into(&mut member.server));
            }
        });
    }
}

/// Removes a server that nothing made but the bare address of a service, once nothing uses it: else every address that
/// was ever used would stay. One that was added in the same words, with nothing else said of it, can't be told from it.
pub(super) fn remove_if_implicit(config: &mut Config, server: &str) {
    let made_of = |found: &Server| found.ip().map(|ip| Server::at(ip.to_string(), ip));
    let implicit = config.servers.find(server).is_some_and(|found| made_of(found).as_ref() == Some(found));
    if implicit && user_of_server(config, server).is_none() {
        config.servers.remove(server);
    }
}

fn bound_to(config: &Config, key: &String) -> Vec<String> {
    let vservers = config.lb_vservers.iter().filter(|vserver| vserver.bindings.find(key).is_some());
    vservers.map(|vserver| vserver.name().to_owned()).collect()
}
