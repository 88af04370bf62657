//! Request rates as the appliance takes them: a counter's growth over 7 s (`spec/methods.md` 2.2).

use crate::time::{SECOND_US, Time};

/// One counter and its readings at the start of the current second and the seven before it.
pub struct Rate {
    count: u64,
    /// By second, modulo the length.
    readings: [u64; READINGS as usize],
    second: u64,
}

impl Rate {
    /// A counter at 0.
    pub fn new(now: Time) -> Rate {
        Rate { count: 0, readings: [0; READINGS as usize], second: now.as_us() / SECOND_US }
    }

    /// Counts one.
    #[inline]
    pub fn count(&mut self) {
        self.count += 1;
    }

    /// How many were ever counted.
    pub fn total(&self) -> u64 {
        self.count
    }

    /// Takes the readings that are due at `now`.
    pub fn advance(&mut self, now: Time) {
        let second = now.as_us() / SECOND_US;
        let from = self.second.max(second.saturating_sub(READINGS));
        for due in from + 1..=second {
            self.readings[(due % READINGS) as usize] = self.count;
        }
        self.second = self.second.max(second);
    }

    /// How many during the last seven full seconds.
    pub fn in_7_s(&self) -> u64 {
        let newest = self.readings[(self.second % READINGS) as usize];
        newest - self.readings[((self.second + 1) % READINGS) as usize]
    }
}

const READINGS: u64 = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twenty_a_second_are_140_in_7_s_and_an_idle_server_falls_to_0() {
        let mut rate = Rate::new(Time::ZERO);
        for second in 0..20 {
            rate.advance(Time::from_us(second * SECOND_US));
            (0..20).for_each(|_| rate.count());
        }
        rate.advance(Time::from_us(20 * SECOND_US));
        assert_eq!(rate.in_7_s(), 140);
        rate.advance(Time::from_us(27 * SECOND_US));
        assert_eq!(rate.in_7_s(), 0);
        rate.advance(Time::from_us(1_000_000 * SECOND_US));
        assert_eq!((rate.in_7_s(), rate.total()), (0, 400));
    }
}
