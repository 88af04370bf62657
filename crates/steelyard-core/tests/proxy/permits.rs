//! Server-side connections: `maxClient` counts them, idle ones included, over all engines (`spec/methods.md` ruling 12);
//! idle ones go when they are too old.

use std::sync::Arc;

use steelyard_core::command::read;
use steelyard_core::config::guard::Guards;
use steelyard_core::config::{Config, Service};
use steelyard_core::proxy::io::{Close, ConnId};
use steelyard_core::proxy::limits::Limits;
use steelyard_core::service::State;
use steelyard_core::time::{MILLISECOND_US, SECOND_US, Time};

use crate::surge::limited;
use crate::tcp::tcp_config;
use crate::world::{World, config, get};

/// Two engines of the same services.
struct Pair([World; 2]);

impl Pair {
    fn new(config: &Config) -> Pair {
        let first = World::of(config, Limits::default());
        let second = first.beside(Limits::default());
        Pair([first, second])
    }

    /// Lets mail, connects and services of both go on until nothing moves; there are never more than `most` connections.
    fn run(&mut self, most: usize) -> usize {
        let mut served = 0;
        loop {
            let mut moved = false;
            for at in 0..2 {
                let asked = std::mem::take(&mut *self.0[at].woken.1.lock().unwrap());
                let other = &mut self.0[1 - at];
                for service in &asked {
                    other.engine.asked_back(service, &mut other.io);
                }
                self.0[at].deliver();
                let seen = self.0[at].serve().len();
                moved |= seen > 0 || !asked.is_empty();
                served += seen;
                let open: usize = self.0.iter().map(|world| world.engine.servers()).sum();
                assert!(open <= most, "{open} connections");
            }
            let asks = self.0.iter().any(|world| !world.woken.1.lock().unwrap().is_empty());
            if !moved && !asks {
                return served;
            }
        }
    }

    fn ask(&mut self, at: usize, target: &str) -> ConnId {
        let client = self.0[at].client();
        self.0[at].data(client, &get(target));
        client
    }

    fn assert_at_rest(&self) {
        let service = &self.0[0].services[0];
        let open: usize = self.0.iter().map(|world| world.engine.servers()).sum();
        assert_eq!((service.active(), service.permits.open()), (0, open as u64));
        assert!(!service.permits.is_wanted());
    }
}

#[test]
fn engines_take_turns_with_the_one_connection() {
    let mut pair = Pair::new(&limited(1, 1));
    for n in 0..20 {
        let client = pair.ask(n % 2, "/");
        assert_eq!(pair.run(1), 1);
        assert_eq!(pair.0[n % 2].statuses(client), [200]);
    }
    // Many at once, at both.
    let clients: Vec<_> = (0..20).map(|n| (n % 2, pair.ask(n % 2, "/"))).collect();
    assert_eq!(pair.run(1), 20);
    assert!(clients.iter().all(|(at, client)| pair.0[*at].statuses(*client) == [200]));
    pair.assert_at_rest();
}

#[test]
fn idle_connections_of_another_engine_count_and_are_asked_back() {
    let mut pair = Pair::new(&limited(1, 3));
    for _ in 0..3 {
        pair.ask(0, "/");
    }
    pair.run(3);
    assert_eq!(pair.0[0].engine.idle_servers(), 3);
    let client = pair.ask(1, "/");
    assert_eq!(pair.0[1].engine.servers(), 0, "it waits for a permit");
    pair.run(3);
    assert_eq!(pair.0[1].statuses(client), [200]);
    assert_eq!(pair.0[0].engine.idle_servers(), 2, "no more than is needed gives way");
    pair.assert_at_rest();
}

/// A request that must not go over a connection that may be stale closes it for a new one.
#[test]
fn an_idle_connection_that_may_not_be_used_gives_way() {
    let mut world = World::of(&limited(1, 1), Limits::default());
    let client = world.client();
    world.data(client, &get("/"));
    world.serve();
    world.pass(2 * SECOND_US);
    let idle = world.server_ids()[0];
    world.data(client, b"POST / HTTP/1.1\r\nHost: h11.test\r\nContent-Length: 2\r\n\r\nok");
    assert_eq!((world.io.conns[&idle].closed, world.engine.servers()), (Some(Close::Graceful), 1));
    world.serve();
    assert_eq!(world.statuses(client), [200, 200]);
    world.assert_at_rest();
}

/// A worker that does not answer costs the time of a connect, and a client that gives up costs nothing.
#[test]
fn a_wait_for_a_permit_has_an_end() {
    let mut pair = Pair::new(&limited(1, 1));
    pair.ask(0, "/");
    pair.run(1);
    let body = b"POST / HTTP/1.1\r\nHost: h11.test\r\nContent-Length: 2\r\n\r\nok";
    let client = pair.0[1].client();
    pair.0[1].data(client, body);
    pair.0[1].pass(4 * SECOND_US + MILLISECOND_US);
    assert_eq!(pair.0[1].statuses(client), [502]);
    let impatient = pair.ask(1, "/");
    assert!(pair.0[0].services[0].permits.is_wanted());
    pair.0[1].reset(impatient);
    pair.run(1);
    assert_eq!(pair.0[0].engine.idle_servers(), 1, "nobody asks for it any more");
    pair.assert_at_rest();
}

/// While one waits for a permit, the body of its request waits too, and follows.
#[test]
fn a_request_whose_permit_comes_late_is_sent_whole() {
    let mut pair = Pair::new(&limited(1, 1));
    pair.ask(0, "/");
    pair.run(1);
    let client = pair.0[1].client();
    pair.0[1].data(client, b"POST /p HTTP/1.1\r\nHost: h11.test\r\nContent-Length: 10\r\n\r\n01234");
    pair.0[1].data(client, b"56789");
    assert_eq!(pair.run(1), 1);
    assert_eq!(pair.0[1].statuses(client), [200]);
    pair.assert_at_rest();
}

#[test]
fn tcp_connections_count_like_those_of_http() {
    let mut pair = Pair::new(&tcp_config(1, "-maxClient 1", ""));
    let clients = [pair.0[0].client(), pair.0[1].client()];
    pair.run(1);
    assert_eq!([pair.0[0].engine.servers(), pair.0[1].engine.servers()], [1, 0]);
    pair.0[0].reset(clients[0]);
    pair.run(1);
    assert_eq!([pair.0[0].engine.servers(), pair.0[1].engine.servers()], [0, 1]);
    pair.0[1].reset(clients[1]);
    pair.assert_at_rest();
}

/// What an unlimited service had open counts when it gets a limit.
#[test]
fn a_limit_counts_what_was_open_before_it() {
    let plain =
        "enable ns feature LB\nadd lb vserver vs HTTP 127.0.0.1 80\nadd service s1 127.0.0.1 HTTP 8001\n";
    let config =
        |line: &str| read(format!("{plain}{line}\nbind lb vserver vs s1").as_bytes(), "ns.conf").config;
    let mut pair = Pair::new(&config(""));
    for _ in 0..3 {
        pair.ask(0, "/");
    }
    pair.run(3);
    let guards = Default::default();
    let now = Time::from_us(pair.0[0].io.now);
    let limited = Arc::new(pair.0[0].snapshot.next(&config("set service s1 -maxClient 2"), &guards, now));
    for world in &mut pair.0 {
        world.snapshot = limited.clone();
        world.engine.adopt(limited.clone(), &mut world.io);
    }
    let client = pair.ask(1, "/");
    pair.run(3);
    assert_eq!(pair.0[1].statuses(client), [200]);
    assert_eq!(pair.0[0].services[0].permits.open(), 2);
    pair.assert_at_rest();
}

/// A hundred times out of service and back under load, then nothing: the pool has its bound at once, and is empty once
/// what lies in it is too old.
#[test]
fn o07_idle_connections_do_not_outlive_a_hundred_switches() {
    let limits = Limits { idle_per_service: 4, ..Limits::default() };
    let idle_us = limits.idle_server_us;
    let mut world = World::of(&config(2), limits);
    let mut clients: Vec<ConnId> = (0..10).map(|_| world.client()).collect();
    for cycle in 0..100 {
        let now = Time::from_us(world.io.now);
        let state = if cycle % 2 == 0 { State::OutOfService } else { State::Up };
        let mut changed = config(2);
        let switch = |s: &Service| Service { enabled: s.name != "s1" || state == State::Up, ..s.clone() };
        changed.services = changed.services.iter().map(switch).collect();
        // Half of the load is under way when it happens.
        for client in &clients[..5] {
            world.data(*client, &get("/"));
        }
        world.snapshot = Arc::new(world.snapshot.next(&changed, &Guards::default(), now));
        world.services[0].set_state(state, now);
        world.engine.adopt(Arc::clone(&world.snapshot), &mut world.io);
        for client in &clients[5..] {
            world.data(*client, &get("/"));
        }
        world.serve();
        world.pass(50 * MILLISECOND_US);
        if cycle % 10 == 0 {
            world.reset(clients.remove(0));
            clients.push(world.client());
        }
        assert!(world.engine.idle_servers() <= 2 * 4);
    }
    world.assert_at_rest();
    assert!(world.engine.idle_servers() > 0, "there was load");
    world.pass(idle_us + SECOND_US);
    assert_eq!((world.engine.idle_servers(), world.engine.servers()), (0, 0));
    world.assert_at_rest();
}
