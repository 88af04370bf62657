//! What a schedule is told to watch, and what it asks for and tells in turn.

use std::net::{IpAddr, SocketAddr};

use super::ProbeKey;
use crate::config::departure::Departure;
use crate::monitor::alarm::Alarm;
use crate::monitor::bound::Unknown;
use crate::monitor::{ProbeResult, Spec};
use crate::service::{Service, State};
use crate::sync::Arc;

/// A service and how it is to be watched.
#[derive(Clone)]
pub struct Target {
    /// The live service.
    pub service: Arc<Service>,
    /// Is it in service, and is it probed?
    pub watch: Watched,
    /// `-monThreshold`: the weights of UP monitors must reach it; 0 asks for all monitors.
    pub threshold: u32,
    /// `maxClient`, where probes respect it: at so many connections there is none.
    pub most_connections: Option<u32>,
    /// How probes end their connections.
    pub closing: Closing,
    /// Bound monitors with their weights.
    pub monitors: Vec<(Arc<Spec>, u32)>,
    /// Bound monitors that cannot be run.
    pub unknown: Arc<[Unknown]>,
}

/// How a service is watched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Watched {
    /// By its monitors.
    Probed,
    /// `-healthMonitor NO`: UP without a probe.
    TakenAsUp,
    /// Disabled: OUT OF SERVICE and not probed.
    Disabled,
    /// Disabled, and nothing is said of how: one that is on its way out goes on, any other is OUT OF SERVICE.
    Off {
        /// Do its monitors probe it meanwhile?
        probed: bool,
    },
    /// Disabled, and until that is over on its way out: GOING OUT OF SERVICE, still probed if `probed`. One that was not
    /// in service before is at once where it was to go.
    Leaving {
        /// What ends it.
        departure: Departure,
        /// Do its monitors probe it meanwhile?
        probed: bool,
    },
}

/// How a probe ends its connection (`-monitorConnectionClose`, `-monConnectionClose`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Closing {
    /// By FIN.
    Fin,
    /// By RST.
    Reset,
}

/// A probe that is due now.
#[derive(Debug)]
pub struct Due {
    /// To bring the result back under.
    pub key: ProbeKey,
    /// Where to connect to.
    pub to: SocketAddr,
    /// What is judged.
    pub about: SocketAddr,
    /// Which address to leave from; `None` leaves it to the kernel.
    pub from: Option<IpAddr>,
    /// The next hop that it goes by, whatever the host's routes say; `None` goes as they do.
    pub hop: Option<IpAddr>,
    /// What to ask.
    pub spec: Arc<Spec>,
    /// How long it may take.
    pub limit_us: u64,
    /// How its connections end.
    pub closing: Closing,
    /// A number of its own, for whatever in it must be told from other probes (`Spec::probe`).
    pub seed: u64,
}

/// A service changed its state.
#[derive(Clone)]
pub struct Transition {
    /// Which.
    pub service: Arc<Service>,
    /// Its state before.
    pub from: State,
    /// Its state now.
    pub to: State,
    /// Monitor name and last response, when a probe caused it.
    pub cause: Option<(Box<str>, ProbeResult)>,
    /// How it goes or went out of service, unless that was at once.
    pub departure: Option<Departure>,
}

/// What the end of a probe leads to.
#[derive(Default)]
pub struct Outcome {
    /// Its service changed its state.
    pub transition: Option<Transition>,
    /// An alarm is to be given.
    pub alarm: Option<Alarm>,
}
