//! Totals over everything, and the host's counters beside them.

use steelyard_core::service::Service;
use steelyard_core::vserver::VirtualServer;

use crate::kernel::Readings;
use crate::nitro::rates::Recent;
use crate::nitro::totals::{Sample, Span, Sums};

use super::State;

impl State {
    /// To be called once a second: what rates are made of.
    pub fn sample(&self) {
        let mut totals = self.totals.borrow_mut();
        let sums = totals.look(self.clock.now());
        totals.take(self.present(sums));
    }

    /// Everything now and some seconds ago.
    pub fn span(&self) -> Span {
        let totals = self.totals.borrow();
        totals.until(self.present(totals.sums()))
    }

    /// How many connects were not begun so far for want of a local port.
    pub fn without_local_port(&self) -> u64 {
        self.totals.borrow().sums().no_local_port
    }

    fn present(&self, sums: Sums) -> Sample {
        let pulses = self.pulses.borrow();
        Sample {
            at: self.clock.now(),
            sums,
            kernel: Readings::take(),
            workers_ns: pulses.iter().filter_map(|(pulse, _)| pulse.cpu_ns()).sum(),
        }
    }

    /// What a virtual server carried in the last seconds.
    pub fn recent_of_vserver(&self, vserver: &VirtualServer) -> Recent {
        self.totals.borrow().recent_of_vserver(vserver, self.clock.now())
    }

    /// What a service carried in the last seconds.
    pub fn recent_of_service(&self, service: &Service) -> Recent {
        self.totals.borrow().recent_of_service(service, self.clock.now())
    }

    /// How many workers there are.
    pub fn workers(&self) -> usize {
        self.pulses.borrow().len()
    }
}
