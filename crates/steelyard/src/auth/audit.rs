//! The audit log: a JSON line for each change, with who, from where, what and what became of it.
//!
//! Never has a secret: whoever hands a line in has masked them. A thread of its own writes, so that a slow disk holds up
//! nothing; lines that find its queue full are counted, and the log says so.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::time::Duration;

use serde_json::json;

use crate::fault::reason;
use crate::report::Report;
use crate::wall::Date;

/// Where lines are handed in. Clones write to the same log.
#[derive(Clone, Default)]
pub struct Audit {
    queue: Option<SyncSender<Entry>>,
    lost: Arc<AtomicU64>,
}

enum Entry {
    Line(String),
    /// Everything before it is written: say so.
    Flushed(Sender<()>),
}

impl Audit {
    /// Writes to `audit.log` in that directory from here on. Says on standard error when it cannot.
    ///
    /// # Errors
    /// The system grants no thread.
    pub fn start(directory: &Path, report: Report) -> io::Result<Audit> {
        let (queue, entries) = sync_channel(QUEUE);
        let lost = Arc::new(AtomicU64::new(0));
        let log = Log { path: directory.join(FILE), largest: LARGEST, is_told: false, report };
        let counted = Arc::clone(&lost);
        std::thread::Builder::new()
            .name("audit".to_owned())
            .spawn(move || follow(log, &entries, &counted))?;
        Ok(Audit { queue: Some(queue), lost })
    }

    /// Notes who did what, from where, and what became of it.
    pub fn note(&self, who: &str, from: &str, what: &str, result: &str) {
        self.note_all(who, from, [(what, result)].into_iter());
    }

    /// The same of several things that were done at once.
    pub fn note_all<'w>(&self, who: &str, from: &str, done: impl Iterator<Item = (&'w str, &'w str)>) {
        let Some(queue) = &self.queue else { return };
        let time = Date::now().standard();
        let line = |(what, result)| {
            let [what, result] = [what, result].map(cut);
            json!({"time": time, "who": who, "from": from, "what": what, "result": result}).to_string()
        };
        let lines: Vec<String> = done.map(line).collect();
        let count = lines.len() as u64;
        if count > 0 && queue.try_send(Entry::Line(lines.join("\n"))).is_err() {
            self.lost.fetch_add(count, Ordering::Relaxed);
        }
    }

    /// Waits until what was handed in is written, but not for ever.
    pub fn flush(&self) {
        let (done, wait) = channel();
        if self.queue.as_ref().is_some_and(|queue| queue.try_send(Entry::Flushed(done)).is_ok()) {
            let _ = wait.recv_timeout(FLUSH_PATIENCE);
        }
    }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// Ends when the last [`Audit`] is gone.
fn follow(mut log: Log, entries: &Receiver<Entry>, lost: &AtomicU64) {
    while let Ok(entry) = entries.recv() {
        match entry {
            Entry::Line(line) => log.write(&line),
            Entry::Flushed(done) => drop(done.send(())),
        }
        match lost.swap(0, Ordering::Relaxed) {
            0 => {}
            count => log.write(&json!({"time": Date::now().standard(), "lost": count}).to_string()),
        }
    }
}

struct Log {
    path: PathBuf,
    /// Bytes of it before it becomes the older copy.
    largest: u64,
    /// Was it told that nothing can be written?
    is_told: bool,
    report: Report,
}

impl Log {
    fn write(&mut self, line: &str) {
        match self.append(line) {
            Ok(()) => self.is_told = false,
            Err(error) => {
                if !std::mem::replace(&mut self.is_told, true) {
                    let (path, why) = (self.path.display(), reason(&error));
                    self.report.err(format!(
                        "steelyard: {path}: {why}; changes are not noted down until it can be written"
                    ));
                }
            }
        }
    }

    /// The file is open no longer than that takes: nobody is kept from taking the disk away.
    fn append(&self, line: &str) -> io::Result<()> {
        let mut file = open(&self.path)?;
        if file.metadata()?.len() > self.largest {
            let mut older = self.path.clone().into_os_string();
            older.push(".0");
            fs::rename(&self.path, older)?;
            file = open(&self.path)?;
        }
        file.write_all(format!("{line}\n").as_bytes())
    }
}

fn open(path: &Path) -> io::Result<File> {
    if let Some(directory) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    }
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    let file = OpenOptions::new().append(true).create(true).mode(0o600).custom_flags(flags).open(path)?;
    file.set_permissions(Permissions::from_mode(0o600))?;
    Ok(file)
}

const FILE: &str = "audit.log";
const QUEUE: usize = 4_096;
/// Of a command, in characters.
const LONGEST: usize = 4_096;
/// Bytes of the log before it becomes `audit.log.0`.
const LARGEST: u64 = 16 << 20;
const FLUSH_PATIENCE: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::*;

    #[test]
    fn one_older_copy_is_kept_and_both_are_the_owners_alone() {
        let directory = std::env::temp_dir().join(format!("steelyard-audit-{}", std::process::id()));
        let _ = fs::remove_dir_all(&directory);
        let report = Report::start().unwrap();
        let mut log = Log { path: directory.join(FILE), largest: 4, is_told: false, report: report.clone() };
        for line in ["first", "second", "third"] {
            log.write(line);
        }
        let text = |name: &str| fs::read_to_string(directory.join(name)).unwrap();
        assert_eq!((text("audit.log"), text("audit.log.0")), ("third\n".to_owned(), "second\n".to_owned()));
        for entry in fs::read_dir(&directory).unwrap() {
            assert_eq!(entry.unwrap().metadata().unwrap().mode() & 0o777, 0o600);
        }
        let audit = Audit::start(&directory, report).unwrap();
        audit.note("nsroot", "127.0.0.1", &"x".repeat(10_000), "Done");
        audit.flush();
        let line = text("audit.log").lines().last().unwrap().to_owned();
        let value: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!(
            (&value["who"], &value["from"], &value["result"]),
            (&json!("nsroot"), &json!("127.0.0.1"), &json!("Done"))
        );
        assert!(value["what"].as_str().unwrap().len() < 5_000 && value["time"].as_str().unwrap().len() == 20);
        fs::remove_dir_all(&directory).unwrap();
    }
}
