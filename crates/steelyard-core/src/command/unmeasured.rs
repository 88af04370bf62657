//! Where commands leave LRTM without the monitors that it needs: what whoever gave them is told (`spec/methods.md` 3.2).
//!
//! Owns which commands can bring that about. They are looked at together, so that however many there are the virtual
//! servers are gone through once.

use std::collections::BTreeSet;

use super::apply::{Warning, name, text};
use super::{Command, Object};
use crate::config::{Config, LbVserver};
use crate::monitor::measured;

/// What is to be said of a configuration to which those commands have led: a warning for each virtual server.
pub fn unmeasured(config: &Config, commands: &[Command]) -> Vec<Warning> {
    let mut touched = Touched::default();
    commands.iter().for_each(|command| touched.note(command));
    let warning = |vserver: &LbVserver| {
        let concerned = |service: &&str| touched.concerns(config, &vserver.name, service);
        let services: Vec<&str> = measured::unmeasured(config, vserver).filter(concerned).collect();
        let (vserver, services) = (vserver.name.clone(), some_of(&services));
        (!services.is_empty()).then_some(Warning::Unmeasured { vserver, services })
    };
    if touched == Touched::default() {
        Vec::new()
    } else {
        config.lb_vservers.iter().filter_map(warning).collect()
    }
}

/// The first few of these names, and how many more there are.
pub(super) fn some_of(names: &[&str]) -> String {
    let shown = names.iter().take(SHOWN).copied().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// What commands say that LRTM depends on, all names in lower case.
#[derive(Default, PartialEq, Eq)]
struct Touched {
    /// Virtual servers that were given a method.
    vservers: BTreeSet<String>,
    /// What was bound to virtual servers.
    bindings: BTreeSet<(String, String)>,
    /// Services and groups that were given or lost monitors.
    services: BTreeSet<String>,
    /// Monitors that ask otherwise than before.
    monitors: BTreeSet<String>,
}

impl Touched {
    fn note(&mut self, command: &Command) {
        let own = name(command).to_ascii_lowercase();
        let target = text(command, "servicename").map(str::to_ascii_lowercase);
        let gives = |nitro: &str| command.value(nitro).is_some();
        match (command.object(), target) {
            (Object::LbVserver, target) => {
                if gives("lbmethod") {
                    self.vservers.insert(own.clone());
                }
                self.bindings.extend(target.map(|target| (own, target)));
            }
            (Object::Service | Object::ServiceGroup, _)
                if gives("monitor_name") || gives("healthmonitor") =>
            {
                self.services.insert(own);
            }
            (Object::LbMonitor, Some(target)) => drop(self.services.insert(target)),
            (Object::LbMonitor, None) => drop(self.monitors.insert(own)),
            _ => {}
        }
    }

    fn concerns(&self, config: &Config, vserver: &str, service: &str) -> bool {
        let (vserver, name) = (vserver.to_ascii_lowercase(), service.to_ascii_lowercase());
        let bound = config.services.find(service).map(|service| &service.monitors);
        let bound = bound.or_else(|| config.service_groups.find(service).map(|group| &group.monitors));
        let is_touched = |monitor: &str| self.monitors.contains(&monitor.to_ascii_lowercase());
        self.services.contains(&name)
            || self.vservers.contains(&vserver)
            || bound.into_iter().flatten().any(|binding| is_touched(&binding.monitor))
            || self.bindings.contains(&(vserver, name))
    }
}

/// Names that a message has room for.
const SHOWN: usize = 3;
