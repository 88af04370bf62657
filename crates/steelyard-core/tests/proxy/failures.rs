//! What goes wrong between the engine and its services, and what is accounted for it.

use std::sync::atomic::Ordering;

use steelyard_core::proxy::io::Close;
use steelyard_core::proxy::limits::Limits;
use steelyard_core::service::State;
use steelyard_core::time::Time;

use crate::world::{Act, Connects, World, echo, get};

const POST: &[u8] = b"POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello";

/// A connection to a service that is idle in the pool, after one request.
fn warm(world: &mut World) -> steelyard_core::proxy::io::ConnId {
    let client = world.client();
    world.data(client, &get("/warm"));
    world.serve();
    world.end(client);
    *world.server_ids().last().unwrap()
}

#[test]
fn s01_s28_a_failed_connect_is_retried_elsewhere_and_gives_no_sample() {
    let mut world = World::new(3);
    let client = world.client();
    for i in 0..300 {
        world.data(client, if i % 2 == 0 { b"GET / HTTP/1.1\r\nHost: a\r\n\r\n" } else { POST });
        world.run(Connects::Refuse(8_001), |request| Act::Answer(echo(request)));
    }
    assert_eq!(world.statuses(client), vec![200; 300]);
    assert_eq!(world.services[0].traffic.ttfb_count.load(Ordering::Relaxed), 0);
    assert_eq!(world.services[0].traffic.responses.load(Ordering::Relaxed), 0);
    world.assert_at_rest();
}

#[test]
fn s07_a_request_counts_from_the_moment_it_is_assigned() {
    let mut world = World::new(2);
    for _ in 0..4 {
        let client = world.client();
        world.data(client, &get("/"));
    }
    assert_eq!(
        world.services.iter().map(|s| s.active()).collect::<Vec<_>>(),
        [2, 2],
        "no connect has succeeded"
    );
    world.serve();
    world.assert_at_rest();
}

#[test]
fn s13_connections_that_services_close_are_counted_down_once() {
    let mut world = World::new(2);
    let client = world.client();
    for i in 0..2_000 {
        world.data(client, &get("/"));
        world.serve();
        if i % 2 == 0 {
            let ids = world.server_ids();
            ids.into_iter()
                .filter(|id| world.is_open(*id))
                .collect::<Vec<_>>()
                .into_iter()
                .for_each(|id| world.end(id));
        }
        world.assert_at_rest();
        world.io.conns.retain(|_, conn| conn.closed.is_none());
        world.io.conns.get_mut(&client).unwrap().out.clear();
    }
}

#[test]
fn s14_refused_connects_leave_nothing_behind() {
    let mut world = World::new(1);
    let client = world.client();
    for _ in 0..50 {
        world.data(client, &get("/"));
        world.run(Connects::Refuse(8_001), |_| Act::Nothing);
    }
    assert_eq!(world.statuses(client), vec![502; 50]);
    world.assert_at_rest();
    world.data(client, &get("/"));
    world.serve();
    assert_eq!(world.statuses(client)[50], 200);
}

#[test]
fn s35_answers_without_a_body_end_their_transactions_and_only_final_heads_give_samples() {
    let mut world = World::new(1);
    let client = world.client();
    let answers: [(&[u8], &[u8], bool); 5] = [
        (b"HEAD / HTTP/1.1\r\nHost: a\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n", true),
        (b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", b"HTTP/1.1 204 No Content\r\n\r\n", false),
        (
            b"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
            b"HTTP/1.1 304 Not Modified\r\nContent-Length: 1000\r\n\r\n",
            false,
        ),
        (
            b"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
            b"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
            true,
        ),
        (
            b"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
            b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
            true,
        ),
    ];
    let mut samples = 0;
    for (request, answer, sampled) in answers.iter().cycle().take(500) {
        world.data(client, request);
        world.run(Connects::Succeed, |_| Act::Answer(answer.to_vec()));
        samples += u64::from(*sampled);
        world.assert_at_rest();
    }
    assert!(world.is_open(client));
    assert_eq!(world.services[0].traffic.responses.load(Ordering::Relaxed), 500);
    world.snapshot.vserver("vs").unwrap().tick(Time::from_us(world.io.now));
    assert_eq!(world.services[0].traffic.ttfb_count.load(Ordering::Relaxed), samples);
}

#[test]
fn the_time_to_first_byte_runs_from_the_head_sent_to_the_final_head() {
    let mut world = World::new(1);
    let client = world.client();
    world.data(client, &get("/"));
    world.pass(500_000);
    // The connect takes half a second, which is not the service's time.
    world.connects(Connects::Succeed);
    let server = world.server_ids()[0];
    world.pass(10_000);
    world.data(server, b"HTTP/1.1 103 Early Hints\r\n\r\n");
    world.pass(20_000);
    world.data(server, b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n");
    world.pass(40_000);
    world.data(server, b"x");
    let traffic = &world.services[0].traffic;
    world.snapshot.vserver("vs").unwrap().tick(Time::from_us(world.io.now));
    assert_eq!(traffic.ttfb_sum_us.load(Ordering::Relaxed), 30_000);
}

#[test]
fn h29_a_stale_connection_is_replaced_once_for_an_idempotent_request() {
    let mut world = World::new(1);
    let stale = warm(&mut world);
    let client = world.client();
    world.data(client, &get("/again"));
    assert_eq!(world.server_ids().len(), 1, "the idle one was taken");
    world.reset(stale);
    assert_eq!(world.serve().len(), 1);
    assert_eq!(world.statuses(client), [200]);
    assert_eq!(world.server_ids().len(), 2);
    world.assert_at_rest();
}

#[test]
fn a_request_that_must_not_be_repeated_is_not() {
    let mut world = World::new(1);
    let stale = warm(&mut world);
    let client = world.client();
    world.data(client, POST);
    assert_eq!(world.server_ids().len(), 1, "idle for under a second");
    world.end(stale);
    world.serve();
    assert_eq!(world.statuses(client), [502]);
    assert_eq!(world.server_ids().len(), 1, "it was not sent again");
    world.assert_at_rest();
}

#[test]
fn a_request_that_must_not_be_repeated_takes_no_connection_idle_for_a_second() {
    let mut world = World::new(1);
    warm(&mut world);
    world.pass(1_000_000);
    let client = world.client();
    world.data(client, POST);
    world.serve();
    assert_eq!((world.server_ids().len(), world.statuses(client)), (2, vec![200]));
}

#[test]
fn nothing_is_repeated_after_a_byte_of_an_answer() {
    let mut world = World::new(1);
    let stale = warm(&mut world);
    let client = world.client();
    world.data(client, &get("/x"));
    world.data(stale, b"H");
    world.reset(stale);
    world.serve();
    assert_eq!((world.statuses(client), world.server_ids().len()), (vec![502], 1));
}

#[test]
fn an_upload_in_progress_moves_to_another_service_when_the_connect_fails() {
    let mut world = World::new(2);
    let client = world.client();
    world.data(client, b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 8\r\n\r\nabc");
    let first = world.io.conns[&world.server_ids()[0]].to.unwrap().port();
    world.connects(Connects::Refuse(first));
    world.data(client, b"defgh");
    let seen = world.serve();
    assert_eq!(seen[0].body, b"abcdefgh");
    assert_eq!(world.statuses(client), [200]);
    world.assert_at_rest();
}

#[test]
fn a_connect_that_takes_too_long_has_failed() {
    let mut world = World::new(2);
    let client = world.client();
    world.data(client, &get("/"));
    let silent = world.io.connecting.pop_front().unwrap();
    world.pass(4_100_000);
    assert!(!world.is_open(silent));
    world.serve();
    assert_eq!(world.statuses(client), [200]);
    world.assert_at_rest();
}

#[test]
fn a_silent_service_is_a_504() {
    let mut world = World::new(1);
    let client = world.client();
    world.data(client, &get("/"));
    world.run(Connects::Succeed, |_| Act::Nothing);
    world.pass(359_000_000);
    assert_eq!(world.services[0].active(), 1);
    world.pass(2_000_000);
    assert_eq!(world.statuses(client), [504]);
    assert_eq!(world.io.conns[&world.server_ids()[0]].closed, Some(Close::Reset));
    world.assert_at_rest();
}

#[test]
fn no_service_up_is_a_503_and_a_refused_connection() {
    let mut world = World::new(1);
    let client = world.client();
    world.services[0].set_state(State::Down, Time::from_us(world.io.now));
    world.data(client, &get("/"));
    assert_eq!(world.statuses(client), [503]);
    assert!(world.is_open(client));
    assert!(world.engine.accepted("vs", ([127, 0, 0, 1], 1).into(), &mut world.io).is_none());
    assert!(world.engine.accepted("none", ([127, 0, 0, 1], 1).into(), &mut world.io).is_none());
    world.assert_at_rest();
}

#[test]
fn the_number_of_clients_has_a_bound() {
    let mut world = World::with(1, Limits { clients: 2, ..Limits::default() });
    let first = world.client();
    world.client();
    assert!(world.engine.accepted("vs", ([127, 0, 0, 1], 1).into(), &mut world.io).is_none());
    world.end(first);
    world.client();
}

#[test]
fn what_a_service_says_unasked_ends_its_connection() {
    let mut world = World::new(1);
    let idle = warm(&mut world);
    world.data(idle, b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    assert!(!world.is_open(idle));
    world.assert_at_rest();
    let idle = warm(&mut world);
    world.pass(61_000_000);
    assert!(!world.is_open(idle), "idle for too long");
    world.assert_at_rest();
}

#[test]
fn a_close_announced_by_the_service_ends_its_connection() {
    let mut world = World::new(1);
    let client = world.client();
    world.data(client, &get("/"));
    world.run(Connects::Succeed, |_| {
        Act::Answer(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n".to_vec())
    });
    assert_eq!(world.out(client), "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    assert!(world.is_open(client) && !world.is_open(world.server_ids()[0]));
}

#[test]
fn bytes_are_counted_on_both_sides() {
    let mut world = World::new(1);
    let client = world.client();
    let request = get("/bytes");
    world.data(client, &request);
    world.serve();
    let answer = world.io.conns[&client].out.len() as u64;
    let live = &world.snapshot.vserver("vs").unwrap().live;
    let of = |c: &std::sync::atomic::AtomicU64| c.load(Ordering::Relaxed);
    assert_eq!((of(&live.requests), of(&live.responses)), (1, 1));
    assert_eq!((of(&live.request_bytes), of(&live.response_bytes)), (request.len() as u64, answer));
    let traffic = &world.services[0].traffic;
    assert_eq!((world.services[0].requests(), of(&traffic.responses)), (1, 1));
    assert_eq!((of(&traffic.request_bytes), of(&traffic.response_bytes)), (request.len() as u64, answer));
}

#[test]
fn an_answer_with_more_behind_it_ends_the_services_connection() {
    for more in ["\r\n", "EXTRA", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nEVIL"] {
        let mut world = World::new(1);
        let client = world.client();
        world.data(client, &get("/"));
        world.run(Connects::Succeed, |request| Act::Answer([&echo(request), more.as_bytes()].concat()));
        assert!(!world.is_open(world.server_ids()[0]), "{more:?}");
        assert_eq!(world.out(client), "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n/");
        world.assert_at_rest();
    }
}

#[test]
fn a_fresh_connection_that_ends_without_an_answer_is_not_tried_again() {
    let mut world = World::new(2);
    let client = world.client();
    world.data(client, &get("/"));
    world.run(Connects::Succeed, |_| Act::AnswerAndEnd(Vec::new()));
    assert_eq!((world.statuses(client), world.server_ids().len()), (vec![502], 1));
    world.assert_at_rest();
}

#[test]
fn h32_a_service_that_closes_idle_connections_first_costs_no_request() {
    let mut world = World::new(1);
    let client = world.client();
    for round in 0..100u64 {
        let idle = world.server_ids().into_iter().find(|id| world.is_open(*id));
        // The service gives up after 5 s; the request comes between 4.9 and 5.1 s, before or after its FIN.
        world.pass(4_900_000 + 2_000 * round);
        if round > 50 {
            idle.into_iter().for_each(|id| world.end(id));
        }
        world.data(client, &get("/"));
        if round == 50 {
            world.reset(idle.unwrap());
        }
        world.serve();
    }
    assert_eq!(world.statuses(client), vec![200; 100]);
    world.assert_at_rest();
}
