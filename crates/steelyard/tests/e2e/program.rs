//! The real executable under test: started with a configuration, asked through NITRO, stopped by its process id.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process, prlimit};
use serde_json::Value;

use crate::client::Client;
use crate::place::Place;
use crate::service::{TestService, wait_for};

/// A running `steelyard run`. It is stopped when it is dropped; if the test failed, what it wrote is printed.
pub struct Program {
    child: Child,
    vserver: SocketAddr,
    nitro: SocketAddr,
    output: Arc<Mutex<String>>,
}

impl Program {
    /// Starts with one HTTP virtual server `v` at [`Place::vserver`] 0 over `services`, which are named `s1`, `s2`, ...
    /// and never probed. `method` is a `-lbMethod`. Returns when all of it is UP.
    pub fn start(place: &Place, method: &str, services: &[&TestService]) -> Program {
        let addresses: Vec<SocketAddr> = services.iter().map(|s| s.address()).collect();
        Program::start_at(place, method, &addresses)
    }

    /// The same over addresses that need not be served yet.
    pub fn start_at(place: &Place, method: &str, services: &[SocketAddr]) -> Program {
        Program::start_with(place, &config(place, method, services))
    }

    /// Starts with a whole ns.conf. Returns when every service of it is UP.
    pub fn start_with(place: &Place, config: &str) -> Program {
        let program = Program::launch(place, config);
        wait_for("every service UP", || {
            program.stat("service").iter().all(|service| text(service, "state") == "UP")
        });
        program
    }

    /// Starts with a whole ns.conf. Returns when it says that it is ready.
    pub fn launch(place: &Place, config: &str) -> Program {
        let file = place.folder().join("ns.conf");
        std::fs::write(&file, config).unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_steelyard"))
            .args(["run", "--threads", "2", "--config"])
            .arg(&file)
            .args(["--nitro", &place.nitro().to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let output = Arc::new(Mutex::new(String::new()));
        collect(child.stdout.take(), &output);
        collect(child.stderr.take(), &output);
        let mut program = Program { child, vserver: place.vserver(0), nitro: place.nitro(), output };
        wait_for("ready", || {
            if let Ok(Some(status)) = program.child.try_wait() {
                panic!("the program ended at once: {status}");
            }
            program.output().lines().any(|line| line == "ready")
        });
        program
    }

    /// A new client connection to the virtual server.
    pub fn client(&self) -> Client {
        Client::connect(self.vserver)
    }

    /// Where the virtual server listens.
    pub fn vserver(&self) -> SocketAddr {
        self.vserver
    }

    /// What `--nitro` of a client command names.
    pub fn nitro_url(&self) -> String {
        format!("http://{}", self.nitro)
    }

    /// The elements of `GET /nitro/v1/stat/<resource>`.
    pub fn stat(&self, resource: &str) -> Vec<Value> {
        let mut client = Client::connect(self.nitro);
        client.send(format!("GET /nitro/v1/stat/{resource} HTTP/1.1\r\nHost: {}\r\n\r\n", self.nitro));
        let answer = client.answer();
        assert_eq!(answer.status(), 200, "{}", answer.text());
        let value: Value = serde_json::from_slice(&answer.body).unwrap();
        value[resource].as_array().cloned().unwrap_or_default()
    }

    /// A counter of one service, by its NITRO name.
    pub fn service(&self, name: &str, counter: &str) -> u64 {
        number(&self.element("service", name), counter)
    }

    /// A counter of the virtual server `v`, by its NITRO name.
    pub fn counter(&self, counter: &str) -> u64 {
        number(&self.element("lbvserver", "v"), counter)
    }

    /// Active transactions of a service, as the program counts them.
    pub fn active(&self, name: &str) -> u64 {
        self.service(name, "activetransactions")
    }

    /// Waits until no service has an active transaction: the invariant "active is 0 at rest".
    pub fn wait_at_rest(&self) {
        wait_for("active is 0 at rest", || {
            self.stat("service").iter().all(|service| number(service, "activetransactions") == 0)
        });
    }

    /// Resident memory in KiB.
    pub fn resident_kib(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find(|l| l.starts_with("VmRSS:")).unwrap();
        line.split_whitespace().nth(1).and_then(|n| n.parse().ok()).unwrap()
    }

    /// What the program wrote to standard output and standard error so far.
    pub fn output(&self) -> String {
        self.output.lock().unwrap().clone()
    }

    /// Allows it no more than `most` open descriptors from here on, those that it has included.
    pub fn limit_descriptors(&self, most: u64) {
        let limit = Rlimit { current: Some(most), maximum: Some(most) };
        prlimit(Some(Pid::from_child(&self.child)), Resource::Nofile, limit).unwrap();
    }

    /// Asks it to stop, by SIGTERM.
    pub fn terminate(&self) {
        kill_process(Pid::from_child(&self.child), Signal::TERM).unwrap();
    }

    /// Waits until it has ended: the exit code, `None` after a signal. Fails when that takes for ever.
    pub fn exit_code(&mut self) -> Option<i32> {
        let mut ended = None;
        wait_for("the program to end", || {
            ended = self.child.try_wait().unwrap();
            ended.is_some()
        });
        ended.and_then(|status| status.code())
    }

    fn element(&self, resource: &str, name: &str) -> Value {
        let all = self.stat(resource);
        let found = all.iter().find(|e| text(e, "name").eq_ignore_ascii_case(name));
        found.cloned().unwrap_or_else(|| panic!("no {resource} called {name} in {all:?}"))
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // Its orderly end has tests of its own.
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            eprintln!("--- the program wrote:\n{}---", self.output());
        }
    }
}

/// The ns.conf of [`Program::start_at`].
pub fn config(place: &Place, method: &str, services: &[SocketAddr]) -> String {
    let mut text =
        format!("enable ns feature LB\nadd lb vserver v HTTP {} {}", place.ip(), place.vserver(0).port());
    let _ = writeln!(text, " -lbMethod {method}");
    for (nth, address) in services.iter().enumerate() {
        let (name, ip, port) = (format!("s{}", nth + 1), address.ip(), address.port());
        let _ = writeln!(text, "add service {name} {ip} HTTP {port} -healthMonitor NO");
        let _ = writeln!(text, "bind lb vserver v {name}");
    }
    text
}

/// A NITRO number, which is a string or a number on the wire.
pub fn number(element: &Value, name: &str) -> u64 {
    match &element[name] {
        Value::String(text) => text.parse().ok(),
        value => value.as_u64(),
    }
    .unwrap_or_else(|| panic!("{name} is not a number in {element}"))
}

/// A NITRO text.
pub fn text(element: &Value, name: &str) -> String {
    element[name].as_str().unwrap_or_else(|| panic!("{name} is not a text in {element}")).to_owned()
}

fn collect(pipe: Option<impl Read + Send + 'static>, into: &Arc<Mutex<String>>) {
    let (Some(pipe), into) = (pipe, Arc::clone(into)) else { return };
    std::thread::spawn(move || {
        for line in BufReader::new(pipe).lines().map_while(Result::ok) {
            let mut into = into.lock().unwrap();
            into.push_str(&line);
            into.push('\n');
        }
    });
}
