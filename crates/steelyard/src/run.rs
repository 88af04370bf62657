//! `steelyard run`: reads a configuration, probes its services, serves its virtual servers.
//!
//! Owns the order of starting and stopping. Start: the management address, the first probes, the listeners, the line
//! `ready`. Stop: no new connection, transactions in progress may end, then the rest is cut.

use std::cell::Cell;
use std::future::Future;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use steelyard_core::config::Config;
use steelyard_core::snapshot::placement::Placement;
use tokio::task::{JoinHandle, LocalSet, spawn_local};

use crate::access_log::{AccessLog, Output, Sink, Target};
use crate::addresses::{self, Addresses, Vip};
use crate::auth::audit::Audit;
use crate::auth::{Auth, First, first};
use crate::dispatcher::{Dispatcher, DispatcherArgs};
use crate::expose::Exposed;
use crate::fault::Fault;
use crate::files::Folders;
use crate::listing;
use crate::nitro::host::HostSocket;
use crate::nitro::opening::{self, Opened, Opening};
use crate::nitro::pair::Pair;
use crate::nitro::{self, Listener};
use crate::preflight;
use crate::probe::{News, Prober};
use crate::read::{Absent, Source};
use crate::reload::{self, Hangup};
use crate::report::Report;
use crate::seal::{Keeper, Storage};
use crate::signals::Signals;
use crate::ssh;
use crate::state::{Context, Probing, State};
use crate::upkeep::{Rotation, Shortage, keep_time};
use crate::worker::{Clock, Flusher, Workers};

/// What to serve, and how.
#[derive(clap::Args)]
pub struct RunArgs {
    /// Configuration: a NetScaler's ns.conf. It is also what a save replaces. Without this option that is ns.conf in the
    /// data directory, and nothing is configured until there is one.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Directory of what the program keeps: the saved configuration, the key that secrets are sealed with, the audit log,
    /// the socket nitro.sock by which its owner shows and changes the running configuration without a password.
    #[arg(long, value_name = "DIRECTORY", default_value = "./steelyard-data")]
    data: PathBuf,
    /// Secrets that the appliance had encrypted, in lines such as "set lb monitor m LDAP -password x". Nobody else may be
    /// able to read the file.
    #[arg(long, value_name = "FILE")]
    secrets: Option<PathBuf>,
    /// A file with the password that nsroot has at the first start; nobody else may be able to read it. Without it the
    /// environment's STEELYARD_NSROOT_PASSWORD says it, and without that one is made and shown once.
    #[arg(long, value_name = "FILE")]
    nsroot_password_file: Option<PathBuf>,
    /// Management address; may be given several times. HTTP is spoken on loopback and HTTPS beyond it, unless http:// or
    /// https:// before the address says otherwise. By http:// beyond loopback passwords can be read on the way.
    #[arg(long, value_name = "[http://|https://]ADDRESS:PORT", default_value = "127.0.0.1:9080")]
    nitro: Vec<Opening>,
    /// Certificate of HTTPS, in PEM, with those that lead to its authority. Without this option it is nitro.crt in the data
    /// directory, and one is made if there is none. SIGHUP makes it read again.
    #[arg(long, value_name = "FILE", requires = "nitro_key")]
    nitro_cert: Option<PathBuf>,
    /// The certificate's key, in PEM; nobody else may be able to read it.
    #[arg(long, value_name = "FILE", requires = "nitro_cert")]
    nitro_key: Option<PathBuf>,
    /// Serve the prompt by SSH at this address; may be given several times. Users are those of the configuration, by
    /// password or by the keys in ssh/authorized_keys.d/USER in the data directory.
    #[cfg(feature = "ssh")]
    #[arg(long, value_name = "ADDRESS:PORT")]
    ssh: Vec<SocketAddr>,
    /// Threads that carry traffic; one for each core unless given.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Exit when a line is refused or an address cannot be opened, in place of serving the rest.
    #[arg(long)]
    strict: bool,
    /// Probe each service once, print what came of it as a table, and serve nothing; exit 1 if a service that is bound to a
    /// virtual server is DOWN.
    #[arg(long)]
    no_listen: bool,
    /// Enable the features that the file uses, even if it does not say so.
    #[arg(long)]
    assume_features: bool,
    /// Who gives this host the addresses of its virtual servers: 'host' leaves it to you, 'manage=IFACE' adds them to that
    /// interface while they are served, announces them, and removes them in the end.
    #[arg(long, value_name = "host|manage=IFACE", default_value = "host")]
    vip: Vip,
    /// Open this virtual server although what guards it is not acted on; may be given several times.
    #[arg(long, value_name = "NAME")]
    expose: Vec<String>,
    /// Write a JSON line for each request to this file, '-' for standard output; SIGUSR1 opens it again after it was moved.
    #[arg(long, value_name = "FILE|-")]
    access_log: Option<PathBuf>,
    #[command(flatten)]
    dispatcher: DispatcherArgs,
    /// How long a stop by SIGTERM or SIGINT waits for transactions in progress before it cuts them.
    #[arg(long, value_name = "SECONDS", default_value_t = DRAIN_SECONDS)]
    drain_seconds: u32,
}

/// What is to be served once the configuration is read.
pub struct Plan {
    /// The configuration.
    pub config: Config,
    /// Where it came from, for people.
    pub origin: String,
    /// Management addresses.
    pub nitro: Vec<Opening>,
    /// The certificate of those where HTTPS is spoken.
    pub certificate: Option<Pair>,
    /// Where the prompt is served by SSH.
    pub ssh: Vec<SocketAddr>,
    /// Threads that carry traffic.
    pub threads: usize,
    /// What to do when an address cannot be opened.
    pub on_failure: OnFailure,
    /// The key of its secrets.
    pub key: Keeper,
    /// nsroot's first password.
    pub first_password: Option<First>,
    /// Where changes are noted down.
    pub audit: Audit,
    /// Who gives the host the addresses.
    pub vip: Vip,
    /// Which virtual servers are opened whatever guards them.
    pub exposed: Exposed,
    /// Where to save it, and to read it again when SIGHUP comes.
    pub source: Option<Source>,
    /// The directory of the socket by which it can be changed.
    pub data: Option<PathBuf>,
    /// Where each transaction is written down, if anywhere.
    pub access_log: Option<Output>,
    /// What runs the scripts of monitors.
    pub dispatcher: Dispatcher,
    /// How long a stop waits for transactions in progress.
    pub drain_seconds: u32,
    /// Where all that takes place.
    pub stage: Stage,
}

/// Where a configuration is served.
pub enum Stage {
    /// At its own addresses, with its own services.
    Site,
    /// On loopback, with services that are simulated.
    Lab {
        /// Where everything is.
        placement: Placement,
        /// The lines before `ready`.
        listing: Listing,
    },
}

/// Makes the lines that tell what is served, once that and the management addresses are known.
pub type Listing = Box<dyn FnOnce(&State, &[Opening]) -> Vec<String>>;

/// What to do when a part cannot be served.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum OnFailure {
    /// Serve the rest and try again.
    ServeTheRest,
    /// End the program.
    Exit,
}

/// `steelyard run`.
///
/// # Errors
/// [`Fault`]: what could not be read, opened or, with `--strict`, accepted.
pub fn run(args: &RunArgs) -> Result<(), Fault> {
    let report = Report::start().map_err(|error| Fault::System { what: "start a thread", error })?;
    let result = on_control_thread(async {
        let plan = plan(args, &report)?;
        if args.no_listen {
            return preflight::probe(plan, &report).await;
        }
        serve(plan, &report, |_| std::future::pending::<()>()).await.map(drop)
    });
    report.flush();
    result
}

/// Runs a task and everything it spawns on this thread.
///
/// # Errors
/// The task's own, and what the system refuses.
pub fn on_control_thread<T>(task: impl Future<Output = Result<T, Fault>>) -> Result<T, Fault> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Fault::System { what: "start the control thread", error })?;
    let result = LocalSet::new().block_on(&runtime, task);
    runtime.shutdown_background();
    result
}

/// Serves until a signal comes or `meanwhile` ends, then stops gracefully. Returns what was served, unless a signal
/// came before that.
///
/// # Errors
/// What keeps it from starting.
pub async fn serve<F, M>(plan: Plan, report: &Report, meanwhile: M) -> Result<Option<Rc<State>>, Fault>
where
    F: Future<Output = ()>,
    M: FnOnce(Rc<State>) -> F,
{
    let mut signals = Signals::new()?;
    let addresses = Addresses::open(plan.vip)?;
    let hangup = plan.source.clone().map(Hangup::new).transpose()?;
    let rotation = Rotation::new()?;
    let Opened { listeners, at: management, tls } = opening::open(&plan.nitro, plan.certificate).await?;
    let ssh = ssh::open(&plan.ssh, plan.data.as_deref())?;
    let clock = Clock::start();
    // Before the first probe: workers raise the limit of descriptors, and need theirs first.
    let (log, sinks) = start_log(plan.access_log, plan.threads, clock)?;
    let workers = Workers::start(plan.threads, clock, sinks)
        .map_err(|error| Fault::System { what: "start a worker", error })?;
    let ready = Rc::new(Cell::new(false));
    let mut host_socket = None;
    let (prober, probing) = start_prober(clock, report, &ready, (workers.flusher(), plan.dispatcher));
    let (placement, probed, listing) = match plan.stage {
        Stage::Site => (Placement::default(), Probing::AsConfigured, None),
        Stage::Lab { placement, listing } => (placement, Probing::Off, Some(listing)),
    };
    let state = Rc::new(State::new(
        plan.config,
        Context {
            clock,
            prober: prober.clone(),
            key: plan.key,
            auth: Auth::new(plan.first_password, plan.audit, clock)?,
            exposed: plan.exposed,
            addresses,
            placement,
            probing: probed,
            log,
            source: plan.source,
            folders: Folders::new(plan.data.as_deref()),
        },
    ));
    for listener in listeners {
        spawn_local(nitro::serve(listener, nitro::Door::new(&state, report)));
    }
    if let Some(data) = plan.data {
        match HostSocket::open(&data) {
            Ok((listener, socket)) => {
                host_socket = Some(socket);
                spawn_local(nitro::serve(Listener::Socket(listener), nitro::Door::new(&state, report)));
            }
            Err(why) => match &ssh {
                Some(ssh) => return Err(ssh.without_socket(&why)),
                None => report.err(format!("steelyard: {why}; without it changes take a login at --nitro")),
            },
        }
    }
    tokio::select! {
        () = prober.first_results(FIRST_RESULTS.min(state.longest_probe() + SPARE)) => {}
        () = signals.next() => return Ok(None),
    }
    open(&state, workers, plan.on_failure, report).await?;
    spawn_local(addresses::follow(Rc::clone(&state), report.clone()));
    state.exposure().into_iter().for_each(|line| report.err(format!("steelyard: {line}")));
    let mut lines = match listing {
        None => listing::served(&state, &prober, &plan.origin, &management),
        Some(listing) => listing(&state, &management),
    };
    lines.extend(ssh.iter().flat_map(ssh::Opened::lines));
    lines.push("ready".to_owned());
    let ssh = ssh.map(|ssh| ssh.serve(&state, report)).transpose()?;
    report.out(lines.join("\n"));
    ready.set(true);
    let mut shortage = Shortage::default();
    let ended = tokio::select! {
        () = signals.next() => Ok(()),
        () = meanwhile(Rc::clone(&state)) => Ok(()),
        () = keep_time(&state, report, &mut shortage) => Ok(()),
        () = reload::at_each_hangup(hangup, tls.as_deref(), &state, report) => Ok(()),
        () = rotation.follow(&state) => Ok(()),
        _ = probing => Err(Fault::Probing),
    };
    let seconds = plan.drain_seconds;
    report.out(format!(
        "stopping: transactions in progress may end within {seconds} s; a second signal ends them at once"
    ));
    tokio::select! {
        () = stop(&state, Duration::from_secs(seconds.into())) => {}
        () = keep_time(&state, report, &mut shortage) => {}
        () = signals.next() => {}
    }
    if let Some(ssh) = ssh {
        ssh.stop().await;
    }
    prober.end();
    state.release_addresses().into_iter().for_each(|line| report.err(format!("steelyard: {line}")));
    if let Some(log) = state.access_log() {
        log.stop();
        shortage.tell(&state, report);
    }
    drop(host_socket);
    state.auth().audit().flush();
    ended.map(|()| Some(state))
}

/// The access log and the workers' ends of it.
fn start_log(
    output: Option<Output>,
    workers: usize,
    clock: Clock,
) -> Result<(Option<AccessLog>, Vec<Sink>), Fault> {
    let Some(output) = output else { return Ok((None, Vec::new())) };
    let started = AccessLog::start(output, workers.max(1), clock);
    let (log, sinks) = started.map_err(|error| Fault::System { what: "start a thread", error })?;
    Ok((Some(log), sinks))
}

/// Opens every address.
async fn open(state: &State, workers: Workers, on_failure: OnFailure, report: &Report) -> Result<(), Fault> {
    let failures = state.publish(workers);
    if on_failure == OnFailure::Exit && !failures.is_empty() {
        stop(state, Duration::ZERO).await;
        return Err(Fault::NotOpened(failures));
    }
    failures.into_iter().for_each(|line| report.err(format!("steelyard: {line}{AGAIN}")));
    let troubles = state.settle_addresses();
    if on_failure == OnFailure::Exit && !troubles.is_empty() {
        stop(state, Duration::ZERO).await;
        return Err(Fault::NotGiven(troubles));
    }
    let said = troubles.into_iter().chain(state.missing_sources());
    said.for_each(|line| report.err(format!("steelyard: {line}")));
    Ok(())
}

fn plan(args: &RunArgs, report: &Report) -> Result<Plan, Fault> {
    args.nitro.iter().filter_map(Opening::danger).for_each(|line| report.err(format!("steelyard: {line}")));
    let on_failure = if args.strict { OnFailure::Exit } else { OnFailure::ServeTheRest };
    // What only probes saves nothing.
    let storage = if args.no_listen { Storage::Memory } else { Storage::Disk };
    let key = Keeper::new(&args.data, storage);
    let (path, absent) = match &args.config {
        Some(path) => (path.clone(), Absent::Mistake),
        None => (args.data.join(NS_CONF), Absent::Empty),
    };
    let source = Source {
        path: path.clone(),
        secrets: args.secrets.clone(),
        key: key.clone(),
        assume_features: args.assume_features,
        on_failure,
        absent,
    };
    if !args.no_listen {
        source.finish_saving();
    }
    let loaded = source.load()?;
    let said = loaded.said();
    if !said.is_empty() {
        report.err(said.join("\n"));
    }
    let exposed = Exposed::new(&args.expose, &loaded.config)?;
    let (first_password, audit) = users(args, &loaded.config, report)?;
    let access_log = args.access_log.as_deref().filter(|_| !args.no_listen).map(open_log).transpose()?;
    Ok(Plan {
        config: loaded.config,
        origin: path.display().to_string(),
        nitro: args.nitro.clone(),
        certificate: Some(match (&args.nitro_cert, &args.nitro_key) {
            (Some(certificate), Some(key)) => Pair::named(certificate, key),
            _ => Pair::of(&args.data),
        }),
        #[cfg(feature = "ssh")]
        ssh: args.ssh.clone(),
        #[cfg(not(feature = "ssh"))]
        ssh: Vec::new(),
        threads: args.threads.map_or_else(cores, usize::from),
        on_failure,
        key,
        first_password,
        audit,
        vip: args.vip.clone(),
        exposed,
        source: Some(source),
        data: Some(args.data.clone()),
        access_log,
        dispatcher: args.dispatcher.dispatcher(&args.data, report)?,
        drain_seconds: args.drain_seconds,
        stage: Stage::Site,
    })
}

/// nsroot's first password and the audit log; what only probes lets nobody in.
fn users(args: &RunArgs, config: &Config, report: &Report) -> Result<(Option<First>, Audit), Fault> {
    if args.no_listen {
        return Ok((None, Audit::default()));
    }
    let first = first::password(&args.data, config, args.nsroot_password_file.as_deref(), report)?;
    let audit = Audit::start(&args.data, report.clone())
        .map_err(|error| Fault::System { what: "start a thread", error })?;
    Ok((first, audit))
}

fn open_log(path: &Path) -> Result<Output, Fault> {
    let fault = |error| Fault::AccessLog { path: path.to_owned(), error };
    Output::open(Target::new(path)).map_err(fault)
}

/// One thread for each core that this process may run on.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// What comes UP before the list of what is served is printed is told by that list.
fn start_prober(
    clock: Clock,
    report: &Report,
    ready: &Rc<Cell<bool>>,
    (flusher, dispatcher): (Flusher, Dispatcher),
) -> (Prober, JoinHandle<()>) {
    let (report, ready) = (report.clone(), Rc::clone(ready));
    let say = move |news: News<'_>| match news {
        News::Unable { monitor, lacking } => {
            report.err(format!("steelyard: monitor {monitor}: this host cannot probe: {lacking}"));
        }
        News::Alarm(alarm) => report.err(format!("steelyard: {alarm}")),
        News::Transition(t) => {
            if ready.get() {
                report.out(listing::transition(t));
            }
            if t.to.is_out() {
                flusher.flush();
            }
        }
    };
    Prober::start(clock, seed(), dispatcher, say)
}

async fn stop(state: &State, grace: Duration) {
    if let Some(workers) = state.take_workers() {
        // Joining blocks; management answers and probes go on meanwhile.
        let _ = tokio::task::spawn_blocking(move || workers.stop(grace)).await;
    }
}

/// Where in their intervals probes fall; differs between two programs that probe the same services.
pub fn seed() -> u64 {
    let wall = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    u64::from(std::process::id()) ^ wall.map_or(0, |t| t.as_micros() as u64)
}

/// The saved configuration in the data directory.
const NS_CONF: &str = "ns.conf";
const AGAIN: &str = "; tried again every 5 s";
/// How long a stop waits unless it is said.
pub const DRAIN_SECONDS: u32 = 30;
/// Clients wait no longer than this for services that do not answer their first probe.
const FIRST_RESULTS: Duration = Duration::from_secs(3);
const SPARE: Duration = Duration::from_millis(500);
