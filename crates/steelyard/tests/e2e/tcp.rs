//! TCP virtual servers over real sockets: what comes in at one side comes out at the other, its end included.

use std::io::{Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use libtest_mimic::Trial;
use rustix::process::Signal;

use crate::client::{Client, End};
use crate::installed::program;
use crate::network::Network;
use crate::place::Place;
use crate::program::Program;
use crate::service::wait_for;

pub fn trials() -> Vec<Trial> {
    trials![
        the_service_may_speak_first_and_bytes_go_both_ways,
        l07_a_client_that_half_closes_gets_its_answer,
        l07_a_service_that_half_closes_gets_the_rest,
        l08_a_reset_by_the_service_is_one_for_the_client,
        l08_a_reset_by_the_client_is_one_for_the_service,
        l08_a_reset_leaves_the_reply_before_it_whole,
        l17_a_connection_on_which_nothing_comes_costs_nothing,
        a_large_transfer_to_who_does_not_read_is_held_back_and_arrives_whole,
        both_directions_are_full_at_once,
        a_client_that_nobody_can_serve_is_reset,
        a_service_that_refuses_is_passed_over,
        a_service_is_told_the_client_by_netscalers_prefix,
        haproxy_reads_the_prefix,
        haproxy_reads_the_prefix_of_ipv6,
        silence_ends_a_connection_on_both_sides,
        a_connection_outlives_reloads_and_the_end_of_its_virtual_server,
        sigterm_lets_connections_end,
    ]
}

/// Something that listens and does what a test says with each connection; what that returns goes to the test.
pub struct Listening<T> {
    pub address: SocketAddr,
    pub seen: Receiver<T>,
}

pub fn listen<T: Send + 'static>(
    address: SocketAddr,
    act: impl Fn(TcpStream) -> T + Send + Sync + 'static,
) -> Listening<T> {
    let listener = TcpListener::bind(address).unwrap();
    let (sender, seen): (Sender<T>, _) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let stream = stream.unwrap();
            stream.set_read_timeout(Some(PATIENCE)).unwrap();
            if sender.send(act(stream)).is_err() {
                return;
            }
        }
    });
    Listening { address, seen }
}

impl<T> Listening<T> {
    /// What came of the next connection.
    pub fn next(&self) -> T {
        self.seen.recv_timeout(PATIENCE).expect("a connection that has ended")
    }
}

/// The virtual server `v` with services s1, s2..., which are not probed.
fn config(place: &Place, services: &[SocketAddr], options: &str) -> String {
    let mut text = format!(
        "enable ns feature LB\nadd lb vserver v TCP {} {} -lbMethod ROUNDROBIN\n",
        place.ip(),
        place.vserver(0).port()
    );
    for (service, i) in services.iter().zip(1..) {
        text += &format!(
            "add service s{i} {} TCP {} -healthMonitor NO {options}\nbind lb vserver v s{i}\n",
            service.ip(),
            service.port()
        );
    }
    text
}

fn start(place: &Place, services: &[SocketAddr]) -> Program {
    Program::start_with(place, &config(place, services, ""))
}

/// Ends a connection by a reset.
pub fn reset(stream: TcpStream) {
    socket2::SockRef::from(&stream).set_linger(Some(Duration::ZERO)).unwrap();
}

/// Bytes in which none can stand for another's place.
fn pattern(length: usize) -> Vec<u8> {
    (0..length).map(|i| (i % 251) as u8 ^ (i / 251) as u8).collect()
}

fn the_service_may_speak_first_and_bytes_go_both_ways() {
    let place = Place::new();
    let service = listen(place.service(1), |mut stream| {
        stream.write_all(b"220 ready\r\n").unwrap();
        let mut line = [0; 6];
        stream.read_exact(&mut line).unwrap();
        stream.write_all(b"250 ok\r\n").unwrap();
        line
    });
    let program = start(&place, &[service.address]);
    let mut client = program.client();
    assert_eq!(client.read_raw(11), b"220 ready\r\n");
    client.send("HELO\r\n");
    assert_eq!(client.read_raw(8), b"250 ok\r\n");
    assert_eq!(&service.next(), b"HELO\r\n");
    client.half_close();
    assert_eq!(client.expect_end(), End::Fin);
    program.wait_at_rest();
    assert_eq!(program.field("lbvserver", "v", "type"), "TCP");
    assert_eq!(program.field("service", "s1", "servicetype"), "TCP");
    let counters = ["tothits", "totalrequests", "totalrequestbytes", "totalresponsebytes"];
    assert_eq!(counters.map(|counter| program.counter(counter)), [1, 0, 6, 19]);
    let of_service = ["vsvrservicehits", "totalrequests", "totalrequestbytes", "totalresponsebytes"];
    assert_eq!(of_service.map(|counter| program.service("s1", counter)), [1, 0, 6, 19]);
}

fn l07_a_client_that_half_closes_gets_its_answer() {
    let place = Place::new();
    let service = listen(place.service(1), |mut stream| {
        let mut request = Vec::new();
        stream.read_to_end(&mut request).unwrap();
        std::thread::sleep(Duration::from_secs(1));
        stream.write_all(&pattern(1_000_000)).unwrap();
        request
    });
    let program = start(&place, &[service.address]);
    let mut client = program.client();
    client.send("x");
    client.half_close();
    let (answer, end) = client.read_to_end();
    assert!(answer == pattern(1_000_000), "{} bytes", answer.len());
    assert_eq!((end, service.next()), (End::Fin, b"x".to_vec()));
    program.wait_at_rest();
}

fn l07_a_service_that_half_closes_gets_the_rest() {
    let place = Place::new();
    let service = listen(place.service(1), |mut stream| {
        stream.write_all(&pattern(500_000)).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        let mut rest = Vec::new();
        stream.read_to_end(&mut rest).unwrap();
        rest
    });
    let program = start(&place, &[service.address]);
    let mut client = program.client();
    let (answer, end) = client.read_to_end();
    assert!(answer == pattern(500_000), "{} bytes", answer.len());
    assert_eq!(end, End::Fin);
    std::thread::sleep(Duration::from_secs(1));
    client.send(pattern(1_000_000));
    client.half_close();
    assert!(service.next() == pattern(1_000_000));
    program.wait_at_rest();
}

fn l08_a_reset_by_the_service_is_one_for_the_client() {
    let place = Place::new();
    let service = listen(place.service(1), |mut stream| {
        stream.write_all(&[b'h'; 50]).unwrap();
        // The client has them: what it says back is the sign.
        stream.read_exact(&mut [0]).unwrap();
        reset(stream);
    });
    let program = start(&place, &[service.address]);
    let mut client = program.client();
    assert_eq!(client.read_raw(50), [b'h'; 50]);
    client.send("x");
    assert_eq!(client.expect_end(), End::Reset);
    program.wait_at_rest();
}

fn l08_a_reset_by_the_client_is_one_for_the_service() {
    let place = Place::new();
    let service = listen(place.service(1), |mut stream| {
        let mut bytes = Vec::new();
        let error = stream.read_to_end(&mut bytes).map_err(|error| error.kind());
        (bytes, error.err())
    });
    let program = start(&place, &[service.address]);
    let mut client = program.client();
    client.send([b'u'; 50]);
    wait_for("the half to arrive", || program.service("s1", "totalrequestbytes") == 50);
    client.reset();
    assert_eq!(service.next(), (vec![b'u'; 50], Some(std::io::ErrorKind::ConnectionReset)));
    program.wait_at_rest();
}

/// More than the client takes at first is on its way when the service resets.
fn l08_a_reset_leaves_the_reply_before_it_whole() {
    let place = Place::new();
    let (go, gone) = channel::<()>();
    let gone = std::sync::Mutex::new(gone);
    let service = listen(place.service(1), move |mut stream| {
        stream.write_all(&pattern(150_000)).unwrap();
        gone.lock().unwrap().recv_timeout(PATIENCE).unwrap();
        reset(stream);
    });
    let program = start(&place, &[service.address]);
    let mut client = program.client();
    wait_for("the reply", || program.service("s1", "totalresponsebytes") == 150_000);
    go.send(()).unwrap();
    service.next();
    wait_for("the reset", || program.active("s1") == 0);
    let (reply, end) = client.read_to_end();
    assert!(reply == pattern(150_000), "{} bytes", reply.len());
    assert_eq!(end, End::Reset);
}

/// Readiness to write is announced once and then left alone, with the prefix written and without.
fn l17_a_connection_on_which_nothing_comes_costs_nothing() {
    for options in ["", "-cip ENABLED 1"] {
        let place = Place::new();
        let (sender, held) = channel();
        let service = listen(place.service(1), move |stream| drop(sender.send(stream)));
        let program = Program::start_with(&place, &config(&place, &[service.address], options));
        let mut clients: Vec<Client> = (0..20).map(|_| program.client()).collect();
        let streams: Vec<TcpStream> = (0..20).map(|_| held.recv_timeout(PATIENCE).unwrap()).collect();
        let before = program.cpu_ms();
        std::thread::sleep(Duration::from_secs(1));
        let used = program.cpu_ms() - before;
        assert!(used < 500, "{used} ms of CPU in a second without traffic");
        clients.iter_mut().for_each(|client| client.send("still there"));
        let prefix = if options.is_empty() { 0 } else { 52 };
        for mut stream in &streams {
            stream.read_exact(&mut vec![0; prefix + 11]).unwrap();
        }
    }
}

fn a_large_transfer_to_who_does_not_read_is_held_back_and_arrives_whole() {
    const BYTES: usize = 64 << 20;
    let place = Place::new();
    let service = listen(place.service(1), |mut stream| stream.write_all(&pattern(BYTES)).is_ok());
    let program = start(&place, &[service.address]);
    let mut client = program.client();
    let before = program.resident_kib();
    let mut last = 0;
    wait_for("it to be held back", || {
        let moved = program.service("s1", "totalresponsebytes");
        std::thread::sleep(Duration::from_millis(200));
        std::mem::replace(&mut last, moved) == moved && moved > 0
    });
    assert!(last < BYTES as u64 / 2, "{last} bytes were taken for a client that reads none");
    let grown = program.resident_kib().saturating_sub(before);
    assert!(grown < 8 << 10, "{grown} KiB more");
    let (bytes, end) = client.read_to_end();
    assert!(bytes == pattern(BYTES) && end == End::Fin, "{} bytes", bytes.len());
    assert!(service.next());
}

/// Each side stops the other now and then; all of it arrives, on twenty connections.
fn both_directions_are_full_at_once() {
    const BYTES: usize = 4 << 20;
    let place = Place::new();
    let service = listen(place.service(1), |mut stream| {
        std::thread::spawn(move || {
            let mut bytes = vec![0; 50_000];
            loop {
                let read = stream.read(&mut bytes).unwrap();
                if read == 0 {
                    return;
                }
                stream.write_all(&bytes[..read]).unwrap();
            }
        });
    });
    let program = start(&place, &[service.address]);
    let clients: Vec<_> = (0..20)
        .map(|_| {
            let stream = TcpStream::connect(program.vserver()).unwrap();
            stream.set_read_timeout(Some(PATIENCE)).unwrap();
            let mut writer = stream.try_clone().unwrap();
            let writing = std::thread::spawn(move || {
                writer.write_all(&pattern(BYTES)).unwrap();
                writer.shutdown(Shutdown::Write).unwrap();
            });
            (stream, writing)
        })
        .collect();
    for (mut stream, writing) in clients {
        let mut echo = Vec::new();
        stream.read_to_end(&mut echo).unwrap();
        writing.join().unwrap();
        assert!(echo == pattern(BYTES), "{} bytes", echo.len());
    }
    program.wait_at_rest();
    assert_eq!(program.counter("totalrequestbytes"), 20 * BYTES as u64);
}

/// `spec/methods.md` ruling 8.
fn a_client_that_nobody_can_serve_is_reset() {
    let place = Place::new();
    let text = config(&place, &[place.service(1)], "");
    let program = Program::start_with(&place, &text);
    let end = || Client::try_connect(program.vserver()).map_or(End::Reset, |mut client| client.expect_end());
    assert_eq!(end(), End::Reset, "its one service refuses");
    program.wait_at_rest();
    program.reload(&text.replace("-healthMonitor NO", "-state DISABLED"));
    program.wait_for_state("lbvserver", "v", "DOWN");
    assert_eq!(end(), End::Reset, "it is DOWN");
}

fn a_service_that_refuses_is_passed_over() {
    let place = Place::new();
    let service = listen(place.service(2), |mut stream| {
        let mut bytes = [0; 5];
        stream.read_exact(&mut bytes).unwrap();
        stream.write_all(&bytes).unwrap();
    });
    let program = start(&place, &[place.service(1), service.address]);
    for _ in 0..4 {
        let mut client = program.client();
        client.send("hello");
        assert_eq!(client.read_raw(5), b"hello");
    }
    assert_eq!(program.service("s1", "totalrequestbytes"), 0);
    program.wait_at_rest();
}

fn silence_ends_a_connection_on_both_sides() {
    let place = Place::new();
    let service = listen(place.service(1), |mut stream| {
        stream.write_all(b"hello").unwrap();
        stream.read_to_end(&mut Vec::new()).map_err(|error| error.kind()).err()
    });
    let text = config(&place, &[service.address], "-svrTimeout 1");
    let program = Program::start_with(&place, &text);
    let mut client = program.client();
    assert_eq!(client.read_raw(5), b"hello");
    assert_eq!(client.expect_end(), End::Reset, "a FIN would say that all was sent");
    assert_eq!(service.next(), Some(std::io::ErrorKind::ConnectionReset));
    program.wait_at_rest();
}

/// What is under way ends on the snapshot that it began with.
fn a_connection_outlives_reloads_and_the_end_of_its_virtual_server() {
    let place = Place::new();
    let service = listen(place.service(1), |mut stream| {
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        stream.write_all(&bytes).unwrap();
    });
    let text = config(&place, &[service.address], "");
    let program = Program::start_with(&place, &text);
    let mut client = program.client();
    client.send("one ");
    wait_for("the first word", || program.counter("totalrequestbytes") == 4);
    program.reload(&text.replace("bind lb vserver v s1", "bind lb vserver v s1 -weight 7"));
    client.send("two ");
    wait_for("the second word", || program.counter("totalrequestbytes") == 8);
    program.reload(
        &text.replace("ROUNDROBIN\n", "ROUNDROBIN\nrm lb vserver v\n").replace("bind lb vserver v s1\n", ""),
    );
    assert!(program.stat("lbvserver").is_empty());
    client.send("three");
    client.half_close();
    assert_eq!(client.read_to_end(), (b"one two three".to_vec(), End::Fin));
    program.wait_at_rest();
}

fn sigterm_lets_connections_end() {
    let place = Place::new();
    let service = listen(place.service(1), |mut stream| {
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        stream.write_all(&bytes).unwrap();
    });
    let mut program = start(&place, &[service.address]);
    let mut client = program.client();
    client.send("before ");
    wait_for("the first word", || program.counter("totalrequestbytes") == 7);
    program.signal(Signal::TERM);
    wait_for("its address to be closed", || Client::try_connect(program.vserver()).is_err());
    client.send("and after");
    client.half_close();
    assert_eq!(client.read_to_end(), (b"before and after".to_vec(), End::Fin));
    assert_eq!(program.exit_code(), Some(0));
}

/// Both headers are written by `proxy::client_ip` and proved there byte for byte; here are its addresses.
fn a_service_is_told_the_client_by_netscalers_prefix() {
    let place = Place::new();
    let service = listen(place.service(1), |mut stream| {
        let mut bytes = vec![0; 52 + 5];
        stream.read_exact(&mut bytes).unwrap();
        bytes
    });
    let text = config(&place, &[service.address], "-cip ENABLED 16909060");
    let program = Program::start_with(&place, &text);
    let mut client = program.client();
    client.send("hello");
    let seen = service.next();
    let (IpAddr::V4(from), IpAddr::V4(to)) = (client.address().ip(), program.vserver().ip()) else {
        panic!()
    };
    let ports = [client.address().port(), program.vserver().port()].map(u16::to_be_bytes);
    assert_eq!(seen[..13], [1, 2, 3, 4, 0, 0, 0, 52, 0, 1, 0, 40, 0x45]);
    assert_eq!(seen[24..32], [from.octets(), to.octets()].concat());
    assert_eq!(seen[32..36], ports.concat());
    assert_eq!(&seen[52..], b"hello");
}

/// The reader that others wrote: haproxy answers with the addresses that it found.
fn haproxy_reads_the_prefix() {
    let place = Place::new();
    told_by_haproxy(&place, place.service(1), place.ip());
}

fn haproxy_reads_the_prefix_of_ipv6() {
    let Some(mut network) = Network::new() else { return };
    let host = network.host();
    host.enter(|| told_by_haproxy(&Place::new(), SocketAddr::new(host.ip(), 8101), host.ip6()));
}

/// A client of a virtual server at `vip`, and haproxy at `at` as its service.
fn told_by_haproxy(place: &Place, at: SocketAddr, vip: IpAddr) {
    let Some(mut haproxy) = program("haproxy") else { return };
    let file = place.file(
        "haproxy.cfg",
        &format!(
            "defaults\n mode http\n timeout connect 5s\n timeout client 5s\n timeout server 5s\n\
             frontend f\n bind {at} accept-netscaler-cip 77\n tcp-request connection expect-netscaler-cip layer4\n\
             \x20http-request return status 200 content-type text/plain lf-string \"%[src]:%[src_port] %[dst]:%[dst_port]\"\n"
        ),
    );
    let mut running = haproxy.args(["-f", &file, "-db"]).spawn().unwrap();
    wait_for("haproxy to listen", || TcpStream::connect(at).is_ok());
    let text = config(place, &[at], "-cip ENABLED 77")
        .replace(&format!("TCP {} 8000", place.ip()), &format!("TCP {vip} 8000"));
    let _program = Program::start_with(place, &text);
    let mut client = Client::connect(SocketAddr::new(vip, 8000));
    let answer = client.get("/");
    running.kill().unwrap();
    running.wait().unwrap();
    let from = client.address();
    assert_eq!(answer.text(), format!("{}:{} {vip}:8000", from.ip(), from.port()));
}

const PATIENCE: Duration = Duration::from_secs(20);
