//! A client that does exactly what a test says, byte for byte if need be.

use std::io::{self, BufReader, Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

use socket2::{Domain, Socket, Type};

use crate::message::{Body, Message, read_body, read_head};

/// How a connection ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// In an orderly way.
    Fin,
    /// By RST.
    Reset,
}

/// One client connection. Reading gives up after [`PATIENCE`], which is a failure and never an expectation.
pub struct Client {
    stream: BufReader<TcpStream>,
}

impl Client {
    /// Connects.
    pub fn connect(to: SocketAddr) -> Client {
        Client::try_connect(to).unwrap_or_else(|e| panic!("connect to {to}: {e}"))
    }

    /// Connects, or says why not.
    pub fn try_connect(to: SocketAddr) -> io::Result<Client> {
        Client::over(TcpStream::connect_timeout(&to, PATIENCE)?)
    }

    /// Connects from that address of this host.
    pub fn connect_from(source: IpAddr, to: SocketAddr) -> Client {
        let socket = Socket::new(Domain::for_address(to), Type::STREAM, None).unwrap();
        socket.bind(&SocketAddr::new(source, 0).into()).unwrap();
        socket.connect(&to.into()).unwrap();
        Client::over(socket.into()).unwrap()
    }

    /// Over that connection.
    pub fn over(stream: TcpStream) -> io::Result<Client> {
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        stream.set_nodelay(true)?;
        Ok(Client { stream: BufReader::new(stream) })
    }

    /// The address that it has.
    pub fn address(&self) -> SocketAddr {
        self.stream.get_ref().local_addr().unwrap()
    }

    /// Sends bytes as they are.
    pub fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.try_send(bytes).unwrap_or_else(|e| panic!("send: {e}"));
    }

    /// Sends bytes as they are, or says why not.
    pub fn try_send(&mut self, bytes: impl AsRef<[u8]>) -> io::Result<()> {
        self.stream.get_mut().write_all(bytes.as_ref())
    }

    /// `GET target` on this connection, and its answer.
    pub fn get(&mut self, target: &str) -> Message {
        self.request("GET", target, "", b"")
    }

    /// One request and its answer. `fields` are whole lines with CRLF; a body gets its Content-Length.
    pub fn request(&mut self, method: &str, target: &str, fields: &str, body: &[u8]) -> Message {
        self.send(request(method, target, fields, body));
        self.answer_to(method)
    }

    /// The next final answer; interim ones are dropped.
    pub fn answer(&mut self) -> Message {
        self.answer_to("GET")
    }

    /// The next final answer, to a request with this method.
    pub fn answer_to(&mut self, method: &str) -> Message {
        self.try_answer_to(method).unwrap_or_else(|e| panic!("no whole answer to {method}: {e}"))
    }

    /// The next final answer, or why there is none.
    pub fn try_answer_to(&mut self, method: &str) -> io::Result<Message> {
        loop {
            let message = self.next_message(method)?;
            if message.status() >= 200 {
                return Ok(message);
            }
        }
    }

    /// The next answer, interim ones included.
    pub fn next_message(&mut self, method: &str) -> io::Result<Message> {
        let mut message = read_head(&mut self.stream)?.ok_or(io::ErrorKind::UnexpectedEof)?;
        let status = message.status();
        let bodiless = method == "HEAD" || status < 200 || status == 204 || status == 304;
        let body = if bodiless { Body::None } else { Body::UntilEnd };
        read_body(&mut self.stream, &mut message, body)?;
        Ok(message)
    }

    /// Everything until the connection ends, and how it ends.
    pub fn read_to_end(&mut self) -> (Vec<u8>, End) {
        let mut bytes = Vec::new();
        match self.stream.read_to_end(&mut bytes) {
            Ok(_) => (bytes, End::Fin),
            Err(e) if e.kind() == io::ErrorKind::ConnectionReset => (bytes, End::Reset),
            Err(e) => panic!("after {} bytes the connection neither went on nor ended: {e}", bytes.len()),
        }
    }

    /// Waits for more and appends it; how the connection ended, if it did.
    pub fn read_some(&mut self, into: &mut Vec<u8>) -> Option<End> {
        let mut buffer = [0; 65_536];
        match self.stream.read(&mut buffer) {
            Ok(0) => Some(End::Fin),
            Ok(read) => {
                into.extend_from_slice(&buffer[..read]);
                None
            }
            Err(e) if e.kind() == io::ErrorKind::ConnectionReset => Some(End::Reset),
            Err(e) => panic!("after {} bytes the connection neither went on nor ended: {e}", into.len()),
        }
    }

    /// Waits for the end of the connection, which must come with nothing before it.
    pub fn expect_end(&mut self) -> End {
        let (bytes, end) = self.read_to_end();
        assert!(bytes.is_empty(), "expected the end, got {:?}", String::from_utf8_lossy(&bytes));
        end
    }

    /// Reads exactly this many raw bytes.
    pub fn read_raw(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        self.stream.read_exact(&mut bytes).unwrap_or_else(|e| panic!("{count} bytes: {e}"));
        bytes
    }

    /// Has anything come that was not read yet?
    pub fn has_answer(&mut self) -> bool {
        self.stream.get_ref().set_nonblocking(true).unwrap();
        let some = self.stream.get_ref().peek(&mut [0]).is_ok();
        self.stream.get_ref().set_nonblocking(false).unwrap();
        some
    }

    /// Sends FIN; reading goes on.
    pub fn half_close(&mut self) {
        // One that is gone already shows that when it is read.
        let _ = self.stream.get_ref().shutdown(Shutdown::Write);
    }

    /// Ends the connection by RST.
    pub fn reset(self) {
        let socket = socket2::SockRef::from(self.stream.get_ref());
        socket.set_linger(Some(Duration::ZERO)).unwrap();
    }
}

/// `GET /` on a connection of its own, which a test service must answer with 200: its body.
pub fn page(of: SocketAddr) -> String {
    let answer = Client::connect(of).get("/");
    assert_eq!(answer.start, "HTTP/1.1 200 Test", "{}", answer.text());
    answer.text()
}

/// The bytes of a request; a body gets its Content-Length.
pub fn request(method: &str, target: &str, fields: &str, body: &[u8]) -> Vec<u8> {
    let mut bytes = format!("{method} {target} HTTP/1.1\r\nHost: e2e.test\r\n{fields}").into_bytes();
    if !body.is_empty() {
        bytes.extend(format!("Content-Length: {}\r\n", body.len()).bytes());
    }
    bytes.extend(b"\r\n");
    bytes.extend(body);
    bytes
}

/// How long a test waits for what must happen before it fails.
pub const PATIENCE: Duration = Duration::from_secs(60);
