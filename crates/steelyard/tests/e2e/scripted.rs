//! Services of other protocols than HTTP: what each says is a closure.

use std::io::{self, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::client::PATIENCE;

/// A running service. It ends when it is dropped; a closure that waits ends by itself.
pub struct Scripted {
    stopping: Arc<AtomicBool>,
    wake: Box<dyn Fn() + Send>,
    serving: Option<JoinHandle<()>>,
}

impl Scripted {
    /// Over TCP: each connection is the closure's own, on a thread of its own.
    pub fn stream<H>(address: SocketAddr, handler: H) -> Scripted
    where
        H: Fn(&mut BufReader<TcpStream>) -> io::Result<()> + Send + Sync + 'static,
    {
        let listener = TcpListener::bind(address).unwrap_or_else(|e| panic!("service on {address}: {e}"));
        let handler = Arc::new(handler);
        let serve = move |stopping: &AtomicBool| {
            for stream in listener.incoming() {
                if stopping.load(Ordering::SeqCst) {
                    return;
                }
                let (Ok(stream), handler) = (stream, Arc::clone(&handler)) else { continue };
                let _ = stream.set_read_timeout(Some(PATIENCE));
                let _ = stream.set_nodelay(true);
                std::thread::spawn(move || handler(&mut BufReader::new(stream)));
            }
        };
        Scripted::start(serve, move || drop(TcpStream::connect_timeout(&address, PATIENCE)))
    }

    /// Over UDP: the closure is given each datagram and says which go back.
    pub fn datagram<H>(address: SocketAddr, handler: H) -> Scripted
    where
        H: Fn(&[u8]) -> Vec<Vec<u8>> + Send + 'static,
    {
        let socket = UdpSocket::bind(address).unwrap_or_else(|e| panic!("service on {address}: {e}"));
        let serve = move |stopping: &AtomicBool| {
            let mut buffer = [0; 65_535];
            while !stopping.load(Ordering::SeqCst) {
                let Ok((length, peer)) = socket.recv_from(&mut buffer) else { continue };
                for answer in handler(&buffer[..length]) {
                    // Who asked may have gone.
                    let _ = socket.send_to(&answer, peer);
                }
            }
        };
        Scripted::start(serve, move || {
            let waker = UdpSocket::bind(SocketAddr::new(address.ip(), 0)).unwrap();
            let _ = waker.send_to(b"", address);
        })
    }

    fn start(serve: impl FnOnce(&AtomicBool) + Send + 'static, wake: impl Fn() + Send + 'static) -> Scripted {
        let stopping = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&stopping);
        let serving = Some(std::thread::spawn(move || serve(&seen)));
        Scripted { stopping, wake: Box::new(wake), serving }
    }
}

impl Drop for Scripted {
    fn drop(&mut self) {
        self.stopping.store(true, Ordering::SeqCst);
        (self.wake)();
        if let Some(serving) = self.serving.take() {
            let _ = serving.join();
        }
    }
}

/// Reads what a client says up to and with `end`.
pub fn read_to(stream: &mut BufReader<TcpStream>, end: &[u8]) -> io::Result<Vec<u8>> {
    let mut said = Vec::new();
    while !said.ends_with(end) {
        let mut byte = [0];
        stream.read_exact(&mut byte)?;
        said.push(byte[0]);
    }
    Ok(said)
}

/// Says each of these, `pause` apart, so that each is a segment of its own.
pub fn say(stream: &mut BufReader<TcpStream>, parts: &[&[u8]], pause: Duration) -> io::Result<()> {
    for (nth, part) in parts.iter().enumerate() {
        if nth > 0 {
            std::thread::sleep(pause);
        }
        stream.get_mut().write_all(part)?;
    }
    Ok(())
}

/// Says nothing more until the client has gone.
pub fn hold(stream: &mut BufReader<TcpStream>) -> io::Result<()> {
    io::copy(stream, &mut io::sink()).map(drop)
}
