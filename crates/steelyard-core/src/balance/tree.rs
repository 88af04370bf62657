//! The tournament tree: the smallest key of n services, and the first service in ring order that has it.
//!
//! Owns the keys and nothing else: what a key means is the picker's business. The hard question it answers is the
//! documented tie rule (`spec/methods.md` 1.1): among the services with the smallest key, the first one met when
//! walking the ring from the position after the last selected. No secondary key is stored for that: since the root
//! holds the minimum of all, any inner slot equal to it has such a leaf beneath, so one descent finds it.

/// The key of a service that must not be chosen. Every real key is smaller.
pub const NO: u64 = i64::MAX as u64;

/// An 8-ary min tree over the keys of services in ring order. Up to eight services it is one node, a plain scan.
pub struct Tree {
    /// All levels, leaves first.
    nodes: Box<[Node]>,
    /// Where each level starts in `nodes`; the last level is the root node alone.
    starts: Box<[usize]>,
    len: usize,
}

/// Eight keys: one cache line.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Node([u64; FAN]);

impl Tree {
    /// A tree over `keys`, in ring order.
    pub fn new(keys: impl ExactSizeIterator<Item = u64>) -> Tree {
        let len = keys.len();
        let mut starts = vec![0];
        let mut width = len.div_ceil(FAN).max(1);
        let mut nodes = width;
        while width > 1 {
            starts.push(nodes);
            width = width.div_ceil(FAN);
            nodes += width;
        }
        let nodes = vec![Node([NO; FAN]); nodes].into_boxed_slice();
        let mut tree = Tree { nodes, starts: starts.into_boxed_slice(), len };
        for (position, key) in keys.enumerate() {
            tree.put(position, key);
        }
        tree.rebuild();
        tree
    }

    /// Number of services.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Is there no service at all?
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The key at `position`.
    pub fn key(&self, position: usize) -> u64 {
        self.nodes[position / FAN].0[position % FAN]
    }

    /// The smallest key; [`NO`] when no service may be chosen.
    pub fn min(&self) -> u64 {
        least(&self.nodes[self.nodes.len() - 1])
    }

    /// Changes one key and what depends on it.
    #[inline]
    pub fn set(&mut self, position: usize, key: u64) {
        debug_assert!(position < self.len);
        let (mut at, mut new) = (position, key);
        for level in 0..self.starts.len() {
            let node = &mut self.nodes[self.starts[level] + at / FAN];
            let old = node.0[at % FAN];
            if old == new {
                return;
            }
            node.0[at % FAN] = new;
            let Some(&above) = self.starts.get(level + 1) else { return };
            at /= FAN;
            let held = self.nodes[above + at / FAN].0[at % FAN];
            new = if new < held {
                new
            } else if old == held {
                least(&self.nodes[self.starts[level] + at])
            } else {
                return;
            };
        }
    }

    /// Changes one key without what depends on it: for many at once, followed by [`Tree::rebuild`].
    pub fn put(&mut self, position: usize, key: u64) {
        self.nodes[position / FAN].0[position % FAN] = key;
    }

    /// Recomputes every inner node.
    pub fn rebuild(&mut self) {
        for level in 1..self.starts.len() {
            let below = self.starts[level - 1];
            for at in 0..self.starts[level] - below {
                let value = least(&self.nodes[below + at]);
                self.nodes[self.starts[level] + at / FAN].0[at % FAN] = value;
            }
        }
    }

    /// The first position after `last`, cyclically, that holds the smallest key. `last` may lie beyond the end.
    #[inline]
    pub fn pick(&self, last: usize) -> Option<usize> {
        let min = self.min();
        if min == NO {
            return None;
        }
        // Climb from the successor of `last`: at each level the rest of the node to the right, the own child excluded.
        let mut at = last.saturating_add(1);
        if at >= self.len {
            return self.descend(self.starts.len() - 1, 0, min, 0);
        }
        let mut from = at % FAN;
        for level in 0..self.starts.len() {
            if let Some(found) = self.descend(level, at / FAN, min, from) {
                return Some(found);
            }
            at /= FAN;
            from = at % FAN + 1;
        }
        self.descend(self.starts.len() - 1, 0, min, 0)
    }

    /// The leftmost leaf equal to `min` beneath the slots `from..` of a node, if there is one.
    #[inline]
    fn descend(&self, mut level: usize, mut node: usize, min: u64, from: usize) -> Option<usize> {
        let mut slot = first(&self.nodes[self.starts[level] + node], min, from)?;
        while level > 0 {
            level -= 1;
            node = node * FAN + slot;
            slot = first(&self.nodes[self.starts[level] + node], min, 0)?;
        }
        Some(node * FAN + slot)
    }

    /// Is every inner slot the minimum of its child node? For tests.
    pub fn is_sound(&self) -> bool {
        (1..self.starts.len()).all(|level| {
            let (below, above) = (self.starts[level - 1], self.starts[level]);
            (0..above - below)
                .all(|at| self.nodes[above + at / FAN].0[at % FAN] == least(&self.nodes[below + at]))
        })
    }
}

#[inline]
fn least(node: &Node) -> u64 {
    let k = &node.0;
    let (a, b, c, d) = (k[0].min(k[1]), k[2].min(k[3]), k[4].min(k[5]), k[6].min(k[7]));
    a.min(b).min(c.min(d))
}

/// The first slot at or after `from` (which may be `FAN`) that holds `key`.
#[inline]
fn first(node: &Node, key: u64, from: usize) -> Option<usize> {
    let mut equal = 0u32;
    for (slot, &k) in node.0.iter().enumerate() {
        equal |= u32::from(k == key) << slot;
    }
    let equal = equal >> from << from;
    (equal != 0).then(|| equal.trailing_zeros() as usize)
}

/// Keys per node: one cache line.
const FAN: usize = 8;
