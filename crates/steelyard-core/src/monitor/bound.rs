//! Which of the monitors bound to a service are run, and what becomes of those that cannot be.
//!
//! Owns the rule for a monitor that this program knows and cannot run: it is UNKNOWN and does not count
//! (`spec/methods.md` ruling 6), so that it neither takes a service down nor holds it up. The hard question is a service
//! that has no other: it would be UP unseen, so the default monitor of its type probes it in their place.

use std::fmt;

use super::tls::{Terms, Usable, is_secure};
use crate::config::attribute::{Resource, Row, Value};
use crate::config::secret::{Secret, Unseal, purpose};
use crate::config::{
    Config, LbMonitor, MonitorBinding, MonitorType, Service, ServiceGroup, ServiceType, TlsOfService,
};

/// The monitors of a service or a group.
pub struct Bound<'c> {
    /// Those that are run; disabled ones included.
    pub run: Vec<Run<'c>>,
    /// Those that would be, could they be run.
    pub unknown: Vec<Unknown>,
    /// Does the default monitor probe because every other is UNKNOWN?
    stands_in: bool,
}

/// A monitor that is run.
pub struct Run<'c> {
    /// The monitor.
    pub monitor: &'c LbMonitor,
    /// How it is bound.
    pub binding: MonitorBinding,
    /// What its handshakes are made with, if it goes through TLS.
    pub tls: Option<Terms>,
}

/// A service, or the members of a group, as far as monitors go.
#[derive(Clone, Copy)]
pub struct Watched<'c> {
    service_type: ServiceType,
    monitors: &'c [MonitorBinding],
    tls: TlsOfService<'c>,
}

impl<'c> Watched<'c> {
    /// That service.
    pub fn service(config: &'c Config, service: &'c Service) -> Watched<'c> {
        let tls = config.tls_of_service(&service.name);
        Watched { service_type: service.service_type, monitors: &service.monitors, tls }
    }

    /// The members of that group.
    pub fn group(config: &'c Config, group: &'c ServiceGroup) -> Watched<'c> {
        let tls = config.tls_of_group(&group.name);
        Watched { service_type: group.service_type, monitors: &group.monitors, tls }
    }
}

/// What probes need of the host.
pub struct Means<'m> {
    /// Opens what is sealed.
    pub key: &'m dyn Unseal,
    /// Knows which certificates are there.
    pub handshakes: &'m dyn Usable,
}

/// An enabled monitor that is not run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unknown {
    /// Its name.
    pub monitor: Box<str>,
    /// The weight of its binding.
    pub weight: u32,
    /// Why it is not run.
    pub why: CannotRun,
}

/// Why a monitor cannot be run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CannotRun {
    /// This version does not carry its type.
    Type(&'static str),
    /// This version does not carry this option.
    Option(&'static str),
    /// What it needs of certificates is not to be had; says what.
    Certificate(Box<str>),
    /// An appliance encrypted this option.
    Foreign(&'static str),
    /// This option was sealed with a key that is not here.
    Sealed(&'static str),
}

impl<'c> Bound<'c> {
    /// Sorts the monitors of a service or group; without any it has its type's default one.
    pub fn of(config: &'c Config, watched: Watched<'_>, means: &Means<'_>) -> Bound<'c> {
        let mut sorted = Bound { run: Vec::new(), unknown: Vec::new(), stands_in: false };
        for binding in watched.monitors {
            let Some(monitor) = config.lb_monitors.find(&binding.monitor) else { continue };
            let enabled = monitor.enabled && binding.enabled;
            let tls = match cannot_run(monitor, means.key) {
                Some(why) => Err(why),
                None => terms(config, monitor, watched.tls, means),
            };
            match tls {
                Err(why) if enabled => {
                    let (monitor, weight) = (monitor.name.as_str().into(), binding.weight);
                    sorted.unknown.push(Unknown { monitor, weight, why });
                }
                tls => {
                    let tls = tls.unwrap_or_default();
                    sorted.run.push(Run { monitor, binding: binding.clone(), tls });
                }
            }
        }
        let probes = |run: &Run<'_>| run.monitor.enabled && run.binding.enabled;
        sorted.stands_in = !sorted.unknown.is_empty() && !sorted.run.iter().any(probes);
        if watched.monitors.is_empty() || sorted.stands_in {
            let name = watched.service_type.default_monitor();
            let binding = MonitorBinding { monitor: name.to_owned(), ..MonitorBinding::default() };
            let monitor = config.lb_monitors.find(name);
            sorted.run.extend(monitor.map(|monitor| Run { monitor, binding, tls: None }));
        }
        sorted
    }

    /// What the weights of UP monitors must reach where `asked` is configured: those that are UNKNOWN count as if they
    /// were UP, but never suffice alone. 0 asks for all.
    pub fn threshold(&self, asked: u32) -> u32 {
        let unknown = self.unknown.iter().fold(0u32, |sum, unknown| sum.saturating_add(unknown.weight));
        match asked {
            0 => 0,
            _ if self.stands_in => 0,
            asked => asked.saturating_sub(unknown).max(1),
        }
    }
}

/// What its handshakes are made with; `None` of a monitor that asks in clear.
fn terms(
    config: &Config,
    monitor: &LbMonitor,
    tls: TlsOfService<'_>,
    means: &Means<'_>,
) -> Result<Option<Terms>, CannotRun> {
    if !is_secure(monitor) {
        return Ok(None);
    }
    let terms = Terms::of(config, monitor, tls).map_err(CannotRun::Certificate)?;
    match means.handshakes.cannot_use(&terms.credentials) {
        Some(why) => Err(CannotRun::Certificate(why)),
        None => Ok(Some(terms)),
    }
}

/// Why this monitor cannot be run, whatever it is bound to; `None` if it can.
pub fn cannot_run(monitor: &LbMonitor, key: &dyn Unseal) -> Option<CannotRun> {
    if let MonitorType::NotCarried(name) = monitor.kind {
        return Some(CannotRun::Type(name));
    }
    let ip_tunnel = monitor.ip_tunnel;
    // A dispatcher is asked in the place of the address, and its script goes its own way.
    let transparent = monitor.transparent && (monitor.dest_ip.is_none() || monitor.kind == MonitorType::User);
    let secure = monitor.secure && !monitor.kind.can_be_secure();
    // At the appliance the mark stands for that address, and the probe goes to the service, which answers from there.
    let tos_by_service = monitor.tos && monitor.dest_ip.is_some();
    let ways = [
        (secure, "secure"),
        (transparent, "transparent"),
        (ip_tunnel, "ipTunnel"),
        (tos_by_service, "destIP and -tos"),
    ];
    if let Some((_, option)) = ways.iter().find(|(given, _)| *given) {
        return Some(CannotRun::Option(option));
    }
    let mut secrets = secrets(monitor);
    if let Some((row, _)) = secrets.find(|(_, secret)| secret.sealed().is_none()) {
        return Some(CannotRun::Foreign(row.cli));
    }
    let shut = |secret: &SealedSecret| !key.opens(&secret.text, &secret.purpose);
    sealed_secrets(monitor).find(shut).map(|secret| CannotRun::Sealed(secret.option))
}

/// A secret of a monitor that this program has sealed.
pub struct SealedSecret {
    /// The option that gives it.
    pub option: &'static str,
    /// As it is kept.
    pub text: String,
    /// What it was sealed for.
    pub purpose: String,
}

/// The secrets of a monitor that this program has sealed.
pub fn sealed_secrets(monitor: &LbMonitor) -> impl Iterator<Item = SealedSecret> {
    secrets(monitor).filter_map(|(row, secret)| {
        let text = secret.sealed()?.to_owned();
        Some(SealedSecret { option: row.cli, text, purpose: purpose(LbMonitor::OBJECT, row) })
    })
}

fn secrets(monitor: &LbMonitor) -> impl Iterator<Item = (&'static Row, Secret)> {
    LbMonitor::ATTRIBUTES.iter().filter_map(|attribute| match (attribute.value)(monitor) {
        Some(Value::Secret(secret)) => Some((&attribute.row, secret)),
        _ => None,
    })
}

/// As a monitor's last response.
impl fmt::Display for CannotRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CannotRun::Type(name) => write!(f, "Unknown - this version has no monitor of type {name}."),
            CannotRun::Option(option) => {
                write!(f, "Unknown - this version does not probe with -{option} YES.")
            }
            CannotRun::Certificate(why) => write!(f, "Unknown - {why}."),
            CannotRun::Foreign(option) => {
                write!(f, "Unknown - -{option} is encrypted by the appliance; supply it with --secrets.")
            }
            CannotRun::Sealed(option) => {
                write!(f, "Unknown - -{option} was sealed with another key; supply it again with --secrets.")
            }
        }
    }
}
