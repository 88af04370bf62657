//! Surge protection: how fast connections to a service are opened, by the steps of `ns spParams`.

use std::sync::Arc;

use steelyard_core::config::guard::Guards;
use steelyard_core::service::State;
use steelyard_core::time::{MILLISECOND_US, Time};

use crate::surge::{answer_one, ask};
use crate::world::{Connects, World};

/// From 200 connections on one in 10 ms (`spec/methods.md` 3.5); requests that wait count as active.
#[test]
fn surge_protection_opens_connections_at_the_rate_of_the_table() {
    let service = "add service s1 127.0.0.1 HTTP 8001 -sp ON\nbind lb vserver vs s1\n";
    let group = "add server web 127.0.0.1\nadd serviceGroup g HTTP -sp ON\nbind serviceGroup g web 8001\n\
                 bind lb vserver vs g\n";
    for lines in [service, group] {
        let mut world = World::reading(&format!("enable ns feature SP\n{lines}"));
        let clients = ask(&mut world, 205);
        world.connects(Connects::Succeed);
        let pace = &world.services[0].pace;
        // The 201st opens at once; the others have a time each.
        assert_eq!((world.engine.servers(), pace.waiting(), world.services[0].active()), (201, 4, 205));
        world.pass(11 * MILLISECOND_US);
        assert_eq!((world.engine.servers(), world.services[0].pace.waiting()), (202, 3));
        // One that is answered before leaves its connection to the first who waits.
        answer_one(&mut world);
        assert_eq!((world.engine.servers(), world.services[0].pace.waiting()), (202, 2));
        // A client that gives up waits no more.
        world.reset(clients[204]);
        assert_eq!((world.services[0].active(), world.services[0].pace.waiting()), (203, 1));
        world.pass(20 * MILLISECOND_US);
        assert_eq!((world.engine.servers(), world.services[0].pace.waiting()), (203, 0));
        world.serve();
        assert!(clients[..204].iter().all(|client| world.statuses(*client) == [200]));
        world.assert_at_rest();
    }
}

#[test]
fn without_the_feature_there_is_no_surge_protection() {
    let mut world = World::reading("add service s1 127.0.0.1 HTTP 8001 -sp ON\nbind lb vserver vs s1\n");
    ask(&mut world, 205);
    assert_eq!((world.engine.servers(), world.services[0].pace.waiting()), (205, 0));
}

/// What its service leaves while it waits for its time goes to another one.
#[test]
fn a_request_that_surge_protection_holds_leaves_a_service_that_goes_down() {
    let lines = "add service s1 127.0.0.1 HTTP 8001 -sp ON\nadd service s2 127.0.0.1 HTTP 8002\n\
                 bind lb vserver vs s1\nbind lb vserver vs s2\n";
    let mut world = World::reading(&format!("enable ns feature SP\n{lines}"));
    world.services[1].set_state(State::Down, Time::ZERO);
    let clients = ask(&mut world, 203);
    world.connects(Connects::Succeed);
    assert_eq!(world.services[0].pace.waiting(), 2);
    let now = Time::from_us(world.io.now);
    world.services[1].set_state(State::Up, now);
    world.services[0].set_state(State::Down, now);
    world.engine.flush(&mut world.io);
    world.serve();
    assert_eq!(world.services[0].pace.waiting(), 0);
    assert_eq!([world.statuses(clients[201]), world.statuses(clients[202])], [[200], [200]]);
    world.assert_at_rest();
}

/// How many of `count` requests that come at once are on their way to a service at once: those below the threshold, and
/// the first of those whose turn it then is.
fn at_once(settings: &str, count: usize) -> usize {
    let mut world = World::reading(&format!(
        "enable ns feature SP\n{settings}\nadd service s1 127.0.0.1 HTTP 8001 -sp ON\nbind lb vserver vs s1\n"
    ));
    ask(&mut world, count);
    world.connects(Connects::Succeed);
    assert_eq!(usize::try_from(world.services[0].pace.waiting()).unwrap(), count - world.engine.servers());
    world.engine.servers()
}

/// `spec/methods.md` 3.5: a throttle begins at 16, 200 or 500 connections, or at the base threshold that is set.
#[test]
fn the_threshold_is_the_throttles_own_or_the_one_that_is_set() {
    assert_eq!(at_once("", 210), 201);
    assert_eq!(at_once("set ns spParams -throttle Aggressive", 30), 17);
    assert_eq!(at_once("set ns spParams -throttle Relaxed", 510), 501);
    assert_eq!(at_once("set ns spParams -baseThreshold 4", 10), 5);
    assert_eq!(at_once("set ns spParams -throttle Aggressive -baseThreshold 40", 60), 41);
    assert_eq!(
        at_once(
            "set ns spParams -throttle Relaxed -baseThreshold 4\nunset ns spParams -throttle -baseThreshold",
            210
        ),
        201
    );
}

/// Aggressive: from 16 connections on one in 10 ms, from 200 on one in 30 ms; moved to begin at 4, from 188 on.
#[test]
fn the_steps_of_a_throttle_follow_each_other() {
    let mut world = World::reading(
        "enable ns feature SP\nset ns spParams -throttle Aggressive -baseThreshold 4\n\
         add service s1 127.0.0.1 HTTP 8001 -sp ON\nbind lb vserver vs s1\n",
    );
    for wanted in 1..=188 {
        ask(&mut world, 1);
        world.connects(Connects::Succeed);
        world.pass(10 * MILLISECOND_US);
        assert_eq!(world.engine.servers(), wanted, "no faster than the first step allows: nobody waits");
    }
    ask(&mut world, 3);
    world.connects(Connects::Succeed);
    assert_eq!(world.engine.servers(), 189, "the first of them opens at once");
    world.pass(29 * MILLISECOND_US);
    assert_eq!(world.engine.servers(), 189);
    world.pass(2 * MILLISECOND_US);
    assert_eq!(world.engine.servers(), 190);
    world.pass(30 * MILLISECOND_US);
    assert_eq!((world.engine.servers(), world.services[0].pace.waiting()), (191, 0));
}

/// The world goes on with another configuration.
fn reload(world: &mut World, lines: &str) {
    let text =
        format!("enable ns feature LB\nadd lb vserver vs HTTP 127.0.0.1 80 -lbMethod ROUNDROBIN\n{lines}");
    let reading = steelyard_core::command::read(text.as_bytes(), "ns.conf");
    assert!(reading.refused.is_empty(), "{:?}", reading.refused);
    let next = world.snapshot.next(&reading.config, &Guards::default(), Time::from_us(world.io.now));
    world.snapshot = Arc::new(next);
    world.engine.adopt(Arc::clone(&world.snapshot), &mut world.io);
    world.deliver();
}

/// What comes after a reload waits by the new steps; what waits already has its time.
#[test]
fn a_reload_changes_the_steps() {
    let lines = "enable ns feature SP\nadd service s1 127.0.0.1 HTTP 8001 -sp ON\nbind lb vserver vs s1\n";
    let mut world = World::reading(&format!("set ns spParams -baseThreshold 2\n{lines}"));
    ask(&mut world, 4);
    world.connects(Connects::Succeed);
    assert_eq!((world.engine.servers(), world.services[0].pace.waiting()), (3, 1));
    world.pass(100 * MILLISECOND_US);
    assert_eq!((world.engine.servers(), world.services[0].pace.waiting()), (4, 0));
    reload(&mut world, lines);
    ask(&mut world, 10);
    world.connects(Connects::Succeed);
    assert_eq!((world.engine.servers(), world.services[0].pace.waiting()), (14, 0), "200 are not reached");
    reload(&mut world, &format!("set ns spParams -baseThreshold 2 -throttle Aggressive\n{lines}"));
    ask(&mut world, 3);
    world.connects(Connects::Succeed);
    assert_eq!((world.engine.servers(), world.services[0].pace.waiting()), (15, 2));
}
