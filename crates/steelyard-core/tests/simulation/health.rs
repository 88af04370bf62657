//! Who is UP, by the rule read literally (`spec/methods.md` 4.1, 4.5) over the whole history of results.

use std::collections::BTreeMap;

use crate::plan::Plan;

/// What the probes of every service have shown.
#[derive(Default)]
pub struct Health {
    services: BTreeMap<usize, Service>,
    /// A planted fault: one failure is enough.
    pub hasty: bool,
}

struct Service {
    enabled: bool,
    /// None for `-healthMonitor NO`: then it is UP.
    monitors: BTreeMap<&'static str, Monitor>,
}

#[derive(Default)]
struct Monitor {
    /// True is a success.
    history: Vec<bool>,
    /// Results before this one count no more: it was DOWN and has come UP since.
    since: usize,
    /// Neither before enough results.
    up: bool,
    down: bool,
}

impl Health {
    /// Another configuration: what is probed as before keeps its history.
    pub fn reconfigure(&mut self, plan: &Plan) {
        let mut before = std::mem::take(&mut self.services);
        for (number, service) in &plan.services {
            let kept = before.remove(number).filter(|old| old.enabled && service.enabled);
            let monitors = kept.map(|old| old.monitors).unwrap_or_else(|| {
                service.watch.monitors().iter().map(|name| (*name, Monitor::default())).collect()
            });
            self.services.insert(*number, Service { enabled: service.enabled, monitors });
        }
    }

    /// A probe has ended.
    pub fn result(&mut self, service: usize, name: &str, success: bool) {
        let (retries, failures, successes) = if name == "mt" { (3, 2, 1) } else { (2, 2, 2) };
        let failures = if self.hasty { 1 } else { failures };
        let Some(service) = self.services.get_mut(&service) else { return };
        let Some(monitor) = service.monitors.get_mut(name) else { return };
        monitor.history.push(success);
        let counted = &monitor.history[monitor.since..];
        let failed = counted.iter().rev().take(retries).filter(|success| !**success).count();
        let run = monitor.history.iter().rev().take_while(|success| **success).count();
        if !success && failed >= failures {
            (monitor.up, monitor.down) = (false, true);
        } else if success && !monitor.up && run >= successes {
            if monitor.down {
                monitor.since = monitor.history.len();
            }
            (monitor.up, monitor.down) = (true, false);
        }
    }

    /// Does the service take new work?
    pub fn is_up(&self, service: usize) -> bool {
        let service = self.services.get(&service);
        service.is_some_and(|service| service.enabled && service.monitors.values().all(|monitor| monitor.up))
    }
}
