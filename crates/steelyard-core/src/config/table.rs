//! Named resources in order of creation, found by name without regard to case, and by the address they occupy.

use std::collections::BTreeSet;
use std::ops::RangeBounds;

use crate::sorted::{self, Sorted};
use crate::sync::Arc;

/// What a table can hold.
pub trait Keyed: Clone + PartialEq {
    /// What no two resources may share besides the name.
    type Address: Ord + Clone + PartialEq + Eq + std::fmt::Debug;

    /// The name as it was typed.
    fn name(&self) -> &str;

    /// The address that it occupies, if any.
    fn address_key(&self) -> Option<Self::Address>;
}

/// Resources that are known by their names and occupy no address.
macro_rules! known_by_name {
    ($( $resource:ident ),*) => {$(
        impl $crate::config::table::Keyed for $resource {
            type Address = ();

            fn name(&self) -> &str {
                &self.name
            }

            fn address_key(&self) -> Option<()> {
                None
            }
        }
    )*};
}
pub(crate) use known_by_name;

/// Resources of one type. No two have names that differ in case alone, and no two occupy one address.
///
/// Each stands under the number of its creation, so that taking one away moves no other. A copy shares with its original
/// whatever neither has changed since: resources that are the same object are the same.
#[derive(Clone, Debug)]
pub struct Table<T: Keyed> {
    items: Sorted<u64, Arc<T>>,
    next: u64,
    by_name: Sorted<String, u64>,
    by_address: Sorted<T::Address, u64>,
    /// What it was when its changes began to be noted.
    undo: Option<Box<Table<T>>>,
}

/// Several changes of which all are to stay, or none. Costs as much as they change, however large the table is.
pub(crate) trait Undoable {
    /// From here on changes can be taken back.
    fn begin(&mut self);
    /// They stay.
    fn keep(&mut self);
    /// They are taken back.
    fn take_back(&mut self);
}

impl<T: Keyed> Undoable for Table<T> {
    fn begin(&mut self) {
        self.undo = None;
        self.undo = Some(Box::new(self.clone()));
    }

    fn keep(&mut self) {
        self.undo = None;
    }

    fn take_back(&mut self) {
        if let Some(before) = self.undo.take() {
            *self = *before;
        }
    }
}

/// All of a table, in order of creation.
pub type Iter<'a, T> = std::iter::Map<sorted::Iter<'a, u64, Arc<T>>, fn(&'a (u64, Arc<T>)) -> &'a T>;

impl<T: Keyed> Table<T> {
    /// The resource called `name`.
    pub fn find(&self, name: &str) -> Option<&T> {
        self.items.get(self.by_name.get(&name.to_ascii_lowercase())?).map(Arc::as_ref)
    }

    /// The resource called `name`, and a number that rises with creation.
    pub fn numbered(&self, name: &str) -> Option<(u64, &T)> {
        let number = *self.by_name.get(&name.to_ascii_lowercase())?;
        Some((number, self.items.get(&number)?))
    }

    /// The resource that occupies `address`.
    pub fn find_at(&self, address: &T::Address) -> Option<&T> {
        self.items.get(self.by_address.get(address)?).map(Arc::as_ref)
    }

    /// Those that occupy addresses of a range, in the order of the addresses.
    pub fn within(&self, addresses: impl RangeBounds<T::Address>) -> impl Iterator<Item = &T> {
        self.by_address.range(addresses).filter_map(|(_, number)| self.items.get(number).map(Arc::as_ref))
    }

    /// Is there a resource called `name`?
    pub fn has(&self, name: &str) -> bool {
        self.by_name.contains_key(&name.to_ascii_lowercase())
    }

    /// All, in order of creation.
    pub fn iter(&self) -> Iter<'_, T> {
        self.items.iter().map(|(_, item)| item)
    }

    /// The names that begin so, without regard to case, in the order of the alphabet.
    pub fn names_beginning<'t>(&'t self, start: &str) -> impl Iterator<Item = &'t str> + use<'t, T> {
        let start = start.to_ascii_lowercase();
        let from = self.by_name.range::<String>(start.clone()..);
        let found = from.take_while(move |(name, _)| name.starts_with(&start));
        found.filter_map(|(_, number)| self.items.get(number).map(|item| item.name()))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Is there none?
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Are both one table, of which neither has changed since it was copied?
    pub fn is_shared_with(&self, other: &Table<T>) -> bool {
        self.items.is_shared_with(&other.items)
    }

    /// The names, in lower case, of the resources that are not the same here and in `next`, or do not stand under the same
    /// number.
    pub(super) fn changed_names(&self, next: &Table<T>) -> BTreeSet<String> {
        let differ = self.items.differences(&next.items, is_same);
        let entries = differ.iter().flat_map(|(before, after)| [before, after]);
        let names = entries.filter_map(|entry| entry.as_ref()).map(|(_, item)| item.name());
        names.map(str::to_ascii_lowercase).collect()
    }

    /// Adds a resource, or takes the place of the one with the same name. The caller has seen to it that its address
    /// is free.
    pub(crate) fn insert(&mut self, item: T) {
        let key = item.name().to_ascii_lowercase();
        match self.by_name.get(&key) {
            Some(&number) => self.put(number, item),
            None => {
                self.by_name.insert(key, self.next);
                self.put(self.next, item);
                self.next += 1;
            }
        }
    }

    /// Puts `item` in the place of the resource called `name`, under whatever name and address it has. The caller has
    /// seen to it that both are free.
    pub(crate) fn replace(&mut self, name: &str, item: T) {
        let (old, new) = (name.to_ascii_lowercase(), item.name().to_ascii_lowercase());
        let Some(&number) = self.by_name.get(&old) else { return };
        if old != new {
            self.by_name.remove(&old);
            self.by_name.insert(new, number);
        }
        self.put(number, item);
    }

    /// Takes the resource called `name` away.
    pub(crate) fn remove(&mut self, name: &str) -> Option<T> {
        let number = self.by_name.remove(&name.to_ascii_lowercase())?;
        let item = self.items.remove(&number)?;
        if let Some(address) = item.address_key() {
            self.by_address.remove(&address);
        }
        Some(Arc::unwrap_or_clone(item))
    }

    /// Changes the resource called `name`; the change leaves its name and address alone. Copied is only what is shared: a
    /// file may bind thousands to one resource, line by line.
    pub(crate) fn change(&mut self, name: &str, change: impl FnOnce(&mut T)) {
        let Some(&number) = self.by_name.get(&name.to_ascii_lowercase()) else { return };
        if let Some(item) = self.items.own_value(&number).and_then(Arc::get_mut) {
            return change(item);
        }
        let Some(mut item) = self.items.get(&number).map(|item| T::clone(item)) else { return };
        change(&mut item);
        self.put(number, item);
    }

    /// What becomes as it was stays the object that it was.
    fn put(&mut self, number: u64, item: T) {
        let before = self.items.get(&number);
        if before.is_some_and(|before| **before == item) {
            return;
        }
        let (old, new) = (before.and_then(|before| before.address_key()), item.address_key());
        if old != new {
            old.map(|address| self.by_address.remove(&address));
            if let Some(address) = new {
                debug_assert!(!self.by_address.contains_key(&address), "{address:?} is taken");
                self.by_address.insert(address, number);
            }
        }
        self.items.insert(number, Arc::new(item));
    }
}

fn is_same<T: PartialEq>(one: &Arc<T>, other: &Arc<T>) -> bool {
    Arc::ptr_eq(one, other) || one == other
}

/// The same resources in the same order, however they came to be there.
impl<T: Keyed> PartialEq for Table<T> {
    fn eq(&self, other: &Table<T>) -> bool {
        let alike = || self.items.values().zip(other.items.values()).all(|(one, other)| is_same(one, other));
        self.is_shared_with(other) || self.len() == other.len() && alike()
    }
}

impl<T: Keyed + Eq> Eq for Table<T> {}

impl<T: Keyed> Default for Table<T> {
    fn default() -> Table<T> {
        Table {
            items: Sorted::default(),
            next: 0,
            by_name: Sorted::default(),
            by_address: Sorted::default(),
            undo: None,
        }
    }
}

impl<T: Keyed> FromIterator<T> for Table<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Table<T> {
        let mut table = Table::default();
        items.into_iter().for_each(|item| table.insert(item));
        table
    }
}

impl<'a, T: Keyed> IntoIterator for &'a Table<T> {
    type Item = &'a T;
    type IntoIter = Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
