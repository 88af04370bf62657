//! NITRO on the socket in the data directory, as the program's owner asks it.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;

use serde_json::Value;

use crate::program::Program;

impl Program {
    /// `METHOD /nitro/v1/config/<path>` on the socket of its owner: the status line, and the JSON.
    pub fn owner(&self, method: &str, path: &str, body: Option<&Value>) -> (String, Value) {
        self.owner_at(&self.data().join("nitro.sock"), method, path, body)
    }

    /// The same on a socket elsewhere.
    pub fn owner_at(&self, socket: &Path, method: &str, path: &str, body: Option<&Value>) -> (String, Value) {
        let mut stream = begin(socket, method, path, body);
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let text = String::from_utf8(answer).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {text:?}"));
        (head.lines().next().unwrap().to_owned(), serde_json::from_str(body).unwrap())
    }

    /// The same, and waits for no answer.
    pub fn owner_begins(&self, method: &str, path: &str, body: Option<&Value>) -> UnixStream {
        begin(&self.data().join("nitro.sock"), method, path, body)
    }
}

fn begin(socket: &Path, method: &str, path: &str, body: Option<&Value>) -> UnixStream {
    let mut stream = UnixStream::connect(socket).unwrap();
    let body = body.map(Value::to_string).unwrap_or_default();
    let head = format!("{method} /nitro/v1/config/{path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n");
    write!(stream, "{head}Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
    stream
}
