//! How the control thread and other workers speak to a worker: a short list under a lock, and an eventfd that wakes the
//! worker.
//!
//! The traffic path looks at neither unless the eventfd has fired.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::event::{EventfdFlags, eventfd};
use steelyard_core::service::Service;
use steelyard_core::service::waker::Waker;
use steelyard_core::snapshot::Snapshot;

/// One worker's listener of an address, bound and listening.
pub(super) struct Listen {
    pub address: SocketAddr,
    pub socket: OwnedFd,
    /// Alive while any worker still listens on the address.
    pub lease: Arc<()>,
}

/// What a worker may be told.
pub(super) enum Message {
    /// Decide on this snapshot from now on, listen on `opened` too, and on no address that `names` does not have.
    Adopt { snapshot: Arc<Snapshot>, names: Arc<BTreeMap<SocketAddr, Arc<str>>>, opened: Vec<Listen> },
    /// Services or virtual servers have left service: cut what is under way there.
    Flush,
    /// Accept nothing more and end when the work in progress has, at the latest after `grace_us`.
    Stop { grace_us: u64 },
    /// What this waiter waits for may be there.
    Granted(u64),
    /// Another worker waits to connect to this service: an idle connection to it is to be closed.
    AskedBack(Arc<Service>),
}

/// One worker's mailbox.
pub(super) struct Mailbox {
    messages: Mutex<Vec<Message>>,
    wake: OwnedFd,
}

impl Mailbox {
    pub fn new() -> std::io::Result<Mailbox> {
        let wake = eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?;
        Ok(Mailbox { messages: Mutex::new(Vec::new()), wake })
    }

    /// Leaves a message and wakes the worker. One flush stands for all that were asked for since the last message.
    pub fn post(&self, message: Message) {
        let mut messages = self.messages.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!((&message, messages.last()), (Message::Flush, Some(Message::Flush))) {
            return;
        }
        messages.push(message);
        drop(messages);
        // The only failure is a counter at its maximum, and then the worker is awake anyway.
        let _ = rustix::io::write(&self.wake, &1u64.to_ne_bytes());
    }

    /// Everything that was left since the last call, oldest first.
    pub fn take(&self) -> Vec<Message> {
        let _ = rustix::io::read(&self.wake, &mut [0u8; 8]);
        std::mem::take(&mut *self.messages.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The mailboxes of all workers, as one of them has them.
pub(super) struct Post {
    pub all: Arc<[Arc<Mailbox>]>,
    pub own: usize,
}

impl Post {
    pub fn own(&self) -> &Arc<Mailbox> {
        &self.all[self.own]
    }
}

/// Each waiter is told, and asks the others, once for each wait: what lies in a mailbox is bounded by the clients.
impl Waker for Post {
    fn wake(&self, waiter: u64) {
        self.own().post(Message::Granted(waiter));
    }

    fn ask_back(&self, service: &Arc<Service>) {
        for (at, mailbox) in self.all.iter().enumerate() {
            if at != self.own {
                mailbox.post(Message::AskedBack(Arc::clone(service)));
            }
        }
    }
}

impl AsFd for Mailbox {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.wake.as_fd()
    }
}
