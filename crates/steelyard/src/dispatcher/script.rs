//! One run of a script: started without a shell, watched, ended at its time, and reaped.
//!
//! Owns the process. The hard question is who else is there in the end: the script's children, some that ignore signals
//! or hold its output open. The script leads a process group of its own; while it is not reaped yet nobody else can have
//! the group's number, so that is when the whole group is killed, after every run.

use std::ffi::OsStr;
use std::fmt::Display;
use std::io::{self, ErrorKind};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{
    Pid, Resource, Rlimit, Signal, WaitId, WaitIdOptions, WaitOptions, kill_process_group, prlimit, waitid,
    waitpgid,
};
use rustix::thread::clear_ambient_capability_set;
use tokio::net::unix::pipe::Receiver;
use tokio::sync::{OwnedSemaphorePermit, oneshot};
use tokio::task::{JoinHandle, spawn_blocking, spawn_local};
use tokio::time::{Instant, sleep, sleep_until};

use super::order::Order;
use super::outcome::Answer;
use super::script_user::ScriptUser;
use crate::fault::reason;
use crate::files::{Folders, Refused};
use crate::listing::quoted;

/// Where scripts are, and who runs them.
pub struct Place {
    /// One of its folders has them.
    pub folders: Folders,
    /// Who runs them.
    pub user: ScriptUser,
}

/// Runs a script to its end. Whoever drops this future ends the script with all that it has started; `room` is given back
/// when nothing of it is left.
pub async fn run(order: Order, place: Place, room: OwnedSemaphorePermit) -> Answer {
    let (wanted, unwanted) = oneshot::channel();
    let watching = spawn_local(async move {
        let answer = watch(order, place, unwanted).await;
        drop(room);
        answer
    });
    let answer = watching.await;
    drop::<oneshot::Sender<()>>(wanted);
    answer.unwrap_or_else(|_| {
        Answer::no_room("running scripts has stopped by a fault of this program".to_owned())
    })
}

async fn watch(order: Order, place: Place, unwanted: oneshot::Receiver<()>) -> Answer {
    let (deadline, seconds) = (Instant::now() + order.time, order.time.as_secs());
    let started = match spawn_blocking(move || start(&order, &place)).await {
        Ok(Ok(started)) => started,
        Ok(Err(answer)) => return answer,
        Err(_) => {
            return Answer::no_room("starting scripts has stopped by a fault of this program".to_owned());
        }
    };
    let mut running = match Running::new(started) {
        Ok(running) => running,
        Err(error) => return Answer::no_room(format!("it cannot be watched: {}", reason(&error))),
    };
    let ended = tokio::select! {
        biased;
        printed = running.listen() => printed,
        () = sleep_until(deadline) => Err(format!("timed out after {seconds} s")),
        _ = unwanted => Err("nobody waits for it".to_owned()),
    };
    let status = running.clear_away().await;
    match (ended, status) {
        (Err(why), _) => Answer::failed(why),
        (Ok(()), Ok(status)) => Answer::of(status, &running.out.kept, &running.err.kept),
        (Ok(()), Err(error)) => Answer::no_room(format!("how it ended is not known: {}", reason(&error))),
    }
}

/// Why a script cannot be run, for people.
pub fn not_there(name: &str, why: &Refused, folders: &Folders) -> String {
    let folder = folders.scripts().map_or_else(String::new, |path| format!(" in {}", path.display()));
    let name = if name.is_empty() { "without a name".to_owned() } else { quoted(name) };
    match why {
        Refused::Name | Refused::LongName => format!("script {name}: no name that a file{folder} can have"),
        Refused::NoFile => format!("script {name}{folder} is no file; links are not followed"),
        Refused::Io(error) => format!("script {name}{folder}: {}", reason(error)),
        _ => format!("script {name} not found{folder}"),
    }
}

/// Blocks until the script runs.
fn start(order: &Order, place: &Place) -> Result<Group, Answer> {
    let Order { script, ip, port, arguments, time } = order;
    let folder = place
        .folders
        .script(script)
        .map_err(|why| Answer::no_script(not_there(script, &why, &place.folders)))?;
    // Of this thread alone, and so of what it starts.
    let _ = clear_ambient_capability_set();
    let mut command = Command::new(format!("./{script}"));
    command
        .args([ip as &dyn Display, port].map(ToString::to_string))
        .arg(OsStr::from_bytes(arguments))
        .arg(time.as_secs().to_string())
        .env_clear()
        .env("PATH", PATH)
        // The data directory is closed to the script's user; what is open here leads past it.
        .current_dir(format!("/proc/self/fd/{}", folder.as_raw_fd()))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    if let Some((uid, gid)) = place.user.becomes {
        command.uid(uid).gid(gid);
    }
    let child = command.spawn().map_err(|error| not_started(script, &error, place))?;
    let group = Group::of(child).map_err(|error| Answer::no_room(reason(&error)))?;
    limit(group.leader, &place.user);
    Ok(group)
}

fn not_started(script: &str, error: &io::Error, place: &Place) -> Answer {
    let name = quoted(script);
    match (error.kind(), Errno::from_io_error(error)) {
        (ErrorKind::PermissionDenied, _) => {
            Answer::no_script(format!("script {name} is not executable for {}: chmod 755", place.user.name))
        }
        (ErrorKind::NotFound, _) => {
            Answer::no_script(format!("script {name}: the program behind its #! is not there"))
        }
        (_, Some(Errno::NOEXEC)) => {
            Answer::no_script(format!("script {name} is no program and has no line #!"))
        }
        _ => Answer::no_room(format!("script {name} cannot be started: {}", reason(error))),
    }
}

/// What it and its children may use. Where that cannot be set it goes without: its time is bounded in any case.
fn limit(leader: Pid, user: &ScriptUser) {
    let at_most = |n: u64| Rlimit { current: Some(n), maximum: Some(n) };
    let _ = prlimit(Some(leader), Resource::Core, at_most(0));
    let _ = prlimit(Some(leader), Resource::Nofile, at_most(MOST_FILES));
    // It counts all processes of the user, so that it would stop a script whose user has others.
    if user.becomes.is_some() {
        let _ = prlimit(Some(leader), Resource::Nproc, at_most(MOST_PROCESSES));
    }
}

/// The script and all processes of its group, killed when this goes.
struct Group {
    child: Child,
    leader: Pid,
    reaped: bool,
}

impl Group {
    fn of(mut child: Child) -> io::Result<Group> {
        match i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
            Some(leader) => Ok(Group { child, leader, reaped: false }),
            None => {
                child.kill()?;
                child.wait()?;
                Err(io::Error::from(ErrorKind::InvalidData))
            }
        }
    }

    /// Only before the leader is reaped: its number is the group's until then.
    fn kill(&self) {
        if !self.reaped {
            // A group in which only the dead are left is as good as killed.
            let _ = kill_process_group(self.leader, Signal::KILL);
        }
    }

    fn reap(&mut self) -> io::Result<ExitStatus> {
        let status = self.child.wait();
        self.reaped = true;
        status
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if !self.reaped {
            self.kill();
            let _ = self.reap();
        }
    }
}

/// A script that runs, and what it prints.
struct Running {
    group: Group,
    /// Over when the script has ended; it is not reaped by that.
    end: JoinHandle<()>,
    ended: bool,
    out: Output,
    err: Output,
}

impl Running {
    fn new(mut group: Group) -> io::Result<Running> {
        let leader = group.leader;
        let end = spawn_blocking(move || {
            while let Err(Errno::INTR) =
                waitid(WaitId::Pid(leader), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)
            {}
        });
        let out = Output::of(group.child.stdout.take().map(OwnedFd::from))?;
        let err = Output::of(group.child.stderr.take().map(OwnedFd::from))?;
        Ok(Running { group, end, ended: false, out, err })
    }

    /// Takes what it prints until it ends, not until everybody has closed the output.
    async fn listen(&mut self) -> Result<(), String> {
        loop {
            let seen = tokio::select! {
                _ = &mut self.end => {
                    self.ended = true;
                    return Ok(());
                }
                seen = self.out.next() => seen,
                seen = self.err.next() => seen,
            };
            if seen > MOST_PRINTED {
                return Err(format!("it printed more than {MOST_PRINTED} bytes"));
            }
        }
    }

    /// Kills what is left of the group, takes what is left of the output, and reaps.
    async fn clear_away(&mut self) -> io::Result<ExitStatus> {
        self.group.kill();
        if !self.ended {
            // An end that cannot be waited for here is waited for by `reap`.
            let _ = (&mut self.end).await;
        }
        self.out.rest();
        self.err.rest();
        let status = self.group.reap();
        // Where this program is the first of its container, orphans become its children.
        for _ in 0..ORPHAN_TRIES {
            match waitpgid(self.group.leader, WaitOptions::NOHANG) {
                Ok(Some(_)) => {}
                Ok(None) => sleep(ORPHAN_PAUSE).await,
                Err(_) => break,
            }
        }
        status
    }
}

/// One of a script's outputs: its beginning is kept, the rest counted.
struct Output {
    pipe: Option<Receiver>,
    kept: Vec<u8>,
    seen: usize,
}

impl Output {
    fn of(pipe: Option<OwnedFd>) -> io::Result<Output> {
        Ok(Output { pipe: pipe.map(Receiver::from_owned_fd).transpose()?, kept: Vec::new(), seen: 0 })
    }

    /// Waits for more; for ever once it is closed. Returns how much there was so far.
    async fn next(&mut self) -> usize {
        loop {
            let Some(pipe) = &self.pipe else { return std::future::pending().await };
            if pipe.readable().await.is_err() || !self.take() {
                self.pipe = None;
            } else {
                return self.seen;
            }
        }
    }

    /// Takes what is there. False: it is closed.
    fn take(&mut self) -> bool {
        let mut buffer = [0u8; 8_192];
        let Some(pipe) = &self.pipe else { return false };
        match pipe.try_read(&mut buffer) {
            Ok(0) => false,
            Ok(n) => {
                self.keep(buffer.get(..n).unwrap_or_default());
                true
            }
            Err(error) => error.kind() == ErrorKind::WouldBlock,
        }
    }

    /// What was printed before the end and not taken yet. Read from the pipe itself: the runtime may not have heard of it
    /// yet when a script was quick and this thread was not.
    fn rest(&mut self) {
        let mut buffer = [0u8; 8_192];
        for _ in 0..REST_READS {
            let read = self.pipe.as_ref().map(|pipe| rustix::io::read(pipe, &mut buffer));
            match read {
                Some(Ok(n @ 1..)) => self.keep(buffer.get(..n).unwrap_or_default()),
                Some(Err(Errno::INTR)) => {}
                _ => return,
            }
        }
    }

    fn keep(&mut self, bytes: &[u8]) {
        self.seen += bytes.len();
        let room = MOST_KEPT.saturating_sub(self.kept.len());
        self.kept.extend(bytes.iter().take(room));
    }
}

const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
const MOST_KEPT: usize = 4_096;
/// More is no answer of a script.
const MOST_PRINTED: usize = 1 << 20;
/// A pipe holds no more than 64 KiB unless somebody made it larger.
const REST_READS: usize = 16;
const MOST_FILES: u64 = 256;
const MOST_PROCESSES: u64 = 512;
const ORPHAN_TRIES: u32 = 200;
const ORPHAN_PAUSE: Duration = Duration::from_millis(5);

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    /// The runtime looks at its pipes now and then only; whoever ends before that has printed all the same.
    #[test]
    fn what_was_printed_counts_although_the_runtime_has_not_heard_of_it() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (reader, mut writer) = io::pipe().unwrap();
            writer.write_all(b"broken\n").unwrap();
            let mut output = Output::of(Some(OwnedFd::from(reader))).unwrap();
            output.rest();
            assert_eq!((output.kept.as_slice(), output.seen), (b"broken\n".as_slice(), 7));
            // Nobody waits for those that hold it open.
            output.rest();
            writer.write_all(&[b'y'; 10_000]).unwrap();
            output.rest();
            assert_eq!((output.kept.len(), output.seen), (MOST_KEPT, 10_007));
        });
    }
}
