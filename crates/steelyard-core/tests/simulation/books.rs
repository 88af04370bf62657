//! The independent account of the run: who asked for what, what was sent where, what was answered, and what the rules
//! say about it. Written from what passes the sockets alone; it asks the code under test nothing.
//!
//! The hard question is when a transaction ends: when the last byte of the answer, which the service knows, has been
//! given to the engine, or when the connection ends.

use std::collections::{BTreeMap, BTreeSet};

use steelyard_core::proxy::record::Record;

use crate::answers::Answer;
use crate::health::Health;
use crate::message::Message;
use crate::network::FlowId;
use crate::plan::{self, Plan, Vserver};
use crate::requests::{Request, start};
use crate::surge::Surge;

/// A deliberately wrong rule, to show that the run can fail.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Planted {
    Nothing,
    /// A transaction ends with the head of its answer.
    EndsAtHead,
    /// A service is DOWN after one failed probe.
    HastyHealth,
    /// The network changes a byte of an answer.
    ChangedByte,
    /// An RST reaches a client as if it were a FIN.
    ResetAsEnd,
    /// What goes to a service of a POST is delivered twice.
    SentTwice,
    /// The sockets forget to close a connection.
    LeftOpen,
}

/// The account.
pub struct Books {
    pub planted: Planted,
    pub plan: Plan,
    /// Every service that there ever was, as it was configured last.
    pub configured: BTreeMap<usize, plan::Service>,
    /// The highest `maxClient` that each ever had.
    pub loosest: BTreeMap<usize, u64>,
    /// Some service had a limit once.
    pub limited: bool,
    /// What each worker has adopted last.
    pub adopted: Vec<Plan>,
    /// Virtual servers that had nobody when their present choice took over, of which a worker has not heard: what it has
    /// does not change any more.
    pub was_empty: Vec<BTreeSet<u64>>,
    pub health: Health,
    pub requests: Vec<Account>,
    pub answers: Vec<Answer>,
    pub surge: Surge,
    /// Clients whose service could not be connected to, in the engine's current call.
    pub refused: Vec<u64>,
    pub flows: BTreeMap<FlowId, ServerFlow>,
    pub services: BTreeMap<usize, ServiceAccount>,
    pub clients: BTreeMap<u64, ClientAccount>,
    /// Answers that virtual servers gave themselves and clients have not read yet.
    pub own: BTreeMap<u64, Vec<Own>>,
}

/// A virtual server of one life.
#[derive(Clone, Copy, Default)]
pub struct Named {
    pub number: usize,
    pub identity: u64,
}

impl Named {
    /// As this plan has it, if it is the same.
    pub fn of(self, plan: &Plan) -> Option<&Vserver> {
        plan.vservers.get(&self.number).filter(|v| v.identity == self.identity)
    }
}

/// A request and what became of it.
pub struct Account {
    pub asked: Request,
    pub client: u64,
    pub vserver: Named,
    pub dispatches: Vec<Dispatch>,
    /// Services that could not be connected to for it.
    pub refused_by: Vec<usize>,
    /// The client has its final answer.
    pub answered: bool,
    /// The access log has it.
    pub logged: bool,
    /// How many services read all of it.
    pub seen: usize,
    /// Its client has handed over all of it.
    pub written: bool,
}

/// A request on its way to a service.
pub struct Dispatch {
    pub service: usize,
    pub reused: bool,
    /// Bytes of it may have been acted on.
    pub established: bool,
    pub answer_bytes: u64,
    pub ended: bool,
    /// The answer was complete.
    pub whole: bool,
    /// When bytes were last exchanged.
    pub active_at: u64,
}

/// A connection of an engine to a service.
pub struct ServerFlow {
    pub tcp: bool,
    /// Of TCP, whose it is, if that is known.
    pub client: Option<u64>,
    pub worker: usize,
    pub service: usize,
    pub established: bool,
    pub current: Option<usize>,
    pub exchanges: usize,
    pub delivered: u64,
    pub idle_since: u64,
    /// Where the answers that the service has begun have their heads and ends.
    pub marks: Vec<Mark>,
    /// Bytes came that no request asked for.
    pub stray: bool,
}

/// Where an answer lies in its connection's bytes.
pub struct Mark {
    pub answer: usize,
    pub base: u64,
    pub sampled: bool,
}

/// What is expected of a service's counters.
#[derive(Default, Clone, Copy, PartialEq, Eq, Debug)]
pub struct ServiceAccount {
    pub active: u64,
    pub connections: u64,
    pub requests: u64,
    pub samples: u64,
}

/// A client connection as its engine has it.
#[derive(Clone, Copy)]
pub struct ClientAccount {
    pub vserver: Named,
    pub tcp: bool,
    pub worker: usize,
}

/// An answer that a virtual server gave itself: was nobody eligible then, and when?
#[derive(Clone, Copy, Debug)]
pub struct Own {
    pub status: u16,
    pub nobody: bool,
    pub at: u64,
}

impl Books {
    pub fn new(planted: Planted, workers: usize) -> Books {
        let mut health = Health::default();
        health.hasty = planted == Planted::HastyHealth;
        Books {
            planted,
            plan: Plan::default(),
            configured: BTreeMap::new(),
            loosest: BTreeMap::new(),
            limited: false,
            adopted: vec![Plan::default(); workers],
            was_empty: vec![BTreeSet::new(); workers],
            health,
            requests: Vec::new(),
            answers: Vec::new(),
            surge: Surge::default(),
            refused: Vec::new(),
            flows: BTreeMap::new(),
            services: BTreeMap::new(),
            clients: BTreeMap::new(),
            own: BTreeMap::new(),
        }
    }

    /// May this virtual server give new work to that service?
    fn is_eligible(&self, vserver: Named, service: usize) -> bool {
        let bound = vserver.of(&self.plan).is_some_and(|v| v.bindings.iter().any(|b| b.0 == service));
        bound && self.health.is_up(service)
    }

    /// Is the service configured and UP?
    pub fn is_there(&self, service: usize) -> bool {
        self.plan.services.contains_key(&service) && self.health.is_up(service)
    }

    /// All to whom this virtual server may give new work.
    pub fn eligible(&self, vserver: Named) -> Vec<usize> {
        let bound = vserver.of(&self.plan).map(|v| &v.bindings[..]).unwrap_or_default();
        bound.iter().map(|b| b.0).filter(|service| self.health.is_up(*service)).collect()
    }

    /// Another configuration is published.
    pub fn note_empty(&mut self) {
        for worker in 0..self.adopted.len() {
            let vservers: Vec<Named> = self.adopted[worker].named().collect();
            let empty = vservers.into_iter().filter(|v| self.has_nobody(*v, worker)).map(|v| v.identity);
            let empty: Vec<u64> = empty.collect();
            self.was_empty[worker].extend(empty);
        }
    }

    /// Has it nobody to give work to, by what is configured or by what a worker has heard of it so far?
    pub fn has_nobody(&self, vserver: Named, worker: usize) -> bool {
        if self.was_empty[worker].contains(&vserver.identity) {
            return true;
        }
        let serves = |v: &Vserver| v.enabled && v.bindings.iter().any(|b| self.health.is_up(b.0));
        ![&self.adopted[worker], &self.plan].iter().all(|plan| vserver.of(plan).is_some_and(serves))
    }

    pub fn opening(&mut self, flow: FlowId, worker: usize, service: usize) {
        let tcp = self.configured[&service].tcp;
        let account = self.services.entry(service).or_default();
        account.connections += 1;
        if tcp {
            // A connection is one transaction, and begins with the choice of a service.
            account.active += 1;
            account.requests += 1;
            let is_bound = |v: &Vserver| v.bindings.iter().any(|b| b.0 == service);
            let eligible = self.health.is_up(service) && self.plan.vservers.values().any(is_bound);
            assert!(eligible || self.limited, "a connection to s{service}, which is not UP");
        }
        let client = self.surge.acting.filter(|_| tcp);
        match client {
            Some(client) => {
                self.surge.left(client);
                self.refused.retain(|refused| *refused != client);
            }
            None if tcp => self.surge.unowned.push(flow),
            None => {}
        }
        let opened = ServerFlow {
            tcp,
            client,
            worker,
            service,
            established: false,
            current: None,
            exchanges: 0,
            delivered: 0,
            idle_since: 0,
            marks: Vec::new(),
            stray: false,
        };
        self.flows.insert(flow, opened);
    }

    pub fn established(&mut self, flow: FlowId, now: u64) {
        let flow = self.flows.get_mut(&flow).unwrap();
        flow.established = true;
        if let Some(dispatch) = flow.current.and_then(|r| self.requests[r].dispatches.last_mut()) {
            dispatch.established = true;
            dispatch.active_at = now;
        }
    }

    /// An engine hands over bytes for a service.
    pub fn sent(&mut self, id: FlowId, bytes: &[u8], now: u64) {
        let flow = self.flows.get(&id).unwrap();
        if flow.tcp {
            return;
        }
        if let Some(number) = flow.current {
            self.requests[number].dispatches.last_mut().unwrap().active_at = now;
            return;
        }
        let (method, number) = start(bytes);
        assert!(
            number < self.requests.len(),
            "a request that nobody made: {:?}",
            String::from_utf8_lossy(bytes)
        );
        let (service, reused, established) = (flow.service, flow.exchanges > 0, flow.established);
        assert!(!flow.stray, "r{number} goes out on a connection that carried stray bytes");
        let idle_us = now - flow.idle_since;
        self.judge_dispatch(number, service, now);
        let account = &mut self.requests[number];
        assert_eq!(account.asked.method, method, "r{number}: the method");
        let fresh = !reused || account.asked.is_idempotent() || idle_us < FRESH_US;
        assert!(fresh, "r{number} must not be repeated and goes out on a connection idle for {idle_us} us");
        let dispatch = Dispatch {
            service,
            reused,
            established,
            answer_bytes: 0,
            ended: false,
            whole: false,
            active_at: now,
        };
        account.dispatches.push(dispatch);
        let client = account.client;
        self.refused.retain(|refused| *refused != client);
        if self.surge.waits(client) {
            // Then it is called in this same call of the engine.
            self.surge.early.push(client);
        } else {
            self.surge.left(client);
        }
        let flow = self.flows.get_mut(&id).unwrap();
        flow.current = Some(number);
        flow.exchanges += 1;
        let most = self.configured[&service].max_requests;
        assert!(
            most == 0 || flow.exchanges <= most,
            "{} requests on one connection to s{service}",
            flow.exchanges
        );
        self.services.get_mut(&service).unwrap().active += 1;
    }

    /// May this request be sent there now?
    fn judge_dispatch(&mut self, number: usize, service: usize, now: u64) {
        let account = &self.requests[number];
        let asked = &account.asked;
        assert!(asked.sound, "r{number} is not sound and is sent on");
        assert!(!account.answered, "r{number} is answered and is sent again");
        assert!(account.dispatches.iter().all(|d| d.ended), "r{number} is with two services at once");
        let acted_on: Vec<_> = account.dispatches.iter().filter(|d| d.established).collect();
        let may_repeat = match acted_on[..] {
            [] => true,
            [one] => asked.is_idempotent() && one.reused && one.answer_bytes == 0,
            _ => false,
        };
        assert!(may_repeat, "r{number} is sent again although it may have been acted on");
        let again = account.dispatches.last().filter(|last| last.established).map(|last| last.service);
        if again == Some(service) {
            return;
        }
        // Unless it had to wait for leave to connect once more, and did so in vain.
        let in_vain = |before| {
            self.surge
                .may_give_up(now, |s| self.is_there(s))
                .any(|(c, leave)| c == account.client && leave.service == before)
        };
        assert!(again.is_none_or(in_vain), "r{number}: a stale connection is no reason for another choice");
        assert!(!account.refused_by.contains(&service), "r{number} goes to s{service}, which refused it");
        let vserver = account.vserver;
        // Who waited was given his service when he was called.
        let granted = self.surge.was_given(account.client, service);
        assert!(
            granted.unwrap_or_else(|| self.is_eligible(vserver, service)),
            "r{number} of v{} goes to s{service}, which is not UP",
            vserver.number
        );
        self.services.get_mut(&service).unwrap().requests += 1;
    }

    /// A service begins an answer: it stands at `base` of what it has written on this connection.
    pub fn answering(&mut self, flow: FlowId, answer: usize, base: u64) {
        if let Some(flow) = self.flows.get_mut(&flow) {
            flow.marks.push(Mark { answer, base, sampled: false });
        }
    }

    /// An engine is given bytes of a service.
    pub fn delivered(&mut self, id: FlowId, bytes: usize, now: u64) {
        let flow = self.flows.get_mut(&id).unwrap();
        if flow.tcp {
            return;
        }
        flow.delivered += bytes as u64;
        let Some(number) = flow.current else {
            flow.stray = true;
            return;
        };
        let dispatch = self.requests[number].dispatches.last_mut().unwrap();
        dispatch.answer_bytes += bytes as u64;
        dispatch.active_at = now;
        let Some(mark) = flow.marks.last_mut() else { return };
        let answer = &self.answers[mark.answer];
        let reached = |at: Option<usize>| at.is_some_and(|at| flow.delivered >= mark.base + at as u64);
        if reached(answer.head_end) && !mark.sampled {
            mark.sampled = true;
            let counts = answer.status == 200;
            self.services.get_mut(&flow.service).unwrap().samples += u64::from(counts);
        }
        let end = if self.planted == Planted::EndsAtHead { answer.head_end } else { answer.whole_at };
        if reached(end) && answer.request == number {
            flow.stray = answer.whole_at.is_some_and(|at| flow.delivered > mark.base + at as u64);
            dispatch.whole = true;
            dispatch.ended = true;
            flow.current = None;
            flow.idle_since = now;
            self.services.get_mut(&flow.service).unwrap().active -= 1;
        }
    }

    /// A service has read a whole request.
    pub fn seen(&mut self, message: &Message, service: usize) -> usize {
        let number = start(message.start.as_bytes()).1;
        let account = self.requests.get_mut(number).expect("a request that somebody made");
        let asked = &account.asked;
        assert!(asked.sound, "r{number} is not sound and reached s{service}");
        assert!(account.written, "r{number} is not whole and passes for it");
        assert_eq!(message.start, format!("{} /r{number} HTTP/1.1", asked.method), "r{number}");
        assert_eq!(message.field("x-r"), [number.to_string()], "r{number}");
        assert_eq!(message.field("host").len(), 1, "r{number}: Host");
        let hops = ["connection", "keep-alive", "x-hop"];
        assert!(!hops.iter().any(|name| message.has(name)), "r{number}: {:?} goes on", message.fields);
        assert!(message.body == asked.body, "r{number}: another body than the client sent");
        let configured = &self.configured[&service];
        let forged = message.field("client-ip").contains(&"6.6.6.6");
        assert!(!(configured.client_ip && forged), "r{number}: a forged address reaches s{service}");
        let told = message.field("client-ip").contains(&"127.0.0.9");
        assert_eq!(told, configured.client_ip, "r{number}: is s{service} told who asks?");
        account.seen += 1;
        let most = if asked.is_idempotent() { 2 } else { 1 };
        assert!(account.seen <= most, "r{number} was acted on {} times", account.seen);
        number
    }

    /// An engine has no more to do with a connection to a service.
    pub fn closed(&mut self, id: FlowId) {
        let Some(flow) = self.flows.remove(&id) else { return };
        let service = self.services.get_mut(&flow.service).unwrap();
        service.connections -= 1;
        service.active -= u64::from(flow.tcp);
        if let Some(client) =
            flow.client.filter(|client| !flow.established && self.clients.contains_key(client))
        {
            self.refused.push(client);
        }
        if let Some(number) = flow.current {
            service.active -= 1;
            let account = &mut self.requests[number];
            account.dispatches.last_mut().unwrap().ended = true;
            if !flow.established {
                account.refused_by.push(flow.service);
                self.refused.push(account.client);
            }
        }
    }

    /// An engine hands over bytes for a client.
    pub fn sent_to_client(&mut self, client: u64, bytes: &[u8], now: u64) {
        let ClientAccount { vserver, worker, .. } = self.clients[&client];
        let nobody = self.has_nobody(vserver, worker);
        let text = String::from_utf8_lossy(&bytes[..bytes.len().min(300)]);
        let status = text.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3)?.parse().ok());
        if let (Some(status @ 400..), true) =
            (status, text.contains("<!doctype html>") || text.contains("no-store"))
        {
            let nobody = nobody || self.surge.is_excused(vserver, client, now);
            self.surge.answered.push(client);
            self.surge.left(client);
            self.refused.retain(|refused| *refused != client);
            self.own.entry(client).or_default().push(Own { status, nobody, at: now });
        }
    }

    /// The access log hears of a transaction that is over.
    pub fn logged(&mut self, record: &Record<'_>) {
        let (_, number) = start(record.line);
        let Some(account) = self.requests.get_mut(number) else { return };
        assert!(!account.logged, "r{number} is logged twice");
        account.logged = true;
        let tried = account.dispatches.len();
        assert_eq!(record.retries as usize, tried.saturating_sub(1), "r{number}: retries");
        // Where there are limits it may have been given to a service that it was never sent to.
        if !self.limited || account.dispatches.last().is_some_and(|d| d.whole) {
            let service = account.dispatches.last().map(|d| format!("s{}", d.service));
            assert_eq!(record.service.map(|s| s.name().to_owned()), service, "r{number}: who had it last");
        }
    }

    /// A client's connection is closed by its engine, or gone.
    pub fn client_gone(&mut self, client: u64) {
        self.clients.remove(&client);
        self.surge.left(client);
        self.refused.retain(|refused| *refused != client);
    }

    /// How many idle connections an engine has.
    pub fn idle(&self, worker: usize) -> usize {
        self.flows
            .values()
            .filter(|flow| flow.worker == worker && flow.current.is_none() && !flow.tcp)
            .count()
    }
}

/// `Limits::fresh_us` of the simulated engines.
pub const FRESH_US: u64 = 300_000;
