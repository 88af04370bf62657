//! Bindings of one object in binding order, none of them twice; a look-up does not walk the list.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::ops::Deref;

/// What can stand in a list of bindings.
pub trait Bindable {
    /// What no two bindings of a list may share.
    type Key: Ord + Clone + PartialEq + Eq + Debug;

    /// That of this one.
    fn key(&self) -> Self::Key;
}

/// Bindings in binding order. Reads as a slice.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BindingList<T: Bindable> {
    items: Vec<T>,
    positions: BTreeMap<T::Key, usize>,
}

impl<T: Bindable> BindingList<T> {
    /// The binding with that key.
    pub fn find(&self, key: &T::Key) -> Option<&T> {
        self.positions.get(key).map(|&position| &self.items[position])
    }

    /// Appends a binding; one with the same key stays as it is.
    pub(crate) fn push(&mut self, item: T) {
        self.positions.entry(item.key()).or_insert_with(|| {
            self.items.push(item);
            self.items.len() - 1
        });
    }

    /// Changes the binding with that key; the change leaves the key alone.
    pub(crate) fn change(&mut self, key: &T::Key, change: impl FnOnce(&mut T)) {
        if let Some(&position) = self.positions.get(key) {
            change(&mut self.items[position]);
        }
    }
}

impl<T: Bindable> Default for BindingList<T> {
    fn default() -> BindingList<T> {
        BindingList { items: Vec::new(), positions: BTreeMap::new() }
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
