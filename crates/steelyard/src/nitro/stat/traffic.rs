//! The figures of virtual servers and services. What this program has no notion of (push, packets of the client side) is
//! 0, because clients expect every key.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use steelyard_core::config::ServiceType;
use steelyard_core::service::{Service, State as ServiceState};
use steelyard_core::time::SECOND_US;
use steelyard_core::vserver::VirtualServer;

use crate::nitro::rates::{Counts, Recent};
use crate::nitro::reply::Reply;
use crate::nitro::resource::Wanted;
use crate::nitro::row::Row;

/// Virtual servers: all, or the one that is named.
pub fn lbvserver(wanted: &Wanted<'_>) -> Result<Vec<Row>, Reply> {
    let state = wanted.state;
    match wanted.id {
        None => Ok(state.vservers().iter().map(|vserver| vserver_row(wanted, vserver)).collect()),
        Some(name) => {
            let snapshot = state.snapshot();
            let found = snapshot.vserver(name).ok_or_else(|| wanted.unknown())?;
            Ok(vec![vserver_row(wanted, found)])
        }
    }
}

/// Services, members of groups not among them: all, or the one that is named.
pub fn service(wanted: &Wanted<'_>) -> Result<Vec<Row>, Reply> {
    let services = wanted.state.plain_services();
    match wanted.id {
        None => Ok(services.iter().map(|service| service_row(wanted, service)).collect()),
        Some(name) => {
            let found = services.iter().find(|service| service.name().eq_ignore_ascii_case(name));
            Ok(vec![service_row(wanted, found.ok_or_else(|| wanted.unknown())?)])
        }
    }
}

fn vserver_row(wanted: &Wanted<'_>, vserver: &VirtualServer) -> Row {
    let state = wanted.state;
    let recent = state.recent_of_vserver(vserver);
    let live = &vserver.live;
    let up = vserver.services().filter(|s| s.state().admits()).count() as u64;
    let all = vserver.services().count() as u64;
    let servers: u64 = vserver.services().map(|s| s.traffic.connections.load(Relaxed)).sum();
    let of_services: u64 = vserver.services().map(|s| s.pace.waiting()).sum();
    let (vserver_state, why) = state.vserver_state(vserver);
    let mut row = wanted.row();
    row.text("name", &*vserver.name)
        .text("sortorder", "descending")
        .number("vsvrsurgecount", vserver.waiting() as u64)
        .number("establishedconn", live.connections.load(Relaxed))
        .number("inactsvcs", all - up)
        .number("vslbhealth", vserver.picker.standing().percent().into());
    address(&mut row, vserver.address);
    row.text("type", word(state.types(&vserver.name).0))
        .text("state", state_text(vserver_state))
        .number("actsvcs", up)
        .number("tothits", live.hits.load(Relaxed))
        .number("hitsrate", recent.per_second(recent.counts.hits));
    traffic(&mut row, &recent, Counts::of_vserver(vserver));
    row.zeros(NO_PACKETS);
    row.number("curclntconnections", live.connections.load(Relaxed)).number("cursrvrconnections", servers);
    row.zeros(NO_PERSISTENCE);
    row.number("surgecount", vserver.waiting() as u64 + of_services).number("svcsurgecount", of_services);
    let threshold = vserver.by_state.spillover.as_ref().map_or(0, |spillover| spillover.number(vserver));
    row.number("sothreshold", threshold).number("totspillovers", live.spilled.load(Relaxed));
    row.zeros(NO_PUSH);
    row.number("invalidrequestresponse", live.invalid.load(Relaxed))
        .number("invalidrequestresponsedropped", live.invalid.load(Relaxed))
        .number("totvserverdownbackuphits", live.backup_hits.load(Relaxed));
    row.zeros(NO_MULTIPATH);
    // Ours: why it is not UP, in words.
    row.text("reason", why.unwrap_or_default());
    row
}

fn service_row(wanted: &Wanted<'_>, service: &Arc<Service>) -> Row {
    let state = wanted.state;
    let recent = state.recent_of_service(service);
    let bytes = recent.counts.request_bytes.saturating_add(recent.counts.response_bytes);
    let mbps = recent.per_second(bytes).saturating_mul(8) / 1_000_000;
    let connections = service.traffic.connections.load(Relaxed);
    let service_type = state.types(service.name()).1;
    let mut row = wanted.row();
    row.text("name", service.name())
        .number("throughput", mbps)
        .number("throughputrate", mbps)
        .number("avgsvrttfb", ttfb_ms(&recent, service));
    address(&mut row, Some(service.address()));
    row.text("servicetype", word(service_type)).text("state", state_text(service.state()));
    // Where connections are balanced there are hits and no requests.
    let requests = |counts: Counts| match service_type {
        Some(ServiceType::Tcp) => Counts { requests: 0, responses: 0, ..counts },
        _ => counts,
    };
    let of_requests = Recent { counts: requests(recent.counts), ..recent };
    traffic(&mut row, &of_requests, requests(Counts::of_service(service)));
    row.number("curclntconnections", service.active())
        .number("surgecount", service.pace.waiting())
        .number("cursrvrconnections", connections)
        .number("svrestablishedconn", connections)
        .number("curreusepool", service.traffic.idle_connections.load(Relaxed));
    row.zeros(&["maxclients", "curload", "curtflags"]);
    row.number("vsvrservicehits", service.requests())
        .number("vsvrservicehitsrate", recent.per_second(recent.counts.hits))
        .number("activetransactions", service.active());
    row
}

fn word(service_type: Option<ServiceType>) -> &'static str {
    service_type.map_or("", ServiceType::text)
}

fn traffic(row: &mut Row, recent: &Recent, totals: Counts) {
    row.number("totalrequests", totals.requests)
        .number("requestsrate", recent.per_second(recent.counts.requests))
        .number("totalresponses", totals.responses)
        .number("responsesrate", recent.per_second(recent.counts.responses))
        .number("totalrequestbytes", totals.request_bytes)
        .number("requestbytesrate", recent.per_second(recent.counts.request_bytes))
        .number("totalresponsebytes", totals.response_bytes)
        .number("responsebytesrate", recent.per_second(recent.counts.response_bytes));
}

fn address(row: &mut Row, address: Option<SocketAddr>) {
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

/// What this program does not have, in its order.
const NO_PACKETS: &[&str] = &["totalpktsrecvd", "pktsrecvdrate", "totalpktssent", "pktssentrate"];
const NO_PERSISTENCE: &[&str] = &["curpersistencesessions", "curbackuppersistencesessions"];
const NO_PUSH: &[&str] = &["labelledconn", "pushlabel", "deferredreq", "deferredreqrate"];
const NO_MULTIPATH: &[&str] = &["curmptcpsessions", "cursubflowconn"];
