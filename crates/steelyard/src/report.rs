//! Lines for the operator on standard output and standard error, written by a thread of their own.
//!
//! A terminal that is stopped, or a pipe that nobody reads, must not hold up probes and management: lines wait in a
//! bounded queue, and those that find it full are dropped whole and counted.

use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, mpsc};
use std::time::Duration;

/// Where lines are handed in. Clones write to the same queue.
#[derive(Clone)]
pub struct Report {
    queue: SyncSender<Line>,
    dropped: Arc<AtomicU64>,
}

enum Line {
    Out(String),
    Err(String),
    /// Everything before it has been written: say so.
    Flushed(mpsc::Sender<()>),
}

impl Report {
    /// Starts the writing thread.
    ///
    /// # Errors
    /// The system grants no thread.
    pub fn start() -> std::io::Result<Report> {
        let (queue, lines) = sync_channel(QUEUE);
        let dropped = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&dropped);
        std::thread::Builder::new().name("report".to_owned()).spawn(move || write(&lines, &counted))?;
        Ok(Report { queue, dropped })
    }

    /// A line, or several that belong together, on standard output.
    pub fn out(&self, line: impl Into<String>) {
        self.hand_in(Line::Out(line.into()));
    }

    /// That of [`Report::out`], if there is something to say.
    pub fn out_if(&self, line: Option<String>) {
        line.into_iter().for_each(|line| self.out(line));
    }

    /// A line, or several that belong together, on standard error.
    pub fn err(&self, line: impl Into<String>) {
        self.hand_in(Line::Err(line.into()));
    }

    /// Waits until what was handed in is written, but not for ever.
    pub fn flush(&self) {
        let (done, wait) = mpsc::channel();
        if self.queue.try_send(Line::Flushed(done)).is_ok() {
            // A reader that has stopped must not keep the program from ending.
            let _ = wait.recv_timeout(FLUSH_PATIENCE);
        }
    }

    fn hand_in(&self, line: Line) {
        if self.queue.try_send(line).is_err() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Ends when the last [`Report`] is gone. Nothing can be done about a standard stream that is closed.
fn write(lines: &Receiver<Line>, dropped: &AtomicU64) {
    while let Ok(line) = lines.recv() {
        let _ = match line {
            Line::Out(text) => writeln!(std::io::stdout().lock(), "{text}"),
            Line::Err(text) => writeln!(std::io::stderr().lock(), "{text}"),
            Line::Flushed(done) => {
                let _ = done.send(());
                Ok(())
            }
        };
        match dropped.swap(0, Ordering::Relaxed) {
            0 => {}
            n => drop(writeln!(
                std::io::stderr().lock(),
                "steelyard: {n} lines were dropped: nobody reads them"
            )),
        }
    }
}

const QUEUE: usize = 4_096;
const FLUSH_PATIENCE: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn o03_a_full_queue_drops_whole_lines_and_counts_them() {
        let (queue, lines) = sync_channel(2);
        let report = Report { queue, dropped: Arc::default() };
        for n in 0..5 {
            report.out(n.to_string());
        }
        assert_eq!(report.dropped.load(Ordering::Relaxed), 3);
        assert_eq!(lines.try_iter().count(), 2);
    }
}
