//! What recurs while the program serves: ticks, samples, second attempts, words about what runs short, rotation of the log.
//!
//! Owns the intervals. Never does the work itself, which is the business of whoever is called.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::{MissedTickBehavior, interval};

use crate::fault::Fault;
use crate::listing;
use crate::report::Report;
use crate::state::State;

/// Does what is due, for ever.
pub async fn keep_time(state: &State, report: &Report, shortage: &mut Shortage) {
    let mut tick = every(TICK);
    let mut second = every(Duration::from_secs(1));
    let mut retry = every(RETRY);
    let mut watchdog = state.watchdog();
    loop {
        tokio::select! {
            _ = tick.tick() => {
                state.tick();
                for (vserver, is, why) in state.changed_vservers() {
                    report.out(listing::vserver_transition(&vserver, is, why));
                }
            }
            _ = second.tick() => {
                state.sample();
                watchdog.look(state.now()).into_iter().for_each(|line| report.err(format!("steelyard: {line}")));
            }
            _ = retry.tick() => {
                if state.not_open() > 0 {
                    let said = state.open().into_iter().chain(state.settle_addresses());
                    said.for_each(|line| report.err(format!("steelyard: {line}")));
                }
                shortage.tell(state, report);
            }
        }
    }
}

/// What was lost for want of something, as far as it was told.
#[derive(Default)]
pub struct Shortage {
    rests: u64,
    dropped: u64,
    /// Connects of all services: while the number is the same, nobody looks at each.
    ports: u64,
    /// By service.
    no_local_port: BTreeMap<String, u64>,
}

impl Shortage {
    /// A line for each kind of loss since the last call.
    pub fn tell(&mut self, state: &State, report: &Report) {
        let rests = state.rests();
        if rests > self.rests {
            report.err("steelyard: clients had to wait to be let in: descriptors or memory are short; raise the limit (ulimit -n)");
        }
        self.rests = rests;
        self.ports(state).into_iter().for_each(|line| report.err(format!("steelyard: {line}")));
        let Some(standing) = state.access_log().map(|log| log.standing()) else { return };
        if let Some(more) = standing.dropped.checked_sub(self.dropped).filter(|more| *more > 0) {
            let why =
                standing.trouble.unwrap_or_else(|| "it is not read, or not written, fast enough".to_owned());
            report.err(format!("steelyard: {more} lines of the access log were dropped: {why}"));
        }
        self.dropped = standing.dropped;
    }

    /// One line for all services that could not be connected to for want of a port; it names the one with most.
    fn ports(&mut self, state: &State) -> Option<String> {
        let so_far = state.without_local_port();
        if so_far == std::mem::replace(&mut self.ports, so_far) {
            return None;
        }
        let (mut most, mut all): (Option<(u64, String)>, u64) = (None, 0);
        for service in state.snapshot().services() {
            let now = service.traffic.no_local_port.load(Relaxed);
            if now == 0 {
                continue;
            }
            let told = self.no_local_port.insert(service.name().to_owned(), now).unwrap_or(0);
            // A service of the same name that is new has counted from 0.
            let more = now.checked_sub(told).unwrap_or(now);
            all += more;
            if more > 0 && most.as_ref().is_none_or(|(other, _)| more > *other) {
                most = Some((more, format!("{} ({})", service.name(), service.address())));
            }
        }
        let (more, service) = most?;
        let range = std::fs::read_to_string(PORT_RANGE).unwrap_or_default();
        let range: Vec<&str> = range.split_whitespace().collect();
        Some(format!(
            "{all} connects were not begun, {more} of them to {service}: no local port left; net.ipv4.ip_local_port_range is \
             {}, so many for each service and source address: widen it, or add SNIPs of its subnet",
            range.join(" to ")
        ))
    }
}

/// SIGUSR1: the access log's file was moved. Without a log the signal does nothing, and does not end the program.
pub struct Rotation(Signal);

impl Rotation {
    /// The signal counts from here on.
    ///
    /// # Errors
    /// The system lets nobody wait for signals.
    pub fn new() -> Result<Rotation, Fault> {
        let fault = |error| Fault::System { what: "wait for signals", error };
        signal(SignalKind::user_defined1()).map(Rotation).map_err(fault)
    }

    /// Has the log opened again at each signal, for ever.
    pub async fn follow(mut self, state: &State) {
        while self.0.recv().await.is_some() {
            if let Some(log) = state.access_log() {
                log.reopen();
            }
        }
    }
}

fn every(period: Duration) -> tokio::time::Interval {
    let mut interval = interval(period);
    interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
    interval
}

/// IPv6 has no other.
const PORT_RANGE: &str = "/proc/sys/net/ipv4/ip_local_port_range";
const TICK: Duration = Duration::from_millis(100);
const RETRY: Duration = Duration::from_secs(5);
