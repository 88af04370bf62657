//! The timer wheel: deadlines of connections by opaque key.
//!
//! Owns which deadline is due when; knows nothing of what a key stands for and reads no clock. The hard question: a
//! deadline moves with every byte of traffic, so moving one to later must cost a store. It does: a node stays linked
//! where it was, and is linked anew only when its old place comes due. A deadline is never reported early, and late
//! by at most one tick (1.024 ms) plus the caller's own delay.

use crate::time::Time;

/// A hierarchical wheel: 6 levels of 64 slots, ticks of 1,024 microseconds.
pub struct Wheel {
    /// All ticks before this one have been reported.
    elapsed: u64,
    nodes: Vec<Node>,
    free: u32,
    /// First node of each slot's list.
    heads: [u32; LEVELS * SLOTS],
    /// One bit per slot that holds anything.
    occupied: [u64; LEVELS],
    /// First of the nodes that are due and wait to be popped.
    due: u32,
}

/// A deadline in the wheel, held by its owner. Give it back with [`Wheel::cancel`].
#[derive(Debug)]
pub struct Timer(u32);

struct Node {
    key: u64,
    /// When the owner wants to hear of it.
    deadline: Time,
    /// The tick for which it is linked; never later than the deadline's.
    linked_for: u64,
    next: u32,
    previous: u32,
    place: Place,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    /// In the free list.
    Free,
    /// In no list: reported, or never due.
    Loose,
    Slot(u16),
    Due,
}

impl Default for Wheel {
    fn default() -> Wheel {
        Wheel {
            elapsed: 0,
            nodes: Vec::new(),
            free: NONE,
            heads: [NONE; LEVELS * SLOTS],
            occupied: [0; LEVELS],
            due: NONE,
        }
    }
}

impl Wheel {
    /// A new deadline. [`Time::NEVER`] is legal and costs nothing until it is touched.
    pub fn arm(&mut self, key: u64, deadline: Time) -> Timer {
        let node = Node { key, deadline, linked_for: NEVER, next: NONE, previous: NONE, place: Place::Loose };
        let index = self.free;
        let index = match self.nodes.get_mut(index as usize) {
            Some(slot) => {
                self.free = slot.next;
                *slot = node;
                index
            }
            None => {
                self.nodes.push(node);
                (self.nodes.len() - 1) as u32
            }
        };
        self.touch(&Timer(index), deadline);
        Timer(index)
    }

    /// Moves a deadline. To later: a store. To earlier than it is linked for: it is linked anew, in constant time.
    pub fn touch(&mut self, timer: &Timer, deadline: Time) {
        let node = &mut self.nodes[timer.0 as usize];
        node.deadline = deadline;
        if deadline != Time::NEVER && ticks(deadline) < node.linked_for {
            self.unlink(timer.0);
            self.link(timer.0);
        }
    }

    /// Ends a deadline.
    pub fn cancel(&mut self, timer: Timer) {
        self.unlink(timer.0);
        let node = &mut self.nodes[timer.0 as usize];
        node.place = Place::Free;
        node.next = self.free;
        self.free = timer.0;
    }

    /// The key of a deadline that has passed at `now`, or `None` when no other has. A key is reported once; its
    /// timer stays its owner's and can be touched again.
    pub fn pop(&mut self, now: Time) -> Option<u64> {
        let now = now.as_us() >> TICK_SHIFT;
        loop {
            while self.due != NONE {
                let index = self.due;
                self.unlink(index);
                let node = &self.nodes[index as usize];
                if node.deadline == Time::NEVER {
                    continue;
                }
                if ticks(node.deadline) <= now {
                    return Some(node.key);
                }
                self.link(index);
            }
            let Some((level, slot, at)) = self.next_slot() else {
                self.elapsed = self.elapsed.max(now);
                return None;
            };
            if at > now {
                self.elapsed = self.elapsed.max(now);
                return None;
            }
            self.elapsed = self.elapsed.max(at);
            self.empty(level * SLOTS + slot);
        }
    }

    /// No deadline passes before this. It may be earlier than the first deadline, never later.
    pub fn next(&self) -> Time {
        if self.due != NONE {
            return Time::ZERO;
        }
        match self.next_slot() {
            Some((_, _, at)) => Time::from_us(at.saturating_mul(1 << TICK_SHIFT)),
            None => Time::NEVER,
        }
    }

    /// The number of deadlines held.
    pub fn len(&self) -> usize {
        self.nodes.iter().filter(|n| n.place != Place::Free).count()
    }

    /// Is no deadline held?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The first occupied slot in time: level, slot, the tick at which it begins.
    fn next_slot(&self) -> Option<(usize, usize, u64)> {
        (0..LEVELS).find_map(|level| {
            let occupied = self.occupied[level];
            if occupied == 0 {
                return None;
            }
            let shift = level as u32 * SLOT_BITS;
            let current = (self.elapsed >> shift) & SLOT_MASK;
            let ahead = occupied.rotate_right(current as u32).trailing_zeros() as u64;
            let slot = (current + ahead) & SLOT_MASK;
            let turn = (self.elapsed >> shift) + ahead;
            Some((level, slot as usize, turn << shift))
        })
    }

    /// Moves all nodes of a slot that has begun to the due list or to lower levels.
    fn empty(&mut self, slot: usize) {
        let mut index = self.heads[slot];
        while index != NONE {
            let next = self.nodes[index as usize].next;
            self.unlink(index);
            if self.nodes[index as usize].deadline != Time::NEVER {
                self.link(index);
            }
            index = next;
        }
    }

    fn link(&mut self, index: u32) {
        let node = &mut self.nodes[index as usize];
        let due = ticks(node.deadline).min(self.elapsed + REACH);
        node.linked_for = due;
        node.previous = NONE;
        let head = if due <= self.elapsed {
            node.place = Place::Due;
            &mut self.due
        } else {
            let level = (63 - ((due ^ self.elapsed) | SLOT_MASK).leading_zeros()) / SLOT_BITS;
            let level = (level as usize).min(LEVELS - 1);
            let slot = (due >> (level as u32 * SLOT_BITS)) & SLOT_MASK;
            self.occupied[level] |= 1 << slot;
            let slot = level * SLOTS + slot as usize;
            node.place = Place::Slot(slot as u16);
            &mut self.heads[slot]
        };
        node.next = *head;
        let next = node.next;
        *head = index;
        if let Some(next) = self.nodes.get_mut(next as usize) {
            next.previous = index;
        }
    }

    fn unlink(&mut self, index: u32) {
        let node = &mut self.nodes[index as usize];
        let (place, next, previous) = (node.place, node.next, node.previous);
        node.place = Place::Loose;
        node.linked_for = NEVER;
        node.next = NONE;
        node.previous = NONE;
        let head = match place {
            Place::Free | Place::Loose => return,
            Place::Slot(slot) => &mut self.heads[slot as usize],
            Place::Due => &mut self.due,
        };
        if *head == index {
            *head = next;
            if let (NONE, Place::Slot(slot)) = (next, place) {
                self.occupied[slot as usize / SLOTS] &= !(1 << (slot as usize % SLOTS));
            }
        }
        if let Some(node) = self.nodes.get_mut(next as usize) {
            node.previous = previous;
        }
        if let Some(node) = self.nodes.get_mut(previous as usize) {
            node.next = next;
        }
    }
}

/// The first tick at which a deadline has passed.
fn ticks(deadline: Time) -> u64 {
    deadline.as_us().div_ceil(1 << TICK_SHIFT)
}

const TICK_SHIFT: u32 = 10;
const SLOT_BITS: u32 = 6;
const SLOTS: usize = 1 << SLOT_BITS;
const SLOT_MASK: u64 = SLOTS as u64 - 1;
const LEVELS: usize = 6;
/// What is further away is linked at this distance and again when that comes due.
const REACH: u64 = 1 << (SLOT_BITS * (LEVELS as u32 - 1));
const NONE: u32 = u32::MAX;
const NEVER: u64 = u64::MAX;

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    #[derive(Clone, Debug)]
    enum Step {
        Arm(u64),
        Touch(usize, u64),
        Never(usize),
        Cancel(usize),
        Advance(u64),
    }

    fn span() -> impl Strategy<Value = u64> {
        prop_oneof![0..5_000u64, 0..400_000u64, 0..400_000_000u64, 0..1_000_000_000_000_000u64]
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            3 => span().prop_map(Step::Arm),
            4 => (any::<usize>(), span()).prop_map(|(i, s)| Step::Touch(i, s)),
            1 => any::<usize>().prop_map(Step::Never),
            1 => any::<usize>().prop_map(Step::Cancel),
            4 => span().prop_map(Step::Advance),
        ]
    }

    proptest! {
        #[test]
        fn agrees_with_an_ordered_map(steps in proptest::collection::vec(step(), 1..200)) {
            let mut wheel = Wheel::default();
            let mut now = 0u64;
            let mut timers: Vec<(u64, Timer)> = Vec::new();
            let mut model: BTreeMap<u64, Time> = BTreeMap::new();
            let mut key = 0;
            for step in steps {
                match step {
                    Step::Arm(span) => {
                        key += 1;
                        let at = Time::from_us(now + span);
                        timers.push((key, wheel.arm(key, at)));
                        model.insert(key, at);
                    }
                    Step::Touch(i, span) if !timers.is_empty() => {
                        let (key, timer) = &timers[i % timers.len()];
                        let at = Time::from_us(now + span);
                        wheel.touch(timer, at);
                        model.insert(*key, at);
                    }
                    Step::Never(i) if !timers.is_empty() => {
                        let (key, timer) = &timers[i % timers.len()];
                        wheel.touch(timer, Time::NEVER);
                        model.remove(key);
                    }
                    Step::Cancel(i) if !timers.is_empty() => {
                        let (key, timer) = timers.swap_remove(i % timers.len());
                        wheel.cancel(timer);
                        model.remove(&key);
                    }
                    Step::Advance(span) => {
                        now += span;
                        let mut fired = Vec::new();
                        while let Some(key) = wheel.pop(Time::from_us(now)) {
                            fired.push(key);
                        }
                        fired.sort_unstable();
                        let expected: Vec<u64> =
                            model.iter().filter(|(_, at)| at.as_us().div_ceil(1024) <= now / 1024).map(|(k, _)| *k).collect();
                        prop_assert_eq!(&fired, &expected);
                        expected.iter().for_each(|k| { model.remove(k); });
                    }
                    _ => {}
                }
                let first = model.values().min().copied().unwrap_or(Time::NEVER);
                let tick_up = Time::from_us(first.as_us().div_ceil(1024).saturating_mul(1024));
                prop_assert!(wheel.next() <= tick_up, "{:?} is after {:?}", wheel.next(), first);
                prop_assert_eq!(wheel.len(), timers.len());
            }
        }
    }

    #[test]
    fn moving_a_deadline_to_later_does_not_relink() {
        let mut wheel = Wheel::default();
        let timer = wheel.arm(7, Time::from_us(1_000_000));
        let linked = wheel.nodes[0].linked_for;
        for later in 1..1_000 {
            wheel.touch(&timer, Time::from_us(1_000_000 + later));
        }
        assert_eq!(wheel.nodes[0].linked_for, linked);
        assert_eq!(wheel.pop(Time::from_us(1_000_500)), None);
        assert_eq!(wheel.pop(Time::from_us(1_003_000)), Some(7));
    }
}
