//! Who waits and who is called: wakers, what workers hear of them and when, and the account of the queues.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use steelyard_core::proxy::io::ConnId;
use steelyard_core::service::Service;
use steelyard_core::service::waker::Waker;

use super::Simulation;
use crate::books::ClientAccount;
use crate::plan::number;
use crate::schedule::Event;
use crate::sockets::Shared;

/// What engines are to be told by others.
#[derive(Default)]
pub(super) struct Calls {
    /// Waiters that were called, with their workers.
    called: VecDeque<(usize, u64)>,
    /// Services to which the others are to close an idle connection, and who asks.
    asked_back: Vec<(usize, usize)>,
}

/// Calls the waiters of one worker.
pub(super) struct Wakes {
    pub worker: usize,
    pub calls: Arc<Mutex<Calls>>,
}

impl Waker for Wakes {
    fn wake(&self, waiter: u64) {
        self.calls.lock().unwrap().called.push_back((self.worker, waiter));
    }

    fn ask_back(&self, service: &Arc<Service>) {
        self.calls.lock().unwrap().asked_back.push((self.worker, number(service.address())));
    }
}

impl Simulation {
    /// Takes note of who was called, and lets their workers hear of it later. The services that somebody waits for leave to connect to
    /// since the last time.
    pub(super) fn take_calls(&mut self) -> Vec<usize> {
        let asked_back = std::mem::take(&mut self.calls.lock().unwrap().asked_back);
        for &(from, service) in &asked_back {
            for worker in (0..self.engines.len()).filter(|worker| *worker != from) {
                self.shared.net.schedule.after(20, Event::AskedBack(worker, service));
            }
        }
        while let Some((worker, waiter)) = self.next_call() {
            let Shared { net, books, sockets } = &mut self.shared;
            let wait = net.schedule.random.of(&[0, 0, 30, 3_000]);
            net.schedule.after(wait, Event::Called(worker, waiter));
            books.surge.pending += 1;
            let socket = sockets[worker].get(&ConnId::from_bits(waiter));
            let Some(client) = socket.and_then(|socket| socket.client) else { continue };
            let at = books.clients[&client].vserver;
            let eligible = books.eligible(at);
            net.schedule.note(|| format!("client {client} of v{} is called, for {eligible:?}", at.number));
            books.surge.called(at, client, eligible);
        }
        let early = &self.shared.books.surge.early;
        assert!(early.is_empty(), "{early:?} go on although their turn has not come");
        asked_back.into_iter().map(|(_, service)| service).collect()
    }

    fn next_call(&self) -> Option<(usize, u64)> {
        self.calls.lock().unwrap().called.pop_front()
    }

    fn joined(&mut self, client: u64, tried: bool) {
        let Shared { net, books, .. } = &mut self.shared;
        net.schedule.note(|| format!("client {client} waits"));
        let Some(ClientAccount { vserver, .. }) = books.clients.get(&client).copied() else { return };
        books.surge.joined(vserver, client, tried, net.schedule.now);
    }

    pub(super) fn hear(&mut self, worker: usize, waiter: u64) {
        self.shared.books.surge.pending -= 1;
        let client = self.client_of(worker, ConnId::from_bits(waiter));
        self.engine(worker, client, |engine, sockets| engine.granted(waiter, sockets));
    }

    /// The client whose session an event of `id` belongs to.
    pub(super) fn client_of(&self, worker: usize, id: ConnId) -> Option<u64> {
        let socket = self.shared.sockets[worker].get(&id)?;
        let books = &self.shared.books;
        let of_flow = || {
            let flow = books.flows.get(&socket.flow)?;
            flow.client.or_else(|| Some(books.requests[flow.current?].client))
        };
        socket.client.or_else(of_flow)
    }

    /// Who has begun to wait in an engine's call, for a client if that is known: for a service with room, or for leave to connect to
    /// those in `asked`.
    pub(super) fn note_joined(&mut self, client: Option<u64>, worker: usize, asked: &[usize]) {
        let mut candidates = self.candidates(client, worker);
        for (vserver, live) in self.vservers.clone() {
            let clients = &self.shared.books.clients;
            let is_there = |one: &Candidate| {
                clients.get(&one.client).is_some_and(|c| c.vserver.identity == vserver.identity)
            };
            let here: Vec<Candidate> = candidates.iter().copied().filter(is_there).collect();
            let missing = self.shared.books.surge.count(vserver, live.waiting());
            // First those who must have, then those who may have, too.
            let upto = |why: Why| here.iter().filter(|one| one.why <= why).count();
            let certain = [0, upto(Why::Refused), upto(Why::GaveUp), here.len()];
            if certain.contains(&missing) {
                here[..missing].iter().for_each(|one| self.joined(one.client, one.why < Why::Acted));
                continue;
            }
            let surge = &mut self.shared.books.surge;
            let may_be = client.is_none() && (missing < here.len() || surge.strangers > 0);
            assert!(may_be, "{missing} begin to wait at v{}, of {here:?} for {client:?}", vserver.number);
            surge.joined_nameless(vserver, missing);
        }
        let Shared { net, books, .. } = &mut self.shared;
        candidates.retain(|one| !books.surge.waits(one.client));
        match (&*std::mem::take(&mut books.surge.unowned), &candidates[..], asked) {
            ([], ..) => {}
            ([flow], [Candidate { why: Why::Refused, client }], []) if books.clients[client].tcp => {
                books.flows.entry(*flow).and_modify(|flow| flow.client = Some(*client));
            }
            (unowned, ..) => books.surge.strangers += unowned.len(),
        }
        if asked.iter().any(|service| *service != asked[0]) || asked.len() != candidates.len() {
            books.surge.strangers += asked.len();
            return;
        }
        for (one, service) in candidates.iter().zip(asked) {
            books.surge.claims(one.client, worker, *service, net.schedule.now);
        }
    }

    /// Who may have begun to wait in it, by how certain that is.
    fn candidates(&mut self, client: Option<u64>, worker: usize) -> Vec<Candidate> {
        let Shared { net, books, .. } = &mut self.shared;
        let (refused, answered) =
            (std::mem::take(&mut books.refused), std::mem::take(&mut books.surge.answered));
        let gave_up = books.surge.may_give_up(net.schedule.now, |service| books.is_there(service));
        let gave_up = gave_up.filter(|(_, leave)| client.is_none() && leave.worker == worker);
        let gave_up = gave_up.map(|(client, _)| client).collect();
        let mut found: Vec<Candidate> = Vec::new();
        let groups = [
            (Why::Refused, refused),
            (Why::GaveUp, gave_up),
            (Why::Acted, answered),
            (Why::Acted, client.into_iter().collect()),
        ];
        for (why, client) in
            groups.into_iter().flat_map(|(why, clients)| clients.into_iter().map(move |c| (why, c)))
        {
            let is_known = found.iter().any(|one| one.client == client) || books.surge.waits(client);
            if !is_known && books.clients.contains_key(&client) {
                found.push(Candidate { why, client });
            }
        }
        found
    }
}

/// One who may have begun to wait.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    why: Why,
    client: u64,
}

/// Why that may be.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Why {
    /// Its service could not be connected to, and it was neither sent elsewhere nor answered.
    Refused,
    /// It waited for leave to connect, and did so long enough, or to a service that went.
    GaveUp,
    /// It asked for something, or was answered and may have asked for the next thing.
    Acted,
}
