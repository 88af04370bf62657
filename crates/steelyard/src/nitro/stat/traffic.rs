//! The figures of services, and what those of virtual servers have in common with them.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use steelyard_core::config::{Service as Configured, ServiceType};
use steelyard_core::service::{Service, State as ServiceState};
use steelyard_core::time::SECOND_US;

use super::anew::{self, Of};
use crate::nitro::documented::Section;
use crate::nitro::rates::{Counts, Recent};
use crate::nitro::reply::Reply;
use crate::nitro::resource::Wanted;
use crate::nitro::row::Row;
use crate::state::State;

/// Services, members of groups not among them: all, or the one that is named.
pub fn service(wanted: &Wanted<'_>) -> Result<Vec<Row>, Reply> {
    let config = wanted.state.config();
    let found = wanted.of(&config.services)?;
    Ok(found.into_iter().map(|service| service_row(wanted, service)).collect())
}

/// A service, in an answer about services or about what it is bound to.
pub fn service_row(wanted: &Wanted<'_>, configured: &Configured) -> Row {
    let state = wanted.state;
    let live = state.snapshot().service(&configured.name).cloned();
    let mut row = Row::new(Section::Stat, "service");
    row.text("name", &configured.name);
    service_fields(&mut row, state, live.as_ref(), (configured.service_type, configured.max_client));
    let recent = live.as_ref().map(|live| state.recent_of_service(live)).unwrap_or_default();
    let bytes = recent.counts.request_bytes.saturating_add(recent.counts.response_bytes);
    let mbps = recent.per_second(bytes).saturating_mul(8) / 1_000_000;
    row.number("throughput", mbps)
        .number("throughputrate", mbps)
        .number("activetransactions", live.as_ref().map_or(0, |live| live.active()));
    hits(&mut row, state, live.as_ref());
    row.always_zero();
    if let Some(live) = &live {
        anew::counted(&mut row, wanted, &Of::Service(live));
    }
    row
}

/// What a service and a member of a group have in common. One without an address has no live object, and is DOWN.
pub fn service_fields(
    row: &mut Row,
    state: &State,
    live: Option<&Arc<Service>>,
    (service_type, max_client): (ServiceType, u32),
) {
    let recent = live.map(|live| state.recent_of_service(live)).unwrap_or_default();
    let of = |count: fn(&Service) -> u64| live.map_or(0, |live| count(live));
    address(row, live.map(|live| live.address()));
    row.text("servicetype", service_type.text())
        .text("state", state_text(live.map_or(ServiceState::Down, |live| live.state())))
        .number("maxclients", max_client.into())
        .number("avgsvrttfb", live.map_or(0, |live| ttfb_ms(&recent, live)));
    // Where connections are balanced there are hits and no requests.
    let requests = |counts: Counts| match service_type {
        ServiceType::Tcp => Counts { requests: 0, responses: 0, ..counts },
        _ => counts,
    };
    let totals = live.map(|live| Counts::of_service(live)).unwrap_or_default();
    carried(row, &Recent { counts: requests(recent.counts), ..recent }, requests(totals));
    row.number("curclntconnections", of(Service::active))
        .number("surgecount", of(|service| service.pace.waiting()))
        .number("cursrvrconnections", of(|service| service.traffic.connections.load(Relaxed)))
        .number("svrestablishedconn", of(|service| service.traffic.connections.load(Relaxed)))
        .number("curreusepool", of(|service| service.traffic.idle_connections.load(Relaxed)));
}

/// How often it was chosen. Of a member of a group that is no field of the reference; `stat lb vserver` has it of each.
pub fn hits(row: &mut Row, state: &State, live: Option<&Arc<Service>>) {
    let recent = live.map(|live| state.recent_of_service(live)).unwrap_or_default();
    row.number("vsvrservicehits", live.map_or(0, |live| live.requests()))
        .number("vsvrservicehitsrate", recent.per_second(recent.counts.hits));
}

/// Requests, answers and bytes, and their rates.
pub fn carried(row: &mut Row, recent: &Recent, totals: Counts) {
    row.number("totalrequests", totals.requests)
        .number("requestsrate", recent.per_second(recent.counts.requests))
        .number("totalresponses", totals.responses)
        .number("responsesrate", recent.per_second(recent.counts.responses))
        .number("totalrequestbytes", totals.request_bytes)
        .number("requestbytesrate", recent.per_second(recent.counts.request_bytes))
        .number("totalresponsebytes", totals.response_bytes)
        .number("responsebytesrate", recent.per_second(recent.counts.response_bytes));
}

/// Where it listens; 0.0.0.0 and 0 of what has no address.
pub fn address(row: &mut Row, address: Option<SocketAddr>) {
    let (ip, port) = address.map_or(("0.0.0.0".to_owned(), 0), |a| (a.ip().to_string(), a.port()));
    row.text("primaryipaddress", ip).number("primaryport", port.into());
}

/// Milliseconds: the mean of the recent answers, of all answers when there are no recent ones, 0 without any.
fn ttfb_ms(recent: &Recent, service: &Service) -> u64 {
    let (sum, count) = match recent.counts.ttfb_count {
        0 => (service.traffic.ttfb_sum_us.load(Relaxed), service.traffic.ttfb_count.load(Relaxed)),
        n => (recent.counts.ttfb_sum_us, n),
    };
    let mean_us = sum.checked_div(count).unwrap_or(0);
    if count == 0 { 0 } else { ((mean_us + 500) / (SECOND_US / 1_000)).max(1) }
}

/// As `stat` spells states, shorter than `show` (`spec/nitro.md` 4).
pub fn state_text(state: ServiceState) -> &'static str {
    match state {
        ServiceState::Trofs => "TROFS",
        ServiceState::TrofsDown => "TROFS_DOWN",
        other => other.text(),
    }
}
