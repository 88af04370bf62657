//! Idle server-side connections by opaque id: which one a request may use, and how many are kept.
//!
//! Last in, first out: the connection used last is the least likely to be closed by the service, and those on the
//! bottom time out when load falls. Owns no connection; whoever puts an id in takes it out when it ends.

use std::collections::BTreeMap;

use crate::proxy::io::ConnId;
use crate::proxy::limits::Limits;
use crate::service::Service;
use crate::sync::Arc;
use crate::time::Time;

/// The idle connections of one engine.
#[derive(Default)]
pub struct Pool {
    /// By address of the live service, which the stack keeps alive.
    stacks: BTreeMap<usize, Stack>,
    total: usize,
}

struct Stack {
    service: Arc<Service>,
    idle: Vec<Idle>,
}

struct Idle {
    id: ConnId,
    since: Time,
}

impl Pool {
    /// Takes the connection to `service` that went idle last, if that was later than `after`.
    pub fn take(&mut self, service: &Arc<Service>, after: Time) -> Option<ConnId> {
        let stack = &mut self.stacks.get_mut(&key(service))?.idle;
        if stack.last()?.since < after {
            return None;
        }
        self.total -= 1;
        stack.pop().map(|idle| idle.id)
    }

    /// Keeps `id`, idle since `now`. `false` when a bound is reached: the caller closes it.
    pub fn put(&mut self, service: &Arc<Service>, id: ConnId, now: Time, limits: &Limits) -> bool {
        if self.total >= limits.idle_total {
            return false;
        }
        let stack = self.stacks.entry(key(service));
        let stack = stack.or_insert_with(|| Stack { service: Arc::clone(service), idle: Vec::new() });
        let stack = &mut stack.idle;
        if stack.len() >= limits.idle_per_service {
            return false;
        }
        stack.push(Idle { id, since: now });
        self.total += 1;
        true
    }

    /// Forgets `id`. `false` when it was not idle.
    pub fn remove(&mut self, service: &Arc<Service>, id: ConnId) -> bool {
        let Some(stack) = self.stacks.get_mut(&key(service)) else { return false };
        let Some(position) = stack.idle.iter().rposition(|idle| idle.id == id) else { return false };
        stack.idle.remove(position);
        if stack.idle.is_empty() {
            self.stacks.remove(&key(service));
        }
        self.total -= 1;
        true
    }

    /// The idle connections to services for which `keep` is false.
    pub fn unwanted(&self, keep: impl Fn(&Arc<Service>) -> bool) -> Vec<ConnId> {
        let unwanted = self.stacks.values().filter(|stack| !keep(&stack.service));
        unwanted.flat_map(|stack| stack.idle.iter().map(|idle| idle.id)).collect()
    }

    /// How many are idle.
    pub fn len(&self) -> usize {
        self.total
    }
}

fn key(service: &Arc<Service>) -> usize {
    Arc::as_ptr(service) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::State;

    fn id(index: u32) -> ConnId {
        ConnId { index, generation: 0 }
    }

    fn service() -> Arc<Service> {
        Service::new("s1", ([127, 0, 0, 1], 80).into(), State::Up)
    }

    #[test]
    fn the_last_one_in_comes_out_first_unless_it_is_too_old() {
        let (mut pool, service, limits) = (Pool::default(), service(), Limits::default());
        assert!(pool.put(&service, id(1), Time::from_us(10), &limits));
        assert!(pool.put(&service, id(3), Time::from_us(20), &limits));
        assert_eq!(pool.take(&service, Time::from_us(21)), None);
        assert_eq!(pool.take(&service, Time::from_us(20)), Some(id(3)));
        assert!(pool.remove(&service, id(1)));
        assert!(!pool.remove(&service, id(1)));
        assert_eq!(pool.len(), 0);
    }

    #[test]
    fn both_bounds_hold() {
        let (mut pool, a, b) = (Pool::default(), service(), service());
        let limits = Limits { idle_per_service: 2, idle_total: 3, ..Limits::default() };
        assert!(pool.put(&a, id(1), Time::ZERO, &limits));
        assert!(pool.put(&a, id(3), Time::ZERO, &limits));
        assert!(!pool.put(&a, id(5), Time::ZERO, &limits));
        assert!(pool.put(&b, id(7), Time::ZERO, &limits));
        assert!(!pool.put(&b, id(9), Time::ZERO, &limits));
    }
}
