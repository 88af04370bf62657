//! `run --no-listen`: what a configuration would find here, before anybody depends on it.
//!
//! Probes for real and opens nothing. One result of each monitor is enough for a verdict, however many it asks for: whoever
//! waits for the table wants to know what answers now.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use steelyard_core::monitor::health::Machine;
use steelyard_core::service::{Service, State as ServiceState};
use steelyard_core::snapshot::placement::Placement;
use steelyard_core::vserver::VirtualServer;

use crate::addresses::{Addresses, Vip};
use crate::auth::Auth;
use crate::columns::align;
use crate::fault::Fault;
use crate::files::Folders;
use crate::probe::{News, Prober};
use crate::report::Report;
use crate::run::{Plan, seed};
use crate::signals::Signals;
use crate::state::{Context, Probing, State};
use crate::worker::Clock;

/// Waits for one result of every monitor and prints the table; says how far it is every two seconds.
///
/// # Errors
/// A bound service is DOWN, or a signal came first.
pub async fn probe(plan: Plan, report: &Report) -> Result<(), Fault> {
    let mut signals = Signals::new()?;
    let clock = Clock::start();
    let quiet = |_: News<'_>| ();
    let (prober, _probing) = Prober::start(clock, seed(), plan.dispatcher, quiet);
    let addresses = Addresses::open(Vip::Host)?;
    let context = Context {
        clock,
        prober: prober.clone(),
        key: plan.key,
        auth: Auth::new(plan.first_password, plan.audit, clock)?,
        exposed: plan.exposed,
        addresses,
        placement: Placement::default(),
        probing: Probing::AsConfigured,
        log: None,
        source: None,
        folders: Folders::new(plan.data.as_deref()),
    };
    let state = State::new(plan.config, context);
    tokio::select! {
        () = prober.first_results(Duration::MAX) => {}
        () = tell_progress(&prober, report) => {}
        () = signals.next() => {}
    }
    let found = Found::of(&state, &prober);
    if !found.services.is_empty() {
        report.out(found.text());
    }
    prober.end();
    match (prober.awaited(), found.down()) {
        (0, 0) => Ok(()),
        (0, down) => Err(Fault::ServicesDown { down, bound: found.bound().count() }),
        (unknown, _) => Err(Fault::Interrupted { unknown }),
    }
}

/// Goes on until whoever called has enough.
async fn tell_progress(prober: &Prober, report: &Report) {
    loop {
        tokio::time::sleep(PROGRESS).await;
        let (all, awaited) = (prober.monitors(), prober.awaited());
        report.err(format!("steelyard: {} of {all} monitors have a first result", all - awaited.min(all)));
    }
}

struct Found {
    services: Vec<FoundService>,
    vservers: Vec<[String; 4]>,
}

struct FoundService {
    name: String,
    address: String,
    verdict: ServiceState,
    /// Virtual servers that use it.
    users: Vec<String>,
    monitors: Vec<FoundMonitor>,
}

struct FoundMonitor {
    name: String,
    response: String,
    said: String,
}

impl Found {
    fn of(state: &State, prober: &Prober) -> Found {
        let vservers = state.vservers();
        let mut users: BTreeMap<*const Service, Vec<String>> = BTreeMap::new();
        for vserver in &vservers {
            for service in vserver.services() {
                users.entry(Arc::as_ptr(service)).or_default().push(vserver.name.to_string());
            }
        }
        let services = state.services();
        let service = |service: &Arc<Service>| FoundService {
            name: service.name().to_string(),
            address: service.address().to_string(),
            verdict: prober.verdict(service),
            users: users.remove(&Arc::as_ptr(service)).unwrap_or_default(),
            monitors: monitors(prober, service),
        };
        Found {
            services: services.iter().map(service).collect(),
            vservers: vservers.iter().map(|vserver| vserver_row(state, prober, vserver)).collect(),
        }
    }

    fn bound(&self) -> impl Iterator<Item = &FoundService> {
        self.services.iter().filter(|service| !service.users.is_empty())
    }

    fn down(&self) -> usize {
        self.bound().filter(|service| service.verdict == ServiceState::Down).count()
    }

    fn text(&self) -> String {
        let mut text = String::new();
        let head = ["SERVICE", "ADDRESS", "STATE", "USED BY", "MONITOR", "TIME", "LAST RESPONSE"];
        let rows = self.services.iter().flat_map(FoundService::rows);
        align(&std::iter::once(head.map(str::to_owned).to_vec()).chain(rows).collect::<Vec<_>>(), &mut text);
        if !self.vservers.is_empty() {
            text.push('\n');
            let head = ["VIRTUAL SERVER", "ADDRESS", "STATE", "SERVICES"].map(str::to_owned);
            let rows = std::iter::once(&head).chain(&self.vservers);
            align(&rows.map(|row| row.to_vec()).collect::<Vec<_>>(), &mut text);
        }
        text.push('\n');
        text.push_str(&self.summary());
        text
    }

    fn summary(&self) -> String {
        let mut counts: Vec<(ServiceState, usize)> = Vec::new();
        for service in &self.services {
            match counts.iter_mut().find(|(state, _)| *state == service.verdict) {
                Some((_, count)) => *count += 1,
                None => counts.push((service.verdict, 1)),
            }
        }
        counts.sort_by_key(|(state, _)| std::cmp::Reverse(*state as u8));
        let counts: Vec<String> =
            counts.iter().map(|(state, count)| format!("{count} {}", state.text())).collect();
        format!("services: {}", counts.join(", "))
    }
}

impl FoundService {
    /// The service, and on lines of their own its monitors from the second on.
    fn rows(&self) -> Vec<Vec<String>> {
        let users = match self.users.as_slice() {
            [] => "nobody".to_owned(),
            users if users.len() <= USERS_SHOWN => users.join(", "),
            users => {
                let shown = users.iter().take(USERS_SHOWN).map(String::as_str).collect::<Vec<_>>();
                format!("{} and {} more", shown.join(", "), users.len() - USERS_SHOWN)
            }
        };
        let mut own = vec![self.name.clone(), self.address.clone(), self.verdict.text().to_owned(), users];
        let mut rows = Vec::new();
        for monitor in &self.monitors {
            let FoundMonitor { name, response, said } = monitor;
            own.extend([name.clone(), response.clone(), said.clone()]);
            rows.push(std::mem::replace(&mut own, vec![String::new(); 4]));
        }
        if rows.is_empty() {
            rows.push(own);
        }
        rows
    }
}

fn monitors(prober: &Prober, service: &Arc<Service>) -> Vec<FoundMonitor> {
    let run = |(name, machine): (Box<str>, Machine)| FoundMonitor {
        name: name.into(),
        response: machine.response_us.map_or_else(|| "-".to_owned(), milliseconds),
        said: machine.last.map_or_else(|| "no answer yet".to_owned(), |result| result.to_string()),
    };
    let unknown = prober.unknown(service).into_iter().map(|unknown| FoundMonitor {
        name: unknown.monitor.into(),
        response: "-".to_owned(),
        said: unknown.why.to_string(),
    });
    prober.machines(service).into_iter().map(run).chain(unknown).collect()
}

/// With two decimals, as `show service` has them.
fn milliseconds(us: u64) -> String {
    format!("{}.{:02} ms", us / 1_000, us % 1_000 / 10)
}

/// Name, address, state and how many services it has, by what was found.
fn vserver_row(state: &State, prober: &Prober, vserver: &VirtualServer) -> [String; 4] {
    let address = vserver.address.map_or_else(|| "not addressable".to_owned(), |a| a.to_string());
    let (mut up, mut all, mut up_weight, mut all_weight) = (0, 0, 0u64, 0u64);
    for bound in vserver.picker.services() {
        let (verdict, weight) = (prober.verdict(&bound.service), u64::from(bound.weight));
        let serves = verdict.admits();
        all += 1;
        up += usize::from(serves);
        all_weight += if verdict == ServiceState::OutOfService { 0 } else { weight };
        up_weight += if serves { weight } else { 0 };
    }
    let enough = up_weight * 100 >= u64::from(vserver.by_state.health_threshold) * all_weight;
    let verdict = match vserver.state() {
        ServiceState::OutOfService => ServiceState::OutOfService,
        _ if !vserver.is_open() => ServiceState::Down,
        _ if up > 0 && enough => ServiceState::Up,
        _ => ServiceState::Down,
    };
    // Whatever its services do.
    let closed = if vserver.is_open() { None } else { state.vserver_state(vserver).1 };
    let services = format!("{up} of {all} UP");
    let services = closed.map_or(services.clone(), |why| format!("{services}; {why}"));
    [vserver.name.to_string(), address, verdict.text().to_owned(), services]
}

const PROGRESS: Duration = Duration::from_secs(2);
const USERS_SHOWN: usize = 3;
