//! The account of the surge queues: who waits for a service with room, in which order, and who was called.
//!
//! Who joins is seen by the length of the real queue; the order, and that nobody goes on before he is called, is judged
//! here.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::books::Named;

/// All queues.
#[derive(Default)]
pub struct Surge {
    /// By virtual server.
    queues: BTreeMap<u64, VecDeque<Waiting>>,
    /// Calls that their workers have not heard yet.
    pub pending: usize,
    /// Those who were called, and who was eligible then.
    /// By virtual server how many fewer are known to wait than before an engine's current call.
    pub balance: BTreeMap<u64, i64>,
    /// Clients that went on in it before it was known that they are called.
    pub early: Vec<u64>,
    /// Clients that were answered in it, who may have asked for the next thing already.
    pub answered: Vec<u64>,
    /// Virtual servers of whose queue not everything is known, until it is empty.
    blurred: BTreeSet<u64>,
    called: BTreeMap<u64, Option<Vec<usize>>>,
}

struct Waiting {
    client: u64,
    since: u64,
    /// It cannot go to every service any more.
    tried: bool,
}

impl Surge {
    pub fn joined(&mut self, vserver: Named, client: u64, tried: bool, now: u64) {
        assert!(!self.waits(client), "client {client} waits twice");
        *self.balance.entry(vserver.identity).or_default() -= 1;
        self.queues.entry(vserver.identity).or_default().push_back(Waiting { client, since: now, tried });
    }

    /// A waiter is called.
    pub fn called(&mut self, vserver: Named, client: u64, eligible: Vec<usize>) {
        let queue = self.queues.entry(vserver.identity).or_default();
        let Some(place) = queue.iter().position(|waiting| waiting.client == client) else {
            // It waits for a permit: whose, was decided before.
            self.called.insert(client, None);
            return;
        };
        let overtakes = queue.iter().take(place).any(|waiting| !waiting.tried);
        let overtakes = overtakes && !self.blurred.contains(&vserver.identity);
        assert!(!overtakes, "client {client} is called before those who came first");
        queue.remove(place);
        self.early.retain(|early| *early != client);
        *self.balance.entry(vserver.identity).or_default() += 1;
        self.called.insert(client, Some(eligible));
    }

    /// A client goes away or is told something else.
    pub fn left(&mut self, client: u64) {
        for (vserver, queue) in &mut self.queues {
            let before = queue.len();
            queue.retain(|waiting| waiting.client != client);
            *self.balance.entry(*vserver).or_default() += (before - queue.len()) as i64;
        }
        self.called.remove(&client);
    }

    /// Those who are known to wait there.
    pub fn waiting(&self, vserver: Named) -> Vec<u64> {
        self.queues.get(&vserver.identity).into_iter().flatten().map(|waiting| waiting.client).collect()
    }

    /// It is not known who waits there.
    pub fn blur(&mut self, vserver: Named) {
        self.blurred.insert(vserver.identity);
    }

    /// Nobody waits there.
    pub fn clear(&mut self, vserver: Named) {
        self.blurred.remove(&vserver.identity);
    }

    /// Is anybody among them who cannot go everywhere?
    pub fn any_tried(&self) -> bool {
        self.queues.values().flatten().any(|waiting| waiting.tried)
    }

    pub fn waits(&self, client: u64) -> bool {
        self.queues.values().flatten().any(|waiting| waiting.client == client)
    }

    /// May it have been given this service when it was called? `None`: it was not called.
    pub fn was_given(&self, client: u64, service: usize) -> Option<bool> {
        let eligible = self.called.get(&client)?;
        Some(eligible.as_ref().is_none_or(|eligible| eligible.contains(&service)))
    }

    /// Has it waited as long as one may, or was it told that there is nobody left?
    pub fn is_excused(&self, vserver: Named, client: u64, now: u64) -> bool {
        let mut waiting = self.queues.values().flatten().filter(|waiting| waiting.client == client);
        self.blurred.contains(&vserver.identity)
            || self.called.get(&client).is_some_and(|to| to.as_ref().is_some_and(Vec::is_empty))
            || waiting.any(|waiting| now - waiting.since >= SURGE_US)
    }
}

/// `Limits::surge_us` of the simulated engines, which is longer than no other time-out there.
pub const SURGE_US: u64 = 1_000_000;
