//! Bytes from one connection to another inside the kernel, through a pipe (splice(2)), where the engine knows how many: they
//! never come to this process.
//!
//! Owns the pipes, whose number is bounded, and knows what is in them. The hard question: what if a side ends in between?
//! What was taken from the one is the other's: it goes into that one's queue.

use rustix::io::Errno;
use rustix::pipe::{PipeFlags, SpliceFlags, fcntl_setpipe_size, pipe_with, splice};

use super::{OwnedFd, Read, Sockets};
use steelyard_core::proxy::io::ConnId;

/// What is still to go from one connection to another.
pub(super) struct Splice {
    to: ConnId,
    /// Not taken from the one yet.
    left: u64,
    /// In the pipe.
    held: usize,
    /// The engine knows that the other one takes nothing.
    blocked: bool,
    pipe: Pipe,
}

struct Pipe {
    reader: OwnedFd,
    writer: OwnedFd,
}

/// The pipes of one worker: those in use, and empty ones for later.
pub(super) struct Pipes {
    spare: Vec<Pipe>,
    used: usize,
    /// Of both together.
    pub most: usize,
}

impl Pipes {
    /// None yet, and no more than `most`.
    pub(super) fn new(most: usize) -> Pipes {
        Pipes { spare: Vec::new(), used: 0, most }
    }

    fn take(&mut self) -> Option<Pipe> {
        if self.used >= self.most {
            return None;
        }
        let pipe = self.spare.pop().or_else(|| Pipe::new().ok())?;
        self.used += 1;
        Some(pipe)
    }

    /// Takes one back; one that is not empty is closed.
    fn give(&mut self, pipe: Pipe, held: usize) {
        self.used -= 1;
        if held == 0 && self.spare.len() < MOST_SPARE && self.used + self.spare.len() < self.most {
            self.spare.push(pipe);
        }
    }
}

impl Pipe {
    fn new() -> rustix::io::Result<Pipe> {
        let (reader, writer) = pipe_with(PipeFlags::NONBLOCK | PipeFlags::CLOEXEC)?;
        // Where a user's share is used up, the kernel's own size does as well.
        let _ = fcntl_setpipe_size(&writer, PIPE_BYTES);
        Ok(Pipe { reader, writer })
    }
}

/// How far a turn came.
#[derive(PartialEq, Eq)]
enum Carried {
    /// All is where it belongs.
    All,
    /// Either side must have an event first.
    Waits,
    /// Others have their turn.
    Turn,
    /// Nothing more can be taken in this way; reading says why.
    SourceOver,
    /// The other one does not exist any more, or failed.
    TargetOver,
}

impl Sockets {
    /// Begins to carry the next `bytes` of `from` to `to`. False where there is no pipe for it.
    pub(super) fn begin_splice(&mut self, from: ConnId, to: ConnId, bytes: u64) -> bool {
        if self.socket(from).is_none_or(|source| source.splice.is_some()) {
            return false;
        }
        if self.socket(to).is_none_or(|target| target.fed_by.is_some() || target.broken) {
            return false;
        }
        let Some(pipe) = self.pipes.take() else { return false };
        let splice = Splice { to, left: bytes, held: 0, blocked: false, pipe };
        if let Some(target) = self.socket(to) {
            target.fed_by = Some(from);
        }
        if let Some(source) = self.socket(from) {
            source.splice = Some(Box::new(splice));
        }
        self.list_if_readable(from);
        true
    }

    /// The connection whose bytes go to this one.
    pub fn fed_by(&mut self, id: ConnId) -> Option<ConnId> {
        self.socket(id)?.fed_by
    }

    /// Carries as much as both sides allow, and as is fair.
    pub(super) fn pump(&mut self, from: ConnId) -> Read {
        let Some(mut splice) = self.socket(from).and_then(|source| source.splice.take()) else {
            return Read::Nothing;
        };
        let mut bytes = 0;
        let carried = self.carry(from, &mut splice, &mut bytes);
        let (to, held) = (splice.to, splice.held);
        match carried {
            Carried::Waits | Carried::Turn => {
                let news = bytes > 0 || splice.blocked != (held > 0);
                splice.blocked = held > 0;
                if let Some(source) = self.socket(from) {
                    source.splice = Some(splice);
                }
                if carried == Carried::Turn {
                    self.list_if_readable(from);
                }
                return if news { Read::Moved { bytes, queued: held } } else { Read::Nothing };
            }
            Carried::TargetOver => {
                self.let_go(*splice);
                self.break_off(to);
                return Read::Nothing;
            }
            Carried::All | Carried::SourceOver => self.let_go(*splice),
        }
        Read::Moved { bytes, queued: 0 }
    }

    fn carry(&mut self, from: ConnId, splice: &mut Splice, bytes: &mut u64) -> Carried {
        for _ in 0..MOVES_PER_TURN {
            if splice.held == 0
                && let Some(why_not) = self.fill(from, splice)
            {
                return why_not;
            }
            let held = splice.held;
            let why_not = self.empty(splice);
            *bytes += (held - splice.held) as u64;
            match why_not {
                Some(why_not) => return why_not,
                None if splice.left == 0 => return Carried::All,
                None => {}
            }
        }
        Carried::Turn
    }

    /// Into the pipe; `None` when there is something in it.
    fn fill(&mut self, from: ConnId, into: &mut Splice) -> Option<Carried> {
        let source = self.socket(from).filter(|source| source.readable && !source.paused);
        let Some(source) = source else { return Some(Carried::Waits) };
        let most = usize::try_from(into.left).unwrap_or(PIPE_BYTES).min(PIPE_BYTES);
        loop {
            match splice(&source.fd, None, &into.pipe.writer, None, most, FLAGS) {
                Ok(0) => return Some(Carried::SourceOver),
                Ok(taken) => {
                    into.held = taken;
                    into.left -= taken as u64;
                    return None;
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    source.readable = false;
                    return Some(Carried::Waits);
                }
                Err(_) => return Some(Carried::SourceOver),
            }
        }
    }

    /// Out of the pipe; `None` when nothing is left in it.
    fn empty(&mut self, of: &mut Splice) -> Option<Carried> {
        let target = self.socket(of.to).filter(|target| !target.broken);
        let Some(target) = target else { return Some(Carried::TargetOver) };
        if !target.queue.is_empty() {
            return Some(Carried::Waits);
        }
        while of.held > 0 {
            match splice(&of.pipe.reader, None, &target.fd, None, of.held, FLAGS) {
                Ok(given) => of.held -= given,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Some(Carried::Waits),
                Err(_) => return Some(Carried::TargetOver),
            }
        }
        None
    }

    /// `id` is gone, with this to be done: what it fed, or was fed by, goes on without it.
    pub(super) fn end_splices(&mut self, splice: Option<Box<Splice>>, fed_by: Option<ConnId>) {
        if let Some(splice) = splice {
            self.let_go(*splice);
        }
        let of_source = fed_by.and_then(|from| self.socket(from)).and_then(|source| source.splice.take());
        if let Some(splice) = of_source {
            self.pipes.give(splice.pipe, splice.held);
        }
    }

    /// Ends it; what is in the pipe goes into the queue of whom it is for.
    fn let_go(&mut self, splice: Splice) {
        let mut held = splice.held;
        if let Some(target) = self.socket(splice.to) {
            target.fed_by = None;
            let mut rest = vec![0; held];
            let mut at = 0;
            while at < held
                && let Ok(read @ 1..) = rustix::io::read(&splice.pipe.reader, &mut rest[at..])
            {
                at += read;
            }
            target.queue.extend(&rest[..at]);
            held -= at;
        }
        self.pipes.give(splice.pipe, held);
    }
}

const FLAGS: SpliceFlags = SpliceFlags::MOVE.union(SpliceFlags::NONBLOCK);
/// What a pipe holds.
const PIPE_BYTES: usize = 256 << 10;
/// Empty ones that are kept.
const MOST_SPARE: usize = 64;
/// Fillings of a pipe before others have their turn.
const MOVES_PER_TURN: usize = 4;
