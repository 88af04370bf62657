//! What the prober is to watch: every service and group member of a configuration with the monitors bound to it.
//!
//! Which of the bound monitors can be run, and what each asks, the core says.

use std::sync::Arc;

use steelyard_core::config::Config;
use steelyard_core::config::departure::{Departure, Departures};
use steelyard_core::config::difference::Difference;
use steelyard_core::monitor::Spec;
use steelyard_core::monitor::bound::{self, Bound, Means, Run, Unknown};
use steelyard_core::monitor::configured::Specs;
use steelyard_core::monitor::schedule::{Closing, Target, Watched};
use steelyard_core::service::Service;
use steelyard_core::snapshot::{Snapshot, member_name};

/// Every service and group member that a difference names and the monitors that watch it; `departures` says how what is
/// disabled leaves.
pub fn targets(
    difference: &Difference,
    config: &Config,
    departures: &Departures,
    snapshot: &Snapshot,
    means: &Means<'_>,
) -> Vec<Target> {
    let mut specs = Specs::new(config, means.key);
    let mut targets = Vec::new();
    let server_enabled = |name: &str| config.servers.find(name).is_some_and(|s| s.enabled);
    for service in difference.services(config) {
        let Some(live) = snapshot.service(&service.name) else { continue };
        let enabled = service.enabled && server_enabled(&service.server);
        let bound = Bound::of(config, bound::Watched::service(config, service), means);
        let terms = ProbeTerms::of(config, service.max_client, service.monitor_close);
        let monitors = monitors(bound, service.monitor_threshold, terms, &mut specs);
        targets.push(monitors.target(
            live,
            watched(enabled, service.health_monitor, || departures.of_service(service, config)),
        ));
    }
    for group in difference.groups(config) {
        let bound = Bound::of(config, bound::Watched::group(config, group), means);
        let terms = ProbeTerms::of(config, group.max_client, group.monitor_close);
        let monitors = monitors(bound, group.monitor_threshold, terms, &mut specs);
        for member in &group.members {
            let name = member_name(&group.name, &member.server, member.port);
            let Some(live) = snapshot.service(&name) else { continue };
            let enabled = group.enabled && member.enabled && server_enabled(&member.server);
            targets.push(monitors.target(
                live,
                watched(enabled, group.health_monitor, || departures.of_member(group, member, config)),
            ));
        }
    }
    targets
}

/// What watches a service, or every member of a group.
struct Monitors {
    run: Vec<(Arc<Spec>, u32)>,
    unknown: Arc<[Unknown]>,
    threshold: u32,
    terms: ProbeTerms,
}

/// What the configuration says of the connections of probes.
#[derive(Clone, Copy)]
struct ProbeTerms {
    most_connections: Option<u32>,
    closing: Closing,
}

impl ProbeTerms {
    /// From `-maxClient` and `-monConnectionClose` of a service or a group; for both, `lb parameter` has a say.
    fn of(config: &Config, max_client: u32, close: &str) -> ProbeTerms {
        let global = &config.lb_parameter;
        let close = if close == "NONE" { global.monitor_close } else { close };
        ProbeTerms {
            most_connections: (max_client > 0 && !global.monitor_skips_max_client).then_some(max_client),
            closing: if close == "RESET" { Closing::Reset } else { Closing::Fin },
        }
    }
}

fn monitors(bound: Bound<'_>, threshold: u32, terms: ProbeTerms, specs: &mut Specs<'_>) -> Monitors {
    let threshold = bound.threshold(threshold);
    let spec = |run: Run<'_>| {
        let weight = run.binding.weight;
        (specs.of(run), weight)
    };
    Monitors {
        run: bound.run.into_iter().map(spec).collect(),
        unknown: bound.unknown.into(),
        threshold,
        terms,
    }
}

impl Monitors {
    fn target(&self, service: &Arc<Service>, watch: Watched) -> Target {
        Target {
            service: Arc::clone(service),
            watch,
            threshold: self.threshold,
            most_connections: self.terms.most_connections,
            closing: self.terms.closing,
            monitors: self.run.clone(),
            unknown: Arc::clone(&self.unknown),
        }
    }
}

fn watched(enabled: bool, probed: bool, departure: impl FnOnce() -> Option<Option<Departure>>) -> Watched {
    match (enabled, probed) {
        (true, false) => Watched::TakenAsUp,
        (true, true) => Watched::Probed,
        (false, _) => match departure() {
            None => Watched::Off { probed },
            Some(None) => Watched::Disabled,
            Some(Some(departure)) => Watched::Leaving { departure, probed },
        },
    }
}
