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
        ];
        let settings = self.lb_parameter != next.lb_parameter || self.features != next.features;
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

#[cfg(test)]
mod tests {
    use crate::command::read;

    fn changes(before: &str, after: &str) -> String {
        let config = |text: &str| read(text.as_bytes(), "ns.conf").config;
        config(before).changes_to(&config(after)).to_string()
    }

    #[test]
    fn what_was_added_removed_and_changed_is_told_apart() {
        let before = "add server a 10.0.0.1\nadd service s a HTTP 80\nadd lb vserver v HTTP 10.0.1.1 80\n";
        assert_eq!(changes(before, before), "nothing changed");
        assert_eq!(
            changes(
                before,
                "add server a 10.0.0.1\nadd service t a HTTP 80\nadd lb vserver v HTTP 10.0.1.2 80\n"
            ),
            "1 virtual server changed (v), +1 service (t), -1 service (s)"
        );
        let many =
            "add server a 10.0.0.1\nadd server b 10.0.0.2\nadd server c 10.0.0.3\nadd server d 10.0.0.4\n";
        assert_eq!(changes("", many), "+4 servers");
        assert_eq!(changes(many, ""), "-4 servers");
        assert_eq!(changes("", "enable ns feature LB"), "settings changed");
    }

    #[test]
    fn a_binding_is_a_change_of_what_it_is_bound_to() {
        let before = "add service s 10.0.0.1 HTTP 80\nadd lb vserver v HTTP 10.0.1.1 80\n";
        assert_eq!(
            changes(before, &format!("{before}bind lb vserver v s -weight 2\n")),
            "1 virtual server changed (v)"
        );
    }
}
