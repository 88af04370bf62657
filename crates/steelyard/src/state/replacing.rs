//! Another configuration in the place of the running one, and the addresses that go with it.
//!
//! What is the same in both is not looked at: the core says what differs, and all that was derived from the rest stays
//! as it is. So a change costs what it changes, however large the configuration is.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use steelyard_core::command::Switched;
use steelyard_core::config::Config;
use steelyard_core::config::departure::Departures;
use steelyard_core::config::difference::Difference;
use steelyard_core::monitor::bound::Means;
use steelyard_core::monitor::schedule::{Target, Watched};
use steelyard_core::snapshot::{Snapshot, to_open};

use super::{Probing, Running, State, not_open};
use crate::addresses::Wanted;
use crate::run::OnFailure;
use crate::targets::targets;
use crate::worker::BindFailure;

/// What came of another configuration.
pub struct Replaced {
    /// The one that ran before.
    pub before: Config,
    /// A line for each virtual server that `--expose` names, and those of [`State::open`].
    pub lines: Vec<String>,
}

impl State {
    /// Puts `config` in the place of the running configuration: what is in both goes on undisturbed. What was in service
    /// and is disabled leaves as `switched` says, and virtual servers that it enables may come back.
    ///
    /// # Errors
    /// A line for each address that cannot be opened, if that must not be. Nothing has changed then.
    pub fn replace(
        &self,
        config: Config,
        switched: &Switched,
        on_failure: OnFailure,
    ) -> Result<Replaced, Vec<String>> {
        let (difference, guarded) = {
            let Running { config: before, guarded, .. } = &*self.running.borrow();
            let difference = Difference::between(before, &config, &switched.departures, &switched.renamed);
            let guarded = guarded.after(&difference, &config);
            (difference, guarded)
        };
        let (guards, exposure) = self.exposed.waive(&guarded.guards, &config);
        let mut workers = self.workers.borrow_mut();
        let bound = workers.as_ref().map(|workers| workers.bind(to_open(&config, &guards)));
        let failures = bound.as_ref().map_or(&[][..], |bound| bound.failures());
        if on_failure == OnFailure::Exit && !failures.is_empty() {
            return Err(failures.iter().map(not_open).collect());
        }
        let before = self.snapshot().renamed(&switched.renamed);
        let snapshot = Arc::new(before.next_by(&difference, &config, &guards, self.clock.now()));
        self.tell_sources(&difference, &config, &snapshot);
        let enabled = switched.enabled_vservers.iter().filter_map(|name| snapshot.vserver(name));
        enabled.for_each(|vserver| vserver.permit_return());
        let means = Means { key: &self.key, handshakes: self.prober.handshakes(&self.folders) };
        let targets = targets(&difference, &config, &switched.departures, &snapshot, &means);
        let services = before.services_in(&difference).map(|(_, service)| service);
        self.prober.reconfigure(services, self.probing.of(targets));
        self.auth.configured();
        self.totals.borrow_mut().follow(&difference, (&before, &snapshot), &config);
        if self.running.borrow().config != config {
            self.changed_at.set(self.clock.now());
        }
        let mut lines = exposure.clone();
        let now = Running { config, guarded, snapshot: Arc::clone(&snapshot), exposure };
        let Running { config: before, .. } = self.running.replace(now);
        let failures = match (workers.as_mut(), bound) {
            (Some(workers), Some(bound)) => workers.publish(&snapshot, bound),
            _ => Vec::new(),
        };
        drop(workers);
        lines.extend(self.remember(failures));
        lines.extend(self.addresses.settle_change(self.wanted_addresses()));
        if self.addresses.manages() {
            let Running { config, snapshot, .. } = &*self.running.borrow();
            self.tell_sources(&Difference::whole(), config, snapshot);
        }
        lines.extend(self.missing_sources());
        Ok(Replaced { before, lines })
    }

    /// Certificates of secure probes count as their files are now, although the configuration is the same.
    pub fn renew_certificates(&self) {
        let Running { config, snapshot, .. } = &*self.running.borrow();
        let means = Means { key: &self.key, handshakes: self.prober.handshakes(&self.folders) };
        let all = targets(&Difference::whole(), config, &Departures::default(), snapshot, &means);
        let is_concerned = |target: &Target| {
            let secure = target.monitors.iter().any(|(spec, _)| spec.tls.is_some());
            target.watch == Watched::Probed && (secure || !target.unknown.is_empty())
        };
        let targets: Vec<Target> = self.probing.of(all).into_iter().filter(is_concerned).collect();
        let services: Vec<_> = targets.iter().map(|target| Arc::clone(&target.service)).collect();
        self.prober.reconfigure(services.iter(), targets);
    }

    pub(super) fn remember(&self, failures: Vec<BindFailure>) -> Vec<String> {
        let now: BTreeMap<String, BindFailure> =
            failures.into_iter().map(|f| (f.vserver.clone(), f)).collect();
        let before = self.closed.replace(now);
        let now = self.closed.borrow();
        let snapshot = self.snapshot();
        let there =
            |f: &&BindFailure| snapshot.vserver(&f.vserver).is_some_and(|v| v.address == Some(f.address));
        let opened = before.values().filter(|f| !now.contains_key(&f.vserver)).filter(there);
        let opened = opened.map(|f| format!("{}: listening on {}", f.vserver, f.address));
        let same = |f: &BindFailure| {
            before.get(&f.vserver).is_some_and(|b| b.address == f.address && b.error.kind() == f.error.kind())
        };
        let closed = now.values().filter(|f| !same(f)).map(not_open);
        opened.chain(closed).collect()
    }

    /// To be called when the host's addresses may have changed: where connections leave from, which addresses the host is
    /// given, which it lacks. Returns a line for each trouble that is new.
    pub fn settle_addresses(&self) -> Vec<String> {
        let said = self.addresses.settle(self.wanted_addresses());
        let Running { config, snapshot, .. } = &*self.running.borrow();
        self.tell_sources(&Difference::whole(), config, snapshot);
        said
    }

    fn wanted_addresses(&self) -> Wanted {
        let snapshot = self.snapshot();
        let closed = self.closed.borrow();
        let (mut all, mut served) = (BTreeSet::new(), BTreeSet::new());
        for vserver in snapshot.vservers() {
            let Some(ip) = vserver.address.map(|a| a.ip()).filter(|ip| !ip.is_unspecified()) else {
                continue;
            };
            all.insert(ip);
            if vserver.keeps_address() && !closed.contains_key(&*vserver.name) {
                served.insert(ip);
            }
        }
        // Before they serve nothing is held yet; while they stop, transactions in progress need what is.
        let serving = self.workers.borrow().is_some();
        Wanted { all, served: serving.then_some(served) }
    }

    /// Tells services where connections to them leave from. Simulated ones are on loopback, which nothing leaves.
    fn tell_sources(&self, difference: &Difference, config: &Config, snapshot: &Snapshot) {
        if self.probing == Probing::AsConfigured {
            self.addresses.tell_sources(difference, config, snapshot);
        }
    }

    /// A line for each address that connections should leave from, that this host lacks and that was not told yet.
    pub fn missing_sources(&self) -> Vec<String> {
        self.addresses.missing_sources()
    }

    /// Gives back every address that the host was given, for good. Returns a line for each that would not go.
    pub fn release_addresses(&self) -> Vec<String> {
        self.addresses.release()
    }
}
