//! Connections that the engine is done with and the peer is not: the rest of the queue is sent, then FIN, then what
//! still arrives is read and dropped, so that no RST destroys the last answer before the peer has read it (RFC 9112
//! 9.6). One that is cut ends by RST instead, once the peer has acknowledged all: an RST that overtakes bytes destroys them.
//!
//! Everything here has a bound: number, time and bytes.

use std::collections::VecDeque;
use std::os::fd::{AsFd, OwnedFd};

use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::io::Errno;
use rustix::net::{RecvFlags, Shutdown};
use slab::Slab;
use steelyard_core::proxy::io::ConnId;
use steelyard_core::time::{MILLISECOND_US, SECOND_US, Time};

use super::options::reset;
use super::sending::send_queue;
use super::source::Source;
use super::sys;

/// The lingering connections of one worker.
#[derive(Default)]
pub(super) struct Lingering {
    list: Slab<Closing>,
    generation: u32,
    /// When the list is looked through for those whose time is up.
    next_look: Option<Time>,
}

/// How a lingering connection ends once all is sent.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    Fin,
    /// RST, once all is acknowledged.
    Reset,
}

impl Ending {
    /// Without any progress for this long it is over, and after the second of them in any case. Who is to be reset may be
    /// slow at taking what came before; nothing else will ever bring it.
    fn patience_us(self) -> (u64, u64) {
        match self {
            Ending::Fin => (IDLE_US, TOTAL_US),
            Ending::Reset => (CUT_IDLE_US, CUT_TOTAL_US),
        }
    }
}

/// What the engine leaves behind.
pub(super) struct Left {
    pub fd: OwnedFd,
    /// Still to be sent.
    pub queue: VecDeque<u8>,
    pub ending: Ending,
}

struct Closing {
    generation: u32,
    ending: Ending,
    /// When it is looked at whether all is acknowledged, which no event announces, and how long after that again.
    look_at: Time,
    look_us: u64,
    /// How much was not, at the last look.
    unacknowledged: usize,
    fd: OwnedFd,
    queue: VecDeque<u8>,
    /// Moves with progress.
    idle_until: Time,
    /// Does not.
    ends_at: Time,
    /// Bytes that are still read and dropped.
    allowance: usize,
}

impl Lingering {
    /// Sees a connection to its end.
    pub fn add(&mut self, epoll: &OwnedFd, left: Left, now: Time) {
        let Left { fd, queue, ending } = left;
        if self.list.len() >= MOST {
            return end(fd, ending);
        }
        self.generation = self.generation.wrapping_add(1);
        let generation = self.generation;
        if queue.is_empty() && ending == Ending::Fin {
            let _ = rustix::net::shutdown(&fd, Shutdown::Write);
        }
        let entry = self.list.vacant_entry();
        let id = ConnId { index: entry.key() as u32, generation };
        // A changed registration reports what is readable already, so no edge is lost.
        let data = EventData::new_u64(Source::Lingering(id).to_bits());
        let flags = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
        if epoll::modify(epoll, &fd, data, flags).is_err() {
            return end(fd, ending);
        }
        let (idle_us, total_us) = ending.patience_us();
        let look_us = if ending == Ending::Reset { FIRST_LOOK_US } else { LOOK_US };
        entry.insert(Closing {
            generation,
            ending,
            look_at: now.plus_us(look_us),
            look_us,
            unacknowledged: usize::MAX,
            fd,
            queue,
            idle_until: now.plus_us(idle_us),
            ends_at: now.plus_us(total_us),
            allowance: MOST_DROPPED,
        });
        let look_at = now.plus_us(look_us);
        self.next_look = Some(self.next_look.map_or(look_at, |next| next.min(look_at)));
    }

    /// Carries on with one that has an event. `scratch` is written to.
    pub fn event(&mut self, id: ConnId, scratch: &mut [u8], now: Time) {
        let index = id.index as usize;
        let Some(closing) = self.list.get_mut(index).filter(|c| c.generation == id.generation) else {
            return;
        };
        if closing.advance(scratch, now) == Progress::Over {
            let closing = self.list.remove(index);
            end(closing.fd, closing.ending);
        }
    }

    /// Closes those whose time is up.
    pub fn expire(&mut self, now: Time) {
        if self.next_look.is_none_or(|t| t > now) {
            return;
        }
        let mut over = Vec::new();
        let mut next: Option<Time> = None;
        for (index, closing) in &mut self.list {
            if closing.look_at <= now && closing.look(now) == Progress::Over {
                over.push(index);
                continue;
            }
            next = Some(next.map_or(closing.look_at, |next| next.min(closing.look_at)));
        }
        self.next_look = next;
        for index in over {
            let closing = self.list.remove(index);
            // A FIN would say that all was sent.
            let ending = if closing.queue.is_empty() { closing.ending } else { Ending::Reset };
            end(closing.fd, ending);
        }
    }

    /// When `expire` has something to do.
    pub fn next_deadline(&self) -> Time {
        self.next_look.unwrap_or(Time::NEVER)
    }

    /// Does any of them still have bytes to send, or would the end of this program look like a FIN to it?
    pub fn is_sending(&self) -> bool {
        let is_sending = |closing: &Closing| !closing.queue.is_empty() || closing.ending == Ending::Reset;
        self.list.iter().any(|(_, closing)| is_sending(closing))
    }
}

#[derive(PartialEq, Eq)]
enum Progress {
    Continues,
    Over,
}

fn end(fd: OwnedFd, ending: Ending) {
    match ending {
        Ending::Fin => drop(fd),
        Ending::Reset => reset(fd),
    }
}

impl Closing {
    /// Is it to be reset, and does the peer have all that came before?
    fn is_acknowledged(&self) -> bool {
        self.ending == Ending::Reset && self.queue.is_empty() && sys::unacknowledged(self.fd.as_fd()) == 0
    }

    /// What no event announces: time that is up, and bytes that the peer has acknowledged.
    fn look(&mut self, now: Time) -> Progress {
        self.look_us = (self.look_us * 2).min(LOOK_US);
        self.look_at = now.plus_us(self.look_us);
        if self.ending == Ending::Reset {
            let left = sys::unacknowledged(self.fd.as_fd());
            if left < self.unacknowledged {
                self.unacknowledged = left;
                self.idle_until = now.plus_us(CUT_IDLE_US);
            }
        }
        let over = self.idle_until <= now || self.ends_at <= now || self.is_acknowledged();
        if over { Progress::Over } else { Progress::Continues }
    }

    fn advance(&mut self, scratch: &mut [u8], now: Time) -> Progress {
        self.idle_until = now.plus_us(self.ending.patience_us().0);
        if !self.queue.is_empty() {
            match send_queue(&self.fd, &mut self.queue) {
                Ok(true) if self.ending == Ending::Fin => {
                    let _ = rustix::net::shutdown(&self.fd, Shutdown::Write);
                }
                Ok(_) => {}
                Err(_) => return Progress::Over,
            }
        }
        self.drop_input(scratch)
    }

    fn drop_input(&mut self, scratch: &mut [u8]) -> Progress {
        loop {
            match rustix::net::recv(&self.fd, &mut *scratch, RecvFlags::empty()) {
                // The peer has ended; whether the connection is over depends on what it has yet to be sent.
                Ok((0, _)) => break,
                Ok((read, _)) if read <= self.allowance => self.allowance -= read,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) if self.is_acknowledged() => return Progress::Over,
                Err(Errno::AGAIN) => return Progress::Continues,
                Ok(_) | Err(_) => return Progress::Over,
            }
        }
        let over = self.queue.is_empty() && (self.ending == Ending::Fin || self.is_acknowledged());
        if over { Progress::Over } else { Progress::Continues }
    }
}

/// Lingering connections of one worker; one more is closed at once.
const MOST: usize = 4096;
/// Without any event for this long the connection is closed.
const IDLE_US: u64 = 5 * SECOND_US;
/// It is closed after this long in any case.
const TOTAL_US: u64 = 30 * SECOND_US;
/// The same of one that is to be reset.
const CUT_IDLE_US: u64 = 30 * SECOND_US;
const CUT_TOTAL_US: u64 = 300 * SECOND_US;
/// Bytes of a peer that does not stop sending.
const MOST_DROPPED: usize = 64 << 20;
/// How often the list is looked through.
const LOOK_US: u64 = 500 * MILLISECOND_US;
/// How soon after the cut of a connection it is looked at whether all is acknowledged; each further look waits twice as
/// long as the one before.
const FIRST_LOOK_US: u64 = MILLISECOND_US;
