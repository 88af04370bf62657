//! Bindings of one object in binding order, none of them twice; a look-up does not walk the list.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt::Debug;
use std::ops::{Deref, RangeBounds};

/// What can stand in a list of bindings.
pub trait Bindable {
    /// What no two bindings of a list may share.
    type Key: Ord + Clone + PartialEq + Eq + Debug;

    /// That of this one.
    fn key(&self) -> Self::Key;
}

/// Bindings in binding order. Reads as a slice.
///
/// Each has a number that rises with binding, so that taking one away leaves the numbers of the others alone; where in
/// the slice it stands is found by bisection.
#[derive(Clone, Debug)]
pub struct BindingList<T: Bindable> {
    items: Vec<T>,
    /// The number of each item, ascending.
    numbers: Vec<u64>,
    next: u64,
    by_key: BTreeMap<T::Key, u64>,
}

impl<T: Bindable> BindingList<T> {
    /// The binding with that key.
    pub fn find(&self, key: &T::Key) -> Option<&T> {
        self.items.get(self.position(key)?)
    }

    /// The bindings whose keys are in a range, in the order of the keys.
    pub fn within(&self, keys: impl RangeBounds<T::Key>) -> impl Iterator<Item = &T> {
        self.by_key.range(keys).filter_map(|(key, _)| self.find(key))
    }

    /// Appends a binding; one with the same key stays as it is.
    pub(crate) fn push(&mut self, item: T) {
        if let Entry::Vacant(free) = self.by_key.entry(item.key()) {
            free.insert(self.next);
            self.numbers.push(self.next);
            self.items.push(item);
            self.next += 1;
        }
    }

    /// Changes the binding with that key; the change leaves the key alone.
    pub(crate) fn change(&mut self, key: &T::Key, change: impl FnOnce(&mut T)) {
        if let Some(item) = self.position(key).and_then(|position| self.items.get_mut(position)) {
            change(item);
        }
    }

    /// Changes the binding with that key, and its key to one that no other binding has.
    pub(crate) fn rename(&mut self, key: &T::Key, rename: impl FnOnce(&mut T)) {
        let Some(position) = self.position(key) else { return };
        if let (Some(number), Some(item)) = (self.by_key.remove(key), self.items.get_mut(position)) {
            rename(item);
            self.by_key.insert(item.key(), number);
        }
    }

    /// Takes the binding with that key away.
    pub(crate) fn remove(&mut self, key: &T::Key) -> Option<T> {
        let position = self.position(key)?;
        self.by_key.remove(key);
        self.numbers.remove(position);
        Some(self.items.remove(position))
    }

    fn position(&self, key: &T::Key) -> Option<usize> {
        self.numbers.binary_search(self.by_key.get(key)?).ok()
    }
}

/// The same bindings in the same order, however they came to be there.
impl<T: Bindable + PartialEq> PartialEq for BindingList<T> {
    fn eq(&self, other: &BindingList<T>) -> bool {
        self.items == other.items
    }
}

impl<T: Bindable + Eq> Eq for BindingList<T> {}

impl<T: Bindable> Default for BindingList<T> {
    fn default() -> BindingList<T> {
        BindingList { items: Vec::new(), numbers: Vec::new(), next: 0, by_key: BTreeMap::new() }
    }
}

impl<T: Bindable> FromIterator<T> for BindingList<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> BindingList<T> {
        let mut list = BindingList::default();
        items.into_iter().for_each(|item| list.push(item));
        list
    }
}

impl<T: Bindable> Deref for BindingList<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.items
    }
}

impl<'a, T: Bindable> IntoIterator for &'a BindingList<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.iter()
    }
}
