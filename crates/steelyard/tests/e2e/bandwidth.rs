//! LEASTBANDWIDTH against the services' own 14-second sums, byte by byte and slot by slot.
//!
//! The services here count every byte of their sockets with its time; the program's values come from `explain`. Both
//! clocks are independent, so the two may differ by what moved within one slot of 100 ms at the window's edge. What moved
//! is taken in by a tick: where the machine lets threads wait, a tick is late, and what it takes in leaves as late. A thread
//! of the test's own, which only sleeps, tells how long that was.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use libtest_mimic::Trial;

use crate::explain::explain;
use crate::place::Place;
use crate::program::{Program, config};

pub fn trials() -> Vec<Trial> {
    trials![bytes_agree_with_the_services_own_14_s_sums]
}

fn bytes_agree_with_the_services_own_14_s_sums() {
    let place = Place::new();
    let meters = [1, 2, 3].map(|nth| Meter::start(place.service(nth)));
    let text = config(&place, "LEASTBANDWIDTH", &[1, 2, 3].map(|nth| place.service(nth)));
    let program = Program::start_with(&place, &(text + "set lb parameter -startupRRFactor 1\n"));
    let lateness = Lateness::measure();
    let start = Instant::now();
    let until = |second: f64| start + Duration::from_secs_f64(second);
    load(&program, until(5.0));
    check(&program, &meters, &lateness, "the window has grown for 5 s");
    load(&program, until(16.0));
    check(&program, &meters, &lateness, "the first bytes have left the window");
    std::thread::sleep(until(22.0).saturating_duration_since(Instant::now()));
    check(&program, &meters, &lateness, "nothing moved for some seconds");
    load(&program, until(24.0));
    check(&program, &meters, &lateness, "old bytes go while new ones come");
    std::thread::sleep(WINDOW + Duration::from_millis(300) + lateness.most());
    let decision = probe(&program);
    let bytes: Vec<u64> = decision.services.iter().map(|row| row.metric).collect();
    assert_eq!(bytes, [0, 0, 0], "idle for 14 s and a slot");
}

/// Answers of many sizes from four clients until `end`.
fn load(program: &Program, end: Instant) {
    std::thread::scope(|scope| {
        for client_nth in 0..4usize {
            scope.spawn(move || {
                let mut client = program.client();
                let mut nth = client_nth;
                while Instant::now() < end {
                    let size = nth * 7919 % 20_011;
                    assert_eq!(client.get(&format!("/{size}")).body.len(), size);
                    std::thread::sleep(Duration::from_millis(3 + nth as u64 % 11));
                    nth += 1;
                }
            });
        }
    });
}

/// Compares at a point where nothing moves. A tick of 100 ms takes in what was carried last.
fn check(program: &Program, meters: &[Meter; 3], lateness: &Lateness, when: &str) {
    std::thread::sleep(Duration::from_millis(300));
    let before = Instant::now();
    let decision = probe(program);
    let after = Instant::now();
    for (nth, meter) in meters.iter().enumerate() {
        let name = format!("s{}", nth + 1);
        // The window is 13.9 to 14.0 s long and what it holds may stand in the slot after its own.
        let least = meter.sum(WINDOW - 2 * SLOT - (after - before), before);
        let most = meter.sum(WINDOW + SLOT + lateness.most(), before);
        let bytes = decision.metric(&name);
        assert!((least..=most).contains(&bytes), "{when}: {name} has {bytes}, own sums {least} to {most}");
        assert!(least > 0, "{when}: {name} carried nothing");
    }
}

fn probe(program: &Program) -> crate::explain::Decision {
    program.client().get("/0");
    explain(program, 1).pop().unwrap()
}

/// How late threads of this machine wake up.
struct Lateness {
    most_us: Arc<AtomicU64>,
}

impl Lateness {
    /// Measures until it is dropped.
    fn measure() -> Lateness {
        let most_us = Arc::new(AtomicU64::new(0));
        let measured = Arc::downgrade(&most_us);
        std::thread::spawn(move || {
            while let Some(most_us) = measured.upgrade() {
                let before = Instant::now();
                std::thread::sleep(SLOT);
                most_us.fetch_max((before.elapsed() - SLOT).as_micros() as u64, Ordering::SeqCst);
            }
        });
        Lateness { most_us }
    }

    /// The most so far. The program has threads of its own that wait, one for another: twice as long.
    fn most(&self) -> Duration {
        2 * Duration::from_micros(self.most_us.load(Ordering::SeqCst))
    }
}

/// A service that answers `GET /SIZE` with that many bytes and counts all that passes its sockets.
struct Meter {
    address: SocketAddr,
    moved: Arc<Mutex<Vec<(Instant, u64)>>>,
    stopping: Arc<AtomicBool>,
}

impl Meter {
    fn start(address: SocketAddr) -> Meter {
        let listener = TcpListener::bind(address).unwrap();
        let meter = Meter { address, moved: Arc::default(), stopping: Arc::default() };
        let (moved, stopping) = (Arc::clone(&meter.moved), Arc::clone(&meter.stopping));
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if stopping.load(Ordering::SeqCst) {
                    return;
                }
                let moved = Arc::clone(&moved);
                std::thread::spawn(move || drop(serve(stream, &moved)));
            }
        });
        meter
    }

    /// Bytes of both directions in the `span` before `to`.
    fn sum(&self, span: Duration, to: Instant) -> u64 {
        let moved = self.moved.lock().unwrap();
        let within = |at: &Instant| *at <= to && to.duration_since(*at) < span;
        moved.iter().filter(|(at, _)| within(at)).map(|(_, bytes)| bytes).sum()
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        self.stopping.store(true, Ordering::SeqCst);
        // Wakes the acceptor.
        drop(TcpStream::connect(self.address));
    }
}

fn serve(mut stream: TcpStream, moved: &Mutex<Vec<(Instant, u64)>>) -> std::io::Result<()> {
    let count = |bytes: usize| moved.lock().unwrap().push((Instant::now(), bytes as u64));
    let mut head = Vec::new();
    loop {
        let mut part = [0; 4096];
        let read = stream.read(&mut part)?;
        if read == 0 {
            return Ok(());
        }
        count(read);
        head.extend_from_slice(&part[..read]);
        if !head.ends_with(b"\r\n\r\n") {
            continue;
        }
        let text = String::from_utf8_lossy(&head);
        let size: usize = text.split(['/', ' ']).nth(2).and_then(|size| size.parse().ok()).unwrap_or(0);
        head.clear();
        let mut answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {size}\r\n\r\n").into_bytes();
        answer.resize(answer.len() + size, b'x');
        // Counted before it is written: the program can't have it earlier.
        count(answer.len());
        stream.write_all(&answer)?;
    }
}

const WINDOW: Duration = Duration::from_secs(14);
const SLOT: Duration = Duration::from_millis(100);
