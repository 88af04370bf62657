//! One consistent view of everything traffic needs, built from the configuration and the previous view.
//!
//! Owns the step from names to live objects: what was configured before and is configured now stays the same object,
//! with its counters; the rest is new. A virtual server whose services, weights and method did not change keeps its
//! picker; otherwise another one takes over from it.

mod by_state;
mod concerned;
pub mod placement;
mod terms;

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use crate::balance::log::{ALL_LOGS_BYTES, Budget};
use crate::balance::picker::{Picker, Seat};
use crate::balance::setup::{Bound, Setup};
use crate::balance::slow_start::{SlowStart, Unit};
use crate::balance::startup::StartupReason;
use crate::balance::{self, Measures};
use crate::config::difference::Difference;
use crate::config::guard::Guards;
use crate::config::renamed::Renamed;
use crate::config::{Config, Features, LbBinding, LbVserver, Member, RequestUnit, ServiceGroup, ServiceType};
use crate::service::Service;
use crate::service::hot::Lines;
use crate::sorted::Sorted;
use crate::sync::Arc;
use crate::time::Time;
use crate::vserver::{ByState, Closed, Protocol, VirtualServer};
use placement::Placement;

pub use terms::surge_steps;

/// What workers decide on. Replaced as a whole; live objects in it are shared with its predecessor.
#[derive(Clone)]
pub struct Snapshot {
    /// Rises with each snapshot.
    pub generation: u64,
    vservers: Sorted<String, Arc<VirtualServer>>,
    services: Sorted<String, Arc<Service>>,
    /// Members that were unbound from a group that is still there: one that is bound again is the same as before.
    unbound: Sorted<String, Arc<Service>>,
    budget: Arc<Budget>,
    placement: Arc<Placement>,
}

impl Snapshot {
    /// A view in which there is nothing; in those that follow it, things are where `placement` puts them.
    pub fn placed(placement: Placement) -> Snapshot {
        Snapshot {
            generation: 0,
            vservers: Sorted::default(),
            services: Sorted::default(),
            unbound: Sorted::default(),
            budget: Budget::new(ALL_LOGS_BYTES),
            placement: Arc::new(placement),
        }
    }

    /// The view of `config` that follows this one; what has guards is closed. Its pickers take over at once, so build one
    /// only to publish it.
    pub fn next(&self, config: &Config, guards: &Guards, now: Time) -> Snapshot {
        self.next_by(&Difference::whole(), config, guards, now)
    }

    /// The same, where `difference` is all in which `config` may differ from that of this view, guards included. What it
    /// does not concern is not looked at.
    pub fn next_by(&self, difference: &Difference, config: &Config, guards: &Guards, now: Time) -> Snapshot {
        let services = self.live_services(difference, config, now);
        let unbound = self.unbound_from(difference, config, &services);
        let mut next = Snapshot {
            generation: self.generation + 1,
            vservers: self.vservers.clone(),
            services,
            unbound,
            budget: Arc::clone(&self.budget),
            placement: Arc::clone(&self.placement),
        };
        let setup = |vserver: &LbVserver| (vserver.name.to_ascii_lowercase(), next.setup(vserver, config));
        let mut setups: BTreeMap<String, Setup> = difference.vservers(config).map(setup).collect();
        let rebuilt = self.to_rebuild(difference, &setups);
        let touched = self.touched(difference, &rebuilt, config);
        let missing = rebuilt.iter().filter(|name| !setups.contains_key(*name));
        let more: Vec<_> = missing.filter_map(|name| config.lb_vservers.find(name)).map(setup).collect();
        setups.extend(more);
        for name in &touched {
            next.vservers.remove(name);
        }
        for vserver in by_state::backups_first(config, &touched) {
            let name = vserver.name.to_ascii_lowercase();
            // Of another protocol it is another one: sessions of the one cannot go on at the other.
            let is_same = |before: &&Arc<VirtualServer>| before.protocol == protocol(vserver.service_type);
            let before = self.vserver(&name).filter(is_same);
            let setup = setups.remove(&name).filter(|_| before.is_none() || rebuilt.contains(&name));
            let by_state = by_state::of(vserver, &next.vservers);
            let parts = (
                address(vserver, &self.placement),
                closed(vserver, config, guards, &self.placement),
                by_state,
            );
            let built = live_vserver(vserver, parts, before, |seat| match (before, setup) {
                (_, Some(setup)) => Picker::take_over(setup, seat, now),
                (Some(before), None) => Arc::clone(&before.picker),
                (None, None) => Picker::take_over(next.setup(vserver, config), seat, now),
            });
            next.vservers.insert(name, Arc::new(built));
        }
        next.introduce(self, &rebuilt, &touched);
        next
    }

    /// The same view where virtual servers and services have those other names: what follows it finds them by these.
    pub fn renamed(&self, names: &Renamed) -> Snapshot {
        let mut renamed = self.clone();
        rename(&mut renamed.vservers, &names.vservers);
        rename(&mut renamed.services, &names.services);
        renamed
    }

    /// The virtual server called `name`, without regard to case.
    pub fn vserver(&self, name: &str) -> Option<&Arc<VirtualServer>> {
        self.vservers.get(&name.to_ascii_lowercase())
    }

    /// All virtual servers, by name.
    pub fn vservers(&self) -> impl ExactSizeIterator<Item = &Arc<VirtualServer>> {
        self.vservers.values()
    }

    /// The service called `name`, or the member called `group?server?port`.
    pub fn service(&self, name: &str) -> Option<&Arc<Service>> {
        self.services.get(&name.to_ascii_lowercase())
    }

    /// All services and group members, by name.
    pub fn services(&self) -> impl ExactSizeIterator<Item = &Arc<Service>> {
        self.services.values()
    }

    /// The virtual servers of this view that a difference names.
    pub fn vservers_in<'s>(
        &'s self,
        difference: &'s Difference,
    ) -> Box<dyn Iterator<Item = &'s Arc<VirtualServer>> + 's> {
        match difference.vservers_named() {
            None => Box::new(self.vservers()),
            Some(names) => Box::new(names.iter().filter_map(|name| self.vservers.get(name))),
        }
    }

    /// The services and group members of this view that a difference names, with their names in lower case.
    pub fn services_in<'s>(
        &'s self,
        difference: &'s Difference,
    ) -> Box<dyn Iterator<Item = &'s (String, Arc<Service>)> + 's> {
        let Some((services, groups)) = difference.services_and_groups_named() else {
            return Box::new(self.services.iter());
        };
        let services = services.iter().flat_map(|name| self.services.range(name.clone()..=name.clone()));
        let members = groups.iter().flat_map(|group| {
            let start = format!("{group}{MEMBER}");
            self.services.range(start.clone()..).take_while(move |(name, _)| name.starts_with(&start))
        });
        Box::new(services.chain(members))
    }

    /// A live object for each service and group member: the one that there was, unless its address changed.
    fn live_services(
        &self,
        difference: &Difference,
        config: &Config,
        now: Time,
    ) -> Sorted<String, Arc<Service>> {
        let (mut live, mut lines) = (self.services.clone(), Lines::default());
        for (name, _) in self.services_in(difference) {
            live.remove(name);
        }
        let mut add = |name: &str, server: &str, port: u16| {
            let configured = || Some(SocketAddr::new(config.servers.find(server)?.ip()?, port));
            let Some(address) = self.placement.service(name).or_else(configured) else { return };
            let service = match self.service(name).or_else(|| self.unbound.get(&name.to_ascii_lowercase())) {
                Some(service)
                    if service.address() == address && service.name().eq_ignore_ascii_case(name) =>
                {
                    Arc::clone(service)
                }
                Some(service) => service.moved_to(&mut lines, name, address, now),
                None => Service::among(&mut lines, name, address, now),
            };
            live.insert(name.to_ascii_lowercase(), service);
        };
        for service in difference.services(config) {
            add(&service.name, &service.server, service.port);
        }
        for group in difference.groups(config) {
            for member in &group.members {
                add(&member_name(&group.name, &member.server, member.port), &member.server, member.port);
            }
        }
        live
    }

    /// The members that groups of `config` had before and have no longer, as far as there is room for them.
    fn unbound_from(
        &self,
        difference: &Difference,
        config: &Config,
        services: &Sorted<String, Arc<Service>>,
    ) -> Sorted<String, Arc<Service>> {
        if difference.services_and_groups_named().is_some_and(|(_, groups)| groups.is_empty()) {
            return self.unbound.clone();
        }
        let group =
            |name: &str| name.split_once(MEMBER).is_some_and(|(group, _)| config.service_groups.has(group));
        let mut before: Vec<_> = self.services_in(difference).collect();
        before.sort_unstable_by_key(|(name, _)| name);
        let before = self.unbound.iter().chain(before);
        let gone = before.filter(|(name, _)| group(name) && !services.contains_key(name));
        gone.take(MOST_UNBOUND).cloned().collect()
    }

    fn setup(&self, vserver: &LbVserver, config: &Config) -> Setup {
        Setup {
            method: method(vserver),
            services: self.ring(vserver, config),
            startup_factor: config.lb_parameter.startup_rr_factor,
            slow_start: slow_start(vserver),
            budget: Arc::clone(&self.budget),
        }
    }

    /// The bound services in ring order: binding order, members in member order. None whose protocol this version does
    /// not carry is among them, and a virtual server of such a protocol has none at all.
    fn ring(&self, vserver: &LbVserver, config: &Config) -> Vec<Bound> {
        let mut ring = Vec::new();
        if !vserver.service_type.is_carried() {
            return ring;
        }
        for binding in &vserver.bindings {
            match binding {
                LbBinding::Service { name, weight, .. } => {
                    let configured = config.services.find(name);
                    let configured =
                        configured.filter(|s| s.is_carried() || self.is_placed(s.service_type, name));
                    let live = self.service(name).map(Arc::clone);
                    ring.extend(configured.zip(live).map(|(configured, service)| {
                        let terms = Arc::new(terms::of_service(configured, config));
                        Bound { service, weight: *weight, terms }
                    }));
                }
                LbBinding::ServiceGroup { name, .. } => {
                    let group = config.service_groups.find(name).filter(|g| g.service_type.is_carried());
                    ring.extend(group.into_iter().flat_map(|g| self.members(g, config)));
                }
            }
        }
        ring
    }

    fn members(&self, group: &ServiceGroup, config: &Config) -> Vec<Bound> {
        let terms = Arc::new(terms::of_group(group, config));
        let live = |member: &Member| {
            let service = self.service(&member_name(&group.name, &member.server, member.port))?;
            Some(Bound { service: Arc::clone(service), weight: member.weight, terms: Arc::clone(&terms) })
        };
        let carried = |m: &&Member| {
            m.is_carried() || self.placement.service(&member_name(&group.name, &m.server, m.port)).is_some()
        };
        group.members.iter().filter(carried).filter_map(live).collect()
    }

    fn is_placed(&self, service_type: ServiceType, name: &str) -> bool {
        service_type.is_carried() && self.placement.service(name).is_some()
    }

    /// Tells the services of the new pickers who watches them now, and has those pickers read what happened meanwhile.
    fn introduce(&self, before: &Snapshot, rebuilt: &BTreeSet<String>, touched: &BTreeSet<String>) {
        let mut bindings: BTreeMap<*const Service, (Vec<_>, usize)> = BTreeMap::new();
        let new = || rebuilt.iter().filter_map(|name| self.vservers.get(name));
        for vserver in new() {
            let counts_packets = vserver.picker.method().measures == Measures::Packets;
            for (position, service) in vserver.services().enumerate() {
                let (list, packet_watchers) = bindings.entry(Arc::as_ptr(service)).or_default();
                list.push(vserver.picker.binding(position));
                *packet_watchers += usize::from(counts_packets);
            }
        }
        let old = rebuilt.iter().filter_map(|name| before.vservers.get(name));
        for unbound in old.flat_map(|v| v.services()).filter(|s| !bindings.contains_key(&Arc::as_ptr(s))) {
            unbound.bind(Arc::from([]), 0);
        }
        for service in new().flat_map(|v| v.services()) {
            if let Some((list, packet_watchers)) = bindings.remove(&Arc::as_ptr(service)) {
                service.bind(list.into(), packet_watchers);
            }
        }
        for vserver in new() {
            vserver.picker.bound();
        }
        for (name, gone) in touched.iter().filter_map(|name| Some((name, before.vservers.get(name)?))) {
            if !self.vservers.get(name).is_some_and(|v| Arc::ptr_eq(&v.seat, &gone.seat)) {
                gone.seat.clear();
            }
        }
    }
}

fn rename<T: Clone>(map: &mut Sorted<String, T>, names: &[(String, String)]) {
    for (old, new) in names {
        if let Some(live) = map.remove(&old.to_ascii_lowercase()) {
            map.insert(new.to_ascii_lowercase(), live);
        }
    }
}

/// The virtual servers of `config` whose addresses are to be listened on, with those.
pub fn to_open<'c>(config: &'c Config, guards: &Guards) -> impl Iterator<Item = (&'c str, SocketAddr)> {
    let placement = Placement::default();
    let open = move |v: &&LbVserver| closed(v, config, guards, &placement).is_empty();
    config.lb_vservers.iter().filter(open).filter_map(|v| Some((v.name.as_str(), v.address()?)))
}

/// Where it listens.
fn address(vserver: &LbVserver, placement: &Placement) -> Option<SocketAddr> {
    placement.vserver(&vserver.name).or_else(|| vserver.address())
}

/// Why a virtual server must take nobody in, the most general reason first.
fn closed(vserver: &LbVserver, config: &Config, guards: &Guards, placement: &Placement) -> Vec<Closed> {
    let mut closed = Vec::new();
    if !config.features.has(Features::LB) {
        closed.push(Closed::FeatureOff);
    }
    if !vserver.service_type.is_carried() {
        closed.push(Closed::Type(vserver.service_type.text()));
    }
    if vserver.port == ANY_PORT && placement.vserver(&vserver.name).is_none() {
        closed.push(Closed::Wildcard);
    }
    closed.extend(guards.of(&vserver.name).iter().map(|guard| Closed::Guarded(guard.to_string().into())));
    closed
}

fn live_vserver(
    vserver: &LbVserver,
    (address, closed, by_state): (Option<SocketAddr>, Vec<Closed>, ByState),
    before: Option<&Arc<VirtualServer>>,
    picker: impl FnOnce(&Arc<Seat>) -> Arc<Picker>,
) -> VirtualServer {
    let (seat, live) = match before {
        Some(before) => (Arc::clone(&before.seat), Arc::clone(&before.live)),
        None => Default::default(),
    };
    let picker = picker(&seat);
    let built = VirtualServer {
        name: vserver.name.as_str().into(),
        address,
        protocol: protocol(vserver.service_type),
        method: picker.method().name,
        client_timeout_s: vserver.clt_timeout_s,
        enabled: vserver.enabled,
        closed: closed.into(),
        by_state,
        live,
        picker,
        seat,
    };
    if let Some(before) = before {
        let is_off = |v: &VirtualServer| v.closed.contains(&Closed::FeatureOff);
        if is_off(before) && !is_off(&built) {
            built.picker.trigger(StartupReason::FeatureEnabled);
        }
        if built.enabled && !before.enabled {
            built.permit_return();
            built.picker.trigger(StartupReason::VserverEnabled);
        }
    }
    built
}

/// A view in which there is nothing.
impl Default for Snapshot {
    fn default() -> Snapshot {
        Snapshot::placed(Placement::default())
    }
}

/// Unbound members that are remembered.
const MOST_UNBOUND: usize = 4_096;

/// What stands between the parts of a member's name, and in no name of a group or service.
const MEMBER: char = '?';

/// A group member's name, as NITRO writes it.
pub fn member_name(group: &str, server: &str, port: u16) -> String {
    format!("{group}{MEMBER}{server}{MEMBER}{port}")
}

/// Where the method is not carried the backup method stands in for it, if the protocol allows that one. The configuration's words are the methods'
/// names; a test holds them together.
fn method(vserver: &LbVserver) -> &'static balance::Method {
    let backup = Some(vserver.backup_lb_method).filter(|backup| backup.suits(vserver.service_type));
    let named = balance::method(vserver.lb_method.text());
    named.or_else(|| balance::method(backup?.text())).unwrap_or(balance::DEFAULT)
}

/// A type that is not carried has no services, so nothing of it is ever relayed.
fn protocol(service_type: ServiceType) -> Protocol {
    match service_type {
        ServiceType::Tcp => Protocol::Tcp,
        ServiceType::Http | ServiceType::NotCarried(_) => Protocol::Http,
    }
}

fn slow_start(vserver: &LbVserver) -> Option<SlowStart> {
    (vserver.new_service_request > 0).then_some(SlowStart {
        request: vserver.new_service_request,
        unit: match vserver.new_service_request_unit {
            RequestUnit::Percent => Unit::Percent,
            _ => Unit::PerSecond,
        },
        increment_interval_s: vserver.new_service_request_increment_interval_s,
    })
}

/// How a configuration keeps port `*`.
const ANY_PORT: u16 = u16::MAX;
