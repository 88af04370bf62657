//! The table against real peers: what it reports, in which order, and what it keeps for later.

use std::io::{Read as _, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use rustix::buffer::spare_capacity;
use rustix::event::Timespec;
use rustix::event::epoll::Event;
use steelyard_core::time::SECOND_US;

use super::*;

const ID: ConnId = ConnId { index: 3, generation: 7 };

/// A table with one server-side connection, established, and its peer.
fn connected() -> (Sockets, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut sockets = Sockets::new(Clock::start(), None).unwrap();
    sockets.connect(ID, listener.local_addr().unwrap(), None);
    let peer = listener.accept().unwrap().0;
    assert!(turn(&mut sockets), "established");
    (sockets, peer)
}

/// A table with one client connection and its peer.
fn accepted() -> (Sockets, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut sockets = Sockets::new(Clock::start(), None).unwrap();
    let peer = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let socket = listener.accept().unwrap().0;
    socket.set_nonblocking(true).unwrap();
    sockets.adopt(ID, socket.into());
    turn(&mut sockets);
    (sockets, peer)
}

/// Waits for events and notes them, as the driver does; true when a connection was established.
fn turn(sockets: &mut Sockets) -> bool {
    let mut events: Vec<Event> = Vec::with_capacity(8);
    let second = Timespec { tv_sec: 5, tv_nsec: 0 };
    epoll::wait(sockets.epoll(), spare_capacity(&mut events), Some(&second)).unwrap();
    assert!(!events.is_empty(), "nothing happened");
    let mut established = false;
    for event in &events {
        match Source::from_bits(event.data.u64()) {
            Source::Connection(id) => established |= sockets.note(id, event.flags),
            Source::Lingering(id) => {
                let now = sockets.clock.now();
                sockets.lingering.event(id, &mut [0; 4096], now);
            }
            other => panic!("{other:?}"),
        }
    }
    established
}

fn read(sockets: &mut Sockets) -> String {
    let mut buffer = [0; 64];
    match sockets.read(ID, &mut buffer) {
        Read::Data(length) => String::from_utf8(buffer[..length].to_vec()).unwrap(),
        Read::End => "<end>".to_owned(),
        Read::Failed => "<failed>".to_owned(),
        Read::Nothing => "<nothing>".to_owned(),
        Read::Moved { bytes, queued } => format!("<{bytes} moved, {queued} wait>"),
    }
}

#[test]
fn a_refused_connect_is_reported_once_and_later() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut sockets = Sockets::new(Clock::start(), None).unwrap();
    sockets.connect(ID, port, None);
    assert!(sockets.send(ID, b"kept until connected") > 0);
    assert!(!turn(&mut sockets));
    assert_eq!(sockets.next_failed(), Some((ID, Gone::ConnectFailed)));
    assert_eq!(sockets.next_failed(), None);
    assert_eq!(sockets.send(ID, b"x"), 0, "the id is unknown now");
}

#[test]
fn a_connection_leaves_from_the_address_asked_for() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut sockets = Sockets::new(Clock::start(), None).unwrap();
    // 192.0.2.9 is nobody's: the kernel's choice stands in for an address that the host has lost.
    for (from, seen) in [("127.7.7.7", "127.7.7.7"), ("192.0.2.9", "127.0.0.1")] {
        sockets.connect(ID, listener.local_addr().unwrap(), Some(from.parse().unwrap()));
        let peer = listener.accept().unwrap().1.ip();
        assert_eq!(peer, seen.parse::<IpAddr>().unwrap());
        sockets.close(ID, Close::Reset);
    }
}

#[test]
fn an_address_that_cannot_be_connected_to_fails_later_too() {
    let mut sockets = Sockets::new(Clock::start(), None).unwrap();
    sockets.connect(ID, "255.255.255.255:1".parse().unwrap(), None);
    assert!(sockets.has_ready());
    assert_eq!(sockets.next_failed(), Some((ID, Gone::ConnectFailed)));
}

#[test]
fn a_failure_of_a_connection_that_was_closed_meanwhile_is_forgotten() {
    let mut sockets = Sockets::new(Clock::start(), None).unwrap();
    sockets.connect(ID, "255.255.255.255:1".parse().unwrap(), None);
    sockets.close(ID, Close::Reset);
    assert_eq!(sockets.next_failed(), None);
}

#[test]
fn a_paused_connection_is_not_read_until_it_is_resumed() {
    let (mut sockets, mut peer) = connected();
    sockets.pause(ID);
    peer.write_all(b"hello").unwrap();
    turn(&mut sockets);
    assert_eq!(read(&mut sockets), "<nothing>");
    sockets.resume(ID);
    let mut batch = Vec::new();
    sockets.take_ready(&mut batch);
    assert_eq!(batch, [ID]);
    assert_eq!(read(&mut sockets), "hello");
    assert_eq!(read(&mut sockets), "<nothing>", "a short read means drained");
}

#[test]
fn what_came_before_the_end_is_read_before_the_end() {
    let (mut sockets, mut peer) = connected();
    peer.write_all(b"last words").unwrap();
    drop(peer);
    turn(&mut sockets);
    assert_eq!([read(&mut sockets), read(&mut sockets)], ["last words", "<end>"]);
    assert_eq!(read(&mut sockets), "<nothing>", "the end is reported once");
}

#[test]
fn an_answer_that_came_before_a_reset_is_still_delivered() {
    let (mut sockets, mut peer) = connected();
    sockets.send(ID, b"a body that the peer never reads");
    peer.write_all(b"413").unwrap();
    drop(peer);
    turn(&mut sockets);
    sockets.send(ID, b"more of it");
    assert_eq!([read(&mut sockets), read(&mut sockets)], ["413", "<failed>"]);
    assert_eq!(read(&mut sockets), "<nothing>");
}

#[test]
fn a_client_that_resets_is_reported_even_while_paused() {
    let (mut sockets, mut peer) = accepted();
    sockets.pause(ID);
    peer.write_all(b"a second request").unwrap();
    turn(&mut sockets);
    socket2::SockRef::from(&peer).set_linger(Some(Duration::ZERO)).unwrap();
    drop(peer);
    turn(&mut sockets);
    assert_eq!(sockets.next_failed(), Some((ID, Gone::Reset)));
    assert_eq!(sockets.clients(), 0);
}

#[test]
fn what_the_peer_does_not_take_is_queued_and_drains_in_order() {
    let (mut sockets, mut peer) = connected();
    let block = [b'x'; 64 << 10];
    let mut given = 0;
    while sockets.send(ID, &block) == 0 {
        given += block.len();
    }
    given += block.len();
    assert!(sockets.send(ID, b"end") > 3);
    let reader = std::thread::spawn(move || {
        let mut all = Vec::new();
        peer.read_to_end(&mut all).unwrap();
        all
    });
    while sockets.flush(ID) != Flush::Drained {
        turn(&mut sockets);
    }
    assert_eq!(sockets.send(ID, b"."), 0);
    sockets.finish(ID);
    let all = reader.join().unwrap();
    assert_eq!(all.len(), given + 4);
    assert!(all.ends_with(b"xend."));
}

#[test]
fn a_finish_before_the_connect_has_succeeded_is_kept() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut sockets = Sockets::new(Clock::start(), None).unwrap();
    sockets.connect(ID, listener.local_addr().unwrap(), None);
    sockets.finish(ID);
    let mut peer = listener.accept().unwrap().0;
    assert!(turn(&mut sockets));
    assert_eq!(peer.read(&mut [0]).unwrap(), 0);
}

#[test]
fn a_graceful_close_sends_the_queue_and_outlives_a_peer_that_is_still_sending() {
    let (mut sockets, mut peer) = accepted();
    let block = [b'x'; 64 << 10];
    let mut given = block.len();
    while sockets.send(ID, &block) == 0 {
        given += block.len();
    }
    sockets.close(ID, Close::Graceful);
    assert_eq!(sockets.clients(), 0);
    assert!(sockets.lingering.is_sending());
    let reader = std::thread::spawn(move || {
        peer.write_all(&[b'y'; 3 << 20]).unwrap();
        let mut all = Vec::new();
        peer.read_to_end(&mut all).unwrap();
        all.len()
    });
    while !reader.is_finished() {
        let mut events: Vec<Event> = Vec::with_capacity(8);
        let pause = Timespec { tv_sec: 0, tv_nsec: 10_000_000 };
        epoll::wait(sockets.epoll(), spare_capacity(&mut events), Some(&pause)).unwrap();
        for event in &events {
            let Source::Lingering(id) = Source::from_bits(event.data.u64()) else { panic!("another source") };
            let now = sockets.clock.now();
            sockets.lingering.event(id, &mut [0; 4096], now);
        }
    }
    assert_eq!(reader.join().unwrap(), given);
}

#[test]
fn a_graceful_close_ends_by_itself_in_the_end() {
    let (mut sockets, peer) = accepted();
    sockets.close(ID, Close::Graceful);
    let later = sockets.clock.now().plus_us(60_000_000);
    assert!(sockets.lingering.next_deadline() < later);
    sockets.lingering.expire(later);
    assert_eq!(sockets.lingering.next_deadline(), Time::NEVER);
    assert_eq!((&peer).read(&mut [0]).unwrap(), 0);
}

#[test]
fn a_reset_is_a_reset() {
    let (mut sockets, mut peer) = accepted();
    sockets.close(ID, Close::Reset);
    assert_eq!(peer.read(&mut [0]).unwrap_err().kind(), io::ErrorKind::ConnectionReset);
}

#[test]
fn an_event_of_an_earlier_connection_is_ignored() {
    let (mut sockets, mut peer) = connected();
    let earlier = ConnId { generation: ID.generation - 1, ..ID };
    sockets.close(earlier, Close::Reset);
    assert!(!sockets.note(earlier, EventFlags::ERR));
    assert_eq!(sockets.next_failed(), None);
    peer.write_all(b"fine").unwrap();
    turn(&mut sockets);
    assert_eq!(read(&mut sockets), "fine");
}

#[test]
fn packets_are_counted_by_the_kernel() {
    let (mut sockets, _peer) = connected();
    let before = sockets.packets(ID);
    sockets.send(ID, b"one segment");
    assert!(sockets.packets(ID) > before);
}

const CLIENT: ConnId = ConnId { index: 4, generation: 1 };

/// A service's connection and a client's in one table, with their peers.
fn both_sides() -> (Sockets, TcpStream, TcpStream) {
    let (mut sockets, service) = connected();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let socket = listener.accept().unwrap().0;
    socket.set_nonblocking(true).unwrap();
    sockets.adopt(CLIENT, socket.into());
    (sockets, service, client)
}

fn bytes(count: usize) -> Vec<u8> {
    (0..count).map(|n| (n * 7 % 251) as u8).collect()
}

/// Goes on until so many bytes are moved, as the driver does.
fn carry(sockets: &mut Sockets, total: u64) {
    let mut moved = 0;
    while moved < total {
        turn(sockets);
        loop {
            match sockets.read(ID, &mut [0; 64]) {
                Read::Moved { bytes, queued } => {
                    moved += bytes;
                    // What is behind it may have come already.
                    if queued > 0 || moved == total {
                        break;
                    }
                }
                Read::Nothing => break,
                Read::Data(_) | Read::End | Read::Failed => panic!("after {moved} bytes"),
            }
        }
    }
    assert_eq!(moved, total);
}

#[test]
fn what_is_spliced_arrives_behind_what_was_sent_and_nothing_more_does() {
    let (mut sockets, mut service, mut client) = both_sides();
    assert_eq!(sockets.send(CLIENT, b"head "), 0);
    assert!(sockets.splice(ID, CLIENT, 3_000_000));
    assert!(!sockets.splice(ID, CLIENT, 1), "one at a time");
    let writer = std::thread::spawn(move || {
        service.write_all(&bytes(3_000_000)).unwrap();
        service.write_all(b"behind").unwrap();
        service
    });
    let reader = std::thread::spawn(move || {
        let mut all = vec![0; 3_000_005];
        client.read_exact(&mut all).unwrap();
        (client, all)
    });
    carry(&mut sockets, 3_000_000);
    let (_client, all) = reader.join().unwrap();
    assert!(all == [b"head ".as_slice(), &bytes(3_000_000)].concat());
    let _service = writer.join().unwrap();
    while !sockets.has_more(ID) {
        turn(&mut sockets);
    }
    sockets.socket(ID).unwrap().readable = true;
    assert_eq!(read(&mut sockets), "behind");
    assert_eq!(sockets.fed_by(CLIENT), None);
}

/// The client reads nothing: the pipe is full, and what is in it is not lost when the service goes.
#[test]
fn what_waits_in_a_pipe_goes_into_the_clients_queue() {
    let (mut sockets, service, mut client) = both_sides();
    assert!(sockets.splice(ID, CLIENT, 60_000_000));
    service.set_nonblocking(true).unwrap();
    let (mut written, mut taken, mut waits) = (0, 0, 0);
    let all = bytes(60_000_000);
    // Until nothing moves any more: both kernels' buffers and the pipe are full.
    for _ in 0..200 {
        while let Ok(more) = (&service).write(&all[written..]) {
            written += more;
        }
        std::thread::sleep(Duration::from_millis(2));
        sockets.socket(ID).unwrap().readable = true;
        while let Read::Moved { bytes, queued } = sockets.read(ID, &mut [0; 64]) {
            (taken, waits) = (taken + bytes as usize, queued);
            if queued > 0 {
                break;
            }
        }
    }
    assert!(waits > 0, "the client reads nothing");
    sockets.close(ID, Close::Reset);
    assert_eq!(sockets.socket(CLIENT).unwrap().queue.len(), waits);
    sockets.close(CLIENT, Close::Graceful);
    let reader = std::thread::spawn(move || {
        let mut got = Vec::new();
        client.read_to_end(&mut got).unwrap();
        got
    });
    while sockets.lingering.is_sending() {
        turn(&mut sockets);
    }
    let got = reader.join().unwrap();
    assert!(got == all[..taken + waits], "{} of {}", got.len(), taken + waits);
}

#[test]
fn a_spliced_service_that_ends_early_is_reported_as_ever() {
    let (mut sockets, mut service, mut client) = both_sides();
    assert!(sockets.splice(ID, CLIENT, 1_000));
    service.write_all(b"not all").unwrap();
    drop(service);
    turn(&mut sockets);
    assert_eq!(read(&mut sockets), "<7 moved, 0 wait>");
    assert_eq!(read(&mut sockets), "<end>");
    let mut got = [0; 7];
    client.read_exact(&mut got).unwrap();
    assert_eq!(&got, b"not all");
}

/// Far more than the kernel takes at once, to a peer that begins to read later.
#[test]
fn a_cut_connection_is_reset_behind_all_that_it_was_sent() {
    let (mut sockets, mut peer) = accepted();
    let sent: Vec<u8> = (0..8 << 20).map(|i| (i % 251) as u8).collect();
    assert!(sockets.send(ID, &sent) > 0, "the kernel takes all of it");
    sockets.close(ID, Close::Cut);
    let reader = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(20));
        let mut got = Vec::new();
        let end = peer.read_to_end(&mut got).map_err(|error| error.kind());
        (got, end.err())
    });
    // A stop waits for so long. If that is too short, the end of the table cuts what the peer has yet to get.
    let mut events: Vec<Event> = Vec::with_capacity(8);
    while sockets.lingering.is_sending() {
        events.clear();
        let wait = Timespec { tv_sec: 0, tv_nsec: 1_000_000 };
        epoll::wait(sockets.epoll(), spare_capacity(&mut events), Some(&wait)).unwrap();
        let now = sockets.clock.now();
        for event in &events {
            let Source::Lingering(id) = Source::from_bits(event.data.u64()) else { panic!() };
            sockets.lingering.event(id, &mut [0; 4096], now);
        }
        sockets.lingering.expire(now);
    }
    // It may have ended at an event, before the time of the next look.
    sockets.lingering.expire(sockets.clock.now().plus_us(SECOND_US));
    assert_eq!(sockets.lingering.next_deadline(), Time::NEVER);
    drop(sockets);
    let (got, end) = reader.join().unwrap();
    assert!(got == sent, "{} of {} bytes", got.len(), sent.len());
    assert_eq!(end, Some(io::ErrorKind::ConnectionReset));
}

#[test]
fn a_cut_connection_that_has_all_is_reset_at_once() {
    let (mut sockets, mut peer) = accepted();
    assert_eq!(sockets.send(ID, b"all"), 0);
    let mut got = [0; 3];
    peer.read_exact(&mut got).unwrap();
    while sys::unacknowledged(sockets.socket(ID).unwrap().fd.as_fd()) > 0 {
        std::thread::yield_now();
    }
    sockets.close(ID, Close::Cut);
    assert_eq!(sockets.lingering.next_deadline(), Time::NEVER);
    assert_eq!(peer.read(&mut got).unwrap_err().kind(), io::ErrorKind::ConnectionReset);
}

/// A client's reset behind bytes that were not wanted yet: of HTTP it counts at once, of TCP behind them.
#[test]
fn a_paused_client_that_resets_has_its_bytes_delivered_where_they_count() {
    for all in [false, true] {
        let (mut sockets, mut peer) = accepted();
        if all {
            sockets.deliver_all(ID);
        }
        sockets.pause(ID);
        peer.write_all(b"upload").unwrap();
        turn(&mut sockets);
        reset(peer.into());
        turn(&mut sockets);
        if !all {
            assert_eq!(sockets.next_failed(), Some((ID, Gone::Reset)));
            continue;
        }
        assert_eq!(sockets.next_failed(), None);
        assert_eq!(read(&mut sockets), "<nothing>", "it is paused");
        sockets.resume(ID);
        assert_eq!([read(&mut sockets), read(&mut sockets)], ["upload", "<failed>"]);
    }
}

#[test]
fn without_a_pipe_nothing_is_spliced() {
    let (mut sockets, mut service, _client) = both_sides();
    sockets.limit_pipes(0);
    assert!(!sockets.splice(ID, CLIENT, 1_000));
    service.write_all(b"read as ever").unwrap();
    turn(&mut sockets);
    assert_eq!(read(&mut sockets), "read as ever");
}
