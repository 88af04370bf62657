//! The entries of all services that are watched. Each has a slot, in which what happens with every probe finds it without
//! a search; what is rare finds it by its service.
//!
//! A slot is used again. Who keeps one must know by something else whether it still has the same entry: a probe does by
//! the number in its key, which no other probe has.

use std::collections::{BTreeMap, BTreeSet};

use super::entry::Entry;
use crate::service::Service;
use crate::sync::Arc;

/// Where an entry is, as long as its service is watched.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Slot(usize);

#[derive(Default)]
pub(super) struct Entries {
    slots: Vec<Option<Entry>>,
    free: Vec<Slot>,
    by_service: BTreeMap<usize, Slot>,
}

impl Entries {
    /// Puts an entry in, into the slot of the one before if its service has one, which it returns.
    pub fn insert(&mut self, entry: Entry) -> (Slot, Option<Entry>) {
        let slot = *self.by_service.entry(identity(&entry.service)).or_insert_with(|| {
            self.free.pop().unwrap_or_else(|| {
                self.slots.push(None);
                Slot(self.slots.len() - 1)
            })
        });
        (slot, self.slots[slot.0].replace(entry))
    }

    /// Takes an entry out; its slot may be used again.
    pub fn remove(&mut self, slot: Slot) -> Option<Entry> {
        let entry = self.slots.get_mut(slot.0)?.take()?;
        self.by_service.remove(&identity(&entry.service));
        self.free.push(slot);
        Some(entry)
    }

    pub fn at(&self, slot: Slot) -> Option<&Entry> {
        self.slots.get(slot.0)?.as_ref()
    }

    pub fn at_mut(&mut self, slot: Slot) -> Option<&mut Entry> {
        self.slots.get_mut(slot.0)?.as_mut()
    }

    pub fn slot_of(&self, service: &Arc<Service>) -> Option<Slot> {
        self.by_service.get(&identity(service)).copied()
    }

    pub fn find(&self, service: &Arc<Service>) -> Option<&Entry> {
        self.at(self.slot_of(service)?)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.slots.iter().flatten()
    }

    /// Where there are entries.
    pub fn slots(&self) -> BTreeSet<Slot> {
        self.by_service.values().copied().collect()
    }
}

/// A live service is known by its object: a name removed and added again is another service.
fn identity(service: &Arc<Service>) -> usize {
    Arc::as_ptr(service).addr()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{service, target};
    use super::*;
    use crate::time::Time;

    fn entry(service: &Arc<Service>, threshold: u32) -> Entry {
        let mut entry = Entry::new(&target(service, &[]), (super::super::Watched::Probed, Time::ZERO));
        entry.threshold = threshold;
        entry
    }

    fn thresholds(entries: &Entries) -> Vec<u32> {
        entries.iter().map(|entry| entry.threshold).collect()
    }

    #[test]
    fn a_service_keeps_its_slot_and_its_last_entry() {
        let (a, b) = (service("s"), service("s"));
        let mut entries = Entries::default();
        let (of_a, before) = entries.insert(entry(&a, 1));
        assert!(before.is_none());
        let (of_b, before) = entries.insert(entry(&b, 2));
        assert!(before.is_none() && of_a != of_b, "the same name is not the same service");
        let (again, before) = entries.insert(entry(&a, 3));
        assert_eq!((again, before.map(|entry| entry.threshold)), (of_a, Some(1)));
        assert_eq!(thresholds(&entries), [3, 2]);
        assert_eq!(entries.find(&b).map(|entry| entry.threshold), Some(2));
    }

    #[test]
    fn a_slot_is_used_again_and_what_is_gone_is_not_found() {
        let (a, b, c) = (service("a"), service("b"), service("c"));
        let mut entries = Entries::default();
        let (of_a, _) = entries.insert(entry(&a, 1));
        let (of_b, _) = entries.insert(entry(&b, 2));
        assert_eq!(entries.remove(of_a).map(|entry| entry.threshold), Some(1));
        assert!(entries.remove(of_a).is_none() && entries.at(of_a).is_none() && entries.find(&a).is_none());
        assert_eq!(entries.slots(), BTreeSet::from([of_b]));
        let (of_c, before) = entries.insert(entry(&c, 3));
        assert!(before.is_none());
        assert_eq!((of_c, thresholds(&entries)), (of_a, vec![3, 2]));
        let (anew, _) = entries.insert(entry(&a, 4));
        assert_eq!(entries.slots(), BTreeSet::from([of_b, of_c, anew]));
    }
}
