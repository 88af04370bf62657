//! `steelyard demo`: the whole program on loopback, with three services of unequal speed and a gentle load.
//!
//! Owns the configuration that it serves, the choice of free ports and what is printed meanwhile. The way from there
//! on is that of `run`: the same reader, prober, workers and management port.

mod companions;

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use steelyard_core::service::Service;
use steelyard_core::vserver::VirtualServer;

use crate::addresses::Vip;
use crate::auth::audit::Audit;
use crate::auth::first;
use crate::dispatcher::Dispatcher;
use crate::explain;
use crate::expose::Exposed;
use crate::fault::Fault;
use crate::nitro::opening::Opening;
use crate::nitro::rates::Counts;
use crate::read;
use crate::report::Report;
use crate::run::{DRAIN_SECONDS, OnFailure, Plan, Stage, on_control_thread, serve};
use crate::seal::Keeper;
use crate::state::State;
use companions::{Companions, Tally};

/// How long to run.
#[derive(clap::Args)]
pub struct DemoArgs {
    /// End after so many seconds, with a summary; without it Ctrl-C ends it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    seconds: Option<u32>,
}

/// `steelyard demo`.
///
/// # Errors
/// What the system refuses.
pub fn run(args: &DemoArgs) -> Result<(), Fault> {
    let report = Report::start().map_err(|error| Fault::System { what: "start a thread", error })?;
    let mut result = demonstrate(args, &report);
    for _ in 0..ATTEMPTS {
        // A port that was free a moment ago may have found another taker.
        if matches!(result, Err(Fault::NotOpened(_) | Fault::Management { .. })) {
            result = demonstrate(args, &report);
        }
    }
    report.flush();
    result
}

fn demonstrate(args: &DemoArgs, report: &Report) -> Result<(), Fault> {
    let no_port = |error| Fault::System { what: "find a free port on loopback", error };
    let services = open_services().map_err(no_port)?;
    let vserver = free_address(8080).map_err(no_port)?;
    let nitro = free_address(9080).map_err(no_port)?;
    let text = configuration(vserver, &services).map_err(no_port)?;
    report.out("This configuration is read like any ns.conf:\n");
    text.lines().for_each(|line| report.out(format!("    {line}")));
    report.out("");
    let loaded = read::configuration(Path::new("demo"), text.as_bytes(), false);
    loaded.refused.into_iter().for_each(|line| report.err(line));
    let (password, first) = first::for_now()?;
    let plan = Plan {
        config: loaded.config,
        origin: "the configuration above".to_owned(),
        nitro: vec![Opening::plain(nitro)],
        certificate: None,
        ssh: Vec::new(),
        threads: 1,
        on_failure: OnFailure::Exit,
        key: Keeper::in_memory(),
        first_password: Some(first),
        audit: Audit::default(),
        vip: Vip::Host,
        exposed: Exposed::default(),
        source: None,
        data: None,
        access_log: None,
        dispatcher: Dispatcher::default(),
        drain_seconds: DRAIN_SECONDS,
        stage: Stage::Site,
    };
    let companions = Companions::start(services, vserver)
        .map_err(|error| Fault::System { what: "start a thread", error })?;
    let tally = companions.tally();
    let seconds = args.seconds.map(u64::from);
    let state = on_control_thread(serve(plan, report, |state| async move {
        report.out(format!("try it:     curl http://{vserver}/"));
        report.out(format!("management: curl -H X-NITRO-USER:nsroot -H X-NITRO-PASS:{password} http://{nitro}/nitro/v1/stat/lbvserver"));
        companions.begin_load();
        progress(&state, report, seconds).await;
        drop(companions);
    }))?;
    if let Some(state) = state {
        summary(&state, &tally, report);
    }
    Ok(())
}

fn open_services() -> io::Result<Vec<(&'static str, Duration, TcpListener)>> {
    let open = |(name, delay)| Ok((name, delay, TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?));
    SERVICES.into_iter().map(open).collect()
}

fn configuration(vserver: SocketAddr, services: &[(&str, Duration, TcpListener)]) -> io::Result<String> {
    let mut text = "enable ns feature LB\n".to_owned();
    for (name, _, listener) in services {
        let address = listener.local_addr()?;
        text += &format!("add service {name} {} HTTP {}\n", address.ip(), address.port());
    }
    text += &format!(
        "add lb vserver {VSERVER} HTTP {} {} -lbMethod LEASTRESPONSETIME\n",
        vserver.ip(),
        vserver.port()
    );
    for (name, _, _) in services {
        text += &format!("bind lb vserver {VSERVER} {name}\n");
    }
    Ok(text)
}

/// Loopback with the port that people expect, or any that is free.
fn free_address(preferred: u16) -> io::Result<SocketAddr> {
    let taken = |port| TcpListener::bind((Ipv4Addr::LOCALHOST, port)).and_then(|l| l.local_addr());
    taken(preferred).or_else(|_| taken(0))
}

/// A line a second: requests, and of each service its share, its active transactions and its TTFB.
async fn progress(state: &Rc<State>, report: &Report, seconds: Option<u64>) {
    let Some(vserver) = state.snapshot().vserver(VSERVER).cloned() else { return };
    let mut before: Vec<Counts> = vserver.services().map(|s| Counts::of_service(s)).collect();
    let mut second = tokio::time::interval(Duration::from_secs(1));
    second.tick().await;
    for elapsed in 1..=seconds.unwrap_or(u64::MAX) {
        second.tick().await;
        if elapsed % HEAD_EACH == 1 {
            head(&vserver).into_iter().for_each(|line| report.out(line));
        }
        let now: Vec<Counts> = vserver.services().map(|s| Counts::of_service(s)).collect();
        let new: Vec<Counts> = now.iter().zip(&before).map(|(now, before)| now.since(before)).collect();
        report.out(line(elapsed, &vserver, &new));
        before = now;
    }
}

fn head(vserver: &VirtualServer) -> [String; 2] {
    let names: String = vserver.services().map(|s| format!("  {:<WIDTH$}", s.name())).collect();
    let columns: String =
        vserver.services().map(|_| format!("  {:<WIDTH$}", "share  active     TTFB")).collect();
    [
        format!("\n{:15}{names}", "").trim_end().to_owned(),
        format!("  time  requests{columns}").trim_end().to_owned(),
    ]
}

fn line(elapsed: u64, vserver: &VirtualServer, new: &[Counts]) -> String {
    let all: u64 = new.iter().map(|c| c.requests).sum();
    let cell = |(service, counts): (&Arc<Service>, &Counts)| {
        format!("  {:<WIDTH$}", cell(percent(counts.requests, all), service.active(), counts))
    };
    let cells: String = vserver.services().zip(new).map(cell).collect();
    format!("{elapsed:>4} s  {all:>8}{cells}").trim_end().to_owned()
}

fn cell(share: u64, active: u64, counts: &Counts) -> String {
    let ttfb = match counts.ttfb_sum_us.checked_div(counts.ttfb_count) {
        Some(us) => format!("{}.{} ms", us / 1_000, us % 1_000 / 100),
        None => "-".to_owned(),
    };
    format!("{share:>3} %  {active:>6}  {ttfb:>7}")
}

fn percent(part: u64, all: u64) -> u64 {
    (part * 100 + all / 2).checked_div(all).unwrap_or(0)
}

fn summary(state: &State, tally: &Tally, report: &Report) {
    let snapshot = state.snapshot();
    let Some(vserver) = snapshot.vserver(VSERVER) else { return };
    let counts: Vec<Counts> = vserver.services().map(|s| Counts::of_service(s)).collect();
    let all: u64 = counts.iter().map(|c| c.requests).sum();
    report.out(format!(
        "\n{all} requests; the clients had {} answers and {} errors",
        tally.answers.load(Relaxed),
        tally.errors.load(Relaxed)
    ));
    for (service, counts) in vserver.services().zip(&counts) {
        let share = percent(counts.requests, all);
        report.out(format!("  {}  {}", service.name(), cell(share, service.active(), counts)));
    }
    report.out("\nThe last decisions, as 'steelyard explain' shows them:\n");
    report.out(explain::text(&explain::answer(vserver, 5)).trim_end());
}

const VSERVER: &str = "Vserver-LB-1";
/// The documentation's three services, and how long each thinks.
const SERVICES: [(&str, Duration); 3] = [
    ("Service-HTTP-1", Duration::from_millis(20)),
    ("Service-HTTP-2", Duration::from_millis(10)),
    ("Service-HTTP-3", Duration::from_millis(20)),
];
const ATTEMPTS: usize = 5;
const WIDTH: usize = 22;
const HEAD_EACH: u64 = 20;
