//! Ways to services on which no local port is left: they are left alone for a moment.
//!
//! A way is a service's address and the address that connections to it leave from; each has as many ports as
//! `net.ipv4.ip_local_port_range` gives. The hard question: what does a connect cost that finds none? The kernel looks at
//! every port of the range before it says so, so that clients who come in numbers would keep a core busy with looking. So
//! a way that was found full is not tried again before [`REST_US`] have passed.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use steelyard_core::time::{MILLISECOND_US, Time};

/// To whom, and from which address.
pub(super) type Way = (SocketAddr, Option<IpAddr>);

/// The full ways of one worker.
#[derive(Default)]
pub(super) struct Ports {
    full_until: BTreeMap<Way, Time>,
}

impl Ports {
    /// Is it known that a connect would find no port? The clock is read only where one did a moment ago.
    pub fn is_full(&mut self, way: Way, now: impl FnOnce() -> Time) -> bool {
        let Some(until) = self.full_until.get(&way) else { return false };
        if *until > now() {
            return true;
        }
        self.full_until.remove(&way);
        false
    }

    /// A connect has found no port.
    pub fn found_full(&mut self, way: Way, now: Time) {
        if self.full_until.len() >= MOST {
            self.full_until.clear();
        }
        self.full_until.insert(way, now.plus_us(REST_US));
    }
}

const REST_US: u64 = 10 * MILLISECOND_US;
/// Ways that are remembered; beyond that all are tried again.
const MOST: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_way_rests_and_is_tried_again() {
        let (way, other) = ((([127, 0, 0, 1], 80).into(), None), (([127, 0, 0, 1], 81).into(), None));
        let mut ports = Ports::default();
        let at = |us: u64| move || Time::from_us(us);
        assert!(!ports.is_full(way, || panic!("the clock is not read")));
        ports.found_full(way, Time::from_us(1_000));
        assert!(ports.is_full(way, at(1_000 + REST_US - 1)));
        assert!(!ports.is_full(other, at(1_000)));
        assert!(!ports.is_full(way, at(1_000 + REST_US)));
        assert!(!ports.is_full(way, || panic!("it is forgotten")));
    }

    #[test]
    fn what_is_remembered_has_a_bound() {
        let mut ports = Ports::default();
        for port in 0..=u16::MAX {
            ports.found_full((([127, 0, 0, 1], port).into(), None), Time::ZERO);
            assert!(ports.full_until.len() <= MOST);
        }
    }
}
