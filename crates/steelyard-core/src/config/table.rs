//! Named resources in order of creation, found by name without regard to case.

use std::collections::BTreeMap;

/// What has a name.
pub trait Named {
    /// The name as it was typed.
    fn name(&self) -> &str;
}

/// Resources of one type. No two have names that differ in case alone.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Table<T> {
    items: Vec<T>,
    positions: BTreeMap<String, usize>,
}

impl<T: Named> Table<T> {
    /// The resource called `name`.
    pub fn find(&self, name: &str) -> Option<&T> {
        self.positions.get(&name.to_ascii_lowercase()).map(|&position| &self.items[position])
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

    /// Adds a resource, or takes the place of the one with the same name.
    pub(crate) fn insert(&mut self, item: T) {
        let key = item.name().to_ascii_lowercase();
        match self.positions.get(&key) {
            Some(&position) => self.items[position] = item,
            None => {
                self.positions.insert(key, self.items.len());
                self.items.push(item);
            }
        }
    }
}

impl<T> Default for Table<T> {
    fn default() -> Table<T> {
        Table { items: Vec::new(), positions: BTreeMap::new() }
    }
}

impl<T: Named> FromIterator<T> for Table<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Table<T> {
        let mut table = Table::default();
        items.into_iter().for_each(|item| table.insert(item));
        table
    }
}

impl<'a, T: Named> IntoIterator for &'a Table<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
