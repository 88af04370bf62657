//! A table of connections by [`ConnId`]: a slot's index never moves, and an id of an earlier use finds nothing.
//!
//! Clients have even indices and servers odd ones, so that an event's side is known from its id.

use crate::proxy::io::ConnId;

/// Which end of the proxy a connection is on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// Towards clients.
    Client = 0,
    /// Towards services.
    Server = 1,
}

/// The side that `id` is on.
pub fn side(id: ConnId) -> Side {
    if id.index & 1 == 0 { Side::Client } else { Side::Server }
}

/// Connections of one side.
pub struct Table<T> {
    side: Side,
    slots: Vec<Slot<T>>,
    free: Vec<u32>,
}

struct Slot<T> {
    generation: u32,
    value: Option<T>,
}

impl<T> Table<T> {
    /// An empty table.
    pub fn new(side: Side) -> Table<T> {
        Table { side, slots: Vec::new(), free: Vec::new() }
    }

    /// Puts in what `make` builds for the new id.
    pub fn insert(&mut self, make: impl FnOnce(ConnId) -> T) -> ConnId {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot { generation: 0, value: None });
            (self.slots.len() - 1) as u32
        });
        let entry = &mut self.slots[slot as usize];
        let id = ConnId { index: slot << 1 | self.side as u32, generation: entry.generation };
        entry.value = Some(make(id));
        id
    }

    /// The connection called `id`, unless it has ended.
    pub fn find(&mut self, id: ConnId) -> Option<&mut T> {
        let entry = self.slots.get_mut((id.index >> 1) as usize)?;
        if entry.generation != id.generation {
            return None;
        }
        entry.value.as_mut()
    }

    /// Takes `id` out; its slot may be used again.
    pub fn remove(&mut self, id: ConnId) -> Option<T> {
        self.find(id)?;
        let entry = self.slots.get_mut((id.index >> 1) as usize)?;
        entry.generation = entry.generation.wrapping_add(1);
        self.free.push(id.index >> 1);
        entry.value.take()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// All of them.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.slots.iter_mut().filter_map(|s| s.value.as_mut())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_id_finds_nothing() {
        let mut table = Table::new(Side::Server);
        let first = table.insert(|_| 'a');
        assert_eq!(side(first), Side::Server);
        assert_eq!(table.remove(first), Some('a'));
        let second = table.insert(|_| 'b');
        assert_eq!(second.index, first.index);
        assert_eq!(table.find(first), None);
        assert_eq!(table.remove(first), None);
        assert_eq!(table.find(second), Some(&mut 'b'));
        assert_eq!(table.len(), 1);
    }
}
