//! Keys of a terminal, each at once and none shown.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::thread;

use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr};
use tokio::signal::unix::{SignalKind, signal};
use zeroize::Zeroizing;

/// A terminal that gives each key at once, until this is dropped.
pub struct Keys<'t> {
    terminal: BorrowedFd<'t>,
    before: Termios,
}

impl<'t> Keys<'t> {
    /// Of a terminal.
    ///
    /// # Errors
    /// It is none.
    pub fn of(terminal: BorrowedFd<'t>) -> rustix::io::Result<Keys<'t>> {
        let before = tcgetattr(terminal)?;
        let mut raw = before.clone();
        raw.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG);
        raw.special_codes[SpecialCodeIndex::VMIN] = 1;
        raw.special_codes[SpecialCodeIndex::VTIME] = 0;
        tcsetattr(terminal, OptionalActions::Now, &raw)?;
        Ok(Keys { terminal, before })
    }

    /// The next byte; `None` where the terminal is gone.
    pub fn next(&self) -> Option<u8> {
        let mut byte = [0];
        loop {
            match rustix::io::read(self.terminal, &mut byte) {
                Err(rustix::io::Errno::INTR) => {}
                Ok(1) => return Some(byte[0]),
                _ => return None,
            }
        }
    }
}

impl Drop for Keys<'_> {
    fn drop(&mut self) {
        let _ = tcsetattr(self.terminal, OptionalActions::Now, &self.before);
    }
}

/// Has the terminal as it is now when a SIGTERM ends the program, whatever keys are read by then.
///
/// # Errors
/// What the system says.
pub fn given_back_at_the_end() -> io::Result<()> {
    let before = tcgetattr(io::stdin())?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let guard = runtime.enter();
    let mut terminated = signal(SignalKind::terminate())?;
    drop(guard);
    let wait = move || {
        runtime.block_on(terminated.recv());
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &before);
        std::process::exit(TERMINATED);
    };
    thread::Builder::new().name("end".to_owned()).spawn(wait).map(drop)
}

/// What somebody types at the terminal of this process without its being shown; `None` where nobody is there, or gives up.
pub fn secret(prompt: &str) -> Option<Zeroizing<String>> {
    use std::io::Write;
    let mut terminal = File::options().read(true).write(true).open("/dev/tty").ok()?;
    let keys = Keys::of(terminal.as_fd());
    let mut show = terminal.try_clone().ok()?;
    let keys = keys.ok()?;
    show.write_all(prompt.as_bytes()).ok()?;
    // No room is left behind by growing.
    let mut typed = Zeroizing::new(Vec::with_capacity(LONGEST));
    let is_given = loop {
        match keys.next() {
            Some(b'\r' | b'\n') => break true,
            Some(BACKSPACE | DELETE) => drop(typed.pop()),
            Some(CTRL_U) => typed.clear(),
            None | Some(CTRL_C | CTRL_D) => break false,
            Some(byte) if typed.len() < LONGEST => typed.push(byte),
            Some(_) => {}
        }
    };
    drop(keys);
    let _ = terminal.write_all(b"\n");
    let text = std::str::from_utf8(&typed).ok().filter(|_| is_given)?;
    Some(Zeroizing::new(text.to_owned()))
}

/// Bytes.
const LONGEST: usize = 1_024;
/// As a shell tells the end by that signal.
const TERMINATED: i32 = 128 + 15;
/// What ends everything that is asked for.
pub const CTRL_C: u8 = 3;
/// The end of what is typed.
pub const CTRL_D: u8 = 4;
const BACKSPACE: u8 = 8;
const DELETE: u8 = 0x7f;
const CTRL_U: u8 = 0x15;
