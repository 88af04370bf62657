//! What `run` prints: what is served, which service changed its state.

use std::sync::Arc;

use steelyard_core::config::departure::Departure;
use steelyard_core::monitor::health::Machine;
use steelyard_core::monitor::schedule::Transition;
use steelyard_core::service::{Service, State as ServiceState};
use steelyard_core::vserver::VirtualServer;

use crate::nitro::opening::{Opening, Scheme};
use crate::probe::Prober;
use crate::state::State;

/// The lines before `ready`: each virtual server with its address, method and services, and the management URLs.
pub fn served(state: &State, prober: &Prober, origin: &str, management: &[Opening]) -> Vec<String> {
    let mut lines = vec![format!("steelyard {}: serving {origin}", env!("CARGO_PKG_VERSION"))];
    let vservers = state.vservers();
    if vservers.is_empty() {
        lines.push("no virtual server is configured".to_owned());
    }
    for vserver in &vservers {
        lines.extend(vserver_lines(state, prober, vserver));
    }
    lines.extend(ways_in(management, "", vservers.first().map(|first| &*first.name)));
    lines
}

/// Where figures are, asked by that command, and how to see the decisions of a virtual server.
pub fn ways_in(management: &[Opening], command: &str, vserver: Option<&str>) -> Vec<String> {
    let figures = |opening: &Opening| format!("management: {command}{opening}/nitro/v1/stat/lbvserver");
    let mut lines: Vec<String> = management.iter().map(figures).collect();
    let plain = management.iter().find(|opening| opening.scheme == Scheme::Http);
    if let (Some(opening), Some(vserver)) = (plain, vserver) {
        lines.push(format!("decisions:  steelyard explain {} --nitro {opening}", quoted(vserver)));
    }
    lines
}

/// A service changed its state.
pub fn transition(transition: &Transition) -> String {
    let service = &transition.service;
    let mut line = format!("{} ({}) is {}", service.name(), service.address(), transition.to.text());
    if let Some((monitor, result)) = &transition.cause {
        line.push_str(&format!(": {monitor}: {result}"));
    } else if let Some(departure) = transition.departure {
        line.push_str(&format!(": {}", way_out(departure, service.active(), transition.to)));
    } else if transition.to == ServiceState::OutOfService {
        line.push_str(": disabled");
    }
    line
}

/// How a service goes out of service, or why it has gone, with NetScaler's words while it goes.
fn way_out(departure: Departure, active: u64, state: ServiceState) -> String {
    if state == ServiceState::OutOfService {
        let graceful = departure.graceful && active == 0;
        return if graceful { "its last transaction has ended" } else { "its delay is over" }.to_owned();
    }
    let graceful = departure.graceful.then(|| format!("Graceful (number of active clients: {active})"));
    let delay = departure.delay_s.map(|seconds| format!("Out Of Service in {seconds} seconds"));
    [graceful, delay].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// A virtual server changed its state.
pub fn vserver_transition(vserver: &VirtualServer, state: ServiceState, why: Option<String>) -> String {
    let address = vserver.address.map_or_else(|| "not addressable".to_owned(), |a| a.to_string());
    let why = why.map(|why| format!(": {why}")).unwrap_or_default();
    format!("{} ({address}) is {}{why}", vserver.name, state.text())
}

fn vserver_lines(state: &State, prober: &Prober, vserver: &VirtualServer) -> Vec<String> {
    let (up, why) = state.vserver_state(vserver);
    let address = vserver.address.map_or_else(|| "not addressable".to_owned(), |a| a.to_string());
    let mut head = format!("{}  {address}  {}  {}", vserver.name, vserver.method, up.text());
    if let Some(why) = why {
        head.push_str(&format!(": {why}"));
    }
    let mut lines = vec![head];
    let services = vserver.picker.services();
    let width = services.iter().take(SHOWN).map(|b| b.service.name().len()).max().unwrap_or(0);
    for bound in services.iter().take(SHOWN) {
        let service = &bound.service;
        let mut line = format!(
            "  {:<width$}  {}  weight {}  {}",
            service.name(),
            service.address(),
            bound.weight,
            service.state().text()
        );
        let reasons = match service.state().admits() {
            true => unknown(prober, service),
            false => reasons(prober, service),
        };
        if !reasons.is_empty() {
            line.push_str(&format!("  {}", reasons.join("; ")));
        }
        lines.push(line.trim_end().to_owned());
    }
    if services.len() > SHOWN {
        lines.push(format!("  and {} more", services.len() - SHOWN));
    }
    lines
}

/// What each monitor of a service said last.
fn reasons(prober: &Prober, service: &Arc<Service>) -> Vec<String> {
    let said = |(name, machine): (Box<str>, Machine)| match machine.last {
        Some(result) => format!("{name}: {result}"),
        None => format!("{name}: no answer yet"),
    };
    let run = prober.machines(service).into_iter().map(said);
    run.chain(unknown(prober, service)).collect()
}

/// The monitors of a service that cannot be run, and why.
fn unknown(prober: &Prober, service: &Arc<Service>) -> Vec<String> {
    prober.unknown(service).iter().map(|unknown| format!("{}: {}", unknown.monitor, unknown.why)).collect()
}

/// A name as a shell's word.
pub fn quoted(name: &str) -> String {
    if name.contains(' ') { format!("'{name}'") } else { name.to_owned() }
}

/// Services printed of one virtual server at start.
const SHOWN: usize = 16;
