//! What is bound to services.

use steelyard_core::config::{Config, MonitorBinding, Service, ServiceType, Table};

use super::probes::Probes;
use super::{View, bindings, row, switch};
use crate::nitro::reply::Reply;
use crate::nitro::resource::Wanted;
use crate::nitro::row::Row;

/// `service_binding`: all of it in one element.
pub fn service(wanted: &Wanted<'_>) -> Result<Vec<Row>, Reply> {
    bindings(wanted, table, |view, service| {
        let mut all = row("service_binding");
        all.text("name", &service.name).rows("service_lbmonitor_binding", monitors(view, service));
        vec![all]
    })
}

/// `service_lbmonitor_binding`.
pub fn service_lbmonitor(wanted: &Wanted<'_>) -> Result<Vec<Row>, Reply> {
    bindings(wanted, table, monitors)
}

fn table(config: &Config) -> &Table<Service> {
    &config.services
}

fn monitors(view: &View<'_>, service: &Service) -> Vec<Row> {
    let probes = Probes::of(view, &service.name);
    let monitor = |binding: MonitorBinding| {
        let mut row = row("service_lbmonitor_binding");
        row.text("name", &service.name)
            .text("monitor_name", &binding.monitor)
            .number("weight", binding.weight.into())
            .number("dup_weight", binding.weight.into())
            .flag("passive", binding.passive)
            .text("monstate", switch(binding.enabled))
            .text("dup_state", switch(binding.enabled));
        let probed = probes.by(view, &binding);
        row.text("monitor_state", probed.state)
            .text("lastresponse", &probed.last_response)
            .number("responsetime", probed.response_ms())
            .number("responsetimeus", probed.response_us)
            .number("totalprobes", probed.probes)
            .number("totalfailedprobes", probed.failed)
            .number("failedprobes", probed.failed_now)
            .number("monitortotalprobes", probed.probes)
            .number("monitortotalfailedprobes", probed.failed)
            .number("monitorcurrentfailedprobes", probed.failed_now)
            .number("monstatparam1", probed.status.into())
            .always_zero();
        row
    };
    of_service(service).into_iter().map(monitor).collect()
}

/// The monitors bound to a service; one that has none and is probed has the default one of its type.
pub fn of_service(service: &Service) -> Vec<MonitorBinding> {
    or_default(service.service_type, &service.monitors, service.health_monitor)
}

/// The same of any list of monitors.
pub fn or_default(
    service_type: ServiceType,
    bound: &[MonitorBinding],
    is_probed: bool,
) -> Vec<MonitorBinding> {
    match bound {
        [] if is_probed => {
            let monitor = service_type.default_monitor().to_owned();
            vec![MonitorBinding { monitor, ..MonitorBinding::default() }]
        }
        bound => bound.to_vec(),
    }
}
