//! What becomes of transactions when services and virtual servers leave service (`spec/methods.md` 3.4), and of requests
//! that nobody serves (rulings 7 and 8).

use steelyard_core::service::State;
use steelyard_core::time::Time;

use crate::world::{Connects, World, echo, get};

/// A world of two services in turn behind `vs`, with these options, and a backup `w` over `t`.
fn world(options: &str) -> World {
    World::reading(&format!(
        "add service s1 127.0.0.1 HTTP 8001\nadd service s2 127.0.0.1 HTTP 8002\nadd service t 127.0.0.1 HTTP 8009\n\
         bind lb vserver vs s1\nbind lb vserver vs s2\nadd lb vserver w HTTP\nbind lb vserver w t\n{options}"
    ))
}

fn set(world: &mut World, service: usize, state: State) {
    let now = Time::from_us(world.io.now);
    world.services[service].set_state(state, now);
    world.engine.flush(&mut world.io);
    world.deliver();
}

#[test]
fn a_request_that_was_not_sent_goes_to_another_service_and_one_that_was_does_not() {
    let mut world = world("");
    let (first, second) = (world.client(), world.client());
    world.data(first, &get("/first"));
    set(&mut world, 0, State::Down);
    assert_eq!(world.services[1].active(), 1, "its connect had not succeeded yet");
    world.connects(Connects::Succeed);
    world.data(second, b"POST /second HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\nx");
    world.connects(Connects::Succeed);
    set(&mut world, 0, State::Up);
    set(&mut world, 1, State::Down);
    assert_eq!([world.statuses(first), world.statuses(second)], [[502], [502]]);
    assert_eq!(world.services[0].active(), 0, "nothing that may have been acted on is sent again");
    assert!(world.is_open(first) && world.is_open(second));
    world.data(first, &get("/again"));
    assert_eq!(world.serve().last().unwrap().start, "GET /again HTTP/1.1");
    world.assert_at_rest();
}

#[test]
fn idle_connections_to_what_has_left_service_are_closed() {
    let mut world = world("");
    let client = world.client();
    world.data(client, &get("/"));
    world.serve();
    assert_eq!(world.engine.idle_servers(), 1);
    set(&mut world, 1, State::Down);
    assert_eq!(world.engine.idle_servers(), 1, "not those of others");
    set(&mut world, 0, State::OutOfService);
    assert_eq!(world.engine.idle_servers(), 0);
    world.assert_at_rest();
}

/// The first half of an answer is out: the client must see that it is not whole.
#[test]
fn an_answer_that_was_begun_is_cut() {
    let mut world = world("");
    let client = world.client();
    world.data(client, &get("/"));
    world.connects(Connects::Succeed);
    let (server, _) = world.next_request().unwrap();
    world.data(server, b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\npart");
    set(&mut world, 0, State::TrofsDown);
    assert!(world.out(client).ends_with("part") && !world.is_open(client));
    world.assert_at_rest();
}

#[test]
fn what_leaves_slowly_ends_what_it_has_even_if_it_was_the_last() {
    for barred in ["", "set lb vserver vs -backupVServer w -disablePrimaryOnDown ENABLED\n"] {
        let mut world = world(barred);
        let client = world.client();
        world.data(client, &get("/"));
        world.connects(Connects::Succeed);
        let (server, request) = world.next_request().unwrap();
        let snapshot = std::sync::Arc::clone(&world.snapshot);
        snapshot.vservers().for_each(|vserver| vserver.tick(Time::ZERO));
        set(&mut world, 1, State::Down);
        set(&mut world, 0, State::Trofs);
        snapshot.vservers().for_each(|vserver| vserver.tick(Time::ZERO));
        assert!(!snapshot.vserver("vs").unwrap().is_up());
        set(&mut world, 1, State::OutOfService);
        world.data(server, &echo(&request));
        assert_eq!(world.statuses(client), [200], "{barred}");
        world.assert_at_rest();
    }
}

/// A transaction of a backup is not the primary's: that one goes DOWN without it.
#[test]
fn what_a_backup_serves_is_cut_with_the_backup_alone() {
    let mut world = world("set lb vserver vs -backupVServer w\n");
    set(&mut world, 0, State::Down);
    set(&mut world, 1, State::Down);
    let client = world.client();
    world.data(client, &get("/"));
    world.connects(Connects::Succeed);
    set(&mut world, 1, State::OutOfService);
    assert_eq!(world.services[2].active(), 1);
    set(&mut world, 2, State::Down);
    assert_eq!(world.statuses(client), [502]);
    world.data(client, &get("/"));
    assert_eq!(world.statuses(client), [502, 503], "nobody is left");
    world.assert_at_rest();
}

#[test]
fn a_redirect_closes_what_cannot_go_on() {
    let mut world = world("set lb vserver vs -redirectURL http://sorry.example\n");
    set(&mut world, 0, State::Down);
    set(&mut world, 1, State::Down);
    let answer = |world: &mut World, request: &[u8]| {
        let client = world.client();
        world.data(client, request);
        let answer = world.answers(client).0.remove(0);
        assert_eq!(answer.status(), 302);
        (answer.field("location").concat(), world.is_open(client))
    };
    let whole = answer(&mut world, &get("/a?b"));
    assert_eq!(whole, ("http://sorry.example/a?b".to_owned(), true));
    assert_eq!(answer(&mut world, b"GET /a HTTP/1.0\r\n\r\n"), ("http://sorry.example/a".to_owned(), false));
    let body = b"POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\npart";
    assert!(!answer(&mut world, body).1, "the rest of the body would be taken for a request");
    let absolute = b"GET http://h/x HTTP/1.1\r\nHost: h\r\n\r\n";
    assert_eq!(answer(&mut world, absolute).0, "http://sorry.example/x");
    let refused = b"GET /x HTTP/1.1\r\nHost: h\r\nHost: h\r\n\r\n";
    let client = world.client();
    world.data(client, refused);
    assert_eq!(world.statuses(client), [400], "what is no request is not sent elsewhere");
    world.assert_at_rest();
}
