//! What monitors are bound to: services, groups, and the figures that a load monitor reads.

use steelyard_core::config::{
    Config, LbMonitor, MetricBinding, MonitorBinding, Service, ServiceGroup, Table,
};

use super::service::of_service;
use super::{View, bindings, each, row, switch};
use crate::nitro::reply::Reply;
use crate::nitro::resource::Wanted;
use crate::nitro::row::Row;

/// `lbmonbindings`: the monitors themselves.
pub fn lbmonbindings(wanted: &Wanted<'_>) -> Result<Vec<Row>, Reply> {
    each(wanted, table, |_, monitor| {
        let mut row = row("lbmonbindings");
        row.text("monitorname", &monitor.name)
            .text("type", monitor.kind.text())
            .text("state", switch(monitor.enabled));
        vec![row]
    })
}

/// `lbmonbindings_service_binding`.
pub fn lbmonbindings_service(wanted: &Wanted<'_>) -> Result<Vec<Row>, Reply> {
    bindings(wanted, table, |view, monitor| {
        let of = |(service, binding): (&Service, MonitorBinding)| {
            let mut row = row("lbmonbindings_service_binding");
            row.text("monitorname", &monitor.name)
                .text("servicename", &service.name)
                .text("servicetype", service.service_type.text())
                .text("svrstate", view.service_state(&service.name))
                .text("monsvcstate", switch(binding.enabled))
                .text("ipaddress", view.ip(&service.server))
                .number("port", service.port.into());
            row
        };
        services(view, monitor).map(of).collect()
    })
}

/// `lbmonbindings_servicegroup_binding`.
pub fn lbmonbindings_servicegroup(wanted: &Wanted<'_>) -> Result<Vec<Row>, Reply> {
    bindings(wanted, table, |view, monitor| {
        let of = |(group, binding): (&ServiceGroup, &MonitorBinding)| {
            let mut row = row("lbmonbindings_servicegroup_binding");
            row.text("monitorname", &monitor.name)
                .text("servicegroupname", &group.name)
                .text("servicetype", group.service_type.text())
                .text("boundservicegroupsvrstate", switch(group.enabled))
                .text("monstate", switch(binding.enabled));
            row
        };
        groups(view, monitor).map(of).collect()
    })
}

/// `lbmonitor_service_binding`.
pub fn lbmonitor_service(wanted: &Wanted<'_>) -> Result<Vec<Row>, Reply> {
    bindings(wanted, table, |view, monitor| {
        let of = |(service, binding): (&Service, MonitorBinding)| {
            let mut row = row("lbmonitor_service_binding");
            row.text("monitorname", &monitor.name).text("servicename", &service.name);
            bound(&mut row, &binding);
            row
        };
        services(view, monitor).map(of).collect()
    })
}

/// `lbmonitor_servicegroup_binding`.
pub fn lbmonitor_servicegroup(wanted: &Wanted<'_>) -> Result<Vec<Row>, Reply> {
    bindings(wanted, table, |view, monitor| {
        let of = |(group, binding): (&ServiceGroup, &MonitorBinding)| {
            let mut row = row("lbmonitor_servicegroup_binding");
            row.text("monitorname", &monitor.name)
                .text("servicegroupname", &group.name)
                .text("servicename", &group.name);
            bound(&mut row, binding);
            row
        };
        groups(view, monitor).map(of).collect()
    })
}

/// `lbmonitor_metric_binding`.
pub fn lbmonitor_metric(wanted: &Wanted<'_>) -> Result<Vec<Row>, Reply> {
    bindings(wanted, table, |_, monitor| {
        let of = |metric: &MetricBinding| {
            let mut row = row("lbmonitor_metric_binding");
            row.text("monitorname", &monitor.name)
                .text("metric", &metric.metric)
                .number("metricthreshold", metric.threshold.unwrap_or(0).into())
                .number("metricweight", metric.weight.into())
                .text("metrictable", &monitor.metric_table);
            row
        };
        monitor.metrics.iter().map(of).collect()
    })
}

fn table(config: &Config) -> &Table<LbMonitor> {
    &config.lb_monitors
}

fn services<'v>(
    view: &'v View<'_>,
    monitor: &'v LbMonitor,
) -> impl Iterator<Item = (&'v Service, MonitorBinding)> {
    let of = |service| {
        let is_it = |binding: &MonitorBinding| binding.monitor.eq_ignore_ascii_case(&monitor.name);
        Some((service, of_service(service).into_iter().find(is_it)?))
    };
    view.config.services.iter().filter_map(of)
}

fn groups<'v>(
    view: &'v View<'_>,
    monitor: &'v LbMonitor,
) -> impl Iterator<Item = (&'v ServiceGroup, &'v MonitorBinding)> {
    let of = |group: &'v ServiceGroup| {
        let is_it = |binding: &&MonitorBinding| binding.monitor.eq_ignore_ascii_case(&monitor.name);
        Some((group, group.monitors.iter().find(is_it)?))
    };
    view.config.service_groups.iter().filter_map(of)
}

fn bound(row: &mut Row, binding: &MonitorBinding) {
    row.number("weight", binding.weight.into())
        .number("dup_weight", binding.weight.into())
        .text("state", switch(binding.enabled))
        .text("dup_state", switch(binding.enabled));
}
