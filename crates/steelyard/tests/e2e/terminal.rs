//! A terminal: the program runs on it in a session of its own, keys are typed, and what is on the screen is waited for.

use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::OFlags;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};

use crate::installed;
use crate::program::EXECUTABLE;
use crate::screen::Screen;
use crate::service::wait_for;

/// What came from a terminal.
#[derive(Default)]
struct Written {
    bytes: Mutex<Vec<u8>>,
    /// Behind this nothing is taken for a while: the program cannot write on.
    stalled_at: Mutex<Option<String>>,
}

impl Written {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes.lock().unwrap()).into_owned()
    }

    fn is_stalled(&self) -> bool {
        self.stalled_at.lock().unwrap().as_ref().is_some_and(|text| self.text().contains(text))
    }
}

/// A terminal with a program on it. What it wrote is printed when the test fails.
pub struct Terminal {
    /// Closing it, here and in the reader, hangs the terminal up.
    master: Option<File>,
    reader: Option<(JoinHandle<()>, UnixStream)>,
    child: Child,
    written: Arc<Written>,
    columns: u16,
}

impl Terminal {
    /// `steelyard` with these arguments on a terminal of 80 columns; `None` where the host has no `setsid`.
    pub fn start(arguments: &[&str]) -> Option<Terminal> {
        Terminal::start_with(arguments, &[])
    }

    /// The same with further variables of the environment.
    pub fn start_with(arguments: &[&str], variables: &[(&str, &str)]) -> Option<Terminal> {
        let mut command = installed::program("setsid")?;
        command.args(["--ctty", EXECUTABLE]).args(arguments);
        // Nothing of whoever runs the tests: no history, no colours.
        command.env_clear().env("TERM", "xterm").envs(variables.iter().copied());
        Some(Terminal::run(command))
    }

    /// The same, started as `nohup` starts a program.
    pub fn start_ignoring_hup(arguments: &[&str]) -> Option<Terminal> {
        let mut command = installed::program("setsid")?;
        command.args(["--ctty", "sh", "-c", "trap '' HUP; exec \"$@\"", "sh", EXECUTABLE]).args(arguments);
        command.env_remove("XDG_STATE_HOME").env_remove("HOME").env("TERM", "xterm");
        Some(Terminal::run(command))
    }

    /// Any program of the tests, with its own environment and directory.
    pub fn of(program: &Command) -> Option<Terminal> {
        let mut command = installed::program("setsid")?;
        command.arg("--ctty").arg(program.get_program()).args(program.get_args()).env("TERM", "xterm");
        for (name, value) in program.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        if let Some(directory) = program.get_current_dir() {
            command.current_dir(directory);
        }
        Some(Terminal::run(command))
    }

    fn run(mut command: Command) -> Terminal {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let mut open = File::options();
        open.read(true).write(true).custom_flags(OFlags::NOCTTY.bits().cast_signed());
        let slave = open.open(name.to_str().unwrap()).unwrap();
        let columns = 80;
        tcsetwinsize(&master, size(columns)).unwrap();
        let end = || Stdio::from(slave.try_clone().unwrap());
        let child = command.stdin(end()).stdout(end()).stderr(end()).spawn().unwrap();
        let master = File::from(master);
        let written = Arc::new(Written::default());
        let (from, to) = (master.try_clone().unwrap(), Arc::clone(&written));
        let (stop, stopped) = UnixStream::pair().unwrap();
        let reader = std::thread::spawn(move || read(from, &stopped, &to));
        Terminal { master: Some(master), reader: Some((reader, stop)), child, written, columns }
    }

    /// Types keys, as bytes that a terminal sends for them.
    pub fn types(&self, keys: &str) {
        self.sends(keys.as_bytes());
    }

    /// The same of what is no text.
    pub fn sends(&self, bytes: &[u8]) {
        self.master.as_ref().unwrap().write_all(bytes).unwrap();
    }

    /// Waits until the screen ends with these lines, the cursor behind the last one.
    pub fn waits_for(&self, lines: &[&str]) {
        let mut seen = Vec::new();
        let is_there = || {
            let screen = self.screen();
            seen = screen.lines();
            seen.truncate(screen.cursor().0 + 1);
            seen.ends_with(&lines.iter().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>())
        };
        let result =
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| wait_for("the screen", is_there)));
        assert!(result.is_ok(), "the screen does not end with {lines:#?} but is {seen:#?}");
    }

    /// Waits until it is somewhere in what was written.
    pub fn waits_for_text(&self, text: &str) {
        wait_for(text, || self.transcript().contains(text));
    }

    /// All that the program wrote, as it came.
    pub fn transcript(&self) -> String {
        self.written.text()
    }

    /// What is to be seen.
    pub fn screen(&self) -> Screen {
        Screen::of(&self.written.bytes.lock().unwrap(), self.columns.into())
    }

    /// Takes nothing any more once that is written, so that the program cannot go on.
    pub fn stalls_at(&self, text: &str) {
        *self.written.stalled_at.lock().unwrap() = Some(text.to_owned());
    }

    /// Waits for that, types keys, and takes what comes again.
    pub fn types_when_stalled(&self, keys: &str) {
        wait_for("what stalls the terminal", || self.written.is_stalled());
        self.types(keys);
        *self.written.stalled_at.lock().unwrap() = None;
    }

    /// Gives the terminal another width; what is written from here on counts.
    pub fn resize(&mut self, columns: u16) {
        self.columns = columns;
        tcsetwinsize(self.master.as_ref().unwrap(), size(columns)).unwrap();
    }

    /// Hangs up.
    pub fn hang_up(&mut self) {
        self.master = None;
        if let Some((reader, stop)) = self.reader.take() {
            drop(stop);
            reader.join().unwrap();
        }
    }

    /// Are keys given line by line, and shown, as a shell wants them?
    pub fn is_for_lines(&self) -> bool {
        let modes = tcgetattr(self.master.as_ref().unwrap()).unwrap().local_modes;
        modes.contains(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG)
    }

    /// The program's process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits until it has ended: its exit code, or the signal that ended it.
    pub fn end(&mut self) -> Result<i32, i32> {
        wait_for("the program to leave the terminal", || self.child.try_wait().unwrap().is_some());
        let status = self.child.wait().unwrap();
        status.code().ok_or_else(|| status.signal().unwrap())
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        self.hang_up();
        if std::thread::panicking() {
            // A panic in here would end all tests: what cannot be printed is left out.
            let _ =
                writeln!(std::io::stderr(), "--- on the terminal was written:\n{:?}\n---", self.transcript());
        }
    }
}

/// Takes what comes from the terminal until it is told to stop.
fn read(mut from: File, stopped: &UnixStream, to: &Written) {
    let mut piece = [0; 4096];
    loop {
        if to.is_stalled() {
            wait_for("the terminal to be read on", || !to.is_stalled());
        }
        let mut either = [PollFd::new(&from, PollFlags::IN), PollFd::new(stopped, PollFlags::IN)];
        if poll(&mut either, None).is_err() {
            continue;
        }
        if !either[1].revents().is_empty() {
            return;
        }
        match from.read(&mut piece) {
            Ok(0) => return,
            Ok(length) => to.bytes.lock().unwrap().extend_from_slice(&piece[..length]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            // The last process has let go of the terminal.
            Err(_) => return,
        }
    }
}

fn size(columns: u16) -> Winsize {
    Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }
}
