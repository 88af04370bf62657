//! Live services: state, counters and what the methods measure. They outlive reconfiguration: a service's counters
//! are never zeroed by a change, and a name removed and added again is a new live object.
//!
//! Never chooses; tells those who do (through [`Watch`]) that something their keys depend on has changed.

pub mod hot;
pub mod pace;
pub mod permits;
pub mod source;
pub mod terms;
pub mod waker;

use std::net::SocketAddr;

use self::hot::{Hot, Lines};
use self::pace::Pace;
use self::permits::Permits;
use self::source::Source;
use crate::sync::{Arc, AtomicU64, Mutex, MutexGuard, Ordering, fence};
use crate::time::Time;

/// Admin state and health together, with NITRO's numbers (`spec/methods.md` 5.4).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum State {
    /// Probes fail, or none is possible.
    Down = 1,
    /// The probe cannot be judged; the service stays eligible.
    Unknown = 2,
    /// Disabled.
    OutOfService = 4,
    /// Going out of service: existing work ends, new work goes elsewhere.
    Trofs = 5,
    /// Probes succeed.
    Up = 7,
    /// Probes fail while going out of service.
    TrofsDown = 8,
}

impl State {
    /// May new work be given to it?
    pub fn admits(self) -> bool {
        matches!(self, State::Up | State::Unknown)
    }

    /// Has it left service, so that what is under way is cut unless it may end (`downStateFlush`)?
    pub fn is_out(self) -> bool {
        matches!(self, State::Down | State::OutOfService | State::TrofsDown)
    }

    /// As NITRO and the command line print it.
    pub fn text(self) -> &'static str {
        match self {
            State::Down => "DOWN",
            State::Unknown => "UNKNOWN",
            State::OutOfService => "OUT OF SERVICE",
            State::Trofs => "GOING OUT OF SERVICE",
            State::Up => "UP",
            State::TrofsDown => "DOWN WHEN GOING OUT OF SERVICE",
        }
    }

    /// The state of a NITRO number; DOWN for one that is none of ours.
    pub fn from_code(code: u8) -> State {
        match code {
            2 => State::Unknown,
            4 => State::OutOfService,
            5 => State::Trofs,
            7 => State::Up,
            8 => State::TrofsDown,
            _ => State::Down,
        }
    }
}

/// The monitors' response time of a service, as LRTM needs it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ResponseTime {
    /// An LRTM monitor is bound and no probe has completed yet.
    Pending,
    /// No correctly configured LRTM monitor is bound: there will never be a value.
    Never,
    /// Mean of the last results of the UP monitors, in microseconds, at least 1.
    Known(u64),
}

/// One who keeps a key for a service and must hear of changes. Calls come from any thread and never wait, except
/// `state_changed`.
pub trait Watch: Send + Sync {
    /// The number of active transactions changed.
    fn active_changed(&self, position: usize);
    /// It fell, at a service with a limit: whoever waits for room may have some. May wait for a lock if anybody does.
    fn freed(&self, position: usize);
    /// A status-200 answer gave a time to first byte.
    fn ttfb_sampled(&self, position: usize, ttfb_us: u64, now: Time);
    /// Bytes or packets were carried.
    fn traffic_changed(&self, position: usize, now: Time);
    /// State or monitor response time changed. May wait for a lock: control thread only.
    fn state_changed(&self, position: usize, now: Time);
}

/// A [`Watch`] and the position at which it knows the service.
#[derive(Clone)]
pub struct Binding {
    /// Who watches.
    pub watch: Arc<dyn Watch>,
    /// Its index for this service.
    pub position: usize,
}

/// All bindings of one service at one generation.
#[derive(Clone)]
pub struct Bindings {
    /// Equal to [`Service::generation`] while nothing has been bound or unbound since.
    pub generation: u64,
    /// Who watches, where.
    pub list: Arc<[Binding]>,
}

/// What a service has carried since it exists. Server-side bytes, payload of both directions. All of it but the numbers
/// of connections and of changes of state is counted by transactions, while they are active ([`Hot::at_rest`]).
#[derive(Default)]
pub struct Traffic {
    /// Answers received completely.
    pub responses: AtomicU64,
    /// Bytes sent to the service.
    pub request_bytes: AtomicU64,
    /// Bytes received from the service.
    pub response_bytes: AtomicU64,
    /// Packets of both directions, counted only while a LEASTPACKETS virtual server is bound.
    pub packets: AtomicU64,
    /// Sum of the time to first byte of status-200 answers, in microseconds.
    pub ttfb_sum_us: AtomicU64,
    /// Number of such answers.
    pub ttfb_count: AtomicU64,
    /// Open server-side connections, idle ones included.
    pub connections: AtomicU64,
    /// Of those, idle in a reuse pool.
    pub idle_connections: AtomicU64,
    /// Connects to it that were not begun for want of a local port.
    pub no_local_port: AtomicU64,
    /// Changes of its state.
    pub state_changes: AtomicU64,
}

impl Traffic {
    /// Bytes of both directions.
    pub fn bytes(&self) -> u64 {
        self.request_bytes.load(Ordering::Relaxed) + self.response_bytes.load(Ordering::Relaxed)
    }

    /// Packets of both directions.
    pub fn packets(&self) -> u64 {
        self.packets.load(Ordering::Relaxed)
    }

    /// One more status-200 answer, `ttfb_us` after its request.
    pub fn add_ttfb(&self, ttfb_us: u64) {
        self.ttfb_sum_us.fetch_add(ttfb_us, Ordering::Relaxed);
        self.ttfb_count.fetch_add(1, Ordering::Relaxed);
    }
}

/// A live service or group member.
pub struct Service {
    hot: Hot,
    /// Counters for `stat` and for the windowed methods.
    pub traffic: Arc<Traffic>,
    /// Its open connections, as far as their number is limited.
    pub permits: Arc<Permits>,
    /// When the next one may be opened, under surge protection.
    pub pace: Pace,
    /// Where connections to it leave from.
    pub source: Source,
    name: Box<str>,
    address: SocketAddr,
    /// When its state changed last, in microseconds; at first, when it came to be.
    since_us: AtomicU64,
    is_moved: bool,
    bindings: Mutex<Bindings>,
}

impl Service {
    /// A new live service in the given state, bound nowhere.
    pub fn new(name: &str, address: SocketAddr, state: State) -> Arc<Service> {
        let service = Service::with(Lines::default().take(), name, address, Time::ZERO);
        service.hot.set_state(state);
        Arc::new(service)
    }

    /// A new live service that is DOWN and bound nowhere, its hot line beside those of others.
    pub fn among(lines: &mut Lines, name: &str, address: SocketAddr, now: Time) -> Arc<Service> {
        Arc::new(Service::with(lines.take(), name, address, now))
    }

    fn with(hot: Hot, name: &str, address: SocketAddr, now: Time) -> Service {
        Service {
            hot,
            traffic: Arc::default(),
            permits: Arc::default(),
            pace: Pace::default(),
            source: Source::default(),
            name: name.into(),
            address,
            since_us: AtomicU64::new(now.as_us()),
            is_moved: false,
            bindings: Mutex::new(Bindings { generation: 0, list: Arc::from([]) }),
        }
    }

    /// The same service under that name at that address, of which one is another: a new live object, DOWN, that goes on
    /// counting where this one stopped.
    pub fn moved_to(&self, lines: &mut Lines, name: &str, address: SocketAddr, now: Time) -> Arc<Service> {
        let mut moved = Service::with(lines.take(), name, address, now);
        moved.traffic = Arc::clone(&self.traffic);
        moved.is_moved = true;
        moved.hot.set_requests(self.hot.requests());
        Arc::new(moved)
    }

    /// Does the service that it was before count on the same [`Traffic`], as long as transactions of that one last?
    pub fn is_moved(&self) -> bool {
        self.is_moved
    }

    /// What every transaction touches.
    pub fn hot(&self) -> &Hot {
        &self.hot
    }

    /// The name; of a group member `group?server?port`, as NITRO writes it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Active transactions: dispatched or queued, not completely answered (`spec/methods.md` 1.12).
    pub fn active(&self) -> u64 {
        self.hot.active()
    }

    /// Requests begun (a request that is tried again at another service counts at both).
    pub fn requests(&self) -> u64 {
        self.hot.requests()
    }

    /// Current state.
    pub fn state(&self) -> State {
        self.hot.state()
    }

    /// Since when it has had that state.
    pub fn since(&self) -> Time {
        Time::from_us(self.since_us.load(Ordering::Relaxed))
    }

    /// Changes the state and tells every virtual server it is bound to. Control thread only.
    pub fn set_state(&self, state: State, now: Time) {
        if self.hot.set_state(state) {
            self.since_us.store(now.as_us(), Ordering::Relaxed);
            self.traffic.state_changes.fetch_add(1, Ordering::Relaxed);
            self.tell(|b| b.watch.state_changed(b.position, now));
        }
    }

    /// The monitors' response time.
    pub fn response_time(&self) -> ResponseTime {
        self.hot.response_time()
    }

    /// Sets the monitors' response time and tells every virtual server. Control thread only.
    pub fn set_response_time(&self, value: ResponseTime, now: Time) {
        if self.hot.set_response_time(value) {
            self.tell(|b| b.watch.state_changed(b.position, now));
        }
    }

    /// Is a LEASTPACKETS virtual server bound, so that packets must be counted?
    pub fn counts_packets(&self) -> bool {
        self.hot.packet_watchers() > 0
    }

    /// One more active transaction. Called by the one who chose, under its lock; it tells the others itself.
    pub fn begin(&self) {
        self.hot.begin();
    }

    /// One active transaction less. The caller tells the watchers.
    pub fn end(&self) {
        self.hot.end();
    }

    /// Changes with every `bind`; a cached [`Bindings`] of another generation is out of date.
    pub fn generation(&self) -> u64 {
        self.hot.generation()
    }

    /// The current bindings. Takes a lock: for use when a cached list is out of date.
    pub fn bindings(&self) -> Bindings {
        lock(&self.bindings).clone()
    }

    /// Replaces who watches this service; `packet_watchers` of them count packets. New watchers must compute their
    /// keys after this call.
    pub fn bind(&self, list: Arc<[Binding]>, packet_watchers: usize) {
        let mut held = lock(&self.bindings);
        held.generation += 1;
        held.list = list;
        self.hot.set_packet_watchers(packet_watchers);
        self.hot.set_generation(held.generation);
        fence(Ordering::SeqCst);
    }

    fn tell(&self, say: impl Fn(&Binding)) {
        let bindings = self.bindings();
        bindings.list.iter().for_each(say);
    }
}

/// Locks even if a holder panicked: every critical section leaves its data whole.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
