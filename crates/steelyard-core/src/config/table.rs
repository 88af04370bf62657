//! Named resources in order of creation, found by name without regard to case, and by the address they occupy.

use std::collections::BTreeMap;
use std::ops::RangeBounds;

/// What a table can hold.
pub trait Keyed: Clone {
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
/// Each stands under the number of its creation, so that taking one away moves no other.
#[derive(Clone, Debug)]
pub struct Table<T: Keyed> {
    items: BTreeMap<u64, T>,
    next: u64,
    by_name: BTreeMap<String, u64>,
    by_address: BTreeMap<T::Address, u64>,
    undo: Option<Undo<T>>,
}

/// What a table was when its changes began to be noted.
#[derive(Clone, Debug)]
struct Undo<T> {
    next: u64,
    /// What stood under each number that has changed since.
    before: BTreeMap<u64, Option<T>>,
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
        self.undo = Some(Undo { next: self.next, before: BTreeMap::new() });
    }

    fn keep(&mut self) {
        self.undo = None;
    }

    fn take_back(&mut self) {
        let Some(Undo { next, before }) = self.undo.take() else { return };
        for number in before.keys() {
            if let Some(item) = self.items.remove(number) {
                self.by_name.remove(&item.name().to_ascii_lowercase());
                item.address_key().map(|address| self.by_address.remove(&address));
            }
        }
        for (number, item) in before.into_iter().filter_map(|(number, item)| Some((number, item?))) {
            self.by_name.insert(item.name().to_ascii_lowercase(), number);
            item.address_key().map(|address| self.by_address.insert(address, number));
            self.items.insert(number, item);
        }
        self.next = next;
    }
}

/// All of a table, in order of creation.
pub type Iter<'a, T> = std::collections::btree_map::Values<'a, u64, T>;

impl<T: Keyed> Table<T> {
    /// The resource called `name`.
    pub fn find(&self, name: &str) -> Option<&T> {
        self.items.get(self.by_name.get(&name.to_ascii_lowercase())?)
    }

    /// The resource that occupies `address`.
    pub fn find_at(&self, address: &T::Address) -> Option<&T> {
        self.items.get(self.by_address.get(address)?)
    }

    /// Those that occupy addresses of a range, in the order of the addresses.
    pub fn within(&self, addresses: impl RangeBounds<T::Address>) -> impl Iterator<Item = &T> {
        self.by_address.range(addresses).filter_map(|(_, number)| self.items.get(number))
    }

    /// Is there a resource called `name`?
    pub fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    /// All, in order of creation.
    pub fn iter(&self) -> Iter<'_, T> {
        self.items.values()
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
        if let Some(number) = self.by_name.remove(&name.to_ascii_lowercase()) {
            self.by_name.insert(item.name().to_ascii_lowercase(), number);
            self.put(number, item);
        }
    }

    /// Takes the resource called `name` away.
    pub(crate) fn remove(&mut self, name: &str) -> Option<T> {
        let number = self.by_name.remove(&name.to_ascii_lowercase())?;
        self.note(number);
        let item = self.items.remove(&number)?;
        if let Some(address) = item.address_key() {
            self.by_address.remove(&address);
        }
        Some(item)
    }

    /// Changes the resource called `name`; the change leaves its name and address alone.
    pub(crate) fn change(&mut self, name: &str, change: impl FnOnce(&mut T)) {
        let Some(&number) = self.by_name.get(&name.to_ascii_lowercase()) else { return };
        self.note(number);
        if let Some(item) = self.items.get_mut(&number) {
            change(item);
        }
    }

    /// Notes what stands under a number before it changes.
    fn note(&mut self, number: u64) {
        let items = &self.items;
        if let Some(undo) = &mut self.undo {
            undo.before.entry(number).or_insert_with(|| items.get(&number).cloned());
        }
    }

    fn put(&mut self, number: u64, item: T) {
        self.note(number);
        if let Some(address) = self.items.get(&number).and_then(Keyed::address_key) {
            self.by_address.remove(&address);
        }
        if let Some(address) = item.address_key() {
            debug_assert!(!self.by_address.contains_key(&address), "{address:?} is taken");
            self.by_address.insert(address, number);
        }
        self.items.insert(number, item);
    }
}

/// The same resources in the same order, however they came to be there.
impl<T: Keyed + PartialEq> PartialEq for Table<T> {
    fn eq(&self, other: &Table<T>) -> bool {
        self.iter().eq(other.iter())
    }
}

impl<T: Keyed + Eq> Eq for Table<T> {}

impl<T: Keyed> Default for Table<T> {
    fn default() -> Table<T> {
        Table {
            items: BTreeMap::new(),
            next: 0,
            by_name: BTreeMap::new(),
            by_address: BTreeMap::new(),
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
