//! Connections that the engine is done with and the peer is not: the rest of the queue is sent, then FIN, then what
//! still arrives is read and dropped, so that no RST destroys the last answer before the peer has read it (RFC 9112
//! 9.6).
//!
//! Everything here has a bound: number, time and bytes.

use std::collections::VecDeque;
use std::os::fd::OwnedFd;

use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::io::Errno;
use rustix::net::{RecvFlags, Shutdown};
use slab::Slab;
use steelyard_core::proxy::io::ConnId;
use steelyard_core::time::{MILLISECOND_US, SECOND_US, Time};

use super::sending::send_queue;
use super::source::Source;

/// The lingering connections of one worker.
#[derive(Default)]
pub(super) struct Lingering {
    list: Slab<Closing>,
    generation: u32,
    /// When the list is looked through for those whose time is up.
    next_look: Option<Time>,
}

struct Closing {
    generation: u32,
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
    pub fn add(&mut self, epoll: &OwnedFd, fd: OwnedFd, queue: VecDeque<u8>, now: Time) {
        if self.list.len() >= MOST {
            return;
        }
        self.generation = self.generation.wrapping_add(1);
        let generation = self.generation;
        if queue.is_empty() {
            let _ = rustix::net::shutdown(&fd, Shutdown::Write);
        }
        let entry = self.list.vacant_entry();
        let id = ConnId { index: entry.key() as u32, generation };
        // A changed registration reports what is readable already, so no edge is lost.
        let data = EventData::new_u64(Source::Lingering(id).to_bits());
        let flags = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
        if epoll::modify(epoll, &fd, data, flags).is_ok() {
            let (idle_until, ends_at) = (now.plus_us(IDLE_US), now.plus_us(TOTAL_US));
            entry.insert(Closing { generation, fd, queue, idle_until, ends_at, allowance: MOST_DROPPED });
            self.next_look.get_or_insert(now.plus_us(LOOK_US));
        }
    }

    /// Carries on with one that has an event. `scratch` is written to.
    pub fn event(&mut self, id: ConnId, scratch: &mut [u8], now: Time) {
        let index = id.index as usize;
        let Some(closing) = self.list.get_mut(index).filter(|c| c.generation == id.generation) else {
            return;
        };
        if closing.advance(scratch, now) == Progress::Over {
            self.list.remove(index);
        }
    }

    /// Closes those whose time is up.
    pub fn expire(&mut self, now: Time) {
        if self.next_look.is_none_or(|t| t > now) {
            return;
        }
        self.list.retain(|_, closing| closing.idle_until > now && closing.ends_at > now);
        self.next_look = if self.list.is_empty() { None } else { Some(now.plus_us(LOOK_US)) };
    }

    /// When `expire` has something to do.
    pub fn next_deadline(&self) -> Time {
        self.next_look.unwrap_or(Time::NEVER)
    }

    /// Does any of them still have bytes to send?
    pub fn is_sending(&self) -> bool {
        self.list.iter().any(|(_, closing)| !closing.queue.is_empty())
    }
}

#[derive(PartialEq, Eq)]
enum Progress {
    Continues,
    Over,
}

impl Closing {
    fn advance(&mut self, scratch: &mut [u8], now: Time) -> Progress {
        self.idle_until = now.plus_us(IDLE_US);
        if !self.queue.is_empty() {
            match send_queue(&self.fd, &mut self.queue) {
                Ok(true) => drop(rustix::net::shutdown(&self.fd, Shutdown::Write)),
                Ok(false) => {}
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
                Err(Errno::AGAIN) => return Progress::Continues,
                Ok(_) | Err(_) => return Progress::Over,
            }
        }
        if self.queue.is_empty() { Progress::Over } else { Progress::Continues }
    }
}

/// Lingering connections of one worker; one more is closed at once.
const MOST: usize = 4096;
/// Without any event for this long the connection is closed.
const IDLE_US: u64 = 5 * SECOND_US;
/// It is closed after this long in any case.
const TOTAL_US: u64 = 30 * SECOND_US;
/// Bytes of a peer that does not stop sending.
const MOST_DROPPED: usize = 64 << 20;
/// How often the list is looked through.
const LOOK_US: u64 = 500 * MILLISECOND_US;
