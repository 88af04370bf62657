//! Named resources in order of creation, found by name without regard to case, and by the address they occupy.

use std::collections::BTreeMap;

/// What a table can hold.
pub trait Keyed {
    /// What no two resources may share besides the name.
    type Address: Ord + Clone + PartialEq + Eq + std::fmt::Debug;

    /// The name as it was typed.
    fn name(&self) -> &str;

    /// The address that it occupies, if any.
    fn address_key(&self) -> Option<Self::Address>;
}

/// Resources of one type. No two have names that differ in case alone, and no two occupy one address.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Table<T: Keyed> {
    items: Vec<T>,
    by_name: BTreeMap<String, usize>,
    by_address: BTreeMap<T::Address, usize>,
}

impl<T: Keyed> Table<T> {
    /// The resource called `name`.
    pub fn find(&self, name: &str) -> Option<&T> {
        self.by_name.get(&name.to_ascii_lowercase()).map(|&position| &self.items[position])
    }

    /// The resource that occupies `address`.
    pub fn find_at(&self, address: &T::Address) -> Option<&T> {
        self.by_address.get(address).map(|&position| &self.items[position])
    }

    /// Is there a resource called `name`?
    pub fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    /// All, in order of creation.
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.items.iter()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Is there none?
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Adds a resource, or takes the place of the one with the same name. The caller has seen to it that its address
    /// is free.
    pub(crate) fn insert(&mut self, item: T) {
        let key = item.name().to_ascii_lowercase();
        let position = self.by_name.get(&key).copied().unwrap_or(self.items.len());
        if let Some(address) = self.items.get(position).and_then(Keyed::address_key) {
            self.by_address.remove(&address);
        }
        if let Some(address) = item.address_key() {
            debug_assert!(!self.by_address.contains_key(&address), "{address:?} is taken");
            self.by_address.insert(address, position);
        }
        match self.items.get_mut(position) {
            Some(place) => *place = item,
            None => {
                self.by_name.insert(key, position);
                self.items.push(item);
            }
        }
    }

    /// Changes the resource called `name`; the change leaves its name and address alone.
    pub(crate) fn change(&mut self, name: &str, change: impl FnOnce(&mut T)) {
        if let Some(&position) = self.by_name.get(&name.to_ascii_lowercase()) {
            change(&mut self.items[position]);
        }
    }
}

impl<T: Keyed> Default for Table<T> {
    fn default() -> Table<T> {
        Table { items: Vec::new(), by_name: BTreeMap::new(), by_address: BTreeMap::new() }
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
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
