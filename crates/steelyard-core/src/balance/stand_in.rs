//! What stands in for a response time that is not known: the mean of the known ones, frozen for a second at a time so
//! that no single sample re-keys everybody (`spec/methods.md` 3.2, 3.3, ruling 2).

/// The candidates' known times and who has none.
pub(super) struct StandIn {
    sum_us: u128,
    known: usize,
    /// The candidates without a time, in no order.
    unknown: Vec<u32>,
    frozen_us: u64,
}

impl StandIn {
    pub(super) fn new() -> StandIn {
        StandIn { sum_us: 0, known: 0, unknown: Vec::new(), frozen_us: NONE_KNOWN_US }
    }

    /// The value that stands in, in microseconds.
    pub(super) fn us(&self) -> u64 {
        self.frozen_us
    }

    /// Is no candidate's time known, so that least connection stands in for the method?
    pub(super) fn none_known(&self) -> bool {
        self.known == 0
    }

    /// Who has no time.
    pub(super) fn unknown(&self) -> &[u32] {
        &self.unknown
    }

    /// A candidate with `time_us` (0: unknown) came; `place` is its own note of where it stands.
    pub(super) fn enter(&mut self, position: usize, time_us: u64, place: &mut u32) {
        if time_us > 0 {
            self.sum_us += u128::from(time_us);
            self.known += 1;
        } else {
            *place = self.unknown.len() as u32;
            self.unknown.push(position as u32);
        }
    }

    /// A candidate that had entered with `time_us` left. Returns who moved to its place among the unknown, if anyone.
    pub(super) fn leave(&mut self, time_us: u64, place: u32) -> Option<usize> {
        if time_us > 0 {
            self.sum_us -= u128::from(time_us);
            self.known -= 1;
            return None;
        }
        self.unknown.swap_remove(place as usize);
        self.unknown.get(place as usize).map(|moved| *moved as usize)
    }

    /// Freezes the mean anew; true when it changed, so that the unknown must be re-keyed.
    pub(super) fn freeze(&mut self) -> bool {
        let mean = match self.known {
            0 => NONE_KNOWN_US,
            known => (self.sum_us / known as u128).max(1).min(u128::from(u64::MAX)) as u64,
        };
        mean != std::mem::replace(&mut self.frozen_us, mean)
    }
}

/// With nothing known, active transactions alone decide: the same product with a constant.
const NONE_KNOWN_US: u64 = 1;
