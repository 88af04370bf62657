//! The account of the surge queues: who waits for a service with room, in which order, and who was called.
//!
//! Who joins is seen by the length of the real queue; the order, and that nobody goes on before he is called, is judged
//! here. The hard question is whose wait it is that begins where an engine acts for nobody: of those who waited for leave to
//! connect, one whose time is up or whose service went may wait for another. Where several may it is counted without a name.

use std::collections::{BTreeMap, VecDeque};

use crate::books::Named;
use crate::network::FlowId;

/// All queues.
#[derive(Default)]
pub struct Surge {
    /// By virtual server.
    queues: BTreeMap<u64, VecDeque<Waiting>>,
    /// Calls that their workers have not heard yet.
    pub pending: usize,
    /// Clients that went on in an engine's current call before it was known that they are called.
    pub early: Vec<u64>,
    /// Clients that were answered in it, who may have asked for the next thing already.
    pub answered: Vec<u64>,
    /// By virtual server how many wait of whom only that is known. None of them can go to every service any more.
    nameless: BTreeMap<u64, usize>,
    /// Those who were called.
    called: BTreeMap<u64, Called>,
    /// The client for which an engine acts, if it does for one.
    pub acting: Option<u64>,
    /// Connections of TCP that it has opened while it acted for none.
    pub unowned: Vec<FlowId>,
    /// Clients that wait for leave to connect to a service.
    leave: BTreeMap<u64, Leave>,
    /// How often somebody began to, or was given a connection, of whom only that is known.
    pub strangers: usize,
}

/// A wait for leave to connect.
#[derive(Clone, Copy)]
pub struct Leave {
    pub worker: usize,
    pub service: usize,
    since: u64,
}

/// What one was called for.
struct Called {
    /// Who was eligible then; nothing where it was decided before.
    to: Option<Vec<usize>>,
    /// To be told that nobody is.
    nobody: bool,
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
        self.leave.remove(&client);
        self.queues.entry(vserver.identity).or_default().push_back(Waiting { client, since: now, tried });
    }

    /// A waiter is called.
    pub fn called(&mut self, vserver: Named, client: u64, eligible: Vec<usize>) {
        let (nobody, any_nameless) = (eligible.is_empty(), self.any_nameless(vserver));
        let queue = self.queues.entry(vserver.identity).or_default();
        let Some(place) = queue.iter().position(|waiting| waiting.client == client) else {
            // It waits for a permit, and whose was decided before; or it is one without a name.
            self.called.insert(client, Called { to: None, nobody: nobody && any_nameless });
            return;
        };
        let overtakes = queue.iter().take(place).any(|waiting| !waiting.tried);
        assert!(!overtakes, "client {client} is called before those who came first");
        queue.remove(place);
        match self.early.iter().position(|early| *early == client) {
            // It has gone on already: where to, was judged then.
            Some(place) => drop(self.early.remove(place)),
            None => drop(self.called.insert(client, Called { to: Some(eligible), nobody })),
        }
    }

    /// A client goes away or is told something else.
    pub fn left(&mut self, client: u64) {
        self.queues.values_mut().for_each(|queue| queue.retain(|waiting| waiting.client != client));
        self.leave.remove(&client);
        self.called.remove(&client);
    }

    /// Those who are known to wait there.
    pub fn waiting(&self, vserver: Named) -> Vec<u64> {
        self.queues.get(&vserver.identity).into_iter().flatten().map(|waiting| waiting.client).collect()
    }

    /// How many really wait there. Those without a name leave when fewer do than are known: how many more do than that?
    pub fn count(&mut self, vserver: Named, really: usize) -> usize {
        let named = self.queues.get(&vserver.identity).map_or(0, VecDeque::len);
        let nameless = self.nameless.entry(vserver.identity).or_default();
        assert!(named <= really, "{named} are known to wait at v{}, and {really} do", vserver.number);
        *nameless = (*nameless).min(really - named);
        really - named - *nameless
    }

    /// So many begin to wait, and who is not known.
    pub fn joined_nameless(&mut self, vserver: Named, count: usize) {
        *self.nameless.entry(vserver.identity).or_default() += count;
    }

    /// A client waits for leave to connect.
    pub fn claims(&mut self, client: u64, worker: usize, service: usize, now: u64) {
        self.leave.insert(client, Leave { worker, service, since: now });
    }

    /// Clients that have waited for leave to connect as long as they may, or to a service that went.
    pub fn may_give_up(
        &self,
        now: u64,
        is_there: impl Fn(usize) -> bool,
    ) -> impl Iterator<Item = (u64, Leave)> {
        let may = move |leave: &Leave| now - leave.since >= CONNECT_US || !is_there(leave.service);
        self.leave.iter().map(|(client, leave)| (*client, *leave)).filter(move |(_, leave)| may(leave))
    }

    /// Does anybody wait there who cannot go everywhere?
    pub fn any_tried(&self, vserver: Named) -> bool {
        let mut queue = self.queues.get(&vserver.identity).into_iter().flatten();
        self.any_nameless(vserver) || queue.any(|waiting| waiting.tried)
    }

    fn any_nameless(&self, vserver: Named) -> bool {
        self.nameless.get(&vserver.identity).is_some_and(|count| *count > 0)
    }

    pub fn waits(&self, client: u64) -> bool {
        self.queues.values().flatten().any(|waiting| waiting.client == client)
    }

    /// May it have been given this service when it was called? `None`: it was not called.
    pub fn was_given(&self, client: u64, service: usize) -> Option<bool> {
        let called = self.called.get(&client)?;
        Some(called.to.as_ref().is_none_or(|eligible| eligible.contains(&service)))
    }

    /// Has it waited as long as one may, or was it told that there is nobody left?
    pub fn is_excused(&self, vserver: Named, client: u64, now: u64) -> bool {
        let mut waiting = self.queues.values().flatten().filter(|waiting| waiting.client == client);
        self.any_nameless(vserver)
            || self.called.get(&client).is_some_and(|called| called.nobody)
            || waiting.any(|waiting| now - waiting.since >= SURGE_US)
    }
}

/// `Limits::connect_us` of the simulated engines.
pub const CONNECT_US: u64 = 900_000;
/// `Limits::surge_us` of the simulated engines, which is longer than no other time-out there.
pub const SURGE_US: u64 = 1_000_000;
