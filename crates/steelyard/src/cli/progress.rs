//! A line for whoever waits at a terminal: what is being asked for, and for how long already.
//!
//! It is written over itself and gone before the answer is printed. Where nobody watches nothing is written.

use std::io::{IsTerminal, Write};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Something takes its time; ends when it is dropped.
pub struct Progress(Option<(Sender<()>, JoinHandle<()>)>);

impl Progress {
    /// Begins to wait for that.
    pub fn of(what: &str) -> Progress {
        if !std::io::stderr().is_terminal() || !std::io::stdout().is_terminal() {
            return Progress(None);
        }
        let (ended, wait) = mpsc::channel::<()>();
        let what = what.to_owned();
        let begun = Instant::now();
        let tell = move || {
            let mut told = false;
            let mut patience = UNTOLD;
            while wait.recv_timeout(patience) == Err(RecvTimeoutError::Timeout) {
                told = true;
                patience = STEP;
                let line = format!("\r{what}: {} s", begun.elapsed().as_secs());
                // A terminal that is gone is told nothing.
                let _ = std::io::stderr().write_all(line.as_bytes());
            }
            if told {
                let _ = std::io::stderr().write_all(CLEARED);
            }
        };
        let thread = thread::Builder::new().name("progress".to_owned()).spawn(tell);
        Progress(thread.ok().map(|thread| (ended, thread)))
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((ended, thread)) = self.0.take() {
            drop(ended);
            // It has written its last before the answer is printed.
            let _ = thread.join();
        }
    }
}

/// So long nothing is said.
const UNTOLD: Duration = Duration::from_secs(2);
const STEP: Duration = Duration::from_secs(1);
/// Back to the beginning of the line, and nothing in it.
const CLEARED: &[u8] = b"\r\x1b[K";
