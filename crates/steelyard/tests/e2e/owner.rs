//! NITRO on the socket in the data directory, as the program's owner asks it.

use std::io::{BufRead, BufReader, Read, Write, copy};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::place::Place;
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

    /// `METHOD /nitro/v1<path>` with further header lines and a body that may be anything: all lines of the head, and the
    /// JSON.
    pub fn owner_raw(&self, method: &str, path: &str, headers: &str, body: &[u8]) -> (String, Value) {
        let mut stream = UnixStream::connect(self.data().join("nitro.sock")).unwrap();
        let head = format!("{method} /nitro/v1{path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{headers}");
        write!(stream, "{head}Content-Length: {}\r\n\r\n", body.len()).unwrap();
        stream.write_all(body).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {answer:?}"));
        (head.to_owned(), serde_json::from_str(body).unwrap())
    }

    /// A change that is carried out.
    pub fn done(&self, method: &str, path: &str, body: Value) {
        let (status, answer) = self.owner(method, path, Some(&body));
        let created = method == "POST" && !path.contains("action=");
        let expected = if created { "HTTP/1.1 201 Created" } else { "HTTP/1.1 200 OK" };
        let done = json!({"errorcode": 0, "message": "Done", "severity": "NONE"});
        assert_eq!((status.as_str(), &answer), (expected, &done), "{method} {path} {body}");
    }

    /// The running configuration.
    pub fn running(&self) -> String {
        let (_, answer) = self.owner("GET", "nsrunningconfig", None);
        answer["nsrunningconfig"]["response"].as_str().unwrap().to_owned()
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

/// A data directory with a socket that passes on to a program's own, and keeps the lines that requests begin with.
pub struct Between {
    data: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Between {
    /// Before that program; it goes on to the end of the tests.
    pub fn before(program: &Program, place: &Place) -> Between {
        let (data, asked) = (place.folder("between"), Arc::default());
        let listener = UnixListener::bind(format!("{data}/nitro.sock")).unwrap();
        let (socket, of_all) = (program.data().join("nitro.sock"), Arc::clone(&asked));
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let (socket, asked) = (socket.clone(), Arc::clone(&of_all));
                std::thread::spawn(move || drop(pass(&client, &socket, &asked)));
            }
        });
        Between { data, asked }
    }

    /// What `--data` of a client command names.
    pub fn data(&self) -> &str {
        &self.data
    }

    /// Takes the lines that requests began with since this was called last.
    pub fn asked(&self) -> Vec<String> {
        std::mem::take(&mut self.asked.lock().unwrap())
    }
}

fn pass(client: &UnixStream, socket: &PathBuf, asked: &Mutex<Vec<String>>) -> std::io::Result<()> {
    let program = UnixStream::connect(socket)?;
    let (mut answers, mut to) = (program.try_clone()?, client.try_clone()?);
    let answering = std::thread::spawn(move || copy(&mut answers, &mut to));
    for line in BufReader::new(client).split(b'\n') {
        let line = [line?, b"\n".to_vec()].concat();
        let text = String::from_utf8_lossy(&line);
        if let Some(request) = text.strip_suffix(" HTTP/1.1\r\n") {
            asked.lock().unwrap().push(request.to_owned());
        }
        (&program).write_all(&line)?;
    }
    program.shutdown(Shutdown::Write)?;
    drop(answering.join());
    Ok(())
}
