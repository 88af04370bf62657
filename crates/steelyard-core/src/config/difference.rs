//! What of one configuration is not as in another, as far as those ask who derive something from it.
//!
//! Owns the step from what changed to whom it concerns: a service whose server was disabled is another one, and so is a
//! virtual server that uses it. The hard question is to forget nothing. Every part of a configuration is taken apart
//! here, so that one that is added has to be thought of, and in doubt something is named that is as it was.

use std::collections::BTreeSet;

use super::departure::Departures;
use super::renamed::{self, Renamed};
use super::{
    Config, LbParameter, LbVserver, MonitorBinding, PING_DEFAULT, Service, ServiceGroup, TCP_DEFAULT, Table,
};

/// The objects that may have to be served otherwise than before.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    vservers: Touched,
    services: Touched,
    groups: Touched,
    sources: bool,
    policies: bool,
}

/// Objects of one type: every one, or those of these names in lower case, of which some may be gone.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Touched {
    All,
    Named(BTreeSet<String>),
}

impl Difference {
    /// There is nothing that it could be compared with.
    pub fn whole() -> Difference {
        Difference {
            vservers: Touched::All,
            services: Touched::All,
            groups: Touched::All,
            sources: true,
            policies: true,
        }
    }

    /// What makes `before` `after`, where what is disabled leaves as `departures` says, and what is alive has other names
    /// as `renamed` says.
    pub fn between(
        before: &Config,
        after: &Config,
        departures: &Departures,
        renamed: &Renamed,
    ) -> Difference {
        let Config {
            servers,
            services,
            service_groups,
            lb_vservers,
            lb_monitors,
            lb_parameter,
            features,
            modes,
            ns_config: _,
            ns_host_name: _,
            ns_param,
            ns_sp_params,
            lb_groups: _,
            ns_ips,
            net_profiles,
            system_users: _,
            system_groups: _,
            system_cmd_policies: _,
            system_parameter: _,
            cs_vservers: _,
            cs_policies,
            cs_actions: _,
            ssl_cert_keys,
            ssl_vservers,
            ssl_services,
            ssl_service_groups,
            lb_profiles,
            ha_partners: _,
            ha_local: _,
            kept,
        } = after;
        let mut used = Used { servers: both(&before.servers, servers), monitors: BTreeSet::new() };
        used.servers.extend(departures.servers().cloned());
        used.monitors = both(&before.lb_monitors, lb_monitors);
        let profiles = before.net_profiles.changed_names(net_profiles);
        let monitors = lb_monitors.iter().filter(|monitor| has(&profiles, &monitor.net_profile));
        used.monitors.extend(names(monitors.map(|monitor| &monitor.name)));
        let of_probes = |of: &LbParameter| (of.monitor_close, of.monitor_skips_max_client);
        // Services to which none is bound have those. What a certificate is, a monitor may ask.
        let every = [TCP_DEFAULT, PING_DEFAULT].iter().any(|default| used.monitors.contains(*default))
            || before.ssl_cert_keys != *ssl_cert_keys
            || of_probes(&before.lb_parameter) != of_probes(lb_parameter);
        let (mut touched, mut groups) =
            (before.services.changed_names(services), before.service_groups.changed_names(service_groups));
        touched.extend(before.ssl_services.changed_names(ssl_services));
        groups.extend(before.ssl_service_groups.changed_names(ssl_service_groups));
        touched.extend(departures.services().cloned());
        touched.extend(renamed::names(&renamed.services));
        groups.extend(departures.groups().cloned());
        if !used.is_empty() {
            touched.extend(names(services.iter().filter(|s| used.by_service(s)).map(|s| &s.name)));
            groups.extend(names(service_groups.iter().filter(|g| used.by_group(g)).map(|g| &g.name)));
        }
        let policies = before.kept != *kept || before.cs_policies != *cs_policies;
        let settings = before.lb_parameter != *lb_parameter
            || before.features != *features
            || before.modes != *modes
            || before.ns_param != *ns_param
            || before.ns_sp_params != *ns_sp_params;
        let vservers = if every || settings || policies || before.lb_profiles != *lb_profiles {
            Touched::All
        } else {
            let mut vservers = before.lb_vservers.changed_names(lb_vservers);
            vservers.extend(before.ssl_vservers.changed_names(ssl_vservers));
            vservers.extend(renamed::names(&renamed.vservers));
            vservers.extend(users(before, after, [&touched, &groups]));
            Touched::Named(vservers)
        };
        let of = |names| if every { Touched::All } else { Touched::Named(names) };
        Difference {
            vservers,
            services: of(touched),
            groups: of(groups),
            sources: before.ns_ips != *ns_ips || before.net_profiles != *net_profiles,
            policies,
        }
    }

    /// The virtual servers of `config` that have other options, or something else bound to them.
    pub fn vservers<'c>(&self, config: &'c Config) -> impl Iterator<Item = &'c LbVserver> {
        self.vservers.among(&config.lb_vservers)
    }

    /// The services of `config` that have other options, another server or other monitors, or leave otherwise.
    pub fn services<'c>(&self, config: &'c Config) -> impl Iterator<Item = &'c Service> {
        self.services.among(&config.services)
    }

    /// The same of service groups and their members.
    pub fn groups<'c>(&self, config: &'c Config) -> impl Iterator<Item = &'c ServiceGroup> {
        self.groups.among(&config.service_groups)
    }

    /// The names of those virtual servers in lower case, also of those that are gone; `None`: all there were or are.
    pub fn vservers_named(&self) -> Option<&BTreeSet<String>> {
        self.vservers.names()
    }

    /// The same of services and of groups.
    pub fn services_and_groups_named(&self) -> Option<(&BTreeSet<String>, &BTreeSet<String>)> {
        self.services.names().zip(self.groups.names())
    }

    /// Are connections to leave from other addresses, whichever service they go to?
    pub fn sources(&self) -> bool {
        self.sources
    }

    /// Are there other kept lines or policies?
    pub fn policies(&self) -> bool {
        self.policies
    }
}

impl Touched {
    fn names(&self) -> Option<&BTreeSet<String>> {
        match self {
            Touched::All => None,
            Touched::Named(names) => Some(names),
        }
    }

    fn among<'c, T: super::Keyed>(&self, table: &'c Table<T>) -> impl Iterator<Item = &'c T> {
        let (all, named) = match self {
            Touched::All => (Some(table.iter()), Vec::new()),
            Touched::Named(names) => (None, names.iter().filter_map(|name| table.find(name)).collect()),
        };
        all.into_iter().flatten().chain(named)
    }
}

/// What services and groups name that is another than before.
struct Used {
    servers: BTreeSet<String>,
    monitors: BTreeSet<String>,
}

impl Used {
    fn is_empty(&self) -> bool {
        self.servers.is_empty() && self.monitors.is_empty()
    }

    fn by_service(&self, service: &Service) -> bool {
        has(&self.servers, &service.server) || self.monitored(&service.monitors)
    }

    fn by_group(&self, group: &ServiceGroup) -> bool {
        let on_it = || group.members.iter().any(|member| has(&self.servers, &member.server));
        !self.servers.is_empty() && on_it() || self.monitored(&group.monitors)
    }

    fn monitored(&self, bound: &[MonitorBinding]) -> bool {
        !self.monitors.is_empty() && bound.iter().any(|binding| has(&self.monitors, &binding.monitor))
    }
}

/// The virtual servers that those services and groups are bound to, where they were there before: what is new is bound
/// to nobody whose own options are as they were.
fn users(before: &Config, after: &Config, touched: [&BTreeSet<String>; 2]) -> Vec<String> {
    let [services, groups] = touched;
    let services = services.iter().filter(|name| before.services.has(name) && after.services.has(name));
    let groups =
        groups.iter().filter(|name| before.service_groups.has(name) && after.service_groups.has(name));
    let targets: BTreeSet<&String> = services.chain(groups).collect();
    let uses = |vserver: &&LbVserver| {
        let bindings = &vserver.bindings;
        match targets.len() < bindings.len() {
            true => targets.iter().any(|target| bindings.find(target).is_some()),
            false => bindings.iter().any(|b| targets.contains(&b.name().to_ascii_lowercase())),
        }
    };
    let users = after.lb_vservers.iter().filter(|_| !targets.is_empty()).filter(uses);
    users.map(|vserver| vserver.name.to_ascii_lowercase()).collect()
}

/// The names of what is there before and after, and is not the same.
fn both<T: super::Keyed>(before: &Table<T>, after: &Table<T>) -> BTreeSet<String> {
    let mut names = before.changed_names(after);
    names.retain(|name| before.has(name) && after.has(name));
    names
}

fn names<'n>(names: impl Iterator<Item = &'n String>) -> impl Iterator<Item = String> {
    names.map(|name| name.to_ascii_lowercase())
}

fn has(names: &BTreeSet<String>, name: &str) -> bool {
    match names.len() {
        0 => false,
        1 => names.first().is_some_and(|only| only.eq_ignore_ascii_case(name)),
        _ => names.contains(&name.to_ascii_lowercase()),
    }
}
