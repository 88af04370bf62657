//! Changes as they reach running workers: what is opened, what is refused, what is closed.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};

use steelyard_core::command;
use steelyard_core::config::guard::Guards;
use steelyard_core::service::State;

use super::*;

/// An address that is this test's own.
fn address(last: u8, port: u16) -> SocketAddr {
    SocketAddr::from((Ipv4Addr::new(127, 78, (std::process::id() % 250) as u8, last), port))
}

/// The snapshot of virtual servers at `addresses` over one service, UP, that refuses connections.
fn snapshot(before: &Snapshot, addresses: &[SocketAddr]) -> Arc<Snapshot> {
    let mut text = String::from("enable ns feature LB\nadd service s 127.0.0.1 HTTP 1 -healthMonitor NO\n");
    for (nth, address) in addresses.iter().enumerate() {
        let (ip, port) = (address.ip(), address.port());
        text.push_str(&format!("add lb vserver v{nth} HTTP {ip} {port}\nbind lb vserver v{nth} s\n"));
    }
    let reading = command::read(text.as_bytes(), "test");
    assert!(reading.refused.is_empty());
    let next = before.next(&reading.config, &Guards::default(), Time::ZERO);
    next.services().for_each(|service| service.set_state(State::Up, Time::ZERO));
    Arc::new(next)
}

fn publish(workers: &mut Workers, snapshot: &Arc<Snapshot>) -> Vec<BindFailure> {
    let wanted = snapshot.vservers().filter_map(|v| Some((&*v.name, v.address?)));
    let bound = workers.bind(wanted);
    workers.publish(snapshot, bound)
}

/// Is `address` served? A worker that has the request answers 502, as the service refuses connections.
fn served(address: SocketAddr) -> bool {
    let Ok(mut client) = TcpStream::connect(address) else { return false };
    let mut answer = [0; 12];
    client.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    client.write_all(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").is_ok()
        && client.read_exact(&mut answer).is_ok()
        && &answer == b"HTTP/1.1 502"
}

fn wait_until_refused(address: SocketAddr) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while TcpStream::connect_timeout(&address, Duration::from_millis(200)).is_ok() {
        assert!(Instant::now() < deadline, "{address} is still open");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn addresses_are_opened_and_closed_with_their_virtual_servers() {
    let (one, two) = (address(1, 8001), address(1, 8002));
    let mut workers = Workers::start(2, Clock::start(), Vec::new()).unwrap();
    let first = snapshot(&Snapshot::default(), &[one, two]);
    assert!(publish(&mut workers, &first).is_empty());
    assert!(served(one) && served(two));
    let second = snapshot(&first, &[one]);
    assert!(publish(&mut workers, &second).is_empty());
    assert!(served(one));
    wait_until_refused(two);
    workers.stop(Duration::from_secs(20));
    wait_until_refused(one);
}

#[test]
fn an_address_of_another_process_is_refused_and_opened_when_it_is_free() {
    let (one, two) = (address(2, 8001), address(2, 8002));
    let other = TcpListener::bind(two).unwrap();
    let mut workers = Workers::start(2, Clock::start(), Vec::new()).unwrap();
    let first = snapshot(&Snapshot::default(), &[one, two]);
    let failures = publish(&mut workers, &first);
    let failed: Vec<_> = failures.iter().map(|f| (f.vserver.as_str(), f.address, f.error.kind())).collect();
    assert_eq!(failed, [("v1", two, io::ErrorKind::AddrInUse)]);
    assert!(served(one));
    drop(other);
    assert!(publish(&mut workers, &first).is_empty());
    assert!(served(two));
    workers.stop(Duration::from_secs(20));
}

#[test]
fn an_address_is_opened_again_while_its_old_listeners_are_being_closed() {
    let (one, two) = (address(3, 8001), address(3, 8002));
    let mut workers = Workers::start(3, Clock::start(), Vec::new()).unwrap();
    let mut last = snapshot(&Snapshot::default(), &[one, two]);
    assert!(publish(&mut workers, &last).is_empty());
    for _ in 0..3 {
        last = snapshot(&last, &[one]);
        assert!(publish(&mut workers, &last).is_empty());
        last = snapshot(&last, &[one, two]);
        assert!(publish(&mut workers, &last).is_empty());
        assert!(served(two));
    }
    workers.stop(Duration::ZERO);
}

/// From every address to one of them, back, and to both at once: no process but ours has the port.
#[test]
fn an_address_may_take_the_place_of_one_that_includes_it() {
    let port = TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0)).unwrap().local_addr().unwrap().port();
    let (every, one) = (SocketAddr::from((Ipv4Addr::UNSPECIFIED, port)), address(4, port));
    let mut workers = Workers::start(2, Clock::start(), Vec::new()).unwrap();
    let mut last = Arc::new(Snapshot::default());
    for addresses in [&[every][..], &[one], &[every], &[one, every], &[one]] {
        last = snapshot(&last, addresses);
        assert!(publish(&mut workers, &last).is_empty(), "{addresses:?}");
        assert!(served(one), "{addresses:?}");
    }
    workers.stop(Duration::ZERO);
}

#[test]
fn what_is_bound_and_not_published_is_given_up() {
    let one = address(5, 8001);
    let workers = Workers::start(2, Clock::start(), Vec::new()).unwrap();
    let bound = workers.bind([("v", one)]);
    assert!(bound.failures().is_empty());
    assert_eq!(TcpListener::bind(one).unwrap_err().kind(), io::ErrorKind::AddrInUse);
    drop(bound);
    TcpListener::bind(one).unwrap();
    workers.stop(Duration::ZERO);
}

#[test]
fn clients_never_take_the_descriptors_that_their_requests_need() {
    // 5,000 for each worker, 312 pipes of two.
    assert_eq!((limits(20_032, 4).clients, limits(20_032, 4).pipes), (2_188, 312));
    assert_eq!((limits(64, 2).clients, limits(64, 2).pipes), (7, 1));
    assert_eq!(limits(10, 2).clients, 1);
    assert_eq!(limits(u64::MAX, 1).clients, Limits::default().clients);
}
