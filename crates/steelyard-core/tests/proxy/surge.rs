//! What happens at `maxClient`: requests wait in the surge queue, in their order, within bounds, and are all answered.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use steelyard_core::config::guard::Guards;
use steelyard_core::config::{self, Config};
use steelyard_core::proxy::io::{Close, ConnId};
use steelyard_core::proxy::limits::Limits;
use steelyard_core::service::State;
use steelyard_core::time::{MILLISECOND_US, SECOND_US, Time};

use crate::tcp::tcp_config;
use crate::world::{Act, Connects, World, config, echo, get};

/// `count` services that take `max_client` connections each.
pub fn limited(count: u16, max_client: u32) -> Config {
    let plain = config(count);
    Config {
        services: plain.services.iter().map(|s| config::Service { max_client, ..s.clone() }).collect(),
        ..plain
    }
}

fn world(count: u16, max_client: u32) -> World {
    World::of(&limited(count, max_client), Limits::default())
}

/// Clients that have each sent one request, named by their number.
pub fn ask(world: &mut World, count: usize) -> Vec<ConnId> {
    (0..count)
        .map(|n| {
            let client = world.client();
            world.data(client, &get(&format!("/{n}")));
            client
        })
        .collect()
}

fn waiting(world: &World) -> usize {
    world.snapshot.vserver("vs").unwrap().waiting()
}

/// Answers the one request that is at a service; the targets of those that come in its place.
pub fn answer_one(world: &mut World) -> Option<String> {
    world.connects(Connects::Succeed);
    let (id, request) = world.next_request()?;
    world.data(id, &echo(&request));
    Some(request.start.split(' ').nth(1).unwrap().to_owned())
}

#[test]
fn fifty_clients_of_one_connection_are_answered_in_their_order() {
    let mut world = world(1, 1);
    let clients = ask(&mut world, 50);
    assert_eq!((waiting(&world), world.services[0].active()), (49, 1));
    for n in 0..50 {
        assert_eq!(answer_one(&mut world), Some(format!("/{n}")));
        assert!(world.services[0].active() <= 1);
    }
    assert!(clients.iter().all(|client| world.statuses(*client) == [200]));
    assert_eq!((waiting(&world), world.server_ids().len()), (0, 1), "one connection carried all");
    world.assert_at_rest();
}

#[test]
fn nobody_overtakes_those_who_wait() {
    let mut world = world(1, 1);
    let clients = ask(&mut world, 2);
    // The first client asks again as soon as it is answered: the second came before that.
    assert_eq!(answer_one(&mut world).unwrap(), "/0");
    world.data(clients[0], &get("/again"));
    assert_eq!(answer_one(&mut world).unwrap(), "/1");
    assert_eq!(answer_one(&mut world).unwrap(), "/again");
    world.assert_at_rest();
}

#[test]
fn the_place_of_a_client_that_has_gone_goes_to_the_next() {
    let mut world = world(1, 1);
    let clients = ask(&mut world, 4);
    world.reset(clients[1]);
    assert_eq!(waiting(&world), 2);
    world.reset(clients[0]);
    assert_eq!(
        (waiting(&world), world.services[0].active()),
        (1, 1),
        "a broken exchange frees its place too"
    );
    let seen: Vec<_> = std::iter::from_fn(|| answer_one(&mut world)).collect();
    assert_eq!(seen, ["/2", "/3"]);
    world.assert_at_rest();
}

/// What was granted and not fetched yet when its client went.
#[test]
fn a_grant_that_nobody_fetches_goes_to_the_next() {
    let mut world = world(1, 1);
    let clients = ask(&mut world, 3);
    world.connects(Connects::Succeed);
    let (id, request) = world.next_request().unwrap();
    world.engine.data(id, &echo(&request), &mut world.io);
    // The second client has been granted its turn; the worker that has its session has not read its mail.
    world.reset(clients[1]);
    assert_eq!(answer_one(&mut world).unwrap(), "/2");
    world.assert_at_rest();
}

#[test]
fn who_waits_too_long_is_answered_503_and_may_ask_again() {
    let limits = Limits { surge_us: 5 * SECOND_US, ..Limits::default() };
    let mut world = World::of(&limited(1, 1), limits);
    let clients = ask(&mut world, 2);
    world.connects(Connects::Succeed);
    world.pass(4 * SECOND_US);
    assert_eq!(world.statuses(clients[1]), Vec::<u16>::new());
    world.pass(SECOND_US + MILLISECOND_US);
    assert_eq!((world.statuses(clients[1]), waiting(&world)), (vec![503], 0));
    assert!(world.is_open(clients[1]));
    answer_one(&mut world);
    world.data(clients[1], &get("/later"));
    assert_eq!(answer_one(&mut world).unwrap(), "/later");
    assert_eq!(world.statuses(clients[1]), [503, 200]);
    world.assert_at_rest();
}

/// The call is on its way to the waiter's engine when the time is up.
#[test]
fn a_turn_that_has_come_is_taken_although_the_time_is_up() {
    let limits = Limits { surge_us: 5 * SECOND_US, ..Limits::default() };
    let mut world = World::of(&limited(1, 1), limits);
    let clients = ask(&mut world, 2);
    world.connects(Connects::Succeed);
    let (id, request) = world.next_request().unwrap();
    world.io.now += 5 * SECOND_US + MILLISECOND_US;
    world.engine.data(id, &echo(&request), &mut world.io);
    world.engine.tick(Time::from_us(world.io.now), &mut world.io);
    assert_eq!(world.statuses(clients[1]), Vec::<u16>::new());
    assert_eq!(answer_one(&mut world).unwrap(), "/1");
    assert_eq!(world.statuses(clients[1]), [200]);
    world.assert_at_rest();
}

/// Sent to one service in vain, then to the next that had room.
#[test]
fn a_request_that_waits_after_a_failure_was_sent_again() {
    let limits = Limits { logged_line_bytes: 100, ..Limits::default() };
    let mut world = World::of(&limited(2, 1), limits);
    let clients = ask(&mut world, 2);
    let ids = world.server_ids();
    // The second service cannot be connected to, and the first is busy.
    world.connects(Connects::Refuse(world.io.conns[&ids[1]].to.unwrap().port()));
    assert_eq!(waiting(&world), 1);
    while answer_one(&mut world).is_some() {}
    assert_eq!(world.statuses(clients[1]), [200]);
    let retries: Vec<_> = world.io.records.iter().map(|record| (&record.line[..6], record.retries)).collect();
    assert_eq!(retries, [("GET /0", 0), ("GET /1", 1)]);
    world.assert_at_rest();
}

/// Whoever began before there was a limit does not know of those who wait.
#[test]
fn a_place_under_a_new_limit_goes_to_who_waits_when_an_old_request_ends() {
    let mut world = World::new(1);
    ask(&mut world, 1);
    let next = world.snapshot.next(&limited(1, 1), &Guards::default(), Time::from_us(world.io.now));
    world.snapshot = Arc::new(next);
    world.engine.adopt(Arc::clone(&world.snapshot), &mut world.io);
    let client = world.client();
    world.data(client, &get("/later"));
    assert_eq!(waiting(&world), 1);
    assert_eq!(answer_one(&mut world).unwrap(), "/0");
    assert_eq!((waiting(&world), world.services[0].active()), (0, 1), "at once");
    assert_eq!(answer_one(&mut world).unwrap(), "/later");
    world.assert_at_rest();
}

/// `cltTimeout` bounds the wait where it is shorter.
#[test]
fn nobody_waits_longer_than_clt_timeout() {
    let mut given = limited(1, 1);
    given.lb_vservers =
        given.lb_vservers.iter().map(|v| config::LbVserver { clt_timeout_s: 2, ..v.clone() }).collect();
    let mut world = World::of(&given, Limits::default());
    let clients = ask(&mut world, 2);
    world.connects(Connects::Succeed);
    world.pass(2 * SECOND_US + MILLISECOND_US);
    assert_eq!(world.statuses(clients[1]), [503]);
}

#[test]
fn when_the_last_service_goes_down_nobody_goes_on_waiting() {
    for state in [State::Down, State::OutOfService, State::Trofs] {
        let mut world = world(1, 1);
        let clients = ask(&mut world, 3);
        world.services[0].set_state(state, Time::from_us(world.io.now));
        world.deliver();
        assert_eq!(waiting(&world), 0);
        assert!(clients[1..].iter().all(|client| world.statuses(*client) == [503]), "{state:?}");
        answer_one(&mut world);
        assert_eq!(world.statuses(clients[0]), [200], "what was dispatched is answered");
        world.assert_at_rest();
    }
}

#[test]
fn a_service_that_comes_up_takes_those_who_wait() {
    let mut world = world(2, 1);
    world.services[1].set_state(State::Down, Time::ZERO);
    let clients = ask(&mut world, 3);
    assert_eq!(waiting(&world), 2);
    world.services[1].set_state(State::Up, Time::from_us(world.io.now));
    world.deliver();
    assert_eq!((waiting(&world), world.services[1].active()), (1, 1));
    world.serve();
    assert!(clients.iter().all(|client| world.statuses(*client) == [200]));
    world.assert_at_rest();
}

/// Another configuration's picker takes those who wait over, in their order, and serves them by its own limits.
#[test]
fn those_who_wait_survive_a_reconfiguration() {
    let mut world = world(1, 1);
    let clients = ask(&mut world, 5);
    let raised = world.snapshot.next(&limited(1, 3), &Guards::default(), Time::from_us(world.io.now));
    world.snapshot = Arc::new(raised);
    world.engine.adopt(Arc::clone(&world.snapshot), &mut world.io);
    world.deliver();
    assert_eq!((waiting(&world), world.services[0].active()), (2, 3));
    let lowered = world.snapshot.next(&limited(1, 1), &Guards::default(), Time::from_us(world.io.now));
    world.snapshot = Arc::new(lowered);
    world.engine.adopt(Arc::clone(&world.snapshot), &mut world.io);
    world.deliver();
    answer_one(&mut world);
    answer_one(&mut world);
    assert_eq!((waiting(&world), world.services[0].active()), (2, 1), "no more than one from now on");
    world.serve();
    assert!(clients.iter().all(|client| world.statuses(*client) == [200]));
    world.assert_at_rest();
}

#[test]
fn a_virtual_server_that_is_disabled_or_gone_lets_nobody_wait() {
    let disabled = |mut given: Config| {
        // What is under way may end, as at a virtual server that is removed.
        let off = |v: &config::LbVserver| config::LbVserver {
            enabled: false,
            down_state_flush: false,
            ..v.clone()
        };
        given.lb_vservers = given.lb_vservers.iter().map(off).collect();
        given
    };
    let removed = |given: Config| Config { lb_vservers: config::Table::default(), ..given };
    for change in [&disabled as &dyn Fn(Config) -> Config, &removed] {
        let mut world = world(1, 1);
        let clients = ask(&mut world, 3);
        let next =
            world.snapshot.next(&change(limited(1, 1)), &Guards::default(), Time::from_us(world.io.now));
        world.engine.adopt(Arc::new(next), &mut world.io);
        world.deliver();
        assert!(clients[1..].iter().all(|client| world.statuses(*client) == [503]));
        answer_one(&mut world);
        assert_eq!(world.statuses(clients[0]), [200]);
        world.assert_at_rest();
    }
}

/// A refused connect leaves the request waiting for the other service, whoever else is served meanwhile.
#[test]
fn a_request_that_is_tried_again_waits_for_a_service_it_was_not_sent_to() {
    let mut world = world(2, 1);
    let clients = ask(&mut world, 2);
    // s1 has "/0", s2 "/1".
    let asked: Vec<ConnId> = world.io.connecting.iter().copied().collect();
    assert_eq!(asked.len(), 2);
    world.connects(Connects::Refuse(8_001));
    assert_eq!((waiting(&world), world.services[0].active()), (1, 0));
    // s1 has room, but not for that request.
    let third = world.client();
    world.data(third, &get("/2"));
    assert_eq!((waiting(&world), world.services[0].active()), (1, 1));
    let seen = world.serve();
    assert_eq!(seen.len(), 3);
    let bodies = |client| String::from_utf8(world.answers(client).0[0].body.clone()).unwrap();
    assert_eq!([bodies(clients[0]), bodies(clients[1]), bodies(third)], ["/0", "/1", "/2"]);
    world.assert_at_rest();
}

#[test]
fn a_request_keeps_its_body_and_what_follows_it_while_it_waits() {
    let mut world = world(1, 1);
    ask(&mut world, 1);
    let client = world.client();
    world.data(client, b"POST /a HTTP/1.1\r\nHost: h11.test\r\nContent-Length: 10\r\n\r\n01234");
    assert!(world.io.conns[&client].paused, "the rest of the body waits too");
    world.data(client, b"56789");
    world.data(client, &get("/b"));
    let seen = world.run(Connects::Succeed, |request| Act::Answer(echo(request)));
    assert_eq!(seen[1].body, b"0123456789");
    assert_eq!(world.statuses(client), [200, 200]);
    world.assert_at_rest();
}

/// A client that says FIN after a whole request still gets its answer; one in mid-request gets 400.
#[test]
fn a_half_closed_client_is_answered_when_its_turn_comes() {
    let mut world = world(1, 1);
    let clients = ask(&mut world, 2);
    world.end(clients[1]);
    assert_eq!(waiting(&world), 1);
    let broken = world.client();
    world.data(broken, b"POST /a HTTP/1.1\r\nHost: h11.test\r\nContent-Length: 10\r\n\r\n");
    world.end(broken);
    assert_eq!((world.statuses(broken), waiting(&world)), (vec![400], 1));
    world.serve();
    assert_eq!(world.statuses(clients[1]), [200]);
    world.assert_at_rest();
}

/// TCP: `count` clients of one service that takes one connection.
fn tcp(count: usize) -> (World, Vec<ConnId>) {
    let limits = Limits { surge_us: 5 * SECOND_US, ..Limits::default() };
    let mut world = World::of(&tcp_config(1, "-maxClient 1", ""), limits);
    let clients = (0..count).map(|_| world.client()).collect();
    world.connects(Connects::Succeed);
    (world, clients)
}

#[test]
fn tcp_connections_wait_with_what_they_sent() {
    let (mut world, clients) = tcp(3);
    assert_eq!((waiting(&world), world.server_ids().len()), (2, 1));
    world.data(clients[1], b"early");
    world.end(clients[1]);
    let first = world.server_ids()[0];
    world.end(clients[0]);
    world.end(first);
    world.connects(Connects::Succeed);
    let second = *world.server_ids().last().unwrap();
    assert_eq!(world.io.conns[&second].out, b"early");
    assert!(world.io.conns[&second].finished, "its FIN waited like its bytes");
    world.reset(clients[1]);
    world.connects(Connects::Succeed);
    assert_eq!((waiting(&world), world.services[0].active(), world.engine.servers()), (0, 1, 1));
    world.reset(clients[2]);
    world.assert_at_rest();
}

#[test]
fn a_tcp_connection_that_waits_too_long_or_in_vain_is_reset() {
    let (mut world, clients) = tcp(2);
    world.pass(4 * SECOND_US);
    world.data(clients[1], b"still there");
    world.pass(SECOND_US + MILLISECOND_US);
    assert_eq!(world.io.conns[&clients[1]].closed, Some(Close::Reset));
    assert!(world.is_open(clients[0]));
    let third = world.client();
    world.services[0].set_state(State::Down, Time::from_us(world.io.now));
    world.deliver();
    assert_eq!(world.io.conns[&third].closed, Some(Close::Reset));
    world.reset(clients[0]);
    world.assert_at_rest();
}

/// The limits of a group are those of each of its members.
#[test]
fn the_limits_of_a_group_hold_for_each_member() {
    let mut world = World::reading(
        "add server web 127.0.0.1\nadd serviceGroup g HTTP -maxClient 1 -maxBandwidth 80\n\
         bind serviceGroup g web 8001\nbind serviceGroup g web 8002\nbind lb vserver vs g\n",
    );
    let clients = ask(&mut world, 3);
    assert_eq!((waiting(&world), world.services[0].active(), world.services[1].active()), (1, 1, 1));
    world.serve();
    assert!(clients.iter().all(|client| world.statuses(*client) == [200]));
    // 80 kbit/s are 10,000 bytes a second.
    world.services[0].traffic.response_bytes.fetch_add(20_000, Ordering::Relaxed);
    world.snapshot.vserver("vs").unwrap().tick(Time::from_us(world.io.now + 100 * MILLISECOND_US));
    let before = world.services[0].requests();
    for _ in 0..4 {
        ask(&mut world, 1);
        world.serve();
    }
    assert_eq!(world.services[0].requests(), before, "one carries too much, the other serves");
    world.assert_at_rest();
}
