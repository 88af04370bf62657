//! What is printed on a terminal: page by page where that is asked for, and no further than Ctrl-C lets it.

use std::io::Write;
use std::os::fd::AsFd;
use std::time::Duration;

use rustix::termios::tcgetwinsize;
use tokio::runtime::Runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::keys::{CTRL_C, CTRL_D, Keys};

/// The terminal that answers are printed on.
pub struct Pager {
    runtime: Runtime,
    interrupts: Signal,
}

/// How an answer is printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pages {
    /// To its end.
    Whole,
    /// It stops when the terminal is full.
    Each,
}

/// What a key says at the end of a page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Key {
    Page,
    Line,
    Quit,
}

impl Pager {
    /// Ctrl-C ends an answer from here on, and not the program.
    ///
    /// # Errors
    /// What the system says.
    pub fn new() -> std::io::Result<Pager> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let guard = runtime.enter();
        let interrupts = signal(SignalKind::interrupt())?;
        drop(guard);
        Ok(Pager { runtime, interrupts })
    }

    /// Prints an answer. Of one that is stopped, the last line is told all the same.
    pub fn print(&mut self, answer: &str, pages: Pages, out: &mut dyn Write) {
        // One that came before is not meant for this.
        self.was_interrupted();
        if self.is_stopped_in(answer, pages, out) {
            drop(writeln!(out, "{}", answer.lines().last().unwrap_or_default()));
        }
    }

    /// Prints lines. Does whoever reads them want no more?
    pub fn is_stopped_in(&mut self, text: &str, pages: Pages, out: &mut dyn Write) -> bool {
        let (columns, rows) = size();
        let mut left = rows;
        for line in text.lines() {
            let height = line.replace('\t', "        ").chars().count().max(1).div_ceil(columns);
            let is_stopped = match pages {
                Pages::Each if height > left => match ask(out) {
                    Key::Page => {
                        left = rows;
                        false
                    }
                    Key::Line => {
                        left = height;
                        false
                    }
                    Key::Quit => true,
                },
                // Behind the `^C` that the terminal shows a line begins.
                _ => self.was_interrupted() && writeln!(out).is_ok(),
            };
            left = left.saturating_sub(height);
            if is_stopped || writeln!(out, "{line}").is_err() {
                return true;
            }
        }
        false
    }

    /// Has there been a Ctrl-C since this was asked last?
    pub fn was_interrupted(&mut self) -> bool {
        self.is_interrupted_before(std::future::ready(()))
    }

    /// Waits for so long, or for a Ctrl-C. Was there one?
    pub fn is_interrupted_within(&mut self, time: Duration) -> bool {
        self.is_interrupted_before(async move { tokio::time::sleep(time).await })
    }

    fn is_interrupted_before(&mut self, end: impl Future<Output = ()>) -> bool {
        let interrupts = &mut self.interrupts;
        self.runtime.block_on(async {
            // Signals come by way of the runtime.
            tokio::task::yield_now().await;
            tokio::select! {
                biased;
                came = interrupts.recv() => came.is_some(),
                () = end => false,
            }
        })
    }
}

/// Asks how to go on.
fn ask(out: &mut dyn Write) -> Key {
    let asked = out.write_all(MORE.as_bytes()).and_then(|()| out.flush());
    let key = match asked {
        Ok(()) => key(),
        Err(_) => Key::Quit,
    };
    drop(out.write_all(GONE.as_bytes()));
    key
}

/// The next key that means something; there is none where the terminal is gone.
fn key() -> Key {
    let stdin = std::io::stdin();
    let Ok(keys) = Keys::of(stdin.as_fd()) else { return Key::Quit };
    loop {
        match keys.next() {
            Some(b' ') => return Key::Page,
            Some(b'\r' | b'\n') => return Key::Line,
            None | Some(b'q' | b'Q' | CTRL_C | CTRL_D) => return Key::Quit,
            Some(_) => {}
        }
    }
}

/// Columns, and lines that are printed before the one that asks.
fn size() -> (usize, usize) {
    let size = tcgetwinsize(std::io::stdout()).ok();
    let of = |value: Option<u16>, otherwise: usize| value.filter(|v| *v > 0).map_or(otherwise, usize::from);
    let (columns, rows) = (of(size.map(|s| s.ws_col), 80), of(size.map(|s| s.ws_row), 24));
    (columns, rows.saturating_sub(1).max(1))
}

const MORE: &str = "--More--";
/// Takes it away again.
const GONE: &str = "\r        \r";
