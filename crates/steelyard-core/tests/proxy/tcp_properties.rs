//! TCP in any order of events: every byte once and in order, no bound passed, nothing left behind.

use std::collections::BTreeMap;

use proptest::prelude::*;
use steelyard_core::proxy::io::{Close, ConnId, Gone};
use steelyard_core::proxy::limits::Limits;
use steelyard_core::service::State;
use steelyard_core::time::Time;

use crate::tcp::tcp_config;
use crate::world::{Connects, World};

#[derive(Clone, Debug)]
enum Event {
    Accept,
    Data(usize, u8),
    End(usize),
    Gone(usize),
    Connect(bool),
    NoLocalPort,
    /// A service goes DOWN, or comes UP.
    State(bool),
    Stick(usize),
    Drain(usize),
    Pass(u64),
}

fn event() -> impl Strategy<Value = Event> {
    let n = any::<usize>;
    prop_oneof![
        2 => Just(Event::Accept),
        9 => (n(), any::<u8>()).prop_map(|(i, length)| Event::Data(i, length)),
        2 => n().prop_map(Event::End),
        1 => n().prop_map(Event::Gone),
        4 => any::<bool>().prop_map(Event::Connect),
        1 => Just(Event::NoLocalPort),
        1 => any::<bool>().prop_map(Event::State),
        1 => n().prop_map(Event::Stick),
        2 => n().prop_map(Event::Drain),
        1 => (0..9_000_000_000u64).prop_map(Event::Pass),
    ]
}

/// What the peers have done.
#[derive(Default)]
struct Peers {
    /// All that each connection's peer has sent.
    sent: BTreeMap<ConnId, Vec<u8>>,
    ended: BTreeMap<ConnId, bool>,
    next: u8,
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn any_order_of_tcp_events_leaves_nothing_behind(
        events in proptest::collection::vec(event(), 1..120),
        max_client in 0..3u64,
    ) {
        let limits = Limits { held_bytes: 200, high_water: 100, clients: 20, ..Limits::default() };
        let config = tcp_config(2, &format!("-maxClient {max_client}"), "-lbMethod ROUNDROBIN");
        let mut world = World::of(&config, limits);
        let mut peers = Peers::default();
        for event in events {
            apply(&mut world, &mut peers, event);
            check(&world, &peers, max_client)?;
        }
        // Whoever waits takes a place that another's end has made.
        for _ in 0..20 {
            world.connects(Connects::Succeed);
            world.pass(20_000_000_000);
            check(&world, &peers, max_client)?;
        }
        prop_assert_eq!(world.engine.clients(), 0);
        prop_assert_eq!(world.engine.servers(), 0);
        world.assert_at_rest();
    }
}

fn apply(world: &mut World, peers: &mut Peers, event: Event) {
    let alive: Vec<ConnId> =
        world.io.conns.iter().filter(|(_, c)| c.open && c.closed.is_none()).map(|(id, _)| *id).collect();
    let pick = |i: usize| alive.get(i % alive.len().max(1)).copied();
    match event {
        Event::Accept => drop(world.try_client()),
        Event::Connect(true) => drop(world.connects(Connects::Succeed)),
        Event::Connect(false) => drop(world.connects(Connects::Refuse(8_001))),
        Event::NoLocalPort => {
            let Some(id) = world.io.connecting.pop_front() else { return };
            let conn = world.io.conns.get_mut(&id).unwrap();
            conn.closed = Some(Close::Reset);
            conn.out.clear();
            world.engine.gone(id, Gone::NoLocalPort, &mut world.io);
            world.deliver();
        }
        Event::State(up) => {
            let state = if up { State::Up } else { State::Down };
            world.services[0].set_state(state, Time::from_us(world.io.now));
            world.engine.flush(&mut world.io);
            world.deliver();
        }
        Event::Pass(us) => world.pass(us),
        Event::Data(i, length) => {
            let Some(id) = pick(i).filter(|id| !peers.ended.contains_key(id)) else { return };
            let bytes: Vec<u8> = (0..length)
                .map(|_| {
                    peers.next = peers.next.wrapping_add(1);
                    peers.next
                })
                .collect();
            peers.sent.entry(id).or_default().extend_from_slice(&bytes);
            world.data(id, &bytes);
        }
        Event::End(i) => {
            let Some(id) = pick(i).filter(|id| !world.io.conns[id].paused) else { return };
            if peers.ended.insert(id, true).is_none() {
                world.end(id);
            }
        }
        Event::Gone(i) => {
            let Some(id) = pick(i) else { return };
            world.io.conns.get_mut(&id).unwrap().closed = Some(Close::Reset);
            world.engine.gone(id, Gone::Reset, &mut world.io);
            world.deliver();
        }
        Event::Stick(i) => drop(pick(i).map(|id| world.io.stuck.insert(id))),
        Event::Drain(i) => {
            let Some(id) = pick(i) else { return };
            world.io.stuck.remove(&id);
            if std::mem::take(&mut world.io.conns.get_mut(&id).unwrap().queued) > 0 {
                world.engine.drained(id, &mut world.io);
                world.deliver();
            }
        }
    }
}

/// Whatever a connection was sent was sent by the peer of another, in that order; nobody holds more than the bounds and
/// one read allow; active transactions are the clients that are connected or being connected, of a service that takes but
/// some no more than those.
fn check(world: &World, peers: &Peers, max_client: u64) -> Result<(), TestCaseError> {
    for (id, conn) in world.io.conns.iter().filter(|(_, conn)| !conn.out.is_empty()) {
        let is_prefix = |sent: &Vec<u8>| sent.starts_with(&conn.out);
        prop_assert!(peers.sent.values().any(is_prefix), "{id:?} was sent what nobody sent in that order");
        prop_assert!(conn.queued <= 100 + 255 + 200 + 255, "{} bytes wait for {id:?}", conn.queued);
    }
    let active: u64 = world.services.iter().map(|service| service.active()).sum();
    let clients = world.engine.clients() as u64;
    if max_client == 0 {
        prop_assert_eq!(active, clients);
    } else {
        prop_assert!(active <= clients && world.services.iter().all(|s| s.active() <= max_client));
        prop_assert!(world.engine.servers() as u64 <= 2 * max_client);
    }
    Ok(())
}
