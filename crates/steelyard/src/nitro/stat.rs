//! The figures of `stat lbvserver` and `stat service`, in NITRO's names and value types (`spec/nitro.md` 4, 10):
//! counters are strings, rates and ports are numbers. What this program has no notion of (push, packets of the client
//! side) is 0, because clients expect every key.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use serde_json::{Value, json};
use steelyard_core::config::ServiceType;
use steelyard_core::service::{Service, State as ServiceState};
use steelyard_core::time::SECOND_US;
use steelyard_core::vserver::VirtualServer;

use super::Fields;
use super::rates::{Counts, Recent};
use crate::state::State;

/// All virtual servers.
pub fn lbvservers(state: &State) -> Vec<Fields> {
    state.vservers().iter().map(|v| vserver_fields(state, v)).collect()
}

/// The virtual server called `name`.
pub fn lbvserver(state: &State, name: &str) -> Option<Fields> {
    state.snapshot().vserver(name).map(|v| vserver_fields(state, v))
}

/// All services; members of groups are not among them.
pub fn services(state: &State) -> Vec<Fields> {
    state.plain_services().iter().map(|s| service_fields(state, s)).collect()
}

/// The service called `name`.
pub fn service(state: &State, name: &str) -> Option<Fields> {
    let found = state.plain_services().into_iter().find(|s| s.name().eq_ignore_ascii_case(name))?;
    Some(service_fields(state, &found))
}

fn vserver_fields(state: &State, vserver: &VirtualServer) -> Fields {
    let recent = state.recent_of_vserver(vserver);
    let live = &vserver.live;
    let up = vserver.services().filter(|s| s.state().admits()).count();
    let all = vserver.services().count();
    let servers: u64 = vserver.services().map(|s| s.traffic.connections.load(Relaxed)).sum();
    let (vserver_state, why) = state.vserver_state(vserver);
    let mut fields = vec![
        ("name", json!(vserver.name)),
        ("sortorder", json!("descending")),
        ("vsvrsurgecount", counter(vserver.waiting() as u64)),
        ("establishedconn", counter(live.connections.load(Relaxed))),
        ("inactsvcs", counter((all - up) as u64)),
        ("vslbhealth", counter(vserver.picker.standing().percent().into())),
    ];
    fields.extend(address(vserver.address));
    fields.extend([
        ("type", json!(word(state.types(&vserver.name).0))),
        ("state", json!(state_text(vserver_state))),
        ("actsvcs", counter(up as u64)),
        ("tothits", counter(live.hits.load(Relaxed))),
        ("hitsrate", rate(&recent, recent.counts.hits)),
    ]);
    fields.extend(traffic(&recent, Counts::of_vserver(vserver)));
    fields.extend(zeros(&["totalpktsrecvd"], &["pktsrecvdrate"]));
    fields.extend(zeros(&["totalpktssent"], &["pktssentrate"]));
    fields.extend([
        ("curclntconnections", counter(live.connections.load(Relaxed))),
        ("cursrvrconnections", counter(servers)),
    ]);
    fields.extend(zeros(NO_PERSISTENCE, &[]));
    let of_services: u64 = vserver.services().map(|s| s.pace.waiting()).sum();
    fields.extend([
        ("surgecount", counter(vserver.waiting() as u64 + of_services)),
        ("svcsurgecount", counter(of_services)),
    ]);
    let threshold = vserver.by_state.spillover.as_ref().map_or(0, |spillover| spillover.number(vserver));
    fields.extend([
        ("sothreshold", counter(threshold)),
        ("totspillovers", counter(live.spilled.load(Relaxed))),
    ]);
    fields.extend(zeros(NO_PUSH, &["deferredreqrate"]));
    fields.extend([
        ("invalidrequestresponse", counter(live.invalid.load(Relaxed))),
        ("invalidrequestresponsedropped", counter(live.invalid.load(Relaxed))),
    ]);
    fields.push(("totvserverdownbackuphits", counter(live.backup_hits.load(Relaxed))));
    fields.extend(zeros(&["curmptcpsessions", "cursubflowconn"], &[]));
    // Ours: why it is not UP, in words.
    fields.push(("reason", json!(why.unwrap_or_default())));
    Fields(fields)
}

fn service_fields(state: &State, service: &Arc<Service>) -> Fields {
    let recent = state.recent_of_service(service);
    let traffic_now = &service.traffic;
    let bytes = recent.counts.request_bytes.saturating_add(recent.counts.response_bytes);
    let mbps = recent.per_second(bytes).saturating_mul(8) / 1_000_000;
    let connections = traffic_now.connections.load(Relaxed);
    let mut fields = vec![
        ("name", json!(service.name())),
        ("throughput", counter(mbps)),
        ("throughputrate", json!(mbps)),
        ("avgsvrttfb", counter(ttfb_ms(&recent, service))),
    ];
    fields.extend(address(Some(service.address())));
    let service_type = state.types(service.name()).1;
    fields
        .extend([("servicetype", json!(word(service_type))), ("state", json!(state_text(service.state())))]);
    // Where connections are balanced there are hits and no requests.
    let requests = |counts: Counts| match service_type {
        Some(ServiceType::Tcp) => Counts { requests: 0, responses: 0, ..counts },
        _ => counts,
    };
    let of_requests = Recent { counts: requests(recent.counts), ..recent };
    fields.extend(traffic(&of_requests, requests(Counts::of_service(service))));
    fields.extend([
        ("curclntconnections", counter(service.active())),
        ("surgecount", counter(service.pace.waiting())),
        ("cursrvrconnections", counter(connections)),
        ("svrestablishedconn", counter(connections)),
        ("curreusepool", counter(traffic_now.idle_connections.load(Relaxed))),
        ("maxclients", counter(0)),
        ("curload", counter(0)),
        ("curtflags", counter(0)),
        ("vsvrservicehits", counter(service.requests())),
        ("vsvrservicehitsrate", rate(&recent, recent.counts.hits)),
        ("activetransactions", counter(service.active())),
    ]);
    Fields(fields)
}

fn word(service_type: Option<ServiceType>) -> &'static str {
    service_type.map_or("", ServiceType::text)
}

fn traffic(recent: &Recent, totals: Counts) -> [(&'static str, Value); 8] {
    [
        ("totalrequests", counter(totals.requests)),
        ("requestsrate", rate(recent, recent.counts.requests)),
        ("totalresponses", counter(totals.responses)),
        ("responsesrate", rate(recent, recent.counts.responses)),
        ("totalrequestbytes", counter(totals.request_bytes)),
        ("requestbytesrate", rate(recent, recent.counts.request_bytes)),
        ("totalresponsebytes", counter(totals.response_bytes)),
        ("responsebytesrate", rate(recent, recent.counts.response_bytes)),
    ]
}

fn address(address: Option<SocketAddr>) -> [(&'static str, Value); 2] {
    let (ip, port) = address.map_or(("0.0.0.0".to_owned(), 0), |a| (a.ip().to_string(), a.port()));
    [("primaryipaddress", json!(ip)), ("primaryport", json!(port))]
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

fn zeros(
    counters: &'static [&'static str],
    rates: &'static [&'static str],
) -> impl Iterator<Item = (&'static str, Value)> {
    counters.iter().map(|name| (*name, counter(0))).chain(rates.iter().map(|name| (*name, json!(0))))
}

fn counter(n: u64) -> Value {
    json!(n.to_string())
}

fn rate(recent: &Recent, count: u64) -> Value {
    json!(recent.per_second(count))
}

/// As `stat` spells states, shorter than `show` (`spec/nitro.md` 4).
pub fn state_text(state: ServiceState) -> &'static str {
    match state {
        ServiceState::Trofs => "TROFS",
        ServiceState::TrofsDown => "TROFS_DOWN",
        other => other.text(),
    }
}

/// Counters of a virtual server for what this program does not have, in their order.
const NO_PERSISTENCE: &[&str] = &["curpersistencesessions", "curbackuppersistencesessions"];
const NO_PUSH: &[&str] = &["labelledconn", "pushlabel", "deferredreq"];
