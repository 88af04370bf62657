//! The world's pipes: bytes that go from a service to its client without being seen by the engine.

use steelyard_core::proxy::io::ConnId;

use crate::world::{Sockets, World};

/// Bytes that go from one connection to another unseen.
pub struct Splice {
    pub to: ConnId,
    pub left: u64,
    /// Taken from the one and not by the other.
    pub pipe: Vec<u8>,
}

impl Sockets {
    /// `id` ends: what was taken from it has gone on, what was for it is lost.
    pub fn end_splices(&mut self, id: ConnId) {
        self.spliced.retain(|_, splice| splice.to != id);
        if let Some(splice) = self.spliced.remove(&id) {
            let to = self.live(splice.to);
            to.queued += splice.pipe.len();
            to.out.extend(splice.pipe);
        }
    }

    /// The engine, or a client behind a pipe, keeps it from going on.
    pub fn is_held(&self, id: ConnId) -> bool {
        self.conns[&id].paused || self.spliced.get(&id).is_some_and(|splice| !splice.pipe.is_empty())
    }
}

impl World {
    /// What waits on `id` comes to the engine, or goes where it is spliced to.
    pub fn arrive(&mut self, id: ConnId) {
        let mut bytes = std::mem::take(&mut self.io.conns.get_mut(&id).unwrap().waiting);
        let Some(splice) = self.io.spliced.get_mut(&id) else {
            return self.engine.data(id, &bytes, &mut self.io);
        };
        let most = bytes.len().min(PIPE_BYTES).min(splice.left as usize);
        self.io.conns.get_mut(&id).unwrap().waiting = bytes.split_off(most);
        splice.left -= most as u64;
        splice.pipe = bytes;
        let to = splice.to;
        let takes = if self.io.stuck.contains(&to) { 0 } else { usize::MAX };
        self.pump(id, takes);
    }

    /// The other side takes so much of what is in the pipe from `id`.
    fn pump(&mut self, id: ConnId, takes: usize) {
        let splice = self.io.spliced.get_mut(&id).unwrap();
        let (to, taken) = (splice.to, takes.min(splice.pipe.len()));
        let given: Vec<u8> = splice.pipe.drain(..taken).collect();
        let queued = splice.pipe.len();
        if splice.left == 0 && queued == 0 {
            self.io.spliced.remove(&id);
        }
        self.io.conns.get_mut(&to).unwrap().out.extend(given);
        self.engine.moved(id, taken as u64, queued, &mut self.io);
    }

    /// The peer of `id` takes `bytes` of what is queued or waits for it.
    pub fn take(&mut self, id: ConnId, bytes: usize) {
        let conn = self.io.conns.get_mut(&id).unwrap();
        let before = conn.queued;
        conn.queued = before.saturating_sub(bytes);
        if before > 0 && conn.queued == 0 {
            self.engine.drained(id, &mut self.io);
        }
        let from = self.io.spliced.iter().find(|(_, splice)| splice.to == id && !splice.pipe.is_empty());
        if let Some(from) = from.map(|(from, _)| *from)
            && bytes > before
        {
            self.pump(from, bytes - before);
        }
        self.deliver();
    }
}

/// What the pipe of a splice holds.
const PIPE_BYTES: usize = 64 << 10;
