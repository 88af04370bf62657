//! The monitors: what is due by the real schedule is probed over the simulated network, and the results go to it and to
//! the account of health.

use std::collections::BTreeMap;
use std::sync::Arc;

use steelyard_core::config::Config;
use steelyard_core::config::departure::Departures;
use steelyard_core::config::difference::Difference;
use steelyard_core::config::secret::{Plain, Unseal};
use steelyard_core::monitor::bound::Means;
use steelyard_core::monitor::schedule::{Outcome, ProbeKey, Schedule};
use steelyard_core::monitor::tls::{Credentials, Usable};
use steelyard_core::monitor::{Fault, Probe, ProbeResult, Spec, Stage, Step, Verdict};
use steelyard_core::snapshot::Snapshot;
use steelyard_core::time::Time;

use crate::network::{FlowId, Owner, Read, Side, What};
use crate::plan::number;
use crate::schedule::Event;
use crate::services::Services;
use crate::sockets::Shared;
use crate::targets::targets;

/// The probes of one run.
pub struct Probes {
    schedule: Schedule,
    running: BTreeMap<u64, Running>,
    next: u64,
    /// When the next look at what is due is planned.
    planned: u64,
}

struct Running {
    key: ProbeKey,
    flow: FlowId,
    service: usize,
    spec: Arc<Spec>,
    probe: Box<dyn Probe>,
    connected: bool,
}

impl Probes {
    pub fn new(seed: u64) -> Probes {
        Probes { schedule: Schedule::new(seed), running: BTreeMap::new(), next: 0, planned: u64::MAX }
    }

    /// Watches what this configuration asks for, where it differs from the one of the snapshot before.
    pub fn reconfigure(
        &mut self,
        difference: &Difference,
        config: &Config,
        (before, snapshot): (&Snapshot, &Snapshot),
        shared: &mut Shared,
    ) {
        let now = Time::from_us(shared.net.schedule.now);
        shared.books.health.reconfigure(&shared.books.plan);
        let means = Means { key: &NoKey, handshakes: &AnyFile };
        let targets = targets(difference, config, &Departures::default(), snapshot, &means);
        let services = before.services_in(difference).map(|(_, service)| service);
        let (stopped, _) = self.schedule.reconfigure_some(services, targets, now);
        let stopped: Vec<u64> =
            self.running.iter().filter(|(_, r)| stopped.contains(&r.key)).map(|(id, _)| *id).collect();
        for id in stopped {
            let running = self.running.remove(&id).unwrap();
            shared.net.reset(running.flow, Side::Opener);
        }
        self.plan_next(shared);
    }

    /// No more of them.
    pub fn stop(&mut self) {
        self.planned = 0;
    }

    /// Begins what is due.
    pub fn begin_due(&mut self, shared: &mut Shared) {
        if self.planned == 0 {
            return;
        }
        let now = Time::from_us(shared.net.schedule.now);
        self.planned = u64::MAX;
        for due in self.schedule.take_due(now).take(100) {
            let id = self.next;
            self.next += 1;
            let flow = shared.net.connect(Owner::Probe(id), due.to);
            let probe = due.spec.probe(due.about, now, due.seed);
            shared.net.schedule.after(due.limit_us, Event::ProbeEnds(id));
            let service = number(due.to);
            let running = Running { key: due.key, flow, service, spec: due.spec, probe, connected: false };
            self.running.insert(id, running);
        }
        self.plan_next(shared);
    }

    /// A probe's connection has something to tell.
    pub fn look(&mut self, id: u64, what: What, services: &Services, shared: &mut Shared) {
        let now = Time::from_us(shared.net.schedule.now);
        let Some(running) = self.running.get_mut(&id) else { return };
        let step = match what {
            What::Connected => {
                running.connected = true;
                running.probe.opened(now)
            }
            What::Refused => Step::Done(running.probe.failed(Fault::Refused)),
            What::Readable => match shared.net.read(running.flow, Side::Opener, 4_096) {
                Read::Data(bytes) => {
                    shared.net.schedule.after(1, Event::Read(running.flow, Side::Opener));
                    running.probe.received(&bytes, now)
                }
                Read::End | Read::Reset => Step::Done(running.probe.closed()),
                Read::Nothing => Step::Wait,
            },
            What::Accepted | What::Drained => Step::Wait,
        };
        match step {
            Step::Wait | Step::Reopen(_) => {}
            Step::Done(result) | Step::Farewell(_, result) => self.finish(id, result, services, shared),
            Step::Send(bytes) => {
                running.probe.sent(now);
                shared.net.write(running.flow, Side::Opener, &bytes);
            }
        }
    }

    /// The time for a probe is up.
    pub fn expire(&mut self, id: u64, services: &Services, shared: &mut Shared) {
        let Some(running) = self.running.get_mut(&id) else { return };
        let stage = if running.connected { Stage::Response } else { Stage::Connect };
        let result = running.probe.timed_out(stage);
        self.finish(id, result, services, shared);
    }

    fn finish(&mut self, id: u64, result: ProbeResult, services: &Services, shared: &mut Shared) {
        let Running { key, flow, service, spec, connected, .. } = self.running.remove(&id).unwrap();
        let success = result.verdict == Verdict::Success;
        let well = connected && (&*spec.name != "mh" || services.probed.get(&flow) == Some(&200));
        assert!(well || !success, "a probe of s{service} by {} succeeds and should not", spec.name);
        shared.net.schedule.note(|| format!("{} of s{service}: {result}", spec.name));
        shared.net.close(flow, Side::Opener);
        shared.books.health.result(service, &spec.name, success);
        let Outcome { transition, .. } =
            self.schedule.finished(key, result, Time::from_us(shared.net.schedule.now));
        if transition.is_some_and(|transition| !transition.to.admits()) {
            for worker in 0..shared.sockets.len() {
                let wait = shared.net.schedule.random.of(&[0, 100, 20_000]);
                shared.net.schedule.after(wait, Event::Flush(worker));
            }
        }
        self.plan_next(shared);
    }

    fn plan_next(&mut self, shared: &mut Shared) {
        if let Some(due) = self.schedule.next_due().filter(|due| due.as_us() < self.planned) {
            self.planned = due.as_us();
            shared.net.schedule.at(due.as_us(), Event::ProbesDue);
        }
    }
}

/// Every file of a certificate is here.
struct AnyFile;

impl Usable for AnyFile {
    fn cannot_use(&self, _: &Credentials) -> Option<Box<str>> {
        None
    }
}

/// No monitor here has a secret.
struct NoKey;

impl Unseal for NoKey {
    fn open(&self, _sealed: &str, _purpose: &str) -> Option<Plain> {
        None
    }
}
