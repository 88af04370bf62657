//! Which features a configuration uses and does not enable. Fragments of an `ns.conf` often leave that line out.

use super::guard::{Line, Lines};
use crate::config::{Config, Features};

/// Features, by acronym, that `config` needs for what it adds or binds and has not enabled.
pub fn features_not_enabled(config: &Config) -> Vec<&'static str> {
    let Config { lb_vservers, services, service_groups, .. } = config;
    let mut used: Vec<&'static str> = Vec::new();
    if !(lb_vservers.is_empty() && services.is_empty() && service_groups.is_empty()) {
        used.push(Features::LB);
    }
    if lb_vservers
        .iter()
        .map(|v| v.service_type)
        .chain(config.cs_vservers.iter().map(|v| v.service_type))
        .any(|kind| kind.text().contains("SSL"))
    {
        used.push("SSL");
    }
    if !(config.cs_vservers.is_empty() && config.cs_policies.is_empty() && config.cs_actions.is_empty()) {
        used.push(Features::CS);
    }
    if !(config.ssl_cert_keys.is_empty()
        && config.ssl_vservers.is_empty()
        && config.ssl_services.is_empty()
        && config.ssl_service_groups.is_empty())
    {
        used.push(Features::SSL);
    }
    let lines = Lines::of(config);
    used.extend(lines.iter().filter_map(feature));
    used.sort_unstable();
    used.dedup();
    used.retain(|acronym| !config.features.has(acronym));
    used
}

fn feature(line: &Line) -> Option<&'static str> {
    let adds = line.begins("add") || line.begins("bind");
    let group = line.words().get(1).filter(|_| adds)?;
    FEATURES.iter().find(|(known, _)| known.eq_ignore_ascii_case(group)).map(|(_, acronym)| *acronym)
}

/// The feature of a command's group.
const FEATURES: &[(&str, &str)] = &[
    ("aaa", "AAA"),
    ("appflow", "AppFlow"),
    ("appfw", "AppFw"),
    ("appqoe", "AppQoE"),
    ("authentication", "AAA"),
    ("authorization", "AAA"),
    ("bot", "Bot"),
    ("cache", "IC"),
    ("cmp", "CMP"),
    ("cr", "CR"),
    ("cs", "CS"),
    ("feo", "feo"),
    ("filter", "CF"),
    ("gslb", "GSLB"),
    ("responder", "RESPONDER"),
    ("rewrite", "REWRITE"),
    ("ssl", "SSL"),
    ("vpn", "SSLVPN"),
];
