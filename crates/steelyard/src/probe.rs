//! Sockets and timers for core's probes, on the control thread's runtime.
//!
//! Owns the running probes. What is asked, how an answer is judged and when to probe again is
//! [`steelyard_core::monitor`]'s business. The hard question here: what is the service's fault and what is ours.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};
use steelyard_core::monitor::bound::Unknown;
use steelyard_core::monitor::health::Machine;
use steelyard_core::monitor::schedule::{Due, ProbeKey, Schedule, Target, Transition};
use steelyard_core::monitor::{ConnectFault, Probe, ProbeResult, Stage, Step};
use steelyard_core::service::{Service, State};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::sync::Notify;
use tokio::task::{AbortHandle, JoinHandle, spawn_local};
use tokio::time::{sleep_until, timeout, timeout_at};

use crate::worker::{Clock, leave_from};

/// Probes every service as configured and writes the results to it. Clones are the same prober.
#[derive(Clone)]
pub struct Prober {
    inner: Rc<Inner>,
}

struct Inner {
    schedule: RefCell<Schedule>,
    running: RefCell<BTreeMap<ProbeKey, AbortHandle>>,
    in_flight: Cell<usize>,
    /// Most probes at one time.
    room: usize,
    clock: Clock,
    /// Something is due earlier than the loop knows, or there is room again.
    changed: Notify,
    on_transition: Box<dyn Fn(&Transition)>,
}

impl Prober {
    /// Nothing is probed before `reconfigure`. `on_transition` hears of every change of a service's state.
    /// Must be called on a thread that runs a tokio `LocalSet`; the probes end with it. The task ends only by a fault.
    pub fn start(
        clock: Clock,
        seed: u64,
        on_transition: impl Fn(&Transition) + 'static,
    ) -> (Prober, JoinHandle<()>) {
        let inner = Rc::new(Inner {
            schedule: RefCell::new(Schedule::new(seed)),
            running: RefCell::default(),
            in_flight: Cell::new(0),
            room: room(),
            clock,
            changed: Notify::new(),
            on_transition: Box::new(on_transition),
        });
        let prober = Prober { inner };
        let probing = spawn_local(prober.clone().run());
        (prober, probing)
    }

    /// Watches exactly these targets: probes of services that stay go on, those of removed ones are cut off.
    pub fn reconfigure(&self, targets: Vec<Target>) {
        let now = self.inner.clock.now();
        let (stopped, transitions) = self.inner.schedule.borrow_mut().reconfigure(targets, now);
        self.follow(stopped, &transitions);
        self.inner.changed.notify_one();
    }

    /// To be called every 100 ms: services on their way out of service may have left it.
    pub fn tick(&self) {
        let (stopped, transitions) = self.inner.schedule.borrow_mut().tick(self.inner.clock.now());
        self.follow(stopped, &transitions);
    }

    fn follow(&self, stopped: Vec<ProbeKey>, transitions: &[Transition]) {
        for key in stopped {
            if let Some(task) = self.inner.running.borrow_mut().remove(&key) {
                task.abort();
            }
        }
        transitions.iter().for_each(|t| (self.inner.on_transition)(t));
    }

    /// Waits until every monitor has given a first result, or until `at_most` is over.
    pub async fn first_results(&self, at_most: Duration) {
        let all = async {
            while !self.inner.schedule.borrow().all_probed() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        // Late ones are shown as they are: DOWN until they answer.
        let _ = timeout(at_most, all).await;
    }

    /// Each monitor that probes a service, with its results so far.
    pub fn machines(&self, service: &Arc<Service>) -> Vec<(Box<str>, Machine)> {
        let schedule = self.inner.schedule.borrow();
        let monitors = schedule.monitors(service);
        monitors.iter().map(|m| (m.spec.name.clone(), m.machine.clone())).collect()
    }

    /// The monitors of a service that cannot be run.
    pub fn unknown(&self, service: &Arc<Service>) -> Vec<Unknown> {
        self.inner.schedule.borrow().unknown(service).to_vec()
    }

    /// What the last probes alone say of a service, however many results its monitors ask for.
    pub fn verdict(&self, service: &Arc<Service>) -> State {
        self.inner.schedule.borrow().last_results_say(service)
    }

    async fn run(self) {
        let inner = &self.inner;
        loop {
            let now = inner.clock.now();
            let room = inner.room.saturating_sub(inner.in_flight.get());
            let due = inner.schedule.borrow_mut().take_due(now, room);
            due.into_iter().for_each(|due| self.begin(due));
            let next = inner.schedule.borrow().next_due().filter(|_| inner.in_flight.get() < inner.room);
            match next {
                Some(at) => {
                    let wait = Duration::from_micros(at.since_us(inner.clock.now()));
                    let wake = tokio::time::Instant::now() + wait;
                    tokio::select! {
                        () = sleep_until(wake) => {}
                        () = inner.changed.notified() => {}
                    }
                }
                None => inner.changed.notified().await,
            }
        }
    }

    fn begin(&self, due: Due) {
        let key = due.key;
        let prober = self.clone();
        let slot = Slot::take(&self.inner);
        let task = spawn_local(async move {
            let _slot = slot;
            let clock = prober.inner.clock;
            let mut probe = due.spec.probe(due.to, clock.now());
            let limit = Duration::from_micros(due.spec.timing.response_timeout_us);
            let (result, stream) = carry_out(&mut *probe, (due.to, due.from), limit, clock).await;
            prober.finish(key, result);
            if let Some(stream) = stream {
                hang_up(stream).await;
            }
        });
        self.inner.running.borrow_mut().insert(key, task.abort_handle());
    }

    fn finish(&self, key: ProbeKey, result: ProbeResult) {
        self.inner.running.borrow_mut().remove(&key);
        let transition = self.inner.schedule.borrow_mut().finished(key, result, self.inner.clock.now());
        if let Some(transition) = transition {
            (self.inner.on_transition)(&transition);
        }
        self.inner.changed.notify_one();
    }
}

/// Counts one probe, from its start until its socket is closed, however it ends.
struct Slot(Rc<Inner>);

impl Slot {
    fn take(inner: &Rc<Inner>) -> Slot {
        inner.in_flight.set(inner.in_flight.get() + 1);
        Slot(Rc::clone(inner))
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.in_flight.set(self.0.in_flight.get() - 1);
        self.0.changed.notify_one();
    }
}

/// Runs one probe to its result. The stream comes back when an answer may still be under way on it.
async fn carry_out(
    probe: &mut dyn Probe,
    (to, from): (SocketAddr, Option<IpAddr>),
    limit: Duration,
    clock: Clock,
) -> (ProbeResult, Option<TcpStream>) {
    let deadline = tokio::time::Instant::now() + limit;
    let mut stream = match timeout_at(deadline, connect(to, from)).await {
        Ok(Ok(stream)) => stream,
        Ok(Err(why)) => return (probe.connect_failed(why), None),
        Err(_) => return (probe.timed_out(Stage::Connect), None),
    };
    let first = match probe.connected(clock.now()) {
        Step::Done(result) => return (result, None),
        step => step,
    };
    match timeout_at(deadline, converse(probe, first, &mut stream, clock)).await {
        Ok(result) => (result, Some(stream)),
        Err(_) => (probe.timed_out(Stage::Response), Some(stream)),
    }
}

async fn connect(to: SocketAddr, from: Option<IpAddr>) -> Result<TcpStream, ConnectFault> {
    let stream = connect_from(to, from).await.map_err(|error| classify(&error))?;
    // On one host a connect to a closed port in the ephemeral range can meet itself.
    if stream.local_addr().is_ok_and(|local| local == to) {
        return Err(ConnectFault::Refused);
    }
    Ok(stream)
}

async fn connect_from(to: SocketAddr, from: Option<IpAddr>) -> io::Result<TcpStream> {
    let socket = if to.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    if let Some(from) = from {
        leave_from(&socket, from)?;
    }
    socket.connect(to).await
}

async fn converse(probe: &mut dyn Probe, first: Step, stream: &mut TcpStream, clock: Clock) -> ProbeResult {
    let mut buffer = [0u8; 4_096];
    let mut step = first;
    loop {
        match step {
            Step::Done(result) => return result,
            Step::Send(bytes) => {
                send(probe, stream, &bytes, clock).await;
                step = Step::Wait;
            }
            Step::Wait => {
                step = match stream.read(&mut buffer).await {
                    Ok(0) | Err(_) => return probe.closed(),
                    Ok(n) => probe.received(&buffer[..n], clock.now()),
                }
            }
        }
    }
}

/// The clock is read before the write that hands over the last byte: read after it, a pause of this thread would make
/// the service look faster than it is. A failed write is no result yet: the answer may be there already.
async fn send(probe: &mut dyn Probe, stream: &mut TcpStream, bytes: &[u8], clock: Clock) {
    let mut rest = bytes;
    while !rest.is_empty() {
        let before = clock.now();
        match stream.write(rest).await {
            Ok(n @ 1..) => rest = rest.get(n..).unwrap_or_default(),
            Ok(0) | Err(_) => return,
        }
        if rest.is_empty() {
            probe.sent(before);
        }
    }
}

/// A quarter of the descriptors at most: traffic needs the others.
fn room() -> usize {
    let descriptors = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    usize::try_from(descriptors / 4).unwrap_or(MAX_IN_FLIGHT).clamp(1, MAX_IN_FLIGHT)
}

/// Whose fault is it? What this host lacks must not take a service down.
fn classify(error: &io::Error) -> ConnectFault {
    match Errno::from_io_error(error) {
        Some(Errno::MFILE | Errno::NFILE) => ConnectFault::Local("no file descriptor left"),
        Some(Errno::ADDRNOTAVAIL) => ConnectFault::Local("no local address or port left"),
        Some(Errno::NOBUFS | Errno::NOMEM | Errno::AGAIN) => ConnectFault::Local("no memory for a socket"),
        Some(Errno::ACCESS | Errno::PERM) => ConnectFault::Local("forbidden by this host"),
        Some(Errno::AFNOSUPPORT) => ConnectFault::Local("this host has no such address family"),
        _ if error.kind() == ErrorKind::ConnectionRefused => ConnectFault::Refused,
        _ if error.kind() == ErrorKind::ConnectionReset => ConnectFault::Refused,
        _ => ConnectFault::Unreachable,
    }
}

/// Closes by FIN, not RST: the rest of the answer is read and dropped for a short while, so that the service does
/// not log a reset for every probe.
async fn hang_up(mut stream: TcpStream) {
    let mut buffer = [0u8; 4_096];
    let mut left = HANG_UP_BYTES;
    let drain = async {
        if stream.shutdown().await.is_err() {
            return;
        }
        while let Ok(n @ 1..) = stream.read(&mut buffer).await {
            left = left.saturating_sub(n);
            if left == 0 {
                return;
            }
        }
    };
    let _ = timeout(HANG_UP_TIME, drain).await;
}

/// Probes with an open socket at one time; later ones wait.
const MAX_IN_FLIGHT: usize = 1_000;
const HANG_UP_BYTES: usize = 65_536;
const HANG_UP_TIME: Duration = Duration::from_millis(500);
