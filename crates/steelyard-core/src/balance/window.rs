//! The 14-second window: what each service carried during the current 100 ms slot and the 139 full ones before it.
//!
//! Owns one picker's wheel. A slot lists only the services touched in it, so idle services cost nothing. Sums grow
//! when traffic is recorded but must fall by time alone, so expiry is driven by [`Window::advance`] before each pick
//! and on a 100 ms tick; it tells whose sums have fallen, for their keys to be renewed (`spec/methods.md` ruling 1).

use crate::time::{MILLISECOND_US, Time};

/// What a service has in the window. For bytes and packets only `amount` counts; for time to first byte `amount` is
/// the sum of the samples in microseconds and `samples` their number.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Sums {
    /// Bytes, packets or microseconds.
    pub amount: u64,
    /// How many samples make up `amount`.
    pub samples: u32,
}

/// The wheel of one picker.
pub struct Window {
    slots: Box<[Vec<Entry>]>,
    /// Number of the current slot since the origin of time.
    current: u64,
    sums: Box<[Sums]>,
    /// Where each service stands in the current slot's list, so that one slot lists it once.
    touched: Box<[Touched]>,
}

#[derive(Clone, Copy)]
struct Entry {
    position: u32,
    sums: Sums,
}

#[derive(Clone, Copy, Default)]
struct Touched {
    slot: u64,
    entry: u32,
}

impl Window {
    /// An empty window over `len` services at `now`.
    pub fn new(len: usize, now: Time) -> Window {
        Window {
            slots: (0..SLOTS).map(|_| Vec::new()).collect(),
            current: slot_of(now),
            sums: vec![Sums::default(); len].into(),
            touched: vec![Touched { slot: u64::MAX, entry: 0 }; len].into(),
        }
    }

    /// What `position` has in the window.
    pub fn sums(&self, position: usize) -> Sums {
        self.sums[position]
    }

    /// Adds to the current slot. The caller has advanced the window.
    pub fn add(&mut self, position: usize, amount: u64, samples: u32) {
        let list = &mut self.slots[(self.current % SLOTS as u64) as usize];
        let touched = &mut self.touched[position];
        if touched.slot != self.current {
            *touched = Touched { slot: self.current, entry: list.len() as u32 };
            list.push(Entry { position: position as u32, sums: Sums::default() });
        }
        for sums in [&mut list[touched.entry as usize].sums, &mut self.sums[position]] {
            sums.amount = sums.amount.saturating_add(amount);
            sums.samples = sums.samples.saturating_add(samples);
        }
    }

    /// Moves to the slot of `now`; `fell` hears of each service whose sums have fallen, once per expired slot.
    pub fn advance(&mut self, now: Time, mut fell: impl FnMut(usize)) {
        let slot = slot_of(now);
        // Past a whole turn every slot is stale, and one turn clears them all.
        let from = self.current.max(slot.saturating_sub(SLOTS as u64));
        for expiring in from + 1..=slot {
            let mut list = std::mem::take(&mut self.slots[(expiring % SLOTS as u64) as usize]);
            for entry in list.drain(..) {
                let sums = &mut self.sums[entry.position as usize];
                sums.amount -= entry.sums.amount;
                sums.samples -= entry.sums.samples;
                fell(entry.position as usize);
            }
            self.slots[(expiring % SLOTS as u64) as usize] = list;
        }
        self.current = self.current.max(slot);
    }

    /// The same traffic in a window over `len` services: `to` gives each old position's new one, if it still has one.
    pub fn moved(mut self, len: usize, to: impl Fn(usize) -> Option<usize>) -> Window {
        let mut moved = Window::new(len, Time::ZERO);
        moved.current = self.current;
        for (list, old) in moved.slots.iter_mut().zip(self.slots.iter_mut()) {
            list.extend(old.drain(..).filter_map(|entry| {
                let position = to(entry.position as usize)?;
                Some(Entry { position: position as u32, ..entry })
            }));
        }
        for (position, sums) in self.sums.iter().enumerate() {
            if let Some(new) = to(position) {
                moved.sums[new] = *sums;
            }
        }
        let list = &moved.slots[(moved.current % SLOTS as u64) as usize];
        for (index, entry) in list.iter().enumerate() {
            moved.touched[entry.position as usize] = Touched { slot: moved.current, entry: index as u32 };
        }
        moved
    }
}

/// Number of the 100 ms slot that `now` lies in.
pub fn slot_of(now: Time) -> u64 {
    now.as_us() / SLOT_US
}

/// Width of a slot.
pub const SLOT_US: u64 = 100 * MILLISECOND_US;
/// The current slot and 139 full ones: 13.9 to 14.0 seconds.
pub const SLOTS: usize = 140;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_leaves_after_140_slots_and_an_idle_service_returns_to_zero() {
        let mut window = Window::new(2, Time::ZERO);
        window.add(1, 700, 1);
        window.advance(Time::from_us(139 * SLOT_US), |_| panic!("nothing expires within 139 slots"));
        assert_eq!(window.sums(1), Sums { amount: 700, samples: 1 });
        let mut fell = Vec::new();
        window.advance(Time::from_us(140 * SLOT_US), |p| fell.push(p));
        assert_eq!((fell, window.sums(1)), (vec![1], Sums::default()));
    }

    #[test]
    fn a_long_pause_clears_everything_once() {
        let mut window = Window::new(1, Time::ZERO);
        window.add(0, 5, 1);
        window.advance(Time::from_us(3 * SLOT_US), |_| ());
        window.add(0, 6, 1);
        let mut falls = 0;
        window.advance(Time::from_us(1_000_000 * SLOT_US), |_| falls += 1);
        assert_eq!((falls, window.sums(0)), (2, Sums::default()));
    }

    #[test]
    fn moving_keeps_the_sums_and_their_expiry() {
        let mut window = Window::new(3, Time::ZERO);
        window.add(0, 1, 1);
        window.add(2, 10, 1);
        let mut moved = window.moved(2, |old| [None, None, Some(0)][old]);
        moved.add(0, 5, 1);
        assert_eq!(moved.sums(0), Sums { amount: 15, samples: 2 });
        moved.advance(Time::from_us(140 * SLOT_US), |_| ());
        assert_eq!(moved.sums(0), Sums::default());
    }
}
