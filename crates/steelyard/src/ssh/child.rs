//! The prompt behind one channel: this very executable as `steelyard cli`, on a terminal or on pipes.
//!
//! Owns the process and what goes to and from it. Never looks into it: who the user is and what may be done the program
//! says, whom the child asks with the session that it was given. The hard question is who ends it: whoever drops
//! [`Running`] kills it, and it is reaped in any case.

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;

use russh::ChannelId;
use russh::server::Handle;
use rustix::fs::{OFlags, fcntl_setfl};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{InputModes, OptionalActions, Winsize, tcgetattr, tcsetattr, tcsetwinsize};
use tokio::io::unix::AsyncFd;
use tokio::io::{AsyncReadExt, AsyncWriteExt, Interest};
use tokio::net::unix::pipe;
use tokio::sync::watch::Receiver;
use tokio::sync::{OwnedSemaphorePermit, oneshot};
use tokio::task::JoinHandle;

use super::flow::{Flow, Giving, Taking, TooMuch};
use crate::door::SESSION;
use crate::worker::watch;

/// What is to run.
pub struct Order {
    /// Where the program is asked.
    pub data: PathBuf,
    /// The line; without one the prompt, or all of its input.
    pub line: Option<String>,
    /// The terminal that the client has.
    pub terminal: Option<Terminal>,
    /// Whose session it is.
    pub session: String,
}

/// A client's terminal.
#[derive(Clone)]
pub struct Terminal {
    /// Its type, as TERM has it.
    pub name: String,
    /// Its window.
    pub size: Winsize,
}

/// Where a child's output goes.
pub struct Reader {
    /// The connection.
    pub handle: Handle,
    /// Of it.
    pub channel: ChannelId,
    /// What waits in the connection.
    pub flow: Flow,
    /// The last words to a client whose session has ended.
    pub farewell: Receiver<Option<&'static str>>,
}

/// A child; it is killed when this is dropped.
pub struct Running {
    input: Option<Giving>,
    terminal: Option<Arc<AsyncFd<OwnedFd>>>,
    _wanted: oneshot::Sender<()>,
    following: JoinHandle<()>,
}

impl Running {
    /// Starts it; its place is given back when it is reaped.
    ///
    /// # Errors
    /// What the system says.
    pub fn start(order: Order, reader: Reader, place: OwnedSemaphorePermit) -> io::Result<Running> {
        let (input, taking) = reader.flow.input();
        let (wanted, unwanted) = oneshot::channel();
        let (started, terminal) = match order.terminal.clone() {
            Some(terminal) => on_terminal(order, &terminal)?,
            None => (on_pipes(order)?, None),
        };
        let following = tokio::spawn(async move {
            follow(started, taking, reader, unwanted).await;
            drop(place);
        });
        Ok(Running { input: Some(input), terminal, _wanted: wanted, following })
    }

    /// Has it ended, and its channel with it?
    pub fn is_over(&self) -> bool {
        self.following.is_finished()
    }

    /// Gives it input.
    ///
    /// # Errors
    /// [`TooMuch`]
    pub fn give(&self, bytes: &[u8]) -> Result<(), TooMuch> {
        self.input.as_ref().map_or(Ok(()), |input| input.give(bytes))
    }

    /// There is no more input.
    pub fn end_input(&mut self) {
        self.input = None;
    }

    /// The client's window has another size.
    pub fn resize(&self, size: Winsize) {
        if let Some(terminal) = &self.terminal {
            // A terminal that has gone has no size.
            let _ = tcsetwinsize(terminal.get_ref(), size);
        }
    }
}

/// A process that is killed and reaped when this goes.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What has been started.
struct Started {
    process: Process,
    /// Readable when it has ended.
    end: AsyncFd<OwnedFd>,
    ends: Ends,
}

/// What goes to and from it.
enum Ends {
    Terminal(Arc<AsyncFd<OwnedFd>>),
    Pipes { input: Option<pipe::Sender>, output: pipe::Receiver, errors: pipe::Receiver },
}

type OnTerminal = (Started, Option<Arc<AsyncFd<OwnedFd>>>);

fn on_terminal(order: Order, terminal: &Terminal) -> io::Result<OnTerminal> {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let master = openpt(flags)?;
    grantpt(&master)?;
    unlockpt(&master)?;
    let slave = ioctl_tiocgptpeer(&master, flags)?;
    let mut modes = tcgetattr(&slave)?;
    modes.input_modes |= InputModes::IUTF8;
    tcsetattr(&slave, OptionalActions::Now, &modes)?;
    tcsetwinsize(&master, terminal.size)?;
    fcntl_setfl(&master, OFlags::NONBLOCK)?;
    let mut command = command(order);
    command.stdin(slave.try_clone()?).stdout(slave.try_clone()?).stderr(slave);
    let process = Process(command.spawn()?);
    let master = Arc::new(watch(master, Interest::READABLE | Interest::WRITABLE)?);
    let started = Started { end: end_of(&process)?, process, ends: Ends::Terminal(Arc::clone(&master)) };
    Ok((started, Some(master)))
}

fn on_pipes(order: Order) -> io::Result<Started> {
    let mut command = command(order);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let mut process = Process(command.spawn()?);
    let child = &mut process.0;
    let (Some(input), Some(output), Some(errors)) =
        (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        return Err(io::Error::from(io::ErrorKind::BrokenPipe));
    };
    let ends = Ends::Pipes {
        input: Some(pipe::Sender::from_owned_fd(input.into())?),
        output: pipe::Receiver::from_owned_fd(output.into())?,
        errors: pipe::Receiver::from_owned_fd(errors.into())?,
    };
    Ok(Started { end: end_of(&process)?, process, ends })
}

fn command(order: Order) -> Command {
    let mut command = Command::new(EXECUTABLE);
    command
        .arg0("steelyard")
        .arg("cli")
        .arg("--data")
        .arg(order.data)
        .env_clear()
        .env(SESSION, order.session);
    if let Some(terminal) = order.terminal {
        command.arg("--own-terminal").env("TERM", terminal.name);
    }
    if let Some(line) = order.line {
        command.arg("--").arg(OsString::from(line));
    }
    command
}

fn end_of(process: &Process) -> io::Result<AsyncFd<OwnedFd>> {
    let id = i32::try_from(process.0.id()).ok().and_then(Pid::from_raw);
    let id = id.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))?;
    watch(pidfd_open(id, PidfdFlags::empty())?, Interest::READABLE)
}

/// Carries input and output until the child has ended and all of its output is handed over, nobody wants it any more, or
/// the session has ended.
async fn follow(mut started: Started, input: Taking, reader: Reader, unwanted: oneshot::Receiver<()>) {
    let mut farewell = reader.farewell.clone();
    let line_end = if matches!(started.ends, Ends::Terminal(_)) { "\r\n" } else { "\n" };
    let code = tokio::select! {
        biased;
        _ = unwanted => return,
        words = last_words(&mut farewell) => {
            reader.print(Stream::Errors, format!("{line_end}{words}{line_end}").into_bytes()).await;
            ENDED
        }
        status = converse(&mut started, input, &reader) => {
            status.ok().and_then(|status| status.code()).map_or(ENDED, i32::unsigned_abs)
        }
    };
    // Nobody is there to be told when the connection has gone.
    let (handle, channel) = (&reader.handle, reader.channel);
    let _ = handle.exit_status_request(channel, code).await;
    let _ = handle.eof(channel).await;
    let _ = handle.close(channel).await;
}

async fn last_words(farewell: &mut Receiver<Option<&'static str>>) -> &'static str {
    match farewell.wait_for(Option::is_some).await.map(|words| *words) {
        Ok(words) => words.unwrap_or_default(),
        // The connection has gone without any.
        Err(_) => std::future::pending().await,
    }
}

async fn converse(started: &mut Started, mut input: Taking, reader: &Reader) -> io::Result<ExitStatus> {
    match &mut started.ends {
        Ends::Terminal(terminal) => {
            let giving = async {
                type_into(terminal, &mut input).await;
                std::future::pending::<()>().await;
            };
            tokio::select! {
                () = giving => {}
                () = show(terminal, reader) => {}
            }
        }
        Ends::Pipes { input: to, output, errors } => {
            let printing = async {
                tokio::join!(pass(output, Stream::Output, reader), pass(errors, Stream::Errors, reader))
            };
            let to = to.take();
            let giving = async {
                feed(to, &mut input).await;
                std::future::pending::<()>().await;
            };
            tokio::select! {
                () = giving => {}
                _ = printing => {}
            }
        }
    }
    let _ = started.end.readable().await;
    started.process.0.wait()
}

/// What the client types; the end of its input is that of a terminal's.
async fn type_into(terminal: &AsyncFd<OwnedFd>, input: &mut Taking) {
    loop {
        let next = input.next().await;
        let is_end = next.is_none();
        let bytes = next.unwrap_or_else(|| vec![END_OF_INPUT]);
        let mut rest = bytes.as_slice();
        while !rest.is_empty() {
            let Ok(mut ready) = terminal.writable().await else { return };
            match ready.try_io(|terminal| Ok(rustix::io::write(terminal, rest)?)) {
                Ok(Ok(count)) => rest = rest.get(count..).unwrap_or_default(),
                Ok(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(Err(_)) => return,
                Err(_) => {}
            }
        }
        if is_end {
            return;
        }
    }
}

/// What is on the terminal, until nobody has it open any more.
async fn show(terminal: &AsyncFd<OwnedFd>, reader: &Reader) {
    let mut buffer = vec![0; PIECE];
    loop {
        let Ok(mut ready) = terminal.readable().await else { return };
        let count = match ready.try_io(|terminal| Ok(rustix::io::read(terminal, &mut buffer)?)) {
            Ok(Ok(0)) => return,
            Ok(Ok(count)) => count,
            Ok(Err(error)) if Errno::from_io_error(&error) == Some(Errno::INTR) => continue,
            // That of a terminal which nobody has open.
            Ok(Err(_)) => return,
            Err(_) => continue,
        };
        if !reader.print(Stream::Output, buffer.get(..count).unwrap_or_default().to_vec()).await {
            return;
        }
    }
}

/// Ends with the input, and so does the pipe. A child that takes no more has all that it wants: the rest is dropped.
async fn feed(mut to: Option<pipe::Sender>, input: &mut Taking) {
    while let Some(bytes) = input.next().await {
        let Some(pipe) = &mut to else { continue };
        if pipe.write_all(&bytes).await.is_err() {
            to = None;
        }
    }
}

async fn pass(from: &mut pipe::Receiver, stream: Stream, reader: &Reader) {
    let mut buffer = vec![0; PIECE];
    loop {
        match from.read(&mut buffer).await {
            Ok(count @ 1..) => {
                if !reader.print(stream, buffer.get(..count).unwrap_or_default().to_vec()).await {
                    return;
                }
            }
            Ok(_) | Err(_) => return,
        }
    }
}

#[derive(Clone, Copy)]
enum Stream {
    Output,
    Errors,
}

impl Reader {
    /// Waits until the connection takes it. False: there is none any more.
    async fn print(&self, stream: Stream, bytes: Vec<u8>) -> bool {
        let _waits = self.flow.output_waits();
        match stream {
            Stream::Output => self.handle.data(self.channel, bytes).await.is_ok(),
            Stream::Errors => self.handle.extended_data(self.channel, STDERR, bytes).await.is_ok(),
        }
    }
}

/// The one that runs, whatever is in its place by now.
const EXECUTABLE: &str = "/proc/self/exe";
/// RFC 4254, 5.2.
const STDERR: u32 = 1;
/// Ctrl-D.
const END_OF_INPUT: u8 = 4;
/// The exit code of a child that was ended.
const ENDED: u32 = 1;
const PIECE: usize = 16 << 10;
