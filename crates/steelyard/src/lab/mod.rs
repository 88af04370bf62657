//! `steelyard lab`: somebody's ns.conf, unchanged, on one machine: every virtual server on loopback, every service
//! simulated.
//!
//! Owns what is said about it and what is printed meanwhile; where everything is, `site` knows. The way from there on is
//! that of `run`: the same reader, workers and management port.

mod services;
mod site;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use steelyard_core::config::ServiceType;
use steelyard_core::vserver::VirtualServer;

use crate::addresses::Vip;
use crate::auth::audit::Audit;
use crate::auth::first;
use crate::dispatcher::Dispatcher;
use crate::expose::Exposed;
use crate::fault::Fault;
use crate::listing::{quoted, ways_in};
use crate::nitro::opening::Opening;
use crate::nitro::rates::Counts;
use crate::read::{Absent, Source};
use crate::report::Report;
use crate::run::{DRAIN_SECONDS, OnFailure, Plan, Stage, on_control_thread, serve};
use crate::seal::Keeper;
use crate::state::State;

use services::{Answering, Listener, Services};
use site::{NotServed, Served, Site};

/// What to run, and for how long.
#[derive(clap::Args)]
pub struct LabArgs {
    /// Somebody's ns.conf. It is read, and nothing of it leaves this machine.
    file: PathBuf,
    /// End after so many seconds; without it Ctrl-C ends it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    seconds: Option<u32>,
    /// Management address; loopback only.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:9080")]
    nitro: SocketAddr,
}

/// `steelyard lab`.
///
/// # Errors
/// The file cannot be read, or the system refuses something.
pub fn run(args: &LabArgs) -> Result<(), Fault> {
    let report = Report::start().map_err(|error| Fault::System { what: "start a thread", error })?;
    let result = rehearse(args, &report);
    report.flush();
    result
}

fn rehearse(args: &LabArgs, report: &Report) -> Result<(), Fault> {
    if !args.nitro.ip().is_loopback() {
        return Err(Fault::ManagementBeyondLoopback(args.nitro));
    }
    let key = Keeper::in_memory();
    let source = Source {
        path: args.file.clone(),
        secrets: None,
        key: key.clone(),
        assume_features: true,
        on_failure: OnFailure::ServeTheRest,
        absent: Absent::Mistake,
    };
    let loaded = source.load()?;
    let refused = |error| Fault::System { what: "listen for the services on loopback", error };
    let listener = Listener::open().map_err(refused)?;
    let (config, mut site) = Site::plan(loaded.config, listener.port());
    let placement = std::mem::take(&mut site.placement);
    let site = Rc::new(site);
    let origin = args.file.display().to_string();
    let banner = banner(&origin, &site, &loaded.assumed, loaded.refused.len());
    let told = Rc::clone(&site);
    let (password, first) = first::for_now()?;
    let plan = Plan {
        config,
        origin,
        nitro: vec![Opening::plain(args.nitro)],
        certificate: None,
        ssh: Vec::new(),
        threads: 1,
        on_failure: OnFailure::ServeTheRest,
        key,
        first_password: Some(first),
        audit: Audit::default(),
        vip: Vip::Host,
        exposed: Exposed::All,
        source: None,
        data: None,
        access_log: None,
        dispatcher: Dispatcher::default(),
        drain_seconds: DRAIN_SECONDS,
        stage: Stage::Lab {
            placement,
            listing: Box::new(move |state, management| {
                listing(&banner, &told, state, (management, &password))
            }),
        },
    };
    let answering: Vec<Answering> = site.services.iter().map(Answering::from).collect();
    let services = Services::start(listener, answering)
        .map_err(|error| Fault::System { what: "start a thread", error })?;
    let seconds = args.seconds.map(u64::from);
    on_control_thread(serve(plan, report, |state| async move {
        progress(&state, report, seconds).await;
        drop(services);
    }))?;
    Ok(())
}

/// What the lab is, and what it does not try.
fn banner(origin: &str, site: &Site, assumed: &[&str], refused: usize) -> Vec<String> {
    let all = site.served.len() + site.not_served.len();
    let mut lines = vec![
        format!("steelyard {}: lab of {origin}", env!("CARGO_PKG_VERSION")),
        String::new(),
        format!("Virtual servers served, on this machine alone: {} of {all}; a.b.c.d at 127.b.c.d.", site.served.len()),
        "It tries the lines of the file and choosing. Every service is simulated, with a speed of its own, and UP.".to_owned(),
        "It does not try real servers, monitors, certificates, source addresses, nor lines that are only kept:".to_owned(),
        format!("'steelyard check {}' tells which those are.", quoted(origin)),
    ];
    if !assumed.is_empty() {
        lines.push(format!("Features that the file uses and does not enable are on: {}.", assumed.join(" ")));
    }
    match refused {
        0 => {}
        1 => lines.push("One line is refused; check says why.".to_owned()),
        _ => lines.push(format!("{refused} lines are refused; check says why.")),
    }
    lines.push(String::new());
    lines
}

fn listing(
    banner: &[String],
    site: &Site,
    state: &State,
    (management, password): (&[Opening], &str),
) -> Vec<String> {
    let mut lines = banner.to_vec();
    let live: BTreeMap<String, _> =
        state.vservers().into_iter().map(|v| (v.name.to_ascii_lowercase(), v)).collect();
    for served in &site.served {
        if let Some(vserver) = live.get(&served.name.to_ascii_lowercase()) {
            lines.extend(vserver_lines(served, vserver, site, state));
        }
    }
    if !site.not_served.is_empty() {
        lines.push("\nnot served:".to_owned());
        lines.extend(site.not_served.iter().map(not_served_line));
    }
    lines.push(String::new());
    let by_nsroot = format!("curl -H X-NITRO-USER:nsroot -H X-NITRO-PASS:{password} ");
    lines.extend(ways_in(management, &by_nsroot, site.served.first().map(|first| &*first.name)));
    if let Some(first) = site.served.first() {
        lines.push(format!("try it:     {}", how_to_try(first)));
    }
    lines
}

fn vserver_lines(served: &Served, vserver: &VirtualServer, site: &Site, state: &State) -> Vec<String> {
    let Served { name, service_type, configured, address, moved, stand_ins } = served;
    let (now, why) = state.vserver_state(vserver);
    let mut head = format!(
        "{name}  {}  {configured}  at {address}  {}  {}",
        service_type.text(),
        vserver.method,
        now.text()
    );
    head.extend(why.map(|why| format!(": {why}")));
    head.extend(moved.as_ref().map(|why| format!("  ({why})")));
    if *stand_ins {
        head.push_str("  (the file binds no service: these stand in)");
    }
    let mut lines = vec![head];
    let services = vserver.picker.services();
    for bound in services.iter().take(SHOWN) {
        let name = bound.service.name();
        let simulated = site.service(name);
        let at = simulated.map_or("", |s| &s.configured);
        let ms = simulated.map_or(0, |s| s.delay.as_millis());
        let state = match bound.service.state().admits() {
            true => String::new(),
            false => format!("  {}", bound.service.state().text()),
        };
        lines.push(format!("  {name}  {at}  weight {}  answers after {ms} ms{state}", bound.weight));
    }
    if services.len() > SHOWN {
        lines.push(format!("  and {} more", services.len() - SHOWN));
    }
    lines
}

fn not_served_line(not: &NotServed) -> String {
    format!("  {}  ({})", not.what, not.why)
}

fn how_to_try(served: &Served) -> String {
    match served.service_type {
        ServiceType::Http => format!("curl http://{}/", served.address),
        _ => format!("echo hello | nc {} {}", served.address.ip(), served.address.port()),
    }
}

/// A line for each virtual server that was used in the last second: requests, and the share of each service.
async fn progress(state: &Rc<State>, report: &Report, seconds: Option<u64>) {
    let mut before: BTreeMap<String, u64> = BTreeMap::new();
    let mut second = tokio::time::interval(Duration::from_secs(1));
    second.tick().await;
    for _ in 1..=seconds.unwrap_or(u64::MAX) {
        second.tick().await;
        for vserver in state.vservers() {
            report.out_if(used(&vserver, &mut before));
        }
    }
}

fn used(vserver: &VirtualServer, before: &mut BTreeMap<String, u64>) -> Option<String> {
    let new: Vec<(String, u64)> = vserver
        .services()
        .map(|service| {
            let now = Counts::of_service(service).requests;
            let key = format!("{}\0{}", vserver.name, service.name());
            (service.name().to_owned(), now - before.insert(key, now).unwrap_or(0).min(now))
        })
        .filter(|(_, requests)| *requests > 0)
        .collect();
    let all: u64 = new.iter().map(|(_, requests)| requests).sum();
    let shares: Vec<String> = new.iter().take(SHOWN).map(|(name, n)| format!("{name} {n}")).collect();
    (all > 0).then(|| format!("{}  {all} in the last second: {}", vserver.name, shares.join(", ")))
}

/// Services printed of one virtual server.
const SHOWN: usize = 16;
