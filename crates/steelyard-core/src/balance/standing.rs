//! How much of what is bound to a virtual server can take work: sums that follow the states of its services, so that
//! nobody adds them up for a request.
//!
//! Written by the control thread alone, where states change; read by everybody.

use crate::balance::setup::Bound;
use crate::service::State;
use crate::sync::{AtomicU8, AtomicU64, AtomicUsize, Ordering};

/// The sums of one picker's services.
pub struct Standing {
    /// The state in which each was counted last.
    counted: Box<[AtomicU8]>,
    /// Weights of those that are UP, and of all but the disabled ones, in one word, so that no reader sees half a change.
    weights: AtomicU64,
    /// `maxClient` of those that are UP and have one.
    clients: AtomicU64,
    /// Those that are UP and have none.
    unlimited: AtomicUsize,
}

/// What a service adds to the sums.
#[derive(Clone, Copy, Default)]
struct Share {
    up: u32,
    all: u32,
    clients: u64,
    unlimited: usize,
}

impl Standing {
    /// Of these services, as they are now.
    pub fn new(services: &[Bound]) -> Standing {
        let standing = Standing {
            counted: services.iter().map(|_| AtomicU8::new(State::OutOfService as u8)).collect(),
            weights: AtomicU64::new(0),
            clients: AtomicU64::new(0),
            unlimited: AtomicUsize::new(0),
        };
        services.iter().enumerate().for_each(|(position, bound)| standing.update(position, bound));
        standing
    }

    /// The state of the service at `position` may have changed. Control thread only.
    pub fn update(&self, position: usize, bound: &Bound) {
        let state = bound.service.state();
        let before = State::from_code(self.counted[position].swap(state as u8, Ordering::Relaxed));
        let (old, new) = (Share::of(before, bound), Share::of(state, bound));
        let (up, all) = self.weights();
        let (up, all) = (up - old.up + new.up, all - old.all + new.all);
        self.weights.store(u64::from(up) << 32 | u64::from(all), Ordering::Relaxed);
        self.clients.fetch_add(new.clients.wrapping_sub(old.clients), Ordering::Relaxed);
        self.unlimited.fetch_add(new.unlimited.wrapping_sub(old.unlimited), Ordering::Relaxed);
    }

    /// Is the share of weights that are UP below so many percent? Services that are disabled or on their way to it are
    /// not considered (`spec/methods.md` 3.8).
    pub fn is_below(&self, percent: u32) -> bool {
        let (up, all) = self.weights();
        u64::from(up) * 100 < u64::from(percent) * u64::from(all)
    }

    /// That share in percent, rounded down; 0 where nothing is bound.
    pub fn percent(&self) -> u32 {
        let (up, all) = self.weights();
        (u64::from(up) * 100).checked_div(u64::from(all)).unwrap_or(0) as u32
    }

    /// Sum of `maxClient` over what is UP; `None` when one of them has no limit.
    pub fn capacity(&self) -> Option<u64> {
        (self.unlimited.load(Ordering::Relaxed) == 0).then(|| self.clients.load(Ordering::Relaxed))
    }

    fn weights(&self) -> (u32, u32) {
        let both = self.weights.load(Ordering::Relaxed);
        ((both >> 32) as u32, both as u32)
    }
}

impl Share {
    fn of(state: State, bound: &Bound) -> Share {
        let all = match state {
            State::OutOfService | State::Trofs | State::TrofsDown => return Share::default(),
            State::Up | State::Unknown | State::Down => bound.weight,
        };
        match (state.admits(), bound.terms.max_client) {
            (false, _) => Share { all, ..Share::default() },
            (true, Some(max)) => Share { up: all, all, clients: max.into(), unlimited: 0 },
            (true, None) => Share { up: all, all, clients: 0, unlimited: 1 },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::Service;
    use crate::service::terms::Terms;
    use crate::sync::Arc;
    use crate::time::Time;

    fn bound(weights: &[u32], max_client: Option<u32>) -> Vec<Bound> {
        let terms = Arc::new(Terms { max_client, ..Terms::default() });
        let service = || Service::new("s", std::net::SocketAddr::from(([192, 0, 2, 1], 80)), State::Up);
        let bound = |weight: &u32| Bound { service: service(), weight: *weight, terms: Arc::clone(&terms) };
        weights.iter().map(bound).collect()
    }

    fn set(standing: &Standing, bound: &[Bound], at: usize, state: State) {
        bound[at].service.set_state(state, Time::ZERO);
        standing.update(at, &bound[at]);
    }

    /// The example of `spec/methods.md` 3.6: weights 1, 2, 3 at 50 percent.
    #[test]
    fn health_is_by_weight_and_strictly_below() {
        let below = |down: [usize; 2]| {
            let bound = bound(&[1, 2, 3], None);
            let standing = Standing::new(&bound);
            assert_eq!((standing.percent(), standing.is_below(100)), (100, false));
            down.iter().for_each(|at| set(&standing, &bound, *at, State::Down));
            (standing.percent(), standing.is_below(50))
        };
        assert_eq!(below([0, 2]), (33, true));
        assert_eq!(below([1, 2]), (16, true));
        assert_eq!(below([0, 1]), (50, false));
    }

    #[test]
    fn disabled_services_are_not_considered() {
        let bound = bound(&[1, 1, 2], Some(10));
        let standing = Standing::new(&bound);
        set(&standing, &bound, 0, State::Down);
        assert_eq!((standing.percent(), standing.capacity()), (75, Some(20)));
        set(&standing, &bound, 0, State::OutOfService);
        assert_eq!(standing.percent(), 100);
        set(&standing, &bound, 1, State::Trofs);
        assert_eq!((standing.percent(), standing.capacity()), (100, Some(10)));
        set(&standing, &bound, 2, State::OutOfService);
        assert_eq!((standing.percent(), standing.is_below(0), standing.capacity()), (0, false, Some(0)));
        set(&standing, &bound, 2, State::Unknown);
        assert_eq!((standing.percent(), standing.capacity()), (100, Some(10)));
    }

    #[test]
    fn one_service_without_a_limit_has_room_for_all() {
        let mut mixed = bound(&[1], None);
        mixed.extend(bound(&[1], Some(5)));
        let standing = Standing::new(&mixed);
        assert_eq!(standing.capacity(), None);
        set(&standing, &mixed, 0, State::Down);
        assert_eq!(standing.capacity(), Some(5));
    }
}
