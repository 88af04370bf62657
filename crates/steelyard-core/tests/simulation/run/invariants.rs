//! What must hold after every step, and when all is at rest.

use std::sync::atomic::Ordering;

use steelyard_core::time::Time;

use super::{IDLE_MOST, Simulation};
use crate::books::ServiceAccount;
use crate::schedule::Event;
use crate::services::Mood;

impl Simulation {
    /// The invariants that hold after every step.
    pub(super) fn check(&mut self) {
        self.steps += 1;
        self.take_calls();
        let books = &self.shared.books;
        // Granted, and the worker of the waiter has not heard of it.
        let (mut granted, mut claimed) = (0, false);
        for (number, service) in &self.live {
            let traffic = &service.traffic;
            let expected = books.services.get(number).copied().unwrap_or_default();
            let (active, requests) = (service.active(), service.requests());
            // Or it waits for a permit to connect.
            let is_wanted = service.permits.is_wanted();
            claimed |= is_wanted;
            let waits_to_be_heard = (books.surge.pending > 0 || is_wanted) && active > expected.active;
            granted += active.saturating_sub(expected.active) as usize;
            // Where there are limits a request may be given a service and go before it is sent.
            let some_gave_back = books.limited && requests > expected.requests;
            let found = ServiceAccount {
                active: if waits_to_be_heard { expected.active } else { active },
                connections: traffic.connections.load(Ordering::Relaxed),
                requests: if some_gave_back { expected.requests } else { requests },
                samples: traffic.ttfb_count.load(Ordering::Relaxed),
            };
            let taken = (active, found.connections);
            let before = self.taken.insert(*number, taken).unwrap_or_default();
            let most = books.configured[number].max_client;
            let within = |taken: u64, before: u64, most: u64| most == 0 || taken <= most.max(before);
            // A transaction opens its connection on the terms that it began with.
            let is_within =
                within(taken.0, before.0, most) && within(taken.1, before.1, books.loosest[number]);
            assert!(is_within, "s{number} has {taken:?} transactions and connections, and may have {most}");
            assert_eq!(found, expected, "s{number}: counted, and what the account says");
            let is_configured = books.plan.services.contains_key(number);
            if is_configured {
                assert_eq!(
                    service.state().admits(),
                    books.health.is_up(*number),
                    "s{number} is {:?}",
                    service.state()
                );
            }
        }
        assert!(
            claimed || granted <= books.surge.pending,
            "{granted} granted, {} called",
            books.surge.pending
        );
        for (named, live) in &self.vservers {
            if live.waiting() > 0 {
                let (number, vserver) = (named.number, &books.plan.vservers[&named.number]);
                let is_full = |service: &usize| {
                    let most = books.configured[service].max_client;
                    most > 0 && self.live[service].active() >= most
                };
                let up: Vec<usize> =
                    vserver.bindings.iter().map(|b| b.0).filter(|s| books.health.is_up(*s)).collect();
                assert!(!up.is_empty(), "{} wait at v{number}, and no service is UP", live.waiting());
                let active = |service: &usize| {
                    (*service, self.live[service].active(), books.configured[service].max_client)
                };
                assert!(
                    books.surge.any_tried(*named) || up.iter().all(is_full),
                    "{:?} wait at v{number} and need not: {:?}",
                    books.surge.waiting(*named),
                    up.iter().map(active).collect::<Vec<_>>()
                );
            }
        }
        if !self.steps.is_multiple_of(4) {
            return;
        }
        for (worker, engine) in self.engines.iter().enumerate() {
            let (clients, servers): (Vec<_>, Vec<_>) =
                self.shared.sockets[worker].values().partition(|socket| socket.client.is_some());
            assert_eq!(
                (engine.clients(), engine.servers()),
                (clients.len(), servers.len()),
                "connections of w{worker}"
            );
            assert_eq!(engine.idle_servers(), books.idle(worker), "idle connections of w{worker}");
            assert!(engine.idle_servers() <= IDLE_MOST, "w{worker} keeps {}", engine.idle_servers());
        }
        for (flow, server) in &books.flows {
            assert!(
                !(server.current.is_none() && server.stray),
                "{flow} is kept although it carried stray bytes"
            );
        }
    }

    /// Nobody comes any more: everything must come to rest by itself.
    pub(super) fn drain(&mut self) {
        let schedule = &mut self.shared.net.schedule;
        schedule.forget(|event| matches!(event, Event::Arrival | Event::Mood | Event::Operator));
        self.rest();
        // Services that had fallen silent see what is closed.
        for service in 0..self.next_service {
            self.services.set_mood(service, Mood::Serving(0), &mut self.shared);
        }
        self.probes.stop();
        self.rest();
        for (number, service) in &self.live {
            assert_eq!(service.active(), 0, "s{number} has active transactions at rest");
        }
        for (worker, engine) in self.engines.iter().enumerate() {
            let left = (engine.clients(), engine.servers(), engine.next_deadline());
            assert_eq!(left, (0, 0, Time::NEVER), "what is left of w{worker}");
        }
        for account in self.shared.books.requests.iter().filter(|account| !account.dispatches.is_empty()) {
            assert!(account.logged, "r{} was sent to a service and is not logged", account.asked.number);
        }
        assert_eq!(self.shared.net.left(), Vec::<String>::new(), "connections are left");
        for vserver in self.snapshot.vservers() {
            assert_eq!(vserver.live.connections.load(Ordering::Relaxed), 0, "{}", vserver.name);
        }
    }
}
