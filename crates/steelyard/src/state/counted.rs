//! Totals over everything, and the host's counters beside them.

use crate::kernel::Readings;
use crate::nitro::totals::{Sample, Span};

use super::State;

impl State {
    /// To be called once a second: what rates are made of.
    pub fn sample(&self) {
        self.rates.borrow_mut().sample(&self.snapshot(), self.clock.now());
        let sample = self.present();
        self.totals.borrow_mut().take(sample);
    }

    /// Everything now and some seconds ago.
    pub fn span(&self) -> Span {
        self.totals.borrow().until(self.present())
    }

    fn present(&self) -> Sample {
        let pulses = self.pulses.borrow();
        Sample {
            at: self.clock.now(),
            sums: self.totals.borrow().sums(),
            kernel: Readings::take(),
            workers_ns: pulses.iter().filter_map(|(pulse, _)| pulse.cpu_ns()).sum(),
        }
    }

    /// How many workers there are.
    pub fn workers(&self) -> usize {
        self.pulses.borrow().len()
    }
}
