//! Findings that need the whole configuration: what keeps a virtual server closed, a service
//! without a probe of its own or without a response time that is asked for.

use std::collections::BTreeMap;

use super::site::{self, Site};
use super::{Consequence, Finding, Verdict};
use crate::command::Object;
use crate::command::host::OnHost;
use crate::command::unmeasured::some_of;
use crate::config::{Features, Keyed, LbVserver, MonitorBinding};
use crate::monitor::measured;

/// What is worth saying before anything else.
pub(super) fn first(site: &Site) -> Vec<String> {
    let count = site.config.lb_vservers.iter().count();
    let mut first = Vec::new();
    if count > 0 && !site.config.features.has(Features::LB) {
        let servers = if count == 1 {
            "its virtual server stays".to_owned()
        } else {
            format!("its {count} virtual servers stay")
        };
        first.push(format!(
            "Load balancing is not enabled in this file: {servers} DOWN. Add 'enable ns feature LB', or run with --assume-features."
        ));
    }
    first
}

/// Findings by the index of the line that they are about.
pub(super) fn findings(site: &Site) -> BTreeMap<usize, Vec<Finding>> {
    let mut found = Found { site, by_line: BTreeMap::new() };
    for service in site.config.services.iter().filter(|service| service.service_type.is_carried()) {
        let default = service.service_type.default_monitor();
        found.without_probe(Object::Service, service.name(), &service.monitors, default);
    }
    for group in site.config.service_groups.iter().filter(|group| group.service_type.is_carried()) {
        let default = group.service_type.default_monitor();
        found.without_probe(Object::ServiceGroup, group.name(), &group.monitors, default);
    }
    for vserver in site.config.lb_vservers.iter().filter(|vserver| vserver.service_type.is_carried()) {
        found.guarded(vserver);
        found.unmeasured(vserver);
    }
    found.by_line
}

struct Found<'s> {
    site: &'s Site<'s>,
    by_line: BTreeMap<usize, Vec<Finding>>,
}

impl Found<'_> {
    /// A service all of whose monitors cannot be run is probed by the `default` one of its type.
    fn without_probe(&mut self, object: Object, name: &str, bindings: &[MonitorBinding], default: &str) {
        let monitors = &self.site.config.lb_monitors;
        let run =
            |binding: &MonitorBinding| monitors.find(&binding.monitor).is_some_and(|m| m.kind.is_carried());
        if bindings.is_empty() || bindings.iter().any(run) {
            return;
        }
        self.add(
            object,
            name,
            Consequence::Traffic,
            &format!("none of its monitors can be run: {default} probes it in their place"),
        );
    }

    /// What keeps clients out at the appliance keeps the virtual server closed here.
    fn guarded(&mut self, vserver: &LbVserver) {
        let guards = self.site.guards.of(&vserver.name);
        if guards.is_empty() || vserver.address().is_none() {
            return;
        }
        let guards: Vec<String> = guards.iter().map(ToString::to_string).collect();
        let reason = format!(
            "not opened, because nothing here does what keeps clients out there ({}); --expose opens it all the same",
            guards.join(", ")
        );
        self.add(Object::LbVserver, &vserver.name, Consequence::Exposure, &reason);
    }

    /// LRTM decides by response times: what becomes of services that can have none.
    fn unmeasured(&mut self, vserver: &LbVserver) {
        let config = self.site.config;
        let services: Vec<&str> = measured::unmeasured(config, vserver).collect();
        if services.is_empty() {
            return;
        }
        let instead = match services.len() == vserver.bindings.len() {
            true => "the fewest connections decide",
            false => "the mean of the others counts for them",
        };
        let services = some_of(&services);
        let reason = format!(
            "it chooses by LRTM, and no monitor with -LRTM ENABLED measures {services}, for which TCP-ECV needs -send and -recv, UDP-ECV -recv: {instead}"
        );
        self.add(Object::LbVserver, &vserver.name, Consequence::Traffic, &reason);
    }

    fn add(&mut self, object: Object, name: &str, consequence: Consequence, reason: &str) {
        let Some(index) = self.site.line_of(object, name) else { return };
        let line = &self.site.reading.lines[index];
        let (number, column) = line.place(site::head(line).column);
        let command = format!("add {}", object.text());
        let finding = Finding {
            line: number,
            column,
            verdict: Verdict::Partial,
            consequence,
            command,
            option: None,
            value: None,
            reason: reason.to_owned(),
            beside: None,
            on_host: OnHost::default(),
        };
        self.by_line.entry(index).or_default().push(finding);
    }
}
