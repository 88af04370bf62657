//! `begin` pairs with `end` on every path: active transactions are 0 at rest, whatever ended them, and never more than
//! what is really in progress.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use libtest_mimic::Trial;

use crate::client::{Client, request};
use crate::place::Place;
use crate::program::Program;
use crate::service::{Gate, TestService, Then};

pub fn trials() -> Vec<Trial> {
    trials![
        s11_every_kind_of_end_is_counted_once,
        s13_services_that_close_idle_connections_upset_no_counter,
        s14_refused_connects_are_counted_once_and_the_service_comes_back,
        s35_bodiless_and_interim_answers_end_their_transactions,
        active_is_what_the_services_have_in_progress,
        requests_and_bytes_agree_with_the_services,
    ]
}

fn s11_every_kind_of_end_is_counted_once() {
    let place = Place::new();
    let serve = |x: &mut crate::service::Exchange<'_>| {
        match x.request.target() {
            "/whole" => return x.ok("1"),
            "/fin" => x.raw("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf")?,
            "/reset" => {
                x.raw("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf")?;
                return Ok(Then::Reset);
            }
            _ => {
                // Until the client has gone and the program with it.
                x.raw("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf")?;
                x.drain(1)?;
            }
        }
        Ok(Then::Close)
    };
    let (s1, s2) = (TestService::start(place.service(1), serve), TestService::start(place.service(2), serve));
    let program = Program::start(&place, "LEASTCONNECTION", &[&s1, &s2]);
    for (count, target) in [(100, "/whole"), (40, "/client-reset"), (40, "/fin"), (20, "/reset")] {
        for _ in 0..count {
            let mut client = program.client();
            client.send(request("GET", target, "", b""));
            match target {
                "/whole" => assert_eq!(client.answer().status(), 200),
                "/client-reset" => {
                    client.read_raw(10);
                    client.reset();
                }
                _ => drop(client.try_answer_to("GET").expect_err("complete")),
            }
        }
    }
    program.wait_at_rest();
    assert_eq!(s1.begun() + s2.begun(), 200);
    let counted = program.service("s1", "totalrequests") + program.service("s2", "totalrequests");
    assert_eq!(counted, 200);
}

fn s13_services_that_close_idle_connections_upset_no_counter() {
    let place = Place::new();
    let s1 = TestService::start(place.service(1), |x| {
        x.ok("1")?;
        if x.nth % 2 == 0 {
            return Ok(Then::Keep);
        }
        std::thread::sleep(Duration::from_millis(5));
        Ok(Then::Close)
    });
    let program = Program::start(&place, "LEASTCONNECTION", &[&s1]);
    std::thread::scope(|scope| {
        for _ in 0..20 {
            scope.spawn(|| {
                let mut client = program.client();
                for nth in 0..100 {
                    assert_eq!(client.get("/").status(), 200);
                    if nth % 10 == 0 {
                        // Twenty are in progress at most; a counter that went below zero would be huge.
                        assert!(program.active("s1") <= 20);
                    }
                }
            });
        }
    });
    program.wait_at_rest();
    let open = program.service("s1", "cursrvrconnections");
    assert!(open <= 20, "{open} server-side connections are open");
}

fn s14_refused_connects_are_counted_once_and_the_service_comes_back() {
    let place = Place::new();
    let s2 = TestService::slow(place.service(2), "2", 2);
    let program = Program::start_at(&place, "LEASTCONNECTION", &[place.service(1), place.service(2)]);
    let run = |count: usize| {
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let mut client = program.client();
                    for _ in 0..count / 2 {
                        assert_eq!(client.get("/").status(), 200);
                    }
                });
            }
            let watching = AtomicBool::new(true);
            while watching.swap(false, Ordering::Relaxed) {
                assert!(program.active("s1") <= 2);
            }
        });
    };
    run(100);
    assert_eq!(s2.begun(), 100);
    program.wait_at_rest();
    let s1 = TestService::slow(place.service(1), "1", 2);
    run(200);
    assert!(s1.begun() >= 60, "only {} of 200 went to the service that came back", s1.begun());
    program.wait_at_rest();
}

fn s35_bodiless_and_interim_answers_end_their_transactions() {
    let place = Place::new();
    let s1 = TestService::start(place.service(1), |x| {
        let bytes = match x.request.target() {
            "/head" => "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n",
            "/204" => "HTTP/1.1 204 No Content\r\n\r\n",
            "/304" => "HTTP/1.1 304 Not Modified\r\nContent-Length: 1000\r\n\r\n",
            "/103" => "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
            _ => "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
        };
        x.raw(bytes)?;
        Ok(Then::Keep)
    });
    let program = Program::start(&place, "LEASTREQUEST", &[&s1]);
    let mut client = program.client();
    for _ in 0..100 {
        assert_eq!(client.request("HEAD", "/head", "", b"").field("content-length"), Some("1000"));
        assert_eq!(client.get("/204").status(), 204);
        assert_eq!(client.get("/304").status(), 304);
        assert_eq!(client.get("/103").text(), "ok");
        assert_eq!(client.get("/100").text(), "ok");
    }
    program.wait_at_rest();
    assert_eq!(s1.begun(), 500);
    assert_eq!(program.service("s1", "totalresponses"), 500);
}

fn active_is_what_the_services_have_in_progress() {
    let place = Place::new();
    let gate = Gate::new();
    let hold = |nth| TestService::held(place.service(nth), "1", &gate);
    let (s1, s2) = (hold(1), hold(2));
    let program = Program::start(&place, "LEASTCONNECTION", &[&s1, &s2]);
    let mut clients: Vec<Client> = (0..30).map(|_| program.client()).collect();
    clients.iter_mut().for_each(|c| c.send(request("GET", "/", "", b"")));
    crate::service::wait_for("30 requests", || s1.active() + s2.active() == 30);
    assert_eq!(program.active("s1"), s1.active() as u64);
    assert_eq!(program.active("s2"), s2.active() as u64);
    assert_eq!((s1.active(), s2.active()), (15, 15), "LEASTCONNECTION over equal services");
    gate.open();
    clients.iter_mut().for_each(|c| assert_eq!(c.answer().status(), 200));
    program.wait_at_rest();
}

fn requests_and_bytes_agree_with_the_services() {
    let place = Place::new();
    let s1 = TestService::start(place.service(1), |x| x.answer(200, &[b'x'; 1000]));
    let program = Program::start(&place, "ROUNDROBIN", &[&s1]);
    let mut client = program.client();
    for _ in 0..50 {
        assert_eq!(client.request("POST", "/", "", &[b'y'; 500]).body.len(), 1000);
    }
    program.wait_at_rest();
    assert_eq!(program.service("s1", "totalrequests"), 50);
    assert_eq!(program.service("s1", "totalresponses"), 50);
    // Heads are counted too; their size is the program's affair.
    assert!(program.service("s1", "totalrequestbytes") >= 50 * 500);
    assert!(program.service("s1", "totalresponsebytes") >= 50 * 1000);
    assert_eq!(program.counter("totalrequests"), 50);
    assert_eq!(program.counter("totalresponses"), 50);
}
