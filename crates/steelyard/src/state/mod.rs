//! Sole owner of the configuration in use, and of everything that follows from it: the snapshot, what is probed, what
//! workers are told.
//!
//! Lives on the control thread. Decides nothing: the core builds snapshots and judges probes. The hard question here
//! is order: services are known to the prober before a snapshot is published, and workers get it only with its
//! listeners bound.

mod changing;
mod counted;
pub mod draft;
mod probed;
mod replacing;
mod since;
mod why;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use steelyard_core::command::Guarded;
use steelyard_core::config::departure::Departures;
use steelyard_core::config::difference::Difference;
use steelyard_core::config::{Config, Member};
use steelyard_core::monitor::schedule::{Target, Watched};
use steelyard_core::service::{Service, State as ServiceState};
use steelyard_core::snapshot::placement::Placement;
use steelyard_core::snapshot::{Snapshot, member_name};
use steelyard_core::time::Time;
use steelyard_core::vserver::VirtualServer;

use crate::access_log::AccessLog;
use tokio::sync::Mutex;

use crate::addresses::Addresses;
use crate::auth::Auth;
use crate::expose::Exposed;
use crate::files::Folders;
use crate::metrics::Figures;
use crate::nitro::stat::anew::Cleared;
use crate::nitro::totals::Totals;
use crate::probe::Prober;
use crate::read::Source;
use crate::seal::Keeper;
use crate::targets::targets;
use crate::wall::Wall;
use crate::watchdog::Watchdog;
use crate::worker::{BindFailure, Clock, Counters, Pulse, Workers};
use steelyard_core::monitor::bound::Means;
use why::{ABSENT, BARRED, below_threshold, meanwhile, not_open, why_closed};

pub use replacing::Replaced;

/// The running configuration and what was made of it.
pub struct State {
    running: RefCell<Running>,
    /// What the files held when they were last read or written.
    saved: RefCell<Config>,
    /// Where those are, if they are anywhere.
    source: Option<Source>,
    /// Held while they are written.
    saving: Mutex<()>,
    folders: Folders,
    clock: Clock,
    prober: Prober,
    key: Keeper,
    auth: Auth,
    exposed: Exposed,
    workers: RefCell<Option<Workers>>,
    cleared: RefCell<Cleared>,
    totals: RefCell<Totals>,
    addresses: Addresses,
    probing: Probing,
    log: Option<AccessLog>,
    counters: RefCell<Option<Arc<Counters>>>,
    /// Each worker's pulse, and how often it was found not to move.
    pulses: RefCell<Vec<(Arc<Pulse>, Arc<AtomicU64>)>>,
    /// Held while `/metrics` is answered.
    scraping: Mutex<()>,
    /// The virtual servers' states as they were told last, and since when they have them.
    told: RefCell<BTreeMap<String, (ServiceState, Time)>>,
    wall: Wall,
    /// When the configuration changed last.
    changed_at: Cell<Time>,
    /// Addresses that could not be opened at the last attempt, by virtual server.
    closed: RefCell<BTreeMap<String, BindFailure>>,
}

/// What a configuration is served with.
pub struct Context {
    /// The program's clock.
    pub clock: Clock,
    /// Probes the services.
    pub prober: Prober,
    /// The key of the configuration's secrets.
    pub key: Keeper,
    /// Who may log in.
    pub auth: Auth,
    /// Which virtual servers are opened whatever guards them.
    pub exposed: Exposed,
    /// The host's addresses.
    pub addresses: Addresses,
    /// Where things are.
    pub placement: Placement,
    /// What is probed.
    pub probing: Probing,
    /// Where each transaction is written down, if anywhere.
    pub log: Option<AccessLog>,
    /// Where the configuration is read from and saved to, if anywhere.
    pub source: Option<Source>,
    /// The folders of what clients put here.
    pub folders: Folders,
}

/// Whether services are probed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Probing {
    /// By the monitors that are bound to them.
    AsConfigured,
    /// Not at all: each that is enabled is UP.
    Off,
}

/// A configuration and the view that was made of it.
struct Running {
    config: Config,
    guarded: Guarded,
    snapshot: Arc<Snapshot>,
    /// A line for each virtual server that `--expose` names.
    exposure: Vec<String>,
}

impl State {
    /// Probes what `config` has from here on; nothing is served before `publish`.
    pub fn new(config: Config, context: Context) -> State {
        let Context {
            clock,
            prober,
            key,
            auth,
            exposed,
            addresses,
            placement,
            probing,
            log,
            source,
            folders,
        } = context;
        let (guarded, whole) = (Guarded::of(&config), Difference::whole());
        let (guards, exposure) = exposed.waive(&guarded.guards, &config);
        let snapshot = Arc::new(Snapshot::placed(placement).next(&config, &guards, clock.now()));
        if probing == Probing::AsConfigured {
            addresses.tell_sources(&whole, &config, &snapshot);
        }
        let means = Means { key: &key, handshakes: prober.handshakes(&folders) };
        let targets = targets(&whole, &config, &Departures::default(), &snapshot, &means);
        prober.reconfigure(std::iter::empty(), probing.of(targets));
        let totals = Totals::of(&config, &snapshot);
        State {
            saved: RefCell::new(config.clone()),
            source,
            saving: Mutex::default(),
            folders,
            running: RefCell::new(Running { config, guarded, snapshot, exposure }),
            clock,
            prober,
            key,
            auth,
            exposed,
            workers: RefCell::new(None),
            cleared: RefCell::default(),
            totals: RefCell::new(totals),
            addresses,
            probing,
            log,
            counters: RefCell::default(),
            pulses: RefCell::default(),
            scraping: Mutex::default(),
            told: RefCell::default(),
            wall: Wall::default(),
            changed_at: Cell::new(clock.now()),
            closed: RefCell::default(),
        }
    }

    /// A line for each virtual server that `--expose` names.
    pub fn exposure(&self) -> Vec<String> {
        self.running.borrow().exposure.clone()
    }

    /// The folders of what clients put here.
    pub fn folders(&self) -> &Folders {
        &self.folders
    }

    /// The view that traffic is decided on.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.running.borrow().snapshot)
    }

    /// Gives the workers the snapshot; they are owned from here on. Addresses that cannot be opened are returned and
    /// remembered.
    pub fn publish(&self, workers: Workers) -> Vec<String> {
        *self.counters.borrow_mut() = Some(Arc::clone(workers.counters()));
        *self.pulses.borrow_mut() =
            workers.pulses().iter().map(|p| (Arc::clone(p), Arc::default())).collect();
        *self.workers.borrow_mut() = Some(workers);
        self.open()
    }

    /// Tries again to open what could not be opened. Returns a line for each change: opened now, or not, for a reason
    /// that is new.
    pub fn open(&self) -> Vec<String> {
        let mut workers = self.workers.borrow_mut();
        let Some(workers) = workers.as_mut() else { return Vec::new() };
        let snapshot = self.snapshot();
        let wanted = snapshot.vservers().filter(|v| v.is_open()).filter_map(|v| Some((&*v.name, v.address?)));
        let bound = workers.bind(wanted);
        self.remember(workers.publish(&snapshot, bound))
    }

    /// Does this host lack an address at which a virtual server would take clients in?
    fn lacks(&self, vserver: &VirtualServer) -> bool {
        let wanted = vserver.address.filter(|_| vserver.keeps_address());
        wanted.is_some_and(|address| self.addresses.is_absent(address.ip()))
    }

    /// How many addresses could not be opened at the last attempt.
    pub fn not_open(&self) -> usize {
        self.closed.borrow().len()
    }

    /// Hands the workers over to whoever ends them.
    pub fn take_workers(&self) -> Option<Workers> {
        self.workers.borrow_mut().take()
    }

    /// The access log, if there is one.
    pub fn access_log(&self) -> Option<&AccessLog> {
        self.log.as_ref()
    }

    /// How often listeners rested so far because something was short.
    pub fn rests(&self) -> u64 {
        self.counters.borrow().as_ref().map_or(0, |counters| counters.rests.load(Ordering::Relaxed))
    }

    /// The program's time.
    pub fn now(&self) -> Time {
        self.clock.now()
    }

    /// Looks after the workers from here on.
    pub fn watchdog(&self) -> Watchdog {
        Watchdog::new(self.pulses.borrow().iter().cloned())
    }

    /// Held while `/metrics` is answered.
    pub fn scraping(&self) -> &Mutex<()> {
        &self.scraping
    }

    /// What `/metrics` tells.
    pub fn figures(&self) -> Figures {
        let snapshot = self.snapshot();
        Figures {
            monitors: self.prober.fares(snapshot.services()),
            snapshot,
            closed: self.closed.borrow().keys().cloned().collect(),
            counters: self.counters.borrow().clone(),
            workers: self.pulses.borrow().clone(),
            access_log: self.log.as_ref().map(AccessLog::standing),
        }
    }

    /// To be called every 100 ms: what time alone changes in choosing.
    pub fn tick(&self) {
        let now = self.clock.now();
        self.prober.tick();
        self.snapshot().vservers().for_each(|v| v.tick(now));
        self.addresses.tick();
    }

    /// What counters were when they were cleared.
    pub fn cleared(&self) -> &RefCell<Cleared> {
        &self.cleared
    }

    /// The virtual servers in the order of the configuration.
    pub fn vservers(&self) -> Vec<Arc<VirtualServer>> {
        let Running { config, snapshot, .. } = &*self.running.borrow();
        config.lb_vservers.iter().filter_map(|v| snapshot.vserver(&v.name)).map(Arc::clone).collect()
    }

    /// A virtual server's state, and why nobody or not everybody is served. One whose address is not open is DOWN.
    pub fn vserver_state(&self, vserver: &VirtualServer) -> (ServiceState, Option<String>) {
        if let Some(failure) = self.closed.borrow().get(&*vserver.name) {
            return (ServiceState::Down, Some(not_open(failure)));
        }
        let why = match vserver.state() {
            ServiceState::Up => None,
            ServiceState::OutOfService if vserver.is_barred() => Some(BARRED.to_owned()),
            ServiceState::OutOfService => Some("disabled".to_owned()),
            _ if !vserver.is_open() => Some(why_closed(vserver)),
            _ if vserver.services().next().is_none() => Some("no service is bound".to_owned()),
            _ if vserver.picker.candidates() == 0 => Some("no bound service is UP".to_owned()),
            _ => Some(below_threshold(vserver)),
        };
        let why = why
            .map(|why| [Some(why), meanwhile(vserver)].into_iter().flatten().collect::<Vec<_>>().join("; "));
        let absent = self.lacks(vserver).then(|| ABSENT.to_owned());
        let why = [why, absent].into_iter().flatten().reduce(|why, absent| format!("{why}; {absent}"));
        (vserver.state(), why)
    }

    /// Every service and group member, in the order of the configuration.
    pub fn services(&self) -> Vec<Arc<Service>> {
        let Running { config, snapshot, .. } = &*self.running.borrow();
        let services = config.services.iter().filter_map(|s| snapshot.service(&s.name));
        let members = config.service_groups.iter().flat_map(|group| {
            let name = |member: &Member| member_name(&group.name, &member.server, member.port);
            group.members.iter().filter_map(move |member| snapshot.service(&name(member)))
        });
        services.chain(members).map(Arc::clone).collect()
    }

    /// What must be over before every monitor can have answered once: the longest response timeout.
    pub fn longest_probe(&self) -> Duration {
        let config = &self.running.borrow().config;
        let longest = config.lb_monitors.iter().map(|m| m.resptimeout.ms()).max().unwrap_or(0);
        Duration::from_millis(longest.into())
    }
}

impl Probing {
    fn of(self, mut targets: Vec<Target>) -> Vec<Target> {
        for target in targets.iter_mut().filter(|t| self == Probing::Off && t.watch == Watched::Probed) {
            target.watch = Watched::TakenAsUp;
        }
        targets
    }
}
