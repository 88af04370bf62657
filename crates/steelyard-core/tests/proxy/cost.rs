//! What a request costs in the engine alone: printed, not judged. `cargo test --release -- --ignored soak_cost --nocapture`

use std::net::{IpAddr, SocketAddr};
use std::time::Instant;

use steelyard_core::proxy::engine::Engine;
use steelyard_core::proxy::io::{Close, ConnId, Gone, Io};
use steelyard_core::proxy::limits::Limits;
use steelyard_core::proxy::record::Record;
use steelyard_core::time::Time;

use crate::world::World;

/// An `Io` that does nothing but remember the server-side connection.
#[derive(Default)]
struct Nowhere {
    now: u64,
    server: Option<ConnId>,
    connecting: Vec<ConnId>,
}

impl Io for Nowhere {
    fn now(&mut self) -> Time {
        self.now += 1;
        Time::from_us(self.now)
    }
    fn connect(&mut self, id: ConnId, _: SocketAddr, _: Option<IpAddr>) {
        self.connecting.push(id);
    }
    fn send(&mut self, id: ConnId, bytes: &[u8]) -> usize {
        if id.index & 1 == 1 {
            self.server = Some(id);
        }
        std::hint::black_box(bytes);
        0
    }
    fn pause(&mut self, _: ConnId) {}
    fn resume(&mut self, _: ConnId) {}
    fn finish(&mut self, _: ConnId) {}
    fn close(&mut self, _: ConnId, _: Close) {}
    fn acknowledged(&mut self, _: ConnId) -> u64 {
        0
    }
    fn packets(&mut self, _: ConnId) -> u64 {
        0
    }
    fn log(&mut self, record: &Record<'_>) {
        std::hint::black_box(record);
    }
}

#[test]
#[ignore = "a measurement"]
#[allow(clippy::disallowed_methods)]
fn soak_cost_of_a_request() {
    let plain: &[u8] =
        b"GET /index.html HTTP/1.1\r\nHost: www.example.com\r\nUser-Agent: wrk\r\nAccept: */*\r\n\r\n";
    let rewritten: &[u8] =
        b"GET /index.html HTTP/1.1\r\nHost: www.example.com\r\nConnection: keep-alive\r\nUser-Agent: wrk\r\n\r\n";
    let answer = [
        &b"HTTP/1.1 200 OK\r\nServer: s\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\nContent-Length: 128\r\n\r\n"[..],
        &[b'x'; 128],
    ]
    .concat();
    let cases =
        [("as it came", plain, 0), ("written anew", rewritten, 0), ("as it came, logged", plain, 1_024)];
    for (name, request, logged_line_bytes) in cases {
        let world = World::new(3);
        let limits = Limits { logged_line_bytes, ..Limits::default() };
        let mut engine = Engine::new(limits, world.snapshot, world.woken);
        let mut io = Nowhere::default();
        let clients: Vec<ConnId> =
            (0..64).map(|_| engine.accepted("vs", ([127, 0, 0, 1], 1).into(), &mut io).unwrap()).collect();
        let mut best = u128::MAX;
        for _ in 0..20 {
            let start = Instant::now();
            for i in 0..20_000 {
                engine.data(clients[i % 64], request, &mut io);
                while let Some(id) = io.connecting.pop() {
                    engine.connected(id, &mut io);
                }
                engine.data(io.server.unwrap(), &answer, &mut io);
            }
            best = best.min(start.elapsed().as_nanos() / 20_000);
        }
        println!("{name}: {best} ns a request");
        engine.gone(clients[0], Gone::Reset, &mut io);
    }
}
