//! What one configuration has that another has not, in one line for people.

use std::fmt;

use super::Config;
use super::table::{Keyed, Table};

/// What was added, removed and changed on the way from one configuration to another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Changes {
    tables: Vec<(Kind, Sets)>,
    settings: bool,
}

/// What a table's resources are called: one of them, several.
type Kind = (&'static str, &'static str);

/// Names of resources.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Sets {
    added: Vec<String>,
    removed: Vec<String>,
    changed: Vec<String>,
}

impl Config {
    /// What makes this configuration `next`.
    pub fn changes_to(&self, next: &Config) -> Changes {
        let tables = vec![
            (("virtual server", "virtual servers"), sets(&self.lb_vservers, &next.lb_vservers)),
            (("service", "services"), sets(&self.services, &next.services)),
            (("service group", "service groups"), sets(&self.service_groups, &next.service_groups)),
            (("server", "servers"), sets(&self.servers, &next.servers)),
            (("monitor", "monitors"), sets(&self.lb_monitors, &next.lb_monitors)),
            (("user", "users"), sets(&self.system_users, &next.system_users)),
            (("group of users", "groups of users"), sets(&self.system_groups, &next.system_groups)),
            (
                ("command policy", "command policies"),
                sets(&self.system_cmd_policies, &next.system_cmd_policies),
            ),
        ];
        let settings = self.lb_parameter != next.lb_parameter
            || self.features != next.features
            || self.ns_sp_params != next.ns_sp_params
            || self.system_parameter != next.system_parameter;
        Changes { tables, settings }
    }
}

fn sets<T: Keyed + PartialEq>(before: &Table<T>, after: &Table<T>) -> Sets {
    let mut sets = Sets::default();
    for item in after {
        match before.find(item.name()) {
            None => sets.added.push(item.name().to_owned()),
            Some(old) if old != item => sets.changed.push(item.name().to_owned()),
            Some(_) => {}
        }
    }
    let gone = before.iter().map(Keyed::name).filter(|name| !after.has(name));
    sets.removed = gone.map(str::to_owned).collect();
    sets
}

/// As in `+2 virtual servers (v, w), -1 service (s), 4 monitors changed`: names as long as they are few.
impl fmt::Display for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        for (kind, sets) in &self.tables {
            parts.extend(part("+", &sets.added, *kind, ""));
            parts.extend(part("-", &sets.removed, *kind, ""));
            parts.extend(part("", &sets.changed, *kind, " changed"));
        }
        if self.settings {
            parts.push("settings changed".to_owned());
        }
        match parts.is_empty() {
            true => f.write_str("nothing changed"),
            false => f.write_str(&parts.join(", ")),
        }
    }
}

fn part(sign: &str, names: &[String], (one, several): Kind, verb: &str) -> Option<String> {
    let kind = if names.len() == 1 { one } else { several };
    match names.len() {
        0 => None,
        n @ 1..=NAMED => Some(format!("{sign}{n} {kind}{verb} ({})", names.join(", "))),
        n => Some(format!("{sign}{n} {kind}{verb}")),
    }
}

/// More names than this would hide what else has changed.
const NAMED: usize = 3;
