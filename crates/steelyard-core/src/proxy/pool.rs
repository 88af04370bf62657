//! Idle server-side connections by opaque id: which one a request may use, and how many are kept.
//!
//! Last in, first out: the connection used last is the least likely to be closed by the service, and those on the
//! bottom time out when load falls. Only one that left from where a new one would leave from is used again: an address
//! that the host has lost carries nothing any more, and a service may judge by it. Owns no connection; whoever puts an
//! id in takes it out when it ends.

use std::collections::BTreeMap;

use crate::proxy::io::ConnId;
use crate::proxy::limits::Limits;
use crate::service::Service;
use crate::service::source::SourceAddress;
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

/// An idle connection.
#[derive(Clone, Copy)]
pub struct Idle {
    /// Its id.
    pub id: ConnId,
    /// The address that it was to leave from.
    pub from: SourceAddress,
    /// When it went idle.
    pub since: Time,
}

impl Pool {
    /// Takes the connection to `service` from `from` that went idle last, if that was later than `after`.
    pub fn take(&mut self, service: &Arc<Service>, from: SourceAddress, after: Time) -> Option<ConnId> {
        let stack = &mut self.stacks.get_mut(&key(service))?.idle;
        let last = stack.last()?;
        let id = if last.from == from {
            if last.since < after {
                return None;
            }
            stack.pop()?.id
        } else {
            let position = stack.iter().rposition(|idle| idle.from == from && idle.since >= after)?;
            stack.remove(position).id
        };
        self.total -= 1;
        Some(id)
    }

    /// Keeps a connection. `false` when a bound is reached: the caller closes it.
    pub fn put(&mut self, service: &Arc<Service>, idle: Idle, limits: &Limits) -> bool {
        if self.total >= limits.idle_total {
            return false;
        }
        let stack = self.stacks.entry(key(service));
        let stack = stack.or_insert_with(|| Stack { service: Arc::clone(service), idle: Vec::new() });
        let stack = &mut stack.idle;
        if stack.len() >= limits.idle_per_service {
            return false;
        }
        stack.push(idle);
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

    /// The connection to `service` that has been idle longest.
    pub fn oldest(&self, service: &Arc<Service>) -> Option<ConnId> {
        self.stacks.get(&key(service))?.idle.first().map(|idle| idle.id)
    }

    /// The idle connections to services for which `keep` is false.
    pub fn unwanted(&self, keep: impl Fn(&Arc<Service>) -> bool) -> Vec<ConnId> {
        let unwanted = self.stacks.values().filter(|stack| !keep(&stack.service));
        unwanted.flat_map(|stack| stack.idle.iter().map(|idle| idle.id)).collect()
    }

    /// The one that was used least recently.
    pub fn eldest(&self) -> Option<ConnId> {
        let eldest = self.stacks.values().filter_map(|stack| stack.idle.first());
        eldest.min_by_key(|idle| idle.since).map(|idle| idle.id)
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

    fn idle(index: u32, from: SourceAddress, since: Time) -> Idle {
        Idle { id: id(index), from, since }
    }

    fn service() -> Arc<Service> {
        Service::new("s1", ([127, 0, 0, 1], 80).into(), State::Up)
    }

    #[test]
    fn the_last_one_in_comes_out_first_unless_it_is_too_old() {
        let (mut pool, service, limits) = (Pool::default(), service(), Limits::default());
        assert!(pool.put(&service, idle(1, SourceAddress::ANY, Time::from_us(10)), &limits));
        assert!(pool.put(&service, idle(3, SourceAddress::ANY, Time::from_us(20)), &limits));
        assert_eq!(pool.take(&service, SourceAddress::ANY, Time::from_us(21)), None);
        assert_eq!(pool.take(&service, SourceAddress::ANY, Time::from_us(20)), Some(id(3)));
        assert!(pool.remove(&service, id(1)));
        assert!(!pool.remove(&service, id(1)));
        assert_eq!(pool.len(), 0);
    }

    #[test]
    fn a_connection_from_another_address_is_not_used() {
        let (mut pool, service, limits) = (Pool::default(), service(), Limits::default());
        let [a, b] = [1, 2].map(|last| SourceAddress::new(Some([10, 0, 0, last].into())));
        for (index, from) in [(1, a), (3, b), (5, a), (7, b)] {
            assert!(pool.put(&service, idle(index, from, Time::from_us(index.into())), &limits));
        }
        assert_eq!(pool.take(&service, SourceAddress::ANY, Time::ZERO), None);
        assert_eq!(pool.take(&service, a, Time::from_us(6)), None, "it went idle too early");
        assert_eq!(pool.take(&service, a, Time::from_us(5)), Some(id(5)));
        assert_eq!(pool.take(&service, b, Time::ZERO), Some(id(7)));
        assert_eq!(pool.take(&service, a, Time::ZERO), Some(id(1)));
        assert_eq!(pool.len(), 1);
    }

    #[test]
    fn both_bounds_hold() {
        let (mut pool, a, b) = (Pool::default(), service(), service());
        let limits = Limits { idle_per_service: 2, idle_total: 3, ..Limits::default() };
        assert!(pool.put(&a, idle(1, SourceAddress::ANY, Time::ZERO), &limits));
        assert!(pool.put(&a, idle(3, SourceAddress::ANY, Time::ZERO), &limits));
        assert!(!pool.put(&a, idle(5, SourceAddress::ANY, Time::ZERO), &limits));
        assert!(pool.put(&b, idle(7, SourceAddress::ANY, Time::ZERO), &limits));
        assert!(!pool.put(&b, idle(9, SourceAddress::ANY, Time::ZERO), &limits));
    }
}
