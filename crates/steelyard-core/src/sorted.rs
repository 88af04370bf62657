//! A map in the order of its keys whose copies share whatever neither of them has changed since.
//!
//! Owns no meaning. A copy costs nothing, a change copies one block of entries and the list of blocks, and two maps of
//! one descent are compared block by block, without a look at what they share. That is what makes the cost of one
//! change independent of how large a configuration is.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::fmt;
use std::ops::{Bound, RangeBounds};

use crate::sync::Arc;

/// The map. No block is empty.
pub struct Sorted<K, V> {
    blocks: Arc<Vec<Arc<Block<K, V>>>>,
    len: usize,
}

type Block<K, V> = Vec<(K, V)>;

/// An entry of one of two maps, or of both, that is not the same in both.
pub type Difference<'a, K, V> = (Option<&'a (K, V)>, Option<&'a (K, V)>);

impl<K: Ord + Clone, V: Clone> Sorted<K, V> {
    /// The value of that key.
    pub fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        let (block, place) = self.place(key).ok()?;
        self.blocks.get(block)?.get(place).map(|(_, value)| value)
    }

    /// Is there such a key?
    pub fn contains_key<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.place(key).is_ok()
    }

    /// Puts a value under a key. Returns what stood there.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        match self.place(&key) {
            Ok((block, place)) => {
                let entry = self.block_mut(block)?.get_mut(place)?;
                Some(std::mem::replace(&mut entry.1, value))
            }
            Err((block, place)) => {
                self.len += 1;
                self.put_new(block, place, (key, value));
                None
            }
        }
    }

    /// The value of that key, to be changed in place; `None` also where a copy shares it.
    pub fn own_value<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        let (block, place) = self.place(key).ok()?;
        let block = Arc::get_mut(Arc::get_mut(&mut self.blocks)?.get_mut(block)?)?;
        block.get_mut(place).map(|(_, value)| value)
    }

    /// Takes a key away. Returns what stood there.
    pub fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        let (at, place) = self.place(key).ok()?;
        self.len -= 1;
        let blocks = Arc::make_mut(&mut self.blocks);
        let block = Arc::make_mut(blocks.get_mut(at)?);
        let (_, value) = block.remove(place);
        let left = block.len();
        let room_for = |neighbour: &Arc<Block<K, V>>| neighbour.len() + left <= MOST / 2;
        if left == 0 {
            blocks.remove(at);
        } else if left < LEAST && blocks.get(at + 1).is_some_and(room_for) {
            let next = blocks.remove(at + 1);
            Arc::make_mut(blocks.get_mut(at)?).extend(next.iter().cloned());
        }
        Some(value)
    }

    /// All entries in order.
    pub fn iter(&self) -> Iter<'_, K, V> {
        Iter { blocks: self.blocks.iter(), block: [].iter(), left: self.len }
    }

    /// All keys in order.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &K> {
        self.iter().map(|(key, _)| key)
    }

    /// All values in the order of their keys.
    pub fn values(&self) -> impl ExactSizeIterator<Item = &V> {
        self.iter().map(|(_, value)| value)
    }

    /// The entries whose keys are in a range.
    pub fn range<Q: Ord + ?Sized>(&self, keys: impl RangeBounds<Q>) -> impl Iterator<Item = &(K, V)>
    where
        K: Borrow<Q>,
    {
        let (at, place) = match keys.start_bound() {
            Bound::Unbounded => (0, 0),
            Bound::Included(key) => self.place(key).unwrap_or_else(|free| free),
            Bound::Excluded(key) => self.place(key).map_or_else(|free| free, |(at, place)| (at, place + 1)),
        };
        let mut blocks = self.blocks.get(at..).unwrap_or_default().iter();
        let first = blocks.next().and_then(|block| block.get(place..)).unwrap_or_default();
        let from = Iter { blocks, block: first.iter(), left: self.len };
        from.take_while(move |(key, _)| match keys.end_bound() {
            Bound::Unbounded => true,
            Bound::Included(end) => key.borrow() <= end,
            Bound::Excluded(end) => key.borrow() < end,
        })
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Is there none?
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Are both one map, of which neither has changed since it was copied?
    pub fn is_shared_with(&self, other: &Sorted<K, V>) -> bool {
        Arc::ptr_eq(&self.blocks, &other.blocks)
    }

    /// Where the two differ by key, or by `same` of two values of one key: this map's entry, and the other's.
    pub fn differences<'a>(
        &'a self,
        other: &'a Sorted<K, V>,
        same: impl Fn(&V, &V) -> bool,
    ) -> Vec<Difference<'a, K, V>> {
        let mut found = Vec::new();
        if self.is_shared_with(other) {
            return found;
        }
        let (mut own, mut others) = (self.iter(), other.iter());
        loop {
            own.skip_shared(&mut others);
            match (own.peek(), others.peek()) {
                (None, None) => return found,
                (Some(_), None) => found.push((own.next(), None)),
                (None, Some(_)) => found.push((None, others.next())),
                (Some((a, _)), Some((b, _))) => match a.cmp(b) {
                    Ordering::Less => found.push((own.next(), None)),
                    Ordering::Greater => found.push((None, others.next())),
                    Ordering::Equal => {
                        let pair = (own.next(), others.next());
                        if !matches!(pair, (Some((_, a)), Some((_, b))) if same(a, b)) {
                            found.push(pair);
                        }
                    }
                },
            }
        }
    }

    /// Block and place of a key, or where it would stand.
    fn place<Q: Ord + ?Sized>(&self, key: &Q) -> Result<(usize, usize), (usize, usize)>
    where
        K: Borrow<Q>,
    {
        let first = |block: &Arc<Block<K, V>>| block.first().is_some_and(|(first, _)| first.borrow() <= key);
        let at = self.blocks.partition_point(first).saturating_sub(1);
        let Some(block) = self.blocks.get(at) else { return Err((0, 0)) };
        match block.binary_search_by(|(found, _)| found.borrow().cmp(key)) {
            Ok(place) => Ok((at, place)),
            Err(place) => Err((at, place)),
        }
    }

    fn block_mut(&mut self, at: usize) -> Option<&mut Block<K, V>> {
        Arc::make_mut(&mut self.blocks).get_mut(at).map(Arc::make_mut)
    }

    /// Puts an entry of a new key where it belongs. A full block is divided; one that is full at the end is left so,
    /// since keys that rise fill the next one.
    fn put_new(&mut self, at: usize, place: usize, entry: (K, V)) {
        let blocks = Arc::make_mut(&mut self.blocks);
        let last = at + 1 == blocks.len();
        let Some(block) = blocks.get_mut(at).map(Arc::make_mut) else {
            return blocks.push(Arc::new(vec![entry]));
        };
        if block.len() < MOST {
            return block.insert(place, entry);
        }
        if last && place == block.len() {
            return blocks.push(Arc::new(vec![entry]));
        }
        let mut upper = block.split_off(MOST / 2);
        match place.checked_sub(MOST / 2) {
            Some(place) => upper.insert(place, entry),
            None => block.insert(place, entry),
        }
        blocks.insert(at + 1, Arc::new(upper));
    }
}

/// All entries of a map, in order.
pub struct Iter<'a, K, V> {
    blocks: std::slice::Iter<'a, Arc<Block<K, V>>>,
    /// What is left of the block that is being gone through.
    block: std::slice::Iter<'a, (K, V)>,
    left: usize,
}

impl<'a, K, V> Iter<'a, K, V> {
    /// The next entry.
    fn peek(&mut self) -> Option<&'a (K, V)> {
        while self.block.len() == 0 {
            self.block = self.blocks.next()?.iter();
        }
        self.block.as_slice().first()
    }

    /// Goes on behind the blocks that come next here and there, as far as they are the same ones.
    fn skip_shared(&mut self, other: &mut Iter<'_, K, V>) {
        while self.block.len() == 0 && other.block.len() == 0 {
            match (self.blocks.as_slice().first(), other.blocks.as_slice().first()) {
                (Some(own), Some(others)) if Arc::ptr_eq(own, others) => {
                    self.blocks.next();
                    other.blocks.next();
                    self.left = self.left.saturating_sub(own.len());
                    other.left = other.left.saturating_sub(own.len());
                }
                _ => return,
            }
        }
    }
}

impl<'a, K, V> Iterator for Iter<'a, K, V> {
    type Item = &'a (K, V);

    fn next(&mut self) -> Option<&'a (K, V)> {
        self.peek()?;
        self.left = self.left.saturating_sub(1);
        self.block.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<K, V> ExactSizeIterator for Iter<'_, K, V> {}

impl<K, V> Clone for Sorted<K, V> {
    fn clone(&self) -> Sorted<K, V> {
        Sorted { blocks: Arc::clone(&self.blocks), len: self.len }
    }
}

impl<K: Ord + Clone, V: Clone + PartialEq> PartialEq for Sorted<K, V> {
    fn eq(&self, other: &Sorted<K, V>) -> bool {
        self.is_shared_with(other) || self.len == other.len && self.iter().eq(other.iter())
    }
}

impl<K: Ord + Clone, V: Clone + Eq> Eq for Sorted<K, V> {}

impl<K, V> Default for Sorted<K, V> {
    fn default() -> Sorted<K, V> {
        Sorted { blocks: Arc::default(), len: 0 }
    }
}

impl<K: Ord + Clone, V: Clone> FromIterator<(K, V)> for Sorted<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Sorted<K, V> {
        let mut sorted = Sorted::default();
        entries.into_iter().for_each(|(key, value)| drop(sorted.insert(key, value)));
        sorted
    }
}

impl<K: Ord + Clone + fmt::Debug, V: Clone + fmt::Debug> fmt::Debug for Sorted<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter().map(|(key, value)| (key, value))).finish()
    }
}

/// Entries of a block. A change copies one, and a pointer for each other.
const MOST: usize = 64;
/// A block with fewer joins the next one, if that leaves room.
const LEAST: usize = 16;

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    /// One step on a map: a key, and the value that it gets; `None` takes it away.
    fn steps(most: usize) -> impl Strategy<Value = Vec<(u16, Option<u8>)>> {
        let rising = (0..400u16).prop_map(|n| (0..n).map(|key| (key * 3, Some(1))).collect::<Vec<_>>());
        let any = prop::collection::vec((0..1_200u16, prop::option::weighted(0.6, any::<u8>())), 0..most);
        (rising, any).prop_map(|(first, then)| first.into_iter().chain(then).collect())
    }

    fn carry_out(sorted: &mut Sorted<u16, u8>, model: &mut BTreeMap<u16, u8>, steps: &[(u16, Option<u8>)]) {
        for (key, value) in steps {
            match value {
                Some(value) => assert_eq!(sorted.insert(*key, *value), model.insert(*key, *value)),
                None => assert_eq!(sorted.remove(key), model.remove(key)),
            }
        }
    }

    fn entries(sorted: &Sorted<u16, u8>) -> Vec<(u16, u8)> {
        sorted.iter().copied().collect()
    }

    proptest! {
        #[test]
        fn it_is_a_map_and_a_copy_stays_as_it_was(
            first in steps(600),
            then in steps(40),
            (low, high) in (0..1_300u16, 0..1_300u16),
        ) {
            let (mut sorted, mut model) = (Sorted::default(), BTreeMap::new());
            carry_out(&mut sorted, &mut model, &first);
            let (copy, before) = (sorted.clone(), model.clone());
            carry_out(&mut sorted, &mut model, &then[then.len().saturating_sub(40)..]);
            for (sorted, model) in [(&sorted, &model), (&copy, &before)] {
                let expected: Vec<_> = model.iter().map(|(k, v)| (*k, *v)).collect();
                prop_assert_eq!(entries(sorted), expected);
                prop_assert_eq!((sorted.len(), sorted.iter().len()), (model.len(), model.len()));
                prop_assert!(sorted.blocks.iter().all(|block| (1..=MOST).contains(&block.len())));
                prop_assert!((0..1_300).all(|key| sorted.get(&key) == model.get(&key)));
                let from: Vec<_> = sorted.range(low..).copied().collect();
                prop_assert_eq!(from, model.range(low..).map(|(k, v)| (*k, *v)).collect::<Vec<_>>());
                let (low, high) = (low.min(high), low.max(high));
                let within: Vec<_> = sorted.range(low..=high).copied().collect();
                prop_assert_eq!(within, model.range(low..=high).map(|(k, v)| (*k, *v)).collect::<Vec<_>>());
            }
            let keys = model.keys().chain(before.keys()).collect::<std::collections::BTreeSet<_>>();
            let differ = keys.into_iter().filter(|key| model.get(key) != before.get(key));
            let found = copy.differences(&sorted, |a, b| a == b);
            let found: Vec<_> = found.iter().map(|(a, b)| a.or(*b).map(|(key, _)| key)).collect();
            prop_assert_eq!(found, differ.map(Some).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_change_copies_one_block() {
        let mut sorted: Sorted<u16, u8> = (0..6_400).map(|key| (key, 0)).collect();
        let copy = sorted.clone();
        assert!(sorted.is_shared_with(&copy));
        sorted.insert(3_000, 1);
        assert!(!sorted.is_shared_with(&copy));
        assert_eq!(sorted.own_value(&3_000), Some(&mut 1));
        assert_eq!((sorted.own_value(&10), copy.clone().own_value(&3_000)), (None, None));
        let shared = sorted.blocks.iter().zip(copy.blocks.iter()).filter(|(a, b)| Arc::ptr_eq(a, b)).count();
        assert_eq!((shared, copy.blocks.len()), (99, 100));
    }
}
