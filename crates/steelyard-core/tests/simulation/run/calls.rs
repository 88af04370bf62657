//! Who waits and who is called: wakers, what workers hear of them and when, and the account of the queues.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use steelyard_core::proxy::io::ConnId;
use steelyard_core::service::Service;
use steelyard_core::service::waker::Waker;

use super::Simulation;
use crate::books::{ClientAccount, Named};
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
    /// Takes note of who was called, and lets their workers hear of it later.
    pub(super) fn take_calls(&mut self) {
        for (from, service) in std::mem::take(&mut self.calls.lock().unwrap().asked_back) {
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
        let of_flow = || Some(books.requests[books.flows.get(&socket.flow)?.current?].client);
        socket.client.or_else(of_flow)
    }

    /// How many wait at each virtual server.
    pub(super) fn waiting(&self) -> Vec<(Named, usize)> {
        self.vservers.iter().map(|(named, live)| (*named, live.waiting())).collect()
    }

    /// Who has begun to wait in an engine's call, for a client if that is known.
    pub(super) fn note_joined(&mut self, client: Option<u64>, before: &[(Named, usize)]) {
        // Who was refused, and was neither sent elsewhere nor answered, waits for another service.
        for client in std::mem::take(&mut self.shared.books.refused) {
            self.joined(client, true);
        }
        let mut others = std::mem::take(&mut self.shared.books.surge.answered);
        others.extend(client);
        others.dedup();
        for ((vserver, after), (_, before)) in self.waiting().into_iter().zip(before) {
            let surge = &mut self.shared.books.surge;
            let known = surge.balance.get(&vserver.identity).copied().unwrap_or_default();
            let joined = after as i64 - *before as i64 + known;
            let is_there = |client: &u64| {
                let account = self.shared.books.clients.get(client);
                account.is_some_and(|account| account.vserver.identity == vserver.identity)
                    && !self.shared.books.surge.waits(*client)
            };
            let others: Vec<u64> = others.iter().copied().filter(is_there).collect();
            match usize::try_from(joined).unwrap_or(0) {
                0 => {}
                some if some >= others.len() => {
                    // More than are known: whoever waited for leave to connect when its service went waits anew.
                    if some > others.len() {
                        self.shared.books.surge.blur(vserver);
                    }
                    others.into_iter().for_each(|c| self.joined(c, false));
                }
                _ => self.shared.books.surge.blur(vserver),
            }
            if after == 0 {
                self.shared.books.surge.clear(vserver);
            }
        }
    }
}
