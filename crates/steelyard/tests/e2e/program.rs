//! The real executable under test: started with a configuration, asked through NITRO, stopped by its process id; or run
//! to its end.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::Write as _;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process, prlimit};

pub use crate::asked::{number, text};
use crate::client::Client;
use crate::message::Message;
use crate::place::Place;
use crate::service::{TestService, wait_for};
use crate::written::Written;

/// A running `steelyard run`. It is stopped when it is dropped; if the test failed, what it wrote is printed.
pub struct Program {
    child: Child,
    config: String,
    data: PathBuf,
    vserver: SocketAddr,
    nitro: SocketAddr,
    /// nsroot's.
    password: String,
    stdout: Written,
    stderr: Written,
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
        Program::launch_with(place, config, &[])
    }

    /// The same with further `arguments`.
    pub fn launch_with(place: &Place, config: &str, arguments: &[&str]) -> Program {
        let mut program = Program::spawn(place, config, arguments);
        program.wait_ready();
        program
    }

    /// The same, and waits for nothing.
    pub fn spawn(place: &Place, config: &str, arguments: &[&str]) -> Program {
        let mut program = Program::spawn_unread(place, config, arguments);
        program.stdout = Written::of(program.child.stdout.take());
        program
    }

    /// The same with `output` as its standard output.
    pub fn spawn_into(place: &Place, config: &str, arguments: &[&str], output: impl Into<Stdio>) -> Program {
        Program::spawn_command(place, config, arguments, output.into())
    }

    /// Starts with a whole ns.conf and further `arguments` among these variables. Returns when it says that it is ready.
    pub fn launch_among(
        place: &Place,
        config: &str,
        arguments: &[&str],
        environment: &[(&str, &str)],
    ) -> Program {
        let config = place.file("ns.conf", config);
        let mut command = Command::new(EXECUTABLE);
        command.envs(environment.iter().copied());
        let data = data_beside(&config);
        let run = ["run", "--threads", "2", "--config", &config, "--data", &data];
        let mut program =
            Program::execute(command, place, [&run, arguments].concat(), config.clone(), Stdio::piped());
        program.stdout = Written::of(program.child.stdout.take());
        program.wait_ready();
        program
    }

    /// Starts with a whole ns.conf and no more than `descriptors`; `None` where that cannot be done. Returns when it says
    /// that it is ready.
    pub fn launch_limited(place: &Place, config: &str, descriptors: u32) -> Option<Program> {
        let mut command = crate::installed::program("prlimit")?;
        command.arg(format!("--nofile={descriptors}"));
        let config = place.file("ns.conf", config);
        Some(Program::launch_by(command, place, &config, &data_beside(&config)))
    }

    /// Starts by a command that runs what follows it, with `config` as the file and `data` as the directory. Returns when
    /// it says that it is ready.
    pub fn launch_by(mut command: Command, place: &Place, config: &str, data: &str) -> Program {
        command.arg(EXECUTABLE);
        Program::launch_as(command, place, config, data, &[])
    }

    /// The same by a command that is the executable already, with further `arguments`.
    pub fn launch_as(
        command: Command,
        place: &Place,
        config: &str,
        data: &str,
        arguments: &[&str],
    ) -> Program {
        let run = ["run", "--threads", "2", "--config", config, "--data", data];
        let mut program =
            Program::execute(command, place, [&run, arguments].concat(), config.to_owned(), Stdio::piped());
        program.stdout = Written::of(program.child.stdout.take());
        program.wait_ready();
        program
    }

    /// Starts without a configuration file. Returns when it says that it is ready.
    pub fn launch_empty(command: Command, place: &Place, data: &str) -> Program {
        let run = vec!["run", "--threads", "2", "--data", data];
        let config = format!("{data}/ns.conf");
        let mut program = Program::execute(command, place, run, config, Stdio::piped());
        program.stdout = Written::of(program.child.stdout.take());
        program.wait_ready();
        program
    }

    /// The same with a standard output that is a closed pipe.
    pub fn spawn_without_output(place: &Place, config: &str) -> Program {
        let mut program = Program::spawn_unread(place, config, &[]);
        drop(program.child.stdout.take());
        program
    }

    /// Starts `steelyard lab` with a file of these contents. Returns when it says that it is ready.
    pub fn lab(place: &Place, contents: &str) -> Program {
        let file = place.file("lab.conf", contents);
        let mut program = Program::execute(
            Command::new(EXECUTABLE),
            place,
            vec!["lab", &file],
            file.clone(),
            Stdio::piped(),
        );
        program.stdout = Written::of(program.child.stdout.take());
        program.wait_ready();
        let line = program.wait_for_line("X-NITRO-PASS:");
        let password = line.split_once("X-NITRO-PASS:").unwrap().1;
        program.password = password.split(' ').next().unwrap().to_owned();
        program
    }

    /// Has it take `config` in place of the file that it runs with; the line that says what changed.
    pub fn reload(&self, config: &str) -> String {
        let of =
            |lines: Vec<String>| lines.into_iter().filter(|l| l.starts_with("reloaded ")).collect::<Vec<_>>();
        let before = of(self.lines()).len();
        std::fs::write(&self.config, config).unwrap();
        self.signal(Signal::HUP);
        let mut said = Vec::new();
        wait_for("word of the reload", || {
            said = of(self.lines());
            said.len() > before
        });
        said.swap_remove(before)
    }

    /// The file that it runs with.
    pub fn config_path(&self) -> &str {
        &self.config
    }

    /// Waits until it says that it is ready.
    pub fn wait_ready(&mut self) {
        wait_for("ready", || {
            assert!(self.is_running(), "the program ended at once");
            self.lines().iter().any(|line| line == "ready")
        });
    }

    /// A new client connection to the virtual server.
    pub fn client(&self) -> Client {
        Client::connect(self.vserver)
    }

    /// Where the virtual server listens.
    pub fn vserver(&self) -> SocketAddr {
        self.vserver
    }

    /// Where it is managed.
    pub fn nitro_address(&self) -> SocketAddr {
        self.nitro
    }

    /// What `--nitro` of a client command names.
    pub fn nitro_url(&self) -> String {
        format!("http://{}", self.nitro)
    }

    /// Sends bytes as they are to the management port; the answer.
    pub fn manage(&self, request: impl AsRef<[u8]>) -> Message {
        let mut client = Client::connect(self.nitro);
        client.send(request);
        client.answer()
    }

    /// nsroot's password.
    pub fn password(&self) -> &str {
        &self.password
    }

    /// Its data directory.
    pub fn data(&self) -> &Path {
        &self.data
    }

    /// Its process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The connections of version 4 that are open at its end at one of its addresses.
    pub fn connections_at(&self, address: SocketAddr) -> usize {
        let table = std::fs::read_to_string(format!("/proc/{}/net/tcp", self.id())).unwrap();
        let IpAddr::V4(ip) = address.ip() else { unreachable!("places are of version 4") };
        let own = format!("{:08X}:{:04X}", u32::from_ne_bytes(ip.octets()), address.port());
        let open = |line: &&str| {
            let fields: Vec<&str> = line.split_whitespace().collect();
            fields[1] == own && ["01", "08"].contains(&fields[3])
        };
        table.lines().skip(1).filter(open).count()
    }

    /// Waits for a line of standard error with this in it; the line.
    pub fn wait_for_error(&self, text: &str) -> String {
        let find = |errors: String| errors.lines().find(|line| line.contains(text)).map(str::to_owned);
        wait_for(text, || find(self.errors()).is_some());
        find(self.errors()).unwrap()
    }

    /// CPU time that it has used, in milliseconds.
    pub fn cpu_ms(&self) -> u64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap();
        let fields = stat.rsplit_once(") ").unwrap().1;
        let ticks: u64 = fields.split(' ').skip(11).take(2).map(|n| n.parse::<u64>().unwrap()).sum();
        // USER_HZ is 100 on every Linux of today.
        ticks * 10
    }

    /// Resident memory in KiB.
    pub fn resident_kib(&self) -> u64 {
        self.memory_kib("VmRSS:")
    }

    /// The most that it ever was.
    #[cfg(feature = "ssh")]
    pub fn most_resident_kib(&self) -> u64 {
        self.memory_kib("VmHWM:")
    }

    fn memory_kib(&self, field: &str) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find(|l| l.starts_with(field)).unwrap();
        line.split_whitespace().nth(1).and_then(|n| n.parse().ok()).unwrap()
    }

    /// The lines of standard output so far.
    pub fn lines(&self) -> Vec<String> {
        self.stdout.text().lines().map(str::to_owned).collect()
    }

    /// Waits for a line of standard output that holds `text`; returns it.
    pub fn wait_for_line(&self, text: &str) -> String {
        let mut found = None;
        wait_for(&format!("a line with {text:?}"), || {
            found = self.lines().into_iter().find(|line| line.contains(text));
            found.is_some()
        });
        found.unwrap()
    }

    /// What it wrote to standard error so far.
    pub fn errors(&self) -> String {
        self.stderr.text()
    }

    /// The addresses that it listens on, sorted.
    pub fn listening(&self) -> Vec<SocketAddr> {
        let process = format!("/proc/{}", self.child.id());
        let sockets: BTreeSet<String> = std::fs::read_dir(format!("{process}/fd"))
            .unwrap()
            .filter_map(|entry| std::fs::read_link(entry.unwrap().path()).ok())
            .filter_map(|link| Some(link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned()))
            .collect();
        let tables = ["tcp", "tcp6"].map(|t| std::fs::read_to_string(format!("{process}/net/{t}")).unwrap());
        let lines = tables.iter().flat_map(|table| table.lines().skip(1));
        let listening = lines.filter_map(|line| {
            let fields: Vec<&str> = line.split_whitespace().collect();
            (fields[3] == LISTEN && sockets.contains(fields[9])).then(|| kernel_address(fields[1]))
        });
        listening.collect::<BTreeSet<SocketAddr>>().into_iter().collect()
    }

    /// Allows it no more than `most` open descriptors from here on, those that it has included.
    pub fn limit_descriptors(&self, most: u64) {
        let limit = Rlimit { current: Some(most), maximum: Some(most) };
        prlimit(Some(Pid::from_child(&self.child)), Resource::Nofile, limit).unwrap();
    }

    /// Sends a signal.
    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Has it not ended?
    pub fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// Waits until it has ended and all that it wrote is here: the exit code, `None` after a signal.
    pub fn exit_code(&mut self) -> Option<i32> {
        wait_for("the program to end", || !self.is_running());
        self.stdout.finish();
        self.stderr.finish();
        self.child.wait().unwrap().code()
    }

    /// Starts it; who reads its standard output is for the caller to say.
    fn spawn_unread(place: &Place, config: &str, arguments: &[&str]) -> Program {
        Program::spawn_command(place, config, arguments, Stdio::piped())
    }

    fn spawn_command(place: &Place, config: &str, arguments: &[&str], output: Stdio) -> Program {
        let config = place.file("ns.conf", config);
        let data = data_beside(&config);
        let mut run = vec!["run", "--threads", "2", "--config", &config];
        if !arguments.contains(&"--data") {
            run.extend(["--data", &data]);
        }
        Program::execute(Command::new(EXECUTABLE), place, [&run, arguments].concat(), config.clone(), output)
    }

    fn execute(
        mut command: Command,
        place: &Place,
        arguments: Vec<&str>,
        config: String,
        output: Stdio,
    ) -> Program {
        let data = arguments.iter().skip_while(|argument| **argument != "--data").nth(1);
        let data = data.map(PathBuf::from).unwrap_or_default();
        if !command.get_envs().any(|(name, _)| name == PASSWORD_VARIABLE) {
            command.env(PASSWORD_VARIABLE, PASSWORD);
        }
        let mut child = command
            .args(arguments)
            .args(["--nitro", &place.nitro().to_string()])
            .stdin(Stdio::null())
            .stdout(output)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stderr = Written::of(child.stderr.take());
        let (vserver, nitro) = (place.vserver(0), place.nitro());
        let password = PASSWORD.to_owned();
        Program { child, config, data, vserver, nitro, password, stdout: Written::default(), stderr }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // Its orderly end has tests of its own.
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            // A panic in here would end all tests: what cannot be printed is left out.
            let _ = writeln!(
                std::io::stderr(),
                "--- the program wrote:\n{}--- and of errors:\n{}---",
                self.stdout.text(),
                self.errors()
            );
        }
    }
}

/// The data directory of a test's program, in the test's folder.
fn data_beside(config: &str) -> String {
    Path::new(config).with_file_name("data").to_str().unwrap().to_owned()
}

/// Runs the executable with these arguments to its end. `run` has its data directory beside the file, unless one is named.
pub fn run_to_end(arguments: &[&str]) -> Output {
    command(arguments).output().unwrap()
}

/// The same with something on standard input.
pub fn run_with_input(arguments: &[&str], input: &[u8]) -> Output {
    feed(command(arguments), input)
}

/// The same in that many bytes of memory; `None` where that cannot be had.
pub fn run_within(bytes: u64, arguments: &[&str], input: &[u8]) -> Option<Output> {
    let mut command = crate::installed::program("prlimit")?;
    command.arg(format!("--data={bytes}")).arg(EXECUTABLE).args(arguments);
    Some(feed(command, input))
}

fn feed(mut command: Command, input: &[u8]) -> Output {
    let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = pipes.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    std::thread::scope(|scope| {
        // What is printed is read meanwhile; a program that reads no more has all that it wants.
        scope.spawn(move || drop(stdin.write_all(input)));
        child.wait_with_output().unwrap()
    })
}

/// The same, which the caller ends.
pub fn start(arguments: &[&str]) -> Child {
    command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(EXECUTABLE);
    command.args(arguments);
    if let ["run", "--config", config, ..] = arguments
        && !arguments.contains(&"--data")
    {
        command.args(["--data", &data_beside(config)]);
    }
    command.env(PASSWORD_VARIABLE, PASSWORD).stdin(Stdio::null());
    command
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

/// An address as /proc writes it: words of 32 bits in the host's order, then the port.
fn kernel_address(text: &str) -> SocketAddr {
    let (ip, port) = text.split_once(':').unwrap();
    let bytes: Vec<u8> = (0..ip.len() / 8)
        .flat_map(|n| u32::from_str_radix(&ip[n * 8..n * 8 + 8], 16).unwrap().to_ne_bytes())
        .collect();
    let ip = match <[u8; 4]>::try_from(bytes.as_slice()) {
        Ok(four) => IpAddr::from(four),
        Err(_) => IpAddr::from(<[u8; 16]>::try_from(bytes.as_slice()).unwrap()),
    };
    SocketAddr::new(ip, u16::from_str_radix(port, 16).unwrap())
}

/// nsroot's first password in every test, and how a program is told.
pub const PASSWORD: &str = "e2e.Password-1";
pub const PASSWORD_VARIABLE: &str = "STEELYARD_NSROOT_PASSWORD";
/// The state of a listener in /proc.
const LISTEN: &str = "0A";
/// The executable under test.
pub const EXECUTABLE: &str = env!("CARGO_BIN_EXE_steelyard");
