//! `maxClient` over two workers and real sockets: the service itself counts who is connected to it.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use libtest_mimic::Trial;

use crate::client::request;
use crate::place::Place;
use crate::program::{Program, config, number};
use crate::service::wait_for;

pub fn trials() -> Vec<Trial> {
    trials![
        fifty_clients_of_one_connection_are_served_in_the_order_of_their_arrival,
        two_workers_share_one_connection_and_starve_nobody,
        a_service_of_one_connection_serves_two_virtual_servers,
        o07_a_service_switched_a_hundred_times_under_load_leaves_no_connection_behind,
    ]
}

/// A service on one thread, so that it sees every close before the connect that follows it.
struct CountingService {
    shared: Arc<Counted>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Counted {
    /// Most connections that were open at a time.
    most: AtomicUsize,
    /// Connections that are open.
    open: AtomicUsize,
    /// Targets, in the order in which they came.
    targets: Mutex<Vec<String>>,
    /// No request is answered yet.
    holds: AtomicBool,
    stopping: AtomicBool,
}

impl CountingService {
    fn start(address: SocketAddr) -> CountingService {
        let listener = TcpListener::bind(address).unwrap();
        listener.set_nonblocking(true).unwrap();
        let shared = Arc::new(Counted::default());
        let of_thread = Arc::clone(&shared);
        let thread = Some(std::thread::spawn(move || run(&listener, &of_thread)));
        CountingService { shared, thread }
    }

    fn most(&self) -> usize {
        self.shared.most.load(Ordering::SeqCst)
    }

    fn targets(&self) -> Vec<String> {
        self.shared.targets.lock().unwrap().clone()
    }
}

impl Drop for CountingService {
    fn drop(&mut self) {
        self.shared.stopping.store(true, Ordering::SeqCst);
        let ended = self.thread.take().unwrap().join();
        assert!(std::thread::panicking() || ended.is_ok(), "the service failed");
    }
}

fn run(listener: &TcpListener, shared: &Counted) {
    let mut open: Vec<(TcpStream, String)> = Vec::new();
    while !shared.stopping.load(Ordering::SeqCst) {
        open.retain_mut(|(stream, held)| serve(stream, held, shared));
        shared.open.store(open.len(), Ordering::SeqCst);
        if let Ok((stream, _)) = listener.accept() {
            stream.set_nonblocking(true).unwrap();
            // Whoever closed before this one connected has closed by now.
            open.retain_mut(|(stream, held)| serve(stream, held, shared));
            open.push((stream, String::new()));
            shared.most.fetch_max(open.len(), Ordering::SeqCst);
        } else {
            std::thread::sleep(Duration::from_micros(200));
        }
    }
}

/// Reads what has come and answers it. `false` once the peer has closed.
fn serve(stream: &mut TcpStream, held: &mut String, shared: &Counted) -> bool {
    let mut bytes = [0; 4096];
    match stream.read(&mut bytes) {
        Ok(0) => return false,
        Ok(read) => {
            held.push_str(std::str::from_utf8(&bytes[..read]).unwrap());
            let target = held.split(' ').nth(1).unwrap().to_owned();
            shared.targets.lock().unwrap().push(target);
        }
        Err(error) if error.kind() == ErrorKind::WouldBlock => {}
        Err(_) => return false,
    }
    if !held.is_empty() && !shared.holds.load(Ordering::SeqCst) {
        assert!(held.ends_with("\r\n\r\n"), "one whole request at a time: {held:?}");
        held.clear();
        return stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").is_ok();
    }
    true
}

/// One service of one connection that nothing probes, for each of these virtual servers.
fn one_connection(place: &Place, vservers: u16) -> String {
    let (ip, port) = (place.ip(), place.service(1).port());
    let mut text =
        format!("enable ns feature LB\nadd service s1 {ip} HTTP {port} -healthMonitor NO -maxClient 1\n");
    for nth in 0..vservers {
        let port = place.vserver(nth).port();
        text += &format!("add lb vserver v{nth} HTTP {ip} {port}\nbind lb vserver v{nth} s1\n");
    }
    text
}

fn fifty_clients_of_one_connection_are_served_in_the_order_of_their_arrival() {
    let place = Place::new();
    let service = CountingService::start(place.service(1));
    service.shared.holds.store(true, Ordering::SeqCst);
    let program = Program::start_with(&place, &one_connection(&place, 1));
    let mut clients = Vec::new();
    for nth in 0..50 {
        let mut client = program.client();
        client.send(request("GET", &format!("/{nth}"), "", b""));
        clients.push(client);
        wait_for("it to wait", || match nth {
            0 => service.targets().len() == 1,
            _ => number(&program.stat("lbvserver")[0], "vsvrsurgecount") == nth,
        });
    }
    service.shared.holds.store(false, Ordering::SeqCst);
    for client in &mut clients {
        assert_eq!(client.answer().status(), 200);
    }
    assert_eq!(service.targets(), (0..50).map(|nth| format!("/{nth}")).collect::<Vec<_>>());
    assert_eq!(service.most(), 1);
    program.wait_at_rest();
}

fn two_workers_share_one_connection_and_starve_nobody() {
    let place = Place::new();
    let service = CountingService::start(place.service(1));
    let program = Program::start_with(&place, &one_connection(&place, 1));
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                let mut client = program.client();
                for _ in 0..25 {
                    assert_eq!(client.get("/").status(), 200);
                }
            });
        }
    });
    assert_eq!((service.targets().len(), service.most()), (16 * 25, 1));
    program.wait_at_rest();
    assert!(program.service("s1", "cursrvrconnections") <= 1);
}

fn a_service_of_one_connection_serves_two_virtual_servers() {
    let place = Place::new();
    let service = CountingService::start(place.service(1));
    let program = Program::start_with(&place, &one_connection(&place, 2));
    std::thread::scope(|scope| {
        for nth in 0..8 {
            let to = place.vserver(nth % 2);
            scope.spawn(move || {
                let mut client = crate::client::Client::connect(to);
                for _ in 0..25 {
                    assert_eq!(client.get("/").status(), 200);
                }
            });
        }
    });
    assert_eq!((service.targets().len(), service.most()), (8 * 25, 1));
    program.wait_at_rest();
}

/// A hundred times out of service and back by SIGHUP while clients ask: afterwards what is open to the service is what lies
/// idle in the pool, by the service's own count too. (That it then times out is shown in virtual time.)
fn o07_a_service_switched_a_hundred_times_under_load_leaves_no_connection_behind() {
    let place = Place::new();
    let (first, second) =
        (CountingService::start(place.service(1)), CountingService::start(place.service(2)));
    let on = config(&place, "ROUNDROBIN", &[place.service(1), place.service(2)])
        .replace("-healthMonitor NO", "-healthMonitor NO -downStateFlush DISABLED");
    let off = on.replacen("-healthMonitor NO", "-healthMonitor NO -state DISABLED", 1);
    let program = Program::start_with(&place, &on);
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let mut client = program.client();
                while !over.load(Ordering::SeqCst) {
                    assert_eq!(client.get("/").status(), 200);
                }
            });
        }
        for cycle in 0..100 {
            program.reload(if cycle % 2 == 0 { &off } else { &on });
        }
        over.store(true, Ordering::SeqCst);
    });
    program.wait_at_rest();
    assert!(first.targets().len() > 50 && second.targets().len() > 50);
    for (name, service) in [("s1", &first), ("s2", &second)] {
        wait_for("the pool to have all that is open", || {
            let open = program.service(name, "cursrvrconnections");
            let idle = program.service(name, "curreusepool");
            open == idle && service.shared.open.load(Ordering::SeqCst) as u64 == open
        });
        assert!(service.most() <= 8, "one for each client at most");
    }
}
