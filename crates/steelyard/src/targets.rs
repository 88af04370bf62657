//! What the prober is to watch: every service and group member of a configuration with the monitors bound to it.
//!
//! Owns the step from a configured monitor to a probe; which of those that are bound can be run, the core says.

use std::collections::BTreeMap;
use std::sync::Arc;

use steelyard_core::config::departure::{Departure, Departures};
use steelyard_core::config::secret::Unseal;
use steelyard_core::config::{Config, LbMonitor, MonitorBinding, MonitorType};
use steelyard_core::monitor::bound::{Bound, Unknown};
use steelyard_core::monitor::health::Timing;
use steelyard_core::monitor::http::Check;
use steelyard_core::monitor::schedule::{Target, Watched};
use steelyard_core::monitor::{Kind, Sense, Spec};
use steelyard_core::service::Service;
use steelyard_core::snapshot::{Snapshot, member_name};
use steelyard_core::time::MILLISECOND_US;

/// Every service and group member and the monitors that watch it; `departures` says how what is disabled leaves.
pub fn targets(
    config: &Config,
    departures: &Departures,
    snapshot: &Snapshot,
    key: &dyn Unseal,
) -> Vec<Target> {
    let mut kinds = BTreeMap::new();
    let mut targets = Vec::new();
    let server_enabled = |name: &str| config.servers.find(name).is_some_and(|s| s.enabled);
    for service in config.services.iter() {
        let Some(live) = snapshot.service(&service.name) else { continue };
        let enabled = service.enabled && server_enabled(&service.server);
        let bound = Bound::of(config, &service.monitors, key);
        let monitors = monitors(bound, service.monitor_threshold, &mut kinds);
        targets.push(monitors.target(
            live,
            watched(enabled, service.health_monitor, || departures.of_service(service, config)),
        ));
    }
    for group in config.service_groups.iter() {
        let bound = Bound::of(config, &group.monitors, key);
        let monitors = monitors(bound, group.monitor_threshold, &mut kinds);
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
}

fn monitors(bound: Bound<'_>, threshold: u32, kinds: &mut BTreeMap<String, Kind>) -> Monitors {
    let threshold = bound.threshold(threshold);
    let spec = |(monitor, binding): (&LbMonitor, MonitorBinding)| {
        let kind = kinds.entry(monitor.name.to_ascii_lowercase()).or_insert_with(|| kind(monitor)).clone();
        (Arc::new(spec(monitor, kind, binding.enabled)), binding.weight)
    };
    Monitors { run: bound.run.into_iter().map(spec).collect(), unknown: bound.unknown.into(), threshold }
}

impl Monitors {
    fn target(&self, service: &Arc<Service>, watch: Watched) -> Target {
        Target {
            service: Arc::clone(service),
            watch,
            threshold: self.threshold,
            monitors: self.run.clone(),
            unknown: Arc::clone(&self.unknown),
        }
    }
}

fn watched(enabled: bool, probed: bool, departure: impl FnOnce() -> Option<Departure>) -> Watched {
    match (enabled, probed) {
        (false, _) => {
            departure().map_or(Watched::Disabled, |departure| Watched::Leaving { departure, probed })
        }
        (true, false) => Watched::TakenAsUp,
        (true, true) => Watched::Probed,
    }
}

fn kind(monitor: &LbMonitor) -> Kind {
    match monitor.kind {
        MonitorType::Tcp | MonitorType::NotCarried(_) => Kind::Tcp,
        MonitorType::Http => Kind::Http(Arc::new(Check::new(
            &monitor.http_request,
            &monitor.custom_headers,
            &monitor.resp_codes,
        ))),
    }
}

fn spec(monitor: &LbMonitor, kind: Kind, bound_enabled: bool) -> Spec {
    let small = |n: u32| u8::try_from(n).unwrap_or(u8::MAX);
    let us = |ms: u32| u64::from(ms) * MILLISECOND_US;
    Spec {
        name: monitor.name.as_str().into(),
        kind,
        timing: Timing {
            interval_us: us(monitor.interval.ms()),
            response_timeout_us: us(monitor.resptimeout.ms()),
            retries: small(monitor.retries),
            failure_retries: small(monitor.failure_retries),
            success_retries: small(monitor.success_retries),
            down_time_us: us(monitor.down_time.ms()),
        },
        learns_response_time: monitor.lrtm == Some(true),
        sense: if monitor.reverse { Sense::Reverse } else { Sense::Direct },
        destination_ip: monitor.dest_ip,
        destination_port: monitor.dest_port,
        enabled: monitor.enabled && bound_enabled,
    }
}
